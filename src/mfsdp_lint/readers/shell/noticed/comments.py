"""Options that look as if they were given, and are in a comment; and comments that are given."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from mfsdp_lint.core.recipe import Notice
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.readers.shell.pieces import Text, around, known
from mfsdp_lint.readers.shell.script import Script

_FLAG = re.compile(r"#.*?(--[a-z][\w-]+)")


def commented_elements(script: Script) -> Iterator[Notice]:
    """Yield flags in a comment behind elements of an array, on their line: at a glance such a flag is an element."""
    for array in script.nodes():
        for before, node in pairwise(array.named_children if array.type == "array" else ()):
            found = _FLAG.match(script.source(node)) if node.type == "comment" else None
            if found and before.end_point.row == node.start_point.row and table().flag_versions(found[1]):
                yield Notice("commented-element", script.span(node), {"flag": found[1]})


def within_quotes(arguments: Sequence[Text]) -> Iterator[Notice]:
    """Find `#` in a text that becomes options: the program gets it, and the words behind it."""
    for word in arguments:
        if (known(word) or "").startswith("#") and any(piece.splits for piece in word):
            yield Notice("comment-within-quotes", around(word), {"word": known(word)})
            return
