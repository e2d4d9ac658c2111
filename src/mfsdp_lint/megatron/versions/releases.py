"""Releases of Megatron-Bridge, megatron-core and the NeMo Framework's containers, and the public names of the former.

Facts, from the tags of both repositories. Sources of the containers, both in Megatron-Bridge's repository at 067f987:
`docs/versions1.json` pairs every release with its container, `docs/releases/software-versions.md` lists the components
of the first container of every line. A container in neither (a release candidate, a build for one model) is not here.
25.07 is older than both: it is NeMo 2.4.0 (NeMo's CHANGELOG.md:303 at 8cfedd72), which pins Megatron-LM 03f7793, two
commits past core_v0.13.0rc0 (requirements/manifest.json:14 at v2.4.0).

The index of names (megatron/data/modules.json, made by scripts/index_modules.py) lists for every public module the
releases that have it, of its names those that some of these releases lack, and all other names that it may bind (null
if these are not known). A set of releases is a mask with a bit for each.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import Any

from mfsdp_lint.core.files import PACKAGE, read
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.store import store


@dataclass(frozen=True, slots=True)
class Release:
    """A Megatron-Bridge release and the Megatron-LM commit that its `3rdparty/Megatron-LM` submodule pins.

    `commit` is what its tag (`v0.4.2`) points to. `data` is the release whose shipped tables are used for it: a patch
    release without its own uses its neighbour's. `library` is the release whose snapshot is: its own, where the library
    differs by more than the number of the version. `te` is the Transformer Engine that its uv.lock pins.
    """

    bridge: str
    core: str
    core_commit: str
    data: str
    library: str
    commit: str
    te: str


_TABLE = """
  0.2.0 0.16.0rc0  0d8e0714cd29c01e164fe6de9f532182bdffa942 0.2.0 0.2.0 7af9601c9da746d21481194356295bfe23df3737 2.9.0
  0.2.1 0.16.0rc0  0d8e0714cd29c01e164fe6de9f532182bdffa942 0.2.0 0.2.2 1c43b39285a4605799ca0ab5a69fe2f254802e18 2.9.0
  0.2.2 0.16.0rc0  cba6b0ed0f1ee2694ae9f7059f6d4b8a7cc995fb 0.2.0 0.2.2 0465189601951c14ad592bd8eefbb673929e25bc 2.9.0
  0.3.0 0.16.0     b0cc2706ddc60d2aefd5fff346445b5c013036a8 0.3.1 0.3.0 21b02e0cfb2f8ff907e0d8baee0c5205876c6812 2.12.0
  0.3.1 0.16.1     55ac7082517c3878ae653c07c09c534b8aed49f6 0.3.1 0.3.1 9c9dd848966322fc3ed7706747ec13219ef49dda 2.12.0
  0.4.0 0.17.0rc0  d7288711ba278d160d2a5a22c099915c9fe1395c 0.4.2 0.4.0 0fbfe7d3e970fbd75c1281d71cee586ce1f3df5e 2.14.0
  0.4.1 0.17.0rc0  d7288711ba278d160d2a5a22c099915c9fe1395c 0.4.2 0.4.1 f9b6319e58494b9a655b4789724df715aebabaef 2.14.0
  0.4.2 0.17.1     2edffadb528ea07e261b0c02cdc42a7bb9c3197a 0.4.2 0.4.2 c810129341a84e58f4cbed3093f70668a088c028 2.14.1
  0.5.0 0.18.0     d0b3b775498a8ae6870075f1a5fc32bc260aa1b3 0.5.1 0.5.0 fcbb6031103d0ca845c1a54d4fee55ecfcca17b6 2.16.0
  0.5.1 0.18.2     458c8d0ecafdf6d9e36771600d62ade27f2a67b7 0.5.1 0.5.1 5cb3444c43f7499cf3872b2d46870cf8bc2e00ce 2.16.0
  0.6.0 0.19.0     cd4afffa648426a959dc7cb1e24b5ce7d0c3ff54 0.6.0 0.6.0 51885cf132b2814188b6855c25a8588254274c2a 2.17.1
  head  0.20.0.dev 2a75ac12c54ba6a42b34024756820bf819a2e25f head  head  067f987df03b8355b03192d88d70f1709fedf51a 2.18.0
"""
"""The fields of a release in a row. `core` is what `megatron/core/package_info.py` says at the pinned commit."""

RELEASES = tuple(Release(*row.split()) for row in _TABLE.strip().splitlines())
"""Oldest first."""

HEAD_LINE = (0, 7)
"""The line that Megatron-Bridge's development branch names itself (0.7.0)."""

NEWEST_ON_THE_INDEX = "0.3.1"


def steps_between(old: str, new: str) -> list[str]:
    """List the releases that have data of their own from one to another one, in either direction, both included."""
    known = list(dict.fromkeys(release.data for release in RELEASES))
    first, last = known.index(old), known.index(new)
    return known[first : last + 1] if first < last else known[last : first + 1][::-1]


@dataclass(frozen=True, slots=True)
class CoreRelease:
    """A megatron-core release: the tag of Megatron-LM that it was made from, and the commit of that tag."""

    core: str
    tag: str
    commit: str


CORE_RELEASES = (
    CoreRelease("0.12.0", "core_v0.12.0", "d580efc68a9f0dbf1945f834f6f6200cd01d3343"),
    CoreRelease("0.12.1", "core_v0.12.1", "a845aa7e12b3a117e24c2352b9e3e60bad2e3a17"),
    CoreRelease("0.12.2", "core_v0.12.2", "64cb6bd7a155c4e742514ed1024407fb97d0a367"),
    CoreRelease("0.12.3", "core_v0.12.3", "3ea68ad6042cc1204386ae9364358f7c4de1bc37"),
    CoreRelease("0.13.0", "core_v0.13.0", "c550cf6c41c31cd3ec72e05c25ea0c979f2b6631"),
    CoreRelease("0.13.1", "core_v0.13.1", "ea651a3b78b9b0c1dfd83975ff28853e38e5abaa"),
    CoreRelease("0.14.0", "core_v0.14.0", "23e00ed0963c35382dfe8a5a94fb3cda4d21e133"),
    CoreRelease("0.15.0", "core_v0.15.0", "0d7e02bd26d3eb347ad8d1bef625002babfa6df7"),
    CoreRelease("0.15.1", "core_v0.15.1", "512da5deb1fdc6ad8135bd07c6277628c4009261"),
    CoreRelease("0.15.2", "core_v0.15.2", "45b404c8aa2ff923d1e0a8b0ee8aec45d827cef4"),
    CoreRelease("0.15.3", "core_v0.15.3", "309ffca6a40553362d44fd17efc56b772fa1aa44"),
    CoreRelease("0.16.0", "core_v0.16.0", "3bec9aa97dda898d16ff5a89bac0ed2b6682b172"),
    CoreRelease("0.16.1", "core_v0.16.1", "55ac7082517c3878ae653c07c09c534b8aed49f6"),
    CoreRelease("0.17.0", "core_v0.17.0", "9539a12e1b04a68423f57b3eb41d6125161dca24"),
    CoreRelease("0.17.1", "core_v0.17.1", "266f1c97dca477ca8b92c16087506da2000b0b84"),
    CoreRelease("0.18.0", "core_v0.18.0", "ba7b5ebce12af60627a80985792a1449ce45f46c"),
    CoreRelease("0.18.2", "core_v0.18.2", "571370c829ca768fe37244f4e2e7f28d8accc4ab"),
    CoreRelease("0.19.0", "core_v0.19.0", "5be9626709af2722333bf54797c954c09edeada3"),
    CoreRelease("0.20.0.dev", "main", "d98e8a64ddf34856e74b24714e3bedb2f5a39553"),
)
"""Oldest first, the development branch last. What a tag's own package_info.py says is wrong for two of them: 0.17.0
says 0.17.0rc0, and 0.19.0 says 0.19.1."""

CORE_HEAD = CORE_RELEASES[-1].core
CORE_HEAD_LINE = (0, 20)
"""The line that Megatron-LM's development branch names itself (0.20.0)."""


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


INDEX = os.path.join(PACKAGE, "megatron", "data", "modules.json")


def every() -> int:
    """Return the mask of all releases."""
    return (1 << len(_index()["releases"])) - 1


def having(module: str, name: str | None) -> int:
    """Return the mask of the releases that have a module, or a name of it."""
    modules = _index()["modules"]
    mask, names, _ = modules.get(module, (every(), {}, None))
    if name is None:
        return int(mask)
    if name in names:
        return int(names[name])
    submodule = modules.get(f"{module}.{name}")
    return int(mask & submodule[0] if submodule else mask)


def in_none(module: str, name: str | None = None) -> bool:
    """Tell whether surely no release has a module, or a name of a module that some have."""
    modules = _index()["modules"]
    if any(part.startswith("_") for part in (*module.split("."), name or "")):
        return False
    if name is None:
        return module.startswith("megatron.bridge.") and module not in modules
    if module not in modules or f"{module}.{name}" in modules:
        return False
    _, differing, others = modules[module]
    return others is not None and name not in differing and name not in others.split()


def releases(mask: int) -> Sequence[str]:
    """Name the releases of a mask."""
    return [release for bit, release in enumerate(_index()["releases"]) if mask >> bit & 1]


@cache
def having_field(section: str, field: str) -> int:
    """Return the mask of the releases in which a section of a configuration has a field; 0 where none has it."""
    fields = _fields()
    said = fields["sections"].get(section, {"classes": (), "fields": {}})
    columns = _columns(said["fields"].get(field, ())) & _columns(said["classes"])
    names = {version for column, version in enumerate(fields["versions"]) if column in columns}
    return sum(1 << bit for bit, release in enumerate(_index()["releases"]) if release in names)


def _columns(runs: Sequence[tuple[int, int, Any]]) -> set[int]:
    """Return the versions, by their numbers, for which a fact holds that is stored in runs."""
    return {column for first, last, fact in runs if fact is not None for column in range(first, last + 1)}


@cache
def _fields() -> Any:
    return store()["vocabulary/fields"]


@cache
def _index() -> Any:
    import json  # rarely needed, and start-up time counts

    return json.loads(read(INDEX))
