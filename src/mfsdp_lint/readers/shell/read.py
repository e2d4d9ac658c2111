"""From a shell script to recipes: one for each command of it that starts a training run.

A launch in words: the program, the recipe and the files that it names, its overrides and its environment.
"""

from __future__ import annotations

import math
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from mfsdp_lint.core.front_ends import BRIDGE, MEGATRON_LM, FrontEnd
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import (
    Kind,
    LaunchCommand,
    NamedWrite,
    Obstacle,
    Origin,
    Piece,
    Recipe,
    Setting,
    Settings,
    Span,
    Unfollowed,
    Variant,
)
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.settings import Layer, With, WrittenSettings
from mfsdp_lint.core.values import NONE, NOT_NONE, Known, Value, is_known_as
from mfsdp_lint.inputs.sources import Problem, Sources
from mfsdp_lint.megatron.front_ends import Pinned, Profile, profiles
from mfsdp_lint.megatron.startup.resolve import WORLD_SIZE
from mfsdp_lint.megatron.versions import DEFAULT_TARGET
from mfsdp_lint.megatron.vocabulary import SWITCHES
from mfsdp_lint.megatron.vocabulary.tables import ENVIRONMENT, Versions
from mfsdp_lint.readers.framework_configs import made_by
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.launch_memory import NOTHING, ShellRead, Started
from mfsdp_lint.readers.programs import upstream_script
from mfsdp_lint.readers.relevance import (
    TRAINING_PROGRAM,
    Relevance,
    defines_options,
    takes_from_megatron,
    trains_nothing,
)
from mfsdp_lint.readers.shell.conversions import IMPORTERS, conversions, imports, loadings_of, with_notices
from mfsdp_lint.readers.shell.framework_programs import file_of_options, runs_of_framework
from mfsdp_lint.readers.shell.launch_command import ShellLaunch, given_by, path_of, program_of
from mfsdp_lint.readers.shell.notices import noticed
from mfsdp_lint.readers.shell.overlooked import has_open_words, overlooked, shards, why_open
from mfsdp_lint.readers.shell.run import ScriptRunner, TooMuch
from mfsdp_lint.readers.shell.script import Text, around, known, option, plain
from mfsdp_lint.readers.shell.shapes import (
    has_flags,
    has_overrides,
    named_overrides,
    profile_of,
    settings_of_launch_flags,
    settings_of_options,
    settings_of_overrides,
)
from mfsdp_lint.readers.shell.stages import touched, with_other_formats
from mfsdp_lint.readers.shell.state import FEW_WAYS, MOST_WAYS, Held, HeldCommand, Variable

if TYPE_CHECKING:
    from mfsdp_lint.readers.programs import Programs
    from mfsdp_lint.readers.python.state.paths import OutOfSteps, Raised


_RECIPE = ("--recipe", "--recipe-name", "--recipe_name", "--model_recipe_name")
_FILE = lazy_pattern(r"[^\s=]+\.ya?ml")
_OVERRIDE = lazy_pattern(r"(?:\+\+?)?[A-Za-z_][\w/@]*(?:\.\w+)*=.*|~[A-Za-z_][\w.]*(?:=.*)?", re.DOTALL)


def command_of(ways: Sequence[ShellLaunch]) -> LaunchCommand:
    """Describe the program that a command starts, with its recipe, files, overrides and environment; what differs
    between the ways to it is there as often. Ways that a variable of the environment turns on are left out.
    """
    by_default = [each for each in ways if not each.given] or ways
    words = [[_said(plain(text)) for text in each.started.arguments] for each in by_default]
    every = [word for each in words for word in each]
    paths = (_said(_as_seen(text)) for each in by_default for text in each.started.arguments)
    files = [each.partition("=")[2] if each.startswith("--") else each for each in paths]
    environment = [(name, each.text) for way in by_default for name, each in way.environment.items() if not each.unset]
    module = "-m " if ways[0].started.is_module else ""
    return LaunchCommand(
        program=module + _said(posixpath.normpath(_as_seen(ways[0].started.program))),
        recipes=_once(value for each in words for value in [v for name, v in _options(each) if name in _RECIPE][-1:]),
        files=_once(each for each in files if _FILE.fullmatch(each)),
        overrides=_once(each for each in every if _OVERRIDE.fullmatch(each)),
        environment=_once(f"{name}={_said(plain(text))}" for name, text in environment if text is not None),
        requires=ways[0].requires,
    )


def _as_seen(path: Text) -> str:
    """Return a path as seen from here: where the script lies is known."""
    return "".join(piece.stands or piece.text for piece in path)


def _once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the options, each with its value: the next word, or the text after `=`."""
    for number, word in enumerate(words):
        name, equals, value = word.partition("=")
        if word.startswith("-"):
            yield name, value if equals else "".join(words[number + 1 : number + 2])


def _said(text: str) -> str:
    return re.sub(f"{HOLE}+", "?", text)


_MOST_RUNS = 16
"""Different starts of one command, by words and environment, on which its program is followed."""

_SWITCHES = (*SWITCHES, "ddp.use_custom_fsdp")
"""With what the flag of Megatron-FSDP was called at first."""


def read_shell(
    path: str,
    text: str | Held | Sequence[Held | HeldCommand],
    versions: Versions = DEFAULT_TARGET,
    sources: Sources | None = None,
    programs: Programs | None = None,
    variables: Mapping[str, Variable] | None = None,
) -> ShellRead:
    """Read the recipes of a script, or of all scripts and commands that a file holds. A launch that does not configure
    Megatron gives no recipe. With `programs`, programs of the tree that it starts are followed, in the environment
    that they are given. `variables` are exported to what is started by hand here.

    Origins: the span is the flag with its value, or the assignment; the focus is the value.
    """
    sources = sources or Sources({path: text} if isinstance(text, str) else {})
    environment = () if programs is None else programs.asked.environment
    started_by = partial(_started_by_program, path, sources, programs)

    def beginning(most_ways: int) -> ScriptRunner:
        runner = ScriptRunner(path, sources, environment, started_by, most_ways)
        runner.environment = {**(variables or {}), **runner.environment}
        return runner

    problems = []
    runner, is_whole = _followed(beginning, [text] if isinstance(text, (str, Held)) else text)
    if not is_whole:
        problems.append(Problem(path, 1, 1, "this script has more ways and steps than are followed", "foreign"))
    # A script that starts itself, or a function that calls itself, was followed before.
    if at := next((each for each in runner.deep if each not in runner.followed), None):
        said = "nested too deeply to be followed; what is launched here is missing"
        problems.append(Problem(at.path, at.line, at.column, said, "foreign"))
    unfollowed = list(runner.unfollowed)
    kinds = _kinds(path, runner.launches, sources, programs, unfollowed)
    ends = {each.span: f"ends with {each.message.removesuffix('.')}" for each in unfollowed if each.why == "raises"}
    recipes = list(_recipes(path, kinds, versions, sources, ends))
    if recipes:
        whole = next(iter(runner.scripts.values())) if isinstance(text, (str, Held)) else None
        relevance = Relevance(sources) if programs is None else programs.asked.relevance
        notices = tuple(noticed(path, runner, whole, [launch for launch, _ in kinds], recipes, versions, relevance))
        recipes = [replace(recipe, notices=notices) for recipe in recipes]
    converted = list(conversions(path, runner))
    if not (recipes or converted or unfollowed or runner.lost) and (missed := overlooked(path, runner)):
        unfollowed.append(missed)
    unfollowed += _hidden(path, kinds, recipes)
    loadings = list(loadings_of(recipes, [launch for launch, _ in kinds], runner))
    recipes = with_notices(loadings, converted, versions.core)
    loadings = [replace(each, recipe=recipe) for each, recipe in zip(loadings, recipes, strict=True)]
    importing = list(imports(path, runner))
    imported = [each for _, each in importing]
    runs = {id(launch) for launch, _ in kinds}
    by_import = {span for launch, _ in importing for span in (launch.span, launch.outermost)}
    others = frozenset(touched(each for each in runner.launches if id(each) not in runs and each.span not in by_import))
    recipes = list(with_other_formats(loadings, loadings, converted, imported, others))
    if runner.lost is not None and (runner.stopped or not recipes):
        at = runner.lost
        said = "the shell syntax cannot be followed here; what is launched behind it may be missing"
        problems.append(Problem(at.path, at.line, at.column, said, "foreign"))
    return ShellRead(recipes, problems, unfollowed, loadings, converted, imported, others, runner.queried)


def _followed(
    beginning: Callable[[int], ScriptRunner], texts: Iterable[str | Held | HeldCommand]
) -> tuple[ScriptRunner, bool]:
    """Follow scripts and commands, and tell whether that got to their ends: with so many ways kept apart, and from the
    beginning with fewer where it takes more steps than a script is given.
    """
    runner = beginning(MOST_WAYS)
    while True:
        try:
            for each in texts:
                if isinstance(each, HeldCommand):
                    runner.command(each)
                else:
                    runner.run(each)
        except RecursionError:
            return runner, False
        except TooMuch:
            fewer = [each for each in (FEW_WAYS, 1) if each < min(runner.most_ways, runner.widest)]
            if not fewer:
                return runner, False
            runner = beginning(fewer[0])
        else:
            return runner, True


@dataclass(frozen=True, slots=True)
class LaunchShape:
    """A way of configuring a run on a command line: a test that recognises the words behind a program, and their
    settings with the variables of the environment.

    `named` are the writes among them to classes that are not known here.
    """

    kind: Kind
    front_end: FrontEnd
    takes: Callable[[Sequence[Text]], bool]
    configure: Callable[[Sequence[Text], Span, Versions, Mapping[str, Setting]], Mapping[str, Setting]]
    named: Callable[[Sequence[Text]], Sequence[NamedWrite]] = lambda _: ()

    def settings(self, launch: ShellLaunch, versions: Versions) -> dict[str, Setting]:
        """Return the settings of a run: from its words, its environment, and its number of ranks."""
        environment = {each.path: each for each in _environment(launch)}
        found = self.configure(launch.started.arguments, launch.span, versions, environment)
        ranks = _ranks(launch)
        return {**found, **({ranks.path: ranks} if ranks else {})}


LAUNCH_SHAPES = (
    LaunchShape(
        "arguments",
        MEGATRON_LM,
        has_flags,
        lambda words, place, versions, environment: {**settings_of_launch_flags(words, place, versions), **environment},
    ),
    LaunchShape(
        "overrides",
        BRIDGE,
        has_overrides,
        lambda words, _, __, environment: {**settings_of_overrides(words), **environment},
        named_overrides,
    ),
)


@dataclass(frozen=True, slots=True)
class FollowedRun:
    """A launch of a program that is followed: its `nth` recipe, and the code that runs for it."""

    recipe: Recipe
    nth: int
    ran: frozenset[Piece]


Kinds = Sequence[tuple[ShellLaunch, LaunchShape | FollowedRun]]
"""The launches that start a run, and how each is configured."""


def _kinds(
    path: str,
    launches: Sequence[ShellLaunch],
    sources: Sources,
    programs: Programs | None,
    unfollowed: list[Unfollowed],
) -> Kinds:
    """Pair each launch with its configuration; `unfollowed` receives the programs that surely end without a run."""
    runs = {} if programs is None else _runs(path, launches, sources, programs, unfollowed)
    found: list[tuple[ShellLaunch, LaunchShape | FollowedRun]] = []
    shapes = [
        None
        if launch.hands_on or _is_none_of_megatron(path, launch, sources, programs)
        else _shape(path, launch, sources)
        for launch in launches
    ]
    at_place = {launch.span: shape for launch, shape in zip(launches, shapes, strict=True) if shape}
    for number, (launch, shape) in enumerate(zip(launches, shapes, strict=True)):
        if shape is None and has_open_words(launch):
            shape = at_place.get(launch.span)  # on this way too it starts a run, of which less is known
        several: Sequence[LaunchShape | FollowedRun] = runs.get(number) or ([shape] if shape else [])
        found += [(launch, kind) for kind in several]
    return found


def _runs(
    path: str, launches: Sequence[ShellLaunch], sources: Sources, programs: Programs, unfollowed: list[Unfollowed]
) -> dict[int, list[FollowedRun]]:
    """Follow the tree's programs; return the runs by number of the launch. Where a command gives settings by its words
    alone on one way, its program is followed on all ways or on none.
    """
    found: dict[int, list[FollowedRun]] = {}
    by_place: dict[Span, list[int]] = {}
    for number, launch in enumerate(launches):
        by_place.setdefault(launch.span, []).append(number)
    for place, numbers in by_place.items():
        alike: dict[object, list[int]] = {}
        for number in numbers:
            alike.setdefault(_said_by(launches[number]), []).append(number)
        if len(alike) > _MOST_RUNS:
            # Nothing is missing where the program is none that would be followed.
            if _started(path, launches[numbers[0]], sources, programs).recipes:
                message = (
                    f"this command has more than {_MOST_RUNS} different starts, and the program is followed on none"
                )
                unfollowed.append(Unfollowed.of_launch(path, place, "limit", message))
            continue
        here: dict[int, Started] = {}
        for same in alike.values():
            here |= dict.fromkeys(same, _started(path, launches[same[0]], sources, programs))
        others = [launches[number] for number, started in here.items() if not started.recipes]
        if len(others) < len(here) and not any(_shape(path, each, sources) for each in others):
            for number, started in here.items():
                found[number] = [FollowedRun(recipe, nth, started.ran) for nth, recipe in enumerate(started.recipes)]
            if others:
                why = "its program makes no configuration that is known on one of its starts"
                unfollowed.append(Unfollowed.of_launch(path, place, "out of sight", why))
        endings = [started.ending for started in here.values() if started.ending is not None]
        if len(endings) == len(here):
            unfollowed.append(_ending(path, place, endings[0]))
    return found


def _said_by(launch: ShellLaunch) -> object:
    """Return all that a program can see of its launch: on several ways, that may be the same."""
    words = (launch.started.program, *launch.started.arguments)
    environment = ((name, each.unset, plain(each.text or ())) for name, each in launch.environment.items())
    return tuple(map(plain, words)), frozenset(environment)


def _ending(path: str, place: Span, raised: Raised | OutOfSteps) -> Unfollowed:
    """Report a launch whose program surely ends with an exception; that a call is refused its arguments is certain."""
    from mfsdp_lint.readers.python.state.paths import OutOfSteps, RefusedCall

    if isinstance(raised, OutOfSteps):
        return Unfollowed.of_launch(path, place, "limit", "its program takes more steps than are followed")
    message = f"{raised.name}: {raised.text}" if raised.text else raised.name
    at = raised.place.point if isinstance(raised, RefusedCall) and raised.place else None
    found = Unfollowed.of_launch(path, place, "raises", message, at)
    return replace(found, error=raised.name, nearest=raised.nearest, certain=isinstance(raised, RefusedCall))


_ASKS_FOR_WORDS = lazy_pattern(r"\bsys\.argv\b|\bargparse\b|\b(?:click|typer|fire|hydra)\b")


_IMPORTS = lazy_pattern(r"\b(?:import_ckpt|save_megatron_model)\(")
_TRAINS = lazy_pattern(TRAINING_PROGRAM)


def _started_by_program(
    path: str, sources: Sources, programs: Programs | None, launch: ShellLaunch
) -> Sequence[Held | HeldCommand]:
    """Return the commands that a Python program of the tree starts for the words that it is given."""
    program = None if programs is None or launch.started.command else program_of(launch, path, sources)
    text = None if program is None or program == path else sources.text_or_none(program)
    if programs is None or program is None or text is None:
        return ()
    from mfsdp_lint.readers.python_files import may_start_programs

    # (What Bridge's importers do is written down.)
    if posixpath.basename(program) in IMPORTERS and not _TRAINS.search(text):
        return ()
    # (Of a program that has no words, the runs are those of its own file.)
    starts = _ASKS_FOR_WORDS.search(text) and may_start_programs(text)
    if not (starts or _IMPORTS.search(text)):
        return ()
    from mfsdp_lint.readers.embedding_formats.python import commands
    from mfsdp_lint.readers.python.state.paths import LONG_PATIENCE, PATIENCE

    given = given_by(launch, tuple(_environment(launch)), _ranks(launch))
    # One that imports a model does so soon, or does much else.
    return commands(program, programs, given, patience=LONG_PATIENCE if starts else PATIENCE)


def _is_none_of_megatron(path: str, launch: ShellLaunch, sources: Sources, programs: Programs | None) -> bool:
    """Tell whether a program of the tree trains nothing, or takes options of its own that are called as Megatron's."""
    program = None if launch.started.command else program_of(launch, path, sources)
    if program is None or (text := sources.text_or_none(program)) is None:
        return False
    if programs is None or trains_nothing(text):
        return trains_nothing(text)
    reaches = programs.asked.relevance.reaches
    return reaches(program, defines_options) and not reaches(program, takes_from_megatron)


def _started(path: str, launch: ShellLaunch, sources: Sources, programs: Programs) -> Started:
    environment = tuple(_environment(launch))
    given = given_by(launch, environment, _ranks(launch))
    program = program_of(launch, path, sources)
    started = NOTHING if program is None else programs.start(program, given)
    if started.recipes or started.ending is not None:
        return started
    if known := runs_of_framework(launch, path, sources, environment, programs.asked.target):
        return replace(started, recipes=tuple(known))
    if program is not None:
        return started
    name = posixpath.basename(plain(launch.started.program))
    started = programs.start_upstream(name, path, given)
    open_to = Obstacle(name, launch.span, why="sets it to what is not known here")
    return replace(started, recipes=tuple(_behind(each, open_to) for each in started.recipes))


class _BehindObstacle(Layer):
    """Settings of a program that is not at hand: what has no obstacle of its own has the program's."""

    __slots__ = ("_obstacle",)

    def __init__(self, below: Settings, obstacle: Obstacle) -> None:
        super().__init__(below)
        self._obstacle = obstacle

    def obstacle(self, path: str) -> Obstacle | None:
        return self.below.obstacle(path) or (None if path.startswith(ENVIRONMENT) else self._obstacle)


class _Described(_BehindObstacle):
    """Settings of a program that is followed by its description: what this leaves open has the program's obstacle."""

    __slots__ = ()

    def obstacle(self, path: str) -> Obstacle | None:
        found = self.below.obstacle(path)
        is_described = found is not None and posixpath.basename(found.span.path).startswith("<")
        return self._obstacle if is_described else found


def _behind(recipe: Recipe, obstacle: Obstacle) -> Recipe:
    """Name a program that is not at hand as the reason for what it leaves open of its runs."""
    variants = (replace(each, settings=_Described(each.settings, obstacle)) for each in recipe.variants)
    return replace(recipe, variants=tuple(variants))


def _shape(path: str, launch: ShellLaunch, sources: Sources) -> LaunchShape | None:
    """Find the way in which a command configures a run; words that were cut off from it count as well."""
    if launch.started.command:
        profile = profile_of(launch.started.command)
        if profile is None or profile.started_with is not None:
            return None
        settings = partial(settings_of_options, profile, file_of_options(launch, path, sources))
        return LaunchShape("arguments", profile.front_end, lambda _: True, settings)
    words = (*launch.started.arguments, *launch.cut_off)
    return next((shape for shape in LAUNCH_SHAPES if shape.takes(words)), None)


def _recipes(
    path: str, kinds: Kinds, versions: Versions, sources: Sources, ends: Mapping[Span | None, str]
) -> Iterator[Recipe]:
    """Yield a recipe for each command that starts a run (a variant for each way), or for each run of its program.

    `ends` says with what a launch's program surely ends.
    """
    places = list(dict.fromkeys(map(_place, kinds)))
    for number, (place, nth) in enumerate(places, 1):
        here = [each for each in kinds if _place(each) == (place, nth)]
        suffix = f"[{number}]" if len(places) > 1 else ""
        leading = [each for each in (place, here[0][0].outermost) if each is not None and each.path == path]
        base = Recipe(
            name=posixpath.basename(path) + suffix,
            qualified_name=path + suffix,
            path=path,
            line=leading[0].line if leading else 1,
            kind="launch",
            variants=(),
            command=command_of([launch for launch, _ in here]),
        )
        recipe = _configured(base, here, versions, ends)
        if recipe.command:
            named = (path_of(each, path, sources, here[0][0].folder) for each in recipe.command.files)
            recipe = replace(recipe, pieces=recipe.pieces | {(each, 0, "") for each in named if each is not None})
        if place.path != path:  # in a script that has this run by itself as well
            recipe = replace(recipe, pieces=recipe.pieces | {(place.path, place.line, "")})
        yield recipe


def _hidden(path: str, kinds: Kinds, recipes: Sequence[Recipe]) -> Iterator[Unfollowed]:
    """Yield the launches that are told to shard, where unknown words behind that leave nothing to judge."""
    places = dict.fromkeys(map(_place, kinds))
    for place, recipe in zip(places, recipes, strict=True):
        if any(
            is_known_as(each.value(switch), True)
            for each in (*recipe.variants, *recipe.exposed)
            for switch in _SWITCHES
        ):
            continue
        here = (launch for launch, shape in kinds if _place((launch, shape)) == place)
        launch = next((each for each in here if shards(each) and has_open_words(each)), None)
        if launch is not None:
            yield Unfollowed.of_launch(path, place[0], "out of sight", why_open(launch))


def _place(started: tuple[ShellLaunch, LaunchShape | FollowedRun]) -> tuple[Span, int]:
    launch, kind = started
    return launch.span, kind.nth if isinstance(kind, FollowedRun) else 0


def _configured(base: Recipe, here: Kinds, versions: Versions, ends: Mapping[Span | None, str]) -> Recipe:
    """Complete a recipe with the variants of the ways to its command."""
    kind = here[0][1]
    ways: list[tuple[ShellLaunch, Variant]] = []
    if isinstance(kind, FollowedRun):
        runs = [(launch, run) for launch, run in here if isinstance(run, FollowedRun)]
        for launch, run in runs:
            ranks = _ranks(launch)  # the number that the launcher starts
            for each in run.recipe.variants:
                settings = With(each.settings, ranks) if ranks else each.settings
                ways.append((launch, Variant(settings, (*launch.when, *each.when), launch.given)))
        base = replace(
            base,
            partial=kind.recipe.partial,
            front_end=kind.recipe.front_end,
            pieces=frozenset().union(*(run.ran for _, run in runs)),
            variables={name: texts for _, run in runs for name, texts in run.recipe.variables.items()},
        )
    else:
        framework = _framework(kind, here[0][0])
        front_end = kind.front_end if framework is None else framework.front_end
        same = [launch for launch, each in here if each is kind]
        within = Pinned.of(front_end, versions)
        for launch in same:
            given: Mapping[str, Setting] = kind.settings(launch, within)
            if framework is not None:
                given = made_by(framework, given, launch.span)
            written: Settings = WrittenSettings(given, kind.named(launch.started.arguments))
            name = posixpath.basename(plain(launch.started.program))
            if upstream_script(name, versions.bridge) is not None:
                why = ends.get(launch.span, "is not followed")
                written = _BehindObstacle(written, Obstacle(name, launch.span, why=why))
            ways.append((launch, Variant(written, launch.when, launch.given)))
        base = replace(base, kind=kind.kind, partial=kind.kind == "overrides", front_end=front_end)
    variants = _different(variant for launch, variant in ways if not launch.given)
    exposed = [variant for launch, variant in ways if launch.given and _shards(variant)]
    exposed = [each for each in exposed if not any(each.settings.is_like(other.settings) for other in variants)]
    if not variants:
        variants, exposed = _different(variant for _, variant in ways), []
    return replace(base, variants=tuple(variants), exposed=tuple(_different(exposed)))


def _framework(shape: LaunchShape, launch: ShellLaunch) -> Profile | None:
    """Return the framework on top of the shape's front-end whose own flags are among the words; None without one."""
    names = {plain(text).partition("=")[0] for text in launch.started.arguments}
    every = (each for each in profiles() if each.front_end.is_a(str(shape.front_end)))
    return next((each for each in every if not names.isdisjoint(each.flags)), None)


def _environment(launch: ShellLaunch) -> Iterator[Setting]:
    """Yield the variables that the script has set or unset by the time of the launch."""
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


def _ranks(launch: ShellLaunch) -> Setting | None:
    """Return the number of ranks that torch's launcher starts, where the script itself says so."""
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
    """Merge variants that are alike; the merged variant keeps only the conditions that all of them share."""
    found: list[Variant] = []
    for variant in variants:
        alike = (
            number
            for number, each in enumerate(found)
            if each.exposed == variant.exposed and each.settings.is_like(variant.settings)
        )
        number = next(alike, None)
        if number is None:
            found.append(variant)
        else:
            when = tuple(each for each in found[number].when if each in variant.when)
            found[number] = replace(variant, when=when)
    return found


def _shards(variant: Variant) -> bool:
    """Tell whether FSDP is on."""
    return any(is_known_as(variant.value(path), True) for path in _SWITCHES)
