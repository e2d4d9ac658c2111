"""Objects whose class is not known: what is shared with them, and what code of theirs may run."""

# Programs are easier to tell apart with one in a line.
# ruff: noqa: E501

from __future__ import annotations

import pytest

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import Known
from tests.readers.python.agreement import evaluate, examine
from tests.readers.python.expressions import CONTAINER, SECTIONS
from tests.readers.python.programs import Program

IMPORTS = """\
import copy, dataclasses, enum, os
from dataclasses import dataclass
from outside_world import shake

class Kind(enum.Enum):
    DENSE, MOE, HYBRID = "dense", "moe", "hybrid"
"""
CLASSES = "".join(
    f"\n@dataclass\nclass {name}:\n" + "".join(f"    {field}: object = None\n" for field in fields)
    for name, fields in {**SECTIONS, "ConfigContainer": CONTAINER}.items()
)
HOOKED = """
    def __post_init__(self):
        os.environ["NCCL_A"] = "made"
"""

WAYS_TO_A_PART = {
    "replace shares what it hands on": "dataclasses.replace(cfg.ddp).sizes.append(5)",
    "what changes the copy changes what both hold": "shake(dataclasses.replace(cfg.ddp))",
    "replace of the whole": "dataclasses.replace(cfg, note='x').ddp.sizes.append(5)",
    "a copy": "copy.copy(cfg.ddp).sizes.append(5)",
    "a part that the copy is asked for first": "copied = copy.copy(cfg)\ncopied.ddp.sizes = [5]",
    "a part that the original is asked for first": "copied = copy.copy(cfg)\ncfg.ddp.sizes = [4]\ncopied.ddp.sizes = [5]",
    "what is set by keyword is the object itself": "ddp = cfg.ddp\ncopied = dataclasses.replace(cfg, ddp=ddp)\nddp.sizes = [4]\ncopied.ddp.sizes = [5]",
    "an object that stays in place while its holder changes": "ddp = cfg.ddp\nshake(cfg)\nddp.sizes = [4]\ncfg.ddp.sizes = [5]",
    "vars": "vars(cfg.ddp)['sizes'] = [5]",
    "vars, updated": "vars(cfg.ddp).update(sizes=[5])",
    "vars under its other name": "cfg.ddp.__dict__.update({'sizes': [5]})",
}


def recipe(lines: str, classes: str = CLASSES) -> Program:
    body = "\n".join(f"    {line}" for line in lines.split("\n"))
    text = f"{IMPORTS}{classes}\n\ndef recipe(cfg):\n{body}\n    return cfg\n"
    return Program(text, unknown={"cfg": "cfg"}, probed={})


def read(program: Program) -> Recipe:
    found = evaluate(program.text)
    assert found is not None
    return found


def agrees(program: Program) -> bool:
    verdict = examine(program)
    return verdict.runs > 0 and not verdict.lost and not verdict.disagreements


@pytest.mark.parametrize("lines", WAYS_TO_A_PART.values(), ids=WAYS_TO_A_PART.keys())
def test_a_part_is_reached_by_every_way_to_it(lines: str) -> None:
    assert agrees(recipe(f"cfg.ddp.sizes = []\n{lines}"))


def test_a_list_in_an_object_that_changes_out_of_sight_changes() -> None:
    assert agrees(recipe("sizes = []\ncfg.ddp.sizes = sizes\nshake(cfg.ddp)\ncfg.note = sizes"))


def test_what_is_written_to_a_copy_is_not_written_to_the_original() -> None:
    program = recipe("cfg.ddp.bucket = 1\ncopied = copy.copy(cfg.ddp)\ncopied.bucket = 2")
    assert agrees(program)
    assert read(program).setting("ddp.bucket").value == Known(1)


@pytest.mark.parametrize("call", ["dataclasses.replace(cfg)", "dataclasses.replace(cfg, note='x')"])
def test_a_post_init_of_the_program_may_run(call: str) -> None:
    program = recipe(f"os.environ['NCCL_A'] = 'x'\nother = {call}\ncfg.ddp.strategy = 'a'", CLASSES + HOOKED)
    assert agrees(program)
    assert not isinstance(read(program).setting("env.NCCL_A").value, Known)


def test_where_no_class_has_one_nothing_else_changes() -> None:
    program = recipe("os.environ['NCCL_A'] = 'x'\nother = dataclasses.replace(cfg)\ncfg.ddp.strategy = 'a'")
    assert agrees(program)
    assert read(program).setting("env.NCCL_A").value == Known("x")


def test_a_method_that_a_class_of_the_program_has_may_be_that_one() -> None:
    method = "\n    def finish(self):\n        self.ddp.strategy = 'b'\n        os.environ['NCCL_A'] = 'made'\n"
    program = recipe("os.environ['NCCL_A'] = 'x'\ncfg.ddp.strategy = 'a'\ncfg.finish()", CLASSES + method)
    assert agrees(program)


def test_what_a_replaced_configuration_is_given_afterwards_is_known() -> None:
    program = recipe("cfg = dataclasses.replace(cfg, note='x')\ncfg.ddp.strategy = 'a'")
    assert agrees(program)
    assert read(program).setting("ddp.strategy").value == Known("a")


def test_what_unknown_keywords_may_leave_is_shared() -> None:
    program = recipe(
        "own = ConfigContainer(ddp=DDP(sizes=[]))\ncopied = dataclasses.replace(own, **more)\ncopied.ddp.sizes = [5]\ncfg.ddp = own.ddp"
    )
    text = program.text.replace("def recipe(cfg):", "def recipe(cfg, more):")
    assert agrees(Program(text, unknown={"cfg": "cfg", "more": "table"}, probed={}))
