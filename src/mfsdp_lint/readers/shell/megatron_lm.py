"""A launch of Megatron-LM: the flags behind its program, and the defaults of those that are left out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from mfsdp_lint.core.recipe import Origin, Setting, Span
from mfsdp_lint.readers.megatron_lm_flags import default_settings, settings_from_flags
from mfsdp_lint.readers.shell.pieces import Text, plain
from mfsdp_lint.readers.shell.words import flag_words
from mfsdp_lint.vocabulary import table
from mfsdp_lint.vocabulary.entry import Versions

_CONFIGURED_ELSEWHERE = "--yaml-cfg"
"""With it the other flags are not looked at (load_yaml of megatron/training/yaml_arguments.py)."""


def is_one(arguments: Sequence[Text]) -> bool:
    """Whether a program is given flags that only Megatron-LM has: how the work is split, and what wraps the model."""
    names = {plain(text).partition("=")[0] for text in arguments}
    return not names.isdisjoint(_telling()) and _CONFIGURED_ELSEWHERE not in names


@cache
def _telling() -> frozenset[str]:
    known = table()
    found = set()
    for name in known.every_flag:
        flags = [known.flag(name, version) for version in known.flag_versions(name)]
        paths = [entry.path for flag in flags if flag for entry in known.by_attribute(flag.dest)]
        if any(path.startswith("ddp.") or path.endswith("_parallel_size") for path in paths):
            found.add(name)
    return frozenset(found)


def settings_of(arguments: Sequence[Text], place: Span, versions: Versions) -> dict[str, Setting]:
    """The settings of the flags, and of those that are left out where there can be no others."""
    given = settings_from_flags(flag_words(arguments, versions), versions)
    if given.open:
        return dict(given.settings)
    return {each.path: each for each in default_settings(versions, Origin(place, "default"))} | dict(given.settings)
