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
class Call:
    """One of the calls that led to a write: its expression, and the function it stands in ("" at the top level)."""

    span: Span
    function: str


@dataclass(frozen=True, slots=True)
class Source:
    """A text that a written value comes from, and the function that it stands in ("" at the top level)."""

    span: Span
    function: str


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value was written.

    `span` is the whole assignment, or the call that a keyword argument belongs to; `focus` the piece that says the
    value (the keyword argument, the dictionary entry, the value). `function` is the function it was written in,
    "" at the top level of a file. `upstream` is the release ("megatron-bridge 0.3.1") when the path lies in that
    release's source and not in a file at hand. `order` counts the writes of one evaluation: of two writes the later
    one has the larger number. `earlier` is the write that this one replaced. `value` is what was written, where a
    reader keeps that. Only where calls are traced: `calls` led to the write, the innermost first, and `because` names
    what made its value unknown ("get_size()", a parameter). `option` names the option of the program's own command line
    ("--tp-size"), or the variable of the environment ("$TP_SIZE"), that the value comes from: it is, or follows from,
    its default, and whoever starts the program may change it. `sources` are the texts that the value was handed on from
    (the argument of a call, the entry of a table, a default), the nearest first; the last one decides it. Without any,
    the write itself says the value.
    """

    span: Span
    how: How
    focus: Span | None = None
    function: str = ""
    upstream: str | None = None
    order: int = 0
    earlier: Origin | None = None
    value: Value = UNKNOWN
    calls: tuple[Call, ...] = ()
    because: str = ""
    option: str = ""
    sources: tuple[Source, ...] = ()

    @property
    def point(self) -> Span:
        """The smallest piece worth underlining."""
        return self.focus or self.span

    def spans(self) -> tuple[Span, ...]:
        """The whole write, and the texts that its value comes from."""
        return (self.span, *(source.span for source in self.sources))

    def places(self, wanted: Callable[[str], bool]) -> list[Source]:
        """Where it could be changed in the files that are `wanted`: what decides the value first, the write last."""
        own = () if self.upstream else (Source(self.point, self.function),)
        return [place for place in reversed((*own, *self.sources)) if wanted(place.span.path)]

    def chain(self) -> list[Origin]:
        """This write and those that it replaced, the oldest first."""
        found = [self]
        while (earlier := found[-1].earlier) is not None:
            found.append(earlier)
        return found[::-1]


@dataclass(frozen=True, slots=True)
class Setting:
    """One knob of one recipe: its value, and who wrote it (None: nobody did, or not known)."""

    path: str
    value: Value
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class Undeclared:
    """An assignment to a name that is no field: the path as written, its class, the fields that the class has."""

    path: str
    owner: str
    fields: tuple[str, ...]
    origin: Origin


class Settings(ABC):
    """The settings of a recipe on one path through its code, by dotted path ("ddp.nccl_ub").

    A setting that is missing is unknown. Readers make settings; overrides and start-up are layers over them (see
    core.settings).
    """

    __slots__ = ()

    @abstractmethod
    def get(self, path: str) -> Setting | None:
        """One setting with its origin; None for one of which nothing is known."""

    @abstractmethod
    def __iter__(self) -> Iterator[str]:
        """The paths of all settings, each once."""

    def differing(self, other: Settings) -> Iterable[str]:
        """The paths at which other settings may have another value: all others have the same in both."""
        return dict.fromkeys((*self, *other))

    def written(self) -> Iterable[str]:
        """The settings that somebody wrote, each once: none at its declared default. Sections may be left out."""
        return (path for path in self if (origin := self.origin(path)) is not None and origin.how != "default")

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self.get(path) is not None

    def value(self, path: str) -> Value:
        """The value of one setting; unknown where it is missing. Origins may cost more than values: most ask this."""
        setting = self.get(path)
        return UNKNOWN if setting is None else setting.value

    def origin(self, path: str) -> Origin | None:
        """Where the value of one setting was written, if anywhere."""
        setting = self.get(path)
        return None if setting is None else setting.origin

    def history(self, path: str) -> list[tuple[str, Origin]]:
        """Every write that had to do with a setting, in order: of itself, or of a section that it is in."""
        origin = self.origin(path)
        return [] if origin is None else [(path, each) for each in origin.chain()]

    def undeclared(self) -> tuple[Undeclared, ...]:
        """The assignments to names that are no fields, as far as the classes are known."""
        return ()


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

    def value(self, path: str) -> Value:
        """The value of one setting; unknown when nothing is known of it."""
        return self.settings.value(path)

    def undeclared(self) -> tuple[Undeclared, ...]:
        """The assignments to names that are no fields, as far as the reader knows the classes."""
        return self.settings.undeclared()

    def origin(self, path: str) -> Origin | None:
        """Where the value of one setting was written, if anywhere."""
        return self.settings.origin(path)


CALLED = "called with"
"""How the first condition of a variant begins that is another call."""


class Callers(Protocol):
    """Who may call a recipe: what else than its defaults they may give, and what it then comes to.

    Worked out when asked, for it takes a while.
    """

    def given(self, users: Sequence[str] = ()) -> Sequence[Mapping[str, Plain]]:
        """Arguments that may decide something, one set for each call that is worth looking at.

        `users` are further files that may call it.
        """

    def variants(self, arguments: Mapping[str, Plain]) -> tuple[Variant, ...]:
        """What the recipe comes to with them."""


Seen = Literal[
    "broken-continuation",
    "lost-continuation",
    "comment-within-quotes",
    "commented-element",
    "no-such-flag",
    "duplicate-flag",
    "late-variable",
    "misspelt-variable",
    "conversion-without-swiglu",
    "conversion-without-tracker",
    "conversion-without-map",
    "conversion-option",
]
"""What a reader of scripts may notice: see `readers/shell/noticed`."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A passage of a file that its reader noticed, for rules about text; `facts` is what there is to say of it."""

    kind: Seen
    span: Span
    facts: Mapping[str, Plain] = field(default_factory=dict)


Kind = Literal["function", "script", "module", "overrides", "arguments", "configuration", "launch"]
"""A recipe function, a script's top level, a configuration kept in a module, an override file (YAML), the flags of a
command line kept in a file, the file that a framework on top of Megatron is started with, or a command that starts a
script of the tree: all that the script comes to with these words, in this environment."""

Piece = tuple[str, int, str]
"""A function or a script, by its file, its line and its name; a whole file is (path, 0, "")."""


@dataclass(frozen=True, slots=True)
class Command:
    """How a launch starts its program, as it is written; "?" stands for what is not known.

    `recipe` is the one that it names, `files` are configurations, `environment` has the variables that were set by then
    as `NAME=value`.
    """

    program: str
    recipe: str = ""
    files: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recipe:
    """One configuration of one training run, wherever it is written.

    `name` is short (the function's name, the file's name), `qualified_name` the dotted path from the import root or
    the file's path. `line` is where it begins. `partial` says that it changes a configuration that comes from
    elsewhere (an override file, a function that takes a configuration): what it leaves out is unknown, not the default.
    `front_end` is who reads it. `exposed` is what the recipe comes to when a caller turns FSDP on by a parameter that
    leaves it off by default; `variants` are without it. `callers` say what it comes to in other calls: it is not judged
    for these, but no fix may make one worse. `notices` are what its reader noticed in the text that it is written in.
    `pieces` are, of a launch, what it is put together from, and `command` is what it starts.
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
    command: Command | None = field(default=None, repr=False, compare=False)

    @property
    def label(self) -> str:
        """The name, with the arguments that it is called with: `llama3_8b(precision="bf16")`."""
        given = ", ".join(f"{name}={spell(value)}" for name, value in self.arguments.items())
        return f"{self.name}({given})" if given else self.name

    def setting(self, path: str) -> Setting:
        """One setting over all variants: known only where all agree. The origin is that of the first variant."""
        if len(self.variants) == 1:
            return self.variants[0].settings.get(path) or Setting(path, UNKNOWN)
        origin = next((variant.origin(path) for variant in self.variants if variant.origin(path)), None)
        return Setting(path, join(variant.value(path) for variant in self.variants), origin)

    def paths(self) -> list[str]:
        """Every setting that any variant knows of, in the order of first appearance."""
        return list(dict.fromkeys(path for variant in self.variants for path in variant.settings))

    def differing(self) -> set[str]:
        """The settings of which the variants may say different things."""
        first, *others = (variant.settings for variant in self.variants)
        return {path for other in others for path in first.differing(other)}


Why = Literal["raises", "limit", "argument", "out of sight", "kept", "not reached"]
"""Why there is no recipe: every way through the code surely ends with an exception; following it was given up (too
many steps, ways or calls within calls); what it comes to depends on an argument that nobody gives; it depends on code
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

    @property
    def point(self) -> Span:
        """The smallest piece worth underlining: where it happened, or else where the code begins."""
        return self.focus or self.span or Span(self.path, self.line, 1, self.line, 1)
