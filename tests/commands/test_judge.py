"""`mfsdp-lint judge`: JSON lines in, JSON lines out; and the same for callers in Python."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

import mfsdp_lint
from mfsdp_lint.cli import main

Answers = tuple[int, list[dict[str, Any]], str]
Judge = Callable[..., Answers]

BROKEN = {
    "dist.use_megatron_fsdp": True,
    "ddp.average_in_collective": True,
    "ddp.disable_symmetric_registration": False,
    "checkpoint.ckpt_format": "torch_dist",
    "checkpoint.save": "/results",
}


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Judge:
    """Asks on standard input; the exit code, the answers, and what is printed on stderr."""

    def judge(*lines: object, flags: tuple[str, ...] = ("--target-bridge", "0.4.2")) -> Answers:
        text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        code = main(["judge", *flags])
        out, err = capsys.readouterr()
        return code, [json.loads(line) for line in out.splitlines()], err

    return judge


def codes(answer: dict[str, Any]) -> list[str]:
    return [finding["code"] for finding in answer["findings"]]


def test_an_answer_says_what_is_wrong_and_what_will_run(judge: Judge) -> None:
    code, [answer], err = judge({"id": "a", "settings": BROKEN, "world_size": 8})
    assert (code, err, answer["id"]) == (1, "", "a")
    assert answer["findings"][0] == {
        "code": "MFSDP101",
        "name": "fsdp-checkpoint-format",
        "severity": "error",
        "stage": "startup",
        "message": 'Megatron-FSDP needs checkpoint.ckpt_format "fsdp_dtensor", but it is "torch_dist"',
        "consequence": "start-up validation stops the run before the model is built",
        "raises": "Megatron FSDP only supports fsdp_dtensor checkpoint format",
        "enforced_by": "validation",
    }
    assert answer["will_run"] == {"ddp.average_in_collective": False}


def test_every_line_has_an_answer_of_its_own(judge: Judge) -> None:
    fine = BROKEN | {"checkpoint.ckpt_format": "fsdp_dtensor"}
    _, answers, _ = judge({"id": 1, "settings": BROKEN}, "", {"id": 2, "settings": fine})
    assert [answer["id"] for answer in answers] == [1, 2]
    assert "MFSDP101" in codes(answers[0])
    assert "MFSDP101" not in codes(answers[1])


def test_the_target_decides(judge: Judge) -> None:
    _, [answer], _ = judge({"id": "a", "settings": BROKEN}, flags=("--target-bridge", "0.5.1"))
    assert answer["findings"][0]["raises"] == "Megatron-FSDP requires the fsdp_dtensor checkpointing format!"


def test_so_does_who_reads_the_configuration(judge: Judge) -> None:
    settings = {
        "args.freeze_all_layers": False,
        "checkpoint.ckpt_format": "torch_dist",
        "ddp.use_distributed_optimizer": False,
        "ddp.use_megatron_fsdp": True,
    }
    flags = ("--target-core", "0.19.0", "--front-end", "megatron-lm")
    assert judge({"settings": settings}, flags=flags)[1][0]["will_run"] == {"ddp.use_distributed_optimizer": True}


@pytest.mark.parametrize("flag", ["--target-bridge", "--target-core", "--target-te", "--target-torch", "--target-gpu"])
def test_a_version_that_is_none_is_wrong_usage(judge: Judge, flag: str) -> None:
    code, answers, err = judge(flags=(flag, "9.x"))
    assert (code, answers) == (2, [])
    assert err.startswith("mfsdp-lint: error: target: ")


def test_a_setting_that_is_not_given_is_unknown_and_says_nothing(judge: Judge) -> None:
    _, [answer], _ = judge({"id": "a", "settings": {"checkpoint.ckpt_format": "torch_dist"}})
    assert answer == {"id": "a", "findings": [], "will_run": {}}


def test_settings_may_be_nested(judge: Judge) -> None:
    nested = {"dist": {"use_megatron_fsdp": True}, "checkpoint": {"ckpt_format": "torch_dist", "save": "/results"}}
    assert "MFSDP101" in codes(judge({"id": "a", "settings": nested})[1][0])


OWN_VARIABLES = {"env_vars": {"NCCL_DEBUG": "INFO"}}


def test_a_variable_that_is_not_given_is_unset(judge: Judge) -> None:
    _, [answer], _ = judge({"settings": OWN_VARIABLES}, flags=("--target-bridge", "0.6.0"))
    assert answer == {"id": None, "findings": [], "will_run": {"env.NCCL_DEBUG": "INFO"}}


def test_in_a_partial_environment_it_is_unknown(judge: Judge) -> None:
    flags = ("--target-bridge", "0.6.0", "--partial-environment")
    assert judge({"settings": OWN_VARIABLES}, flags=flags)[1][0]["will_run"] == {}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{ ,", "not JSON: Expecting property name enclosed in double quotes (column 3)"),
        ("[]", 'expected {"id": …, "settings": {…}} with a mapping of settings'),
        ('{"id": "a"}', 'expected {"id": …, "settings": {…}} with a mapping of settings'),
        ('{"settings": {"": 1}}', "'' is not the name of a setting"),
        ('{"settings": {}, "world_size": 0}', "world_size: expected a number of ranks, not 0"),
        ('{"settings": {}, "world_size": true}', "world_size: expected a number of ranks, not true"),
        ("[" * 200_000, "not JSON: nested too deeply"),
    ],
)
def test_a_line_that_is_no_question_is_named_and_the_others_are_answered(judge: Judge, line: str, problem: str) -> None:
    code, answers, err = judge({"id": 1, "settings": {}}, line, {"id": 3, "settings": {}})
    assert (code, [answer["id"] for answer in answers]) == (2, [1, 3])
    assert err == f"mfsdp-lint: error: <stdin>:2: {problem}\n"


def test_questions_may_come_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text(json.dumps({"id": "a", "settings": BROKEN}) + "\n", encoding="utf-8")
    assert main(["judge", str(questions)]) == 1
    assert json.loads(capsys.readouterr().out)["id"] == "a"
    assert main(["judge", str(tmp_path / "gone.jsonl")]) == 2
    assert capsys.readouterr().err.endswith("gone.jsonl: no such file or directory\n")


# -- in Python ------------------------------------------------------------------------------------------------------


class Kind(Enum):
    LOCAL = "local"


@dataclass
class Dist:
    use_megatron_fsdp: bool = True

    @property
    def lazy_init(self) -> bool:
        raise AssertionError("a property is not asked: it may be slow, or not ready")


@dataclass
class Checkpoint:
    ckpt_format: str = "torch_dist"
    save: str | None = "/results"


@dataclass
class Ddp:
    average_in_collective: bool = True
    disable_symmetric_registration: bool = False
    reduce: Any = json.dumps
    shapes: tuple[int, ...] = (1, 2)


@dataclass
class Container:
    dist: Dist = field(default_factory=Dist)
    checkpoint: Checkpoint = field(default_factory=Checkpoint)
    ddp: Ddp = field(default_factory=Ddp)
    kind: Kind = Kind.LOCAL
    mixed_precision: str | None = None


def test_a_live_configuration_is_judged_as_it_is() -> None:
    verdict = mfsdp_lint.judge(Container(), target="0.4.2")
    assert "MFSDP101" in [finding.code for finding in verdict.findings]
    assert verdict.will_run == {"ddp.average_in_collective": False}


def test_a_mapping_gets_the_same_verdict() -> None:
    assert mfsdp_lint.judge(BROKEN, target="0.4.2").will_run == {"ddp.average_in_collective": False}


def test_what_is_no_configuration_is_refused() -> None:
    with pytest.raises(mfsdp_lint.NotAConfiguration, match="expected a mapping of settings or a configuration, not "):
        mfsdp_lint.judge(3)
    with pytest.raises(ValueError, match="unknown Megatron-Bridge version"):
        mfsdp_lint.judge({}, target="9.9")


def test_the_front_door_costs_nothing_until_it_is_used() -> None:
    program = "import sys, mfsdp_lint; print('mfsdp_lint.rules.judging' in sys.modules, hasattr(mfsdp_lint, 'x'))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "False False\n"


def test_transformer_engine_is_the_one_that_the_release_is_locked_to(judge: Judge) -> None:
    offloaded = {"id": 1, "settings": {"model.fine_grained_activation_offloading": True}}
    _, [answer], _ = judge(offloaded, flags=("--target-bridge", "0.3.1"))
    assert "MFSDP404" in codes(answer)


def test_it_ends_with_0_where_nothing_is_an_error(judge: Judge) -> None:
    assert judge({"settings": {**BROKEN, "checkpoint.ckpt_format": "fsdp_dtensor"}})[0] == 0


@pytest.mark.parametrize(
    ("settings", "meant"),
    [
        ({"ddp.use_megatron_fdsp": True}, "use_megatron_fsdp"),
        ({"checkpiont": {"save": "/a"}}, "checkpoint"),
        ({"dist": {"use_megatron_fsdp_": 1}}, "use_megatron_fsdp"),
    ],
)
def test_a_setting_that_is_misspelt_is_a_finding_with_what_is_nearest(
    judge: Judge, settings: dict[str, Any], meant: str
) -> None:
    code, [answer, _], err = judge({"settings": settings}, {"settings": {}})
    assert (code, err, codes(answer)) == (0, "", ["MFSDP701"])
    assert answer["findings"][0]["message"].endswith(f"; did you mean {meant}?")


def test_fields_that_upstream_has_and_names_that_are_like_none_are_not_misspelt(judge: Judge) -> None:
    fields = {"model.make_vocab_size_divisible_by": 1, "ddp.my_own": 2, "mine.too": 3, "env.USE_MEGATRON_FSPD": "1"}
    _, [answer], err = judge({"settings": fields})
    assert (codes(answer), err) == ([], "")


def test_a_key_that_is_misspelt_is_refused_as_well(judge: Judge) -> None:
    assert "word_size: no such key; did you mean world_size?" in judge({"settings": {}, "word_size": 8})[2]
