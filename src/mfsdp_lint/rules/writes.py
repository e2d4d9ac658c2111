"""Rules about assignments: a name that is no field, a value that start-up replaces.

What a rule file can say of the assignment at hand are settings of their own, in conditions and in texts:

    write.path     what is written, as a path          write.value     what is written there
    write.owner    the class that lacks the field      write.name      the name that is no field
    write.nearest  the field that was probably meant   write.after     what start-up puts in its place
    write.alike    how many fields it is much like
    write.step     the step of start-up that does it   write.line      upstream's line that does it

`fix: {set: {write.path: write.after}}` writes what will run, `fix: {rename: write.nearest}` the name that was meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from mfsdp_lint.core.finding import IsLinted
from mfsdp_lint.core.nearest import nearest
from mfsdp_lint.core.recipe import Origin, Setting, Settings, Undeclared, Variant
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.settings import Layer
from mfsdp_lint.core.values import Known, Plain, Value, describe
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


def assignments(views: Views, kind: Written, is_linted: IsLinted) -> Iterator[Assignment]:
    """The assignments of one kind in a variant, as far as the user's own files make them."""
    if kind == "undeclared":
        found = (each for each in views.written.undeclared() if _is_own(each.origin, is_linted))
        yield from (_undeclared(each, views.written) for each in found)
        return
    for path, change in views.resolution.changed().items():
        origin, value = views.written.origin(path), views.written.value(path)
        if origin is None or origin.how not in _EXPLICIT or not _is_own(origin, is_linted):
            continue
        if isinstance(value, Known) and isinstance(change.after, Known) and not _respelt(value, change.after):
            yield _replaced(path, origin, change, value, change.after)


def broken(rule: Rule, views: Views, is_linted: IsLinted) -> Iterator[tuple[Case, Variant, Assignment]]:
    """The assignments that a rule is about, each with its case and the settings with what there is to say of it."""
    if rule.written is None or all(rule.applies.truth(views.of(case.sees)) is False for case in rule.cases):
        return
    for assignment in assignments(views, rule.written, is_linted):
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
            "write.nearest": next(iter(_alike(name, found.fields)), None),
            "write.alike": len(_alike(name, found.fields)),
            "write.value": describe(written.value(found.path)),
        },
    )


def _is_own(origin: Origin, is_linted: IsLinted) -> bool:
    return not origin.upstream and is_linted(origin.span.path)


@cache
def _alike(name: str, fields: tuple[str, ...]) -> tuple[str, ...]:
    """The fields that may have been meant, the likeliest first."""
    return tuple(nearest(name, fields, 2, cutoff=0.75))


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
    settings = {path: Setting(path, Known(value)) for path, value in facts.items()}
    return Variant(_WithFacts(variant.settings, settings), variant.when)


class _WithFacts(Layer):
    """The settings of a variant, and what there is to say of an assignment."""

    __slots__ = ("_facts",)

    def __init__(self, below: Settings, facts: Mapping[str, Setting]) -> None:
        super().__init__(below)
        self._facts = facts

    def get(self, path: str) -> Setting | None:
        return self._facts.get(path) or self.below.get(path)

    def value(self, path: str) -> Value:
        fact = self._facts.get(path)
        return self.below.value(path) if fact is None else fact.value

    def __iter__(self) -> Iterator[str]:
        yield from self._facts
        yield from self.below
