"""Suppression comments: `# mfsdp: ignore[CODE, …] reason`.

At the end of a line the comment covers that line; at the end of the first or last line of a statement, the whole
statement; alone on a line, also the statement on the next line. On the `def` (or `class`) line, on a decorator or
directly above them it covers the whole function. Without codes everything is silenced; a code may be a prefix.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mfsdp_lint.core.finding import Finding, Suppression
from mfsdp_lint.core.lines import Lines, split_lines
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.inputs.discover import FileKind
from mfsdp_lint.inputs.sources import Problem

_MARK = re.compile(r"#\s*mfsdp:\s*(?P<body>[^#\r\n]*)")
_BODY = re.compile(r"(?P<word>[\w-]*)\s*(?:\[(?P<codes>[^\]]*)(?P<closed>\])?)?(?P<rest>.*)")
_CODE = re.compile(r"[A-Z]+[0-9]*")


@dataclass(frozen=True, slots=True)
class Comment:
    """A suppression comment.

    `span` is the comment itself, `codes` the codes or prefixes it names (none: all of them), `reason` the text that
    follows, `covers` the first and last line it is about.
    """

    span: Span
    codes: tuple[str, ...]
    reason: str
    covers: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Suppressed:
    """All findings, those that a comment silences marked, and the comments (or codes of comments) that silence none."""

    findings: list[Finding]
    unused: list[Comment]


def comments(path: str, text: str, kind: FileKind) -> tuple[list[Comment], list[Problem]]:
    """The suppression comments of a file, and those that are malformed (they silence nothing).

    A file that cannot be parsed has the comments up to the place where that shows.
    """
    if "mfsdp:" not in text:
        return [], []
    found = _python(text) if kind == "python" else _yaml(text)
    read: list[Comment] = []
    problems: list[Problem] = []
    for place in found:
        match = _MARK.search(place.text)
        if match is None:
            continue
        column = place.column + match.start()
        length = len(match.group().rstrip())
        span = Span(path, place.line, column, place.line, column + length)
        parsed = _parse(match["body"].strip())
        if isinstance(parsed, str):
            problems.append(Problem(path, place.line, column, parsed, "comment"))
        else:
            codes, reason = parsed
            read.append(Comment(span, codes, reason, place.covers))
    return read, problems


def suppress(findings: Iterable[Finding], by_path: Mapping[str, Sequence[Comment]]) -> Suppressed:
    """Marks every finding whose span has a line that a comment for its code covers.

    Where several comments do, the one that covers the fewest lines is taken. A comment some of whose codes silence
    nothing is among the unused with just these codes.
    """
    used: set[tuple[Span, str]] = set()
    results = []
    for finding in findings:
        reasons = [
            (comment.covers[1] - comment.covers[0], comment.span, comment, code)
            for comment in by_path.get(finding.span.path, ())
            if comment.covers[0] <= finding.span.end_line and finding.span.line <= comment.covers[1]
            for code in comment.codes or ("",)
            if finding.code.startswith(code)
        ]
        if reasons:
            _, span, comment, code = min(reasons, key=lambda reason: reason[:2])
            used.add((span, code))
            finding = replace(finding, suppressed=Suppression(span, comment.reason))
        results.append(finding)
    unused = []
    for path in sorted(by_path):
        for comment in by_path[path]:
            idle = tuple(code for code in comment.codes or ("",) if (comment.span, code) not in used)
            if idle:
                unused.append(replace(comment, codes=idle if comment.codes else ()))
    return Suppressed(results, unused)


def _parse(body: str) -> tuple[tuple[str, ...], str] | str:
    """Codes and reason of what follows `mfsdp:`, or what is wrong with it."""
    match = _BODY.fullmatch(body)
    word = match["word"] if match else ""
    if match is None or word != "ignore":
        return f'unknown word "{word}" in a comment: write "# mfsdp: ignore[CODE] reason"'
    rest = match["rest"]
    if match["codes"] is None:
        if re.match(r"\s*[:-]?\s*MFSDP[0-9]", rest):
            return 'codes go in brackets: write "# mfsdp: ignore[CODE] reason"'
        return (), _reason(rest)
    if match["closed"] is None:
        return "the bracket after ignore is not closed"
    codes = tuple(dict.fromkeys(code.strip() for code in match["codes"].split(",") if code.strip()))
    if not codes:
        return 'no code in the brackets: name one, or write "# mfsdp: ignore" for all'
    for code in codes:
        if not _CODE.fullmatch(code):
            return f'"{code}" is not a code'
    return codes, _reason(rest)


def _reason(text: str) -> str:
    return text.strip().lstrip(":-–— ").strip()


@dataclass(frozen=True, slots=True)
class _Place:
    """A comment of any kind, where it stands, and which lines a suppression there would cover."""

    text: str
    line: int
    column: int
    covers: tuple[int, int]


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


def _python(text: str) -> list[_Place]:
    statements, tokens = _logical_lines(text)
    ends = _covered_until(statements)
    starts = [statement.first for statement in statements]
    below = _lines_below(token.line for token in tokens if token.alone)
    places = []
    for token in tokens:
        target = below.get(token.line, token.line)
        covers = (token.line, target)
        index = bisect_right(starts, target) - 1
        if index >= 0 and not (token.alone and token.inside):
            statement = statements[index]
            if target in (statement.first, statement.last):
                covers = (min(token.line, statement.first), ends[index])
        places.append(_Place(token.text, token.line, token.column, covers))
    return places


def _lines_below(comment_lines: Iterable[int]) -> dict[int, int]:
    """For every line that is only a comment, the first line below that is not."""
    below: dict[int, int] = {}
    for line in sorted(comment_lines, reverse=True):
        below[line] = below.get(line + 1, line + 1)
    return below


def _covered_until(statements: Sequence[_Statement]) -> list[int]:
    """For every statement the last line that a comment on it covers: for a definition and its decorators, its last."""
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
    """The statements and the comments of a Python file, as far as it can be tokenized."""
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


def _yaml(text: str) -> list[_Place]:
    lines = Lines(text)
    rows = [row.strip() for row in split_lines(text)]
    below = _lines_below(number for number, row in enumerate(rows, 1) if row.startswith("#"))
    places = []
    for offset, comment in _yaml_comments(text):
        line, column = lines.position(offset)
        places.append(_Place(comment, line, column, (line, below.get(line, line))))
    return places


def _yaml_comments(text: str) -> Iterator[tuple[int, str]]:
    """The comments that may be ours: where `#` follows white space outside of every scalar."""
    import yaml

    scalars: list[tuple[int, int]] = []
    try:
        for token in yaml.scan(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if isinstance(token, yaml.ScalarToken):
                start, end = token.start_mark.index, token.end_mark.index
                if token.style in ("|", ">"):
                    # The line that begins a block scalar may end in a comment.
                    head = re.compile(r"[^\r\n]*").match(text, start)
                    start = head.end() if head else start
                scalars.append((start, end))
    except yaml.YAMLError:
        pass
    starts = [start for start, _ in scalars]
    for match in re.finditer(r"(?<!\S)#[^\r\n]*", text):
        index = bisect_right(starts, match.start()) - 1
        if index < 0 or match.start() >= scalars[index][1]:
            yield match.start(), match.group()
