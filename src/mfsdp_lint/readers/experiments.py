"""Experiments: configurations of a framework that use FSDP or Megatron, which scripts hand to its programs."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.inputs.projects import above
from mfsdp_lint.inputs.sources import Sources

_NAMED = lazy_pattern(r"(?<![\w./-])(?:\$\{?\w+\}?/)?(?P<path>[\w./-]{0,500}\w\.ya?ml)\b")
_SHARDS = lazy_pattern(r"fsdp\w*\s*:\s*true\b|:[ \t]*[\"']?m(?:egatron[_-])?fsdp\b|\bmegatron_cfg\s*:", re.IGNORECASE)
"""The switches of most frameworks, Automodel's strategy, and the section of NeMo-RL's that configures Megatron."""


def experiments_in(path: str, text: str, sources: Sources) -> Iterator[tuple[str, str]]:
    """Yield the experiments that the text of a script names, as it names them, each with its place in the tree."""
    for named in dict.fromkeys(found["path"] for found in _NAMED.finditer(text)):
        places = (posixpath.normpath(posixpath.join(folder, named.lstrip("/"))) for folder in above(path))
        place = next((each for each in places if sources.exists(each)), None)
        if place is not None and _is_experiment(sources.text_or_none(place) or ""):
            yield named, place


def _is_experiment(text: str) -> bool:
    if not _SHARDS.search(text):
        return False
    from mfsdp_lint.megatron.front_ends import profiles

    return any(profile.mention.search(text) for profile in profiles())
