"""MFSDP907: what could not be decided because of the user's own text, and nothing else."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from textwrap import dedent

import pytest

from tests.commands.samples import Ask, ask

__all__ = ["ask"]

TARGET = ("--target-bridge", "0.6.0", "--no-cache")

RECIPE = dedent("""\
    import configparser
    import json
    import os

    from elsewhere import load, tweak
    from megatron.bridge.recipes.llama.llama3 import llama3_8b_pretrain_config

    P = configparser.ConfigParser(); P.read(load("conf.ini"))


    def recipe(ARGUMENTS):
        cfg = llama3_8b_pretrain_config()
        cfg.checkpoint.ckpt_format = "torch_dist"
        cfg.checkpoint.save = "/results"
        STATEMENT
        return cfg
    """)


def written(statement: str, arguments: str = "") -> None:
    text = RECIPE.replace("STATEMENT", statement.replace("\n", "\n    ")).replace("ARGUMENTS", arguments)
    Path("recipe.py").write_text(text)


def undecided(ask: Ask, *options: str) -> list[str]:
    _, out, _ = ask(*TARGET, *(options or ("recipe.py",)), "--output-format=json")
    return [each["message"] for each in json.loads(out)["findings"] if each["code"] == "MFSDP907"]


NOT_FOLLOWED = {
    'cfg.ddp.use_megatron_fsdp = P.getboolean("ddp", "fsdp")': "`P.getboolean('ddp', 'fsdp')` (recipe.py:15)",
    'cfg.ddp.use_megatron_fsdp = json.load(open("c.json"))["fsdp"]': "`open('c.json')` (recipe.py:15)",
    'cfg.ddp.use_megatron_fsdp = load("x").ddp.fsdp == "on"': "`load('x')` (recipe.py:15)",
    'cfg.ddp.use_megatron_fsdp = bool(int(load("x")))': "`load('x')` (recipe.py:15)",
    "cfg.ddp.use_megatron_fsdp = not load()": "`load()` (recipe.py:15)",
}


@pytest.mark.parametrize(("statement", "call"), NOT_FOLLOWED.items(), ids=NOT_FOLLOWED)
def test_a_call_that_is_not_followed_is_told_with_what_judges_it(ask: Ask, statement: str, call: str) -> None:
    written(statement)
    assert undecided(ask) == [
        f"whether Megatron-FSDP is on could not be decided: {call} is not followed; "
        "`--set ddp.use_megatron_fsdp=true` judges it so"
    ]


def test_the_other_settings_that_a_call_leaves_open_are_counted(ask: Ask) -> None:
    written("tweak(cfg.ddp)")
    (message,) = undecided(ask)
    assert re.match(
        r"whether Megatron-FSDP is on, and \d+ other settings, could not be decided: `tweak\(cfg\.ddp\)` ", message
    )


UPSTREAM = "from megatron.bridge.training.utils.omegaconf_utils import apply_overrides, process_config_with_overrides\n"
OVER_IT = {
    "upstream's own function": 'process_config_with_overrides(cfg, config_filepath="{}")',
    "merged": 'apply_overrides(cfg, OmegaConf.to_container(OmegaConf.merge({{}}, OmegaConf.load("{}"))), {{}})',
}


@pytest.mark.parametrize("statement", OVER_IT.values(), ids=OVER_IT)
def test_a_file_of_overrides_that_is_not_there_is_told(ask: Ask, statement: str) -> None:
    older = ("recipe.py", "--target-bridge=0.5.1")  # where one value is enough for a rule
    written(f"from omegaconf import OmegaConf\n{UPSTREAM}{statement.format('/results/over.yaml')}")
    (message,) = undecided(ask, *older)
    assert "other settings, could not be decided: `" in message
    assert "(recipe.py:17) is not followed" in message
    Path("over.yaml").write_text("ddp:\n  use_megatron_fsdp: false\n")
    written(f"from omegaconf import OmegaConf\n{UPSTREAM}{statement.format('over.yaml')}")
    assert undecided(ask, *older) == []


def test_the_command_that_is_told_judges_it_so(ask: Ask) -> None:
    written(next(iter(NOT_FOLLOWED)))
    (message,) = undecided(ask)
    told = re.search(r"`(--set [^`]+)`", message)
    assert told
    code, out, _ = ask("recipe.py", *TARGET, *shlex.split(told[1]), "--output-format=concise")
    assert code == 1
    assert " error MFSDP101 " in out
    assert "MFSDP907" not in out


def test_a_variable_that_has_to_be_set_is_told_by_its_name(ask: Ask) -> None:
    written('cfg.ddp.use_megatron_fsdp = True\ncfg.checkpoint.ckpt_format = os.environ["FORMAT"]')
    (message,) = undecided(ask)
    assert message.startswith(
        "checkpoint.ckpt_format could not be decided: nothing that is followed sets `$FORMAT` (recipe.py:16); "
    )


FOLDED = {
    "a loop over classes": "for cls in Base.__subclasses__():\n    if cls.name == 'x':\n        cls().apply(cfg.ddp)",
    "a list of classes": "[cls for cls in Base.__subclasses__() if cls.name == 'x'][0]().apply(cfg.ddp)",
    "a dictionary of classes": "{cls.name: cls for cls in Base.__subclasses__()}['x']().apply(cfg.ddp)",
    "a loop over what is imported": "for hook in tweak.hooks:\n    hook(cfg.ddp)",
    "a list of what is imported": "[hook for hook in tweak][0](cfg.ddp)",
    "the first of what is imported": "next(hook for hook in tweak)(cfg.ddp)",
    "a sorted list": "sorted([hook for hook in tweak])[0](cfg.ddp)",
    "a table filled in a loop": "table = {}\nfor hook in tweak:\n    table[hook.name] = hook\ntable['x'](cfg.ddp)",
    "an entry with the name of a package of upstream's": "{hook.name: hook for hook in tweak}['megatron'](cfg.ddp)",
    "a list filled in a loop": "hooks = []\nfor hook in tweak:\n    hooks.append(hook)\nhooks[0](cfg.ddp)",
    "an argument of a function": "apply_all(cfg.ddp, tweak)",
}


@pytest.mark.parametrize("statement", FOLDED.values(), ids=FOLDED)
def test_one_of_what_is_not_known_is_told_however_it_is_taken(ask: Ask, statement: str) -> None:
    written(statement)
    with Path("recipe.py").open("a") as file:
        file.write("\n\nclass Base: ...\n\n\ndef apply_all(cfg, hooks):\n    for hook in hooks:\n        hook(cfg)\n")
    (message,) = undecided(ask)
    assert message.startswith("whether Megatron-FSDP is on")


ARGUMENTS = {
    "a parameter": ("cfg.ddp.use_megatron_fsdp = fsdp", "fsdp"),
    "a part of a parameter": ("cfg.ddp.use_megatron_fsdp = args.ddp.fsdp == 1", "args"),
    "a method of a parameter": ('cfg.ddp.use_megatron_fsdp = args.get("fsdp")', "args"),
    "what a parameter changes": ("callback(cfg)", "callback"),
    "what one of a parameter's elements changes": ("for each in callbacks:\n    each(cfg.ddp)", "callbacks"),
    "what a list of them changes": ("[each for each in callbacks if each][0](cfg.ddp)", "callbacks"),
    "what a table of them changes": ("{each.name: each for each in callbacks}['x'](cfg.ddp)", "callbacks"),
    "upstream's own code": (
        "from megatron.bridge.utils.nowhere import choose\ncfg.ddp.use_megatron_fsdp = choose()",
        "",
    ),
    "the hub": (
        'from transformers import AutoConfig\ncfg.ddp.use_megatron_fsdp = AutoConfig.from_pretrained("x").fsdp',
        "",
    ),
}


@pytest.mark.parametrize(("statement", "arguments"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_what_a_caller_gives_and_what_upstream_leaves_open_is_no_failure(
    ask: Ask, statement: str, arguments: str
) -> None:
    written(statement, arguments)
    assert undecided(ask) == []


def test_it_is_told_only_where_a_rule_depends_on_it(ask: Ask) -> None:
    written("cfg.train.train_iters = load()")
    assert undecided(ask) == []
    written(
        'cfg.checkpoint.ckpt_format = "fsdp_dtensor"\n'
        "cfg.checkpoint.save = cfg.checkpoint.load = cfg.mixed_precision = None\n"
        'cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"\n'
        "cfg.ddp.grad_reduce_in_fp32 = False\n"
        "cfg.ddp.use_megatron_fsdp = load()"
    )
    assert undecided(ask) == []


def test_one_call_is_told_once_however_many_settings_it_leaves_open(ask: Ask) -> None:
    written("tweak(cfg)")
    assert len(undecided(ask)) <= 1
    written("conf = load()\ncfg.ddp.use_megatron_fsdp = conf.fsdp\ncfg.checkpoint.ckpt_format = conf.format")
    assert len(undecided(ask)) <= 1


def test_it_is_counted_and_strict_makes_it_a_warning(ask: Ask) -> None:
    written(next(iter(NOT_FOLLOWED)))
    code, out, _ = ask("recipe.py", *TARGET, "--output-format=concise")
    assert code == 0
    assert "; 1 recipe with a setting that could not be decided; " in out
    code, out, _ = ask("recipe.py", *TARGET, "--output-format=concise", "--preset=strict")
    assert code == 1
    assert " warning MFSDP907 " in out
    assert json.loads(ask("recipe.py", *TARGET, "--output-format=json")[1])["summary"]["undecided"] == 1


def test_it_is_selected_ignored_and_silenced_as_others_are(ask: Ask) -> None:
    statement = next(iter(NOT_FOLLOWED))
    written(statement)
    assert "MFSDP907" in ask("recipe.py", *TARGET, "--select=MFSDP907", "--output-format=concise")[1]
    assert "MFSDP907" not in ask("recipe.py", *TARGET, "--ignore=MFSDP907", "--output-format=concise")[1]
    written(f"{statement}  # mfsdp: ignore[MFSDP907] the file is ours")
    assert "; 1 suppressed; " in ask("recipe.py", *TARGET, "--output-format=concise")[1]


def test_a_resolver_of_yaml_and_a_command_in_shell_are_told_alike(ask: Ask) -> None:
    Path("run.yaml").write_text(
        "ddp:\n  use_megatron_fsdp: ${oc.env:FSDP}\ncheckpoint:\n  ckpt_format: torch_dist\n  save: /results\n"
    )
    assert undecided(ask, "run.yaml") == [
        "whether Megatron-FSDP is on could not be decided: nothing that is followed sets `$FSDP` (run.yaml:2); "
        "`--set ddp.use_megatron_fsdp=true` judges it so"
    ]
    flags = "--use-megatron-fsdp --use-distributed-optimizer --data-parallel-sharding-strategy optim_grads_params"
    start = f"torchrun pretrain_gpt.py --tensor-model-parallel-size 1 {flags} --save /x --ckpt-format"
    Path("run.sh").write_text(f"{start} $(cat format)\n")
    (message,) = undecided(ask, "run.sh")
    assert message.startswith("checkpoint.ckpt_format could not be decided: `$(cat format)` (run.sh:1) is not followed")
    Path("run.sh").write_text(f'{start} "$1"\n')
    assert undecided(ask, "run.sh") == []


def test_the_number_of_settings_is_the_same_beside_a_recipe_that_more_rules_are_asked_of(ask: Ask) -> None:
    written("cfg.ddp = load()")
    alone = undecided(ask)
    Path("a.py").write_text(
        Path("recipe.py").read_text().replace("cfg.ddp = load()", "cfg.ddp.use_megatron_fsdp = True")
    )
    assert alone
    assert undecided(ask, "a.py", "recipe.py") == alone
