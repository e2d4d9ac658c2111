"""Follows a script statement by statement, on every way through it, and collects what it launches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from tree_sitter import Node

from mfsdp_lint.core.recipe import Span
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.shell.assigning import assign, declare, names_assigned, unset
from mfsdp_lint.readers.shell.builtins import BUILTINS
from mfsdp_lint.readers.shell.conditions import Truth, truth, truth_of_words
from mfsdp_lint.readers.shell.expand import Expander
from mfsdp_lint.readers.shell.heredocs import heredoc, written_to
from mfsdp_lint.readers.shell.pieces import HOLE, Piece, Text, known, option, plain
from mfsdp_lint.readers.shell.script import Script, shown
from mfsdp_lint.readers.shell.starting import Inner, Started, started
from mfsdp_lint.readers.shell.state import State, Variable, fewer

MOST_WAYS = 32
"""Ways through a script that are kept apart; beyond, what differs between them is not known."""

_MOST_STEPS = 10_000
_MOST_LAUNCHES = 64
"""Ways to one command that are kept apart."""

_DEEPEST = 60
_MOST_TURNS = 16

_ABOUT_ARGUMENTS = re.compile(r"\$(?:\{?#\}?|\{?1\b|\{1:)|\bgetopts\b")
"""A condition that asks for arguments, of which a script that is just started has none."""


class TooMuch(Exception):
    """More steps than a script is given."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A command as it is started: its words, what is known of its environment, and on which way.

    `environment` has the variables that were surely set (words) or taken away (None). `given` are the variables that
    who starts the script has to set for this way.
    """

    started: Started
    span: Span
    environment: dict[str, Variable]
    when: tuple[str, ...]
    given: tuple[str, ...]
    folder: str | None


@dataclass(frozen=True, slots=True)
class Ended:
    """A way after a statement; whether that succeeded, None where nobody knows."""

    state: State
    status: bool | None = None


class Runner:
    """One reading of one script. `launches` are what it starts. `lost` is where its syntax could first not be
    followed, `stopped` that nothing behind such a place could."""

    def __init__(self, path: str, sources: Sources) -> None:
        self.path = path
        self.sources = sources
        self.expander = Expander(self.substitute)
        self.launches: list[Launch] = []
        self.lost: Span | None = None
        self.stopped = False
        self.kept: dict[Span, set[object]] = {}
        self.steps = 0
        self.depth = 0
        self.here: Span | None = None

    def run(self, text: str) -> None:
        """Follow the script. Raises TooMuch."""
        script = Script.of_file(self.path, text)
        state = State()
        own = (replace(script.made(script.root, HOLE), stands=self.path),)
        state.variables |= {"0": Variable((own,)), "BASH_SOURCE": Variable((own,), array=True)}
        self.script(script, state)

    def script(self, script: Script, state: State) -> list[Ended]:
        """A whole script."""
        self._unclosed(script)
        return self.sequence(script, script.root.children, state)

    def sequence(self, script: Script, nodes: Sequence[Node], state: State) -> list[Ended]:
        """One statement after the other, on every way."""
        ways = [Ended(state, True)]
        for node in nodes:
            if not node.is_named or node.type == "comment":
                continue
            after: list[Ended] = []
            for way in ways:
                after += [way] if way.state.leaving else self.statement(script, node, way.state)
            ways = _fewer(after)
        return ways

    def statement(self, script: Script, node: Node, state: State) -> list[Ended]:
        """The ways that lead on behind a statement."""
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise TooMuch
        if self.depth >= _DEEPEST:
            state.lose_all()
            return [Ended(state)]
        self.depth += 1
        try:
            return self._statement(script, node, state)
        finally:
            self.depth -= 1

    def _statement(self, script: Script, node: Node, state: State) -> list[Ended]:
        match node.type:
            case "command":
                return self._command(script, node, state)
            case "variable_assignment":
                assign(self.expander, script, node, state)
            case "variable_assignments":
                for child in node.named_children:
                    assign(self.expander, script, child, state)
            case "declaration_command":
                declare(self.expander, script, node, state)
            case "unset_command":
                unset(script, node, state)
            case "redirected_statement":
                return self._redirected(script, node, state)
            case "pipeline":
                return self._pipeline(script, node, state)
            case "list":
                return self._list(script, node, state)
            case "negated_command":
                return [_negated(each) for each in self.statement(script, node.children[-1], state)]
            case "test_command":
                return self._decided(script, node, state)
            case "compound_statement" if script.source(node).startswith("(("):
                return self._decided(script, node, state)
            case "compound_statement" | "do_group":
                return self.sequence(script, node.children, state)
            case "subshell":
                self.sequence(script, node.children, state.fork())
            case "if_statement":
                return self._if(script, list(node.children), state)
            case "case_statement":
                return self._case(script, node, state)
            case "for_statement":
                return self._for(script, node, state)
            case "while_statement" | "c_style_for_statement" | "until_statement":
                return self._while(script, node, state)
            case "function_definition":
                _define(script, node, state)
            case "ERROR" if node.end_byte > node.start_byte:
                self._not_followed(script, node, state)
            case _:
                state.lose(names_assigned(script, node))
        return [Ended(state, True)]

    def _not_followed(self, script: Script, node: Node, state: State) -> None:
        """A piece that the grammar does not know. With a quote left open, what comes next is anything."""
        self.lost = self.lost or script.span(node)
        source = script.source(node)
        state.lose(re.findall(r"(\w+)\+?=", source))
        if source.count('"') % 2 or source.count("'") % 2:
            state.leaving = "exit"
            self.stopped = True

    def _unclosed(self, script: Script) -> None:
        """A quote that is never closed takes everything up to the end of the file: bash refuses it."""
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
        nodes = [child for child in node.children if child.is_named and not child.type.endswith("redirect")]
        before = state.fork() if nodes and nodes[0].type == "variable_assignment" else state
        prefix = [child for child in nodes if child.type == "variable_assignment"]
        for child in prefix:
            # What stands in front of a command holds for that alone.
            assign(self.expander, script, child, before, exported=True)
        words = self.expander.words(script, [child for child in nodes if child.type != "variable_assignment"], state)
        following = node.next_sibling
        if following is not None and following.type == "ERROR":
            words.append((self.expander.hole(script, node),))
        if not words:
            return [Ended(state)]
        self.here = script.span(node)
        ended = self.invoke(script, node, words, before)
        if not prefix:
            return ended
        return [Ended(state, all(each.status for each in ended) or None)]

    def invoke(self, script: Script, node: Node, words: list[Text], state: State) -> list[Ended]:
        """A command with its words expanded: a function, a builtin, or a program."""
        name = known(words[0])
        if name is None and len(words) == 1 and not plain(words[0]).strip(HOLE):
            return [Ended(state)]
        if name in state.functions:
            return self.call(state.functions[name], words[1:], state)
        if name in ("[", "test"):
            return self._either(shown(script, node), truth_of_words([w for w in words[1:] if known(w) != "]"]), state)
        builtin = BUILTINS.get(name or "")
        if builtin is not None:
            return [Ended(each.state, each.status) for each in builtin(self, script, node, words, state)]
        if state.output is not None:
            state.output.append(None)
        return self.start(words, state)

    def call(self, function: tuple[Script, Node], arguments: list[Text], state: State) -> list[Ended]:
        """A function of the script."""
        above = state.arguments
        state.arguments = arguments
        ended = self.statement(*function, state)
        for each in ended:
            each.state.arguments = above
            if each.state.leaving == "return":
                each.state.leaving = ""
        return ended

    def start(self, words: list[Text], state: State, body: Text | None = None) -> list[Ended]:
        """A program: it is followed where it is a shell with a script, and else kept if it launches something."""
        found = started(words, body)
        if isinstance(found, Inner):
            self._inner(found, state)
        elif found is not None and self.here is not None:
            environment = {} if found.fresh else dict(_environment(state))
            for name, text in found.environment.items():
                environment[name] = Variable(None, unset=True) if text is None else Variable((text,), exported=True)
            self._launched(Launch(found, self.here, environment, state.when, state.given, state.folder))
        return [Ended(state)]

    def _launched(self, launch: Launch) -> None:
        """Keep a launch, of those that are alike one for each way to it. Raises TooMuch."""
        said = tuple(map(plain, launch.started.arguments))
        set_to = tuple((name, each.unset, plain(each.text or ())) for name, each in launch.environment.items())
        ways = self.kept.setdefault(launch.span, set())
        if len(ways) > _MOST_LAUNCHES:
            raise TooMuch
        if (key := (launch.when, launch.given, said, set_to)) not in ways:
            ways.add(key)
            self.launches.append(launch)

    def _inner(self, inner: Inner, state: State) -> None:
        """A script that another shell is given: it sees what is exported."""
        text = inner.text
        if text is None and inner.file is not None:
            text = self.file(inner.file, state)
        if text is None:
            return
        child = state.fork()
        child.variables = {name: each for name, each in child.variables.items() if each.exported is not False}
        if inner.fresh:
            child.variables = {}
        for name, value in inner.environment.items():
            child.set(name, Variable((value,), exported=True) if value is not None else Variable(None, unset=True))
        child.functions, child.arguments, child.output = {}, inner.arguments, None
        self.text(text, child)

    def text(self, text: Text, state: State) -> list[Ended]:
        """A script that is a text of this one."""
        if not text or self.depth >= _DEEPEST:
            return [Ended(state)]
        self.depth += 5  # each reads its text once more
        try:
            return self.script(Script(text), state)
        finally:
            self.depth -= 5

    def file(self, name: Text, state: State) -> Text | None:
        """The text of a script file: one that this script has written, or one of the tree."""
        from mfsdp_lint.readers.shell.files import text_of_file

        return text_of_file(name, self.path, self.sources, state)

    def substitute(self, script: Script, node: Node, state: State) -> Text | None:
        """What `$(…)` writes."""
        inside = state.fork()
        inside.output = []
        self.depth += 1
        try:
            ended = self.sequence(script, node.children, inside) if self.depth < _DEEPEST else []
        finally:
            self.depth -= 1
        outputs = [each.state.output for each in ended]
        if len(outputs) != 1 or not outputs[0] or None in outputs[0]:
            return None
        lines = [text for text in outputs[0] if text is not None]
        return tuple(piece for number, text in enumerate(lines) for piece in (*_line_end(number, text), *text))

    # Redirections, pipelines, lists

    def _redirected(self, script: Script, node: Node, state: State) -> list[Ended]:
        body = node.children[0]
        text = heredoc(self.expander, script, node, state)
        target = written_to(self.expander, script, node, state)
        if text is None:
            if target is not None and body.type in ("command", "compound_statement"):
                return self._written(script, body, target, state)
            return self.statement(script, body, state)
        if body.type != "command":
            return self.statement(script, body, state)
        words = self.expander.words(
            script, [each for each in body.children if each.type != "variable_assignment"], state
        )
        name = known(words[0]) if words else None
        self.here = script.span(body)
        if name == "cat" and target is not None:
            state.files[target] = text
        elif name == "cat" and state.output is not None:
            state.output.append(text)
        elif name == "read":
            return self.statement(script, body, state)
        elif words:
            return self.start(words, state, text)
        return [Ended(state, True)]

    def _written(self, script: Script, body: Node, target: str, state: State) -> list[Ended]:
        """A command whose output goes into a file: what `echo` writes is known."""
        inside = state.fork()
        inside.output = []
        ended = self.statement(script, body, inside)
        outputs = ended[0].state.output if len(ended) == 1 else None
        if not outputs or None in outputs:
            above = state.output
            for each in ended:
                each.state.output = above
                each.state.files.pop(target, None)
            return ended
        state.files[target] = tuple(piece for text in outputs if text is not None for piece in text)
        return [Ended(state, True)]

    def _pipeline(self, script: Script, node: Node, state: State) -> list[Ended]:
        """Each part is a shell of its own; what the last one writes is not known."""
        for child in node.named_children:
            part = state.fork()
            part.output = None
            self.statement(script, child, part)
        if state.output is not None:
            state.output.append(None)
        return [Ended(state)]

    def _list(self, script: Script, node: Node, state: State) -> list[Ended]:
        """`a && b`, `a || b`: a program is taken to succeed."""
        first, second = node.named_children[0], node.named_children[-1]
        wants = any(child.type == "&&" for child in node.children)
        ended: list[Ended] = []
        for way in self.statement(script, first, state):
            succeeded = way.status is not False
            if way.state.leaving or succeeded != wants:
                ended.append(way)
            else:
                ended += self.statement(script, second, way.state)
        return ended

    # Conditions and loops

    def _decided(self, script: Script, node: Node, state: State) -> list[Ended]:
        """The ways behind a test: one where it is known, both where it is not."""
        found = truth(self.expander, script, node, state)
        return self._either(shown(script, node), found, state, switches=_switches(script, node))

    def _either(self, said: str, found: Truth, state: State, *, switches: bool = False) -> list[Ended]:
        if found.holds is None:
            if said in state.decided:
                return [Ended(state, state.decided[said])]
            return [self._side(said, side, found, state.fork()) for side in (True, False)]
        ways = [Ended(state, found.holds)]
        if switches and found.option and said not in state.decided and not state.given:
            other = _given(state.fork(), said, found)
            ways.append(Ended(other, not found.holds))
        elif found.option and said in state.decided:
            return [Ended(state, state.decided[said])]
        return ways

    def _side(self, said: str, side: bool, found: Truth, state: State) -> Ended:
        if side and found.means is not None:
            name, text = found.means
            old = state.variables.get(name)
            state.set(name, Variable((text,), exported=old.exported if old else None))
        state.decided[said] = side
        state.when += (said if side else f"not {said}",)
        return Ended(state, side)

    def _if(self, script: Script, children: list[Node], state: State) -> list[Ended]:
        """`if` and each `elif`: condition, `then`, and what else there is."""
        then = next((number for number, child in enumerate(children) if child.type == "then"), len(children))
        condition = [child for child in children[1:then] if child.is_named and child.type != "comment"]
        rest = children[then + 1 :]
        other = next((n for n, child in enumerate(rest) if child.type in ("elif_clause", "else_clause")), len(rest))
        ended: list[Ended] = []
        for way in self._condition(script, condition, state):
            if way.state.leaving:
                ended.append(way)
            elif way.status:
                ended += self.sequence(script, rest[:other], way.state)
            elif other == len(rest):
                ended.append(Ended(way.state, True))
            elif rest[other].type == "else_clause":
                ended += self.sequence(script, rest[other].children[1:], way.state)
            else:
                ended += self._if(script, [*rest[other].children, *rest[other + 1 :]], way.state)
        return _fewer(ended)

    def _condition(self, script: Script, nodes: list[Node], state: State) -> Iterator[Ended]:
        """The ways into both sides: whether a program succeeds is not known."""
        said = " ".join(shown(script, node) for node in nodes)
        for way in self.sequence(script, nodes, state):
            if way.status is not None or way.state.leaving:
                yield way
            else:
                yield from self._either(said, Truth(None), way.state)

    def _case(self, script: Script, node: Node, state: State) -> list[Ended]:
        word = next(child for child in node.children[1:] if child.is_named)
        subject = self.expander.text(script, word, state)
        text = known(subject)
        said = shown(script, word)
        name = re.fullmatch(r'"?\$\{?(\w+)\}?"?', said)
        ended: list[Ended] = []
        open_side: State | None = state
        for item in (child for child in node.named_children if child.type == "case_item"):
            patterns = [self.expander.text(script, each, state) for each in item.children_by_field_name("value")]
            matches = [_matches(text, known(pattern)) for pattern in patterns]
            if open_side is None or (matches and all(each is False for each in matches)):
                continue
            surely = True in matches or any(known(pattern) == "*" for pattern in patterns)
            side = open_side if surely else open_side.fork()
            if not surely or text is None:
                side.when += (f"{said} is {' or '.join(known(each) or '…' for each in patterns)}",)
            if name and text is None and len(patterns) == 1 and re.fullmatch(r"[\w.+-]+", known(patterns[0]) or ""):
                side.set(name[1], Variable((patterns[0],), exported=None))
            body = [child for child in item.named_children if child not in item.children_by_field_name("value")]
            ended += self.sequence(script, body, side)
            if surely:
                open_side = None
        if open_side is not None:
            ended.append(Ended(open_side, True))
        return _fewer(ended)

    def _for(self, script: Script, node: Node, state: State) -> list[Ended]:
        name = script.source(node.named_children[0])
        body = node.named_children[-1]
        values = self.expander.words(script, node.named_children[1:-1], state)
        if len(values) > _MOST_TURNS or any(known(each) is None for each in values) or node.type != "for_statement":
            return self._some_turns(script, body, [*names_assigned(script, body), name], state)
        ways = [Ended(state, True)]
        outside = state.when
        for value in values:
            after: list[Ended] = []
            for way in ways:
                if way.state.leaving:
                    after.append(way)
                    continue
                way.state.set(name, Variable((value,)))
                way.state.when = (*outside, f"{name}={known(value)}") if len(values) > 1 else way.state.when
                after += map(_next_turn, self.sequence(script, body.children, way.state))
            ways = _fewer(after)
        for way in ways:
            way.state.when = tuple(each for each in way.state.when if not each.startswith(f"{name}="))
        return [_behind_loop(way) for way in ways]

    def _while(self, script: Script, node: Node, state: State) -> list[Ended]:
        body = node.named_children[-1]
        condition = script.text[script.bounds(node)[0] : script.bounds(body)[0]]
        if state.arguments is None and _ABOUT_ARGUMENTS.search(condition):
            return [Ended(state, True)]
        return self._some_turns(script, body, names_assigned(script, node), state)

    def _some_turns(self, script: Script, body: Node, names: Sequence[str], state: State) -> list[Ended]:
        """A loop that runs nobody knows how often."""
        state.lose(names)
        ways = self.sequence(script, body.children, state)
        for way in ways:
            way.state.lose(names)
        return _fewer([_behind_loop(_next_turn(way)) for way in ways])


def _switches(script: Script, node: Node) -> bool:
    """Whether FSDP is spoken of where a test leads: only then is it looked at from the side of who gives an option."""
    above: Node | None = node
    while above is not None and above.type not in ("if_statement", "list", "while_statement", "program"):
        above = above.parent
    return above is not None and above.type in ("if_statement", "list") and "fsdp" in script.source(above).lower()


def _given(state: State, said: str, found: Truth) -> State:
    """The way of whoever sets the variable that decides a condition by its default, so that it comes out otherwise."""
    state.given = (found.option,)
    state.when += (said if not found.holds else f"not {said}",)
    depends = [
        n for n, each in state.variables.items() if any(option(word) == found.option for word in each.words or ())
    ]
    state.lose([*depends, *re.findall(r"\$\{?([A-Za-z_]\w*)", said)])
    if found.means is not None and not found.holds:
        name, text = found.means
        state.set(name, Variable((text,), exported=None))
    state.decided[said] = not found.holds
    return state


def _fewer(ways: list[Ended]) -> list[Ended]:
    if len(ways) < 2:
        return ways
    found: list[Ended] = []
    for status in (True, False, None):
        states = [way.state for way in ways if way.status is status]
        if states:
            found += [Ended(state, status) for state in fewer(states, MOST_WAYS)]
    return found


def _negated(way: Ended) -> Ended:
    return Ended(way.state, None if way.status is None else not way.status)


def _next_turn(way: Ended) -> Ended:
    if way.state.leaving == "continue":
        way.state.leaving = ""
    return way


def _behind_loop(way: Ended) -> Ended:
    if way.state.leaving == "break":
        way.state.leaving = ""
    return way


def _define(script: Script, node: Node, state: State) -> None:
    name = next((script.source(child) for child in node.named_children if child.type == "word"), "")
    state.functions[name] = (script, node.named_children[-1])


def _matches(text: str | None, pattern: str | None) -> bool | None:
    if text is None or pattern is None:
        return None
    return fnmatchcase(text, pattern)


def _line_end(number: int, text: Text) -> Iterator[Piece]:
    if number and text:
        yield replace(text[0], text="\n", end=text[0].start)


def _environment(state: State) -> Iterator[tuple[str, Variable]]:
    """What a program sees of the variables, as far as it is known."""
    for name, variable in state.variables.items():
        if variable.unset or variable.exported:
            yield name, variable
