"""Versions that one place in a project names."""

from __future__ import annotations

import re

from mfsdp_lint.core.records import dataclass


@dataclass(frozen=True, slots=True)
class Found:
    """`place` is where it says so (`uv.lock:812`). `bridge` and `core` may be ranges, `te` and `torch` are versions;
    None where it says nothing of them. `older` is the version of a core that is older than all that are known, of which
    `core` is then the oldest; `between` is that of one from between the two that `core` names."""

    place: str
    bridge: str | None = None
    core: str | None = None
    te: str | None = None
    torch: str | None = None
    older: str | None = None
    between: str | None = None


PACKAGES = {
    "megatron-bridge": "bridge",
    "megatron-core": "core",
    "transformer-engine": "te",
    "transformer-engine-torch": "te",
    "transformer-engine-cu12": "te",
    "transformer-engine-cu13": "te",
    "torch": "torch",
}
"""The distributions whose versions matter, by their normalised names, and the field of Found that is theirs."""

_LONGEST = 100
"""Characters of a specifier that people write."""

_SPECIFIER = re.compile(r"(~=|===?|!=|<=|>=|<|>|\^|~)?\s*v?([\w.*+!-]+)")


def normalised(name: str) -> str:
    """Normalise a distribution's name as package indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def from_package(place: str, name: str, version: str | None) -> Found | None:
    """Return the version that a named distribution has; None for a distribution that does not matter here."""
    field = PACKAGES.get(normalised(name))
    if field is None or not version:
        return None
    if field in ("te", "torch") and re.search(r"[<>=!|,*]", version):  # one of several is not known
        return None
    return Found(place, **{field: version})


def version_or_range(specifiers: str) -> str | None:
    """Convert a requirement's specifiers (PEP 440, and Poetry's `^` and `~`) to the tool's version or range.

    None where they are empty, or not understood.
    """
    bounds = []
    for piece in (piece.strip() for piece in specifiers.split(",")):
        if not piece or piece == "*":
            continue
        match = _SPECIFIER.fullmatch(piece)
        if match is None or len(piece) > _LONGEST:
            return None
        bounds += _bounds(match[1] or "==", match[2])
    if len(bounds) == 1 and bounds[0].startswith("=="):
        return bounds[0][2:]
    return ",".join(bounds) or None


def _bounds(sign: str, version: str) -> list[str]:
    """Convert one specifier.

    Bounds are spelt out to three numbers, since a shorter one would mean a whole line here.
    """
    if version.endswith(".*"):
        return [f"{'!=' if sign == '!=' else '=='}{version[:-2]}.*"]
    parts = version.split("+")[0].split(".")
    full = ".".join((*parts, "0", "0")[:3]) if len(parts) < 3 else version
    match sign:
        case "==" | "===":
            return [f"=={full}"]
        case "~=":
            return [f">={full}", f"<{_next(parts[: max(len(parts) - 1, 1)])}"]
        case "~":
            return [f">={full}", f"<{_next(parts[:2])}"]
        case "^":
            leading = next((i for i, part in enumerate(parts) if part != "0"), len(parts) - 1)
            return [f">={full}", f"<{_next(parts[: leading + 1])}"]
        case _:
            return [f"{sign}{full}"]


def _next(parts: list[str]) -> str:
    """Return the version behind all that begin with these numbers."""
    last = re.match(r"\d*", parts[-1])
    return ".".join([*parts[:-1], str(int((last and last[0]) or 0) + 1)])
