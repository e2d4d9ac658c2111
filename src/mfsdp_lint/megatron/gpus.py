"""Memory of GPUs, as Megatron's own documents say it, in GiB."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from mfsdp_lint.megatron.versions import GPUS

GPU_MEMORY: Mapping[str, int] = {"a100": 80, "h100": 80, "h200": 140, "b200": 180, "gb200": 192}
"""By the kinds of `versions.GPUS`; one that is not here says no size. Read in NeMo 2.5.0rc0 (A100-80GB), and in
Megatron-Bridge's head: skills/nemo-mbridge-perf-memory-tuning/SKILL.md:176 (H100 80GB),
examples/models/deepseek_v4/README.md:139 (H200) and 167 (GB200),
src/megatron/bridge/perf_recipes/qwen/b200/qwen3_moe.py:310 (B200).
"""


def gpu_in(texts: Iterable[str]) -> str | None:
    """Return the kind of GPU that is a word of one of some texts ("llama3_8b_h100", "recipes.qwen.b200"): of the first
    that has one; None if none has, or that one has several.
    """
    for text in texts:
        if kinds := {word for word in re.split(r"[^a-z0-9]+", text.lower()) if word in GPUS}:
            return kinds.pop() if len(kinds) == 1 else None
    return None
