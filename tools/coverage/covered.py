"""Coverage of checks: by rules, by steps of `startup.yaml` that model them, or the reasons for neither:
`reasons.yaml`.

A rule covers a check of one version if its evidence for that version names a line of the check, or if an error that it
predicts there is the check's. A reason holds for checks that no rule covers:

    - why: "not about FSDP: what the layers of the model are"
      unless: [fsdp]                                         pieces that none of these checks has, in capitals or not
      checks:
        - {file: "*/layout.py"}                              a pattern of paths
        - {file: "*/arguments.py", function: "validate_*", says: [rope]}
                                                             of functions, and pieces of the text or the condition
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from mfsdp_lint.core.store import read_yaml
from mfsdp_lint.megatron.conditions import Site
from mfsdp_lint.megatron.startup import raw_steps
from mfsdp_lint.rules.model import ErrorText, Rule
from tools.coverage.known import Known
from tools.evidenced import sites

FILE = Path(__file__).parent / "reasons.yaml"

SHORTEST = 12
"""Characters of a piece of an error text that say which error it is."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason why no rule covers some checks; `of` selects the checks, `unless` has pieces that exclude a new one."""

    why: str
    of: tuple[Mapping[str, Any], ...]
    unless: tuple[str, ...] = ()

    def holds(self, each: Known) -> bool:
        """Tell whether it is the reason for a check."""
        said = f"{each.check.condition} {each.check.message}".lower()
        return not any(piece in said for piece in self.unless) and any(_is_meant(wanted, each) for wanted in self.of)


@dataclass(frozen=True, slots=True)
class Covered:
    """A check: the rules that cover it by version, the steps of start-up that model it, the reason for the rest."""

    known: Known
    rules: Mapping[str, frozenset[str]]
    steps: tuple[str, ...]
    why: str

    @property
    def codes(self) -> list[str]:
        return sorted(frozenset[str]().union(*self.rules.values()))

    @property
    def open(self) -> list[str]:
        """The versions that have the check and no rule for it."""
        return [version for version in self.known.at if not self.rules.get(version)]

    @property
    def is_hole(self) -> bool:
        """Tell whether neither a rule nor a step nor a reason covers it at some version."""
        return bool(self.open) and not self.steps and not self.why


def covered(checks: Sequence[Known], rules: Sequence[Rule], reasons: Sequence[Reason] | None = None) -> list[Covered]:
    """Find the rules, steps or reason that cover each check."""
    given = read_reasons() if reasons is None else reasons
    by_rules: dict[int, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for code, version, number in (*_by_evidence(checks, rules), *_by_error(checks, rules)):
        by_rules[number][version].add(code)
    steps = _by_steps(checks)
    return [
        Covered(
            each,
            {version: frozenset(codes) for version, codes in by_rules[number].items()},
            tuple(steps[number]),
            next((reason.why for reason in given if reason.holds(each)), ""),
        )
        for number, each in enumerate(checks)
    ]


def read_reasons(file: Path = FILE) -> list[Reason]:
    """Read the reasons, in their order: of several the first one counts."""
    return [Reason(item["why"], tuple(item["checks"]), tuple(item.get("unless", ()))) for item in read_yaml(file)]


def _is_meant(wanted: Mapping[str, Any], each: Known) -> bool:
    return (
        fnmatchcase(each.path, wanted["file"])
        and fnmatchcase(each.check.function, wanted.get("function", "*"))
        and any(piece in each.check.message or piece in each.check.condition for piece in wanted.get("says", [""]))
    )


def _by_evidence(checks: Sequence[Known], rules: Sequence[Rule]) -> Iterator[tuple[str, str, int]]:
    places = _Places(checks)
    for rule in rules:
        for version, named in rule.evidence.items():
            for place in named:
                for number in places.at(version, place.repository, place.path, place.line):
                    yield rule.code, version, number


def _by_error(checks: Sequence[Known], rules: Sequence[Rule]) -> Iterator[tuple[str, str, int]]:
    for version, site in sites().items():
        foretold = [(rule.code, error) for rule in rules for error in _errors(rule, site)]
        for number, each in enumerate(checks):
            if version in each.at:
                yield from ((code, version, number) for code, error in foretold if _is_of(each, error))


def _errors(rule: Rule, site: Site) -> Iterator[ErrorText]:
    """Yield the errors that a rule predicts there, also those for a component whose version is not known."""
    if rule.versions.truth(site) is not False:
        here = (case.at(site) for case in rule.cases if case.versions.truth(site) is not False)
        yield from (case.error for case in here if case.error is not None)


def _is_of(each: Known, error: ErrorText) -> bool:
    """Tell whether an error is the check's: an assertion without a text raises its own line."""
    pieces = [piece.strip() for piece in error.pieces()]
    said = f"assert {each.check.condition}" if not each.check.message else each.check.message
    return any(len(piece) >= SHORTEST for piece in pieces) and all(piece in said for piece in pieces)


def _by_steps(checks: Sequence[Known]) -> Mapping[int, list[str]]:
    places, found = _Places(checks), defaultdict[int, list[str]](list)
    for step, evidence in _evidence(steps for name, steps in raw_steps().items() if name != "rare"):
        for version, place in evidence.items():
            repository, _, line = place.partition(" ")
            path, _, number = line.rpartition(":")
            for check in places.at(version, repository, path, int(number)):
                if step not in found[check]:
                    found[check].append(step)
    return found


def _evidence(lists: Iterable[Sequence[Mapping[str, Any]]]) -> Iterator[tuple[str, Mapping[str, str]]]:
    for steps in lists:
        for step in steps:
            yield step.get("name", ""), step.get("evidence", {})
            yield from ((name or step.get("name", ""), places) for name, places in _evidence([step.get("steps", [])]))


class _Places:
    """Index of the checks by the lines of a version."""

    def __init__(self, checks: Sequence[Known]) -> None:
        self._of: dict[tuple[str, str], list[tuple[int, Known]]] = defaultdict(list)
        for number, each in enumerate(checks):
            self._of[each.repository, each.path].append((number, each))

    def at(self, version: str, repository: str, path: str, line: int) -> Iterator[int]:
        """Yield the numbers of the checks at a line."""
        for number, each in self._of[repository, path.removeprefix("src/")]:
            if any(check.is_at(line) for check in each.at.get(version, ())):
                yield number
