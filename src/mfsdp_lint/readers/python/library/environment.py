"""The machine a program runs on: folders, paths, environment variables, leaving the process."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Callable
from typing import Any

from mfsdp_lint.core.values import CWD
from mfsdp_lint.readers.python.eval.containers import set_entry
from mfsdp_lint.readers.python.eval.methods import method
from mfsdp_lint.readers.python.eval.path_objects import text_of_path
from mfsdp_lint.readers.python.library.computing import computes, settled
from mfsdp_lint.readers.python.state.folders import folder_of, located, normal, parent
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import Model, models
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.variables import copied_environment, is_set, variable
from mfsdp_lint.readers.python.values.frames import Call
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    SYMBOLS,
    Object,
    PathObject,
    all_are,
    is_symbolic,
)


@models("os.getcwd", "os.getcwdb")
def _getcwd(machine: Machine, call: Call) -> Object:
    return CWD


@models("pathlib.Path.cwd")
def _path_cwd(machine: Machine, call: Call) -> Object:
    return PathObject(machine.tick(), CWD)


@models("os.path.join")
def _path_join(machine: Machine, call: Call) -> Object:
    parts: list[Any] = [each.path if type(each) is PathObject else each for each in settled(machine, call.arguments)]
    rooted = [index for index, part in enumerate(parts) if isinstance(part, str) and part.startswith(SYMBOLS)]
    parts = parts[rooted[-1] :] if rooted else parts
    if not all_are(parts, str):
        if any(part is None or isinstance(part, (int, float)) for part in parts):
            raise Raised("TypeError", "join() argument must be str")
        return machine.unknown("path", not_none=True)
    return posixpath.join(*parts)


def _of_path(function: Callable[[str], Any]) -> Model:
    """Return the model of a function of one path, which may begin with a symbol for a folder (an absolute one)."""
    computed = computes(function)

    def model(machine: Machine, call: Call) -> Object:
        arguments = [each.path if type(each) is PathObject else each for each in settled(machine, call.arguments)]
        if not (len(arguments) == 1 and isinstance(arguments[0], str) and arguments[0].startswith(SYMBOLS)):
            return computed(machine, call.passing(arguments, call.keywords))
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
    "splitext": posixpath.splitext,
    "isabs": posixpath.isabs,
    "split": posixpath.split,
}
for _name, _function in _PATH_FUNCTIONS.items():
    models(f"os.path.{_name}")(_of_path(_function))


def _in_tree(found: Callable[[Machine, str], str], otherwise: Model) -> Model:
    """Return the model of a function of one path that is known where the path leads from a folder of the tree."""

    def model(machine: Machine, call: Call) -> Object:
        arguments = [each.path if type(each) is PathObject else each for each in settled(machine, call.arguments)]
        if len(arguments) == 1 and isinstance(arguments[0], str) and folder_of(machine, arguments[0]) is not None:
            return found(machine, arguments[0])
        return otherwise(machine, call.passing(arguments, call.keywords))

    return model


def _depends_on_machine(machine: Machine, call: Call) -> Object:
    return machine.unknown(ast.unparse(call.node) if isinstance(call.node, ast.AST) else "", not_none=True)


models("os.path.dirname")(_in_tree(parent, _of_path(posixpath.dirname)))
models("os.path.normpath")(_in_tree(normal, _of_path(posixpath.normpath)))
models("os.path.abspath", "os.path.expanduser", "os.path.realpath")(_in_tree(normal, _depends_on_machine))


@models("os.path.exists", "os.path.isfile")
def _exists(machine: Machine, call: Call) -> Object:
    """Return True for a file of the tree; a file that is missing may be made later."""
    text = text_of_path(machine.settle(call.arguments[0])) if call.arguments else None
    places = () if text is None else located(machine, text, call.frame.module)
    if len([place for place in places if machine.finder.sources.exists(place)]) == 1:
        return True
    return _depends_on_machine(machine, call)


models("os.path.isdir")(_depends_on_machine)


@models("os.environ.get", "os.getenv")
def _getenv(machine: Machine, call: Call) -> Object:
    name = machine.settle(call.arguments[0]) if call.arguments else call.keywords.get("key")
    return variable(
        machine, name, call.frame, call.arguments[1] if len(call.arguments) > 1 else call.keywords.get("default")
    )


@models("os.environ.__getitem__")
def _entry(machine: Machine, call: Call) -> Object:
    return variable(machine, machine.settle(call.arguments[0]) if call.arguments else None, call.frame)


@models("os.environ.__contains__")
def _contains(machine: Machine, call: Call) -> Object:
    return is_set(machine, machine.settle(call.arguments[0]) if call.arguments else None, call.frame)


@models("os.environ.setdefault")
def _setdefault(machine: Machine, call: Call) -> Object:
    name = machine.settle(call.arguments[0]) if call.arguments else None
    if not isinstance(name, str) or len(call.arguments) != 2:
        return machine.unknown("environment")
    value = variable(machine, name, call.frame, call.arguments[1])
    focus = call.node.args[1] if isinstance(call.node, ast.Call) and len(call.node.args) == 2 else None
    if machine.path.environment.fields.get(name) is not value:
        set_entry(machine, machine.path.environment, name, value, call.node, call.frame, focus)
    return value


@models("os.putenv", "os.environ.__setitem__")
def _setenv(machine: Machine, call: Call) -> Object:
    if len(call.arguments) == 2:
        focus = call.node.args[1] if isinstance(call.node, ast.Call) and len(call.node.args) == 2 else None
        set_entry(machine, machine.path.environment, call.arguments[0], call.arguments[1], call.node, call.frame, focus)
    return None


@models("os.environ.update")
def _update_environment(machine: Machine, call: Call) -> Object:
    return method(machine, machine.path.environment, "update", call)


@models("os.environ.pop", "os.unsetenv", "os.environ.__delitem__")
def _unsetenv(machine: Machine, call: Call) -> Object:
    name = machine.settle(call.arguments[0]) if call.arguments else None
    found = variable(machine, name, call.frame, call.arguments[1] if len(call.arguments) > 1 else MISSING)
    set_entry(machine, machine.path.environment, name, None, call.node, call.frame)
    return found


@models("os.environ.copy")
def _copy_environment(machine: Machine, call: Call) -> Object:
    return copied_environment(machine)


@models("sys.exit", "builtins.exit", "builtins.quit", "os._exit")
def _exit(machine: Machine, call: Call) -> Object:
    raise Raised("SystemExit", "")
