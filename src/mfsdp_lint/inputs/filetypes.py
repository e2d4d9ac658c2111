"""Kinds of files, and what each is known by: its name, its first line, its content. Which there are the readers say."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs import disk

HEAD = 1 << 16
"""Bytes of a file that are looked at where its name does not decide."""


PROSE = (".md", ".rst", ".txt", ".html", ".svg", ".csv", ".lock", ".log", ".out", ".err", ".diff", ".patch", ".tex")
"""Texts that nothing is run from."""


@dataclass(frozen=True, slots=True)
class FileType:
    """A kind of file.

    `name` is what the tool calls it by, `called` what a message does ("a Python file"). A file is of the kind if it has
    one of the `suffixes` or `names`, or if nobody knows its name and its `first_line` matches. Where `content` is given
    the beginning of the file has to match as well: so several kinds can share a suffix. With `unnamed` that is enough,
    for a file that is no prose and whose name nobody knows.

    `functions`: whether an address can name a function of it; `imports`: whether it imports packages, as Python does;
    `launches`: whether it starts what files of other kinds configure.
    """

    name: str
    called: str
    suffixes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    first_line: re.Pattern[str] | None = None
    content: re.Pattern[str] | None = None
    functions: bool = False
    imports: bool = False
    launches: bool = False
    unnamed: bool = False

    def is_named(self, path: str) -> bool:
        """Tell whether a file of this name may be of this type."""
        return os.path.splitext(path)[1] in self.suffixes or os.path.basename(path) in self.names


class FileTypes:
    """The kinds of files that are read. Of two that take a file the first counts."""

    def __init__(self, types: Iterable[FileType]) -> None:
        self._types = tuple(types)

    def __str__(self) -> str:
        """List the suffixes and names of all types, for a message."""
        return ", ".join(name for each in self._types for name in (*each.suffixes, *each.names))

    def of(self, path: str, text: str | None = None) -> FileType | None:
        """Return the type of a file; None where it is of none.

        Only a file whose name does not decide is opened, unless its `text` is given.
        """
        named = [each for each in self._types if each.is_named(path)]
        if named and named[0].content is None:
            return named[0]
        if not named and not any(each.first_line for each in self._types):
            return None
        head = _head(path) if text is None else text[:HEAD]
        if named:
            return next((each for each in named if each.content is None or each.content.search(head)), None)
        first = head.partition("\n")[0]
        found = next((each for each in self._types if each.first_line and each.first_line.match(first)), None)
        if found is None and os.path.splitext(path)[1] not in PROSE and "\0" not in head:
            found = next(
                (each for each in self._types if each.unnamed and each.content and each.content.search(head)), None
            )
        return found


def _head(path: str) -> str:
    """Read the beginning of a file; "" where it cannot be read."""
    try:
        # Opening a pipe would wait.
        return disk.read(path, HEAD).decode("utf-8", "replace") if disk.is_file(path) else ""
    except (OSError, ValueError):
        return ""
