"""A preset chosen by an unknown name is one preset: what is decided about one of its parts holds for the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.core.values import Known
from mfsdp_lint.engine.run import run
from mfsdp_lint.inputs.options import Options
from tests.readers.python.test_decorated import read

PRESETS = """
from dataclasses import dataclass
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


@dataclass
class Preset:
    offload: bool
    recompute: bool


OBJECTS = {"wide": Preset(True, False), "long": Preset(False, True)}
DICTS = {"wide": {"offload": True, "recompute": False}, "long": {"recompute": True, "offload": False}}
SHORT = {"wide": {"offload": True}, "long": {"recompute": True}}


def recipe(name, other):
    cfg = llama3_8b_pretrain_config()
    offload, recompute = 0, 0
    {choice}
    if {offload}:
        cfg.model.cpu_offloading = True
        cfg.model.cpu_offloading_num_layers = 2
    if {recompute}:
        cfg.model.recompute_granularity = "full"
        cfg.model.recompute_method = "uniform"
        cfg.model.recompute_num_layers = 1
    return cfg
"""


def refusals(choice: str, offload: str, recompute: str) -> list[str]:
    text = PRESETS.replace("{choice}", choice).replace("{offload}", offload).replace("{recompute}", recompute)
    Path("presets.py").write_text(text)
    found = run(Options(paths=("presets.py::recipe",), target_bridge="0.3.1", output_format=("concise",))).findings
    return [finding.code for finding in found if finding.code == "MFSDP401"]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("choice", "offload", "recompute"),
    [
        ("p = DICTS[name]", 'p["offload"]', 'p["recompute"]'),
        ("p = DICTS[name]", 'not p["recompute"]', 'p["recompute"]'),
        ("p = DICTS.get(name)", 'p["offload"]', 'p["recompute"]'),
        ("p = SHORT[name]", 'p.get("offload")', 'p.get("recompute", False)'),
        ("p = OBJECTS[name]", "p.offload", "p.recompute"),
        ("pass", 'DICTS[name]["offload"]', 'DICTS[name]["recompute"]'),
        ('offload, recompute = DICTS[name]["offload"], DICTS[name]["recompute"]', "offload", "recompute"),
    ],
)
def test_parts_that_no_preset_has_together_are_not_taken_together(choice: str, offload: str, recompute: str) -> None:
    assert refusals(choice, offload, recompute) == []


@pytest.mark.parametrize(
    ("choice", "offload", "recompute"),
    [
        ("p, q = DICTS[name], DICTS[other]", 'p["offload"]', 'q["recompute"]'),
        ("p, q = OBJECTS[name], OBJECTS[other]", "p.offload", "q.recompute"),
        ('DICTS["wide"]["recompute"] = True; p = DICTS[name]', 'p["offload"]', 'p["recompute"]'),
        ('p = DICTS[name]; p["recompute"] = True', 'p["offload"]', 'p["recompute"]'),
        ("pass", 'DICTS[name]["offload"]', 'DICTS[other]["recompute"]'),
    ],
)
def test_parts_of_two_presets_or_of_a_changed_one_are(choice: str, offload: str, recompute: str) -> None:
    assert refusals(choice, offload, recompute) == ["MFSDP401"]


ROWS = """
from collections import namedtuple

Row = namedtuple("Row", "pp cp lr", defaults=(1, 0.1))
SIZES = {"1b": Row(1), "8b": Row(1, lr=0.2), "70b": Row(2)}
STAGES = {"1b": 1, "8b": 1, "70b": 2}
OFFSET = {"1b": 0, "8b": 0, "70b": 1}


def recipe(size, other, number):
    cfg = build()
    cfg.ddp.num_distributed_optimizer_instances = {stages}
    return cfg
"""


@pytest.mark.parametrize(
    ("stages", "expected"),
    [
        ("SIZES[size].pp", {"size in ('1b', '8b')": Known(1), "size == '70b'": Known(2)}),
        ("STAGES[size]", {"size in ('1b', '8b')": Known(1), "size == '70b'": Known(2)}),
        ("2 * STAGES[size]", {"size in ('1b', '8b')": Known(2), "size == '70b'": Known(4)}),
        ("2 if SIZES[size].pp > 1 else 1", {"SIZES[size].pp > 1": Known(2), "not (SIZES[size].pp > 1)": Known(1)}),
        ("SIZES['70b'].pp", {"": Known(2)}),
        ("SIZES[size].cp", {"": Known(1)}),
    ],
)
def test_a_setting_from_a_row_has_the_value_of_each_row(
    stages: str, expected: dict[str, object], tmp_path: Path
) -> None:
    recipe = read(tmp_path, ROWS.replace("{stages}", stages))["recipe"]
    said = {" ".join(each.when): each.value("ddp.num_distributed_optimizer_instances") for each in recipe.variants}
    assert said == expected


def test_two_tables_are_asked_by_one_key_together_and_by_two_keys_apart(tmp_path: Path) -> None:
    for key, together in (("size", 2), ("other", 4)):
        text = ROWS.replace("{stages}", f"STAGES[size]\n    cfg.ddp.outer_dp_sharding_strategy = OFFSET[{key}]")
        recipe = read(tmp_path, text)["recipe"]
        assert len(recipe.variants) == together


PROGRAM = """
import argparse
from megatron.bridge.training.pretrain import pretrain

STAGES = {"1b": 1, "8b": 2, "70b": 4}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", {options})
    cfg = build()
    cfg.ddp.num_distributed_optimizer_instances = STAGES[parser.parse_args().size]
    pretrain(cfg, None)
"""


@pytest.mark.parametrize(
    ("options", "values"),
    [
        ("required=True", [1, 2, 4]),
        ("required=True, choices=['1b', '8b', '7b']", [1, 2]),
        ("default='8b', choices=sorted(STAGES)", [2]),
    ],
)
def test_an_option_may_mean_any_row_that_its_choices_have(options: str, values: list[int], tmp_path: Path) -> None:
    (recipe,) = (
        each for each in read(tmp_path, PROGRAM.replace("{options}", options)).values() if each.kind != "function"
    )
    found = [each.value("ddp.num_distributed_optimizer_instances") for each in recipe.variants]
    assert found == [Known(each) for each in values]


DECIDED = """
STAGES = {"1b": 1, "8b": 1, "70b": 2}
MODES = {"1b": "fsdp", "8b": "fsdp", "70b": "pp"}


def mode_of(size):
    return "pp" if size == "70b" else "fsdp"


def recipe(size, other):
    cfg = build()
    cfg.ddp.num_distributed_optimizer_instances = STAGES[size]
{body}
    return cfg
"""
BODIES = {
    "a comparison": "if size != '70b': cfg.ddp.use_megatron_fsdp = True",
    "one of several": "if size in ('1b', '8b'): cfg.ddp.use_megatron_fsdp = True",
    "an assertion": "assert size != '70b'\n    cfg.ddp.use_megatron_fsdp = True",
    "a part of the row": "cfg.ddp.use_megatron_fsdp = STAGES[size] == 1",
    "another table": "if MODES[size] == 'fsdp': cfg.ddp.use_megatron_fsdp = True",
    "what follows from the key": "if int(size[:-1]) < 10: cfg.ddp.use_megatron_fsdp = True",
    "a method": "if not size.startswith('7'): cfg.ddp.use_megatron_fsdp = True",
    "a function": "if mode_of(size) == 'fsdp': cfg.ddp.use_megatron_fsdp = True",
    "a variable": "mode = 'fsdp' if size != '70b' else 'pp'\n    if mode == 'fsdp': cfg.ddp.use_megatron_fsdp = True",
    "another table without the key": "cfg.ddp.use_megatron_fsdp = {'1b': True, '8b': True}[size]",
    "a refusal": "if STAGES[size] > 1: raise ValueError(size)\n    cfg.ddp.use_megatron_fsdp = True",
    "a refusal of both": "if other and STAGES[size] > 1: raise ValueError(size)\n    cfg.ddp.use_megatron_fsdp = other",
    "a pattern": "match size:\n        case '70b': pass\n        case _: cfg.ddp.use_megatron_fsdp = True",
}


@pytest.mark.parametrize("body", BODIES)
def test_a_row_that_the_path_has_ruled_out_is_not_looked_at(body: str, tmp_path: Path) -> None:
    recipe = read(tmp_path, DECIDED.replace("{body}", f"    {BODIES[body]}"))["recipe"]
    for each in recipe.variants:
        if each.value("ddp.use_megatron_fsdp") == Known(True):
            assert each.value("ddp.num_distributed_optimizer_instances") != Known(2)


MAKERS = """
def _small():
    return build("no_shard")

def _large():
    return build("optim_grads")

ROWS = {"1b": (_small, 1), "8b": (_small, 2), "70b": (_large, 4)}


def recipe(size):
    make, stages = ROWS[size]
    cfg = make()
    cfg.ddp.num_distributed_optimizer_instances = stages
    return cfg
"""


def test_what_a_row_makes_goes_with_its_values(tmp_path: Path) -> None:
    recipe = read(tmp_path, MAKERS)["recipe"]
    names = ("ddp.strategy", "ddp.num_distributed_optimizer_instances")
    said = [tuple(map(each.value, names)) for each in recipe.variants]
    assert said == [(Known("no_shard"), Known(1)), (Known("no_shard"), Known(2)), (Known("optim_grads"), Known(4))]


@pytest.mark.parametrize(
    "key",
    [
        "size[:-1]",
        "size.lower()",
        "number % 3",
        "min(number, 1)",
        "f'{size}b'",
        "os.environ['SIZE']",
        "random.choice(KEYS)",
    ],
)
def test_by_a_key_that_the_program_works_out_a_setting_stays_one_of_several(key: str, tmp_path: Path) -> None:
    text = ROWS.replace("STAGES = {", "import os, random\nKEYS = ['1b', '8b']\nSTAGES = {1: 4, ").replace(
        "{stages}", f"STAGES[{key}]"
    )
    (variant,) = read(tmp_path, text)["recipe"].variants
    assert not isinstance(variant.value("ddp.num_distributed_optimizer_instances"), Known)


@pytest.mark.parametrize("options", ["nargs='+'", "type=checked, required=True", "required=True, action=Own"])
def test_an_option_that_is_not_taken_as_it_is_given_means_no_row(options: str, tmp_path: Path) -> None:
    program = PROGRAM.replace("STAGES =", "from elsewhere import Own, checked\nSTAGES =").replace("{options}", options)
    for recipe in read(tmp_path, program).values():
        for variant in recipe.variants:
            assert not isinstance(variant.value("ddp.num_distributed_optimizer_instances"), Known)


def test_a_table_with_a_default_has_more_than_its_rows(tmp_path: Path) -> None:
    text = ROWS.replace("{stages}", "defaultdict(lambda: 8, STAGES)[size]")
    (variant,) = read(tmp_path, f"from collections import defaultdict\n{text}")["recipe"].variants
    assert not isinstance(variant.value("ddp.num_distributed_optimizer_instances"), Known)


GUARDED = """
def checked(flag, stages):
    if flag and stages > 1:
        raise ValueError(stages)


def recipe(flag, other, mode):
    cfg = build()
    stages = 2
    {guard}
    cfg.ddp.use_megatron_fsdp = bool({switch})
    return cfg
"""


@pytest.mark.parametrize(
    ("guard", "switch"),
    [
        ("if flag and stages > 1: raise ValueError", "flag"),
        ("checked(flag, stages)", "flag"),
        ("assert not (flag and stages > 1)", "flag"),
        ("if flag or other: raise ValueError", "flag"),
        ("if flag or other: raise ValueError", "other"),
        ("if mode in ['fsdp', 'hsdp']: raise ValueError", "mode == 'fsdp'"),
        ("if mode not in {'ddp', 'none'}: raise ValueError", "'fsdp' == mode"),
        ("if mode in ('fsdp', 'hsdp'): raise ValueError", "mode in ['hsdp']"),
        ("if (mode, stages) == ('fsdp', 2): raise ValueError", "mode == 'fsdp'"),
        ("if (mode, 'a') in {('fsdp', 'a'), ('ddp', 'b')}: raise ValueError", "mode == 'fsdp'"),
    ],
)
def test_what_a_guard_has_refused_is_not_taken_for_possible(guard: str, switch: str, tmp_path: Path) -> None:
    recipe = read(tmp_path, GUARDED.replace("{guard}", guard).replace("{switch}", switch))["recipe"]
    assert [each.value("ddp.use_megatron_fsdp") for each in recipe.variants] == [Known(False)]


@pytest.mark.parametrize(
    ("guard", "switch"),
    [
        ("if flag and other: raise ValueError", "flag"),
        ("if mode in ['ddp', 'hsdp']: raise ValueError", "mode == 'fsdp'"),
        ("if mode == 'fsdp': raise ValueError", "mode in ('fsdp', 'hsdp')"),
        ("if (mode, 'a') in {('fsdp', 'b'), ('ddp', 'a')}: raise ValueError", "mode == 'fsdp'"),
    ],
)
def test_what_a_guard_has_not_refused_stays_possible(guard: str, switch: str, tmp_path: Path) -> None:
    recipe = read(tmp_path, GUARDED.replace("{guard}", guard).replace("{switch}", switch))["recipe"]
    assert Known(False) not in [each.value("ddp.use_megatron_fsdp") for each in recipe.variants[:1]]


ONE_OF_SEVERAL = """
import sys
from dataclasses import dataclass
from functools import singledispatch
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


@dataclass
class Sgd:
    lr: float = 0.1


ARMS = {"slow": Sgd(), "fast": Sgd(1.0)}


@singledispatch
def install(spec, cfg):
    raise TypeError("no optimizer")


@install.register
def _(spec: Sgd, cfg):
    cfg.optimizer.optimizer = type(spec).__name__


def recipe():
    cfg = llama3_8b_pretrain_config()
    install(ARMS[sys.argv[1]], cfg)
    return cfg
"""


def test_objects_of_one_class_have_that_class_whichever_is_chosen(tmp_path: Path) -> None:
    (variant,) = read(tmp_path, ONE_OF_SEVERAL)["recipe"].variants
    assert variant.value("optimizer.optimizer") == Known("Sgd")


@pytest.mark.parametrize(
    ("condition", "known"),
    [("any('x' in each for each in words)", True), ("any(change(cfg) or 'x' in each for each in words)", False)],
)
def test_a_condition_over_words_that_are_not_known_changes_what_it_writes_alone(
    condition: str, known: bool, tmp_path: Path
) -> None:
    text = (
        "import os\nfrom megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n\n"
        "def change(cfg):\n    cfg.ddp.bucket_size = 3\n\n"
        "def recipe():\n    cfg = llama3_8b_pretrain_config()\n    cfg.ddp.bucket_size = 7\n"
        f"    words = [os.uname().release, os.uname().version]\n    found = {condition}\n    return cfg\n"
    )
    (variant,) = read(tmp_path, text)["recipe"].variants
    assert (variant.value("ddp.bucket_size") == Known(7)) is known
