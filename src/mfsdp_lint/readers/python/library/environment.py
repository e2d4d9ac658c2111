"""The machine a program runs on: files and folders, environment variables, `sys.path`, leaving the process.

Files are those of the tree that is read as well, never executed; all others are not known.
"""

from __future__ import annotations

import ast
import os
import posixpath
from collections.abc import Callable
from typing import Any

from mfsdp_lint.core.values import CWD
from mfsdp_lint.inputs import disk
from mfsdp_lint.readers.python.eval.containers import set_entry
from mfsdp_lint.readers.python.eval.iteration import iterate
from mfsdp_lint.readers.python.eval.methods import method
from mfsdp_lint.readers.python.eval.path_objects import make_path, text_of_path
from mfsdp_lint.readers.python.library.text import computes, settled
from mfsdp_lint.readers.python.state.folders import (
    folder_of,
    located,
    normal,
    overwrite,
    parent,
    spelled,
    symbol,
    text_of,
)
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import Model, models
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.variables import copied_environment, is_set, variable
from mfsdp_lint.readers.python.values.frames import Call, Frame
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    SYMBOLS,
    ListObject,
    Native,
    Object,
    PathObject,
    Unknown,
    all_are,
    is_symbolic,
)

LONGEST = 200_000
"""Characters; a longer file is data, and no settings."""


def read(machine: Machine, path: Object, frame: Frame) -> str | None:
    """Read the file of the tree that a path names; None where that is not known.

    Raises Raised where the file is missing and the program is ready for that.
    """
    text = text_of_path(machine.settle(path))
    if text is None:
        return None
    try:
        found = text_of(machine, text, frame.module)
    except FileNotFoundError:
        if machine.path.written is None:
            return None
        raise Raised("FileNotFoundError", text) from None
    if found is None or len(found[1]) > LONGEST:
        return None
    machine.finder.texts[found[1]] = found[0]
    return found[1]


@models("builtins.open", "io.open", "codecs.open")
def _open(machine: Machine, call: Call) -> Object:
    path = call.argument(0, "file")
    mode = machine.settle(call.argument(1, "mode", "r"))
    if not isinstance(mode, str) or set(mode) - set("rbtU"):
        text = text_of_path(machine.settle(path))
        if text is not None:
            overwrite(machine, text, call.frame.module)
        return machine.unknown("file", not_none=True)
    text = read(machine, path, call.frame)
    return machine.unknown("file", not_none=True) if text is None else _stream(machine, text)


def _stream(machine: Machine, text: str) -> Unknown:
    made = machine.unknown("file", not_none=True)
    lines: list[Object] = [*text.splitlines(keepends=True)]
    methods: dict[str, Model] = {
        "read": lambda machine, call: text,
        "readlines": lambda machine, call: ListObject(lines, machine.tick()),
        "close": lambda machine, call: None,
        "__enter__": lambda machine, call: made,
    }
    made.fields.update({name: Native(f"io.{name}", method) for name, method in methods.items()})
    return made


@models("pathlib.Path.read_text")
def _read_text(machine: Machine, call: Call) -> Object:
    found = read(machine, call.arguments[0], call.frame)
    return machine.unknown("text", not_none=True) if found is None else found


models("pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath", "pathlib.PurePosixPath")(
    lambda machine, call: make_path(machine, call.arguments or ["."])
)


@models("os.fspath")
def _fspath(machine: Machine, call: Call) -> Object:
    found = text_of_path(machine.settle(call.argument(0)))
    return machine.unknown("path", not_none=True) if found is None else found


@models("importlib.resources.files")
def _resources(machine: Machine, call: Call) -> Object:
    package = machine.settle(call.arguments[0]) if call.arguments else call.frame.module
    if isinstance(package, str):
        package = machine.finder.resolve(package, call.frame.module.path)
    if type(package) is not Module or package.upstream is not None:
        return machine.unknown("resources", not_none=True)
    return make_path(machine, [symbol(machine, os.path.dirname(package.path))])


models("os.getcwd", "os.getcwdb")(lambda machine, call: CWD)
models("pathlib.Path.cwd")(lambda machine, call: PathObject(machine.tick(), CWD))


def _texts(machine: Machine, call: Call) -> list[Any]:
    """Return the arguments; of a path, its text."""
    return [each.path if type(each) is PathObject else each for each in settled(machine, call.arguments)]


@models("os.path.join")
def _path_join(machine: Machine, call: Call) -> Object:
    parts = _texts(machine, call)
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
        arguments = _texts(machine, call)
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


for _name in ("basename", "isabs", "split", "splitext"):
    models(f"os.path.{_name}")(_of_path(getattr(posixpath, _name)))


def _in_tree(found: Callable[[Machine, str], str], otherwise: Model) -> Model:
    """Return the model of a function of one path that is known where the path leads from a folder of the tree."""

    def model(machine: Machine, call: Call) -> Object:
        arguments = _texts(machine, call)
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
    text = text_of_path(machine.settle(call.argument(0)))
    places = () if text is None else located(machine, text, call.frame.module)
    if len([place for place in places if machine.finder.sources.exists(place)]) == 1:
        return True
    return _depends_on_machine(machine, call)


models("os.path.isdir")(_depends_on_machine)


models("os.environ.get", "os.getenv")(
    lambda machine, call: variable(
        machine, machine.settle(call.argument(0, "key")), call.frame, call.argument(1, "default")
    )
)
models("os.environ.__getitem__")(lambda machine, call: variable(machine, machine.settle(call.argument(0)), call.frame))
models("os.environ.__contains__")(lambda machine, call: is_set(machine, machine.settle(call.argument(0)), call.frame))


@models("os.environ.setdefault")
def _setdefault(machine: Machine, call: Call) -> Object:
    name = machine.settle(call.argument(0))
    if not isinstance(name, str) or len(call.arguments) != 2:
        return machine.unknown("environment")
    value = variable(machine, name, call.frame, call.arguments[1])
    if machine.path.environment.fields.get(name) is not value:
        set_entry(machine, machine.path.environment, name, value, call.node, call.frame, call.expression(1))
    return value


@models("os.putenv", "os.environ.__setitem__")
def _setenv(machine: Machine, call: Call) -> Object:
    if len(call.arguments) == 2:
        name, value = call.arguments
        set_entry(machine, machine.path.environment, name, value, call.node, call.frame, call.expression(1))
    return None


models("os.environ.update")(lambda machine, call: method(machine, machine.path.environment, "update", call))


@models("os.environ.pop", "os.unsetenv", "os.environ.__delitem__")
def _unsetenv(machine: Machine, call: Call) -> Object:
    name = machine.settle(call.argument(0))
    found = variable(machine, name, call.frame, call.argument(1, default=MISSING))
    set_entry(machine, machine.path.environment, name, None, call.node, call.frame)
    return found


models("os.environ.copy")(lambda machine, call: copied_environment(machine))


@models("sys.exit", "builtins.exit", "builtins.quit", "os._exit")
def _exit(machine: Machine, call: Call) -> Object:
    raise Raised("SystemExit", "")


@models("sys.path.insert", "sys.path.append", "site.addsitedir")
def _add(machine: Machine, call: Call) -> Object:
    _add_folder(machine, call.arguments[-1] if call.arguments else None, call.frame)
    return None


@models("sys.path.extend")
def _extend(machine: Machine, call: Call) -> Object:
    for folder in iterate(machine, call.argument(0, default=()), call.frame) or ():
        _add_folder(machine, folder, call.frame)
    return None


def _add_folder(machine: Machine, folder: Object, frame: Frame) -> None:
    """Add a folder of the tree to the search path; any other is out of sight anyway."""
    text = text_of_path(machine.settle(folder))
    if text is None:
        return
    places = [place for place in located(machine, text, frame.module) if disk.is_folder(place)]
    if len(places) == 1:
        machine.finder.add_root(os.path.dirname(frame.module.path), spelled(places[0], frame.module))
