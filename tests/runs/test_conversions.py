"""A checkpoint that one script converts and another one's run loads: what the run needs, the conversion has to do."""

from __future__ import annotations

import pytest

from tests.runs.project import Project

CONVERT = "torchrun checkpoint_inspector.py convert-torch-dist-to-fsdp-dtensor /old/iter_0000100 /new/iter_0000100"
TRAIN = """\
torchrun pretrain_gpt.py --use-megatron-fsdp --use-distributed-optimizer --data-parallel-sharding-strategy optim \\
  --ckpt-format fsdp_dtensor --swiglu --load /new
"""
WITHOUT_SWIGLU, WITHOUT_TRACKER, WITHOUT_MAP, NO_OPTION = "MFSDP922", "MFSDP923", "MFSDP924", "MFSDP925"
CODES = (WITHOUT_SWIGLU, WITHOUT_TRACKER, WITHOUT_MAP, NO_OPTION)


def said(
    project: Project,
    capsys: pytest.CaptureFixture[str],
    convert: str,
    train: str = TRAIN,
    asked: str = ".",
    core: str = "0.19.0",
) -> list[str]:
    """What is said of a conversion, in the order of the text."""
    project.write("convert.sh", f"{convert}\n")
    project.write("jobs/train.sh", train)
    project.lint("--select", ",".join(CODES), "--target-core", core, asked)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("convert.sh:")]
    return [line.split()[2] for line in lines]


@pytest.mark.parametrize("asked", [".", "convert.sh"])
def test_the_run_of_another_script_needs_it(asked: str, project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(project, capsys, CONVERT, asked=asked) == [WITHOUT_SWIGLU, WITHOUT_TRACKER]


def test_the_other_script_is_named(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    project.write("convert.sh", f"{CONVERT}\n")
    project.write("jobs/train.sh", TRAIN)
    project.lint("--select", WITHOUT_SWIGLU, "--target-core", "0.19.0")
    assert 'the run of "jobs/train.sh" that loads it' in capsys.readouterr().out


def test_who_asks_for_the_run_alone_is_told_nothing_of_the_conversion(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(project, capsys, CONVERT, asked="jobs/train.sh") == []


@pytest.mark.parametrize(
    ("convert", "train"),
    [
        pytest.param(f"{CONVERT} --swiglu\ntouch /new/latest_checkpointed_iteration.txt", TRAIN, id="all is done"),
        pytest.param(
            f"{CONVERT} --swiglu-modules=language_model",
            f"printf 100 > /new/latest_checkpointed_iteration.txt\n{TRAIN}",
            id="the run's script writes the tracker file",
        ),
        pytest.param(CONVERT, TRAIN.replace("/new", "/other"), id="the run loads another folder"),
        pytest.param(CONVERT, TRAIN.replace("--use-megatron-fsdp ", ""), id="the run is without Megatron-FSDP"),
        pytest.param(CONVERT.replace("/new", "new"), TRAIN.replace("/new", "new"), id="each has its own folder new"),
        pytest.param(CONVERT.replace("/new", "$1"), TRAIN.replace("/new", "$1"), id="nobody knows which folder"),
        pytest.param(f"{CONVERT} $MORE_ARGUMENTS$1", TRAIN, id="nobody knows with which options"),
    ],
)
def test_nothing_is_guessed(convert: str, train: str, project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(project, capsys, convert, train) == []


def test_a_model_without_swiglu_is_not_split(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(project, capsys, CONVERT, TRAIN.replace("--swiglu ", "")) == [WITHOUT_TRACKER]


@pytest.mark.parametrize(
    "folder", ["/new", "${OUT:-/new}", "$1", "$HOME/new"], ids=["known", "a default", "an argument", "a part is known"]
)
def test_within_one_script_the_same_words_are_the_same_folder(
    folder: str, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    script = f"OUT={folder}\n{CONVERT.replace('/new/', '$OUT/')}\n{TRAIN.replace('/new', '$OUT')}"
    assert said(project, capsys, script, "") == [WITHOUT_SWIGLU, WITHOUT_TRACKER]


@pytest.mark.parametrize(
    ("core", "options", "found"),
    [
        ("0.15.3", "--distributed-timeout-minutes 60", []),
        ("0.15.3", "--param-to-param-group-map-json map.json", [NO_OPTION]),
        ("0.16.1", "", [WITHOUT_MAP]),
        ("0.16.1", "--param-to-param-group-map-json map.json", []),
        ("0.17.1", "", [WITHOUT_MAP]),
        ("0.17.1", "--param-to-param-group-map-json map.json --rename-mtp-keys", [NO_OPTION]),
        ("0.18.2", "", []),
        ("0.18.2", "--rename-mtp-keys", []),
        ("0.18.2", "--distributed-timeout-minutes 60", [NO_OPTION]),
    ],
)
def test_the_converter_has_other_options_in_other_versions(
    core: str, options: str, found: list[str], project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    done = f"{CONVERT} --swiglu {options}\ntouch /new/latest_checkpointed_iteration.txt"
    assert said(project, capsys, done, core=core) == found
