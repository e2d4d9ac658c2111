"""Python files, read by the evaluator (`readers/python`)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs.faults import Faults
from mfsdp_lint.inputs.filetypes import FileType
from mfsdp_lint.inputs.sources import Problem
from mfsdp_lint.inputs.suppression import CommentPlace
from mfsdp_lint.readers.python_relevance import is_relevant
from mfsdp_lint.readers.reader import Reading, ToRead
from mfsdp_lint.readers.shell_files import may_start_program
from mfsdp_lint.versions.target import Target


def _nemo(target: Target) -> object:
    """What knows the runs of NeMo; most files have none."""
    from mfsdp_lint.readers.nemo import nemo

    return nemo(target)


_STARTS = re.compile(r"\bsubprocess\b|\bos\.(?:system|popen|exec\w+)\b")


def _runs(asked: ToRead) -> tuple[list[Recipe], list[Problem]]:
    """What the scripts among the files start; those without such words are not parsed for it."""
    recipes: list[Recipe] = []
    faults = Faults()
    for path in asked.paths:
        text = asked.sources.text_or_none(path) or ""
        if not (_STARTS.search(text) and may_start_program(path, text, asked.sources)):
            continue
        with faults.contained(path):
            from mfsdp_lint.readers.holders.python import commands
            from mfsdp_lint.readers.python.entries.started import Programs
            from mfsdp_lint.readers.shell.read import read_shell

            def knows() -> object:
                return _nemo(asked.target)

            held = commands(path, asked, knows)
            recipes += read_shell(path, held, asked.target, asked.sources, Programs(asked, knows)).recipes
    return recipes, faults.problems


class PythonFiles:
    """All files are read in one evaluation: they import each other."""

    type = FileType("python", "a Python file", suffixes=(".py",), functions=True, imports=True)

    def read(self, asked: ToRead, before: object) -> Reading:
        """The recipes of the files and addresses, and the runs that they start. What changed texts cannot reach is
        taken over."""
        found = self._recipes(asked, before)
        runs, problems = _runs(asked)
        return (
            replace(found, recipes=[*found.recipes, *runs], problems=[*found.problems, *problems])
            if runs or problems
            else found
        )

    def _recipes(self, asked: ToRead, before: object) -> Reading:
        if asked.only_runs or (
            not asked.addresses and not any(is_relevant(path, asked.sources) for path in asked.paths)
        ):
            return Reading(())
        from mfsdp_lint.readers.python.entries.incremental import Before
        from mfsdp_lint.readers.python.read import read_python

        knowledge = asked.knowledge()
        found = read_python(
            asked.paths,
            asked.sources,
            knowledge,
            asked.search_path,
            addresses=asked.addresses,
            beside=asked.beside,
            tracing=asked.tracing,
            before=before if isinstance(before, Before) else None,
            nemo=lambda: _nemo(asked.target),
        )
        problems = (*(error.problem for error in found.unreadable), *found.missing, *found.faults)
        return Reading(found.recipes, problems, tuple(knowledge.remarks()), found.again, found.unfollowed)

    def comments(self, text: str) -> Iterable[CommentPlace]:
        """Every comment."""
        from mfsdp_lint.readers.python.comments import python_comments

        return python_comments(text)
