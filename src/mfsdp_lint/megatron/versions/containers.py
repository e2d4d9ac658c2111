"""Versions in each NeMo Framework container.

Sources, both in Megatron-Bridge's repository at 067f987: `docs/versions1.json` pairs every release with its container,
`docs/releases/software-versions.md` lists the components of the first container of every line. A container in neither
(a release candidate, a build for one model) is not here. 25.07 is older than both: it is NeMo 2.4.0 (NeMo's
CHANGELOG.md:303 at 8cfedd72), which pins Megatron-LM 03f7793, two commits past core_v0.13.0rc0
(requirements/manifest.json:14 at v2.4.0).
"""

from __future__ import annotations

from mfsdp_lint.core.records import dataclass


@dataclass(frozen=True, slots=True)
class Container:
    """The versions in `nvcr.io/nvidia/nemo:TAG`; None where the sources do not tell."""

    tag: str
    bridge: str | None
    core: str | None = None
    te: str | None = None
    torch: str | None = None


CONTAINERS = (
    Container("25.07", None, "0.13.0"),
    Container("25.09", None, "0.14.0", "2.7.0", "2.8.0a0"),  # with megatron-bridge 0.1.0rc3
    Container("25.11", "0.2.0", None, "2.9", "2.9.0a0"),
    Container("26.02", "0.3.0", "0.16.0", "2.12", "2.10.0a0"),
    Container("26.02.01", "0.3.1"),
    Container("26.04", "0.4.0", "0.17.0", "2.14", "2.11.0a0"),
    Container("26.04.01", "0.4.2"),
    Container("26.06", "0.5.0", "0.18.0", "2.16", "2.12.0a0"),
    Container("26.06.01", "0.5.1"),
    Container("26.08", "0.6.0"),
)
"""Oldest first. The core of 25.11 is left out: its page says `dev:0.15.0`, which no package_info.py says."""

TORCH_IN_NGC = {"25.06": "2.8.0a0", "26.02": "2.11.0a0", "26.04": "2.12.0a0"}
"""PyTorch in `nvcr.io/nvidia/pytorch:TAG-py3`, as far as the same page says on which of them a container was built.
(It says 25.06 of the containers 25.11 and 26.02 as well, whose PyTorch is another: only the first counts.)"""
