"""Who imports a file, anywhere in its project: found by its name in the text of other files, without parsing them.

More are found than there are, for a name is a word like others; whoever reads them finds out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator

from mfsdp_lint.inputs.discover import is_skipped

MARKERS = (".git", "pyproject.toml", "setup.py", "setup.cfg")
"""What the root folder of a project has."""

MOST_FILES = 20_000
"""Python files that are looked at; a larger tree is no project but a disk."""

MOST_BYTES = 256 * 1024 * 1024
"""Of all of them together."""

_WORD = re.compile(rb"[A-Za-z_]\w*")
_IMPORTS = re.compile(rb"^[ \t]*(?:from|import)[ \t][^\n(]*(?:\([^)]*\))?|\bimport_module\b.*", re.MULTILINE)


class TooMany(Exception):
    """The project is too large to be searched."""


def importers(paths: Collection[str]) -> list[str]:
    """The Python files of the same projects that may import one of these, directly or through others, sorted.

    Hidden folders, those that nobody writes by hand, and links are not entered. Raises TooMany.
    """
    wanted = {os.path.realpath(path) for path in paths}
    roots = {root for path in wanted if (root := _root(os.path.dirname(path)))}
    users: dict[str, set[str]] = {}
    for path in _python_files(roots):
        for word in _imported(path):
            users.setdefault(word, set()).add(path)
    found: set[str] = set()
    pending = list(wanted)
    while pending:
        more = users.get(_module(pending.pop()), set()) - found - wanted
        found |= more
        pending += more
    return sorted(map(_shown, found))


def _root(folder: str) -> str | None:
    """The nearest folder above that is the root of a repository, else of a project; the folder itself where none is."""
    above = [folder]
    while (parent := os.path.dirname(above[-1])) != above[-1]:
        above.append(parent)
    for markers in (MARKERS[:1], MARKERS[1:]):
        for each in above:
            if any(os.path.exists(os.path.join(each, marker)) for marker in markers):
                return each
    return folder


def _python_files(roots: Iterable[str]) -> Iterator[str]:
    number = size = 0
    for root in sorted(roots):
        for folder, folders, names in os.walk(root):
            if folder != root and "pyvenv.cfg" in names:
                folders.clear()
                continue
            folders[:] = [each for each in folders if not is_skipped(each)]
            for name in names:
                path = os.path.join(folder, name)
                if name.endswith(".py") and not name.startswith(".") and not os.path.islink(path):
                    number += 1
                    size += os.path.getsize(path)
                    if number > MOST_FILES or size > MOST_BYTES:
                        raise TooMany
                    yield path


def _imported(path: str) -> set[str]:
    """Every word of a file's import statements."""
    try:
        with open(path, "rb") as file:
            text = file.read()
    except OSError:
        return set()
    return {word.decode("ascii", "replace") for part in _IMPORTS.findall(text) for word in _WORD.findall(part)}


def _module(path: str) -> str:
    """The last word of a module's name."""
    folder, name = os.path.split(path)
    return os.path.basename(folder) if name == "__init__.py" else name.removesuffix(".py")


def _shown(path: str) -> str:
    relative = os.path.relpath(path)
    return (path if relative.startswith("..") else relative).replace(os.sep, "/")
