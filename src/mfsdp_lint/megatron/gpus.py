"""Memory of GPUs, as Megatron's own documents say it, in GiB."""

from __future__ import annotations

from collections.abc import Mapping

GPU_MEMORY: Mapping[str, int] = {"a100": 80, "h100": 80, "h200": 140, "b200": 180, "gb200": 192}
"""By the kinds of `versions.GPUS`; one that is not here says no size. Read in NeMo 2.5.0rc0 (A100-80GB), and in
Megatron-Bridge's head: skills/nemo-mbridge-perf-memory-tuning/SKILL.md:176 (H100 80GB),
examples/models/deepseek_v4/README.md:139 (H200) and 167 (GB200),
src/megatron/bridge/perf_recipes/qwen/b200/qwen3_moe.py:310 (B200).
"""
