"""Users of the checkpoints of a run: who reads them, or keeps its own in their folder, in the format before a fix."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Source, Span, Variant
from mfsdp_lint.core.values import Known, Plain
from mfsdp_lint.fixes.judged import FixRequest, Need
from mfsdp_lint.inputs.dependents import MOST_FILES
from mfsdp_lint.inputs.mentions import uncommented

if TYPE_CHECKING:
    from mfsdp_lint.fixes.users import EditUsers

_FORMAT = "checkpoint.ckpt_format"
_SAVE, _LOAD = "checkpoint.save", "checkpoint.load"
_READS = lazy_pattern(r"(?i)load|\bread|\b(?:open|grep|jq|metadata)\b")
_NAMED_FORMAT = lazy_pattern(r"ckpt[_-]format")


def other_user_of_checkpoints(users: EditUsers, request: FixRequest, path: str) -> str:
    """Return who has the checkpoints of the run in the format that they would no longer have; "" for nobody."""
    for need in request.needs:
        if _FORMAT in need.set and (
            found := _other_run(users, request, need) or _reader(users, need, path) or _unread_run(users, need, path)
        ):
            return found
    return ""


def _other_run(users: EditUsers, request: FixRequest, need: Need) -> str:
    """Return a recipe that writes another format than the new one where this run loads from, or loads what it saves."""
    at_fault = {(each.recipe.path, each.recipe.name) for each in request.needs}
    for ours, theirs in ((_LOAD, _SAVE), (_SAVE, _LOAD)):
        folder = _folder(users, need.variant, ours)
        for recipe in users.recipes if folder is not None else ():
            if (recipe.path, recipe.name) in at_fault or recipe.partial:
                continue
            for variant in recipe.variants:
                there = variant.value(_FORMAT)
                if not isinstance(there, Known) or there.value == need.set[_FORMAT] or _is_sharded(variant):
                    continue
                if _folder(users, variant, theirs) == folder:
                    does = "saves" if theirs == _SAVE else "loads"
                    return f"{recipe.path} {does} checkpoints in the same folder, as {there.value}"
    return ""


def _is_sharded(variant: Variant) -> bool:
    """Tell whether Megatron-FSDP may be on: such a recipe gets the same fix."""
    on = variant.value("ddp.use_megatron_fsdp")
    return not isinstance(on, Known) or bool(on.value)


def _folder(users: EditUsers, variant: Variant, setting: str) -> Plain | Span:
    """Return the folder that a recipe of the project names: as a text, or as the constant that it is; None where it is
    put together for each recipe.
    """
    value, origin = variant.value(setting), variant.origin(setting)
    if origin is None or origin.upstream is not None or origin.how == "default":
        return None
    decided = origin.sources[-1] if origin.sources else Source(origin.point, origin.function)
    if isinstance(value, Known) and str(value.value) in Lines(users.texts(decided.span.path)).cut(decided.span):
        return value.value
    return None if decided.function else decided.span


def _reader(users: EditUsers, need: Need, path: str) -> str:
    """Return a program that reads the checkpoints: it says the format, and whoever starts it says the folder."""
    old, folder = map(need.variant.value, (_FORMAT, _SAVE))
    if not isinstance(old, Known) or not isinstance(folder, Known):
        return ""
    place, said = str(folder.value).rstrip("/"), str(old.value)
    own = _own(users, path)
    texts = users.search(path, (said,)).items() if "/" in place else ()
    saying = [each for each, text in texts if each not in own and _is_reader(text, said)]
    naming = users.search(path, (os.path.basename(place),)) if saying else {}
    for other, text in naming.items():
        if other in own or place not in uncommented(text):
            continue
        for reader in saying:
            if reader == other or os.path.basename(reader) in text:
                return f"{reader} reads the checkpoints in {place} as {said}"
    return ""


def _own(users: EditUsers, path: str) -> set[str]:
    """Return an edited file and those of all recipes that are read: what they do the proof compares."""
    pieces = (piece for recipe in users.recipes for piece, _, _ in recipe.pieces)
    return {path, *(recipe.path for recipe in users.recipes), *pieces}


def _unread_run(users: EditUsers, need: Need, path: str) -> str:
    """Return a text that names the run's folder where it starts a run without FSDP, of which no recipe is read."""
    folder = need.variant.value(_SAVE)
    name = str(folder.value).rstrip("/").rpartition("/")[2] if isinstance(folder, Known) else ""
    if not _OF_ONE_RUN.search(name):
        return ""
    own = _own(users, path)
    launches = re.compile(rf"(?<![\w-]){re.escape(os.path.splitext(os.path.basename(path))[0])}(?![\w-])")
    for other, text in users.search(path, (name,)).items():
        said = uncommented(text)
        if other not in own and _keeps_checkpoints(said) and "fsdp" not in said.lower() and not launches.search(said):
            return f"{other} may keep its checkpoints in the same folder ({name})"
    return ""


def _keeps_checkpoints(text: str) -> bool:
    start = _STARTS.search(text)
    return start is not None and _OPTION.search(text, start.end()) is not None


_OF_ONE_RUN = lazy_pattern(r"[A-Za-z]{3}\w*[-_.]\w")
"""A part of the name of a folder that says which run it is of."""
_STARTS = lazy_pattern(r"\b(?:torchrun|srun|python[\d.]*|accelerate)\b")
_OPTION = lazy_pattern(r"(?:--?|\bcheckpoint\.|[\"'])(?:load|save)(?:[_-]dir)?\b")
"""A command that starts something, and an option of a run that loads or saves."""


@lru_cache(maxsize=MOST_FILES)
def _is_reader(text: str, name: str) -> bool:
    """Tell whether a text is of a program that reads checkpoints of a format; what names the setting is another run."""
    text = uncommented(text)
    return name in text and _READS.search(text) is not None and not _NAMED_FORMAT.search(text)
