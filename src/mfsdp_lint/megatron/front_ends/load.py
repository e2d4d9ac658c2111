"""Loading of the profiles: from the tool's data file, which is made of a YAML file each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from mfsdp_lint.core.front_ends import FRONT_ENDS, FrontEnd, UnknownFrontEnd
from mfsdp_lint.core.store import Folder, store
from mfsdp_lint.megatron.front_ends.profile import Profile, read_profile


def raw_profiles() -> Sequence[Mapping[str, Any]]:
    """Return the profiles as plain data."""
    return list(Folder(store(), "front-ends").values())


@cache
def profiles() -> tuple[Profile, ...]:
    """Return every front-end that is a framework on top of another. Raises ProfileError."""
    return tuple(read_profile(data) for data in raw_profiles())


@cache
def commands() -> frozenset[str]:
    """Return the commands that start a framework: a program with its first word."""
    return frozenset(command for raw in raw_profiles() for command in raw.get("commands", ()))


@cache
def pins() -> Mapping[str, Mapping[str, str]]:
    """Return the commits between releases that frameworks are tied to: the releases around each, by component."""
    return {commit: versions for raw in raw_profiles() for commit, versions in raw.get("pins", {}).items()}


def every_front_end() -> Mapping[str, FrontEnd]:
    """Return every front-end by its name."""
    return {**FRONT_ENDS, **{profile.front_end.name: profile.front_end for profile in profiles()}}


def front_end(name: str) -> FrontEnd:
    """Return the front-end of a name. Raises UnknownFrontEnd."""
    found = every_front_end().get(name)
    if found is None:
        raise UnknownFrontEnd(f"{name!r} is no front-end; known are {', '.join(every_front_end())}")
    return found
