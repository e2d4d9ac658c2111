"""Execution paths: one way through a program, all that holds on it alone, and the ways in which it can end.

Where a branch is not decided, a program has several paths (see eval/branches.py). An entry point is run once for every
path; paths that differ only within one call are joined when that call returns (LocalPath).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, ParamSpec, TypeVar

from mfsdp_lint.core.recipe import Origin
from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.core.values import Scalar
from mfsdp_lint.readers.python.state.texts import Text
from mfsdp_lint.readers.python.values.markers import HANDED
from mfsdp_lint.readers.python.values.objects import DictObject, Function, Module, Object


class Said(NamedTuple):
    """A text that a program gives another one, and the expression that says it, where that is seen.

    `several`: nothing is known of it, and it may be any number of them.
    """

    value: Object
    text: Text | None
    several: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Command:
    """A program as it is started: by its words, or by a `script` that a shell is given.

    `environment` is the whole of what the evaluated program has set by then, or hands on. `folder` is what it is
    started in, None where that is the folder of the evaluated program. `calls` led there, the innermost first.
    `when` is what was decided until then, in words. `input` is the text that it is given to read. With `writes`, it is
    no program but a file that is written: the path, and `script` for its text, or what is added to it (`adds`).
    `handed` are the calls out of sight that were given what starts it, the innermost first: module, node, and the names
    of the variables that were changed behind it.
    """

    words: Sequence[Said]
    script: Said | None
    environment: DictObject
    folder: Object
    calls: tuple[tuple[Any, Any, str], ...]
    when: tuple[str, ...]
    templated: bool = False
    input: Said | None = None
    writes: Object = None
    adds: bool = False
    handed: tuple[tuple[Any, Any, frozenset[Any]], ...] = ()


STEP_LIMIT = 80_000
"""Steps of all execution paths through an entry point (the recipe or script of the releases that takes most takes
23,000)."""
PATIENCE = 1_000
"""Those of them that may pass before it makes or changes any configuration (the recipe or script of six releases that
takes longest takes 375). Training code, tests and tools are full of functions that never do."""
LONG_PATIENCE = 20_000
"""The limit where the text of an entry point says that it makes, changes or launches one."""
CALL_STEPS = 4_000
"""Those of them that may pass in one call into another file. A call that takes more is not followed to its end."""
MODULE_STEPS = 40_000
"""Steps of what recipes share: the top level of a module, a decorated definition, the provider of a model."""
DEPTH_LIMIT = 60
"""Calls within calls."""
LOCAL_PATHS = 8
"""Paths through one call that are joined when it returns."""
FORK_LIMIT = 3
"""Undecided branches of a path whose sides are run as paths of their own where they could also be joined."""
FORCED_FORK_LIMIT = 6
"""Undecided branches of a path whose sides cannot be joined."""

NEVER_OLD = 1 << 62

Place = tuple[Any, dict[Any, Any], Any, Any]
"""Its owner, the fields it is one of, its key there, and a value: the one it had before, has, or had in passing."""


@dataclass(slots=True, eq=False)
class LocalPath:
    """A path through the body of one call, where the paths are joined when the call returns."""

    prefix: tuple[bool, ...]
    taken: list[bool] = field(default_factory=list)

    def next(self) -> bool:
        """Return the side to take of the next branch."""
        position = len(self.taken)
        self.taken.append(self.prefix[position] if position < len(self.prefix) else True)
        return self.taken[-1]


IMPORTED = "imported"
"""The beginning of the facts that say which modules have changed others on a path, as a function imported them."""

ASSIGNED = "assigned"
"""The beginning of the facts that say which global names of a module an unfollowed call may have assigned on a path."""


@dataclass(slots=True, eq=False)
class Facts:
    """Decisions about unknown values on a path.

    Facts go by the number (`id`) of their subject, which is its own only for as long as the subject is `kept`. `open`
    are those about values that were not made on the path, as far as is known: for them, helpers may do otherwise here.
    """

    fields: dict[Any, Object] = field(default_factory=dict)
    kept: dict[int, Object] = field(default_factory=dict)
    open: list[Any] = field(default_factory=list)
    born: int = NEVER_OLD

    def copy(self) -> Facts:
        """Return the same facts, to which others can be added."""
        return Facts(self.fields.copy(), self.kept.copy(), self.open.copy())


@dataclass(frozen=True, slots=True, eq=False)
class Launch:
    """A configuration as it was when it was handed over: what becomes of it later does not matter.

    `container` is the object itself, `root` and `environment` are copies; `facts` and `when` (in words) are what was
    decided until then, `calls` the calls that led there, the innermost first.
    """

    container: Object
    root: Object
    environment: DictObject
    facts: Facts
    when: tuple[str, ...]
    calls: tuple[tuple[Any, Any, str], ...]


@dataclass(slots=True, eq=False)
class Launches:
    """Launches of a path, in their order; under HANDED, those configurations that it last gave to code out of sight.

    Where somebody asks for them (`Interpreter.starting`), the programs that it started are among them.
    """

    born: int
    fields: dict[Any, Launch | Command | tuple[Launch, ...]] = field(default_factory=dict)

    @property
    def handed(self) -> tuple[Launch, ...]:
        """The configurations that the last such call, in all turns of its loop, gave to code out of sight.

        That is no launcher as far as is known.
        """
        found = self.fields.get(HANDED)
        return found if isinstance(found, tuple) else ()

    @property
    def all(self) -> list[Launch]:
        """Every launch of a configuration."""
        return [each for each in self.fields.values() if isinstance(each, Launch)]

    @property
    def commands(self) -> list[Command]:
        """Every program that was started."""
        return [each for each in self.fields.values() if isinstance(each, Command)]


ANY = "*"
"""Any exception (see Dependencies.raises)."""


Chosen = tuple[tuple[str | int, Scalar], ...]
"""Options by their texts, and words by their numbers, that a program is given on trial, with their values."""


@dataclass(slots=True, eq=False)
class Dependencies:
    """A record of what an answer depends on, beside the texts of the modules that are imported for it.

    `functions` are those that ran, `variables` those of the process environment that were asked for; `data` are the
    files and folders of the tree that its paths may mean, whether they are there or not. `asks_start` says that it
    depends on the words that the program is started with, or on its whole environment, `asks_file` are the
    modules that read a file which is named there. `raises` are the names of the
    exceptions that `raise` was met for, on any side of a branch, and ANY where code at hand was not followed.
    `unjudged` says how the program shards a model past what upstream's start-up checks.
    """

    functions: set[Function] = field(default_factory=set)
    variables: set[str] = field(default_factory=set)
    data: set[str] = field(default_factory=set)
    raises: set[str] = field(default_factory=set)
    unjudged: set[str] = field(default_factory=set)
    asks_start: bool = False
    asks_file: set[Module] = field(default_factory=set)

    @property
    def depends_on_start(self) -> bool:
        """Tell whether a program that is started otherwise may have another answer."""
        return self.asks_start or bool(self.variables)

    def add(self, other: Dependencies) -> None:
        """Add what a part of the answer depends on."""
        self.functions |= other.functions
        self.variables |= other.variables
        self.data |= other.data
        self.raises |= other.raises
        self.unjudged |= other.unjudged
        self.asks_start |= other.asks_start
        self.asks_file |= other.asks_file


@dataclass(slots=True, eq=False)
class ExecutionPath:
    """The state of one path through an entry point.

    `decisions` are the sides that it is to take of its first undecided branches, `taken` those that it took, in words;
    `started` is the time when it began: what is older is shared with other paths. `journal` is what was written, so
    that it can be undone; `written`, inside the body of a `try`, is all that was written there, even if undone since.
    `launches` are the configurations that were launched. `validated` holds whether Megatron-LM has
    validated its arguments. `limit` is how many `steps` there may be now,
    `budget` how many once there is a configuration; `given_up` are the functions that took too many, or called each
    other too deeply. `trial` counts the sides of branches that are being tried, `local` is the path through the call at
    hand.
    `changed_shared` says that something that modules share was changed, so that helpers may do other than before.
    `applied` are the modules whose changes of others it has met, as a function imported them. `may_assign` says that
    there are facts about names that an unfollowed call may have assigned.
    """

    decisions: tuple[bool, ...]
    started: int
    environment: DictObject
    taken: list[tuple[bool, str]] = field(default_factory=list)
    launches: Launches = field(init=False)
    validated: DictObject = field(init=False)
    facts: Facts = field(default_factory=Facts)
    journal: list[Place] = field(default_factory=list)
    written: list[Place] | None = None
    steps: int = 0
    limit: int = PATIENCE
    budget: int = STEP_LIMIT
    given_up: set[Object] = field(default_factory=set)
    depth: int = 0
    trial: int = 0
    local: LocalPath | None = None
    changed_shared: bool = False
    applied: list[Module] = field(default_factory=list)
    may_assign: bool = False

    def __post_init__(self) -> None:
        self.launches = Launches(self.environment.born)
        self.validated = DictObject({}, self.environment.born)

    @property
    def when(self) -> tuple[str, ...]:
        """The sides taken, in words, each once: a choice among many takes several decisions."""
        return tuple(dict.fromkeys(words for _, words in self.taken))

    def aside(self) -> ExecutionPath:
        """Make a path for code that belongs to no path (a module's top level), met on this one: nothing undoes it.

        It finds the changes of the modules that functions have imported on this one.
        """
        path = ExecutionPath(self.decisions, self.started, self.environment)
        path.facts.fields.update((key, fact) for key, fact in self.facts.fields.items() if key[0] == IMPORTED)
        path.taken, path.validated = self.taken, self.validated
        path.depth, path.changed_shared = self.depth, self.changed_shared
        path.limit = MODULE_STEPS
        return path


Ending = TypeVar("Ending", bound=Exception)


def kept(ending: Ending) -> Ending:
    """Strip an ending that is kept for later of the evaluator's frames that it went through.

    They hold all that was evaluated until then; where one of them keeps it, only the collector could free that again.
    """
    ending.__traceback__ = ending.__context__ = None
    return ending


class Raised(Exception):
    """The evaluated program raises here.

    `module` and `node` are the innermost piece of the files that were asked for (of any file, where none of those had
    a part in it). Where a call is refused an argument, `keyword` is its name, `nearest` the parameter that may have
    been meant, and `focus` the text that gives it.
    """

    def __init__(self, name: str, text: str = "", keyword: str = "", nearest: str = "") -> None:
        super().__init__(text)
        self.name = name
        self.text = text
        self.keyword = keyword
        self.nearest = nearest
        self.value: Object = None
        self.module: Module | None = None
        self.node: Any = None
        self.focus: Any = None

    def passes(self, module: Module, node: Any, focus: Any = None) -> None:
        """Note the place of a call or statement that the exception leaves; the innermost is told first."""
        if self.module is None or (module.asked_for and not self.module.asked_for):
            self.module, self.node, self.focus = module, node, focus


class RefusedCall(Raised):
    """A call is refused its arguments, whatever the code does otherwise: they do not fit the parameters, are overrides
    that Hydra does not take, or no texts where a variable of the environment is set.

    `lacking` are the required parameters that it gives nothing for; `spread` says that it gives arguments by `**`, so
    that others may give more, and `by_option` that an option of the command line gives them. `place` is where an
    override is written, if that is no code.
    """

    def __init__(
        self,
        text: str,
        keyword: str = "",
        nearest: str = "",
        *,
        lacking: tuple[str, ...] = (),
        name: str = "TypeError",
        place: Origin | None = None,
    ) -> None:
        super().__init__(name, text, keyword, nearest)
        self.lacking = lacking
        self.spread = False
        self.by_option = False
        self.place = place


class OutOfSteps(Exception):
    """The evaluation was longer than a recipe can be; nothing is known of it."""


class CannotJoin(Exception):
    """Two sides of an undecided branch leave the block in different ways."""


Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

ROOM = 270_000
"""Just above 2 MB in words, so that the piece is of 4 MB and what is called has the other half."""


def with_room(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Give a function a large frame; all calls within it find their frames' memory ready.

    CPython (3.11 and later, `_PyThreadState_PushFrame`) takes memory for frames in pieces of 16 KB, and gives a piece
    back when the first frame in it ends. A recursion that swings to and fro over the end of a piece pays for that each
    time: a tenth of the cost of evaluating recipes. A frame that says that it needs more gets a larger piece, a power
    of two, and later frames are put behind it; memory that nobody touches costs nothing.
    """
    code: Any = function
    code.__code__ = code.__code__.replace(co_stacksize=ROOM)
    return function
