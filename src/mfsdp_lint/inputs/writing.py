"""Files replaced in one step, and only where nothing of anybody else's is lost by it.

Two files that change places in one step: Linux does it (renameat2), so that nothing can be lost between.

Whoever has a file open for writing: Linux tells, because it gives no lease for reading on such a file.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

from mfsdp_lint.core import files
from mfsdp_lint.inputs.projects import OWN_FOLDER, repository_above

PAUSE = 0.01
LONGEST = 1.0
"""Seconds. Who saves a file needs a moment; who keeps it open for longer is not waited for."""


def wait_for_writers(path: str) -> None:
    """Wait until nobody writes to a file any more, where the system can tell."""
    try:
        from fcntl import F_RDLCK, F_SETLEASE, fcntl
    except ImportError:  # not Linux
        return
    descriptor = files.descriptor(path)
    try:
        end = time.monotonic() + LONGEST
        while time.monotonic() < end:
            try:
                fcntl(descriptor, F_SETLEASE, F_RDLCK)
            except BlockingIOError:
                time.sleep(PAUSE)
            else:
                return
    except OSError:  # a file system without leases, or a file of somebody else
        return
    finally:
        os.close(descriptor)


_HERE = -100  # AT_FDCWD: paths are relative to the working directory
_EXCHANGE = 2  # RENAME_EXCHANGE


def exchange(one: str, other: str) -> bool:
    """Swap two files. Returns False, with nothing changed, where the system or the file system cannot."""
    call = _renameat2()
    return call is not None and call(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0


@cache
def _renameat2() -> Any:
    if sys.platform != "linux":  # Emscripten's says that it did, and does nothing
        return None
    import ctypes  # every command clears up, and few replace anything

    try:
        call = ctypes.CDLL(None).renameat2
    except (OSError, AttributeError, TypeError):  # a library without it
        return None
    call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    return call


PREFIX, SUFFIX = ".mfsdp-lint-", ".tmp"
"""How the name of an unfinished file begins and ends."""


def workplace(path: str) -> str:
    """Return the folder for the unfinished copies of a file: one for a whole repository, out of everybody's way."""
    return os.path.join(repository_above(os.path.dirname(os.path.abspath(path))), OWN_FOLDER)


CHANGED = "changed by somebody else since it was read"


class NotWritten(OSError):
    """A file that was left as it is; the message says why, in a few words that do not name it."""


def replace_file(path: str, data: bytes, still_as_read: Callable[[], bool] = lambda: True) -> None:
    """Replace a file's content in one step: readers see the old bytes or the new ones, whatever happens between.

    A symbolic link stays and its target is replaced. Mode, owner and extended attributes of the file stay; where they
    cannot, it is left alone, and so are a read-only file and one that has other names (hard links would part).
    `still_as_read` is asked just before the step: whether the file is what the new content was made from.
    Raises OSError (NotWritten among them), and then nothing has changed and nothing is left behind.
    """
    target = os.path.realpath(path)
    before = _status(target)
    place = workplace(target) if before is not None else ""
    try:
        with _made(place) as is_there:
            _replace_from(place if is_there else os.path.dirname(target), target, before, data, still_as_read)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _replace_from(os.path.dirname(target), target, before, data, still_as_read)


@contextmanager
def _made(folder: str) -> Iterator[bool]:
    """Make a folder while it is needed; tell whether it is there and nobody's link to elsewhere."""
    made = False
    with suppress(OSError):
        if folder:
            os.mkdir(folder)
            made = True
    try:
        yield bool(folder) and os.path.isdir(folder) and not os.path.islink(folder) and os.access(folder, os.W_OK)
    finally:
        if made:
            with suppress(OSError):  # another run is at work in it
                os.rmdir(folder)


def _replace_from(
    folder: str, target: str, before: os.stat_result | None, data: bytes, still_as_read: Callable[[], bool]
) -> None:
    """Replace a file by one that is made in a folder; one in the file's own folder can always take its place."""
    descriptor, temporary = _unfinished(folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            _like(target, before, file.fileno(), temporary)
            # The lock is held to the end: whoever can take it knows that the file was given up.
            _step(temporary, target, data, still_as_read)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _step(temporary: str, target: str, data: bytes, still_as_read: Callable[[], bool]) -> None:
    """Put the new file in place of the old one, unless somebody changed that: also while the step is taken."""
    seen = _content(target)
    if not still_as_read():
        raise NotWritten(CHANGED)
    if seen is None or not exchange(temporary, target):
        _replace(temporary, target, seen)
        return
    # Another run may have taken the old file away, for one that was given up.
    with suppress(FileNotFoundError):
        wait_for_writers(temporary)
    if _content(temporary) not in (seen, None):
        # Put back what somebody wrote before the files changed places. What is newer than that stays where it is.
        exchange(temporary, target)
        if _content(temporary) != data:
            exchange(temporary, target)
        raise NotWritten(CHANGED)
    with suppress(FileNotFoundError):
        os.unlink(temporary)


def _replace(temporary: str, target: str, seen: bytes | None) -> None:
    """Replace the file where two files cannot change places.

    The old file keeps a second name meanwhile, so that another process's write into it is noticed, and put back. No
    file has that name where the target is new, or where the file system gives no other names.
    """
    kept = f"{temporary.removesuffix(SUFFIX)}-old{SUFFIX}"
    with suppress(OSError, AttributeError):  # Emscripten has no links at all
        os.link(target, kept)
    try:
        os.replace(temporary, target)
        now = _content(kept)
        if now is not None and now != seen:
            os.replace(kept, target)
            raise NotWritten(CHANGED)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(kept)


def _content(path: str) -> bytes | None:
    try:
        return files.read(path)
    except FileNotFoundError:
        return None


def check_writable(path: str) -> None:
    """Raise OSError (NotWritten among them) for a file that `replace_file` would leave alone."""
    target = os.path.realpath(path)
    before = _status(target)
    if not os.access(os.path.dirname(target), os.W_OK | os.X_OK):
        raise NotWritten("its folder is read-only")
    has_users = hasattr(os, "geteuid")  # neither Windows nor a browser has any
    if before is not None and has_users and before.st_uid != os.geteuid() != 0:
        raise NotWritten("it belongs to another user")


def remove_unfinished(folders: Iterable[str]) -> None:
    """Remove the files that killed runs left in these folders; files of a run that is under way stay."""
    for folder in folders:
        names: list[str] = []
        with suppress(OSError):
            names = [name for name in os.listdir(folder or ".") if name.startswith(PREFIX) and name.endswith(SUFFIX)]
        for name in names:
            with suppress(OSError):
                path = os.path.join(folder, name)
                descriptor = files.descriptor(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
                try:
                    with suppress(BlockingIOError):
                        _lock(descriptor)
                        os.unlink(path)
                finally:
                    os.close(descriptor)


def clear_up() -> None:
    """Remove what killed runs left in this repository."""
    place = workplace("here")
    if os.path.isdir(place) and not os.path.islink(place):
        remove_unfinished([place])
        with suppress(OSError):  # the cache is in it
            os.rmdir(place)


def _status(target: str) -> os.stat_result | None:
    """Return the status of the file that is to be replaced; None for a new one. Raises NotWritten."""
    try:
        status = os.stat(target)
    except FileNotFoundError:
        return None
    if not status.st_mode & stat.S_IWUSR or not os.access(target, os.W_OK):
        raise NotWritten("it is read-only")
    if status.st_nlink > 1:
        raise NotWritten(f"it has {status.st_nlink} names (hard links), of which only one would change")
    return status


def _unfinished(folder: str) -> tuple[int, str]:
    """Create a new, locked file in a folder: a rename is atomic only within a file system."""
    while True:
        path = os.path.join(folder, f"{PREFIX}{os.urandom(6).hex()}{SUFFIX}")
        descriptor = files.descriptor(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        _lock(descriptor)
        # Between the two somebody may have taken it for one that was given up.
        if os.fstat(descriptor).st_nlink:
            return descriptor, path
        os.close(descriptor)


def _like(target: str, before: os.stat_result | None, descriptor: int, temporary: str) -> None:
    """Give the new file the mode, the owner and the extended attributes of the one that it replaces."""
    if before is None:
        os.chmod(temporary, 0o644)
        return
    made = os.fstat(descriptor)
    if (made.st_uid, made.st_gid) != (before.st_uid, before.st_gid):
        try:
            os.chown(temporary, before.st_uid, before.st_gid)
        except OSError:
            raise NotWritten("it belongs to another user") from None
    os.chmod(temporary, stat.S_IMODE(before.st_mode))
    if hasattr(os, "listxattr"):
        with suppress(OSError):  # a file system without them
            for name in os.listxattr(target):
                os.setxattr(temporary, name, os.getxattr(target, name))


def _lock(descriptor: int) -> None:
    """Lock a file.

    Raises BlockingIOError where another process has it. Where there are no such locks, nobody removes anything.
    """
    try:
        import fcntl
    except ImportError:  # Windows, where an open file cannot be removed anyway
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
