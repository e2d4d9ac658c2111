"""Files → recipes → findings: what is asked once for a report, and again for every proof of a fix."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress as suppress_error

from mfsdp_lint.core.finding import AffectedRecipe, Finding, fingerprint
from mfsdp_lint.core.recipe import Recipe, Span, Unfollowed
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.engine.read import Question, Read, read
from mfsdp_lint.engine.silenced import NOTHING, Silenced
from mfsdp_lint.inputs.faults import Faults
from mfsdp_lint.inputs.sources import Problem, Sources, Unreadable
from mfsdp_lint.inputs.suppression import Comment, Suppressed, comments, suppress
from mfsdp_lint.readers.registry import kind_of, reader_of
from mfsdp_lint.results.held_versions import holds_for, in_order, named, told
from mfsdp_lint.rules.about_files import INTERNAL, MALFORMED_COMMENT, RAISES, UNREADABLE
from mfsdp_lint.rules.check import Hits, Violation, hits, violations_of
from mfsdp_lint.rules.findings import Cause, causes
from mfsdp_lint.rules.model import Rule
from mfsdp_lint.versions.target import Target

_SAID = {
    "unreadable": (UNREADABLE, "unreadable-file", "not checked: ", ""),
    "foreign": (UNREADABLE, "unreadable-file", "not checked: ", ""),
    "comment": (MALFORMED_COMMENT, "malformed-suppression", "", "the comment silences nothing"),
    "internal": (INTERNAL, "internal-error", "not checked to the end: ", "what is wrong here may not be told"),
}
"""By the kind of a problem: code and name of its finding, what stands before its message, and what it leads to."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the files come to, as `sources` has them. Suppressed causes are there, and marked.

    `recipes` are those of every reading for another version; `distinct_recipes` counts those of the newest one alone.
    `raising` are the findings about code that surely raises, `unfollowed` is other code of which there is no recipe.
    `unused` are the suppression comments that silence none of the causes.
    `readings` and `hits` are what a judgement of other texts may take over.
    """

    sources: Sources
    recipes: tuple[Recipe, ...]
    causes: tuple[Cause, ...]
    problems: tuple[Problem, ...]
    remarks: tuple[str, ...] = ()
    distinct_recipes: int = 0
    raising: tuple[Finding, ...] = ()
    unfollowed: tuple[Unfollowed, ...] = ()
    unused: tuple[Comment, ...] = ()
    readings: Mapping[tuple[str, str], Read] = field(default_factory=dict, repr=False)
    hits: Mapping[Target, Hits] = field(default_factory=dict, repr=False)

    def recipes_for(self, target: Target) -> tuple[Recipe, ...]:
        """The recipes as they were read for one of the targets."""
        return self.readings[_reading(target)].recipes

    @property
    def has_comments(self) -> bool:
        """Whether there are suppression comments, as far as they matter."""
        found = (*(cause.finding for cause in self.causes), *self.raising)
        return bool(self.unused) or any(finding.suppressed for finding in found)


@dataclass(frozen=True, slots=True)
class Judge:
    """Everything that a judgement depends on but the texts of the files.

    `rules` are those that were selected of `every_rule`. `silenced` is what does not count though no comment says so.
    """

    question: Question
    rules: tuple[Rule, ...]
    every_rule: tuple[Rule, ...]
    silenced: Silenced = NOTHING
    _paths: frozenset[str] = field(init=False, repr=False, compare=False)
    _folders: frozenset[str] = field(init=False, repr=False, compare=False)
    _launchers: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        paths = frozenset(file.path for file in self.question.every_file)
        object.__setattr__(self, "_paths", paths)
        object.__setattr__(self, "_launchers", frozenset(file.path for file in self.question.launchers))
        object.__setattr__(self, "_folders", frozenset(os.path.dirname(os.path.abspath(path)) for path in paths))

    @property
    def target(self) -> Target:
        """The versions judged against; the newest of a range."""
        return self.question.target

    def is_linted(self, path: str) -> bool:
        """Whether a path is one of the files that the user asked to lint."""
        return path in self._paths

    def is_told_of(self, path: str) -> bool:
        """Whether a finding can point into a file: one that the user asked to lint, or data beside or below these."""
        # (What is wrong in a launch script belongs there, and is told where the script is asked for.)
        if path in self._paths or path in self._launchers:
            return True
        if kind_of(path) == "python":
            return False
        return any(os.path.abspath(path).startswith(folder + os.sep) for folder in self._folders)

    def __call__(self, sources: Sources, before: Judgement | None = None) -> Judgement:
        """Reads every file, judges every recipe, and marks what comments suppress.

        `before` is what the same question came to for other texts, perhaps by other rules.

        Each of several versions is judged by itself, and what they come to is put together: recipes are there once for
        every reading, so that a fix is proved in all of them, and a finding says for which versions it holds.
        """
        targets = self.question.targets
        readings = self._readings(sources, {} if before is None else before.readings)
        known = {} if before is None else before.hits
        faults = Faults()
        fired = {
            target: hits(
                readings[_reading(target)].recipes,
                target,
                self.rules,
                self.is_told_of,
                known.get(target),
                sources,
                faults,
            )
            for target in targets
        }
        broken = [violation for target in targets for violation in violations_of(fired[target], faults=faults)]
        found = [each for each in causes(broken) if each.finding.span.path not in self._launchers]
        if self.target.between:
            found = [each for each in found if len({hit.target for hit in each.violations}) == len(targets)]
        if len(targets) > 1:
            found = [told(cause, [holds_for(each) for each in cause.violations]) for cause in found]
        raising = raising_findings({target: readings[_reading(target)].unfollowed for target in targets})
        suppressed, malformed = self._suppress([*(cause.finding for cause in found), *raising], sources, faults)
        read_so_far = dict.fromkeys(each for reading in readings.values() for each in reading.problems)
        return Judgement(
            sources,
            recipes=tuple(recipe for reading in readings.values() for recipe in reading.recipes),
            causes=tuple(
                replace(cause, finding=finding) for cause, finding in zip(found, suppressed.findings, strict=False)
            ),
            raising=tuple(suppressed.findings[len(found) :]),
            unfollowed=tuple(each for each in readings[_reading(self.target)].unfollowed if not each.certain),
            problems=(*read_so_far, *faults.problems, *malformed),
            remarks=tuple(dict.fromkeys(each for reading in readings.values() for each in reading.remarks)),
            distinct_recipes=sum(
                recipe.path not in self._launchers for recipe in readings[_reading(self.target)].recipes
            ),
            unused=tuple(suppressed.unused),
            readings=readings,
            hits=fired,
        )

    def violations(self, recipes: Sequence[Recipe], sources: Sources, *, every: bool = False) -> list[Violation]:
        """What further recipes break, at any of the versions; with `every` also what a stronger finding silences."""
        fired = (hits(recipes, each, self.rules, self.is_told_of, sources=sources) for each in self.question.targets)
        return [violation for found in fired for violation in violations_of(found, every=every)]

    def _readings(self, sources: Sources, before: Mapping[tuple[str, str], Read]) -> dict[tuple[str, str], Read]:
        """What is read for every target; those that read the same data share it."""
        firsts = {_reading(target): target for target in reversed(self.question.targets)}
        return {
            key: read(replace(self.question, target=target, also=()), sources, before=before.get(key))
            for key, target in reversed(firsts.items())
        }

    def _suppress(self, found: Sequence[Finding], sources: Sources, faults: Faults) -> tuple[Suppressed, list[Problem]]:
        by_path = {}
        malformed: list[Problem] = []
        for file in self.question.every_file:
            find = reader_of(file.kind).comments
            with faults.contained(file.path), suppress_error(Unreadable):  # which is told already
                by_path[file.path], problems = comments(file.path, sources.text(file.path), find)
                malformed += problems
        by_comments = suppress(found, by_path)
        return replace(by_comments, findings=self.silenced.mark(by_comments.findings)), malformed


def _reading(target: Target) -> tuple[str, str]:
    """What a reading depends on: the data about Megatron-Bridge, and the line of megatron-core."""
    return target.data, ".".join(target.core.split(".")[:2])


def raising_findings(unfollowed: Mapping[Target, Sequence[Unfollowed]]) -> list[Finding]:
    """What is said of code that surely raises, for the versions where it does; each place and exception once."""
    where: dict[tuple[Span, str], list[Target]] = {}
    first: dict[tuple[Span, str], list[Unfollowed]] = {}
    for target, every in unfollowed.items():
        for each in every:
            if each.certain:
                where.setdefault((each.point, each.message), []).append(target)
                first.setdefault((each.point, each.message), []).append(each)
    found = []
    for key, targets in where.items():
        one, everywhere = first[key][0], len(set(targets)) == len(unfollowed)
        versions = () if len(unfollowed) == 1 else in_order(target.name for target in targets)
        names = dict.fromkeys(each.name for each in first[key])
        found.append(
            Finding(
                code=RAISES,
                name="raises-at-start-up",
                severity="error",
                stage="startup",
                message=one.message
                + (f"; did you mean {one.nearest}?" if one.nearest else "")
                + ("" if everywhere else f" (holds for {named(versions)})"),
                span=one.point,
                consequence=f"{one.name} ends with this exception, and configures nothing",
                raises=one.message.removeprefix(f"{one.error}: "),
                versions=versions,
                enforced_by="nobody",
                recipes=tuple(AffectedRecipe(name, "error") for name in names),
                fingerprint=fingerprint(RAISES, one.path, one.qualified_name, one.message),
                content_fingerprint=fingerprint(RAISES, one.qualified_name, one.message),
            )
        )
    return found


def file_finding(problem: Problem) -> Finding:
    """The finding about a file that was not judged at all, or about a comment in it."""
    code, name, before, consequence = _SAID[problem.kind]
    return Finding(
        code=code,
        name=name,
        severity="error" if problem.kind in ("unreadable", "internal") else "info",
        stage="never",
        message=before + problem.message,
        span=Span(problem.path, problem.line, problem.column, problem.line, problem.column),
        consequence=consequence,
        enforced_by="nobody",
        fingerprint=fingerprint(code, problem.path, problem.message),
        content_fingerprint=fingerprint(code, problem.message),
    )
