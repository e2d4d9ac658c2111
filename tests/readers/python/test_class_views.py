"""What a class shows of itself: the order of its bases, and the attributes of its own."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from tests.readers.python.several_files import agrees

EMPTY = "class A: pass\nclass B(A): pass\n"
ONE = "class A:\n    sets = {'a': 1}\n"
HEIR = f"{ONE}class B(A): pass\n"
TWO = f"{ONE}class B(A):\n    sets = {{'b': 2}}\n"
FUNCTION = "class A:\n    tp = 2\n    pp = 3\n    def f(self): pass\n"
FIELD = "from dataclasses import dataclass\n@dataclass\nclass A:\n    tp: int = 2\n"
BY_CLASS = """\
class A:
    sets = {'a': 1}
    @classmethod
    def all(cls):
        out = {}
        for k in reversed(cls.__mro__):
            out.update(vars(k).get('sets', {}))
        return out
class M:
    sets = {'m': 1}
class B(A, M):
    sets = {'b': 2}
"""
BY_OBJECT = """\
class A:
    sets = {'a': 1}
    def all(self):
        return {k: v for c in type(self).__mro__[::-1] for k, v in c.__dict__.get('sets', {}).items()}
class B(A):
    sets = {'b': 2}
"""
OF_ONE_KIND = """\
class Setting:
    def __init__(self, n):
        self.n = n
class A:
    a = Setting(1)
    b = Setting(2)
    def names(self):
        return [(k, v.n) for k, v in vars(type(self)).items() if isinstance(v, Setting)]
"""

HINTS = """\
from typing import get_type_hints
class A:
    tp: int
class B(A):
    name: 'str'
    sub: A = None
    more: list = 1
"""

VALUES = {
    "the annotations of a class": (HINTS, "[*B.__annotations__, *B().__annotations__]"),
    "a type among them": (HINTS, "[B.__annotations__['sub'] is A, B.__annotations__['name']]"),
    "the hints of a class and its bases": (HINTS, "[*get_type_hints(B)]"),
    "which of them are its own classes": (
        HINTS,
        "[[n, isinstance(h, type) and issubclass(h, A)] for n, h in get_type_hints(B).items()]",
    ),
    "a path is neither None nor False": (
        "from pathlib import Path\n",
        "[Path('/a') / 'b' is None, (Path('/a') / 'b') is False, True is Path('x')]",
    ),
    "the order ends in object": (EMPTY, "[k.__name__ for k in B.__mro__]"),
    "the order reversed": (EMPTY, "[k.__name__ for k in reversed(B.__mro__)]"),
    "the length of the order": (EMPTY, "len(B.__mro__)"),
    "a class that has none of its own": (HEIR, "['sets' in vars(k) for k in B.__mro__]"),
    "an element of the order": (HEIR, "B.__mro__[1].sets"),
    "the attributes of one kind": (OF_ONE_KIND, "[*A().names(), vars(A)['__doc__']]"),
    "the attributes of object": ("", "vars(object).get('sets', 3)"),
    "the first class that has an attribute": (ONE, "[k for k in A.__mro__ if 'sets' in k.__dict__][0].sets"),
    "object is one of them": (ONE, "[c.__name__ for c in A.__mro__ if c is not object]"),
    "a class method with two bases": (BY_CLASS, "B.all()"),
    "the order of an object's class": (BY_OBJECT, "B().all()"),
    "inspect.getmro": (f"import inspect\n{TWO}", "[c.__name__ for c in inspect.getmro(B)]"),
    "__bases__": (TWO, "[c.sets for c in B.__bases__]"),
    "attributes that are no functions": (
        FUNCTION,
        "{k: v for k, v in vars(A).items() if not k.startswith('_') and (not callable(v))}",
    ),
    "the default of a field": (FIELD, "vars(A).get('tp')"),
}

LOOPS = {
    "the attributes of each class in the order": "for k in reversed(B.__mro__): out.update(vars(k).get('sets', {}))",
    "__dict__ of each": "for k in reversed(B.__mro__): out |= k.__dict__.get('sets', {})",
    "an attribute that object lacks": "for k in reversed(B.__mro__): out.update(getattr(k, 'sets', {}))",
    "mro() is a list": "for k in B.mro(): out.update(vars(k).get('sets', {}))",
}


def checked(classes: str, body: str) -> None:
    agrees({"main.py": f"from config import sized\n{classes}\ndef recipe():\n{indent(dedent(body), '    ')}\n"})


@pytest.mark.parametrize(("classes", "value"), VALUES.values(), ids=VALUES.keys())
def test_a_class_shows_of_itself_what_python_shows(
    classes: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    checked(classes, f"return sized({value})")


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS.keys())
def test_a_loop_over_the_order_collects_what_python_collects(
    loop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    checked(TWO, f"out = {{}}\n{loop}\nreturn sized(out)")
