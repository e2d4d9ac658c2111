"""Runs recipe functions of one file, as they are, and says what settings they return. This is the file's own code.

Nothing else of a dry run executes what is linted; whoever starts this has said so. The settings of the returned
`ConfigContainer` are spelled as `mfsdp_lint.rules.judging` spells them, which cannot be imported here: members of
enumerations and dtypes are their names, functions `<function module.name>`, tuples lists, and `ddp.__class__` is the
class of `ddp`.
"""

import dataclasses
import enum
import importlib
import importlib.util
import json
import os
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from . import stand_ins
from .build import failure, restored_environment


def main(arguments: Sequence[str]) -> None:
    """Execute recipe functions. `arguments`: a file with the question, and one for the answers.

    The question has `path`, `search_path`, `environment`, `transformer_engine`, `calls` (`function` and `arguments`).
    """
    question = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    part = Path(f"{arguments[1]}.part")
    part.write_text(json.dumps(_answers(question)), encoding="utf-8")
    part.replace(arguments[1])


def _answers(question: Mapping[str, Any]) -> dict[str, Any]:
    calls = question["calls"]
    os.environ |= {**question["environment"], "HF_MODULES_CACHE": os.environ["TMPDIR"]}
    try:
        stand_ins.import_upstream()
        stand_ins.pretend(question["transformer_engine"])
    except Exception as error:
        traceback.print_exc()
        return {"error": failure(error), "calls": []}
    with restored_environment() as before:
        try:
            module = _module(question["path"], question["search_path"])
        except (Exception, SystemExit) as error:
            traceback.print_exc()
            return {"error": None, "calls": [{"error": failure(error), "stage": "importing it"} for _ in calls]}
        of_the_file = _changes(before)
        return {"error": None, "calls": [_call(module, call, of_the_file) for call in calls]}


def _call(module: ModuleType, call: Mapping[str, Any], of_the_file: Mapping[str, str | None]) -> dict[str, Any]:
    with restored_environment() as before:
        try:
            settings = flat(attrgetter(call["function"])(module)(**call["arguments"]))
        except (Exception, SystemExit) as error:
            traceback.print_exc()
            return {"error": failure(error), "stage": "calling it"}
        settings["known"] |= {f"env.{name}": value for name, value in {**of_the_file, **_changes(before)}.items()}
        return {"error": None, **settings}


def _module(path: str, search_path: Sequence[str]) -> ModuleType:
    """Import the file as a module, with the name that it has in its package, so that its relative imports work."""
    file = Path(path)
    parts, folder = [file.stem], file.parent
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    sys.path[:0] = list(dict.fromkeys([str(folder), str(file.parent), *search_path]))
    if len(parts) > 1:
        return importlib.import_module(".".join(parts if file.stem != "__init__" else parts[:-1]))
    spec = importlib.util.spec_from_file_location(file.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


def _changes(before: Mapping[str, str]) -> dict[str, str | None]:
    """Return the variables of the environment that have changed."""
    names = {*before, *os.environ}
    return {name: os.environ.get(name) for name in names if os.environ.get(name) != before.get(name)}


_DEEPEST = 8
_MOST_ITEMS = 10_000
_VARIABLES = "env_vars"


class NotPlain(Exception):
    """A value that only is there."""


def flat(config: Any) -> dict[str, Any]:
    """Return `known`, settings with their values, and `set`, those known to be set. Raises TypeError, if no config."""
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
    except NotPlain:
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
    """Return an object's parts: its dataclass fields, and other attributes written into it; None where it has none."""
    if isinstance(value, type):
        return None
    own = getattr(value, "__dict__", None)
    names = [field.name for field in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else []
    if not names and not own:
        return None
    found = {name: getattr(value, name) for name in names if hasattr(value, name)}
    return found | {name: each for name, each in (own or {}).items() if not name.startswith("_")}


def _plain(value: Any, depth: int) -> Any:
    """Convert a value to a plain one. Raises NotPlain."""
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
    several = isinstance(value, list | tuple | set | frozenset | Mapping)
    if not several or depth >= _DEEPEST or len(value) > _MOST_ITEMS:
        raise NotPlain
    if isinstance(value, Mapping):
        return {str(key): _plain(each, depth + 1) for key, each in value.items()}
    return [_plain(each, depth + 1) for each in value]
