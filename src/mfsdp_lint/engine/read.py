"""What to read, and reading it: files and addresses → recipes, under the overrides. Judging and asking begin here."""

from __future__ import annotations

import os
from collections.abc import Mapping

from mfsdp_lint.checkpoints import facts
from mfsdp_lint.core.nearest import did_you_mean
from mfsdp_lint.core.recipe import Recipe, Unfollowed
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.addresses import Address, Asked, ask
from mfsdp_lint.inputs.discover import File
from mfsdp_lint.inputs.globs import is_excluded
from mfsdp_lint.inputs.launchers import launchers, loading
from mfsdp_lint.inputs.options import AS_ASKED, Options, UsageError
from mfsdp_lint.inputs.sources import Problem, Sources
from mfsdp_lint.readers import command_line_overrides, registry
from mfsdp_lint.readers.command_line_overrides import CommandLine
from mfsdp_lint.readers.overrides import override
from mfsdp_lint.readers.python_relevance import RECIPE
from mfsdp_lint.readers.reader import Knowledge, ToRead
from mfsdp_lint.readers.registry import file_types
from mfsdp_lint.versions.target import Target, UnknownVersion


@dataclass(frozen=True, slots=True)
class Question:
    """Everything that decides what is read, but the texts: `files` are read whole, `addresses` are single functions,
    which may be in other files, the `named` ones.

    `beside` are files that another question asks for: where they are imported they appear under these paths.
    `numbered` are single recipes of `files` (`launch.sh[2]`): of these files nothing else is looked at.
    `launchers` are files that nobody asked for: the runs that they make of the files are looked at, and nothing else.
    `front_end` is the framework whose configurations the YAML files are, where that is said.
    With `only_runs`, what starts nothing is not looked at: nobody asks what a recipe comes to by itself.
    `command_line` overrides settings of every recipe. `also` are the other versions of a range, of which `target` is
    the newest; `remarks` what is worth saying of them.
    """

    target: Target
    files: tuple[File, ...] = ()
    addresses: tuple[Address, ...] = ()
    search_path: tuple[str, ...] = ()
    command_line: CommandLine = field(default_factory=CommandLine)
    also: tuple[Target, ...] = ()
    named: tuple[File, ...] = ()
    remarks: tuple[str, ...] = ()
    beside: tuple[File, ...] = ()
    numbered: tuple[str, ...] = ()
    launchers: tuple[File, ...] = ()
    front_end: str | None = None
    only_runs: bool = False

    @property
    def targets(self) -> tuple[Target, ...]:
        """Every version judged against, the newest first."""
        return (self.target, *self.also)

    def asks_for(self, recipe: Recipe) -> bool:
        """Whether a recipe of a file that is read is to be looked at."""
        alone = {each.rpartition("[")[0] for each in self.numbered}
        return recipe.path not in alone or recipe.qualified_name in self.numbered

    @property
    def every_file(self) -> tuple[File, ...]:
        """The files read whole, and those that only an address names."""
        return (*self.files, *self.named)


@dataclass(frozen=True, slots=True)
class Read:
    """The recipes, what could not be read or is not there, and what else is worth saying.

    `memories` are for a later reading of the same question, by the kind of file. `unfollowed` is code of which there is
    no recipe though there should be, in the files as they were first.
    """

    recipes: tuple[Recipe, ...]
    problems: tuple[Problem, ...]
    remarks: tuple[str, ...] = ()
    memories: Mapping[str, object] = field(default_factory=dict)
    unfollowed: tuple[Unfollowed, ...] = ()


def question(options: Options) -> tuple[Question, tuple[Problem, ...]]:
    """What the options ask to read, and what of it is not there. Raises UsageError."""
    from mfsdp_lint.detect import detect

    changed = command_line_overrides.parse(options.overrides, options.environment)
    if options.stdin is None:
        asked = ask(_paths(options), file_types(), options.exclude, gitignore=options.respect_gitignore)
    else:
        asked = _of_stdin(options.paths[0], options.stdin)
    named = dict.fromkeys([*options.paths, *(address.path for address in asked.addresses)])
    importing = {reader.type.name for reader in registry.READERS if reader.type.imports}
    modules = (file.path for file in asked.files if file.kind in importing)
    try:
        detected = detect([path for path in named if disk.exists(path)], options, modules)
    except UnknownVersion as error:
        asked_by = "" if options.target_from == AS_ASKED else f"{options.target_from}: "
        raise UsageError(f"{asked_by}{error}") from None
    target, *also = detected.targets
    asking = Question(
        target,
        asked.files,
        asked.addresses,
        options.search_path,
        changed,
        tuple(also),
        asked.named,
        detected.remarks,
        numbered=asked.numbered,
        front_end=_front_end(options.front_end),
    )
    return asking, asked.problems


def _front_end(name: str | None) -> str | None:
    """The name, if a front-end has it. Raises UsageError."""
    if name is None:
        return None
    from mfsdp_lint.front_ends.load import every_front_end

    if name not in every_front_end():
        raise UsageError(f"--front-end: there is no {name!r}{did_you_mean(name, every_front_end())}")
    return name


def with_launchers(question: Question) -> Question:
    """The question with the launch scripts of the same projects that may start what it asks for, or load what that
    converts."""
    started = {reader.type.name for reader in registry.READERS if not reader.type.launches}
    paths = [file.path for file in question.every_file if file.kind in started]
    types = [reader.type for reader in registry.READERS if reader.type.launches]
    asked = {disk.real(file.path) for file in question.every_file}
    found = [File(path, type_.name) for type_ in types for path in launchers(paths, type_, RECIPE)]
    for type_ in types:
        scripts = [file.path for file in question.every_file if file.kind == type_.name]
        found += [File(path, type_.name) for path in loading(scripts, type_)]
    return replace(
        question, launchers=tuple(dict.fromkeys(file for file in found if disk.real(file.path) not in asked))
    )


def _paths(options: Options) -> tuple[str, ...]:
    """The paths that are asked for; a commit hook names files that nobody wants."""
    if not options.force_exclude:
        return options.paths
    return tuple(each for each in options.paths if not is_excluded(each.partition("::")[0], options.exclude))


def _of_stdin(path: str, text: str) -> Asked:
    """The one file whose text came from stdin. Raises UsageError."""
    kind = file_types().of(path, text)
    if kind is None:
        raise UsageError(f"--stdin-filename: {path}: not a kind of file this tool reads ({file_types()})")
    return Asked((File(path.replace(os.sep, "/"), kind.name),), (), ())


def read(question: Question, sources: Sources, *, tracing: bool = False, before: Read | None = None) -> Read:
    """The recipes of all files and addresses, as they are under the overrides.

    With `tracing`, origins know the calls that led to them, which takes longer. `before` is what the same question gave
    for other texts: recipes that these make no difference for are taken over.
    """
    recipes: list[Recipe] = []
    problems: list[Problem] = []
    # What is taken over was worth the same remarks.
    remarks = [*question.remarks, *(() if before is None else before.remarks)]
    memories: dict[str, object] = {}
    unfollowed: list[Unfollowed] = []
    for reader in registry.READERS:
        kind = reader.type.name
        asked = _of_kind(kind, question, sources, tracing)
        if asked.paths or asked.addresses or asked.launchers:
            found = reader.read(asked, None if before is None else before.memories.get(kind))
            memories[kind] = found.memory
            recipes += found.recipes
            problems += found.problems
            remarks += found.remarks
            unfollowed += found.unfollowed
    remarks += command_line_overrides.misspelt(recipes, question.command_line.overrides)
    found_at = facts.finder()
    overridden = (override(recipe, question.command_line.overrides) for recipe in recipes if question.asks_for(recipe))
    recipes = [found_at(recipe) for recipe in overridden]
    first = tuple(unfollowed) if before is None else before.unfollowed
    return Read(tuple(recipes), tuple(problems), tuple(remarks), memories, first)


def _of_kind(kind: str, question: Question, sources: Sources, tracing: bool) -> ToRead:
    """What is asked of the files of one kind."""
    mine = {file.path for file in question.every_file if file.kind == kind}
    return ToRead(
        [file.path for file in question.files if file.kind == kind],
        sources,
        question.target,
        lambda: _knowledge(question.target),
        [address for address in question.addresses if address.path in mine],
        question.search_path,
        tracing,
        [file.path for file in question.beside if file.kind == kind],
        [file.path for file in (*question.every_file, *question.beside)],
        [file.path for file in question.launchers if file.kind == kind],
        question.front_end,
        question.only_runs,
    )


def _knowledge(target: Target) -> Knowledge:
    from mfsdp_lint.snapshots.knowledge import load_knowledge

    return load_knowledge(target)
