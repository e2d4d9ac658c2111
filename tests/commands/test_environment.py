"""`--env`, and variables of the environment that turn FSDP on: with the variable given the answer is the real run's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import dedent

import pytest

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import UNKNOWN
from mfsdp_lint.engine import read
from mfsdp_lint.readers.overrides import SettingOverride, parse_command_line
from mfsdp_lint.readers.python.entries import running
from mfsdp_lint.readers.python.entries.entries import Entry
from mfsdp_lint.readers.python.export.origins import Spans
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.trees import Leaf
from mfsdp_lint.readers.yaml.compose import resolved
from mfsdp_lint.readers.yaml.document import YamlDocument
from mfsdp_lint.readers.yaml.nodes import MappingNode, compose_documents
from tests.commands.samples import Ask, ask

__all__ = ["ask"]

FORMS = {
    "get": 'os.environ.get("USE_FSDP", "0") == "1"',
    "getenv": 'os.getenv("USE_FSDP") == "1"',
    "from os import": 'getenv("USE_FSDP", "no") in ("1", "yes")',
    "in": '"USE_FSDP" in os.environ',
    "entry": 'os.environ["USE_FSDP"] == "1"',
    "number": 'bool(int(environ.get("USE_FSDP", 0)))',
    "helper": 'truthy(os.environ.get("USE_FSDP", "false"))',
    "union": '(os.environ | {"OTHER": "1"}).get("USE_FSDP") == "1"',
    "dict": 'dict(os.environ).get("USE_FSDP") == "1"',
    "display": '{**os.environ}.get("USE_FSDP") == "1"',
    "copy": 'os.environ.copy().get("USE_FSDP") == "1"',
    "setdefault": 'os.environ.setdefault("USE_FSDP", "0") == "1"',
    "module": "FLAG",
}
"""Ways of asking for a switch, as people write them."""

HELPERS = dedent("""\
    import os
    from os import environ, getenv

    FLAG = os.environ.get("USE_FSDP", "0") == "1"


    def truthy(text):
        return text.lower() in ("1", "true", "yes")


""")

RECIPE = HELPERS + dedent("""\
    from megatron.bridge.recipes.llama.llama3 import llama3_8b_pretrain_config


    def recipe():
        cfg = llama3_8b_pretrain_config()
        cfg.checkpoint.ckpt_format = "torch_dist"
        cfg.checkpoint.save = "/results"
        if FORM:
            cfg.ddp.use_megatron_fsdp = True
        return cfg
    """)

MAIN = dedent("""

    if __name__ == "__main__":
        from megatron.bridge.training.pretrain import pretrain

        pretrain(recipe(), None)
    """)

TARGET = ("--target-bridge", "0.6.0", "--no-cache")


def is_on(ask: Ask, *options: str) -> object:
    _, out, _ = ask("audit", "recipe.py", *TARGET[:2], "--output-format=json", *options)
    (recipe,) = json.loads(out)["recipes"]
    return recipe["settings"]["ddp.use_megatron_fsdp"].get("value")


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("value", ["0", "1"])
def test_a_variable_that_is_given_decides_as_it_does_when_python_runs(ask: Ask, form: str, value: str) -> None:
    Path("recipe.py").write_text(RECIPE.replace("FORM", form))
    Path("run.py").write_text(f"{HELPERS}print(bool({form}))\n")
    environment = {**os.environ, "USE_FSDP": value}
    real = subprocess.run([sys.executable, "run.py"], env=environment, capture_output=True, text=True, check=True)
    assert str(is_on(ask, "--env", f"USE_FSDP={value}")) == real.stdout.strip()


def test_what_the_program_sets_itself_counts_more(ask: Ask) -> None:
    text = RECIPE.replace("FORM", FORMS["get"]).replace("    cfg = ", '    os.environ["USE_FSDP"] = "0"\n    cfg = ')
    Path("recipe.py").write_text(text)
    assert is_on(ask, "--env", "USE_FSDP=1") is False


def test_a_script_begins_with_the_variable_and_hands_it_on(ask: Ask) -> None:
    Path("recipe.py").write_text(RECIPE.replace("FORM", FORMS["get"]) + MAIN)
    Path("launch.sh").write_text("torchrun recipe.py\n")
    Path("off.sh").write_text("export USE_FSDP=0\ntorchrun recipe.py\n")
    Path("default.sh").write_text('export USE_FSDP="${USE_FSDP:-0}"\ntorchrun recipe.py\n')
    found = {
        script: "MFSDP101" in ask(script, *TARGET, "--env", "USE_FSDP=1", "--output-format=concise")[1]
        for script in ("launch.sh", "off.sh", "default.sh")
    }
    assert found == {"launch.sh": True, "off.sh": False, "default.sh": True}


def test_a_resolver_of_yaml_reads_the_variable() -> None:
    text = "a: ${oc.env:FORMAT}\nb: ${oc.env:FORMAT,torch}\n"
    (root,) = compose_documents("run.yaml", text)
    assert isinstance(root, MappingNode)
    tree = YamlDocument("run.yaml", Lines(text)).section(root)
    given = {"FORMAT": parse_command_line([], ["FORMAT=fsdp_dtensor"]).environment[0]}
    with_it, without = resolved(tree, given), resolved(tree)
    assert (with_it.text("a"), with_it.text("b"), without.text("b")) == ("fsdp_dtensor", "fsdp_dtensor", "torch")
    unknown = without.get("a")
    assert isinstance(unknown, Leaf)
    assert unknown.value == UNKNOWN
    assert unknown.origin.obstacle is not None
    assert unknown.origin.obstacle.text == "$FORMAT"


@pytest.mark.parametrize("form", ["get", "getenv", "from os import", "in", "number", "helper", "setdefault", "module"])
def test_a_variable_that_turns_fsdp_on_is_an_exposed_switch(ask: Ask, form: str) -> None:
    Path("recipe.py").write_text(RECIPE.replace("FORM", FORMS[form]))
    code, out, _ = ask("recipe.py", *TARGET, "--output-format=concise", "--select=MFSDP101")
    assert code == 1
    assert 'but it is "torch_dist" (with USE_FSDP=1); ' in out
    assert " warning MFSDP101 " in out
    assert out.count("MFSDP101") == 1


def test_a_value_that_the_text_compares_with_is_tried(ask: Ask) -> None:
    Path("recipe.py").write_text(RECIPE.replace("FORM", 'os.environ.get("BACKEND", "ddp") == "sharded"'))
    _, out, _ = ask("recipe.py", *TARGET, "--output-format=concise", "--select=MFSDP101")
    assert " (with BACKEND=sharded); " in out


def test_a_variable_that_decides_something_else_is_not_tried(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []
    kept = read._given

    def given(question: read.Question, variable: SettingOverride, asking: Sequence[Recipe]) -> read.Question:
        tried.append(variable.path)
        return kept(question, variable, asking)

    monkeypatch.setattr(read, "_given", given)
    other = 'def quiet():\n    return os.environ.get("QUIET", "0") == "1"\n\n\n'
    call = "    if quiet():\n        cfg.logger.log_interval = 100\n    return cfg"
    text = RECIPE.replace("FORM", "False").replace("def recipe", f"{other}def recipe").replace("    return cfg", call)
    Path("recipe.py").write_text(text.replace("cfg.ddp.use_megatron_fsdp = True", "pass"))
    ask("recipe.py", *TARGET)
    assert tried == []


def test_with_a_variable_only_the_recipes_that_ask_for_it_run_again(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    kept = running.evaluate

    def evaluate(interp: Interpreter, entry: Entry, spans: Spans) -> running.Evaluation:
        ran.append(entry.name)
        return kept(interp, entry, spans)

    monkeypatch.setattr(running, "evaluate", evaluate)
    other = "\n\ndef other():\n    return 1\n"
    Path("recipe.py").write_text(RECIPE.replace("FORM", FORMS["get"]) + other)
    _, out, _ = ask("recipe.py", *TARGET, "--output-format=concise", "--select=MFSDP101")
    assert " MFSDP101 " in out
    assert [ran.count("recipe") > 1, ran.count("other")] == [True, 1]


def test_a_launch_exposes_what_its_program_asks_for_once(ask: Ask) -> None:
    Path("recipe.py").write_text(RECIPE.replace("FORM", FORMS["get"]) + MAIN)
    Path("launch.sh").write_text("torchrun recipe.py\n")
    _, out, _ = ask(".", *TARGET, "--output-format=concise", "--select=MFSDP101")
    assert out.count("MFSDP101") == 1
    assert " (with USE_FSDP=1); " in out
