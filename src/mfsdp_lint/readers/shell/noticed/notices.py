"""All notices about the texts that a script consists of, and about its launches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from mfsdp_lint.core.front_ends import MEGATRON_LM
from mfsdp_lint.core.recipe import Notice, Recipe
from mfsdp_lint.megatron.vocabulary.entry import Versions
from mfsdp_lint.readers.shell.files import path_of
from mfsdp_lint.readers.shell.noticed import comments, continuations, flags, variables
from mfsdp_lint.readers.shell.pieces import located
from mfsdp_lint.readers.shell.run import Launch, Runner
from mfsdp_lint.readers.shell.script import Script


def noticed(
    path: str,
    runner: Runner,
    whole: Script | None,
    launches: Sequence[Launch],
    recipes: Sequence[Recipe],
    versions: Versions,
) -> list[Notice]:
    """Return the notices of a reading, each once, in the order of the text. `launches` are those that start a run, and
    `whole` is the script that all of it begins with, where there is one.
    """
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


def _declared(runner: Runner, launch: Launch) -> flags.Declared:
    """Return the texts that may declare flags: the program, the files that it has its own flags from, and the tree's
    own command line where it has one.
    """

    def text_of(place: str | None) -> str | None:
        path = path_of(place, runner.path, runner.sources, launch.folder) if place else None
        return runner.sources.text_or_none(path) if path else None

    program, whole = text_of(located(launch.started.program)), text_of("megatron/training/arguments.py") or ""
    if program is None or launch.started.is_module:
        return flags.Declared(whole)
    providers = [text_of(place) for place in _providers(program)]
    is_all = not _MAY_TAKE_ANY.search(program) and None not in providers
    return flags.Declared("".join((program, whole, *filter(None, providers))), is_all)


def _providers(program: str) -> Iterator[str]:
    """Yield the files from which a program imports the functions that declare its own flags; "" where a file is not
    known.

    A function of the program itself declares them in its own text.
    """
    for name in _PROVIDER.findall(program):
        if name != "None" and not re.search(rf"^def {name}\b", program, re.MULTILINE):
            module = re.search(rf"^ *from ([\w.]+) import (?:\([^)]*|[^\n]*)\b{name}\b", program, re.MULTILINE)
            yield f"{module[1].replace('.', '/')}.py" if module else ""


_PROVIDER = re.compile(r"\bextra_args_provider\s*=\s*(\w+)")
_MAY_TAKE_ANY = re.compile(r"\b(?:ignore_unknown_args|parse_known_args)\b")
