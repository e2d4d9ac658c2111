"""Launch scripts that start a program of Megatron-Bridge which a release renamed, or lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.cli import main

OLD = "scripts/performance/configs/llama31/llama31_llm_pretrain.py"
NEW = "scripts/performance/configs/llama/llama31_llm_pretrain.py"
LAUNCH = "#!/bin/bash\ntorchrun --nproc-per-node 8 /opt/Megatron-Bridge/{}\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()


def upgraded(text: str, old: str, new: str) -> str:
    Path("launch.sh").write_text(text)
    main(["upgrade", "--from", old, "--to", new, "--write", "launch.sh"])
    return Path("launch.sh").read_text()


def test_a_program_that_moved_is_started_where_it_is_now() -> None:
    assert upgraded(LAUNCH.format(OLD), "0.2.0", "0.3.1") == LAUNCH.format(NEW)


def test_a_downgrade_takes_it_back() -> None:
    assert upgraded(LAUNCH.format(NEW), "0.3.1", "0.2.0") == LAUNCH.format(OLD)


def test_one_without_a_successor_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    text = LAUNCH.format("scripts/import_hf_ckpt.py")
    assert upgraded(text, "0.2.0", "0.6.0") == text
    assert "launch.sh:2:50: scripts/import_hf_ckpt.py is gone from Megatron-Bridge" in capsys.readouterr().out


def test_another_program_that_upstream_names_instead_is_told_and_not_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = "#!/bin/bash\npython examples/conversion/convert_checkpoints.py import --hf-model meta-llama/Llama-3.2-1B\n"
    assert upgraded(text, "0.3.1", "0.6.0") == text
    said = capsys.readouterr().out
    assert "convert_checkpoints.py is gone from Megatron-Bridge; it is scripts/conversion/convert.sh now" in said
    assert "it is another program" in said


def test_a_recipe_that_a_script_names_is_followed_as_in_python() -> None:
    text = LAUNCH.format("scripts/training/run_recipe.py --recipe {}")
    found = upgraded(text.format("qwen3_8b_finetune_config"), "0.2.0", "0.3.1")
    assert found == text.format("qwen3_8b_peft_config")


def test_a_recipe_that_a_script_names_and_the_release_has_stays() -> None:
    text = LAUNCH.format("scripts/training/run_recipe.py --recipe=llama3_8b_pretrain_config")
    assert upgraded(text, "0.2.0", "0.3.1") == text


def test_a_module_that_is_gone_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    upgraded("#!/bin/bash\ntorchrun -m megatron.bridge.recipes.mamba.mamba2\n", "0.2.0", "0.3.1")
    assert "module megatron.bridge.recipes.mamba.mamba2 is gone" in capsys.readouterr().out


def test_a_file_of_the_project_itself_is_not_upstreams() -> None:
    Path(OLD).parent.mkdir(parents=True)
    Path(OLD).touch()
    text = "#!/bin/bash\ntorchrun --nproc-per-node 8 " + OLD + "\n"
    assert upgraded(text, "0.2.0", "0.3.1") == text


def test_a_comment_starts_nothing() -> None:
    text = f"#!/bin/bash\n# torchrun {OLD}\n"
    assert upgraded(text, "0.2.0", "0.3.1") == text
