"""Files as text and back: read once, with line endings, byte order mark and encoding kept."""

from __future__ import annotations

import codecs
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Generic, Literal, TypeVar

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs import disk

NOTEBOOK = ".ipynb"
"""Of such a file the code is read (notebooks.py)."""

SIZE_LIMIT = 4 * 1024 * 1024
"""Bytes; a larger file is data, not a recipe, and is not read."""


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """A problem with an argument or a file itself, in one line.

    `kind` says how it is treated: `usage`: the command line is wrong (exit code 2); `unreadable`: an error finding;
    `foreign`: an info, as the file is hardly meant for us; `internal`: a fault of the linter's own; `comment`: a
    suppression comment that means nothing. `line` and `column` count from 1.
    """

    path: str
    line: int
    column: int
    message: str
    kind: Literal["usage", "unreadable", "foreign", "internal", "comment"] = "unreadable"


NOT_CHECKED = ("unreadable", "foreign", "internal")
"""The kinds of problems that keep a file from being checked."""


class Unreadable(Exception):
    """A file that cannot be read or parsed, and the place (from 1) and the reason in one line.

    A `foreign` one has nothing to do with training runs, as far as its text tells. `about` is the content as far as it
    can be told, for asking what a file is about whose text is not known; None where it cannot be opened. Where it is
    `cut_off`, the file goes on behind that.
    """

    def __init__(
        self, path: str, line: int, column: int, message: str, about: str | None = None, *, cut_off: bool = False
    ) -> None:
        super().__init__(path, line, column, message)
        self.path = path
        self.line = line
        self.column = column
        self.message = message
        self.about = about
        self.cut_off = cut_off
        self.foreign = False

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.message}"

    def is_told(self, says: Callable[[str], bool]) -> bool:
        """Tell whether the file may have to do with training runs, as `says` finds out from a text.

        One that goes on behind what is known of it may; it is `foreign` as far as that goes.
        """
        if self.about is None or says(self.about):
            return True
        self.foreign = self.cut_off
        return self.cut_off

    @property
    def problem(self) -> Problem:
        """Return the error as a problem."""
        kind: Literal["unreadable", "foreign"] = "foreign" if self.foreign else "unreadable"
        return Problem(self.path, self.line, self.column, self.message, kind)


@dataclass(frozen=True, slots=True)
class _Decoded:
    text: str
    encoding: str
    bom: bytes


Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, eq=False)
class Shared(Generic[Result]):
    """A result worked out from texts, and the files that were read for it, with their texts where not as on disk."""

    result: Result
    texts: dict[str, str | None]


class Sources:
    """Reads files once and remembers them.

    An `overlay` of texts stands in front of the files, for asking what would be if they were changed. A file is
    the same file however its path is spelled, also through symbolic links.
    """

    def __init__(self, overlay: Mapping[str, str] | None = None) -> None:
        self._cache: dict[str, _Decoded | Unreadable] = {}
        self._keys: dict[str, str] = {}
        self._folders: dict[str, str] = {}
        self._recordings: list[set[str]] = []
        self._asked_for: set[str] = set()
        self._shared: dict[object, Shared[Any]] = {}
        self.read_names: set[str] = set()
        """The attributes of which somebody asked whether the files read them."""
        self._overlay = {self.key(path): text for path, text in (overlay or {}).items()}

    def text(self, path: str) -> str:
        """Return the text of a file: line endings as they are, without its byte order mark. Raises Unreadable.

        Of a notebook this is the code.
        """
        text = self.as_it_is(path)
        return _code(path, text) if path.endswith(NOTEBOOK) else text

    def as_it_is(self, path: str) -> str:
        """Return the text of a file; of a notebook, all that it holds and not only the code. Raises Unreadable."""
        key = self.key(path)
        self.note([key])
        changed = self._overlay.get(key)
        return self._decoded(path).text if changed is None else changed

    def text_or_none(self, path: str) -> str | None:
        """Return the text of a file; None where it cannot be read."""
        with suppress(Unreadable):
            return self.text(path)
        return None

    def as_it_is_or_none(self, path: str) -> str | None:
        """Return the text that `as_it_is` returns; None where it cannot be read."""
        with suppress(Unreadable):
            return self.as_it_is(path)
        return None

    def has_bom(self, path: str) -> bool:
        """Tell whether a file begins with a byte order mark; False where it cannot be read."""
        with suppress(Unreadable):
            return bool(self._decoded(path).bom)
        return False

    def with_texts(self, texts: Mapping[str, str]) -> Sources:
        """Return sources with (more) texts in front of the files."""
        other = Sources.__new__(Sources)
        vars(other).update(vars(self))
        other._overlay = self._overlay | {self.key(path): text for path, text in texts.items()}
        return other

    @property
    def unsaved(self) -> Mapping[str, str]:
        """The texts in front of the files, by the keys of these."""
        return self._overlay

    def as_saved(self, known: Iterable[str] | None = None) -> Sources:
        """Return sources of the files as they are on disk; all but the `known` ones, by their keys, are read again."""
        other = self.with_texts({})
        other._overlay = {}
        if known is not None:
            other._cache = {key: self._cache[key] for key in known if key in self._cache}
        return other

    @contextmanager
    def recording(self, files: set[str]) -> Iterator[None]:
        """Add the keys of the files that are asked for meanwhile, of these sources or of those with other texts."""
        self._recordings.append(files)
        try:
            yield
        finally:
            self._recordings.pop()

    def shared(self, key: object, make: Callable[[], Result]) -> Shared[Result]:
        """Return something that is worked out from texts alone, for all sources of these files.

        It is made again only where a file that was read for it (see `reading_for`) has another text than it had.
        """
        known = self._shared.get(key)
        if known is None or not self.has(known.texts):
            known = self._shared[key] = Shared(make(), {})
        return known

    def has(self, texts: Mapping[str, str | None]) -> bool:
        """Tell whether files, by their keys, have these texts here; None is the text on disk."""
        return all(self._overlay.get(path) == text for path, text in texts.items())

    @contextmanager
    def reading_for(self, shared: Shared[Any]) -> Iterator[None]:
        """Note the files that are read meanwhile as read for what is shared."""
        texts: set[str] = set()
        with self.recording(texts):
            yield
        shared.texts.update((path, self._overlay.get(path)) for path in texts)

    def note(self, paths: Iterable[str]) -> None:
        """Record files, by their keys, as read: something was taken over that depends on them."""
        paths = tuple(paths)
        self._asked_for.update(paths)
        for recording in self._recordings:
            recording.update(paths)

    def was_asked_for(self, path: str) -> bool:
        """Tell whether a file was read or looked for, here or by sources with other texts in front."""
        return self.key(path) in self._asked_for

    def changed_since(self, before: Sources) -> list[str] | None:
        """Return the keys of the files with another text than before; None where that is not known."""
        if self._cache is not before._cache:
            return None
        paths = dict.fromkeys((*before._overlay, *self._overlay))
        return [path for path in paths if before.as_it_is_or_none(path) != self.as_it_is_or_none(path)]

    def encode(self, path: str, text: str) -> bytes:
        """Encode `text` in the encoding of the file as it is on disk, with its byte order mark if it has one.

        A file that does not exist yet is UTF-8. Raises Unreadable where the encoding lacks a character.
        """
        try:
            decoded = self._decoded(path)
        except Unreadable:
            if os.path.lexists(path):
                raise
            decoded = _Decoded("", "utf-8", b"")
        try:
            return decoded.bom + text.encode(decoded.encoding)
        except UnicodeError as error:
            start = error.start if isinstance(error, UnicodeEncodeError) else 0
            line, column = _end_of(text[:start])
            message = f"cannot be written in the file's encoding, {decoded.encoding}"
            raise Unreadable(path, line, column, message) from None

    def still_on_disk(self, path: str) -> bool:
        """Tell whether a file is there as it was read."""
        read = self._cache.get(self.key(path))
        with suppress(Unreadable):
            return isinstance(read, _Decoded) and Sources()._decoded(path) == read
        return False

    def exists(self, path: str) -> bool:
        """Tell whether there is such a file (not a directory), readable or not."""
        key = self.key(path)
        self.note([key])
        return key in self._overlay or disk.is_file(path)

    def key(self, path: str) -> str:
        """Return the path that all spellings of a path have in common."""
        key = self._keys.get(path)
        if key is None:
            key = self._keys[path] = self._real(path) if "\0" not in path else path
        return key

    def _real(self, path: str) -> str:
        folder, name = os.path.split(path)
        if name in ("", ".", "..") or disk.is_link(path):
            return disk.real(path)
        # Many files share a folder, and following each part of its path takes a while.
        if folder not in self._folders:
            self._folders[folder] = disk.real(folder)
        return os.path.join(self._folders[folder], name)

    def _decoded(self, path: str) -> _Decoded:
        key = self.key(path)
        found = self._cache.get(key)
        if found is None:
            try:
                data = _read(path)
                try:
                    found = _decode(path, data)
                except Unreadable as error:
                    error.about = _about(data)
                    raise
            except Unreadable as error:
                found = error
            self._cache[key] = found
        if isinstance(found, Unreadable):
            # As a new exception: the path as asked for this time, and no traceback of the first time.
            raise Unreadable(path, found.line, found.column, found.message, found.about, cut_off=found.cut_off)
        return found


def reason(path: str, error: OSError | ValueError) -> str:
    """Say why a path cannot be opened, in a few words that do not name the path."""
    if isinstance(error, FileNotFoundError):
        return "a link that leads nowhere" if os.path.islink(path) else "no such file or directory"
    if isinstance(error, PermissionError):
        return "permission denied"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    return "not a possible path"


def _read(path: str) -> bytes:
    try:
        mode = disk.mode(path)
        if stat.S_ISDIR(mode):
            raise Unreadable(path, 1, 1, "is a directory")
        # Opening a pipe would wait for a writer, and a device may never end.
        if not stat.S_ISREG(mode):
            raise Unreadable(path, 1, 1, "not a regular file")
        data = disk.read(path, SIZE_LIMIT + 1)
    except (OSError, ValueError) as error:
        raise Unreadable(path, 1, 1, reason(path, error)) from None
    if len(data) > SIZE_LIMIT:
        raise Unreadable(path, 1, 1, f"larger than {SIZE_LIMIT >> 20} MB", _about(data), cut_off=True)
    return data


def _code(path: str, text: str) -> str:
    from mfsdp_lint.inputs.notebooks import NoNotebook, python_of

    try:
        return python_of(text)
    except NoNotebook as error:
        raise Unreadable(path, error.line, 1, error.message, text) from None


def _about(data: bytes) -> str:
    """Decode bytes of any encoding, as far as they are ASCII."""
    return data.replace(b"\0", b"").decode("latin-1")


def _end_of(text: str) -> tuple[int, int]:
    """Return the line and column (from 1) behind a text."""
    return Lines(text).position(len(text))


def _decode(path: str, data: bytes) -> _Decoded:
    if b"\0" in data:
        line, column = _end_of(data[: data.index(b"\0")].decode("utf-8", "replace"))
        raise Unreadable(path, line, column, "contains NUL bytes: not text, or not UTF-8")
    bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    encoding = _cookie(path, data) if path.endswith(".py") else "utf-8"
    body = data[len(bom) :]
    try:
        return _Decoded(body.decode(encoding), encoding, bom)
    except UnicodeDecodeError as error:
        line, column = _end_of(body[: error.start].decode(encoding, "replace"))
        name = "UTF-8" if encoding == "utf-8" else encoding
        message = f"not {name} (byte 0x{body[error.start]:02x} at offset {len(bom) + error.start})"
        raise Unreadable(path, line, column, message) from None
    except (UnicodeError, LookupError, ValueError):
        raise Unreadable(path, 1, 1, f"not text in the declared encoding, {encoding}") from None


def _cookie(path: str, data: bytes) -> str:
    """Return the encoding that a Python file declares in one of its first two lines (PEP 263)."""
    match = re.match(rb"(?:[^\r\n]*(?:\r\n|\r|\n)?){2}", data)
    head = match.group().splitlines(keepends=True) if match else []
    if not any(b"coding" in line for line in head):
        return "utf-8"
    import tokenize  # rarely needed, and start-up time counts

    lines = iter(head)
    try:
        encoding, _ = tokenize.detect_encoding(lambda: next(lines, b""))
    except SyntaxError as error:
        line = next((number for number, text in enumerate(head, 1) if b"coding" in text), 1)
        raise Unreadable(path, line, 1, error.msg or "unknown encoding") from None
    return "utf-8" if encoding == "utf-8-sig" else encoding
