"""What a reader of a kind of file is. `registry.py` has all of them; a new one is a module and its entry there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from mfsdp_lint.core.recipe import Recipe, Unfollowed
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs.addresses import Address
from mfsdp_lint.inputs.filetypes import FileType
from mfsdp_lint.inputs.sources import Problem, Sources
from mfsdp_lint.inputs.suppression import CommentPlace
from mfsdp_lint.versions.target import Target


class Knowledge(Protocol):
    """What is known of a release of Megatron-Bridge without its source."""

    def remarks(self) -> Iterable[str]:
        """What is worth saying of it, after it was used."""


@dataclass(frozen=True, slots=True)
class ToRead:
    """What a reader is asked to read, all files of its kind at once: `paths` whole, `addresses` as single functions.
    `beside` are files that another reading is asked for: where they are imported they appear under these paths.
    `every` are the files of all kinds, for who reads others on its way. `launchers` are files that nobody asked for: of
    them those recipes are wanted that are launches of one of `every`. `front_end` is the framework whose
    configurations the files are, where somebody says it. With `only_runs`, recipes that no
    command starts are not wanted.

    `knowledge` loads what is known of the target's release; `search_path` are folders with source. With `tracing`,
    origins know the calls that led to them, which takes longer.
    """

    paths: Sequence[str]
    sources: Sources
    target: Target
    knowledge: Callable[[], Knowledge]
    addresses: Sequence[Address] = ()
    search_path: Sequence[str] = ()
    tracing: bool = False
    beside: Sequence[str] = ()
    every: Sequence[str] = ()
    launchers: Sequence[str] = ()
    front_end: str | None = None
    only_runs: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """The recipes in the order of the files, what could not be read or is not there, and what is worth saying.

    `memory` is what the reader may take over when it reads the same for other texts; it alone looks into it.
    `unfollowed` is code of which there is no recipe though there should be; who takes something over does not look
    for it.
    """

    recipes: Sequence[Recipe]
    problems: Sequence[Problem] = ()
    remarks: Sequence[str] = ()
    memory: object = None
    unfollowed: Sequence[Unfollowed] = ()


class Reader(Protocol):
    """Reads one kind of file. To be cheap to import: what reading needs is imported when something is read."""

    @property
    def type(self) -> FileType:
        """Which files it takes. The name of the type is the reader's own; `fixes` may have an editor of that name."""

    def read(self, asked: ToRead, before: object) -> Reading:
        """Reads, and raises nothing: what cannot be read is a problem. `before` is the memory of an earlier reading."""

    def comments(self, text: str) -> Iterable[CommentPlace]:
        """The comments of a file that may silence findings, as far as it can be read."""
