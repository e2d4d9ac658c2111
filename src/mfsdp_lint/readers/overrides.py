"""Overrides from outside: what `--set` and `--env` change after a recipe has had its say, as a launcher would.

They lie over the settings of every variant, whichever reader they came from. Their origin is a line of a text of their
own, so that reports can show it like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from mfsdp_lint.core.recipe import Origin, Recipe, Setting, Span, Variant
from mfsdp_lint.core.values import NONE, NOT_NONE, Known, Value
from mfsdp_lint.inputs.options import UsageError

COMMAND_LINE = "<command line>"
"""The path of the text that the overrides stand in, one a line."""

ENVIRONMENT = "env."

_TEXT = frozenset(("", "yes", "no", "on", "off", "~"))
"""Text to a launcher (Hydra's override grammar knows true, false and null only), though not in a YAML 1.1 file."""


@dataclass(frozen=True, slots=True)
class Override:
    """One setting, its value from now on, and the option that says so."""

    path: str
    value: Value
    option: str
    line: int

    @property
    def origin(self) -> Origin:
        """The option, as a line of COMMAND_LINE; the value is in focus."""
        end = len(self.option) + 1
        start = min(self.option.find("=") + 2, end) if "=" in self.option else end - len(self.path.rpartition(".")[2])
        how: Literal["environment", "override"] = "environment" if self.path.startswith(ENVIRONMENT) else "override"
        span = Span(COMMAND_LINE, self.line, 1, self.line, end)
        focus = Span(COMMAND_LINE, self.line, start, self.line, end) if start < end else None
        return Origin(span, how, focus, value=self.value)


@dataclass(frozen=True, slots=True)
class Overrides:
    """Overrides in their order: of two for one setting the later one counts."""

    each: tuple[Override, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.each)

    @property
    def texts(self) -> dict[str, str]:
        """The text that the origins point into, by its path."""
        lines = {override.line: override.option for override in self.each}
        return {COMMAND_LINE: "".join(f"{lines[line]}\n" for line in sorted(lines))} if lines else {}


def parse(settings: Sequence[str], environment: Sequence[str]) -> Overrides:
    """The overrides of `--set PATH=VALUE` and `--env NAME=VALUE`.

    A value is read as in an override file, so `null`, `true`, `4`, `[0, 1]` and `{a: 1}` (which is merged) mean what
    they mean there; an empty one is the empty text. `--env NAME` alone unsets a variable. A leading `+` or `++`, as
    Hydra has it, changes nothing. Raises UsageError.
    """
    found: list[Override] = []
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
        found += [Override(place, value, option, line) for place, value in _spread(path, _value(option, written))]
    for line, text in enumerate(environment, len(settings) + 1):
        name, equals, written = text.partition("=")
        if not name.strip() or name != name.strip():
            raise UsageError(f"--env {text}: expected NAME=VALUE, or NAME alone for a variable that is not set")
        found.append(Override(ENVIRONMENT + name, Known(written) if equals else NONE, f"--env {text}", line))
    return Overrides(tuple(found))


def _value(option: str, written: str) -> Value:
    if written.strip().lower() in _TEXT:
        return Known(written.strip())
    from mfsdp_lint.inputs.sources import Unreadable
    from mfsdp_lint.readers.yaml.document import read_value

    try:
        return read_value(COMMAND_LINE, written.strip())
    except Unreadable as error:
        raise UsageError(f"{option}: {error.message}") from None


def _spread(path: str, value: Value) -> Iterator[tuple[str, Value]]:
    """A mapping as the settings it holds: it is merged into its section, not put in its place."""
    if not isinstance(value, Known) or not isinstance(value.value, dict) or not value.value:
        yield path, value
        return
    for name, inner in value.value.items():
        yield from _spread(f"{path}.{name}", Known(inner))


def override(recipe: Recipe, overrides: Overrides) -> Recipe:
    """The recipe as it is under the overrides."""
    if not overrides:
        return recipe

    def under(variants: tuple[Variant, ...]) -> tuple[Variant, ...]:
        return tuple(replace(each, settings=OverriddenSettings(each.settings, overrides)) for each in variants)

    return replace(recipe, variants=under(recipe.variants), exposed=under(recipe.exposed))


class OverriddenSettings(Mapping[str, Setting]):
    """Settings of a recipe under overrides; `below` are its own."""

    def __init__(self, below: Mapping[str, Setting], overrides: Overrides) -> None:
        self.below = below
        self._written: dict[str, Setting] = {}
        self._gone: list[str] = []
        for each in overrides.each:
            self._write(each)

    def _write(self, each: Override) -> None:
        sections = list(_sections(each.path))
        for section in reversed(sections):
            here = self.get(section)
            # Whatever a section was, it holds something now.
            if here is None or here.value == NONE:
                self._written[section] = self._setting(section, NOT_NONE, each.origin)
        hidden = each.path + "."
        self._written = {path: setting for path, setting in self._written.items() if not path.startswith(hidden)}
        self._gone.append(hidden)
        self._written[each.path] = self._setting(each.path, each.value, each.origin)

    def _setting(self, path: str, value: Value, origin: Origin) -> Setting:
        before = self.get(path)
        earlier = before.origin if before else None
        order = earlier.order + 1 if earlier else 0
        return Setting(path, value, replace(origin, earlier=earlier, order=order))

    def __getitem__(self, path: str) -> Setting:
        found: Setting | None = self.get(path)
        if found is None:
            raise KeyError(path)
        return found

    def get(self, path: str, default: Any = None) -> Any:
        found = self._written.get(path)
        if found is not None:
            return found
        if self._hidden(path):
            return default
        return self.below.get(path, default)

    def history(self, path: str) -> list[tuple[str, Origin]]:
        """Every write that had to do with a setting, in order: those of the recipe, then the overrides."""
        below = [] if self._hidden(path) else recorded(self.below, path)
        setting = self._written.get(path)
        return [
            *below,
            *((path, each) for each in chain(setting.origin if setting else None) if each.span.path == COMMAND_LINE),
        ]

    def _hidden(self, path: str) -> bool:
        return any(path.startswith(gone) for gone in self._gone)

    def __iter__(self) -> Iterator[str]:
        yield from (path for path in self.below if self.get(path) is not None)
        yield from (path for path in self._written if path not in self.below)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def chain(origin: Origin | None) -> list[Origin]:
    """A write and those that it replaced, the oldest first."""
    found: list[Origin] = []
    while origin is not None:
        found.insert(0, origin)
        origin = origin.earlier
    return found


def recorded(settings: Mapping[str, Setting], path: str) -> list[tuple[str, Origin]]:
    """The writes that had to do with a setting, in order, as far as its reader remembers them."""
    history: Callable[[str], list[tuple[str, Origin]]] | None = getattr(settings, "history", None)
    found = history(path) if history else []
    setting = settings.get(path)
    return found or [(path, each) for each in chain(setting.origin if setting else None)]


def _sections(path: str) -> Iterator[str]:
    """`a.b`, then `a`, for `a.b.c`."""
    while "." in path:
        path = path.rpartition(".")[0]
        if path != ENVIRONMENT.rstrip("."):
            yield path


def misspelt(recipes: Sequence[Recipe], overrides: Overrides) -> list[str]:
    """What to say of overrides that no recipe has a field for, though its section is known."""
    from difflib import get_close_matches

    remarks = []
    for path in dict.fromkeys(each.path for each in overrides.each):
        fields = [_fields_beside(recipe, path) for recipe in recipes]
        if path.startswith(ENVIRONMENT) or not fields or not all(fields) or any(path in known for known in fields):
            continue
        section = path.rpartition(".")[0]
        nearest = get_close_matches(path, sorted(set().union(*fields)), n=1)
        hint = f"; did you mean {nearest[0]}?" if nearest else ""
        owner = f"{section} has" if section else "a configuration has"
        remarks.append(f"--set {path}: {owner} no such field{hint}")
    return remarks


def _fields_beside(recipe: Recipe, path: str) -> set[str]:
    """The fields that a recipe is known to have beside a path; empty where they are not all known."""
    section = path.rpartition(".")[0]
    known = list(recipe.variants[0].settings)
    if recipe.partial or (section and section not in known):
        return set()
    return {each for each in known if each.rpartition(".")[0] == section}
