"""Overrides: writes to a recipe's settings from outside, after the recipe's own writes, as a launcher would.

They lie over the settings of every variant, whichever reader these came from, and each has an origin of its own: a
piece of the text that writes it. Those of `--set` and `--env` point into a text that has one option a line.

They are written in Hydra's grammar: `a.b=1`, `+a.b=[1, x]`, `++a={b: 1}`, `~a.b` (hydra-core 1.3.2, OverrideLexer.g4
and OverrideParser.g4; the arguments of OmegaConf's resolvers are alike). Only `true`, `false` and `null` are words of
the grammar: unlike in a YAML file `yes` and `0x10` are texts, `~` is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from mfsdp_lint.core.nearest import did_you_mean, nearest
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import (
    How,
    NamedWrite,
    Obstacle,
    Origin,
    Recipe,
    Setting,
    Settings,
    Span,
    Undeclared,
    Variant,
)
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.settings import Layer
from mfsdp_lint.core.values import NONE, NOT_NONE, UNKNOWN, Known, NotNone, Unknown, Value
from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.megatron.vocabulary import SETTINGS, table

Item = TypeVar("Item")
Element = Known | NotNone | Unknown | list["Element"] | dict[Any, "Element"]
"""A value as it is written: a scalar, a list or a mapping. A part of it that depends on anything else is not known."""

_KEY = lazy_pattern(r"(?P<sign>~|\+\+|\+)?(?P<key>(?:[A-Za-z_$][\w$-]*|\d+)(?:\.(?:[A-Za-z_$][\w$-]*|\d+))*)(?=[=]|\Z)")
_UNSIGNED = r"(?:0|[1-9](?:_?[0-9])*)"
_POINT = rf"(?:{_UNSIGNED}?\.[0-9](?:_?[0-9])*|{_UNSIGNED}\.)"
_TOKENS = [
    (kind, lazy_pattern(pattern, re.DOTALL))
    for kind, pattern in (
        ("float", rf"[+-]?(?:(?:{_POINT}|{_UNSIGNED})[eE][+-]?[0-9](?:_?[0-9])*|{_POINT}|(?i:inf|nan))"),
        ("int", rf"[+-]?{_UNSIGNED}"),
        ("bool", r"(?i:true|false)"),
        ("null", r"(?i:null)"),
        ("text", r"[/\-\\+.$%*@?|]"),
        ("text", r"[A-Za-z_][A-Za-z0-9_-]*"),
        ("escaped", r"(?:\\[\\()\[\]{}:=, \t])+"),
        ("space", r"[ \t]+"),
        ("quoted", r'"(?:[^"\\]|\\.)*"|' + r"'(?:[^'\\]|\\.)*'"),
        ("reference", r"\$\{[^}]+\}"),
        ("mark", r"[ \t]*[,:=(][ \t]*|[\[{][ \t]*|[ \t]*[\]})]"),
    )
]


class NoOverride(Exception):
    """A text that Hydra refuses."""


@dataclass(frozen=True, slots=True)
class HydraOverride:
    """`sign` is "" (change), "+" (add), "++" (add or change) or "~" (take away); `key` has dots.

    `written` is the text of the value; None where nothing but the key of what is taken away is given.
    """

    sign: str
    key: str
    written: str | None


def split_override(text: str) -> HydraOverride | None:
    """Split a text into the parts of an override, whatever its value is; None where it is no override."""
    found = _KEY.match(text)
    if found is None or (found.end() == len(text) and found["sign"] != "~"):
        return None
    written = text[found.end() + 1 :] if found.end() < len(text) else None
    return HydraOverride(found["sign"] or "", found["key"], written)


def read_element(written: str) -> Element:
    """Read the text of a value. Several values with commas between are a sweep, which no single run can be given.

    Raises NoOverride.
    """
    reader = _ElementReader(_tokens(written.lstrip(" \t")))
    value: Element = Known("") if reader.here is None else reader.element()
    if reader.here is not None:
        raise NoOverride(written)
    return value


def values_of_sweep(written: str) -> list[str]:
    """Return the texts of several values with commas between, of which Hydra gives one to each run of `--multirun`; the
    text of any other value alone. Raises NoOverride, also where a function gives the values (`range(1, 9)`).
    """
    reader = _ElementReader(_tokens(written.lstrip(" \t")))
    if any(kind == "mark" and "(" in text for kind, text in reader.tokens):
        raise NoOverride(written)
    found = [] if reader.tokens else [""]
    while reader.here is not None:
        if found and not reader.take(","):
            raise NoOverride(written)
        start = reader.position
        reader.element()
        found.append("".join(text for _, text in reader.tokens[start : reader.position]))
    return found


def value_of(element: Element) -> Value:
    """Return an element as one value; a list or a mapping with a part that is not known is set to something."""
    known = plain(element) if isinstance(element, (list, dict)) else element
    return NOT_NONE if known is None else known


def plain(element: Element) -> Known | None:
    """Return an element as a plain value; None where a part of it is not known."""
    if isinstance(element, list):
        items = [each.value for each in map(plain, element) if each is not None]
        return Known(items) if len(items) == len(element) else None
    if isinstance(element, dict):
        entries = {str(key): known.value for key, each in element.items() if (known := plain(each)) is not None}
        return Known(entries) if len(entries) == len(element) else None
    return element if isinstance(element, Known) else None


def settings_in(path: str, element: Element) -> Iterator[tuple[str, Value]]:
    """Yield the settings that an override writes: a mapping is merged into its section, and does not replace it."""
    if isinstance(element, dict) and element:
        for name, inner in element.items():
            yield from settings_in(f"{path}.{name}", inner)
    else:
        yield path, value_of(element)


def _tokens(text: str) -> list[tuple[str, str]]:
    """Split a text into tokens: the longest at each place, of two as long the first kind."""
    found = []
    position = 0
    while position < len(text):
        matches = [(match.end(), kind) for kind, pattern in _TOKENS if (match := pattern.match(text, position))]
        if not matches:
            raise NoOverride(text)
        end = max(end for end, _ in matches)
        found.append((next(kind for stop, kind in matches if stop == end), text[position:end]))
        position = end
    return found


class _ElementReader:
    """Reads an element from tokens."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens = tokens
        self.position = 0

    @property
    def here(self) -> tuple[str, str] | None:
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    def at(self, marks: str) -> bool:
        """Tell whether one of these marks is next."""
        return self.here is not None and self.here[0] == "mark" and self.here[1].strip() in marks

    def take(self, mark: str) -> bool:
        found = self.at(mark)
        self.position += found
        return found

    def element(self) -> Element:
        if self.take("["):
            return self.several("]", self.element)
        if self.take("{"):
            return dict(self.several("}", self.pair))
        return self.primitive("[]{},()=")

    def pair(self) -> tuple[Any, Element]:
        start = self.position
        key = self.primitive("[]{},:()=")
        kinds = {kind for kind, _ in self.tokens[start : self.position]}
        if not isinstance(key, Known) or kinds & {"quoted", "reference"} or not self.take(":"):
            raise NoOverride("a key")
        return key.value, self.element()

    def several(self, end: str, read: Callable[[], Item]) -> list[Item]:
        items: list[Item] = []
        while not self.take(end):
            if items and not self.take(","):
                raise NoOverride(f"no {end}")
            items.append(read())
        return items

    def primitive(self, ends: str) -> Element:
        parts: list[tuple[str, str]] = []
        while self.here is not None and not self.at(ends):
            parts.append(self.here)
            self.position += 1
        if parts and parts[-1][0] == "space" and parts[0][0] != "quoted":
            parts.pop()
        if parts and self.at("("):
            return self.function()
        if not parts:
            raise NoOverride("no value")
        if len(parts) == 1:
            return _single(*parts[0])
        if any(kind == "quoted" for kind, _ in parts):
            raise NoOverride("a quoted value with something beside it")
        return value_of_text("".join(text[1::2] if kind == "escaped" else text for kind, text in parts))

    def function(self) -> Element:
        """Skip a cast, a range or a sweep, without working out its value."""
        depth = 0
        while self.here is not None:
            depth += self.at("(") - self.at(")")
            self.position += 1
            if depth == 0:
                return UNKNOWN
        raise NoOverride("no )")


def _single(kind: str, text: str) -> Element:
    match kind:
        case "int":
            return Known(int(text))
        case "float":
            return Known(float(text))
        case "bool":
            return Known(text.lower() == "true")
        case "null":
            return Known(None)
        case "quoted":
            # Backslashes quote only in front of a quote, where every other one stays.
            return value_of_text(re.sub(rf"\\+(?:{text[0]}|\Z)", lambda found: found[0][1::2], text[1:-1]))
        case "escaped":
            return Known(text[1::2])
    return value_of_text(text)


def value_of_text(text: str) -> Known | NotNone | Unknown:
    """Read a text as OmegaConf does: `${…}` refers to anything, `a${…}` is some text, `???` keeps the old value."""
    if text == "???" or (text.startswith("${") and text.endswith("}")):
        return UNKNOWN
    return NOT_NONE if "${" in text else Known(text)


ENVIRONMENT = "env."


@dataclass(frozen=True, slots=True)
class SettingOverride:
    """A setting's new value, and where it is written."""

    path: str
    value: Value
    origin: Origin


def override(recipe: Recipe, overrides: Sequence[SettingOverride]) -> Recipe:
    """Apply overrides to a recipe, in their order: of two for one setting the later one counts.

    A variable of the environment is there when a program starts: a recipe that sets the variable keeps its own value.
    """
    if not overrides:
        return recipe

    def under(variants: tuple[Variant, ...]) -> tuple[Variant, ...]:
        changed = []
        for each in variants:
            over = [it for it in overrides if it.origin.how != "environment" or it.path not in each.settings]
            changed.append(replace(each, settings=OverriddenSettings(each.settings, over)))
        return tuple(changed)

    return replace(recipe, variants=under(recipe.variants), exposed=under(recipe.exposed))


class OverriddenSettings(Layer):
    """Settings of a recipe under overrides; `below` are its own."""

    __slots__ = ("_gone", "_own", "_written")

    def __init__(self, below: Settings, overrides: Sequence[SettingOverride]) -> None:
        super().__init__(below)
        self._written: dict[str, Setting] = {}
        self._own: dict[str, tuple[Origin, ...]] = {}
        """The writes of this layer."""
        self._gone: list[str] = []
        """Beginnings of the paths whose section was replaced."""
        for each in overrides:
            self._apply(each)

    def _apply(self, each: SettingOverride) -> None:
        for section in reversed(list(_sections(each.path))):
            here = self.get(section)
            # Whatever a section was, it holds something now.
            if here is None or here.value == NONE:
                self._write(section, NOT_NONE, each.origin)
        hidden = each.path + "."
        for path in [path for path in self._written if path.startswith(hidden)]:
            del self._written[path], self._own[path]
        self._gone.append(hidden)
        self._write(each.path, each.value, each.origin)

    def _write(self, path: str, value: Value, origin: Origin) -> None:
        earlier = self.origin(path)
        origin = replace(origin, earlier=earlier, order=earlier.order + 1 if earlier else 0)
        self._written[path] = Setting(path, value, origin)
        self._own[path] = (*self._own.get(path, ()), origin)

    def get(self, path: str) -> Setting | None:
        found = self._written.get(path)
        if found is not None:
            return found
        return None if self._hidden(path) else self.below.get(path)

    def value(self, path: str) -> Value:
        found = self._written.get(path)
        if found is not None:
            return found.value
        return UNKNOWN if self._hidden(path) else self.below.value(path)

    def obstacle(self, path: str) -> Obstacle | None:
        return None if path in self._written or self._hidden(path) else self.below.obstacle(path)

    def history(self, path: str) -> list[tuple[str, Origin]]:
        """Return the writes of the recipe, then the overrides."""
        below = [] if self._hidden(path) else self.below.history(path)
        return [*below, *((path, each) for each in self._own.get(path, ()))]

    def undeclared(self) -> tuple[Undeclared, ...]:
        """Return the recipe's undeclared settings, without those in a section that an override replaces."""
        return tuple(each for each in self.below.undeclared() if not self._hidden(each.path))

    def _hidden(self, path: str) -> bool:
        return any(path.startswith(gone) for gone in self._gone)

    def __iter__(self) -> Iterator[str]:
        yield from (path for path in self.below if path in self)
        yield from (path for path in self._written if path not in self.below)


def _sections(path: str) -> Iterator[str]:
    """Yield the sections above a path, the innermost first: `a.b`, then `a`, for `a.b.c`."""
    while "." in path:
        path = path.rpartition(".")[0]
        if path != ENVIRONMENT.rstrip("."):
            yield path


_ALIKE = 0.85
"""How much alike a misspelt name and the right one are."""


def of_bridge(writes: Iterable[NamedWrite]) -> tuple[NamedWrite, ...]:
    """Return the writes to entries of sections; empty where most of them are nothing like a setting of Bridge.

    Another program may have a section `model` as well. An object that is made where it is written (`_target_`) has the
    names of its own class.
    """
    inside = [each for each in writes if "." in each.path and not each.path.startswith(ENVIRONMENT)]
    made = tuple(each.path.removesuffix("__class__") for each in inside if each.path.endswith(".__class__"))
    named = [each for each in inside if not each.path.startswith(made)]
    right = [_is_setting(each.path) for each in named]
    # Comparing names takes long: no more of them than it takes to know.
    others = (each.path for each, is_right in zip(named, right, strict=True) if not is_right)
    strange = islice((path for path in others if not _is_like_setting(path)), sum(right), None)
    return tuple(named) if next(strange, None) is None else ()


def is_misspelt(path: str) -> bool:
    """Tell whether a path is no setting, but nearly that of a setting that decides how a run is sharded."""
    return not _is_setting(path) and bool(nearest(path, SETTINGS, cutoff=_ALIKE))


def _is_setting(path: str) -> bool:
    """Tell whether any version has the setting."""
    section, name = path.split(".")[:2]
    return name in table().every_field(section)


def _is_like_setting(path: str) -> bool:
    """Tell whether a path may be meant for a setting."""
    section, name = path.split(".")[:2]
    return _is_setting(path) or bool(nearest(name, table().every_field(section), cutoff=_ALIKE)) or is_misspelt(path)


COMMAND_LINE = "<command line>"
"""The path of the text that these overrides stand in."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The overrides in their order, and the text that they stand in: the options, one a line."""

    overrides: tuple[SettingOverride, ...] = ()
    text: str = ""

    @property
    def texts(self) -> Mapping[str, str]:
        """The text by its path, for whoever shows an origin; none where there are no options."""
        return {COMMAND_LINE: self.text} if self.text else {}

    @property
    def environment(self) -> tuple[Setting, ...]:
        """The variables that every program is started with: of two for one variable the later one counts."""
        found = {each.path: each for each in self.overrides if each.origin.how == "environment"}
        return tuple(Setting(each.path, each.value, each.origin) for each in found.values())


def parse_command_line(settings: Sequence[str], environment: Sequence[str]) -> CommandLine:
    """Parse the overrides of `--set PATH=VALUE` and `--env NAME=VALUE`.

    A value is read as Hydra does, so `yes` and `0x10` are texts, and `{a: 1}` is merged; an empty one is the empty
    text. A leading `+` or `++`, as Hydra has it, changes nothing. `--env NAME` alone unsets a variable.

    Raises UsageError.
    """
    found: list[SettingOverride] = []
    for line, text in enumerate(settings, 1):
        path, equals, written = text.partition("=")
        path = path.strip().lstrip("+")
        if not equals or not all(part and not part.isspace() for part in path.split(".")):
            raise UsageError(f"--set {text}: expected PATH=VALUE, as in checkpoint.ckpt_format=fsdp_dtensor")
        if path.startswith("~"):
            raise UsageError(f"--set {text}: settings cannot be deleted, only set (to null, perhaps)")
        if path.startswith(("env.", "env_vars.")):
            raise UsageError(f"--set {text}: environment variables are given as --env NAME=VALUE")
        option = f"--set {text}"
        try:
            element = read_element(written.strip())
        except NoOverride:
            hint = f"a text with such characters needs quotes of its own: {path}='…'"
            raise UsageError(f"{option}: Hydra cannot read the value; {hint}") from None
        for place, value in settings_in(path, element):
            _check(place, value, option)
            found.append(_override(place, value, option, line))
    for line, text in enumerate(environment, len(settings) + 1):
        name, equals, written = text.partition("=")
        if not name.strip() or name != name.strip():
            raise UsageError(f"--env {text}: expected NAME=VALUE, or NAME alone for a variable that is not set")
        found.append(_override(ENVIRONMENT + name, Known(written) if equals else NONE, f"--env {text}", line))
    options = (*(f"--set {text}" for text in settings), *(f"--env {text}" for text in environment))
    return CommandLine(tuple(found), "".join(f"{option}\n" for option in options))


def _check(path: str, value: Value, option: str) -> None:
    """Raise UsageError for a value that the setting cannot have."""
    from mfsdp_lint.megatron.vocabulary import table

    entry = table().entry(path)
    if entry is not None and isinstance(value, Known) and (expected := entry.expected(value.value)):
        named = "" if path in option else f"{path}: "
        raise UsageError(f"{option}: {named}expected {expected}")


def _override(path: str, value: Value, option: str, line: int) -> SettingOverride:
    """Return the override that an option writes; the value is in focus."""
    end = len(option) + 1
    start = min(option.find("=") + 2, end) if "=" in option else end - len(path.rpartition(".")[2])
    how: How = "environment" if path.startswith(ENVIRONMENT) else "override"
    span = Span(COMMAND_LINE, line, 1, line, end)
    focus = Span(COMMAND_LINE, line, start, line, end) if start < end else None
    return SettingOverride(path, value, Origin(span, how, focus, value=value))


def misspelt_overrides(recipes: Sequence[Recipe], overrides: Sequence[SettingOverride]) -> list[str]:
    """Return remarks on overrides of fields that no recipe has, though their section is known."""
    if not overrides:
        return []
    remarks = []
    for path in dict.fromkeys(each.path for each in overrides):
        fields = [_fields_beside(recipe, path) for recipe in recipes]
        if path.startswith(ENVIRONMENT) or not fields or not all(fields) or any(path in known for known in fields):
            continue
        section = path.rpartition(".")[0]
        hint = did_you_mean(path, sorted(set().union(*fields)))
        owner = f"{section} has" if section else "a configuration has"
        remarks.append(f"--set {path}: {owner} no such field{hint}")
    return remarks


def _fields_beside(recipe: Recipe, path: str) -> set[str]:
    """Return the fields that a recipe is known to have beside a path; empty where they are not all known."""
    section = path.rpartition(".")[0]
    known = list(recipe.variants[0].settings)
    if recipe.partial or (section and section not in known):
        return set()
    return {each for each in known if each.rpartition(".")[0] == section}
