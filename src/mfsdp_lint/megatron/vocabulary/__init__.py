"""The settings of a training run: what each one is, what it is called in every front-end, and what it is by default.

`table()` has everything and is read when it is first asked for; `SETTINGS` and `NAMES` are there at once.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from mfsdp_lint.core.front_ends import BRIDGE
from mfsdp_lint.megatron.vocabulary.deciding import BY_SECTION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mfsdp_lint.core.front_ends import FrontEnd
    from mfsdp_lint.core.values import Value
    from mfsdp_lint.megatron.vocabulary.tables import Table, Versions


SETTINGS: tuple[str, ...] = tuple(f"{section}.{name}" for section, names in BY_SECTION.items() for name in names)
"""The settings that decide how a run is sharded, saved and offloaded, by their Megatron-Bridge paths."""

NAMES: frozenset[str] = frozenset({*BY_SECTION, "env_vars", *(name for names in BY_SECTION.values() for name in names)})
"""The names that such a setting, or a section of settings, may have."""

SWITCHES = ("dist.use_megatron_fsdp", "ddp.use_megatron_fsdp", "dist.use_torch_fsdp2")
"""The settings that turn FSDP on."""


@cache
def table() -> Table:
    """Load the whole vocabulary. Raises OSError if the installation lacks its data."""
    from mfsdp_lint.megatron.vocabulary.tables import Table, raw_data

    return Table(raw_data())


def default(path: str, versions: Versions, front_end: FrontEnd = BRIDGE) -> Value | None:
    """Return a setting's default at these versions (a target will do); see `Table.default`."""
    return table().default(path, versions, front_end)


SECTIONS = frozenset(
    {"rng", "rerun_state_machine", "train", "model", "optimizer", "optimizer_config_override_provider", "ddp",
     "validation", "scheduler", "dataset", "logger", "tokenizer", "checkpoint", "dist", "ft", "straggler",
     "nvrx_straggler", "profiling", "peft", "comm_overlap", "mixed_precision", "tensor_inspect", "inprocess_restart",
     "env_vars"}
)  # fmt: skip
"""The fields of `ConfigContainer` in Megatron-Bridge 0.2.0 to 0.6.0 (megatron/bridge/training/config.py)."""

LAUNCHERS = frozenset(
    f"megatron.bridge.training.{name}"
    for name in (
        "distill.distill", "eval.evaluate", "eval.evaluate_and_print_results", "finetune.finetune",
        "initialize.initialize_megatron", "pretrain._pretrain", "pretrain.pretrain",
        "pretrain_megatron_mimo.pretrain_megatron_mimo", "setup.setup", "train.train",
        "train_megatron_mimo.train_megatron_mimo",
    )
)  # fmt: skip


def framework_of(function: str) -> str:
    """Return the framework that runs with the arguments of a function of Python, by its dotted name; "" for any other
    function.
    """
    package, _, name = function.rpartition(".")
    for known, framework in _functions().get(name, ()):
        if f"{package}.".startswith(f"{known}."):
            return framework
    return ""


@cache
def _functions() -> Mapping[str, Sequence[tuple[str, str]]]:
    """Return the packages that have a function of a framework, with the framework's name, by the function's name."""
    from mfsdp_lint.core.store import Folder, store

    found: dict[str, list[tuple[str, str]]] = {}
    for raw in Folder(store(), "front-ends").values():
        for function in (each for place in raw.get("recipes", ()) for each in place.get("functions", ())):
            package, _, name = function.rpartition(".")
            found.setdefault(name, []).append((package, raw["name"]))
    return found
