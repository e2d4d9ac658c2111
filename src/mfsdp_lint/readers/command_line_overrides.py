"""`--set` and `--env`: overrides of every recipe, which point into a text that has one option a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mfsdp_lint.core.nearest import did_you_mean
from mfsdp_lint.core.recipe import How, Origin, Recipe, Setting, Span
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import NONE, Known, Value
from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.readers.overrides import ENVIRONMENT, SettingOverride

COMMAND_LINE = "<command line>"
"""The path of the text that these overrides stand in."""

_TEXT = frozenset(("", "yes", "no", "on", "off", "~"))
"""Text to a launcher (Hydra's override grammar knows true, false and null only), though not in a YAML 1.1 file."""


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


def parse(settings: Sequence[str], environment: Sequence[str]) -> CommandLine:
    """Parse the overrides of `--set PATH=VALUE` and `--env NAME=VALUE`.

    A value is read as in an override file, so `null`, `true`, `4`, `[0, 1]` and `{a: 1}` (which is merged) mean what
    they mean there; an empty one is the empty text. `--env NAME` alone unsets a variable. A leading `+` or `++`, as
    Hydra has it, changes nothing. Raises UsageError.
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
        for place, value in _spread(path, _value(option, written)):
            _check(place, value, option)
            found.append(_override(place, value, option, line))
    for line, text in enumerate(environment, len(settings) + 1):
        name, equals, written = text.partition("=")
        if not name.strip() or name != name.strip():
            raise UsageError(f"--env {text}: expected NAME=VALUE, or NAME alone for a variable that is not set")
        found.append(_override(ENVIRONMENT + name, Known(written) if equals else NONE, f"--env {text}", line))
    options = (*(f"--set {text}" for text in settings), *(f"--env {text}" for text in environment))
    return CommandLine(tuple(found), "".join(f"{option}\n" for option in options))


def _value(option: str, written: str) -> Value:
    if written.strip().lower() in _TEXT:
        return Known(written.strip())
    from mfsdp_lint.inputs.sources import Unreadable
    from mfsdp_lint.readers.yaml.document import read_value

    try:
        return read_value(COMMAND_LINE, written.strip())
    except Unreadable as error:
        raise UsageError(f"{option}: {error.message}") from None


def _check(path: str, value: Value, option: str) -> None:
    """Raise UsageError for a value that the setting cannot have."""
    from mfsdp_lint.megatron.vocabulary import table

    entry = table().entry(path)
    if entry is not None and isinstance(value, Known) and (expected := entry.expected(value.value)):
        named = "" if path in option else f"{path}: "
        raise UsageError(f"{option}: {named}expected {expected}")


def _spread(path: str, value: Value) -> Iterator[tuple[str, Value]]:
    """Yield the settings that a mapping holds: it is merged into its section, and does not replace it."""
    if not isinstance(value, Known) or not isinstance(value.value, dict) or not value.value:
        yield path, value
        return
    for name, inner in value.value.items():
        yield from _spread(f"{path}.{name}", Known(inner))


def _override(path: str, value: Value, option: str, line: int) -> SettingOverride:
    """Return the override that an option writes; the value is in focus."""
    end = len(option) + 1
    start = min(option.find("=") + 2, end) if "=" in option else end - len(path.rpartition(".")[2])
    how: How = "environment" if path.startswith(ENVIRONMENT) else "override"
    span = Span(COMMAND_LINE, line, 1, line, end)
    focus = Span(COMMAND_LINE, line, start, line, end) if start < end else None
    return SettingOverride(path, value, Origin(span, how, focus, value=value))


def misspelt(recipes: Sequence[Recipe], overrides: Sequence[SettingOverride]) -> list[str]:
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
