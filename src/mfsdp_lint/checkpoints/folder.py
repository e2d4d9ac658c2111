"""A folder that somebody calls a checkpoint: which level it is of, its iterations, and what its tracker names.

A run's folder holds `iter_%07d/` and the tracker `latest_checkpointed_iteration.txt`, with a number or `release`.
Megatron-Bridge writes `latest_train_state.pt` beside it and reads that first (training/utils/checkpoint_utils.py, 0.2.0
to head).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Sequence

from mfsdp_lint.checkpoints.iteration import CheckpointFolder, FolderTrouble, State, is_iteration, iteration
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs import disk

TRACKER, TRAIN_STATE = "latest_checkpointed_iteration.txt", "latest_train_state.pt"
RELEASE = "release"
MOST_ITERATIONS = 100
"""Of those that are looked into: the latest ones."""

LATEST = 5
"""Those that are loaded, if any are; the others are looked at for `_GLANCE` steps."""

_GLANCE = 20_000

_ITERATION = re.compile(r"iter_(\d+)")
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
    if is_iteration(names):
        return _single(path)
    if "config.json" in names and any(name.endswith((".safetensors", ".bin", ".index.json")) for name in names):
        return CheckpointFolder(path, "hugging face", troubles=tuple(_missing_pieces(path, names)))
    if _ITERATION.fullmatch(os.path.basename(os.path.abspath(path))):
        return _single(path)
    return CheckpointFolder(path, "nothing", troubles=tuple(_nothing(path, folders)))


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
    return CheckpointFolder(
        path, "iteration", (found,), None, (FolderTrouble("info", path, told, _BEFORE, "iteration"),)
    )


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


def _nothing(path: str, folders: Sequence[str]) -> Iterator[FolderTrouble]:
    for name in sorted(folders)[:MOST_ITERATIONS]:
        inner = os.path.join(path, name)
        if any(disk.exists(os.path.join(inner, each)) for each in (TRACKER, TRAIN_STATE)):
            yield FolderTrouble("error", path, f"holds no checkpoint; {name} below it does", _RANDOM, "folder above")
            return
    yield FolderTrouble("error", path, "holds no checkpoint", _RANDOM)
