"""`mfsdp-lint enable`: what it writes, what it leaves as it was, and when it says no."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from mfsdp_lint.cli import main

Enable = Callable[..., tuple[int, str, str]]

HEAD = "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config, llama3_70b_pretrain_config\n\n\n"


@pytest.fixture
def enable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Enable:
    """Writes a file of recipes, and asks."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()

    def enable(text: str, *arguments: str, path: str = "r.py") -> tuple[int, str, str]:
        (tmp_path / path).write_text(HEAD + dedent(text) if path.endswith(".py") else dedent(text))
        code = main(["enable", *arguments, "--target-bridge=0.3.1"])
        return code, *capsys.readouterr()

    return enable


RECIPE = """\
    def r():
        cfg = llama3_8b_pretrain_config()
        cfg.ddp.average_in_collective = True
        return cfg
"""


def test_the_guides_settings_are_written_in_place_where_they_stand_and_else_at_the_end(enable: Enable) -> None:
    code, out, err = enable(RECIPE, "r.py::r")
    assert code == 0
    assert [line for line in out.splitlines() if line[0] in "+-"][2:] == [
        "-    cfg.ddp.average_in_collective = True",
        "+    cfg.ddp.average_in_collective = False",
        "+    cfg.dist.use_megatron_fsdp = True",
        "+    cfg.ddp.use_megatron_fsdp = True",
        '+    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"',
        '+    cfg.checkpoint.ckpt_format = "fsdp_dtensor"',
    ]
    assert err.startswith("mfsdp-lint: r.py::r: this turns Megatron-FSDP on (--write does it) (judged against ")


def test_nothing_is_written_unless_it_is_asked_for_and_the_second_time_there_is_nothing_to_do(
    enable: Enable, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    enable(RECIPE, "r.py::r")
    assert "fsdp" not in (tmp_path / "r.py").read_text()
    code, out, err = enable(RECIPE, "r.py::r", "--write")
    assert (code, out) == (0, "")
    assert err.startswith("mfsdp-lint: r.py::r: Megatron-FSDP is on now ")
    assert main(["r.py"]) == 0
    capsys.readouterr()
    written = (tmp_path / "r.py").read_text()
    code, out, err = enable(dedent(written.removeprefix(HEAD)), "r.py::r", "--write")
    assert (code, out) == (0, "")
    assert "Megatron-FSDP is on already as the guides describe it" in err
    assert (tmp_path / "r.py").read_text() == written


def test_a_strategy_and_a_place_for_checkpoints_can_be_asked_for(enable: Enable) -> None:
    code, out, _ = enable(RECIPE, "r.py::r", "--strategy", "no_shard", "--save", "/new")
    assert code == 0
    assert 'sharding_strategy = "no_shard"' not in out  # it is that already
    # A run that resumes from where it saves still does.
    assert '+    cfg.checkpoint.save = "/new"\n+    cfg.checkpoint.load = "/new"\n' in out


def test_what_is_no_strategy_is_wrong_usage(enable: Enable) -> None:
    code, _, err = enable(RECIPE, "r.py::r", "--strategy", "zero3")
    assert code == 2
    assert "--strategy zero3: expected one of no_shard, optim, optim_grads, optim_grads_params" in err


def test_where_no_edit_can_make_it_run_nothing_is_changed_and_it_says_why(enable: Enable, tmp_path: Path) -> None:
    text = """\
        def r():
            cfg = llama3_8b_pretrain_config()
            cfg.model.pipeline_model_parallel_size = 2
            return cfg
    """
    code, out, err = enable(text, "r.py::r", "--write")
    assert (code, out) == (1, "")
    assert "r.py::r: Megatron-FSDP cannot be turned on, nothing was changed" in err
    assert "MFSDP350 Megatron-FSDP does not work with pipeline parallelism" in err
    assert "(r.py:6)" in err
    assert "fsdp" not in (tmp_path / "r.py").read_text()


def test_what_the_rules_require_then_is_written_as_well_and_told(enable: Enable) -> None:
    text = """\
        def r():
            cfg = llama3_8b_pretrain_config()
            cfg.dist.use_torch_fsdp2 = True
            return cfg
    """
    code, out, err = enable(text, "r.py::r")
    assert code == 0
    assert "+    cfg.dist.use_torch_fsdp2 = False\n" in out
    assert "MFSDP201 requires dist.use_torch_fsdp2 = False" in err


def test_a_helper_that_others_share_stays_as_it_is(enable: Enable) -> None:
    text = """\
        def _base():
            cfg = llama3_8b_pretrain_config()
            cfg.ddp.average_in_collective = True
            return cfg


        def r():
            return _base()


        def other():
            return _base()
    """
    code, out, _ = enable(text, "r.py::r")
    assert code == 0
    assert "average_in_collective = True" not in "".join(line for line in out.splitlines() if line.startswith("-"))
    assert "-    return _base()\n+    cfg = _base()\n+    cfg.dist.use_megatron_fsdp = True\n" in out
    assert out.count("+    return cfg\n") == 1


def test_recipes_that_are_built_on_it_get_it_as_well_and_are_named(enable: Enable) -> None:
    text = (
        RECIPE
        + """

    def longer():
        cfg = r()
        cfg.train.train_iters = 5
        return cfg
    """
    )
    code, _, err = enable(text, "r.py::r")
    assert code == 0
    assert "built on it, and on as well: longer\n" in err


def test_a_recipe_that_is_built_on_it_and_would_not_run_any_more_forbids_it(enable: Enable) -> None:
    text = (
        RECIPE
        + """

    def larger():
        cfg = r()
        cfg.model.pipeline_model_parallel_size = 4
        return cfg
    """
    )
    code, _, err = enable(text, "r.py::r")
    assert code == 1
    assert "MFSDP350 would appear in r.larger" in err


def test_whoever_asks_for_it_to_be_off_is_told_that_it_is_on(enable: Enable) -> None:
    text = """\
        def r(fsdp: bool = False):
            cfg = llama3_8b_pretrain_config()
            cfg.ddp.use_megatron_fsdp = fsdp
            return cfg
    """
    code, _, err = enable(text, "r.py::r")
    assert code == 0
    assert "it is on for every caller then, with fsdp=False, too" in err


def test_a_function_that_changes_what_it_is_given_writes_it_at_its_end(enable: Enable) -> None:
    text = """\
        from megatron.bridge.training.config import ConfigContainer


        def tune(cfg: ConfigContainer) -> None:
            cfg.ddp.average_in_collective = True
    """
    code, out, _ = enable(text, "r.py::tune")
    assert code == 0
    assert "+    cfg.ddp.average_in_collective = False\n+    cfg.dist.use_megatron_fsdp = True\n" in out


def test_an_override_file_gets_the_settings_in_their_sections(enable: Enable) -> None:
    text = """\
        checkpoint:
          save: /results  # kept
          load: /results
    """
    code, out, _ = enable(text, "o.yaml", "--save=/new", path="o.yaml")
    assert code == 0
    assert [line for line in out.splitlines() if line[0] in "+-"][2:] == [
        "-  save: /results  # kept",
        "-  load: /results",
        "+  save: /new  # kept",
        "+  load: /new",
        "+  ckpt_format: fsdp_dtensor",
        "+dist:",
        "+  use_megatron_fsdp: true",
        "+ddp:",
        "+  use_megatron_fsdp: true",
        "+  data_parallel_sharding_strategy: optim_grads_params",
        "+  average_in_collective: false",
    ]


def test_a_checkpoint_that_has_to_be_converted_is_named(enable: Enable) -> None:
    text = """\
        def r():
            cfg = llama3_8b_pretrain_config()
            cfg.checkpoint.pretrained_checkpoint = "/models/llama"
            return cfg
    """
    _, _, err = enable(text, "r.py::r")
    assert 'checkpoint.pretrained_checkpoint is "/models/llama"; in another format than fsdp_dtensor' in err


def test_a_range_of_versions_is_proved_for_all_of_them(enable: Enable) -> None:
    text = """\
        def r(fsdp: bool = False):
            cfg = llama3_8b_pretrain_config()
            cfg.ddp.use_megatron_fsdp = fsdp
            return cfg
    """
    enable(text, "r.py::r")
    assert main(["enable", "r.py::r", "--target-bridge", ">=0.3,<0.6"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["r.py::none"], "r.py::none: no recipe there; there are r, other"),
        (["r.py"], "r.py: 2 recipes there; name one: r, other"),
        (["r.py::r(x=1)"], "r.py::r(x=1): a recipe is enabled for whoever calls it; leave the arguments out"),
        (["r.py::r", "--set=a.b=1"], "unknown option --set"),
        (["no.py::r"], "no.py: no such file or directory"),
    ],
)
def test_wrong_usage(enable: Enable, arguments: list[str], message: str) -> None:
    code, out, err = enable(RECIPE + "\n    def other():\n        return llama3_8b_pretrain_config()\n", *arguments)
    assert (code, out) == (2, "")
    assert message in err
