"""`mfsdp-lint` on addresses, and under the overrides of a launch."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest

from tests.commands.samples import Ask, ask, shown

__all__ = ["ask"]


def test_a_recipe_is_judged_as_it_is_called(ask: Ask) -> None:
    assert ask("recipes.py::sharded", "--output-format", "concise")[0] == 0
    code, out, _ = ask("recipes.py::sharded(ckpt_format='torch_dist')", "--output-format", "concise")
    assert code == 1
    assert out.startswith("recipes.py:")
    assert "error MFSDP101 " in out


def test_two_calls_of_one_recipe_are_two_recipes(ask: Ask) -> None:
    code, out, _ = ask(
        "recipes.py::sharded(ckpt_format='torch_dist')",
        "recipes.py::sharded(ckpt_format='torch')",
        "--output-format=json",
    )
    assert code == 1
    (finding,) = json.loads(out)["findings"]
    assert [recipe["name"] for recipe in finding["recipes"]] == [
        'sharded(ckpt_format="torch")',
        'sharded(ckpt_format="torch_dist")',
    ]


def test_what_a_launcher_overrides_is_judged_and_shown(ask: Ask) -> None:
    code, out, err = ask("recipes.py::small", "--set", "dist.use_megatron_fsdp=true")
    assert (code, err) == (1, "")
    assert "note: dist.use_megatron_fsdp is True here (<command line>:1)\n" in out


def test_a_file_is_not_repaired_for_what_one_launch_makes_of_it(ask: Ask) -> None:
    _, out, _ = ask("recipes.py::small", "--set", "dist.use_megatron_fsdp=true", "--output-format", "concise")
    assert out.splitlines()[-1].startswith("1 file, 1 recipe: 2 findings (1 error, 1 warning); judged against ")
    code, out, err = ask("recipes.py::small", "--set", "dist.use_megatron_fsdp=true", "--fix")
    assert (code, out) == (2, "")
    assert err == (
        "mfsdp-lint: error: --fix and --diff repair the recipe as it stands; use them without --set and --env\n"
    )


def test_an_override_can_take_the_problem_away(ask: Ask) -> None:
    address = "recipes.py::sharded(ckpt_format='torch_dist')"
    assert ask(address, "--set", "checkpoint.ckpt_format=fsdp_dtensor")[0] == 0


def test_a_variable_of_the_launch_counts(ask: Ask) -> None:
    code, out, _ = ask("recipes.py::sharded", "--env", "CUDA_DEVICE_MAX_CONNECTIONS=1", "--output-format", "concise")
    assert code == 1
    assert " MFSDP501 " in out
    assert ask("recipes.py::sharded", "--env", "CUDA_DEVICE_MAX_CONNECTIONS")[0] == 0


def test_a_misspelt_override_is_a_warning(ask: Ask) -> None:
    code, _, err = ask("recipes.py::sharded", "--set", "dist.use_megatron_fdsp=true")
    assert code == 0
    assert err == (
        "mfsdp-lint: warning: --set dist.use_megatron_fdsp: dist has no such field; "
        "did you mean dist.use_megatron_fsdp?\n"
    )


def test_an_address_that_is_not_there_does_not_stop_the_others(ask: Ask) -> None:
    code, out, err = ask("recipes.py::smal", "recipes.py::sharded", "--output-format", "concise")
    assert code == 2
    assert out.startswith("1 file, 1 recipe: 0 findings; ")
    assert err == "mfsdp-lint: error: recipes.py: there is no function smal; the nearest is small\n"


@pytest.mark.parametrize("options", [(), ("--set", "train.train_iters=3"), ("--env", "NCCL_DEBUG=INFO")])
def test_a_name_that_is_no_field_is_told_under_overrides_too(ask: Ask, options: tuple[str, ...]) -> None:
    Path("misspelt.py").write_text(
        dedent("""\
            from settings import ConfigContainer


            def misspelt():
                cfg = ConfigContainer()
                cfg.checkpoint.ckpt_fromat = "fsdp_dtensor"
                return cfg
        """)
    )
    _, out, _ = ask("misspelt.py", "--output-format=concise", *options)
    assert "MFSDP701 CheckpointConfig has no field ckpt_fromat; did you mean ckpt_format?" in out


def test_readiness_is_told_recipe_by_recipe(ask: Ask) -> None:
    code, out, _ = ask("recipes.py", "--set", "dist.use_megatron_fsdp=true", "--group-by", "recipe")
    assert code == 1
    told = """
        recipes.py:14: small
          error MFSDP101 Megatron-FSDP needs checkpoint.ckpt_format "fsdp_dtensor", but it is "torch"
          warning MFSDP301 Megatron-FSDP is on, but ddp.data_parallel_sharding_strategy is "no_shard"
          must change first: checkpoint.ckpt_format = "fsdp_dtensor"
        recipes.py:20: sharded: ready
    """
    assert shown(told) in out
    assert "\n\n2 of 5 recipes ready\n" in out


def test_readiness_is_one_line_a_recipe_where_that_is_wanted(ask: Ask) -> None:
    arguments = ("--set", "dist.use_megatron_fsdp=true", "--group-by=recipe", "--output-format=concise")
    _, out, _ = ask("recipes.py", *arguments)
    line = 'recipes.py:14: small: MFSDP101, MFSDP301; first checkpoint.ckpt_format = "fsdp_dtensor"\n'
    assert line in out
    assert "recipes.py:20: sharded: ready\n" in out


def test_what_no_edit_cures_is_for_a_person(ask: Ask) -> None:
    arguments = ("--set", "model.pipeline_model_parallel_size=2", "--group-by=recipe")
    _, out, _ = ask("recipes.py::sharded", *arguments)
    assert "  must change first: model.pipeline_model_parallel_size by hand (MFSDP350)\n" in out


def test_programs_get_the_same_recipe_by_recipe(ask: Ask) -> None:
    arguments = ("--set", "dist.use_megatron_fsdp=true", "--output-format=json")
    plain = json.loads(ask("recipes.py", *arguments)[1])
    grouped = json.loads(ask("recipes.py", *arguments, "--group-by=recipe")[1])
    assert plain["by_recipe"] == []
    assert {**grouped, "by_recipe": []} == plain
    small = next(each for each in grouped["by_recipe"] if each["name"] == "small")
    assert [finding["code"] for finding in small["findings"]] == ["MFSDP101", "MFSDP301"]
    assert {finding["fingerprint"] for finding in small["findings"]} <= {
        each["fingerprint"] for each in plain["findings"]
    }
