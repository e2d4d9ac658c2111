"""What a function of upstream may change at most: the names of attributes, and the contents of containers."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.modules import ModuleFinder
from mfsdp_lint.readers.python.values.objects import ClassObject, Function
from tools.snapshot.bounds import ChangeBounds, touched
from tools.snapshot.meaning import global_of

MODULE = """\
import bisect, copy, functools, heapq, json, logging, operator, random, threading
from dataclasses import asdict, dataclass, fields
from typing import Any
from unittest import mock

import elsewhere

logger = logging.getLogger(__name__)

@dataclass
class Part:
    size: int = 1
    names: list = None

    def widen(self):
        self.size = 2

    def to_dict(self) -> dict:
        return asdict(self)

def helper(part):
    part.size = 3
"""

CHANGED: dict[str, tuple[str, set[str], bool]] = {
    "an attribute that is assigned": ("part.size = 2", {"size"}, False),
    "an attribute whose name is a text": ("setattr(part, 'size', 2)", {"size"}, False),
    "one of the names that a loop goes through": ("for n in ('a', 'b'):\n    setattr(part, n, 1)", {"a", "b"}, False),
    "what a function that is called changes": ("helper(part)", {"size"}, False),
    "what a method of any class with fields changes": ("part.widen()", {"size"}, False),
    "what a function that is handed over changes": ("list(map(helper, part.parts))", {"size"}, False),
    "what a method that is handed over changes": ("threading.Thread(target=part.widen)", {"size"}, False),
    "an entry": ("part.names[0] = 1", set(), True),
    "an entry of a list of its own": ("own = []\nown[0] = 1", set(), False),
    "a list that grows": ("part.names.append(1)", set(), True),
    "a list that is kept in order": ("heapq.heappush(part.names, 1)", set(), True),
    "a list of its own that is kept in order": ("own = []\nheapq.heappush(own, 1)", set(), False),
    "a place that is only looked for": ("bisect.bisect(part.names, 1)", set(), False),
    "an entry that a function of the library writes": ("operator.setitem(part.names, 0, 1)", set(), True),
    "a list that is shuffled": ("random.shuffle(part.names)", set(), True),
    "a record of it": ("logger.info('%s', part)", set(), False),
    "a text of it": ("json.dumps(asdict(part))", set(), False),
    "a copy": ("copy.deepcopy(part)", set(), False),
    "a question": ("isinstance(part, Part) and hasattr(part, 'size') and len(fields(part))", set(), False),
}

BOUNDLESS = {
    "a package out of sight": "elsewhere.change(part)",
    "a package out of sight, by a list that holds it": "own = [part]\nelsewhere.change(own)",
    "a text that is run": "exec('part.size = 2')",
    "an attribute whose name is not known": "setattr(part, other, 1)",
    "what Python calls by itself may be any object's": "part.__setattr__('size', other)",
    "part of the standard library that writes attributes": "mock.patch.object(part, 'size', 2)",
    "an attribute through the table of them": "part.__dict__['size'] = 2",
    "the same, by another way": "getattr(part, '__dict__')['size'] = 2",
    "a method of any object, by its name": "operator.methodcaller('widen')(part)",
}


@pytest.mark.parametrize("case", CHANGED)
def test_it_changes_at_most(case: str, tmp_path: Path) -> None:
    code, names, contents = CHANGED[case]
    bounds, function = looked_at(tmp_path, f"def f(part, other):\n{indent(code, '    ')}\n")
    found = bounds.of(function)
    assert found is not None
    assert (set(found.names), found.contents) == (names, contents)


@pytest.mark.parametrize("case", BOUNDLESS)
def test_nothing_is_told_of_what_may_change_anything(case: str, tmp_path: Path) -> None:
    bounds, function = looked_at(tmp_path, f"def f(part, other):\n{indent(BOUNDLESS[case], '    ')}\n")
    assert bounds.of(function) is None


@pytest.mark.parametrize("annotation", ["object", "Any", "", "Part"])
def test_an_annotation_that_says_little_hides_no_method(annotation: str, tmp_path: Path) -> None:
    parameter = f"part: {annotation}" if annotation else "part"
    bounds, function = looked_at(tmp_path, f"def f({parameter}):\n    part.widen()\n")
    found = bounds.of(function)
    assert found is not None
    assert found.names == {"size"}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("self.size = 1", {"size"}),
        ("self.names[0] = 1", {"names"}),
        ("assert isinstance(self.names, list) and len(fields(self))", set()),
        ("logger.warning('%s', self.names)", set()),
        ("elsewhere.change(self.names)", {"names"}),
        ("vars(self)['size'] = 1", None),
        ("elsewhere.change(self)", None),
        ("threading.Thread(target=helper, args=(self,))", None),
        ("functools.partial(helper, self)()", None),
    ],
)
def test_a_hook_touches(code: str, expected: set[str] | None, tmp_path: Path) -> None:
    text = f"@dataclass\nclass Own(Part):\n    def __post_init__(self):\n{indent(code, '        ')}\n"
    text += "f = Own.__post_init__\n"
    bounds, _ = looked_at(tmp_path, text)
    cls = global_of(bounds.interp, bounds.modules["upstream"], "Own")
    assert isinstance(cls, ClassObject)
    hook = global_of(bounds.interp, bounds.modules["upstream"], "f")
    assert isinstance(hook, Function)
    assert touched(bounds.interp, bounds.modules, cls, hook, cls) == expected


def looked_at(folder: Path, code: str) -> tuple[ChangeBounds, Function]:
    path = folder / "upstream.py"
    path.write_text(MODULE + dedent(code))
    finder = ModuleFinder(Sources(), [str(folder)])
    interp = Interpreter(finder)
    module = finder.load(str(path), "upstream")
    assert module is not None
    function = global_of(interp, module, "f")
    assert isinstance(function, Function)
    return ChangeBounds(interp, {"upstream": module}), function
