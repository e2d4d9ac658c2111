"""Texts of a repository that have some words, in whatever language: whoever uses a piece of a text says its name."""

from __future__ import annotations

import os
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.dependents import MOST_BYTES_OF_ALL, MOST_FILES, TooMany, size_of
from mfsdp_lint.inputs.discover import PROSE, is_under, written_folders, written_links
from mfsdp_lint.inputs.projects import is_project, repository_above, shown

_MOST_BYTES = 1 << 20
"""Of a file; a longer one is data."""


_OF_UTF_16 = (BOM_UTF16_LE, BOM_UTF16_BE)

QUOTING = (
    ".txt", ".lock", ".patch", ".diff", ".md", ".mdx", ".markdown", ".rst", ".adoc", ".asciidoc", ".org", ".qmd",
)  # fmt: skip
"""Endings of prose that may quote a file: its digest, lines of it, a value, or a command with it."""

LINK = "\0"
"""Beginning of the text of a link, which goes on with the path that it leads to."""


class Mentions:
    """The texts of the repositories that the edited files lie in, each read when it is first asked for; the text of a
    link says where it leads (see LINK).

    A repository is searched for a word once, whoever asks.
    """

    def __init__(self) -> None:
        self._texts: dict[str, dict[str, str]] = {}
        self._having: dict[tuple[str, str], dict[str, str]] = {}
        self._shown: dict[str, str] = {}

    def files(self, path: str, words: Collection[str], *, quoting: bool = False) -> Mapping[str, str]:
        """Return the other files of a file's repository that have every one of these words, with their texts.

        Outside of any repository, the files below the working directory are asked, if the file is there; of a
        repository within the one that is worked in, all of that. Files of QUOTING are left out without `quoting`.
        Raises TooMany.
        """
        own = disk.real(path)
        root = _root(own)
        found = self._of(root)
        for word in words:
            having = self._with(root, word)
            found = {other: text for other, text in found.items() if other in having}
        return {
            self._shown[other]: text
            for other, text in found.items()
            if other != own and (quoting or not other.endswith(QUOTING))
        }

    def _with(self, root: str, word: str) -> dict[str, str]:
        """Return the files of a repository that have a word."""
        if (root, word) not in self._having:
            whole = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
            texts = self._of(root).items()
            self._having[root, word] = {path: text for path, text in texts if word in text and whole.search(text)}
        return self._having[root, word]

    def _of(self, root: str) -> dict[str, str]:
        if root not in self._texts:
            self._texts[root] = dict(_texts(root))
            self._shown |= {path: shown(path) for path in self._texts[root]}
        return self._texts[root]


@lru_cache(maxsize=256)
def uncommented(text: str) -> str:
    """Return a text without the comments that begin with `#`, as far as its lines show; lines stay where they are."""
    return _COMMENT.sub(lambda found: found[1] or "", text)


_COMMENT = lazy_pattern(r"^([ \t]*)#(?![!%]).*|(?<=[\w)\]}\"'])([ \t]+)#[ \t].*", re.MULTILINE)


def _root(path: str) -> str:
    folder = os.path.dirname(path)
    root, here = repository_above(folder), disk.real(os.curdir)
    if is_project(root):
        around = repository_above(here)
        return around if is_under(root, around) and is_project(around) else root
    return here if root.startswith(os.path.join(here, "")) else root


def _texts(root: str) -> Iterator[tuple[str, str]]:
    yield from ((link, f"{LINK}{disk.real(link)}") for link in written_links(root))
    number = size = 0
    for folder, names in written_folders(root):
        for name in names:
            if name.endswith(PROSE) and not name.endswith(QUOTING):
                continue
            path = os.path.join(folder, name)
            length = size_of(path)
            if not length or length > _MOST_BYTES:
                continue
            number, size = number + 1, size + length
            if number > MOST_FILES or size > MOST_BYTES_OF_ALL:
                disk.is_not_all()
                raise TooMany
            try:
                data = disk.read(path, _MOST_BYTES)
            except (OSError, ValueError):
                continue
            # (PowerShell and editors for Windows write UTF-16.)
            encoding = "utf-16" if data.startswith(_OF_UTF_16) else "utf-8"
            if b"\0" not in data or encoding == "utf-16":
                yield path, data.decode(encoding, "replace")
