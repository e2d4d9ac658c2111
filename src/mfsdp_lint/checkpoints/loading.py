"""Whether a run can load a checkpoint, and what it takes where it cannot.

Only the format is compared. Megatron-Bridge from 0.4 on asserts that it is `checkpoint.ckpt_format`
(training/checkpointing.py, 0.4.2:2566, head:3723); before, the load fails where it looks for the model.
"""

from __future__ import annotations

import os

from mfsdp_lint.checkpoints.conversion import Conversion, conversion
from mfsdp_lint.checkpoints.folder import name_of
from mfsdp_lint.checkpoints.found import Found, Iteration
from mfsdp_lint.conditions.applicability import Site, parse_applicability
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import UNKNOWN, Known, Value, describe, join
from mfsdp_lint.startup.resolve import will_run
from mfsdp_lint.versions.target import Target

_ASSERTS = parse_applicability(">=0.4")
_BRIDGE = "bridge"


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether a recipe can load what was found: None where that is not known. `why` says it.

    `conversion` is the way to a checkpoint that it can load, where there is one.
    """

    loads: bool | None
    why: str
    conversion: Conversion | None = None


def answer(found: Found, recipe: Recipe, target: Target) -> Answer:
    """Whether a recipe, as it will run at a target, can load a checkpoint."""
    run = _Run(will_run(recipe, target))
    wanted = run.value("checkpoint.ckpt_format")
    iteration = loaded(found)
    which = "hf" if found.level == "hugging face" else iteration.format if iteration else None
    if which is None:
        return Answer(*_nothing_to_load(found))
    if not isinstance(wanted, Known) or not isinstance(wanted.value, str):
        return Answer(None, f"the recipe's checkpoint.ckpt_format is {describe(wanted)}")
    if which == "dcp":
        return Answer(None, "torch.distributed.checkpoint wrote it, and its tensors have names of nobody's")
    if wanted.value == which:
        return Answer(True, f"both are {which}; whether the model is the same is not compared")
    site = Site(target, recipe.front_end)
    how = conversion(
        which, wanted.value, site, run.value, os.path.normpath(iteration.path if iteration else found.path)
    )
    told = f"it is {which}, and the recipe runs with checkpoint.ckpt_format {wanted.value!r}"
    if not recipe.front_end.is_a(_BRIDGE):
        return Answer(None, f"{told}; only Megatron-Bridge is known to compare them", how)
    if (which, wanted.value) == ("torch_dcp", "fsdp_dtensor"):
        return Answer(False, f"{told}: it is taken for that, and no tensor has the name that is asked for")
    what = "the load stops" if _ASSERTS.truth(site) else "the load fails"
    return Answer(False, f"{told}: {what}", how)


class _Run:
    """The settings of a recipe that all of its execution paths agree on."""

    def __init__(self, recipe: Recipe) -> None:
        self._variants = recipe.variants

    def value(self, path: str) -> Value:
        return join(variant.value(path) for variant in self._variants) if self._variants else UNKNOWN


def loaded(found: Found) -> Iteration | None:
    """The iteration that a run loads: the one that the tracker names."""
    if found.level == "iteration":
        return found.iterations[0]
    return next((each for each in found.iterations if each.name == name_of(found.latest or "")), None)


def _nothing_to_load(found: Found) -> tuple[bool | None, str]:
    if found.level == "nothing" or not found.iterations:
        return False, "there is no checkpoint to load"
    if found.latest is None:
        return None, "no tracker says which iteration is loaded"
    return None, "the format of the iteration that the tracker names cannot be told"
