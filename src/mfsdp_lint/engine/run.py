"""One run: find the files, judge them, fix or show the fixes. Reports are made from its outcome."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from mfsdp_lint.core.finding import Applied, Finding, Fix
from mfsdp_lint.core.recipe import Unfollowed
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.engine.judge import FILE_CODES, UNREADABLE, UNUSED_COMMENT, Judge, Judgement, file_finding
from mfsdp_lint.engine.other_versions import where_it_holds
from mfsdp_lint.engine.read import Question, question
from mfsdp_lint.engine.unused import unused_suppressions
from mfsdp_lint.inputs.faults import Faults
from mfsdp_lint.inputs.options import Options, UsageError
from mfsdp_lint.inputs.sources import Problem, Sources
from mfsdp_lint.readers.registry import kind_of, reader_of
from mfsdp_lint.results.by_recipe import RecipeState, by_recipe
from mfsdp_lint.results.summary import Summary, summarise
from mfsdp_lint.rules.findings import Cause
from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.rules.model import Rule
from mfsdp_lint.rules.selection import selected

NO_FIX = "the rule has no fix for this: what is meant is for a person to say"
AFTER_OTHERS = "it is made once others have been"
ONE_LAUNCH = "it is judged under the overrides of one launch, and the file has others"
"""Why findings have no fix."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run comes to: the findings that remain, by place and code, and what was asked for but cannot be done.

    `fixes` are those that were applied, or are in the patch. `recipes` is the same by recipe, where that was asked for.
    `unfollowed` is code of which there is no recipe though there should be. `patch` is what `--diff` shows. `left` says
    which files were to be written and were not. `sources` are the files as they are after the run.
    """

    findings: tuple[Finding, ...]
    summary: Summary
    sources: Sources
    fixes: tuple[Applied, ...] = ()
    recipes: tuple[RecipeState, ...] = ()
    unfollowed: tuple[Unfollowed, ...] = ()
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    patch: bytes = b""
    left: tuple[str, ...] = ()

    def text(self, path: str) -> str | None:
        """The text of a file, for the reports; None where it cannot be read."""
        return self.sources.text_or_none(path)


def run(options: Options) -> Outcome:
    """Does what the options ask for. Raises UsageError."""
    asked, not_there = question(options)
    fixing = options.fix or options.fix_only
    if asked.command_line.overrides and (fixing or options.diff):
        raise UsageError("--fix and --diff repair the recipe as it stands; use them without --set and --env")
    judge, codes, rules = prepare(options, asked)
    judgement = judge(Sources(asked.command_line.texts))
    not_there += tuple(problem for problem in judgement.problems if problem.kind == "usage")
    problems = [f"{problem.path}: {problem.message}" for problem in not_there if problem.kind == "usage"]
    done = _Done()
    faults = Faults()
    with faults.contained(_first_path(judgement)):
        if options.diff:
            done = _patch(judgement, judge, codes, options)
        elif fixing:
            judgement, done = _fixed(judgement, judge, codes, options)
    found: list[Finding] = []
    if not options.fix_only or options.diff:
        found += _remaining(judgement, judge, codes, options, faults)
        if UNUSED_COMMENT in codes and judgement.unused:
            found += unused_suppressions(judgement, judge, rules, options.paths)
    about_files = _about_files((*judgement.problems, *faults.problems, *not_there), codes)
    if options.fix_only and not options.diff:
        about_files = [finding for finding in about_files if finding.severity == "error"]  # one that was not looked at
    found = sorted([*about_files, *found], key=lambda finding: finding.order)
    return Outcome(
        findings=tuple(found),
        summary=summarise(
            found,
            judge.question.targets,
            files=len(asked.every_file),
            recipes=judgement.distinct_recipes,
            fixed=done.number,
            unsafe_fixes=options.unsafe_fixes,
            unfollowed=len(judgement.unfollowed),
        ),
        fixes=done.fixes,
        recipes=by_recipe(judgement.recipes, judgement.causes) if options.group_by == "recipe" else (),
        unfollowed=judgement.unfollowed,
        sources=judgement.sources,
        problems=tuple(problems),
        remarks=(*judgement.remarks, *(_without_editor(judgement) if fixing or options.diff else ())),
        patch=done.patch,
        left=done.left,
    )


def prepare(options: Options, asked: Question) -> tuple[Judge, frozenset[str], Sequence[Rule]]:
    """The judge for these options, the codes that are shown, and all rules that there are."""
    rules = load_rules()
    if options.extend_rules:
        from mfsdp_lint.rules.extend import rules_for

        rules = rules_for(options.extend_rules)
    known = (*(rule.code for rule in rules), *FILE_CODES)
    codes = selected(known, options.select, options.ignore)
    on = tuple(rule for rule in rules if rule.preset in (None, options.preset) or rule.code in options.select)
    codes -= {rule.code for rule in rules} - {rule.code for rule in on}
    # Selecting other rules does not hide that a file was not checked at all; ignoring it does.
    codes |= selected(known, (), options.ignore) & {UNREADABLE}
    selection = tuple(rule for rule in rules if rule.code in codes)
    return Judge(asked, selection, on), codes, rules


def _first_path(judgement: Judgement) -> str:
    """Where a fault in all fixes together is told."""
    return judgement.causes[0].finding.span.path if judgement.causes else ""


def _remaining(
    judgement: Judgement, judge: Judge, codes: frozenset[str], options: Options, faults: Faults
) -> list[Finding]:
    """The findings about recipes and about code that makes none."""
    found = where_it_holds(_fixable(judgement, judge, codes, options, faults), judgement, judge)
    if options.confirm:
        found = _confirmed(found, judgement, judge, options)
    return [*found, *(finding for finding in judgement.raising if finding.code in codes)]


@dataclass(frozen=True, slots=True)
class _Done:
    """What fixing came to: the fixes, how many of the first findings they were for, and what could not be written.

    `patch` is there instead of that where nothing was to be written.
    """

    fixes: tuple[Applied, ...] = ()
    number: int = 0
    left: tuple[str, ...] = ()
    patch: bytes = b""


def _patch(judgement: Judgement, judge: Judge, codes: frozenset[str], options: Options) -> _Done:
    """What fixing would change, and the fixes."""
    if not judgement.causes:
        return _Done()
    from mfsdp_lint.engine.repair import Repair
    from mfsdp_lint.fixes.applied import applied
    from mfsdp_lint.fixes.patch import make_patch

    fixed = Repair(*_by_every_rule(judgement, judge), codes).applied(unsafe=options.unsafe_fixes)
    encode, now = judgement.sources.encode, judgement.sources.text
    changed = ((path, encode(path, now(path)), encode(path, text)) for path, text in sorted(fixed.texts.items()))
    return _Done(tuple(map(applied, fixed.fixed)), patch=make_patch(changed))


def _fixed(judgement: Judgement, judge: Judge, codes: frozenset[str], options: Options) -> tuple[Judgement, _Done]:
    """The judgement of the files as they are after fixing, and what was done."""
    from mfsdp_lint.engine import write

    write.remove_leftovers(file.path for file in judge.question.every_file)
    if not judgement.causes:
        return judgement, _Done()
    from mfsdp_lint.engine.repair import Repair
    from mfsdp_lint.fixes.applied import applied

    repair = Repair(*_by_every_rule(judgement, judge), codes)
    fixed = repair.applied(unsafe=options.unsafe_fixes)
    left: dict[str, str] = {}
    # What cannot be written is found before anything is, and done without.
    while more := write.not_writable(fixed.texts, judgement.sources):
        left |= more
        fixed = repair.applied(unsafe=options.unsafe_fixes, without=left)
    done = write.write(fixed, judgement.sources)
    if done.texts:
        judgement = judge(judgement.sources.with_texts(done.texts), judgement)
    return judgement, _Done(tuple(map(applied, done.fixed)), done.number, (*write.left(left), *done.left))


def _without_editor(judgement: Judgement) -> Iterator[str]:
    """What is worth saying of findings that could be fixed in another kind of file."""
    from mfsdp_lint.fixes.editors import EDITORS

    wanted = (cause.finding for cause in judgement.causes if cause.safety)
    for kind in dict.fromkeys(kind_of(finding.span.path) for finding in wanted if finding.suppressed is None):
        if kind and kind not in EDITORS:
            yield f"{reader_of(kind).type.called} is not edited: its findings have no fixes"


def _fixable(
    judgement: Judgement, judge: Judge, codes: frozenset[str], options: Options, faults: Faults
) -> list[Finding]:
    """The findings of a judgement, each with its fix where one was proved, else with the reason why there is none."""
    if not judgement.causes:
        return []
    # A file is not at fault for what one launch makes of it, and its other launches must not change.
    if judge.question.command_line.overrides:
        return [replace(cause.finding, no_fix=ONE_LAUNCH) for cause in judgement.causes]
    from mfsdp_lint.engine.repair import Repair
    from mfsdp_lint.fixes.groups import grouped

    fixes: Mapping[str, Fix] = {}
    reasons: Mapping[str, str] = {}
    with faults.contained(_first_path(judgement)):
        fixes, reasons = Repair(*_by_every_rule(judgement, judge), codes).proved(unsafe_too=options.unsafe_fixes)
    fixes = grouped(fixes)
    return [_with_fix(cause, fixes, reasons) for cause in judgement.causes]


def _with_fix(cause: Cause, fixes: Mapping[str, Fix], reasons: Mapping[str, str]) -> Finding:
    finding = cause.finding
    if fix := fixes.get(finding.fingerprint):
        if fix.edits:
            return replace(finding, fixable=fix.safety, fix=replace(fix, why=cause.why))
        return replace(finding, fixable=fix.safety, no_fix=AFTER_OTHERS)
    if finding.suppressed is not None:
        return replace(finding, no_fix="a comment silences it")
    return replace(finding, no_fix=reasons.get(finding.fingerprint) or cause.no_fix or NO_FIX)


def _confirmed(findings: Sequence[Finding], judgement: Judgement, judge: Judge, options: Options) -> list[Finding]:
    """The findings, with what a dry run says of them."""
    from mfsdp_lint.dryrun.confirm import confirmed
    from mfsdp_lint.dryrun.progress import progress

    show = progress()
    result = confirmed(findings, judgement.causes, judge.every_rule, options.python, show, options.megatron_lm)
    show("")
    return result


def _by_every_rule(judgement: Judgement, judge: Judge) -> tuple[Judgement, Judge]:
    """The same without a selection, for fixes must not bring in what the user merely chose not to see."""
    if judge.rules == judge.every_rule:
        return judgement, judge
    everything = replace(judge, rules=judge.every_rule)
    return everything(judgement.sources, judgement), everything


def _about_files(problems: Iterable[Problem], codes: frozenset[str]) -> list[Finding]:
    """Findings about files themselves, each once."""
    findings = [file_finding(problem) for problem in dict.fromkeys(problems) if problem.kind != "usage"]
    return [finding for finding in findings if finding.code in codes]
