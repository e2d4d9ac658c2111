"""Settings that turn Megatron-FSDP on, and the settings that only it reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import Plain, describe
from mfsdp_lint.fixes.enabling import EnableOptions, guide
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.megatron.vocabulary.tables import SettingEntry
from tools.evidenced import BRIDGE, bridge_site
from tools.skill.pitfalls import NEWEST

SUBJECT = "Megatron-FSDP"


def to_write() -> Mapping[str, Plain]:
    """Return the settings that the guides write for every recipe. Raises ValueError if releases differ."""
    nothing = Variant(WrittenSettings())
    by_version = {version: guide().settings(nothing, bridge_site(version), EnableOptions()) for version in BRIDGE}
    if any(settings != by_version[NEWEST] for settings in by_version.values()):
        raise ValueError("the guides differ by release: the skill has to tell them apart")
    return by_version[NEWEST]


def own_settings() -> Iterator[tuple[SettingEntry, str]]:
    """Yield the settings whose meaning mentions Megatron-FSDP, with their default in the newest release, in words."""
    target = bridge_site(NEWEST).target
    for entry in table().entries.values():
        default = table().default(entry.path, target)
        if SUBJECT in entry.meaning and default is not None:
            yield entry, describe(default)
