"""Python files, read by the evaluator (`readers/python`)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mfsdp_lint.core.recipe import Recipe, Unfollowed
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs.faults import Faults
from mfsdp_lint.inputs.filetypes import FileType
from mfsdp_lint.inputs.sources import Problem
from mfsdp_lint.inputs.suppression import CommentPlace
from mfsdp_lint.readers.python_relevance import is_relevant
from mfsdp_lint.readers.reader import Reading, ToRead
from mfsdp_lint.readers.shell_files import may_start_any
from mfsdp_lint.versions.target import Target


def _nemo(target: Target) -> object:
    """What knows the runs of NeMo; most files have none."""
    from mfsdp_lint.readers.nemo import nemo

    return nemo(target)


_STARTS = re.compile(r"\bsubprocess\b|\bos\.(?:system|popen|exec\w+)\b")

_BETWEEN_FOLDERS = re.compile(r"[\"'] */ *[\"']")
_BETWEEN_WORDS = re.compile(r"[\"',()\[\]]+")


def _runs(asked: ToRead) -> Reading | None:
    """What the scripts among the files start. Those without such words are not parsed for it; None where all are."""
    recipes: list[Recipe] = []
    problems: list[Problem] = []
    unfollowed: list[Unfollowed] = []
    faults = Faults()
    paths = [path for path in asked.paths if _may_start(path, asked)]
    for path in paths:
        with faults.contained(path):
            from mfsdp_lint.readers.holders.python import commands
            from mfsdp_lint.readers.python.entries.started import Programs
            from mfsdp_lint.readers.shell.read import read_shell

            programs = Programs(asked, lambda: _nemo(asked.target))
            found = read_shell(path, commands(path, asked, programs.nemo), asked.target, asked.sources, programs)
            recipes += found.recipes
            problems += found.problems
            unfollowed += found.unfollowed
    return Reading(recipes, [*problems, *faults.problems], unfollowed=unfollowed) if paths else None


def _may_start(path: str, asked: ToRead) -> bool:
    """Whether a file may start a run: its texts are looked at as the words of a script."""
    text = asked.sources.text_or_none(path) or ""
    if not _STARTS.search(text):
        return False
    words = _BETWEEN_WORDS.sub(" ", _BETWEEN_FOLDERS.sub("/", text))
    return may_start_any(path, words, asked.sources)


class PythonFiles:
    """All files are read in one evaluation: they import each other."""

    type = FileType("python", "a Python file", suffixes=(".py",), functions=True, imports=True)

    def read(self, asked: ToRead, before: object) -> Reading:
        """The recipes of the files and addresses, and the runs that they start. What changed texts cannot reach is
        taken over."""
        found, runs = self._recipes(asked, before), _runs(asked)
        if runs is None:
            return found
        return replace(
            found,
            recipes=[*found.recipes, *runs.recipes],
            problems=[*found.problems, *runs.problems],
            unfollowed=[*found.unfollowed, *runs.unfollowed],
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
