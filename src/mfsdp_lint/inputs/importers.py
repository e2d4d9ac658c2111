"""Who imports a file, anywhere in its project: found in the text of other files, without parsing them.

More are found than there are: a module may be imported from any root, and a text may only look like an import. Whoever
reads them finds out.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.discover import written_folders
from mfsdp_lint.inputs.projects import repository_above, shown

MOST_FILES = 20_000
"""Python files that are looked at; a larger tree is no project but a disk."""

MOST_BYTES = 256 * 1024 * 1024
"""Of all of them together."""

Dotted = tuple[str, ...]
"""The name of a module, or the end of it: that of a file is its whole path."""

_NAME = re.compile(r"[A-Za-z_][\w.]*")
_IMPORTS = re.compile(
    r"""
    ^[ \t]*from[ \t]+(?P<dots>[. ]*)(?P<module>[\w.]*)[ \t]+import\b(?P<names>[^\n(]*(?:\([^)]*\))?)
    | ^[ \t]*import[ \t](?P<modules>.*)
    | \bimport_module\b(?P<named>.*)
    """,
    re.MULTILINE | re.VERBOSE,
)


class TooMany(Exception):
    """The project is too large to be searched."""


def importers(paths: Collection[str]) -> list[str]:
    """The Python files of the same projects that may import one of these, directly or through others, sorted.

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
        module = _module(pending.pop())
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
                    if number > MOST_FILES or size > MOST_BYTES:
                        disk.is_not_all()
                        raise TooMany
                    yield path


def _bytes(path: str) -> int | None:
    """The size of a regular file. A link is none, and a pipe would be waited for."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _imported(path: str) -> Iterator[Dotted]:
    """The modules that a file may import; what is named behind `from … import` may be one as well."""
    try:
        text = disk.read(path).decode("utf-8", "replace")
    except OSError:
        return
    for found in _IMPORTS.finditer(text):
        if found["modules"] is not None:
            for name in _NAME.findall(found["modules"]):
                parts = name.split(".")
                yield from (tuple(parts[:end]) for end in range(1, len(parts) + 1) if parts[end - 1])
        elif found["named"] is not None:
            # How the words make up a name is for the program to decide.
            yield from ((word,) for name in _NAME.findall(found["named"]) for word in name.split(".") if word)
        else:
            above = _above(path, found["dots"].count("."))
            module = (*above, *filter(None, found["module"].split(".")))
            if module:
                yield module
            yield from ((*module, name) for name in _NAME.findall(found["names"]) if "." not in name)


def _above(path: str, dots: int) -> Dotted:
    """The package that so many dots mean in a file; empty where there are none."""
    return Path(path).parts[:-dots] if dots else ()


def _module(path: str) -> Dotted:
    """The full name of a module, from the root of the disk."""
    folder, name = os.path.split(path)
    return Path(folder if name == "__init__.py" else path.removesuffix(".py")).parts
