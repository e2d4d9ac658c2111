"""A launch of Megatron-LM: the flags behind its program, and the defaults of those that are left out.

Arguments that a script hands to a program → the words that its parser sees.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from mfsdp_lint.core.recipe import Origin, Setting, Span
from mfsdp_lint.core.values import NOT_NONE, Known
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.megatron.vocabulary.entry import Versions
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.megatron_lm_flags import Word, default_settings, settings_from_flags
from mfsdp_lint.readers.shell.pieces import Text, around, known, obstacle_in, option, plain
from mfsdp_lint.readers.shell.starting import behind

_WITH_VALUE = re.compile(rf"(--?[A-Za-z_][^\s={HOLE}]*)=")


def flag_words(texts: Sequence[Text], versions: Versions) -> Iterator[Word]:
    """Yield the words of a command line.

    A word of which nothing is known is the value of a flag that requires one. Anywhere else it may be any flags,
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
            yield Word(NOT_NONE, around(behind(text, start)), obstacle=obstacle_in(text))
        elif whole.strip(HOLE) or not any(piece.splits for piece in text) or waits:
            yield Word(NOT_NONE, around(text), elsewhere=not _follows(before, text), obstacle=obstacle_in(text))
        elif not all(piece.option for piece in text):
            yield Word(NOT_NONE, around(text), may_be_flags=True)
        waits = False


_BETWEEN = re.compile(r"(?:[\s\"']|\\\n)*")


def _follows(before: Text, text: Text) -> bool:
    """Tell whether a word is written right behind another one; else it is from a variable."""
    if not before:
        return False
    first, last = text[0], before[-1]
    if first.path != last.path or first.start < last.end:
        return False
    return bool(_BETWEEN.fullmatch(first.lines.text, last.end, first.start))


_CONFIGURED_ELSEWHERE = "--yaml-cfg"
"""With it the other flags are not looked at (load_yaml of megatron/training/yaml_arguments.py)."""


def is_one(arguments: Sequence[Text]) -> bool:
    """Tell whether a program is given flags that only Megatron-LM has: how the work is split, and what wraps the
    model.
    """
    names = {plain(text).partition("=")[0] for text in arguments}
    return _CONFIGURED_ELSEWHERE not in names and any(map(_tells, names))


@cache
def _tells(name: str) -> bool:
    known = table()
    versions = known.flag_versions(name) if name.startswith("--") else ()
    flag = known.flag(name, versions[-1]) if versions else None
    paths = [entry.path for entry in known.by_attribute(flag.dest)] if flag else []
    return any(path.startswith("ddp.") or path.endswith("_parallel_size") for path in paths)


def settings_of(arguments: Sequence[Text], place: Span, versions: Versions) -> dict[str, Setting]:
    """Return the settings of the flags, and the defaults of the flags left out where no unknown flags can follow."""
    given = settings_from_flags(flag_words(arguments, versions), versions)
    if given.open:
        return dict(given.settings)
    return {each.path: each for each in default_settings(versions, Origin(place, "default"))} | dict(given.settings)
