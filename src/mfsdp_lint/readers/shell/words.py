"""What a script hands to a program → the words that its parser sees."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mfsdp_lint.core.values import NOT_NONE, Known
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.megatron_lm_flags import Word
from mfsdp_lint.readers.shell.pieces import Text, around, known, option, plain
from mfsdp_lint.readers.shell.starting import behind
from mfsdp_lint.vocabulary import table
from mfsdp_lint.vocabulary.entry import Versions

_WITH_VALUE = re.compile(rf"(--?[A-Za-z_][^\s={HOLE}]*)=")


def flag_words(texts: Sequence[Text], versions: Versions) -> Iterator[Word]:
    """The words of a command line.

    A word of which nothing is known is the value of a flag that has to have one. Anywhere else it may be any flags,
    unless it is a variable that nobody has set, which is nothing.
    """
    waits = False
    before: Text = ()
    for text in texts:
        said = known(text)
        whole = plain(text)
        if said is not None:
            flag = table().flag(said, versions.core)
            waits = flag is not None and not flag.is_switch and flag.nargs is None
            yield Word(Known(said), around(text), option=option(text), elsewhere=not _follows(before, text))
            before = text
            continue
        given = _WITH_VALUE.match(whole)
        if given:
            start = len(given[0])
            yield Word(Known(given[1]), around(text))
            yield Word(NOT_NONE, around(behind(text, start)))
        elif whole.strip(HOLE) or not any(piece.splits for piece in text) or waits:
            yield Word(NOT_NONE, around(text), elsewhere=not _follows(before, text))
        elif not all(piece.option for piece in text):
            yield Word(NOT_NONE, around(text), may_be_flags=True)
        waits = False


_BETWEEN = re.compile(r"(?:[\s\"']|\\\n)*")


def _follows(before: Text, text: Text) -> bool:
    """Whether a word is written right behind another one; else it comes from a variable."""
    if not before:
        return False
    first, last = text[0], before[-1]
    if first.path != last.path or first.start < last.end:
        return False
    return bool(_BETWEEN.fullmatch(first.lines.text, last.end, first.start))
