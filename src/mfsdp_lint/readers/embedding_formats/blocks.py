"""Environments that a text in braces speaks of: pipelines of Jenkins, jobs of Nomad, and the like.

A block called `environment` or `env` sets variables for the block around it: `NAME = 'value'`, or a mapping. The list
of `withEnv` sets them for the block behind it, and `env.NAME = 'value'` from there on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.readers.embedding_formats.held_texts import Variables, variable
from mfsdp_lint.readers.shell.script import Piece, Text, filled, holed
from mfsdp_lint.readers.shell.state import LOST, Variable

_COMMENT = r"//[^\n]*|/\*.{0,2000}?\*/|^[ \t]*\#[^\n]*|\\."
"""With a character that a backslash stands before, so that no quote is looked for the end of again and again."""

_TEXT = r"'{3}.*?'{3}|\"{3}.*?\"{3}|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\""
_NAME = r"[A-Za-z_]\w*"
_VALUE = rf"(?P<value>{_TEXT})(?:[ \t\r]*(?P<alone>)(?=[;,\n}}\])]|//|/\*|\Z))?"
"""A text, which is a value if it stands alone; the value of any other expression is not known."""

_HOW = re.DOTALL | re.MULTILINE
_TOKEN = lazy_pattern(
    rf"{_COMMENT}|{_TEXT}|(?P<open>\{{)|(?P<close>\}})|\benv\.(?P<name>{_NAME})[ \t]*=(?!=)[ \t]*(?:{_VALUE})?", _HOW
)
_ENTRY = lazy_pattern(
    rf"{_COMMENT}|(?P<quote>[\"']?)(?P<name>{_NAME})(?P=quote)[ \t]*(?:=>?|:)[ \t]*(?:{_VALUE})?|{_TEXT}", _HOW
)
_LISTED = lazy_pattern(rf"{_COMMENT}|{_VALUE}", _HOW)
_IS_ENVIRONMENT = lazy_pattern(r"(?<![\w.])(?i:env(?:ironment)?)[\"']?\s*(?:=>?|:)?\Z")
_WITH_LIST = lazy_pattern(r"\bwithEnv\s*\(?\s*\[")
_PAIR = lazy_pattern(rf"(?P<name>{_NAME})=")
_OF_GROOVY = lazy_pattern(rf"\$\{{(?:env\.)?(?P<braced>{_NAME})\}}|\$(?:env\.)?(?P<bare>{_NAME})|\$\{{[^}}]*\}}?|\\.")

_DEEPEST = 100
"""Blocks around a text that it may have variables of."""


@dataclass(slots=True)
class Block:
    """A part of a text, and the environment of what stands in it. `header` is what its brace stands behind."""

    start: int
    end: int
    header: str = ""
    variables: dict[str, Variable] = field(default_factory=dict)


def environment_at(blocks: Sequence[Block], place: int) -> Variables:
    """Return the environment of a place in the blocks of a text."""
    around = (block.variables for block in blocks if block.start <= place < block.end)
    return {name: each for variables in around for name, each in variables.items()}


def blocks_of(path: str, lines: Lines, text: str) -> list[Block]:
    """Return the blocks of a text that set variables; one within another comes behind it, and counts more."""
    whole = Block(0, len(text))
    outer, blocks, behind = [whole], [whole], 0
    statements: list[tuple[Block, Block]] = []
    for token in _TOKEN.finditer(text):
        if token["name"]:
            variables = {token["name"]: _value(path, lines, token, outer)}
            statements.append((outer[-1], Block(token.end(), len(text), variables=variables)))
        elif token["open"]:
            block = Block(token.end(), len(text), text[behind : token.start()].rstrip())
            listed = _WITH_LIST.search(block.header)
            for each in _LISTED.finditer(text, behind + listed.end(), token.start()) if listed else ():
                if each["value"] and (pair := _PAIR.match(each["value"], _quotes(each["value"]))):
                    block.variables[pair["name"]] = _value(path, lines, each, outer, pair.end())
            outer.append(block)
            blocks.append(block)
        elif token["close"] and len(outer) > 1:
            block = outer.pop()
            block.end = token.start()
            if blocks[-1] is block and _IS_ENVIRONMENT.search(block.header):
                for each in _ENTRY.finditer(text, block.start, block.end):
                    if each["name"]:
                        outer[-1].variables[each["name"]] = _value(path, lines, each, outer)
        if token["open"] or token["close"]:
            behind = token.end()
    for block, statement in statements:
        statement.end = block.end
    # A statement in another block may have run before, or not; and what it sets gives way to blocks.
    anywhere = Block(0, len(text), variables={name: LOST for _, each in statements for name in each.variables})
    return [each for each in (anywhere, *(each for _, each in statements), *blocks) if each.variables]


def _quotes(literal: str) -> int:
    """Return the number of quotes that a text begins with."""
    return 3 if literal[:3] in ('"""', "'''") and len(literal) > 5 else 1


def _value(path: str, lines: Lines, found: re.Match[str], outer: Sequence[Block], start: int = 0) -> Variable:
    """Return the value of a text, which begins at `start` or behind its quotes. Within double quotes it may name
    variables of the blocks around it.
    """
    literal = found["value"]
    if literal is None or found["alone"] is None:
        return Variable(None, exported=True)
    start = found.start("value") + (start or _quotes(literal))
    end = found.end("value") - _quotes(literal)
    piece = Piece(found.string[start:end], path, lines, start, end)

    def fill(match: re.Match[str], piece: Piece) -> Text:
        name = match["braced"] or match["bare"]
        given = next((each.variables[name] for each in reversed(outer[-_DEEPEST:]) if name in each.variables), None)
        return (given and given.text) or holed(match, piece)

    return variable(filled((piece,), _OF_GROOVY, fill) if literal[0] == '"' else (piece,))
