"""Faults of the linter's own: each is contained to the file at which it happened, and told there.

What is done with one file stands under `contained`. What is done with all files at once stands under `over_files`, so
that a fault in it costs only the files with which it happens.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TypeVar

from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.inputs.sources import Problem

_Result = TypeVar("_Result")

DEBUG = "MFSDP_LINT_DEBUG"
"""The variable of the environment that has a fault end the run with its traceback."""


class Faults:
    """A list of faults in the linter itself, as problems of the files concerned. The run goes on with the others."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    @contextmanager
    def contained(self, path: str, line: int = 1) -> Iterator[None]:
        """Turn any exception raised while a file is handled into a problem of that file. A UsageError passes."""
        try:
            yield
        except UsageError:
            raise
        except Exception as error:
            if _are_wanted():
                raise
            message = f"internal error: {described(error)}; please report it, with the output under {DEBUG}=1"
            problem = Problem(path, line, 1, message, "internal")
            if problem not in self.problems:  # the same fault may be met again where the file is read again
                self.problems.append(problem)

    def over_files(self, paths: Iterable[str], stage: Callable[[Collection[str]], _Result]) -> _Result:
        """Run a stage that looks at all files at once; files with which it fails are left out, and reported.

        `stage` is given the paths of the files that it may look at. It may run several times, so it changes nothing.
        An exception that has nothing to do with any of the files is raised.
        """
        every = list(dict.fromkeys(paths))
        try:
            return stage(frozenset(every))
        except UsageError:
            raise
        except Exception:
            if _are_wanted():
                raise
        stage(frozenset())
        kept: frozenset[str] = frozenset()
        pending = [every]
        while pending:
            several = pending.pop()
            tried = Faults()
            with tried.contained(several[0]):
                stage(kept.union(several))
                kept = kept.union(several)
            if tried.problems and len(several) > 1:
                half = len(several) // 2
                pending += [several[half:], several[:half]]
            else:
                self.problems += tried.problems
        return stage(kept)


def _are_wanted() -> bool:
    return os.environ.get(DEBUG) == "1"


def contained(faults: Faults | None, path: str) -> AbstractContextManager[None]:
    """Contain faults as `Faults.contained` does; where `faults` is None, let exceptions pass."""
    return nullcontext() if faults is None else faults.contained(path)


def described(error: Exception) -> str:
    """Describe an exception in one line, with the place in the linter's code."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
    return " ".join(f"{type(error).__name__}: {error}".split()) + where
