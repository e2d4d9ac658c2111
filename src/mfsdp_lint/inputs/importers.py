"""Files of a project that import a file: found in their text, without parsing them.

More are found than there are: a module may be imported from any root, and a text may only look like an import. The
evaluator that reads them decides.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.discover import written_folders
from mfsdp_lint.inputs.import_statements import imports_in
from mfsdp_lint.inputs.projects import repository_above, shown
from mfsdp_lint.inputs.sources import SIZE_LIMIT

MOST_FILES = 20_000
"""Python files that are looked at; a larger tree is no project but a disk."""

MOST_BYTES = 256 * 1024 * 1024
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
            module = (*_above(path, each.level), *parts)
            if module:
                yield module
            yield from ((*module, name) for name in each.names if "." not in name)
        else:
            yield from (parts[:end] for end in range(1, len(parts) + 1))


def _above(path: str, dots: int) -> Dotted:
    """Return the package that a number of dots means in a file; empty for no dots."""
    return Path(path).parts[:-dots] if dots else ()


def _module(path: str) -> Dotted:
    """Return the full name of a module, from the root of the disk."""
    folder, name = os.path.split(path)
    return Path(folder if name == "__init__.py" else path.removesuffix(".py")).parts
