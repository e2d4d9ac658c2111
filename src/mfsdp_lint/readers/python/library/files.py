"""Files that a program reads: those of the tree that is read as well, never executed; all others are not known."""

from __future__ import annotations

import os

from mfsdp_lint.readers.python.eval.path_objects import make_path, text_of_path
from mfsdp_lint.readers.python.state.folders import overwrite, symbol, text_of
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import Model, models
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.values.frames import Call, Frame
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import ListObject, Native, Object, Unknown

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
    path = call.arguments[0] if call.arguments else call.keywords.get("file")
    mode = machine.settle(call.arguments[1] if len(call.arguments) > 1 else call.keywords.get("mode", "r"))
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


@models("pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath", "pathlib.PurePosixPath")
def _path(machine: Machine, call: Call) -> Object:
    return make_path(machine, call.arguments or ["."])


@models("os.fspath")
def _fspath(machine: Machine, call: Call) -> Object:
    found = text_of_path(machine.settle(call.arguments[0])) if call.arguments else None
    return machine.unknown("path", not_none=True) if found is None else found


@models("importlib.resources.files")
def _resources(machine: Machine, call: Call) -> Object:
    package = machine.settle(call.arguments[0]) if call.arguments else call.frame.module
    if isinstance(package, str):
        package = machine.finder.resolve(package, call.frame.module.path)
    if type(package) is not Module or package.upstream is not None:
        return machine.unknown("resources", not_none=True)
    return make_path(machine, [symbol(machine, os.path.dirname(package.path))])
