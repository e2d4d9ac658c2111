"""The machine a program runs on: folders, paths, environment variables, leaving the process."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from mfsdp_lint.readers.python.eval.containers import iterate, set_entry
from mfsdp_lint.readers.python.eval.methods import method
from mfsdp_lint.readers.python.eval.protocols import called
from mfsdp_lint.readers.python.library.computing import computes, settled
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import Model, models
from mfsdp_lint.readers.python.state.outcomes import Raised
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.markers import HAZY
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    SYMBOLS,
    Choice,
    DictObject,
    Object,
    Unknown,
    is_symbolic,
)

CWD = "<CWD>"
"""The folder a program is started in, as a symbol."""


@models("os.getcwd", "os.getcwdb")
def _getcwd(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    return CWD


@models("os.path.join")
def _path_join(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    parts = [_path_text(machine, part, node, frame) for part in arguments]
    rooted = [index for index, part in enumerate(parts) if isinstance(part, str) and part.startswith(SYMBOLS)]
    parts = parts[rooted[-1] :] if rooted else parts
    if not all(isinstance(part, str) for part in parts):
        if any(part is None or isinstance(part, (int, float)) for part in parts):
            raise Raised("TypeError", "join() argument must be str")
        return machine.unknown("path", not_none=True)
    return posixpath.join(*parts)


def _of_path(function: Callable[[str], Any]) -> Model:
    """The model of a function of one path, which may begin with a symbol for a folder (an absolute one)."""
    computed = computes(function)

    def model(
        machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
    ) -> Object:
        arguments = settled(machine, arguments)
        if not (len(arguments) == 1 and isinstance(arguments[0], str) and arguments[0].startswith(SYMBOLS)):
            return computed(machine, arguments, keywords, node, frame)
        found = function(f"/{arguments[0]}")
        parts = found if isinstance(found, tuple) else (found,)
        if isinstance(found, bool):
            return found
        if any(is_symbolic(part) and part[:2] != "/<" for part in parts) or parts[0] == "/" or ".." in arguments[0]:
            return machine.unknown("path", not_none=True)
        parts = tuple(part[1:] if is_symbolic(part) else part for part in parts)
        return parts if isinstance(found, tuple) else parts[0]

    return model


_PATH_FUNCTIONS: dict[str, Callable[[str], Any]] = {
    "basename": posixpath.basename,
    "dirname": posixpath.dirname,
    "normpath": posixpath.normpath,
    "splitext": posixpath.splitext,
    "isabs": posixpath.isabs,
    "split": posixpath.split,
}
for _name, _function in _PATH_FUNCTIONS.items():
    models(f"os.path.{_name}")(_of_path(_function))


@models(
    "os.path.exists", "os.path.isdir", "os.path.isfile", "os.path.abspath", "os.path.expanduser", "os.path.realpath"
)
def _depends_on_machine(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    return machine.unknown(ast.unparse(node) if isinstance(node, ast.AST) else "", not_none=True)


@models("os.environ.get", "os.getenv")
def _getenv(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    name = machine.settle(arguments[0]) if arguments else None
    default = arguments[1] if len(arguments) > 1 else keywords.get("default")
    return environment_value(machine, name, default)


def environment_value(machine: Machine, name: Object, default: Object = None) -> Object:
    """A variable of the environment: what the program itself has set, else unknown (the default may hold or not)."""
    if not isinstance(name, str):
        return machine.unknown("environment")
    found = machine.path.environment.fields.get(name, MISSING)
    if found is MISSING:
        machine.asked_environment += 1
        found = machine.variables.get(name)
        if found is None:
            found = machine.variables[name] = machine.unknown(f"${name}")
        if isinstance(found, Unknown) and default is not None:
            return machine.unknown(f"${name}", not_none=True)
    if found is None:
        return default
    return found


@models("os.environ.setdefault")
def _setdefault(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    name = machine.settle(arguments[0]) if arguments else None
    if not isinstance(name, str) or len(arguments) != 2:
        return machine.unknown("environment")
    found = machine.path.environment.fields.get(name, MISSING)
    if found is not MISSING and not isinstance(found, (Choice, Unknown)) and found is not None:
        return found
    # Where the program itself has not set it, the process may have been started with it.
    value = arguments[1] if found is None else machine.unknown(f"${name}", not_none=True)
    set_entry(machine, machine.path.environment, name, value, node, frame, node.args[1] if _both(node) else None)
    return value


def _both(node: Any) -> bool:
    return isinstance(node, ast.Call) and len(node.args) == 2


@models("os.putenv", "os.environ.__setitem__")
def _setenv(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    if len(arguments) == 2 and isinstance(arguments[0], str):
        focus = node.args[1] if isinstance(node, ast.Call) and len(node.args) == 2 else None
        set_entry(machine, machine.path.environment, arguments[0], arguments[1], node, frame, focus)
        return arguments[1]
    return machine.unknown("environment")


@models("os.environ.update")
def _update_environment(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    return method(machine, machine.path.environment, "update", arguments, keywords, node, frame)


@models("os.environ.pop", "os.unsetenv")
def _unsetenv(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    if arguments and isinstance(arguments[0], str):
        set_entry(machine, machine.path.environment, arguments[0], None, node, frame)
    return machine.unknown("environment")


@models("os.environ.copy")
def _copy_environment(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    made = DictObject({}, machine.tick())
    made.writes[HAZY] = True
    return made


@models("pathlib.plain_path")
def _plain_path(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    """The text of a path that is made of several parts."""
    parts = [_path_text(machine, part, node, frame) for part in iterate(machine, arguments[0], frame) or ()]
    if any(isinstance(part, (int, float, type(None))) for part in parts):
        raise Raised("TypeError", "expected str, bytes or os.PathLike object")
    if not all(isinstance(part, str) for part in parts):
        return machine.unknown("path", not_none=True)
    rooted = [index for index, part in enumerate(parts) if part.startswith(SYMBOLS)]
    text = str(PurePosixPath(*parts[rooted[-1] :])) if rooted else str(PurePosixPath(*parts))
    return text if not is_symbolic(text) or text.startswith(("/", *SYMBOLS)) else machine.unknown("path", not_none=True)


def _path_text(machine: Machine, part: Object, node: Any, frame: Frame) -> Object:
    part = machine.settle(part)
    found = called(machine, part, "__fspath__", node, frame)
    return part if found is MISSING else machine.settle(found)


@models("pathlib.path_parts")
def _path_parts(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    text = machine.settle(arguments[0])
    if not isinstance(text, str) or is_symbolic(text):
        return machine.unknown("parts", not_none=True)
    return PurePosixPath(text).parts


@models("sys.exit", "builtins.exit", "builtins.quit", "os._exit")
def _exit(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    raise Raised("SystemExit", "")
