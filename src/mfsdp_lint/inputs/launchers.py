"""Launch scripts that may start a recipe, anywhere in its project: found by words of their text, without parsing them.

More are found than there are; whoever reads them finds out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.discover import written_folders
from mfsdp_lint.inputs.filetypes import FileType
from mfsdp_lint.inputs.projects import is_project, repository_above, shown
from mfsdp_lint.inputs.sources import SIZE_LIMIT

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
    names = frozenset(name for path in paths for name in _names(path))
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


def _names(path: str) -> Iterator[str]:
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
