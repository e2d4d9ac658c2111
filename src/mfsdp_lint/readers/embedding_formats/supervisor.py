"""Programs of supervisord: their commands with their environment.

Facts: supervisord.org/configuration.html, 4.3. No shell reads a command; a program has the variables of the section
`[supervisord]` as well as its own, which count more, and `%(NAME)s` stands for a value that supervisord fills in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.embedding_formats.held_texts import variable
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.shell.script import Piece, Text, filled, plain
from mfsdp_lint.readers.shell.state import HeldCommand, Variable

_SECTION = lazy_pattern(r"^\[(?P<name>[^\]\n]+)\][^\n]*\n(?P<body>(?:(?!\[)[^\n]*(?:\n|\Z))*)", re.MULTILINE)
_ENTRY = lazy_pattern(r"^(?P<name>\w+)[ \t]*=[ \t]*(?P<value>[^\n]*(?:\n[ \t]+[^\n]*)*)", re.MULTILINE)
_COMMENT = lazy_pattern(r"\s;[^\n]*")
_WORD = lazy_pattern(r"(?:\"(?:\\.|[^\"\\])*\"|'[^']*'|[^\s\"'])+")
_ASSIGNMENT = lazy_pattern(r"(?P<name>\w+)=(?P<value>\"[^\"]*\"|'[^']*'|[^,\s]*)")
_FILLED_IN = lazy_pattern(r"%\((?P<name>\w+)\)\w|%%")


def program_commands(path: str, text: str, sources: Sources) -> Iterator[HeldCommand]:
    """Yield the commands that a configuration starts: of its programs, and of its listeners of events."""
    lines = Lines(text)
    sections: dict[str, dict[str, Piece]] = {}
    for section in _SECTION.finditer(text):
        own = sections.setdefault(section["name"].strip(), {})
        for entry in _ENTRY.finditer(text, *section.span("body")):
            said, start = _COMMENT.split(entry["value"])[0].rstrip(), entry.start("value")
            own[entry["name"]] = Piece(said, path, lines, start, start + len(said))
    given = dict(_environment(sections.get("supervisord", {})))
    for name, own in sections.items():
        if name.partition(":")[0] in ("program", "eventlistener") and "command" in own:
            variables = given | dict(_environment(own))
            words = tuple(_value(own["command"].cut(*word.span())) for word in _WORD.finditer(own["command"].text))
            folder = plain(_value(own["directory"])) if "directory" in own else None
            yield HeldCommand(words, own["command"].span, variables, None if folder and HOLE in folder else folder)


def _environment(section: dict[str, Piece]) -> Iterator[tuple[str, Variable]]:
    """Yield the variables of `environment=A="b",C=d`."""
    if (said := section.get("environment")) is None:
        return
    for found in _ASSIGNMENT.finditer(said.text):
        yield found["name"], variable(_value(said.cut(*found.span("value"))))


def _value(word: Piece) -> Text:
    """Return a word, or a value, without its quotes; what supervisord fills in is not known."""
    if word.text[:1] in ("'", '"') and word.text[:1] == word.text[-1:]:
        word = word.cut(1, len(word.text) - 1)

    def fill(found: re.Match[str], piece: Piece) -> Text:
        return (replace(piece.cut(*found.span()), text=HOLE if found["name"] else "%"),)

    return filled((word,), _FILLED_IN, fill)
