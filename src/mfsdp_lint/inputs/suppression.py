"""Suppression comments: `# mfsdp: ignore[CODE, …] reason`, or `ignore-file` for all of a file.

At the end of a line the comment covers that line; at the end of the first or last line of a statement, the whole
statement; alone on a line, also the statement on the next line. On the `def` (or `class`) line, on a decorator or
directly above them it covers the whole function. Without codes everything is silenced; a code may be a prefix. One
that does not say why silences nothing: who reads it later could not tell whether it still has to be there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from mfsdp_lint.core.finding import Finding, Suppression
from mfsdp_lint.core.lines import Lines, split_lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.inputs.sources import Problem

_MARK = lazy_pattern(r"#\s*mfsdp:\s*(?P<body>[^#\r\n]*)")
_BODY = lazy_pattern(r"(?P<word>[\w-]*)\s*(?:\[(?P<codes>[^\]]*)(?P<closed>\])?)?(?P<rest>.*)")
_CODE = lazy_pattern(r"[A-Z]+[0-9]*")

_FILE = "ignore-file"
_WORDS = ("ignore", _FILE)

NO_STATEMENTS: Mapping[int, tuple[int, int]] = MappingProxyType({})

MOST = 1000
"""Comments of ours in a file: each is compared with each finding there."""


@dataclass(frozen=True, slots=True)
class CommentPlace:
    """A comment of any kind, where it stands, and which lines a suppression there would cover."""

    text: str
    line: int
    column: int
    covers: tuple[int, int]


FindComments = Callable[[str], Iterable[CommentPlace]]
"""The comments of a text; every kind of file has its own. Only texts with a mark of ours are asked about."""


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


def comments(path: str, text: str, find: FindComments) -> tuple[list[Comment], list[Problem]]:
    """Return the suppression comments of a file, as `find` finds them, and problems for malformed ones.

    Malformed comments silence nothing.
    """
    if "mfsdp:" not in text:
        return [], []
    whole = (1, len(split_lines(text)))
    read: list[Comment] = []
    problems: list[Problem] = []
    for place in find(text):
        match = _MARK.search(place.text)
        if match is None:
            continue
        column = place.column + match.start()
        length = len(match.group().rstrip())
        span = Span(path, place.line, column, place.line, column + length)
        parsed = _parse(match["body"].strip())
        if len(read) == MOST:
            message = f"more than {MOST} in a file: from here on none counts"
            problems.append(Problem(path, place.line, column, message, "comment"))
            break
        if isinstance(parsed, str):
            problems.append(Problem(path, place.line, column, parsed, "comment"))
        else:
            codes, reason, whole_file = parsed
            read.append(Comment(span, codes, reason, whole if whole_file else place.covers))
    return read, problems


def suppress(findings: Iterable[Finding], by_path: Mapping[str, Sequence[Comment]]) -> Suppressed:
    """Mark every finding whose span, or whose write, has a line that a comment for its code covers.

    Where several comments do, the one that covers the fewest lines is taken. A comment some of whose codes silence
    nothing is among the unused with just these codes.
    """
    used: set[tuple[Span, str]] = set()
    results = []
    for finding in findings:
        reasons = [
            (comment.covers[1] - comment.covers[0], comment.span, comment, code)
            for span in (finding.span, finding.handed_on)
            if span is not None
            for comment in by_path.get(span.path, ())
            if comment.covers[0] <= span.end_line and span.line <= comment.covers[1]
            for code in comment.codes or ("",)
            if finding.code.startswith(code)
        ]
        if reasons:
            _, span, comment, code = min(reasons, key=lambda reason: reason[:2])
            used.add((span, code))
            finding = replace(finding, suppressed=Suppression(span, comment.reason))
        results.append(finding)
    unused = [
        replace(comment, codes=idle if comment.codes else ())
        for path in sorted(by_path)
        for comment in by_path[path]
        if (idle := tuple(code for code in comment.codes or ("",) if (comment.span, code) not in used))
    ]
    return Suppressed(results, unused)


def _parse(body: str) -> tuple[tuple[str, ...], str, bool] | str:
    """Return the codes and the reason behind `mfsdp:`, and whether they are for the whole file; a text: the error."""
    match = _BODY.fullmatch(body)
    word = match["word"] if match else ""
    if match is None or word not in _WORDS:
        return f'unknown word "{word}" in a comment: write "# mfsdp: ignore[CODE] reason"'
    rest = match["rest"]
    codes: tuple[str, ...] = ()
    if match["codes"] is None:
        if re.match(r"\s*[:-]?\s*MFSDP[0-9]", rest):
            return f'codes go in brackets: write "# mfsdp: {word}[CODE] reason"'
    else:
        if match["closed"] is None:
            return f"the bracket after {word} is not closed"
        codes = tuple(dict.fromkeys(code.strip() for code in match["codes"].split(",") if code.strip()))
        if not codes:
            return f'no code in the brackets: name one, or write "# mfsdp: {word} reason" for all'
        if (wrong := next((code for code in codes if not _CODE.fullmatch(code)), None)) is not None:
            return f'"{wrong}" is not a code'
    reason = rest.strip().lstrip(":-–— ").strip()
    if not reason:
        bracketed = f"[{', '.join(codes)}]" if codes else ""
        return f'it does not say why: write "# mfsdp: {word}{bracketed} reason"'
    return codes, reason, word == _FILE


def comment_places(
    text: str, found: Iterable[tuple[int, str]], statements: Mapping[int, tuple[int, int]] = NO_STATEMENTS
) -> list[CommentPlace]:
    """Return the places of comments by their offsets, in a file of lines that begin them with `#`.

    Each covers its own line; alone on a line, also the next line that is no comment. `statements` has, for each line
    where a comment is about a whole statement of several lines, the first and last line of that statement.
    """
    lines = Lines(text)
    rows = [row.strip() for row in split_lines(text)]
    below = lines_below(number for number, row in enumerate(rows, 1) if row.startswith("#"))
    places = []
    for offset, comment in found:
        line, column = lines.position(offset)
        target = below.get(line, line)
        first, last = statements.get(target, (target, target))
        places.append(CommentPlace(comment, line, column, (min(line, first), max(target, last))))
    return places


def lines_below(comment_lines: Iterable[int]) -> dict[int, int]:
    """Map every line that is only a comment to the first line below that is not."""
    below: dict[int, int] = {}
    for line in sorted(comment_lines, reverse=True):
        below[line] = below.get(line + 1, line + 1)
    return below
