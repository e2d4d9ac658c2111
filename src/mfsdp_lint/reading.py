"""What to read, and reading it: files and addresses → recipes, under the overrides. Judging and asking begin here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from mfsdp_lint import overrides
from mfsdp_lint.addresses import Address, ask
from mfsdp_lint.discover import File
from mfsdp_lint.options import Options, UsageError
from mfsdp_lint.overrides import Overrides
from mfsdp_lint.recipe import Recipe
from mfsdp_lint.sources import Problem, Sources, Unreadable
from mfsdp_lint.upstream.target import Target, UnknownVersion, resolve_target


@dataclass(frozen=True, slots=True)
class Question:
    """Everything that decides what is read, but the texts: `files` are read whole, `addresses` are single functions."""

    target: Target
    files: tuple[File, ...] = ()
    addresses: tuple[Address, ...] = ()
    search_path: tuple[str, ...] = ()
    overrides: Overrides = field(default_factory=Overrides)

    @property
    def every_file(self) -> tuple[File, ...]:
        """The files read whole, and those that only an address names."""
        whole = {file.path for file in self.files}
        paths = dict.fromkeys(address.path for address in self.addresses if address.path not in whole)
        return (*self.files, *(File(path, "python") for path in paths))


@dataclass(frozen=True, slots=True)
class Read:
    """The recipes, what could not be read or is not there, and what else is worth saying."""

    recipes: tuple[Recipe, ...]
    problems: tuple[Problem, ...]
    remarks: tuple[str, ...] = ()


def question(options: Options) -> tuple[Question, tuple[Problem, ...]]:
    """What the options ask to read, and what of it is not there. Raises UsageError."""
    try:
        target = resolve_target(options.target_bridge)
    except UnknownVersion as error:
        raise UsageError(f"target-bridge: {error}") from None
    changed = overrides.parse(options.overrides, options.environment)
    asked = ask(options.paths, options.exclude)
    return Question(target, asked.files, asked.addresses, options.search_path, changed), asked.problems


def read(question: Question, sources: Sources, *, tracing: bool = False) -> Read:
    """The recipes of all files and addresses, as they are under the overrides.

    With `tracing`, origins know the calls that led to them, which takes longer.
    """
    recipes: list[Recipe] = []
    problems: list[Problem] = []
    python = [file.path for file in question.files if file.kind == "python"]
    if python or question.addresses:
        from mfsdp_lint.readers.python.read import read_python
        from mfsdp_lint.upstream.knowledge import load_knowledge

        found = read_python(
            python,
            sources,
            load_knowledge(question.target),
            question.search_path,
            addresses=question.addresses,
            tracing=tracing,
        )
        recipes += found.recipes
        problems += [*(error.problem for error in found.unreadable), *found.missing]
    for file in question.files:
        if file.kind == "yaml":
            recipes += _read_yaml(file.path, sources, problems)
    remarks = overrides.misspelt(recipes, question.overrides)
    recipes = [overrides.override(recipe, question.overrides) for recipe in recipes]
    return Read(tuple(recipes), tuple(problems), tuple(remarks))


def _read_yaml(path: str, sources: Sources, problems: list[Problem]) -> Iterator[Recipe]:
    from mfsdp_lint.readers.yaml import read_yaml

    try:
        yield from read_yaml(path, sources.text(path))
    except Unreadable as error:
        problems.append(error.problem)
