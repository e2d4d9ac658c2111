"""Programs that launches start: those of the tree, and Megatron-Bridge's scripts, whose behaviour is written down.

The evaluator is loaded with the first that is followed: many launches start a program that nobody has at hand.
"""

from __future__ import annotations

import ast
import re
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mfsdp_lint.core import files
from mfsdp_lint.megatron.versions import is_version, numbers
from mfsdp_lint.readers.command_lines import submits_recipe
from mfsdp_lint.readers.given_words import Given
from mfsdp_lint.readers.launch_memory import NOTHING, Ran, Started
from mfsdp_lint.readers.reader import ToRead

if TYPE_CHECKING:
    from mfsdp_lint.readers.python.entries.addressed import ProgramEvaluation

_UPSTREAM = Path(files.PACKAGE, "readers", "python", "library", "programs")
"""Models of Megatron-Bridge's scripts, in folders named after the first release that they are for. They are read here,
and imported by nobody."""


_HANDS_ON = dict.fromkeys(("setup_experiment.py", "bootstrap.py"), "run_script.py")
"""Scripts that start another one on a cluster, with the same words."""


@cache
def upstream_script(name: str, version: str) -> ast.Module | None:
    """Return the script of this name in a release; None where it is not written down."""
    folders = sorted(
        (each for each in _UPSTREAM.iterdir() if is_version(each.name)), key=lambda folder: numbers(folder.name)
    )
    known = [folder / _HANDS_ON.get(name, name) for folder in folders if numbers(folder.name) <= numbers(version)]
    path = known[-1] if known and re.fullmatch(r"\w+\.py", name) else None
    return ast.parse(files.read(path)) if path is not None and path.is_file() else None


class Programs:
    """The programs of a tree. `ran` receives the functions that run and the files that are read."""

    def __init__(self, asked: ToRead, ran: Ran | None = None) -> None:
        self.asked = asked
        self.ran = Ran() if ran is None else ran

    def start(self, path: str, given: Given) -> Started:
        """Return the recipes of a file's script; none where it is no script, or configures nothing that is known.

        Raises whatever a fault of the evaluator's own raises.
        """
        return self.evaluation.start(path, given) if self.asked.relevance.is_parsed(path) else NOTHING

    def start_upstream(self, name: str, starter: str, given: Given) -> Started:
        """Return the recipes of a Megatron-Bridge script that is not in the tree, where its behaviour is known.

        It finds what the file that starts it would find.
        """
        if submits_recipe(name, (word.text for word in given.words)):
            name = "run_recipe.py"
        tree = upstream_script(name, self.asked.target.bridge)
        return NOTHING if tree is None else self.evaluation.start_upstream(tree, name, starter, given)

    def let_go(self) -> None:
        """Forget what only further programs would ask for."""
        if "evaluation" in vars(self):
            self.evaluation.let_go()

    @cached_property
    def evaluation(self) -> ProgramEvaluation:
        """The evaluator with the programs, which is loaded with the first that is followed."""
        from mfsdp_lint.readers.python.entries.addressed import ProgramEvaluation

        return ProgramEvaluation(self.asked, self.ran)
