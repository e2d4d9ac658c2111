"""A small project with something to see, and the pages made of it."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

from mfsdp_lint.cli import main
from tests.commands.samples import FILES as PLAIN
from tests.folders import working_in

HOSTILE = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'><!--<script>"
HOSTILE_FILE = "<img src=x onerror='window.hacked=1'>&amp;.py"

FILES = {
    "settings.py": PLAIN["settings.py"],
    "common.py": """\
        from settings import CheckpointConfig, ConfigContainer


        def base():
            cfg = ConfigContainer(checkpoint=CheckpointConfig(save="/results"))
            cfg.model.tensor_model_parallel_size = 2
            return cfg
    """,
    "recipes/llama/llama3.py": """\
        from common import base


        def llama3_8b_config():
            cfg = base()
            cfg.dist.use_megatron_fsdp = True
            cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
            return cfg


        def llama3_70b_config():
            cfg = base()
            cfg.model.tensor_model_parallel_size = 4
            cfg.model.pipeline_model_parallel_size = 2
            return cfg
    """,
    "recipes/qwen/qwen3.py": """\
        from common import base


        def qwen3_moe_config(offload=False):
            cfg = base()
            cfg.model.expert_model_parallel_size = 4
            cfg.mixed_precision = "bf16_with_fp8_mixed"
            return cfg
    """,
    f"recipes/{HOSTILE_FILE}": f"""\
        from common import base


        def hostile_config(name={HOSTILE!r}):
            cfg = base()
            cfg.dist.use_megatron_fsdp = True
            cfg.checkpoint.load = {HOSTILE!r}
            cfg.env_vars["<b>NAME</b>"] = {HOSTILE!r}
            cfg.ddp.no_such_field = {HOSTILE!r}
            return cfg
    """,
}

REAL = """\
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def llama3_8b_fsdp():
    cfg = llama3_8b_pretrain_config()
    cfg.dist.use_megatron_fsdp = True
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    return cfg
"""
"""A recipe that begins with one of the release's."""


def write_project(folder: Path, files: dict[str, str] = FILES) -> None:
    """Writes the project below a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")


def audit_page(folder: Path, *arguments: str) -> Path:
    """The page of the project in a folder."""
    page = folder / "audit.html"
    with working_in(folder):
        assert main(["audit", "recipes", *arguments, "--output-format", "html", "-o", str(page)]) == 0
    return page


def many(number: int) -> dict[str, str]:
    """A project of many recipes, which differ."""
    recipe = re.sub(r"^ {8}", "", FILES["recipes/llama/llama3.py"], flags=re.MULTILINE).split("\n\n\n")[1]
    found = {"settings.py": FILES["settings.py"], "common.py": FILES["common.py"]}
    for file in range(number // 10):
        functions = [
            recipe.replace("llama3_8b", f"llama{file}_{size}b").replace("= True", f"= {size % 2 == 0}")
            for size in range(10)
        ]
        found[f"recipes/family{file % 20}/llama{file}.py"] = "from common import base\n\n\n" + "\n\n\n".join(functions)
    return found
