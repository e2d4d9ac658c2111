"""Settings that could not be decided: unknown because of the user's own text, where a rule depends on them.

A rule is silent about what is unknown. Where some value of one setting alone would make a rule of level error or
warning fire, and the setting is unknown because a call in the user's files is not followed, that is told; once for each
such call, about the setting that decides most.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from mfsdp_lint.core.recipe import Obstacle, Recipe, Setting
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.settings import With
from mfsdp_lint.core.values import Known, NotNone, Plain, Unknown
from mfsdp_lint.megatron.vocabulary import SWITCHES
from mfsdp_lint.rules.agenda import Agenda
from mfsdp_lint.rules.views import Views

_FIRST = ("ddp.use_megatron_fsdp", *SWITCHES, "checkpoint.ckpt_format", "ddp.data_parallel_sharding_strategy")
"""What most rules depend on."""

_MOST_VALUES = 12
"""Values of a setting that are tried."""


@dataclass(frozen=True, slots=True)
class Undecided:
    """A setting of a recipe, what keeps it from being known, and a value with which these rules would fire."""

    recipe: Recipe
    path: str
    obstacle: Obstacle
    value: Plain
    codes: tuple[str, ...]


def undecided(recipe: Recipe, views: Views, asked: Agenda, broken: Collection[str]) -> Iterator[Undecided]:
    """Yield the undecided settings of a variant, after its rules were asked; rules in `broken` are reported anyway."""
    written = views.written
    told: set[Obstacle] = set()
    for path in _open_settings(views):
        if not isinstance(written.value(path), (Unknown, NotNone)):
            continue
        obstacle = written.settings.obstacle(path)
        if obstacle is None or obstacle in told:
            continue
        for value in _values(path, views):
            supposed = replace(written, settings=With(written.settings, Setting(path, Known(value))))
            codes = _broken(Views(supposed, views.site), asked, broken)
            if codes:
                told.add(obstacle)
                yield Undecided(recipe, path, obstacle, value, codes)
                break


def _open_settings(views: Views) -> list[str]:
    """Return the settings in the undecided clauses, those that decide most first."""
    paths = {path for clause in views.open for path in clause.paths}
    return [*(path for path in dict.fromkeys(_FIRST) if path in paths), *sorted(paths.difference(_FIRST))]


def _values(path: str, views: Views) -> Sequence[Plain]:
    """Collect values that may make a difference: choices, values in the rules' comparisons, numbers beside them."""
    from mfsdp_lint.megatron.vocabulary import table

    entry = table().entry(path)
    found: list[Plain] = [True, False] if entry is None or entry.type == "bool" else list(entry.choices)
    for clause in views.open:
        for there, literals in clause.node.landmarks():
            if there == path:
                found += literals
    found += [number + by for number in found for by in (1, -1) if type(number) is int]
    return list({repr(value): value for value in found}.values())[:_MOST_VALUES]


def _broken(views: Views, asked: Agenda, known: Collection[str]) -> tuple[str, ...]:
    found = (rule.code for rule, case in asked.broken(views) if case.severity != "info")
    return tuple(dict.fromkeys(code for code in found if code not in known))
