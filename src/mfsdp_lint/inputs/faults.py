"""Faults of the linter's own: each is contained to the file at which it happened, and told there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from mfsdp_lint.inputs.sources import Problem

DEBUG = "MFSDP_LINT_DEBUG"
"""The variable of the environment that has a fault end the run with its traceback."""


class Faults:
    """What went wrong in the linter itself, as problems of the files concerned. The run goes on with the others."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    @contextmanager
    def contained(self, path: str) -> Iterator[None]:
        """Makes any exception of what is done with a file a problem of that file."""
        try:
            yield
        except Exception as error:
            if os.environ.get(DEBUG) == "1":
                raise
            message = f"internal error: {described(error)}; please report it, with the output under {DEBUG}=1"
            self.problems.append(Problem(path, 1, 1, message, "internal"))


def contained(faults: Faults | None, path: str) -> AbstractContextManager[None]:
    """The same for those who may have nobody to tell: then it raises."""
    return nullcontext() if faults is None else faults.contained(path)


def described(error: Exception) -> str:
    """An exception in one line, with the place in the linter's code."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
    return " ".join(f"{type(error).__name__}: {error}".split()) + where
