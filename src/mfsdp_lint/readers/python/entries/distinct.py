"""Recipes without duplicates: one configuration of one run is one recipe, however many entry points lead to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.records import replace
from mfsdp_lint.readers.python.entries.incremental import Tried
from mfsdp_lint.readers.python.entries.running import Found, content
from mfsdp_lint.readers.python.entries.touched import Key

Globals = Mapping[tuple[str, str], Found]
"""By file and name."""


def distinct(ran: Sequence[Tried]) -> list[Recipe]:
    """Return the recipes of entry points that ran, each once.

    A script shares a recipe with the function that it calls to launch, and with the global name of the configuration.
    """
    of_functions = {each.own: each.found for each in ran if each.own is not None}
    in_modules = {(each.path, each.entry.name): each.found[0] for each in ran if each.entry.kind == "module"}
    in_scripts = {(each.path, name): found for each in ran for found in each.found for name in found.names}
    kept: list[Found] = []
    bodies: list[Found] = []
    for tried in ran:
        for found in tried.found:
            body = next(_bodies(tried, found, of_functions), None)
            if body is not None:
                bodies.append(body)
            elif not _is_in_script(tried, found, in_scripts) and not _is_global(tried, found, in_modules):
                kept.append(found)
    scripts = set(map(id, bodies))
    made_of = {
        id(found): tried.called & of_functions.keys() for tried in ran for found in tried.found if found.launched
    }
    recipes = [replace(each.recipe, kind="script") if id(each) in scripts else each.recipe for each in kept]
    return [
        replace(recipe, pieces=made_of[id(each)]) if made_of.get(id(each)) else recipe
        for each, recipe in zip(kept, recipes, strict=True)
    ]


def _bodies(tried: Tried, found: Found, of_functions: Mapping[Key, Sequence[Found]]) -> Iterator[Found]:
    """Yield the launches of functions that a script calls, as far as the script launches the same."""
    if tried.entry.kind == "script" and found.launched:
        called = (each for key in tried.called for each in of_functions.get(key, ()))
        yield from (each for each in called if each.launched and _same(each, found))


def _is_in_script(tried: Tried, found: Found, in_scripts: Globals) -> bool:
    """Tell whether a script launches the configuration that a global name holds, or changes it."""
    script = in_scripts.get((tried.path, tried.entry.name)) if tried.entry.kind == "module" else None
    return script is not None and (script.launched or not _same(script, found))


def _is_global(tried: Tried, found: Found, in_modules: Globals) -> bool:
    """Tell whether a script has only the configuration that a global name holds when the file is imported."""
    if found.launched:
        return False
    there = (in_modules.get((tried.path, name)) for name in found.names)
    return any(each is not None and _same(each, found) for each in there)


def _same(one: Found, other: Found) -> bool:
    return content(one.recipe) == content(other.recipe)
