"""Assignments: `X=1`, `X+=(…)`, `X[2]=…`, `((X++))`, `export`, `declare`, `local` and `unset`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tree_sitter import Node

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import replace
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.shell.expand import Expander
from mfsdp_lint.readers.shell.script import Script, Text, behind, placed, plain
from mfsdp_lint.readers.shell.state import LOST, State, Variable

_ASSIGNED = lazy_pattern(
    r"(?<![\w$])([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=|\b(?:read|mapfile|readarray|unset|export)\s+([\w \t-]+)"
)


def names_assigned(script: Script, node: Node) -> list[str]:
    """Find the variables that a piece of a script may write, and more names whose text looks like an assignment."""
    found = _ASSIGNED.findall(script.source(node))
    return list(
        dict.fromkeys(name for one, several in found for name in (one, *several.split()) if name.isidentifier())
    )


def assign(expander: Expander, node: Node, *, exported: bool = False, local: bool = False) -> None:
    """Follow one assignment."""
    script, state = expander.script, expander.state
    target = node.children[0]
    if target.type == "subscript":
        _assign_element(expander, node)
        return
    name = script.source(target)
    old = None if local else state.variables.get(name)
    value = node.child_by_field_name("value")
    adds = any(child.type == "+=" for child in node.children)
    export = True if exported or state.exports_all else old is not None and state.exports(name)
    if value is not None and value.type == "array":
        elements = expander.words([child for child in value.named_children if child.type != "comment"])
        if old is not None and old.keys is not None:
            state.set(name, _with_entries(old if adds else replace(old, words=(), keys=()), elements))
            return
        # (An array is never from the environment.)
        so_far = (() if old is None and not state.lost else (old or LOST).elements) if adds else ()
        words = None if so_far is None else (*so_far, *elements)
        state.set(name, Variable(words, array=True, exported=export))
        return
    text = (expander.text(value) if value is not None else ()) or (script.made(node, ""),)
    written = script.made(node, "")
    if adds and (old is None or old.words is None):
        if old is not None or state.lost:
            state.set(name, LOST)
            return
        # A variable that nobody sets is empty, as far as anybody knows.
        text = (replace(script.made(node, HOLE), option=f"${name}"), *text)
    elif adds and old is not None:
        text = (*(old.text or ()), *text)
    # A write to an array by its name alone sets its first element.
    rest = () if old is None or not old.array or old.words is None else old.words[1:]
    is_array = old is not None and old.array and old.words is not None
    state.set(name, Variable((text, *rest), array=is_array, exported=export, written=written))


_CALCULATED = lazy_pattern(
    r"(?P<step>\+\+|--)?\s*(?P<name>[A-Za-z_]\w*)\s*(?:(?P<sign>[-+*/%]?)=(?!=)(?P<value>[^=].*)|(?P<back>\+\+|--))?",
    re.DOTALL,
)


def calculate(expander: Expander, node: Node, source: str) -> bool:
    """Follow what an arithmetic expression writes (`i++`, `n += 2`); tell whether it only writes."""
    for part in source.split(","):
        found = _CALCULATED.fullmatch(part.strip())
        if found is None or not (found["step"] or found["back"] or found["value"]):
            return False
        name = found["name"]
        said = found["value"] or "1"
        sign = found["sign"] if found["value"] else (found["step"] or found["back"])[0]
        value, option = expander.number(f"({name}) {sign} ({said})" if sign else said)
        if value is None:
            expander.state.lose([name])
        else:
            made = expander.script.made(node, str(value), option=option)
            expander.state.set(name, Variable(((made,),), exported=expander.state.exports(name)))
    return True


_ENTRY = lazy_pattern(r"\[([^\]]*)\]=")


def _with_entries(variable: Variable, elements: Sequence[Text]) -> Variable:
    """Return an associative array with the entries of `([a]=b [c]=d)`."""
    found = dict(zip(variable.keys or (), variable.words or (), strict=True))
    for element in elements:
        entry = _ENTRY.match(plain(element))
        if entry is None or HOLE in entry[1]:
            return LOST
        found[entry[1]] = behind(element, entry.end())
    return replace(variable, words=tuple(found.values()), keys=tuple(found))


def _assign_element(expander: Expander, node: Node) -> None:
    """Follow `NAME[2]=…`: the result is known where the index is a number and no element before it is missing."""
    script, state = expander.script, expander.state
    name, index = (script.source(child) for child in node.children[0].named_children[:2])
    old = state.variables.get(name)
    if old is not None and old.keys is not None:
        key, given = expander.text(node.children[0].named_children[1]), node.child_by_field_name("value")
        entry = expander.text(given) if given is not None else ()
        before = dict(zip(old.keys, old.words or (), strict=True)).get(plain(key), ())
        whole = (*before, *entry) if any(child.type == "+=" for child in node.children) else entry
        known_key = bool(key) and HOLE not in plain(key)
        bracketed = (script.made(node, f"[{plain(key)}]="), *(whole or (script.made(node, ""),)))
        state.set(name, _with_entries(old, [bracketed]) if known_key else LOST)
        return
    words = state.elements(name)
    value = node.child_by_field_name("value")
    text = (expander.text(value) if value is not None else ()) or (script.made(node, ""),)
    adds = any(child.type == "+=" for child in node.children)
    is_array = value is not None and value.type == "array"
    if words is None or state.shell or not index.isdigit() or int(index) > len(words) or is_array:
        state.lose([name])
        return
    place = int(index)
    if adds and place < len(words):
        text = (*words[place], *text)
    changed = (*words[:place], text, *words[place + 1 :])
    state.set(name, Variable(changed, array=True, exported=state.exports(name)))


def declare(expander: Expander, node: Node) -> None:
    """Follow `export`, `declare`, `local`, `typeset`, `readonly`."""
    script, state = expander.script, expander.state
    word = script.source(node.children[0])
    flags = "".join(script.source(child)[1:] for child in node.named_children if script.source(child).startswith("-"))
    exports = word == "export" or "x" in flags
    taken_back = word == "export" and "n" in flags
    is_local = word in ("local", "declare", "typeset") and "g" not in flags
    for child in node.named_children:
        target = child.children[0] if child.type == "variable_assignment" else child
        name = script.source(target)
        named = child.type in ("variable_assignment", "variable_name") and name.isidentifier()
        if is_local and named and state.hidden is not None:
            # A variable that is local to a function begins without a value.
            state.hidden.setdefault(name, state.variables.get(name))
        if "n" in flags and word != "export" and child.type == "variable_assignment" and named:
            _alias(expander, name, child)
        elif child.type == "variable_assignment":
            local = is_local and state.hidden is not None
            if "A" in flags:
                state.set(name, Variable((), array=True, exported=exports, keys=()))
            assign(expander, child, exported=exports and not taken_back, local=local and "A" not in flags)
            if {*"lui"} & {*flags} and word != "export":
                _converted(expander, name, flags)
        elif exports and "f" in flags:
            state.shared |= {name}
        elif child.type == "variable_name":
            if (old := state.variables.get(name)) is not None and (exports or taken_back):
                state.variables[name] = replace(old, exported=exports and not taken_back)
            elif "A" in flags:
                state.set(name, Variable((), array=True, keys=()))
            elif word in ("local", "declare") and not exports:
                state.set(name, Variable(((script.made(child, ""),),)))
        elif child.type in ("expansion", "simple_expansion", "concatenation", "string", "command_substitution"):
            _declare_words(expander, child, exports=exports)


def _converted(expander: Expander, name: str, flags: str) -> None:
    """Follow `declare -l`, `-u` and `-i`: what is written is changed."""
    state, variable = expander.state, expander.state.variables.get(name)
    text = None if variable is None or variable.array else variable.text
    if variable is None or text is None or HOLE in plain(text):
        return
    said = plain(text).lower() if "l" in flags else plain(text).upper()
    if "i" in flags:
        number, _ = expander.number(plain(text) or "0")
        said = str(number)
        if number is None:
            state.lose([name])
            return
    state.set(name, replace(variable, words=(placed(said, [text], lambda part: replace(text[0], text=part)),)))


def _alias(expander: Expander, name: str, node: Node) -> None:
    """Follow `local -n NAME=OTHER`: what is written to the one is written to the other."""
    state, value = expander.state, node.child_by_field_name("value")
    other = plain(expander.text(value)) if value is not None else ""
    if not other.isidentifier() or other == name:
        state.lose([name])
        return
    old = state.variables.get(other)
    state.variables.pop(name, None)
    if old is not None:
        state.variables[name] = old
    state.aliases = {**state.aliases, name: other}


def _declare_words(expander: Expander, node: Node, *, exports: bool) -> None:
    """Follow `export "$NAME=$VALUE"`."""
    script, state = expander.script, expander.state
    for text in expander.words([node]):
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
    # (The grammar takes `NAME[1]` without quotes for two words.)
    for word in script.source(node).split()[1:]:
        name = word.strip("'\"")
        element, old = re.fullmatch(r"(\w+)\[(\d+)\]", name), state.variables.get(name.partition("[")[0])
        if element and old is not None and old.words is not None:
            # The other elements keep their places.
            keys = old.keys or tuple(map(str, range(len(old.words))))
            left = [each for each in zip(keys, old.words, strict=True) if each[0] != element[2]]
            words, keys = tuple(word for _, word in left), tuple(key for key, _ in left)
            is_dense = old.keys is None and keys == tuple(map(str, range(len(keys))))
            state.set(element[1], replace(old, words=words, keys=None if is_dense else keys))
        elif name.isidentifier():
            state.set(name, Variable(None, unset=True, written=script.made(node, "")))
            state.functions.pop(name, None)
        elif not name.startswith("-"):
            state.lose([name.partition("[")[0]] if "[" in name and "$" not in name else list(state.variables))
