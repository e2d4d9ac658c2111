"""`mfsdp-lint explain`: settings."""

from __future__ import annotations

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.reports import explain as report
from mfsdp_lint.reports.explain import SCREEN
from mfsdp_lint.rules.about_files import ABOUT_FILES, AboutFiles
from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.rules.model import Rule

STRATEGY = """\
ddp.data_parallel_sharding_strategy
  What Megatron-FSDP shards over the ranks: nothing, optimizer state, also gradients, also parameters.

type                  str: "no_shard", "optim", "optim_grads", "optim_grads_params"
default  bridge       "no_shard"
         megatron-lm  "no_shard" in 0.12.0 to 0.17.1
                      "optim_grads_params" in 0.18.0 to head
names    bridge       ddp.data_parallel_sharding_strategy
         megatron-lm  --data-parallel-sharding-strategy
rules    MFSDP301     fsdp-no-shard
"""

FUSION = """\
model.gradient_accumulation_fusion
  Add weight gradients to the gradient buffer inside the matrix multiplication.

type                  bool
default  bridge       worked out at start-up
         megatron-lm  True
names    bridge       model.gradient_accumulation_fusion
         megatron-lm  --no-gradient-accumulation-fusion (means the opposite)
"""

OLD_NAME = """\
ddp.use_custom_fsdp
  The name of use_megatron_fsdp up to core 0.13; later the field is still there and nothing reads it.

type                  bool
default  bridge       False
         megatron-lm  False
names    bridge       ddp.use_custom_fsdp
         megatron-lm  --use-custom-fsdp in 0.12.0 to 0.13.1
         now          ddp.use_megatron_fsdp
"""

VARIABLE = """\
env.CUDA_MAX_CONNECTIONS
  Nothing reads it; CUDA_DEVICE_MAX_CONNECTIONS is meant.

type                  str or None
names    environment  CUDA_MAX_CONNECTIONS
"""

SWITCHED_OFF_BY_A_SWITCH = """\
checkpoint.load_optim
  Load optimizer state.

type                  bool
default  bridge       True
         megatron-lm  True
names    bridge       checkpoint.load_optim
         megatron-lm  --no-load-optim (means the opposite)
"""

PERFORMANCE_SCRIPTS = """\
model.context_parallel_size
  Ranks that share each sequence.

type                          int (ranks)
default  bridge               1
         megatron-lm          1
names    bridge               model.context_parallel_size
         megatron-lm          --context-parallel-size
         performance scripts  --context_parallel_size, -cp
"""


@pytest.mark.parametrize(
    ("path", "rules", "text"),
    [
        ("ddp.data_parallel_sharding_strategy", {"MFSDP301": "fsdp-no-shard"}, STRATEGY),
        ("model.gradient_accumulation_fusion", {}, FUSION),
        ("ddp.use_custom_fsdp", {}, OLD_NAME),
        ("env.CUDA_MAX_CONNECTIONS", {}, VARIABLE),
        ("checkpoint.load_optim", {}, SWITCHED_OFF_BY_A_SWITCH),
        ("model.context_parallel_size", {}, PERFORMANCE_SCRIPTS),
    ],
)
def test_a_setting_is_told(path: str, rules: dict[str, str], text: str) -> None:
    assert report.render_setting(table().entries[path], table(), rules) == text


def test_a_flag_that_is_no_setting_is_told() -> None:
    assert report.render_flag("--log-interval", table()) == (
        "--log-interval\n"
        "  A flag of Megatron-LM's command line.\n"
        "\n"
        "type                  int\n"
        "default  megatron-lm  100\n"
        "names    megatron-lm  --log-interval (args.log_interval)\n"
    )


@pytest.mark.parametrize("word", ["checkpoint.ckpt_format", "ckpt_format", "--ckpt-format"])
def test_a_setting_may_be_named_in_any_way(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", word]) == 0
    told = capsys.readouterr().out
    assert told.startswith("checkpoint.ckpt_format\n")
    assert "MFSDP101" in told


def test_all_settings_of_a_name_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "use_megatron_fsdp"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("dist.use_megatron_fsdp\n")
    assert "\n\nddp.use_megatron_fsdp\n" in told


def test_a_removed_name_is_told_to_be_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--keep-fp8-transpose-cache-when-using-custom-fsdp"]) == 0
    assert capsys.readouterr().out.startswith("ddp.keep_fp8_transpose_cache\n")


def test_an_unknown_word_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "ckpt_fromat"]) == 2
    assert "nothing is known of 'ckpt_fromat'; did you mean ckpt_format?" in capsys.readouterr().err


def test_help_is_still_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--help"]) == 0
    assert "usage: mfsdp-lint explain" in capsys.readouterr().out


def test_a_framework_says_what_it_makes_of_its_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "automodel"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("automodel\n  runs the code of bridge, without its start-up validation; as of NVIDIA-NeMo/")
    assert "settings  at distributed, where strategy: megatron_fsdp or megatron-fsdp or mfsdp\n" in said
    assert "ddp.data_parallel_sharding_strategy (0 = no_shard, 1 = optim, 2 = optim_grads, 3 =" in said
    assert "makes      (nemo_automodel/components/distributed/megatron_fsdp.py:151)\n" in said


@pytest.mark.parametrize("rule", load_rules(), ids=lambda rule: rule.code)
def test_a_rule_fits_one_screen(rule: Rule, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", rule.code]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= SCREEN
    assert lines[0] == f"{rule.code} {rule.name}"
    assert max(map(len, lines)) <= 110
    assert lines[-1].endswith(f"mfsdp-lint explain {rule.code} --all")


def test_all_of_a_rule_has_its_conditions_errors_and_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--all", "MFSDP101"]) == 0
    told = capsys.readouterr().out
    assert all(f"\n{head}:" in told for head in ("found where", "bad", "good"))
    assert "  raises (<0.5): Megatron FSDP only supports fsdp_dtensor checkpoint format\n" in told


@pytest.mark.parametrize("about", ABOUT_FILES, ids=lambda about: about.code)
def test_what_is_said_of_files_is_explained_by_code_and_by_name(
    about: AboutFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    for word in (about.code, about.name):
        assert main(["explain", word]) == 0
        assert capsys.readouterr().out.startswith(f"{about.code} {about.name}\n{about.summary}\n")
