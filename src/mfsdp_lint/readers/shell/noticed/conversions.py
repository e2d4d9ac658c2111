"""Checkpoints that a script converts, for a run that it starts then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from mfsdp_lint.core.recipe import Notice, Recipe
from mfsdp_lint.core.values import is_known_as
from mfsdp_lint.readers.shell.pieces import Text, around, known, plain
from mfsdp_lint.readers.shell.run import Launch

_CONVERTS = "convert-torch-dist-to-fsdp-dtensor"
_SPLITS = ("--swiglu", "--swiglu-modules")
_ALONE = ("--swiglu", "--rename-mtp-keys", "--oom-traceback", "--enable-msc")
"""Options of it that take no value."""

_TRACKER = "latest_checkpointed_iteration.txt"


def conversions(launches: Sequence[Launch], recipes: Sequence[Recipe], text: str) -> Iterator[Notice]:
    """Conversions that do not split what the run has split, or of which the run will not see that there is anything.

    `text` is the whole script.
    """
    for launch in launches:
        words = launch.started.arguments
        converts = next((word for word in words if known(word) == _CONVERTS), None)
        if converts is None or any(known(word) is None for word in words if plain(word).startswith("-")):
            continue
        if not any(plain(word).partition("=")[0] in _SPLITS for word in words) and _surely(recipes, "args.swiglu"):
            yield Notice("conversion-without-swiglu", around(converts))
        if _TRACKER not in text and _loads(words, launches):
            yield Notice("conversion-without-tracker", around(converts))


def _surely(recipes: Sequence[Recipe], path: str) -> bool:
    """Whether every run with Megatron-FSDP has a setting on, and there is one."""
    variants = [each for recipe in recipes for each in recipe.variants]
    sharded = [each for each in variants if is_known_as(each.value("ddp.use_megatron_fsdp"), True)]
    return bool(sharded) and all(is_known_as(each.value(path), True) for each in sharded)


def _loads(words: Sequence[Text], launches: Sequence[Launch]) -> bool:
    """Whether a run loads the folder that a conversion writes, or the one around it."""
    folders = list(_folders(words))
    if len(folders) < 2:
        return False
    for launch in launches:
        given = [known(word) for word in launch.started.arguments]
        for flag, folder in pairwise(given):
            if flag == "--load" and folder and f"{folders[1]}/".startswith(f"{folder.rstrip('/')}/"):
                return True
    return False


def _folders(words: Sequence[Text]) -> Iterator[str]:
    """What is converted, and into what: the words of a conversion that belong to no option."""
    texts = [known(word) or "" for word in words]
    behind = texts[texts.index(_CONVERTS) + 1 :]
    for before, text in zip(["", *behind], behind, strict=False):
        takes = before.startswith("--") and before not in _ALONE and "=" not in before
        if text and not text.startswith("-") and not takes:
            yield text.rstrip("/")
