"""What a folder holds. `written` was made by the real torch and megatron-core (write.py, write_zarr.py)."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from mfsdp_lint.checkpoints.folder import CheckpointFolder, Iteration, NoFolder, checkpoint, iteration

WRITTEN = Path(__file__).parent / "written"
FORMATS = ("torch_dist", "fsdp_dtensor", "torch_dcp", "torch", "zarr")


@pytest.fixture(params=FORMATS)
def written(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of a checkpoint, by the name of its format."""
    return copied(request.param, tmp_path)


def copied(name: str, folder: Path) -> Path:
    shutil.copytree(WRITTEN / name, folder / name)
    return folder / name


def only(found: CheckpointFolder) -> Iteration:
    (iteration,) = found.iterations
    return iteration


def told(found: CheckpointFolder) -> list[str]:
    return [trouble.message for trouble in found.every_trouble if trouble.weight != "info"]


def test_the_format_is_told_by_what_lies_in_it(written: Path) -> None:
    found = checkpoint(str(written))
    assert (found.level, found.latest, told(found)) == ("run", "5", [])
    assert only(found).format == written.name
    whole, ranks = (None, None) if written.name == "zarr" else (True, 1)  # nothing in zarr tells what should be there
    assert (only(found).complete, only(found).ranks) == (whole, ranks)


@pytest.mark.parametrize("name", ["torch_dist", "fsdp_dtensor", "torch_dcp", "zarr"])
def test_so_is_whether_it_holds_the_optimizer(name: str) -> None:
    assert only(checkpoint(str(WRITTEN / name))).optimizer is True


def test_the_folders_of_the_legacy_format_name_the_parallel_sizes(tmp_path: Path) -> None:
    run = copied("torch", tmp_path)
    (rank,) = (run / "iter_0000005").iterdir()
    for tensor in range(2):
        for pipeline in range(3):
            shutil.copytree(rank, rank.with_name(f"mp_rank_{tensor:02d}_{pipeline:03d}"))
    shutil.rmtree(rank)
    found = only(checkpoint(str(run)))
    assert dict(found.sizes) == {"model.tensor_model_parallel_size": 2, "model.pipeline_model_parallel_size": 3}
    assert found.complete
    shutil.rmtree(rank.with_name("mp_rank_01_002"))
    assert told(checkpoint(str(run))) == ["folders of some ranks are missing"]


def test_without_a_tracker_a_run_starts_anew(written: Path) -> None:
    (written / "latest_checkpointed_iteration.txt").unlink()
    (trouble,) = checkpoint(str(written)).troubles
    assert trouble.message == "latest_checkpointed_iteration.txt is missing"
    assert "starts from random weights" in trouble.consequence


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("7", "names iter_0000007, which is not there"),
        ("release", "names release, which is not there"),
        ("five", "holds neither a number nor `release`"),
        ("", "holds neither a number nor `release`"),
        ("9" * 5000, "holds neither a number nor `release`"),
    ],
)
def test_a_tracker_names_an_iteration_that_is_there(tmp_path: Path, text: str, message: str) -> None:
    run = copied("torch_dist", tmp_path)
    (run / "latest_checkpointed_iteration.txt").write_text(text)
    assert told(checkpoint(str(run))) == [message]


def test_one_iteration_is_the_wrong_level(written: Path) -> None:
    found = checkpoint(str(written / "iter_0000005"))
    assert found.level == "iteration"
    assert found.troubles[0].message.startswith("is one iteration: `checkpoint.load` takes the folder above it")


def test_the_folder_above_a_run_is_as_well(written: Path) -> None:
    found = checkpoint(str(written.parent))
    assert (found.level, told(found)) == ("nothing", [f"holds no checkpoint; {written.name} below it does"])


def test_what_was_cut_off_is_no_checkpoint(tmp_path: Path) -> None:
    run = copied("torch_dist", tmp_path)
    (run / "iter_0000006").mkdir()
    (run / "iter_0000007").mkdir()
    shutil.copy(run / "iter_0000005" / "common.pt", run / "iter_0000007")
    assert told(checkpoint(str(run))) == [
        "empty: nothing was saved",
        "common.pt alone: it was not saved to the end",
    ]


@pytest.mark.parametrize("name", ["torch_dist", "fsdp_dtensor"])
def test_a_data_file_is_there_to_its_end(tmp_path: Path, name: str) -> None:
    data = copied(name, tmp_path) / "iter_0000005" / "__0_0.distcp"
    whole = data.read_bytes()
    data.write_bytes(whole[:-1])
    size = len(whole)
    found = checkpoint(str(tmp_path / name))
    assert told(found) == [f"ends too early: {size - 1} bytes, where .metadata names {size}"]
    assert only(found).complete is False
    data.unlink()
    assert told(checkpoint(str(tmp_path / name))) == ["missing, though .metadata names it"]


@pytest.mark.parametrize("name", ["torch_dist", "fsdp_dtensor", "torch_dcp"])
def test_of_a_large_one_the_format_is_told_by_its_beginning(tmp_path: Path, name: str) -> None:
    found = iteration(str(copied(name, tmp_path) / "iter_0000005"), most=40)
    assert (found.format, found.complete, found.tensors, found.troubles) == (name, None, None, ())


def test_formats_side_by_side_are_not_told_apart(tmp_path: Path) -> None:
    run = copied("fsdp_dtensor", tmp_path)
    shutil.copytree(WRITTEN / "torch" / "iter_0000005", run / "iter_0000005", dirs_exist_ok=True)
    assert told(checkpoint(str(run))) == ["files of two formats lie side by side"]
    shutil.rmtree(run / "iter_0000005" / "mp_rank_00")
    shutil.copytree(WRITTEN / "torch" / "iter_0000005", run / "iter_0000006")
    assert told(checkpoint(str(run))) == ["iterations of several formats: fsdp_dtensor, torch"]


def test_a_hugging_face_model_has_all_files_that_its_index_names(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors.index.json").write_text('{"weight_map": {"a": "one.safetensors"}}')
    found = checkpoint(str(tmp_path))
    assert (found.level, told(found)) == ("hugging face", ["names one.safetensors, which is not there"])
    (tmp_path / "one.safetensors").touch()
    assert told(checkpoint(str(tmp_path))) == []


@pytest.mark.parametrize("name", ["no such folder", "file"])
def test_what_is_no_folder_is_an_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NoFolder):
        checkpoint(str(tmp_path / name))


# -- damage ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(250))
def test_nothing_certain_is_said_of_a_damaged_checkpoint(tmp_path: Path, seed: int) -> None:
    """One file is cut short, or has other bytes: no crash, and never another format than the one that was written."""
    chance = random.Random(seed)
    for name in FORMATS:
        run = copied(name, tmp_path)
        file = chance.choice(sorted(path for path in (run / "iter_0000005").rglob("*") if path.is_file()))
        content = bytearray(file.read_bytes())
        if cut := chance.random() < 0.5:
            del content[chance.randrange(len(content)) :]
        else:
            content[chance.randrange(len(content))] = chance.randrange(256)
        file.write_bytes(content)
        found = only(checkpoint(str(run)))
        assert found.format in (name, "dcp", None)
        if cut:
            assert found.complete is not True, file
