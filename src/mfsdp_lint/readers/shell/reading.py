"""`read NAME … <<< TEXT`: the words of a text that is known become variables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from mfsdp_lint.readers.shell.expand import Expander
from mfsdp_lint.readers.shell.pieces import Text, known
from mfsdp_lint.readers.shell.script import Script
from mfsdp_lint.readers.shell.state import State, Variable

_BLANKS = " \t\n"


def read_words(expander: Expander, script: Script, node: Node, words: Sequence[Text], state: State) -> bool:
    """What `read` does, True where that is known; then the variables are set."""
    given = next((child for child in node.children if child.type == "herestring_redirect"), None)
    line = None if given is None else known(expander.text(script, given.named_children[-1], state))
    separators = state.variables.get("IFS")
    parts_at = _BLANKS if separators is None else known(separators.text or ()) if separators.text else None
    options = [known(word) or "?" for word in words[1:] if (known(word) or "?").startswith(("-", "?"))]
    names = [known(word) or "" for word in words[1:] if not (known(word) or "-").startswith("-")]
    into_array = any("a" in each for each in options)
    if line is None or parts_at is None or "\\" in line or not set("".join(options)) <= set("-ra"):
        return False
    if not names or not all(name.isidentifier() for name in names) or (into_array and len(names) > 1):
        return False
    texts = list(_split(line.partition("\n")[0], parts_at, 0 if into_array else len(names)))
    made: list[Text] = [(script.made(node, text),) for text in texts]
    for number, name in enumerate(names):
        old = state.variables.get(name)
        exported = False if old is None or old.unset else old.exported
        value = tuple(made) if into_array else (made[number] if number < len(made) else (script.made(node, ""),),)
        state.set(name, Variable(value, array=into_array, exported=exported))
    return True


def _split(line: str, separators: str, most: int) -> Iterator[str]:
    """The words of a line, at most so many (0: any number), of which the last has the rest."""
    if not separators.strip(_BLANKS):
        yield from line.split(None, most - 1 if most else -1)
        return
    mark = separators.strip(_BLANKS)
    if len(mark) > 1:
        line = "".join(mark[0] if each in mark else each for each in line)
    parts = line.split(mark[0], most - 1 if most else -1)
    yield from parts[:-1] if not most and parts and not parts[-1] else parts
