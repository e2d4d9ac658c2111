"""Index of a project's texts: the words of each file and the modules that it imports, so that who uses a file is found
without reading all of them.

The facts about a file follow from its path and its bytes alone. They are kept with the stamp of the file: while that is
the same, the file is not opened. Where the index is kept is for others to say (see engine/cache.py); facts about a file
that has changed since are worked out anew, and the index is written again once there are many of them. Beside them is
what patterns of git say of paths, so that no library has to be loaded for it.
"""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mfsdp_lint.core.kept import dumps, loads
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.imports import imports_in, parsed
from mfsdp_lint.inputs.names_reached import Piece, pieces_of
from mfsdp_lint.inputs.sources import NOTEBOOK, SIZE_LIMIT

MOST_BYTES = SIZE_LIMIT
"""Of a file; what is behind that is not looked at."""

MOST_WORDS = 1 << 18
"""Characters of all words of a file that is kept; a notebook with pictures has more."""

MOST_NEW = 5
"""Files that are worked out anew in each run, before the index is written again."""

WHOLE = ""
"""The name by which a module itself is taken."""

Dotted = tuple[str, ...]
"""The name of a module, or the end of it: that of a file is its whole path."""


@dataclass(slots=True)
class FileFacts:
    """The words of a file, with a blank around each; the modules that it may import, and the last parts of their names.

    `digest` is that of its bytes. `hands_on` says that it consists of imports alone. That, the words, the `functions`
    and the `pieces` are found once somebody asks where the file is Python (until then None): of most nobody does. For
    the same reason `imports` and `found_pieces` are JSON, which is read for who asks.
    """

    path: str
    digest: str = ""
    found_words: str | None = " "
    imports: str = "[]"
    ends: str = ""
    found_hands_on: bool | None = False
    found_pieces: str | None = None
    found_functions: str | None = None

    @property
    def words(self) -> str:
        """The words, with a blank around each."""
        if self.found_words is None:
            self.found_words = _words(self._read())
        return self.found_words

    @property
    def hands_on(self) -> bool:
        """Tell whether the file consists of imports alone."""
        if self.found_hands_on is None:
            self.found_hands_on = _hands_on(self._read().decode("utf-8", "replace"))
        return self.found_hands_on

    @property
    def functions(self) -> list[str]:
        """The functions of a module of Python that a launch may ask for by name.

        One that is given nothing and returns nothing, as `main` mostly is, makes no recipe: its file is started.
        """
        if self.found_functions is None:
            text = f"{self._read().decode('utf-8', 'replace')}\n"
            found = (each for each in _DEFINED.finditer(text) if not each["bare"] or _RETURNS.search(each["body"]))
            self.found_functions = " ".join(each[1] for each in found)
        return self.found_functions.split()

    @property
    def pieces(self) -> list[Piece] | None:
        """The statements of a module of Python; None where it cannot be parsed."""
        if self.found_pieces is None:
            found = pieces_of(self._read().decode("utf-8", "replace"))
            self.found_pieces = json.dumps(None if found is None else [_said(each) for each in found])
        said = json.loads(self.found_pieces)
        return None if said is None else [_piece(*each) for each in said]

    def _read(self) -> bytes:
        """Read the file again; where it has changed meanwhile, a later run sees another digest."""
        _new.add(self.path)
        try:
            return disk.read(self.path, MOST_BYTES)
        except (OSError, ValueError):
            return b""

    def has(self, name: str) -> bool:
        """Tell whether a file may have a name: certainly not, where it has not all words in it."""
        return all(f" {word} " in self.words for word in _WORD.findall(name))

    def has_any(self, words: Collection[str]) -> bool:
        """Tell whether a file has one of some words."""
        return not frozenset(self.words.split()).isdisjoint(words)

    def imported(self) -> dict[Dotted, set[str]]:
        """Return the modules that a file may import, each with the names that it takes from it."""
        found: dict[Dotted, set[str]] = {}
        for name, taken in json.loads(self.imports):
            found.setdefault(tuple(name), set()).update(taken)
        return found


_DEFINED = lazy_pattern(r"^def (\w+)(?P<bare>\(\s*\))?.*\n(?P<body>(?:[ \t].*\n|\n)*)", re.MULTILINE)
_RETURNS = lazy_pattern(r"^[ \t]+(?:return\b[ \t]*[^\s#]|.*\byield\b)", re.MULTILINE)


def _said(piece: Piece) -> list[str | bool]:
    names = (piece.words, piece.binds, piece.runs, piece.hands, piece.bases)
    return [piece.acts, piece.imports, *map(" ".join, names)]


def _piece(acts: bool, imports: bool, *names: str) -> Piece:
    words, binds, runs, hands, bases = (frozenset(each.split()) for each in names)
    return Piece(words, binds, acts, runs, hands, bases, imports)


MOST_PATHS = 1 << 16
"""Of which the index keeps what the patterns of a folder say."""

_Kept = dict[str, tuple[disk.Stamp, FileFacts]]
_Said = dict[str, bool | None]

_known: _Kept = {}
_ignored: dict[str, _Said] = {}
_asked: set[str] = set()
_new: set[str] = set()
_load: Callable[[], bytes | None] | None = None


@contextmanager
def kept(load: Callable[[], bytes | None], save: Callable[[bytes], None]) -> Iterator[None]:
    """Take over the index that is kept somewhere, once it is asked; keep it, where it knows many files more."""
    global _load
    for each in (_known, _ignored, _asked, _new):
        each.clear()
    _load = load
    yield
    if len(_new) > MOST_NEW:
        there = {
            path: each
            for path, each in _known.items()
            if len(each[1].found_words or "") <= MOST_WORDS and disk.stamp(path) == each[0]
        }
        said = {digest: each for digest, each in _ignored.items() if digest in _asked and len(each) <= MOST_PATHS}
        with suppress(OSError, ValueError, TypeError):  # a full disk
            save(dumps((there, said)))


def facts(path: str) -> FileFacts:
    """Return the facts about a file by its real path; none where it cannot be read."""
    _take_over()
    stamp = disk.stamp(path)
    known = _known.get(path)
    if known is not None and known[0] == stamp:
        disk.was_read(path, MOST_BYTES, known[0], known[1].digest)
        return known[1]
    try:
        found = _facts(path, disk.read(path, MOST_BYTES))
    except (OSError, ValueError):
        return FileFacts(path)
    if stamp is not None:
        _known[path] = stamp, found
        _new.add(path)
    return found


def ignored(digest: str, path: str, ask: Callable[[str], bool | None]) -> bool | None:
    """Return what patterns say of a path: it is ignored, or not, or no pattern is about it. `digest` tells the patterns
    from others, and `ask` is asked for a path that is new.
    """
    _take_over()
    _asked.add(digest)
    known = _ignored.setdefault(digest, {})
    if path not in known:
        known[path] = ask(path)
        _new.add(path)
    return known[path]


def _take_over() -> None:
    global _load
    if _load is not None:
        content, _load = _load(), None
        if content is not None:
            with suppress(Exception):  # which bytes of another shape may raise
                known, said = loads(content)
                _known.update(known)
                _ignored.update(said)


def _facts(path: str, data: bytes) -> FileFacts:
    if not path.endswith((".py", NOTEBOOK)):
        return FileFacts(path, disk.digest(data), _words(data))
    text = data.decode("utf-8", "replace")
    imports = tuple(dict.fromkeys((*_imported(path, text), *_loaded(path, text))))
    ends = " ".join({name[-1] for name, _ in imports})
    return FileFacts(path, disk.digest(data), None, json.dumps(imports), ends, None)


_WORD = lazy_pattern(r"\w+")
_LETTERS = lazy_pattern(rb"\w")
_PARTED = bytes(each if _LETTERS.match(bytes([each])) else ord(" ") for each in range(256))
"""Each byte as it is in a word of ASCII; else a blank."""


def _words(data: bytes) -> str:
    """Return the words of a text, and the parts in ASCII of those that have other letters; a blank around each."""
    found = {*data.translate(_PARTED).decode().split()}
    if not data.isascii():
        found.update(_WORD.findall(data.decode("utf-8", "replace")))
    return f" {' '.join(found)} "


_DEFINES = lazy_pattern(r"^(?:class|def|async +def) +\w+ *[(:]", re.MULTILINE)


def _hands_on(text: str) -> bool:
    """Tell whether a module consists of imports alone, with a docstring and the list of its names perhaps."""
    # Most files define something, and need not be parsed.
    if _DEFINES.search(text):
        return False
    tree = parsed(text)
    return tree is not None and all(
        isinstance(each, ast.Import | ast.ImportFrom)
        or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        or (isinstance(each, ast.Assign | ast.AugAssign | ast.AnnAssign) and "__all__" in ast.unparse(each))
        for each in tree.body
    )


_WHOLE = (WHOLE,)


def _imported(path: str, text: str) -> Iterator[tuple[Dotted, tuple[str, ...]]]:
    """Yield the modules that a file may import, with the names that it takes from each."""
    for each in imports_in(text):
        parts = tuple(filter(None, each.module.split(".")))
        if each.words:
            # How the words make up a name is for the program to decide.
            yield from (((word,), _WHOLE) for word in each.words)
        elif each.names:
            package = Path(path).parts[: -each.level] if each.level else ()  # as many folders up as there are dots
            module = (*package, *parts)
            if module:
                yield module, each.names
            yield from (((*module, name), _WHOLE) for name in each.names if "." not in name)
        else:
            yield from ((parts[:end], _WHOLE) for end in range(1, len(parts) + 1))


_LOADS = ("import_module", "__import__", "spec_from_file_location", "run_path", "run_module")
_NAMES = lazy_pattern(r"""["'][./]*(\w[\w./-]*?)(?:\.py)?["']""")


def _loaded(path: str, text: str) -> Iterator[tuple[Dotted, tuple[str, ...]]]:
    """Yield the modules that a text may load by a name, or a path, that stands anywhere in it; by a single word one
    beside it.
    """
    if any(each in text for each in _LOADS):
        beside = Path(path).parts[:-1]
        for said in dict.fromkeys(_NAMES.findall(text)):
            name = tuple(filter(None, said.replace("/", ".").split(".")))
            yield name if len(name) > 1 else (*beside, *name), _WHOLE


def text_of(path: str) -> str:
    """Return the text of a file; "" where it cannot be read."""
    try:
        return disk.read(path, MOST_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def module_name(path: str) -> Dotted:
    """Return the full name of a module, from the root of the disk."""
    folder, name = os.path.split(path)
    return Path(folder if name == "__init__.py" else path.removesuffix(".py")).parts
