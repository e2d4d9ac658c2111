"""The settings of a live `ConfigContainer`, as JSON has them: dotted paths and plain values.

As `mfsdp_lint.rules.judging.configuration` spells them, which cannot be imported here: members of enumerations and
dtypes are their names, functions `<function module.name>`, tuples lists, and `ddp.__class__` is the class of `ddp`.
"""

import dataclasses
import enum
from collections.abc import Iterator, Mapping
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

_DEEPEST = 8
_MOST_ITEMS = 10_000
_VARIABLES = "env_vars"


class NoSpelling(Exception):
    """A value that only is there."""


def flat(config: Any) -> dict[str, Any]:
    """Return `known`, the settings with their values, and `set`, those that are only known to be set.

    Raises TypeError for an object that is no configuration.
    """
    fields = fields_of(config)
    if fields is None or not {"model", "train"} <= set(fields):
        raise TypeError(f"it returns a {type(config).__name__}, and not a ConfigContainer")
    found: dict[str, Any] = {"known": {}, "set": []}
    for name, value in fields.items():
        for path, plain in _below(name, value, 0, ()):
            if plain is ...:
                found["set"].append(path)
            else:
                found["known"][path] = plain
    return found


def _below(path: str, value: Any, depth: int, above: tuple[int, ...]) -> Iterator[tuple[str, Any]]:
    """Yield every setting; `...` for one that is only known to be set."""
    try:
        plain = _plain(value, depth)
    except NoSpelling:
        plain = ...
    if plain is not ... and (not isinstance(value, Mapping) or path == _VARIABLES):
        yield path, plain
        return
    yield path, plain if "." in path else ...
    if path == _VARIABLES or depth == _DEEPEST or id(value) in above:
        return
    inner = value if isinstance(value, Mapping) else fields_of(value)
    if inner is None:
        return
    if not isinstance(value, Mapping):
        yield f"{path}.__class__", f"{type(value).__module__}.{type(value).__qualname__}"
    for name, each in inner.items():
        if isinstance(name, str):
            yield from _below(f"{path}.{name}", each, depth + 1, (*above, id(value)))


def fields_of(value: Any) -> Mapping[str, Any] | None:
    """Return the parts of an object: its dataclass fields, and other attributes written into it; None where it has
    none.
    """
    if isinstance(value, type):
        return None
    own = getattr(value, "__dict__", None)
    names = [field.name for field in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else []
    if not names and not own:
        return None
    found = {name: getattr(value, name) for name in names if hasattr(value, name)}
    return found | {name: each for name, each in (own or {}).items() if not name.startswith("_")}


def _plain(value: Any, depth: int) -> Any:
    """Convert a value to a plain one. Raises NoSpelling."""
    if isinstance(value, enum.Enum):
        return value.name
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)
    if isinstance(value, FunctionType | BuiltinFunctionType | MethodType):
        return f"<function {value.__module__}.{value.__qualname__}>"
    if (type(value).__module__, type(value).__name__) == ("torch", "dtype"):
        return str(value)
    if not isinstance(value, list | tuple | set | frozenset | Mapping):
        raise NoSpelling
    if depth >= _DEEPEST or len(value) > _MOST_ITEMS:
        raise NoSpelling
    if isinstance(value, Mapping):
        return {str(key): _plain(each, depth + 1) for key, each in value.items()}
    return [_plain(each, depth + 1) for each in value]
