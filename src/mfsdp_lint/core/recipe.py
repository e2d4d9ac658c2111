"""A recipe: one configuration of one training run, with the origin of every value.

Readers make recipes, rules judge them, fixes and reports point into them. Nothing here knows which kind of file
a recipe was written in.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, Protocol

from mfsdp_lint.core.front_ends import BRIDGE, FrontEnd
from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.core.values import UNKNOWN, Plain, Value, join, spell

How = Literal["assigned", "argument", "default", "upstream", "override", "environment", "unfollowed", "startup"]
"""How a value came to be: an assignment, an argument of a constructor or call, a declared default, a recipe of an
upstream release known from its snapshot, an override from outside the file, an environment variable, (told only where
calls are traced) a call that cannot be followed and may have changed it, or the framework's start-up (see startup)."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A piece of a file. Lines and columns count from 1, columns in characters; the end is exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call that led to a write: its expression, and the function that contains it ("" at the top level)."""

    span: Span
    function: str


COMPREHENSION = "<comprehension>"
"""The function that the element of a comprehension stands in: every element has its value from there."""


@dataclass(frozen=True, slots=True)
class Source:
    """A text that a written value comes from, and the function that it stands in ("" at the top level)."""

    span: Span
    function: str


@dataclass(frozen=True, slots=True)
class Obstacle:
    """The cause of an unknown value: a piece of the user's own text that is not followed, and its place.

    `given` says that it is a variable of the environment that nothing which is followed sets, and no call; `why` says
    otherwise what it does that leaves the value open.
    """

    text: str
    span: Span
    given: bool = False
    why: str = "is not followed"

    def reason(self, line: int | None = None) -> str:
        """Say in words why the value is not known; `line` is the line of the file, where the code's is another."""
        place = f"{self.span.path}:{line or self.span.line}"
        return (
            f"nothing that is followed sets `{self.text}` ({place})"
            if self.given
            else f"`{self.text}` ({place}) {self.why}"
        )


@dataclass(frozen=True, slots=True)
class Origin:
    """The place where a value was written.

    `span` is the whole assignment, or the call that a keyword argument belongs to; `focus` is the piece that says the
    value (the keyword argument, the dictionary entry, the value). `function` is the function it was written in, "" at
    the top level of a file. `upstream` is the release ("megatron-bridge 0.3.1") when the path lies in that release's
    source and not in a file at hand. `order` counts the writes of one evaluation: of two writes the later one has the
    larger number. `earlier` is the write that this one replaced. `value` is the value written, where a reader keeps
    that. Only where calls are traced: `calls` led to the write, the innermost first, and `because` names the
    expression that made its value unknown ("get_size()", a parameter). `option` names the option of the program's own
    command line ("--tp-size"), or the variable of the environment ("$TP_SIZE"), that the value derives from: the value
    is, or follows from, its default, and the person who starts the program may change it. `sources` are the texts that
    the value was handed on from (the argument of a call, the entry of a table, a default), the nearest first; the last
    one decides it. Without any, the write itself says the value. `obstacle` is the cause of an unknown value, where a
    reader says it here (others are asked for it: see `Settings.obstacle`).
    """

    span: Span
    how: How
    focus: Span | None = None
    function: str = ""
    upstream: str | None = None
    order: int = 0
    earlier: Origin | None = None
    value: Value = UNKNOWN
    calls: tuple[CallSite, ...] = ()
    because: str = ""
    option: str = ""
    sources: tuple[Source, ...] = ()
    obstacle: Obstacle | None = None

    @property
    def point(self) -> Span:
        """The smallest piece worth underlining."""
        return self.focus or self.span

    def spans(self) -> tuple[Span, ...]:
        """Return the spans of the whole write and of the texts that its value is handed on from."""
        return (self.span, *(source.span for source in self.sources))

    def places(self, wanted: Callable[[str], bool]) -> list[Source]:
        """Return the places in the `wanted` files where the value could be changed.

        The text that decides the value is first, the write last. Between them, what only hands on is left out.
        """
        own = () if self.upstream else (Source(self.point, self.function),)
        decisive = [each for each in self.sources[:-1] if each.function != COMPREHENSION]
        return [place for place in reversed((*own, *decisive, *self.sources[-1:])) if wanted(place.span.path)]

    def chain(self) -> list[Origin]:
        """Return this write and the writes that it replaced, the oldest first."""
        found = [self]
        while (earlier := found[-1].earlier) is not None:
            found.append(earlier)
        return found[::-1]


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of one recipe: its value, and its origin (None: nobody wrote it, or the writer is not known)."""

    path: str
    value: Value
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class Undeclared:
    """A write to a name that is no field: its path, the class that lacks it, and the fields that the class has.

    `below` is what the writing text has behind the name (`x` of `dpp.x=1`, where `dpp` is no field). `refused`:
    start-up raises; it passes over all others.
    """

    path: str
    owner: str
    fields: tuple[str, ...]
    origin: Origin
    below: str = ""
    refused: bool = False

    @property
    def written(self) -> str:
        """The whole path as it is written."""
        return f"{self.path}.{self.below}" if self.below else self.path


@dataclass(frozen=True, slots=True)
class NamedWrite:
    """A write of which only the path is known, and not the class that it meets. `refused` is as for Undeclared, where
    the class has no such field."""

    path: str
    origin: Origin
    refused: bool = False


class Settings(ABC):
    """The settings of a recipe on one path through its code, by dotted path ("ddp.nccl_ub").

    A setting that is missing is unknown. Readers make settings; overrides and start-up are layers over them (see
    core.settings).
    """

    __slots__ = ()

    @abstractmethod
    def get(self, path: str) -> Setting | None:
        """Return one setting with its origin; None for a setting of which nothing is known."""

    @abstractmethod
    def __iter__(self) -> Iterator[str]:
        """Yield the paths of all settings, each once."""

    def differing(self, other: Settings) -> Iterable[str]:
        """Return the paths at which other settings may have another value; all other paths have equal values."""
        return dict.fromkeys((*self, *other))

    def is_like(self, other: Settings) -> bool:
        """Tell whether other settings have the same values, taken from the same places."""
        paths = sorted(self)
        return paths == sorted(other) and all(self._is_like_at(path, other) for path in paths)

    def _is_like_at(self, path: str, other: Settings) -> bool:
        return repr(self.value(path)) == repr(other.value(path)) and _place(self, path) == _place(other, path)

    def written(self) -> Iterable[str]:
        """Return the paths of the settings that somebody wrote, each once: none at its declared default.

        Sections may be left out.
        """
        return (path for path in self if (origin := self.origin(path)) is not None and origin.how != "default")

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self.get(path) is not None

    def value(self, path: str) -> Value:
        """Return the value of one setting; unknown where it is missing.

        Origins may cost more than values: most callers use this.
        """
        setting = self.get(path)
        return UNKNOWN if setting is None else setting.value

    def origin(self, path: str) -> Origin | None:
        """Return the place where the value of one setting was written, or None."""
        setting = self.get(path)
        return None if setting is None else setting.origin

    def taken_from(self, path: str) -> tuple[str, tuple[Span, ...]]:
        """Return the options that decide a setting ("": none), and the places that its value is taken from."""
        origin = self.origin(path)
        return ("", ()) if origin is None else (origin.option, (origin.point, *origin.spans()[1:]))

    def obstacle(self, path: str) -> Obstacle | None:
        """Give the user's text that made a value unknown; None where it is known, or nobody's failure to say."""
        origin = self.origin(path)
        return None if origin is None else origin.obstacle

    def history(self, path: str) -> list[tuple[str, Origin]]:
        """Return every write of a setting, or of a section that it is in, in order."""
        origin = self.origin(path)
        return [] if origin is None else [(path, each) for each in origin.chain()]

    def undeclared(self) -> tuple[Undeclared, ...]:
        """Return the writes to names that are no fields, as far as the reader knows the classes."""
        return ()

    def named(self) -> tuple[NamedWrite, ...]:
        """Return the writes that meet classes which the reader does not know."""
        return ()


def _place(settings: Settings, path: str) -> tuple[Span, ...]:
    origin = settings.origin(path)
    return () if origin is None else (*origin.spans(), origin.point)


@dataclass(frozen=True, slots=True)
class Variant:
    """The settings of a recipe on one path through its code.

    `when` are the conditions under which that path is taken, as written in the source ("precision == 'fp8_mx'"); empty
    where there is only one. `exposed` are the parameters, or options, that a caller has to give for it (`when`
    says how), where their defaults lead elsewhere.
    """

    settings: Settings
    when: tuple[str, ...] = ()
    exposed: tuple[str, ...] = ()

    @property
    def by_variable(self) -> bool:
        """Tell whether a variable of the environment exposes it, with a value that `when` says first."""
        return bool(self.exposed and self.when) and f"${self.when[0].partition('=')[0]}" == self.exposed[0]

    def value(self, path: str) -> Value:
        """Return the value of one setting; unknown when nothing is known of it."""
        return self.settings.value(path)

    def origin(self, path: str) -> Origin | None:
        """Return the place where the value of one setting was written, or None."""
        return self.settings.origin(path)


CALLED = "called with"
"""How the first condition of a variant begins that is another call."""


class Callers(Protocol):
    """The calls that may be made of a recipe: their arguments beside its defaults, and the resulting variants.

    They are found on request, because this takes a while.
    """

    def given(self, users: Sequence[str] = ()) -> Sequence[Mapping[str, Plain]]:
        """Return arguments that may decide something, one set for each call that is worth looking at.

        `users` are further files that may call it.
        """

    def variants(self, arguments: Mapping[str, Plain]) -> tuple[Variant, ...]:
        """Return the variants of the recipe when it is called with these arguments."""


Seen = Literal[
    "broken-continuation",
    "lost-continuation",
    "comment-within-quotes",
    "commented-element",
    "no-such-flag",
    "no-such-value",
    "duplicate-flag",
    "late-variable",
    "misspelt-variable",
    "conversion-without-swiglu",
    "conversion-without-tracker",
    "conversion-without-map",
    "conversion-option",
    "saved-otherwise",
]
"""The passages that a reader of scripts may notice: see `readers/shell/notices.py`."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A passage of a file that its reader noticed, for rules about text; `facts` is what there is to say of it.

    `sets` are the settings that another text in its place may change.
    """

    kind: Seen
    span: Span
    facts: Mapping[str, Plain] = field(default_factory=dict)
    sets: tuple[str, ...] = ()


Kind = Literal["function", "script", "module", "overrides", "arguments", "configuration", "launch"]
"""A recipe function, a script's top level, a configuration kept in a module, an override file (YAML), the flags of a
command line kept in a file, the file that a framework on top of Megatron is started with, or a command that starts a
script of the tree: the configuration that the script makes with these words, in this environment."""

Piece = tuple[str, int, str]
"""A function or a script, by its file, its line and its name; a whole file is (path, 0, "")."""


@dataclass(frozen=True, slots=True)
class LaunchCommand:
    """The command with which a launch starts its program, as it is written; "?" marks an unknown part.

    `recipes` are the recipes that it names: one, or one for each way to the command. `files` are configurations,
    `environment` has the variables that were set by then as `NAME=value`. `requires` are the variables and arguments of
    the script ("$DATA", "$1") without which it ends before: the run is read as started with them.
    """

    program: str
    recipes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recipe:
    """A configuration of one training run, wherever it is written.

    `name` is short (the function's name, the file's name), `qualified_name` the dotted path from the import root or
    the file's path. `line` is where it begins. `partial` says that it changes a configuration from elsewhere (an
    override file, a function that takes a configuration): a setting that it leaves out is unknown, not the default.
    `front_end` is the front-end that reads it. `exposed` are its variants when a caller turns FSDP on by a parameter
    that leaves it off by default; `variants` are without it. `callers` evaluate it for other calls: it is not judged
    for these, but no fix may make one worse. `notices` are the remarks of its reader on the text that it is written
    in. `pieces` are, of a launch, the pieces that it is put together from (of a program's, the recipes that it calls
    before), and `command` is the command that it starts. `bases` are the functions that a recipe calls which launches
    nothing: some may be recipes themselves. `variables` are the variables of the environment that nobody sets and that
    may decide a switch, each with the texts that it is compared with.
    """

    name: str
    qualified_name: str
    path: str
    line: int
    kind: Kind
    variants: tuple[Variant, ...]
    partial: bool = False
    arguments: Mapping[str, Plain] = field(default_factory=dict)
    front_end: FrontEnd = BRIDGE
    exposed: tuple[Variant, ...] = ()
    callers: Callers | None = field(default=None, repr=False, compare=False)
    notices: tuple[Notice, ...] = ()
    pieces: frozenset[Piece] = field(default=frozenset(), repr=False, compare=False)
    bases: frozenset[Piece] = field(default=frozenset(), repr=False, compare=False)
    command: LaunchCommand | None = field(default=None, repr=False, compare=False)
    variables: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def label(self) -> str:
        """The name, with the arguments that it is called with: `llama3_8b(precision="bf16")`."""
        given = ", ".join(f"{name}={spell(value)}" for name, value in self.arguments.items())
        return f"{self.name}({given})" if given else self.name

    def setting(self, path: str) -> Setting:
        """Return one setting over all variants: known only where all agree.

        The origin is that of the first variant that has one.
        """
        if len(self.variants) == 1:
            return self.variants[0].settings.get(path) or Setting(path, UNKNOWN)
        origin = next((variant.origin(path) for variant in self.variants if variant.origin(path)), None)
        return Setting(path, join(variant.value(path) for variant in self.variants), origin)

    def paths(self) -> list[str]:
        """Return every setting that any variant knows of, in the order of first appearance."""
        return list(dict.fromkeys(path for variant in self.variants for path in variant.settings))

    def differing(self) -> set[str]:
        """Return the settings of which the variants may say different things."""
        first, *others = (variant.settings for variant in self.variants)
        return {path for other in others for path in first.differing(other)}


Why = Literal["raises", "limit", "argument", "out of sight", "kept", "not reached"]
"""Why there is no recipe: every way through the code surely ends with an exception; following it was given up (too
many steps, ways or calls within calls); its outcome depends on an argument that nobody gives; it depends on code
that is not at hand; what it makes is neither handed back nor launched; nothing that was followed calls it."""


@dataclass(frozen=True, slots=True)
class Unfollowed:
    """Code that makes, changes or launches a configuration, and of which there is no recipe.

    `name`, `qualified_name`, `path`, `line` and `kind` are what a recipe's would be. `message` says in one line what
    happened, and begins with a small letter unless it is an exception's. `span` is the piece of the files at hand where
    that was, if it was somewhere; `focus` the argument in it that a call is refused. Where the code raises, `error` is
    the exception ("TypeError"), and `nearest` the name that may have been meant in place of a refused one;
    `certain` says that a call is refused its arguments, which nothing that is not known can change.
    """

    name: str
    qualified_name: str
    path: str
    line: int
    kind: Kind
    why: Why
    message: str
    span: Span | None = None
    focus: Span | None = None
    error: str = ""
    nearest: str = ""
    certain: bool = False

    @classmethod
    def of_launch(cls, path: str, place: Span, why: Why, message: str, focus: Span | None = None) -> Unfollowed:
        """Make the answer of a script for a launch of it at a place."""
        name = path.rpartition("/")[2]
        return cls(name, path, path, place.line, "launch", why, message, focus or place)

    @property
    def point(self) -> Span:
        """The smallest piece worth underlining: where it happened, or else where the code begins."""
        return self.focus or self.span or Span(self.path, self.line, 1, self.line, 1)
