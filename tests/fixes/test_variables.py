"""A variable of the environment that must not be set is taken out where the recipe sets it, and no other one is."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.cli import main

HEAD = "import os\n\nfrom megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n"
RECIPE = (
    "\n\ndef r():\n"
    "    cfg = llama3_8b_pretrain_config()\n"
    "    cfg.ddp.average_in_collective = False\n"
    "    cfg.ddp.data_parallel_sharding_strategy = 'optim_grads_params'\n"
    "    cfg.dist.use_megatron_fsdp = True\n"
    "    cfg.checkpoint.ckpt_format = 'fsdp_dtensor'\n"
    "%s"
    "    return cfg\n"
)
NAME = "'CUDA_DEVICE_MAX_CONNECTIONS'"
ENTRY = f"{NAME}: '1', "

TAKEN_OUT = {
    "os.environ": (f"    os.environ[{NAME}] = '1'\n", "", ""),
    "os.environ, unless it is set": (f"    os.environ.setdefault({NAME}, '1')\n", "", ""),
    "several at once": (f"    os.environ.update({{{ENTRY}'NCCL_DEBUG': 'INFO'}})\n", ENTRY, ""),
    "the recipe's own variables": (f"    cfg.env_vars = {{{ENTRY}'NCCL_DEBUG': 'INFO'}}\n", ENTRY, ""),
    "one of the recipe's own": (f"    cfg.env_vars[{NAME}] = '1'\n", "", ""),
    "a table that a loop goes through": (
        "    for name, value in VARIABLES.items():\n        os.environ[name] = value\n",
        ENTRY,
        f"VARIABLES = {{{ENTRY}'NCCL_DEBUG': 'INFO'}}\n",
    ),
}


@pytest.mark.parametrize(("lines", "piece", "table"), TAKEN_OUT.values(), ids=TAKEN_OUT)
def test_a_variable_is_taken_out(
    lines: str, piece: str, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = HEAD + table + RECIPE % lines
    path = tmp_path / "recipes.py"
    path.write_text(before)
    main(["--target-bridge", "0.6.0", "--fix", "recipes.py"])
    assert path.read_text() == (before.replace(piece, "") if piece else before.replace(lines, ""))


SET = f"    os.environ[{NAME}] = '1'\n"
TAKEN_BACK = f"    os.environ.pop({NAME}, None)\n"
MAKE = (
    "    cfg = llama3_8b_pretrain_config()\n"
    "    cfg.ddp.average_in_collective = False\n"
    "    cfg.ddp.data_parallel_sharding_strategy = 'optim_grads_params'\n"
    "    cfg.checkpoint.ckpt_format = 'fsdp_dtensor'\n"
)
ON = "    cfg.dist.use_megatron_fsdp = True\n"
END = "    return cfg\n"
TUNE = "\n\ndef tune(cfg):\n%s"
GOOD = "\n\ndef s():\n    cfg = llama3_8b_pretrain_config()\n    tune(cfg)\n    return cfg\n"


def fixed(tmp_path: Path, **files: str) -> dict[str, str]:
    """The files (by module) that `--fix` changes, as they are then; a second run changes none."""
    (tmp_path / "pyproject.toml").write_text("")
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(text)
    before = after = files
    for _ in range(2):
        before = after
        main(["--target-bridge", "0.6.0", "--fix", *(f"{name}.py" for name in files)])
        after = {name: (tmp_path / f"{name}.py").read_text() for name in files}
    assert after == before
    return {name: text for name, text in after.items() if text != files[name]}


def test_what_a_helper_of_others_sets_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = HEAD + TUNE % SET + f"\n\ndef r():\n{MAKE}    tune(cfg)\n{ON}%s{END}" + GOOD
    assert fixed(tmp_path, recipes=text % "") == {"recipes": text % TAKEN_BACK}


def test_the_module_is_imported_where_it_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    imports = HEAD.removeprefix("import os\n\n") + "from common import tune\n"
    text = f'"""Mine."""\n\n%s{imports}\n\ndef r():\n{MAKE}    tune(cfg)\n{ON}%s{END}'
    after = text % ("import os\n", TAKEN_BACK)
    assert fixed(tmp_path, common=HEAD + TUNE % SET + GOOD, recipes=text % ("", "")) == {"recipes": after}


def test_what_the_recipe_asks_start_up_to_set_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    own = f"    cfg.env_vars[{NAME}] = 1\n"
    text = HEAD + TUNE % own + f"\n\ndef r():\n{MAKE}    tune(cfg)\n{ON}%s{END}" + GOOD
    assert fixed(tmp_path, recipes=text % "") == {"recipes": text % f"    cfg.env_vars.pop({NAME}, None)\n"}


def test_callers_who_do_not_turn_it_on_keep_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = HEAD + (
        "\n\ndef r(fsdp=False):\n    cfg = llama3_8b_pretrain_config()\n    cfg.dist.use_megatron_fsdp = fsdp\n"
        "    if fsdp:\n        cfg.checkpoint.ckpt_format = 'fsdp_dtensor'\n%s    return cfg\n"
    )
    assert fixed(tmp_path, recipes=text % SET) == {"recipes": text % f"    if not fsdp:\n    {SET}"}


def test_a_value_that_is_overwritten_is_written_as_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (
        HEAD + f"\n\ndef r():\n{MAKE}{ON}    cfg.ddp.nccl_ub = True\n    os.environ['NCCL_NVLS_ENABLE'] = '%s'\n{END}"
    )
    assert fixed(tmp_path, recipes=text % 0) == {"recipes": text % 1}
