"""An upgrade: read a project under two releases, edit what breaks, compare, and pin what changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from mfsdp_lint.core.finding import Edit, Finding
from mfsdp_lint.core.recipe import Recipe, Span, Variant
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.engine.judge import Judgement
from mfsdp_lint.engine.read import Question, question
from mfsdp_lint.engine.run import prepare
from mfsdp_lint.fixes.edits import OverlapError, apply_edits
from mfsdp_lint.inputs.mentions import Mentions
from mfsdp_lint.inputs.options import Options, UsageError
from mfsdp_lint.inputs.sources import NOTEBOOK, Problem, Sources
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.process import OverBudget, budget
from mfsdp_lint.readers.registry import READERS
from mfsdp_lint.rules.writes import no_fields
from mfsdp_lint.upgrade.breaks import Break, Kind, library_breaks
from mfsdp_lint.upgrade.changes import Change, Compared, by_cause, compared, ways_of
from mfsdp_lint.upgrade.library import Library
from mfsdp_lint.upgrade.names import FileNames, names_in
from mfsdp_lint.upgrade.pins import built_on, every_recipe, key_of, pinned, settings_in
from mfsdp_lint.upgrade.renames import renames, written_names
from mfsdp_lint.upgrade.scripts import script_breaks

UNITS = 1_500_000
"""Work that the proof of pins may take (see `process.spend`): three times what a report may spend on fixes."""

_IN_PYTHON = frozenset(reader.type.name for reader in READERS if reader.type.imports)
"""The kinds of files that are written in Python."""


@dataclass(frozen=True, slots=True)
class Upgrade:
    """The effect of moving a project from one release to another.

    `texts` are the files with all proved edits; `changes` are those that remain with them, and `pinned` counts the
    settings that were given their old values. `appeared` and `gone` are findings; `before` and `after` are the project
    under each release, after the edits.
    """

    old: Target
    new: Target
    before: Judgement
    after: Judgement
    breaks: tuple[Break, ...]
    changes: tuple[Change, ...]
    compared: Compared
    appeared: tuple[Finding, ...]
    gone: tuple[Finding, ...]
    texts: Mapping[str, str]
    pinned: Mapping[str, int]
    not_pinned: Mapping[str, str]
    problems: tuple[Problem, ...]
    remarks: tuple[str, ...]
    files: int
    recipes: int

    @property
    def sources(self) -> Sources:
        """The files as they are."""
        return self.before.sources


def upgrade(options: Options, to: str, since: str | None = None, *, pin: bool = False) -> Upgrade:
    """Work out an upgrade, without writing anything. Raises UsageError."""
    old_question, not_there = _question(options, since or options.target_bridge)
    new_question, _ = _question(options, to)
    old, new = old_question.target, new_question.target
    if old.data == new.data and old.bridge == new.bridge:
        raise UsageError(f"{old.label} is the version in use already ({old.reason}); --from names another one")
    judge, _, _ = prepare(options, old_question)
    judge = replace(judge, rules=judge.every_rule)
    before = judge(Sources(old_question.command_line.texts))
    libraries = Library(old), Library(new)
    files = list(_files(old_question, before.sources))
    breaks = list(library_breaks(files, *libraries))
    named = renames(old, new)
    breaks += _of_renames(old_question, before, named, libraries[1])
    new_judge = replace(judge, question=new_question)
    for file in old_question.every_file:
        if file.kind not in _IN_PYTHON and (text := before.sources.text_or_none(file.path)) is not None:
            breaks += script_breaks(file.path, text, *libraries)
    breaks = [
        replace(each, edits=(), reason="a notebook is not edited") if each.span.path.endswith(NOTEBOOK) else each
        for each in breaks
    ]
    texts = edited(breaks, before.sources)
    after = new_judge(before.sources.with_texts(texts))
    if lost := _lost(before, after, texts):
        texts = {path: text for path, text in texts.items() if path not in lost}
        unread = "the file could not be read with the edit"
        breaks = [replace(each, edits=(), reason=unread) if each.span.path in lost else each for each in breaks]
        after = new_judge(before.sources.with_texts(texts), after)
    breaks += _of_settings(before.recipes, after.recipes, old, new)
    breaks = _with_code(breaks, list(_of_code(before, after)))
    found = compared(before.recipes, after.recipes, old, new, named)
    pins: Counter[str] = Counter()
    mentions = Mentions()
    reasons: dict[str, str] = {}
    # What others are built on comes first: most of them need no pins of their own then.
    for which in (built_on, every_recipe) if pin else ():
        chosen = which(found.differences, after.sources)
        if not chosen:
            continue
        fixed = None
        with suppress(OverBudget), budget(UNITS):
            fixed = pinned(found.differences, chosen, before.recipes, after, new_judge, mentions)
        if fixed is None:
            reasons |= dict.fromkeys(chosen, "the proof takes too much work: name fewer files")
            continue
        reasons |= {each.request.key: each.reason for each in fixed.unproved}
        if fixed.texts:
            texts = {**texts, **fixed.texts}
            after = new_judge(before.sources.with_texts(texts), after)
            found = compared(before.recipes, after.recipes, old, new, named)
            pins.update(settings_in(fixed))
    appeared, gone = _findings(before, after)
    return Upgrade(
        old,
        new,
        before,
        after,
        tuple(sorted(dict.fromkeys(breaks), key=lambda each: each.order)),
        tuple(by_cause(found.differences)),
        found,
        appeared,
        gone,
        {path: text for path, text in texts.items() if text != before.sources.text(path)},
        pins,
        {key: reason for key, reason in reasons.items() if key in {key_of(each.recipe) for each in found.differences}},
        (*not_there, *before.problems),
        tuple(dict.fromkeys((*old_question.remarks, *new_question.remarks))),
        len(old_question.every_file),
        before.distinct_recipes,
    )


def _question(options: Options, version: str | None) -> tuple[Question, tuple[Problem, ...]]:
    asked = replace(options, target_bridge=version, target_core=None, target_te=None, target_torch=None)
    found, problems = question(replace(asked, installed_source=False))
    if found.also:
        raise UsageError(f"{version or 'the project'}: several versions; one is upgraded from, and one to")
    return found, problems


def _files(question: Question, sources: Sources) -> Iterator[FileNames]:
    for file in question.every_file:
        if file.kind in _IN_PYTHON and (text := sources.text_or_none(file.path)) is not None:
            found = names_in(file.path, text)
            if found is not None:
                yield found


def _of_renames(question: Question, before: Judgement, named: Mapping[str, str], library: Library) -> Iterator[Break]:
    """Yield the uses of settings that are called otherwise, where no class of the new release keeps the old name."""
    for file in question.every_file:
        text = before.sources.text_or_none(file.path)
        for span, old, new in () if text is None else written_names(file.path, text, named):
            if old.rpartition(".")[2] in library.fields:
                continue
            edit = Edit(span, new.rpartition(".")[2])
            yield Break(
                "setting", span, old, f"{old} is gone", new, edits=(edit,), reason="upstream's other name for it"
            )


def edited(breaks: Iterable[Break], sources: Sources) -> dict[str, str]:
    """Return the texts with the edits of these breaks; a file in which two of them meet is left as it is."""
    edits: dict[str, list[Edit]] = {}
    for each in breaks:
        for edit in each.edits:
            edits.setdefault(edit.span.path, []).append(edit)
    texts = {}
    for path, theirs in edits.items():
        try:
            texts[path] = apply_edits(path, sources.text(path), theirs)
        except OverlapError:
            continue
    return texts


def _lost(before: Judgement, after: Judgement, texts: Mapping[str, str]) -> set[str]:
    """Return the edited files that cannot be read any more."""
    unread = {problem.path for problem in after.problems} - {problem.path for problem in before.problems}
    return unread & texts.keys()


def _of_settings(before: Sequence[Recipe], after: Sequence[Recipe], old: Target, new: Target) -> Iterator[Break]:
    """Yield the assignments to fields that only the old release has."""
    earlier, later = ways_of(before), ways_of(after)
    known = {name for way in earlier for name in _no_fields(earlier[way][1], old)}
    found: dict[object, tuple[Break, list[str]]] = {}
    for recipe, variant in later.values():
        for name, (span, owner, refused) in _no_fields(variant, new).items():
            if name in known:
                continue
            told = "start-up refuses it" if refused else "it sets nothing"
            one = Break("setting", span, name, f"{name} is no setting of {owner} any more: {told}")
            found.setdefault((span, name), (one, []))[1].append(recipe.label)
    for one, recipes in found.values():
        yield replace(one, recipes=tuple(dict.fromkeys(recipes)))


def _no_fields(variant: Variant, target: Target) -> dict[str, tuple[Span, str, bool]]:
    every = (*variant.settings.undeclared(), *no_fields(variant.settings, target))
    return {
        each.written: (each.origin.point, each.owner, each.refused) for each in every if each.origin.upstream is None
    }


def _of_code(before: Judgement, after: Judgement) -> Iterator[Break]:
    """Yield the code that made a recipe under the old release, and raises or cannot be followed under the new one."""
    was = {(each.path, each.qualified_name) for each in before.recipes}
    reading = next(iter(after.readings.values()), None)
    raised = {
        (each.path, each.qualified_name, each.message) for one in before.readings.values() for each in one.unfollowed
    }
    for each in () if reading is None else reading.unfollowed:
        if (each.path, each.qualified_name) not in was or (each.path, each.qualified_name, each.message) in raised:
            continue
        kind: Kind = "raises" if each.certain else "unfollowed"
        message = each.message if each.certain else f"{each.name} cannot be followed any more: {each.message}"
        yield Break(kind, each.point, each.qualified_name, message, recipes=(each.name,))


def _with_code(breaks: Sequence[Break], code: Sequence[Break]) -> list[Break]:
    """Add the code that raises, unless a break in its own file is the reason, which gets the names of the recipes."""
    lines = {(each.span.path, each.span.line) for each in breaks}
    open_ = {each.span.path for each in breaks if not each.edits}
    stopped: dict[str, tuple[str, ...]] = {}
    found = []
    for each in code:
        if each.kind == "unfollowed" and each.span.path in open_:
            stopped[each.span.path] = (*stopped.get(each.span.path, ()), *each.recipes)
        elif (each.span.path, each.span.line) not in lines:
            found.append(each)
    told = [
        each if each.edits else replace(each, recipes=(*each.recipes, *stopped.get(each.span.path, ())))
        for each in breaks
    ]
    return [*told, *found]


def _findings(before: Judgement, after: Judgement) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Return the findings that only the new release has, and those that only the old one has."""
    then, now = (
        {each.finding.fingerprint: each.finding for each in one.causes if each.finding.suppressed is None}
        for one in (before, after)
    )
    return (
        tuple(sorted((each for key, each in now.items() if key not in then), key=lambda each: each.order)),
        tuple(sorted((each for key, each in then.items() if key not in now), key=lambda each: each.order)),
    )
