"""`copy.deepcopy` of objects that hand their attributes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.core.values import Known
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.read import read_python

PROGRAM = """
import copy
from dataclasses import dataclass, field


class Inner:
    {special}


@dataclass
class ConfigContainer:
    megatron: str = "fsdp"
    inner: object = field(default_factory=Inner)

    def __getattr__(self, name):
        return getattr(object.__getattribute__(self, "inner"), name)


def recipe():
    return copy.deepcopy(ConfigContainer())
"""


@pytest.mark.parametrize(
    ("special", "is_known"),
    [("x = 1", True), ("def __deepcopy__(self, memo):\n        return Inner()", False)],
)
def test_who_is_asked_for_deepcopy_may_be_another(special: str, is_known: bool, tmp_path: Path) -> None:
    path = tmp_path / "recipes.py"
    path.write_text(PROGRAM.format(special=special))
    found = read_python([str(path)], Sources()).recipes
    known = [isinstance(each.variants[0].value("megatron"), Known) for each in found]
    assert known == ([True] if is_known else [])
