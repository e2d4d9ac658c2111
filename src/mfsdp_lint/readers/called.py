"""Recipe functions that a configuration names, called with the arguments beside the name.

The call is written down as a program and given to the evaluator of Python. A place that the evaluator names in that
program is reported as the place in the configuration that the line comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from mfsdp_lint.core.recipe import Obstacle, Origin, Recipe, Setting, Settings, Source, Span, Unfollowed, Variant
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.settings import Layer
from mfsdp_lint.core.values import UNKNOWN, Known
from mfsdp_lint.megatron.vocabulary import SETTINGS
from mfsdp_lint.readers.overrides import OverriddenSettings, SettingOverride
from mfsdp_lint.readers.trees import Leaf

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
                for path in _named(name)
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


def _named(argument: str) -> list[str]:
    """Return the settings that have the name of an argument."""
    return [path for path in SETTINGS if path.rpartition(".")[2] == argument]


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

    def __iter__(self) -> Iterator[str]:
        return iter(self.below)
