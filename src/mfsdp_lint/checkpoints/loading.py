"""Loading of a checkpoint by a run: whether it is possible, and the conversion that makes it possible.

Only the format is compared. Megatron-Bridge from 0.4 on asserts that it is `checkpoint.ckpt_format`
(training/checkpointing.py, 0.4.2:2566, head:3723); before, the load fails where it looks for the model. From 0.6 on
it imports the weights of a Hugging Face model that `checkpoint.pretrained_checkpoint` names (0.6.0:2670).

From one format of checkpoints to another: the commands, what they leave behind, and what is set afterwards.

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

from mfsdp_lint.checkpoints.folder import CheckpointFolder, Iteration, name_of
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import UNKNOWN, Known, Value, describe, join
from mfsdp_lint.megatron.conditions import Site, parse_applicability
from mfsdp_lint.megatron.startup.resolve import will_run
from mfsdp_lint.megatron.versions import Target

Read = Callable[[str], Value]
"""The value of a setting as the recipe will run."""

_HAS_CONVERTER = parse_applicability("core >=0.14")
_HAS_MAP = parse_applicability("core >=0.16")
_HAS_EXPORT = parse_applicability(">=0.5")
_ASSERTS = parse_applicability(">=0.4")
_IMPORTS = parse_applicability(">=0.6")

_INSPECTOR = "tools/checkpoint/checkpoint_inspector.py"
_EXPORTER = "examples/conversion/mfsdp/convert_checkpoints_fsdp.py"
_SIZES = {
    "--tp": "model.tensor_model_parallel_size",
    "--cp": "model.context_parallel_size",
    "--ep": "model.expert_model_parallel_size",
}


@dataclass(frozen=True, slots=True)
class ConversionStep:
    """A step of a conversion, and its command, whose capitals are to be filled in ("": a person has to know how)."""

    what: str
    command: str = ""


@dataclass(frozen=True, slots=True)
class CheckpointConversion:
    """The steps, what is lost, and the settings that the run then needs."""

    steps: tuple[ConversionStep, ...]
    lost: str
    settings: tuple[tuple[str, str], ...] = ()


_LOADED = ("checkpoint.load", "NEW_RUN")
_LOADED_AS_FSDP = (_LOADED, ("checkpoint.ckpt_format", "fsdp_dtensor"))


def conversion(given: str, wanted: str, site: Site, read: Read, path: str) -> CheckpointConversion | None:
    """Return the way from one format to another at a site; None where there is none.

    `path` is the iteration's folder, or the Hugging Face model's.
    """
    match given, wanted:
        case "torch_dist", "fsdp_dtensor" if _HAS_CONVERTER.truth(site):
            lost = "the state of random numbers, and what layers keep beside their weights (_extra_state)"
            more = (("checkpoint.load_rng", "False"), ("checkpoint.exit_on_missing_checkpoint", "True"))
            return CheckpointConversion(tuple(_to_fsdp(site, read, path)), lost, (*_LOADED_AS_FSDP, *more))
        case "fsdp_dtensor", "torch_dist" if _HAS_EXPORT.truth(site):
            run = os.path.dirname(path)
            exported = _exporter("export", read, hf_model="MODEL", megatron_path=run, hf_path="HF_MODEL")
            steps = (ConversionStep("export the weights; there is no converter back", exported), _imported("HF_MODEL"))
            lost = "the optimizer, the schedule and the state of random numbers: only weights are taken along"
            return CheckpointConversion(steps, lost, (_LOADED, ("checkpoint.finetune", "True")))
        case "hf", "fsdp_dtensor" if _HAS_EXPORT.truth(site):
            imported = _exporter("import", read, hf_model=path, megatron_path="NEW_RUN")
            step = ConversionStep("import the model", imported)
            return CheckpointConversion((step,), "nothing but weights is there", _LOADED_AS_FSDP)
        case "hf", "torch_dist":
            return CheckpointConversion((_imported(path),), "nothing but weights is there", (_LOADED,))
    return None


def _to_fsdp(site: Site, read: Read, path: str) -> Iterator[ConversionStep]:
    """Yield the steps from torch_dist to fsdp_dtensor."""
    groups = ""
    if _HAS_MAP.truth(site):  # the optimizer's group of every parameter, which the checkpoint lacks
        yield ConversionStep(
            "run a step of Megatron-LM with the same model and without Megatron-FSDP, to write down the optimizer's "
            "groups",
            "… --use-distributed-optimizer --dump-param-to-param-group-map MAP",
        )
        yield ConversionStep("make that readable", f"python {_INSPECTOR} print-torch-dcp-in-json MAP")
        groups = " --param-to-param-group-map-json MAP/param_to_param_group_map.json"
    name = os.path.basename(path)
    gated = read("model.gated_linear_unit")
    swiglu, only_if = " [--swiglu]", " (--swiglu where the model's MLPs are gated: nothing else tells)"
    if isinstance(gated, Known):
        swiglu, only_if = " --swiglu" if gated.value is True else "", ""
    yield ConversionStep(
        f"convert, on the GPUs that it takes to hold the model{only_if}",
        f"torchrun --nproc_per_node=GPUS {_INSPECTOR} convert-torch-dist-to-fsdp-dtensor{swiglu} {shlex.quote(path)} "
        f"NEW_RUN/{name}{groups}",
    )
    number = name.removeprefix("iter_").lstrip("0") or "0"
    tracker = f"printf {number} > NEW_RUN/latest_checkpointed_iteration.txt"
    yield ConversionStep("write the tracker, which the converter does not", tracker)


def _imported(model: str) -> ConversionStep:
    call = f'from megatron.bridge import AutoBridge; AutoBridge.import_ckpt({json.dumps(model)}, "NEW_RUN")'
    return ConversionStep("import them as torch_dist", f"python -c {shlex.quote(call)}")


def _exporter(what: str, read: Read, **paths: str) -> str:
    named = " ".join(f"--{name.replace('_', '-')} {shlex.quote(path)}" for name, path in paths.items())
    known = {flag: read(setting) for flag, setting in _SIZES.items()}
    sizes = " ".join(f"{flag} {size.value if isinstance(size, Known) else 'SIZE'}" for flag, size in known.items())
    return f"torchrun --nproc_per_node=GPUS {_EXPORTER} {what} {named} {sizes} --ckpt-format fsdp_dtensor"


@dataclass(frozen=True, slots=True)
class LoadAnswer:
    """An answer to whether a recipe can load a checkpoint: None where that is not known. `why` gives the reason.

    `conversion` is the way to a checkpoint that it can load, where there is one.
    """

    loads: bool | None
    why: str
    conversion: CheckpointConversion | None = None


def answer(found: CheckpointFolder, recipe: Recipe, target: Target) -> LoadAnswer:
    """Tell whether a recipe, as it will run at a target, can load a checkpoint."""
    variants = will_run(recipe, target).variants

    def read(path: str) -> Value:
        """Return the value that all execution paths agree on."""
        return join(variant.value(path) for variant in variants) if variants else UNKNOWN

    wanted = read("checkpoint.ckpt_format")
    iteration = loaded(found)
    which = "hf" if found.level == "hugging face" else iteration.format if iteration else None
    if which is None and (found.level == "nothing" or not found.iterations):
        return LoadAnswer(False, "there is no checkpoint to load")
    if which is None and found.latest is None:
        return LoadAnswer(None, "no tracker says which iteration is loaded")
    if which is None:
        return LoadAnswer(None, "the format of the iteration that the tracker names cannot be told")
    site = Site(target, recipe.front_end)
    if which == "hf" and recipe.front_end.is_a("bridge") and _IMPORTS.truth(site):
        here = f"checkpoint.pretrained_checkpoint = {found.path}"
        return LoadAnswer(True, f"Megatron-Bridge imports its weights with {here}; checkpoint.load takes no such model")
    if not isinstance(wanted, Known) or not isinstance(wanted.value, str):
        return LoadAnswer(None, f"the recipe's checkpoint.ckpt_format is {describe(wanted)}")
    if which == "dcp":
        return LoadAnswer(None, "torch.distributed.checkpoint wrote it, and its tensors have names of nobody's")
    if wanted.value == which:
        return LoadAnswer(True, f"both are {which}; whether the model is the same is not compared")
    how = conversion(which, wanted.value, site, read, os.path.normpath(iteration.path if iteration else found.path))
    if which == "hf" and recipe.front_end.is_a("bridge"):
        return LoadAnswer(False, "this Megatron-Bridge imports no Hugging Face model when a run starts", how)
    told = f"it is {which}, and the recipe runs with checkpoint.ckpt_format {wanted.value!r}"
    if not recipe.front_end.is_a("bridge"):
        return LoadAnswer(None, f"{told}; only Megatron-Bridge is known to compare them", how)
    if (which, wanted.value) == ("torch_dcp", "fsdp_dtensor"):
        return LoadAnswer(False, f"{told}: it is taken for that, and no tensor has the name that is asked for")
    what = "the load stops" if _ASSERTS.truth(site) else "the load fails"
    return LoadAnswer(False, f"{told}: {what}", how)


def loaded(found: CheckpointFolder) -> Iteration | None:
    """Return the iteration that a run loads: the one that the tracker names. None without it."""
    if found.level == "iteration":
        return found.iterations[0]
    return next((each for each in found.iterations if each.name == name_of(found.latest or "")), None)
