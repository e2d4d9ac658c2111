"""Names that may stand for several objects, and what Python asks of an object that has no special method for it."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.values import Known
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.snapshots.knowledge import load_knowledge

RECIPE = """
import bisect
import elsewhere
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

def recipe():
    cfg = llama3_8b_pretrain_config()
    target = cfg
    LOOP
    setattr(target, "use_megatron_fsdp", True)
    return cfg
"""

LOOPS = {
    "down a path of names": "for name in elsewhere.path(): target = getattr(target, name)",
    "while there is more": "while elsewhere.more(): target = getattr(target, elsewhere.name())",
    "to a section that is known": "while elsewhere.more(): target = cfg.ddp",
    "to what it was given": "while elsewhere.more(): target = elsewhere.wrapped(target)",
}


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS.keys())
def test_what_a_loop_may_have_found_may_be_written_behind_it(loop: str) -> None:
    text = RECIPE.replace("LOOP", loop)
    found = read_python(["a.py"], Sources({"a.py": text}), load_knowledge(resolve_target("0.3.1")))
    assert found.recipes[0].setting("ddp.use_megatron_fsdp").value != Known(False)


ITEMS = {
    "an item that is set": "cfg.train['x'] = 1",
    "an item that is read": "cfg.train['x']",
}


@pytest.mark.parametrize("statement", ITEMS.values(), ids=ITEMS.keys())
def test_an_object_without_items_refuses_them_as_python_does(statement: str) -> None:
    text = RECIPE.replace("LOOP", f"try:\n        {statement}\n    except TypeError:\n        target = cfg.ddp")
    found = read_python(["a.py"], Sources({"a.py": text}), load_knowledge(resolve_target("0.3.1")))
    assert found.recipes[0].setting("ddp.use_megatron_fsdp").value == Known(True)


def test_tuples_are_ordered_by_the_first_elements_that_differ() -> None:
    insert = (
        "steps = []; bisect.insort(steps, (9, cfg.train)); bisect.insort(steps, (5, cfg.ddp)); target = steps[0][1]"
    )
    found = read_python(
        ["a.py"], Sources({"a.py": RECIPE.replace("LOOP", insert)}), load_knowledge(resolve_target("0.3.1"))
    )
    assert found.recipes[0].setting("ddp.use_megatron_fsdp").value == Known(True)


def test_a_slice_is_no_key_of_a_dictionary() -> None:
    text = """
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config

def recipe():
    cfg = llama3_8b_pretrain_config()
    sections = {"a": cfg.ddp}
    try:
        sections[1:2]
    except (KeyError, TypeError):
        cfg.ddp.use_megatron_fsdp = True
    return cfg
"""
    found = read_python(["a.py"], Sources({"a.py": text}), load_knowledge(resolve_target("0.3.1")))
    assert found.recipes[0].setting("ddp.use_megatron_fsdp").value == Known(True)
