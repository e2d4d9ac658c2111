"""Random expressions of a given type, in what is in scope."""

# The tables of forms are easier to read in long lines.
# ruff: noqa: E501

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

SECTIONS: Mapping[str, Mapping[str, str]] = {
    "Moe": {"experts": "int", "shared": "bool", "router": "str", "kind": "kind"},
    "DDP": {"use_megatron_fsdp": "bool", "overlap": "bool", "bucket": "int", "strategy": "str", "sizes": "ints"},
    "Checkpoint": {"ckpt_format": "str", "save": "opt", "load": "opt", "interval": "int", "async_save": "bool"},
    "Model": {"tp": "int", "pp": "int", "cp": "int", "recompute": "opt", "name": "str", "fused": "bool", "layers": "ints",
              "moe": "Moe", "table": "table"},
    "Train": {"iters": "int", "micro": "int", "title": "str", "resume": "bool"},
}  # fmt: skip
"""The configuration classes and the types of their fields."""

CONTAINER: Mapping[str, str] = {
    "ddp": "DDP", "checkpoint": "Checkpoint", "model": "Model", "train": "Train", "note": "str", "extra": "table",
}  # fmt: skip
"""The fields of a whole configuration."""

CLASS_OF = {"ddp": "DDP", "checkpoint": "Checkpoint", "model": "Model", "train": "Train", "moe": "Moe"}
WORDS = ("'a'", "'fp8_mx'", "''", "'torch_dist'", "'x/y'", "'B'")
KEYS = ("a", "b", "c")


class Scope:
    """What a program has so far, and what the code being written can use."""

    def __init__(self, pick: Callable[[int], int], open_world: bool, handed: bool = False) -> None:
        self.pick = pick
        self.open_world = open_world
        self.handed = handed
        self.lines: list[str] = []
        self.depth = 0
        self.types: dict[str, list[str]] = defaultdict(list)
        self.unknown: dict[str, str] = {}
        self.probed: dict[str, str] = {}
        self.functions: list[tuple[str, str, list[tuple[str, str]], bool]] = []
        self.globals: list[tuple[str, str]] = []
        self.presets = False
        self.recipe_class = False
        self.returns: str | None = None
        self.names = [0]
        self.local = False
        self.plain = 0
        self.repeated = False
        self.outside: set[str] = set()

    def inside(self, parameters: Mapping[str, str]) -> Scope:
        """The scope of a function of this program."""
        inner = Scope(self.pick, self.open_world, self.handed)
        for name in ("lines", "unknown", "probed", "functions", "globals", "presets", "names", "depth", "recipe_class"):
            setattr(inner, name, getattr(self, name))
        inner.local = inner.repeated = True
        for kind, names in self.types.items():
            inner.types[kind] = list(names)
            # A function that binds a name of the module's has no other value of it before.
            inner.outside.update(names)
        for name, kind in parameters.items():
            inner.outside.discard(name)
            inner.types[kind].append(name)
        return inner

    def line(self, text: str) -> None:
        """Write a line (or several) at the present depth."""
        self.lines.extend("    " * self.depth + one for one in text.split("\n"))

    @contextmanager
    def indented(self, repeated: bool = False) -> Iterator[None]:
        """A block: names that are first bound in it are not used behind it (mostly: a few may be)."""
        saved = {kind: list(names) for kind, names in self.types.items()}
        once, self.repeated = self.repeated, self.repeated or repeated
        self.depth += 1
        yield
        self.depth -= 1
        self.repeated = once
        if self.pick(12) == 0 and self.depth:
            return
        self.types.clear()
        self.types.update(saved)

    def new(self, kind: str) -> str:
        """A new name of a type (not yet in scope)."""
        self.names[0] += 1
        return f"{kind[:2]}{self.names[0]}"


def section(scope: Scope, kind: str, fresh: bool = False) -> str:
    """An object of the configuration tree: one in scope, or a new one."""
    pick = scope.pick
    if kind == "cfg":
        if _asks_outside(scope, 12):
            return _probe(scope, "cfg")
        made = [name for name, returns, parameters, _ in scope.functions if returns == "cfg"]
        if made and pick(2) == 0:
            return call(scope, made[pick(len(made))])
        if scope.types["cfg"] and (not fresh or pick(4) == 0):
            name = scope.types["cfg"][pick(len(scope.types["cfg"]))]
            return f"copy.deepcopy({name})" if fresh else name
        return (
            "ConfigContainer()",
            f"ConfigContainer(ddp={construct(scope, 'ddp')})",
            f"ConfigContainer(**dict(model={construct(scope, 'model')}, note={expression(scope, 'str', 1)}))",
            f"ConfigContainer(train={construct(scope, 'train')}, checkpoint={construct(scope, 'checkpoint')})",
        )[pick(4)]
    if _asks_outside(scope, 24):
        return _probe(scope, kind)
    aliases = scope.types[kind]
    if aliases and not fresh and pick(2) == 0:
        return aliases[pick(len(aliases))]
    if scope.types["cfg"] and not fresh and pick(4):
        name = scope.types["cfg"][pick(len(scope.types["cfg"]))]
        return f"{name}.model.moe" if kind == "moe" else f"{name}.{kind}"
    return construct(scope, kind)


def _asks_outside(scope: Scope, seldom: int) -> bool:
    return scope.handed and scope.local and scope.pick(seldom) == 0


def lasting(scope: Scope, kind: str, value: str) -> str:
    """A value that is kept where it may be worked out again from itself: cut, so that none doubles again and again."""
    if not scope.repeated or kind not in ("str", "opt", "ints") or len(value) < 9:
        return value
    return f"short({value})" if kind == "opt" else f"({value})[:12]"


def construct(scope: Scope, kind: str) -> str:
    """A new object of a section's class."""
    pick = scope.pick
    cls = CLASS_OF[kind]
    given = [
        (name, lasting(scope, type_, expression(scope, type_, 1)))
        for name, type_ in SECTIONS[cls].items()
        if type_ not in SECTIONS and pick(4) == 0
    ]
    keywords = [f"{name}={value}" for name, value in given]
    entries = ", ".join(f"{name!r}: {value}" for name, value in given)
    made = f"{cls}({', '.join(keywords)})"
    if scope.types["cfg"] and pick(3) == 0:
        old = f"{scope.types['cfg'][0]}.{kind if kind != 'moe' else 'model.moe'}"
        old = section(scope, kind) if pick(2) == 0 else old
        return (
            f"replace({', '.join([old, *keywords])})",
            f"dataclasses.replace({old}, **{{{entries}}})",
            f"copy.copy({old})",
            f"copy.deepcopy({old})",
            f"{cls}(**dataclasses.asdict({old}))" if kind != "model" else made,
            f"({old} if ({expression(scope, 'bool', 1)}) else {made})",
        )[pick(6)]
    if pick(8) == 0:
        return f"functools.partial({', '.join([cls, *keywords])})()"
    return made


def call(scope: Scope, name: str) -> str:
    """A call of one of the program's functions."""
    pick = scope.pick
    _, _, parameters, star = next(one for one in scope.functions if one[0] == name)
    positional: list[str] = []
    named: list[str] = []
    by_name = False
    for one, kind in parameters:
        value = section(scope, kind) if kind in ("cfg", *CLASS_OF) else expression(scope, kind, 1)
        by_name = by_name or (pick(3) == 0 and not star)
        (named if by_name else positional).append(f"{one}={value}" if by_name else value)
    if positional and pick(6) == 0:
        positional = [f"*[{', '.join(positional)}]"]
    if named and pick(4) == 0:
        named = [f"**{{{', '.join(repr(one.partition('=')[0]) + ': ' + one.partition('=')[2] for one in named)}}}"]
    text = f"{name}({', '.join([*positional, *named])})"
    if pick(8) == 0:
        return f"functools.partial({', '.join([name, *positional])})({', '.join(named)})"
    return text


def expression(scope: Scope, kind: str, depth: int) -> str:
    """An expression of a type. `depth` bounds how much is inside it."""
    pick = scope.pick
    leaves = LEAVES[kind]
    names = scope.types[kind]
    if depth <= 0 or pick(4) == 0:
        if names and pick(3):
            return names[pick(len(names))]
        return leaves[pick(len(leaves))]
    if scope.open_world and scope.local and pick(12) == 0 and kind in ("int", "bool", "str", "opt"):
        return _probe(scope, kind)
    fields = [
        (owner, name) for owner, cls in CLASS_OF.items() for name, type_ in SECTIONS[cls].items() if type_ == kind
    ]
    if fields and scope.types["cfg"] and pick(4) == 0:
        owner, name = fields[pick(len(fields))]
        subject = section(scope, owner)
        if pick(5) == 0:
            return f"getattr({subject}, {name!r}, {leaves[0]})"
        return f"{subject}.{name}"
    functions = [one[0] for one in scope.functions if one[1] == kind]
    if functions and pick(6) == 0:
        return call(scope, functions[pick(len(functions))])
    forms = [form for form in FORMS[kind] if ":= " not in form] if scope.plain else FORMS[kind]
    return _fill(scope, forms[pick(len(forms))], depth - 1)


def _probe(scope: Scope, kind: str) -> str:
    key = f"{kind}{scope.pick(3)}"
    scope.probed[key] = kind
    return f"probe({key!r})"


TYPE_MARKS = {"I": "int", "B": "bool", "S": "str", "O": "opt", "L": "ints", "T": "table", "K": "kind"}
QUOTELESS = {
    "int": "3",
    "bool": "True",
    "str": "str(2)",
    "opt": "None",
    "ints": "[1]",
    "table": "{}",
    "kind": "Kind.MOE",
}
"""What stands inside a formatted string where the first choice has quotes (not allowed there before Python 3.12)."""
MARK = re.compile("<([IBSOLTK])>")


def _fill(scope: Scope, form: str, depth: int) -> str:
    """Replace every `<I>`, `<B>`, … of a form by an expression of that type."""
    in_text = form.startswith("f") or " f'" in form or "(f'" in form
    # Python has no `:=` in the source of a comprehension.
    scope.plain += " for " in form

    def fill(mark: re.Match[str]) -> str:
        kind = TYPE_MARKS[mark[1]]
        inner = expression(scope, kind, depth)
        if in_text and any(quote in inner for quote in "'\""):
            inner = QUOTELESS[kind]
        return f"({inner})" if " " in inner or inner.startswith("-") else inner

    text = MARK.sub(fill, form).replace("@W", scope.new("walrus") if "@W" in form else "")
    scope.plain -= " for " in form
    return text


LEAVES: Mapping[str, tuple[str, ...]] = {
    "int": ("0", "1", "2", "3", "5", "-1"),
    "bool": ("False", "True"),
    "str": WORDS,
    "opt": ("None", *WORDS),
    "ints": ("[]", "[1]", "[3, 1, 2]", "[0, 5]"),
    "table": ("{}", "{'a': 1}", "{'a': 2, 'b': 3}", "dict(c=4)"),
    "kind": ("Kind.DENSE", "Kind.MOE", "Kind('moe')", "Kind['HYBRID']"),
}

FORMS: Mapping[str, tuple[str, ...]] = {
    "int": (
        "<I> + <I>", "<I> - <I>", "<I> * <I> % 1009", "<I> * 3", "<I> // 2", "<I> % 3", "-<I>", "abs(<I>)", "min(<I>, <I>)", "max(<I>, <I>, 2)",
        "len(<L>)", "len(<S>)", "sum(<L>)", "<I> if <B> else <I>", "<T>.get('a', <I>)", "(@W := <I>)", "(lambda x: x + 1)(<I>)",
        "sum(x for x in <L> if x > 1)", "{'a': <I>, 'b': <I>}['a']", "<I> or <I>", "<I> and <I>", "int(<B>)", "int(str(<I>))",
        "<I> | 4", "<I> & 6", "<I> ^ 1", "1 << (<I> & 3)", "divmod(<I>, 3)[0]", "round(<I> / 2)", "functools.reduce(lambda x, y: x + y, <L>, 0)",
        "max(*<L>, <I>, 1)", "math.ceil(<I> / 2)", "next((x for x in <L> if x > 1), <I>)", "next(iter(<L>), <I>)", "len(set(<L>))",
        "[<I>, <I>][<B>]", "(<I>, <I>)[-1]", "len({*<L>, <I>})", "max(<L>, default=<I>)", "min([<I>, <I>], key=lambda x: -x)",
        "<L>.count(1)", "<S>.find('a')", "Rank(2).value + <I>", "Rank.FIRST + <I>", "sum(<T>.values())", "len(<T>)",
        "max(<T>.values(), default=0)", "int(<S> == <S>)", "sum(1 for _ in zip(<L>, <L>))", "len(list(itertools.chain(<L>, <L>)))",
        "(lambda x, *y, z=2: x + len(y) + z)(<I>, <I>)", "(lambda *a, **k: len(a) + len(k))(*<L>, q=1)", "functools.partial(max, 1)(<I>, 0)",
        "sum(counting(<I> % 5))", "sum(map(lambda x: x * 2, <L>))", "ord('a') + <I>", "<S>.count('a')", "len(f'{<S>}{<I>}')",
        "int('0b11', 2) + <I>", "<I> ** 2 % 7", "sum(x * y % 1009 for x, y in zip(<L>, <L>))", "len([1 for x in <L> for y in <L> if x < y])",
        "math.gcd(<I>, 6)", "sum((x, y)[0] for x, y in enumerate(<L>))", "{**<T>, 'z': <I>}['z']", "(<T> | {'q': <I>})['q']",
    ),
    "bool": (
        "not <B>", "<B> and <B>", "<B> or <B>", "<I> > <I>", "<I> == <I>", "<I> != 1", "0 <= <I> < 4", "1 < <I> <= 5 != <I>", "<S> == <S>",
        "<S> in ('a', 'b')", "<O> is None", "<O> is not None", "bool(<I>)", "bool(<O>)", "bool(<L>)", "isinstance(<O>, str)", "isinstance(<I>, (str, bool))",
        "<S>.startswith('a')", "<S>.endswith(('x', 'a'))", "any(x > 1 for x in <L>)", "all(<L>)", "any([<B>, <B>])", "<I> in <L>", "'a' in <T>", "'b' not in <T>",
        "<B> if <B> else <B>", "<K> is Kind.MOE", "<K> == Kind.DENSE", "<K> in (Kind.MOE, Kind.HYBRID)", "Level.LOW == 'low'", "Level('high').next() is Level.LOW",
        "hasattr(<K>, 'value')", "callable(<O>)", "<L> == <L>", "<L> < <L>", "<T> == <T>", "<S> < <S>", "'a' in <S>", "<S>.isdigit()", "bool(<S> and <I>)",
        "(<I>, <S>) == (<I>, <S>)", "isinstance(<B>, int)", "type(<I>) is int", "{1, 2} <= {*<L>, 1}", "set(<L>) == {1, 2, 3}", "not (<I> or <O>)",
        "(@W := <B>) and <B>", "True in [<B>, <B>]", "None in [<O>, 'x']", "<O> == 'b'", "<O> in ('b', None)", "Rank.FIRST < <I>", "<B> is True", "<B> == 1", "<I> == True",
        "<B> is not <B>", "bool(<T>)", "{'a': <B>}.get('a')", "isinstance(<T>, dict)", "issubclass(bool, int) and <B>", "<S> is not None", "<B> != <B>", "<B> & <B>", "<B> ^ <B>",
    ),
    "str": (
        "<S> + <S>", "f'{<S>}_{<I>}'", "f'{<I>:03d}'", "f'{<S>!r}'", "f'{<B>}'", "f'{<S>:>8}'", "f'{<I> + 1=}'", "<S>.upper()", "<S>.replace('a', <S>)", "<S>.strip()", "<S>.title()",
        "'-'.join([<S>, <S>])", "','.join(str(x) for x in <L>)", "<S> if <B> else <S>", "os.path.join(<S>, 'c', <S>)", "str(<I>)", "'%s-%d' % (<S>, <I>)", "'{}:{}'.format(<S>, <I>)",
        "<S>[1:]", "<S>[::-1]", "<S>[:<I>]", "<S> or 'x'", "<O> or 'none'", "<S> and <S>", "os.environ.get('UNSET', <S>)", "<K>.value", "<K>.name", "Level.HIGH.value", "str(<B>)",
        "sorted([<S>, 'a'])[0]", "{'a': <S>, 'b': 'q'}.get('a', 'n')", "min(<S>, <S>)", "'ab' * 2", "<S> * (<I> & 1)", "<S>.split('/')[0]", "'x'.join(<S>)", "str(<O>)", "f'{<O>}'",
        "(lambda s='l': s)()", "(lambda s: s * 2)(<S>)", "'a' if <O> is None else <O>", "<S>.lower().capitalize()", "str(None)", "'/'.join(['r', *(<S>, <S>)])", "str(<L>)", "repr(<S>)",
        "'{x}-{y}'.format(x=<I>, y=<S>)", "os.path.basename(<S>)", "<S>.partition('/')[2]", "<S>.removeprefix('a')", "f\"{'y' if <B> else 'n'}\"", "'%s' % <S>", "(@W := <S>)", "chr(97 + (<I> & 3))",
        "next(iter(<T>), <S>)", "''.join(sorted(<T>))", "max(<T>, default='e')", "str(tuple(<L>))", "getattr(<K>, 'name')", "'a,b'.split(',')[<B>]", "<S>.join(['1', '2'])", "f'{<I>!s:>4}'",
        "os.path.join(os.getcwd(), <S>)", "f'{os.getcwd()}/run'", "str(Kind.MOE.value)", "f'{Level.LOW.value}'", "type(<I>).__name__", "<K>.__class__.__name__", "'low' if Level.LOW == <S> else <S>",
    ),
    "opt": (
        "<S>", "None", "<O>", "<S> if <B> else None", "<O> or None", "<O> and <S>", "<B> and None or <O>", "os.environ.get('UNSET')", "{'a': <S>}.get('z')", "{'a': <O>}.get('a')",
        "(lambda: None)()", "next((s for s in [<S>, <S>] if s), None)", "(<S>, None)[<B>]", "getattr(<K>, 'missing', None)", "None if <I> else <S>", "<O> if <O> else <S>", "dict(a=<O>).pop('a', 'q')",
        "(None, *[<S>])[-1]", "(<O>)",
    ),
    "ints": (
        "[<I>, <I>]", "[x + 1 for x in <L>]", "[x for x in <L> if x % 2]", "<L>[1:]", "<L> + <L>", "sorted(<L>)", "sorted(<L>, reverse=True)", "list(range(<I> & 7))", "[*<L>, <I>]", "list(reversed(<L>))",
        "[x for row in [<L>, [1]] for x in row]", "list(map(lambda x: x * 2, <L>))", "list(filter(None, <L>))", "list(filter(lambda x: x > 1, <L>))", "[x * y % 1009 for x, y in zip(<L>, <L>)]", "[i for i, _ in enumerate(<L>)]",
        "sorted(set(<L>))", "list(tuple(<L>))", "<L> * 2", "<L> if <B> else <L>", "<L> or [9]", "<L> and [8]", "list(<T>.values())", "[len(k) for k in <T>]", "[v for k, v in <T>.items() if k != 'a']", "list(<L>)", "<L>.copy()",
        "[<L>, <L>][0]", "sum([<L>, [4]], [])", "[abs(x) for x in <L> if (y := x) > 0]", "list(counting(<I> & 3))", "list(itertools.chain(<L>, [7]))", "[*map(abs, <L>), *(<I>,)]", "sorted(<L>, key=lambda x: -x)", "<L>[::-1]", "<L>[-2:]",
        "[(lambda n=n: n * 2)() for n in <L>]", "[f(1) for f in [lambda a: a + <I>, abs]]", "list(dict.fromkeys(<L>))", "[x for x in <L> if x not in <L>]", "[*range(3)][<I> & 1:]", "(lambda *a: list(a))(*<L>)",
    ),
    "table": (
        "{'a': <I>}", "{**<T>, 'b': <I>}", "dict(<T>, c=<I>)", "<T> | {'a': <I>}", "{k: v + 1 for k, v in <T>.items()}", "{k: len(k) for k in ('a', 'bb')}", "dict(zip(['a', 'b'], <L>))", "<T>.copy()", "<T> if <B> else <T>",
        "{k: v for k, v in <T>.items() if v > 1}", "dict([('a', <I>), ('d', 2)])", "dict(sorted(<T>.items()))", "{f'k{x}': x for x in <L>}", "{**{'a': 1}, **<T>}", "copy.deepcopy(<T>)", "dict.fromkeys('ab', <I>)", "dict(**<T>)", "<T> or {'e': 1}",
        "{'a' if <B> else 'b': <I>}", "{<S>: <I>}", "dict(a=<I>, **{'b': 2})",
    ),
    "kind": ("<K> if <B> else <K>", "Kind(<K>.value)", "Kind[<K>.name]", "list(Kind)[<I> & 1]", "{'d': Kind.DENSE}.get('d')", "getattr(Kind, 'MOE')", "(<K>, Kind.MOE)[0]", "max([Kind.MOE, <K>], key=lambda k: k.value)",
             "next(k for k in Kind if k is not Kind.DENSE)", "Kind.__members__['MOE']"),
}  # fmt: skip
"""How values of each type are made; `<I>` stands for an int, `<B>` a bool, `<S>` a str, `<O>` a str or None, `<L>` a list
of ints, `<T>` a dict from str to int, `<K>` an enumeration member, `@W` for a new name."""
