"""Turn Megatron-FSDP on in one recipe: what it takes, where to write it, and the proof that nothing else changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from mfsdp_lint.core.recipe import Callers, Recipe, Variant
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.values import Plain, is_known_as
from mfsdp_lint.engine.judge import Judgement, Linter
from mfsdp_lint.engine.read import question
from mfsdp_lint.engine.repair import Repair
from mfsdp_lint.engine.run import prepare
from mfsdp_lint.fixes.apply import Fixed
from mfsdp_lint.fixes.enabling import EnableOptions, Enabling, Requirement, guide, requirement
from mfsdp_lint.fixes.judged import Broken, FixRequest, Judged
from mfsdp_lint.fixes.plan import Texts, plan
from mfsdp_lint.fixes.prove import TOO_LARGE, prove
from mfsdp_lint.inputs.addresses import is_address, parse_address
from mfsdp_lint.inputs.options import Options, UsageError
from mfsdp_lint.inputs.sources import Problem, Sources
from mfsdp_lint.megatron.conditions import Site
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.rules.check import Violation

DISABLED = "Megatron-FSDP is not on"
"""The mistake that the proof has to remove from the recipe."""

_NAMED = 5


def enable(options: Options, asked: EnableOptions) -> Enabling | tuple[Problem, ...]:
    """Work out how to turn Megatron-FSDP on, without writing anything.

    Returns the problems where a file cannot be read. Raises UsageError. `options` have one path, an address without
    arguments or a file with one recipe.
    """
    (address,) = options.paths
    path = parse_address(address).path if is_address(address) else address
    options = replace(options, paths=(path,))
    asking, not_there = question(options)
    judge, _, _ = prepare(options, asking)
    judge = replace(judge, rules=judge.every_rule)
    judgement = judge(Sources())
    problems = tuple(each for each in (*not_there, *judgement.problems) if each.kind != "comment")
    if problems:
        return problems
    recipes = _asked_for(judgement.recipes, address)
    return _Attempt(judge, judgement, recipes, asked).run()


def _asked_for(recipes: Sequence[Recipe], address: str) -> tuple[Recipe, ...]:
    """Return the recipe of the address, once for every reading. Raises UsageError."""
    function = parse_address(address).function if is_address(address) else ""
    if "(" in address:
        raise UsageError(f"{address}: a recipe is enabled for whoever calls it; leave the arguments out")
    found = [each for each in recipes if function in ("", each.name)]
    names = dict.fromkeys(each.name for each in found)
    if len(names) == 1:
        return tuple(found)
    if not found:
        known = ", ".join(list(dict.fromkeys(each.name for each in recipes))[:_NAMED])
        raise UsageError(f"{address}: no recipe there" + (f"; there are {known}" if known else ""))
    raise UsageError(f"{address}: {len(names)} recipes there; name one: {', '.join(list(names)[:_NAMED])}")


@dataclass(frozen=True, slots=True)
class _Attempt:
    """An attempt at one recipe, in every reading, and the project around it."""

    judge: Linter
    judgement: Judgement
    recipes: tuple[Recipe, ...]
    asked: EnableOptions

    def run(self) -> Enabling:
        recipe, targets = self.recipes[0], self.judge.question.targets
        result = Enabling(recipe, targets, self.judgement.sources, switches=switches_of(recipe))
        if not all(guide().knows(self._site(target)) for target in targets):
            return replace(result, reasons=("there is no Megatron-FSDP in these versions",))
        repair = Repair(self.judgement, self.judge, ())
        before = repair.judged(self.judgement, unsafe=True)
        requirements = [need for each in before.recipes if _same(each, recipe) for need in self._requirements(each)]
        result = self._told(result, requirements)
        if result.reasons or not any(any(each.extent) for each in requirements):
            return result
        project = repair.project()
        before = project.widen(before, {}, [recipe.path])
        if before.unprovable:
            return replace(result, reasons=(TOO_LARGE,))
        return self._proved(result, requirements, before, project.evaluate)

    def _site(self, target: Target) -> Site:
        return Site(target, self.recipes[0].front_end)

    def _requirements(self, recipe: Recipe) -> Iterator[Requirement]:
        def broken(recipes: Sequence[Recipe]) -> Sequence[Violation]:
            return self.judge.violations(recipes, self.judgement.sources)

        for variant in recipe.variants:
            yield requirement(recipe, variant, self._site(self.judge.target), guide(), self.asked, broken)

    def _told(self, result: Enabling, requirements: Sequence[Requirement]) -> Enabling:
        site = self._site(self.judge.target)
        rest = (each for one in requirements for each in one.rest)
        remarks = (remark for each in requirements for remark in guide().remarks_on(each.after, site, self.asked))
        return replace(
            result,
            reasons=tuple(dict.fromkeys(_obstacle(each) for one in requirements for each in one.obstacles)),
            required=tuple(dict.fromkeys(line for each in requirements for line in each.required)),
            remarks=tuple(dict.fromkeys(remarks)),
            rest=tuple({(each.rule.code, each.case.message.of(each.seen)): each for each in rest}.values()),
        )

    def _proved(
        self,
        result: Enabling,
        requirements: Sequence[Requirement],
        before: Judged,
        evaluate: Callable[[Mapping[str, str]], Judged],
    ) -> Enabling:
        request = FixRequest(DISABLED, DISABLED, "error", "unsafe", tuple(each.need for each in requirements))
        wanted = {path: value for each in requirements for path, value in each.set.items()}
        texts = self.judgement.sources.text
        marked = _marked(before, result.recipe, wanted, texts)
        others = [each for each in marked.broken if each.code == DISABLED]
        plans = plan([request], before.recipes, texts, self.judge.is_linted, others)
        proof = prove(plans, marked, lambda new: _marked(evaluate(new), result.recipe, wanted, texts), texts)
        if not proof.proved:
            return replace(result, reasons=tuple(each.reason for each in proof.unproved))
        return replace(
            result,
            fixed=Fixed(proof.texts, frozenset({DISABLED}), proof.proved, (), proof.after),
            also=tuple(dict.fromkeys(each.recipe.label for each in others if not _same(each.recipe, result.recipe))),
        )


def _marked(judged: Judged, recipe: Recipe, wanted: Mapping[str, Plain], texts: Texts) -> Judged:
    """Add a mistake to a judgement: FSDP is not on in the recipe, and in the recipes that are built on it."""

    def marks(recipes: Iterable[Recipe]) -> list[Broken]:
        return [
            Broken(DISABLED, "error", each, variant)
            for each in recipes
            for variant in (*each.variants, *each.exposed)
            if not all(is_known_as(variant.value(path), value) for path, value in wanted.items())
            and (_same(each, recipe) or (recipe.name in texts(each.path) and _built_on(variant, recipe)))
        ]

    judged = _without_switches(judged if judged.with_users is None else judged.with_users(), recipe)
    return replace(
        judged,
        asked=None,
        broken=[*judged.broken, *marks(judged.recipes)],
        breaks=lambda recipes: [*judged.breaks(recipes), *marks(recipes)],
    )


def _without_switches(judged: Judged, recipe: Recipe) -> Judged:
    """Return the judgement with the recipe's switches treated as arguments of its other callers."""
    gone = {id(way) for each in judged.recipes if _same(each, recipe) for way in each.exposed}
    return replace(
        judged,
        recipes=[_called_either_way(each) if _same(each, recipe) else each for each in judged.recipes],
        broken=[each for each in judged.broken if id(each.variant) not in gone],
    )


def _called_either_way(recipe: Recipe) -> Recipe:
    callers = recipe.callers and _EitherWay(recipe.callers, switches_of(recipe))
    return replace(recipe, exposed=(), callers=callers)


@dataclass(frozen=True, slots=True)
class _EitherWay:
    """The callers of a recipe, with those who say that they do not want it."""

    callers: Callers
    switches: tuple[str, ...]

    def given(self, users: Sequence[str] = ()) -> Sequence[Mapping[str, Plain]]:
        given = list(self.callers.given(users))
        return [*given, *({name: False} for name in self.switches if {name: False} not in given)]

    def variants(self, arguments: Mapping[str, Plain]) -> tuple[Variant, ...]:
        return self.callers.variants(arguments)


def switches_of(recipe: Recipe) -> tuple[str, ...]:
    """Return the parameters by which a caller may turn FSDP on."""
    return tuple(dict.fromkeys(name for way in recipe.exposed for name in way.exposed))


def _same(one: Recipe, other: Recipe) -> bool:
    return (one.path, one.qualified_name) == (other.path, other.qualified_name)


def _built_on(variant: Variant, recipe: Recipe) -> bool:
    """Tell whether the recipe's own function wrote any setting of the variant."""
    return any(
        origin.function == recipe.name and origin.span.path == recipe.path
        for path in variant.settings
        if (origin := variant.origin(path))
    )


def _obstacle(violation: Violation) -> str:
    place = violation.primary.span
    return f"{violation.rule.code} {violation.case.message.of(violation.seen)} ({place.path}:{place.line})"
