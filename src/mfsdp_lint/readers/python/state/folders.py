"""The folders and files that a program's paths mean, as far as they lie in the tree that is read.

`__file__` begins with a symbol for its folder, `<DIR:3>`: where the tree will lie when the program runs is not known,
but which of its files a path names is. A path from the folder that the program is started in names a file of the tree
where only one is meant by it, from the folder of the code that says so or from one above.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator

from mfsdp_lint.core.values import CWD
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.projects import has_marker
from mfsdp_lint.inputs.sources import Unreadable
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.values.modules import Module

_FOLDER = re.compile(r"<DIR:(\d+)>")


def symbol(interp: Interpreter, folder: str) -> str:
    """Return the symbol that represents a folder."""
    folders = interp.finder.folders
    return f"<DIR:{folders.setdefault(os.path.abspath(folder), len(folders))}>"


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
    return f"{start[0]}/{inside}" if not inside.startswith("..") else symbol(interp, found)


def parent(interp: Interpreter, text: str) -> str:
    """Return the folder that a path lies in."""
    above = normal(interp, text)
    found = folder_of(interp, above)
    if found is not None and "/" not in above:
        return symbol(interp, os.path.dirname(found))
    return posixpath.dirname(above) or "."


def located(interp: Interpreter, text: str, module: Module) -> tuple[str, ...]:
    """Return the places in the tree that a path in a module's code may mean; none where it leads out of the tree."""
    exact = folder_of(interp, text)
    here = os.path.abspath(os.path.dirname(module.path))
    if exact is not None:
        return (exact,) if _in_tree(interp, exact, here) else ()
    inside = text.removeprefix(CWD).lstrip("/") if text.startswith(CWD) else text
    if not inside or inside.startswith(("/", "~", "<")) or "\0" in inside:
        return ()
    places = (os.path.normpath(os.path.join(folder, inside)) for folder in _tree_above(interp, here))
    return tuple(dict.fromkeys(place for place in places if _in_tree(interp, place, here)))


def _tree_above(interp: Interpreter, here: str) -> list[str]:
    """List a folder and those above it, up to the root of its project.

    Without one they go up to the folder that the tool is started in; if that lies elsewhere, it is the folder alone.
    """
    found = [here]
    while not _has_marker(interp, found[-1]):
        above = os.path.dirname(found[-1])
        if above == found[-1]:
            top = os.getcwd()
            return found[: found.index(top) + 1] if top in found else [here]
        found.append(above)
    return found


def _has_marker(interp: Interpreter, folder: str) -> bool:
    return has_marker(interp.finder.entries(folder).__contains__)


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
    there = [place for place in places if interp.finder.sources.exists(place)]
    if places and not there:
        raise FileNotFoundError(text)
    if len(there) != 1 or ("overwritten", there[0]) in interp.memo:
        return None
    path = spelled(there[0], module)
    interp.finder.users.setdefault(path, set()).add(module.path)
    try:
        return path, interp.finder.sources.text(path)
    except Unreadable:
        return None


def overwrite(interp: Interpreter, text: str, module: Module) -> None:
    """Mark a file that the program itself writes: its contents are not known from then on."""
    for place in located(interp, text, module):
        interp.memo["overwritten", place] = True


MOST_MATCHES = 200
_WILDCARD = re.compile(r"[*?\[]")


def matching(interp: Interpreter, text: str, pattern: str, module: Module) -> list[str] | None:
    """List the paths below a folder of the tree that match a pattern, by name; None where they are not known.

    A program that finds none is not followed: what it looks for may be there when it runs.
    """
    places = located(interp, text, module)
    parts = pattern.split("/")
    if len(places) != 1 or folder_of(interp, text) is None or not pattern or pattern.startswith("/") or ".." in parts:
        return None
    found = list(_below(interp, places[0], parts))[: MOST_MATCHES + 1]
    if not found or len(found) > MOST_MATCHES:
        return None
    return [posixpath.join(text, *each) for each in sorted(dict.fromkeys(found))]


def _below(interp: Interpreter, folder: str, parts: list[str]) -> Iterator[tuple[str, ...]]:
    first, rest = parts[0], parts[1:]
    if first == "**":
        yield from _below(interp, folder, rest or ["*"])
        for name in interp.finder.entries(folder).matching("*"):
            inside = os.path.join(folder, name)
            if not name.startswith(".") and disk.is_folder(inside):
                yield from ((name, *each) for each in _below(interp, inside, parts))
        return
    names = interp.finder.entries(folder).matching(first) if _WILDCARD.search(first) else [first]
    for name in names:
        if name.startswith(".") and not first.startswith("."):
            continue
        path = os.path.join(folder, name)
        if rest and disk.is_folder(path):
            yield from ((name, *each) for each in _below(interp, path, rest))
        elif not rest and (disk.is_folder(path) or interp.finder.sources.exists(path)):
            yield (name,)
