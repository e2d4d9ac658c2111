"""Texts, plain data and programs that are nearly what they should be."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import Any

_WORDS = re.compile(r"\w+|[^\w\s]|\s+")

NASTY = (
    "\0", "\ufeff", "\r", "\r\n", "\n", "\t", "\x0c", "\x1b[31m", "\u2028", "\u202e", "\ud800", "\udcff", "é", "𝒳",
    "ﬁ", "İ", "'", '"', '"""', "\\", "`", "#", "%", "&", "*", "!", "|", ">", "<<", "{", "}", "[", "]", "(", ")", ":",
    "::", ",", "@", "-", "--", "~", "?", "$", "${", "0", "-1", "1e999", "-0.0", "nan", ".inf", "0x", "0xff", "0b1",
    "0o7", "1_0", "1:59:59", "9" * 30, "9" * 5000, "0x" + "f" * 5000, "1:" + "59:" * 3000 + "59", "None", "null",
    "True", "yes", "__class__", "env.", " " * 40, "(" * 40, "[" * 300, "- " * 60, "a." * 300, "not " * 300,
    "!!python/object/apply:os.system", "!!binary", "&a", "*a", "---", "...", "%YAML 1.1", "# coding: utf-7",
    "lambda: 0", "yield", "await x", "x := 1", "*args", "f'{x!r:{y}}'", "..", "/", "//", "**", "[!", "[]]", "{{",
    "\\g<0>", "(?P<at>", "(a+)+$", "é" * 300,
)  # fmt: skip


def text(chance: Random, corpus: Sequence[str]) -> str:
    """A text of the corpus with some changes, each at a random place."""
    found = chance.choice(corpus)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 5, 8))):
        found = chance.choice(_CHANGES)(chance, found, corpus)
        if len(found) > 100_000:
            break
    return found


def _inserted(chance: Random, old: str, corpus: Sequence[str]) -> str:
    at = chance.randint(0, len(old))
    return old[:at] + chance.choice(NASTY) + old[at:]


def _cut(chance: Random, old: str, corpus: Sequence[str]) -> str:
    start, end = _span(chance, old)
    return old[:start] + old[end:]


def _repeated(chance: Random, old: str, corpus: Sequence[str]) -> str:
    start, end = _span(chance, old)
    return old[:end] + old[start:end] * chance.choice((1, 2, 50)) + old[end:]


def _spliced(chance: Random, old: str, corpus: Sequence[str]) -> str:
    other = chance.choice(corpus)
    start, end = _span(chance, other)
    at = chance.randint(0, len(old))
    return old[:at] + other[start:end] + old[at + chance.choice((0, end - start)) :]


def _other_word(chance: Random, old: str, corpus: Sequence[str]) -> str:
    words = _WORDS.findall(old)
    others = _WORDS.findall(chance.choice(corpus))
    if words and others:
        words[chance.randrange(len(words))] = chance.choice(others)
    return "".join(words)


def _other_line(chance: Random, old: str, corpus: Sequence[str]) -> str:
    lines = old.splitlines(keepends=True)
    others = chance.choice(corpus).splitlines(keepends=True)
    if lines and others:
        at = chance.randrange(len(lines))
        lines[at : at + chance.randint(0, 1)] = chance.sample(others, 1)
    return "".join(lines)


def _other_character(chance: Random, old: str, corpus: Sequence[str]) -> str:
    at = chance.randrange(len(old)) if old else 0
    return old[:at] + chr(chance.choice((chance.randrange(128), chance.randrange(0x3000)))) + old[at + 1 :]


def _deep(chance: Random, old: str, corpus: Sequence[str]) -> str:
    start, end = _span(chance, old)
    opening, closing = chance.choice(
        (("(", ")"), ("[", "]"), ("{a: ", "}"), ("not ", ""), ("-", ""), ("f(", ")"), ("", ".a"))
    )
    depth = chance.choice((1, 3, 30, 90, 250, 1000))
    return old[:start] + opening * depth + old[start:end] + closing * depth + old[end:]


_CHANGES: tuple[Callable[[Random, str, Sequence[str]], str], ...] = (
    _inserted,
    _cut,
    _repeated,
    _spliced,
    _other_word,
    _other_word,
    _other_line,
    _other_character,
    _deep,
)  # fmt: skip


def _span(chance: Random, old: str) -> tuple[int, int]:
    start = chance.randint(0, len(old))
    return start, min(len(old), start + chance.choice((1, 2, 5, 20, 100)))


VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**63, 10**400, 0.0, 1e308, float("inf"), float("nan"), "", "a", "\0", "x" * 5000,
    "fsdp_dtensor", [], [None], [1, "a", [2]], {}, {"a": 1}, {"": None}, {"none": "so"}, [["a"] * 3], "1",
    "bf16_mixed", "always",
)  # fmt: skip


def data(chance: Random, corpus: Sequence[Any]) -> Any:
    """Plain data of the corpus with some parts that are something else."""
    found = copy.deepcopy(chance.choice(corpus))
    other = chance.choice(corpus)
    for _ in range(chance.choice((1, 1, 2, 4))):
        holder: Any = found
        while True:
            keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            if not keys:
                break
            key = chance.choice(keys)
            if isinstance(holder[key], (dict, list)) and holder[key] and chance.random() < 0.8:
                holder = holder[key]
                continue
            _change(chance, holder, key, other)
            break
    return found


def _change(chance: Random, holder: Any, key: Any, other: Any) -> None:
    how = chance.randrange(5)
    if how == 0:
        del holder[key]
    elif how == 1 and isinstance(holder[key], str):
        holder[key] = text(chance, (holder[key],))
    elif how == 2 and isinstance(holder, dict):
        holder[chance.choice(("", "x", "none", "set", "when", 3, None, True))] = holder.pop(key)
    elif how == 3 and isinstance(other, dict) and other:
        holder[key] = copy.deepcopy(chance.choice(list(other.values())))
    else:
        holder[key] = copy.deepcopy(chance.choice(VALUES))


def program(chance: Random, corpus: Sequence[str]) -> str:
    """A valid program: pieces of the corpus in each other's places."""
    tree = copy.deepcopy(chance.choice(_trees(tuple(corpus))))
    statements, expressions = _pieces(tuple(corpus))
    for _ in range(chance.choice((1, 1, 2, 4, 8))):
        places = [
            (node, name, index)
            for node in ast.walk(tree)
            for name, value in ast.iter_fields(node)
            for index in (range(len(value)) if isinstance(value, list) else (None,))
        ]
        holder, name, index = chance.choice(places)
        value = getattr(holder, name)
        now = value if index is None else value[index]
        new: list[Any]
        if isinstance(now, ast.expr):
            new = [copy.deepcopy(chance.choice(expressions))]
        elif isinstance(now, ast.stmt):
            new = copy.deepcopy(chance.sample(statements, chance.choice((1, 1, 2))))
            new += chance.choice(([], [now]))
        else:
            continue
        if index is None:
            setattr(holder, name, new[0])
        else:
            value[index : index + 1] = new
    try:
        return ast.unparse(tree)
    except (ValueError, TypeError, AttributeError):  # a name that is no name any more
        return ast.unparse(chance.choice(_trees(tuple(corpus))))


@cache
def _trees(corpus: tuple[str, ...]) -> tuple[ast.Module, ...]:
    return tuple(map(ast.parse, corpus))


_ODD = """
for x in y: break
else: cfg = x
while cfg: cfg = cfg.next
with open(x) as f, g: return_ = f
try: raise E
except* E as e: del e
async def f(): await g(); yield 1
def f(a, /, b=1, *c, d, **e): return f(*c, **e)
class C(B, metaclass=M): x: int = 1; __slots__ = ("x",)
match cfg:
    case {"a": [1, *r], **k} if r: pass
    case C(x=1) | None: pass
global cfg
lambda x=cfg: (yield)
[x for x in range(10**9) if (y := x)]
{**a, "b": [*c]}
cfg.ddp, *cfg.rest = cfg.rest, cfg.ddp
cfg.model[1:2, ...] @= not x < y < z
f"{cfg!r:>{width}}"
exec("import os; os.system('touch executed')")
eval("1" * 100)
__import__("os").system("touch executed")
2 ** 10 ** 10
"x" * 10 ** 10
[0] * 10 ** 10
1 << 10 ** 10
setattr(cfg, "ddp", cfg)
cfg.__dict__.update(cfg=cfg)
cfg.model = cfg
cfg = [cfg, cfg] * 1000
""".replace("except*", "except")


@cache
def _pieces(corpus: tuple[str, ...]) -> tuple[list[ast.stmt], list[ast.expr]]:
    nodes = [node for tree in (*_trees(corpus), ast.parse(_ODD)) for node in ast.walk(tree)]
    statements = [node for node in nodes if isinstance(node, ast.stmt)]
    return statements, [node for node in nodes if isinstance(node, ast.expr) and not isinstance(node, ast.Starred)]
