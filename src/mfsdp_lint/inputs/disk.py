"""Every look at the disk, so that a later run can tell whether it would see the same.

Everything that decides the outcome of a run is looked at through here: the contents of files and folders, and the
existence of paths. While a run is `recorded`, each look is kept with what it showed, and with the stamp of the file or
folder that vouches for it: as long as a folder has its stamp, no name in it appears, disappears or becomes a link, and
what is not there has nothing below it. So a later run asks the stamp of each path once, and looks again only where one
differs.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from typing import Literal

from mfsdp_lint.core import files
from mfsdp_lint.core.digests import blake2b
from mfsdp_lint.core.records import dataclass, field

Kind = Literal["file", "folder", "other", ""]
"""The kind of file that a path leads to, through links; "" where it leads nowhere or may not be followed."""

How = Literal["read", "holds", "matching", "entries", "mode", "size", "is_link", "real"]
"""The questions to the disk."""

RACY = 2_000_000_000
"""Nanoseconds: a file that changed so shortly before it was read may change again within the clock's grain."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """The record that a file system has of the last change of a file or folder: size, times in nanoseconds, number."""

    size: int
    modified: int
    changed: int
    number: int


@dataclass(frozen=True, slots=True)
class Look:
    """A look at a path: what was asked (see `_AGAIN`), and what it showed.

    `detail` is what was asked besides: the bytes that were read at most, a name or a pattern in a folder.
    """

    how: How
    path: str
    showed: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Watched:
    """Looks that show the same for as long as a file or folder has this stamp; without a stamp nothing vouches.

    Each is kept as bytes: a run after few changes hands nearly all of them on, and reads none of these.
    """

    path: str
    stamp: Stamp | None
    content: tuple[bytes, ...]

    @property
    def looks(self) -> Iterator[Look]:
        """The looks. Raises ValueError where the bytes are damaged."""
        for each in self.content:
            how, path, showed, detail = json.loads(each)
            yield Look(how, path, showed, detail)


def _encoded(looks: Iterable[Look]) -> Iterator[bytes]:
    return (json.dumps((each.how, each.path, each.showed, each.detail)).encode() for each in looks)


@dataclass(slots=True)
class _Seen:
    """The stamps of paths as they were before the first look, what vouches for the looks into each folder, the entries
    of folders with what they show, and the paths of folders without links."""

    stamps: dict[str, Stamp | None] = field(default_factory=dict)
    vouching: dict[str, str] = field(default_factory=dict)
    entries: dict[str, tuple[list[FolderEntry], str, str]] = field(default_factory=dict)
    real: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Record:
    """The looks of a run, by what was looked at, each with the path that vouches for it.

    `taken_over` are those of an earlier run, by the path that vouches for them; a look may be in both. It is not
    `complete` where something else decided as well. The looks of a part of the run belong to the `outer` record, too;
    both have `seen` the same.
    """

    looks: dict[tuple[str, str, str], tuple[str, Look]] = field(default_factory=dict)
    taken_over: dict[str, Watched] = field(default_factory=dict)
    complete: bool = True
    outer: Record | None = None
    seen: _Seen = field(default_factory=_Seen)

    def watched(self) -> tuple[Watched, ...]:
        """Return the looks, together where one path vouches for them."""
        together: dict[str, dict[bytes, None]] = {}
        encoded = _encoded(look for _, look in self.looks.values())
        for (path, _), content in zip(self.looks.values(), encoded, strict=True):
            together.setdefault(path, {})[content] = None
        contents = {path: each.content for path, each in self.taken_over.items()}
        contents |= {path: tuple(dict.fromkeys((*contents.get(path, ()), *new))) for path, new in together.items()}
        return tuple(Watched(path, self.seen.stamps.get(path), content) for path, content in contents.items())

    def add(self, part: Record) -> None:
        """Add the looks of a part of the run."""
        self.looks |= part.looks
        self.taken_over |= part.taken_over
        self.seen = part.seen
        self.complete &= part.complete


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """A name in a folder, whether it is a link, and what it leads to. `error` says why that cannot be told."""

    name: str
    is_link: bool
    kind: Kind
    error: OSError | None = field(default=None, compare=False)


_record: Record | None = None
_overlooked: set[str] = set()
_listed: dict[str, tuple[Stamp | None, tuple[list[FolderEntry], str]]] = {}
"""The entries of folders without links as a run of this process saw them, with what they show, and the stamps."""


@contextmanager
def recorded(*, as_part: bool = False) -> Iterator[Record]:
    """Keep every look that is taken meanwhile; `as_part`, also in the record around it."""
    global _record
    outer, _record = _record, Record()
    if as_part and outer is not None:
        _record.outer, _record.seen = outer, outer.seen
    try:
        yield _record
    finally:
        _record = outer


def is_not_all() -> None:
    """Mark the record as incomplete: other inputs also decide the outcome, so another look proves nothing."""
    record = _record
    while record is not None:
        record.complete = False
        record = record.outer


def take_over(watched: Iterable[Watched]) -> None:
    """Keep looks that an earlier run took, and that show the same today."""
    record, watched = _record, tuple(watched)
    while record is not None:
        for each in watched:
            record.seen.stamps.setdefault(each.path, each.stamp)
            record.taken_over.setdefault(each.path, each)
        record = record.outer


def was_read(path: str, most: int, stamp: Stamp, digest: str) -> None:
    """Keep the look of an earlier run that read up to `most` bytes of a file, which has the same stamp today."""
    if _record is not None:
        _record.seen.stamps.setdefault(path, stamp)
        _keep("read", path, digest, str(most), by=path)


def overlook(folder: str) -> None:
    """Make a folder of the tool's own look empty."""
    _overlooked.add(os.path.abspath(folder))


def shows_the_same(watched: Iterable[Watched]) -> bool:
    """Tell whether every look would show the same today as it showed then."""
    try:
        return all(not compared(each)[1] for each in watched)
    except ValueError:
        return False


def compared(watched: Watched) -> tuple[Watched, list[Look]]:
    """Return the looks that show the same today as they showed then, with today's stamp, and those that do not.

    Raises ValueError where they are damaged.
    """
    now = stamp(watched.path)
    if now is not None and now == watched.stamp:
        return watched, []
    same: list[Look] = []
    other: list[Look] = []
    for look in watched.looks:
        (same if _shown(look) == look.showed else other).append(look)
    return Watched(watched.path, now, tuple(_encoded(same))), other


def read(path: str, most: int | None = None) -> bytes:
    """Read a regular file, or up to `most` bytes of it. Raises OSError, also for what is none, and ValueError."""
    detail = "" if most is None else str(most)
    try:
        with files.opened(path) as file:
            status = os.fstat(file.fileno())
            data = files.beginning(file, files.MOST + 1 if most is None else most)
        if most is None and len(data) > files.MOST:
            raise OSError(errno.EFBIG, f"larger than {files.MOST >> 20} MB", path)
    except (OSError, ValueError) as error:
        _keep("read", path, _failure(error), detail, by=_vouches_for_absence(path, error))
        raise
    if _record is not None:
        _record.seen.stamps.setdefault(path, _settled(status))
        _keep("read", path, digest(data), detail, by=path)
    return data


class Listing:
    """The names in a folder; none where it cannot be listed. Only what is asked of them counts as looked at."""

    __slots__ = ("_by", "_folder", "_names")

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._by = _vouching(folder)
        try:
            self._names = frozenset(os.listdir(folder or os.curdir))
        except (OSError, ValueError):
            self._names = frozenset()

    def __contains__(self, name: str) -> bool:
        found = name in self._names
        if _record is not None:
            _keep("holds", self._folder, str(found), name, by=self._by)
        return found

    def matching(self, pattern: str) -> list[str]:
        """Return the names that match a shell pattern, sorted."""
        found = sorted(name for name in self._names if fnmatchcase(name, pattern))
        _keep("matching", self._folder, "\0".join(found), pattern, by=self._by)
        return found


def entries(folder: str) -> list[FolderEntry]:
    """Return the entries of a folder, by name. Raises OSError."""
    if _overlooked and os.path.abspath(folder) in _overlooked:
        return []
    seen = None if _record is None else _record.seen.entries.get(folder)
    if seen is None:
        by = _vouching(folder)
        status = None if _record is None else _record.seen.stamps.get(folder)
        before, known = _listed.get(os.path.abspath(folder), (None, None))
        if known is None or status is None or before != status:
            try:
                with os.scandir(folder or os.curdir) as scan:
                    found = sorted(map(_entry, scan), key=lambda entry: entry.name)
            except OSError as error:
                _keep("entries", folder, _failure(error))
                raise
            if _record is None:
                return found
            told = "\0".join(f"{each.name}\0{each.is_link:d}{each.kind}" for each in found)
            known = found, digest(told.encode(errors="surrogateescape"))
            if any(each.is_link for each in found):
                by = _NOTHING
            else:
                _listed[os.path.abspath(folder)] = status, known
        assert _record is not None
        seen = _record.seen.entries[folder] = (*known, by)
    found, showed, by = seen
    _keep("entries", folder, showed, by=by)
    return found


def kind(path: str) -> Kind:
    """Return the kind of file that a path leads to, through links."""
    try:
        return _kind_of(mode(path))
    except (OSError, ValueError):
        return ""


def walk(root: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield a folder and those below it, each with its folders' and regular files' names, as `os.walk` does.

    No link is followed or named. Folders that are taken out of the list are not entered.
    """
    pending = [root]
    while pending:
        folder = pending.pop()
        try:
            found = [each for each in entries(folder) if not each.is_link]
        except OSError:
            continue
        folders = [each.name for each in found if each.kind == "folder"]
        yield folder, folders, [each.name for each in found if each.kind == "file"]
        pending += [os.path.join(folder, name) for name in reversed(folders)]


def is_file(path: str) -> bool:
    """Tell whether a path leads to a regular file."""
    return kind(path) == "file"


def is_folder(path: str) -> bool:
    """Tell whether a path leads to a folder."""
    return kind(path) == "folder"


def exists(path: str) -> bool:
    """Tell whether a path leads anywhere."""
    return kind(path) != ""


def mode(path: str) -> int:
    """Return the type of file that a path leads to, as `os.stat` has it.

    Raises OSError, and ValueError for an impossible path.
    """
    if _record is None:
        return stat.S_IFMT(os.stat(path).st_mode)
    by = _vouching(*os.path.split(path))
    try:
        found = stat.S_IFMT(os.stat(path).st_mode)
    except (OSError, ValueError) as error:
        _keep("mode", path, _failure(error), by=_vouches_for_absence(path, error))
        raise
    _keep("mode", path, str(found), by=_NOTHING if os.path.islink(path) else by)
    return found


def size(path: str) -> int:
    """Return the number of bytes in a file; 0 where it cannot be read."""
    try:
        found = os.stat(path).st_size
    except (OSError, ValueError):
        found = 0
    _keep("size", path, str(found))
    return found


def is_link(path: str) -> bool:
    """Tell whether a path is a link itself."""
    if _record is None:
        return os.path.islink(path)
    by = _vouching(*os.path.split(path))
    found = os.path.islink(path)
    _keep("is_link", path, str(found), by=by)
    return found


def real(path: str) -> str:
    """Return a path without links; an impossible one as it is."""
    folder, name = os.path.split(path)
    if _record is not None and os.name == "posix" and name not in _NO_NAMES and "\0" not in path and not is_link(path):
        # Many files share a folder, and following each part of its path takes a while.
        above = _record.seen.real.get(folder)
        if above is None:
            above = _record.seen.real[folder] = real(folder)
        return os.path.join(above, name)
    try:
        found = os.path.realpath(path)
    except ValueError:
        found = path
    _keep("real", path, found)
    return found


_NOTHING = "\0"
"""The path that stands for none, where no stamp vouches for a look."""

_NO_NAMES = ("", os.curdir, os.pardir)


def _vouching(folder: str, name: str = "_") -> str:
    """Return the path whose stamp vouches for looks at a name in a folder, and take it before the first of them.

    It is the nearest folder above that is there: in that the next name is missing.
    """
    if _record is None or name in _NO_NAMES:
        return _NOTHING
    found = _record.seen.vouching.get(folder)
    if found is None:
        above, last = os.path.split(folder)
        if last in _NO_NAMES or os.path.lexists(folder):
            found = folder
            _record.seen.stamps.setdefault(folder, stamp(folder))
        else:
            found = _vouching(above)
        _record.seen.vouching[folder] = found
    return found


def _vouches_for_absence(path: str, error: OSError | ValueError) -> str:
    """Return the path whose stamp vouches for a failure to find a path."""
    if _record is None:
        return _NOTHING
    is_absent = isinstance(error, FileNotFoundError) and not os.path.lexists(path)
    return _vouching(*os.path.split(path)) if is_absent else _NOTHING


def stamp(path: str) -> Stamp | None:
    """Return the stamp of a file or folder; None where it cannot be had, or may be the same after another change."""
    try:
        return _settled(os.stat(path or os.curdir))
    except (OSError, ValueError):
        return None


def _settled(status: os.stat_result) -> Stamp | None:
    if stat.S_ISDIR(status.st_mode) and os.name != "posix":
        return None
    stamp = Stamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    return stamp if max(stamp.modified, stamp.changed) + RACY < time.time_ns() else None


def _keep(how: How, path: str, showed: str, detail: str = "", by: str = _NOTHING) -> None:
    record, key = _record, (how, path, detail)
    if record is None or key in record.looks:
        return
    look = by, Look(how, path, showed, detail)
    while record is not None:
        record.looks.setdefault(key, look)
        record = record.outer


_AGAIN: dict[How, Callable[[str, str], object]] = {
    "read": lambda path, most: read(path, int(most) if most else None),
    "holds": lambda folder, name: name in Listing(folder),
    "matching": lambda folder, pattern: Listing(folder).matching(pattern),
    "entries": lambda folder, _: entries(folder),
    "mode": lambda path, _: mode(path),
    "size": lambda path, _: size(path),
    "is_link": lambda path, _: is_link(path),
    "real": lambda path, _: real(path),
}


def _shown(look: Look) -> str:
    """Return the answer that a look shows today."""
    with recorded() as record, suppress(OSError, ValueError):  # which is what it shows
        _AGAIN[look.how](look.path, look.detail)
    found = record.looks.get((look.how, look.path, look.detail))
    return "" if found is None else found[1].showed


def _entry(found: os.DirEntry[str]) -> FolderEntry:
    is_link = found.is_symlink()
    try:
        if is_link:
            return FolderEntry(found.name, is_link, _kind_of(found.stat().st_mode))
        return FolderEntry(found.name, is_link, "folder" if found.is_dir() else "file" if found.is_file() else "other")
    except OSError as error:
        return FolderEntry(found.name, is_link, "", error)


def _kind_of(mode: int) -> Kind:
    if stat.S_ISDIR(mode):
        return "folder"
    return "file" if stat.S_ISREG(mode) else "other"


def _failure(error: OSError | ValueError) -> str:
    number = error.errno if isinstance(error, OSError) else None
    return errno.errorcode.get(number, str(number)) if number is not None else "impossible"


def digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()
