"""`mfsdp-lint why`: the stories that it tells of a small project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.samples import TRAIN, Ask, ask, shown

__all__ = ["ask"]


def story(ask: Ask, *arguments: str) -> str:
    code, out, err = ask("why", *arguments)
    assert (code, err) == (0, "")
    return out


def test_every_write_is_told_in_order_through_helpers(ask: Ask) -> None:
    assert story(ask, "recipes.py::sharded", "checkpoint.ckpt_format") == shown(
        """
        checkpoint.ckpt_format is "fsdp_dtensor" in sharded (recipes.py:20)

          recipes.py:21 in sharded
            cfg = _base("/results")
              recipes.py:6 in _base
                return ConfigContainer(checkpoint=CheckpointConfig(save=save, ckpt_format="torch"))
                → "torch"
          recipes.py:23 in sharded
            _shard(cfg, ckpt_format)
              recipes.py:11 in _shard
                cfg.checkpoint.ckpt_format = ckpt_format
                from recipes.py:20
                  def sharded(size: int = 8, *, ckpt_format: str = "fsdp_dtensor") -> ConfigContainer:
                → "fsdp_dtensor", was "torch"
        """
    )


def test_a_section_that_is_replaced_takes_its_settings_along(ask: Ask) -> None:
    assert story(ask, "recipes.py::sharded", "ddp.data_parallel_sharding_strategy") == shown(
        """
        ddp.data_parallel_sharding_strategy is "optim_grads_params" in sharded (recipes.py:20)

          recipes.py:21 in sharded
            cfg = _base("/results")
              recipes.py:6 in _base
                return ConfigContainer(checkpoint=CheckpointConfig(save=save, ckpt_format="torch"))
                → "no_shard", by default
          recipes.py:22 in sharded
            cfg.ddp = DdpConfig(data_parallel_sharding_strategy="optim_grads_params")
            → "optim_grads_params", was "no_shard"
        """
    )


def test_a_default_is_nobodys_doing(ask: Ask) -> None:
    assert story(ask, "recipes.py::either(nodes=2)", "dist.use_torch_fsdp2") == shown(
        """
        dist.use_torch_fsdp2 is False in either(nodes=2) (recipes.py:35)

          recipes.py:36 in either
            cfg = ConfigContainer()
            → False, by default; nobody writes it
        """
    )


def test_each_way_through_a_recipe_has_its_story(ask: Ask) -> None:
    assert story(ask, "recipes.py::either", "dist.use_torch_fsdp2") == shown(
        """
        dist.use_torch_fsdp2 is True in either (recipes.py:35)
          when nodes > 4

          recipes.py:36 in either
            cfg = ConfigContainer()
            → False, by default
          recipes.py:38 in either
            cfg.dist.use_torch_fsdp2 = True
            → True, was False

        dist.use_torch_fsdp2 is False in either (recipes.py:35)
          when not (nodes > 4)

          recipes.py:36 in either
            cfg = ConfigContainer()
            → False, by default; nobody writes it
        """
    )


def test_a_call_that_cannot_be_followed_is_what_made_a_value_unknown(ask: Ask) -> None:
    assert story(ask, "recipes.py::tuned", "ddp.use_megatron_fsdp") == shown(
        """
        ddp.use_megatron_fsdp is unknown in tuned (recipes.py:29)

          recipes.py:30 in tuned
            cfg = _base("/results")
              recipes.py:6 in _base
                return ConfigContainer(checkpoint=CheckpointConfig(save=save, ckpt_format="torch"))
                → False, by default
          recipes.py:31 in tuned
            tune(cfg.ddp)
            → unknown: this call cannot be followed, and may have changed it
        """
    )


def test_a_section_that_is_none_has_no_settings(ask: Ask) -> None:
    assert story(ask, "recipes.py::small", "comm_overlap.use_megatron_fsdp") == shown(
        """
        comm_overlap.use_megatron_fsdp is unknown in small (recipes.py:14)

          recipes.py:15 in small
            cfg = _base("/results")
              recipes.py:6 in _base
                return ConfigContainer(checkpoint=CheckpointConfig(save=save, ckpt_format="torch"))
                → comm_overlap is None, by default; nobody writes it

          comm_overlap is None, so there is no comm_overlap.use_megatron_fsdp
        """
    )


def test_an_override_is_the_last_word(ask: Ask) -> None:
    assert story(ask, "recipes.py::small", "checkpoint.save", "--set", "checkpoint.save=null") == shown(
        """
        checkpoint.save is None in small (recipes.py:14)

          recipes.py:15 in small
            cfg = _base("/results")
              recipes.py:6 in _base
                return ConfigContainer(checkpoint=CheckpointConfig(save=save, ckpt_format="torch"))
                → "/results"
          on the command line
            --set checkpoint.save=null
            → None, was "/results"
        """
    )


GROUPS = "dist.high_priority_stream_groups"


def test_a_list_is_a_value_like_any_other(ask: Ask) -> None:
    code, told, _ = ask("why", "recipes.py::small", GROUPS, "--set", f"{GROUPS}=[dp, ep]")
    assert code == 0
    assert told.startswith(f"{GROUPS} is ['dp', 'ep'] in small")
    assert f"    --set {GROUPS}=[dp, ep]\n" in told


def test_a_setting_is_known_by_its_last_part_alone(ask: Ask) -> None:
    assert story(ask, "recipes.py::small", "ckpt_format") == story(ask, "recipes.py::small", "checkpoint.ckpt_format")


def test_an_environment_variable_has_a_story_too(ask: Ask) -> None:
    assert story(ask, "recipes.py::sharded", "env.NCCL_DEBUG", "--env", "NCCL_DEBUG") == shown(
        """
        env.NCCL_DEBUG is "INFO" in sharded (recipes.py:20)

          recipes.py:25 in sharded
            cfg.env_vars["NCCL_DEBUG"] = "INFO"
            → "INFO"
        """
    )
    assert story(ask, "recipes.py::sharded", "env.NCCL_DEBUG", "--env", "NCCL_DEBUG=WARN") == shown(
        """
        env.NCCL_DEBUG is "WARN" in sharded (recipes.py:20)

          on the command line
            --env NCCL_DEBUG=WARN
            → "WARN"
        """
    )
    assert story(ask, "recipes.py::small", "env.NCCL_DEBUG") == shown(
        """
        env.NCCL_DEBUG is unknown in small (recipes.py:14)
          the recipe does not set it; the environment of the launch decides
        """
    )


def test_an_override_file_is_told_line_by_line(ask: Ask) -> None:
    assert story(ask, "overrides.yaml", "ddp.use_megatron_fsdp") == shown(
        """
        ddp.use_megatron_fsdp is True in overrides.yaml (overrides.yaml:1)

          overrides.yaml:2
            use_megatron_fsdp: false
            → False
          overrides.yaml:3
            use_megatron_fsdp: true
            → True, was False
        """
    )
    assert story(ask, "overrides.yaml", "checkpoint.load") == shown(
        """
        checkpoint.load is unknown in overrides.yaml (overrides.yaml:1)
          this file does not write it; the recipe that it overrides decides
        """
    )


def test_what_start_up_makes_of_it_comes_last(ask: Ask) -> None:
    assert story(ask, "recipes.py::sharded", "dist.use_megatron_fsdp") == shown(
        """
        dist.use_megatron_fsdp is False in sharded (recipes.py:20)

          recipes.py:21 in sharded
            cfg = _base("/results")
              recipes.py:6 in _base
                return ConfigContainer(checkpoint=CheckpointConfig(save=save, ckpt_format="torch"))
                → False, by default; nobody writes it
          start-up (megatron-bridge 0.3.1 megatron/bridge/training/config.py:1467): Megatron-FSDP
            → True, was False
        """
    )


def test_json_tells_the_same(ask: Ask) -> None:
    document = json.loads(story(ask, "recipes.py::small('fp16')", "mixed_precision", "--output-format", "json"))
    assert document["recipe"]["arguments"] == {"precision": "fp16"}
    (told,) = document["stories"]
    assert (told["state"], told["value"], told["when"]) == ("known", "fp16_mixed", [])
    default, assigned = told["writes"]
    assert (default["how"], default["value"], default["calls"][0]["line"]) == ("default", "bf16_mixed", 15)
    assert (assigned["line"], assigned["code"]) == (16, ['cfg.mixed_precision = precision + "_mixed"'])
    assert told["startup"] == []


def test_json_has_start_up_apart(ask: Ask) -> None:
    document = json.loads(story(ask, "recipes.py::sharded", "dist.use_megatron_fsdp", "--output-format", "json"))
    (told,) = document["stories"]
    assert (told["state"], told["value"]) == ("known", False)
    assert told["startup"] == [
        {
            "state": "known",
            "value": True,
            "path": "megatron/bridge/training/config.py",
            "line": 1467,
            "upstream": "megatron-bridge 0.3.1",
            "step": "Megatron-FSDP",
        }
    ]


@pytest.mark.parametrize(
    ("address", "setting", "message"),
    [
        (
            "overrides.yaml",
            "ddp.use_megatron_fdsp",
            "overrides.yaml has no setting ddp.use_megatron_fdsp; did you mean ddp.use_megatron_fsdp?",
        ),
        ("recipes.py::small", "ddp.use_megatron_fdsp", "small has no setting ddp.use_megatron_fdsp; did you mean "),
        ("recipes.py::smal", "ddp.x", "recipes.py: there is no function smal; the nearest is small"),
        ("settings.py", "ddp.x", "settings.py: no recipe there"),
        ("recipes.py", "ddp.x", "recipes.py: 5 recipes there; name one: recipes.py::small, recipes.py::sharded, "),
        ("gone.py::small", "ddp.x", "gone.py: no such file or directory"),
    ],
)
def test_a_question_about_nothing_is_wrong_usage(ask: Ask, address: str, setting: str, message: str) -> None:
    code, out, err = ask("why", address, setting)
    assert (code, out) == (2, "")
    assert err.startswith(f"mfsdp-lint: error: {message}")
    assert err.count("\n") == 1


def test_the_default_of_an_option_is_told_as_changeable(ask: Ask) -> None:
    Path("train.py").write_text(TRAIN)
    assert story(ask, "train.py::train", "model.tensor_model_parallel_size") == shown(
        """
        model.tensor_model_parallel_size is 4 in train (train.py:6)

          train.py:11 in train
            cfg = ConfigContainer()
            → 1, by default
          train.py:12 in train
            cfg.model.tensor_model_parallel_size = args.tp_size
            from train.py:8 in train
              parser.add_argument("--tp-size", type=int, default=4)
            → 4, was 1; from the default of --tp-size, changeable from the command line
        """
    )
    assert story(ask, "train.py::train", "checkpoint.save").splitlines()[-1] == (
        "    → unknown: --save gives it, on the command line"
    )
