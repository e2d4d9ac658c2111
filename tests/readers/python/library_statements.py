"""Random statements in the words of the standard library: what people write settings with, besides assignments."""

# The tables of forms are easier to read in long lines.
# ruff: noqa: E501

from __future__ import annotations

from tests.readers.python.expressions import CLASS_OF, SECTIONS, Scope, expression, lasting, section

IMPORTS = """\
import bisect
import collections
import heapq
import operator
import threading
import types
import weakref
from collections import ChainMap, defaultdict, deque, namedtuple
from unittest import mock
"""

CHANGES = (
    "setattr(operator.attrgetter('{s}')({c}), '{n}', {v})",
    "operator.setitem(vars({o}), '{n}', {v})",
    "list(itertools.starmap(lambda n, v: setattr({o}, n, v), [('{n}', {v})]))",
    "itertools.starmap(setattr, [({o}, '{n}', {v})])",
    "map(lambda v: setattr({o}, '{n}', v), [{v}])",
    "list(map(lambda v: setattr({o}, '{n}', v), [{v}]))",
    "any(setattr({o}, '{n}', v) for v in [{v}])",
    "(setattr({o}, '{n}', v) for v in [{v}])",
    "for {x}, {y} in ChainMap({{'{n}': {v}}}, {{'{n}': None}}).items():\n    setattr({o}, {x}, {y})",
    "{x} = defaultdict(dict)\n{x}['{s}']['{n}'] = {v}\nfor {y}, {z} in {x}.items():\n    for {w} in {z}:\n        setattr(getattr({c}, {y}), {w}, {z}[{w}])",
    "{x} = defaultdict(list)\n{x}['{n}'].append({v})\nsetattr({o}, '{n}', {x}['{n}'][-1])",
    "{x} = deque([('{n}', {v})])\nwhile {x}:\n    setattr({o}, *{x}.popleft())",
    "{x} = []\nheapq.heappush({x}, (2, '{n}'))\nheapq.heappush({x}, (1, '{n}'))\nif heapq.heappop({x})[0] == 1:\n    {o}.{n} = {v}",
    "{x} = threading.Thread(target=setattr, args=({o}, '{n}', {v}))\n{x}.start()\n{x}.join()",
    "threading.Thread(target=setattr, args=({o}, '{n}', {v}))",
    "with mock.patch.object({o}, '{n}', {v}):\n    {x} = {o}.{n}\n{o}.{n} = {x}",
    "with mock.patch.object({o}, '{n}', {v}):\n    pass",
    "with mock.patch.dict(os.environ, {{'NCCL_B': 'patched'}}):\n    {o}.{n} = {v}",
    "with contextlib.ExitStack() as {x}:\n    {x}.callback(setattr, {o}, '{n}', {v})\n    {o}.{n} = None",
    "with contextlib.nullcontext({o}) as {x}:\n    {x}.{n} = {v}",
    "weakref.proxy({o}).{n} = {v}",
    "functools.reduce(lambda o, p: (setattr(o, *p), o)[1], [('{n}', {v})], {o})",
    "for {x}, {y} in vars(types.SimpleNamespace({n}={v})).items():\n    setattr({o}, {x}, {y})",
    "{x} = namedtuple('Row', '{n} other')({v}, 1)._replace(other=2)\nsetattr({o}, {x}._fields[0] if False else '{n}', {x}[0])",
    "for {x}, {y} in namedtuple('Row', '{n}')({v})._asdict().items():\n    setattr({o}, {x}, {y})",
    "{c}.{s} = dataclasses.replace({o}, {n}={v})",
    "{c}.{s} = replace({c}.{s}, **{{'{n}': {v}}})",
    "match {{'{n}': {v}, 'kind': 'x'}}:\n    case {{'{n}': {x}, **{y}}}:\n        {o}.{n} = {x}\n    case _:\n        {o}.{n} = None",
    "match [{v}, 1, 2]:\n    case [{x}, *{y}] if len({y}) == 2:\n        {o}.{n} = {x}",
    "match ('{n}', {v}):\n    case ('other', {x}) | ('{n}', {x}):\n        {o}.{n} = {x}",
    "match {v}:\n    case bool():\n        {o}.{n} = {v}\n    case int({x}) | str({x}):\n        {o}.{n} = {x}\n    case None | [] | {{}}:\n        pass\n    case _:\n        {o}.{n} = {v}",
    "for {x}, {y} in (('{n}', {v}), ('{n}', {v})):\n    setattr({o}, {x}, {y})",
    "for {x} in dataclasses.fields({o}):\n    if {x}.name == '{n}':\n        setattr({o}, {x}.name, {v})",
    "try:\n    {o}.{n} = {v}\n    raise KeyError('late')\nexcept LookupError:\n    pass",
    "try:\n    raise ValueError('early')\n    {o}.{n} = None\nexcept (KeyError, ValueError) as {x}:\n    {o}.{n} = {v}\nfinally:\n    {y} = 1",
    "try:\n    try:\n        [][1]\n    except IndexError:\n        raise\nexcept LookupError:\n    {o}.{n} = {v}",
    "if ({x} := {v}) is not None:\n    {o}.{n} = {x}",
    "{x}, *{y} = [{v}, 1, 2]\n{o}.{n} = {x}",
    "@functools.singledispatch\ndef {x}(value, owner):\n    owner.{n} = None\n@{x}.register\ndef _(value: str, owner):\n    owner.{n} = {v}\n{x}('a', {o})",
    "@functools.wraps(setattr)\ndef {x}(*a):\n    return setattr(*a)\n{x}({o}, '{n}', {v})",
    "class {X}:\n    def __init__(self, owner):\n        self.owner = owner\n    def __setitem__(self, key, value):\n        setattr(self.owner, key, value)\n    def __iadd__(self, pair):\n        self.owner.{n} = pair\n        return self\n{x} = {X}({o})\n{x}['{n}'] = None\n{x} += {v}",
    "class {X}:\n    @functools.cached_property\n    def made(self):\n        return [None]\n{x} = {X}()\n{x}.made[0] = {v}\n{o}.{n} = {x}.made[0]",
    "def {x}():\n    yield '{n}', {v}\nfor {y}, {z} in {x}():\n    setattr({o}, {y}, {z})",
    "{o}.{n} = next(iter([{v}]), None)",
    "eval('setattr')({o}, '{n}', {v})",
)  # fmt: skip


def by_library(scope: Scope) -> bool:
    """Write a change of a setting by the standard library; False where there is none to write here."""
    if not scope.types["cfg"] or scope.handed:
        return False
    fields = [
        (owner, name, kind)
        for owner, cls in CLASS_OF.items()
        for name, kind in SECTIONS[cls].items()
        if kind not in SECTIONS and owner in ("ddp", "checkpoint", "model", "train")
    ]
    owner, name, kind = fields[scope.pick(len(fields))]
    config = scope.types["cfg"][scope.pick(len(scope.types["cfg"]))]
    scope.plain += 1
    value = lasting(scope, kind, expression(scope, kind, 1))
    scope.plain -= 1
    own = [scope.new("opt") for _ in range(4)]
    form = CHANGES[scope.pick(len(CHANGES))]
    subject = f"{config}.{owner}" if scope.pick(3) else section(scope, owner)
    text = form.format(
        c=config, s=owner, o=subject, n=name, v=f"({value})", x=own[0], y=own[1], z=own[2], w=own[3], X=own[0].title()
    )
    for line in text.split("\n"):
        scope.line(line)
    return True
