"""Interface of a reader of a kind of file. `registry.py` lists all readers; a new one is a module and an entry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

from mfsdp_lint.core.recipe import Recipe, Setting, Unfollowed
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs.addresses import Address
from mfsdp_lint.inputs.discover import FileType
from mfsdp_lint.inputs.faults import Faults
from mfsdp_lint.inputs.sources import Problem, Sources, Unreadable
from mfsdp_lint.inputs.suppression import CommentPlace
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.readers.relevance import Relevance

if TYPE_CHECKING:
    from mfsdp_lint.readers.python.knowledge import Knowledge
    from mfsdp_lint.readers.python.state.interpreter import Interpreter


@dataclass(frozen=True, slots=True)
class ToRead:
    """Request to a reader, for all files of its kind at once: `paths` whole, `addresses` as single functions.

    `beside` are files that another reading is asked for: where they are imported they appear under these paths.
    `every` are the files of all kinds, for a reader that reads others on its way. `launchers` are files that nobody
    asked for: only their recipes that launch one of `every` are wanted. `front_end` is the framework whose
    configurations the files are, where the user names it. With `only_runs`, recipes that no command starts are not
    wanted. `environment` are the variables, `env.NAME`, that whoever starts a program gives it. Of Python files, only
    the `entries` are run: each a path and a name (None: all).

    `knowledge` loads the facts of the target's release; `search_path` are folders with source, `relevance` tells which
    Python files may have to do with a run. With `tracing`, origins know the calls that led to them, which takes
    longer.
    """

    paths: Sequence[str]
    sources: Sources
    target: Target
    knowledge: Callable[[], Knowledge[Interpreter]]
    relevance: Relevance
    addresses: Sequence[Address] = ()
    search_path: Sequence[str] = ()
    tracing: bool = False
    beside: Sequence[str] = ()
    every: Sequence[str] = ()
    launchers: Sequence[str] = ()
    front_end: str | None = None
    only_runs: bool = False
    environment: Sequence[Setting] = ()
    entries: frozenset[tuple[str, str]] | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """Results of a reader: the recipes in the order of the files, unreadable or missing files, and remarks.

    `memory` holds the results that the reader may take over when it reads the same for other texts; it alone looks
    into it. `unfollowed` is code of which there is no recipe though there should be; a reading that takes something
    over does not look for it.
    """

    recipes: Sequence[Recipe]
    problems: Sequence[Problem] = ()
    remarks: Sequence[str] = ()
    memory: object = None
    unfollowed: Sequence[Unfollowed] = ()


def read_each(
    asked: ToRead, recipes_of: Callable[[str, str], Iterable[Recipe]], says: Callable[[str, str], bool]
) -> Reading:
    """Read each file by itself: `recipes_of` makes recipes of a path and its text, and may raise Unreadable.

    `says` tells whether the part that is known of an unreadable text has to do with a run; else that is no problem.
    """
    recipes: list[Recipe] = []
    problems: list[Problem] = []
    faults = Faults()
    for path in asked.paths:
        with faults.contained(path):
            try:
                recipes += recipes_of(path, asked.sources.text(path))
            except Unreadable as error:
                if error.is_told(partial(says, path)):
                    problems.append(error.problem)
    return Reading(recipes, [*problems, *faults.problems])


class Reader(Protocol):
    """A reader of one kind of file. It is cheap to import: modules for reading are imported when a file is read."""

    @property
    def type(self) -> FileType:
        """The files that the reader takes.

        The name of the type is the reader's own; `fixes` may have an editor of that name.
        """

    def read(self, asked: ToRead, before: object) -> Reading:
        """Read files and raise nothing: a file that cannot be read is a problem.

        `before` is the memory of an earlier reading.
        """

    def comments(self, text: str) -> Iterable[CommentPlace]:
        """Yield the comments of a file that may silence findings, as far as it can be read."""
