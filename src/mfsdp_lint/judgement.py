"""Files → recipes → findings: what is asked once for a report, and again for every proof of a fix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mfsdp_lint.finding import Finding
from mfsdp_lint.reading import Question, read
from mfsdp_lint.recipe import Recipe, Span
from mfsdp_lint.rules.check import violations
from mfsdp_lint.rules.findings import Cause, causes
from mfsdp_lint.rules.model import Rule
from mfsdp_lint.sources import Problem, Sources, Unreadable
from mfsdp_lint.suppress import comments, suppress
from mfsdp_lint.upstream.target import Target

UNREADABLE = "MFSDP901"
"""A file that cannot be read or parsed."""

MALFORMED_COMMENT = "MFSDP902"
"""A suppression comment that means nothing."""

FILE_CODES = (UNREADABLE, MALFORMED_COMMENT)
"""Findings about a file itself, which no rule makes."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the files come to, as `sources` has them. Suppressed causes are there, and marked."""

    sources: Sources
    recipes: tuple[Recipe, ...]
    causes: tuple[Cause, ...]
    problems: tuple[Problem, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judge:
    """Everything that a judgement depends on but the texts of the files."""

    question: Question
    rules: tuple[Rule, ...]
    _paths: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_paths", frozenset(file.path for file in self.question.every_file))

    @property
    def target(self) -> Target:
        """The versions judged against."""
        return self.question.target

    def theirs(self, path: str) -> bool:
        """Whether a path is one of the files that the user asked to lint."""
        return path in self._paths

    def __call__(self, sources: Sources) -> Judgement:
        """Reads every file, judges every recipe, and marks what comments suppress."""
        found = read(self.question, sources)
        broken = causes(violations(found.recipes, self.target, self.rules, self.theirs))
        marked, malformed = self._suppress(broken, sources)
        return Judgement(sources, found.recipes, tuple(marked), (*found.problems, *malformed), found.remarks)

    def _suppress(self, found: Sequence[Cause], sources: Sources) -> tuple[list[Cause], list[Problem]]:
        by_path = {}
        malformed: list[Problem] = []
        for file in self.question.every_file:
            try:
                by_path[file.path], problems = comments(file.path, sources.text(file.path), file.kind)
            except Unreadable:  # told already
                continue
            malformed += problems
        findings = suppress([cause.finding for cause in found], by_path).findings
        return [replace(cause, finding=finding) for cause, finding in zip(found, findings, strict=True)], malformed


def file_finding(problem: Problem) -> Finding:
    """The finding about a file that was not judged at all, or about a comment in it."""
    unreadable = problem.kind == "unreadable"
    code = UNREADABLE if unreadable else MALFORMED_COMMENT
    return Finding(
        code=code,
        name="unreadable-file" if unreadable else "malformed-suppression",
        severity="error" if unreadable else "info",
        stage="never",
        message=f"not checked: {problem.message}" if unreadable else problem.message,
        span=Span(problem.path, problem.line, problem.column, problem.line, problem.column),
        consequence="" if unreadable else "the comment silences nothing",
        enforced_by="nobody",
        fingerprint=f"{code}:{problem.path}:{problem.message}",
    )
