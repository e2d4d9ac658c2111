"""Everything that is worth saying of the texts that a script consists of, and of what it launches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from mfsdp_lint.core.front_ends import MEGATRON_LM
from mfsdp_lint.core.recipe import Notice, Recipe
from mfsdp_lint.readers.shell.files import path_of
from mfsdp_lint.readers.shell.noticed import comments, continuations, flags, variables
from mfsdp_lint.readers.shell.pieces import located
from mfsdp_lint.readers.shell.run import Launch, Runner
from mfsdp_lint.readers.shell.script import Script
from mfsdp_lint.vocabulary.entry import Versions


def noticed(
    path: str,
    runner: Runner,
    whole: Script | None,
    launches: Sequence[Launch],
    recipes: Sequence[Recipe],
    versions: Versions,
) -> list[Notice]:
    """The notices of a reading, each once, in the order of the text. `launches` are those that start a run, and `whole`
    is the script that all of it begins with, where there is one."""
    found: dict[tuple[object, ...], Notice] = {}
    for each in _noticed(path, runner, whole, launches, recipes, versions):
        found.setdefault((each.kind, each.span), each)
    return sorted(found.values(), key=lambda each: each.span)


def _noticed(
    path: str,
    runner: Runner,
    whole: Script | None,
    launches: Sequence[Launch],
    recipes: Sequence[Recipe],
    versions: Versions,
) -> Iterator[Notice]:
    for script in runner.scripts.values():
        yield from continuations.broken(script)
        yield from continuations.lost(script)
        yield from comments.commented_elements(script)
        yield from variables.misspelt(script)
    if whole is not None:
        yield from variables.late(whole, path, launches)
    yield from variables.of_jobs(launches)
    for recipe in recipes:
        if not recipe.front_end.is_a(str(MEGATRON_LM)):
            continue
        if whole is not None:
            for variant in (*recipe.variants, *recipe.exposed):
                settings = (variant.settings.get(each) for each in variant.settings)
                yield from flags.twice([each for each in settings if each], whole, path)
        for launch in (each for each in launches if each.span.line == recipe.line):
            yield from comments.within_quotes(launch.started.arguments)
            if recipe.front_end == MEGATRON_LM:  # others declare flags of their own
                declared = partial(_declared, runner, launch)
                yield from flags.unknown(launch.started.arguments, versions.core, declared)


def _declared(runner: Runner, launch: Launch) -> str:
    """The texts that may declare flags: of the program, and of the command line where the tree has one of its own."""
    places = (located(launch.started.program), "megatron/training/arguments.py")
    paths = (path_of(place, runner.path, runner.sources, launch.folder) for place in places)
    return "".join(runner.sources.text_or_none(path) or "" for path in paths if path)
