"""A setting and its value → the words that say so on a command line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mfsdp_lint.core.values import Known, Plain
from mfsdp_lint.vocabulary import table
from mfsdp_lint.vocabulary.flags import Flag
from mfsdp_lint.vocabulary.tables import opposite

_BARE = re.compile(r"[\w@%+=:,./-]+")
"""What a shell takes as it stands."""


def bare(value: Plain) -> str | None:
    """A value as a word of a script; None where it would have to be quoted, or is none."""
    if value is None or isinstance(value, (list, dict)):
        return None
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if _BARE.fullmatch(text) else None


def flags_for(path: str, value: Plain) -> Iterator[str]:
    """Flags of Megatron-LM that give a setting a value, those of the newest versions first.

    Which of them the version at hand has the proof tells.
    """
    entry = table().entries.get(path)
    told: set[str] = set()
    for core in reversed(table().core_versions):
        for flag in table().setting_flags(entry, core) if entry else ():
            for text in _said(flag, opposite(Known(value)) if entry and entry.inverted else Known(value)):
                if text not in told:
                    told.add(text)
                    yield text


def _said(flag: Flag, value: object) -> Iterator[str]:
    if flag.is_switch:
        if flag.read() == value:
            yield flag.names[0]
        return
    word = bare(value.value) if isinstance(value, Known) else None
    if word is not None and flag.read([word]) == value:
        yield f"{flag.names[0]} {word}"
