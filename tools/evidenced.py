"""The versions that rules carry evidence for, which is where they are tested."""

from __future__ import annotations

from mfsdp_lint.core.front_ends import MEGATRON_LM
from mfsdp_lint.megatron.conditions import Site
from mfsdp_lint.megatron.versions import HEAD, Target, numbers
from mfsdp_lint.megatron.versions.releases import CORE_RELEASES, RELEASES

BRIDGE = tuple(dict.fromkeys(release.data for release in RELEASES))
"""The releases of Megatron-Bridge with data of their own: one of every line, and the development branch."""

CORE = (*{numbers(each.core)[:2]: each.core for each in CORE_RELEASES[:-1]}.values(), HEAD)
"""The newest release of every line of Megatron-LM, and the development branch."""


def sites() -> dict[str, Site]:
    """Return every evidenced site, by the name that `evidence` of a rule file gives it."""
    return {version: bridge_site(version) for version in BRIDGE} | {
        f"core {version}": core_site(version) for version in CORE
    }


def bridge_site(version: str) -> Site:
    """Return the site of a release of Megatron-Bridge with the core that it pins."""
    core = next(release.core for release in RELEASES if release.bridge == version)
    return Site(Target(version, core, "evidenced", assumed=False))


def core_site(version: str) -> Site:
    """Return the site of Megatron-LM's command line; its Megatron-Bridge release makes no difference there."""
    newest = RELEASES[-1]
    core = newest.core if version == newest.bridge else version
    return Site(Target(newest.bridge, core, "evidenced", assumed=False), MEGATRON_LM)
