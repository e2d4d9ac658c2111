"""The sections of a configuration are listed once: every reader knows one by the same names."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.core.values import Known
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.vocabulary import SECTIONS, table
from mfsdp_lint.megatron.vocabulary.deciding import BY_SECTION
from mfsdp_lint.megatron.vocabulary.tables import ARGUMENTS, COMMAND_LINE_SECTIONS
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.readers.yaml.read import read_yaml

SETTING = "check_for_nan_in_loss"


@pytest.mark.parametrize("section", sorted(SECTIONS))
def test_a_function_that_writes_into_a_single_section_is_a_recipe(tmp_path: Path, section: str) -> None:
    path = tmp_path / "tune.py"
    path.write_text(f"import megatron.bridge\n\n\ndef tune(cfg):\n    cfg.{section}.{SETTING} = False\n")
    (recipe,) = read_python([str(path)], Sources()).recipes
    assert recipe.partial
    assert recipe.setting(f"{section}.{SETTING}").value == Known(False)


@pytest.mark.parametrize("section", sorted(SECTIONS - {"env_vars"}))
def test_a_file_that_overrides_a_single_section_is_a_recipe(section: str) -> None:
    (recipe,) = read_yaml("override.yaml", f"{section}:\n  {SETTING}: false\n")
    assert recipe.setting(f"{section}.{SETTING}").value == Known(False)


def test_every_setting_lies_in_one_of_them() -> None:
    assert {entry.section for entry in table().entries.values()} - {"env", ARGUMENTS} <= SECTIONS
    assert set(BY_SECTION) <= SECTIONS
    assert COMMAND_LINE_SECTIONS - {ARGUMENTS} <= SECTIONS
