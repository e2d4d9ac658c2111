"""`[ … ]`, `[[ … ]]`, `(( … ))`: true, false, or not known; and what a side that is taken says of the variables."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from tree_sitter import Node

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.readers.shell.expand import Expander
from mfsdp_lint.readers.shell.pieces import Text, known, option
from mfsdp_lint.readers.shell.script import Script
from mfsdp_lint.readers.shell.state import State


@dataclass(frozen=True, slots=True)
class Truth:
    """Result of a condition: None where it is not known.

    `option` is the variable of the environment that decides it by its default. `means` is the fact that holds if it is
    true: the value of a variable.
    """

    holds: bool | None
    option: str = ""
    means: tuple[str, Text] | None = None


NOT_KNOWN = Truth(None)

_NUMBERS = {
    "-eq": lambda a, b: a == b,
    "-ne": lambda a, b: a != b,
    "-lt": lambda a, b: a < b,
    "-le": lambda a, b: a <= b,
    "-gt": lambda a, b: a > b,
    "-ge": lambda a, b: a >= b,
}
_DEEPEST = 40


def truth(expander: Expander, script: Script, node: Node, state: State, depth: int = 0) -> Truth:
    """Evaluate the inside of a test."""
    if depth > _DEEPEST:
        return NOT_KNOWN
    match node.type:
        case "test_command" | "parenthesized_expression":
            inner = [child for child in node.named_children if child.type != "comment"]
            if script.source(node).startswith("(("):
                return _arithmetic(expander, script.source(node)[2:-2], state)
            return truth(expander, script, inner[0], state, depth + 1) if len(inner) == 1 else NOT_KNOWN
        case "compound_statement":
            return _arithmetic(expander, script.source(node)[2:-2], state)
        case "unary_expression":
            return _unary(expander, script, node, state, depth)
        case "binary_expression":
            return _binary(expander, script, node, state, depth)
        case "string" | "raw_string" | "word" | "simple_expansion" | "expansion" | "concatenation" | "number":
            return _is_text(expander.text(script, node, state))
        case _:
            return NOT_KNOWN


def truth_of_words(words: list[Text]) -> Truth:
    """Evaluate the words of `test`, which are expanded before it sees them."""
    texts = [known(word) for word in words]
    if len(words) == 2 and texts[0] in ("-n", "-z"):
        found = _is_text(words[1])
        return found if texts[0] == "-n" else _not(found)
    if len(words) == 3 and texts[1] in ("=", "==", "!="):
        found = _equal(words[0], words[2], pattern=False)
        return _not(found) if texts[1] == "!=" else found
    return NOT_KNOWN


def _arithmetic(expander: Expander, source: str, state: State) -> Truth:
    number, said = expander.number(source, state)
    return NOT_KNOWN if number is None else Truth(number != 0, said)


def _is_text(text: Text) -> Truth:
    found = known(text)
    if found is None:
        # Something around a hole is something, whatever the hole is.
        return Truth(True) if any(piece.text.strip("\uf8ff") for piece in text) else NOT_KNOWN
    return Truth(bool(found), option(text))


def _not(found: Truth) -> Truth:
    return Truth(None if found.holds is None else not found.holds, found.option)


def _unary(expander: Expander, script: Script, node: Node, state: State, depth: int) -> Truth:
    operator = script.source(node.children[0])
    operand = node.children[-1]
    if operator == "!":
        return _not(truth(expander, script, operand, state, depth + 1))
    if operator in ("-n", "-z"):
        found = _is_text(expander.text(script, operand, state))
        return found if operator == "-n" else _not(found)
    if operator == "-v":
        variable = state.variables.get(script.source(operand))
        return NOT_KNOWN if variable is None or variable.words is None else Truth(not variable.unset)
    return NOT_KNOWN


def _binary(expander: Expander, script: Script, node: Node, state: State, depth: int) -> Truth:
    left, right = node.children[0], node.children[-1]
    operator = script.source(node.children[1])
    if operator in ("&&", "-a", "||", "-o"):
        first, second = (truth(expander, script, each, state, depth + 1) for each in (left, right))
        return _both(first, second) if operator in ("&&", "-a") else _not(_both(_not(first), _not(second)))
    if operator in _NUMBERS:
        return _numbers(operator, expander.text(script, left, state), expander.text(script, right, state))
    if operator in ("=", "==", "!="):
        pattern = node.parent is not None and script.source(node.parent).startswith("[[")
        found = _equal(expander.text(script, left, state), expander.text(script, right, state), pattern=pattern)
        if operator == "!=":
            return _not(found)
        name = re.fullmatch(r'"?\$\{?(\w+)\}?"?', script.source(left))
        meant = expander.text(script, right, state)
        if name and (said := known(meant)) is not None and not re.search(r"[*?\[]", said):
            return Truth(found.holds, found.option, means=(name[1], meant))
        return found
    return NOT_KNOWN


def _both(first: Truth, second: Truth) -> Truth:
    said = first.option or second.option
    if first.holds is False:
        return Truth(False, first.option)
    if second.holds is False:
        return Truth(False, second.option)
    return Truth(True, said) if first.holds and second.holds else Truth(None, means=first.means or second.means)


def _numbers(operator: str, left: Text, right: Text) -> Truth:
    texts = [known(left), known(right)]
    if any(text is None or not re.fullmatch(r"\s*-?\d{1,18}\s*", text) for text in texts):
        return NOT_KNOWN
    first, second = (int(text) for text in texts if text is not None)
    return Truth(_NUMBERS[operator](first, second), option(left) or option(right))


def _equal(left: Text, right: Text, *, pattern: bool) -> Truth:
    first, second = known(left), known(right)
    if first is None or second is None:
        return NOT_KNOWN
    said = option(left) or option(right)
    return Truth(fnmatchcase(first, second) if pattern else first == second, said)
