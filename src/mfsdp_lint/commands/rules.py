"""`mfsdp-lint rules`: every rule, as a table or as JSON."""

from __future__ import annotations

import argparse
import sys
from typing import Any

SUMMARY = "Lists the rules."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None means "not given"."""
    parser.add_argument("--output-format", choices=("table", "json"), default="table", help="default: table")
    parser.add_argument("--config", metavar="FILE", help="the configuration to read instead of pyproject.toml")


def main(arguments: argparse.Namespace) -> int:
    """Prints them. Raises UsageError for a configuration, or a rule of its own, that is not right."""
    from mfsdp_lint.options import merge, read_configuration
    from mfsdp_lint.reports.rule import table
    from mfsdp_lint.rules.extend import rules_for

    rules = rules_for(merge({}, read_configuration(arguments.config)).extend_rules)
    if arguments.output_format == "table":
        sys.stdout.write(table(rules))
        return 0
    import json

    sys.stdout.write(json.dumps([_as_json(rule) for rule in rules], indent=2, ensure_ascii=False) + "\n")
    return 0


def _as_json(rule: Any) -> dict[str, object]:
    return {
        "code": rule.code,
        "name": rule.name,
        "summary": rule.summary,
        "why": rule.why,
        "versions": rule.versions.text,
        "preset": rule.preset,
        "judges": rule.judges,
        "applies": rule.applies.text,
        "cases": [
            {
                "when": case.when.text if case.when else None,
                "versions": case.versions.text,
                "severity": case.severity,
                "stage": case.stage,
                "sees": case.sees,
                "message": case.message.template,
                "consequence": case.consequence.template,
                "raises": {versions.text: text.template for versions, text in case.raises.entries},
                "enforced_by": {versions.text: who for versions, who in case.enforced_by.entries},
            }
            for case in rule.cases
        ],
        "fix": None if rule.fix is None else {"set": dict(rule.fix.set), "unset": list(rule.fix.unset)},
        "confirm": rule.confirm,
        "weaker_than": list(rule.weaker_than),
        "evidence": {
            version: [f"{place.repository} {place.path}:{place.line}" for place in places]
            for version, places in rule.evidence.items()
        },
        "file": rule.file,
    }
