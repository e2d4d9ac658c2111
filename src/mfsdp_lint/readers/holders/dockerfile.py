"""Dockerfiles: the command that an image runs, in the environment that it is built with."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.readers.holders.parts import held, script_of, variable
from mfsdp_lint.readers.shell.held import Held
from mfsdp_lint.readers.shell.pieces import Piece, Text, plain
from mfsdp_lint.readers.shell.state import Variable

_INSTRUCTION = re.compile(
    r"""^[ \t]*(?P<name>[A-Za-z]+)[ \t]+
    (?P<said>(?:[^\n\\]
               |\\[ \t]*\r?\n(?:[ \t]*(?:\#[^\n]*)?\r?\n)*  # goes on, behind comments and empty lines
               |\\.)*)""",
    re.MULTILINE | re.VERBOSE,
)
_PAIR = re.compile(
    r"""(?P<name>[A-Za-z_]\w*)=(?P<quote>["']?)
    (?P<value>(?<=")(?:[^"\\]|\\.)*|(?<=')[^']*|[^\s"'\\]*)""",
    re.VERBOSE,
)
_OLD = re.compile(r"(?P<name>[A-Za-z_]\w*)[ \t]+(?P<value>[^\n]*\S)")


def scripts(path: str, text: str) -> Iterator[Held]:
    """Yield the script of the last stage: the entry point with the command behind it."""
    lines = Lines(text)
    variables: dict[str, Variable] = {}
    last: dict[str, Text] = {}
    for found in _INSTRUCTION.finditer(text):
        name = found["name"].upper()
        piece = Piece(found["said"], path, lines, found.start("said"), found.end("said"))
        if name == "FROM":
            variables, last = {}, {}
        elif name == "ENV":
            variables |= _environment(piece)
        elif name in ("CMD", "ENTRYPOINT"):
            last[name] = (piece,)
    yield from held(_run(last.get("ENTRYPOINT"), last.get("CMD")), variables)


def _run(entry: Text | None, command: Text | None) -> Text:
    """Return the script: words of both, or a shell's text. A shell does not see a command behind its entry point."""
    if entry is None or command is None:
        only = entry or command or ()
        return script_of(_words(only)) if _is_list(only) else only
    if _is_list(entry):
        return script_of(_words(entry) + _words(command)) if _is_list(command) else ()
    return entry


def _is_list(text: Text) -> bool:
    return plain(text).lstrip().startswith("[")


def _environment(piece: Piece) -> Iterator[tuple[str, Variable]]:
    pairs = list(_PAIR.finditer(piece.text))
    old = None if pairs else _OLD.match(piece.text)
    for found in pairs or filter(None, (old,)):
        value = piece.cut(found.start("value"), found.end("value"))
        yield found["name"], variable((value,))


def _words(text: Text) -> list[Text]:
    """Return the words of a list in JSON, each with its place."""
    (piece,) = text
    try:
        words = json.loads(plain(text).replace("\\\n", "\n"))
    except ValueError:
        return []
    found: list[Text] = []
    at = 0
    for word in words if isinstance(words, list) else ():
        if not isinstance(word, str):
            return []
        here = piece.text.find(word, at)
        if here < 0:
            found.append((Piece(word, piece.path, piece.lines, piece.start, piece.end),))
            continue
        found.append((piece.cut(here, here + len(word)),))
        at = here + len(word)
    return found
