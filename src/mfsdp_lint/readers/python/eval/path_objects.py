"""`pathlib.Path`: parts of a path, paths made from it, and the file of the tree that it names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from mfsdp_lint.core.values import CWD
from mfsdp_lint.readers.python.state.calling import LIBRARY, Model
from mfsdp_lint.readers.python.state.folders import folder_of, normal, overwrite, parent
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.values.code import Call, Frame
from mfsdp_lint.readers.python.values.objects import MISSING, SYMBOLS, Native, Object, PathObject, is_symbolic

MOST_PARENTS = 16


def make_path(interp: Interpreter, parts: list[Object]) -> Object:
    """Return `Path(*parts)`; unknown where one of the parts is unknown."""
    known = [text_of_path(interp.settle(part)) for part in parts]
    texts = [text for text in known if text is not None]
    if len(texts) < len(known):
        if any(part is None or isinstance(part, (int, float)) for part in parts):
            raise Raised("TypeError", "argument should be a str or an os.PathLike object")
        return interp.unknown("path", not_none=True)
    rooted = [index for index, text in enumerate(texts) if text.startswith(SYMBOLS)]
    return PathObject(interp.tick(), str(PurePosixPath(*texts[rooted[-1] if rooted else 0 :])))


def text_of_path(value: Object) -> str | None:
    """Return the text of a path or of a string; None where it is neither, or not known."""
    return value.path if type(value) is PathObject else value if isinstance(value, str) else None


def path_attribute(interp: Interpreter, value: PathObject, name: str) -> Object:
    """Return `path.name`; MISSING where nothing is known of it."""
    part = _PARTS.get(name)
    if part is not None:
        return part(interp, value.path)
    method = _METHODS.get(name)
    if method is not None:
        return Native(f"pathlib.Path.{name}", _with_path(method, value.path))
    modelled = LIBRARY.get(_AS_FUNCTION.get(name, ""))
    if modelled is None:
        return MISSING

    def model(interp: Interpreter, call: Call) -> Object:
        assert modelled is not None
        return modelled(interp, call.passing([value, *call.arguments], call.keywords))

    return Native(f"pathlib.Path.{name}", model)


_AS_FUNCTION = {
    "open": "builtins.open",
    "exists": "os.path.exists",
    "is_file": "os.path.isfile",
    "is_dir": "os.path.isdir",
    "read_text": "pathlib.Path.read_text",
    "glob": "pathlib.Path.glob",
    "rglob": "pathlib.Path.rglob",
    "iterdir": "pathlib.Path.iterdir",
    "__fspath__": "os.fspath",
    "__str__": "os.fspath",
    "as_posix": "os.fspath",
}
"""Methods that do what a function does, which is given the path."""


def _with_path(method: Callable[..., Object], path: str) -> Model:
    def model(interp: Interpreter, call: Call) -> Object:
        return method(interp, path, [interp.settle(each) for each in call.values], call.frame)

    return model


def _pure(name: str) -> Callable[[Interpreter, str], Object]:
    def part(interp: Interpreter, path: str) -> Object:
        alone = path in SYMBOLS or (folder_of(interp, path) is not None and "/" not in path)
        if alone or (name == "parts" and is_symbolic(path)):
            return interp.unknown(f"path.{name}", not_none=True)
        found = getattr(PurePosixPath(path), name)
        return tuple(found) if isinstance(found, (list, tuple)) else found

    return part


def _parent(interp: Interpreter, path: str) -> Object:
    return PathObject(interp.tick(), _above(interp, path))


def _above(interp: Interpreter, path: str) -> str:
    return parent(interp, path) if folder_of(interp, path) is not None else str(PurePosixPath(path).parent)


def _parents(interp: Interpreter, path: str) -> Object:
    found: list[Object] = []
    while len(found) < MOST_PARENTS and _above(interp, path) != path:
        path = _above(interp, path)
        found.append(PathObject(interp.tick(), path))
    return tuple(found)


_PARTS: dict[str, Callable[[Interpreter, str], Object]] = {
    "parent": _parent,
    "parents": _parents,
    **{name: _pure(name) for name in ("name", "parts", "stem", "suffix", "suffixes")},
}


def _join(interp: Interpreter, path: str, arguments: list[Object], frame: Frame) -> Object:
    return make_path(interp, [path, *arguments])


def _resolved(interp: Interpreter, path: str, arguments: list[Object], frame: Frame) -> Object:
    if path.startswith("~"):
        return interp.unknown("path", not_none=True)
    if not path.startswith(("/", *SYMBOLS)):
        path = str(PurePosixPath(CWD, path))
    return PathObject(interp.tick(), normal(interp, path))


def _expanded(interp: Interpreter, path: str, arguments: list[Object], frame: Frame) -> Object:
    return interp.unknown("path", not_none=True) if path.startswith("~") else PathObject(interp.tick(), path)


def _asked(name: str) -> Callable[..., Object]:
    """Return a method that looks at texts alone; unknown where a symbol for a folder decides about its result."""

    def method(interp: Interpreter, path: str, arguments: list[Object], frame: Frame) -> Object:
        texts = [text_of_path(each) for each in arguments]
        pure = PurePosixPath(path)
        if is_symbolic(path, *texts):
            below = name.endswith("relative_to") and len(texts) == 1 and pure.is_relative_to(texts[0] or "/")
            known = below or (name.startswith("with_") and not is_symbolic(*texts))
        else:
            known = True
        if None in texts or not known:
            return interp.unknown("path", not_none=True)
        try:
            found = getattr(pure, name)(*texts)
        except (TypeError, ValueError) as error:
            raise Raised(type(error).__name__, str(error)) from None
        return PathObject(interp.tick(), str(found)) if isinstance(found, PurePosixPath) else found

    return method


def _written(interp: Interpreter, path: str, arguments: list[Object], frame: Frame) -> Object:
    overwrite(interp, path, frame.module)
    return interp.unknown("", not_none=True)


def _nothing(interp: Interpreter, path: str, arguments: list[Object], frame: Frame) -> Object:
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
