"""Corners of Python that random programs found misread: what is said of each is what Python does."""

# Programs are easier to tell apart with one in a line.
# ruff: noqa: E501

from __future__ import annotations

import pytest

from mfsdp_lint.core.values import Known, OneOf
from tests.readers.python.agreement import evaluate, examine
from tests.readers.python.programs import Program

FRAME = """\
import contextlib, copy, dataclasses, enum, functools, itertools, os
from dataclasses import dataclass, field, replace

class Kind(enum.Enum):
    DENSE = "dense"
    MOE = "moe"

class Level(str, enum.Enum):
    LOW = "low"

@dataclass
class Model:
    size: object = 1
    table: object = field(default_factory=lambda: {"a": 1, "b": 2, "c": 3})
    layers: object = field(default_factory=lambda: [1, 2])

@dataclass
class ConfigContainer:
    model: Model = field(default_factory=Model)

def counting(limit):
    for number in range(limit):
        yield number
"""


def recipe(*lines: str, parameters: str = "", before: str = "") -> str:
    body = "\n".join(f"    {line}" for line in lines)
    return f"{FRAME}\n{before}\ndef recipe({parameters}):\n    cfg = ConfigContainer()\n{body}\n    return cfg\n"


DECIDED = {
    "a partial of a built-in is that built-in": "cfg.model.size = functools.partial(max, 1)(3, 0)",
    "a built-in under another name": "largest = max\n    cfg.model.size = largest(1, 3, 2)",
    "the name of a built-in type": "cfg.model.size = type(1).__name__",
    "a string enumeration equals its value": "cfg.model.size = Level.LOW == 'low'",
    "the keys of a table that an enumeration makes equal their values": "cfg.model.size = dict.fromkeys(Level, 3)['low']",
    "a list is multiplied in place": "same = cfg.model.layers\n    cfg.model.layers *= 2\n    cfg.model.size = len(same)",
    "a table is extended in place, by pairs too": "same = cfg.model.table\n    cfg.model.table |= {'z': 1}\n    cfg.model.table |= [('y', 2)]\n    cfg.model.size = (same['z'], same['y'])",
    "sets are ordered by inclusion": "cfg.model.size = ({1, 2} <= {9, 1}, {1} < {1, 2})",
    "an iterator is used up": "pairs = zip([1], [2])\n    cfg.model.size = [list(pairs), list(pairs)]",
    "a generator is used up": "numbers = counting(2)\n    cfg.model.size = [list(numbers), list(numbers)]",
    "next takes one element": "it = iter([1, 2, 3])\n    cfg.model.size = [next(it), next(it), list(it)]",
    "an element that is never asked for does not raise": "cfg.model.size = any(1 / x for x in (1, 0))",
    "a list grows while it is walked": "for x in cfg.model.layers:\n        if x < 5:\n            cfg.model.layers.append(x + 2)",
    "no member has this value": "try:\n        Kind('x')\n    except ValueError:\n        cfg.model.size = 2",
    "suppress goes on behind the block": "with contextlib.suppress(KeyError):\n        cfg.model.size = 2\n        cfg.model.size = {}['x']",
    "finally runs when a handler raises": "try:\n        try:\n            {}['x']\n        except KeyError:\n            [][0]\n        finally:\n            cfg.model.size = 2\n    except IndexError:\n        pass",
    "the else of a loop": "for x in ():\n        pass\n    else:\n        cfg.model.size = 2",
    "a type's own methods": "cfg.model.table = dict.fromkeys('ab', 1)\n    cfg.model.size = str.upper('a')",
    "deleted entries on an undone way keep the order": "if probe():\n        cfg.model.table.pop('a')\n        raise ValueError\n    cfg.model.size = list(cfg.model.table)",
    "converted before it is padded": "cfg.model.size = f'{1!s:4}{1:4}'",
    "a cached function gives the same object": "cfg.model.layers = shared()\n    shared().append(9)",
    "names of a module are a set": "cfg.model.size = sorted({'shared', 'nowhere'} & globals().keys())",
    "a default is worked out where its function is defined": "cfg.model.size = list(numbers)",
}


@pytest.mark.parametrize("lines", DECIDED.values(), ids=DECIDED.keys())
def test_it_is_decided_as_python_does(lines: str) -> None:
    before = "from outside_world import probe\n@functools.lru_cache(None)\ndef shared():\n    return []\n"
    before += "numbers = []\n@functools.wraps(shared)\ndef later(x=numbers.append(1)):\n    return x\n"
    program = Program(recipe(lines, before=before), probed={})
    if "probe" in lines:
        found = evaluate(program.text)
        assert found is not None
        assert found.setting("model.size").value == Known(["a", "b", "c"])
        return
    verdict = examine(program)
    assert verdict.runs
    assert not verdict.lost
    assert not verdict.disagreements
    assert verdict.decided == verdict.compared


OPEN = {
    "a generator with an unknown end": ("cfg.model.layers = list(counting(u & 3))\n    cfg.model.size = len(cfg.model.layers)", "int"),
    "a generator that yields from unknown elements": ("cfg.model.layers = list(handed_on(u))\n    for x in handed_on(u):\n        cfg.model.size = x\n        return cfg", "ints"),
    "a generator that may yield": ("cfg.model.layers = list(perhaps(u))\n    cfg.model.size = next(perhaps(u))", "bool"),
    "one is not true": ("if u == True:\n        cfg.model.size = u", "int"),
    "pairs of a list that shrinks meanwhile": ("for x, y in zip(cfg.model.layers, 'ab'):\n        cfg.model.layers.pop()\n        cfg.model.size = y", "int"),
    "a cached call that may not run": ("cached(u)\n    cfg.model.size = os.environ['NCCL_B']", "str"),
    "what raises on one way is handled": ("try:\n        x = {'a': 1}[u]\n        cfg.model.size = 2\n    except KeyError:\n        cfg.model.layers = []", "str"),
    "writes before what may raise are kept": ("try:\n        cfg.model.size = 2\n        int(u)\n        cfg.model.size = 3\n    except ValueError:\n        cfg.model.layers = []", "str"),
    "writes of a way that raises are kept": ("try:\n        if u:\n            cfg.model.size = 2\n            raise KeyError\n    except KeyError:\n        pass", "bool"),
    "what a place held in passing is what a handler may find": ("try:\n        cfg.model.size = 2\n        cfg.model.layers = [len(u)]\n        cfg.model.size = 3\n        int(u)\n        cfg.model.size = 4\n    except ValueError:\n        pass", "str"),
    "so it is on one side of a branch": ("try:\n        if cfg.model.layers:\n            cfg.model.size = 2\n            int(u)\n            cfg.model.size = 3\n        cfg.model.name = 'x'\n    except ValueError:\n        pass", "str"),
    "behind an unknown number of elements comes what has an effect": ("rest = [*u, cfg.model.layers.append(5), *u, cfg.model.layers.append(6)]", "ints"),
    "and stops before what raises": ("try:\n        x = u and [8][2]\n    except IndexError:\n        cfg.model.size = 2", "bool"),
    "and stops before what changes something": ("u and cfg.model.layers.pop()", "bool"),
    "an enumeration member by an unknown name": ("try:\n        Kind[u]\n        cfg.model.size = 2\n    except KeyError:\n        pass", "str"),
    "an unknown key may replace a known entry": ("cfg.model.table |= {u: 5}", "str"),
    "an unknown key in a literal": ("cfg.model.table = {'a': 1, u: 5}", "str"),
    "an unknown mapping spread into a literal": ("cfg.model.table = {'a': 1, **{u: 5}}", "str"),
    "entries by an unknown key may be gone": ("cfg.model.table.pop(u, None)", "str"),
    "a list that is extended by unknown elements": ("cfg.model.layers += u", "ints"),
    "a method of one of two objects changes one": ("other = [7]\n    (cfg.model.layers if u else other).append(5)\n    cfg.model.size = other", "bool"),
    "a loop over unknown elements may return": ("for x in u:\n        cfg.model.size = x\n        return cfg", "ints"),
    "a loop over a generator with an unknown end may return": ("for x in counting(u & 3):\n        return cfg\n    cfg.model.size = 2", "int"),
    "the else of a loop over unknown elements": ("for x in u:\n        pass\n    else:\n        cfg.model.size = 2", "ints"),
    "a variable that the process may have set": ("cfg.model.size = os.environ.setdefault('NCCL_A', 'x')", "int"),
    "the folder it is started in is absolute": ("cfg.model.size = [os.path.isabs(os.getcwd()), os.path.join('a', os.getcwd(), 'b'), len(os.getcwd()) > 9]", "int"),
    "an entry that a loop may have taken away": ("n = u & 3\n    while n < 4:\n        n += 1\n        try:\n            cfg.model.table.pop('b')\n        except KeyError:\n            cfg.model.size = 'new'", "int"),
    "an entry that a loop may have made": ("table = {}\n    for x in u:\n        table['x'] = x\n    cfg.model.size = 'x' in table", "ints"),
    "an unfollowed call reaches one of several objects": ("other = [7]\n    for n in (1, 2, 3, 4):\n        if (u, n) > (1, n):\n            other = cfg.model.layers = [n]\n    shake(cfg.model)\n    cfg.model.size = other", "int"),
    "a loop that cannot be followed may write the environment": ("cfg.model.size = 2\n    os.environ.pop('NCCL_B', None)\n    for n in counting(u & 3):\n        if probe('x') == n:\n            continue\n        os.environ.setdefault('NCCL_B', 'y')", "int"),
    "a variable of any name may be gone": ("os.environ['NCCL_B'] = 'x'\n    for n in [n for n in os.environ if n.endswith(u)]:\n        del os.environ[n]\n    cfg.model.size = os.environ.get('NCCL_B')", "str"),
    "unknown elements of tuples are not compared": ("cfg.model.size = (u, 1) < (2, 1)", "int"),
    "what is written to one of two objects": ("cfg.model.size = 0\n    other = u or cfg.model\n    if not u:\n        other.size = 5", "bool"),
    "a way to a default object": ("layers = u or cfg.model.layers\n    layers.append(9)\n    cfg.model.size = layers", "ints"),
    "an unknown value in an attribute that one side sets": ("if u:\n        cfg.model.extra = u\n    cfg.model.size = getattr(cfg.model, 'extra', 2)", "int"),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "kind"), OPEN.values(), ids=OPEN.keys())
def test_nothing_is_said_that_does_not_hold(lines: str, kind: str) -> None:
    before = "@functools.lru_cache(None)\ndef cached(x):\n    os.environ['NCCL_B'] = str(x)\n"
    before += "def perhaps(x):\n    if x:\n        yield 1\n    yield 2\n"
    before += "def handed_on(x):\n    yield from x\n"
    before += "from outside_world import probe, shake\n"
    verdict = examine(Program(recipe(lines, parameters="u", before=before), unknown={"u": kind}, probed={"x": "int"}))
    assert verdict.runs
    assert not verdict.lost
    assert not verdict.disagreements


def test_an_unknown_number_of_turns_leaves_one_of_the_ways() -> None:
    found = evaluate(recipe("for x in u:\n        return cfg", "cfg.model.size = 2", parameters="u"))
    assert found is not None
    value = found.setting("model.size").value
    assert isinstance(value, OneOf)
    assert set(value.values) == {1, 2}
