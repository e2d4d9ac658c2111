"""Runs of NeMo 2, which the evaluator finds in Python: their settings, as the profile of NeMo says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from mfsdp_lint.core.front_ends import FrontEnd
from mfsdp_lint.core.recipe import Setting
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.megatron.front_ends import Pinned, profiles
from mfsdp_lint.megatron.vocabulary.entry import Versions
from mfsdp_lint.readers.profiled import settings_at
from mfsdp_lint.readers.trees import Section


@dataclass(frozen=True, slots=True)
class Nemo:
    """A reader of NeMo's runs: the front-end, and the settings of a tree with NeMo's names."""

    front_end: FrontEnd
    settings: Callable[[Section], Mapping[str, Setting]]


@lru_cache(8)
def nemo(versions: Versions) -> Nemo:
    """Return NeMo's reader for the versions that are judged against."""
    profile = next(each for each in profiles() if each.front_end.name == "nemo")
    (place,) = profile.places
    pinned = Pinned.of(profile.front_end, versions)
    return Nemo(profile.front_end, lambda whole: settings_at(profile, place, whole, pinned))
