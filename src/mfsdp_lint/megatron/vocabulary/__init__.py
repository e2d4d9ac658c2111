"""The settings of a training run: what each one is, what it is called in every front-end, and what it is by default.

`table()` has everything and is read when it is first asked for; `SETTINGS` and `NAMES` are there at once.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from mfsdp_lint.core.front_ends import BRIDGE
from mfsdp_lint.megatron.vocabulary.deciding import BY_SECTION

if TYPE_CHECKING:
    from mfsdp_lint.core.front_ends import FrontEnd
    from mfsdp_lint.core.values import Value
    from mfsdp_lint.megatron.vocabulary.entry import Versions
    from mfsdp_lint.megatron.vocabulary.tables import Table

SETTINGS: tuple[str, ...] = tuple(f"{section}.{name}" for section, names in BY_SECTION.items() for name in names)
"""The settings that decide how a run is sharded, saved and offloaded, by their Megatron-Bridge paths."""

NAMES: frozenset[str] = frozenset({*BY_SECTION, "env_vars", *(name for names in BY_SECTION.values() for name in names)})
"""What such a setting, or a section of settings, may be called."""

SWITCHES = ("dist.use_megatron_fsdp", "ddp.use_megatron_fsdp", "dist.use_torch_fsdp2")
"""The settings that turn FSDP on."""


@cache
def table() -> Table:
    """Load the whole vocabulary. Raises OSError if the installation lacks its data."""
    from mfsdp_lint.megatron.vocabulary.load import raw_data
    from mfsdp_lint.megatron.vocabulary.tables import Table

    return Table(raw_data())


def default(path: str, versions: Versions, front_end: FrontEnd = BRIDGE) -> Value | None:
    """Return a setting's default at these versions (a target will do); see `Table.default`."""
    return table().default(path, versions, front_end)
