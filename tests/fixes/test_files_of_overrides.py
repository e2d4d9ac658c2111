"""A bad value that a program reads from a YAML file is changed in that file."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.cli import main

TRAIN = """\
from pathlib import Path

import yaml
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

OVERRIDES = Path(__file__).parent / "overrides.yaml"


def main():
    cfg = llama3_8b_pretrain_config()
    cfg.checkpoint.load = None
    cfg.checkpoint.pretrained_checkpoint = None
    for section, values in yaml.safe_load(OVERRIDES.read_text()).items():
        for name, value in values.items():
            setattr(getattr(cfg, section), name, value)
    %spretrain(cfg, forward_step)


if __name__ == "__main__":
    main()
"""
FORMAT = "checkpoint:\n  ckpt_format: torch_dist  # as always\n"
SWITCH = "ddp:\n  use_megatron_fsdp: true\n  average_in_collective: false\n"


def fixed(folder: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str]) -> dict[str, str]:
    """The files that fixing changes; a second run changes none."""
    monkeypatch.chdir(folder)
    (folder / "pyproject.toml").write_text("")
    for path, text in files.items():
        (folder / path).write_text(text)
    found = []
    for _ in range(2):
        main(["--target-bridge", "0.3.1", "--fix", "."])
        found.append({path: (folder / path).read_text() for path in files})
    assert found[0] == found[1]
    return {path: text for path, text in found[0].items() if text != files[path]}


def test_what_is_wrong_with_what_the_program_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    switched_on = TRAIN % "cfg.ddp.use_megatron_fsdp = True\n    cfg.ddp.average_in_collective = False\n    "
    files = {"train.py": switched_on, "overrides.yaml": FORMAT}
    assert fixed(tmp_path, monkeypatch, files) == {"overrides.yaml": FORMAT.replace("torch_dist", "fsdp_dtensor")}


def test_what_is_wrong_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"train.py": TRAIN % "", "overrides.yaml": SWITCH + FORMAT}
    after = (SWITCH + FORMAT).replace("torch_dist", "fsdp_dtensor")
    assert fixed(tmp_path, monkeypatch, files) == {"overrides.yaml": after}


def test_another_program_that_reads_it_and_is_fine_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    switched_on = TRAIN % "cfg.ddp.use_megatron_fsdp = True\n    cfg.ddp.average_in_collective = False\n    "
    files = {"train.py": switched_on, "other.py": TRAIN % "", "overrides.yaml": FORMAT}
    assert "overrides.yaml" not in fixed(tmp_path, monkeypatch, files)


def test_what_is_missing_is_added_to_the_file_that_turned_it_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"train.py": TRAIN % "", "overrides.yaml": SWITCH}
    after = SWITCH + "checkpoint:\n  ckpt_format: fsdp_dtensor\n"
    assert fixed(tmp_path, monkeypatch, files) == {"overrides.yaml": after}
