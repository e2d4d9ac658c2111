"""Callers with other arguments, and files that were not passed: what works for them today works after a fix."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mfsdp_lint.cli import main

HEAD = "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n\n\n"
MAKE = (
    "    cfg = llama3_8b_pretrain_config()\n"
    "    cfg.checkpoint.pretrained_checkpoint = None\n"
    "    cfg.checkpoint.load = None\n"
    '    cfg.checkpoint.save = "/results"\n'
    "    cfg.ddp.average_in_collective = False\n"
)
BAD = '    cfg.checkpoint.ckpt_format = "torch_dist"\n'
SET = '    cfg.checkpoint.ckpt_format = "fsdp_dtensor"\n'

Fix = Callable[..., dict[str, str]]


@pytest.fixture
def fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Fix:
    """Fixes the files that are passed (all, unless said), and gives those that changed; a second run changes none."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("")

    def fix(files: dict[str, str], *passed: str, option: str = "--fix") -> dict[str, str]:
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        assert main(["--target-bridge", "0.3.1", option, *(passed or files)]) in (0, 1)
        after = {path: (tmp_path / path).read_text() for path in files}
        main(["--target-bridge", "0.3.1", option, *(passed or files)])
        assert {path: (tmp_path / path).read_text() for path in files} == after
        capsys.readouterr()
        return {path: text for path, text in after.items() if text != files[path]}

    return fix


@pytest.mark.parametrize("default", ["True", "False"])
def test_the_other_side_of_a_switch_keeps_its_format(fix: Fix, default: str) -> None:
    text = HEAD + f"def r(fsdp={default}):\n{MAKE}    cfg.dist.use_megatron_fsdp = fsdp\n%s    return cfg\n"
    line = '    cfg.checkpoint.ckpt_format = "fsdp_dtensor" if fsdp else "torch_dist"\n'
    assert fix({"a.py": text % ""}) == {"a.py": text % line}


@pytest.mark.parametrize("written", ["", BAD])
def test_a_switch_that_callers_have_to_give(fix: Fix, written: str) -> None:
    text = HEAD + f"def r(fsdp: bool):\n{MAKE}%s    cfg.dist.use_megatron_fsdp = fsdp\n%s    return cfg\n"
    line = '    cfg.checkpoint.ckpt_format = "fsdp_dtensor" if fsdp else "torch_dist"\n'
    after = (line, "") if written else ("", line)
    assert fix({"a.py": text % (written, "")}) == {"a.py": text % after}


def test_a_required_switch_that_is_on_for_nobody_knows_whom(fix: Fix) -> None:
    text = HEAD + f"def r(fsdp: int):\n{MAKE}    cfg.dist.use_megatron_fsdp = bool(int(fsdp))\n    return cfg\n"
    assert fix({"a.py": text}) == {}


def test_a_written_format_becomes_conditional_where_it_stands(fix: Fix) -> None:
    text = HEAD + f"def r(fsdp=True):\n{MAKE}%s    cfg.dist.use_megatron_fsdp = fsdp\n    return cfg\n"
    line = '    cfg.checkpoint.ckpt_format = "fsdp_dtensor" if fsdp else "torch_dist"\n'
    assert fix({"a.py": text % BAD}) == {"a.py": text % line}


def test_in_the_branch_that_turns_it_on(fix: Fix) -> None:
    text = (
        HEAD + f"def r(fsdp=True):\n{MAKE}    if fsdp:\n        cfg.dist.use_megatron_fsdp = True\n%s    return cfg\n"
    )
    assert fix({"a.py": text % ""}) == {"a.py": text % f"    {SET}"}


def test_what_is_off_for_some_is_written_as_one_would(fix: Fix) -> None:
    text = (
        HEAD + f"def r(fsdp=True):\n{MAKE}    cfg.dist.use_torch_fsdp2 = %s\n    cfg.dist.use_megatron_fsdp = fsdp\n%s"
    )
    line = '    cfg.checkpoint.ckpt_format = "fsdp_dtensor" if fsdp else "torch_dist"\n    return cfg\n'
    assert fix({"a.py": text % ("True", line)}) == {"a.py": text % ("not fsdp", line)}


def test_of_several_lines_that_it_takes_the_one_for_callers_to_decide_counts(fix: Fix) -> None:
    strategy = '    cfg.ddp.data_parallel_sharding_strategy = "no_shard"\n'
    switch = "    if fsdp:\n        cfg.dist.use_megatron_fsdp = True\n        cfg.ddp.overlap_param_gather = True\n"
    meta = "    cfg.model.init_model_with_meta_device = "
    after = fix({"a.py": f"{HEAD}def r(fsdp=True):\n{MAKE}{meta}True\n{SET}{strategy}{switch}    return cfg\n"})
    assert f"{meta}not fsdp\n" in after["a.py"]


def test_fixes_that_hold_together_alone_and_for_one_side(fix: Fix) -> None:
    text = (
        HEAD + f"def r(fsdp=True):\n{MAKE}    cfg.dist.use_torch_fsdp2 = %s\n    cfg.dist.use_megatron_fsdp = fsdp\n%s"
    )
    line = '    cfg.checkpoint.ckpt_format = "fsdp_dtensor" if fsdp else "torch_dist"\n'
    end = "    return cfg\n"
    assert fix({"a.py": text % ("True", end)}) == {"a.py": text % ("not fsdp", line + end)}


def test_what_is_wrong_for_those_alone_who_do_not_turn_it_on(fix: Fix) -> None:
    text = HEAD + f"def r(fsdp=False):\n{MAKE}    cfg.dist.use_megatron_fsdp = fsdp\n%s    return cfg\n"
    line = '    cfg.checkpoint.ckpt_format = "fsdp_dtensor" if fsdp else "torch_dist"\n'
    assert fix({"a.py": text % SET}) == {"a.py": text % line}


def test_what_start_up_replaces_only_for_those_who_turn_it_on(fix: Fix) -> None:
    text = (
        HEAD
        + f'def r(fsdp=True):\n{MAKE}{SET}    cfg.mixed_precision = "bf16_mixed"\n'
        + "    cfg.ddp.grad_reduce_in_fp32 = False\n    if fsdp:\n        cfg.dist.use_megatron_fsdp = True\n%s"
        + "    return cfg\n"
    )
    after = fix({"a.py": text % ""})["a.py"]
    assert "        cfg.ddp.grad_reduce_in_fp32 = True\n" in after
    assert "    cfg.ddp.grad_reduce_in_fp32 = False\n    if fsdp:\n" in after


def test_a_choice_that_is_compared_with(fix: Fix) -> None:
    text = (
        HEAD + f'def r(wrapper="mfsdp"):\n{MAKE}    cfg.dist.use_megatron_fsdp = wrapper == "mfsdp"\n%s    return cfg\n'
    )
    line = '    cfg.checkpoint.ckpt_format = "fsdp_dtensor" if wrapper == "mfsdp" else "torch_dist"\n'
    assert fix({"a.py": text % ""}) == {"a.py": text % line}


def test_what_a_caller_in_the_tree_passes(fix: Fix) -> None:
    text = HEAD + f"def r(ranks=8):\n{MAKE}    cfg.dist.use_megatron_fsdp = bool(int(ranks))\n    return cfg\n"
    assert fix({"a.py": text, "main.py": "from a import r\n\n\ndef go():\n    print(r(0))\n"}) == {}


def test_a_parameters_default_is_changed_and_not_its_use(fix: Fix) -> None:
    text = (
        HEAD
        + f'def r(ckpt_format="%s"):\n{MAKE}    cfg.dist.use_megatron_fsdp = True\n'
        + "    cfg.checkpoint.ckpt_format = ckpt_format\n    return cfg\n"
    )
    assert fix({"a.py": text % "torch_dist"}) == {"a.py": text % "fsdp_dtensor"}


COMMON = HEAD + f"def _common():\n{MAKE}{BAD}    return cfg\n"


def recipe(name: str, fsdp: bool, module: str = "common") -> str:
    return (
        f"from {module} import _common\n\n\n"
        f"def {name}():\n    cfg = _common()\n    cfg.dist.use_megatron_fsdp = {fsdp}\n    return cfg\n"
    )


def behind(text: str) -> str:
    return text.replace("fsdp = True\n", f"fsdp = True\n{SET}")


def test_a_helper_that_a_file_not_passed_uses_stays(fix: Fix) -> None:
    files = {"common.py": COMMON, "a.py": recipe("a", True), "s.py": recipe("s", False)}
    assert fix(files, "common.py", "a.py") == {"a.py": behind(files["a.py"])}


def test_whoever_uses_it_at_second_hand_counts(fix: Fix) -> None:
    files = {
        "common.py": COMMON,
        "a.py": recipe("a", True),
        "again.py": "from common import _common\n",
        "deep/er/s.py": recipe("s", False, "again"),
    }
    assert fix(files, "common.py", "a.py") == {"a.py": behind(files["a.py"])}


def test_a_file_not_passed_that_needs_the_same_is_no_obstacle_and_not_edited(fix: Fix) -> None:
    files = {"common.py": COMMON, "a.py": recipe("a", True), "s.py": recipe("s", True)}
    assert fix(files, "common.py", "a.py") == {"common.py": COMMON.replace('"torch_dist"', '"fsdp_dtensor"')}


def test_a_file_that_nobody_wrote_by_hand_does_not_count(fix: Fix) -> None:
    files = {"common.py": COMMON, "a.py": recipe("a", True), "build/s.py": recipe("s", False)}
    assert set(fix(files, "common.py", "a.py")) == {"common.py"}


def test_other_functions_of_a_file_of_which_one_was_asked_for(fix: Fix) -> None:
    more = "\n\ndef a():\n    cfg = _common()\n    cfg.dist.use_megatron_fsdp = True\n    return cfg\n"
    fine = "\n\ndef s():\n    return _common()\n"
    assert fix({"c.py": COMMON + more + fine}, "c.py::a") == {"c.py": behind(COMMON + more + fine)}


def test_a_helper_that_callers_of_another_recipe_may_turn_on_is_mended_for_them_too(fix: Fix) -> None:
    shard = "def shard(cfg):\n    cfg.ddp.use_megatron_fsdp = True\n%s    cfg.ddp.average_in_collective = %s\n"
    base = f"def base(fsdp: bool = False):\n{MAKE}    if fsdp:\n        shard(cfg)\n    return cfg\n"
    files = {
        "sharding.py": shard % ("", True),
        "shared.py": f"from sharding import shard\n{HEAD}{base}",
        "a.py": "from shared import base\n\n\ndef a(fsdp: bool = True):\n    return base(fsdp=fsdp)\n",
    }
    assert fix(files) == {"sharding.py": shard % (SET, False)}


def test_what_a_fix_leaves_is_told_as_by_a_check_after_it(fix: Fix, capsys: pytest.CaptureFixture[str]) -> None:
    files = {
        "sharding.py": f"def shard(cfg):\n    cfg.ddp.use_megatron_fsdp = True\n{SET}",
        "shared.py": "from sharding import shard\n"
        + HEAD
        + "def base(fsdp: bool = False):\n    cfg = llama3_8b_pretrain_config()\n    if fsdp:\n        shard(cfg)\n"
        "    return cfg\n",
        "a.py": "from shared import base\n\n\ndef a(fsdp: bool = True):\n    return base(fsdp=fsdp)\n",
    }
    for path, text in files.items():
        Path(path).write_text(text)
    asked = ["--target-bridge", "0.3.1", "--no-cache", "--show-fixes", *files]
    main(["--fix", *asked])
    done, _, left = capsys.readouterr().out.partition("\n")
    main(asked)
    assert done == "sharding.py:3: fixed MFSDP502 (safe): ddp.average_in_collective = False"
    assert left.replace(" 1 fixed;", "") == capsys.readouterr().out
    assert "write `cfg.ddp.data_parallel_sharding_strategy" in left
