"""What a class shows of itself: the order of its bases, and the attributes of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.readers.python.several_files import agrees

PROGRAMS = {
    "the order ends in object": """\
from config import sized
class A:
    pass

class B(A):
    pass

def recipe():
    return sized([k.__name__ for k in B.__mro__])
""",
    "the order reversed": """\
from config import sized
class A:
    pass

class B(A):
    pass

def recipe():
    return sized([k.__name__ for k in reversed(B.__mro__)])
""",
    "the attributes of each class in the order": """\
from config import sized
class A:
    sets = {'a': 1}

class B(A):
    sets = {'b': 2}

class C(B):
    pass

def recipe():
    out = {}
    for k in reversed(C.__mro__):
        out.update(vars(k).get('sets', {}))
    return sized(out)
""",
    "__dict__ of each": """\
from config import sized
class A:
    sets = {'a': 1}

class B(A):
    sets = {'b': 2}

def recipe():
    out = {}
    for k in reversed(B.__mro__):
        out |= k.__dict__.get('sets', {})
    return sized(out)
""",
    "an attribute that object lacks": """\
from config import sized
class A:
    sets = {'a': 1}

class B(A):
    sets = {'b': 2}

def recipe():
    out = {}
    for k in reversed(B.__mro__):
        out.update(getattr(k, 'sets', {}))
    return sized(out)
""",
    "a class that has none of its own": """\
from config import sized
class A:
    sets = {'a': 1}

class B(A):
    pass

def recipe():
    return sized(['sets' in vars(k) for k in B.__mro__])
""",
    "the attributes of one kind": """\
from config import sized
class Setting:
    def __init__(self, n):
        self.n = n

class A:
    a = Setting(1)
    b = Setting(2)

    def names(self):
        return [(k, v.n) for k, v in vars(type(self)).items() if isinstance(v, Setting)]

def recipe():
    return sized([*A().names(), vars(A)['__doc__']])
""",
    "the attributes of object": """\
from config import sized
def recipe():
    return sized(vars(object).get('sets', 3))
""",
    "the first class that has an attribute": """\
from config import sized
class A:
    sets = 1

def recipe():
    return sized([k for k in A.__mro__ if 'sets' in k.__dict__][0].sets)
""",
    "mro() is a list": """\
from config import sized
class A:
    sets = {'a': 1}

class B(A):
    sets = {'b': 2}

def recipe():
    out = {}
    for k in B.mro():
        out.update(vars(k).get('sets', {}))
    return sized(out)
""",
    "a class method with two bases": """\
from config import sized
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

def recipe():
    return sized(B.all())
""",
    "the order of an object's class": """\
from config import sized
class A:
    sets = {'a': 1}

    def all(self):
        return {k: v for c in type(self).__mro__[::-1] for k, v in c.__dict__.get('sets', {}).items()}

class B(A):
    sets = {'b': 2}

def recipe():
    return sized(B().all())
""",
    "inspect.getmro": """\
from config import sized
import inspect

class A:
    sets = {'a': 1}

class B(A):
    sets = {'b': 2}

def recipe():
    return sized([c.__name__ for c in inspect.getmro(B)])
""",
    "__bases__": """\
from config import sized
class A:
    sets = {'a': 1}

class B(A):
    sets = {**A.sets, 'b': 2}

def recipe():
    return sized([c.sets for c in B.__bases__])
""",
    "attributes that are no functions": """\
from config import sized
class A:
    tp = 2
    pp = 3

    def f(self):
        pass

def recipe():
    return sized({k: v for k, v in vars(A).items() if not k.startswith('_') and (not callable(v))})
""",
    "the default of a field": """\
from config import sized
from dataclasses import dataclass

@dataclass
class A:
    tp: int = 2

def recipe():
    return sized(vars(A).get('tp'))
""",
    "object is one of them": """\
from config import sized
class A:
    sets = {'a': 1}

def recipe():
    return sized([c.__name__ for c in A.__mro__ if c is not object])
""",
    "an element of the order": """\
from config import sized
class A:
    sets = {'a': 1}

class B(A):
    pass

def recipe():
    return sized(B.__mro__[1].sets)
""",
    "the length of the order": """\
from config import sized
class A:
    pass

class B(A):
    pass

def recipe():
    return sized(len(B.__mro__))
""",
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_class_shows_of_itself_what_python_shows(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    agrees({"main.py": text})
