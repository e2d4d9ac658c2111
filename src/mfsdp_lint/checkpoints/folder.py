"""A folder that somebody calls a checkpoint: which level it is of, its iterations, and what its tracker names; of each
iteration its format, as Megatron recognises it by the files, and its completeness.

A run's folder holds `iter_%07d/` and the tracker `latest_checkpointed_iteration.txt`, with a number or `release`.
Megatron-Bridge writes `latest_train_state.pt` beside it and reads that first (training/utils/checkpoint_utils.py, 0.2.0
to head).

megatron-core recognises torch_dist by metadata.json (dist_checkpointing/core.py), the legacy format by its folders and
the rest by `.metadata` (training/checkpointing.py, `_get_checkpoint_format`, 0.14.0 to head). It takes the writer of
`.metadata` from the command line; this module recognises the writer by the names of the tensors. `.metadata` has the
names of all tensors, and the files and places that they are in, in the form of torch 2.13.0
(torch/distributed/checkpoint/metadata.py and filesystem.py).
"""

from __future__ import annotations

import json
import math
import os
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from mfsdp_lint.checkpoints import pickled
from mfsdp_lint.core import files
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.inputs import disk

Format = Literal["torch_dist", "fsdp_dtensor", "torch_dcp", "torch", "zarr", "dcp"]
"""As Megatron spells them. `dcp` is written by torch.distributed.checkpoint, and it is not known by whom."""

Weight = Literal["error", "warning", "info"]

State = Literal["run", "no tracker", "no such iteration", "iteration", "hugging face", "folder above"]
"""The state of `checkpoint.load`: a run's folder, from which it loads; one without a tracker, or whose tracker names an
iteration that is not there; an iteration instead of the run's folder; a published model; the folder above a run's."""


@dataclass(frozen=True, slots=True)
class FolderTrouble:
    """A problem with a folder, its place, its consequence, and the state that a run meets when it loads the folder."""

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
    troubles: tuple[FolderTrouble, ...] = ()


Level = Literal["run", "iteration", "hugging face", "nothing"]
"""The level of a folder: a run with its iterations (which `checkpoint.load` names), an iteration, a published model."""


@dataclass(frozen=True, slots=True)
class CheckpointFolder:
    """A folder, and what it holds. `latest` is what the tracker names: a number, or `release`."""

    path: str
    level: Level
    iterations: tuple[Iteration, ...] = ()
    latest: str | None = None
    troubles: tuple[FolderTrouble, ...] = ()

    @property
    def every_trouble(self) -> tuple[FolderTrouble, ...]:
        """Return the problems of the folder and of its iterations."""
        return (*self.troubles, *(each for iteration in self.iterations for each in iteration.troubles))


_MEGATRON_FSDP = lazy_pattern(r"model\.module\.|optimizer\.(state\.(module\.)+|param_to_group_meta\.)")
"""Megatron-FSDP wraps the model, and names what is in it by the wrapper (core 0.14.0 to head)."""

_TORCH_FSDP2 = lazy_pattern(r"model\.(?!module\.)|optimizer\.(param_groups\.|state\.\d+\.)")

_OPTIMIZER = lazy_pattern(r"(chained_\d+\.)?optimizer\.")


@dataclass(frozen=True, slots=True)
class Metadata:
    """The names, and how far each data file has to reach, in bytes, by its name.

    One that is not `whole` was not read to its end: there are more names, and nothing is known of the files.
    """

    names: tuple[str, ...]
    reaches: Mapping[str, int]
    whole: bool = True

    @property
    def format(self) -> tuple[Format, str]:
        """The format by its writer, where metadata.json does not name one, and how it is known."""
        megatron = any(map(_MEGATRON_FSDP.match, self.names))
        if megatron == any(map(_TORCH_FSDP2.match, self.names)):  # nobody's names, or those of both
            return "dcp", "torch.distributed.checkpoint wrote it"
        if megatron:
            return "fsdp_dtensor", "tensors are named as Megatron-FSDP names them (model.module.…)"
        return "torch_dcp", "tensors are named as torch FSDP2 names them (model.…)"


def has_optimizer(names: Iterable[str]) -> bool:
    """Tell whether any of these tensors is the optimizer's."""
    return any(map(_OPTIMIZER.match, names))


def metadata(data: bytes, most: int = pickled.MOST_STEPS) -> Metadata:
    """Read the file, as far as `most` steps reach. Raises pickled.Damaged."""
    try:
        table = dict(_named(pickled.read(data, most)))
    except pickled.TooLong as error:
        return Metadata(error.texts, {}, whole=False)
    if not {"state_dict_metadata", "storage_data"} <= table.keys():
        raise pickled.Damaged("it is not written by torch.distributed.checkpoint")
    names = tuple(name for name, _ in _named(table["state_dict_metadata"]))
    reaches: dict[str, int] = {}
    for _, where in pickled.entries(table["storage_data"]):
        place = dict(_named(where))
        file, offset, length = (place.get(name) for name in ("relative_path", "offset", "length"))
        if type(file) is str and type(offset) is int and type(length) is int:
            reaches[file] = max(reaches.get(file, 0), offset + length)
    return Metadata(names, reaches)


def _named(value: object) -> Iterator[tuple[str, object]]:
    return ((name, each) for name, each in pickled.entries(value) if isinstance(name, str))


METADATA, CONFIGURATION, COMMON = ".metadata", "metadata.json", "common.pt"
_MOST_METADATA = 64 * 2**20
"""More than pickled.MOST_STEPS steps have, unless they are of texts longer than names."""

_MOST_CONFIGURATION = 2**16
_DATA = lazy_pattern(r"__(\d+)_\d+\.distcp")
_LEGACY = lazy_pattern(r"mp_rank_(\d+)(?:_(\d+))?(?:_(\d+))?")
_SIZES = ("model.tensor_model_parallel_size", "model.pipeline_model_parallel_size", "model.expert_model_parallel_size")
"""Sizes that the numbers of a rank's folder count (Megatron-LM, training/checkpointing.py, `get_checkpoint_name`)."""

_MODELS = ("model_optim_rng.pt", "model_rng.pt")
_MIXED = ("files of two formats lie side by side", "which one is loaded is not clear")
_CUT = "ends too early, or is no file of torch.save"
_BEFORE_ARCHIVES = b"\x80\x02"
_HALF = "a run that loads it fails, or was cut off when it saved"


def is_iteration(names: Collection[str]) -> bool:
    """Tell whether a folder with these names in it is one iteration, or the remains of one."""
    return bool({METADATA, CONFIGURATION, COMMON} & set(names)) or any(
        _DATA.fullmatch(name) or _LEGACY.fullmatch(name) for name in names
    )


def iteration(path: str, most: int = pickled.MOST_STEPS) -> Iteration:
    """Read the folder of one iteration. A file that cannot be read is reported as its trouble.

    `most` is how many steps of `.metadata` are followed; where it has more, only the facts in these steps are known.
    """
    found = Iteration(path, os.path.basename(os.path.normpath(path)), None, "")
    try:
        names = {entry.name for entry in disk.entries(path)}
    except OSError as error:
        return _with(found, FolderTrouble("error", path, f"cannot be read: {error.strerror}"))
    if not names:
        return _with(found, FolderTrouble("error", path, "empty: nothing was saved", _HALF), complete=False)
    if {METADATA, CONFIGURATION} & names:
        found = _distributed(found, names, most)
    if any(map(_LEGACY.fullmatch, names)):
        found = _legacy(found, names)
    if found.format is None and not found.troubles:
        what = f"{COMMON} alone" if COMMON in names else "data without .metadata" if is_iteration(names) else ""
        told = f"{what}: it was not saved to the end" if what else "holds no checkpoint that Megatron writes"
        return _with(found, FolderTrouble("error", path, told, _HALF), complete=False)
    return found


def _distributed(found: Iteration, names: Collection[str], most: int) -> Iteration:
    """Read a folder of torch_dist, zarr, or the format that torch.distributed.checkpoint writes by itself."""
    backend, problem = _backend(found.path) if CONFIGURATION in names else (None, "")
    if problem:
        return _with(found, FolderTrouble("error", os.path.join(found.path, CONFIGURATION), problem))
    if backend is not None:
        found = replace(found, format=backend, evidence=f"{CONFIGURATION} says so")
    if backend == "zarr":
        # Each tensor has a folder by its name. Pieces that hold only zeros need no file, so that no file shows whether
        # all pieces are there.
        tensors = [name for name in names if disk.is_file(os.path.join(found.path, name, ".zarray"))]
        return replace(found, tensors=len(tensors), optimizer=has_optimizer(tensors))
    if METADATA not in names:
        cut = FolderTrouble("error", found.path, f"{METADATA} is missing: it was not saved to the end", _HALF)
        return _with(found, cut, complete=False)
    place = os.path.join(found.path, METADATA)
    ranks = [int(match[1]) for match in map(_DATA.fullmatch, names) if match]
    found = replace(found, ranks=max(ranks) + 1 if ranks else None)
    try:
        said = metadata(disk.read(place, _MOST_METADATA), most)
    except (pickled.Damaged, OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return _with(found, FolderTrouble("error", place, f"cannot be read: {reason}"), complete=False)
    if backend is None:
        name, evidence = said.format
        found = replace(found, format=name, evidence=evidence)
    optimizer = has_optimizer(said.names)
    if not said.whole:
        return replace(found, optimizer=optimizer or None)
    missing = tuple(_missing(found.path, said.reaches))
    common = os.path.join(found.path, COMMON)
    if COMMON in names and not is_whole(common):
        missing += (FolderTrouble("error", common, _CUT, _HALF),)
    return _with(found, *missing, tensors=len(said.names), optimizer=optimizer, complete=not missing)


def _backend(path: str) -> tuple[Format | None, str]:
    """Return the writer of a checkpoint as metadata.json names it, or the reason why it does not."""
    try:
        said = json.loads(disk.read(os.path.join(path, CONFIGURATION), _MOST_CONFIGURATION))
    except OSError as error:
        return None, f"cannot be read: {error.strerror}"
    except (ValueError, RecursionError):
        return None, "cannot be read: it is no JSON"
    match said.get("sharded_backend") if isinstance(said, dict) else None:
        case "torch_dist" | "zarr" as name:
            return name, ""
        case _:
            return None, "does not say what wrote the checkpoint (sharded_backend)"


def _missing(path: str, reaches: Mapping[str, int]) -> Iterator[FolderTrouble]:
    """Yield a problem for each data file that is missing, or ends too early."""
    for name, reach in sorted(reaches.items()):
        place = os.path.join(path, name)
        if os.path.basename(name) != name:
            yield FolderTrouble("error", path, f"{METADATA} names a file elsewhere")
        elif not disk.is_file(place):
            yield FolderTrouble("error", place, f"missing, though {METADATA} names it", _HALF)
        elif (size := disk.size(place)) < reach:
            yield FolderTrouble("error", place, f"ends too early: {size} bytes, where {METADATA} names {reach}", _HALF)


def _legacy(found: Iteration, names: Collection[str]) -> Iteration:
    """Read the folders of Megatron-LM's `torch` format, one for every model-parallel rank."""
    if found.format is not None or found.troubles:
        return _with(found, FolderTrouble("error", found.path, *_MIXED), complete=False)
    matches = [match for match in map(_LEGACY.fullmatch, names) if match]
    ranks = {tuple(int(number) for number in match.groups() if number is not None) for match in matches}
    kinds = {len(each) for each in ranks}
    found = replace(found, format="torch", evidence="one folder for every model-parallel rank", ranks=len(ranks))
    if len(kinds) == 1:
        sizes = tuple(max(column) + 1 for column in zip(*ranks, strict=True))
        found = replace(found, sizes=tuple(zip(_SIZES, sizes, strict=False)))
        if math.prod(sizes) != len(ranks):
            found = _with(found, FolderTrouble("error", found.path, "folders of some ranks are missing", _HALF))
    for match in matches:
        folder = os.path.join(found.path, match[0])
        places = [place for name in _MODELS if disk.is_file(place := os.path.join(folder, name))]
        broken = [FolderTrouble("error", place, _CUT, _HALF) for place in places if not is_whole(place)]
        missing = [] if places else [FolderTrouble("error", folder, f"{_MODELS[0]} is missing", _HALF)]
        found = _with(found, *missing, *broken)
    return replace(found, complete=not found.troubles)


def is_whole(path: str) -> bool:
    """Tell whether a file of torch.save is complete: an archive has its table of contents at its end.

    Files that torch wrote before 1.6 are no archives, and not looked into.
    """
    if disk.read(path, len(_BEFORE_ARCHIVES)) == _BEFORE_ARCHIVES:
        return True
    with files.opened(path) as file:
        return zipfile.is_zipfile(file)


def _with(found: Iteration, *troubles: FolderTrouble, **changes: Any) -> Iteration:
    return replace(found, **changes, troubles=(*found.troubles, *troubles))


TRACKER, TRAIN_STATE = "latest_checkpointed_iteration.txt", "latest_train_state.pt"
RELEASE = "release"
MOST_ITERATIONS = 100
"""Of those that are looked into: the latest ones."""

LATEST = 5
"""Those that are loaded, if any are; the others are looked at for `_GLANCE` steps."""

_GLANCE = 20_000

_ITERATION = lazy_pattern(r"iter_(\d+)")
_MOST_TRACKER = 100
_MOST_INDEX = 64 * 2**20
_FAILS = "a run that loads it fails"
_RANDOM = "a run that loads it finds no checkpoint, and starts from random weights unless it is told to exit"


class NoFolder(ValueError):
    """A path that leads to no folder."""


def checkpoint(path: str, latest: int = LATEST) -> CheckpointFolder:
    """Read a checkpoint's folder; the `latest` iterations are read whole. Raises NoFolder."""
    if not disk.is_folder(path):
        what = "is a file: a checkpoint is a folder" if disk.exists(path) else "does not exist"
        raise NoFolder(f"{path}: {what}")
    try:
        entries = disk.entries(path)
    except OSError as error:
        raise NoFolder(f"{path}: cannot be read: {error.strerror}") from None
    names = {entry.name for entry in entries}
    folders = [entry.name for entry in entries if entry.kind == "folder"]
    iterations = sorted(name for name in folders if _ITERATION.fullmatch(name) or name == RELEASE)
    if iterations or {TRACKER, TRAIN_STATE} & names:
        return _run(path, names, iterations, latest)
    published = any(name.endswith((".safetensors", ".bin", ".index.json")) for name in names)
    if "config.json" in names and published and not is_iteration(names):
        return CheckpointFolder(path, "hugging face", troubles=tuple(_missing_pieces(path, names)))
    if is_iteration(names) or _ITERATION.fullmatch(os.path.basename(os.path.abspath(path))):
        return _single(path)
    for name in sorted(folders)[:MOST_ITERATIONS]:
        if any(disk.exists(os.path.join(path, name, each)) for each in (TRACKER, TRAIN_STATE)):
            told = f"holds no checkpoint; {name} below it does"
            return CheckpointFolder(
                path, "nothing", troubles=(FolderTrouble("error", path, told, _RANDOM, "folder above"),)
            )
    return CheckpointFolder(path, "nothing", troubles=(FolderTrouble("error", path, "holds no checkpoint", _RANDOM),))


def _run(path: str, names: Collection[str], iterations: Sequence[str], whole: int) -> CheckpointFolder:
    places = [os.path.join(path, name) for name in iterations[-MOST_ITERATIONS:]]
    older = max(0, len(places) - whole)
    found = [*(iteration(each, _GLANCE) for each in places[:older]), *map(iteration, places[older:])]
    latest, troubles = _tracked(path, names, iterations)
    formats = {each.format for each in found if each.format is not None}
    if len(formats) > 1:
        mixed = f"iterations of several formats: {', '.join(sorted(formats))}"
        troubles.append(FolderTrouble("warning", path, mixed, "which of them is loaded depends on the tracker"))
    if is_iteration(names):
        beside = "the files of an iteration lie beside the iterations"
        troubles.append(FolderTrouble("warning", path, beside, "they are not loaded"))
    return CheckpointFolder(path, "run", tuple(found), latest, tuple(troubles))


def _tracked(path: str, names: Collection[str], iterations: Sequence[str]) -> tuple[str | None, list[FolderTrouble]]:
    """Return the iteration that the tracker names, and the problems with the tracker."""
    place = os.path.join(path, TRACKER)
    if TRACKER not in names:
        if TRAIN_STATE in names:
            return None, []
        return None, [FolderTrouble("error", path, f"{TRACKER} is missing", _RANDOM, "no tracker")]
    try:
        text = disk.read(place, _MOST_TRACKER).decode("ascii").strip()
    except (OSError, ValueError):
        text = ""
    if text != RELEASE and not (text.isdecimal() and len(text) < 20):
        return None, [FolderTrouble("error", place, "holds neither a number nor `release`", _FAILS)]
    named = name_of(text)
    if named not in iterations:
        # Megatron-Bridge reads its own tracker first, and nothing here tells what that one names.
        met: State | None = None if TRAIN_STATE in names else "no such iteration"
        return text, [FolderTrouble("error", place, f"names {named}, which is not there", _FAILS, met)]
    return text, []


def name_of(latest: str) -> str:
    """Return the name of the folder for an iteration that a tracker names."""
    return f"iter_{int(latest):07d}" if latest.isdecimal() else latest


def _single(path: str) -> CheckpointFolder:
    """Return one iteration, with a remark on the folder above it, which a run has to be given."""
    above = os.path.dirname(os.path.abspath(path))
    found = iteration(path)
    name = os.path.basename(os.path.abspath(path))
    if _ITERATION.fullmatch(name) or name == RELEASE:
        told = f"is one iteration: `checkpoint.load` takes the folder above it ({os.path.basename(above) or above})"
        found = replace(found, name=name)
    else:
        told = "is one iteration outside of a run's folder: it wants a folder iter_NNNNNNN, and a tracker beside that"
    trouble = FolderTrouble("info", path, told, _BEFORE, "iteration")
    return CheckpointFolder(path, "iteration", (found,), None, (trouble,))


_BEFORE = "Megatron-LM, and Megatron-Bridge before 0.4, find no checkpoint there and start from random weights"


def _missing_pieces(path: str, names: Collection[str]) -> Iterator[FolderTrouble]:
    """Yield a problem for each missing file that an index names, and for each index that cannot be read."""
    for index in sorted(name for name in names if name.endswith((".safetensors.index.json", ".bin.index.json"))):
        place = os.path.join(path, index)
        try:
            said = json.loads(disk.read(place, _MOST_INDEX))
            files = {str(each) for each in said["weight_map"].values()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            yield FolderTrouble("error", place, "cannot be read: it names no weights")
            continue
        for name in sorted(files - set(names)):
            yield FolderTrouble("error", place, f"names {name}, which is not there", "the model cannot be imported")
