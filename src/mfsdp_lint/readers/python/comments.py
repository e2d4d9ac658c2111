"""The comments of a Python file, and the lines that a suppression in each would cover.

At the end of the first or last line of a statement it covers the whole statement; alone on a line, also the statement
on the next line; at a `def` or `class`, on a decorator or directly above them, the whole definition.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from mfsdp_lint.core.lines import split_lines
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs.suppression import CommentPlace, lines_below


@dataclass(frozen=True, slots=True)
class _Statement:
    """A logical line: its physical lines, its indentation in levels, and its first word ("def" for "async def")."""

    first: int
    last: int
    level: int
    word: str


@dataclass(frozen=True, slots=True)
class _Token:
    """A comment of a Python file: whether it is alone on its line, and whether brackets are open around it."""

    line: int
    column: int
    text: str
    alone: bool
    inside: bool


def python_comments(text: str) -> list[CommentPlace]:
    """Return every comment, as far as the text can be tokenized."""
    statements, tokens = _logical_lines(text)
    ends = _covered_until(statements)
    starts = [statement.first for statement in statements]
    below = lines_below(token.line for token in tokens if token.alone)
    places = []
    for token in tokens:
        target = below.get(token.line, token.line)
        covers = (token.line, target)
        index = bisect_right(starts, target) - 1
        if index >= 0 and not (token.alone and token.inside):
            statement = statements[index]
            if target in (statement.first, statement.last):
                covers = (min(token.line, statement.first), ends[index])
        places.append(CommentPlace(token.text, token.line, token.column, covers))
    return places


def _covered_until(statements: Sequence[_Statement]) -> list[int]:
    """Return the last line that a comment on each statement covers.

    For a definition and its decorators, it is the definition's last line.
    """
    ends = [statement.last for statement in statements]
    unfinished: list[int] = []
    for index, statement in enumerate(statements):
        while unfinished and statement.level <= statements[unfinished[-1]].level:
            ends[unfinished.pop()] = statements[index - 1].last
        if statement.word in ("def", "class"):
            unfinished.append(index)
    for index in unfinished:
        ends[index] = statements[-1].last
    for index in reversed(range(len(statements) - 1)):
        if statements[index].word == "@":
            ends[index] = ends[index + 1]
    return ends


def _logical_lines(text: str) -> tuple[list[_Statement], list[_Token]]:
    """Return the statements and the comments of a Python file, as far as it can be tokenized."""
    import tokenize  # only files with a suppression comment need it

    skipped = {tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}
    lines = split_lines(text)
    statements: list[_Statement] = []
    comments: list[_Token] = []
    level = first = 0
    word = ""
    try:
        remaining = iter(lines)
        for token in tokenize.generate_tokens(lambda: next(remaining, "")):
            line, offset = token.start
            if token.type == tokenize.INDENT:
                level += 1
            elif token.type == tokenize.DEDENT:
                level -= 1
            elif token.type == tokenize.COMMENT:
                alone = not lines[line - 1][:offset].strip()
                comments.append(_Token(line, offset + 1, token.string, alone, inside=first > 0))
            elif token.type == tokenize.NEWLINE:
                if first:
                    statements.append(_Statement(first, line, level, word))
                first = 0
            elif token.type not in skipped:
                if not first:
                    first, word = line, token.string
                elif word == "async":
                    word = token.string
    except (tokenize.TokenError, SyntaxError):
        pass
    return statements, comments
