"""Paths: `pathlib.Path`, and the folders and files that paths mean, as far as they lie in the tree that is read.

`__file__` begins with a symbol for its folder, `<DIR:3>`: where the tree will lie when the program runs is not known,
but which of its files a path names is. A path from the folder that the program is started in names a file of the tree
where only one is meant by it, from the folder of the code that says so or from one above.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePosixPath

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.values import CWD
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.projects import has_marker
from mfsdp_lint.inputs.sources import Unreadable
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.python.state.calling import LIBRARY, Model
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    SYMBOLS,
    DictObject,
    Frame,
    Module,
    Native,
    Object,
    PartlyKnown,
    PathObject,
    Unknown,
    is_symbolic,
)

_FOLDER = lazy_pattern(r"<DIR:(\d+)>")


def folder_of(interp: Interpreter, text: str) -> str | None:
    """Return the folder, or file, that a path which begins with a symbol means; None for any other path."""
    found = _FOLDER.match(text)
    if found is None:
        return None
    folder = next(name for name, number in interp.finder.folders.items() if number == int(found[1]))
    return os.path.normpath(os.path.join(folder, text[found.end() :].lstrip("/")))


def normal(interp: Interpreter, text: str) -> str:
    """Return a path without `.` and `..`, as far as that is possible."""
    found = folder_of(interp, text)
    if found is None:
        return posixpath.normpath(text) if not text.startswith(CWD) or ".." not in text else text
    start = _FOLDER.match(text)
    assert start is not None
    folder = folder_of(interp, start[0]) or ""
    inside = os.path.relpath(found, folder)
    if inside == ".":
        return start[0]
    return f"{start[0]}/{inside}" if not inside.startswith("..") else interp.finder.symbol(found)


def parent(interp: Interpreter, text: str) -> str:
    """Return the folder that a path lies in."""
    above = normal(interp, text)
    found = folder_of(interp, above)
    if found is not None and "/" not in above:
        return interp.finder.symbol(os.path.dirname(found))
    return posixpath.dirname(above) or "."


def located(interp: Interpreter, text: str, module: Module) -> tuple[str, ...]:
    """Return the places in the tree that a path in a module's code may mean; none where it leads out of the tree."""
    exact = folder_of(interp, text)
    here = os.path.abspath(os.path.dirname(module.path))
    if exact is not None:
        interp.dependencies.data.add(exact)
        return (exact,) if _in_tree(interp, exact, here) else ()
    inside = text.removeprefix(CWD).lstrip("/") if text.startswith(CWD) else text
    if not inside or inside.startswith(("/", "~", "<")) or "\0" in inside:
        return ()
    places = dict.fromkeys(os.path.normpath(os.path.join(folder, inside)) for folder in _tree_above(interp, here))
    interp.dependencies.data.update(places)
    return tuple(place for place in places if _in_tree(interp, place, here))


def _tree_above(interp: Interpreter, here: str) -> list[str]:
    """List a folder and those above it, up to the root of its project.

    Without one they go up to the folder that the tool is started in; if that lies elsewhere, it is the folder alone.
    """
    found = [here]
    while not has_marker(interp.finder.entries(found[-1]).__contains__):
        above = os.path.dirname(found[-1])
        if above == found[-1]:
            top = os.getcwd()
            return found[: found.index(top) + 1] if top in found else [here]
        found.append(above)
    return found


def _in_tree(interp: Interpreter, path: str, here: str) -> bool:
    top = disk.real(_tree_above(interp, here)[-1])
    return os.path.commonpath([top, disk.real(path)]) == top if "\0" not in path else False


def spelled(path: str, module: Module) -> str:
    """Spell a path in the tree as the user would write it: beside the path of a module."""
    folder = os.path.dirname(module.path)
    if os.path.isabs(folder):
        return path
    return os.path.normpath(os.path.join(folder, os.path.relpath(path, os.path.abspath(folder))))


def text_of(interp: Interpreter, text: str, module: Module) -> tuple[str, str] | None:
    """Return the file of the tree that a path means and its text; None where that is not known.

    Raises FileNotFoundError where every place in the tree that it can mean is empty.
    """
    places = located(interp, text, module)
    there = existing(interp, places, module)
    if places and not there:
        raise FileNotFoundError(text)
    if len(there) != 1 or there[0] in _overwritten(interp).fields:
        return None
    path = spelled(there[0], module)
    try:
        return path, interp.finder.sources.text(path)
    except Unreadable:
        return None


def existing(interp: Interpreter, places: Iterable[str], module: Module) -> list[str]:
    """Return the places with a file; the module uses each, were it only that it is there."""
    there = [place for place in places if interp.finder.sources.exists(place)]
    for place in there:
        interp.finder.ask(spelled(place, module), module.path)
    return there


def overwrite(interp: Interpreter, text: str, module: Module) -> None:
    """Mark a file that the program itself writes: its contents are not known from then on."""
    for place in located(interp, text, module):
        interp.put(_overwritten(interp), place, True)


def _overwritten(interp: Interpreter) -> DictObject:
    found: DictObject = interp.memo.setdefault("overwritten", DictObject({}, 0))
    return found


MOST_MATCHES = 200
_WILDCARD = lazy_pattern(r"[*?\[]")


def matching(interp: Interpreter, text: str, pattern: str, module: Module) -> list[str] | None:
    """List the paths below a folder of the tree that match a pattern, by name; None where they are not known.

    A program that finds none is not followed: what it looks for may be there when it runs.
    """
    places = located(interp, text, module)
    parts = pattern.split("/")
    if len(places) != 1 or folder_of(interp, text) is None or not pattern or pattern.startswith("/") or ".." in parts:
        return None
    found = list(_below(interp, places[0], parts, module))[: MOST_MATCHES + 1]
    if not found or len(found) > MOST_MATCHES:
        return None
    return [posixpath.join(text, *each) for each in sorted(dict.fromkeys(found))]


def like(interp: Interpreter, path: PartlyKnown, module: Module) -> list[str]:
    """List the files of the tree that a path may be of which a part of a name is not known, but not the whole name."""
    folder, slash, _ = path.said.partition(HOLE)[0].rpartition("/")
    parts = re.sub(f"{HOLE}+", "*", path.said[len(folder) + len(slash) :]).split("/")
    if ".." in parts or not re.search(r"\w", parts[-1]):
        return []
    for place in located(interp, folder or ".", module):
        found = [os.path.join(place, *names) for names in _below(interp, place, parts, module)][: MOST_MATCHES + 1]
        if found:
            return existing(interp, sorted(found), module)
    return []


def _below(interp: Interpreter, folder: str, parts: list[str], module: Module) -> Iterator[tuple[str, ...]]:
    first, rest = parts[0], parts[1:]
    if first == "**":
        yield from _below(interp, folder, rest or ["*"], module)
        for name in interp.finder.entries(folder).matching("*"):
            inside = os.path.join(folder, name)
            if not name.startswith(".") and disk.is_folder(inside):
                yield from ((name, *each) for each in _below(interp, inside, parts, module))
        return
    names = interp.finder.entries(folder).matching(first) if _WILDCARD.search(first) else [first]
    for name in names:
        if name.startswith(".") and not first.startswith("."):
            continue
        path = os.path.join(folder, name)
        if rest and disk.is_folder(path):
            yield from ((name, *each) for each in _below(interp, path, rest, module))
        elif not rest and (disk.is_folder(path) or existing(interp, [path], module)):
            yield (name,)


MOST_PARENTS = 16


def make_path(interp: Interpreter, parts: list[Object]) -> Object:
    """Return `Path(*parts)`; unknown where one of the parts is unknown."""
    known = [text_of_path(interp.settle(part)) for part in parts]
    texts = [text for text in known if text is not None]
    if len(texts) < len(known):
        if any(part is None or isinstance(part, (int, float)) for part in parts):
            raise Raised("TypeError", "argument should be a str or an os.PathLike object")
        made = PartlyKnown(interp.tick(), "/".join(_said(interp.settle(part)).rstrip("/") for part in parts))
        made.text = "path"
        if interp.tries_files:
            made.text = next((part.text for part in parts if isinstance(part, Unknown) and part.text), made.text)
            made.fields.update({name: reading(name, made) for name in READS_FILE})
        return made
    rooted = [index for index, text in enumerate(texts) if text.startswith(SYMBOLS)]
    return PathObject(interp.tick(), str(PurePosixPath(*texts[rooted[-1] if rooted else 0 :])))


def _said(part: Object) -> str:
    return part.said if isinstance(part, PartlyKnown) else text_of_path(part) or HOLE


READS_FILE = ("open", "read_text")


def reading(name: str, path: Object) -> Native:
    """Return a method of a path that is not known, which may turn out to be a file of the tree."""

    def model(interp: Interpreter, call: Call) -> Object:
        return LIBRARY[_AS_FUNCTION[name]](interp, call.passing([path, *call.arguments], call.keywords))

    return Native(f"pathlib.Path.{name}", model)


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


_SAME = ("resolve", "absolute", "expanduser", "as_posix", "__str__", "__fspath__")
"""Methods of a path whose result ends as the path does."""


def part_of_path(interp: Interpreter, value: PartlyKnown, name: str) -> Object:
    """Return a method of a path of which a part is known; MISSING where nothing is known of its result."""
    if name in _SAME:
        return Native(f"pathlib.Path.{name}", lambda interp, call: value)
    if name == "joinpath":
        return Native(f"pathlib.Path.{name}", lambda interp, call: make_path(interp, [value, *call.arguments]))
    return MISSING


_AS_FUNCTION = {
    "open": "builtins.open",
    "exists": "os.path.exists",
    "is_file": "os.path.isfile",
    "is_dir": "os.path.isdir",
    "read_text": "pathlib.Path.read_text",
    "write_text": "pathlib.Path.write_text",
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
    return at_home(interp, path) if path.startswith("~") else PathObject(interp.tick(), path)


def at_home(interp: Interpreter, path: str) -> Object:
    """Return a path that begins with `~` as it is below the home folder of whoever runs the program."""
    return make_path(interp, [interp.unknown("home", not_none=True), path.partition("/")[2]])


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
    "write_bytes": _written,
    "unlink": _written,
    "mkdir": _nothing,
}
