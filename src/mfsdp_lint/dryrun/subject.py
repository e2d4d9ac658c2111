"""Subject of a dry run: one way through one recipe, its violations at the installed versions, and its settings as the
plain values that a worker takes.

A model whose sizes come from the hub has settings that nobody knows. They get values where the known settings ask for
one. Validation would else refuse a correct recipe for a default that its model does not have, and experts would never
run.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from mfsdp_lint.core.front_ends import BRIDGE, FrontEnd
from mfsdp_lint.core.recipe import Recipe, Variant
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.core.values import NONE, UNKNOWN, Known, NotNone, OneOf, Unknown
from mfsdp_lint.dryrun.control import LOADS, SAVE
from mfsdp_lint.dryrun.outcome import PlainSettings
from mfsdp_lint.megatron.startup.resolve import WORLD_SIZE
from mfsdp_lint.megatron.versions.target import Target
from mfsdp_lint.readers.command_line_overrides import parse
from mfsdp_lint.readers.overrides import override
from mfsdp_lint.rules.check import Violation, violations
from mfsdp_lint.rules.judging import CONFIGURATION, variant_of
from mfsdp_lint.rules.model import Confirm, Rule


@dataclass(frozen=True, slots=True)
class Subject:
    """A recipe, the variant of it that is run, its settings, and its findings at the versions of `target`.

    `codes` are the rules whose findings are tried, None for all; the mistakes that the others name are taken out.
    `learnt` are the settings that are known because the recipe's own code was run.
    """

    recipe: Recipe
    variant: Variant
    given: KnownSettings
    violations: tuple[Violation, ...]
    target: Target
    codes: frozenset[str] | None = None
    learnt: tuple[str, ...] = ()

    def tried(self, *tiers: Confirm) -> list[Violation]:
        """Return the findings to try in these tiers."""
        return [
            violation
            for violation in self.violations
            if tier_of(violation) in tiers and (self.codes is None or violation.rule.code in self.codes)
        ]

    @property
    def label(self) -> str:
        """`path.py::recipe`, with the way through its code where there are several."""
        name = self.recipe.label if self.recipe.name == self.recipe.path else f"{self.recipe.path}::{self.recipe.label}"
        return f"{name} (when {' and '.join(self.variant.when)})" if self.variant.when else name


@dataclass(frozen=True, slots=True)
class Examiner:
    """The rules, at the versions that are installed, for recipes that `front_end` reads.

    `trained` are the tiers that training here decides.
    """

    target: Target
    rules: Sequence[Rule]
    trained: tuple[Confirm, ...] = ("cpu",)
    front_end: FrontEnd = BRIDGE

    def subjects(self, recipes: Sequence[Recipe], *, every_path: bool = False) -> list[Subject]:
        """Return, for every recipe, the way through its code with the most to try, or every way."""
        found = []
        for recipe in recipes:
            if recipe.front_end != self.front_end:
                continue
            broken = violations([recipe], self.target, self.rules, lambda path: True)
            ways = [
                Subject(
                    recipe,
                    variant,
                    self.given(variant),
                    tuple(violation for violation in broken if violation.variant is variant),
                    self.target,
                )
                for variant in (*recipe.variants, *recipe.exposed)
            ]
            worth = sorted(ways, key=lambda way: -len([v for v in way.violations if can_be_tried(v, *self.trained)]))
            found += worth if every_path else worth[:1]
        return found

    def given(self, variant: Variant) -> KnownSettings:
        """Return the settings of a variant that a worker can be given."""
        return given(variant, defaults=not self.front_end.takes_flags)

    def every(self, settings: PlainSettings) -> list[Violation]:
        """Return the violations, then those that say nothing new beside a stronger rule: validation may refuse one of
        them first.
        """
        return [*self(settings), *self(settings, every=True)]

    def __call__(self, settings: PlainSettings, *, every: bool = False) -> list[Violation]:
        """Return the violations of settings; with `every`, also those that say nothing new beside a stronger rule."""
        recipe = replace(recipe_of(settings), front_end=self.front_end)
        return violations([recipe], self.target, self.rules, lambda path: True, every=every)


def saving(recipe: Recipe) -> Recipe:
    """Make the recipe save, and load its save, for a run that is to do so whatever the recipe says."""
    wanted = [path for path in ("checkpoint.save", "checkpoint.load") if not _says(recipe, path)]
    return override(recipe, parse([f"{path}={SAVE}" for path in wanted], []).overrides) if wanted else recipe


def _says(recipe: Recipe, path: str) -> bool:
    """Tell whether a recipe itself sets a path; the paths of a load count as one."""
    paths = LOADS if path in LOADS else (path,)
    return any(variant.value(path) not in (NONE, UNKNOWN) for variant in recipe.variants for path in paths)


def tier_of(violation: Violation) -> Confirm:
    """Return the lowest tier that can decide a finding. Validation has no say in failures that only happen after it.

    Refusals of a command line need nothing but its own validation; nothing else of it is tried.
    """
    if violation.recipe.front_end.takes_flags:
        return "introspect" if violation.case.stage == "startup" else "none"
    confirm = violation.case.confirm
    return "cpu" if confirm == "introspect" and violation.case.stage in ("wrap", "first-step") else confirm


def can_be_tried(violation: Violation, *trained: Confirm) -> bool:
    """Tell whether a dry run can decide the finding: validation, or training that decides these tiers (without any:
    the CPU's).
    """
    return tier_of(violation) in ("introspect", *(trained or ("cpu",)))


def without_environment(settings: PlainSettings, keeps: Collection[str] = ()) -> PlainSettings:
    """Return the settings that are not environment variables, but for those to keep."""
    return {path: value for path, value in settings.items() if path in keeps or not path.startswith("env.")}


_EXPERTS_A_RANK = 2
_QUICK_GELU = "<function megatron.core.fusions.fused_bias_geglu.quick_gelu>"


def stand_ins(settings: PlainSettings, unknown: Collection[str]) -> Mapping[str, Any]:
    """Return values for some of the unknown paths, such as go together with the settings that are known."""
    asked = ((path, asks(settings)) for path, asks in _ASKED.items() if path in unknown and path not in settings)
    return {path: value for path, value in asked if value is not None}


def _experts(settings: PlainSettings) -> int | None:
    spread = settings.get("model.expert_model_parallel_size")
    return spread * _EXPERTS_A_RANK if isinstance(spread, int) and spread > 1 else None


_ASKED: Mapping[str, Callable[[PlainSettings], Any]] = {
    "model.num_moe_experts": _experts,
    "model.moe_router_score_function": lambda given: (
        "sigmoid" if given.get("model.moe_router_enable_expert_bias") else None
    ),
    "model.activation_func": lambda given: _QUICK_GELU if given.get("model.glu_linear_offset") else None,
    "model.gated_linear_unit": lambda given: True if given.get("model.glu_linear_offset") else None,
    "model.linear_attention_freq": lambda given: (
        4 if given.get("model.experimental_attention_variant") == "gated_delta_net" else None
    ),
}
"""Values that settings need for the sake of others: a function of these, None where they ask for nothing."""


_FACTS = ("run.", "startup.", "write.")
_BY_NAME = ("model.__class__", "peft.__class__", WORLD_SIZE)
"""Facts that a variant tells only where they are asked for by name."""


@dataclass(frozen=True, slots=True)
class KnownSettings:
    """The settings that are known, and the paths of those of which it is known that there is something to know.

    `stood_in` are values for some of the unknown ones, which the settings have as well.
    """

    settings: Mapping[str, Any]
    unknown: tuple[str, ...]
    world_size: int
    stood_in: Mapping[str, Any] = field(default_factory=dict)


def given(variant: Variant, *, defaults: bool = True) -> KnownSettings:
    """Return the settings of a variant that a worker can be given; without `defaults`, only those that somebody wrote.

    Where the number of ranks is not set, there are two replicas of the model, if its batch can be divided so.
    """
    settings: dict[str, Any] = {}
    unknown = []
    sections = {path.partition(".")[0] for path in variant.settings if "." in path}
    for path in variant.settings:
        if not defaults and (origin := variant.origin(path)) is not None and origin.how == "default":
            continue
        match variant.value(path):
            case Known(value) if not path.startswith(_FACTS) and _is_json(value):
                settings[path] = value
            case NotNone() if "." not in path and path in sections:
                continue  # a section, of which the fields tell
            case Unknown() | OneOf() | NotNone() if not path.startswith(_FACTS):
                unknown.append(path)
            case _:
                continue
    for path in _BY_NAME if defaults else ():
        match variant.value(path):
            case Known(str() | int() as value):
                settings[path] = value
    stood_in = stand_ins(settings, unknown)
    settings |= stood_in
    return KnownSettings(settings, tuple(unknown), world_size(variant, settings), stood_in)


def world_size(variant: Variant, settings: Mapping[str, Any]) -> int:
    """Return the number of ranks that the settings are for."""
    match variant.value(WORLD_SIZE):
        case Known(int() as ranks) if not isinstance(ranks, bool):
            return ranks
    sizes = {name: _size(settings, f"model.{name}_parallel_size") for name in ("tensor_model", "pipeline_model")}
    tensor, pipeline = sizes["tensor_model"], sizes["pipeline_model"]
    dense = tensor * _size(settings, "model.context_parallel_size")
    experts = _size(settings, "model.expert_model_parallel_size") * _size(
        settings, "model.expert_tensor_parallel_size", tensor
    )
    replica = pipeline * math.lcm(dense, experts) * _size(settings, "ddp.num_distributed_optimizer_instances")
    batches = _size(settings, "train.micro_batch_size") * (2 * replica // (pipeline * dense))
    return replica if _size(settings, "train.global_batch_size", batches) % batches else 2 * replica


def _size(settings: Mapping[str, Any], path: str, default: int = 1) -> int:
    value = settings.get(path)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else default


def _is_json(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


def recipe_of(settings: Mapping[str, Any], name: str = CONFIGURATION) -> Recipe:
    """Make a recipe of a mapping of settings. Raises NotAConfiguration."""
    return Recipe(name, name, name, 1, "overrides", (variant_of(settings),))
