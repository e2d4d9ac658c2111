"""Knowledge at one point of a script, on one way through it; and the ways that lead on behind a statement."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from functools import reduce
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from mfsdp_lint.core.recipe import Span
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.shell.script import Piece, Text, name_of_file, plain, shape_of_name

if TYPE_CHECKING:
    from tree_sitter import Node

    from mfsdp_lint.readers.shell.script import Script


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable: the words it holds (one, unless it is an array); None where they are not known.

    `keys` are those of an associative array, one for each word. `unset` says that it surely does not exist. `written`
    is the assignment, for whoever asks where it comes from.
    """

    words: tuple[Text, ...] | None
    array: bool = False
    exported: bool | None = False
    unset: bool = False
    written: Piece | None = None
    keys: tuple[str, ...] | None = None

    @property
    def text(self) -> Text | None:
        """Return the text of `$NAME`; None where it is not known."""
        if self.words is None:
            return None
        return self.words[0] if self.words else ()

    @property
    def elements(self) -> Sequence[Text] | None:
        """Return the words; none where the variable does not exist, None where they are not known."""
        return () if self.unset else self.words


LOST = Variable(None, exported=None)
"""A variable of which nothing is known any more."""

ZSH = "zsh"
ZSH_WITH_OPTIONS = "zsh with options"
"""A shell that reads a variable as options say that are not followed."""

UNKNOWN_DESCRIPTOR = -1
"""A file descriptor whose number is not known; nothing is known of what it gives."""

_MOST_PIECES = 5_000
_MOST_CHARACTERS = 200_000


Leaving = Literal["exit", "return", "break", "continue"]


@dataclass(frozen=True, slots=True)
class ContainerFiles:
    """A file system of its own: the folder that a script starts in, and the paths of the tree at places in it, the
    later the more they count.
    """

    folder: str
    mounts: tuple[tuple[str, str], ...]

    def paths(self, named: str) -> Iterator[str]:
        """Yield the paths of the tree that a path may mean. (A file may be put into a folder that is there.)"""
        place = posixpath.normpath(posixpath.join(self.folder, named))
        for target, source in reversed(self.mounts):
            inner = posixpath.relpath(place, target)
            if not inner.startswith(".."):
                yield source if inner in (".", posixpath.basename(source)) else posixpath.join(source, inner)

    def beside(self, named: str, path: str) -> ContainerFiles:
        """Return the file system in which a file of the tree has a name: those of its folder are beside it there."""
        if posixpath.basename(named) != posixpath.basename(path):
            return self
        return replace(self, mounts=(*self.mounts, (posixpath.dirname(named), posixpath.dirname(path))))


@dataclass(slots=True)
class State:
    """A way through a script.

    A variable that is not in `variables` is set from outside, if at all; with `lost` somebody out of sight may have
    set any. `arguments` are the positional parameters; None at the top, where nobody is known to give any. `decided`
    are the conditions whose side this way has taken, as long as their variables stay; `when` lists all of them.
    `requires` are the variables and arguments ("$DATA", "$1") without which the script would have ended by now.
    `files` are texts that the script itself has written, `applied` the manifests that it has handed to a cluster.
    `aliases` are the variables that others stand for (`local -n`). `output` collects what is printed, where somebody
    reads it (None: a part that is not known); `descriptors` are what is left of the texts on file descriptors, as far
    as they are known, and `input` is that on the standard input; `traps` are the commands for the end of the script.
    `hidden` are, within a function, the outer variables that its local ones hide (None: there was none). `cluster`
    holds the variables as `ray start` has seen them: jobs of the cluster have these, and not those of the shell that
    submits them. `container` is the file system that the script sees, if that is not the tree. `shell` is ZSH where
    that reads the script, and `shared` are the functions that other shells get (`export -f`).
    """

    variables: dict[str, Variable] = field(default_factory=dict)
    arguments: tuple[Text, ...] | None = None
    functions: dict[str, tuple[Script, Node]] = field(default_factory=dict)
    decided: dict[str, bool] = field(default_factory=dict)
    when: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    files: dict[str, Text | None] = field(default_factory=dict)
    applied: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    folder: str | None = None
    lost: bool = False
    leaving: tuple[Leaving, ...] = ()
    exports_all: bool = False
    hidden: dict[str, Variable | None] | None = None
    output: list[Text | None] | None = None
    descriptors: dict[int, Text] = field(default_factory=dict)
    traps: tuple[Text, ...] = ()
    cluster: dict[str, Variable] | None = None
    container: ContainerFiles | None = None
    shell: str = ""
    shared: frozenset[str] = frozenset()

    def fork(self) -> State:
        """Copy the state, to follow another way."""
        return replace(
            self,
            variables=dict(self.variables),
            functions=dict(self.functions),
            decided=dict(self.decided),
            files=dict(self.files),
            descriptors=dict(self.descriptors),
            hidden=None if self.hidden is None else dict(self.hidden),
            output=None if self.output is None else list(self.output),
        )

    @property
    def input(self) -> Text | None:
        """The rest of the text on the standard input, if that is known."""
        return self.descriptors.get(0)

    @input.setter
    def input(self, text: Text | None) -> None:
        self.put_on(0, text)

    def put_on(self, descriptor: int, text: Text | None) -> None:
        """Let a file descriptor give this text, or one that is not known."""
        if text is None:
            self.descriptors.pop(descriptor, None)
        else:
            self.descriptors[descriptor] = text

    def arrive(self, leaving: Leaving) -> None:
        """Go on from here, where this way was leaving for it; `continue 2` leaves the inner loop first."""
        if self.leaving[:1] == (leaving,):
            self.leaving = self.leaving[1:]

    def elements(self, name: str) -> Sequence[Text] | None:
        """Return the words that a variable holds; None where they are not known."""
        return self.variables.get(name, LOST).elements

    def exports(self, name: str) -> bool | None:
        """Tell whether a variable of this name is exported; None where that is not known."""
        old = self.variables.get(name)
        return False if old is None or old.unset else old.exported

    def environment(self) -> dict[str, Variable]:
        """Return the variables that a program sees, as far as they are known."""
        return {name: each for name, each in self.variables.items() if each.unset or each.exported}

    def set(self, name: str, variable: Variable) -> None:
        """Write a variable, which is lost if a script cannot be started with it. Decisions about it no longer hold."""
        pieces = [piece for word in variable.words or () for piece in word]
        fits = len(pieces) < _MOST_PIECES and sum(len(piece.text) for piece in pieces) < _MOST_CHARACTERS
        for each in (name, self.aliases.get(name, name)):
            self.variables[each] = variable if fits else LOST
            self.forget(each)

    def written_as(self, name: Text) -> str | None:
        """Return the name under which `files` has a file that the script wrote; None where it has none.

        What is put into a name may have another name there, as long as that can only mean one file.
        """
        said = name_of_file(name)
        if said not in self.files:
            alike = [each for each in self.files if shape_of_name(each) == plain(name)] if HOLE in said else []
            if len(alike) < 2:
                return alike[0] if alike else None
            self.files[said] = None
        return said

    def write(self, name: str, text: Text | None, *, adds: bool = False) -> None:
        """Note the text that a file has now; None where it is not known. `name` is as `name_of_file` gives it."""
        before = self.files.get(name, ()) if adds else ()
        self.files[name] = None if text is None or before is None else (*before, *text)

    def take_back(self, before: Mapping[str, Variable | None]) -> None:
        """Make variables what they were before; None for one that was not there."""
        for name, old in before.items():
            if old is None:
                self.variables.pop(name, None)
            else:
                self.variables[name] = old
            self.forget(name)

    def unhide(self, above: dict[str, Variable | None] | None) -> None:
        """Leave the function: its local variables are what they were before."""
        self.take_back(self.hidden or {})
        self.aliases = {name: each for name, each in self.aliases.items() if name not in (self.hidden or {})}
        self.hidden = above

    def forget(self, name: str) -> None:
        """Forget every decision about a variable."""
        self.decided = {said: side for said, side in self.decided.items() if name not in said}

    def lose(self, names: Iterable[str]) -> None:
        """Forget the values of these variables."""
        for name in names:
            self.set(name, LOST)

    def lose_all(self) -> None:
        """Forget all variables: somebody out of sight may have set any of them."""
        self.lose(list(self.variables))
        self.lost = True

    def key(self, names: Iterable[str], said: dict[int, tuple[object, ...]]) -> tuple[object, ...]:
        """Return a key that two ways share if they may go on as one; they differ in these variables at most. `said`
        caches the texts of variables, which ways share.
        """
        variables = [self.variables.get(name) for name in names]
        for each in variables:
            if each is not None and id(each) not in said:
                said[id(each)] = _said(each)
        return (
            tuple(None if each is None else said[id(each)] for each in variables),
            self.leaving,
            self.lost,
            self.given,
            self.requires,
            self.folder,
            self.arguments,
            self.exports_all,
            self.shell,
            tuple(sorted(self.functions)),
            tuple(sorted(self.files)),
            None if self.output is None else tuple(self.output),
            tuple(sorted(self.descriptors.items(), key=lambda each: each[0])),
        )


def _differing(states: Sequence[State]) -> list[str]:
    """Return the variables that are not the very same on all ways."""
    first = states[0].variables
    found: dict[str, None] = {}
    for state in states[1:]:
        variables = state.variables
        found |= dict.fromkeys(name for name, each in variables.items() if first.get(name) is not each)
        found |= dict.fromkeys(first.keys() - variables.keys())
    return list(found)


def _said(variable: Variable) -> tuple[object, ...]:
    words = variable.words
    texts = None if words is None else tuple(tuple((p.text, p.path, p.start) for p in word) for word in words)
    return (texts, variable.array, variable.exported, variable.unset, variable.keys)


def joined(first: State, second: State) -> State:
    """Join two ways: keep the facts that hold on both."""
    both = first.fork()
    for name in dict.fromkeys((*first.variables, *second.variables)):
        here, there = first.variables.get(name), second.variables.get(name)
        if here is not there and (here is None or there is None or _said(here) != _said(there)):
            both.variables[name] = LOST
    both.decided = {said: side for said, side in first.decided.items() if second.decided.get(said) is side}
    both.when = tuple(each for each in first.when if each in second.when)
    both.lost = first.lost or second.lost
    both.requires = tuple(dict.fromkeys((*first.requires, *second.requires)))
    both.folder = first.folder if first.folder == second.folder else None
    both.output = first.output if first.output == second.output else [None]
    both.descriptors = {each: text for each, text in first.descriptors.items() if second.descriptors.get(each) == text}
    both.files = {name: text if second.files.get(name) == text else None for name, text in first.files.items()}
    return both


def fewer_states(states: Sequence[State], most: int) -> list[State]:
    """Merge ways that are alike, and then more of them until at most `most` are left."""
    if len(states) < 2:
        return list(states)
    alike = _told_apart(states)
    # Of a way on which a file that a person gives may have set anything, little is known that could be kept apart.
    vague = [state for state in alike if state.lost and state.given]
    found = [state for state in alike if not (state.lost and state.given)] + _joined_alike(vague)
    if len(found) > most:
        found = _without_details(found, most // 4)
    while len(found) > most:
        groups = [group for group in _by_end(found) if len(group) > 1]
        if not groups:
            return found
        group = max(groups, key=lambda group: (bool(group[0].given), len(group)))
        found = [state for state in found if not any(state is each for each in group)] + _joined_alike(group)
    return found


def _told_apart(states: Sequence[State]) -> list[State]:
    """Merge ways that are alike."""
    alike: dict[tuple[object, ...], State] = {}
    texts: dict[int, tuple[object, ...]] = {}
    names = _differing(states)
    for state in states:
        key = state.key(names, texts)
        same = alike.get(key)
        if same is None:
            alike[key] = state
            continue
        same.decided = {said: side for said, side in same.decided.items() if state.decided.get(said) is side}
        same.when = tuple(each for each in same.when if each in state.when)
    return list(alike.values())


def _without_details(states: list[State], most: int) -> list[State]:
    """Forget what differs between ways and is no flag of a program, the oldest first, until so many are left."""
    found = states
    for name in _differing(states):
        if len(found) <= most:
            break
        values = [state.variables.get(name) for state in found]
        if any(value is not None and _has_flags(value) for value in values):
            continue
        for number, state in enumerate(found):
            found[number] = state = state.fork()
            state.variables[name] = LOST
        found = _told_apart(found)
    return found


def _has_flags(variable: Variable) -> bool:
    words = variable.words or ()
    return any(piece.text.startswith("-") or "=" in piece.text for word in words for piece in word)


def _by_end(states: Iterable[State]) -> Iterable[list[State]]:
    """Group ways that may be joined: they lead to the same place, for whoever gives the same, with the same words."""
    found: dict[tuple[tuple[Leaving, ...], tuple[str, ...], tuple[Text, ...] | None], list[State]] = {}
    for state in states:
        found.setdefault((state.leaving, state.given, state.arguments), []).append(state)
    return found.values()


def _joined_alike(states: Iterable[State]) -> list[State]:
    return [reduce(joined, group) for group in _by_end(states)]


MOST_WAYS = 32
"""Ways through a script that are kept apart; beyond, what differs between them is not known."""

FEW_WAYS = 4
"""The limit in a script that is long or has many loops: it is followed to its end, with less of it kept apart."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A way after a statement; whether that succeeded, None where nobody knows.

    `otherwise` is the way on which the statement ends the other way round, because somebody gives the script what it
    was written without: it counts where this way ends the script.
    """

    state: State
    status: bool | None = None
    otherwise: State | None = None


def fewer_ways(ways: list[Ended], most: int = MOST_WAYS) -> list[Ended]:
    """Merge ways that are alike, and then more of them until at most `most` are kept apart."""
    if len(ways) < 2:
        return ways
    found: list[Ended] = []
    for status in (True, False, None):
        states = [way.state for way in ways if way.status is status]
        if states:
            found += [Ended(state, status) for state in fewer_states(states, most)]
    return found


@dataclass(frozen=True, slots=True)
class Held:
    """The pieces of a script, and its environment as far as the file that holds it says.

    `folder` is the one that it is started in, and `when` the way to it. `files` are texts that it finds under a path,
    `container` is the file system that it sees, `arguments` are the words that it is given, where that is known.
    """

    text: Text
    variables: Mapping[str, Variable] = field(default_factory=dict)
    folder: str | None = None
    when: tuple[str, ...] = ()
    files: Mapping[str, Text] = field(default_factory=dict)
    container: ContainerFiles | None = None
    arguments: tuple[Text, ...] | None = None


@dataclass(frozen=True, slots=True)
class HeldCommand:
    """Words of a command that no shell reads, the place where it is started, its environment, and what it reads."""

    words: tuple[Text, ...]
    place: Span
    variables: Mapping[str, Variable] = field(default_factory=dict)
    folder: str | None = None
    when: tuple[str, ...] = ()
    body: Text | None = None
    files: Mapping[str, Text] = field(default_factory=dict)


T = TypeVar("T")


class Runner(Protocol):
    """Follows commands. Expansions, conditions and builtins have commands in them, and ask for those here.

    `steps` and `expansions` are counted up by whoever takes some. `queried` are the arguments which nobody is known to
    give and that `jq` or `yq` reads as files, with the keys that it looks for.
    """

    steps: int
    expansions: int
    queried: dict[str, set[str]]

    @property
    def launches(self) -> Sized:
        """Return the programs that were started so far."""

    def sequence(self, script: Script, nodes: Sequence[Node], state: State) -> list[Ended]:
        """Follow one statement after the other, on every way."""

    def text(self, text: Text, state: State) -> list[Ended]:
        """Follow a script that is a text of this one."""

    def invoke(self, script: Script, node: Node, words: list[Text], state: State) -> list[Ended]:
        """Follow a command with its words expanded."""

    def within(self, place: Piece, state: State, follow: Callable[[State], list[Ended]]) -> list[Ended]:
        """Follow code that a file has."""

    def substitute(self, script: Script, node: Node, state: State) -> Text | None:
        """Return the output of `$(…)`; None where it is not known."""

    def file(self, name: Text, state: State) -> Text | None:
        """Return the text of a file; None where it is not known."""

    def files(self, name: Text, state: State) -> list[Text]:
        """Return the texts of the tree's files that a name may mean of which a part is not known."""

    def matching(self, pattern: str, state: State) -> list[str]:
        """Return the paths that a pattern of names stands for."""

    def fewer(self, ways: list[Ended]) -> list[Ended]:
        """Merge ways, so that fewer are kept apart."""

    def attempt(self, follow: Callable[[], list[Ended] | None]) -> list[Ended] | None:
        """Follow commands; where `follow` gives them up with None, what they have launched is forgotten."""

    def in_time(self, ask: Callable[[], T | None]) -> T | None:
        """Ask for something that matches regular expressions; None where one takes too long."""
