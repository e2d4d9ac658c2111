"""The rules' pages, made from the rule files: `python -m tools.rule_pages [FOLDER]` (`make docs`)."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mfsdp_lint.checkout import CHECKOUT
from mfsdp_lint.core.values import spell
from mfsdp_lint.reports.explain import code_of, fix_of, fix_where, found_where, severities, stages
from mfsdp_lint.reports.wording import STAGES
from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.rules.model import Case, Example, Rule
from tools.fix_table import fix_table

FOLDER = CHECKOUT.parent / "docs" / "rules"

FAMILIES = {
    "1": "Checkpoint format",
    "2": "Choice of the wrapper",
    "3": "Sharding",
    "4": "Offloading and recomputation",
    "5": "Environment and communication",
    "6": "Precision and buffers",
    "7": "Settings that are dead, misspelt or overwritten",
    "8": "Exposed switches",
    "9": "Files and launch scripts",
}
"""By the first digit of a code."""


def pages(rules: Sequence[Rule]) -> Mapping[str, str]:
    """Write every page by its file name, the index among them."""
    written = {f"{rule.code}.md": "\n".join(_page(rule)) for rule in rules}
    return {"README.md": _index(rules), "fixes.md": fix_table(rules), **written}


def _index(rules: Sequence[Rule]) -> str:
    lines = ["# Rules", "", "What can be fixed, and what not and why: [fixes.md](fixes.md).", ""]
    for digit, title in FAMILIES.items():
        family = [rule for rule in rules if rule.code.removeprefix("MFSDP").startswith(digit)]
        if family:
            lines += [f"## {title}", "", "| code | name | severity | stage | |", "| --- | --- | --- | --- | --- |"]
            lines += [*map(_row, family), ""]
    return "\n".join(lines)


def _row(rule: Rule) -> str:
    cells = (f"[{rule.code}]({rule.code}.md)", rule.name, severities(rule), stages(rule), rule.summary)
    return f"| {' | '.join(cells)} |"


def _page(rule: Rule) -> Iterator[str]:
    yield f"# {rule.code} {rule.name}"
    yield ""
    yield f"{rule.summary}."
    yield ""
    yield rule.why
    yield ""
    yield f"Applies to: {_versions(rule.versions.text) or 'every version of Megatron-Bridge'}."
    if rule.preview:
        yield f"In preview, and off by default: `--select {rule.code}` or `--preview` switches it on."
    if rule.preset:
        yield f'Off by default: `--select {rule.code}` or `preset = "{rule.preset}"` switches it on.'
    yield ""
    yield "## What happens"
    yield ""
    if rule.judges == "settings":
        yield f"Where `{rule.applies.text}`:"
        yield ""
    if rule.judges == "text":
        yield f"Where {found_where(rule, quote='`')}:"
        yield ""
    for case in rule.cases:
        yield from _case(case)
    yield ""
    if rule.fixes:
        yield "## Fix"
        yield ""
    for fix in rule.fixes:
        if fix.none:
            yield f"None{fix_where(fix)}: {fix.none}."
            yield ""
            continue
        yield f"`{fix_of(fix)}`{fix_where(fix)}"
        yield ""
        for versions, safe in fix.safe.entries:
            where = f" ({_versions(versions.text)})" if versions.text else ""
            unless = f", unless `{fix.unsafe.text}`" if fix.unsafe else ""
            yield f"Safe{where}: {_when(safe.text)}{unless}."
        if fix.else_advice:
            yield f"Elsewhere: {fix.else_advice}."
        yield ""
    if rule.unconfirmed:
        yield f"No dry run confirms it: {rule.unconfirmed}."
        yield ""
    yield from _examples(rule)
    if not rule.evidence:
        return
    yield "## Where upstream does it"
    yield ""
    for version, places in rule.evidence.items():
        told = ", ".join(f"`{place.path}:{place.line}`" for place in places)
        who = "Megatron-LM with" if version.startswith("core ") else "Megatron-Bridge"
        yield f"- {who} {version}: {told}"
    yield ""


def _case(case: Case) -> Iterator[str]:
    parts = [f"`{case.when.text}`"] if case.when else []
    if case.versions.text:
        parts.append(_versions(case.versions.text))
    where = f" ({'; '.join(parts)})" if parts else ""
    yield f"- **{case.severity}**, {STAGES[case.stage]}{where}: {case.consequence.template}."
    if case.intended:
        meant = ", ".join(f"`{path} = {spell(value)}`" for path, value in case.intended.items())
        yield f"  - **info** where somebody wrote {meant}"
    for versions, text in case.raises.entries:
        which = f" ({_versions(versions.text)})" if versions.text else ""
        yield f"  - raises{which}: {_code_span(text.template)}"


def _code_span(text: str) -> str:
    """Return a text as code: one with backticks stands between two of them, and blanks."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _versions(text: str) -> str:
    return text.replace("|", "or")


def _when(text: str) -> str:
    return text if text in ("always", "never") else f"where `{text}`"


def _examples(rule: Rule) -> Iterator[str]:
    for title, bad in (("Bad", True), ("Good", False)):
        examples = [example for example in rule.examples if (example.severity is not None) is bad]
        chosen = [example for example in examples if code_of(example)] or examples
        if chosen:
            yield f"## {title}"
            yield ""
        for example in chosen:
            yield from _example(example)


def _example(example: Example) -> Iterator[str]:
    known = " with " + ", ".join(f"{name} {version}" for name, version in example.components.items())
    where = _versions(example.versions.text) + (known if example.components else "")
    if where:
        yield f"{where.strip()}:"
        yield ""
    notations = (
        ("python", example.python),
        ("yaml", example.yaml),
        ("yaml", example.megatron_lm),
        ("bash", example.shell),
    )
    for language, text in notations:
        if text:
            yield f"```{language}"
            yield text.rstrip().replace("\r", "\N{SYMBOL FOR CARRIAGE RETURN}")
            yield "```"
            yield ""
    if not code_of(example):
        yield from (f"- `{path} = {spell(value)}`" for path, value in example.settings.items())
        yield ""


def write(folder: Path = FOLDER) -> None:
    """Write every page, and remove those of rules that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    made = pages(load_rules())
    for path in folder.glob("*.md"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
