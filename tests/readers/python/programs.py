"""Random recipe programs, out of everything that real recipes are written with.

`write(pick)` makes one program. `pick(n)` gives a number from 0 to n - 1: hypothesis's in the tests, so that a failing
program shrinks, and a seeded generator's in the long campaign. Programs are typed loosely, so that most of them run
to their end, but nothing keeps them from raising.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from tests.readers.python.expressions import CLASS_OF, SECTIONS, Scope, expression, section
from tests.readers.python.library_statements import IMPORTS
from tests.readers.python.statements import block

Pick = Callable[[int], int]

VALUES: Mapping[str, tuple[Any, ...]] = {
    "bool": (True, False),
    "int": (0, 1, 7, -3),
    "str": ("", "a", "fp8_mx"),
    "opt": (None, "b", ""),
    "ints": ([], [3, 1, 2]),
    "table": ({}, {"tp": 3}, {"iters": 2, "a": 1}),
    "name": ("tp", "iters", "zz"),
    "kind": ("DENSE", "MOE", "HYBRID"),
    "cfg": ("ConfigContainer",),
    "cfg or none": (None, "ConfigContainer"),
    **{kind: (cls,) for kind, cls in CLASS_OF.items()},
}
"""What the unknowns of a program turn out to be when it is run, by type; members and classes by their names."""

PLAIN = ("bool", "int", "str", "opt", "ints", "table", "name")

PRELUDE = (
    """\
import contextlib
import copy
import dataclasses
import enum
import functools
import itertools
import math
import os
from dataclasses import dataclass, field, replace
"""
    + IMPORTS
)

OUTSIDE = "from outside_world import chosen, perhaps, probe, shake\n"

ENUMS = """
class Kind(enum.Enum):
    DENSE = "dense"
    MOE = "moe"
    HYBRID = "hybrid"

class Level(str, enum.Enum):
    LOW = "low"
    HIGH = "high"

    def next(self):
        return Level.HIGH if self is Level.LOW else Level.LOW

class Rank(enum.IntEnum):
    FIRST = 1
    SECOND = 2
"""

POST_INIT = (
    "if self.{bool}:\n            self.{int} += 1",
    "self.{str} = self.{str} or 'made'",
    "if self.{int} > 2 and not self.{bool}:\n            self.{str} = f'{{self.{int}}}x'",
    "self.{int} = max(self.{int}, len(self.{str}))",
    "for _ in range(2):\n            self.{int} += 2",
    "if self.{int} < 0:\n            raise ValueError('negative')",
    "object.__setattr__(self, '{int}', self.{int} * 2)",
    "assert self.{str} is not None, 'no text'",
    "super().__post_init__() if hasattr(super(), '__post_init__') else None",
)
METHODS = (
    "@property\n    def double(self):\n        return self.{int} * 2",
    "@property\n    def label(self):\n        return f'{{self.{str}}}-{{self.{int}}}'",
    "def bump(self, by=1, *, times=1):\n        self.{int} += by * times\n        return self",
    "@classmethod\n    def preset(cls, **overrides):\n        return cls(**{{'{int}': 3, **overrides}})",
    "@staticmethod\n    def scale(value, factor=2):\n        return value * factor",
    "def __bool__(self):\n        return self.{bool}",
    "def __setattr__(self, name, value):\n        if name == '{int}' and value is None:\n            value = 9\n"
    "        super().__setattr__(name, value)",
    "def __setattr__(self, name, value):\n        object.__setattr__(self, name, value)\n"
    "        if name == '{bool}':\n            object.__setattr__(self, 'touched', value)",
    "def __getattr__(self, name):\n        if name == 'phantom':\n            return self.{int}\n"
    "        raise AttributeError(name)",
    "def __eq__(self, other):\n        return isinstance(other, type(self)) and self.{int} == other.{int}",
    "def __len__(self):\n        return self.{int} % 3",
    "def __getitem__(self, key):\n        return getattr(self, key)",
    "def __contains__(self, key):\n        return hasattr(self, key)",
    "def __call__(self, value):\n        self.{int} = value\n        return value",
)

TACIT = tuple(form for form in METHODS if "def bump" in form or "def __call__" in form or "value is None" in form)
"""Methods that change their object: of an object that is not known, a call is taken to leave it as it is."""


@dataclass(frozen=True)
class Program:
    """A program, and the types of what is not known of it: `recipe`'s parameters and the answers of `probe`."""

    text: str
    unknown: Mapping[str, str] = field(default_factory=dict)
    probed: Mapping[str, str] = field(default_factory=dict)

    @property
    def handed(self) -> bool:
        """Whether it is given configurations, or parts of them, that somebody else made."""
        return not {"cfg", "cfg or none", *CLASS_OF}.isdisjoint((*self.unknown.values(), *self.probed.values()))

    @property
    def decided(self) -> bool:
        """Whether nothing of the program is unknown."""
        return not self.unknown and not self.probed

    @property
    def asks_environment(self) -> bool:
        """Whether it falls back to a default where a variable is not set: what is said of it holds for the default."""
        return any(word in self.text for word in ("environ.get", "environ.setdefault", "environ.pop", "getenv"))


def write(pick: Pick) -> Program:
    """One random program."""
    world = pick(5)
    scope = Scope(pick, open_world=world > 1, handed=world > 2)
    scope.lines.extend((PRELUDE + (OUTSIDE if scope.open_world else "") + ENUMS).splitlines())
    _managers(scope)
    _classes(scope)
    _module_level(scope)
    for _ in range(pick(4)):
        _helper(scope)
    if pick(3) == 0:
        _recipe_class(scope)
    _recipe(scope)
    return Program("\n".join(scope.lines) + "\n", dict(scope.unknown), dict(scope.probed))


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Random programs that shrink."""
    numbers = {n: st.integers(0, n - 1) for n in range(1, 100)}
    return write(lambda n: draw(numbers[n]))


# -- classes --------------------------------------------------------------------------------------------------------


def _classes(scope: Scope) -> None:
    for name, fields in SECTIONS.items():
        _section_class(scope, name, fields)
    keyword_only = scope.pick(6) == 0
    scope.line("@dataclass(kw_only=True)" if keyword_only else "@dataclass")
    scope.line("class ConfigContainer:")
    with scope.indented():
        for name, attribute in (("DDP", "ddp"), ("Checkpoint", "checkpoint"), ("Model", "model"), ("Train", "train")):
            made = (name, f"lambda: {name}({_arguments(scope, name, 1)})")[scope.pick(4) == 0]
            scope.line(f"{attribute}: {name} = field(default_factory={made})")
        scope.line("note: str = ''")
        scope.line("extra: dict = field(default_factory=dict)")
        if scope.pick(3) == 0:
            scope.line("def __post_init__(self):")
            with scope.indented():
                scope.types["cfg"] = ["self"]
                block(scope, 1 + scope.pick(2), simple=True)
                scope.types["cfg"] = []
    scope.line("")


def _section_class(scope: Scope, name: str, fields: Mapping[str, str]) -> None:
    pick = scope.pick
    names = list(fields)
    split = pick(len(names)) if pick(3) == 0 else 0
    base = ""
    if split:
        scope.line("@dataclass")
        scope.line(f"class {name}Base:")
        with scope.indented():
            for one in names[:split]:
                _field(scope, one, fields[one])
            _extras(scope, fields, names[:split])
        base = f"({name}Base)"
    scope.line(("@dataclass", "@dataclass", "@dataclass(kw_only=True)", "@dataclasses.dataclass()")[pick(4)])
    scope.line(f"class {name}{base}:")
    with scope.indented():
        for one in names[split:] + ([names[0]] if split and pick(3) == 0 else []):
            _field(scope, one, fields[one])
        if pick(4) == 0:
            scope.line(f"limit = {expression(scope, 'int', 1)}")
        _extras(scope, fields, names)
    scope.line("")


def _field(scope: Scope, name: str, kind: str) -> None:
    pick = scope.pick
    if kind in SECTIONS:
        scope.line(f"{name}: {kind} = field(default_factory={kind})")
    elif kind in ("ints", "table"):
        scope.line(f"{name}: {kind!r} = field(default_factory=lambda: {expression(scope, kind, 1)})")
    elif pick(6) == 0:
        scope.line(f"{name}: {kind!r} = field(default={expression(scope, kind, 1)})")
    else:
        scope.line(f"{name}: {kind!r} = {expression(scope, kind, pick(2))}")


def _extras(scope: Scope, fields: Mapping[str, str], have: list[str]) -> None:
    by_type = {kind: next((one for one in have if fields[one] == kind), None) for kind in ("bool", "int", "str")}
    if None in by_type.values():
        return
    pick = scope.pick
    if pick(3) == 0:
        scope.line("def __post_init__(self):")
        with scope.indented():
            for _ in range(1 + pick(2)):
                scope.line(POST_INIT[pick(len(POST_INIT))].format_map(by_type))
    written: set[str] = set()
    for _ in range(pick(3)):
        form = METHODS[pick(len(METHODS))]
        if scope.handed and form in TACIT:
            continue
        method = form.format_map(by_type)
        name = method.split("def ")[1].split("(")[0]
        if name not in written:
            written.add(name)
            for line in method.split("\n    "):
                scope.line(line)


def _arguments(scope: Scope, name: str, depth: int) -> str:
    return ", ".join(
        f"{one}={expression(scope, kind, depth)}"
        for one, kind in SECTIONS[name].items()
        if kind not in SECTIONS and scope.pick(3) == 0
    )


# -- module level ---------------------------------------------------------------------------------------------------

MANAGERS = """
@contextlib.contextmanager
def patched(owner, name, value):
    old = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield old
    finally:
        setattr(owner, name, old)

@contextlib.contextmanager
def noted(log):
    log.append(1)
    yield log
    log.append(2)

class Quiet:
    def __init__(self, *kinds):
        self.kinds = kinds
        self.entered = 0

    def __enter__(self):
        self.entered += 1
        return self

    def __exit__(self, kind, value, trace):
        return kind is not None and issubclass(kind, self.kinds)

def traced(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper

def repeated(times):
    def decorate(function):
        def wrapper(*args, **kwargs):
            result = None
            for _ in range(times):
                result = function(*args, **kwargs)
            return result
        return wrapper
    return decorate

def short(text):
    return text[:12] if text else text

def kept(cfg, flag):
    if flag:
        return cfg

def switch(cfg, flag, name=None):
    if flag:
        cfg.ddp.use_megatron_fsdp = True
        cfg.checkpoint.ckpt_format = name or 'fsdp_dtensor'
    return cfg

class Box:
    def __init__(self, cfg):
        self.cfg = cfg
        self.all = [cfg]

    def change(self, number):
        self.cfg.train.iters = number
        for cfg in self.all:
            cfg.model.tp += 1

def counting(limit, step=1):
    value = 0
    while value < limit:
        yield value
        value += step
"""


def _managers(scope: Scope) -> None:
    scope.lines.extend(MANAGERS.splitlines())


def _module_level(scope: Scope) -> None:
    for kind in ("int", "str", "ints", "table", "bool"):
        if scope.pick(2) == 0:
            name = f"G_{kind.upper()}"
            scope.line(f"{name} = {expression(scope, kind, 2)}")
            scope.types[kind].append(name)
            scope.globals.append((name, kind))
    if scope.pick(4) == 0:
        scope.line("PRESETS = {'small': dict(cp=1, tp=2), 'large': dict(cp=4, tp=8)}")
        scope.presets = True
    if scope.pick(6) == 0:
        scope.line("G_CFG = ConfigContainer()")
        scope.types["cfg"].append("G_CFG")
    if scope.pick(4) == 0 and scope.globals:
        block(scope, 1, simple=True)


KINDS = ("int", "str", "bool", "ints", "opt")
RETURNS = ("int", "str", "bool", "ints", "table", "cfg", "ddp", "model", "none", "gen")


def _helper(scope: Scope) -> None:
    pick = scope.pick
    returns = RETURNS[pick(len(RETURNS))]
    name = ("_", "")[pick(3) == 0] + f"{returns}_helper{len(scope.functions)}"
    subject = ("", "cfg", "ddp", "model", "ints", "table")[pick(6)]
    parameters = [("s", subject)] if subject else []
    parameters += [(f"a{index}", KINDS[pick(len(KINDS))]) for index in range(pick(3))]
    written = [
        one if index == 0 and subject else _parameter(scope, one, kind) for index, (one, kind) in enumerate(parameters)
    ]
    # Once a parameter has a default, all behind it have one.
    seen = False
    for index, one in enumerate(written):
        seen = seen or "=" in one
        if seen and "=" not in one:
            written[index] = f"{one}={expression(scope, parameters[index][1], 1)}"
    inner = scope.inside(dict(parameters))
    star = pick(5)
    if star == 0:
        written.append("*rest")
        inner.types["tuple"].append("rest")
    if pick(3) == 0:
        written.extend(["k=1"] if star == 0 else ["*", "k=1"])
        inner.types["int"].append("k")
    if pick(5) == 0:
        written.append("**more")
        inner.types["kwargs"].append("more")
    decorator = ("", "", "", "@traced", "@repeated(2)", "@functools.lru_cache(None)" if not subject else "")[pick(6)]
    if decorator and not (decorator == "@functools.lru_cache(None)" and any(kind == "ints" for _, kind in parameters)):
        scope.line(decorator)
    scope.line(f"def {name}({', '.join(written)}):")
    with inner.indented():
        inner.returns = returns if returns in ("int", "str", "bool", "ints", "table", "cfg", "none") else None
        block(inner, 1 + pick(4))
        if returns == "gen":
            block(inner, 1)
            inner.line(f"yield {expression(inner, 'int', 1)}")
            if pick(2) == 0:
                inner.line(f"yield from {expression(inner, 'ints', 1)}")
        elif returns == "none":
            inner.line("return None")
        elif returns in ("cfg", "ddp", "model"):
            inner.line(f"return {section(inner, returns)}")
        else:
            inner.line(f"return {expression(inner, returns, 2)}")
    scope.line("")
    scope.functions.append((name, returns, parameters, star == 0))


def _parameter(scope: Scope, name: str, kind: str) -> str:
    return name if scope.pick(2) == 0 else f"{name}={expression(scope, kind, 1)}"


def _recipe_class(scope: Scope) -> None:
    pick = scope.pick
    scope.line("class Base:")
    with scope.indented():
        # Class bodies run when they are first needed, so nothing here may call what changes something.
        scope.line(f"size = {pick(5)}")
        scope.line("def __init__(self, cfg=None, **options):")
        scope.line("    self.cfg = cfg or ConfigContainer()")
        scope.line("    self.options = options")
        scope.line("def prepare(self):")
        _method(scope, 1)
        scope.line("def build(self):")
        scope.line("    self.prepare()")
        scope.line("    self.finish()")
        scope.line("    return self.cfg")
        scope.line("def finish(self):")
        scope.line("    self.cfg.train.iters += self.size")
    if pick(2) == 0:
        scope.line("class Mixin:")
        scope.line("    def finish(self):")
        scope.line("        super().finish()")
        scope.line("        self.cfg.note += 'm'")
        scope.line("class Special(Mixin, Base):")
    else:
        scope.line("class Special(Base):")
    with scope.indented():
        if pick(2) == 0:
            scope.line(f"size = Base.size + {pick(4)}")
        scope.line("def prepare(self):")
        with scope.indented():
            if pick(2) == 0:
                scope.line("super().prepare()")
            scope.line("for name, value in self.options.items():")
            scope.line("    setattr(self.cfg.model, name, value)")
        _method(scope, 1)
    scope.line("")
    scope.recipe_class = True


def _method(scope: Scope, size: int) -> None:
    inner = scope.inside({"self.cfg": "cfg"})
    with inner.indented():
        block(inner, size + scope.pick(2), simple=True)


def _recipe(scope: Scope) -> None:
    pick = scope.pick
    parameters: list[tuple[str, str]] = []
    if scope.open_world:
        parameters = [(f"u{index}", PLAIN[pick(len(PLAIN))]) for index in range(1 + pick(3))]
        if pick(8) == 0:
            parameters.append(("part", list(CLASS_OF)[pick(len(CLASS_OF))]))
    written = [name for name, _ in parameters]
    inner = scope.inside(dict(parameters))
    inner.repeated = False
    handed = HANDED[pick(len(HANDED))] if scope.handed and pick(4) else None
    if handed is not None:
        parameters.append(("cfg", handed.kind))
        written.append(f"cfg{handed.annotation}")
    scope.unknown.update(parameters)
    for index in range(pick(3)):
        kind = KINDS[pick(len(KINDS))]
        default = expression(scope, kind, 1)
        written.append(f"d{index}={default}")
        inner.types[kind].append(f"d{index}")
    scope.line(f"def recipe({', '.join(written)}){' -> ConfigContainer' if pick(3) == 0 else ''}:")
    with inner.indented():
        if handed is not None:
            made = section(inner, "cfg", fresh=True)
            inner.line(handed.start.format(made=made, flag=f"({expression(inner, 'bool', 1)})"))
        elif scope.recipe_class and pick(2) == 0:
            inner.line(f"cfg = {('Special', 'Base')[pick(4) == 0]}({('', 'tp=3', 'cp=1, pp=2')[pick(3)]}).build()")
        else:
            inner.line(f"cfg = {section(inner, 'cfg', fresh=True)}")
        if scope.handed:
            # Else it may be a function that hands on one configuration, whatever becomes of another: a launcher.
            inner.line("cfg.ddp.bucket = 3")
        inner.types["cfg"].insert(0, "cfg")
        inner.returns = "cfg" if handed is None or handed.returned else "none"
        block(inner, 3 + pick(8))
        if inner.returns == "cfg":
            inner.line("return cfg")


@dataclass(frozen=True)
class Handed:
    """How a recipe takes the configuration `cfg` that somebody hands in."""

    start: str
    kind: str = "cfg"
    annotation: str = ""
    returned: bool = True


HANDED = (
    Handed("pass"),
    Handed("pass", annotation=": ConfigContainer"),
    Handed("pass", annotation=": 'ConfigContainer'"),
    Handed("pass", returned=False),
    Handed("pass", annotation=": ConfigContainer", returned=False),
    Handed("given = cfg\ncfg = copy.deepcopy(given)"),
    Handed("cfg = replace(cfg, note='own')", annotation=": ConfigContainer"),
    Handed("if {flag}:\n    cfg = {made}"),
    Handed("cfg = {made} if {flag} else cfg"),
    Handed("cfg = cfg or {made}", "cfg or none"),
    Handed("cfg = cfg or {made}", "cfg or none", ": ConfigContainer | None"),
    Handed("if cfg is None:\n    cfg = {made}", "cfg or none"),
    Handed("if not cfg:\n    cfg = {made}", "cfg or none", ": ConfigContainer | None"),
    Handed("cfg = {made} if cfg is None else cfg", "cfg or none"),
    Handed("if cfg is None or {flag}:\n    cfg = {made}", "cfg or none"),
    Handed("if cfg is None:\n    return {made}", "cfg or none"),
)
"""`{made}` is a configuration of the recipe's own, `{flag}` a condition."""
