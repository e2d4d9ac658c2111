"""Files that a program reads: those of the tree that is read as well, never executed; all others are not known."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from mfsdp_lint.readers.python.eval.path_objects import make_path, text_of_path
from mfsdp_lint.readers.python.state.folders import overwrite, symbol, text_of
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import models
from mfsdp_lint.readers.python.state.outcomes import Raised
from mfsdp_lint.readers.python.values.frames import Frame
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
def _open(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    path = arguments[0] if arguments else keywords.get("file")
    mode = machine.settle(arguments[1] if len(arguments) > 1 else keywords.get("mode", "r"))
    if not isinstance(mode, str) or set(mode) - set("rbtU"):
        text = text_of_path(machine.settle(path))
        if text is not None:
            overwrite(machine, text, frame.module)
        return machine.unknown("file", not_none=True)
    text = read(machine, path, frame)
    return machine.unknown("file", not_none=True) if text is None else _stream(machine, text)


def _stream(machine: Machine, text: str) -> Unknown:
    made = machine.unknown("file", not_none=True)
    lines: list[Object] = [*text.splitlines(keepends=True)]
    methods: dict[str, Callable[..., Object]] = {
        "read": lambda machine, *_: text,
        "readlines": lambda machine, *_: ListObject(lines, machine.tick()),
        "close": lambda *_: None,
        "__enter__": lambda *_: made,
    }
    made.fields.update({name: Native(f"io.{name}", method) for name, method in methods.items()})
    return made


@models("pathlib.Path.read_text")
def _read_text(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    found = read(machine, arguments[0], frame)
    return machine.unknown("text", not_none=True) if found is None else found


@models("pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath", "pathlib.PurePosixPath")
def _path(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    return make_path(machine, arguments or ["."])


@models("os.fspath")
def _fspath(machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame) -> Object:
    found = text_of_path(machine.settle(arguments[0])) if arguments else None
    return machine.unknown("path", not_none=True) if found is None else found


@models("importlib.resources.files")
def _resources(
    machine: Machine, arguments: list[Object], keywords: dict[str, Object], node: Any, frame: Frame
) -> Object:
    package = machine.settle(arguments[0]) if arguments else frame.module
    if isinstance(package, str):
        package = machine.finder.resolve(package, frame.module.path)
    if type(package) is not Module or package.upstream is not None:
        return machine.unknown("resources", not_none=True)
    return make_path(machine, [symbol(machine, os.path.dirname(package.path))])
