"""Trials of one injection: lint, fix, and compare the results for all callers, without the fixer's own view."""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

from benchmarks.injected.cure import obstacle
from benchmarks.injected.shapes import Project
from mfsdp_lint.core.finding import SEVERITIES
from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.values import Known, Value, describe
from mfsdp_lint.engine.judge import Judgement, Linter
from mfsdp_lint.engine.read import question
from mfsdp_lint.engine.repair import Repair
from mfsdp_lint.engine.run import Outcome, run
from mfsdp_lint.fixes.judged import equal, is_same_as
from mfsdp_lint.inputs.discover import File
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.rules.model import Rule
from tests.folders import working_in

CALLERS = "everybody.py"
"""A file that is nowhere but in front of the others: it calls every recipe in every way."""

Way = tuple[str, int]
"""A caller or script, and which of its variants."""

State = Literal["no effect", "not found", "held back", "refused", "fixed", "not fixed"]
"""What became of the finding: the recipe is no ground for the pitfall, or it is worth no word; this shape hides it from
the linter; the rule says that a person has to look at its fix first; its remedy, tried on the bare settings, ends in
another mistake that is as severe and has no safe one; gone; still there though its fix is safe."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result of one trial. `faults` are violations of what a fix must never do, a line each."""

    state: State
    reason: str = ""
    faults: tuple[str, ...] = ()
    before: Mapping[str, str] | None = None
    after: Mapping[str, str] | None = None
    refused: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """The rules by which start-up stops the first caller's run, before and after."""


@dataclass(frozen=True, slots=True)
class View:
    """State of all callers' recipes: settings, broken rules, and the settings named by safe fixes of these, for each
    way.

    `stops` are the rules by which start-up stops the run of the first one, `silenced` those that a stronger one hides.
    """

    ways: Mapping[Way, Variant]
    broken: Mapping[Way, Mapping[str, str]]
    named: Mapping[Way, frozenset[str]]
    judgement: Judgement
    stops: tuple[str, ...]
    silenced: Mapping[Way, Set[str]]

    def matters(self, code: str) -> bool:
        """Tell whether a finding is more than an info. An info is not reported to callers who have to turn it on."""
        return any(codes.get(code, "info") != "info" for codes in self.broken.values())

    def told(self, code: str) -> bool:
        """Tell whether the user's own files show the finding, without their callers."""
        found = (cause for cause in self.judgement.causes if cause.finding.code == code)
        return any(each.recipe.path != CALLERS for cause in found for each in cause.violations)


def tried(project: Project, code: str, options: Options) -> Verdict:
    """Lint, fix and compare a project in a folder of its own. `code` is the finding's."""
    with tempfile.TemporaryDirectory() as name, working_in(Path(name)):
        _laid_out(project)
        before = seen(project, options)
        if not before.told(code):
            return Verdict("not found" if before.matters(code) else "no effect", before=project.files)
        asked = replace(options, paths=project.passed, fix=True)
        outcome = run(asked)
        texts = _texts(project)
        after = seen(project, options)
        edited = {path for path, text in texts.items() if text != project.files[path]}
        faults = [
            *_text_faults(project.files, texts),
            *_settings_faults(before, after, lambda: _named_on_the_way(project, asked)),
            *_new_findings(before, after),
            *([] if edited <= set(project.passed) else ["a file that was not passed was edited"]),
            *_not_stable(asked, project, texts),
            *(f"left: {each}" for each in outcome.left),
        ]
        state, reason = _state(code, before, after, outcome, asked)
        return Verdict(state, reason, tuple(faults), project.files, texts, (before.stops, after.stops))


def takes(project: Project, code: str, options: Options) -> bool:
    """Tell whether the linter finds the pitfall in a project."""
    with tempfile.TemporaryDirectory() as name, working_in(Path(name)):
        _laid_out(project)
        return seen(project, options).told(code)


def seen(project: Project, options: Options) -> View:
    """Read the recipes of callers and scripts from disk, without any earlier reading."""
    callers = "import " + ", ".join(sorted({call.partition(".")[0] for call in project.calls})) + "\n"
    callers += "".join(f"\n\ndef call_{number}():\n    return {call}\n" for number, call in enumerate(project.calls))
    asked, _ = question(replace(options, paths=tuple(project.files)))
    files = asked.files
    if project.calls:
        files = (*files, File(CALLERS, "python"))
    judge = Linter(replace(asked, files=files), _rules(), _rules())
    judgement = judge(Sources({CALLERS: callers} if project.calls else {}))
    ways: dict[Way, Variant] = {}
    for recipe in judgement.recipes:
        if recipe.path == CALLERS or recipe.path in project.alone:
            for number, variant in enumerate(recipe.variants):
                ways[recipe.qualified_name, number] = variant
    way_of = {id(variant): way for way, variant in ways.items()}
    broken: dict[Way, dict[str, str]] = {way: {} for way in ways}
    named: dict[Way, set[str]] = {way: set() for way in ways}
    stops: list[str] = []
    for cause in judgement.causes:
        for violation in cause.violations:
            way = way_of.get(id(violation.variant))
            if way is None:
                continue
            broken[way][violation.rule.code] = violation.severity
            if way == next(iter(ways)) and (violation.case.stage, violation.severity) == ("startup", "error"):
                stops.append(violation.rule.code)
            if violation.remedy and violation.remedy.safety == "safe":
                named[way] |= {*violation.remedy.set, *violation.remedy.unset, *violation.remedy.drop}
    silenced: dict[Way, set[str]] = {way: set() for way in ways}
    for violation in judge.violations(judgement.recipes, judgement.sources, every=True):
        if id(violation.variant) in way_of:
            silenced[way_of[id(violation.variant)]].add(violation.rule.code)
    names = {way: frozenset(paths) for way, paths in named.items()}
    return View(ways, broken, names, judgement, tuple(stops), silenced)


def _state(code: str, before: View, after: View, outcome: Outcome, asked: Options) -> tuple[State, str]:
    if not after.told(code):
        return "fixed", ""
    causes = [cause for cause in before.judgement.causes if cause.finding.code == code]
    own = [each.remedy for cause in causes for each in cause.violations if each.recipe.path != CALLERS]
    if any(remedy is None or remedy.safety == "unsafe" for remedy in own):
        left = [finding for finding in outcome.findings if finding.code == code]
        return "held back", left[0].message if left else ""
    questioned, _ = question(asked)
    judge = Linter(questioned, _rules(), _rules())
    judgement = judge(Sources())
    left = [each for cause in judgement.causes if cause.finding.code == code for each in cause.violations]
    # By itself a file of overrides is only a piece of a configuration.
    left = [each for each in left if each.recipe.kind != "overrides"] or left
    obstacles = [obstacle(each, judge, judgement.sources) for each in left]
    if left and all(obstacles):
        return "refused", f"its remedy ends in {obstacles[0]}"
    return "not fixed", "; ".join(_unproved(code, judge, judgement))


def _unproved(code: str, judge: Linter, judgement: Judgement) -> Iterator[str]:
    """Yield the fixer's own reasons for not fixing it."""
    repair = Repair(judgement, judge, frozenset(rule.code for rule in _rules()))
    for each in repair.applied(unsafe=False).unproved:
        if each.request.code.startswith(code):
            yield each.reason


def _text_faults(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    """Yield files that do not parse any more, and comments that are lost though their line is still there."""
    for path, text in after.items():
        if text == before[path]:
            continue
        try:
            _parsed(path, text)
        except Exception as error:
            yield f"{path} is broken: {error}"
            continue
        old, new = _lines(before[path]), _lines(text)
        gone = [line for line in old if line not in new]
        for line in gone:
            code, mark, note = line.partition("  # note")
            kept = any(each.endswith(f"{mark}{note}") for each in new)
            if mark and not kept and any(_target(each) == _target(code) for each in new):
                yield f"{path} has lost a comment: {line.strip()}"
        if len(gone) > 12:
            yield f"{path} has {len(gone)} lines changed"


def _parsed(path: str, text: str) -> None:
    if path.endswith(".py"):
        ast.parse(text)
    else:
        import yaml

        yaml.safe_load(text)


def _lines(text: str) -> list[str]:
    return text.splitlines()


def _target(code: str) -> str:
    """Return the left side of a line's assignment."""
    return code.replace(":", "=").partition("=")[0].strip()


def _settings_faults(before: View, after: View, on_the_way: Callable[[], frozenset[str]]) -> Iterator[str]:
    """Yield settings that changed and that no fix of that very caller names; callers that are gone.

    `on_the_way` names the settings of all fixes that were made: one fix may uncover a mistake, and the next remove it.
    """
    for way in before.ways.keys() ^ after.ways.keys():
        yield f"{way[0]} takes other ways through its code"
    for way in before.ways.keys() & after.ways.keys():
        named = before.named[way] | after.named[way]
        then, now = before.ways[way], after.ways[way]
        changed = [each for each in _differences(then, now) if not _covers(named, each[0], then, now)]
        if changed and before.broken[way]:
            named |= on_the_way()
        for path, old, new in changed:
            if not _covers(named, path, then, now):
                yield f"{path} of {way[0]} changes from {describe(old)} to {describe(new)}"


def _covers(named: Collection[str], path: str, before: Variant, after: Variant) -> bool:
    """Tell whether a setting is among these, is the section of one, or another name of it."""
    return any(each == path or each.startswith(f"{path}.") for each in named) or any(
        is_same_as(path, each, before, after) for each in named
    )


def _named_on_the_way(project: Project, asked: Options) -> frozenset[str]:
    """Return the settings that the fixes of a project name, made once more on the original project."""
    questioned, _ = question(asked)
    judge = Linter(questioned, _rules(), _rules())
    repair = Repair(judge(Sources(project.files)), judge, frozenset(rule.code for rule in _rules()))
    proved = repair.applied(unsafe=False).fixed
    return frozenset(path for each in proved for need in each.request.needs for path in need.named)


def _differences(before: Variant, after: Variant) -> Iterator[tuple[str, Value, Value]]:
    for path in dict.fromkeys((*before.settings, *after.settings)):
        old, new = before.value(path), after.value(path)
        if path == "env_vars" and (each := _variables(old, new)) is not None:
            yield from each
        elif not equal(old, new):
            yield path, old, new


def _variables(before: Value, after: Value) -> list[tuple[str, Value, Value]] | None:
    """Compare the variables that a recipe asks start-up to set one by one; None unless both dictionaries are known."""
    if not (isinstance(before, Known) and isinstance(after, Known)):
        return None
    if not (isinstance(before.value, dict) and isinstance(after.value, dict)):
        return None
    old, new = before.value, after.value
    names = dict.fromkeys((*old, *new))
    each = [(f"env.{name}", Known(old.get(name)), Known(new.get(name))) for name in names]
    return [(path, then, now) for path, then, now in each if not equal(then, now)]


def _new_findings(before: View, after: View) -> Iterator[str]:
    for way in before.ways.keys() & after.ways.keys():
        worst = min((SEVERITIES.index(severity) for severity in before.broken[way].values()), default=len(SEVERITIES))
        for code, severity in after.broken[way].items():
            if (
                code not in {*before.broken[way], *before.silenced[way]}
                and severity != "info"
                and SEVERITIES.index(severity) <= worst
            ):
                yield f"{code} ({severity}) is new in {way[0]}"


def _not_stable(asked: Options, project: Project, texts: Mapping[str, str]) -> Iterator[str]:
    outcome = run(asked)
    if _texts(project) != texts:
        yield "a second run changes it again"
    if outcome.summary.fixed:
        yield f"a second run says that it fixed {outcome.summary.fixed}"


def _texts(project: Project) -> dict[str, str]:
    return {path: Path(path).read_text(encoding="utf-8") for path in project.files}


def _laid_out(project: Project) -> None:
    Path("pyproject.toml").write_text("")
    for path, text in project.files.items():
        Path(path).write_text(text, encoding="utf-8")


@cache
def _rules() -> tuple[Rule, ...]:
    return tuple(rule for rule in load_rules() if rule.preset is None)
