"""Which Python files may have to do with a training run: told by their text, before anything is parsed."""

from __future__ import annotations

import re

from mfsdp_lint.inputs.sources import Sources, Unreadable

RELEVANT = re.compile(
    r"megatron|fsdp|ConfigContainer|cpu_offload|ckpt_format|CUDA_DEVICE_MAX|_config\b|pretrain|finetune|recipe",
    re.IGNORECASE,
)
"""A file without any of these words says nothing about a training run."""

RECIPE = re.compile(r"megatron|fsdp|ConfigContainer|recipe", re.IGNORECASE)
"""One of these words is in the text of any recipe."""


def is_relevant(path: str, sources: Sources) -> bool:
    """Whether a file may say something about a training run. One that cannot be opened may."""
    try:
        said: str | None = sources.text(path)
    except Unreadable as error:
        said = error.about
    return said is None or bool(RELEVANT.search(said))
