"""From a composed configuration of a framework to recipes, as its profile says.

A recipe function that a configuration names is called with the arguments beside the name: the call is written down as
a program and given to the evaluator of Python. A place in that program is reported as the place in the configuration
that the line comes from.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Protocol

from mfsdp_lint.core.front_ends import FrontEnd
from mfsdp_lint.core.recipe import Obstacle, Origin, Recipe, Setting, Settings, Source, Span, Unfollowed, Variant
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.settings import Layer, With, WrittenSettings
from mfsdp_lint.core.values import NONE, UNKNOWN, Known, Value, possible, same
from mfsdp_lint.megatron.front_ends import OWN, Calls, FrameworkSettings, Pinned, Profile, SettingsPlace, profiles
from mfsdp_lint.megatron.vocabulary import SECTIONS, SETTINGS, table
from mfsdp_lint.megatron.vocabulary.tables import ENVIRONMENT, Versions, opposite
from mfsdp_lint.readers.megatron_lm_flags import Word, default_settings, settings_from_flags
from mfsdp_lint.readers.overrides import OverriddenSettings, SettingOverride
from mfsdp_lint.readers.trees import Key, Leaf, Section, Tree

_UNEXPECTED = "unexpected keyword argument"

_FIRST_ARGUMENT = 4
"""The line of the program that the first argument stands on."""


class Evaluated(Protocol):
    """The evaluator's results for a program."""

    @property
    def recipes(self) -> Sequence[Recipe]:
        """The recipes of the program."""

    @property
    def unfollowed(self) -> Sequence[Unfollowed]:
        """The code that the evaluator could not follow."""


Evaluate = Callable[[str, str], Evaluated]
"""A path and the text of a program → the results of the program, as if it stood there."""


@dataclass(frozen=True, slots=True)
class RecipeCall:
    """The function of one of these modules that has it, the arguments, and where the call is written."""

    modules: tuple[str, ...]
    function: str
    arguments: Mapping[str, Leaf]
    place: Span


def called(path: str, call: RecipeCall, evaluate: Evaluate) -> tuple[Variant, ...]:
    """Evaluate a call in a file and return its variants; none where the result cannot be known.

    An argument that the function refuses is left out, as the framework that makes the call does. An argument that may
    be refused is left out as well: settings of its name are unknown then.
    """
    program = f"{path}.py"
    for module in call.modules:
        taken, doubtful = _taken(program, module, call, evaluate)
        arguments = {name: leaf for name, leaf in call.arguments.items() if name in taken}
        found = evaluate(program, _program(module, call.function, [("run", arguments)])).recipes
        if found:
            lost = [
                SettingOverride(path, UNKNOWN, leaf.origin)
                for name, leaf in call.arguments.items()
                if name in doubtful
                for path in SETTINGS
                if path.rpartition(".")[2] == name
            ]
            places = _ProgramPlaces(program, call.place, arguments)
            placed = (replace(each, settings=PlacedSettings(each.settings, places)) for each in found[0].variants)
            return tuple(replace(each, settings=OverriddenSettings(each.settings, lost)) for each in placed)
    return ()


def _taken(program: str, module: str, call: RecipeCall, evaluate: Evaluate) -> tuple[set[str], set[str]]:
    """Return the arguments that a function takes, each tried alone, and those for which that is not known."""
    names = {f"with_{number}": name for number, name in enumerate(call.arguments)}
    alone = [(run, {name: call.arguments[name]}) for run, name in names.items()]
    found = evaluate(program, _program(module, call.function, alone))
    taken = {names[each.name] for each in found.recipes if each.name in names}
    refused = {names[each.name] for each in found.unfollowed if each.name in names and _UNEXPECTED in each.message}
    return taken, call.arguments.keys() - taken - refused


def _program(module: str, function: str, calls: Sequence[tuple[str, Mapping[str, Leaf]]]) -> str:
    """Write calls as a program, each in a function, every argument on a line; unknown values become parameters."""
    lines = [f"from {module} import {function}"]
    for name, arguments in calls:
        values = {
            argument: repr(leaf.value.value) if isinstance(leaf.value, Known) else f"given_{argument}"
            for argument, leaf in arguments.items()
        }
        open_to = [each for each in values.values() if each.startswith("given_")]
        lines += [f"def {name}({', '.join(open_to)}):", f"    return {function}("]
        lines += [f"        {argument}={value}," for argument, value in values.items()]
        lines.append("    )")
    return "\n".join([*lines, ""])


@dataclass(frozen=True, slots=True)
class _ProgramPlaces:
    """Places that the lines of a program come from."""

    program: str
    place: Span
    arguments: Mapping[str, Leaf]

    def of(self, span: Span) -> Span:
        """Return the place that a piece of the program, or of another file, comes from."""
        if span.path != self.program:
            return span
        number = span.line - _FIRST_ARGUMENT
        leaves = list(self.arguments.values())
        return leaves[number].origin.span if 0 <= number < len(leaves) else self.place

    def setting(self, setting: Setting) -> Setting:
        """Return a setting with its place in the configuration.

        A setting with the name and the value of an argument gets the argument's place.
        """
        leaf = self.arguments.get(setting.path.rpartition(".")[2])
        origin = setting.origin
        if leaf is not None and leaf.value == setting.value and origin is not None and origin.upstream:
            return replace(setting, origin=replace(leaf.origin, how="argument", order=origin.order, earlier=origin))
        return setting if origin is None else replace(setting, origin=self.origin(origin))

    def origin(self, origin: Origin) -> Origin:
        """Return an origin with its places in the configuration."""
        here = origin.focus or origin.span
        return replace(
            origin,
            span=self.of(here if here.path == self.program else origin.span),
            focus=None if here.path == self.program else origin.focus,
            sources=tuple(Source(self.of(each.span), each.function) for each in origin.sources),
            earlier=None if origin.earlier is None else self.origin(origin.earlier),
        )


class PlacedSettings(Layer):
    """Settings of a program that was written for a configuration: their origins are there."""

    __slots__ = ("_places",)

    def __init__(self, below: Settings, places: _ProgramPlaces) -> None:
        super().__init__(below)
        self._places = places

    def get(self, path: str) -> Setting | None:
        found = self.below.get(path)
        return found and self._places.setting(found)

    def obstacle(self, path: str) -> Obstacle | None:
        found = self.below.obstacle(path)
        return found and replace(found, span=self._places.of(found.span))

    def history(self, path: str) -> list[tuple[str, Origin]]:
        return [(each, self._places.origin(origin)) for each, origin in self.below.history(path)]


Written = dict[str, Setting]


def recipes_of(
    profile: Profile, path: str, root: Section, versions: Versions, evaluate: Evaluate | None = None
) -> list[Recipe]:
    """Return one recipe for every place of the profile that the configuration has. `evaluate` follows its functions."""
    versions = Pinned.of(profile.front_end, versions)
    found = [
        (key, place, section) for place in profile.places for key, section in places_in(root, place) if section.entries
    ]
    return [
        _recipe(
            profile,
            path,
            section,
            _variants(profile, path, place, section, versions, evaluate),
            key if len(found) > 1 else (),
        )
        for key, place, section in found
    ]


def in_environment(recipes: Sequence[Recipe], variables: Sequence[Setting]) -> list[Recipe]:
    """Return recipes with the variables of the environment that their program runs in."""
    return [
        replace(
            each,
            variants=tuple(replace(variant, settings=With(variant.settings, *variables)) for variant in each.variants),
        )
        for each in recipes
    ]


def recipes_of_program(
    path: str, root: Section, versions: Versions, variables: Sequence[Setting]
) -> list[Recipe] | None:
    """Return the recipes of a configuration that a program of Hydra composes, as the first profile that knows it says.

    None where no profile does, or where a condition of one of its places is not decided. `variables` are those of the
    environment.
    """
    for profile in profiles():
        if profile.compose != "hydra" or not any(root.get(*key) for key in profile.known_by):
            continue
        asked = [
            section.get(*key)
            for place in profile.places
            for at, section in root.sections()
            if place.is_at(at)
            for key, _ in place.where
        ]
        if not any(isinstance(leaf, Leaf) and possible(leaf.value) is None for leaf in asked):
            return in_environment(recipes_of(profile, path, root, versions), variables)
    return None


def _variants(
    profile: Profile, path: str, place: SettingsPlace, section: Section, versions: Versions, evaluate: Evaluate | None
) -> tuple[Variant, ...]:
    if place.calls is None:
        return (Variant(WrittenSettings(settings_at(profile, place, section, versions))),)
    call = _call(place.calls, section)
    given = () if call is None or evaluate is None else called(path, call, evaluate)
    # An entry that is None says nothing of the configuration: it was an argument.
    said = replace(section, entries={name: each for name, each in section.entries.items() if not _is_none(each)})
    over = settings_at(profile, place, said, versions)
    return tuple(_over(each, said, over) for each in given or (Variant(WrittenSettings()),))


def _call(calls: Calls, section: Section) -> RecipeCall | None:
    """Return the call that a section writes down."""
    function, module = section.text(calls.function), section.text(calls.module)
    if section.open or not (function and module and function.isidentifier()):
        return None
    if not all(map(str.isidentifier, module.split("."))):
        return None
    arguments = {name: each for name, each in section.entries.items() if isinstance(each, Leaf) and name.isidentifier()}
    modules = (*(f"{package}.{module}" for package in calls.within), module)
    place = section.origin.span if section.origin else Span(arguments[calls.function].origin.span.path, 1, 1, 1, 1)
    return RecipeCall(modules, function, arguments, place)


def _over(variant: Variant, section: Section, settings: Written) -> Variant:
    """Merge the function's result with the file's own settings."""
    merged = [
        SettingOverride(".".join(key), _merged(variant.value(".".join(key)), leaf.value), leaf.origin)
        for key, leaf in section.leaves()
        if len(key) > 1 and key[0] in SECTIONS and leaf.value != NONE
    ]
    said = [SettingOverride(path, each.value, each.origin) for path, each in settings.items() if each.origin]
    return replace(variant, settings=OverriddenSettings(variant.settings, [*merged, *said]))


def _merged(old: Value, new: Value) -> Value:
    """Merge two values: the new one replaces the old one only if it is of the same type."""
    if isinstance(old, Known) and isinstance(new, Known):
        return new if isinstance(new.value, type(old.value)) else old
    return UNKNOWN


def _is_none(tree: Tree) -> bool:
    return isinstance(tree, Leaf) and tree.value == NONE


def places_in(root: Section, place: SettingsPlace) -> Iterator[tuple[Key, Section]]:
    """Yield the sections that hold the settings of a run."""
    for key, section in root.sections():
        if place.is_at(key) and all(_stands(section, *asked) for asked in place.where):
            yield key, section


def _stands(section: Section, key: Key, wanted: tuple[object, ...]) -> bool:
    """Tell whether a key has a wanted value; if any value is wanted, whether the key is there."""
    leaf = section.get(*key)
    if wanted == (None,):
        return leaf is not None
    options = possible(leaf.value) if isinstance(leaf, Leaf) else None
    return options is not None and any(same(option, each) for option in options for each in wanted)  # type: ignore[arg-type]


def settings_at(
    profile: Profile,
    place: SettingsPlace,
    section: Section,
    versions: Versions,
    environment: Mapping[str, Setting] = {},
) -> Written:
    """Return the settings of a section: those written there, the defaults of others, those that the framework makes.

    `environment` are the variables that the caller is seen to set or to take away.
    """
    here = _default_of(section)
    written = dict(_named[place.named](section, versions)) if place.named in _named else {}
    written |= _by_line(place, section)
    # (What the caller takes away, the file may set again.)
    written |= {path: each for path, each in environment.items() if each.value != NONE or path not in written}
    settings = written
    if profile.front_end.takes_flags and not section.open:
        settings = {each.path: each for each in default_settings(versions, here)} | written
    own = {(path := f"{OWN}{'.'.join(key)}"): Setting(path, leaf.value, leaf.origin) for key, leaf in section.leaves()}
    for made in place.made:
        settings = _with(settings, own, made, _Writer(profile.front_end.name, here), partial(_lacks, place, section))
    asked = {} if section.open else {path: Setting(path, NONE, here) for path in profile.own_keys}
    return settings | asked | {path: each for path, each in own.items() if path in profile.own_keys}


def made_by(profile: Profile, settings: Mapping[str, Setting], place: Span) -> Mapping[str, Setting]:
    """Return the settings of a command line of Megatron-LM's with those that a framework makes of them there."""
    writer = _Writer(profile.front_end.name, Origin(place, "default"))
    changed = dict(settings)
    for each in profile.places:
        for made in each.made if not each.at else ():
            changed = _with(changed, {}, made, writer, lambda _: False)  # what no word says, the parser has set
    return changed


def _default_of(section: Section) -> Origin:
    """Return the origin of what nobody wrote in a section."""
    return Origin(section.origin.span if section.origin else Span("", 1, 1, 1, 1), "default")


def _by_attribute(section: Section, versions: Versions) -> Iterator[tuple[str, Setting]]:
    """Yield settings by their names in Megatron-LM's parsed arguments; keys unknown to the parser are skipped."""
    known = table()
    attributes = known.attributes(versions.core)
    for name, leaf in section.entries.items():
        if not isinstance(leaf, Leaf) or name not in attributes:
            continue
        for entry in known.by_attribute(name):
            value = opposite(leaf.value) if entry.inverted else leaf.value
            yield entry.path, Setting(entry.path, value, leaf.origin)


def _by_flag(section: Section, versions: Versions) -> Iterator[tuple[str, Setting]]:
    """Yield settings by Megatron-LM's flags, with `_` for `-`; keys unknown to the parser are another program's."""
    known = table()
    words = [
        word
        for key, leaf in section.leaves()
        if known.flag(name := f"--{key[-1].replace('_', '-')}", versions.core)
        for word in _words(name, leaf)
    ]
    yield from settings_from_flags(words, versions).settings.items()


def _words(name: str, leaf: Leaf) -> Iterator[Word]:
    """Yield the words of a key on the command line: `true` is the flag alone, a list the flag for each of its items."""
    span, focus = leaf.origin.span, leaf.origin.point
    known = leaf.value.value if isinstance(leaf.value, Known) else None
    for item in known if isinstance(known, list) else [known]:
        yield Word(Known(name), span, says=focus)
        if item is not True or isinstance(known, list):
            yield Word(Known(str(item)) if isinstance(leaf.value, Known) else leaf.value, focus)


def _by_line(place: SettingsPlace, section: Section) -> Iterator[tuple[str, Setting]]:
    """Yield the settings that each key sets according to the profile."""
    found = [(number, target, leaf) for key, leaf in section.leaves() for number, target in place.sets(key)]
    first = {target.setting: number for number, target, _ in sorted(found, key=lambda each: -each[0])}
    for number, line in enumerate(place.lines):
        # What is not seen may overrule what is.
        overruled = [each for each in line.targets if first.get(each.setting, number) < number]
        if overruled and section.may_have(*line.key):
            found += ((number, each, Leaf(UNKNOWN, _default_of(section))) for each in overruled)
    for _, target, leaf in sorted(found, key=lambda each: each[0]):
        value = target.value(leaf.value)
        if target.setting.startswith(ENVIRONMENT) and isinstance(value, Known):
            value = Known(str(value.value)) if value != NONE else UNKNOWN
        yield target.setting, Setting(target.setting, value, leaf.origin)


_named = {"attributes": _by_attribute, "flags": _by_flag}


@dataclass(frozen=True, slots=True)
class _Writer:
    """The framework that makes settings, and the place of the section for which it does."""

    framework: str
    here: Origin

    def origin(self, made: FrameworkSettings, written: Setting | None, value: Value) -> Origin:
        """Return the origin of a setting that the framework makes: its own line, where it overrules what is written."""
        if made.meant or written is None or written.origin is None or written.origin == self.here:
            return self.here
        path, _, line = made.evidence.rpartition(":")
        return Origin(
            Span(path, int(line), 1, int(line), 1),
            "startup",
            upstream=self.framework,
            earlier=replace(written.origin, value=written.value),
            value=value,
            because=self.framework,
        )


def _lacks(place: SettingsPlace, section: Section, path: str) -> bool:
    """Tell whether nothing in a section that is not seen can write a setting, or a key of the framework's own."""
    if path.startswith(OWN):
        return not section.may_have(*path.removeprefix(OWN).split("."))
    if place.named in _named:
        return not section.open
    return not any(section.may_have(*key) for key, _ in place.keys(path))


def _with(
    settings: Written, own: Written, made: FrameworkSettings, writer: _Writer, lacks: Callable[[str], bool]
) -> Written:
    """Add the settings that the framework makes; a setting that it may make, or not, is unknown. `lacks` tells whether
    nobody can have written a setting that is not seen.
    """
    holds: bool | None = True
    if made.when is not None:
        left_out = {path: Setting(path, NONE) for path in made.when.paths() if path.startswith(OWN) and lacks(path)}
        holds = made.when.truth(Variant(WrittenSettings({**settings, **left_out, **own})))
    changed: dict[str, Value] = {}
    for path, value in made.settings:
        written = settings.get(path)
        if made.default and (written is not None or not lacks(path)):
            continue
        if holds is not False and (written is None or written.value != value):
            changed[path] = value if holds else UNKNOWN
    return settings | {
        path: Setting(path, value, writer.origin(made, settings.get(path), value)) for path, value in changed.items()
    }


def _recipe(profile: Profile, path: str, section: Section, variants: tuple[Variant, ...], key: Key) -> Recipe:
    suffix = f"[{'.'.join(key)}]" if key else ""
    return Recipe(
        name=posixpath.basename(path) + suffix,
        qualified_name=path + suffix,
        path=path,
        line=section.origin.span.line if section.origin and section.origin.span.path == path else 1,
        kind="configuration",
        variants=variants,
        partial=section.open,
        front_end=profile.front_end,
        bases=frozenset((each, 0, "") for each in _files_of(section) - {path}),
    )


def _files_of(section: Section) -> set[str]:
    """Return the files that wrote what is in a section, or what others replaced there."""
    origins = (leaf.origin for _, leaf in section.leaves() if leaf.origin is not None)
    return {each.span.path for origin in origins for each in origin.chain()}


@dataclass(frozen=True, slots=True)
class ProgramReader:
    """A reader of a framework's runs in Python: the front-end, and the settings of a tree with the framework's names.

    The second argument of `settings` are the variables of the environment.
    """

    front_end: FrontEnd
    settings: Callable[[Section, Mapping[str, Setting]], Mapping[str, Setting]]


@lru_cache(8)
def program_reader(framework: str, versions: Versions) -> ProgramReader:
    """Return the reader of a framework's runs for the versions that are judged against."""
    profile = next(each for each in profiles() if each.front_end.name == framework)
    place = next((each for each in profile.places if each.functions), profile.places[0])
    pinned = Pinned.of(profile.front_end, versions)
    return ProgramReader(
        profile.front_end,
        lambda whole, environment: {**environment, **settings_at(profile, place, whole, pinned, environment)},
    )
