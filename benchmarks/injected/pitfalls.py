"""What is injected: the bad examples of every rule that has a safe fix, as settings."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mfsdp_lint.conditions.applicability import Site
from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import Plain
from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.rules.model import Example, Rule
from mfsdp_lint.versions.target import Target
from mfsdp_lint.vocabulary import default

ENVIRONMENT = "env."


@dataclass(frozen=True, slots=True)
class Pitfall:
    """The settings of one bad example, in the order to write them.

    `wrong` are those that the fix changes, the others only make them wrong. `components` are further versions that
    the example is judged with ({"te": "2.9"}).
    """

    code: str
    number: int
    settings: Mapping[str, Plain]
    wrong: frozenset[str]
    components: Mapping[str, str]

    @property
    def name(self) -> str:
        """`MFSDP101/0`."""
        return f"{self.code}/{self.number}"


def pitfalls(target: Target) -> list[Pitfall]:
    """Every pitfall that a recipe of this target can have and a safe fix can remove, by code."""
    site = Site(target)
    found = []
    for rule in load_rules():
        here = rule.at(target)
        if here is None or rule.preset or rule.judges == "text" or not _may_be_safe(here):
            continue
        for number, example in enumerate(rule.examples):
            if example.severity is None or not example.versions.truth(site):
                continue
            settings = dict(_ordered(_settings(example), target))
            if settings:
                found.append(Pitfall(rule.code, number, settings, _wrong(here, settings), example.components))
    return found


def _may_be_safe(rule: Rule) -> bool:
    nothing = Variant(WrittenSettings({}))
    return any(safe.truth(nothing) is not False for fix in rule.fixes for _, safe in fix.safe.entries)


def _settings(example: Example) -> Mapping[str, Plain]:
    """The settings of an example; of one that is only a recipe, what it assigns."""
    return example.settings or dict(_assigned(example.python))


def _assigned(text: str) -> Iterator[tuple[str, Plain]]:
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Assign(
                targets=[ast.Attribute() as target], value=ast.Constant(value=bool() | int() | float() | str() as value)
            ):
                yield ast.unparse(target).partition(".")[2], value


def _ordered(settings: Mapping[str, Plain], target: Target) -> Iterator[tuple[str, Plain]]:
    """Whole sections first; without what is in a section that is None, and without names that the version lacks."""
    for path, value in sorted(settings.items(), key=lambda item: "." in item[0]):
        section, _, name = path.partition(".")
        if section in settings and name and settings[section] is None:
            continue
        if not name or path.startswith(ENVIRONMENT) or default(path, target) is not None:
            yield path, value


def _wrong(rule: Rule, settings: Mapping[str, Plain]) -> frozenset[str]:
    """What the fix changes of them; a rule about assignments is about the last one."""
    named = {path for fix in rule.fixes for path in (*fix.set, *fix.unset, *fix.drop)}
    return frozenset(named & settings.keys()) or frozenset(list(settings)[-1:])
