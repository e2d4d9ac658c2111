"""One run: find the files, judge them, fix or show the fixes. Reports are made from its outcome."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mfsdp_lint.core.finding import Finding
from mfsdp_lint.core.recipe import Unfollowed
from mfsdp_lint.engine.judge import FILE_CODES, UNREADABLE, UNUSED_COMMENT, Judge, Judgement, file_finding
from mfsdp_lint.engine.other_versions import where_it_holds
from mfsdp_lint.engine.read import Question, question
from mfsdp_lint.engine.unused import unused_suppressions
from mfsdp_lint.inputs.options import Options, UsageError
from mfsdp_lint.inputs.sources import Problem, Sources, Unreadable, atomic_write
from mfsdp_lint.readers.registry import kind_of, reader_of
from mfsdp_lint.results.summary import Summary, summarise
from mfsdp_lint.rules.extend import rules_for
from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.rules.model import Rule
from mfsdp_lint.rules.selection import selected

_SHOW_EDITS = ("full", "json")
"""Formats that show the edits of a fix, which is done only once they are proved."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run comes to: the findings that remain, by place and code, and what was asked for but cannot be done.

    `unfollowed` is code of which there is no recipe though there should be. `patch` is what `--diff` shows. `sources`
    are the files as they are after the run.
    """

    findings: tuple[Finding, ...]
    summary: Summary
    sources: Sources
    unfollowed: tuple[Unfollowed, ...] = ()
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    patch: bytes = b""

    def text(self, path: str) -> str | None:
        """The text of a file, for the reports; None where it cannot be read."""
        return self.sources.text_or_none(path)


def run(options: Options) -> Outcome:
    """Does what the options ask for. Raises UsageError."""
    asked, not_there = question(options)
    if asked.command_line.overrides and (options.fix or options.diff):
        raise UsageError("--fix and --diff repair the recipe as it stands; use them without --set and --env")
    judge, codes, rules = _prepare(options, asked)
    judgement = judge(Sources(asked.command_line.texts))
    not_there += tuple(problem for problem in judgement.problems if problem.kind == "usage")
    problems = [f"{problem.path}: {problem.message}" for problem in not_there if problem.kind == "usage"]
    patch = b""
    fixed = 0
    if options.fix or options.diff:
        texts, fixed = _repaired(judgement, judge, codes, unsafe=options.unsafe_fixes)
        if options.diff:
            patch = _patch(texts, judgement.sources)
        else:
            problems += _write(texts, judgement.sources)
        judgement = judge(judgement.sources.with_texts(texts), judgement) if texts else judgement
    found = _fixable(judgement, judge, codes, edits=options.output_format in _SHOW_EDITS and not options.diff)
    found = where_it_holds(found, judgement, judge)
    if options.confirm:
        found = _confirmed(found, judgement, judge, options)
    found += [finding for finding in judgement.raising if finding.code in codes]
    found += _about_files((*judgement.problems, *not_there), codes)
    if UNUSED_COMMENT in codes and judgement.unused:
        found += unused_suppressions(judgement, judge, rules, options.paths)
    found.sort(key=lambda finding: finding.order)
    return Outcome(
        findings=tuple(found),
        summary=summarise(
            found,
            judge.question.targets,
            files=len(asked.every_file),
            recipes=judgement.distinct_recipes,
            fixed=fixed,
            unsafe_fixes=options.unsafe_fixes,
            unfollowed=len(judgement.unfollowed),
        ),
        unfollowed=judgement.unfollowed,
        sources=judgement.sources,
        problems=tuple(problems),
        remarks=(*judgement.remarks, *(_without_editor(judgement) if options.fix or options.diff else ())),
        patch=patch,
    )


def _prepare(options: Options, asked: Question) -> tuple[Judge, frozenset[str], Sequence[Rule]]:
    """The judge for these options, the codes that are shown, and all rules that there are."""
    rules = rules_for(options.extend_rules) if options.extend_rules else load_rules()
    known = (*(rule.code for rule in rules), *FILE_CODES)
    codes = selected(known, options.select, options.ignore)
    on = tuple(rule for rule in rules if rule.preset in (None, options.preset) or rule.code in options.select)
    codes -= {rule.code for rule in rules} - {rule.code for rule in on}
    # Selecting other rules does not hide that a file was not checked at all; ignoring it does.
    codes |= selected(known, (), options.ignore) & {UNREADABLE}
    selection = tuple(rule for rule in rules if rule.code in codes)
    return Judge(asked, selection, on), codes, rules


def _repaired(
    judgement: Judgement, judge: Judge, codes: frozenset[str], *, unsafe: bool
) -> tuple[Mapping[str, str], int]:
    """The texts that fixes change, by path, and how many findings that fixes."""
    if not judgement.causes:
        return {}, 0
    from mfsdp_lint.engine.repair import Repair

    fixed = Repair(*_by_every_rule(judgement, judge), codes).applied(unsafe=unsafe)
    return fixed.texts, len(fixed.fixed)


def _without_editor(judgement: Judgement) -> Iterator[str]:
    """What is worth saying of findings that could be fixed in another kind of file."""
    from mfsdp_lint.fixes.editors import EDITORS

    wanted = (cause.finding for cause in judgement.causes if cause.safety)
    for kind in dict.fromkeys(kind_of(finding.span.path) for finding in wanted if finding.suppressed is None):
        if kind and kind not in EDITORS:
            yield f"{reader_of(kind).type.called} is not edited: its findings have no fixes"


def _fixable(judgement: Judgement, judge: Judge, codes: frozenset[str], *, edits: bool) -> list[Finding]:
    """The findings of a judgement, with what can be fixed, and the edits if these are to be shown."""
    findings = [cause.finding for cause in judgement.causes]
    # A file is not at fault for what one launch makes of it, and its other launches must not change.
    if not findings or judge.question.command_line.overrides:
        return findings
    from mfsdp_lint.engine.repair import Repair

    repair = Repair(*_by_every_rule(judgement, judge), codes)
    if edits:
        fixes = repair.proved()
        return [
            replace(finding, fixable=fix.safety, fix=fix) if (fix := fixes.get(finding.fingerprint)) else finding
            for finding in findings
        ]
    # What holds for some versions of a range only is never proved for all of them.
    versions = len(judge.question.targets)
    everywhere = {
        cause.finding.fingerprint
        for cause in judgement.causes
        if len({violation.target for violation in cause.violations}) == versions
    }
    safeties = {key: safety for key, safety in repair.plannable().items() if key in everywhere}
    return [replace(finding, fixable=safeties.get(finding.fingerprint)) for finding in findings]


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


def _patch(texts: Mapping[str, str], sources: Sources) -> bytes:
    from mfsdp_lint.fixes.patch import make_patch

    return make_patch(
        (path, sources.encode(path, sources.text(path)), sources.encode(path, text))
        for path, text in sorted(texts.items())
    )


def _write(texts: Mapping[str, str], sources: Sources) -> list[str]:
    """Writes the new texts; returns what could not be written."""
    failed = []
    for path, text in sorted(texts.items()):
        try:
            atomic_write(path, sources.encode(path, text))
        except (OSError, Unreadable) as error:
            failed.append(f"{path}: cannot be written: {getattr(error, 'strerror', None) or error}")
    return failed
