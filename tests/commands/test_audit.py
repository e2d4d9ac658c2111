"""`mfsdp-lint audit`: what is printed for a small project."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from mfsdp_lint.megatron.vocabulary import SETTINGS
from tests.commands.samples import TRAIN, Ask, ask, shown

__all__ = ["ask"]

HEAD = "as configured for megatron-bridge 0.3.1 with megatron-core 0.16.1"
START_UP = "megatron-bridge 0.3.1 megatron/bridge/training/config.py"


def recipes(ask: Ask, *arguments: str) -> dict[str, Any]:
    """The recipes of the JSON document by name, with whole origins."""
    code, out, err = ask("audit", "--output-format", "json", *arguments)
    assert (code, err) == (0, "")
    document = json.loads(out)
    for recipe in document["recipes"]:
        for setting in (*recipe["settings"].values(), *recipe["will_run"].values()):
            if setting["origin"] is not None:
                setting["origin"] |= document["origins"][setting["origin"].pop("ref")]
    return {recipe["name"]: recipe for recipe in document["recipes"]}


def test_a_table_has_a_line_a_recipe_and_tells_once_what_is_the_same_in_all(ask: Ask) -> None:
    code, out, err = ask("audit", "recipes.py")
    assert (code, err) == (0, "")
    assert out == shown(
        f"""
        5 recipes, {HEAD}
        the same in all: offload –, recompute –, precision bf16

          recipe        FSDP           strategy            format        save/load  TP/PP/CP/EP
        recipes.py
          small         –              –                   torch         yes/no     1/1/1/1
          sharded       megatron-fsdp  optim_grads_params  fsdp_dtensor  yes/no     8/1/1/1
          tuned         ?              ?                   torch         yes/no     1/1/1/1
          either        torch-fsdp2|–  no_shard|–          torch_dist    no/no      1/1/1/1
          Family.large  megatron-fsdp  optim_grads_params  fsdp_dtensor  yes/no     2/1/1/1

        – is off or None, ? is not known
        ? ddp.use_megatron_fsdp, ddp.data_parallel_sharding_strategy: `tune(cfg.ddp)` (recipes.py:31) is not followed
        """
    )


def test_a_table_that_does_not_fit_has_the_names_on_lines_of_their_own(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = ask("audit", "recipes.py::sharded(size=4, ckpt_format='torch_dist')", "recipes.py::small('fp16')")
    assert code == 0
    assert out == shown(
        f"""
        2 recipes, {HEAD}
        the same in all: save/load yes/no, offload –, recompute –

          recipe
            FSDP           strategy            format      TP/PP/CP/EP  precision
        recipes.py
          sharded(size=4, ckpt_format="torch_dist")
            megatron-fsdp  optim_grads_params  torch_dist  4/1/1/1      bf16
          small(precision="fp16")
            –              –                   torch       1/1/1/1      fp16

        – is off or None
        """
    )


def test_chosen_settings_of_one_recipe_are_a_list_with_the_place_of_each(ask: Ask) -> None:
    _, out, _ = ask("audit", "recipes.py::sharded", "--settings", "checkpoint", "--settings", "*.use_megatron_fsdp")
    assert out == shown(
        f"""
        1 recipe, {HEAD}

        sharded (recipes.py:20)
          checkpoint              set           recipes.py:6
          checkpoint.ckpt_format  fsdp_dtensor  recipes.py:11
          checkpoint.load         –             default, settings.py:8
          checkpoint.save         /results      recipes.py:6
          ddp.use_megatron_fsdp   yes           recipes.py:10
          dist.use_megatron_fsdp  no→yes        default, settings.py:19 → start-up, {START_UP}:1467

        – is off or None, → is what will run
        """
    )


def test_chosen_settings_of_several_recipes_are_columns(ask: Ask) -> None:
    _, out, _ = ask("audit", "--settings", "checkpoint.ckpt_format", "--recipe", "s*", "--recipe", "recipes.tuned")
    assert out == shown(
        f"""
        3 recipes, {HEAD}

          recipe   checkpoint.ckpt_format
        recipes.py
          small    torch
          sharded  fsdp_dtensor
          tuned    torch
        """
    )


def test_json_gives_every_setting_with_its_origin(ask: Ask) -> None:
    sharded = recipes(ask, "recipes.py")["sharded"]
    settings, will_run = sharded.pop("settings"), sharded.pop("will_run")
    assert sharded.pop("others") == {}
    assert sharded == {
        "name": "sharded",
        "qualified_name": "recipes.sharded",
        "path": "recipes.py",
        "line": 20,
        "kind": "function",
    }
    assert settings["checkpoint.ckpt_format"] == {
        "state": "known",
        "value": "fsdp_dtensor",
        "origin": {
            "path": "recipes.py",
            "line": 11,
            "end_line": 11,
            "column": 5,
            "end_column": 45,
            "how": "assigned",
            "function": "_shard",
            "sources": [
                {
                    "path": "recipes.py",
                    "line": 23,
                    "end_line": 23,
                    "column": 17,
                    "end_column": 28,
                    "function": "sharded",
                },
                {
                    "path": "recipes.py",
                    "line": 20,
                    "end_line": 20,
                    "column": 50,
                    "end_column": 64,
                    "function": "",
                },
            ],
        },
    }
    assert settings["dist.use_torch_fsdp2"]["origin"]["how"] == "default"
    assert settings["env.NCCL_DEBUG"]["value"] == "INFO"
    assert will_run["dist.use_megatron_fsdp"] == {
        "state": "known",
        "value": True,
        "origin": {
            "path": "megatron/bridge/training/config.py",
            "line": 1467,
            "end_line": 1467,
            "column": 1,
            "end_column": 1,
            "how": "startup",
            "function": "",
            "upstream": "megatron-bridge 0.3.1",
        },
        "step": "Megatron-FSDP",
    }
    assert "ddp.use_megatron_fsdp" not in will_run


def test_json_says_where_with_the_setting_and_the_rest_once(ask: Ask) -> None:
    _, out, _ = ask("audit", "--output-format", "json", "recipes.py")
    document = json.loads(out)
    origin = document["recipes"][0]["settings"]["checkpoint.ckpt_format"]["origin"]
    assert set(origin) == {"path", "line", "end_line", "ref"}
    assert {"how", "column", "end_column", "function"} <= set(document["origins"][origin["ref"]])
    assert len(document["origins"]) == len({json.dumps(each) for each in document["origins"]})


def test_json_leaves_out_what_nobody_wrote_and_no_rule_asks_for(ask: Ask) -> None:
    _, out, _ = ask("audit", "--output-format", "json", "recipes.py")
    document = json.loads(out)
    (sharded,) = (recipe for recipe in document["recipes"] if recipe["name"] == "sharded")
    whole = recipes(ask, "--settings", "*", "recipes.py")["sharded"]["settings"]
    assert sharded["settings"].keys() == {path for path in whole if path in SETTINGS or path.startswith("env.")}
    left_out = whole.keys() - sharded["settings"].keys() - sharded["others"].keys()
    assert left_out
    named = [whole[path]["origin"] for path in left_out if "." in path]
    assert {origin["how"] for origin in named if origin is not None} <= {"default"}


def test_json_tells_what_else_somebody_wrote_by_its_number(ask: Ask) -> None:
    text = "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n\n\ndef rarely():\n"
    text += "    cfg = llama3_8b_pretrain_config()\n    cfg.checkpoint.save_interval = 7\n    return cfg\n"
    Path("more.py").write_text(text)
    _, out, _ = ask("audit", "--output-format", "json", "more.py")
    document = json.loads(out)
    (rarely,) = document["recipes"]
    value = document["values"][rarely["others"]["checkpoint.save_interval"]]
    assert (value["state"], value["value"], value["origin"]["line"]) == ("known", 7, 6)


def test_json_of_a_recipe_is_no_longer_than_a_page_of_settings(ask: Ask) -> None:
    _, out, _ = ask("audit", "--output-format", "json", "recipes.py")
    assert len(out) < 30_000 * len(json.loads(out)["recipes"])


def test_json_keeps_the_ways_through_a_recipe_apart(ask: Ask) -> None:
    either = recipes(ask, "recipes.py")["either"]
    assert either["settings"]["dist.use_torch_fsdp2"]["state"] == "one-of"
    assert sorted(either["settings"]["dist.use_torch_fsdp2"]["values"]) == [False, True]
    ways = {way["when"][0]: way["settings"] for way in either["variants"]}
    assert ways == {
        "nodes > 4": {"dist.use_torch_fsdp2": {"state": "known", "value": True}},
        "not (nodes > 4)": {"dist.use_torch_fsdp2": {"state": "known", "value": False}},
    }


def test_json_of_an_address_has_its_arguments_by_name(ask: Ask) -> None:
    sharded = recipes(ask, "recipes.py::sharded(4, ckpt_format='torch')")["sharded"]
    assert sharded["arguments"] == {"size": 4, "ckpt_format": "torch"}
    assert sharded["settings"]["model.tensor_model_parallel_size"]["value"] == 4
    assert sharded["settings"]["checkpoint.ckpt_format"]["value"] == "torch"


def test_csv_has_a_row_a_recipe_and_a_column_a_setting(ask: Ask) -> None:
    code, out, _ = ask(
        "audit", "--output-format", "csv", "--settings", "ddp.use_megatron_fsdp", "--settings", "checkpoint.*"
    )
    assert code == 0
    header, *rows = csv.reader(io.StringIO(out))
    assert header == [
        *("recipe", "path", "line", "kind"),
        *("checkpoint.ckpt_format", "checkpoint.load", "checkpoint.save", "ddp.use_megatron_fsdp"),
    ]
    assert rows == [
        ["small", "recipes.py", "14", "function", "torch", "", "/results", "false"],
        ["sharded", "recipes.py", "20", "function", "fsdp_dtensor", "", "/results", "true"],
        ["tuned", "recipes.py", "29", "function", "torch", "", "/results", "?"],
        ["either", "recipes.py", "35", "function", "torch_dist", "", "", "false"],
        ["Family.large", "recipes.py", "45", "function", "fsdp_dtensor", "", "/results", "true"],
        ["overrides.yaml", "overrides.yaml", "1", "overrides", "?", "?", "/results", "true"],
    ]


def test_addresses_are_read_from_a_file(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "which.txt").write_text("# two\nrecipes.py::small\n\n  recipes.py::sharded(size=2)\n", encoding="utf-8")
    assert list(recipes(ask, "@which.txt")) == ["small", "sharded"]


def test_a_method_is_a_recipe_by_its_address(ask: Ask) -> None:
    large = recipes(ask, "recipes.py::Family.large")["Family.large"]
    assert large["settings"]["model.tensor_model_parallel_size"]["value"] == 2


def test_a_recipe_that_a_path_and_an_address_name_is_shown_once(ask: Ask) -> None:
    _, out, _ = ask("audit", "recipes.py", "./recipes.py::small", "--output-format", "csv", "--recipe", "small")
    assert len(out.splitlines()) == 2


def test_overrides_count_as_if_a_launcher_had_made_them(ask: Ask) -> None:
    small = recipes(ask, "recipes.py::small", "--set", "ddp.use_megatron_fsdp=true", "--env", "NCCL_DEBUG=WARN")[
        "small"
    ]
    assert small["settings"]["ddp.use_megatron_fsdp"] == {
        "state": "known",
        "value": True,
        "origin": {
            "path": "<command line>",
            "line": 1,
            "end_line": 1,
            "column": 1,
            "end_column": 33,
            "how": "override",
            "function": "",
        },
    }
    assert small["settings"]["env.NCCL_DEBUG"]["value"] == "WARN"
    assert small["settings"]["env.NCCL_DEBUG"]["origin"]["how"] == "environment"


def test_no_recipe_at_all_is_said(ask: Ask) -> None:
    assert ask("audit", "settings.py") == (0, "no recipes\n", "")


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("recipes.py::shardet", "recipes.py: there is no function shardet; the nearest is sharded"),
        ("recipes.py::Family.larg", "recipes.py: there is no function Family.larg; the nearest is Family.large"),
        ("recipes.py::number", "recipes.py: number yields no configuration that can be known"),
        ("recipes.py::small(1, 2)", "recipes.py: small takes 1 at most of the 2 positional arguments"),
        ("recipes.py::sharded(sise=1)", "recipes.py: sharded has no parameter sise; did you mean size?"),
        ("recipes.py::sharded(1, size=1)", "recipes.py: sharded is given size twice"),
        ("recipes.py::sharded(size=x)", "recipes.py::sharded(size=x): x is not a literal"),
        ("recipes.py::sharded(**{})", "recipes.py::sharded(**{}): arguments are written out"),
        ("recipes.py::sharded(", "recipes.py::sharded(: its arguments are not valid Python"),
        ("recipes.py::", "recipes.py::: '' is not the name of a function"),
        ("overrides.yaml::x", "overrides.yaml::x: a YAML file has no functions; its address is overrides.yaml"),
        ("notes.txt::x", "notes.txt::x: an address is path.py::function or path.py::function(name=value)"),
        ("gone.py::x", "gone.py: no such file or directory"),
        ("@gone.txt", "@gone.txt: no such file or directory"),
    ],
)
def test_an_address_that_names_nothing_is_wrong_usage(ask: Ask, address: str, message: str) -> None:
    code, _, err = ask("audit", address)
    assert code == 2
    assert err.startswith(f"mfsdp-lint: error: {message}")
    assert err.count("\n") == 1


def test_a_file_that_cannot_be_parsed_does_not_stop_the_others(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def recipe(:\n", encoding="utf-8")
    code, out, err = ask("audit", ".", "--recipe", "small")
    assert code == 1
    assert "  small  " in out
    assert err.startswith("mfsdp-lint: error: broken.py:1:12: not valid Python")


def test_what_comes_from_an_option_is_marked(ask: Ask) -> None:
    Path("train.py").write_text(TRAIN)
    code, out, err = ask("audit", "train.py", "--settings", "model.tensor_model_parallel_size")
    assert (code, err) == (0, "")
    assert out == shown(
        f"""
        1 recipe, {HEAD}

        train (train.py:6)
          model.tensor_model_parallel_size  4*  train.py:12

        * may be changed from the command line
        """
    )
    settings = recipes(ask, "train.py")["train"]["settings"]
    assert settings["model.tensor_model_parallel_size"]["origin"]["option"] == "--tp-size"
    assert "option" not in settings["model.pipeline_model_parallel_size"]["origin"]


def test_the_table_says_what_keeps_a_setting_from_being_known(ask: Ask) -> None:
    Path("train.py").write_text(
        "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n"
        "import ours\n\n\n"
        "def recipe():\n"
        "    cfg = llama3_8b_pretrain_config()\n"
        '    cfg.ddp.use_megatron_fsdp = ours.flag("fsdp")\n'
        "    return cfg\n"
    )
    _, out, _ = ask("audit", "--target-bridge", "0.3.1", "train.py")
    assert out.splitlines()[-1] == "? ddp.use_megatron_fsdp: `ours.flag('fsdp')` (train.py:7) is not followed"
