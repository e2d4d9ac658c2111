"""Paths → the files to read, and the kind of each."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.filetypes import FileTypes
from mfsdp_lint.inputs.globs import matches, normalised
from mfsdp_lint.inputs.ignored import Ignored
from mfsdp_lint.inputs.sources import Problem, reason

SKIPPED = frozenset(
    {"__pycache__", "__pypackages__", "_build", "build", "dist", "node_modules", "site-packages", "venv", "virtualenv"}
)
"""Directories whose content nobody wrote by hand; hidden ones (.git, .venv, .tox, …) are skipped as well."""


@dataclass(frozen=True, slots=True, order=True)
class File:
    """A file to read. `path` is as the user would write it: beginning with the argument it was found under.

    `kind` is the name of its type, and so of the reader that reads it.
    """

    path: str
    kind: str


@dataclass(frozen=True, slots=True)
class Discovered:
    """What was found, both sorted: the result does not depend on the order of the arguments."""

    files: list[File]
    problems: list[Problem]


def is_skipped(name: str) -> bool:
    """Whether a directory of this name is not entered."""
    return name.startswith(".") or name in SKIPPED or name.endswith(".egg-info")


def discover(
    paths: Iterable[str], types: FileTypes, exclude: Sequence[str] = (), *, gitignore: bool = True
) -> Discovered:
    """Every file of these types that is named or lies under a named directory, each once.

    A file that is named is always taken. Under a directory, hidden entries, SKIPPED, virtual environments, what git
    ignores (if `gitignore` says so) and what matches a glob of `exclude` are left out; a glob without a slash is
    compared with every name on the way, one with a slash with the path from the working directory. Links are followed
    once, and only to what lies under one of the paths: who asked for a folder has not asked for the disk. Where a file
    can be reached in several ways, the path without links, then the shortest, is kept. Pipes, sockets and devices are
    no files; one that is named is told.

    A path that is not there, or a named file of another kind, is a problem of kind "usage"; a link that leads
    nowhere and what cannot be opened, one of kind "unreadable".
    """
    every = sorted(set(paths))
    globs = tuple(map(normalised, exclude))
    walk = _Walk(types, every, globs, Ignored() if gitignore else None)
    for path in every:
        walk.argument(path)
    found = [(path, types.of(path)) for _, _, path in walk.found.values()]
    return Discovered(sorted(File(path, type_.name) for path, type_ in found if type_), sorted(walk.problems))


class _Walk:
    """One walk over all arguments."""

    def __init__(
        self, types: FileTypes, paths: Sequence[str], exclude: tuple[str, ...], ignored: Ignored | None
    ) -> None:
        self.types = types
        self.roots = {disk.real(path) for path in paths if "\0" not in path}
        self.exclude = exclude
        self.ignored = ignored
        self.found: dict[str, tuple[bool, int, str]] = {}
        """By real path: through a link?, length, and the path; the smallest is kept."""
        self.problems: set[Problem] = set()
        self.reals: dict[str, str] = {}

    def argument(self, path: str) -> None:
        shown = path.replace(os.sep, "/")
        try:
            mode = disk.mode(path)
        except (OSError, ValueError) as error:
            dangling = isinstance(error, OSError) and disk.is_link(path)
            kind: Literal["usage", "unreadable"] = "usage"
            if dangling or isinstance(error, PermissionError):
                kind = "unreadable"
            hint = _nearest_name(path) if isinstance(error, FileNotFoundError) and not dangling else ""
            self.problems.add(Problem(shown, 1, 1, reason(path, error) + hint, kind))
            return
        if stat.S_ISDIR(mode):
            self.directory("" if os.path.normpath(path) == "." else shown.rstrip("/") or "/")
        elif self.types.of(shown) is None:
            message = f"not a kind of file this tool reads ({self.types})"
            self.problems.add(Problem(shown, 1, 1, message, "usage"))
        elif not stat.S_ISREG(mode):
            self.problems.add(Problem(shown, 1, 1, "not a regular file"))
        else:
            self.file(shown, linked=disk.is_link(path))

    def file(self, path: str, linked: bool) -> None:
        # Many files share a folder, and following each part of its path takes a while.
        folder, name = os.path.split(path)
        real = disk.real(path) if linked else os.path.join(self.real(folder), name)
        best = (linked, len(path), path)
        self.found[real] = min(self.found.get(real, best), best)

    def real(self, folder: str) -> str:
        if folder not in self.reals:
            self.reals[folder] = disk.real(folder or ".")
        return self.reals[folder]

    def directory(self, root: str) -> None:
        """All below `root`. Directories behind links come last, so that what has a real path here gets that one."""
        linked = disk.is_link(root)
        if self.ignored:
            self.ignored.walk(root)
        visited: set[str] = set()
        now, later = [root], list[str]()
        while now:
            directory = now.pop()
            real = self.real(directory)
            if real not in visited:
                visited.add(real)
                for path, is_link in self.entries(directory, linked, named=directory == root):
                    (later if is_link else now).append(path)
            if not now and later:
                linked = True
                # One at a time: what lies below the first is then no longer new below the next.
                later.sort(key=lambda path: (-len(path), path))
                now = [later.pop()]

    def entries(self, directory: str, linked: bool, named: bool) -> Iterator[tuple[str, bool]]:
        """Takes the files of a directory, and yields its subdirectories and whether each is a link."""
        try:
            entries = disk.entries(directory)
        except OSError as error:
            self.problems.add(Problem(directory or ".", 1, 1, reason(directory, error)))
            return
        if not named and any(entry.name == "pyvenv.cfg" for entry in entries):
            return
        for entry in entries:
            if entry.name.startswith("."):
                continue
            path = f"{directory.rstrip('/')}/{entry.name}" if directory else entry.name
            if self.excluded(path):
                continue
            if entry.is_link and self.leads_out(path):
                continue
            if entry.error is not None:
                if self.types.of(path):
                    self.problems.add(Problem(path, 1, 1, reason(path, entry.error)))
                continue
            is_directory = entry.kind == "folder"
            if is_skipped(entry.name) if is_directory else not (self.types.of(path) and entry.kind == "file"):
                continue
            if self.ignored and self.ignored(directory, entry.name, is_directory):
                continue
            if is_directory:
                yield path, entry.is_link
            else:
                self.file(path, linked or entry.is_link)

    def leads_out(self, link: str) -> bool:
        """Whether a link ends somewhere that nobody asked for; one that ends nowhere is told elsewhere."""
        there = disk.real(link)
        if there in self.roots or not disk.exists(there):
            return False
        above = os.path.dirname(there)
        while above not in self.roots:
            if above == os.path.dirname(above):
                return True
            above = os.path.dirname(above)
        return False

    def excluded(self, path: str) -> bool:
        return matches(path, self.exclude)


def written_folders(root: str) -> Iterator[tuple[str, list[str]]]:
    """A project's folder and those below it that people write, each with the names of its regular files.

    Hidden folders, those that nobody writes by hand, environments, and links are not entered.
    """
    for folder, folders, names in disk.walk(root):
        if folder != root and "pyvenv.cfg" in names:
            folders.clear()
            continue
        folders[:] = [each for each in folders if not is_skipped(each)]
        yield folder, names


def _nearest_name(path: str) -> str:
    """What the last part of a path that is not there may have meant, where its folder is."""
    from mfsdp_lint.core.nearest import nearest

    folder, name = os.path.split(path.rstrip("/"))
    try:
        names = sorted(entry.name for entry in disk.entries(folder or "."))
    except (OSError, ValueError):
        return ""
    # What files end in makes them no more alike.
    by_stem = {os.path.splitext(each)[0]: each for each in names}
    meant = nearest(os.path.splitext(name)[0], by_stem, cutoff=0.7)
    return f"; did you mean {by_stem[meant[0]]}?" if meant else ""
