"""Explanations of `mfsdp-lint enable` beside the patch: the reason for a refusal, or further remarks."""

from __future__ import annotations

from collections.abc import Iterator

from mfsdp_lint.fixes.enabling.outcome import Enabling
from mfsdp_lint.reports.printable import printable
from mfsdp_lint.reports.summary import judged_against


def render(outcome: Enabling, *, written: bool) -> list[str]:
    """Write lines for people; the first one has the result."""
    path, name = outcome.recipe.path, outcome.recipe.name
    recipe = path if outcome.recipe.kind in ("overrides", "arguments", "configuration") else f"{path}::{name}"
    against = f"({judged_against(outcome.targets)})"
    return [printable(line) for line in _lines(outcome, recipe, against, written)]


def _lines(outcome: Enabling, recipe: str, against: str, written: bool) -> Iterator[str]:
    if outcome.reasons:
        yield f"{recipe}: Megatron-FSDP cannot be turned on, nothing was changed {against}"
        yield from (f"  {reason}" for reason in outcome.reasons)
        return
    if outcome.fixed is None:
        yield f"{recipe}: Megatron-FSDP is on already as the guides describe it {against}"
    else:
        done = "Megatron-FSDP is on now" if written else "this turns Megatron-FSDP on (--write does it)"
        yield f"{recipe}: {done} {against}"
    yield from (f"  {each}" for each in outcome.required)
    if outcome.also:
        yield f"  built on it, and on as well: {', '.join(outcome.also)}"
    if outcome.fixed and outcome.switches:
        yield f"  it is on for every caller then, with {' or '.join(f'{name}=False' for name in outcome.switches)}, too"
    yield from (f"  note: {remark}" for remark in outcome.remarks)
    for each in outcome.rest:
        if each.severity == "warning":
            yield f"  it will run, with a warning: {each.rule.code} {each.case.message.of(each.seen)}"
