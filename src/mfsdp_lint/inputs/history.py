"""The project as it was at a revision: read from git's objects, and written below a folder of its own.

Git runs nothing for it: no hook, filter, pager or external diff, and it fetches nothing.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from enum import Enum

from mfsdp_lint.core import files
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.inputs.projects import DECIDING, OF_HOOKS, REPOSITORY, holds_repository, repository_above
from mfsdp_lint.inputs.sources import SIZE_LIMIT

MOST_FILES = 50_000
"""A tree with more is refused: writing it would take minutes."""

_QUIETLY = (
    *("--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}"),
    *("-c", "diff.external=", "-c", "protocol.allow=never"),
)
_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_PAGER": "cat",
    "GIT_EXTERNAL_DIFF": "",
    "GIT_LITERAL_PATHSPECS": "1",
}

_FILES = (b"100644", b"100755")
_LINK = b"120000"


@dataclass(frozen=True, slots=True)
class Revision:
    """A commit, and the root of the repository that it is in."""

    root: str
    commit: str


@dataclass(frozen=True, slots=True)
class _Blob:
    """A file or a link of a tree: `mode` says which of the two it is."""

    path: str
    mode: bytes
    name: bytes


def revision(text: str, folder: str) -> Revision:
    """Return the commit that a text names in the repository that a folder is in. Raises UsageError."""
    try:
        root = os.fsdecode(_git(folder, "rev-parse", "--show-toplevel").rstrip(b"\n"))
    except _Failed as failed:
        raise UsageError(f"--since: not in a repository of git: {failed}") from None
    try:
        names = ("--verify", "--quiet", "--end-of-options", f"{text}^{{commit}}")
        found = _git(folder, "rev-parse", *names)
    except (_Failed, ValueError):
        raise UsageError(f"--since: {text}: no such revision") from None
    return Revision(os.path.realpath(root), found.decode().strip())


def write_tree(revision: Revision, folder: str) -> frozenset[str]:
    """Write the files of a revision below an empty folder, and return their paths. Raises UsageError.

    Large files are data, and are left out; a link that leads out of the tree leads nowhere.
    """
    blobs = list(_blobs(revision))
    if len(blobs) > MOST_FILES:
        raise UsageError(f"--since: {revision.commit[:12]} has more than {MOST_FILES} files")
    for blob, content in zip(blobs, _contents(revision, blobs), strict=True):
        if content is None:
            continue
        path = os.path.join(folder, blob.path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if blob.mode == _LINK:
            target = os.fsdecode(content)
            there = os.path.normpath(os.path.join(os.path.dirname(path), target))
            if not os.path.isabs(target) and there.startswith(folder + os.sep):
                os.symlink(target, path)
        else:
            with files.written(path, "x") as file:
                file.write(content)
    os.makedirs(os.path.join(folder, ".git"), exist_ok=True)  # where the project begins
    return frozenset(blob.path for blob in blobs)


@dataclass(frozen=True, slots=True)
class Before:
    """The texts that files had before a change; `by_files_alone` where only files that were looked at say so."""

    texts: dict[str, str]
    by_files_alone: bool


def before_change(paths: Iterable[str]) -> Before:
    """Return the texts that files had before the change that a commit hook checks, of those that had one.

    That is a commit: HEAD, or the one that pre-commit names. What is no text in UTF-8 there, or in no repository of
    git, is left out.
    """
    found: dict[str, str] = {}
    named = os.environ.get(OF_HOOKS)
    by_files_alone = os.environ.keys().isdisjoint(DECIDING)
    by_repository: dict[str, list[str]] = {}
    for path in paths:
        by_repository.setdefault(repository_above(os.path.dirname(os.path.realpath(path))), []).append(path)
    for folder, here in by_repository.items():
        head = _head(folder)
        try:
            there = revision(named or "HEAD", folder)
            names = {os.path.relpath(os.path.realpath(path), there.root).replace(os.sep, "/"): path for path in here}
            # (Where a file is now, there may have been a folder.)
            blobs = [blob for blob in _blobs(there, names) if blob.path in names and blob.mode != _LINK]
            for blob, content in zip(blobs, _contents(there, blobs), strict=True):
                with suppress(UnicodeDecodeError):
                    found |= {} if content is None else {names[blob.path]: content.decode("utf-8-sig")}
            by_files_alone &= head is _Head.NAMED
        except (UsageError, _Failed, ValueError):
            by_files_alone &= head is _Head.NOWHERE
    return Before(found, by_files_alone)


class _Head(Enum):
    """A state of HEAD by the files of git: they name the commit, there is no repository, or it is not understood."""

    NAMED = "named"
    NOWHERE = "nowhere"
    NOT_SAID = "not said"


def _head(folder: str) -> _Head:
    """Look at the files of git that name the commit at HEAD in the repository that a folder is the root of."""
    own = common = os.path.join(folder, REPOSITORY)
    if disk.is_file(own):  # that of a work tree, or of a submodule
        own = common = os.path.join(folder, (_line(own) or "").removeprefix("gitdir: "))
    if (shared := _line(os.path.join(own, "commondir"))) is not None:
        common = os.path.join(own, shared)
    head = _line(os.path.join(own, "HEAD"))
    if head is None:  # git goes on above the folder
        above = os.path.dirname(folder)
        if above == folder:
            return _Head.NOWHERE
        return _head(above) if not holds_repository(above) else _Head.NOT_SAID
    if not head.startswith(_NAMES_ANOTHER):
        return _Head.NAMED
    _line(os.path.join(common, "packed-refs"))
    branch = _line(os.path.join(common, head.removeprefix(_NAMES_ANOTHER))) or ""
    return _Head.NOT_SAID if head.endswith(_ELSEWHERE) or branch.startswith(_NAMES_ANOTHER) else _Head.NAMED


def _line(path: str) -> str | None:
    """Return the first line of a file of git; None where there is none."""
    with suppress(OSError, ValueError):
        return disk.read(path).decode("utf-8", "replace").partition("\n")[0]
    return None


_NAMES_ANOTHER = "ref: "
_ELSEWHERE = "/.invalid"
"""The end of the name that stands for HEAD where git keeps its references in tables (git 2.45, reftable)."""


def _blobs(revision: Revision, paths: Collection[str] = ()) -> Iterator[_Blob]:
    """Yield files and links, all or those at some paths, that can be written where they are; a tree made by hand may
    name others.
    """
    asked = ("-r", "-z", "--full-tree", revision.commit, "--", *paths)
    listed = _git(revision.root, "ls-tree", *asked)
    for row in listed.split(b"\0"):
        if not row:
            continue
        about, _, path = row.partition(b"\t")
        mode, _, name = about.split(b" ")
        parts = os.fsdecode(path).split("/")
        if mode in (*_FILES, _LINK) and not any(part.lower() in ("", ".", "..", ".git") for part in parts):
            yield _Blob("/".join(parts), mode, name)


def _contents(revision: Revision, blobs: Sequence[_Blob]) -> Iterator[bytes | None]:
    """Yield the content of each blob; None for one that is too large, or is not in this clone."""

    def objects(how: str, asked: bytes) -> bytes:
        return _git(revision.root, "cat-file", how, text=asked)

    asked = b"".join(blob.name + b"\n" for blob in blobs)
    sizes = [row.split(b" ") for row in objects("--batch-check", asked).splitlines()]
    small = [len(row) == 3 and int(row[2]) <= SIZE_LIMIT for row in sizes]
    wanted = b"".join(blob.name + b"\n" for blob, fits in zip(blobs, small, strict=True) if fits)
    rest = memoryview(objects("--batch", wanted))
    for fits in small:
        if not fits:
            yield None
            continue
        end = bytes(rest[:200]).index(b"\n")
        size = int(bytes(rest[:end]).split(b" ")[2])
        yield bytes(rest[end + 1 : end + 1 + size])
        rest = rest[end + 1 + size + 1 :]


class _Failed(Exception):
    """An error message of git."""


_WHERE = ("GIT_DIR", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_PREFIX")
"""Variables that git gives its hooks. Where it knows its own files by them alone, it takes any folder for the root."""


def _git(folder: str, *arguments: str, text: bytes = b"") -> bytes:
    by_hook = () if "GIT_WORK_TREE" in os.environ else _WHERE
    environment = {name: value for name, value in os.environ.items() if name not in by_hook}
    try:
        done = subprocess.run(
            ["git", *_QUIETLY, *arguments],
            cwd=folder,
            input=text,
            env={**environment, **_ENVIRONMENT},
            capture_output=True,
            check=True,
        )
    except FileNotFoundError:
        raise UsageError("--since: git is not installed") from None
    except subprocess.CalledProcessError as error:
        raise _Failed(error.stderr.decode("utf-8", "replace").strip().partition("\n")[0]) from None
    return done.stdout
