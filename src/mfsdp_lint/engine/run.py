"""A run of the linter: find the files, judge them, fix or show the fixes."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mfsdp_lint.core.finding import Applied, Finding
from mfsdp_lint.core.kept import NotKept
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.engine.cache import Outcome
from mfsdp_lint.engine.judge import Judgement, Linter
from mfsdp_lint.engine.read import Question, question, with_dependents, with_launchers, with_targets
from mfsdp_lint.engine.remaining import NOTHING_TRIED, TriedFixes, affordable, possible, proved, where_it_holds
from mfsdp_lint.engine.silenced import Silenced
from mfsdp_lint.engine.unused import Tidied, tidied, unused_suppressions
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.faults import Faults
from mfsdp_lint.inputs.options import Options, UsageError
from mfsdp_lint.inputs.sources import Problem, Sources
from mfsdp_lint.readers.registry import kind_of, reader_of
from mfsdp_lint.reports.summary import recipe_states, summarise
from mfsdp_lint.rules.about_files import ABOUT_FILES, STALE_ENTRY, UNDECIDED, UNREADABLE, UNUSED_COMMENT, file_finding
from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.rules.model import Rule
from mfsdp_lint.rules.selection import Levels, resolved, rules_for, selected

if TYPE_CHECKING:
    from mfsdp_lint.engine.recall import Recall
    from mfsdp_lint.fixes.apply import Fixed


@dataclass(frozen=True, slots=True)
class _Run:
    """The inputs of a run: the options, the judge that they ask for, the codes that are shown, and all rules.

    `ask` has a question judged, perhaps with the memory of an earlier run.
    """

    options: Options
    judge: Linter
    codes: frozenset[str]
    rules: Sequence[Rule]
    levels: Levels
    ask: Callable[[Linter, Sources], Judgement] = Linter.__call__


def run(options: Options, recall: Recall | None = None) -> Outcome:
    """Run the linter as the options ask, with the memory of an earlier run. Raises UsageError, and NotKept."""
    asked, not_there = question(options)
    asked = with_dependents(with_targets(with_launchers(asked), options), options)
    fixing = options.fix or options.fix_only
    if asked.command_line.overrides and (fixing or options.diff):
        raise UsageError("--fix and --diff repair the recipe as it stands; use them without --set and --env")
    if options.since is not None and (fixing or options.diff or options.update_baseline):
        raise UsageError("--since tells what is new; --fix, --diff and --update-baseline are about all there is")
    judge, codes, rules = prepare(options, asked)
    ask = Linter.__call__ if recall is None else recall.judge
    this = _Run(options, judge, codes, rules, levels_of(options, rules), ask)
    judgement = ask(judge, Sources(asked.texts))
    faults = Faults()
    done = _Done()
    # A fault in all fixes together is reported in the first file.
    with faults.contained(judgement.causes[0].finding.span.path if judgement.causes else ""):
        if options.diff:
            done = _patch(judgement, this, faults)
        elif fixing:
            done = _fixed(judgement, this, faults)

    def told(judgement: Judgement) -> Outcome:
        is_lasting = True
        if judgement.of_users:
            from mfsdp_lint.engine.earlier import with_brought

            judgement, is_lasting = with_brought(judgement, judge)
        problems = (*judgement.problems, *not_there)

        def outcome(paths: Collection[str]) -> Outcome:
            here = [each for each in (*problems, *faults.problems) if each.path in paths or each.kind == "internal"]
            return replace(_outcome(judgement.only(paths), here, this, done, faults), is_lasting=is_lasting)

        return faults.over_files([*judgement.files, *(each.path for each in problems)], outcome)

    if not done.texts:
        return told(judgement)
    sources = judgement.sources.with_texts(done.texts)
    try:
        return told(judge(sources, judgement))
    except NotKept:  # the files are written, so that the run cannot be done anew
        return told(judge(sources, None))


def _outcome(judgement: Judgement, problems: Sequence[Problem], this: _Run, done: _Done, faults: Faults) -> Outcome:
    """Build the outcome of a judgement, after the fixes that were asked for."""
    options, judge, codes = this.options, this.judge, this.codes
    fixing = options.fix or options.fix_only
    told_before = len(faults.problems)
    found: list[Finding] = []
    already = 0
    if not options.fix_only or options.diff:
        found += _remaining(judgement, this, done.tried, faults)
        if UNUSED_COMMENT in codes and judgement.unused:
            found += judge.silenced.mark(list(unused_suppressions(judgement, judge, this.rules, options.paths)))
    about_files = _about_files((*problems, *faults.problems[told_before:]), codes)
    if options.fix_only and not options.diff:
        about_files = [finding for finding in about_files if finding.severity == "error"]  # one that was not looked at
    if options.since is not None:
        before = len(found) + len(about_files)
        found, about_files = _caused_since(options.since, (found, about_files), judgement, judge, options)
        already = before - len(found) - len(about_files)
    found = _with_baseline([*judge.silenced.mark(about_files), *found], judge, codes, options)
    found = sorted(map(this.levels.applied, found), key=lambda finding: finding.order)
    return Outcome(
        findings=tuple(found),
        summary=summarise(
            found,
            judge.question.targets,
            files=len(judge.question.every_file),
            recipes=judgement.distinct_recipes,
            fixed=done.number,
            repaired=done.repaired,
            unsafe_fixes=options.unsafe_fixes,
            unfollowed=len(judgement.unfollowed),
            already=already,
        ),
        fixes=done.fixes,
        recipes=recipe_states(_told_of(judgement, judge), judgement.causes, this.levels.of)
        if options.group_by == "recipe"
        else (),
        unfollowed=judgement.unfollowed,
        sources=judgement.sources,
        problems=tuple(f"{problem.path}: {problem.message}" for problem in problems if problem.kind == "usage"),
        remarks=(*options.remarks, *judgement.remarks, *(_without_editor(judgement) if fixing or options.diff else ())),
        patch=done.patch,
        left=done.left,
        read={each: judgement.recipes_for(each) for each in judge.question.targets},
    )


def _told_of(judgement: Judgement, judge: Linter) -> list[Recipe]:
    """Return the recipes of the asked files, and those that these break."""
    broken = {id(each.recipe) for cause in judgement.causes for each in cause.violations}
    return [each for each in judgement.recipes if id(each) in broken or not judge.is_dependent(each.path)]


def prepare(options: Options, asked: Question) -> tuple[Linter, frozenset[str], Sequence[Rule]]:
    """Return the judge for these options, the codes that are shown, and all rules that there are."""
    rules = load_rules()
    if options.extend_rules:
        rules = rules_for(options.extend_rules)
    names = names_of(rules)
    select = resolved(options.select, names, "select")
    more = resolved(options.extend_select, names, "extend-select")
    ignore = resolved(options.ignore, names, "ignore")
    codes = selected(names, (*(select or ("",)), *more), ignore)
    on = tuple(rule for rule in rules if _is_on(rule, options, (*select, *more)))
    codes -= {rule.code for rule in rules} - {rule.code for rule in on}
    # Selecting other rules does not hide that a file was not checked at all; ignoring it does.
    codes |= selected(names, (), ignore) & {UNREADABLE, STALE_ENTRY}
    selection = tuple(rule for rule in rules if rule.code in codes)
    return Linter(asked, selection, on, _silenced(options, names)), codes, rules


def names_of(rules: Iterable[Rule]) -> dict[str, str]:
    """Return the name of every code that there is."""
    return {rule.code: rule.name for rule in rules} | {each.code: each.name for each in ABOUT_FILES}


def levels_of(options: Options, rules: Iterable[Rule]) -> Levels:
    """Return the severities that the options set. Raises UsageError."""
    if not options.severity:
        return Levels()
    words, levels = zip(*options.severity, strict=True)
    return Levels(tuple(zip(resolved(words, names_of(rules), "severity"), levels, strict=True)))


def _silenced(options: Options, names: Mapping[str, str]) -> Silenced:
    """Return the findings that the configuration or a baseline silences. Raises UsageError."""
    per_file = tuple(
        (glob, resolved(codes, names, f"per-file-ignores: {glob}")) for glob, codes in options.per_file_ignores
    )
    if options.baseline is None:
        return Silenced(per_file)
    from mfsdp_lint.engine.silenced import load

    return Silenced(per_file, load(options.baseline, to_update=options.update_baseline))


def _caused_since(
    text: str, found: tuple[list[Finding], ...], judgement: Judgement, judge: Linter, options: Options
) -> Iterator[list[Finding]]:
    """Keep, of each list, the findings that the change since a revision caused. Raises UsageError."""
    from mfsdp_lint.engine.earlier import since

    before = since(text, options, judge.question.targets)
    violations = {cause.finding.fingerprint: cause.violations for cause in judgement.causes}
    for each in found:
        yield [finding for finding in each if before.caused(finding, violations.get(finding.fingerprint, ()))]


def _with_baseline(found: list[Finding], judge: Linter, codes: frozenset[str], options: Options) -> list[Finding]:
    """Return the findings, with those about the baseline; or all accepted, where it is updated. Raises UsageError."""
    baseline = judge.silenced.baseline
    if baseline is None:
        return found
    paths = {disk.real(file.path) for file in judge.question.every_file}
    folders = [os.path.join(disk.real(path), "") for path in options.paths if disk.is_folder(path)]
    if not options.update_baseline:
        # What one launch makes of a file is not all that is found there, nor what some of many users make of it.
        asked = judge.question
        whole = not (asked.command_line.overrides or asked.addresses or asked.lacks_users)
        return [*found, *(baseline.stale(found, codes, paths, folders) if whole else ())]
    new = baseline.updated(found, codes, paths, folders)
    new.write()
    return replace(judge.silenced, baseline=new).mark(found)


def _is_on(rule: Rule, options: Options, named: Collection[str]) -> bool:
    """Tell whether a rule is on, as far as its preset goes, and its being new."""
    strict = options.preset == "strict"
    asked = rule.preset in (None, options.preset) or strict
    return (asked and (options.preview or strict or not rule.preview)) or rule.code in named


def _remaining(judgement: Judgement, this: _Run, tried: TriedFixes, faults: Faults) -> list[Finding]:
    """Return the findings about recipes and about code that makes none."""
    options, judge, codes = this.options, this.judge, this.codes
    if options.fixes_are_seen:
        units = None if options.show_fixes else affordable(judgement)
        found = proved(judgement, judge, codes, tried, unsafe_too=options.unsafe_fixes, units=units, faults=faults)
    else:
        found = possible(judgement, judge, codes, tried)
    found = where_it_holds(found, judgement, judge, this.ask)
    if options.confirm:
        found = _confirmed(found, judgement, judge, options)
    about_code = [finding for finding in judgement.raising if finding.code in codes]
    if options.preset == "strict":
        about_code = [replace(each, severity="warning") if each.code == UNDECIDED else each for each in about_code]
    return [*found, *about_code]


@dataclass(frozen=True, slots=True)
class _Done:
    """The result of fixing: the fixes, how many of the first findings they were for, and the unwritten files.

    `repaired` of these findings stopped their runs at start-up. `patch` is there instead of written files where nothing
    was to be written. `tried` are the fixes that were tried, and `texts` those of the written files.
    """

    fixes: tuple[Applied, ...] = ()
    number: int = 0
    repaired: int = 0
    left: tuple[str, ...] = ()
    patch: bytes = b""
    tried: TriedFixes = NOTHING_TRIED
    texts: Mapping[str, str] = field(default_factory=dict)


def _patch(judgement: Judgement, this: _Run, faults: Faults) -> _Done:
    """Return the changes that fixing would make, and the fixes."""
    if not (judgement.causes or judgement.has_comments):
        return _Done()
    from mfsdp_lint.engine import write
    from mfsdp_lint.fixes.apply import applied

    fixed, tidy, blocked = _planned(judgement, this, faults)
    return _Done(
        (*map(applied, fixed.fixed), *tidy.fixes),
        left=tuple(write.left(blocked, tried=False)),
        patch=write.patch(tidy.texts, judgement.sources),
        tried=_tried(fixed),
    )


def _fixed(judgement: Judgement, this: _Run, faults: Faults) -> _Done:
    """Write the files as they are after fixing, and return the fixes that were made."""
    from mfsdp_lint.engine import write

    write.remove_leftovers(file.path for file in this.judge.question.every_file)
    if not (judgement.causes or judgement.has_comments):
        return _Done()
    from mfsdp_lint.fixes.apply import applied

    fixed, tidy, blocked = _planned(judgement, this, faults)
    done = write.write(replace(fixed, texts=tidy.texts), judgement.sources, faults)
    taken_out = [each for each in tidy.fixes if each.span.path in done.texts]
    return _Done(
        (*map(applied, done.fixed), *taken_out),
        done.number + len(taken_out),
        done.repaired,
        (*write.left(blocked), *done.left),
        tried=_tried(fixed),
        texts=done.texts,
    )


def _planned(judgement: Judgement, this: _Run, faults: Faults) -> tuple[Fixed, Tidied, dict[str, str]]:
    """Return the fixes and the texts that can be written, and the files that cannot, each with the reason.

    These files are found before anything is written, and the fixes are planned without them.
    """
    from mfsdp_lint.engine import write
    from mfsdp_lint.engine.repair import repair_of

    options = this.options
    repair = repair_of(judgement, this.judge, this.codes)

    def planned(paths: Collection[str]) -> tuple[Fixed, Tidied, dict[str, str]]:
        blocked: dict[str, str] = {}
        while True:
            fixed = repair.only(paths).applied(unsafe=options.unsafe_fixes, without=blocked)
            tidy = Tidied(fixed.texts)
            if UNUSED_COMMENT in this.codes:
                here = judgement.only(paths)
                tidy = tidied(fixed.texts, here, this.judge, this.rules, options.paths, without=blocked)
            # What comes from stdin has no file that could be written.
            more = write.not_writable(tidy.texts, judgement.sources) if options.stdin is None else {}
            if not more:
                return fixed, tidy, blocked
            blocked |= more

    return faults.over_files(judgement.files, planned)


def _tried(fixed: Fixed) -> TriedFixes:
    holds = frozenset(each.request.key for each in fixed.fixed)
    return TriedFixes(holds, {each.request.key: each.reason for each in fixed.unproved})


def _without_editor(judgement: Judgement) -> Iterator[str]:
    """Yield a remark for findings that could be fixed in another kind of file."""
    from mfsdp_lint.fixes.editor import EDITORS

    wanted = (cause.finding for cause in judgement.causes if cause.safety)
    for kind in dict.fromkeys(kind_of(finding.span.path) for finding in wanted if finding.suppressed is None):
        if kind and kind not in EDITORS:
            yield f"{reader_of(kind).type.called} is not edited: its findings have no fixes"


def _confirmed(findings: Sequence[Finding], judgement: Judgement, judge: Linter, options: Options) -> list[Finding]:
    """Return the findings, with the confirmation of a dry run."""
    from mfsdp_lint.dryrun.run import confirmed
    from mfsdp_lint.process import progress_line

    show = progress_line()
    result = confirmed(findings, judgement.causes, judge.every_rule, options.python, show, options.megatron_lm)
    show("")
    return result


def _about_files(problems: Iterable[Problem], codes: frozenset[str]) -> list[Finding]:
    """Return findings about files themselves, each once."""
    findings = [file_finding(problem) for problem in dict.fromkeys(problems) if problem.kind != "usage"]
    return [finding for finding in findings if finding.code in codes]
