"""Release numbers, ranges of them (`0.3.1`, `>=0.4,<0.6`), and the versions that a run is judged against.

Ranges are a small part of PEP 440, with three readings that suit rules about behaviour. A range is compared at its own
precision: `0.4` is the whole 0.4 line, so 0.4.2 is `<=0.4` and not `>0.4`. A pre-release counts as the release it
leads to, since that is what its code looks like. `head`, the development branch, is newer than every release.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache

from mfsdp_lint.core.nearest import did_you_mean
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.megatron.versions.releases import (
    CORE_HEAD,
    CORE_HEAD_LINE,
    CORE_RELEASES,
    HEAD_LINE,
    NEWEST_ON_THE_INDEX,
    RELEASES,
    Release,
)

Numbers = tuple[float, ...]

HEAD = "head"

# Nothing in it can be read in two ways: what is asked may be anything.
_NUMBER = r"[0-9]{1,18}"
_RELEASE = lazy_pattern(rf"v?({_NUMBER}(?:\.{_NUMBER})*)(?:[.-]?(?:a|b|rc|dev|post)(?:\.?[0-9]+)?)*(?:\+[\w.]+)?")
_BOUND = lazy_pattern(r"(<=|>=|==|!=|<|>)?\s*([^\s,<>=!]+)")
_COMPARE: dict[str, Callable[[Numbers, Numbers], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
}


class VersionError(ValueError):
    """A text that is no version, or no range of versions."""


@lru_cache(maxsize=1024)
def numbers(version: str) -> Numbers:
    """Return the numbers of a release, for comparisons; `head` is larger than all. Raises VersionError."""
    if version == HEAD:
        return (float("inf"),)
    match = _RELEASE.fullmatch(version)
    if match is None:
        raise VersionError(f"{version!r} is not a version")
    return tuple(int(part) for part in match[1].split("."))


def is_version(text: str) -> bool:
    """Tell whether a text is a version."""
    return text == HEAD or _RELEASE.fullmatch(text) is not None


Bound = tuple[str, Numbers]


@dataclass(frozen=True, slots=True)
class VersionRange:
    """Alternatives, each a set of bounds that all have to hold. No bounds: every version."""

    text: str
    alternatives: tuple[tuple[Bound, ...], ...]

    def __contains__(self, version: str) -> bool:
        found = numbers(version)
        # Cut, or filled up with zeros, to as many numbers as the bound has.
        return any(
            all(_COMPARE[sign]((found + (0,) * len(bound))[: len(bound)], bound) for sign, bound in bounds)
            for bounds in self.alternatives
        )


@cache
def parse_range(text: str) -> VersionRange:
    """Read `"<0.5"`, `">=0.4,<0.6"`, `">=0.3.0 <=0.4.2"`, `"0.2 | >=0.5"`, `"0.4"` (the 0.4 line), `""` (all).

    Raises VersionError.
    """
    return VersionRange(text, tuple(_bounds(part, text) for part in text.split("|")))


def _bounds(part: str, text: str) -> tuple[Bound, ...]:
    bounds = []
    rest = part.strip()
    if not rest and text.strip():
        raise VersionError(f"{text!r} is not a range of versions")
    while rest:
        match = _BOUND.match(rest)
        if match is None:
            raise VersionError(f"{text!r} is not a range of versions")
        bounds.append((match[1] or "==", numbers(match[2])))
        rest = rest[match.end() :].lstrip(" ,")
    return tuple(bounds)


def column_of(versions: Sequence[str], version: str) -> int | None:
    """Find the column of a version.

    The column is its own, else that of the newest version before it in its line, else of the oldest in its line, else
    of the newest before it. A version newer than every release has the column of the development head. None for a
    version older than all, and for a text that is no version.
    """
    if version in versions:
        return versions.index(version)
    try:
        asked = numbers(version)
    except VersionError:
        return None
    known = [numbers(each) for each in versions]
    earlier = [place for place, each in enumerate(known) if _filled(each) <= _filled(asked)]
    line = [place for place, each in enumerate(known) if each[:2] == asked[:2]]
    in_line = [place for place in earlier if place in line]
    if in_line or line:
        return in_line[-1] if in_line else line[0]
    releases = [place for place, each in enumerate(versions) if each != HEAD]
    if HEAD in versions and releases and earlier[-1:] == releases[-1:]:
        return versions.index(HEAD)
    return earlier[-1] if earlier else None


def _filled(version: Numbers) -> Numbers:
    return (*version, *(0,) * (3 - len(version)))


__all__ = ["DEFAULT_TARGET", "RELEASES", "Release", "Target", "UnknownVersion", "by_places", "resolve_target"]


@dataclass(frozen=True, slots=True)
class Target:
    """The versions judged against, and why these.

    `assumed` is true when nobody said so and nothing in the project gave it away. `te` (Transformer Engine), `torch`
    and `gpu` are None where they are not known. `core_alone`: only the core is known, and no Megatron-Bridge release
    pins its line; what is written for Megatron-Bridge is judged as `bridge` all the same. `older`: the core that the
    project has itself is older than all that are known, so that nothing is said of what it does. `between`: it is from
    between two that are known, both of which are targets, and only what holds for both is said. `source` are the
    folders in which imports find the source of just these versions, where it is at hand without being asked for.
    `places` are the folders and files that name these versions, and for whose recipes they hold; without any they hold
    wherever nothing nearer is named.
    """

    bridge: str
    core: str
    reason: str
    assumed: bool
    te: str | None = None
    torch: str | None = None
    gpu: str | None = None
    core_alone: bool = False
    older: bool = False
    between: bool = False
    source: tuple[str, ...] = ()
    places: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """`megatron-bridge 0.3.1`: the version that a finding holds for."""
        return f"megatron-core {self.core}" if self.core_alone else f"megatron-bridge {self.bridge}"

    @property
    def label(self) -> str:
        """`megatron-bridge 0.3.1 with megatron-core 0.16.1`."""
        return self.name if self.core_alone else f"{self.name} with megatron-core {self.core}"

    @property
    def data(self) -> str:
        """The release whose shipped tables are used for this one."""
        return nearest(self.bridge).data

    @property
    def library(self) -> str:
        """The release whose snapshot is used for this one."""
        return nearest(self.bridge).library

    def version_of(self, package: str) -> str | None:
        """Return the version that an installed package has by its metadata; None if it is not known.

        The development branch has the numbers of the release that it leads to.
        """
        found: str | None = None
        match package.lower().replace("_", "-"):
            case "megatron-bridge" if not self.core_alone:
                found = ".".join(map(str, (*HEAD_LINE, 0))) if self.bridge == HEAD else self.bridge
            case "megatron-core" if not (self.older or self.between):
                found = ".".join(map(str, (*CORE_HEAD_LINE, 0))) if self.core == CORE_HEAD else self.core
            case "torch":
                found = self.torch
            case "transformer-engine":
                found = self.te
        return found


def by_places(targets: Iterable[Target]) -> dict[tuple[str, ...], tuple[Target, ...]]:
    """Group versions by the places for which they hold."""
    found: dict[tuple[str, ...], tuple[Target, ...]] = {}
    for each in targets:
        found[each.places] = (*found.get(each.places, ()), each)
    return found


GPUS = (
    *("a100", "a800", "b100", "b200", "b300", "gb10", "gb200", "gb300", "gh200", "h100", "h20", "h200", "h800"),
    *("l4", "l40", "l40s", "r100", "v100", "vr200"),
)
"""The kinds of GPUs that there is Megatron for: those of Megatron-Bridge's scripts/performance (0.2.0 to head), and the
other ones of NVIDIA's data centres."""

GPU_MEMORY: Mapping[str, int] = {"a100": 80, "h100": 80, "h200": 140, "b200": 180, "gb200": 192}
"""Their memory in GiB, as Megatron's own documents say it; one that is not here says no size. Read in NeMo 2.5.0rc0
(A100-80GB), and in Megatron-Bridge's head: skills/nemo-mbridge-perf-memory-tuning/SKILL.md:176 (H100 80GB),
examples/models/deepseek_v4/README.md:139 (H200) and 167 (GB200),
src/megatron/bridge/perf_recipes/qwen/b200/qwen3_moe.py:310 (B200).
"""


class UnknownVersion(ValueError):
    """A version that the tool cannot judge against."""


@dataclass(frozen=True, slots=True)
class Package:
    """A package with its known versions, oldest first, the name of its development branch and of that one's line."""

    name: str
    known: tuple[str, ...]
    head: str
    head_line: Numbers

    def version(self, text: str) -> str:
        """Read one version, in the tool's spelling.

        A line ("0.4") means its newest release; a release that is newer than the tool ("0.5.3") keeps its number, and
        is judged with the data of the newest known release of its line; the number of the development branch (0.7.0 of
        Megatron-Bridge, 0.20 of megatron-core) means that. Raises UnknownVersion.
        """
        name = text.strip()
        if name.lower() == HEAD:
            return self.head
        try:
            asked = numbers(name)
        except VersionError:
            raise self.unknown(text) from None
        line = asked[:2]
        if line == self.head_line and not any(asked[2:]):
            return self.head
        of_line = [version for version in self.known if version != self.head and numbers(version)[:2] == line]
        if not of_line or len(asked) > 3:
            raise self.unknown(text)
        if len(asked) == 2:
            return of_line[-1]
        exact = next((version for version in of_line if numbers(version) == asked), None)
        return exact or ".".join(str(part) for part in asked)

    def versions(self, text: str) -> tuple[str, ...]:
        """Read the versions in a text, oldest first: a version, or every known release in a range (">=0.4,<0.6").

        A range is one of releases: the development branch is in it only if it is named ("0.6 | head"). Raises
        UnknownVersion.
        """
        if not re.search(r"[<>=!|,*]", text):
            return (self.version(text),)
        try:
            wanted = parse_range(text.replace(".*", ""))
        except VersionError as error:
            raise UnknownVersion(str(error)) from None
        named = any(bound == numbers(HEAD) for bounds in wanted.alternatives for _, bound in bounds)
        found = tuple(v for v in self.known if (HEAD in wanted and named if v == self.head else v in wanted))
        if not found:
            raise UnknownVersion(f"no known {self.name} version is in {text!r} (known: {', '.join(self.known)})")
        return found

    def unknown(self, text: str) -> UnknownVersion:
        """Return the error for a text that is none of its versions."""
        return UnknownVersion(f"unknown {self.name} version {text!r} (known: {', '.join(self.known)})")


MEGATRON_BRIDGE = Package("Megatron-Bridge", tuple(release.bridge for release in RELEASES), HEAD, HEAD_LINE)
MEGATRON_CORE = Package("megatron-core", tuple(release.core for release in CORE_RELEASES), CORE_HEAD, CORE_HEAD_LINE)


DEFAULT_TARGET = Target(
    NEWEST_ON_THE_INDEX,
    next(release.core for release in RELEASES if release.bridge == NEWEST_ON_THE_INDEX),
    "the newest on the package index",
    assumed=True,
)


def resolve_target(bridge: str | None = None, reason: str = "as asked") -> Target:
    """Return the target for a Megatron-Bridge version as a person writes it; without one, the default.

    Raises UnknownVersion, see `Package.version`.
    """
    if bridge is None:
        return DEFAULT_TARGET
    version = MEGATRON_BRIDGE.version(bridge)
    return Target(version, nearest(version).core, reason, assumed=False)


def nearest(bridge: str) -> Release:
    """Return the release itself, else the newest known one of its line. Raises UnknownVersion."""
    try:
        asked = numbers(bridge)
    except VersionError:
        asked = ()
    known = [release for release in RELEASES if numbers(release.bridge)[:2] == asked[:2]]
    if not known:
        raise MEGATRON_BRIDGE.unknown(bridge) from None
    return next((release for release in known if numbers(release.bridge) == asked), known[-1])


def is_known(bridge: str) -> bool:
    """Tell whether the tool knows this very release, and does not judge it by its neighbour."""
    return nearest(bridge).bridge == bridge


def gpu_kind(text: str) -> str:
    """Read a kind of GPU, in the tool's spelling. Raises UnknownVersion."""
    kind = text.strip().lower()
    if kind not in GPUS:
        raise UnknownVersion(f"unknown kind of GPU {text!r} (known: {', '.join(GPUS)}){did_you_mean(kind, GPUS)}")
    return kind


def gpu_in(texts: Iterable[str]) -> str | None:
    """Return the kind of GPU that is a word of one of some texts ("llama3_8b_h100", "recipes.qwen.b200"): of the first
    that has one; None if none has, or that one has several.
    """
    for text in texts:
        if kinds := {word for word in re.split(r"[^a-z0-9]+", text.lower()) if word in GPUS}:
            return kinds.pop() if len(kinds) == 1 else None
    return None


def release_for_core(core: str) -> Release | None:
    """Find the newest Megatron-Bridge release that pins this megatron-core, else one of its line."""
    line = numbers(core)[:2]
    found = [release for release in RELEASES if numbers(release.core)[:2] == line]
    exact = [release for release in found if numbers(release.core) == numbers(core)]
    return (exact or found)[-1] if found else None
