"""Pitfalls to inject: the bad examples of every rule that has a safe fix, as settings."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import Plain
from mfsdp_lint.megatron.conditions import Site
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.megatron.vocabulary import default
from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.rules.model import Example, Rule

ENVIRONMENT = "env."

RESUMED: Mapping[str, Plain] = {
    "checkpoint.pretrained_checkpoint": None,
    "checkpoint.load": "/results/run",
    "checkpoint.save": "/results/run",
}
"""A run that goes on with what it saved itself: what most fixes ask that depend on what is loaded."""


@dataclass(frozen=True, slots=True)
class Pitfall:
    """The settings of one bad example, in the order to write them, perhaps with those of a run that is resumed.

    `wrong` are those that the fix changes, the others only make them wrong. `components` are further versions that
    the example is judged with ({"te": "2.9"}).
    """

    code: str
    number: str
    settings: Mapping[str, Plain]
    wrong: frozenset[str]
    components: Mapping[str, str]

    @property
    def name(self) -> str:
        """`MFSDP101/0`; `MFSDP101/0r` where the run goes on with its own checkpoint."""
        return f"{self.code}/{self.number}"


def pitfalls(target: Target) -> list[Pitfall]:
    """Return every pitfall that a recipe of this target can have and a safe fix can remove, by code."""
    site = Site(target)
    found = []
    for rule in load_rules():
        here = rule.at(target)
        if here is None or rule.preset or rule.judges == "text" or not _may_be_safe(here):
            continue
        for number, example in enumerate(rule.examples):
            if example.severity is None or not example.versions.truth(site):
                continue
            for mark, more in (("", {}), ("r", RESUMED)) if _asks_what_is_loaded(here) else (("", {}),):
                settings = dict(_ordered({**_settings(example), **more}, target))
                wrong = _wrong(here, settings)
                found.append(Pitfall(rule.code, f"{number}{mark}", settings, wrong, example.components))
    return [pitfall for pitfall in found if pitfall.settings]


def _may_be_safe(rule: Rule) -> bool:
    nothing = Variant(WrittenSettings({}))
    return any(safe.truth(nothing) is not False for fix in rule.fixes for _, safe in fix.safe.entries)


def _asks_what_is_loaded(rule: Rule) -> bool:
    return any("checkpoint.load" in safe.paths() for fix in rule.fixes for _, safe in fix.safe.entries)


def stops_runs(code: str, target: Target) -> bool:
    """Tell whether start-up may refuse a run because of it."""
    rule = next(rule for rule in load_rules() if rule.code == code)
    here = rule.at(target)
    return here is not None and any((case.stage, case.severity) == ("startup", "error") for case in here.cases)


def _settings(example: Example) -> Mapping[str, Plain]:
    """Return the settings of an example; for one that is only a recipe, its assignments."""
    return example.settings or dict(_assigned(example.python))


def _assigned(text: str) -> Iterator[tuple[str, Plain]]:
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Assign(
                targets=[ast.Attribute() as target], value=ast.Constant(value=bool() | int() | float() | str() as value)
            ):
                yield ast.unparse(target).partition(".")[2], value


def _ordered(settings: Mapping[str, Plain], target: Target) -> Iterator[tuple[str, Plain]]:
    """Yield whole sections first; drop settings of a section that is None, and names that the version lacks."""
    for path, value in sorted(settings.items(), key=lambda item: "." in item[0]):
        section, _, name = path.partition(".")
        if section in settings and name and settings[section] is None:
            continue
        if not name or path.startswith(ENVIRONMENT) or default(path, target) is not None:
            yield path, value


def _wrong(rule: Rule, settings: Mapping[str, Plain]) -> frozenset[str]:
    """Find the settings that the fix changes; a rule about assignments is about the last one."""
    named = {path for fix in rule.fixes for path in (*fix.set, *fix.unset, *fix.drop)}
    return frozenset(named & settings.keys()) or frozenset(list(settings)[-1:])
