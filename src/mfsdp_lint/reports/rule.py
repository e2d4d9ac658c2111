"""A rule for reading in a terminal: what it is about, what happens in which version, what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import fill, indent, shorten

from mfsdp_lint.core.values import Plain, spell
from mfsdp_lint.rules.about_files import AboutFiles
from mfsdp_lint.rules.model import Case, Example, FixSpec, Rule

WIDTH = 110


SCREEN = 24
"""Lines, the oldest terminal's."""


def brief(rule: Rule) -> str:
    """Describe one rule on one screen: its subject, its consequences, its remedy."""
    happens = list(dict.fromkeys(_happens(case) for case in rule.cases))
    shown = happens[:_MOST_CASES]
    if len(happens) > len(shown):
        shown.append(f"  and {len(happens) - len(shown)} more")
    fixes = dict.fromkeys(shorten(f"fix: {fix_of(fix)}", WIDTH, placeholder=" …") for fix in rule.fixes)
    lines = [
        f"{rule.code} {rule.name}",
        rule.summary,
        "",
        fill(rule.why, WIDTH, initial_indent="  ", subsequent_indent="  ", max_lines=8, placeholder=" …"),
        "",
        f"applies to: {said_of_versions(rule)}",
        *shown,
        *list(fixes)[:_MOST_CASES],
        "",
        f"conditions, error texts and examples: mfsdp-lint explain {rule.code} --all",
    ]
    return "\n".join(lines) + "\n"


_MOST_CASES = 4


def _happens(case: Case) -> str:
    told = f"{case.severity}, {case.stage}: {case.message.template}: {case.consequence.template}"
    return fill(told, WIDTH, subsequent_indent="  ", max_lines=2, placeholder=" …")


def about_files(about: AboutFiles) -> str:
    """Describe a kind of finding about files."""
    lines = [
        f"{about.code} {about.name}",
        about.summary,
        "",
        fill(about.why, WIDTH, initial_indent="  ", subsequent_indent="  "),
        "",
        f"severity: {', '.join(about.severities)}",
        f"fix: {about.fix}",
    ]
    return "\n".join(lines) + "\n"


def render(rule: Rule) -> str:
    """Render all of one rule."""
    return "\n".join(_lines(rule)) + "\n"


def _lines(rule: Rule) -> Iterator[str]:
    yield f"{rule.code} {rule.name}"
    yield rule.summary
    yield ""
    yield fill(rule.why, WIDTH, initial_indent="  ", subsequent_indent="  ")
    yield ""
    yield f"applies to: {said_of_versions(rule)}"
    yield f"found where: {found_where(rule)}"
    if rule.preview:
        yield f"in preview: on with --select {rule.code}, or --preview"
    if rule.preset:
        yield f'off by default: on with --select {rule.code}, or preset = "{rule.preset}"'
    for case in rule.cases:
        yield ""
        yield from _case(case)
    for fix in rule.fixes:
        yield ""
        yield f"fix{fix_where(fix)}: {fix_of(fix)}"
    bad = next((example for example in rule.examples if example.severity), None)
    good = next((example for example in rule.examples if not example.severity), None)
    for title, example in (("bad", bad), ("good", good)):
        if example and (text := code_of(example)):
            yield ""
            yield f"{title}:"
            yield indent(text.rstrip(), "  ")


def _case(case: Case) -> Iterator[str]:
    where = f" ({case.versions.text})" if case.versions.text else ""
    when = f", where {case.when.text}" if case.when else ""
    yield f"{case.severity}, {case.stage}{where}{when}"
    told = f"{case.message.template}: {case.consequence.template}"
    yield fill(told, WIDTH, initial_indent="  ", subsequent_indent="  ")
    for versions, text in case.raises.entries:
        yield f"  raises{f' ({versions.text})' if versions.text else ''}: {text.template}"


def said_of_versions(rule: Rule) -> str:
    """Name the front-ends and versions that the rule is for."""
    return rule.versions.text or "every version of Megatron-Bridge"


def found_where(rule: Rule, quote: str = "") -> str:
    """Write the condition; for a rule about text also the pattern, and the files that it is for."""
    if rule.judges != "text":
        return rule.applies.text
    files = f" of a {' or '.join(rule.files)} file" if rule.files else ""
    also = "" if rule.applies.text == "always" else f", and {quote}{rule.applies.text}{quote}"
    what = f"has a {rule.notices}" if rule.finds is None else f"matches {quote}{rule.finds.pattern}{quote}"
    return f"the text{files} {what}{also}"


def fix_of(fix: FixSpec) -> str:
    """Describe the changes of a fix."""
    if fix.none:
        return f"none, {fix.none}"
    changes = [f"{path} = {_spelled(value)}" for path, value in fix.set.items()]
    changes += [f"take {path} out" for path in (*fix.unset, *fix.drop)]
    if fix.rename:
        changes.append(f"rename it to {fix.rename}")
    if fix.replace is not None:
        changes.append(f"replace it by {spell(fix.replace)}")
    return ", ".join(changes) or fix.else_advice


def fix_where(fix: FixSpec) -> str:
    """Describe the versions and the condition of a fix, to put behind another text; "" if there are none."""
    parts = [fix.versions.text, f"where {fix.when.text}" if fix.when else ""]
    return "".join(f" ({each})" for each in (", ".join(filter(None, parts)),) if each)


def _spelled(value: Plain) -> str:
    return value if isinstance(value, str) and value.startswith("write.") else spell(value)


def code_of(example: Example) -> str:
    """Return an example in the notation that is read most."""
    return example.python or example.yaml or example.megatron_lm or example.shell


def table(rules: Sequence[Rule]) -> str:
    """List all rules, one a line."""
    rows = [(rule.code, severities(rule), stages(rule), rule.name, rule.summary) for rule in rules]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]).rstrip()
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def severities(rule: Rule) -> str:
    """List the severities that the rule's findings can have."""
    return ", ".join(dict.fromkeys(case.severity for case in rule.cases))


def stages(rule: Rule) -> str:
    """List the stages at which the mistake shows."""
    return ", ".join(dict.fromkeys(case.stage for case in rule.cases))
