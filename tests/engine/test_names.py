"""A name that no class has is told wherever it is written: in YAML, on a command line, in Python, to `judge`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import mfsdp_lint
from mfsdp_lint.cli import main

RUN = "torchrun --nproc_per_node 8 scripts/training/run_recipe.py --recipe llama3_8b_pretrain_config "
MEGATRON_LM = "torchrun --nproc_per_node 8 pretrain_gpt.py --tensor-model-parallel-size 1 --bf16 "
FIELD = "{} has no field {}; did you mean {}?"
SWITCH = FIELD.format("DistributedDataParallelConfig", "use_megatron_fdsp", "use_megatron_fsdp")
REFUSED = f"start-up refuses ddp.use_megatron_fdsp: {SWITCH}"

Said = Callable[..., list[tuple[str, str, str]]]
CODES = ("MFSDP701", "MFSDP703", "MFSDP904", "MFSDP918", "MFSDP926")


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Said:
    """Return the findings about names in some files: code, severity and message."""
    monkeypatch.chdir(tmp_path)

    def said(files: dict[str, str], version: str = "0.6.0") -> list[tuple[str, str, str]]:
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        main(["--target-bridge", version, "--output-format", "json", "--no-cache", "."])
        found = json.loads(capsys.readouterr().out)["findings"]
        return [(each["code"], each["severity"], each["message"]) for each in found if each["code"] in CODES]

    return said


@pytest.mark.parametrize("version", ["0.2.0", "0.3.1", "0.4.2", "0.5.1", "0.6.0", "head"])
@pytest.mark.parametrize("text", ["ddp: {use_megatron_fdsp: true}\n", "ddp.use_megatron_fdsp: true\n"])
def test_a_key_of_an_override_file_is_passed_over(said: Said, text: str, version: str) -> None:
    assert said({"o.yaml": text}, version) == [("MFSDP701", "warning", SWITCH)]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("ddp.use_megatron_fdsp=true", ("MFSDP703", "error", REFUSED)),
        ("++ddp.use_megatron_fdsp=true", ("MFSDP701", "warning", SWITCH)),
        ("+ddp.use_megatron_fdsp=true", ("MFSDP701", "warning", SWITCH)),
        (
            "dpp.use_megatron_fsdp=true",
            (
                "MFSDP703",
                "error",
                "start-up refuses dpp.use_megatron_fsdp: " + FIELD.format("ConfigContainer", "dpp", "ddp"),
            ),
        ),
        (
            "+ddp.use_megatron_fsdp=true",
            (
                "MFSDP904",
                "error",
                "OverridesError: Could not append to config. An item is already at 'ddp.use_megatron_fsdp'",
            ),
        ),
        ("ddp.use_megatron_fsdp", ("MFSDP904", "error", "OverridesError: ddp.use_megatron_fsdp")),
        ("ddp.nccl_ub=false", None),
        ("~ddp.nccl_ub", None),
    ],
)
def test_what_surely_stops_the_run_is_an_error(said: Said, words: str, found: tuple[str, str, str] | None) -> None:
    assert said({"run.sh": f"{RUN}{words}\n"}) == ([found] if found else [])


def test_a_python_script_that_launches_is_read_as_a_shell_script_is(said: Said) -> None:
    words = [*RUN.split(), "ddp.use_megatron_fdsp=true"]
    assert said({"run.py": f"import subprocess\nsubprocess.run({words!r}, check=True)\n"}) == [
        ("MFSDP703", "error", REFUSED)
    ]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("ddp.use_megatron_fdsp=true", [("MFSDP703", "warning", SWITCH)]),
        ("++ddp.use_megatron_fdsp=true", [("MFSDP701", "warning", SWITCH)]),
        ("ddp.my_own=true ddp.nccl_ub=true", []),
        ("trainer.devices=8 model.name=x model.depth=3 model.num_layer=3", []),  # somebody else's
    ],
)
def test_a_program_that_is_not_at_hand_may_merge_them_itself(
    said: Said, words: str, found: list[tuple[str, str, str]]
) -> None:
    assert said({"run.sh": f"torchrun --nproc_per_node 8 train.py {words}\n"}) == found


@pytest.mark.parametrize(
    "text",
    [
        "ddp: {use_megatron_fsdp: false, my_own: 1}\n",
        "ddp: {_target_: mine.Ddp, use_megatron_fdsp: true}\n",
        "env_vars: {USE_MEGATRON_FDSP: 1}\nddp: {nccl_ub: true}\n",
        "dataset: {dataset_kwargs: {pad_to_max_lenght: true}}\n",
        "model: {name: bert, num_layer: 12, dropout_rate: 0.1, kind: x}\n",  # another program's
    ],
)
def test_nothing_is_said_of_what_may_be_somebodys_own(said: Said, text: str) -> None:
    assert said({"o.yaml": text}) == []


def test_a_field_of_another_release_is_told_without_a_name_for_it(said: Said) -> None:
    missing = ("MFSDP701", "info", "DistributedDataParallelConfig has no field megatron_fsdp_version")
    text = "ddp: {use_megatron_fsdp: false, megatron_fsdp_version: 1}\n"
    assert said({"o.yaml": text}) == [missing]
    assert said({"o.yaml": text}, "head") == []


def test_overrides_that_a_program_reads_are_told_where_they_are_written(said: Said) -> None:
    program = """\
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.pretrain import pretrain
from megatron.bridge.training.utils.omegaconf_utils import apply_overrides, process_config_with_overrides

if __name__ == "__main__":
    cfg = llama3_8b_pretrain_config()
    process_config_with_overrides(cfg, config_filepath="o.yaml", cli_overrides=["train.train_itres=3"])
    apply_overrides(cfg, {"checkpoint": {"ckpt_fromat": "torch_dist"}}, {})
    pretrain(cfg, print)
"""
    found = said({"train.py": program, "o.yaml": "ddp: {use_megatron_fdsp: true}\n"})
    format_ = FIELD.format("CheckpointConfig", "ckpt_fromat", "ckpt_format")
    iters = FIELD.format("TrainingConfig", "train_itres", "train_iters")
    assert sorted(found) == [
        ("MFSDP701", "warning", format_),
        ("MFSDP701", "warning", SWITCH),
        ("MFSDP703", "error", f"start-up refuses train.train_itres: {iters}"),
    ]


FLAG = "def add(parser): parser.add_argument('--use-megatron-fspd')\n"
NO_FLAG = '"--use-megatron-fspd" is no flag of Megatron-LM; did you mean "--use-megatron-fsdp"?'
PROGRAM = "from own import add_own\nfrom megatron.training import pretrain\npretrain(a, b, extra_args_provider=%s)\n"


@pytest.mark.parametrize(
    ("files", "severity"),
    [
        ({}, "warning"),
        ({"pretrain_gpt.py": PROGRAM % "None"}, "error"),
        ({"pretrain_gpt.py": PROGRAM % "add_own"}, "warning"),  # what it adds is out of sight
        ({"pretrain_gpt.py": PROGRAM % "add_own", "own.py": "def add_own(p): p.add_argument('--x')\n"}, "error"),
        ({"pretrain_gpt.py": PROGRAM % "None" + "parse_args(ignore_unknown_args=True)\n"}, "warning"),
        ({"pretrain_gpt.py": PROGRAM % "add_own", "own.py": "A = '--use-megatron-fspd'\n"}, None),
        ({"pretrain_gpt.py": "import own\n" + PROGRAM % "None", "own.py": "import more\n", "more.py": FLAG}, None),
    ],
)
def test_a_flag_is_refused_for_sure_where_all_that_the_program_declares_is_known(
    said: Said, files: dict[str, str], severity: str | None
) -> None:
    found = said({"run.sh": f"{MEGATRON_LM} --use-megatron-fspd\n", **files})
    assert found == ([("MFSDP918", severity, NO_FLAG)] if severity else [])


@pytest.mark.parametrize(
    ("more", "codes"), [("add(parser, '--ckpt-format', 'own')\n", []), ("x = 'own'\n", ["MFSDP926"])]
)
def test_a_file_that_the_program_imports_may_add_a_choice_to_a_flag(said: Said, more: str, codes: list[str]) -> None:
    files = {"pretrain_gpt.py": "import own\n" + PROGRAM % "None", "own.py": "import more\n", "more.py": more}
    found = said({"run.sh": f"{MEGATRON_LM} --use-megatron-fsdp --ckpt-format own\n", **files})
    assert [code for code, _, _ in found] == codes


def test_a_program_with_a_parser_of_its_own_may_have_other_values_and_flags(said: Said) -> None:
    own = "from own import options\n\nif __name__ == '__main__':\n    print(options())\n"
    fields = "class Options:\n    trainer: str\n    optimizer: str = field(metadata={'choices': ['adam', 'ours']})\n"
    words = "--trainer ours --micro-batch-size 1 --seq-length 8 --optimizer ours"
    found = said({"run.sh": f"torchrun --nproc_per_node 8 train.py {words}\n", "train.py": own, "own.py": fields})
    assert found == []


@pytest.mark.parametrize(
    ("name", "text", "fixed", "options"),
    [
        ("o.yaml", "ddp: {use_megatron_fdsp: true}\n", "ddp: {use_megatron_fsdp: true}\n", ["--unsafe-fixes"]),
        ("o.yaml", "ddp.nccl_ubb: 1 # x\n", "ddp.nccl_ub: 1 # x\n", ["--unsafe-fixes"]),
        ("o.yaml", "ddp: {use_megatron_fdsp: true}\n", "ddp: {use_megatron_fdsp: true}\n", []),
        ("run.sh", f"{RUN}train.train_itres=3\n", f"{RUN}train.train_iters=3\n", []),
        ("run.sh", f"{RUN}++train.train_itres=3\n", f"{RUN}++train.train_iters=3\n", ["--unsafe-fixes"]),
        ("run.sh", f"{RUN}trian.train_iters=3\n", f"{RUN}train.train_iters=3\n", []),
        (
            "run.sh",
            f"{MEGATRON_LM}--micro-batch-sise=4 --lr 1\n",
            f"{MEGATRON_LM}--micro-batch-size=4 --lr 1\n",
            ["--unsafe-fixes"],
        ),
    ],
)
def test_the_name_that_was_meant_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, fixed: str, options: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(text)
    for _ in range(2):
        main(["--target-bridge", "0.6.0", "--fix", *options, name])
        assert Path(name).read_text() == fixed


def test_a_fix_of_what_stops_the_run_uncovers_what_would_stop_it_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.sh").write_text(f"{RUN}ddp.use_megatron_fdsp=true\n")
    main(["--target-bridge", "0.6.0", "--fix", "run.sh"])
    text = Path("run.sh").read_text()
    assert " ddp.use_megatron_fsdp=true" in text
    assert " checkpoint.ckpt_format=fsdp_dtensor" in text


def test_judge_and_guard_tell_it_from_python() -> None:
    given = {"ddp": {"use_megatron_fdsp": True}, "checkpiont": {"save": "/a"}, "ddp.my_own": 1, "mine.too": 3}
    found = mfsdp_lint.judge(given, target="0.6.0").findings
    assert [(each.code, each.severity, each.message) for each in found] == [
        ("MFSDP701", "warning", FIELD.format("ConfigContainer", "checkpiont", "checkpoint")),
        ("MFSDP701", "warning", SWITCH),
    ]
    with pytest.raises(mfsdp_lint.Refused, match="did you mean use_megatron_fsdp"):
        mfsdp_lint.guard(given, target="0.6.0", fail_on="warning")


def test_a_class_of_somebodys_own_may_have_any_field() -> None:
    given = {"ddp.__class__": "mine.Ddp", "ddp.use_megatron_fdsp": True}
    assert mfsdp_lint.judge(given, target="0.6.0").findings == ()
