"""Fixes of flags in YAML (`MODEL_ARGS`): the value of a flag is replaced; a flag is never written as a section."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from mfsdp_lint.cli import main

TARGET = ["--target-core", "0.14.0"]


def fixed(folder: Path, text: str) -> str:
    """The text after `--fix`."""
    path = folder / "model_config.yaml"
    path.write_text(dedent(text), encoding="utf-8")
    main([str(path), *TARGET, "--select", "MFSDP101", "--fix"])
    return path.read_text(encoding="utf-8")


def test_the_value_of_a_flag_is_replaced(tmp_path: Path) -> None:
    text = """\
        MODEL_ARGS:
          --use-megatron-fsdp: true
          --use-distributed-optimizer: true
          --ckpt-format: torch_dist # as before
          --save: /results
        """
    assert fixed(tmp_path, text) == dedent(text).replace("torch_dist", "fsdp_dtensor")


def test_a_flag_that_is_left_out_is_not_added(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "MODEL_ARGS:\n  --use-megatron-fsdp: true\n  --use-distributed-optimizer: true\n  --save: /results\n"
    assert fixed(tmp_path, text) == text
    told = capsys.readouterr().out
    assert "MFSDP101" in told
    assert "fixable" not in told
