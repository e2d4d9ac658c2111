"""Where a finding is told: at the text whose change removes it, and harms no other recipe."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.engine.run import run
from mfsdp_lint.inputs.options import Options

UPSTREAM = "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n"
ON = "cfg.ddp.use_megatron_fsdp = True; cfg.checkpoint.ckpt_format = 'fsdp_dtensor'"


def place(text: str, code: str, version: str = "0.4.2") -> str:
    """Return the line at which a recipe is told to break a rule."""
    Path("recipes.py").write_text(UPSTREAM + text)
    findings = run(Options(paths=("recipes.py",), target_bridge=version)).findings
    (line,) = (each.span.line for each in findings if each.code == code)
    return Path("recipes.py").read_text().splitlines()[line - 1].strip()


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_what_start_up_copies_is_told_at_the_text_that_it_copies() -> None:
    text = f"""
from megatron.bridge.training.comm_overlap import CommOverlapConfig

def recipe():
    cfg = llama3_8b_pretrain_config()
    {ON}
    cfg.comm_overlap = CommOverlapConfig(
        tp_comm_overlap=False,
        overlap_moe_expert_parallel_comm=True,
    )
    return cfg
"""
    assert place(text, "MFSDP508") == "overlap_moe_expert_parallel_comm=True,"


TABLES = """
DEFAULTS = {"checkpoint.async_save": True}
SHARDED = {
    "ddp.use_megatron_fsdp": True,
    "checkpoint.ckpt_format": "fsdp_dtensor",
}
"""
FORMAT = '"checkpoint.ckpt_format": "fsdp_dtensor",'

SETTING = """
def build(settings):
    cfg = llama3_8b_pretrain_config()
    for path, value in settings.items():
        section, name = path.split(".")
        setattr(getattr(cfg, section), name, value)
    return cfg

def plain():
    return build({plain})

def sharded():
    return build({sharded})
"""


def test_a_line_that_every_setting_goes_through_is_no_place() -> None:
    merged = SETTING.format(plain="DEFAULTS", sharded="{**DEFAULTS, **SHARDED}")
    assert place(TABLES + merged, "MFSDP103") == FORMAT
    chained = SETTING.format(plain="ChainMap(DEFAULTS)", sharded="ChainMap(SHARDED, DEFAULTS)")
    assert place(f"from collections import ChainMap\n{TABLES}{chained}", "MFSDP103") == FORMAT


def test_a_comprehension_that_every_setting_goes_through_is_no_place() -> None:
    merging = """
def merged(one, two):
    return {key: two.get(key, one.get(key)) for key in [*one, *two]}
"""
    text = TABLES + merging + SETTING.format(plain="DEFAULTS", sharded="merged(DEFAULTS, SHARDED)")
    assert place(text, "MFSDP103") == FORMAT


def test_a_default_that_is_right_for_others_is_told_where_it_is_left() -> None:
    text = f"""
from dataclasses import dataclass

@dataclass
class Placement:
    outside: bool = True

def build(fsdp, placement):
    cfg = llama3_8b_pretrain_config()
    if fsdp:
        {ON}
    cfg.dist.use_tp_pp_dp_mapping = placement.outside
    return cfg

def plain():
    return build(False, Placement())

def apart():
    return build(True, Placement(outside=False))

def sharded():
    return build(
        True,
        Placement(),
    )
"""
    assert place(text, "MFSDP302") == "Placement(),"


def test_a_helper_has_one_path_whoever_finds_it() -> None:
    Path("pyproject.toml").touch()
    for name in ("conf", "src/team"):
        Path(name).mkdir(parents=True)
    Path("src/team/sharding.py").write_text("def shard(cfg):\n    cfg.ddp.use_megatron_fsdp = True\n")
    text = f"{UPSTREAM}from team.sharding import shard\n\ndef recipe():\n    cfg = llama3_8b_pretrain_config()\n"
    Path("conf/recipes.py").write_text(f"{text}    cfg.checkpoint.save = '/results'\n    shard(cfg)\n    return cfg\n")
    (finding,) = (each for each in run(Options(paths=("conf/recipes.py",))).findings if each.code == "MFSDP101")
    assert "src/team/sharding.py" in {finding.span.path, *(note.span.path for note in finding.related)}
