"""Variables of the environment that nobody is known to set: their defaults are what runs, and the value knows it."""

from __future__ import annotations

import os

import pytest

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import UNKNOWN, Known, Plain
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.read import read_python

RECIPE = """
import os
from dataclasses import dataclass, field
from distutils.util import strtobool

@dataclass
class Ddp:
    use_megatron_fsdp: object = 0

@dataclass
class ConfigContainer:
    ddp: Ddp = field(default_factory=Ddp)

def str2bool(text):
    return str(text).strip().lower() in ("1", "true", "yes")

TOP

def recipe():
    cfg = ConfigContainer()
    BODY
    return cfg
"""


def read(body: str, top: str = "") -> Recipe:
    text = RECIPE.replace("BODY", body).replace("TOP", top)
    return next(each for each in read_python(["a.py"], Sources({"a.py": text})).recipes if each.name == "recipe")


SWITCHES = {
    "a number": ("int(os.getenv('FSDP', '1'))", 1),
    "a truth": ("bool(int(os.environ.get('FSDP', '0')))", False),
    "compared": ("os.environ.get('FSDP', '0') == '1'", False),
    "not equal": ("os.environ.get('FSDP', '1') != '0'", True),
    "one of several": ("os.environ.get('FSDP', 'yes') in ('1', 'yes')", True),
    "of a helper": ("str2bool(os.environ.get('FSDP', ' True '))", True),
    "strtobool": ("bool(strtobool(os.environ.get('FSDP', 'on')))", True),
    "lower case": ("os.environ.get('FSDP', 'TRUE').lower()", "true"),
    "or": ("os.environ.get('FSDP') or 'on'", "on"),
    "and": ("os.environ.get('FSDP', '1') and 'on'", "on"),
    "is None": ("os.environ.get('FSDP') is None", True),
    "in": ("'FSDP' in os.environ", False),
    "not in": ("'FSDP' not in os.environ", True),
    "under two names": ("os.environ.get('FSDP', os.environ.get('OLD_FSDP', '1'))", "1"),
    "by keyword": ("os.getenv('FSDP', default='1')", "1"),
    "set by default": ("os.environ.setdefault('FSDP', '1')", "1"),
    "in a text": ("f\"{os.environ.get('FSDP', 'x')}y\"", "xy"),
}


@pytest.mark.parametrize(("expression", "value"), SWITCHES.values(), ids=SWITCHES.keys())
def test_the_default_is_judged_and_known_to_be_changeable(expression: str, value: Plain) -> None:
    setting = read(f"cfg.ddp.use_megatron_fsdp = {expression}").setting("ddp.use_megatron_fsdp")
    assert setting.value == Known(value)
    assert setting.origin is not None
    assert "$FSDP" in setting.origin.option


UNSURE = {
    "a launcher sets it": "int(os.environ.get('WORLD_SIZE', '1'))",
    "the system sets it": "os.environ.get('HOME', '/')",
    "a batch system sets it": "'SLURM_JOB_ID' in os.environ",
    "it has to be set": "os.environ['FSDP']",
    "a number without a default": "int(os.environ.get('FSDP'))",
    "a text without a default": "os.environ.get('FSDP').lower()",
}


@pytest.mark.parametrize("expression", UNSURE.values(), ids=UNSURE.keys())
def test_what_has_to_come_from_outside_is_not_known(expression: str) -> None:
    value = read(f"cfg.ddp.use_megatron_fsdp = {expression}").setting("ddp.use_megatron_fsdp").value
    assert not isinstance(value, Known)


def test_an_absent_default_is_none() -> None:
    setting = read("cfg.ddp.use_megatron_fsdp = os.environ.get('FSDP')").setting("ddp.use_megatron_fsdp")
    assert setting.value == Known(None)
    assert setting.origin is not None
    assert setting.origin.option == "$FSDP"


OWN = {
    "an entry": ("os.environ['FSDP'] = 'x'", "os.environ['FSDP']"),
    "asked with a default": ("os.environ['FSDP'] = 'x'", "os.environ.get('FSDP', 'y')"),
    "updated": ("os.environ.update(FSDP='x')", "os.getenv('FSDP')"),
    "put, which `os.environ` does not see": ("os.environ['FSDP'] = 'x'; os.putenv('FSDP', 'y')", "os.getenv('FSDP')"),
    "taken away behind its back": ("os.environ['FSDP'] = 'x'; os.unsetenv('FSDP')", "os.getenv('FSDP')"),
    "taken": ("os.environ['FSDP'] = 'x'", "os.environ.pop('FSDP', 'y')"),
    "present": ("os.environ['FSDP'] = '1'", "'x' if 'FSDP' in os.environ else 'y'"),
    "taken away": ("os.environ['FSDP'] = '1'; del os.environ['FSDP']", "os.environ.get('FSDP', 'x')"),
    "cleared": ("os.environ['FSDP'] = '1'; os.environ.clear()", "os.environ.get('FSDP', 'x')"),
    "merged in place": ("os.environ['FSDP'] = '1'; os.environ |= {'FSDP': 'x'}", "os.environ['FSDP']"),
}


@pytest.mark.parametrize("place", ["top", "body"])
@pytest.mark.parametrize(("write", "read_back"), OWN.values(), ids=OWN.keys())
def test_what_the_program_sets_is_known(write: str, read_back: str, place: str) -> None:
    change = f"cfg.ddp.use_megatron_fsdp = {read_back}"
    found = read(change, write) if place == "top" else read(f"{write}; {change}")
    setting = found.setting("ddp.use_megatron_fsdp")
    assert setting.value == Known("x")
    assert setting.origin is not None
    assert setting.origin.option == ""


REFUSED = [
    "os.environ['FSDP'] = 8",
    "os.environ['FSDP'] = None",
    "os.environ['FSDP'] = True",
    "os.environ['FSDP'] = pathlib.Path('ckpt')",
    "os.environ['FSDP'] = ['x']",
    "os.environ.setdefault('FSDP', 8)",
    "os.environ.update(FSDP='x', TP=4, PP='y')",
    "os.environ.update({'FSDP': 'x', 'TP': None})",
]
TAKEN = [
    "os.environ['FSDP'] = str(8)",
    "os.environ.update({'FSDP': 'x', 'TP': '4'})",
    "os.environ.setdefault('FSDP', 'x')",
]


@pytest.mark.parametrize("write", [*REFUSED, *TAKEN])
def test_a_variable_is_a_text_and_any_other_value_raises_as_in_python(
    write: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FSDP", "TP", "PP"):
        monkeypatch.setenv(name, "")  # so that what is set here is taken back
        monkeypatch.delenv(name)
    caught = False
    try:
        exec(f"import os, pathlib; {write}", {})
    except TypeError:
        caught = True
    said = 'f\'{caught} {os.environ.get("FSDP", 0)} {os.environ.get("TP", 0)} {os.environ.get("PP", 0)}\''
    seen = eval(said, {"os": os, "caught": caught})
    assert caught == (write in REFUSED)
    found = read(
        "caught = False\n    try:\n        " + write + "\n    except TypeError:\n        caught = True\n"
        f"    cfg.ddp.use_megatron_fsdp = {said}",
        top="import pathlib",
    )
    assert found.setting("ddp.use_megatron_fsdp").value == Known(seen)


def test_variables_of_the_module_are_settings_of_its_recipes() -> None:
    found = read("pass", "os.environ['CUDA_DEVICE_MAX_CONNECTIONS'] = '1'").setting("env.CUDA_DEVICE_MAX_CONNECTIONS")
    assert found.value == Known("1")
    assert found.origin is not None
    assert read("pass").setting("env.CUDA_DEVICE_MAX_CONNECTIONS").value == UNKNOWN


def test_a_row_of_a_table_is_picked_by_the_default() -> None:
    found = read("cfg.ddp.use_megatron_fsdp = {'a': 1, 'b': 2}[os.environ.get('MODE', 'b')]")
    assert found.setting("ddp.use_megatron_fsdp").value == Known(2)


MAY_SWITCH = {
    "under a condition": "if os.environ.get('FSDP') == '1':\n        cfg.ddp.use_megatron_fsdp = True",
    "by keyword": "cfg = ConfigContainer(ddp=Ddp(use_megatron_fsdp=os.environ.get('FSDP') == '1'))",
    "refused and used": (
        "assert os.environ.get('FSDP') != '2'\n    cfg.ddp.use_megatron_fsdp = os.environ.get('FSDP') == '1'"
    ),
}
SWITCHES_NOTHING = {
    "a condition of what is on": (
        "if cfg.ddp.use_megatron_fsdp and os.environ.get('FSDP') == '1':\n        cfg.train_iters = 2"
    ),
    "handed on": (
        "if os.environ.get('FSDP') == '1':\n"
        "        cfg = ConfigContainer(ddp=Ddp(use_megatron_fsdp=cfg.ddp.use_megatron_fsdp))"
    ),
    "asserted": "cfg.ddp.use_megatron_fsdp = False\n    assert os.environ.get('FSDP') in ('1', '2')",
    "refused": (
        "cfg.ddp.use_megatron_fsdp = False\n    if os.environ.get('FSDP') != '1':\n        raise ValueError('FSDP')"
    ),
}


@pytest.mark.parametrize("body", MAY_SWITCH.values(), ids=MAY_SWITCH)
def test_a_variable_that_may_turn_fsdp_on_is_tried(body: str) -> None:
    assert set(read(body).variables) == {"FSDP"}


@pytest.mark.parametrize("body", SWITCHES_NOTHING.values(), ids=SWITCHES_NOTHING)
def test_a_variable_that_sets_no_switch_is_not_tried(body: str) -> None:
    assert not read(body).variables
