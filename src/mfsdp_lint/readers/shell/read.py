"""From a shell script to recipes: one for each command of it that starts a training run."""

from __future__ import annotations

import math
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from mfsdp_lint.core.front_ends import BRIDGE, MEGATRON_LM, FrontEnd
from mfsdp_lint.core.recipe import Kind, Origin, Recipe, Setting, Span, Variant
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import NONE, NOT_NONE, Known, Value, is_known_as
from mfsdp_lint.front_ends.load import profiles
from mfsdp_lint.front_ends.pinned import Pinned
from mfsdp_lint.inputs.sources import Problem, Sources
from mfsdp_lint.readers.shell import megatron_lm, overrides
from mfsdp_lint.readers.shell.held import Held
from mfsdp_lint.readers.shell.pieces import Text, around, known, option, plain
from mfsdp_lint.readers.shell.run import Launch, Runner, TooMuch
from mfsdp_lint.startup.resolve import WORLD_SIZE
from mfsdp_lint.versions.target import DEFAULT_TARGET
from mfsdp_lint.vocabulary import SWITCHES
from mfsdp_lint.vocabulary.entry import Versions
from mfsdp_lint.vocabulary.tables import ENVIRONMENT

_SWITCHES = (*SWITCHES, "ddp.use_custom_fsdp")
"""With what the flag of Megatron-FSDP was called at first."""


@dataclass(frozen=True, slots=True)
class ShellRead:
    """The recipes of a script, and what is worth saying of it."""

    recipes: list[Recipe]
    problems: list[Problem]


def read_shell(
    path: str, text: str | Held, versions: Versions = DEFAULT_TARGET, sources: Sources | None = None
) -> ShellRead:
    """What a script comes to. A launch that does not configure Megatron gives no recipe.

    Origins: the span is the flag with its value, or the assignment; the focus is the value.
    """
    runner = Runner(path, sources or Sources({path: text} if isinstance(text, str) else {}))
    problems = []
    try:
        runner.run(text)
    except (TooMuch, RecursionError):
        problems.append(Problem(path, 1, 1, "this script has more ways and steps than are followed", "foreign"))
    recipes = list(_recipes(path, runner.launches, versions))
    if runner.lost is not None and (runner.stopped or not recipes):
        at = runner.lost
        said = "the shell syntax cannot be followed here; what is launched behind it may be missing"
        problems.append(Problem(at.path, at.line, at.column, said, "foreign"))
    return ShellRead(recipes, problems)


@dataclass(frozen=True, slots=True)
class Shape:
    """One way of configuring a run on a command line: whether the words behind a program do, and what they set."""

    kind: Kind
    front_end: FrontEnd
    takes: Callable[[Sequence[Text]], bool]
    arguments: Callable[[Sequence[Text], Span, Versions], Mapping[str, Setting]]

    def settings(self, launch: Launch, versions: Versions) -> dict[str, Setting]:
        """The settings of a run: what its words say, the environment that it is started in, and its number of ranks."""
        found = dict(self.arguments(launch.started.arguments, launch.span, versions))
        found |= {each.path: each for each in _environment(launch)}
        ranks = _ranks(launch)
        return found | ({ranks.path: ranks} if ranks else {})


SHAPES = (
    Shape("arguments", MEGATRON_LM, megatron_lm.is_one, megatron_lm.settings_of),
    Shape("overrides", BRIDGE, overrides.is_one, lambda words, place, versions: overrides.settings_of(words)),
)


def _shape(launch: Launch) -> Shape | None:
    return next((shape for shape in SHAPES if shape.takes(launch.started.arguments)), None)


def _recipes(path: str, launches: Sequence[Launch], versions: Versions) -> Iterator[Recipe]:
    """One recipe for each command that starts a run, with a variant for each way to it."""
    shapes = [(launch, shape) for launch in launches if (shape := _shape(launch))]
    places = list(dict.fromkeys(launch.span for launch, _ in shapes))
    for number, place in enumerate(places, 1):
        here = [(launch, shape) for launch, shape in shapes if launch.span == place]
        shape = here[0][1]
        front_end = _front_end(shape, here[0][0])
        ways = [
            (launch, _variant(shape, launch, Pinned.of(front_end, versions))) for launch, each in here if each is shape
        ]
        variants = _different(variant for launch, variant in ways if not launch.given)
        exposed = [variant for launch, variant in ways if launch.given and _turned_on(variant, variants)]
        if not variants:
            variants, exposed = _different(variant for _, variant in ways), []
        suffix = f"[{number}]" if len(places) > 1 else ""
        yield Recipe(
            name=posixpath.basename(path) + suffix,
            qualified_name=path + suffix,
            path=path,
            line=place.line if place.path == path else 1,
            kind=shape.kind,
            variants=tuple(variants),
            partial=shape.kind == "overrides",
            front_end=front_end,
            exposed=tuple(_different(exposed)),
        )


def _front_end(shape: Shape, launch: Launch) -> FrontEnd:
    """Who reads the words: a framework on top of it, where one of the flags is its own."""
    names = {plain(text).partition("=")[0] for text in launch.started.arguments}
    own = (
        each for each in profiles() if each.front_end.is_a(str(shape.front_end)) and not names.isdisjoint(each.flags)
    )
    return next((each.front_end for each in own), shape.front_end)


def _variant(shape: Shape, launch: Launch, versions: Versions) -> Variant:
    return Variant(WrittenSettings(shape.settings(launch, versions)), launch.when, launch.given)


def _environment(launch: Launch) -> Iterator[Setting]:
    """The variables that the script has set, or taken away, by the time of the launch."""
    for name, variable in launch.environment.items():
        text = variable.text
        if variable.unset:
            place = variable.written.span if variable.written else launch.span
            yield Setting(ENVIRONMENT + name, NONE, Origin(place, "assigned", value=NONE))
        elif text is not None:
            said = known(text)
            value: Value = NOT_NONE if said is None else Known(said)
            span = variable.written.span if variable.written else around(text)
            origin = Origin(span, "assigned", around(text), value=value, option=option(text))
            yield Setting(ENVIRONMENT + name, value, origin)


def _ranks(launch: Launch) -> Setting | None:
    """How many ranks torch's launcher starts, where the script itself says so."""
    if launch.started.per_node is None:
        return None
    texts = [text for text in (launch.started.per_node, launch.started.nodes) if text is not None]
    numbers = [known(text) or "" for text in texts]
    # Whoever sets the variable behind a default runs on as many machines as there are.
    if any(option(text) for text in texts) or not all(re.fullmatch(r"[1-9]\d{0,5}", number) for number in numbers):
        return None
    value = Known(math.prod(map(int, numbers)))
    return Setting(WORLD_SIZE, value, Origin(around(texts[-1]), "assigned", value=value))


def _different(variants: Iterable[Variant]) -> list[Variant]:
    """Those that are not alike; what is alike in all of two is said of neither way."""
    found: dict[object, Variant] = {}
    for variant in variants:
        settings = variant.settings
        said = tuple((path, repr(settings.value(path)), _written(settings.origin(path))) for path in sorted(settings))
        key = (variant.exposed, said)
        same = found.get(key)
        when = variant.when if same is None else tuple(each for each in same.when if each in variant.when)
        found[key] = Variant(settings, when, variant.exposed)
    return list(found.values())


def _written(origin: Origin | None) -> tuple[Span, ...]:
    return () if origin is None else (*origin.spans(), origin.point)


def _turned_on(variant: Variant, others: Sequence[Variant]) -> bool:
    """Whether somebody who gives a variable turns FSDP on that is off without it."""
    return any(
        is_known_as(variant.value(path), True) and not any(is_known_as(each.value(path), True) for each in others)
        for path in _SWITCHES
    )
