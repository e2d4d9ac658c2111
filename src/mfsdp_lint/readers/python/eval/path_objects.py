"""`pathlib.Path`: parts of a path, paths made from it, and the file of the tree that it names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from mfsdp_lint.core.values import CWD
from mfsdp_lint.readers.python.state.folders import folder_of, normal, overwrite, parent
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import LIBRARY, Model
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.values.frames import Call, Frame
from mfsdp_lint.readers.python.values.objects import MISSING, SYMBOLS, Native, Object, PathObject, is_symbolic

MOST_PARENTS = 16


def make_path(machine: Machine, parts: list[Object]) -> Object:
    """Return `Path(*parts)`; unknown where one of the parts is unknown."""
    known = [text_of_path(machine.settle(part)) for part in parts]
    texts = [text for text in known if text is not None]
    if len(texts) < len(known):
        if any(part is None or isinstance(part, (int, float)) for part in parts):
            raise Raised("TypeError", "argument should be a str or an os.PathLike object")
        return machine.unknown("path", not_none=True)
    rooted = [index for index, text in enumerate(texts) if text.startswith(SYMBOLS)]
    return PathObject(machine.tick(), str(PurePosixPath(*texts[rooted[-1] if rooted else 0 :])))


def text_of_path(value: Object) -> str | None:
    """Return the text of a path or of a string; None where it is neither, or not known."""
    return value.path if type(value) is PathObject else value if isinstance(value, str) else None


def path_attribute(machine: Machine, value: PathObject, name: str) -> Object:
    """Return `path.name`; MISSING where nothing is known of it."""
    part = _PARTS.get(name)
    if part is not None:
        return part(machine, value.path)
    method = _METHODS.get(name)
    if method is not None:
        return Native(f"pathlib.Path.{name}", _with_path(method, value.path))
    modelled = LIBRARY.get(_AS_FUNCTION.get(name, ""))
    if modelled is None:
        return MISSING

    def model(machine: Machine, call: Call) -> Object:
        assert modelled is not None
        return modelled(machine, call.passing([value, *call.arguments], call.keywords))

    return Native(f"pathlib.Path.{name}", model)


_AS_FUNCTION = {
    "open": "builtins.open",
    "exists": "os.path.exists",
    "is_file": "os.path.isfile",
    "is_dir": "os.path.isdir",
    "read_text": "pathlib.Path.read_text",
    "__fspath__": "os.fspath",
    "__str__": "os.fspath",
    "as_posix": "os.fspath",
}
"""Methods that do what a function does, which is given the path."""


def _with_path(method: Callable[..., Object], path: str) -> Model:
    def model(machine: Machine, call: Call) -> Object:
        return method(
            machine, path, [machine.settle(each) for each in (*call.arguments, *call.keywords.values())], call.frame
        )

    return model


def _pure(name: str) -> Callable[[Machine, str], Object]:
    def part(machine: Machine, path: str) -> Object:
        alone = path in SYMBOLS or (folder_of(machine, path) is not None and "/" not in path)
        if alone or (name == "parts" and is_symbolic(path)):
            return machine.unknown(f"path.{name}", not_none=True)
        found = getattr(PurePosixPath(path), name)
        return tuple(found) if isinstance(found, (list, tuple)) else found

    return part


def _parent(machine: Machine, path: str) -> Object:
    return PathObject(machine.tick(), _above(machine, path))


def _above(machine: Machine, path: str) -> str:
    return parent(machine, path) if folder_of(machine, path) is not None else str(PurePosixPath(path).parent)


def _parents(machine: Machine, path: str) -> Object:
    found: list[Object] = []
    while len(found) < MOST_PARENTS and _above(machine, path) != path:
        path = _above(machine, path)
        found.append(PathObject(machine.tick(), path))
    return tuple(found)


_PARTS: dict[str, Callable[[Machine, str], Object]] = {
    "parent": _parent,
    "parents": _parents,
    **{name: _pure(name) for name in ("name", "parts", "stem", "suffix", "suffixes")},
}


def _join(machine: Machine, path: str, arguments: list[Object], frame: Frame) -> Object:
    return make_path(machine, [path, *arguments])


def _resolved(machine: Machine, path: str, arguments: list[Object], frame: Frame) -> Object:
    if path.startswith("~"):
        return machine.unknown("path", not_none=True)
    if not path.startswith(("/", *SYMBOLS)):
        path = str(PurePosixPath(CWD, path))
    return PathObject(machine.tick(), normal(machine, path))


def _expanded(machine: Machine, path: str, arguments: list[Object], frame: Frame) -> Object:
    return machine.unknown("path", not_none=True) if path.startswith("~") else PathObject(machine.tick(), path)


def _asked(name: str) -> Callable[..., Object]:
    """Return a method that looks at texts alone; unknown where a symbol for a folder decides about its result."""

    def method(machine: Machine, path: str, arguments: list[Object], frame: Frame) -> Object:
        texts = [text_of_path(each) for each in arguments]
        pure = PurePosixPath(path)
        if is_symbolic(path, *texts):
            below = name.endswith("relative_to") and len(texts) == 1 and pure.is_relative_to(texts[0] or "/")
            known = below or (name.startswith("with_") and not is_symbolic(*texts))
        else:
            known = True
        if None in texts or not known:
            return machine.unknown("path", not_none=True)
        try:
            found = getattr(pure, name)(*texts)
        except (TypeError, ValueError) as error:
            raise Raised(type(error).__name__, str(error)) from None
        return PathObject(machine.tick(), str(found)) if isinstance(found, PurePosixPath) else found

    return method


def _written(machine: Machine, path: str, arguments: list[Object], frame: Frame) -> Object:
    overwrite(machine, path, frame.module)
    return machine.unknown("", not_none=True)


def _nothing(machine: Machine, path: str, arguments: list[Object], frame: Frame) -> Object:
    return None


_OF_TEXTS = ("is_absolute", "is_relative_to", "match", "relative_to", "with_name", "with_stem", "with_suffix")

_METHODS: dict[str, Callable[..., Object]] = {
    "joinpath": _join,
    "resolve": _resolved,
    "absolute": _resolved,
    "expanduser": _expanded,
    **{name: _asked(name) for name in _OF_TEXTS},
    "write_text": _written,
    "write_bytes": _written,
    "unlink": _written,
    "mkdir": _nothing,
}
