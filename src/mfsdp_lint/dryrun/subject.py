"""Subject of a dry run: one way through one recipe, its violations at the installed versions, and its settings as the
plain values that a worker takes.

A model whose sizes come from the hub has settings that nobody knows. They get values where the known settings ask for
one. Validation would else refuse a correct recipe for a default that its model does not have, and experts would never
run. With `--execute` recipe functions are run as they are, for the settings that nobody can know without that.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from mfsdp_lint.core import files
from mfsdp_lint.core.front_ends import BRIDGE, FrontEnd
from mfsdp_lint.core.recipe import Recipe, Variant
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import NONE, UNKNOWN, Known, NotNone, OneOf, Unknown
from mfsdp_lint.dryrun.containment import MEMORY, contained
from mfsdp_lint.dryrun.evidence import FACTS, LOADS, SAVE
from mfsdp_lint.dryrun.outcome import PlainSettings, failure_from
from mfsdp_lint.inputs.addresses import Address
from mfsdp_lint.inputs.sources import Problem
from mfsdp_lint.megatron.startup.resolve import WORLD_SIZE
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.readers.overrides import override, parse_command_line
from mfsdp_lint.readers.python.read import NOT_KNOWN
from mfsdp_lint.rules.check import Violation, violations
from mfsdp_lint.rules.judging import CONFIGURATION, NotAConfiguration, variant_of
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
    """The rules at the installed versions, for recipes that `front_end` reads; training decides the tiers `trained`."""

    target: Target
    rules: Sequence[Rule]
    trained: tuple[Confirm, ...] = ("cpu",)
    front_end: FrontEnd = BRIDGE

    def subjects(self, recipes: Sequence[Recipe]) -> list[Subject]:
        """Return, for every recipe, the way through its code with the most to try."""
        found = []
        for recipe in recipes:
            if recipe.front_end != self.front_end:
                continue
            broken = violations([recipe], self.target, self.rules, lambda path: True)
            ways = [self.subject(recipe, variant, broken) for variant in (*recipe.variants, *recipe.exposed)]
            worth = sorted(ways, key=lambda way: -len([v for v in way.violations if can_be_tried(v, *self.trained)]))
            found += worth[:1]
        return found

    def subject(self, recipe: Recipe, variant: Variant, broken: Sequence[Violation]) -> Subject:
        """Return one way through a recipe, with those of the violations that are its own."""
        own = tuple(violation for violation in broken if violation.variant is variant)
        return Subject(recipe, variant, given(variant, defaults=not self.front_end.takes_flags), own, self.target)

    def __call__(self, settings: PlainSettings, *, every: bool = False) -> list[Violation]:
        """Return the violations of settings, first those that no stronger rule speaks for; `every`: then the others."""
        recipe = replace(recipe_of(settings), front_end=self.front_end)
        asked = (False, True) if every else (False,)
        runs = (violations([recipe], self.target, self.rules, lambda path: True, every=each) for each in asked)
        return [violation for found in runs for violation in found]


def saving(recipe: Recipe) -> Recipe:
    """Make the recipe save, and load its save, for a run that is to do so whatever the recipe says."""
    wanted = [
        f"{paths[0]}={SAVE}"
        for paths in (("checkpoint.save",), LOADS)
        if all(variant.value(path) in (NONE, UNKNOWN) for variant in recipe.variants for path in paths)
    ]
    return override(recipe, parse_command_line(wanted, []).overrides) if wanted else recipe


def tier_of(violation: Violation) -> Confirm:
    """Return the lowest tier that can decide a finding. Validation has no say in failures that only happen after it.

    Refusals of a command line need nothing but its own validation; nothing else of it is tried.
    """
    if violation.recipe.front_end.takes_flags:
        return "introspect" if violation.case.stage == "startup" else "none"
    confirm = violation.case.confirm
    return "cpu" if confirm == "introspect" and violation.case.stage in ("wrap", "first-step") else confirm


def can_be_tried(violation: Violation, *trained: Confirm) -> bool:
    """Tell whether a dry run can decide the finding: validation, or training in these tiers (by default the CPU's)."""
    return tier_of(violation) in ("introspect", *(trained or ("cpu",)))


_EXPERTS_A_RANK = 2
_QUICK_GELU = "<function megatron.core.fusions.fused_bias_geglu.quick_gelu>"


def stand_ins(settings: PlainSettings, unknown: Collection[str]) -> Mapping[str, Any]:
    """Return values for some of the unknown paths, such as go together with the settings that are known."""
    spread, offset = settings.get("model.expert_model_parallel_size"), settings.get("model.glu_linear_offset")
    biased = settings.get("model.moe_router_enable_expert_bias")
    gated_delta = settings.get("model.experimental_attention_variant") == "gated_delta_net"
    asked = {
        "model.num_moe_experts": spread * _EXPERTS_A_RANK if isinstance(spread, int) and spread > 1 else None,
        "model.moe_router_score_function": "sigmoid" if biased else None,
        "model.activation_func": _QUICK_GELU if offset else None,
        "model.gated_linear_unit": True if offset else None,
        "model.linear_attention_freq": 4 if gated_delta else None,
    }
    missing = [path for path in asked if path in unknown and path not in settings]
    return {path: asked[path] for path in missing if asked[path] is not None}


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
            case Known(value) if not path.startswith(FACTS):
                with suppress(TypeError, ValueError):  # where JSON cannot have it
                    json.dumps(value, allow_nan=False)
                    settings[path] = value
            case NotNone() if "." not in path and path in sections:
                continue  # a section, of which the fields tell
            case Unknown() | OneOf() | NotNone() if not path.startswith(FACTS):
                unknown.append(path)
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
    tensor, pipeline = (_size(settings, f"model.{name}_model_parallel_size") for name in ("tensor", "pipeline"))
    dense = tensor * _size(settings, "model.context_parallel_size")
    experts = _size(settings, "model.expert_model_parallel_size")
    experts *= _size(settings, "model.expert_tensor_parallel_size", tensor)
    replica = pipeline * math.lcm(dense, experts) * _size(settings, "ddp.num_distributed_optimizer_instances")
    batches = _size(settings, "train.micro_batch_size") * (2 * replica // (pipeline * dense))
    return replica if _size(settings, "train.global_batch_size", batches) % batches else 2 * replica


def _size(settings: Mapping[str, Any], path: str, default: int = 1) -> int:
    value = settings.get(path)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else default


def recipe_of(settings: Mapping[str, Any], name: str = CONFIGURATION) -> Recipe:
    """Make a recipe of a mapping of settings. Raises NotAConfiguration."""
    return Recipe(name, name, name, 1, "overrides", (variant_of(settings),))


@dataclass(frozen=True, slots=True)
class Executed:
    """A recipe, and what running its code has told of it.

    `was_run`: its settings are those that its function returned, and `learnt` are those of them that were not known
    before. Where that failed, `why` says so.
    """

    recipe: Recipe
    was_run: bool = False
    learnt: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class Execution:
    """Means to run recipe functions: `search_path` is where else imports are found, `environment` what a launcher would
    set, `timeout` is for the imports and for the code of each file.
    """

    python: str
    transformer_engine: str
    search_path: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout: float = 60.0
    keep: str | None = None
    memory: int = MEMORY


def not_read(addresses: Sequence[Address], problems: Sequence[Problem]) -> tuple[list[Recipe], list[Problem]]:
    """Return as recipes the functions whose settings are not known without a run, and the problems without theirs."""
    theirs = {(each.path, f"{each.function} {NOT_KNOWN}"): each for each in addresses if not each.positional}
    recipes, others, nothing = [], [], (Variant(WrittenSettings()),)
    for problem in problems:
        if each := theirs.get((problem.path, problem.message)):
            name, keywords = each.function, dict(each.keywords)
            recipes.append(Recipe(name, name, each.path, 1, "function", nothing, arguments=keywords))
        else:
            others.append(problem)
    return recipes, others


def execute(recipes: Sequence[Recipe], means: Execution, warn: Callable[[str], None]) -> list[Executed]:
    """Run the recipes that are functions of Python files; `warn` announces them before. Raises UsageError."""
    by_file: dict[str, list[Recipe]] = {}
    for recipe in recipes:
        if recipe.kind == "function" and recipe.path.endswith(".py"):
            by_file.setdefault(recipe.path, []).append(recipe)
    done: dict[int, Executed] = {}
    for path, functions in by_file.items():
        names = ", ".join(recipe.label for recipe in functions)
        warn(f"--execute runs the code of {path}, in a process of its own: {names}")
        for recipe, answer in zip(functions, _answers(path, functions, means), strict=True):
            done[id(recipe)] = _executed(recipe, answer)
    return [done.get(id(recipe)) or Executed(recipe) for recipe in recipes]


def _answers(path: str, functions: Sequence[Recipe], means: Execution) -> list[Mapping[str, Any]]:
    hub = os.environ.get("HF_HOME", os.path.expanduser("~/.cache/huggingface"))
    question = {
        "path": os.path.abspath(path),
        "search_path": [os.path.abspath(each) for each in means.search_path],
        "transformer_engine": means.transformer_engine,
        # What was fetched from the hub before can be had; its own folder for code that it fetched is the launch's.
        "environment": {**means.environment, "HF_HOME": hub},
        "calls": [{"function": recipe.name, "arguments": dict(recipe.arguments)} for recipe in functions],
    }
    with contained(means.python, keep=means.keep, memory=means.memory) as launch:
        asked, told = launch.directory / "execute.json", launch.directory / "answers" / "execute.json"
        files.put(str(asked), json.dumps(question, indent=1).encode())
        process = launch.start(launch.command("execute", str(asked), str(told)), output="execute.log")
        try:
            process.wait(2 * means.timeout)
            ended = f"its process ended with {process.returncode}, without an answer"
        except subprocess.TimeoutExpired:
            ended = f"it took more than {2 * means.timeout:g} s"
        try:
            found = json.loads(files.read(told))
        except (OSError, ValueError):
            error = {"type": "Ended", "text": ended, "where": []}
            return [{"error": error, "stage": "running it"}] * len(functions)
    if found["error"]:
        return [{"error": found["error"], "stage": "importing Megatron"}] * len(functions)
    calls: list[Mapping[str, Any]] = found["calls"]
    return calls


def _executed(recipe: Recipe, answer: Mapping[str, Any]) -> Executed:
    failure = failure_from(answer["error"])
    if failure is not None:
        where = f" ({failure.where[-1]})" if failure.where else ""
        return Executed(recipe, why=f"{answer['stage']} failed: {failure.message}{where}")
    # What is only known to be there is an object of which nothing is known.
    settings = {**dict.fromkeys(answer["set"], object()), **answer["known"]}
    try:
        variant = variant_of(settings, partial_environment=True)
    except NotAConfiguration as error:
        return Executed(recipe, why=str(error))
    before = dict.fromkeys(path for each in recipe.variants for path in given(each).unknown)
    learnt = tuple(path for path in before or answer["known"] if path in answer["known"])
    return Executed(replace(recipe, variants=(variant,), exposed=(), partial=False), was_run=True, learnt=learnt)
