"""From causes to fixes: what to ask of `mfsdp_lint.fixes`, and how a proof judges changed texts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial

from mfsdp_lint.core.finding import SEVERITIES, Fix
from mfsdp_lint.core.recipe import Recipe, Variant
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.core.values import Plain
from mfsdp_lint.engine.judge import Judgement, Linter
from mfsdp_lint.engine.remaining import is_asked_for
from mfsdp_lint.fixes.apply import Fixed, fix_project, rounds
from mfsdp_lint.fixes.judged import Broken, FixRequest, Judged, Need
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.dependents import Importers, TooMany
from mfsdp_lint.inputs.discover import File
from mfsdp_lint.inputs.mentions import Mentions
from mfsdp_lint.inputs.sources import NOT_CHECKED
from mfsdp_lint.process import OverBudget, afford, budget
from mfsdp_lint.readers.registry import is_python
from mfsdp_lint.rules.check import Violation, violations_of
from mfsdp_lint.rules.findings import FindingGroup


def repair_of(judgement: Judgement, judge: Linter, codes: Collection[str]) -> Repair:
    """Return the repair of a judgement that may be by a selection of the rules."""
    if judge.rules != judge.every_rule:
        judge = replace(judge, rules=judge.every_rule)
        judgement = judge(judgement.sources, judgement)
    return Repair(judgement, judge, codes)


@dataclass(frozen=True, slots=True)
class Repair:
    """The fixes of one judgement.

    `judge` has to judge by every rule, so that a fix brings in nothing that the user merely chose not to see, and
    `judgement` has to be its own; `codes` are the rules whose findings may be fixed.
    """

    judgement: Judgement
    judge: Linter
    codes: Collection[str]
    mentions: Mentions = field(default_factory=Mentions, compare=False)
    importers: Importers = field(default_factory=Importers, compare=False)

    def only(self, paths: Collection[str]) -> Repair:
        """Keep the fixes of findings in these files."""
        causes = tuple(each for each in self.judgement.causes if each.finding.span.path in paths)
        return replace(self, judgement=replace(self.judgement, causes=causes))

    def proved(
        self, *, unsafe_too: bool, refused: Mapping[str, str], units: int | None = None
    ) -> tuple[dict[str, Fix], dict[str, str], frozenset[str]]:
        """Return fixes by fingerprint, the reasons why other findings have none, and the findings not decided on.

        Safe ones are proved among themselves, unsafe ones together with the safe ones; with `unsafe_too` all are
        proved together. Fixes that hold only after others have been made have no edits yet. `refused` says by
        fingerprint why some are known to have no fix: by themselves they are not tried again. `units` limits the work:
        past it the rest is left undecided.
        """
        fixes: dict[str, Fix] = {}
        reasons = dict(refused)
        with suppress(OverBudget), budget(units):
            self._prove(fixes, reasons, unsafe_too=unsafe_too, refused=refused)
            return fixes, reasons, frozenset()
        asked = frozenset(each.key for each in self._requests(self.judgement, unsafe=True))
        return fixes, reasons, asked - fixes.keys() - refused.keys()

    def _prove(
        self, fixes: dict[str, Fix], reasons: dict[str, str], *, unsafe_too: bool, refused: Mapping[str, str]
    ) -> None:
        """Add fixes, and reasons for none, in the order in which they are proved."""
        asked = set(refused)
        for unsafe in (True,) if unsafe_too else (False, True):
            before = self.judged(self.judgement, unsafe)
            if asked.issuperset(request.key for request in before.requests):
                continue
            asked.update(request.key for request in before.requests)
            project = _Project(self, unsafe)
            before = replace(before, afford=project.afford)
            known = {key: fix.edits for key, fix in fixes.items()}
            texts, is_linted = self.judgement.sources.text, self.judge.is_linted
            keys = {request.key for request in before.requests}
            now = True
            for proof in rounds(before, project.evaluate, texts, is_linted, project.widen, known):
                for each in proof.proved:
                    if each.request.key in keys:
                        fixes.setdefault(each.request.key, Fix(each.request.safety, each.edits if now else ()))
                reasons |= {each.request.key: each.reason for each in proof.unproved}
                if fixes.keys() >= keys:
                    break
                now = False

    def applied(self, *, unsafe: bool, without: Collection[str] = ()) -> Fixed:
        """Return the texts of all files with every fix that holds, the unsafe ones if asked for. Writes nothing.

        `without` are files that cannot be edited.
        """
        before = self.judged(self.judgement, unsafe)
        project = _Project(self, unsafe)

        def may_be_edited(path: str) -> bool:
            return self.judge.is_linted(path) and path not in without

        return fix_project(before, project.evaluate, self.judgement.sources.text, may_be_edited, project.widen)

    def project(self) -> _Project:
        """Return the project as it is, for a proof of other edits than these fixes."""
        return _Project(self, unsafe=True)

    def judged(self, judgement: Judgement, unsafe: bool) -> Judged:
        # What a stronger finding silences is there as well: it is not new when that one has been fixed.
        violations = [each for found in judgement.hits.values() for each in violations_of(found, every=True)]
        told = {(id(each.variant), each.rule.code) for cause in judgement.causes for each in cause.whole}
        return Judged(
            recipes=judgement.recipes,
            broken=_broken(violations, told),
            requests=list(self._requests(judgement, unsafe)),
            unreadable=[problem.path for problem in judgement.problems if problem.kind in NOT_CHECKED],
            files=[file.path for file in self.judge.question.every_file],
            search=self.mentions.files,
            breaks=lambda recipes: _broken(self.judge.violations(recipes, judgement.sources, every=True)),
        )

    def _requests(self, judgement: Judgement, unsafe: bool) -> Iterator[FixRequest]:
        for cause in judgement.causes:
            if is_asked_for(cause, self.judge, self.codes) and (unsafe or cause.safety == "safe"):
                finding = cause.finding
                needs = (*_needs(cause), *_pieces(cause, judgement.recipes))
                mistake = _mistake(cause.violations[0])
                assert cause.safety is not None
                unread = finding.severity == "error" and cause.violations[0].rule.is_about_reading
                stops = finding.severity == "error" and finding.stage == "startup"
                yield FixRequest(
                    finding.fingerprint,
                    mistake,
                    finding.severity,
                    cause.safety,
                    needs,
                    unread=unread,
                    stops=stops,
                    raises=finding.raises or "",
                )


UNITS_OF_A_USER = 6_000
"""Work that reading a user of an edited file takes at least: those of Megatron-Bridge's recipes take twice that."""

_MOST_KEPT = 8
"""Attempts of which the judgement is kept."""

_Attempt = frozenset[tuple[str, str]]
"""Paths, each with its text."""

_UNCHANGED: _Attempt = frozenset()


class _Project:
    """The project as proofs see it: what was asked for, and everybody who uses the files that they edit.

    These are read by themselves. What was asked for is then the same with them and without them.
    """

    def __init__(self, repair: Repair, unsafe: bool) -> None:
        self._repair = repair
        self._unsafe = unsafe
        self._tried: dict[_Attempt, tuple[Judgement, Judged]] = {}
        self._users: Linter | None = None
        self._users_tried: dict[_Attempt, Judgement] = {}

    def evaluate(self, texts: Mapping[str, str]) -> Judged:
        """Re-evaluate the project with other texts."""
        sources = self._repair.judgement.sources.with_texts(texts)
        # What holds without the users of edited files is tried with them right afterwards.
        key = frozenset(texts.items())
        if key not in self._tried:
            judgement = self._repair.judgement
            if texts:
                known = {each: tried for each, (tried, _) in self._tried.items()}
                judgement = self._repair.judge(sources, _nearest({_UNCHANGED: judgement, **known}, key))
            self._tried[key] = judgement, self._repair.judged(judgement, self._unsafe)
            if len(self._tried) > _MOST_KEPT:
                del self._tried[next(iter(self._tried))]
        _, asked = self._tried[key]
        return asked if self._users is None else replace(asked, with_users=partial(self._with_users, asked, texts))

    def _with_users(self, asked: Judged, texts: Mapping[str, str]) -> Judged:
        """Add the users of edited files to a judgement of the files that were asked for."""
        sources = self._repair.judgement.sources.with_texts(texts)
        assert self._users is not None
        key = frozenset(texts.items())
        judgement = self._users(sources, _nearest(self._users_tried, key))
        # Few are kept: users are many, and each attempt that comes so far changes much the same.
        self._users_tried = {**dict([*self._users_tried.items()][:1]), key: judgement}
        users = self._repair.judged(judgement, self._unsafe)
        # Of a file of which one function was asked for, the others are users.
        known = {_name(each) for each in asked.recipes}
        return replace(
            asked,
            recipes=(*asked.recipes, *(each for each in users.recipes if _name(each) not in known)),
            broken=(*asked.broken, *(each for each in users.broken if _name(each.recipe) not in known)),
            unreadable=(*asked.unreadable, *users.unreadable),
            users=[file.path for file in self._users.question.files],
            asked=asked,
            with_users=None,
        )

    def widen(self, before: Judged, texts: Mapping[str, str], edited: Collection[str]) -> Judged:
        """Re-evaluate the project with these texts, and with every user of the `edited` files from here on."""
        try:
            new = self._unread_users(edited)
        except TooMany:
            # Nobody knows who else uses them, so that nothing is proved.
            return replace(before, unprovable=True)
        if not new:
            return before
        afford(UNITS_OF_A_USER * len(new))
        question = self._repair.judge.question
        known = () if self._users is None else self._users.question.files
        theirs = replace(
            question, files=(*known, *new), addresses=(), named=(), dependents=(), beside=question.every_file
        )
        self._users = replace(self._repair.judge, question=theirs)
        asked = before if before.asked is None else before.asked
        return self._with_users(asked, texts)

    def afford(self, paths: Collection[str]) -> None:
        """Give up a proof that edits any of these files, where their users are more than the budget allows to read.

        Raises OverBudget.
        """
        with suppress(TooMany):
            afford(UNITS_OF_A_USER * min((len(self._unread_users([path])) for path in paths), default=0))

    def _unread_users(self, edited: Collection[str]) -> list[File]:
        """Return the files that use edited ones, and these, as far as they are not read yet. Raises TooMany."""
        known = () if self._users is None else self._users.question.files
        read = {disk.real(file.path) for file in (*self._repair.judge.question.files, *known)}
        modules = [path for path in sorted(edited) if is_python(path)]
        users = [*modules, *self._repair.importers.of(modules)]
        return [File(path, "python") for path in users if disk.real(path) not in read]


def _nearest(known: dict[_Attempt, Judgement], texts: _Attempt) -> Judgement | None:
    """Return the judgement from which most can be taken over: the last one of those that differ in the fewest texts."""
    return known[min(reversed(known), key=lambda each: len(each ^ texts))] if known else None


def _name(recipe: Recipe) -> tuple[str, str, str]:
    return recipe.path, recipe.qualified_name, recipe.label


def _broken(violations: Iterable[Violation], told: Collection[tuple[int, str]] | None = None) -> list[Broken]:
    def silenced(each: Violation) -> bool:
        return told is not None and (id(each.variant), each.rule.code) not in told

    # Several versions may break a rule with different severities; the proof goes by the last one.
    return [
        Broken(_mistake(each), each.severity, each.recipe, each.variant, silenced(each))
        for each in sorted(violations, key=lambda each: -SEVERITIES.index(each.severity))
    ]


def _mistake(violation: Violation) -> str:
    """Name the mistake that a fix is to remove: the rule; of a rule about assignments or text, also its place."""
    code = violation.rule.code
    if violation.passage:
        return f"{code} for {violation.passage.line}"
    return f"{code} for {violation.primary.setting}" if violation.rule.judges == "writes" else code


def _needs(cause: FindingGroup) -> Iterator[Need]:
    for violation in cause.whole:
        if violation.remedy is not None:
            remedy = violation.remedy
            # Where nothing else turned the feature on, the line at fault is the place to write next to.
            places = tuple(dict.fromkeys((*_anchors(violation), violation.primary.setting)))
            yield Need(
                violation.recipe,
                violation.variant,
                remedy.set,
                remedy.unset,
                places,
                remedy.edits,
                remedy.drop,
                remedy.rename,
                remedy.may_change,
            )


def _anchors(violation: Violation) -> Iterator[str]:
    """Yield the settings that turned the feature on; of a rule about assignments, all settings that it asks besides."""
    rule = violation.rule
    if rule.judges == "writes":
        yield from rule.applies.deciding(violation.seen)
        return
    for setting in rule.blame.enabled_by:
        yield from (path for path in setting.deciding(violation.variant) if path in violation.witnesses)


def _pieces(cause: FindingGroup, recipes: Iterable[Recipe]) -> Iterator[Need]:
    """Yield the settings to change or add in the files of overrides that a program reads its values from.

    By itself such a file is only a piece of a configuration, and does not make the mistake.
    """
    pieces = [(recipe, variant) for recipe in recipes if recipe.kind == "overrides" for variant in recipe.variants]
    for recipe, variant in pieces:
        wrong: dict[str, Plain] = {}
        gone: set[str] = set()
        new: set[str] = set()
        for violation in cause.whole:
            if violation.variant is variant or violation.remedy is None:
                continue
            wrong |= {path: value for path, value in violation.remedy.set.items() if _reads(violation, path, variant)}
            gone |= {path for path in violation.remedy.unset if _reads(violation, path, variant)}
            if any(_reads(violation, path, variant) for path in violation.witnesses):
                new |= {path for path in violation.remedy.set if variant.origin(path) is None}
        if wrong or gone or new:
            yield Need(recipe, variant, wrong, tuple(sorted(gone)), drop=tuple(sorted(new)), piece=True)


def _reads(violation: Violation, path: str, piece: Variant) -> bool:
    """Tell whether a setting takes its value from a file of overrides."""
    origin, own = violation.variant.origin(path), piece.origin(path)
    return origin is not None and own is not None and own.point in (source.span for source in origin.sources)
