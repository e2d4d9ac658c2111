"""The answer for a file is the same whatever else is checked: what an answer is, and how two are compared.

Of a file these belong to its answer: its recipes with every variant, value, origin and finding, what is not followed in
it, and its problems. Two things are about all the files of a run. A helper that needs arguments, or is private, is
judged by itself only where no recipe of the checked files calls it. And a finding points to a file that is checked:
with a helper's file it may point there, without it to the recipe; findings are compared as if all files were checked.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mfsdp_lint.core.recipe import Origin, Recipe, Variant
from mfsdp_lint.engine.read import Question, read
from mfsdp_lint.inputs.discover import File
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import Target, resolve_target
from mfsdp_lint.rules.findings import check
from mfsdp_lint.rules.load import load_rules


@dataclass
class Answer:
    """The answer for one file: the recipes by name and line, and what else is told of it. `late` are the recipes that
    are there only where nothing calls them."""

    recipes: dict[object, object] = field(default_factory=dict)
    late: set[object] = field(default_factory=set)
    told: set[object] = field(default_factory=set)


def answers(
    paths: Sequence[str], sources: Sources, version: str = "0.3.1", search_path: Sequence[str] = ()
) -> Mapping[str, Answer]:
    """The answers for files that are checked together."""
    files, target = tuple(File(path, "python") for path in paths), resolve_target(version)
    found = read(Question(target, files, search_path=tuple(search_path)), sources)
    every = {path: Answer() for path in paths}
    for recipe in found.recipes:
        answer = every[recipe.path]
        answer.recipes[recipe.qualified_name, recipe.line] = (*_recipe(recipe), _findings(recipe, target, sources))
        if recipe.kind == "function" and _is_helper(recipe, sources):
            answer.late.add((recipe.qualified_name, recipe.line))
    for code in found.unfollowed:
        if code.path in every and code.certain:
            every[code.path].told.add((code.name, code.line, code.why, code.message))
    for problem in found.problems:
        if problem.path in every:
            every[problem.path].told.add((problem.line, problem.message))
    return every


def differences(alone: Answer, together: Answer) -> Iterator[str]:
    """Return the differences between the answers for one file, checked alone and with others."""
    for key in sorted({*alone.recipes, *together.recipes}, key=str):
        one, other = alone.recipes.get(key), together.recipes.get(key)
        if other is None and key in alone.late:
            continue  # a recipe of another file calls it
        if one != other:
            yield f"{key}: " + (
                "only together" if one is None else "only alone" if other is None else _first(one, other)
            )
    yield from (f"{each}: only in one of them" for each in sorted(alone.told ^ together.told, key=str))


def _is_helper(recipe: Recipe, sources: Sources) -> bool:
    """Tell whether a function is judged by itself only where no recipe calls it."""
    name = recipe.qualified_name.rpartition(".")[2].partition("[")[0]
    for node in ast.walk(ast.parse(sources.text(recipe.path))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            given = node.args
            needs = len(given.posonlyargs) + len(given.args) > len(given.defaults) or None in given.kw_defaults
            return name.startswith("_") or needs
    return False


def _recipe(recipe: Recipe) -> tuple[object, ...]:
    return (
        recipe.kind,
        recipe.partial,
        recipe.front_end.name,
        tuple(map(_variant, recipe.variants)),
        tuple(map(_variant, recipe.exposed)),
    )


def _findings(recipe: Recipe, target: Target, sources: Sources) -> object:
    """The findings of a recipe by itself, wherever they point."""
    found = check([recipe], target, load_rules(), lambda path: True, sources)
    return tuple((each.code, each.severity, each.message, each.span, each.related) for each in found)


def _variant(variant: Variant) -> object:
    found = ((path, variant.settings.get(path)) for path in sorted(variant.settings))
    settings = tuple((path, repr(each.value), _origin(each.origin)) for path, each in found if each is not None)
    undeclared = tuple(
        (each.path, each.owner, each.fields, _origin(each.origin)) for each in variant.settings.undeclared()
    )
    return variant.when, variant.exposed, settings, undeclared


def _origin(origin: Origin | None) -> object:
    """Everything about a write but when it was: the number of a write is of one evaluation."""
    if origin is None:
        return None
    return (
        origin.span,
        origin.how,
        origin.focus,
        origin.function,
        origin.upstream,
        repr(origin.value),
        origin.option,
        origin.sources,
        _origin(origin.earlier),
    )


def _first(one: object, other: object, where: str = "") -> str:
    """The first place where two records differ."""
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        for number, (left, right) in enumerate(zip(one, other, strict=True)):
            if left != right:
                name = left[0] if isinstance(left, tuple) and left and isinstance(left[0], str) else number
                return _first(left, right, f"{where}/{name}")
    return f"{where}: {str(one)[:300]} alone, {str(other)[:300]} together"
