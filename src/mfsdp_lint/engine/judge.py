"""Files → recipes → findings: what is asked once for a report, and again for every proof of a fix."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress as suppress_error

from mfsdp_lint.core.finding import AffectedRecipe, Finding, IsLinted, fingerprint
from mfsdp_lint.core.recipe import Obstacle, Recipe, Span, Unfollowed
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.core.values import Plain
from mfsdp_lint.engine.read import Question, Read, of_part, read
from mfsdp_lint.engine.silenced import NOTHING, Silenced
from mfsdp_lint.inputs.discover import File
from mfsdp_lint.inputs.faults import Faults
from mfsdp_lint.inputs.sources import Problem, Sources, Unreadable
from mfsdp_lint.inputs.suppression import Comment, Suppressed, comments, suppress
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.readers.registry import is_python, reader_of
from mfsdp_lint.reports.summary import holds_for, in_order, named_versions, with_versions
from mfsdp_lint.reports.wording import count
from mfsdp_lint.rules.about_files import RAISES, UNDECIDED
from mfsdp_lint.rules.check import RuleMatches, Violation, hits, violations_of
from mfsdp_lint.rules.findings import FindingGroup, causes
from mfsdp_lint.rules.index import Undecided
from mfsdp_lint.rules.model import Rule

ReadingKey = tuple[str, str, tuple[str, ...]]
"""The inputs that a reading depends on beside the texts (see `reading_of`)."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The recipes and findings of the files, with the texts that `sources` has.

    Suppressed causes are included, and marked. `recipes` are those of every reading for another version;
    `distinct_recipes` counts those of the newest one alone. `raising` are the findings about code that surely raises
    and about settings that could not be decided; `unfollowed` is other code of which there is no recipe. `unused` are
    the suppression comments that silence none of the causes. `of_users` is what is wrong in files that use those that
    were asked for, and is not told. `readings` and `hits` are the parts that a judgement of other texts may take over.
    """

    sources: Sources
    recipes: tuple[Recipe, ...]
    causes: tuple[FindingGroup, ...]
    problems: tuple[Problem, ...]
    remarks: tuple[str, ...] = ()
    distinct_recipes: int = 0
    raising: tuple[Finding, ...] = ()
    unfollowed: tuple[Unfollowed, ...] = ()
    unused: tuple[Comment, ...] = ()
    of_users: tuple[FindingGroup, ...] = ()
    readings: Mapping[ReadingKey, Read] = field(default_factory=dict, repr=False)
    hits: Mapping[Target, RuleMatches] = field(default_factory=dict, repr=False)

    def only(self, paths: Collection[str]) -> Judgement:
        """Keep the statements about these files, with all that was read."""
        return replace(
            self,
            recipes=tuple(each for each in self.recipes if each.path in paths),
            causes=tuple(each for each in self.causes if each.finding.span.path in paths),
            raising=tuple(each for each in self.raising if each.span.path in paths),
            unfollowed=tuple(each for each in self.unfollowed if each.path in paths),
            unused=tuple(each for each in self.unused if each.span.path in paths),
            hits={
                target: replace(found, recipes=[each for each in found.recipes if each.path in paths])
                for target, found in self.hits.items()
            },
        )

    @property
    def files(self) -> Iterator[str]:
        """The paths of the files of which something is said, not each once."""
        yield from (recipe.path for recipe in self.recipes)
        yield from (each.path for each in self.unfollowed)
        yield from (each.finding.span.path for each in self.causes)
        yield from (finding.span.path for finding in self.raising)
        yield from (comment.span.path for comment in self.unused)

    def recipes_for(self, target: Target) -> tuple[Recipe, ...]:
        """Return the recipes as they were read for one of the targets."""
        return self.readings[reading_of(target)].recipes

    @property
    def has_comments(self) -> bool:
        """Tell whether there are suppression comments, as far as they matter."""
        found = (*(cause.finding for cause in self.causes), *self.raising)
        return bool(self.unused) or any(finding.suppressed for finding in found)


@dataclass(frozen=True, slots=True)
class Linter:
    """The inputs of a judgement, except the texts of the files.

    `rules` are the selected ones of `every_rule`. `silenced` are the findings that do not count though no comment
    silences them.
    """

    question: Question
    rules: tuple[Rule, ...]
    every_rule: tuple[Rule, ...]
    silenced: Silenced = NOTHING
    _paths: frozenset[str] = field(init=False, repr=False, compare=False)
    _folders: frozenset[str] = field(init=False, repr=False, compare=False)
    _dependents: frozenset[str] = field(init=False, repr=False, compare=False)
    _users: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        paths = frozenset(file.path for file in self.question.every_file)
        object.__setattr__(self, "_paths", paths)
        dependents = frozenset(file.path for file in self.question.dependents)
        object.__setattr__(self, "_dependents", dependents)
        object.__setattr__(self, "_users", dependents.union(file.path for file in self.question.launchers))
        beside = frozenset(os.path.dirname(os.path.abspath(path)) for path in paths)
        object.__setattr__(self, "_folders", beside.union(map(os.path.abspath, self.question.folders)))

    @property
    def target(self) -> Target:
        """The versions judged against; the newest of a range."""
        return self.question.target

    def is_linted(self, path: str) -> bool:
        """Tell whether a path is one of the files that the user asked to lint."""
        return path in self._paths

    def is_told_of(self, path: str) -> bool:
        """Tell whether a finding can point into a file: one that the user asked to lint, or data beside or below it.

        It can point into a file that is read because it uses one of these, too, and is told where that is asked for.
        """
        return path in self._users or self._is_theirs(path)

    def told_otherwise(self, question: Question) -> frozenset[str] | None:
        """Return the files that a finding can point into for this question or that one alone; None for any file."""
        other = replace(self, question=question)
        return None if other._folders != self._folders else (other._paths | other._users) ^ (self._paths | self._users)

    def is_dependent(self, path: str) -> bool:
        """Tell whether a file is read whole only because it uses one that the user asked to lint."""
        return path in self._dependents

    def is_of_user(self, path: str) -> bool:
        """Tell whether a file is read only because it uses, or launches, one that the user asked to lint."""
        return path in self._users

    def _is_theirs(self, path: str) -> bool:
        """Tell whether the user asked to lint a file, or Python beside or above it, or its folder."""
        if path in self._paths:
            return True
        # (What Bridge's own scripts do is described in files that nobody has: `<run_script.py>`.)
        if is_python(path) or os.path.basename(path).startswith("<"):
            return False
        return any(os.path.abspath(path).startswith(folder + os.sep) for folder in self._folders)

    def __call__(self, sources: Sources, before: Judgement | None = None) -> Judgement:
        """Read every file, judge every recipe, and mark the findings that comments suppress.

        `before` is the judgement of the same question for other texts, perhaps by other rules.

        Each of several versions is judged by itself, and the results are merged: recipes are there once for every
        reading, so that a fix is proved in all of them, and a finding says for which versions it holds.
        """
        readings: dict[ReadingKey, Read] = {}
        for part in self.question.parts(sources):
            sharing: dict[ReadingKey, list[Target]] = {}  # targets that read the same data share a reading
            for target in part.targets:
                sharing.setdefault(reading_of(target), []).append(target)
            for key, (first, *also) in sharing.items():
                asked = replace(part, target=first, also=tuple(also))
                found = read(asked, sources, before=None if before is None else before.readings.get(key))
                readings[key] = of_part(self.question, part, found)
        known = {} if before is None else before.hits
        faults = Faults()
        judged = faults.over_files(
            [*(file.path for file in self.question.every_file), *_files_of(readings.values())],
            lambda paths: self._judged(readings, known, sources, paths, faults),
        )
        problems = dict.fromkeys((*(each for read in readings.values() for each in read.problems), *faults.problems))
        theirs = [each for each in problems if each.path in self._dependents and each.kind != "internal"]
        unread = (f"{each.path} uses a named file and was not read: {each.message}" for each in theirs)
        return replace(
            judged,
            problems=(*(each for each in problems if each not in theirs), *judged.problems),
            remarks=(*judged.remarks, *unread),
        )

    def _judged(
        self,
        readings: Mapping[ReadingKey, Read],
        known: Mapping[Target, RuleMatches],
        sources: Sources,
        paths: Collection[str],
        faults: Faults,
    ) -> Judgement:
        """Judge the recipes of these files."""
        targets = self.question.targets
        readings = {key: _only(reading, paths) for key, reading in readings.items()}
        newest = [readings[reading_of(target)] for target in self.question.newest]
        fired = {
            target: hits(
                readings[reading_of(target)].recipes,
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
        of_users: list[FindingGroup] = []
        if self.question.tells_of_users:
            broken, of_users = self._with_users(broken, fired, sources, faults)
        found = [each for each in causes(broken) if each.finding.span.path not in self._users]
        found = [self._with_versions(each) for each in found if self._holds_between(each)]
        raising = raising_findings({target: self._raising(readings[reading_of(target)]) for target in targets})
        raising += undecided_findings(self._undecided(fired), self._is_theirs, sources)
        both = [*(cause.finding for cause in found), *raising]
        mine = (file for file in self.question.every_file if file.path in paths)
        suppressed, malformed = self._marked(both, mine, sources, faults)
        return Judgement(
            sources,
            recipes=tuple(recipe for reading in readings.values() for recipe in reading.recipes),
            causes=tuple(
                replace(cause, finding=finding) for cause, finding in zip(found, suppressed.findings, strict=False)
            ),
            raising=tuple(suppressed.findings[len(found) :]),
            of_users=tuple(self._with_versions(each) for each in of_users if self._holds_between(each)),
            unfollowed=tuple(
                each
                for reading in newest
                for each in reading.unfollowed
                if not each.certain and each.path not in self._dependents
            ),
            problems=tuple(malformed),
            remarks=tuple(dict.fromkeys(each for reading in readings.values() for each in reading.remarks)),
            distinct_recipes=sum(recipe.path not in self._users for reading in newest for recipe in reading.recipes),
            unused=tuple(suppressed.unused),
            readings=readings,
            hits=fired,
        )

    def _holds_between(self, cause: FindingGroup) -> bool:
        """Tell whether a finding holds for both releases, where the code is from between two."""
        targets = {violation.target for violation in cause.violations}
        return targets.issuperset(each for each in beside(self.question.targets, targets) if each.between)

    def _with_versions(self, cause: FindingGroup) -> FindingGroup:
        """Say for which versions a finding holds, where its recipes are judged against several."""
        if len(beside(self.question.targets, (violation.target for violation in cause.violations))) == 1:
            return cause
        return with_versions(cause, [holds_for(each) for each in cause.violations])

    def _with_users(
        self, broken: Sequence[Violation], fired: Mapping[Target, RuleMatches], sources: Sources, faults: Faults
    ) -> tuple[list[Violation], list[FindingGroup]]:
        """Return the violations that are told: those in the asked files, and those that users make with these; and what
        else is wrong in the users.

        A user's mistake belongs to the text that decides it, and is told there once the user is asked for. It is also
        told in the asked files where one of them turned on the feature that conflicts with it, unless it is silenced.
        """

        def is_asked(path: str) -> bool:
            return self._is_theirs(path) and path not in self._users

        told = [each for each in broken if self._belongs_here(each)]
        others = causes(each for each in broken if not self._belongs_here(each))
        marked, _ = self._marked([cause.finding for cause in others], self.question.users, sources, faults)
        open_ = [cause for cause, finding in zip(others, marked.findings, strict=True) if finding.suppressed is None]
        wanted = {(id(each.variant), each.rule.code): each for cause in open_ for each in cause.violations}
        for found in fired.values() if wanted else ():
            # An assignment, or a text, is wrong by itself.
            about_settings = {
                recipe: tuple(hit for hit in hits if not (hit.assignment or hit.passage))
                for recipe, hits in found.of.items()
            }
            again = violations_of(replace(found, of=about_settings, is_linted=is_asked), faults=faults)
            told += [
                replace(each, decided_in=there.primary.span.path)
                for each in again
                if each.primary.span.path in self._paths and (there := wanted.get((id(each.variant), each.rule.code)))
            ]
        here = {(id(each.variant), each.rule.code) for each in told}
        rest = (each for each in open_ if here.isdisjoint((id(one.variant), one.rule.code) for one in each.violations))
        return told, list(rest)

    def _belongs_here(self, violation: Violation) -> bool:
        """Tell whether a violation is of an asked file: that decides it, or data beside it does for its own recipe."""
        path = violation.primary.span.path
        return path in self._paths or self._users.isdisjoint((path, violation.recipe.path))

    def _raising(self, reading: Read) -> Iterator[Unfollowed]:
        """Yield the code that could not be followed in the asked files, or for their recipes."""
        for each in reading.unfollowed:
            # (What a call is refused may be said in data elsewhere.)
            told = each if each.focus is None or self.is_told_of(each.focus.path) else replace(each, focus=None)
            if each.path not in self._dependents or self.is_linted(told.point.path):
                yield told

    def _undecided(self, fired: Mapping[Target, RuleMatches]) -> dict[Target, list[Undecided]]:
        """Give what could not be decided at each target; where no rule is asked for, by all rules."""
        if not self.rules:
            fired = {
                target: hits(each.recipes, target, self.every_rule, self.is_told_of) for target, each in fired.items()
            }
        return {
            target: [
                one for recipe in each.recipes if recipe.path not in self._users for one in each.undecided[id(recipe)]
            ]
            for target, each in fired.items()
        }

    def violations(self, recipes: Sequence[Recipe], sources: Sources, *, every: bool = False) -> list[Violation]:
        """Return the violations in further recipes, at any version.

        With `every`, violations that a stronger one silences are included.
        """
        fired = (hits(recipes, each, self.rules, self.is_told_of, sources=sources) for each in self.question.targets)
        return [violation for found in fired for violation in violations_of(found, every=every)]

    def _marked(
        self, found: Sequence[Finding], files: Iterable[File], sources: Sources, faults: Faults
    ) -> tuple[Suppressed, list[Problem]]:
        """Mark the findings that comments in these files, the configuration or the baseline silence."""
        by_path = {}
        malformed: list[Problem] = []
        for file in files:
            with faults.contained(file.path), suppress_error(Unreadable):  # which is told already
                find = reader_of(file.kind).comments
                by_path[file.path], problems = comments(file.path, sources.text(file.path), find)
                malformed += problems
        by_comments = suppress(found, by_path)
        return replace(by_comments, findings=self.silenced.mark(by_comments.findings)), malformed


def _files_of(readings: Iterable[Read]) -> Iterator[str]:
    for reading in readings:
        yield from (recipe.path for recipe in reading.recipes)
        yield from (each.path for each in reading.unfollowed)


def _only(reading: Read, paths: Collection[str]) -> Read:
    """Keep the part of a reading that is of these files."""
    recipes = tuple(each for each in reading.recipes if each.path in paths)
    return replace(
        reading, recipes=recipes, unfollowed=tuple(each for each in reading.unfollowed if each.path in paths)
    )


def reading_of(target: Target) -> ReadingKey:
    """Return the inputs that a reading depends on: the snapshot of Megatron-Bridge, the line of megatron-core, and the
    places whose files are read.
    """
    return target.library, ".".join(target.core.split(".")[:2]), target.places


def beside(targets: Iterable[Target], some: Iterable[Target]) -> list[Target]:
    """Return the targets that hold in the same places as some of them."""
    places = {each.places for each in some}
    return [each for each in targets if each.places in places]


def raising_findings(unfollowed: Mapping[Target, Iterable[Unfollowed]]) -> list[Finding]:
    """Report code that surely raises, for the versions where it does; each place and exception once."""
    by_place: dict[tuple[Span, str], list[tuple[Target, Unfollowed]]] = {}
    for target, every in unfollowed.items():
        for each in every:
            if each.certain:
                by_place.setdefault((each.point, each.message), []).append((target, each))
    return [_raising_finding(each, unfollowed) for each in by_place.values()]


def _raising_finding(every: Sequence[tuple[Target, Unfollowed]], asked: Iterable[Target]) -> Finding:
    _, first = every[0]
    versions, where = _holding(every, asked)
    return Finding(
        code=RAISES,
        name="raises-at-start-up",
        severity="error",
        stage="startup",
        message=f"{first.message}{f'; did you mean {first.nearest}?' if first.nearest else ''}{where}",
        span=first.point,
        consequence=f"{first.name} ends with this exception, and configures nothing",
        raises=first.message.removeprefix(f"{first.error}: "),
        versions=versions,
        enforced_by="nobody",
        recipes=tuple(AffectedRecipe(name, "error") for name in dict.fromkeys(each.name for _, each in every)),
        fingerprint=fingerprint(RAISES, first.path, first.qualified_name, first.message),
        content_fingerprint=fingerprint(RAISES, first.qualified_name, first.message),
    )


def _holding(found: Iterable[tuple[Target, object]], asked: Iterable[Target]) -> tuple[tuple[str, ...], str]:
    """Return the versions for which something holds, of several that are asked for, and how a message says them."""
    targets = {target for target, _ in found}
    there = beside(asked, targets)
    versions = () if len(there) == 1 else in_order(target.name for target in targets)
    return versions, "" if len(targets) == len(there) else f" (holds for {named_versions(versions)})"


_WHETHER = {
    "ddp.use_megatron_fsdp": "whether Megatron-FSDP is on",
    "dist.use_megatron_fsdp": "whether Megatron-FSDP is on",
    "dist.use_torch_fsdp2": "whether torch FSDP2 is on",
}


def undecided_findings(
    undecided: Mapping[Target, Sequence[Undecided]], is_linted: IsLinted, sources: Sources
) -> list[Finding]:
    """Tell the settings that could not be decided: each obstacle once, with the recipes that it keeps open."""
    by_obstacle: dict[tuple[Obstacle, str], list[tuple[Target, Undecided]]] = {}
    for target, every in undecided.items():
        for each in every:
            by_obstacle.setdefault((each.obstacle, each.path), []).append((target, each))
    return [_undecided_finding(each, undecided, is_linted, sources) for each in by_obstacle.values()]


def _undecided_finding(
    every: Sequence[tuple[Target, Undecided]], asked: Iterable[Target], is_linted: IsLinted, sources: Sources
) -> Finding:
    from mfsdp_lint.reports.places import line_in_file

    _, first = every[0]
    obstacle, recipe = first.obstacle, first.recipe
    what = _WHETHER.get(first.path, first.path)
    others = max(each.others for _, each in every)
    also = f", and {count(others, 'other setting')}," if others else ""
    line = line_in_file(obstacle.span.path, obstacle.span.line, sources)
    versions, where = _holding(every, asked)
    codes = dict.fromkeys(code for _, each in every for code in each.codes)
    return Finding(
        code=UNDECIDED,
        name="undecided-setting",
        severity="info",
        stage="never",
        message=f"{what}{also} could not be decided: {obstacle.reason(line)}; "
        f"`--set {first.path}={_as_option(first.value)}` judges it so{where}",
        span=obstacle.span if is_linted(obstacle.span.path) else Span(recipe.path, recipe.line, 1, recipe.line, 1),
        consequence=f"{', '.join(codes)} may fire, and cannot be told",
        versions=versions,
        enforced_by="nobody",
        recipes=tuple(AffectedRecipe(name, "info") for name in dict.fromkeys(each.recipe.label for _, each in every)),
        fingerprint=fingerprint(UNDECIDED, recipe.path, obstacle.text, first.path),
        content_fingerprint=fingerprint(UNDECIDED, obstacle.text, first.path),
    )


def _as_option(value: Plain) -> str:
    """Spell a value as `--set` reads it."""
    return {"None": "null", "True": "true", "False": "false"}.get(str(value), str(value))
