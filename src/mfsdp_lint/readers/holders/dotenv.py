"""`.env` files: variables, a line each. Nothing in one is a launch: they are read for whoever names them."""

from __future__ import annotations

import re

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.readers.holders.parts import variable
from mfsdp_lint.readers.shell.pieces import Piece
from mfsdp_lint.readers.shell.state import Variable

_LINE = re.compile(
    r"""^[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_]\w*)[ \t]*=[ \t]*
    (?:"(?P<double>[^"\n]*)"|'(?P<single>[^'\n]*)'|(?P<bare>[^\n\#"']*?))
    [ \t]*(?:\#[^\n]*)?\r?$""",
    re.MULTILINE | re.VERBOSE,
)


def variables(path: str, text: str) -> dict[str, Variable]:
    """Return the variables that a file sets. A line that is not understood sets no known variable."""
    lines = Lines(text)
    found: dict[str, Variable] = {}
    for each in _LINE.finditer(text):
        kind = next(name for name in ("double", "single", "bare") if each[name] is not None)
        found[each["name"]] = variable((Piece(each[kind], path, lines, each.start(kind), each.end(kind)),))
    return found
