"""Paths → the files to read, and the kind of each: by its name, its first line, its content. Which kinds there are the
readers say.

Two kinds of patterns leave files out: globs of the configuration or the command line, and git's, of the `.gitignore`
files from the root of a repository down to a folder, and of `.git/info/exclude`.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.sources import Problem, reason

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


def normalised(pattern: str) -> str:
    """Normalise a pattern: `./old/` and `old/**` are `old`."""
    return pattern.removeprefix("./").removesuffix("/**").rstrip("/")


def beside(file: str, pattern: str) -> str:
    """Return the glob of a file for use in any folder: a glob with a slash is relative to the file's own folder."""
    from glob import escape

    bare = normalised(pattern)
    if "/" not in bare or os.path.isabs(bare):
        return pattern
    folder = os.path.dirname(os.path.abspath(file)).replace(os.sep, "/").rstrip("/")
    return f"{escape(folder)}/{bare}"


def is_excluded(path: str, patterns: Sequence[str]) -> bool:
    """Tell whether a path, or a folder on the way to it from here, matches."""
    bare = tuple(map(normalised, patterns))
    parts = path.replace(os.sep, "/").rstrip("/").split("/")
    ways = ("/".join(parts[: number + 1]) for number in range(len(parts)))
    return any(matches(way, bare) for way in ways if way not in ("", ".", ".."))


def matches(path: str, patterns: tuple[str, ...]) -> bool:
    """Tell whether one of the patterns (`normalised`) matches a path, or a folder that contains it by a full name.

    A glob without a slash is compared with the name, one with a slash with the path from the working directory and the
    absolute one; `**/` also matches no folder.
    """
    if not patterns:
        return False
    name = path.rpartition("/")[2]
    absolute = os.path.abspath(path).replace(os.sep, "/")
    relative = os.path.relpath(absolute).replace(os.sep, "/")
    ways = (relative, "/" + relative, absolute)
    return any(
        any(fnmatchcase(way, each) for way in ways for each in (pattern, pattern.replace("/**/", "/")))
        if "/" in pattern
        else fnmatchcase(name, pattern)
        for pattern in patterns
    )


FILES = (os.path.join(".git", "info", "exclude"), ".gitignore")
"""Where a folder has patterns; those of the later file win."""

MOST_STARS = 4
"""Of `*` in one part of a pattern, and of `**/`. Each multiplies the ways to match: with six a long name takes minutes,
and git itself hangs. Below that a name takes a quarter of a second at most."""

_NO_PATTERN = (ValueError, re.error)


class _Patterns:
    """The lines of a file with patterns, for what is in and below a folder (its absolute path)."""

    def __init__(self, folder: str, lines: Sequence[str]) -> None:
        self.folder = folder
        self.lines = lines

    def says(self, path: str, is_directory: bool) -> bool | None:
        """Tell whether an absolute path is ignored; None where no pattern is about it."""
        from mfsdp_lint.inputs import index  # which a run without patterns does not need

        relative = os.path.relpath(path, self.folder).replace(os.sep, "/") + "/" * is_directory
        return index.ignored(self._digest, relative, lambda asked: self._spec.check_file(asked).include)

    @cached_property
    def _digest(self) -> str:
        return disk.digest("\n".join(self.lines).encode("utf-8", "surrogateescape"))

    @cached_property
    def _spec(self) -> GitIgnoreSpec:
        return _spec(self.lines)


class GitIgnored:
    """Answers for the entries of folders that are walked from the top; every file with patterns is read once."""

    def __init__(self) -> None:
        self._known: dict[str, Sequence[_Patterns]] = {}

    def walk(self, folder: str) -> None:
        """Let everything in a folder that the user named count, though git ignores the folder."""
        folder = os.path.abspath(folder or ".")
        if _is_ignored(folder, True, self._patterns(os.path.dirname(folder))):
            self._known[folder] = _own(folder)

    def __call__(self, folder: str, name: str, is_directory: bool) -> bool:
        """Tell whether git ignores an entry of a folder that is not ignored itself."""
        folder = os.path.abspath(folder or ".")
        return _is_ignored(os.path.join(folder, name), is_directory, self._patterns(folder))

    def leaves_out(self, path: str) -> bool:
        """Tell whether git ignores a file, or a folder on the way to it from the root of its repository."""
        folder, name = os.path.split(os.path.abspath(path))
        is_folder = False
        while name:
            if self(folder, name, is_folder):
                return True
            is_folder = True
            if disk.exists(os.path.join(folder, ".git")):
                return False
            folder, name = os.path.split(folder)
        return False

    def _patterns(self, folder: str) -> Sequence[_Patterns]:
        """Return the patterns that count in a folder, the farthest first."""
        if folder not in self._known:
            above = os.path.dirname(folder)
            is_root = above == folder or disk.exists(os.path.join(folder, ".git"))
            self._known[folder] = (*(() if is_root else self._patterns(above)), *_own(folder))
        return self._known[folder]


def _own(folder: str) -> Sequence[_Patterns]:
    found = []
    for name in FILES:
        try:
            lines = disk.read(os.path.join(folder, name)).decode("utf-8", "surrogateescape").splitlines()
        except OSError:
            continue
        found.append(_Patterns(folder, lines))
    return found


def _spec(lines: Sequence[str]) -> GitIgnoreSpec:
    """Compile the patterns of these lines.

    As in git, an invalid pattern ignores nothing; nor does one that is too slow.
    """
    import warnings

    from pathspec import GitIgnoreSpec

    quick = [
        line
        for line, parts in ((line, line.split("/")) for line in lines)
        if parts.count("**") <= MOST_STARS and all(part == "**" or part.count("*") <= MOST_STARS for part in parts)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Python, about the regular expressions that they become
        try:
            return GitIgnoreSpec.from_lines(quick)
        except _NO_PATTERN:
            patterns = []
            for line in quick:
                with suppress(*_NO_PATTERN):
                    GitIgnoreSpec.from_lines([line])
                    patterns.append(line)
            return GitIgnoreSpec.from_lines(patterns)


def _is_ignored(path: str, is_directory: bool, patterns: Sequence[_Patterns]) -> bool:
    """Tell whether a path is ignored: the nearest pattern that matches decides."""
    said = (each.says(path, is_directory) for each in reversed(patterns))
    return next((each for each in said if each is not None), False)


SKIPPED = frozenset(
    {"__pycache__", "__pypackages__", "_build", "build", "dist", "node_modules", "site-packages", "venv", "virtualenv"}
)
"""Directories whose content nobody wrote by hand; hidden ones (.git, .venv, .tox, …) are skipped as well."""

CI = frozenset(
    {".github", ".gitlab", ".gitlab-ci.yml", ".gitlab-ci.yaml", ".buildkite", ".circleci", ".vscode"}
    | {".dstack.yml", ".dstack.yaml", ".dstack"}
)
"""Hidden files and directories that people write, and that start programs."""

KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
"""The names of a kustomization's file."""


@dataclass(frozen=True, slots=True, order=True)
class File:
    """A file to read. `path` is as the user would write it: beginning with the argument it was found under.

    `kind` is the name of its type, and so of the reader that reads it.
    """

    path: str
    kind: str


@dataclass(frozen=True, slots=True)
class Discovered:
    """The files and problems found, both sorted: the result does not depend on the order of the arguments."""

    files: list[File]
    problems: list[Problem]


def is_skipped(name: str) -> bool:
    """Tell whether a directory of this name is skipped."""
    return _is_hidden(name) or name in SKIPPED or name.endswith(".egg-info")


def _is_hidden(name: str) -> bool:
    return name.startswith(".") and name not in CI


def discover(
    paths: Iterable[str], types: FileTypes, exclude: Sequence[str] = (), *, gitignore: bool = True
) -> Discovered:
    """Find every file of these types that is named or lies under a named directory, each once.

    A file that is named is always taken. Under a directory, the following are left out: hidden entries but those of
    CI, SKIPPED, virtual environments, files that git ignores (if `gitignore` says so), and names that match a glob of
    `exclude`. A glob without a slash is compared with every name on the way, one with a slash with the path from the
    working directory. Links are followed once, and only to files under one of the paths: a user who asks for a folder
    does not ask for the disk. Where a file can be reached in several ways, the path without links, then the shortest,
    is kept. Pipes, sockets and devices are no files; one that is named is reported.

    A path that is not there, or a named file of another kind, is a problem of kind "usage"; a link that leads nowhere,
    or a file that cannot be opened, is a problem of kind "unreadable".
    """
    every = sorted(set(paths))
    globs = tuple(map(normalised, exclude))
    walk = _Walk(types, every, globs, GitIgnored() if gitignore else None)
    for path in every:
        walk.argument(path)
    found = [(path, types.of(path)) for _, _, path in walk.found.values()]
    return Discovered(sorted(File(path, type_.name) for path, type_ in found if type_), sorted(walk.problems))


class _Walk:
    """A walk over all arguments."""

    def __init__(
        self, types: FileTypes, paths: Sequence[str], exclude: tuple[str, ...], ignored: GitIgnored | None
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
            closed = dangling or isinstance(error, PermissionError)
            kind: Literal["usage", "unreadable"] = "unreadable" if closed else "usage"
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
        """Walk everything below `root`.

        Directories behind links come last, so that a file with a real path here gets that path.
        """
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
        """Take the files of a directory, and yield its subdirectories and whether each is a link."""
        try:
            entries = disk.entries(directory)
        except OSError as error:
            self.problems.add(Problem(directory or ".", 1, 1, reason(directory, error)))
            return
        if not named and any(entry.name == "pyvenv.cfg" for entry in entries):
            return
        for entry in entries:
            if _is_hidden(entry.name):
                continue
            path = f"{directory.rstrip('/')}/{entry.name}" if directory else entry.name
            if matches(path, self.exclude):
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
        """Tell whether a link ends outside the paths that were asked for.

        A link that ends nowhere is reported elsewhere.
        """
        there = disk.real(link)
        if there not in self.roots and not disk.exists(there):
            return False
        while there not in self.roots:
            if there == os.path.dirname(there):
                return True
            there = os.path.dirname(there)
        return False


def written_folders(root: str) -> Iterator[tuple[str, list[str]]]:
    """Yield a project's folder and those below it that people write, each with the names of its regular files.

    Hidden folders, those that nobody writes by hand, environments, and links are not entered.
    """
    for folder, folders, names in disk.walk(root):
        if folder != root and "pyvenv.cfg" in names:
            folders.clear()
            continue
        folders[:] = [each for each in folders if not is_skipped(each)]
        yield folder, names


def written_links(root: str) -> Iterator[str]:
    """Yield the links in the folders that people write (see `written_folders`)."""
    for folder, _ in written_folders(root):
        yield from (os.path.join(folder, entry.name) for entry in disk.entries(folder) if entry.is_link)


def way_behind(link: str, file: str) -> str | None:
    """Return what follows a link in the path by which it leads to a file, given without links: "" for the file itself,
    "/…" for one in a folder. None where the link leads elsewhere, or to a folder that it is in itself.
    """
    there = disk.real(link)
    leads = is_under(file, there) and not is_under(disk.real(os.path.dirname(link)), there)
    return file[len(there) :] if leads else None


def is_under(path: str, other: str) -> bool:
    """Tell whether an absolute path is another one, or below it."""
    return os.path.join(path, "").startswith(os.path.join(other, ""))


def _nearest_name(path: str) -> str:
    """Suggest a name for the last part of a missing path, where its folder exists; "" without a suggestion."""
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


HEAD = 1 << 16
"""Bytes of a file that are looked at where its name does not decide."""

PROSE = (
    ".md", ".mdx", ".markdown", ".mkd", ".rst", ".adoc", ".asciidoc", ".org", ".qmd", ".rmd", ".Rmd", ".textile",
    ".wiki", ".txt", ".tex", ".html", ".svg", ".csv", ".lock", ".log", ".out", ".err", ".diff", ".patch",
)  # fmt: skip
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
        # Of most names the end tells that they are not.
        return path.endswith((*self.suffixes, *self.names)) and (
            os.path.splitext(path)[1] in self.suffixes or os.path.basename(path) in self.names
        )


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
