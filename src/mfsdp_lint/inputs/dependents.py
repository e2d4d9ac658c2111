"""Files of a project that import a file, and launch scripts that may start a recipe: found in their text, unparsed.

More are found than there are: a module may be imported from any root, and a text may only look like an import or a
launch. The evaluator, or the reader, that reads them decides.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.discover import written_folders
from mfsdp_lint.inputs.filetypes import FileType
from mfsdp_lint.inputs.imports import imports_in
from mfsdp_lint.inputs.projects import is_project, repository_above, shown
from mfsdp_lint.inputs.sources import SIZE_LIMIT

MOST_FILES = 20_000
"""Python files that are looked at; a larger tree is no project but a disk."""

MOST_BYTES_OF_ALL = 256 * 1024 * 1024
"""Of all of them together."""

Dotted = tuple[str, ...]
"""The name of a module, or the end of it: that of a file is its whole path."""


class TooMany(Exception):
    """The project is too large to be searched."""


def importers(paths: Collection[str]) -> list[str]:
    """Return the Python files of the same projects that may import one of these, directly or through others, sorted.

    Hidden folders, those that nobody writes by hand, and links are not entered. Raises TooMany.
    """
    wanted = {disk.real(path) for path in paths}
    roots = {root for path in wanted if (root := repository_above(os.path.dirname(path)))}
    users: dict[str, set[tuple[Dotted, str]]] = {}
    for path in _python_files(roots):
        for name in _imported(path):
            users.setdefault(name[-1], set()).add((name, path))
    found: set[str] = set()
    pending = list(wanted)
    while pending:
        module = _module_name(pending.pop())
        more = {path for name, path in users.get(module[-1], ()) if module[-len(name) :] == name} - found - wanted
        found |= more
        pending += more
    return sorted(map(shown, found))


def _python_files(roots: Iterable[str]) -> Iterator[str]:
    number = size = 0
    for root in sorted(roots):
        for folder, names in written_folders(root):
            for name in names:
                path = os.path.join(folder, name)
                if name.endswith(".py") and not name.startswith(".") and (bytes_ := _bytes(path)) is not None:
                    number += 1
                    size += bytes_
                    if number > MOST_FILES or size > MOST_BYTES_OF_ALL:
                        disk.is_not_all()
                        raise TooMany
                    yield path


def _bytes(path: str) -> int | None:
    """Return the size of a regular file; None for links and for pipes, on which a reader would wait."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _imported(path: str) -> Iterator[Dotted]:
    """Yield the modules that a file may import; a name behind `from … import` may be a module as well."""
    try:
        text = disk.read(path, SIZE_LIMIT).decode("utf-8", "replace")
    except OSError:
        return
    for each in imports_in(text):
        parts = tuple(filter(None, each.module.split(".")))
        if each.words:
            # How the words make up a name is for the program to decide.
            yield from ((word,) for word in each.words)
        elif each.names:
            package = Path(path).parts[: -each.level] if each.level else ()  # as many folders up as there are dots
            module = (*package, *parts)
            if module:
                yield module
            yield from ((*module, name) for name in each.names if "." not in name)
        else:
            yield from (parts[:end] for end in range(1, len(parts) + 1))


def _module_name(path: str) -> Dotted:
    """Return the full name of a module, from the root of the disk."""
    folder, name = os.path.split(path)
    return Path(folder if name == "__init__.py" else path.removesuffix(".py")).parts


MOST_FOLDERS = 5_000
"""Folders that are looked into; a larger tree is no project but a disk."""

MOST_BYTES = SIZE_LIMIT
"""Of a script; a longer one is not read."""

_DEFINED = re.compile(r"^def (\w+)", re.MULTILINE)
_WORD = re.compile(r"\w+")

_CONVERTS = "convert-torch-dist-to-fsdp-dtensor"
_LOADS = re.compile(r"--load\b")


def launchers(paths: Sequence[str], type_: FileType, too_large: set[str] | None = None) -> list[str]:
    """Return the scripts of this type, in the projects of these files, that name a file or a function in it, sorted.

    Hidden folders, and those that nobody writes by hand, are not entered; outside of any project, no folder is.
    `too_large` receives the projects that were not searched to their end.
    """
    names = frozenset(name for path in paths for name in _words_for(path))
    known = {disk.real(path) for path in paths}
    roots = {repository_above(os.path.dirname(path)) for path in known}
    found = (path for root in sorted(roots) for path in _scripts(root, type_, too_large) if path not in known)
    return sorted({shown(path) for path in found if not names.isdisjoint(_WORD.findall(_text(path)))})


def loading(paths: Iterable[str], type_: FileType, too_large: set[str] | None = None) -> list[str]:
    """Return the scripts of this type, in the projects of these files, that may load files that one of them converts.

    The search is that of `launchers`.
    """
    converting = {disk.real(path) for path in paths if _CONVERTS in _text(path)}
    roots = {repository_above(os.path.dirname(path)) for path in converting}
    found = (path for root in sorted(roots) for path in _scripts(root, type_, too_large) if path not in converting)
    return sorted({shown(path) for path in found if _LOADS.search(_text(path))})


def _words_for(path: str) -> Iterator[str]:
    """Yield the words by which a launch may name a file, or a recipe in it."""
    stem, suffix = os.path.splitext(os.path.basename(path))
    if stem == "__main__":
        yield os.path.basename(os.path.dirname(disk.real(path)))
    elif stem != "__init__":  # a package is not what is started
        yield stem
    if suffix == ".py":
        yield from _DEFINED.findall(_text(path))


def _text(path: str) -> str:
    try:
        return disk.read(path, MOST_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def _scripts(root: str, type_: FileType, too_large: set[str] | None) -> Iterable[str]:
    for number, (folder, names) in enumerate(written_folders(root)):
        if number and not is_project(root):
            return  # as it will another time: every folder up to here is looked at again
        if number > MOST_FOLDERS:
            if too_large is not None:
                too_large.add(shown(root))
            return
        paths = (os.path.join(folder, name) for name in names if not name.startswith("."))
        yield from (path for path in paths if type_.is_named(path))
