"""docs/coverage.md: every check of upstream, where it stands, and the rule that covers it or why none does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from mfsdp_lint.checkout import CHECKOUT
from tools.coverage.covered import Covered
from tools.evidenced import sites

PAGE = CHECKOUT.parent / "docs" / "coverage.md"

LONGEST = 110
"""Characters of a condition or a text that are shown."""


def page(all_covered: Sequence[Covered]) -> str:
    """Write the page."""
    return "\n".join([*_head(all_covered), *_holes(all_covered), *_files(all_covered)])


def _head(all_covered: Sequence[Covered]) -> Iterator[str]:
    yield "# Upstream's checks and the rules"
    yield ""
    yield "Made by `python -m tools.coverage.generate`: every assertion, error and warning of the code that"
    yield "configures and wraps Megatron-FSDP, at every version line. A number is the line where it stands. Under a"
    yield "check stands the rule that covers it, or the step of start-up that does it (`startup.yaml`), or why there is"
    yield "neither (`tools/coverage/reasons.yaml`). A *hole* has nothing: a configuration leads there without a rule."
    yield ""
    yield "| file | checks | by a rule | by start-up | with a reason | holes |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for path, group in groupby(all_covered, lambda each: each.known.path):
        yield _counted(f"`{path}`", list(group))
    yield _counted("all", all_covered)
    yield ""


def _counted(title: str, some: Sequence[Covered]) -> str:
    counts = [
        len(some),
        sum(bool(each.codes) and not each.is_hole for each in some),
        sum(not each.codes and bool(each.steps) for each in some),
        sum(not each.codes and not each.steps and bool(each.why) for each in some),
        sum(each.is_hole for each in some),
    ]
    return f"| {title} | {' | '.join(map(str, counts))} |"


def _holes(all_covered: Sequence[Covered]) -> Iterator[str]:
    holes = [each for each in all_covered if each.is_hole]
    yield f"## Holes: {len(holes)}"
    yield ""
    for each in holes:
        versions = ", ".join(each.open)
        yield f"- `{each.known.path.rpartition('/')[2]}` {each.known.check.function} ({versions}): {_said(each)}"
    yield ""


def _files(all_covered: Sequence[Covered]) -> Iterator[str]:
    for path, group in groupby(all_covered, lambda each: each.known.path):
        of_file = list(group)
        versions = [version for version in sites() if any(version in each.known.at for each in of_file)]
        yield f"## {path}"
        yield ""
        yield f"| check | {' | '.join(versions)} |"
        yield "| --- |" + " --- |" * len(versions)
        for each in of_file:
            yield f"| {_said(each)}<br>{_told(each)} | {' | '.join(_lines(each, version) for version in versions)} |"
        yield ""


def _said(each: Covered) -> str:
    check = each.known.check
    condition = f" `{_short(check.condition)}`" if check.condition else ""
    asked = f"{'if' if check.kind != 'assert' and condition else ''}{condition}".strip()
    return " ".join(filter(None, [f"**{check.kind}**", asked, _text(check.message)]))


def _text(message: str) -> str:
    return f'"{_short(message)}"'.replace("<", "&lt;").replace("](", "]\\(") if message else ""


def _short(text: str) -> str:
    one = " ".join(text.split()).replace("|", "\\|").replace("`", "'")
    return one if len(one) <= LONGEST else one[:LONGEST].rstrip("\\") + "…"


def _told(each: Covered) -> str:
    said = [f"[{code}](rules/{code}.md)" for code in each.codes]
    said += [f"start-up: {step}" for step in each.steps]
    if each.open and said and not each.steps:
        said.append(f"not at {', '.join(each.open)}" + (f": {each.why}" if each.why else " (*hole*)"))
    return ", ".join(said) or each.why or "*hole*"


def _lines(each: Covered, version: str) -> str:
    return ", ".join(str(check.own[0]) for check in each.known.at.get(version, ()))
