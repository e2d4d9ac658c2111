"""Small packages whose modules change each other when they are imported, or from within their recipes."""

from __future__ import annotations

import random
from pathlib import Path

_LIBRARY = """
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config as upstream

REGISTRY = {{}}
DEFAULTS = {{"precision": "bf16_mixed"}}
FORMAT = "torch_dist"


class Policy:
    strategy = "{strategy}"


def register(function):
    REGISTRY[function.__name__] = function
    return function


def base():
    cfg = upstream()
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.data_parallel_sharding_strategy = Policy.strategy
    cfg.checkpoint.ckpt_format = FORMAT
    cfg.model.seq_length = getattr(base, "length", 4096)
    if "wide" in REGISTRY:
        cfg.model.hidden_size = 8192
    return cfg
"""

_CHANGES = (
    "library.FORMAT = 'fsdp_dtensor'",
    "library.Policy.strategy = 'no_shard'",
    "library.base.length = 8192",
    "library.DEFAULTS['precision'] = 'fp16_mixed'",
    "library.REGISTRY.update(wide=None)",
    "setattr(library, 'FORMAT', 'zarr')",
    "import megatron.bridge.recipes.llama as llama\nllama.llama3_8b_pretrain_config = library.base",
    "@library.register\ndef wide():\n    cfg = library.base()\n    return cfg",
    "def _install():\n    library.Policy.strategy = 'optim'\n_install()",
    "import sys\nsys.path.insert(0, 'elsewhere')",
    "from unittest.mock import patch\npatch.object(library, 'FORMAT', 'torch').start()",
)

_RECIPES = (
    "cfg = library.base()",
    "from library import base\n    cfg = base()",
    "import megatron.bridge.recipes.llama as llama\n    cfg = llama.llama3_8b_pretrain_config()",
    "cfg = fixed()",
    "library.FORMAT = 'torch'\n    cfg = library.base()",
    "library.REGISTRY['wide'] = None\n    cfg = library.base()",
    "library.Policy.strategy = 'optim_grads'\n    cfg = library.base()",
)


def package(draw: random.Random, folder: Path) -> list[str]:
    """Write a package into a new folder; its files."""
    folder.mkdir()
    for name, text in _texts(draw).items():
        (folder / name).write_text(text)
    return sorted(map(str, folder.glob("*.py")))


def _texts(draw: random.Random) -> dict[str, str]:
    texts = {"library.py": _LIBRARY.format(strategy=draw.choice(("optim_grads_params", "no_shard")))}
    changing = [f"patch_{number}" for number in range(draw.randint(1, 3))]
    for name in changing:
        before = draw.choice(("", f"import {draw.choice(changing)}\n"))
        texts[f"{name}.py"] = f"{before}import library\n\n{draw.choice(_CHANGES)}\n"
    for number in range(draw.randint(2, 5)):
        imports = ["import library", "from library import base as fixed"]
        imports += [f"import {name}" for name in changing if draw.random() < 0.4]
        draw.shuffle(imports)
        recipes = (*_RECIPES, *(f"import {name}\n    cfg = library.base()" for name in changing))
        lines = [
            f"def recipe_{each}():\n    {draw.choice(recipes)}\n    return cfg" for each in range(draw.randint(1, 3))
        ]
        texts[f"recipes_{number}.py"] = "\n".join((*imports, "", *lines, ""))
    return texts
