"""The result of inspecting a checkpoint's folder."""

from __future__ import annotations

from typing import Literal

from mfsdp_lint.core.records import dataclass

Format = Literal["torch_dist", "fsdp_dtensor", "torch_dcp", "torch", "zarr", "dcp"]
"""As Megatron spells them. `dcp` is written by torch.distributed.checkpoint, and it is not known by whom."""

Weight = Literal["error", "warning", "info"]

State = Literal["run", "no tracker", "no such iteration", "iteration", "hugging face", "folder above"]
"""What a run meets at `checkpoint.load`: a run's folder, from which it loads; one without a tracker, or whose tracker
names what is not there; an iteration instead of the run's folder; a published model; the folder above a run's."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A problem with a folder, its place, and its consequence.

    `state` is the state that a run meets when it loads the folder.
    """

    weight: Weight
    path: str
    message: str
    consequence: str = ""
    state: State | None = None


@dataclass(frozen=True, slots=True)
class Iteration:
    """A checkpoint saved at one step. `format` is None where no file reveals it.

    `evidence` says how the format is known. `ranks` is the least number of ranks that wrote it, `sizes` are the
    parallel sizes that its files name, by setting. `tensors` counts the names in it, `optimizer` says whether any is
    the optimizer's.
    """

    path: str
    name: str
    format: Format | None
    evidence: str
    ranks: int | None = None
    sizes: tuple[tuple[str, int], ...] = ()
    tensors: int | None = None
    optimizer: bool | None = None
    complete: bool | None = None
    troubles: tuple[Trouble, ...] = ()


Level = Literal["run", "iteration", "hugging face", "nothing"]
"""What a folder is: of a run with its iterations (which `checkpoint.load` names), one iteration, a published model."""


@dataclass(frozen=True, slots=True)
class Found:
    """A folder, and what it holds. `latest` is what the tracker names: a number, or `release`."""

    path: str
    level: Level
    iterations: tuple[Iteration, ...] = ()
    latest: str | None = None
    troubles: tuple[Trouble, ...] = ()

    @property
    def every_trouble(self) -> tuple[Trouble, ...]:
        """Return the problems of the folder and of its iterations."""
        return (*self.troubles, *(each for iteration in self.iterations for each in iteration.troubles))
