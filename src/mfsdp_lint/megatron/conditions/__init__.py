"""Conditions over the settings of a recipe, in three-valued logic; and applicability: where a statement holds.

Applicability says for which front-end, and for which versions of which component:

    "<0.5"                             Megatron-Bridge below 0.5 ("bridge <0.5" is the same)
    ">=0.2 | megatron-lm >=0.14"       Megatron-Bridge from 0.2 on, and Megatron-LM's command line from core 0.14 on
    "core >=0.19"                      megatron-core from 0.19 on, whoever reads the configuration
    ">=0.4,<0.6, te <2.10"             these Megatron-Bridge versions with Transformer Engine below 2.10
    "bridge | megatron-lm"             both front-ends, in every version

`,` is *and*, `|` is *or*. A bound without a subject belongs to the subject before it, the first one to `bridge`. The
bounds of one subject are read by `versions`, at their own precision ("0.4" is the whole 0.4 line).

A condition on an unknown version is undecided, and a rule is silent there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Generic, TypeVar

from mfsdp_lint.core.front_ends import BRIDGE, FRONT_ENDS, FrontEnd
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.megatron.versions import HEAD, RELEASES, Target, VersionError, VersionRange, numbers, parse_range

Truth = bool | None


def junction(truths: Iterable[Truth], decisive: bool) -> Truth:
    """Join truths by `and` (False is decisive) or `or` (True is): a decisive truth decides alone, and ends the loop."""
    result: Truth = not decisive
    for truth in truths:
        if truth is decisive:
            return truth
        if truth is None:
            result = None
    return result


def agreed(answers: Iterable[Truth]) -> Truth:
    """Return the answer that all give, if all give the same; else None."""
    iterator = iter(answers)
    first = next(iterator, None)
    return first if all(answer is first for answer in iterator) else None


Subject = str
"""A thing with versions: a front-end by its name, or a component."""

SUBJECTS: tuple[Subject, ...] = tuple(dict.fromkeys((*FRONT_ENDS, "core", "te", "torch")))

_HEAD_CORE = numbers(RELEASES[-1].core)

_SUBJECT = lazy_pattern(rf"({'|'.join(SUBJECTS)})(?![\w.-])")


@dataclass(frozen=True, slots=True)
class Site:
    """A site at which a rule is judged: the front-end that reads the configuration, and the versions below it."""

    target: Target
    front_end: FrontEnd = BRIDGE

    def has(self, subject: Subject) -> bool:
        """Tell whether the subject takes part: a component always does; of the front-ends only the one at hand."""
        return subject not in FRONT_ENDS or self.front_end.is_a(subject)

    def version(self, subject: Subject) -> str | None:
        """Return the version of a subject that takes part; None where it is not known.

        A front-end has the version of the component that it is released with. The core of the development branch is
        `head`, as Megatron-Bridge's is, whatever number it gives itself.
        """
        match FRONT_ENDS[subject].released_with if subject in FRONT_ENDS else subject:
            case "bridge":
                return self.target.bridge
            case "core":
                core = self.front_end.core or self.target.core
                return HEAD if numbers(core) >= _HEAD_CORE else core
            case "te":
                return self.target.te
            case "torch":
                return self.target.torch
            case _:
                return None


@dataclass(frozen=True, slots=True)
class Bounds:
    """The versions of one subject."""

    subject: Subject
    versions: VersionRange

    def truth(self, site: Site) -> Truth:
        """Tell whether the bounds contain the version at hand; None where that version is not known."""
        if not site.has(self.subject):
            return False
        if not self.versions.text:
            return True
        version = site.version(self.subject)
        return None if version is None else version in self.versions


@dataclass(frozen=True, slots=True)
class Applicability:
    """Alternatives, each a set of bounds that all have to hold. None at all: everywhere."""

    text: str
    alternatives: tuple[tuple[Bounds, ...], ...]

    def truth(self, site: Site) -> Truth:
        """Tell whether it holds at a site; None where that depends on a version that is not known."""
        return junction(
            (junction((bound.truth(site) for bound in bounds), False) for bounds in self.alternatives), True
        )

    def subjects(self) -> Iterator[Subject]:
        """Return the subjects that its bounds name."""
        return (bound.subject for bounds in self.alternatives for bound in bounds)

    def of_a_rule(self) -> Applicability:
        """Return the applicability of a whole rule: for Megatron-Bridge, unless it names another front-end."""
        bridge = Bounds("bridge", parse_range(""))
        return replace(
            self,
            alternatives=tuple(
                bounds if any(bound.subject in FRONT_ENDS for bound in bounds) else (bridge, *bounds)
                for bounds in self.alternatives
            ),
        )


EVERYWHERE = Applicability("", ((),))


@cache
def parse_applicability(text: str) -> Applicability:
    """Read it. Raises VersionError."""
    if not text.strip():
        return EVERYWHERE
    return Applicability(text, tuple(_alternative(part.strip(), text) for part in text.split("|")))


def _alternative(part: str, text: str) -> tuple[Bounds, ...]:
    if not part:
        raise VersionError(f"{text!r} is not a range of versions")
    bounds: dict[Subject, list[str]] = {}
    subject: Subject = "bridge"
    for piece in (piece.strip() for piece in part.split(",")):
        if named := _SUBJECT.match(piece):
            subject, piece = named[1], piece[named.end() :].strip()
        elif not piece:
            raise VersionError(f"{text!r} is not a range of versions")
        bounds.setdefault(subject, []).append(piece)
    return tuple(
        Bounds(subject, parse_range(",".join(piece for piece in pieces if piece))) for subject, pieces in bounds.items()
    )


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ByVersion(Generic[T]):
    """A value for each range of versions; the first entry that applies counts."""

    entries: tuple[tuple[Applicability, T], ...] = ()

    @classmethod
    def everywhere(cls, what: T) -> ByVersion[T]:
        """Return an instance with one value for every version."""
        return cls(((EVERYWHERE, what),))

    def at(self, site: Site) -> T | None:
        """Return the value that holds at a site; None without one, or where that depends on an unknown version."""
        possible = self.possible(site)
        return possible[0] if len(possible) == 1 else None

    def possible(self, site: Site) -> tuple[T | None, ...]:
        """Return the values that may hold at a site: one, unless that depends on an unknown version.

        None means no entry.
        """
        found: list[T | None] = []
        for versions, what in self.entries:
            truth = versions.truth(site)
            if truth is not False:
                found.append(what)
            if truth:
                return tuple(found)
        return (*found, None)
