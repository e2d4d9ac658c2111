"""Shell scripts: the training runs that they start (`readers/shell`). Nothing is executed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.inputs.faults import Faults
from mfsdp_lint.inputs.filetypes import FileType
from mfsdp_lint.inputs.sources import Problem, Unreadable
from mfsdp_lint.inputs.suppression import CommentPlace
from mfsdp_lint.readers.reader import Reading, ToRead


class ShellFiles:
    """Each script is followed by itself, with the scripts that it names."""

    type = FileType(
        "shell",
        "a shell script",
        suffixes=(".sh", ".bash", ".sbatch", ".slurm"),
        first_line=re.compile(r"#!\s*\S*/(?:env\s+(?:-\S+\s+)*)?(?:ba|da|k|z)?sh\b"),
    )

    def read(self, asked: ToRead, before: object) -> Reading:
        """The recipes of every script that has some."""
        recipes: list[Recipe] = []
        problems: list[Problem] = []
        faults = Faults()
        for path in asked.paths:
            with faults.contained(path):
                try:
                    text = asked.sources.text(path)
                except Unreadable as error:
                    if error.about is None or _may_be_one(error.about):
                        problems.append(error.problem)
                    continue
                if _may_be_one(text):
                    from mfsdp_lint.readers.shell.read import read_shell

                    found = read_shell(path, text, asked.target, asked.sources)
                    recipes += found.recipes
                    problems += found.problems
        return Reading(recipes, [*problems, *faults.problems])

    def comments(self, text: str) -> Iterable[CommentPlace]:
        """Every comment."""
        from mfsdp_lint.readers.shell.comments import shell_comments

        return shell_comments(text)


_RELEVANT = re.compile(
    r"megatron|fsdp|--(?:tensor|pipeline)-model-parallel-size|--micro-batch-size|\bddp\.", re.IGNORECASE
)
_STARTS = re.compile(r"\.py\b|\s-m\s|\b(?:source|bash|sh)\s|^\s*\.\s", re.MULTILINE)


def _may_be_one(text: str) -> bool:
    """Whether a script may start a training run, by its words. Parsers are loaded for no other."""
    return bool(_RELEVANT.search(text) and _STARTS.search(text))


def may_start(text: str) -> bool:
    """Whether a text that is, or holds, a script may start a training run."""
    return _may_be_one(text)
