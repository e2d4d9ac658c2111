"""A configuration with no file behind it (a mapping of settings, a live `ConfigContainer`) as settings.

Nothing of it is imported or called: an object is walked by its fields. Enum members are their name, dtypes their name
("torch.bfloat16"), functions `<function module.name>`, tuples lists; `ddp.__class__` is the dotted name of the class of
`ddp`. What has no such spelling is only known to be set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import lru_cache
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from mfsdp_lint.core.recipe import NamedWrite, Origin, Setting, Settings, Span, Variant
from mfsdp_lint.core.values import NONE, NOT_NONE, UNKNOWN, Known, Plain, Scalar, Value
from mfsdp_lint.megatron.startup.resolve import WORLD_SIZE

CONFIGURATION = "<configuration>"
"""The path of what lies in no file."""

GIVEN = Origin(Span(CONFIGURATION, 1, 1, 1, 1), "assigned")
"""Where all that is given is written."""

ENVIRONMENT = "env."
VARIABLES = "env_vars"
"""The recipe's own defaults for environment variables: one setting, whose value is a dictionary."""

_TWINS = {"rerun_state_machine.check_for_nan_in_loss": "ddp.check_for_nan_in_grad"}
"""Settings that a selection of fields leaves out, with the one that tells: one flag of Megatron-LM's command line
(check_for_nan_in_loss_and_grad) stands for both, and recipes switch them together."""

_OF_INFERENCE = frozenset({"model.inference_cuda_graph_scope"})
"""Fields of the model that training leaves unset, but start-up looks at."""

_SCALARS = frozenset({bool, str, int, float, type(None)})
_DEEPEST = 8
_MOST_ITEMS = 10_000


class NotAConfiguration(ValueError):
    """A value that no settings can be read from."""


def variant_of(configuration: object, *, world_size: int | None = None, partial_environment: bool = False) -> Variant:
    """Read the settings of a mapping (dotted names, nested mappings, or both) or of an object with fields.

    A setting that is not given is unknown (but see _TWINS and _OF_INFERENCE), and so is the number of ranks. An
    environment variable that is not given is unset, or with `partial_environment` unknown. Raises NotAConfiguration.
    """
    parts = _parts(configuration)
    values: dict[str, Value | Scalar] = dict(parts)  # type: ignore[arg-type]  # most are scalars, which stay
    if world_size is not None:
        values.setdefault(WORLD_SIZE, world_size)
    for name in [name for name, given in parts.items() if type(given) not in _SCALARS]:
        del values[name]
        for path, value in _below(name, parts[name], 0, ()):
            # What is given twice, by its path and in its section, is what is given last.
            if path not in values or (value != NOT_NONE and _is_before(path, name, parts)):
                values[path] = value
    for section in _sections(tuple(values)):
        # What has a name or is None has no fields: those that are given are left over from what it was before.
        of_section = values.setdefault(section, NOT_NONE)
        if section != VARIABLES and (type(of_section) in _SCALARS or isinstance(of_section, Known)):
            values = {path: value for path, value in values.items() if not path.startswith(f"{section}.")}
    return Variant(GivenSettings(values, partial_environment))


@lru_cache(maxsize=64)
def _sections(paths: tuple[str, ...]) -> frozenset[str]:
    """Return the sections of the given settings.

    It is cached: a caller with many configurations gives the same settings each time.
    """
    return frozenset(path.partition(".")[0] for path in paths if "." in path) - {"env", "run"}


class GivenSettings(Settings):
    """Settings by path, which nobody is known to have written. A scalar stands for itself until it is asked for."""

    __slots__ = ("_given", "_known", "_partial_environment")

    def __init__(self, given: Mapping[str, Value | Scalar], partial_environment: bool) -> None:
        self._given = given
        self._known: dict[str, Value] = {}
        self._partial_environment = partial_environment

    def value(self, path: str) -> Value:
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = self._value(path)
        return known

    def get(self, path: str) -> Setting | None:
        return Setting(path, self.value(path)) if path in self._given else None

    def _value(self, path: str) -> Value:
        if path in self._given:
            given = self._given[path]
            return Known(given) if type(given) in _SCALARS else given  # type: ignore[arg-type, return-value]
        if path.startswith(ENVIRONMENT):
            return UNKNOWN if self._partial_environment else NONE
        if path in _OF_INFERENCE:
            return NONE
        return self.value(_TWINS[path]) if path in _TWINS else UNKNOWN

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def named(self) -> tuple[NamedWrite, ...]:
        return tuple(NamedWrite(path, GIVEN) for path in self._given)


def _parts(configuration: object) -> Mapping[str, object]:
    """Return the parts of a configuration, by name. Raises NotAConfiguration."""
    parts = configuration if isinstance(configuration, Mapping) else fields_of(configuration)
    if parts is None:
        raise NotAConfiguration(f"expected a mapping of settings or a configuration, not {_named(type(configuration))}")
    for name in parts:
        if not isinstance(name, str) or not name:
            raise NotAConfiguration(f"{name!r} is not the name of a setting")
    return parts


def _is_before(path: str, name: str, parts: Mapping[str, object]) -> bool:
    """Tell whether one of two parts is given before the other; the part before gives a path that is no part itself."""
    return path not in parts or next(each for each in parts if each in (path, name)) == path


def _below(path: str, value: object, depth: int, above: tuple[int, ...]) -> Iterator[tuple[str, Value]]:
    plain = plain_of(value, depth)
    if plain is not None and (not isinstance(value, Mapping) or path == VARIABLES):
        yield path, plain
        return
    if path != "env":  # the section of the environment is no setting
        # A mapping below a section may be a value that upstream looks keys up in, as well as a configuration.
        yield path, plain if plain is not None and "." in path else NOT_NONE
    if depth == _DEEPEST or id(value) in above:
        return
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(key, str):
                yield from _below(f"{path}.{key}", inner, depth + 1, (*above, id(value)))
    elif (found := fields_of(value)) is not None:
        yield f"{path}.__class__", Known(_named(type(value)))
        for key, inner in found.items():
            yield from _below(f"{path}.{key}", inner, depth + 1, (*above, id(value)))


def fields_of(value: object) -> Mapping[str, object] | None:
    """Return the parts of an object: its dataclass fields, and other attributes written into it; None without any.

    The dry run's worker, which can import nothing of ours, walks by the same rule (dryrun/worker/execute.py).
    """
    if isinstance(value, type):
        return None
    own: dict[str, object] = getattr(value, "__dict__", {})
    names = [field.name for field in fields(value)] if is_dataclass(value) else []
    if not names and not own:
        return None
    found = {name: getattr(value, name) for name in names if hasattr(value, name)}
    return found | {name: each for name, each in own.items() if not name.startswith("_")}


def plain_of(value: object, depth: int = 0) -> Value | None:
    """Return a value without fields of its own as a plain value; None for one with fields, or without a spelling."""
    match value:
        case Enum():
            return Known(value.name)
        case None | bool() | int() | float() | str():
            return Known(value)
        case FunctionType() | BuiltinFunctionType() | MethodType():
            return Known(f"<function {value.__module__}.{value.__qualname__}>")
        case list() | tuple() | set() | frozenset() | Mapping():
            return _container(value, depth)
    kind = type(value)
    return Known(str(value)) if (kind.__module__, kind.__name__) == ("torch", "dtype") else None


def _container(value: Any, depth: int) -> Value | None:
    if depth >= _DEEPEST or len(value) > _MOST_ITEMS:
        return NOT_NONE
    if isinstance(value, Mapping):
        entries: dict[str, Plain] = {}
        for key, item in value.items():
            known = plain_of(item, depth + 1)
            if not isinstance(known, Known):
                return NOT_NONE
            entries[str(key)] = known.value
        return Known(entries)
    items: list[Plain] = []
    for item in value:
        known = plain_of(item, depth + 1)
        if not isinstance(known, Known):
            return NOT_NONE
        items.append(known.value)
    return Known(items)


def _named(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
