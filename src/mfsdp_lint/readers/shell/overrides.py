"""A launch of a program that takes overrides of a Megatron-Bridge recipe: `train.py ++ddp.use_megatron_fsdp=true`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mfsdp_lint.core.recipe import NamedWrite, Origin, Setting
from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known, Value
from mfsdp_lint.inputs.sources import Unreadable
from mfsdp_lint.megatron.vocabulary import SECTIONS, table
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.named import is_misspelt, of_bridge
from mfsdp_lint.readers.shell.pieces import Text, around, known, obstacle_in, option, plain
from mfsdp_lint.readers.shell.starting import behind
from mfsdp_lint.readers.yaml.document import read_value

_OVERRIDE = re.compile(r"(?:\+\+|\+)?(?P<path>[A-Za-z_]\w*(?:\.\w+)+)=")

_TAKEN_AWAY = re.compile(r"~(?P<path>[A-Za-z_]\w*(?:\.\w+)*)(?:=.*)?", re.DOTALL)
"""What is taken away is not written into the configuration, so that the recipe's own value stays
(process_config_with_overrides, megatron/bridge/training/utils/omegaconf_utils.py:151 in 0.3.1)."""


def is_one(arguments: Sequence[Text]) -> bool:
    """Tell whether a program is given overrides of a recipe. Other programs have a section `model` or `optimizer` as
    well.
    """
    known = table()
    return any(known.entry(path) is not None or is_misspelt(path) for path, _, _ in _given(arguments))


def named(arguments: Sequence[Text]) -> tuple[NamedWrite, ...]:
    """Return the overrides as writes by name: one without a plus is refused where the recipe does not have the
    setting.
    """
    given = ((path, text) for path, text, _ in _given(arguments))
    return of_bridge(
        NamedWrite(path, Origin(around(text), "assigned"), not plain(text).startswith("+")) for path, text in given
    )


def settings_of(arguments: Sequence[Text]) -> dict[str, Setting]:
    """Return the settings that the overrides write; of two for one setting the later one counts."""
    found: dict[str, Setting] = {}
    for order, (path, text, value) in enumerate(_given(arguments), 1):
        if not value:
            found = {each: found[each] for each in found if not f"{each}.".startswith(f"{path}.")}
            continue
        here = value_of(value)
        earlier = found.pop(path, None)
        origin = Origin(
            around(text),
            "assigned",
            around(value),
            order=order,
            earlier=earlier.origin if earlier else None,
            value=here,
            option=option(value),
            obstacle=obstacle_in(value),
        )
        section = path.rpartition(".")[0]
        # What is set in a section says that there is one.
        found.setdefault(section, Setting(section, NOT_NONE))
        found[path] = Setting(path, here, origin)
    return found


def value_of(text: Text) -> Value:
    """Read the value of an override as in a file of overrides."""
    said = known(text)
    if said is None:
        return NOT_NONE if plain(text).strip(HOLE) else UNKNOWN
    if not said.strip():
        return Known("")
    try:
        return read_value("", said.strip())
    except Unreadable:
        return UNKNOWN


def _given(arguments: Sequence[Text]) -> Iterator[tuple[str, Text, Text]]:
    """Yield the path, the word and the value of each override; the value is empty where the setting is deleted."""
    for text in arguments:
        taken = _TAKEN_AWAY.fullmatch(plain(text))
        found = taken or _OVERRIDE.match(plain(text))
        if found and found["path"].partition(".")[0] in SECTIONS:
            yield found["path"], text, () if taken else behind(text, found.end())
