"""Python files, read by the evaluator (`readers/python`)."""

from __future__ import annotations

from collections.abc import Iterable

from mfsdp_lint.inputs.filetypes import FileType
from mfsdp_lint.inputs.suppression import CommentPlace
from mfsdp_lint.readers.python_relevance import is_relevant
from mfsdp_lint.readers.reader import Reading, ToRead
from mfsdp_lint.versions.target import Target


def _nemo(target: Target) -> object:
    """What knows the runs of NeMo; most files have none."""
    from mfsdp_lint.readers.nemo import nemo

    return nemo(target)


class PythonFiles:
    """All files are read in one evaluation: they import each other."""

    type = FileType("python", "a Python file", suffixes=(".py",), functions=True, imports=True)

    def read(self, asked: ToRead, before: object) -> Reading:
        """The recipes of the files and addresses. What changed texts cannot reach is taken over."""
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
