"""`NAME=…`, `NAME+=…`, `NAME=(…)`, `export`, `declare`, `local`, `unset`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tree_sitter import Node

from mfsdp_lint.core.records import replace
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.shell.expand import Expander
from mfsdp_lint.readers.shell.pieces import Text, plain
from mfsdp_lint.readers.shell.script import Script
from mfsdp_lint.readers.shell.state import LOST, State, Variable

_ASSIGNED = re.compile(
    r"(?<![\w$])([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=|\b(?:read|mapfile|readarray|unset|export)\s+([\w \t-]+)"
)


def names_assigned(script: Script, node: Node) -> list[str]:
    """Find the variables that a piece of a script may write, and more names whose text looks like an assignment."""
    found = _ASSIGNED.findall(script.source(node))
    return list(
        dict.fromkeys(name for one, several in found for name in (one, *several.split()) if name.isidentifier())
    )


def assign(
    expander: Expander, script: Script, node: Node, state: State, *, exported: bool = False, local: bool = False
) -> None:
    """Follow one assignment."""
    target = node.children[0]
    if target.type == "subscript":
        _assign_element(expander, script, node, state)
        return
    name = script.source(target)
    old = None if local else state.variables.get(name)
    value = node.child_by_field_name("value")
    adds = any(child.type == "+=" for child in node.children)
    was = old.exported if old is not None and not old.unset else False
    export = True if exported or state.exports_all else was
    if value is not None and value.type == "array":
        words: tuple[Text, ...] | None = tuple(_elements(expander, script, value, state))
        if adds:
            so_far: Sequence[Text] | None = () if old is not None and old.unset else None if old is None else old.words
            words = None if so_far is None else (*so_far, *(words or ()))
        state.set(name, Variable(words, array=True, exported=export))
        return
    text = expander.text(script, value, state) if value is not None else ()
    if not text:
        text = (script.made(node, ""),)
    written = script.made(node, "")
    if adds and (old is None or old.words is None):
        before = _before(old, script, node, state, name)
        if before is None:
            state.set(name, LOST if old is None or old.words is None else replace(old, words=None))
            return
        text = (*before, *text)
    elif adds and old is not None:
        text = (*(old.text or ()), *text)
    # A write to an array by its name alone sets its first element.
    rest = () if old is None or not old.array or old.words is None else old.words[1:]
    is_array = old is not None and old.array and old.words is not None
    state.set(name, Variable((text, *rest), array=is_array, exported=export, written=written))


def _assign_element(expander: Expander, script: Script, node: Node, state: State) -> None:
    """Follow `NAME[2]=…`: the result is known where the index is a number and no element before it is missing."""
    name, index = (script.source(child) for child in node.children[0].named_children[:2])
    old = state.variables.get(name)
    words: Sequence[Text] | None = [] if old is not None and old.unset else None if old is None else old.words
    value = node.child_by_field_name("value")
    text = (expander.text(script, value, state) if value is not None else ()) or (script.made(node, ""),)
    adds = any(child.type == "+=" for child in node.children)
    if words is None or not index.isdigit() or int(index) > len(words) or (value is not None and value.type == "array"):
        state.lose([name])
        return
    place = int(index)
    if adds and place < len(words):
        text = (*words[place], *text)
    exported = False if old is None or old.unset else old.exported
    state.set(name, Variable((*words[:place], text, *words[place + 1 :]), array=True, exported=exported))


def _before(old: Variable | None, script: Script, node: Node, state: State, name: str) -> Text | None:
    """Return the text that `+=` adds to: a variable that nobody sets is empty, as far as anybody knows."""
    if old is not None or state.lost:
        return None
    return (replace(script.made(node, HOLE), option=f"${name}"),)


def _elements(expander: Expander, script: Script, array: Node, state: State) -> list[Text]:
    return expander.words(script, [child for child in array.named_children if child.type != "comment"], state)


def declare(expander: Expander, script: Script, node: Node, state: State) -> None:
    """Follow `export`, `declare`, `local`, `typeset`, `readonly`."""
    word = script.source(node.children[0])
    flags = "".join(script.source(child)[1:] for child in node.named_children if script.source(child).startswith("-"))
    exports = word == "export" or "x" in flags
    taken_back = word == "export" and "n" in flags
    is_local = word in ("local", "declare", "typeset") and "g" not in flags
    for child in node.named_children:
        if is_local and child.type in ("variable_assignment", "variable_name"):
            _make_local(script, child, state)
        if child.type == "variable_assignment":
            assign(
                expander,
                script,
                child,
                state,
                exported=exports and not taken_back,
                local=is_local and state.hidden is not None,
            )
            if "A" in flags:
                state.lose([script.source(child.children[0])])
        elif child.type == "variable_name":
            _declare_name(
                script, child, state, exports=exports, taken_back=taken_back, empty=word in ("local", "declare")
            )
        elif child.type in ("expansion", "simple_expansion", "concatenation", "string", "command_substitution"):
            _declare_words(expander, script, child, state, exports=exports)


def _make_local(script: Script, node: Node, state: State) -> None:
    """Make a variable local to the function; it begins without a value."""
    name = script.source(node if node.type == "variable_name" else node.children[0])
    if state.hidden is not None and name.isidentifier():
        state.hidden.setdefault(name, state.variables.get(name))


def _declare_name(script: Script, node: Node, state: State, *, exports: bool, taken_back: bool, empty: bool) -> None:
    name = script.source(node)
    old = state.variables.get(name)
    if old is not None and (exports or taken_back):
        state.variables[name] = replace(old, exported=exports and not taken_back)
    elif empty and not exports:
        state.set(name, Variable(((script.made(node, ""),),)))


def _declare_words(expander: Expander, script: Script, node: Node, state: State, *, exports: bool) -> None:
    """Follow `export "$NAME=$VALUE"`."""
    for text in expander.words(script, [node], state):
        found = re.match(r"([A-Za-z_]\w*)=", plain(text))
        if found is None:
            if HOLE in plain(text).partition("=")[0] and not all(piece.option for piece in text if HOLE in piece.text):
                state.lose_all()
            continue
        name = found[1]
        skip = found.end()
        value = []
        for piece in text:
            value += [piece.cut(skip, len(piece.text))] if len(piece.text) > skip else []
            skip = max(0, skip - len(piece.text))
        state.set(
            name, Variable((tuple(value) or (script.made(node, ""),),), exported=exports, written=script.made(node, ""))
        )


def unset(script: Script, node: Node, state: State) -> None:
    """Follow `unset NAME …`."""
    for child in node.named_children:
        name = script.source(child)
        if name.isidentifier() and child.type in ("variable_name", "word"):
            state.set(name, Variable(None, unset=True, written=script.made(node, "")))
            state.functions.pop(name, None)
        elif child.type not in ("word",):
            state.lose([name.partition("[")[0]] if "[" in name else list(state.variables))
