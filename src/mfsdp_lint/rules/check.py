"""Judge recipes by rules: which rule is broken, in which recipe, and which written setting is to blame."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mfsdp_lint.core.finding import SEVERITIES, Edit, IsLinted, Safety, Severity
from mfsdp_lint.core.front_ends import FrontEnd
from mfsdp_lint.core.recipe import Origin, Recipe, Source, Span, Variant
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.core.values import Known, Plain, is_known_as
from mfsdp_lint.inputs.faults import Faults, contained
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.conditions import Site
from mfsdp_lint.megatron.conditions.language import Condition
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.process import tell_progress
from mfsdp_lint.rules.index import RuleIndex, SettingsViews, Undecided, agenda, arranged, gpu_memory, undecided
from mfsdp_lint.rules.model import Case, FixSpec, Rule, stronger
from mfsdp_lint.rules.text import Passage, broken_text, passages
from mfsdp_lint.rules.writes import Assignment, broken

if TYPE_CHECKING:
    from mfsdp_lint.rules.unheard import Unheard

DecidingWrite = tuple[str, Origin, list[Source]]
"""A setting, who wrote it, and the places where it can be changed, the one that decides it first."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """Changes in a variant that remove a violation; settings that have their right value already are left out.

    `drop` are settings without effect after the fix. `rename` maps a path that is no setting to the setting that was
    meant. `edits` may change the settings in `may_change`. `why` says why the remedy is safe, or not.
    """

    set: Mapping[str, Plain]
    unset: tuple[str, ...]
    safety: Safety
    edits: tuple[Edit, ...] = ()
    drop: tuple[str, ...] = ()
    rename: Mapping[str, str] = field(default_factory=dict)
    may_change: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class Primary:
    """Target of a violation: a setting and the text that decides it, or the recipe itself (setting "").

    `handed_on` is the place where the setting is written, if that is another place.
    """

    setting: str
    span: Span
    function: str
    handed_on: Span | None = None


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that one variant of one recipe breaks, at one target.

    `rule` and `case` are as they read at that target. `variant` is what is written, `seen` the settings that the case
    looks at. `witnesses` are the settings that made the rule fire, `passage` is the text of a rule about text.
    `completed_by` is the file that launches the recipe, or builds another one on it, so that the rule does not fire.
    `decided_in` is the file whose text decides the violation, where that is none that the user asked to lint.
    `follows` is a text that seems to give a setting which decides the violation, and does not: until somebody has said
    what is meant by that, there is no remedy.
    """

    rule: Rule
    case: Case
    recipe: Recipe
    variant: Variant
    seen: Variant
    witnesses: tuple[str, ...]
    primary: Primary
    remedy: Remedy | None
    target: Target
    passage: Passage | None = None
    completed_by: str = ""
    decided_in: str = ""
    follows: Unheard | None = None

    @property
    def severity(self) -> Severity:
        """Severity of the violation. An error becomes a warning if it needs a caller to turn FSDP on by a parameter,
        or a caller of a helper to want several things at once, or if the recipe's launch script corrects it. A
        file of a configuration does nothing by itself, and is judged again in each run of it: what one of them corrects
        is no more than information.
        """
        if self.completed_by and self.recipe.kind == "configuration":
            return "info"
        is_open = self.variant.exposed or self.completed_by or (self.recipe.partial and len(self.variant.when) > 1)
        return "warning" if is_open and self.case.severity == "error" else self.case.severity


@dataclass(frozen=True, slots=True)
class RuleMatch:
    """A rule that fires, before it is known what to point at."""

    rule: Rule
    case: Case
    recipe: Recipe
    variant: Variant
    seen: Variant
    witnesses: tuple[str, ...]
    assignment: Assignment | None = None
    passage: Passage | None = None


@dataclass(frozen=True, slots=True)
class RuleMatches:
    """The rules that fire in each of some recipes, in their order: `of` holds them by the recipe's id, and `undecided`
    what could not be decided. Of those of an earlier run only the latter is known, and the codes of rules that `fired`.

    `idle` are the gates behind which no rule asks anything, by front-end: what recipes were asked depends on whether
    that was known.
    """

    recipes: Sequence[Recipe]
    target: Target
    rules: Sequence[Rule]
    is_linted: IsLinted
    of: Mapping[int, tuple[RuleMatch, ...]]
    undecided: Mapping[int, tuple[Undecided, ...]]
    fired: Mapping[int, frozenset[str]] = field(default_factory=dict)
    idle: Mapping[FrontEnd, tuple[int, ...]] = field(default_factory=dict)


def hits(
    recipes: Sequence[Recipe],
    target: Target,
    rules: Sequence[Rule],
    is_linted: IsLinted,
    before: RuleMatches | None = None,
    sources: Sources | None = None,
    faults: Faults | None = None,
) -> RuleMatches:
    """Find the rules that fire; recipes judged `before`, by the same rules, keep their results.

    Rules about text need the `sources` that the recipes were read from. If a rule itself fails, the failure goes to
    `faults`, and that recipe has no hits.
    """
    same = before if before is not None and before.rules == rules else None
    agendas: dict[tuple[FrontEnd, frozenset[str] | None], RuleIndex] = {}
    found: dict[int, tuple[RuleMatch, ...]] = {}
    open_: dict[int, tuple[Undecided, ...]] = {}
    for number, recipe in enumerate(recipes):
        tell_progress("recipes judged", number, len(recipes))
        key = id(recipe)
        found[key] = ()
        open_[key] = known_open = () if same is None else same.undecided.get(key, ())
        if same is not None and key in same.of:
            found[key] = same.of[key]
            continue
        with contained(faults, recipe.path):
            not_decided: list[Undecided] | None = None if same is not None and key in same.undecided else []
            fired = None if same is None else same.fired.get(key)
            kind = recipe.front_end, fired
            if kind not in agendas:
                site = Site(target, recipe.front_end)
                known = None if fired is None else arranged([rule for rule in rules if rule.code in fired], site)
                agendas[kind] = known or agenda(rules, site)
                if known is None and same is not None:
                    agendas[kind].mark_idle(same.idle.get(recipe.front_end, ()))
            found[key] = tuple(_hits(recipe, agendas[kind], target, is_linted, sources, not_decided))
            open_[key] = known_open if not_decided is None else tuple(not_decided)
    idle = {front_end: index.idle for (front_end, fired), index in agendas.items() if fired is None}
    idle = idle if same is None else {**same.idle, **idle}
    return RuleMatches(recipes, target, rules, is_linted, found, open_, idle=idle)


def violations(
    recipes: Sequence[Recipe],
    target: Target,
    rules: Sequence[Rule],
    is_linted: IsLinted,
    *,
    every: bool = False,
    sources: Sources | None = None,
) -> list[Violation]:
    """List all violations of the recipes, one for each variant and rule, in the order of the recipes.

    If several rules report the same of a variant, only the strongest is kept, unless `every` one is wanted.
    """
    return violations_of(hits(recipes, target, rules, is_linted, sources=sources), every=every)


def violations_of(found: RuleMatches, *, every: bool = False, faults: Faults | None = None) -> list[Violation]:
    """Build the violations of the rules that fire. A failure while doing so goes to `faults`."""
    fired = [hit for recipe in found.recipes for hit in found.of[id(recipe)]]
    writes = _Writes(found.recipes, fired, faults)
    cured = completed(found.recipes, found.of, writes)
    broken = []
    texts: dict[int, tuple[Unheard, ...]] = {}
    for hit in fired if every else strongest(fired, found.rules):
        with contained(faults, hit.recipe.path):
            by = cured.get((id(hit.recipe), hit.rule.code), "")
            remedy, follows = _remedy(hit), None
            if remedy is not None:
                if id(hit.variant) not in texts:
                    from mfsdp_lint.rules.unheard import unheard  # a clean run needs none

                    site = Site(found.target, hit.recipe.front_end)
                    texts[id(hit.variant)] = unheard(hit.recipe, hit.variant, site)
                follows = _followed(hit, remedy, texts[id(hit.variant)])
            broken.append(
                Violation(
                    rule=hit.rule,
                    case=hit.case,
                    recipe=hit.recipe,
                    variant=hit.variant,
                    seen=hit.seen,
                    witnesses=hit.witnesses,
                    primary=_primary(hit, writes, found.is_linted),
                    remedy=None if follows else remedy,
                    target=found.target,
                    passage=hit.passage,
                    completed_by=by,
                    follows=follows,
                )
            )
    return broken


def strongest(hits: Sequence[RuleMatch], rules: Sequence[Rule]) -> list[RuleMatch]:
    """Drop the hits that another hit of the same variant makes superfluous.

    A hit about an assignment is dropped if a rule about settings has a hit for the same setting that is as severe.
    """
    above = stronger(rules)
    fired = {(id(hit.variant), hit.rule.code) for hit in hits}
    told: dict[tuple[int, str], Severity] = {}
    for hit in hits:
        for path in () if hit.assignment else hit.witnesses:
            key = id(hit.variant), path
            told[key] = min(told.get(key, hit.case.severity), hit.case.severity, key=SEVERITIES.index)
    return [
        hit
        for hit in hits
        if not any((id(hit.variant), code) in fired for code in above[hit.rule.code])
        and not (hit.assignment and _is_told(hit.case, told.get((id(hit.variant), hit.assignment.path))))
    ]


def _is_told(case: Case, severity: Severity | None) -> bool:
    return severity is not None and SEVERITIES.index(severity) <= SEVERITIES.index(case.severity)


def hits_of(recipe: Recipe, views: SettingsViews, asked: RuleIndex) -> Iterator[RuleMatch]:
    """Yield the hits of one variant of a recipe: the rules about settings."""
    for rule, case in asked.broken(views):
        if any(_says(views.written, path, value) for path, value in rule.intended.items()):
            continue
        if case.intended and all(_says(views.written, path, value) for path, value in case.intended.items()):
            case = replace(case, severity="info")
        seen = views.of(case.sees)
        decisive = (*rule.applies.deciding(seen), *(case.when.deciding(seen) if case.when else ()))
        yield RuleMatch(rule, case, recipe, views.written, seen, tuple(dict.fromkeys(decisive)))


def _says(written: Variant, path: str, value: Plain) -> bool:
    """Tell whether a file writes this value; a default is not a choice."""
    origin = written.origin(path)
    return origin is not None and origin.how != "default" and is_known_as(written.value(path), value)


def _hits(
    recipe: Recipe,
    asked: RuleIndex,
    target: Target,
    is_linted: IsLinted,
    sources: Sources | None,
    not_decided: list[Undecided] | None,
) -> Iterator[RuleMatch]:
    """Yield all hits; undecided settings of the recipe's own ways are added to `not_decided`, unless it is None."""
    site, gpu = Site(target, recipe.front_end), gpu_memory(recipe, target)
    shown = set()
    texts = [(rule, passages(rule, recipe, sources, is_linted)) for rule in asked.of_text] if sources else []
    for variant in (*recipe.variants, *recipe.exposed):
        views = SettingsViews(variant, site, gpu)
        for hit in (
            *hits_of(recipe, views, asked),
            *(  # about assignments in the user's own files
                RuleMatch(rule, case, recipe, variant, seen, (assignment.path,), assignment)
                for rule in asked.of_writes
                for case, seen, assignment in broken(rule, views, is_linted)
            ),
            *(  # about the text of the recipe's file
                RuleMatch(rule, case, recipe, variant, seen, (), passage=passage)
                for rule, passages_of_it in texts
                for case, seen, passage in broken_text(rule, views, passages_of_it)
            ),
        ):
            # What a caller may turn on is worth a word if it fails, or belongs to what is said anyway.
            if variant.exposed and hit.case.severity == "info" and hit.rule.code not in shown:
                continue
            shown.add(hit.rule.code)
            yield hit
        if not_decided is not None and not variant.exposed and views.open:
            not_decided += undecided(recipe, views, asked, shown)


class _Writes:
    """Index of the variants that take a setting from each written place, and of the variants that break each rule."""

    def __init__(self, recipes: Sequence[Recipe], hits: Sequence[RuleMatch], faults: Faults | None = None) -> None:
        self._recipes = recipes
        self._faults = faults
        self._pieces = {
            id(variant)
            for recipe in recipes
            if recipe.kind == "overrides"
            for variant in (*recipe.variants, *recipe.exposed)
        }
        self._readers: dict[str, Mapping[Span, set[int]]] = {}
        self._broken: dict[str, set[int]] = defaultdict(set)
        for hit in hits:
            self._broken[hit.rule.code].add(id(hit.variant))

    def _readers_of(self, path: str) -> Mapping[Span, set[int]]:
        """Map each place that a setting is taken from to the variants that take it from there."""
        if path not in self._readers:
            readers: dict[Span, set[int]] = defaultdict(set)
            for recipe in self._recipes:
                # The hit that asks for this may be of another file.
                with contained(self._faults, recipe.path):
                    for place, reader in _taken_from(recipe, path):
                        readers[place].add(reader)
            self._readers[path] = readers
        return self._readers[path]

    def programs_with(self, path: str, settings: Sequence[str]) -> list[Recipe]:
        """List the programs that take one of these settings from a file of overrides."""
        readers = set[int]()
        for setting in settings:
            readers.update(*(ids for place, ids in self._readers_of(setting).items() if place.path == path))
        programs = (each for each in self._recipes if each.kind != "overrides")
        return [each for each in programs if not readers.isdisjoint(map(id, each.variants))]

    def only_broken(self, code: str, path: str, span: Span, excused: Collection[int] = ()) -> bool:
        """Tell whether all variants that take `path` from there break the rule, so that changing it there harms none.

        A file of overrides is only a piece of a configuration: if a program reads it, the program's variants decide.
        Variants in `excused` need not break the rule.
        """
        readers = self._readers_of(path).get(span, set())
        return (readers - self._pieces or readers) <= self._broken[code].union(excused)


def blamed_settings(rules: Iterable[Rule], site: Site) -> frozenset[str]:
    """Return the settings of which a finding may ask all recipes what they are taken from."""
    here = filter(None, (rule.at(site.target, site.front_end) for rule in rules))
    blamed = (each for rule in here for each in (*rule.blame.value, *rule.blame.enabled_by))
    return frozenset().union(*(each.paths() for each in blamed))


def _taken_from(recipe: Recipe, path: str) -> Iterator[tuple[Span, int]]:
    """Yield the places that a recipe takes a setting from, each with the variant (its id)."""
    for variant in (*recipe.variants, *recipe.exposed):
        yield from ((place, id(variant)) for place in variant.settings.taken_from(path)[1])


def _primary(hit: RuleMatch, writes: _Writes, is_linted: IsLinted) -> Primary:
    """Find the line of the user's files whose change removes the problem.

    In this order: the write of the bad value, or its default in a class of the files, unless a variant without the
    mistake shares it; the constructor call that put the bad default into a recipe whose conflicting feature was on;
    the first of the writes that turned this feature on, before all one that no variant without the mistake shares;
    any other constructor call that left the bad value at its default; the write of a bad value that is right on
    other paths through the same recipe, or in other recipes; the recipe.
    """
    if hit.assignment:
        origin = hit.assignment.origin
        # Of a value it is the value that is wrong, of a name that is no field the name, which stands before it.
        if hit.rule.written not in ("replaced", "wrapped"):
            return Primary(hit.assignment.path, origin.span, origin.function)
        return _at(hit.assignment.path, origin, origin.places(is_linted)[0])
    if hit.passage:
        return Primary("", hit.passage.span, "")
    blamed = _blamed(hit, hit.rule.blame.value, is_linted)
    own = {id(variant) for variant in (*hit.recipe.variants, *hit.recipe.exposed)}
    bad, shared = _unshared(hit, blamed, writes), _unshared(hit, blamed, writes, own)
    enabling = [found for found in _blamed(hit, hit.rule.blame.enabled_by, is_linted) if found[1].how != "default"]
    enabling.sort(key=lambda found: found[1].order)
    # (A default that a class of the files states has its text; of any other only the constructor's call is seen.)
    written = [found for found in bad if found[1].how != "default" or found[1].focus is not None]
    # (Where an assignment turned the feature on there was a recipe, of which a later object replaces a section.)
    last = enabling[-1][1] if enabling and enabling[-1][1].how == "assigned" else None
    again = [found for found in bad if last is not None and found[1].order > last.order]
    is_exposed = any(hit.variant is each for each in hit.recipe.exposed)
    alone = _unshared(hit, enabling, writes)
    if enabling and not is_exposed and not alone:
        # Each is right in some other recipe: what is written last brings them together.
        known = {path for path, _, _ in shared}
        both = [found for found in blamed if found[1].how != "default" and found[0] not in known]
        enabling = sorted([*enabling, *both], key=lambda found: -found[1].order) if both else enabling
    anyhow = [found for found in blamed if found[1].how != "default"]
    for path, origin, places in (*written, *again, *alone, *enabling, *bad, *shared, *anyhow):
        return _at(path, origin, places[0])
    recipe = hit.recipe
    return Primary("", Span(recipe.path, recipe.line, 1, recipe.line, 1), recipe.name)


def _unshared(
    hit: RuleMatch, blamed: Sequence[DecidingWrite], writes: _Writes, excused: Collection[int] = ()
) -> list[DecidingWrite]:
    """Find the settings that can be changed without harm to other variants, with the places where they can."""
    found = []
    for path, origin, places in blamed:
        harmless = [
            place
            for place in places
            if writes.only_broken(hit.rule.code, path, place.span, excused)
            and (place is places[0] or not _hands_on(hit, path, place.span))
        ]
        found += [(path, origin, harmless)] if harmless else []
    return found


def _hands_on(hit: RuleMatch, path: str, span: Span) -> bool:
    """Tell whether another setting has another value through a text, which then says neither: it hands both on."""
    return any(
        span in hit.variant.settings.taken_from(other)[1] and hit.variant.value(other) != hit.variant.value(path)
        for other in hit.witnesses
        if other != path
    )


def _at(path: str, origin: Origin, place: Source) -> Primary:
    written_there = place.span == origin.point or origin.upstream is not None
    return Primary(path, place.span, place.function, None if written_there else origin.point)


def _blamed(hit: RuleMatch, settings: Sequence[Condition], is_linted: IsLinted) -> list[DecidingWrite]:
    """Find the settings among these that made the rule fire and that the user's own files wrote.

    Each has the places in these files where it can be changed, the deciding one first.
    """
    found = []
    for path in (path for setting in settings for path in setting.deciding(hit.seen)):
        origin = hit.variant.origin(path)
        if origin is None or origin.how == "default":
            run = hit.seen.origin(path)
            while run is not None and run.how == "startup":
                run = run.earlier  # start-up follows another setting, which may be written
            origin = run or origin
        places = origin.places(is_linted) if path in hit.witnesses and origin else []
        if origin and places:
            found.append((path, origin, places))
    return found


def _remedy(hit: RuleMatch) -> Remedy | None:
    fix = hit.rule.fix_for(hit.variant, hit.seen)
    if fix is None or fix.none:
        return None
    safe = fix.is_safe(hit.seen if hit.passage or hit.assignment else hit.variant)
    now, assignment = hit.variant.value, hit.assignment
    # `write.path: write.after` means the value that start-up makes of the assignment.
    wanted = [
        (assignment.path, assignment.after) if assignment and path == "write.path" else (path, value)
        for path, value in fix.set.items()
    ]
    return Remedy(
        set={path: value for path, value in wanted if not is_known_as(now(path), value)},
        unset=tuple(path for path in fix.unset if not is_known_as(now(path), None)),
        safety="safe" if safe else "unsafe",
        edits=(hit.passage.edit,) if hit.passage and hit.passage.edit else (),
        drop=fix.drop,
        rename=_to_rename(fix, hit.assignment),
        may_change=hit.passage.sets if hit.passage else (),
        why=_why(fix, safe=safe),
    )


def _followed(hit: RuleMatch, remedy: Remedy, texts: Sequence[Unheard]) -> Unheard | None:
    """Return the text that seems to give a setting which decides a violation, or whether its fix is safe."""
    if not texts:
        return None
    fix = hit.rule.fix_for(hit.variant, hit.seen)
    asked = [condition for _, condition in fix.safe.entries] if fix else []
    asked += [hit.rule.applies] if hit.assignment else []
    decisive = {*hit.witnesses, *(path for each in asked for path in each.deciding(hit.seen))}
    others = (each for each in texts if each.name not in decisive)
    return next((each for each in others if each.meant_for(decisive, hit.variant, remedy.set)), None)


def _why(fix: FixSpec, *, safe: bool) -> str:
    """Explain in the rule's own words why a fix is safe, or not."""
    condition = " or ".join(each.in_full for _, each in fix.safe.entries)
    if safe:
        return "safe wherever the rule fires" if condition == "always" else f"safe because {condition}"
    why = "a person should see it first" if condition == "never" else f"unsafe unless {condition}"
    return f"{why}; {fix.else_advice}" if fix.else_advice else why


def _to_rename(fix: FixSpec, assignment: Assignment | None) -> Mapping[str, str]:
    """Map the path with the undeclared name to that of the setting that was meant."""
    if not fix.rename or assignment is None:
        return {}
    section, _, _ = assignment.path.rpartition(".")
    meant = f"{section}.{assignment.facts[fix.rename]}".lstrip(".")
    whole = str(assignment.facts["write.whole"])
    return {whole: meant + whole.removeprefix(assignment.path)}


def completed(
    recipes: Sequence[Recipe], fired: Mapping[int, Sequence[RuleMatch]], writes: _Writes
) -> dict[tuple[int, str], str]:
    """Find the files that keep a rule from firing in a recipe that they use, by its id and the rule's code.

    A script that launches it has to set a value that makes the difference; an unknown value, for which no rule fires,
    is no cure. A recipe that is built on it has to change the mistake itself, or take away the variable that is one, as
    has a script where only a caller turns the feature on: one that leaves it off is another recipe. A file of overrides
    is only a layer where a program takes something from it, and others over it.
    """
    launches: dict[tuple[str, int], list[Recipe]] = defaultdict(list)
    built: dict[tuple[str, int], list[Recipe]] = defaultdict(list)
    for recipe in recipes:
        for path, line, _ in recipe.pieces:
            launches[posixpath.normpath(path), line].append(recipe)
        for path, line, _ in recipe.bases:
            built[posixpath.normpath(path), line].append(recipe)
    found: dict[tuple[int, str], str] = {}
    for recipe in recipes:
        for hit in fired[id(recipe)]:
            users = _users(recipe, launches)
            if recipe.kind == "overrides":
                users = [*users, *writes.programs_with(recipe.path, hit.witnesses)]
            mistakes = {path for setting in hit.rule.blame.value for path in setting.deciding(hit.seen)}
            open_to = mistakes if hit.variant.exposed else hit.witnesses
            by = next((each for each in users if _cures(each, hit, open_to, fired)), None) or next(
                (each for each in _users(recipe, built) if _cures(each, hit, mistakes, fired, built=True)), None
            )
            if by is not None:
                found[id(recipe), hit.rule.code] = by.path
    return found


def _users(recipe: Recipe, users: Mapping[tuple[str, int], Sequence[Recipe]]) -> Sequence[Recipe]:
    line = 0 if recipe.kind in ("overrides", "configuration") else recipe.line
    return () if recipe.kind == "launch" else users.get((posixpath.normpath(recipe.path), line), ())


def _cures(
    user: Recipe,
    hit: RuleMatch,
    settings: Collection[str],
    fired: Mapping[int, Sequence[RuleMatch]],
    *,
    built: bool = False,
) -> bool:
    """Tell whether a user of a recipe does not break the rule, or in a case that is no more than information, as it
    gives one of these settings another value on every way: by what it writes, or by what that picks in the program. One
    that is `built` on the recipe may also be without a variable of the environment.
    """
    breaks = (other for other in fired[id(user)] if other.rule.code == hit.rule.code)
    return bool(user.variants and all(other.case.severity == "info" for other in breaks)) and any(
        all(
            (isinstance(now := each.value(path), Known) and now != hit.variant.value(path))
            or (built and path.startswith("env.") and each.origin(path) is None)
            for each in user.variants
        )
        for path in hit.witnesses
        if path in settings
    )
