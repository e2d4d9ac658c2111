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
    return _CONFIGURED_ELSEWHERE not in names and any(map(_tells, names))


@cache
def _tells(name: str) -> bool:
    known = table()
    versions = known.flag_versions(name) if name.startswith("--") else ()
    flag = known.flag(name, versions[-1]) if versions else None
    paths = [entry.path for entry in known.by_attribute(flag.dest)] if flag else []
    return any(path.startswith("ddp.") or path.endswith("_parallel_size") for path in paths)


def settings_of(arguments: Sequence[Text], place: Span, versions: Versions) -> dict[str, Setting]:
    """The settings of the flags, and of those that are left out where there can be no others."""
    given = settings_from_flags(flag_words(arguments, versions), versions)
    if given.open:
        return dict(given.settings)
    return {each.path: each for each in default_settings(versions, Origin(place, "default"))} | dict(given.settings)
