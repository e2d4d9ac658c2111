"""The table of all rules' fixes, a page among the rules' own: a safe fix, an unsafe one, or why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mfsdp_lint.reports.explain import fix_of
from mfsdp_lint.rules.model import FixSpec, Rule

_HEAD = """# Fixes

`--fix` makes the safe ones, `--unsafe-fixes` the others as well. A fix is safe where it changes nothing that works
today, or repairs a run that cannot start by the remedy that upstream documents. Where a condition stands, it is safe
there and unsafe elsewhere; `unless` counts where it is known to be so. Each fix is proved before it is offered: without
a place where the value can be written with certainty there is none, nor where that would change somebody else's run.

| rule | where | fix | safe |
| --- | --- | --- | --- |"""


def fix_table(rules: Sequence[Rule]) -> str:
    """Write the page."""
    return "\n".join([_HEAD, *(row for rule in rules for row in _rows(rule)), ""])


def _rows(rule: Rule) -> Iterator[str]:
    for fix in rule.fixes:
        where = " and ".join(filter(None, (_code(fix.versions.text), _code(fix.when.text if fix.when else ""))))
        what = f"none: {fix.none}" if fix.none else _code(fix_of(fix))
        cells = (f"[{rule.code}]({rule.code}.md)", where, what, _safe(fix))
        yield f"| {' | '.join(each.replace('|', chr(92) + '|') for each in cells)} |"


def _safe(fix: FixSpec) -> str:
    said = []
    for versions, safe in fix.safe.entries:
        text = {"always": "yes", "never": "no"}.get(safe.text) or _code(safe.text)
        said.append(f"{text} ({versions.text})" if versions.text else text)
    return ", ".join(said) + (f", unless {_code(fix.unsafe.text)}" if fix.unsafe else "")


def _code(text: str) -> str:
    return f"`{' '.join(text.split())}`" if text else ""
