"""What to read, and reading it: files and addresses → recipes, under the overrides. Judging and asking begin here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mfsdp_lint.core.recipe import Recipe, Unfollowed
from mfsdp_lint.inputs.addresses import Address, ask
from mfsdp_lint.inputs.discover import File
from mfsdp_lint.inputs.options import AS_ASKED, Options, UsageError
from mfsdp_lint.inputs.sources import Problem, Sources, Unreadable
from mfsdp_lint.readers import overrides
from mfsdp_lint.readers.overrides import Overrides
from mfsdp_lint.versions.target import Target, UnknownVersion

if TYPE_CHECKING:
    from mfsdp_lint.readers.python.entries.incremental import Before


@dataclass(frozen=True, slots=True)
class Question:
    """Everything that decides what is read, but the texts: `files` are read whole, `addresses` are single functions.

    `also` are the other versions of a range, of which `target` is the newest; `remarks` what is worth saying of them.
    """

    target: Target
    files: tuple[File, ...] = ()
    addresses: tuple[Address, ...] = ()
    search_path: tuple[str, ...] = ()
    overrides: Overrides = field(default_factory=Overrides)
    also: tuple[Target, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def targets(self) -> tuple[Target, ...]:
        """Every version judged against, the newest first."""
        return (self.target, *self.also)

    @property
    def every_file(self) -> tuple[File, ...]:
        """The files read whole, and those that only an address names."""
        whole = {file.path for file in self.files}
        paths = dict.fromkeys(address.path for address in self.addresses if address.path not in whole)
        return (*self.files, *(File(path, "python") for path in paths))


@dataclass(frozen=True, slots=True)
class Read:
    """The recipes, what could not be read or is not there, and what else is worth saying.

    `python` is for a later reading of the same question. `unfollowed` is code of which there is no recipe though there
    should be; a reading that takes recipes over from an earlier one does not look for it.
    """

    recipes: tuple[Recipe, ...]
    problems: tuple[Problem, ...]
    remarks: tuple[str, ...] = ()
    python: Before | None = None
    unfollowed: tuple[Unfollowed, ...] = ()


def question(options: Options) -> tuple[Question, tuple[Problem, ...]]:
    """What the options ask to read, and what of it is not there. Raises UsageError."""
    from mfsdp_lint.detect import detect

    changed = overrides.parse(options.overrides, options.environment)
    asked = ask(options.paths, options.exclude)
    named = dict.fromkeys([*options.paths, *(address.path for address in asked.addresses)])
    python = (file.path for file in asked.files if file.kind == "python")
    try:
        detected = detect([path for path in named if os.path.exists(path)], options, python)
    except UnknownVersion as error:
        asked_by = "" if options.target_from == AS_ASKED else f"{options.target_from}: "
        raise UsageError(f"{asked_by}{error}") from None
    target, *also = detected.targets
    asking = Question(target, asked.files, asked.addresses, options.search_path, changed, tuple(also), detected.remarks)
    return asking, asked.problems


def read(question: Question, sources: Sources, *, tracing: bool = False, before: Read | None = None) -> Read:
    """The recipes of all files and addresses, as they are under the overrides.

    With `tracing`, origins know the calls that led to them, which takes longer. `before` is what the same question gave
    for other texts: recipes that these make no difference for are taken over.
    """
    recipes: list[Recipe] = []
    problems: list[Problem] = []
    # What is taken over was worth the same remarks.
    remarks = [*question.remarks, *(() if before is None else before.remarks)]
    again = None
    unfollowed: tuple[Unfollowed, ...] = ()
    python = [file.path for file in question.files if file.kind == "python"]
    if python or question.addresses:
        from mfsdp_lint.readers.python.read import read_python
        from mfsdp_lint.snapshots.knowledge import load_knowledge

        knowledge = load_knowledge(question.target)
        found = read_python(
            python,
            sources,
            knowledge,
            question.search_path,
            addresses=question.addresses,
            tracing=tracing,
            before=None if before is None else before.python,
        )
        again, unfollowed = found.again, found.unfollowed
        recipes += found.recipes
        problems += [*(error.problem for error in found.unreadable), *found.missing]
        remarks += knowledge.remarks()
    for file in question.files:
        if file.kind == "yaml":
            recipes += _read_yaml(file.path, sources, question.target, problems)
    remarks += overrides.misspelt(recipes, question.overrides)
    recipes = [overrides.override(recipe, question.overrides) for recipe in recipes]
    return Read(tuple(recipes), tuple(problems), tuple(remarks), again, unfollowed)


def _read_yaml(path: str, sources: Sources, target: Target, problems: list[Problem]) -> Iterator[Recipe]:
    from mfsdp_lint.readers.yaml import read_yaml

    try:
        yield from read_yaml(path, sources.text(path), target)
    except Unreadable as error:
        problems.append(error.problem)
