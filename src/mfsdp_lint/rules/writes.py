"""Rules about assignments: a name that is no field, a value that start-up replaces.

What a rule file can say of the assignment at hand are settings of their own, in conditions and in texts:

    write.path     what is written, as a path          write.value     what is written there
    write.owner    the class that lacks the field      write.name      the name that is no field
    write.nearest  the field that was probably meant   write.after     what start-up puts in its place
    write.step     the step of start-up that does it   write.line      upstream's line that does it

`fix: {set: {write.path: write.after}}` writes what will run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from mfsdp_lint.core.recipe import Origin, Setting, Undeclared, Variant
from mfsdp_lint.core.values import Known, Plain, describe
from mfsdp_lint.rules.model import Case, Rule, Written
from mfsdp_lint.rules.views import Views
from mfsdp_lint.startup.resolve import Change

_EXPLICIT = ("assigned", "argument")
"""What somebody wrote down for this setting."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """One assignment that rules may speak of. `after` is the plain value that start-up puts in its place."""

    path: str
    origin: Origin
    facts: Mapping[str, Plain]
    after: Plain = None


def assignments(views: Views, kind: Written, theirs: Callable[[str], bool]) -> Iterator[Assignment]:
    """The assignments of one kind in a variant, as far as the user's own files make them."""
    if kind == "undeclared":
        found = (each for each in views.written.undeclared() if _is_own(each.origin, theirs))
        yield from (_undeclared(each, views.written) for each in found)
        return
    for path, change in views.resolution.changed().items():
        origin, value = views.written.origin(path), views.written.value(path)
        if origin is None or origin.how not in _EXPLICIT or not _is_own(origin, theirs):
            continue
        if isinstance(value, Known) and isinstance(change.after, Known) and not _respelt(value, change.after):
            yield _replaced(path, origin, change, value, change.after)


def broken(rule: Rule, views: Views, theirs: Callable[[str], bool]) -> Iterator[tuple[Case, Variant, Assignment]]:
    """The assignments that a rule is about, each with its case and the settings with what there is to say of it."""
    if rule.written is None or all(rule.applies.truth(views.of(case.sees)) is False for case in rule.cases):
        return
    for assignment in assignments(views, rule.written, theirs):
        for case in rule.cases:
            seen = with_facts(views.of(case.sees), assignment.facts)
            if rule.applies.truth(seen) and (case.when is None or case.when.truth(seen)):
                yield case, seen, assignment
                break


def _respelt(value: Known, after: Known) -> bool:
    """Whether start-up merely takes a text apart into the list that it stands for."""
    return isinstance(value.value, str) and isinstance(after.value, list)


def _undeclared(found: Undeclared, written: Variant) -> Assignment:
    name = found.path.rpartition(".")[2]
    return Assignment(
        found.path,
        found.origin,
        {
            "write.path": found.path,
            "write.name": name,
            "write.owner": found.owner,
            "write.nearest": _nearest(name, found.fields),
            "write.value": describe(written.value(found.path)),
        },
    )


def _is_own(origin: Origin, theirs: Callable[[str], bool]) -> bool:
    return not origin.upstream and theirs(origin.span.path)


@cache
def _nearest(name: str, fields: tuple[str, ...]) -> str | None:
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, fields, n=1, cutoff=0.75)), None)


def _replaced(path: str, origin: Origin, change: Change, value: Known, after: Known) -> Assignment:
    place = change.place
    return Assignment(
        path,
        origin,
        {
            "write.path": path,
            "write.value": describe(value),
            "write.after": describe(after),
            "write.step": change.step,
            "write.line": f"{place.path}:{place.line}" if place else "",
        },
        after.value,
    )


def with_facts(variant: Variant, facts: Mapping[str, Plain]) -> Variant:
    """The settings of a variant and what there is to say of the assignment (or passage) at hand."""
    return Variant(
        _Overlay(variant, {path: Setting(path, Known(value)) for path, value in facts.items()}), variant.when
    )


class _Overlay(Mapping[str, Setting]):
    """The settings of a variant and what there is to say of an assignment."""

    def __init__(self, variant: Variant, facts: Mapping[str, Setting]) -> None:
        self._variant = variant
        self._facts = facts

    def __getitem__(self, path: str) -> Setting:
        return self._facts[path] if path in self._facts else self._variant.settings[path]

    def __iter__(self) -> Iterator[str]:
        yield from self._facts
        yield from self._variant.settings

    def __len__(self) -> int:
        return len(self._facts) + len(self._variant.settings)
