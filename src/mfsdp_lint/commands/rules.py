"""`mfsdp-lint rules`: every rule, as a table or as JSON."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mfsdp_lint import terminal
from mfsdp_lint.commands.arguments import OptionList, comma_separated, print_json
from mfsdp_lint.reports.json import attributes

if TYPE_CHECKING:
    from mfsdp_lint.rules.model import FixSpec, Rule

SUMMARY = "Lists the rules."

EXAMPLES = (
    ("mfsdp-lint rules --select MFSDP1", "the rules about checkpoints"),
    ("mfsdp-lint rules --output-format json", "all rules, for programs"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options; a default of None means "not given"."""
    parser.add_argument("--output-format", choices=("table", "json"), default="table", help="default: table")
    parser.add_argument(
        "--select",
        action="extend",
        type=comma_separated,
        metavar="CODES",
        default=[],
        help="only these rules, by code or prefix",
    )
    parser.add_argument("--config", metavar="FILE", help="the configuration to read instead of pyproject.toml")
    tried = OptionList(parser, "trying out")
    tried.flag("--verify", "run the examples of the rules with the installed Megatron")
    tried.value("--python", "PROGRAM", "the Python interpreter with torch and megatron-bridge, for --verify")
    tried.value("--megatron-lm", "DIR", "verify against the command line of this Megatron-LM source tree")


def main(arguments: argparse.Namespace) -> int:
    """Print the rules. Raises UsageError for an invalid configuration, or an invalid rule of its own."""
    from mfsdp_lint.engine.run import names_of
    from mfsdp_lint.inputs.configuration import read_configuration
    from mfsdp_lint.inputs.options import merge
    from mfsdp_lint.reports.explain import rules_table
    from mfsdp_lint.rules.selection import resolved, rules_for, selected

    every = rules_for(merge({}, read_configuration(arguments.config)).extend_rules)
    codes = selected([rule.code for rule in every], resolved(arguments.select, names_of(every), "select"), ())
    if arguments.verify:
        from mfsdp_lint.dryrun.introspection import tree_at
        from mfsdp_lint.dryrun.inventory import look
        from mfsdp_lint.dryrun.verify import verify, verify_command_line
        from mfsdp_lint.process import progress_line
        from mfsdp_lint.reports import dry_run

        installed = look(arguments.python)
        show = progress_line()
        if arguments.megatron_lm:
            tree = tree_at(arguments.megatron_lm, installed.torch())
            rows, label = verify_command_line(every, tree, installed.python, codes, show), tree.label
        else:
            rows, label = verify(every, installed.ready(), installed.known_target(), codes, show), installed.label
        show("")
        if arguments.output_format == "json":
            print_json(dry_run.verified_document(rows, installed))
        else:
            terminal.show(dry_run.verified_table(rows, label))
        return int(any(row.agreement == "disagreement" for row in rows))
    rules = [rule for rule in every if rule.code in codes]
    if arguments.output_format == "table":
        terminal.show(rules_table(rules, terminal.columns()))
        return 0
    print_json([_as_json(rule) for rule in rules])
    return 0


def _as_json(rule: Rule) -> dict[str, object]:
    of_text = {} if rule.finds is None else {"finds": rule.finds.pattern, "files": list(rule.files)}
    return {
        **attributes(rule, "code", "name", "summary", "why"),
        "versions": rule.versions.text,
        **attributes(rule, "preset", "preview", "judges"),
        **of_text,
        "applies": rule.applies.text,
        "cases": [
            {
                "when": case.when.text if case.when else None,
                "versions": case.versions.text,
                **attributes(case, "severity", "stage", "sees"),
                "message": case.message.template,
                "consequence": case.consequence.template,
                "raises": {versions.text: text.template for versions, text in case.raises.entries},
                "enforced_by": {versions.text: who for versions, who in case.enforced_by.entries},
            }
            for case in rule.cases
        ],
        "fix": _fix_as_json(rule.fixes[0]) if rule.fixes else None,
        "fixes": [_fix_as_json(fix) for fix in rule.fixes],
        "confirm": rule.confirm,
        "weaker_than": list(rule.weaker_than),
        "evidence": {
            version: [f"{place.repository} {place.path}:{place.line}" for place in places]
            for version, places in rule.evidence.items()
        },
        "file": rule.file,
    }


def _fix_as_json(fix: FixSpec) -> dict[str, object]:
    where = {"versions": fix.versions.text, "when": fix.when.text if fix.when else None}
    said = where | {"none": fix.none, "rename": fix.rename}
    return {
        "set": dict(fix.set),
        "unset": list(fix.unset),
        **({"drop": list(fix.drop)} if fix.drop else {}),
        **({} if fix.replace is None else {"replace": fix.replace}),
        **{name: value for name, value in said.items() if value},
    }
