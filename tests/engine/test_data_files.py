"""What a program loads from data is told there, as far as the data lies with the files that were asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.core.finding import Finding
from mfsdp_lint.engine.run import run
from mfsdp_lint.inputs.options import Options

PROGRAM = """\
import json, yaml
from pathlib import Path
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

def recipe():
    cfg = llama3_8b_pretrain_config()
    text = (Path(__file__).parent / "{name}").read_text()
    cfg.ddp.use_megatron_fsdp = {load}(text)["fsdp"]
    return cfg
"""

REFUSED = """\
import json
from pathlib import Path
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.config import DistributedDataParallelConfig
def recipe():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp = DistributedDataParallelConfig(**json.loads((Path(__file__).parent / "{name}").read_text()))
    return cfg
"""

DATA = {"conf.json": ("json.loads", '{\n  "fsdp": true\n}\n'), "conf.yaml": ("yaml.safe_load", "\nfsdp: true\n")}


def found(folder: Path, name: str, asked: str) -> Finding:
    """MFSDP101 of a program in `folder/src` that reads the data file `name`, which is relative to the program."""
    load, data = DATA[Path(name).name]
    (folder / "src").mkdir()
    (folder / "src/recipes.py").write_text(PROGRAM.format(name=name, load=load))
    path = folder / "src" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(data)
    findings = run(Options(paths=(str(folder / asked),), target_bridge="0.3.1")).findings
    return next(each for each in findings if each.code == "MFSDP101")


@pytest.mark.parametrize("name", ["conf.json", "conf.yaml", "conf/conf.json"])
@pytest.mark.parametrize("asked", ["src", "src/recipes.py"])
def test_the_entry_is_the_place(name: str, asked: str, tmp_path: Path) -> None:
    finding = found(tmp_path, name, asked)
    assert (finding.span.path, finding.span.line) == (str(tmp_path / "src" / name), 2)
    assert finding.handed_on is not None
    assert finding.handed_on.path.endswith("recipes.py")


def test_data_elsewhere_is_told_where_it_is_handed_on(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert found(tmp_path, "../conf.json", "src").span.path.endswith("recipes.py")


def test_data_elsewhere_in_a_folder_that_is_asked_for_is_the_place(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert found(tmp_path, "../conf.json", ".").span.path.endswith("conf.json")


@pytest.mark.parametrize(
    ("name", "place"), [("keys.json", ("keys.json", 2, 3)), ("../keys.json", ("recipes.py", 7, 15))]
)
def test_an_argument_that_is_refused_is_told_where_the_data_names_it(
    name: str, place: tuple[str, int, int], tmp_path: Path
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / "src/recipes.py").write_text(REFUSED.format(name=name))
    (tmp_path / "src" / name).write_text('{\n  "no_field": true\n}\n')
    (finding,) = run(Options(paths=(str(tmp_path / "src"),), target_bridge="0.3.1")).findings
    assert finding.code == "MFSDP904"
    assert (Path(finding.span.path).name, finding.span.line, finding.span.column) == place


def test_what_is_told_in_a_file_that_nobody_edits_is_fixed_in_the_recipe(tmp_path: Path) -> None:
    fix = found(tmp_path, "conf.json", "src").fix
    assert fix is not None
    assert {edit.span.path for edit in fix.edits} == {str(tmp_path / "src" / "recipes.py")}


def test_a_comment_where_the_value_is_handed_on_silences_it_as_well(tmp_path: Path) -> None:
    finding = found(tmp_path, "conf.json", "src")
    assert finding.suppressed is None
    program = tmp_path / "src/recipes.py"
    program.write_text(program.read_text().replace('["fsdp"]', '["fsdp"]  # mfsdp: ignore[MFSDP101] tried out'))
    (again,) = (
        each for each in run(Options(paths=(str(tmp_path),), target_bridge="0.3.1")).findings if each.code == "MFSDP101"
    )
    assert again.suppressed is not None
