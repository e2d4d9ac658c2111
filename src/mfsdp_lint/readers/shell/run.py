"""Follows a script statement by statement, on every way through it, and collects what it launches."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import TypeVar

from tree_sitter import Node

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Setting, Span, Unfollowed
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.values import Known
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.command_lines import IMPORT
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.shell.assignments import assign, calculate, declare, names_assigned, unset
from mfsdp_lint.readers.shell.branching import (
    case_statement,
    decided,
    defaulted,
    each_task,
    either,
    for_statement,
    handed_by_scheduler,
    if_statement,
    past_guard,
    truth_of_words,
    while_statement,
    with_default,
)
from mfsdp_lint.readers.shell.builtins import BUILTINS, heredoc, written_to
from mfsdp_lint.readers.shell.expand import Expander
from mfsdp_lint.readers.shell.launch_command import (
    SCHEDULERS,
    SHELLS,
    InnerScript,
    LaunchedProgram,
    ShellLaunch,
    as_job,
    container_of,
    exported_late,
    passed_on,
    started_by,
    starts_ray_cluster,
    submits_job,
    submits_ray_job,
    text_of_file,
    texts_of_files,
    variables_of,
    with_env_files,
)
from mfsdp_lint.readers.shell.patterns_of_files import files_matching
from mfsdp_lint.readers.shell.script import (
    Piece,
    Script,
    Text,
    around,
    known,
    output_of,
    plain,
    shown,
    substituted,
    words_cut_off,
)
from mfsdp_lint.readers.shell.state import (
    FEW_WAYS,
    LOST,
    MOST_WAYS,
    UNKNOWN_DESCRIPTOR,
    ZSH,
    ContainerFiles,
    Ended,
    Held,
    HeldCommand,
    State,
    Variable,
    fewer_ways,
)
from mfsdp_lint.readers.shell.text_programs import TEXT_PROGRAMS

_MOST_STEPS = 10_000
_MANY_STEPS = 2_000
"""Behind so many steps, fewer ways are kept apart."""
_MOST_LAUNCHES = 64
"""Ways to one command that are kept apart."""

_DEEPEST = 60

_CLUSTER = ("helm", "kubectl")
_READS = {*_CLUSTER, *SHELLS, *SCHEDULERS, *TEXT_PROGRAMS, "cat", "envsubst", "mapfile", "readarray", "read", "tee"}
"""Programs whose input is followed: scripts, manifests, words, lines, and what variables are filled into."""

_READ_BY_COMMANDS_IN_THEM = ("while_statement", "for_statement", "if_statement", "compound_statement", "subshell")

_NAMES_SHELL = lazy_pattern(r"#!\s*\S*/(?:env\s+(?:-\S+\s+)*)?(?P<name>(?:ba|da|k|z)?sh)\b")

T = TypeVar("T")


_STAYS = lazy_pattern(r"exec\b")
_NAMED_DESCRIPTOR = lazy_pattern(r"exec\s+\{\w+\}$")
"""`exec {NAME}< FILE`: the shell chooses a descriptor, and says it in the variable."""


@dataclass(frozen=True, slots=True)
class GivenText:
    """A text that a statement is given to read, None where it is not known, and its file descriptor; the text may be
    that of another descriptor (`<&3`), of which less is left behind the statement.
    """

    text: Text | None
    descriptor: int = 0
    duplicates: int | None = None


def _descriptor(source: str) -> int | None:
    return int(source) if source.isdecimal() else None


class TooMuch(Exception):
    """More steps than a script is given."""


class ScriptRunner:
    """A reading of one script. `launches` are the commands that it starts, `scripts` the texts that were followed,
    `unfollowed` what it starts on a cluster without its being known what that is.
    `lost` is the first place whose syntax could not be followed; `stopped` is true if nothing behind such a place
    could. `deep` are the statements that are nested too deeply, and `followed` the others: a statement that calls
    itself is in both. `outermost` is the command of the script itself that started what is followed. Of more than
    `most_ways` ways, what differs between them is not known; `widest` is how many there were at once.
    """

    def __init__(
        self,
        path: str,
        sources: Sources,
        environment: Sequence[Setting] = (),
        started_by_program: Callable[[ShellLaunch], Sequence[Held | HeldCommand]] = lambda launch: (),
        most_ways: int = MOST_WAYS,
    ) -> None:
        self.path = path
        self.most_ways = most_ways
        self.widest = 1
        self.started_by_program = started_by_program
        self.sources = sources
        self.environment = {each.path.partition(".")[2]: _from_outside(each) for each in environment}
        self.expansions = 0
        self.queried: dict[str, set[str]] = {}
        self.launches: list[ShellLaunch] = []
        self.unfollowed: list[Unfollowed] = []
        self.lost: Span | None = None
        self.stopped = False
        self.deep: list[Span] = []
        self.followed: set[Span] = set()
        self.kept: dict[Span, set[object]] = {}
        self.steps = 0
        self.tired = False
        self.depth = 0
        self.at: tuple[Script, Node] | None = None
        self.place: Span | None = None
        self.outermost: Span | None = None
        self.starter: LaunchedProgram | None = None
        self.scripts: dict[tuple[Span, str], Script] = {}

    def run(self, text: str | Held) -> None:
        """Follow the script. Raises TooMuch."""
        script = Script.of_file(self.path, text) if isinstance(text, str) else Script(text.text)
        state = self.beginning(None if isinstance(text, str) else text)
        state.shell = _shell_of(self.path, script.text)
        own = (replace(script.made(script.root, HOLE), stands=self.path),)
        state.variables |= {"0": Variable((own,)), "BASH_SOURCE": Variable((own,), array=True)}
        state.variables |= handed_by_scheduler(script)
        for way in self.script(script, state):
            for command in way.state.traps:
                after = way.state.fork()
                after.leaving, after.traps = (), ()
                self.text(command, after)

    def command(self, held: HeldCommand) -> None:
        """Follow a command that no script starts. Raises TooMuch."""
        self.at, self.place = None, held.place
        state = self.beginning(held)
        state.input = held.body
        self.start(list(held.words), state)

    def beginning(self, held: Held | HeldCommand | None) -> State:
        """Return the state at the beginning of a script, or of one that another file holds: that file overrides the
        caller's environment.
        """
        if held is None:
            return State(variables=dict(self.environment))
        files: dict[str, Text | None] = dict(held.files)
        variables = {**self.environment, **held.variables}
        state = State(variables=variables, folder=held.folder, when=held.when, files=files)
        if isinstance(held, Held):
            state.container, state.arguments = held.container, held.arguments
        return state

    def script(self, script: Script, state: State) -> list[Ended]:
        """Follow a whole script."""
        self.scripts.setdefault((script.span(script.root), script.text), script)
        self._unclosed(script)
        return self.sequence(script, script.root.children, state)

    def sequence(self, script: Script, nodes: Sequence[Node], state: State) -> list[Ended]:
        """Follow one statement after the other, on every way."""
        ways = [Ended(state, True)]
        for node in nodes:
            if not node.is_named or node.type == "comment":
                continue
            after: list[Ended] = []
            for way in ways:
                after += [way] if way.state.leaving else self.statement(script, node, way.state)
            # Comparing ways costs more than most statements: only where there are more than before.
            ways = after if len(after) == len(ways) <= FEW_WAYS else self.fewer(after)
        return self.fewer(ways)

    def fewer(self, ways: list[Ended]) -> list[Ended]:
        """Merge ways, so that fewer are kept apart; only few are, once many steps were taken."""
        self.widest = max(self.widest, len(ways))
        return fewer_ways(ways, self.most_ways if self.steps < _MANY_STEPS else min(self.most_ways, FEW_WAYS))

    def statement(self, script: Script, node: Node, state: State) -> list[Ended]:
        """Return the ways that lead on behind a statement."""
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise TooMuch
        if self.depth >= _DEEPEST:
            self.deep.append(script.span(node))
            state.lose_all()
            return [Ended(state)]
        self.followed.add(script.span(node))
        self.depth += 1
        try:
            ways = each_task(script, node, state)
            return [ended for way in ways for ended in self._statement(script, node, way)]
        finally:
            self.depth -= 1

    def _statement(self, script: Script, node: Node, state: State) -> list[Ended]:
        match node.type:
            case "command":
                return self._command(script, node, state)
            case "variable_assignment":
                assign(Expander(self, script, state), node)
            case "variable_assignments":
                for child in node.named_children:
                    assign(Expander(self, script, state), child)
            case "declaration_command":
                declare(Expander(self, script, state), node)
            case "unset_command":
                unset(script, node, state)
            case "redirected_statement":
                return self._redirected(script, node, state)
            case "pipeline":
                return self._piped(script, node.named_children, state)
            case "list":
                return self._list(script, node, state)
            case "negated_command":
                ended = self.statement(script, node.children[-1], state)
                return [replace(each, status=None if each.status is None else not each.status) for each in ended]
            case "test_command":
                return decided(self, script, node, state)
            case "compound_statement" if script.source(node).startswith("(("):
                if calculate(Expander(self, script, state), node, script.source(node)[2:-2]):
                    return [Ended(state)]
                return decided(self, script, node, state)
            case "compound_statement" | "do_group":
                return self.sequence(script, node.children, state)
            case "subshell":
                self.sequence(script, node.children, state.fork())
            case "if_statement":
                return if_statement(self, script, list(node.children), state)
            case "case_statement":
                return case_statement(self, script, node, state)
            case "for_statement":
                return for_statement(self, script, node, state)
            case "while_statement" | "c_style_for_statement":
                return while_statement(self, script, node, state)
            case "function_definition":
                name = next((script.source(child) for child in node.named_children if child.type == "word"), "")
                state.functions[name] = (script, node.named_children[-1])
            case "ERROR" if node.end_byte > node.start_byte and not _goes_on_with_nothing(script, node):
                self._not_followed(script, node, state)
            case _:
                state.lose(names_assigned(script, node))
        return [Ended(state, True)]

    def _not_followed(self, script: Script, node: Node, state: State) -> None:
        """Skip what the grammar does not know. If it leaves a quote open, the following text may be anything."""
        self.lost = self.lost or script.span(node)
        source = script.source(node)
        state.lose(re.findall(r"(\w+)\+?=", source))
        if source.count('"') % 2 or source.count("'") % 2:
            state.leaving = ("exit",)
            self.stopped = True

    def _unclosed(self, script: Script) -> None:
        """Record a quote that is never closed: it takes everything up to the end of the file, and bash refuses it. A
        heredoc ends with a line that has nothing else, which the grammar does not ask for.
        """
        for node in script.nodes() if "<<" in script.text else ():
            start, end = script.bounds(node) if node.type == "heredoc_end" else (0, 0)
            if end and {script.text[end : end + 1], script.text[:start].rstrip("\t")[-1:]} - {"", "\n"}:
                self.lost = self.lost or script.span(node)
                self.stopped = True
        node = script.root
        while node.children and node.has_error:
            node = next(
                (child for child in reversed(node.children) if child.has_error or child.is_missing), node.children[-1]
            )
        if node.is_missing and node.type in ('"', "'", "`") and node.parent is not None:
            self.lost = self.lost or script.span(node.parent)
            self.stopped = True

    # Commands

    def _command(self, script: Script, node: Node, state: State) -> list[Ended]:
        nodes = [
            child
            for child in node.children
            if child.is_named and child.type != "comment" and not child.type.endswith("redirect")
        ]
        for _ in range(_on_lines_before(script, nodes)):
            assign(Expander(self, script, state), nodes.pop(0))
        before = state.fork() if nodes and nodes[0].type == "variable_assignment" else state
        prefix = [child for child in nodes if child.type == "variable_assignment"]
        for child in prefix:
            # An assignment in front of a command holds for that alone.
            assign(Expander(self, script, before), child, exported=True)
        expander = Expander(self, script, state)
        words = expander.words([child for child in nodes if child.type != "variable_assignment"])
        outer = state.input
        reads = next((child for child in node.children if child.type == "herestring_redirect"), None)
        if reads is not None:
            before.input = (*expander.text(reads.named_children[-1]), script.made(reads, "\n"))
        following = node.next_sibling
        if following is not None and following.type == "ERROR" and not _goes_on_with_nothing(script, following):
            words.append((expander.hole(node),))
        if not words or state.leaving:
            return [Ended(state)]
        self.at = script, node
        ended = self.invoke(script, node, words, before)
        names = [script.source(child.children[0]) for child in prefix]
        for way in ended:
            way.state.take_back({name: state.variables.get(name) for name in names})
            way.state.input = way.state.input if reads is None else outer
        return ended

    def invoke(self, script: Script, node: Node, words: list[Text], state: State) -> list[Ended]:
        """Follow a command with its words expanded: a function, a builtin, or a program."""
        name = known(words[0])
        if name is None and len(words) == 1 and not plain(words[0]).strip(HOLE):
            return [Ended(state)]
        if name in state.functions:
            return self.call(state.functions[name], words[1:], state)
        if name in ("[", "test"):
            return either(self, shown(script, node), truth_of_words([w for w in words[1:] if known(w) != "]"]), state)
        builtin = BUILTINS.get(name or "")
        if builtin is not None:
            return [Ended(each.state, each.status) for each in builtin(self, script, node, words, state)]
        if state.output is not None:
            state.output.append(None)
        return self.start(words, state)

    def call(self, function: tuple[Script, Node], arguments: list[Text], state: State) -> list[Ended]:
        """Call a function of the script."""
        above, hidden = state.arguments, state.hidden
        state.arguments, state.hidden = tuple(arguments), {}
        ended = self.within(function[0].made(function[1], ""), state, partial(self.statement, *function))
        for each in ended:
            each.state.arguments = above
            each.state.unhide(None if hidden is None else dict(hidden))
            each.state.arrive("return")
        return ended

    def within(self, place: Piece, state: State, follow: Callable[[State], list[Ended]]) -> list[Ended]:
        """Follow code that a file has: BASH_SOURCE names this file, in front of those that led here."""
        outer = state.variables.get("BASH_SOURCE", LOST)
        here: Text = (replace(place, text=HOLE, stands=place.path),)
        state.set("BASH_SOURCE", replace(outer, words=(here, *(outer.words or ())), array=True))
        ended = follow(state)
        for each in ended:
            each.state.set("BASH_SOURCE", outer)
        return ended

    def start(self, words: list[Text], state: State) -> list[Ended]:
        """Start a program: it is followed if it is a shell with a script, else kept if it launches something."""
        words = with_env_files(words, lambda name: self.file(name, state))
        words = _with_exports_of_job(words, state)
        if any(known(word) == "direnv" for word in words):
            from mfsdp_lint.readers.shell.direnv import with_exports_of_direnv

            words = with_exports_of_direnv(words, self.path, self.sources, state.folder)
        if submits_ray_job(words):
            from mfsdp_lint.readers.shell.cluster import with_runtime_environment

            words = with_runtime_environment(words, lambda name: self.file(name, state))
        found = started_by(words, state.input, lambda word: self._is_script(word, state))
        seen = state
        if starts_ray_cluster(words):
            state.cluster = state.environment()
        elif submits_ray_job(words):
            seen = state.fork()
            seen.variables = dict(state.cluster or {})
        container = container_of(words)
        if known(words[0]) in _CLUSTER:
            from mfsdp_lint.readers.shell.cluster import follow_cluster_command

            with self._started_at(self._here()):
                follow_cluster_command(self, words, state, state.input)
        passed = passed_on(words, seen.environment())
        if isinstance(found, InnerScript):
            self._inner(found, seen, container, passed)
        elif found is not None and (place := self._here()) is not None:
            inherited = {} if found.fresh else seen.environment()
            environment = {**inherited, **passed, **variables_of(found.environment, passed)}
            if submits_job(found) and self.file(found.program, seen) is None:
                found, environment = as_job(found, environment)
            behind = () if self.at is None else tuple(words_cut_off(*self.at))
            late = () if seen is state else exported_late(state, environment)
            if found.per_node is None and self.starter is not None:
                found = replace(found, per_node=self.starter.per_node, nodes=self.starter.nodes)
            way = (environment, state.when, state.given, state.folder, behind, late, state.requires)
            launch = ShellLaunch(found, place, *way, self.outermost or place, container=container or state.container)
            if self._launched(launch):
                number, started = len(self.launches) - 1, self.started_by_program(launch)
                self.launches[number] = replace(launch, hands_on=not all(map(_imports, started)))
                for held in started:
                    held = replace(held, when=(*state.when, *held.when))
                    with self._started_at(place, found):
                        self.command(held) if isinstance(held, HeldCommand) else self.run(held)
        return [Ended(state)]

    def _here(self) -> Span | None:
        """Return the place of the command at hand."""
        return self.at[0].span(self.at[1]) if self.at else self.place

    @contextmanager
    def _started_at(self, place: Span | None, starter: LaunchedProgram | None = None) -> Iterator[None]:
        """Follow what a command of the script starts; what that starts in turn is led to by the same command.

        What a rank starts is as many as the ranks of its `starter`.
        """
        outer = self.outermost, self.starter
        self.outermost, self.starter = self.outermost or place, starter
        try:
            yield
        finally:
            self.outermost, self.starter = outer

    def _launched(self, launch: ShellLaunch) -> bool:
        """Keep a launch, of those that are alike one for each way to it; tell whether it is new. Raises TooMuch."""
        said = tuple(map(plain, launch.started.arguments))
        set_to = tuple((name, each.unset, plain(each.text or ())) for name, each in launch.environment.items())
        ways = self.kept.setdefault(launch.span, set())
        if len(ways) > _MOST_LAUNCHES:
            raise TooMuch
        if (key := (launch.when, launch.given, said, set_to)) in ways:
            return False
        ways.add(key)
        self.launches.append(launch)
        return True

    def _inner(
        self, inner: InnerScript, state: State, container: ContainerFiles | None, passed: Mapping[str, Variable]
    ) -> None:
        """Follow a script that another shell is given: it sees the exported variables, or those of a container."""
        child = state.fork()
        if container is not None:
            child.container, child.folder = container, None
        text = inner.text
        if text is None and inner.file is not None:
            text = self.file(inner.file, child)
            if text and posixpath.isabs(said := plain(inner.file)):
                child.container = (child.container or ContainerFiles("/", ())).beside(said, text[0].path)
        if text is None:
            return
        child.variables = {n: each for n, each in child.variables.items() if each.unset or each.exported is not False}
        if inner.fresh:
            child.variables = {}
        child.variables |= passed
        for name, variable in variables_of(inner.environment, passed).items():
            child.set(name, variable)
        if inner.file is not None:
            child.variables |= {"0": Variable((inner.file,)), "BASH_SOURCE": Variable((inner.file,), array=True)}
        elif inner.named is not None:
            child.variables["0"] = Variable((inner.named,))
        shared = frozenset() if inner.fresh else child.shared
        child.functions = {name: each for name, each in child.functions.items() if name in shared}
        child.arguments, child.output = tuple(inner.arguments), None
        child.shell = _shell_of(plain(inner.file or ()), plain(text), inner.shell)
        with self._started_at(self._here()):
            self.text(text, child)

    def text(self, text: Text, state: State) -> list[Ended]:
        """Follow a script that is a text of this one."""
        if not text:
            return [Ended(state)]
        if self.depth >= _DEEPEST:
            if plain(text) not in (each.text for each in self.scripts.values()):
                self.deep.append(around(text))
            return [Ended(state)]
        self.depth += 5  # each reads its text once more
        self.steps += 50
        try:
            return self.script(Script(text), state)
        finally:
            self.depth -= 5

    def attempt(self, follow: Callable[[], list[Ended] | None]) -> list[Ended] | None:
        """Follow commands; where `follow` gives them up with None, what they have launched is forgotten."""
        launches, kept = list(self.launches), {place: set(ways) for place, ways in self.kept.items()}
        ended = follow()
        if ended is None:
            self.launches, self.kept = launches, kept
        return ended

    def in_time(self, ask: Callable[[], T | None]) -> T | None:
        """Ask for something that matches regular expressions; None where one takes too long, and ever after."""
        if self.tired:
            return None
        try:
            return ask()
        except TimeoutError:
            self.tired = True
            return None

    def file(self, name: Text, state: State) -> Text | None:
        """Return the text of a file: one that this script has written, what it is given to read, or one of the tree."""
        if plain(name) in ("/dev/stdin", "-"):
            return state.input
        return text_of_file(name, self.path, self.sources, state)

    def files(self, name: Text, state: State) -> list[Text]:
        """Return the texts of the tree's files that a name may mean of which a part is not known."""
        return texts_of_files(name, self.path, self.sources, state)

    def matching(self, pattern: str, state: State) -> list[str]:
        """Return the paths that a pattern of names stands for."""
        return files_matching(pattern, self.path, state.folder)

    def _is_script(self, word: Text, state: State) -> bool:
        """Tell whether a word names a file that this script has written, or one of the tree that names a shell."""
        said = plain(word)
        if (written := state.written_as(word)) is not None:
            return state.files[written] is not None
        if "/" not in said or "=" in said or said.startswith("-") or " " in said:
            return False
        text = self.file(word, state)
        return text is not None and bool(_NAMES_SHELL.match(plain(text)))

    def substitute(self, script: Script, node: Node, state: State) -> Text | None:
        """Return the output of `$(…)`; None where it is not known."""
        reads = [child for child in node.named_children if child.type == "file_redirect"]
        if len(reads) == len(node.named_children) == 1 and script.source(reads[0]).startswith("<"):  # `$(<FILE)`
            text = self.file(Expander(self, script, state).text(reads[0].named_children[-1]), state)
            return None if text is None else substituted(text)
        inside = state.fork()
        inside.output = []
        self.depth += 1
        try:
            ended = self.sequence(script, node.children, inside) if self.depth < _DEEPEST else []
        finally:
            self.depth -= 1
        way = _only_way(ended, state)
        printed = None if way is None else output_of(way.output)
        return None if printed is None else substituted(printed)

    # Redirections, pipelines, lists

    def _redirected(self, script: Script, node: Node, state: State) -> list[Ended]:
        """Follow a statement with the text that it is given to read, and the file that its output goes to."""
        first = node.children[0]
        parts, behind = _behind_heredoc(node)
        target = written_to(Expander(self, script, state), node)
        given = self._given(script, node, state)
        if given is None:
            ended = self._into(script, first, parts, target, state)
        else:
            outer = state.descriptors.get(given.descriptor)
            state.put_on(given.descriptor, given.text)
            ended = self._into(script, first, parts, target, state)
            for each in ended if not _STAYS.match(script.source(first)) else ():
                if given.duplicates is not None:
                    each.state.put_on(given.duplicates, each.state.descriptors.get(given.descriptor))
                each.state.put_on(given.descriptor, outer)
        return [end for each in ended for end in self._all(script, behind, each)]

    def _into(
        self, script: Script, first: Node, parts: list[Node], target: tuple[str, bool] | None, state: State
    ) -> list[Ended]:
        """Follow the commands of a redirection, whose output goes into a file if there is a target."""
        if target is not None and (first.type in _WRITES or parts):
            return self._written(script, [first, *parts], target, state)
        return self._piped(script, [first, *parts], state) if parts else self.statement(script, first, state)

    def _all(self, script: Script, nodes: Sequence[Node], way: Ended) -> list[Ended]:
        return [way] if way.state.leaving or not nodes else self.sequence(script, nodes, way.state)

    def _given(self, script: Script, node: Node, state: State) -> GivenText | None:
        """Return the text that a redirection gives a statement to read, if one does."""
        if _NAMED_DESCRIPTOR.match(script.source(node.children[0])):
            return GivenText(None, UNKNOWN_DESCRIPTOR)
        expander = Expander(self, script, state)
        for child in node.named_children:
            source = child.named_children[-1] if child.named_children else None
            at = child.child_by_field_name("descriptor")
            number = (None if at is None else _descriptor(script.source(at))) or 0
            marks = {each.type for each in child.children}
            if child.type == "heredoc_redirect":
                return GivenText(heredoc(expander, child), number)
            if source is not None and child.type == "herestring_redirect":
                return GivenText((*expander.text(source), script.made(child, "\n")), number)
            if source is not None and child.type == "file_redirect" and "<" in marks:
                return GivenText(self.file(expander.text(source), state), number)
            if source is not None and "<&" in marks:
                other = _descriptor(script.source(source))
                return GivenText(None if other is None else state.descriptors.get(other), number, other)
        return None

    def _written(self, script: Script, parts: list[Node], target: tuple[str, bool], state: State) -> list[Ended]:
        """Follow commands whose output goes into a file."""
        name, adds = target
        above = state.output
        state.output = []
        ended = self._piped(script, parts, state) if len(parts) > 1 else self.statement(script, parts[0], state)
        for each in ended:
            each.state.write(name, output_of(each.state.output) if len(ended) == 1 else None, adds=adds)
            each.state.output = None if above is None else list(above)
        return ended

    def _piped(self, script: Script, parts: Sequence[Node], state: State) -> list[Ended]:
        """Follow commands of which each reads what the one before it prints; each is a shell of its own."""
        given = state.input
        for child, reader in zip(parts, (*parts[1:], None), strict=True):
            part = state.fork()
            part.input = given
            followed = state.output is not None if reader is None else self._reads(script, reader)
            part.output = [] if followed else None
            way = _only_way(self.statement(script, child, part), state)
            given = output_of(way.output) if followed and way is not None else None
            state.files = dict(way.files) if way is not None else state.files
        if state.output is not None:
            state.output.append(given)
        return [Ended(state)]

    def _reads(self, script: Script, node: Node) -> bool:
        """Tell whether a statement may read a text in a way that is followed."""
        while node.type == "redirected_statement":
            node = node.children[0]
        if node.type in ("pipeline", "list"):
            return self._reads(script, node.named_children[0])
        return node.type in _READ_BY_COMMANDS_IN_THEM or _name(script, node) in _READS

    def _list(self, script: Script, node: Node, state: State) -> list[Ended]:
        """Follow `a && b`, `a || b`: a program is taken to succeed."""
        first, second = node.named_children[0], node.named_children[-1]
        wants = any(child.type == "&&" for child in node.children)
        if wants and (name := defaulted(script, [first], [second], state)):
            return with_default(name, self.statement(script, second, state))
        ended: list[Ended] = []

        def follow(succeeded: bool | None, state: State) -> list[Ended]:
            return self.statement(script, second, state) if succeeded is wants else [Ended(state, succeeded)]

        for way in self.statement(script, first, state):
            succeeded = way.status is not False
            if way.state.leaving or succeeded is not wants:
                if way.otherwise is not None and second.type == "test_command":
                    way = replace(way, otherwise=self._otherwise(script, second, way.otherwise, wants))
                ended.append(way)
            else:
                ended += past_guard(self, way, follow, succeeded)
        return ended

    def _otherwise(self, script: Script, test: Node, state: State, wanted: bool) -> State:
        """Return the way on which a second test ends as wanted, too, of somebody who gives what both ask for."""
        for way in self.statement(script, test, state):
            if way.status is wanted:
                return way.state
            if way.otherwise is not None:
                return way.otherwise
        return state


def _only_way(ended: Sequence[Ended], before: State) -> State | None:
    """Return the way behind commands whose output is read; None for several. Commands that are started without the
    options that a person may give print what they print by default.
    """
    plainly = [each.state for each in ended if each.state.given == before.given]
    return plainly[0] if len(plainly) == 1 else None


def _with_exports_of_job(words: list[Text], state: State) -> list[Text]:
    """Return a command with the option that `srun` takes from its job (srun(1), `SLURM_EXPORT_ENV`)."""
    at = next((number for number, word in enumerate(words) if known(word) == "srun"), None)
    asked = state.variables.get("SLURM_EXPORT_ENV", LOST)
    text = () if asked.unset else asked.text or ()
    if at is None or not (text and known(text)) or any(plain(word).startswith("--export") for word in words):
        return words
    return [*words[: at + 1], (replace(text[0], text="--export=", end=text[0].start), *text), *words[at + 1 :]]


def _shell_of(path: str, text: str, started_by: str = "") -> str:
    """Return ZSH where that reads a script: it is what starts it, else what its first line says, else its name."""
    said = _NAMES_SHELL.match(text)
    name = started_by or (said["name"] if said else ZSH * path.endswith(".zsh"))
    return ZSH if name == ZSH else ""


def _name(script: Script, node: Node) -> str:
    """Return the name of the program that a command starts; "" for any other statement."""
    named = node.child_by_field_name("name") if node.type == "command" else None
    return "" if named is None else script.source(named)


def _on_lines_before(script: Script, nodes: Sequence[Node]) -> int:
    """Return how many of a command's nodes are assignments on lines before it: of `A=1 B=2` the grammar makes one
    command with what is on the next line.
    """
    count = 0
    for number, (node, after) in enumerate(pairwise(nodes), 1):
        if node.type != "variable_assignment":
            break
        if "\n" in script.text[script.bounds(node)[1] : script.bounds(after)[0]].replace("\\\n", ""):
            count = number
    return count


def _goes_on_with_nothing(script: Script, node: Node) -> bool:
    """Tell whether what the grammar does not know is the backslash of a last line, behind which bash reads nothing."""
    behind = script.text[script.bounds(node)[0] :].strip()
    return behind in ("", "\\") and script.text.rstrip().endswith("\\")


def _imports(held: Held | HeldCommand) -> bool:
    """Tell whether what a program starts only stands for an import that it makes itself."""
    return isinstance(held, HeldCommand) and tuple(map(plain, held.words[: len(IMPORT)])) == IMPORT


_LOOPS = ("for_statement", "c_style_for_statement", "while_statement")
_WRITES = ("command", "compound_statement", "subshell", "if_statement", "case_statement", "pipeline", *_LOOPS)


def _behind_heredoc(node: Node) -> tuple[list[Node], list[Node]]:
    """Return the commands that `cat <<EOF | COMMAND` gives its text to, and those behind `cat <<EOF && COMMAND`: the
    grammar has both within the redirection.
    """
    parts: list[Node] = []
    behind: list[Node] = []
    for redirect in node.named_children:
        if redirect.type == "heredoc_redirect":
            for child in redirect.named_children:
                if child.type == "pipeline":
                    parts += child.named_children
                elif not child.type.startswith("heredoc") and not child.type.endswith("redirect"):
                    behind.append(child)
    return parts, [each for each in behind if each.type not in ("word", "string", "raw_string", "file_descriptor")]


def _from_outside(setting: Setting) -> Variable:
    """Make a variable that the caller gives the script; its text is placed where the setting is written."""
    said, place = setting.value, setting.origin.point if setting.origin else None
    if not isinstance(said, Known) or place is None:
        return LOST
    if said.value is None:
        return Variable((), unset=True)
    # (The place is on a line of its own, in a text that has nothing else on the lines before it.)
    lines = Lines("\n" * (place.line - 1) + " " * place.end_column)
    start = place.line - 1 + place.column - 1
    piece = Piece(str(said.value), place.path, lines, start, start + place.end_column - place.column)
    return Variable(((piece,),), exported=True)
