"""Words and variables of the environment that a program is started with."""

from __future__ import annotations

from mfsdp_lint.core.recipe import Origin, Setting
from mfsdp_lint.core.records import dataclass

HOLE = "\uf8ff"
"""Stands, within a text, for any text that is not known; a character for private use, so no script has it."""

OF_WORKERS = "RAY_WORKERS_"
"""The beginning of names under which the driver of a job of Ray is given the variables that its tasks and actors have,
each with its place. (A job really finds them in RAY_JOB_CONFIG_JSON_ENV_VAR, ray/_private/runtime_env/constants.py.)
"""


@dataclass(frozen=True, slots=True)
class GivenWord:
    """A word as a program gets it. `origin` is where it is written; in focus, the part behind its first `=`.

    A word that is wholly unknown need not be one word: with `several`, it may be many words, or none; with `nothing`,
    it is a variable that is not set, and is no word unless an option waits for a value.
    """

    text: str
    origin: Origin
    several: bool = False
    nothing: bool = False

    @property
    def known(self) -> str | None:
        """The word's text; None where a part of it is not known."""
        return None if HOLE in self.text else self.text


@dataclass(frozen=True, slots=True)
class Given:
    """All that one start of a program gives it.

    `environment` are the variables that are surely set, or taken away, as settings `env.NAME`; all others are as
    whoever starts it has them. `ranks` is the number of processes, where that is known.
    """

    words: tuple[GivenWord, ...] = ()
    environment: tuple[Setting, ...] = ()
    ranks: int | None = None
