"""From one format of checkpoints to another: the commands, what they leave behind, and what is set afterwards.

torch_dist → fsdp_dtensor is the way of the Megatron-FSDP guide (docs/user-guide/features/megatron_fsdp.md); its options
are those of tools/checkpoint/checkpoint_inspector.py (core 0.14.0: --swiglu; 0.16.0: the map of parameter groups).
Back there is no converter: weights go by way of Hugging Face, with Megatron-Bridge's
examples/conversion/mfsdp/convert_checkpoints_fsdp.py (0.5.0 to head) and `AutoBridge.import_ckpt` (0.2.0 to head).
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Iterator

from mfsdp_lint.conditions.applicability import Site, parse_applicability
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Known, Value

Read = Callable[[str], Value]
"""The value of a setting as the recipe will run."""

_HAS_CONVERTER = parse_applicability("core >=0.14")
_HAS_MAP = parse_applicability("core >=0.16")
_HAS_EXPORT = parse_applicability(">=0.5")

_INSPECTOR = "tools/checkpoint/checkpoint_inspector.py"
_EXPORTER = "examples/conversion/mfsdp/convert_checkpoints_fsdp.py"
_SIZES = {
    "--tp": "model.tensor_model_parallel_size",
    "--cp": "model.context_parallel_size",
    "--ep": "model.expert_model_parallel_size",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do, and its command ("" where a person has to know how). Words in capitals are to be filled in."""

    what: str
    command: str = ""


@dataclass(frozen=True, slots=True)
class Conversion:
    """The steps, what is lost, and the settings that the run then needs."""

    steps: tuple[Step, ...]
    lost: str
    settings: tuple[tuple[str, str], ...] = ()


def conversion(given: str, wanted: str, site: Site, read: Read, path: str) -> Conversion | None:
    """The way from one format to another at a site; None where there is none.

    `path` is the iteration's folder, or the Hugging Face model's.
    """
    match given, wanted:
        case "torch_dist", "fsdp_dtensor" if _HAS_CONVERTER.truth(site):
            return _to_fsdp(site, read, path)
        case "fsdp_dtensor", "torch_dist" if _HAS_EXPORT.truth(site):
            return _from_fsdp(read, os.path.dirname(path))
        case "hf", "fsdp_dtensor" if _HAS_EXPORT.truth(site):
            imported = _exporter("import", read, hf_model=path, megatron_path="NEW_RUN")
            return Conversion((Step("import the model", imported),), "nothing but weights is there", _LOADED_AS_FSDP)
        case "hf", "torch_dist":
            return Conversion((_imported(path),), "nothing but weights is there", (("checkpoint.load", "NEW_RUN"),))
        case _:
            return None


_LOADED_AS_FSDP = (("checkpoint.load", "NEW_RUN"), ("checkpoint.ckpt_format", "fsdp_dtensor"))


def _to_fsdp(site: Site, read: Read, path: str) -> Conversion:
    steps = [*_map(site), *_converted(site, read, path)]
    return Conversion(
        tuple(steps),
        "the state of random numbers, and what layers keep beside their weights (_extra_state)",
        (*_LOADED_AS_FSDP, ("checkpoint.load_rng", "False"), ("checkpoint.exit_on_missing_checkpoint", "True")),
    )


def _map(site: Site) -> Iterator[Step]:
    """Which group of the optimizer every parameter is in, which the checkpoint itself does not tell."""
    if not _HAS_MAP.truth(site):
        return
    yield Step(
        "run a step of Megatron-LM with the same model and without Megatron-FSDP, to write down the optimizer's groups",
        "… --use-distributed-optimizer --dump-param-to-param-group-map MAP",
    )
    yield Step("make that readable", f"python {_INSPECTOR} print-torch-dcp-in-json MAP")


def _converted(site: Site, read: Read, path: str) -> Iterator[Step]:
    name = os.path.basename(path)
    gated = read("model.gated_linear_unit")
    swiglu = {True: " --swiglu", False: ""}.get(gated.value is True) if isinstance(gated, Known) else " [--swiglu]"
    groups = " --param-to-param-group-map-json MAP/param_to_param_group_map.json" if _HAS_MAP.truth(site) else ""
    only_if = "" if isinstance(gated, Known) else " (--swiglu where the model's MLPs are gated: nothing else tells)"
    yield Step(
        f"convert, on the GPUs that it takes to hold the model{only_if}",
        f"torchrun --nproc_per_node=GPUS {_INSPECTOR} convert-torch-dist-to-fsdp-dtensor{swiglu} {_quoted(path)} "
        f"NEW_RUN/{name}{groups}",
    )
    number = name.removeprefix("iter_").lstrip("0") or "0"
    tracker = f"printf {number} > NEW_RUN/latest_checkpointed_iteration.txt"
    yield Step("write the tracker, which the converter does not", tracker)


def _from_fsdp(read: Read, path: str) -> Conversion:
    exported = _exporter("export", read, hf_model="MODEL", megatron_path=path, hf_path="HF_MODEL")
    return Conversion(
        (Step("export the weights; there is no converter back", exported), _imported("HF_MODEL")),
        "the optimizer, the schedule and the state of random numbers: only weights are taken along",
        (("checkpoint.load", "NEW_RUN"), ("checkpoint.finetune", "True")),
    )


def _imported(model: str) -> Step:
    call = f'from megatron.bridge import AutoBridge; AutoBridge.import_ckpt({json.dumps(model)}, "NEW_RUN")'
    return Step("import them as torch_dist", f"python -c {shlex.quote(call)}")


def _exporter(what: str, read: Read, **paths: str) -> str:
    named = " ".join(f"--{name.replace('_', '-')} {_quoted(path)}" for name, path in paths.items())
    sizes = " ".join(f"{flag} {_size(read(setting))}" for flag, setting in _SIZES.items())
    return f"torchrun --nproc_per_node=GPUS {_EXPORTER} {what} {named} {sizes} --ckpt-format fsdp_dtensor"


def _size(value: Value) -> str:
    return str(value.value) if isinstance(value, Known) else "SIZE"


def _quoted(path: str) -> str:
    return shlex.quote(path)
