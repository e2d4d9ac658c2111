"""`mfsdp-lint audit --memory`: what is printed of the bytes on each rank."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tests.commands.samples import Ask, ask, shown

__all__ = ["ask"]

HEAD = "memory on each rank, for megatron-bridge 0.3.1 with megatron-core 0.16.1"


SIZED = f"""\
1 recipe, {HEAD}

sized (runs.py:6)
8,030,261,248 parameters, by the model's settings
4,015,263,744 on a rank (TP 2)
16 ranks: dense weights are shared by 8 ranks

                                                          parameters  gradients      main  optimizer     total    in all
  DDP                                                       7.48 GiB   15.0 GiB  15.0 GiB   29.9 GiB  67.3 GiB  91.5 GiB
  distributed optimizer                                     7.48 GiB   15.0 GiB  1.87 GiB   3.74 GiB  28.0 GiB  52.3 GiB
  distributed optimizer, ×2                                 7.48 GiB   15.0 GiB  3.74 GiB   7.48 GiB  33.7 GiB  57.9 GiB
  Megatron-FSDP no_shard                                    7.48 GiB   15.0 GiB  15.0 GiB   29.9 GiB  67.3 GiB  91.5 GiB
  Megatron-FSDP optim                                       7.48 GiB   15.0 GiB  1.87 GiB   3.74 GiB  28.0 GiB  52.3 GiB
  Megatron-FSDP optim_grads                                 7.48 GiB   1.87 GiB  1.87 GiB   3.74 GiB  15.0 GiB  39.2 GiB
* Megatron-FSDP optim_grads_params                           957 MiB   1.87 GiB  1.87 GiB   3.74 GiB  8.41 GiB  34.8 GiB
  Megatron-FSDP no_shard, HSDP ×2                           7.48 GiB   15.0 GiB  15.0 GiB   29.9 GiB  67.3 GiB  91.5 GiB
  Megatron-FSDP optim, HSDP ×2                              7.48 GiB   15.0 GiB  3.74 GiB   7.48 GiB  33.7 GiB  57.9 GiB
  Megatron-FSDP optim_grads, HSDP ×2                        7.48 GiB   3.74 GiB  3.74 GiB   7.48 GiB  22.4 GiB  46.7 GiB
  Megatron-FSDP optim_grads_params, HSDP ×2                 1.87 GiB   3.74 GiB  3.74 GiB   7.48 GiB  16.8 GiB  43.3 GiB
  Megatron-FSDP optim_grads_params, HSDP ×2, outer optim    1.87 GiB   3.74 GiB  1.87 GiB   3.74 GiB  11.2 GiB  37.6 GiB
  torch FSDP2                                                957 MiB    957 MiB  1.87 GiB   3.74 GiB  7.48 GiB  33.5 GiB

Megatron-FSDP optim_grads_params, bytes on a rank
 parameters            2 B × 4,015,263,744 ÷ 8 = 1,003,815,936
 gradients             4 B × 4,015,263,744 ÷ 8 = 2,007,631,872
 main parameters       4 B × 4,015,263,744 ÷ 8 = 2,007,631,872
 optimizer states      (4 + 4) B × 4,015,263,744 ÷ 8 = 4,015,263,744
 gathered for a while  (2 + 4) B × 2 × 109,060,096 + 2 B × 525,340,672 = 2,359,402,496
 activations           8,192 tokens × 90,112 B × 32 layers = 26,012,408,218
"""


@pytest.fixture(autouse=True)
def _recipes(ask: Ask) -> None:
    """Two recipes of upstream's, changed: one with a model of known sizes, one whose sizes are on the hub."""
    Path("runs.py").write_text(
        dedent(
            """\
            from megatron.bridge import AutoBridge
            from megatron.bridge.models.llama import Llama3ModelProvider8B
            from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


            def sized():
                cfg = llama3_8b_pretrain_config()
                cfg.model = Llama3ModelProvider8B(tensor_model_parallel_size=2, vocab_size=128256)
                cfg.ddp.use_megatron_fsdp = True
                cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
                return cfg


            def hub():
                cfg = llama3_8b_pretrain_config()
                bridge = AutoBridge.from_hf_pretrained("meta-llama/Llama-3.3-70B-Instruct")
                cfg.model = bridge.to_megatron_provider(load_weights=False)
                return cfg
            """
        )
    )


def test_one_recipe_is_told_in_full(ask: Ask) -> None:
    code, out, err = ask("audit", "runs.py::sized", "--memory", "--world-size", "16")
    assert (code, err) == (0, "")
    table, _, sources = out.partition("\nread in\n")
    assert table == SIZED
    assert "megatron/core/parallel_state.py:743" in sources
    assert "left out: of activations: " in sources


def test_several_recipes_have_a_line_each_as_they_are_wrapped(ask: Ask) -> None:
    code, out, err = ask("audit", "runs.py", "--memory", "--world-size", "16")
    assert (code, err) == (0, "")
    assert out == shown(
        f"""
        2 recipes, {HEAD}

          recipe  wrapped as                        parameters  gradients      main  optimizer     total    in all
        runs.py
          sized   Megatron-FSDP optim_grads_params     957 MiB   1.87 GiB  1.87 GiB   3.74 GiB  8.41 GiB  34.8 GiB
          hub     ? parameters: model.num_layers is not known (--parameters)

        asked for alone (PATH::RECIPE), a recipe shows every way of wrapping it, with formulas and their sources
        """
    )


def test_what_is_not_known_is_named(ask: Ask) -> None:
    _, out, _ = ask("audit", "runs.py::hub", "--memory")
    assert (
        "the number of ranks is not known (--world-size)\nparameters: model.num_layers is not known (--parameters)\n"
        in out
    )


def test_parameters_can_be_given(ask: Ask) -> None:
    memory = memory_of(ask, "runs.py::hub", "--parameters", "8.03B")
    assert memory["parameters"]["total"] == 8_030_000_000
    assert own(memory)["parameters"]["formula"] == "2 B × 8,030,000,000"


def test_json_has_every_wrapping_and_its_formulas(ask: Ask) -> None:
    memory = memory_of(ask, "runs.py::sized", "--world-size", "16")
    assert own(memory) == {
        "as": "megatron_fsdp:optim_grads_params",
        "label": "Megatron-FSDP optim_grads_params",
        "own": True,
        "parameters": {"bytes": 1003815936, "formula": "2 B × 4,015,263,744 ÷ 8", "why": ""},
        "gradients": {"bytes": 2007631872, "formula": "4 B × 4,015,263,744 ÷ 8", "why": ""},
        "main_parameters": {"bytes": 2007631872, "formula": "4 B × 4,015,263,744 ÷ 8", "why": ""},
        "optimizer_states": {"bytes": 4015263744, "formula": "(4 + 4) B × 4,015,263,744 ÷ 8", "why": ""},
        "total": {"bytes": 9034343424, "why": ""},
        "gathered": {
            "bytes": 2359402496,
            "formula": "(2 + 4) B × 2 × 109,060,096 + 2 B × 525,340,672",
            "why": "",
        },
        "activations": {"bytes": 26012408218, "formula": "8,192 tokens × 90,112 B × 32 layers", "why": ""},
        "in_all": {"bytes": 37406154138, "why": ""},
    }


def test_whether_it_fits_is_told_with_what_would_make_it_fit(ask: Ask) -> None:
    _, out, _ = ask("audit", "runs.py::sized", "--memory", "--world-size", "16", "--gpu", "h100")
    assert "\nh100 (80 GiB): fits (34.8 GiB by the estimate)\n" in out
    _, out, _ = ask("audit", "runs.py::sized", "--memory", "--world-size", "16", "--memory-limit", "24GiB")
    _, _, told = out.partition("24GiB: ")
    assert told.splitlines()[:3] == [
        "does not fit (34.8 GiB by the estimate)",
        '  fits with model.recompute_granularity = "full", model.recompute_method = "uniform",'
        " model.recompute_num_layers = 1 (14.6 GiB)",
        "  fits with model.tensor_model_parallel_size = 4, model.sequence_parallel = True (18.5 GiB)",
    ]
    fit = memory_of(ask, "runs.py::sized", "--world-size", "16", "--memory-limit", "24GiB")["fit"]
    assert (fit["fit"], fit["limit"]) == ("does not fit", {"bytes": 24 * 2**30, "label": "24GiB"})
    assert fit["proposals"][1]["set"] == {"model.tensor_model_parallel_size": 4, "model.sequence_parallel": True}


def test_several_recipes_say_whether_they_fit(ask: Ask) -> None:
    _, out, _ = ask("audit", "runs.py", "--memory", "--world-size", "16", "--gpu", "h200")
    assert [line.split()[-1] for line in out.splitlines() if line.startswith("  ")][:2] == ["fit", "fits"]
    _, out, _ = ask("audit", "runs.py", "--memory", "--gpu", "h200", "--output-format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    told = {row["recipe"]: row["fit"] for row in rows if row["own"] != "no"}
    assert told == {"sized": "not known", "hub": "not known"}


def test_csv_has_a_row_for_each_wrapping(ask: Ask) -> None:
    _, out, _ = ask("audit", "runs.py", "--memory", "--world-size", "16", "--output-format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    sharded = next(row for row in rows if row["own"] == "yes")
    assert (sharded["recipe"], sharded["wrapping"], sharded["total"]) == (
        "sized",
        "megatron_fsdp:optim_grads_params",
        "9034343424",
    )
    assert [(row["total"], row["why"]) for row in rows if row["recipe"] == "hub"] == [
        ("?", "parameters: model.num_layers is not known (--parameters)")
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--world-size", "8"), "--gpu and --memory-limit are about --memory"),
        (("--memory", "--settings", "ddp"), "--memory and --settings go together in JSON alone"),
        (("--memory", "--world-size", "0"), "expected a number of ranks, not '0'"),
        (("--memory", "--parameters", "many"), "expected a number of parameters such as 8.03B"),
        (("--memory", "--parameters", "1B,2B"), "2B in experts, of 1B"),
        (("--gpu", "h100"), "--gpu and --memory-limit are about --memory"),
        (("--memory", "--gpu", "l4"), "the memory of 'l4' is not known"),
        (("--memory", "--memory-limit", "80"), "expected an amount of memory such as 80GiB, not '80'"),
        (("--memory", "--gpu", "h100", "--memory-limit", "80GB"), "both say the memory of a GPU"),
    ],
)
def test_what_makes_no_sense_is_refused(ask: Ask, arguments: tuple[str, ...], said: str) -> None:
    code, out, err = ask("audit", "runs.py", *arguments)
    assert (code, out) == (2, "")
    assert said in err


def memory_of(ask: Ask, *arguments: str) -> dict[str, Any]:
    code, out, _ = ask("audit", *arguments, "--memory", "--output-format", "json")
    assert code == 0
    document = json.loads(out)
    assert document["memory"]["left_out"][0].startswith("of activations: ")
    memory: dict[str, Any] = document["recipes"][0]["memory"]
    return memory


def own(memory: dict[str, Any]) -> dict[str, Any]:
    return next(each for each in memory["wrapped"] if each["own"])
