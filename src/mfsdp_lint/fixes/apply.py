"""Fix a project: plan, prove and apply until nothing more can be fixed; then write."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from mfsdp_lint.core.finding import Applied, Edit, Fix, IsLinted
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.values import spell
from mfsdp_lint.fixes.judged import Evaluate, FixRequest, Judged, Widen
from mfsdp_lint.fixes.plan import Plan, Texts, plan
from mfsdp_lint.fixes.prove import TOO_LARGE, Proof, Proved, Unproved, prove
from mfsdp_lint.fixes.users import with_other_users
from mfsdp_lint.inputs.dependents import TooMany

NOTHING: Mapping[str, Any] = MappingProxyType({})

ROUNDS = 8
"""More than real projects need; one fix may uncover another finding."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """Result of fixing: changed texts by path, fixes that hold, fixes that do not and why, and the last judgement.

    `asked` has the keys of the findings that existed at first: only those are reported and counted, not findings that
    fixes uncover.
    """

    texts: Mapping[str, str]
    asked: frozenset[str]
    fixed: tuple[Proved, ...]
    unproved: tuple[Unproved, ...]
    after: Judged


def prove_once(
    before: Judged,
    evaluate: Evaluate,
    texts: Texts,
    is_linted: IsLinted,
    widen: Widen | None = None,
    known: Mapping[str, tuple[Edit, ...]] = NOTHING,
    changed: Mapping[str, str] = NOTHING,
) -> Proof:
    """Plan and prove the fixes that `before` asks for, as one batch: what reports show as edits.

    `widen` brings in whoever else uses the edited files: nothing may become worse for them either. They are looked at
    for fixes that hold without them, since reading them takes longest. `known` are the edits of fixes (by key) that
    held without the others: they are tried first. `changed` are the texts that fixes made before have left.
    """

    def current(path: str) -> str:
        return changed[path] if path in changed else texts(path)

    try:
        plans = _plans(before, before.requests, current, is_linted, known)
        proof = prove(plans, before, evaluate, current, changed)
    except TooMany:
        return Proof((), tuple(Unproved(each, TOO_LARGE) for each in before.requests), {}, before)
    unproved = proof.unproved
    while widen and proof.proved:
        wider = widen(before, changed, proof.texts.keys())
        if wider is before:
            break
        if wider.unprovable:
            return Proof((), tuple(Unproved(each, TOO_LARGE) for each in before.requests), {}, before)
        before, known = wider, {each.request.key: each.edits for each in proof.proved}
        requests = [each for each in before.requests if each.key in known]
        proof = prove(_plans(before, requests, current, is_linted, known), before, evaluate, current, changed)
        unproved += proof.unproved
    return replace(proof, unproved=unproved)


def _plans(
    before: Judged,
    requests: Sequence[FixRequest],
    texts: Texts,
    is_linted: IsLinted,
    known: Mapping[str, tuple[Edit, ...]],
) -> list[Plan]:
    """Plan fixes, and put the known edits first."""
    # Mistakes that have no fix of their own: silenced ones, and those in files that are not linted.
    others = [each for each in before.broken if each.silenced or not is_linted(each.recipe.path)]
    plans = plan(requests, before.recipes, texts, is_linted, others)
    before.afford({edit.span.path for each in plans for edits in each.candidates for edit in edits})
    if before.search is not None:
        plans = with_other_users(plans, before, texts, before.search)
    for number, each in enumerate(plans):
        edits = known.get(each.request.key)
        if edits in each.candidates:
            candidates = (edits, *(other for other in each.candidates if other != edits))
            manners = {manner: candidates.index(each.candidates[index]) for manner, index in each.manners.items()}
            plans[number] = replace(each, candidates=candidates, manners=manners)
    return plans


def fix_project(
    before: Judged, evaluate: Evaluate, texts: Texts, is_linted: IsLinted, widen: Widen | None = None
) -> Fixed:
    """Fix all that `before` and every later judgement ask for, until a round proves nothing more.

    Writes nothing. `evaluate` gets the texts of all files that differ from what they are on disk.
    """
    changed: dict[str, str] = {}
    fixed: list[Proved] = []
    unproved: tuple[Unproved, ...] = ()
    after = before
    for proof in rounds(before, evaluate, texts, is_linted, widen):
        changed.update(proof.texts)
        fixed += proof.proved
        unproved = proof.unproved
        after = proof.after if proof.proved else after
    return Fixed(changed, frozenset(each.key for each in before.requests), tuple(fixed), unproved, after)


def rounds(
    before: Judged,
    evaluate: Evaluate,
    texts: Texts,
    is_linted: IsLinted,
    widen: Widen | None = None,
    known: Mapping[str, tuple[Edit, ...]] = NOTHING,
) -> Iterator[Proof]:
    """Yield the batches of fixes, each for the state that the batch before it left."""
    changed: dict[str, str] = {}

    for _ in range(ROUNDS):
        if not before.requests:
            return
        proof = prove_once(before, evaluate, texts, is_linted, widen, known, changed)
        yield proof
        if not proof.proved:
            return
        changed.update(proof.texts)
        before, known = proof.after, NOTHING


def applied(fix: Proved) -> Applied:
    """Describe a proved fix as it was applied."""
    changes = [f"{path} = {spell(value)}" for need in fix.request.needs for path, value in need.set.items()]
    changes += [f"{path} is not set any more" for need in fix.request.needs for path in need.unset]
    changes += [f"{path} is called {meant}" for need in fix.request.needs for path, meant in need.rename.items()]
    changes += [f"{path} is taken out" for need in fix.request.needs for path in need.drop]
    changes += [edit.text.strip() or "taken out" for need in fix.request.needs for edit in need.edits]
    first = min(fix.edits, key=lambda edit: edit.span)
    return Applied(fix.request.code.split()[0], fix.request.safety, first.span, tuple(dict.fromkeys(changes)))


def grouped(fixes: Mapping[str, Fix]) -> dict[str, Fix]:
    """Add to each fix, by fingerprint, the keys of the fixes that must be made together with it."""
    users: dict[Edit, list[str]] = defaultdict(list)
    group: dict[str, set[str]] = {}
    for key, fix in fixes.items():
        group[key] = {key}
        for edit in fix.edits:
            users[edit].append(key)
    for keys in users.values():
        together = set().union(*(group[key] for key in keys))
        group |= dict.fromkeys(together, together)
    return {key: replace(fix, together=tuple(sorted(group[key] - {key}))) for key, fix in fixes.items()}
