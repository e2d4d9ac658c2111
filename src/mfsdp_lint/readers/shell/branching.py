"""Conditions and loops: which ways lead through them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from tree_sitter import Node

from mfsdp_lint.readers.shell.assigning import names_assigned
from mfsdp_lint.readers.shell.conditions import Truth, truth
from mfsdp_lint.readers.shell.pieces import Text, known, option
from mfsdp_lint.readers.shell.script import Script, shown
from mfsdp_lint.readers.shell.state import State, Variable
from mfsdp_lint.readers.shell.ways import Ended

if TYPE_CHECKING:
    from mfsdp_lint.readers.shell.run import Runner

_MOST_TURNS = 16

_ABOUT_ARGUMENTS = re.compile(r"\$(?:\{?#\}?|\{?1\b|\{1:)|\bgetopts\b")
"""A condition that asks for arguments, of which a script that is just started has none."""


def decided(runner: Runner, script: Script, node: Node, state: State) -> list[Ended]:
    """Return the ways behind a test: one where its result is known, both where it is not."""
    found = truth(runner.expander, script, node, state)
    return either(runner, shown(script, node), found, state, switches=_switches(script, node))


def either(runner: Runner, said: str, found: Truth, state: State, *, switches: bool = False) -> list[Ended]:
    if found.holds is None:
        if said in state.decided:
            return [Ended(state, state.decided[said])]
        return [_side(runner, said, side, found, state.fork()) for side in (True, False)]
    ways = [Ended(state, found.holds)]
    if switches and found.option and said not in state.decided and not state.given:
        other = _given(state.fork(), said, found)
        ways.append(Ended(other, not found.holds))
    elif found.option and said in state.decided:
        return [Ended(state, state.decided[said])]
    return ways


def _side(runner: Runner, said: str, side: bool, found: Truth, state: State) -> Ended:
    if side and found.means is not None:
        name, text = found.means
        old = state.variables.get(name)
        state.set(name, Variable((text,), exported=old.exported if old else None))
    state.decided[said] = side
    state.when += (said if side else f"not {said}",)
    return Ended(state, side)


def if_statement(runner: Runner, script: Script, children: list[Node], state: State) -> list[Ended]:
    """Follow `if` and each `elif`: the condition, `then`, and the other branches."""
    then = next((number for number, child in enumerate(children) if child.type == "then"), len(children))
    condition = [child for child in children[1:then] if child.is_named and child.type != "comment"]
    rest = children[then + 1 :]
    other = next((n for n, child in enumerate(rest) if child.type in ("elif_clause", "else_clause")), len(rest))
    ended: list[Ended] = []
    for way in _condition(runner, script, condition, state):
        if way.state.leaving:
            ended.append(way)
        elif way.status:
            ended += runner.sequence(script, rest[:other], way.state)
        elif other == len(rest):
            ended.append(Ended(way.state, True))
        elif rest[other].type == "else_clause":
            ended += runner.sequence(script, rest[other].children[1:], way.state)
        else:
            ended += if_statement(runner, script, [*rest[other].children, *rest[other + 1 :]], way.state)
    return runner.fewer(ended)


def _condition(runner: Runner, script: Script, nodes: list[Node], state: State) -> Iterator[Ended]:
    """Yield the ways into both sides of a condition: whether a program succeeds is not known."""
    said = " ".join(shown(script, node) for node in nodes)
    for way in runner.sequence(script, nodes, state):
        if way.status is not None or way.state.leaving:
            yield way
        else:
            yield from either(runner, said, Truth(None), way.state)


def case_statement(runner: Runner, script: Script, node: Node, state: State) -> list[Ended]:
    word = next(child for child in node.children[1:] if child.is_named)
    subject = runner.expander.text(script, word, state)
    text = known(subject)
    said = shown(script, word)
    name = re.fullmatch(r'"?\$\{?(\w+)\}?"?', said)
    ended: list[Ended] = []
    open_side: State | None = state
    for item in (child for child in node.named_children if child.type == "case_item"):
        patterns = [runner.expander.text(script, each, state) for each in item.children_by_field_name("value")]
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
        ended += runner.sequence(script, body, side)
        if surely:
            open_side = None
    if open_side is not None:
        ended.append(Ended(open_side, True))
    return runner.fewer(ended)


def for_statement(runner: Runner, script: Script, node: Node, state: State) -> list[Ended]:
    name = script.source(node.named_children[0])
    body = node.named_children[-1]
    values = runner.expander.words(script, node.named_children[1:-1], state)
    if len(values) > _MOST_TURNS or any(known(each) is None for each in values) or node.type != "for_statement":
        return _some_turns(runner, script, body, [*names_assigned(script, body), name], state)
    ways = [Ended(state, True)]
    outside = state.when
    for value in values:
        after: list[Ended] = []
        for way in ways:
            if way.state.leaving:
                after.append(way)
                continue
            way.state.set(name, _turn(way.state.variables.get(name), value))
            way.state.when = (*outside, f"{name}={known(value)}") if len(values) > 1 else way.state.when
            after += map(_next_turn, runner.sequence(script, body.children, way.state))
        ways = runner.fewer(after)
    for way in ways:
        way.state.when = tuple(each for each in way.state.when if not each.startswith(f"{name}="))
    return [_behind_loop(way) for way in ways]


def while_statement(runner: Runner, script: Script, node: Node, state: State) -> list[Ended]:
    body = node.named_children[-1]
    condition = script.text[script.bounds(node)[0] : script.bounds(body)[0]]
    if state.arguments is None and _ABOUT_ARGUMENTS.search(condition):
        return [Ended(state, True)]
    return _some_turns(runner, script, body, names_assigned(script, node), state)


def _some_turns(runner: Runner, script: Script, body: Node, names: Sequence[str], state: State) -> list[Ended]:
    """Follow a loop whose number of turns is not known."""
    state.lose(names)
    ways = runner.sequence(script, body.children, state)
    for way in ways:
        way.state.lose(names)
    return runner.fewer([_behind_loop(_next_turn(way)) for way in ways])


def _switches(script: Script, node: Node) -> bool:
    """Tell whether the statement around a test mentions FSDP; only then is the side of a user who sets an option
    followed too.
    """
    above: Node | None = node
    while above is not None and above.type not in ("if_statement", "list", "while_statement", "program"):
        above = above.parent
    return above is not None and above.type in ("if_statement", "list") and "fsdp" in script.source(above).lower()


def _given(state: State, said: str, found: Truth) -> State:
    """Return the other way: somebody sets the variable whose default decides a condition, so that it has the other
    result.
    """
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


def _next_turn(way: Ended) -> Ended:
    if way.state.leaving == "continue":
        way.state.leaving = ""
    return way


def _behind_loop(way: Ended) -> Ended:
    if way.state.leaving == "break":
        way.state.leaving = ""
    return way


def _matches(text: str | None, pattern: str | None) -> bool | None:
    if text is None or pattern is None:
        return None
    return fnmatchcase(text, pattern)


def _turn(old: Variable | None, value: Text) -> Variable:
    """Return a loop's variable in one turn: it stays exported if it was, and an array gets the value as its first
    element.
    """
    if old is None or old.unset or old.words is None:
        return Variable((value,))
    return Variable((value, *(old.words[1:] if old.array else ())), array=old.array, exported=old.exported)
