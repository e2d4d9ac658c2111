"""What fuzzing starts from: the texts that the project itself has of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from mfsdp_lint.rules.load import TERMS_FILE, raw_rules

ROOT = Path(__file__).resolve().parents[2]

_CONDITIONS = ("applies", "when", "safe", "unsafe", "condition", "value", "enabled_by")

COMMENTS = (
    "# mfsdp: ignore",
    "# mfsdp: ignore[MFSDP101] the launcher sets it",
    "# mfsdp: ignore[MFSDP101, MFSDP3] why: because",
    "#mfsdp:ignore[MFSDP]",
    "# mfsdp: ignore[MFSDP101",
    "# mfsdp: ignore[]",
    "# mfsdp: ignore MFSDP101",
    "# noqa  # mfsdp: ignore[MFSDP101] both",
    "# mfsdp: nothing",
)
CONFIGURATIONS = (
    '[tool.mfsdp-lint]\nselect = ["MFSDP1"]\nignore = ["MFSDP101"]\ntarget-bridge = "0.3.1"\nunsafe-fixes = true\n',
    '[tool.mfsdp-lint]\nexclude = ["old/**", "gen_*"]\nsearch-path = ["src"]\noutput-format = "json"\ncache = false\n',
    '[project]\nname = "ours"\n\n[tool.mfsdp-lint]\nextend-rules = ["x"]\npreset = "performance"\n"cache-dir" = "x"\n',
    '[tool]\n"mfsdp-lint" = {fix = true, show-fixes = false, target-gpu = "h100", group-by = "recipe"}\n',
)
ADDRESSES = (
    "recipes.py::llama",
    'recipes/a.py::Recipes.pretrain(precision="fp8_mx", mock=True)',
    "a.py::f([1, 2.5, None], {'a': -1})",
    "./odd::name.py::f()",
    "@addresses.txt",
    "overrides.yaml",
)
OVERRIDES = (
    "checkpoint.ckpt_format=fsdp_dtensor",
    "++model.pipeline_model_parallel_size=4",
    "dist.use_megatron_fsdp=true",
    "model.offload_modules=[core_attn, 'moe_act']",
    "ddp={overlap_grad_reduce: false, bucket_size: 0xff}",
    "model.recompute_granularity=null",
    "train.lr=1e-4",
)
IGNORES = ("*.py\n!keep.py\n/build/\ndocs/**/x\n", "a[0-9]?\n\\#odd\n**/cache\n", "# nothing\n\nfoo/**\n")
REQUIREMENTS = (
    "megatron-bridge==0.4.2\nmegatron-core>=0.15,<0.17 ; python_version > '3.10'\n",
    "megatron-bridge @ git+https://github.com/NVIDIA-NeMo/Megatron-Bridge@v0.4.2\n-r other.txt\n",
    '[project]\ndependencies = ["megatron-bridge~=0.3.0"]\n[tool.poetry.dependencies]\nmegatron-core = "^0.15"\n',
    '[[package]]\nname = "megatron-core"\nversion = "0.16.1"\nsource = { registry = "https://example.org/simple" }\n',
    'FROM nvcr.io/nvidia/nemo:26.02 AS build\nRUN pip install "megatron-bridge==0.3.1"\n',
    '[submodule "3rdparty/Megatron-LM"]\n\tpath = 3rdparty/Megatron-LM\n\turl = https://github.com/NVIDIA/Megatron-LM\n',
)


@cache
def rules() -> tuple[dict[str, Any], ...]:
    """Rule files as plain data."""
    return tuple(data for file, data in sorted(raw_rules().items()) if file != TERMS_FILE)


@cache
def conditions() -> tuple[str, ...]:
    """Every condition, and every value, of the rules and their terms."""
    return tuple(sorted({text for data in raw_rules().values() for text in _conditions(data)}))


@cache
def python() -> tuple[str, ...]:
    """Recipes in Python."""
    examples = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples").glob("*.py"))]
    return (*examples, *_examples("python"))


@cache
def yaml() -> tuple[str, ...]:
    """Override files, and files with flags of Megatron-LM."""
    found = [ROOT / "examples" / "fsdp_overrides.yaml", ROOT / "tests" / "recipes" / "override.yaml"]
    return (
        *(path.read_text(encoding="utf-8") for path in found),
        "base: &base\n  tensor_model_parallel_size: 2\nmodel:\n  <<: *base\n  # mfsdp: ignore[MFSDP101] so\n",
        "MODEL_ARGS:\n  --use-megatron-fsdp: true\n  --ckpt-format: fsdp_dtensor\nENV_VARS:\n  NVTE_FLASH_ATTN: 1\n",
        *_examples("yaml"),
        *_examples("megatron_lm"),
    )


def _examples(kind: str) -> Iterator[str]:
    for rule in rules():
        for examples in (rule.get("examples") or {}).values():
            yield from (example[kind] for example in examples if kind in example)


def _conditions(data: Any) -> Iterator[str]:
    if isinstance(data, list):
        for item in data:
            yield from _conditions(item)
    elif isinstance(data, dict):
        for key, value in data.items():
            if key in _CONDITIONS:
                yield from _texts(value)
            if isinstance(value, (dict, list)):
                yield from _conditions(value)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
