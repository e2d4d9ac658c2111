"""Texts that an editor or `--add-ignore` asks for: with suppression comments, or with all safe fixes of a file.

A comment is written only where it is proved to silence its finding and to change nothing else: the new text is judged
again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from mfsdp_lint.core.finding import Finding
from mfsdp_lint.core.lines import split_lines
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.engine.judge import Judgement
from mfsdp_lint.engine.read import question, with_launchers
from mfsdp_lint.engine.repair import repair_of
from mfsdp_lint.engine.run import prepare
from mfsdp_lint.fixes.editor import EDITORS
from mfsdp_lint.inputs.options import Options, UsageError
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.inputs.suppression import comments
from mfsdp_lint.readers.registry import kind_of, reader_of


@dataclass(frozen=True, slots=True)
class IgnorePlan:
    """The new texts of files, the number of findings that their comments silence, and the files that stay as they are.

    `left` says why, a line each. `sources` are the files as they were.
    """

    texts: Mapping[str, str]
    number: int
    left: tuple[str, ...]
    sources: Sources
    problems: tuple[str, ...] = ()


def ignored(options: Options, reason: str) -> IgnorePlan:
    """Plan comments for all findings of the rules that the options select. Raises UsageError. Writes nothing."""
    check_reason(reason)
    asked, not_there = question(options)
    judge, codes, _ = prepare(options, with_launchers(asked))
    before = judge(Sources(asked.texts))
    by_path: dict[str, list[Finding]] = defaultdict(list)
    for cause in before.causes:
        if cause.finding.suppressed is None and cause.finding.code in codes:
            by_path[cause.finding.span.path].append(cause.finding)
    texts: dict[str, str] = {}
    number = 0
    left = []
    for path, found in sorted(by_path.items()):
        text = with_comments(path, before.sources.text(path), found, reason) if kind_of(path) in EDITORS else None
        if text is not None and _is_proved(before, judge(before.sources.with_texts({path: text}), before), found):
            texts[path] = text
            number += len(found)
        else:
            lines = ", ".join(dict.fromkeys(str(each.span.line) for each in found))
            left.append(f"{path}: no comment can be written for line {lines}; use per-file-ignores or a baseline")
    problems = tuple(f"{each.path}: {each.message}" for each in not_there)
    return IgnorePlan(texts, number, tuple(left), before.sources, problems)


def fixed_text(options: Options) -> str | None:
    """Return the one text that the options ask about with all its safe fixes, proved together; None without any.

    Raises UsageError. Writes nothing.
    """
    asked, _ = question(options)
    judge, codes, _ = prepare(options, with_launchers(asked))
    judgement = judge(Sources(asked.texts))
    return repair_of(judgement, judge, codes).applied(unsafe=False).texts.get(options.paths[0])


def check_reason(reason: str) -> None:
    """Raise UsageError for a reason that cannot stand in a comment."""
    if not reason.strip() or "#" in reason or not reason.isprintable():
        raise UsageError("--reason: expected a sentence on one line, without #: who reads it later needs to know why")


def with_comments(path: str, text: str, findings: Iterable[Finding], reason: str) -> str | None:
    """Return the text with comments that cover these findings of the file; None where there is no place for one."""
    by_line: dict[int, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_line[finding.span.line].append(finding)
    for line in sorted(by_line, reverse=True):  # from below, so that the lines above keep their numbers
        found = by_line[line]
        codes = ", ".join(sorted({each.code for each in found}))
        comment = f"# mfsdp: ignore[{codes}] {reason.strip()}"
        new = (each for each, moved in _placed(text, found, comment) if _covers(path, each, found, codes, moved))
        placed = next(new, None)
        if placed is None:
            return None
        text = placed
    return text


def _placed(text: str, found: Sequence[Finding], comment: str) -> Iterator[tuple[str, int]]:
    """Yield the text with the comment in each place where it may stand, and by how many lines the findings move."""
    lines = split_lines(text)
    for number in dict.fromkeys((found[0].span.line, found[0].span.end_line)):
        line = lines[number - 1]
        content = line.rstrip("\r\n")
        if not content.rstrip().endswith("\\") and "# mfsdp:" not in content:
            changed = f"{content.rstrip()}  {comment}{line[len(content) :]}"
            yield "".join([*lines[: number - 1], changed, *lines[number:]]), 0
    first = found[0].span.line
    while first > 1 and lines[first - 2].rstrip("\r\n").endswith("\\"):
        first -= 1  # a comment within a continued command would end it
    line = lines[first - 1]
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    end = "\r\n" if line.endswith("\r\n") else "\n"
    yield "".join([*lines[: first - 1], f"{indent}{comment}{end}", *lines[first - 1 :]]), 1


def _covers(path: str, text: str, found: Sequence[Finding], codes: str, moved: int) -> bool:
    """Tell whether the text has a comment of these codes that covers the findings."""
    kind = kind_of(path)
    read, _ = comments(path, text, reader_of(kind).comments) if kind else ([], [])
    wanted = tuple(codes.split(", "))
    return all(
        any(
            each.codes == wanted
            and each.covers[0] <= finding.span.end_line + moved
            and finding.span.line + moved <= each.covers[1]
            for each in read
        )
        for finding in found
    )


def _is_proved(before: Judgement, after: Judgement, silenced: Sequence[Finding]) -> bool:
    """Tell whether just these findings are silenced, and no other came or went."""
    gone = {each.fingerprint for each in silenced}

    def told(judgement: Judgement) -> set[str]:
        return {each.finding.fingerprint for each in judgement.causes if each.finding.suppressed is None}

    return told(after) == told(before) - gone and not set(after.problems) - set(before.problems)


def chosen(options: Options, codes: Sequence[str]) -> Options:
    """Return options that select these rules alone."""
    return replace(options, select=tuple(codes), extend_select=())
