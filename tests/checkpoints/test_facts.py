"""What lies at a recipe's `checkpoint.load` is told with the recipe's findings."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import mfsdp_lint

WRITTEN = Path(__file__).parent / "written"
RECIPE = """
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

def resumed():
    cfg = llama3_8b_pretrain_config()
    cfg.checkpoint.ckpt_format = "{format}"
    cfg.checkpoint.load = "{load}"
    return cfg
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run's folder, saved as torch_dist."""
    shutil.copytree(WRITTEN / "torch_dist", tmp_path / "run")
    return tmp_path / "run"


def told(folder: Path, load: object, format: str = "torch_dist", target: str = "0.6.0") -> list[str]:
    """What is said of a recipe that loads that."""
    recipe = folder / "recipe.py"
    recipe.write_text(RECIPE.format(load=load, format=format))
    found = mfsdp_lint.check([str(recipe)], target_bridge=target, select=["MFSDP172", "MFSDP173"]).findings
    return [f"{each.code}: {each.message}".replace(str(folder), "…") for each in found]


def test_a_checkpoint_that_fits_is_nothing_to_talk_about(run: Path, tmp_path: Path) -> None:
    assert told(tmp_path, run) == []


def test_the_format_that_lies_there_is_not_the_one_that_is_loaded(run: Path, tmp_path: Path) -> None:
    assert told(tmp_path, run, "fsdp_dtensor") == [
        'MFSDP172: the checkpoint at "…/run" is "torch_dist", and checkpoint.ckpt_format is "fsdp_dtensor"'
    ]


def test_a_relative_path_is_looked_for_where_the_linter_is_started(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The recipes of a release save and load below the folder that they are started in."""
    (tmp_path / "nemo_experiments" / "default").mkdir(parents=True)
    run.rename(tmp_path / "nemo_experiments" / "default" / "checkpoints")
    monkeypatch.chdir(tmp_path)
    assert len(told(tmp_path, "nemo_experiments/default/checkpoints", "fsdp_dtensor")) == 1
    recipe = (tmp_path / "recipe.py").read_text()
    as_released = "".join(line for line in recipe.splitlines(keepends=True) if "checkpoint.load" not in line)
    (tmp_path / "recipe.py").write_text(as_released)
    (finding,) = mfsdp_lint.check(["recipe.py"], target_bridge="0.6.0", select=["MFSDP172"]).findings
    assert finding.message.startswith('the checkpoint at "<CWD>/nemo_experiments/default/checkpoints" is "torch_dist"')


def test_of_iterations_in_two_formats_nothing_is_said(run: Path, tmp_path: Path) -> None:
    shutil.copytree(WRITTEN / "fsdp_dtensor" / "iter_0000005", run / "iter_0000010")
    assert told(tmp_path, run, "fsdp_dtensor") == []


def test_a_folder_that_is_not_there_or_still_empty_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    assert told(tmp_path, tmp_path / "new") == told(tmp_path, tmp_path / "nowhere") == told(tmp_path, __file__) == []


def test_without_its_tracker_a_run_finds_nothing(run: Path, tmp_path: Path) -> None:
    (run / "latest_checkpointed_iteration.txt").unlink()
    assert told(tmp_path, run) == [
        'MFSDP173: checkpoint.load is "…/run", which holds no tracker: latest_checkpointed_iteration.txt is missing'
    ]


def test_nor_does_it_in_the_folder_above(run: Path, tmp_path: Path) -> None:
    assert told(tmp_path, run.parent) == [
        'MFSDP173: checkpoint.load is "…", and the checkpoint lies in a folder below it'
    ]


def test_an_iteration_is_loaded_by_itself_since_0_4(run: Path, tmp_path: Path) -> None:
    iteration = run / "iter_0000005"
    assert told(tmp_path, iteration, target="0.6.0") == []
    assert told(tmp_path, iteration, target="0.3.1") == [
        'MFSDP173: checkpoint.load is "…/run/iter_0000005", which is one iteration and not the folder of the run'
    ]


def test_the_tracker_names_another_iteration(run: Path, tmp_path: Path) -> None:
    (run / "latest_checkpointed_iteration.txt").write_text("7")
    assert told(tmp_path, run) == ['MFSDP173: the tracker at "…/run" names an iteration that is not there']
    (run / "latest_train_state.pt").touch()  # which is read first, and what it names is not known
    assert told(tmp_path, run) == []


def test_a_published_model_is_no_checkpoint(tmp_path: Path) -> None:
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text("{}")
    (model / "model.safetensors").touch()
    assert told(tmp_path, model, target="0.5.1") == [
        'MFSDP173: checkpoint.load is "…/model", which holds a model for Hugging Face'
    ]


def test_the_format_is_not_changed_where_the_run_goes_on_from_the_old_one(run: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.py"
    text = RECIPE.format(load=run, format="torch_dist").replace(
        "    return cfg", f'    cfg.checkpoint.save = "{run}"\n    cfg.ddp.use_megatron_fsdp = True\n    return cfg'
    )
    recipe.write_text(text)
    (finding,) = mfsdp_lint.check([str(recipe)], target_bridge="0.6.0", select=["MFSDP101"]).findings
    assert (finding.fix, finding.no_fix) == (None, "held back: MFSDP172 would appear in recipe.resumed")
