"""A function or class that a program takes from a table by an unknown key is called: each key on a path of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.core.values import UNKNOWN, Known
from tests.readers.python.test_decorated import read

REGISTRY = """
import sys
TABLE = {}

def register(name, **options):
    def wrap(make):
        def finished():
            cfg = make()
            cfg.ddp.strategy = options.get("strategy", "optim")
            return cfg
        TABLE[name] = finished
        return make
    return wrap

@register("small")
def _small():
    return build()

@register("large", strategy="optim_grads")
def _large():
    return build()

class Plain:
    def apply(self, cfg):
        return cfg

class Sharded(Plain):
    def apply(self, cfg):
        cfg.ddp.strategy = "optim_grads"
        return cfg

KINDS = {each.__name__: each for each in (Plain, Sharded)}
"""

CALLS = {
    "by a parameter": ("name", "TABLE[name]()", "name"),
    "by a word of the command line": ("", "TABLE[sys.argv[1]]()", "sys.argv[1]"),
    "by a name for it": ("name", "(lambda made: made())(TABLE[name])", "name"),
    "by get": ("name", "TABLE.get(name)()", "name"),
    "by a partial function": ("name", "functools.partial(TABLE[name])()", "name"),
}


@pytest.mark.parametrize("call", CALLS)
def test_each_function_has_a_path(call: str, tmp_path: Path) -> None:
    parameters, made, key = CALLS[call]
    found = read(tmp_path, f"{REGISTRY}\ndef recipe({parameters}):\n    return {made}\n")["recipe"]
    assert {each.when[-1]: each.value("ddp.strategy") for each in found.variants} == {
        f"{key} == 'small'": Known("optim"),
        f"{key} == 'large'": Known("optim_grads"),
    }


def test_each_class_has_a_path(tmp_path: Path) -> None:
    text = f"{REGISTRY}\ndef recipe(kind):\n    return KINDS[kind]().apply(build())\n"
    values = [each.value("ddp.strategy") for each in read(tmp_path, text)["recipe"].variants]
    assert values == [Known("no_shard"), Known("optim_grads")]


def test_the_same_key_means_the_same_row(tmp_path: Path) -> None:
    text = f"{REGISTRY}\ndef recipe(kind):\n    KINDS[kind]()\n    return KINDS[kind]().apply(build())\n"
    assert len(read(tmp_path, text)["recipe"].variants) == 2


@pytest.mark.parametrize(
    "change", ["TABLE[other] = print", "TABLE.update(elsewhere.more())", "TABLE['large'] = elsewhere.large"]
)
def test_a_row_that_cannot_be_seen_leaves_the_settings_unknown(change: str, tmp_path: Path) -> None:
    text = f"import elsewhere\n{REGISTRY}\ndef recipe(name, other):\n    cfg = build()\n    {change}\n"
    text += "    cfg.ddp.strategy = TABLE[name]().ddp.strategy\n    return cfg\n"
    values = [each.value("ddp.strategy") for each in read(tmp_path, text)["recipe"].variants]
    assert UNKNOWN in values
