"""The versions a run is judged against."""

from __future__ import annotations

from dataclasses import dataclass

from mfsdp_lint.upstream.versions import HEAD, VersionError, numbers


@dataclass(frozen=True, slots=True)
class Release:
    """A Megatron-Bridge release and the Megatron-LM commit that its `3rdparty/Megatron-LM` submodule pins."""

    bridge: str
    core: str
    core_commit: str


RELEASES = (
    Release("0.2.0", "0.16.0rc0", "0d8e0714cd29c01e164fe6de9f532182bdffa942"),
    Release("0.2.1", "0.16.0rc0", "0d8e0714cd29c01e164fe6de9f532182bdffa942"),
    Release("0.2.2", "0.16.0rc0", "cba6b0ed0f1ee2694ae9f7059f6d4b8a7cc995fb"),
    Release("0.3.0", "0.16.0", "b0cc2706ddc60d2aefd5fff346445b5c013036a8"),
    Release("0.3.1", "0.16.1", "55ac7082517c3878ae653c07c09c534b8aed49f6"),
    Release("0.4.0", "0.17.0rc0", "d7288711ba278d160d2a5a22c099915c9fe1395c"),
    Release("0.4.1", "0.17.0rc0", "d7288711ba278d160d2a5a22c099915c9fe1395c"),
    Release("0.4.2", "0.17.1", "2edffadb528ea07e261b0c02cdc42a7bb9c3197a"),
    Release("0.5.0", "0.18.0", "d0b3b775498a8ae6870075f1a5fc32bc260aa1b3"),
    Release("0.5.1", "0.18.2", "458c8d0ecafdf6d9e36771600d62ade27f2a67b7"),
    Release("0.6.0", "0.19.0", "cd4afffa648426a959dc7cb1e24b5ce7d0c3ff54"),
    Release(HEAD, "0.20.0.dev", "2a75ac12c54ba6a42b34024756820bf819a2e25f"),
)
"""Oldest first. `core` is what `megatron/core/package_info.py` says at that commit; `head` is Bridge at 067f987."""

HEAD_LINE = (0, 7)
"""What the development branch calls itself (0.7.0.dev)."""


@dataclass(frozen=True, slots=True)
class Target:
    """The versions judged against, and why these.

    `assumed` is true when nobody said so and nothing in the project gave it away.
    """

    bridge: str
    core: str
    reason: str
    assumed: bool

    @property
    def label(self) -> str:
        """`megatron-bridge 0.3.1 with megatron-core 0.16.1`."""
        return f"megatron-bridge {self.bridge} with megatron-core {self.core}"


DEFAULT_TARGET = Target("0.3.1", "0.16.1", "the newest on the package index", assumed=True)


class UnknownVersion(ValueError):
    """A Megatron-Bridge version that the tool cannot judge against."""


def resolve_target(bridge: str | None = None, reason: str = "as asked") -> Target:
    """The target for a Megatron-Bridge version as a person writes it; without one, the default.

    A line ("0.4") means its newest release, a release that came after the tool ("0.5.3") is judged with the core of the
    newest of its line that is known. Raises UnknownVersion for anything else.
    """
    if bridge is None:
        return DEFAULT_TARGET
    name = bridge.strip()
    if name.lower() == HEAD:
        return _at(RELEASES[-1], HEAD, reason)
    try:
        asked = numbers(name)
    except VersionError:
        raise _unknown(bridge) from None
    line = asked[:2]
    if line == HEAD_LINE and not any(asked[2:]):
        return _at(RELEASES[-1], HEAD, reason)
    known = [release for release in RELEASES if numbers(release.bridge)[:2] == line]
    if not known or len(asked) > 3:
        raise _unknown(bridge)
    if len(asked) == 2:
        return _at(known[-1], known[-1].bridge, reason)
    exact = [release for release in known if numbers(release.bridge) == asked]
    if exact:
        return _at(exact[0], exact[0].bridge, reason)
    return _at(known[-1], ".".join(str(part) for part in asked), reason)


def _at(release: Release, bridge: str, reason: str) -> Target:
    return Target(bridge, release.core, reason, assumed=False)


def _unknown(bridge: str) -> UnknownVersion:
    known = ", ".join(release.bridge for release in RELEASES)
    return UnknownVersion(f"unknown Megatron-Bridge version {bridge!r} (known: {known})")
