"""No input crashes the reader, and none costs more than it is worth."""

# Expensive programs are easier to tell apart with one in a line.
# ruff: noqa: E501

from __future__ import annotations

import random
import resource
import sys
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.read import PythonRead, read_python
from mfsdp_lint.readers.python.state.calling import LIBRARY
from mfsdp_lint.readers.python.state.paths import PATIENCE, STEP_LIMIT
from tests.readers.python.programs import write
from tests.readers.python.samples import FRAME, counted

PATH = "recipes/sample.py"


def read(text: str, path: str = PATH) -> PythonRead:
    found = read_python([path], Sources({path: text}))
    for recipe in found.recipes:
        for setting in recipe.paths():
            recipe.setting(setting)
    return found


# -- broken and shuffled files --------------------------------------------------------------------------------------

EDITS: tuple[Callable[[list[str], int, int], object], ...] = (
    lambda parts, here, there: parts.pop(here),
    lambda parts, here, there: parts.insert(there, parts[here]),
    lambda parts, here, there: parts.__setitem__(slice(here, here + 1), [parts[there]]),
    lambda parts, here, there: parts.insert(here, parts.pop(there)),
)


def shuffled(text: str, pieces: str, edits: list[tuple[int, int, int]]) -> str:
    parts = text.splitlines(keepends=True) if pieces == "lines" else _tokens(text)
    for edit, here, there in edits:
        if len(parts) > 1:
            EDITS[edit](parts, here % len(parts), there % len(parts))
    return "".join(parts)


def _tokens(text: str) -> list[str]:
    parts: list[str] = []
    for char in text:
        if parts and (parts[-1][-1].isalnum() and char.isalnum()):
            parts[-1] += char
        else:
            parts.append(char)
    return parts


@settings(max_examples=120, suppress_health_check=list(HealthCheck))
@given(
    st.integers(0, 10_000),
    st.sampled_from(["lines", "tokens"]),
    st.lists(st.tuples(st.integers(0, len(EDITS) - 1), st.integers(0, 9_999), st.integers(0, 9_999)), max_size=6),
)
def test_a_file_with_pieces_dropped_doubled_or_swapped_is_read_or_listed(
    seed: int, pieces: str, edits: list[tuple[int, int, int]]
) -> None:
    text = shuffled(write(random.Random(seed).randrange).text, pieces, edits)
    found = read(text)
    assert all(problem.path == PATH for problem in found.unreadable)


@settings(max_examples=80)
@given(st.text(max_size=200))
def test_any_text_is_read_or_listed(text: str) -> None:
    read(f"# megatron\n{text}")


# -- inputs made to be expensive ------------------------------------------------------------------------------------


def recipe(*lines: str, before: str = "") -> str:
    body = "\n".join(f"    {line}" for line in lines)
    return f"{FRAME}\n{before}\ndef recipe():\n    cfg = ConfigContainer()\n{body}\n    return cfg\n"


def nest(opening: str, inner: str, closing: str, depth: int) -> str:
    return opening * depth + inner + closing * depth


FORKS = [f"if probe({index}):\n        cfg.model.size = {index}" for index in range(40)]

EXPENSIVE = {
    "deep parentheses": recipe(f"cfg.model.size = {nest('(', '1', ')', 150)}"),
    "deep lists": recipe(f"cfg.model.size = {nest('[', '1', ']', 150)}"),
    "deep additions": recipe(f"cfg.model.size = {' + '.join(['1'] * 3_000)}"),
    "deep negations": recipe(f"cfg.model.size = {'not ' * 800}1"),
    "deep attributes": recipe(f"cfg.model.size = cfg{'.model' * 2_000}"),
    "deep calls": recipe(f"cfg.model.size = {nest('abs(', '1', ')', 90)}"),
    "deep conditions": recipe(f"cfg.model.size = {'1 if probe() else ' * 80}2", before="from outside import probe"),
    "deep blocks": recipe(*[f"{'    ' * depth}if cfg:" for depth in range(60)], f"{'    ' * 60}cfg.model.size = 2"),
    "deep lambdas": recipe(f"cfg.model.size = {'lambda: ' * 80}1"),
    "a long literal": recipe(f"cfg.model.size = [{', '.join(map(str, range(100_000)))}]"),
    "a long dictionary": recipe(f"cfg.model.size = {{{', '.join(f'{n}: {n}' for n in range(50_000))}}}"),
    "a long chain of statements": recipe(*["cfg.model.size = 1"] * 20_000),
    "a long boolean": recipe(f"cfg.model.size = {' or '.join(['probe()'] * 300)}", before="from outside import probe"),
    "a long comparison": recipe(f"cfg.model.size = {' < '.join(['probe()'] * 300)}", before="from outside import probe"),
    "repeated text": recipe('cfg.model.size = "x" * 10**9'),
    "repeated text, turned round": recipe('cfg.model.size = 10**9 * "x"'),
    "repeated lists": recipe("cfg.model.size = [0] * 10**9"),
    "repeated lists in place": recipe("big = [0]", "big *= 10**9", "cfg.model.size = big"),
    "repeated bytes": recipe('cfg.model.size = bytes(10**10)'),
    "doubled lists": recipe("big = [0]", "for _ in range(100):", "    big += big", "cfg.model.size = big"),
    "doubled lists with +": recipe("big = [0]", "for _ in range(100):", "    big = big + big", "cfg.model.size = big"),
    "doubled tuples": recipe("big = (0,)", "for _ in range(100):", "    big = big + big", "cfg.model.size = big"),
    "doubled text": recipe('big = "x"', "for _ in range(100):", "    big += big", "cfg.model.size = big"),
    "doubled text by formatting": recipe('big = "x"', "for _ in range(100):", '    big = f"{big}{big}"'),
    "doubled text by %": recipe('big = "x"', "for _ in range(100):", '    big = "%s%s" % (big, big)'),
    "doubled text by format": recipe('big = "x"', "for _ in range(100):", '    big = "{0}{0}".format(big)'),
    "doubled text by join": recipe('big = "x"', "for _ in range(100):", '    big = "".join([big, big])'),
    "doubled text by replace": recipe('big = "x"', "for _ in range(100):", '    big = big.replace("x", "xx")'),
    "doubled dictionaries": recipe("big = {}", "for _ in range(60):", "    big = {0: big, 1: big}", "cfg.model.size = big"),
    "doubled nested lists": recipe("big = []", "for _ in range(60):", "    big = [big, big]", "cfg.model.size = big"),
    "doubled nested tuples": recipe("big = ()", "for _ in range(60):", "    big = (big, big)", "cfg.model.size = big"),
    "doubled nested tuples compared": recipe(
        "big = ()", "other = ()", "for _ in range(60):", "    big = (big, big)", "    other = (other, other)",
        "cfg.model.size = big == other",
    ),
    "squared numbers": recipe("big = 3", "for _ in range(100):", "    big = big * big", "cfg.model.size = big"),
    "squared powers": recipe("big = 3", "for _ in range(100):", "    big = big ** 3", "cfg.model.size = big"),
    "a tower of powers": recipe("cfg.model.size = 10**10**10"),
    "pow": recipe("cfg.model.size = pow(10, 10**10)"),
    "a shift": recipe("cfg.model.size = 1 << 10**9"),
    "a shift in place": recipe("big = 1", "big <<= 10**9", "cfg.model.size = big"),
    "a long number": recipe("cfg.model.size = str(9 ** 256 * 9 ** 256 * 9 ** 256)"),
    "int of long text": recipe('cfg.model.size = int("9" * 900_000)'),
    "a wide f-string": recipe('cfg.model.size = f"{1:1000000000}"'),
    "a wide f-string with a width that is computed": recipe("width = 10**9", 'cfg.model.size = f"{1:{width}}"'),
    "a precise f-string": recipe('cfg.model.size = f"{1.5:.1000000000f}"'),
    "a wide %": recipe('cfg.model.size = "%1000000000d" % 1'),
    "a wide % with a star": recipe('cfg.model.size = "%*d" % (10**9, 1)'),
    "a precise % with a star": recipe('cfg.model.size = "%.*f" % (10**9, 1)'),
    "a wide format": recipe('cfg.model.size = "{:1000000000}".format(1)'),
    "a wide format by name": recipe('cfg.model.size = "{x:1000000000}".format(x=1)'),
    "a wide format by number": recipe('cfg.model.size = "{0:1000000000}".format(1)'),
    "a wide format with an argument": recipe('cfg.model.size = "{:{}}".format(1, 10**9)'),
    "the format function": recipe('cfg.model.size = format(1, "1000000000")'),
    "the __format__ method": recipe('cfg.model.size = (1).__format__("1000000000")'),
    "the __mul__ method": recipe('cfg.model.size = "x".__mul__(10**9)'),
    "the __pow__ method": recipe("cfg.model.size = (10).__pow__(10**10)"),
    "the __lshift__ method": recipe("cfg.model.size = (1).__lshift__(10**10)"),
    "to_bytes": recipe("cfg.model.size = (1).to_bytes(10**9, 'big')"),
    "zfill": recipe('cfg.model.size = "1".zfill(10**9)'),
    "ljust": recipe('cfg.model.size = "1".ljust(10**9)'),
    "expandtabs": recipe(r'cfg.model.size = "\t".expandtabs(10**9)'),
    "translate": recipe('cfg.model.size = ("x" * 1000).translate({120: "y" * 100000})'),
    "format_map": recipe('cfg.model.size = "{x:1000000000}".format_map({"x": 1})'),
    "a factorial": recipe("cfg.model.size = math.factorial(10**7)", before="import math"),
    "a product of numbers": recipe("cfg.model.size = math.prod([10**200] * 10_000)", before="import math"),
    "a sum of lists": recipe("cfg.model.size = sum([[0] * 900] * 9_000, [])"),
    "a sum of tuples": recipe("cfg.model.size = sum([(0,) * 900] * 9_000, ())"),
    "a combinatorial product": recipe(
        "cfg.model.size = list(itertools.product(*[range(10)] * 20))", before="import itertools"
    ),
    "endless counting": recipe("for n in itertools.count():", "    cfg.model.size = n", before="import itertools"),
    "a long range": recipe("for n in range(10**12):", "    cfg.model.size = n"),
    "a long range listed": recipe("cfg.model.size = list(range(10**12))"),
    "a long range summed": recipe("cfg.model.size = sum(range(10**12))"),
    "an endless loop": recipe("while True:", "    cfg.model.size += 1"),
    "an endless loop without a body": recipe("while True:", "    pass"),
    "endless loops in each other": recipe(*[f"{'    ' * depth}while True:" for depth in range(12)], f"{'    ' * 12}pass"),
    "loops in each other": recipe(
        *[f"{'    ' * depth}for n{depth} in range(10_000):" for depth in range(6)], f"{'    ' * 6}cfg.model.size = 1"
    ),
    "loops of a module": recipe(
        "cfg.model.size = x",
        before="x = 0\n" + "".join(f"{'    ' * depth}for n{depth} in range(10_000):\n" for depth in range(4)) + f"{'    ' * 4}x += 1",
    ),
    "an endless loop of a module": recipe("cfg.model.size = x", before="x = 0\nwhile True:\n    x += 1"),
    "loops of a class": recipe(
        "cfg.model.size = Table.x",
        before="class Table:\n    x = 0\n    for a in range(10_000):\n        for b in range(10_000):\n            x += 1",
    ),
    "a list that grows while it is walked": recipe("items = [1]", "for item in items:", "    items.append(item)"),
    "a dictionary that grows": recipe("items = {}", "while True:", "    items[len(items)] = 1"),
    "comprehensions in each other": recipe(
        "cfg.model.size = [a + b + c for a in range(10_000) for b in range(10_000) for c in range(10_000)]"
    ),
    "comprehensions of comprehensions": recipe(
        "cfg.model.size = [[[c for c in range(10_000)] for b in range(10_000)] for a in range(10_000)]"
    ),
    "generators in each other": recipe("cfg.model.size = sum(1 for a in range(10_000) for b in range(10_000))"),
    "an endless generator": recipe(
        "cfg.model.size = list(endless())", before="def endless():\n    while True:\n        yield 1"
    ),
    "the first of an endless generator": recipe(
        "cfg.model.size = next(endless())", before="def endless():\n    while True:\n        yield 1"
    ),
    "recursion": recipe("cfg.model.size = down(1)", before="def down(n):\n    return down(n + 1)"),
    "mutual recursion": recipe(
        "cfg.model.size = a(1)", before="def a(n):\n    return b(n) + b(n + 1)\ndef b(n):\n    return a(n) + a(n + 1)"
    ),
    "recursion that forks": recipe(
        "cfg.model.size = tree(1)",
        before="from outside import probe\ndef tree(n):\n    return tree(n + 1) if probe(n) else tree(n + 2)",
    ),
    "recursion through a lambda": recipe("cfg.model.size = (lambda f: f(f))(lambda f: f(f))"),
    "recursion that makes text": recipe("cfg.model.size = grow('x')", before="def grow(x):\n    return grow(x + x)"),
    "recursion through a property": recipe(
        "cfg.model.size = Loop().x", before="class Loop:\n    @property\n    def x(self):\n        return self.x"
    ),
    "recursion through __getattr__": recipe(
        "cfg.model.size = Loop().x", before="class Loop:\n    def __getattr__(self, name):\n        return getattr(self, name)"
    ),
    "recursion through __setattr__": recipe(
        "Loop().x = 1", before="class Loop:\n    def __setattr__(self, name, value):\n        setattr(self, name, value)"
    ),
    "recursion through __bool__": recipe(
        "cfg.model.size = 1 if Loop() else 2", before="class Loop:\n    def __bool__(self):\n        return bool(self)"
    ),
    "recursion through __eq__": recipe(
        "cfg.model.size = Loop() == Loop()", before="class Loop:\n    def __eq__(self, other):\n        return self == other"
    ),
    "recursion through __init__": recipe(
        "cfg.model.size = Loop()", before="class Loop:\n    def __init__(self):\n        self.x = Loop()"
    ),
    "recursion through a factory": recipe(
        "cfg.model.size = Loop()",
        before="@dataclass\nclass Loop:\n    inner: object = field(default_factory=lambda: Loop())",
    ),
    "a decorator that calls itself": recipe(
        "cfg.model.size = f()", before="def again(f):\n    return again(f)\n@again\ndef f():\n    return 1"
    ),
    "a decorator that decorates itself": recipe(
        "cfg.model.size = f()", before="def again(f):\n    @again\n    def inner():\n        return f()\n    return inner\n@again\ndef f():\n    return 1"
    ),
    "a module that imports itself": recipe("cfg.model.size = x", before="from recipes.sample import x\nfrom recipes.sample import *"),
    "a class that is its own base": recipe("cfg.model.size = A().x", before="class A:\n    pass\nclass A(A):\n    pass\nclass B(B):\n    pass"),
    "a deep hierarchy": recipe(
        "cfg.model.size = C400().x", before="class C0:\n    x = 1\n" + "".join(f"class C{n}(C{n - 1}):\n    pass\n" for n in range(1, 401))
    ),
    "a wide hierarchy": recipe(
        "cfg.model.size = D().x",
        before="class Z:\n    x = 1\n" + "".join(f"class C{n}(Z):\n    pass\n" for n in range(300)) + f"class D({', '.join(f'C{n}' for n in range(300))}):\n    pass\n",
    ),
    "diamonds": recipe(
        "cfg.model.size = A30().x",
        before="class A0:\n    x = 1\n" + "".join(f"class B{n}(A{n - 1}):\n    pass\nclass C{n}(A{n - 1}):\n    pass\nclass A{n}(B{n}, C{n}):\n    pass\n" for n in range(1, 31)),
    ),
    "deep super calls": recipe(
        "cfg.model.size = C200().f()",
        before="class C0:\n    def f(self):\n        return 1\n" + "".join(f"class C{n}(C{n - 1}):\n    def f(self):\n        return super().f()\n" for n in range(1, 201)),
    ),
    "deep calls of helpers": recipe(
        "cfg.model.size = f300()",
        before="def f0():\n    return 1\n" + "".join(f"def f{n}():\n    return f{n - 1}() + f{n - 1}()\n" for n in range(1, 301)),
    ),
    "deep calls of helpers with objects": recipe(
        "f40(cfg)",
        before="def f0(cfg):\n    cfg.model.size = 1\n" + "".join(f"def f{n}(cfg):\n    f{n - 1}(cfg)\n    f{n - 1}(cfg)\n" for n in range(1, 41)),
    ),
    "a list that holds itself": recipe("items = []", "items.append(items)", "cfg.model.size = items"),
    "a list that holds itself, compared and printed": recipe(
        "items = []", "items.append(items)", "other = [items]", "cfg.model.size = (items == other, str(items), f'{items}')"
    ),
    "a dictionary that holds itself": recipe("items = {}", "items['x'] = items", "cfg.model.size = items"),
    "a configuration that holds itself": recipe("cfg.model = cfg", "cfg.model.model.model.model.size = 1"),
    "a configuration that holds itself, copied": recipe(
        "cfg.model = cfg", "other = copy.deepcopy(cfg)", "other = dataclasses.asdict(cfg)", "shake(cfg)",
        before="import copy, dataclasses\nfrom outside import shake",
    ),
    "unknown branches": recipe(*FORKS, before="from outside import probe"),
    "unknown branches that return": recipe(
        *[f"if probe({n}):\n        cfg.model.size = {n}\n        return cfg" for n in range(40)],
        before="from outside import probe",
    ),
    "unknown branches in each other": recipe(
        *[f"{'    ' * depth}if probe({depth}):" for depth in range(18)],
        f"{'    ' * 18}cfg.model.size = 1",
        *[f"{'    ' * depth}else:\n    {'    ' * depth}    cfg.model.size = {depth}" for depth in reversed(range(18))],
        before="from outside import probe",
    ),
    "unknown branches in helpers": recipe(
        "f12(cfg)",
        before="from outside import probe\ndef f0(cfg):\n    cfg.model.size = 1\n"
        + "".join(
            f"def f{n}(cfg):\n    if probe({n}):\n        f{n - 1}(cfg)\n    else:\n        f{n - 1}(cfg)\n        cfg.model.size += {n}\n"
            for n in range(1, 13)
        ),
    ),
    "unknown loops in each other": recipe(
        *[f"{'    ' * depth}for n{depth} in probe({depth}):" for depth in range(14)],
        f"{'    ' * 14}cfg.model.size += 1",
        before="from outside import probe",
    ),
    "attempts in each other": recipe(
        *[f"{'    ' * depth}try:" for depth in range(14)],
        f"{'    ' * 14}cfg.model.size = probe()",
        *[f"{'    ' * depth}except ValueError:\n    {'    ' * depth}    cfg.model.size = {depth}" for depth in reversed(range(14))],
        before="from outside import probe",
    ),
    "attempts one after the other": recipe(
        *[f"try:\n        cfg.model.size = probe({n})\n    except ValueError:\n        cfg.model.size = {n}" for n in range(40)],
        before="from outside import probe",
    ),
    "choices of choices": recipe(
        "a = 1", *[f"a = (a + {n}) if probe({n}) else (a * {n})" for n in range(30)], "cfg.model.size = a",
        before="from outside import probe",
    ),
    "unknown cases": recipe(
        "match probe():", *[f"    case {n}:\n            cfg.model.size = {n}" for n in range(60)], before="from outside import probe"
    ),
    "a star import of itself": recipe("cfg.model.size = y", before="from recipes.sample import *"),
    "many parameters": recipe(
        f"cfg.model.size = f({', '.join(f'a{n}={n}' for n in range(2_000))})", before=f"def f({', '.join(f'a{n}' for n in range(2_000))}):\n    return a7"
    ),
    "many spreads": recipe("d = {}", "for n in range(300):", "    d = {**d, n: n}", "cfg.model.size = d"),
    "sorted by an endless key": recipe(
        "cfg.model.size = sorted(range(9_999), key=lambda n: [m for m in range(9_999)])",
    ),
    "set operations": recipe("s = set(range(9_999))", "for n in range(9_999):", "    s = s | {n}", "cfg.model.size = len(s)"),
    "appending": recipe("s = []", "for n in range(9_999):", "    s.append(n)", "cfg.model.size = len(s)"),
    "membership": recipe("s = list(range(9_999))", "for n in range(9_999):", "    n in s", "cfg.model.size = len(s)"),
    "slicing": recipe("s = list(range(9_999))", "while s:", "    s = s[1:]", "cfg.model.size = len(s)"),
    "exploding suppression": recipe(
        *[f"{'    ' * depth}with contextlib.suppress(ValueError):" for depth in range(14)],
        f"{'    ' * 14}cfg.model.size = probe()",
        before="import contextlib\nfrom outside import probe",
    ),
}  # fmt: skip


MEMORY = 600_000_000
"""Bytes that reading one of them may take more than was ever taken before it."""


def steps_of(text: str) -> tuple[list[str], int]:
    """The names of a program's recipes, and how many steps it took to find them."""
    with counted() as steps:
        return [recipe.name for recipe in read(text).recipes], steps.count


@pytest.mark.parametrize("text", EXPENSIVE.values(), ids=EXPENSIVE.keys())
def test_an_expensive_program_ends_in_bounded_steps_and_memory(text: str) -> None:
    before = most_memory()
    _, steps = steps_of(text)
    assert steps <= 4 * STEP_LIMIT
    assert most_memory() - before < MEMORY


def most_memory() -> int:
    """The most memory that this process has had, in bytes (Linux counts in KiB, macOS in bytes)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


# What training code does: loops and branches over what nobody knows, deep into other functions, and no configuration.
TRAINING = """\
def turn(policy, batches):
    for batch in batches:
        if policy.ready(batch):
            for part in batch.split(policy.size):
                policy.step(part) if part.valid else policy.skip(part)
        else:
            policy.state = policy.reload(batch)


def train(policy, loader, epochs):
    for epoch in epochs:
        for batches in loader(epoch):
            try:
                turn(policy, batches)
            except ValueError:
                policy.log(epoch)
"""
FOUR_TIMES = "\n".join(f"    train(policy, loader, epochs_{number})" for number in range(4))


def test_a_value_without_a_hash_is_a_value() -> None:
    rows = "[(1, (slice(0, 4), 2)), (2, (slice(2), 3))]"
    found = read(f"def recipe(cfg):\n    for a, (s, n) in {rows}:\n        cfg.train.train_iters = n\n    return cfg\n")
    assert (found.faults, [each.name for each in found.recipes]) == ([], ["recipe"])


def test_what_touches_no_configuration_is_given_up_soon() -> None:
    text = f"{FRAME}\n{TRAINING}\ndef experiment(policy, loader):\n{FOUR_TIMES}\n    return policy.model"
    names, steps = steps_of(text)
    assert names == []
    assert steps <= 2 * PATIENCE


def test_what_made_a_configuration_is_followed_for_longer() -> None:
    loop = "    for number in range(3_000):\n        cfg.model.size = number\n    return cfg"
    names, steps = steps_of(f"{FRAME}\ndef recipe():\n    cfg = ConfigContainer()\n{loop}")
    assert names == ["recipe"]
    assert steps > PATIENCE


def test_a_script_that_only_calls_a_function_is_not_followed_after_it() -> None:
    loops = "    for a in range(300):\n        for b in range(300):\n            cfg.model.size = a + b"
    function = f"{FRAME}\ndef main():\n    cfg = ConfigContainer()\n{loops}"
    names, steps = steps_of(f"{function}\n")
    assert (names, steps > PATIENCE) == ([], True)
    names, more = steps_of(f"{function}\n\nif __name__ == '__main__':\n    main()\n")
    assert (names, more < steps + PATIENCE) == ([], True)


def test_and_so_is_what_writes_settings_of_one_that_is_handed_in() -> None:
    loop = "    for number in range(3_000):\n        cfg.ddp.bucket_size = number"
    first = "    cfg.ddp.use_megatron_fsdp = True\n"
    names, steps = steps_of(f"def recipe(cfg):\n{first}{loop}")
    assert names == ["recipe"]
    assert steps > PATIENCE


CONTAINER = """
class DDP:
    use_megatron_fsdp = False

class ConfigContainer:
    ddp = DDP()
"""
ODD = (
    "",
    "cfg",
    "None, None",
    "[1], x=2",
    "cfg.ddp, 'use_megatron_fsdp', True, 1, 2",
    "default=3, key=4",
    "*unknown()",
)


@pytest.mark.parametrize("name", sorted(LIBRARY))
def test_modelled_functions_take_any_arguments(name: str) -> None:
    package = name.rpartition(".")[0]
    called, head = (name.removeprefix("builtins."), "") if package == "builtins" else (name, f"import {package}\n")
    calls = (
        f"def recipe{n}():\n    cfg = ConfigContainer()\n    {called}({given})\n    return cfg\n"
        for n, given in enumerate(ODD)
    )
    read(head + CONTAINER + "\n".join(calls))
