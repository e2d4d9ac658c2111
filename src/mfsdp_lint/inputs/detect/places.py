"""Places to look at: the folders of the linted paths and those above them, up to the repository's root."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.inputs import disk

LARGEST = 16 * 1024 * 1024
"""Bytes. A lock file of a large project has two million; what is larger than this is something else."""


@dataclass(slots=True)
class Places:
    """The folders to look into, nearest first, and what was seen there. `search_path` are the options' folders.

    Only these folders are listed, never what is below them, and each only once.
    """

    folders: tuple[str, ...]
    search_path: tuple[str, ...] = ()
    remarks: list[str] = field(default_factory=list)
    _listed: dict[str, disk.Listing] = field(default_factory=dict)

    def files(self, *patterns: str, below: Sequence[str] = ("",)) -> Iterator[str]:
        """Yield the files of these names in every folder (or its subfolders `below`), by folder, pattern and name."""
        for folder in self.folders:
            for inner in below:
                where = os.path.join(folder, inner) if inner else folder
                for pattern in patterns:
                    yield from (join(where, name) for name in self.names(where, pattern))

    def names(self, folder: str, pattern: str) -> list[str]:
        """Return the names in a folder that match a shell pattern, sorted; none where it cannot be listed."""
        if folder not in self._listed:
            self._listed[folder] = disk.Listing(folder)
        return self._listed[folder].matching(pattern)

    def text(self, path: str) -> str:
        """Return the text of a file.

        Empty, with a remark, where it cannot be read; empty for a path that is no plain file, or a file that is too
        large.
        """
        try:
            content = disk.read(path, LARGEST + 1) if disk.is_file(path) else b""
            return "" if len(content) > LARGEST else _text(content)
        except OSError as error:
            self.remarks.append(f"{path}: {error.strerror or error}: not asked for versions")
            return ""


def _text(content: bytes) -> str:
    return "\n".join(content.decode("utf-8", "replace").replace("\r\n", "\n").split("\r"))


def places(paths: Sequence[str], search_path: Sequence[str] = ()) -> Places:
    """Return the places for the paths that a run was asked to lint."""
    folders = dict.fromkeys(folder for path in paths for folder in _upwards(path))
    return Places(tuple(folders), tuple(search_path))


def join(folder: str, name: str) -> str:
    """Join a path as people read it: relative ones have no leading `./`."""
    return os.path.normpath(os.path.join(folder, name))


def _upwards(path: str) -> Iterator[str]:
    """Yield the folder of a path, then those above it up to the repository's root; without a repository, up to here.

    Where the path lies in a `megatron` package, the folder of that package counts as well.
    """
    folder = path if disk.is_folder(path) else os.path.dirname(path)
    start = os.path.abspath(folder)
    chain = [start]
    while os.path.dirname(chain[-1]) != chain[-1]:
        chain.append(os.path.dirname(chain[-1]))
    yield _shown(start)
    package = next((i for i, each in enumerate(chain) if os.path.basename(each) == "megatron"), None)
    if package is not None:
        yield _shown(chain[package + 1])
    here = os.path.abspath(os.curdir)
    root = next((i for i, each in enumerate(chain) if disk.exists(os.path.join(each, ".git"))), None)
    if root is None and here in chain:
        root = chain.index(here)
    yield from (_shown(each) for each in chain[1 : (root or 0) + 1])


def _shown(folder: str) -> str:
    """Return the folder relative to here where that is shorter to read."""
    try:
        relative = os.path.relpath(folder)
    except ValueError:  # another drive
        return folder
    return folder if relative.count(os.pardir) > 3 else relative
