"""A launch of a framework by a command of its own (`megatron sft --use_megatron_fsdp true`).

Its options are the keys of its configuration, with `-` or `_`, each with the words behind it up to the next one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from mfsdp_lint.core.recipe import Origin, Setting, Span
from mfsdp_lint.core.values import UNKNOWN, Known, Value
from mfsdp_lint.megatron.front_ends import Pinned, Profile, profiles
from mfsdp_lint.megatron.vocabulary.entry import Versions
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.profiled import settings_at
from mfsdp_lint.readers.shell.overrides import value_of
from mfsdp_lint.readers.shell.pieces import Text, around, option, plain
from mfsdp_lint.readers.shell.starting import behind
from mfsdp_lint.readers.trees import Leaf, Section

_OPTION = re.compile(rf"--(?P<name>[A-Za-z][^\s={HOLE}]*)(?P<equals>=)?", re.DOTALL)
_FILE = re.compile(r".*\.(?:ya?ml|json)", re.DOTALL)


def profile_of(command: str) -> Profile | None:
    """Return the profile of the framework that a command belongs to, None if it belongs to none."""
    return next((each for each in profiles() if command in each.commands), None)


def settings_of(profile: Profile, arguments: Sequence[Text], place: Span, versions: Versions) -> Mapping[str, Setting]:
    """Return the settings of a launch of a framework. The content of a file that is named in place of options is not
    known.
    """
    options: dict[str, tuple[Text, list[Text]]] = {}
    is_open = False
    for word in arguments:
        named = _OPTION.match(plain(word))
        if named:
            name = named["name"].replace("-", "_")
            options.pop(name, None)  # of two the last counts
            options[name] = (word, [behind(word, named.end())] if named["equals"] else [])
        elif not plain(word).strip(HOLE) and any(piece.splits and not piece.option for piece in word):
            is_open = True  # it may be any options
        elif options:
            options[next(reversed(options))][1].append(word)
        else:
            is_open = is_open or bool(_FILE.fullmatch(plain(word)))
    entries = {name: _leaf(word, values) for name, (word, values) in options.items()}
    section = Section(entries, Origin(place, "assigned"), open=is_open)
    within = Pinned.of(profile.front_end, versions)
    found: dict[str, Setting] = {}
    for each in profile.places:
        found |= settings_at(profile, each, section, within) if not each.at else {}
    return found


def _leaf(word: Text, values: Sequence[Text]) -> Leaf:
    """Make the leaf of an option; alone it is a switch that is turned on."""
    value: Value = Known(True)
    if len(values) == 1:
        value = value_of(values[0])
    elif values:
        value = UNKNOWN
    focus = around(values[0]) if values else None
    span = around((*word, *values[-1])) if values and values[-1][-1].path == word[0].path else around(word)
    return Leaf(value, Origin(span, "assigned", focus, value=value, option=option(values[0]) if values else ""))
