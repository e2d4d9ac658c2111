"""Random statements over what is in scope."""

# The tables of forms are easier to read in long lines.
# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Callable

from tests.readers.python.expressions import (
    CLASS_OF,
    KEYS,
    SECTIONS,
    Scope,
    call,
    construct,
    expression,
    lasting,
    section,
)
from tests.readers.python.library_statements import by_library

BASIC = ("int", "str", "bool", "ints", "table", "opt")
OPERATORS = {
    "int": ("+=", "-=", "|=", "&=", "^=", "%="),
    "str": ("+=",),
    "ints": ("+=",),
    "table": ("|=",),
    "bool": ("&=", "|="),
}


def block(scope: Scope, size: int, simple: bool = False) -> None:
    """Write `size` statements; `simple` ones only have no blocks of their own."""
    for _ in range(size):
        choices = SIMPLE if simple or scope.depth > 4 else SIMPLE + SIMPLE + COMPOUND
        choices[scope.pick(len(choices))](scope)


def body(scope: Scope, size: int = 2, repeated: bool = False) -> None:
    """The statements of a block."""
    with scope.indented(repeated):
        block(scope, 1 + scope.pick(size))


def _field_of(scope: Scope, kinds: tuple[str, ...] = ()) -> tuple[str, str, str]:
    """A section, the name of one of its fields, and the field's type."""
    fields = [
        (owner, name, kind)
        for owner, cls in CLASS_OF.items()
        for name, kind in SECTIONS[cls].items()
        if kind not in SECTIONS and (not kinds or kind in kinds)
    ]
    owner, name, kind = fields[scope.pick(len(fields))]
    return section(scope, owner) if scope.types["cfg"] or scope.types[owner] else "", name, kind


# -- one line -------------------------------------------------------------------------------------------------------


def set_field(scope: Scope) -> None:
    owner, name, kind = _field_of(scope)
    if not owner:
        return bind(scope)
    value = lasting(scope, kind, expression(scope, kind, 2))
    form = scope.pick(8)
    if form == 0 and scope.types["name"]:
        number = expression(scope, "int", 1)
        scope.line(f"setattr({owner}, {scope.types['name'][scope.pick(len(scope.types['name']))]}, {number})")
    elif form == 0:
        scope.line(f"setattr({owner}, {name!r}, {value})")
    elif form == 1:
        scope.line(f"setattr({owner}, '{name[:1]}' + {name[1:]!r}, {value})")
    elif form == 2 and kind in OPERATORS:
        scope.line(f"{owner}.{name} {OPERATORS[kind][scope.pick(len(OPERATORS[kind]))]} {value}")
    elif form == 3:
        other, other_name, other_kind = _field_of(scope, (kind,))
        other = other or owner
        scope.line(
            f"{owner}.{name}, {other}.{other_name} = {value}, {lasting(scope, other_kind, expression(scope, other_kind, 1))}"
        )
    elif form == 4:
        other, other_name, _ = _field_of(scope, (kind,))
        other = other or owner
        scope.line(f"{owner}.{name} = {other}.{other_name} = {value}")
    elif form == 5:
        scope.line(f"{owner}.{name}: object = {value}")
    elif form == 6 and not scope.handed and scope.pick(3) == 0:
        scope.line(
            (
                f"vars({owner})[{name!r}] = {value}",
                f"vars({owner}).update({name}={value})",
                f"{owner}.__dict__[{name!r}] = {value}",
                f"({owner}).__dict__.update({{{name!r}: {value}}})",
            )[scope.pick(4)]
        )
    else:
        scope.line(f"{owner}.{name} = {value}")
    return None


def bind(scope: Scope) -> None:
    kind = BASIC[scope.pick(len(BASIC))]
    if not scope.local and kind in ("opt",):
        kind = "str"
    value = lasting(scope, kind, expression(scope, kind, 3))
    own = [name for name in scope.types[kind] if name not in scope.outside and name.isidentifier()]
    name = own[scope.pick(len(own))] if own and scope.pick(3) == 0 else scope.new(kind)
    scope.line(f"{name} = {value}")
    if name not in scope.types[kind]:
        scope.types[kind].append(name)


def augment(scope: Scope) -> None:
    kind = ("int", "str", "ints", "table")[scope.pick(4)]
    own = [name for name in scope.types[kind] if name not in scope.outside and name.isidentifier()]
    if not own:
        return bind(scope)
    operators = OPERATORS[kind]
    name = own[scope.pick(len(own))]
    value = lasting(scope, kind, expression(scope, kind, 2))
    scope.line(f"{name} {operators[scope.pick(len(operators))]} {value}")
    return None


def alias(scope: Scope) -> None:
    kind = ("ddp", "model", "checkpoint", "train", "moe", "ints", "table", "cfg")[scope.pick(8)]
    if not scope.types["cfg"]:
        return bind(scope)
    if kind in ("ints", "table"):
        owner, field, _ = _field_of(scope, (kind,))
        value = f"{owner}.{field}"
    else:
        value = section(scope, kind)
    name = scope.new(kind)
    scope.line(f"{name} = {value}")
    scope.types[kind].append(name)
    return None


def replace_section(scope: Scope) -> None:
    if not scope.types["cfg"]:
        return bind(scope)
    kind = ("ddp", "checkpoint", "model", "train", "moe")[scope.pick(5)]
    name = scope.types["cfg"][scope.pick(len(scope.types["cfg"]))]
    value = section(scope, kind) if scope.pick(3) == 0 else construct(scope, kind)
    scope.line(f"{name}.{'model.moe' if kind == 'moe' else kind} = {value}")
    return None


LIST_CHANGES = (
    "{L}.append({I})", "{L}.extend({M})", "{L}.insert(0, {I})", "{L}.insert({I}, {I})", "{L}.sort()", "{L}.reverse()", "{L}[:1] = {M}", "{L}.clear()",
    "{L} += {M}", "{L}[len({L}):] = [{I}]", "{L} and {L}.pop()", "{L} and {L}.remove({L}[0])", "del {L}[:1]", "{L}.sort(key=lambda x: -x)", "{L}.extend(x for x in list({M}))",
    "{L} and {L}.__setitem__(0, {I})", "{L}.extend(range({I} & 3))",
)  # fmt: skip
TABLE_CHANGES = (
    "{T}['{k}'] = {I}", "{T}.update({U})", "{T}.update({k}={I})", "{T}.pop('{k}', None)", "{T}.setdefault('{k}', {I})", "{T} |= {U}", "{T}.clear()", "{T}.update([('{k}', {I})])",
    "{T}['{k}'] = {T}.get('{k}', 0) + 1", "{T} and {T}.popitem()", "{T}[{S}] = {I}", "{T}.setdefault('n', 0)\n{T}['n'] += {I}", "{T}.pop({S}, 0)", "{T}['{k}'] = 1\ndel {T}['{k}']",
)  # fmt: skip


def change_container(scope: Scope) -> None:
    kind = ("ints", "table")[scope.pick(2)]
    names = [name for name in scope.types[kind] if scope.local or not scope.globals]
    if scope.types["cfg"] and (not names or scope.pick(2) == 0):
        owner, field, _ = _field_of(scope, (kind,))
        names = [f"{owner}.{field}"]
    names = [name for name in names if "(" not in name and (not name.startswith("G_") or scope.pick(3) == 0)]
    if not names:
        return bind(scope)
    subject = names[scope.pick(len(names))]
    changes = LIST_CHANGES if kind == "ints" else TABLE_CHANGES
    form = changes[scope.pick(len(changes))]
    if subject.startswith("G_") and "=" in form and "[" not in form:
        form = changes[0]
    key = KEYS[scope.pick(3)]
    parts = dict.fromkeys("LTIMUSk", "") | {"L": subject, "T": subject, "k": key}
    scope.plain += 1
    for mark, kind_ in (("I", "int"), ("M", "ints"), ("U", "table"), ("S", "str")):
        if f"{{{mark}}}" in form:
            parts[mark] = lasting(scope, kind_, expression(scope, kind_, 1))
    scope.plain -= 1
    scope.line(form.format_map(parts))
    return None


def unpack(scope: Scope) -> None:
    first, second = scope.new("int"), scope.new("int")
    star = scope.new("ints")
    form = scope.pick(5)
    if form == 0:
        scope.line(f"{first}, {second} = {expression(scope, 'int', 1)}, {expression(scope, 'int', 1)}")
    elif form == 1:
        scope.line(f"{first}, *{star} = [{expression(scope, 'int', 1)}, *({expression(scope, 'ints', 1)})]")
        scope.line(f"{second} = {first}")
    elif form == 2:
        scope.line(f"({first}, [{second}, *{star}]) = ({expression(scope, 'int', 1)}, (1, 2, 3))")
    elif form == 3:
        scope.line(f"*{star}, {first} = (*({expression(scope, 'ints', 1)}), {expression(scope, 'int', 1)})")
        scope.line(f"{second} = len({star})")
    else:
        scope.line(f"{first}, {second} = divmod({expression(scope, 'int', 1)}, 3)")
        scope.line(f"{first}, {second} = {second}, {first}")
    scope.types["int"].extend([first, second])
    if 1 <= form <= 3:
        scope.types["ints"].append(star)


def call_helper(scope: Scope) -> None:
    if not scope.functions:
        return set_field(scope)
    name, returns, _, _ = scope.functions[scope.pick(len(scope.functions))]
    text = call(scope, name)
    if returns == "gen":
        target = scope.new("ints")
        if scope.pick(2):
            scope.line(f"{target} = {('list', 'sorted')[scope.pick(2)]}({text})")
        else:
            item = scope.new("int")
            scope.line(f"{target} = []")
            scope.line(f"for {item} in {text}:")
            scope.types["ints"].append(target)
            with scope.indented(repeated=True):
                scope.types["int"].append(item)
                scope.line(f"{target}.append({item})")
                block(scope, 1)
                if scope.pick(3) == 0:
                    scope.line("break")
            return None
        scope.types["ints"].append(target)
    elif returns == "none":
        scope.line(text)
    else:
        target = scope.new(returns)
        scope.line(f"{target} = {text}")
        scope.types[returns].append(target)
    return None


def method_call(scope: Scope) -> None:
    if not scope.types["cfg"]:
        return bind(scope)
    scope.plain += 1
    owner = section(scope, ("ddp", "checkpoint", "train", "model")[scope.pick(4)])
    number = expression(scope, "int", 1)
    scope.plain -= 1
    name = scope.new("int")
    scope.line(
        (
            f"hasattr({owner}, 'bump') and {owner}.bump({number})",
            f"getattr({owner}, 'bump', lambda *a, **k: None)(by={number}, times=2)",
            f"{name} = getattr({owner}, 'double', {number})",
            f"{name} = {owner}.scale({number}) if hasattr({owner}, 'scale') else 0",
            f"{name} = getattr({owner}, 'phantom', 3)",
            f"{name} = len(vars({owner}))",
            f"{name} = len(dataclasses.fields({owner}))",
            f"{owner}({number}) if callable({owner}) else None",
            f"{name} = type({owner}).__name__",
            f"{name} = [f.name for f in dataclasses.fields({owner})][0]",
            f"{name} = getattr(({owner}).__class__, 'limit', 1)",
            f"{name} = ({owner} == copy.deepcopy({owner}))",
            f"{name} = int(bool({owner}))",
        )[scope.pick(13)]
    )
    return None


def environment(scope: Scope) -> None:
    name = ("NCCL_A", "NCCL_B", "CUDA_DEVICE_MAX_CONNECTIONS")[scope.pick(3)]
    text = expression(scope, "str", 1)
    form = scope.pick(9)
    target = scope.new("opt")
    if form in (4, 5, 8) and scope.local:
        scope.line(
            {
                4: f"{target} = os.environ.get({name!r})",
                5: f"{target} = os.environ.get({name!r}, {text})",
                8: f"{target} = os.getenv({name!r}) or {text}",
            }[form]
        )
        scope.types["opt"].append(target)
        return
    scope.line(
        {
            0: f"os.environ[{name!r}] = {text}",
            1: f"os.environ.setdefault({name!r}, {text})",
            2: f"os.environ.update({{{name!r}: {text}}})",
            3: f"os.environ.pop({name!r}, None)",
            6: f"os.environ.update({name}={text})",
            7: f"os.environ[{name!r}] = str({expression(scope, 'int', 1)})",
        }.get(form, f"os.environ[{name!r}] = {text}")
    )


def shake(scope: Scope) -> None:
    """Hand something to code that is out of sight, which changes it."""
    if not scope.open_world or not scope.types["cfg"] or not scope.local:
        return set_field(scope)
    scope.line(f"shake({section(scope, ('ddp', 'model', 'train', 'cfg')[scope.pick(4)])})")
    return None


def odd(scope: Scope) -> None:
    """What is rarely written, and means something all the same."""
    scope.plain += 1
    number, name = expression(scope, "int", 1), scope.new("int")
    scope.plain -= 1
    forms = [
        f"assert {number} is not None",
        f"{name} = [lambda: {number}, lambda: 2][0]()",
        f"{name} = [f() for f in [lambda i=i: i for i in range(3)]][-1]",
        f"{name} = [f() for f in [lambda: i for i in range(3)]][0]",
        f"{name} = (lambda f: f(f, 3))(lambda f, n: 1 if n < 1 else n * f(f, n - 1))",
        f"{name}, = [{number}]",
        f"{name} = {{**dict(a={number})}}.pop('a')",
        f"{name} = int(str({number}))",
        f"{name} = [1, 2, 3][{number} & 1:][0]",
        f"{name} = functools.partial(lambda a, b: a - b, {number})(b=2)",
        f"{name} = ({number}) if ({number}) is ({number}) else 0",
        f"{name} = sum(functools.partial(counting, 3)(step=2))",
        f"{name} = dict(enumerate([{number}, 2]))[0]",
        f"{name} = list(zip(*[(1, 2), (3, {number})]))[1][1]",
        f"{name} = next(counting(2))",
        f"{name} = ({number}).__add__(1)",
    ]
    if scope.presets:
        forms.append(f"{name} = PRESETS['small']['tp']")
        forms.append("PRESETS['small']['tp'] += 1")
        if scope.types["cfg"]:
            forms.append(
                f"for key, value in PRESETS['large'].items():\n    setattr({scope.types['cfg'][0]}.model, key, value)"
            )
    form = forms[scope.pick(len(forms))]
    scope.line(form)
    if form.startswith((f"{name} ", f"{name},")):
        scope.types["int"].append(name)


HELD: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("{box} = [{one}, {two}]", ("{box}[0]", "{box}[-1]")),
    ("{box} = {{'a': {one}, 'b': {two}}}", ("{box}['a']", "{box}['b']")),
    ("{box} = Box({one})", ("{box}.cfg", "{box}.all[0]")),
    ("{box} = Box({one})\n{box}.cfg = {two}", ("{box}.cfg", "{box}.all[0]")),
    ("{box} = [{one}]\n{box}.append({two})\n{new} = {box}.pop()", ("{new}", "{box}[0]")),
    ("{new} = {one} if {flag} else {two}", ("{new}",)),
    ("{new} = [{one}, {two}][{flag}]", ("{new}",)),
    ("{new} = [{one}, {two}][{flag}:][0]", ("{new}",)),
    ("{new} = [*[{one}, {two}][:{flag}], {one}][0]", ("{new}",)),
    ("{new} = {{True: {one}, False: {two}}}[bool({flag})]", ("{new}",)),
    ("if {flag}:\n    {new} = {one}\nelse:\n    {new} = {two}", ("{new}",)),
    ("{new} = {one}\nif {flag}:\n    {new} = {two}", ("{new}",)),
    ("{new} = kept({one}, {flag}) or {two}", ("{new}",)),
    ("{new} = kept({one}, {flag})\nif {new} is None:\n    {new} = {two}", ("{new}",)),
    ("{new} = next(c for c in ({one}, {two}) if c.train.resume or c is {one})", ("{new}",)),
    ("{new} = next((c for c in ({one}, {two}) if c.train.resume), {two})", ("{new}",)),
    ("{new} = [c for c in ({two}, {one}) if {flag} or c is {one}][0]", ("{new}",)),
    ("{new} = next(iter([c for c in ({one}, {two}) if c.train.resume]), {two})", ("{new}",)),
    ("{new} = (*[{one}, {two}][:{flag}], {two})[-1]", ("{new}",)),
    ("{new}, *_ = [*[{one}, {two}][{flag}:]]", ("{new}",)),
    ("{new} = sorted(({one}, {two}), key=lambda c: c.train.iters)[0]", ("{new}",)),
    ("{new} = max({one}, {two}, key=lambda c: c.model.tp)", ("{new}",)),
    ("{box} = {{'b': {two}}}\n{box}['a' if {flag} else 'b'] = {one}", ("{box}['b']",)),
    ("{box} = {{}}\n{box}['a' if {flag} else 'b'] = {one}\n{new} = {box}.get('a', {two})", ("{new}",)),
    ("{new} = (lambda c: c)({one})", ("{new}",)),
    ("{box} = {{}}\n{new} = {box}.setdefault('c', {one})", ("{new}", "{box}['c']")),
    ("{box} = {{'c': {one}}}\n{new} = {box}.get('c' if {flag} else 'd', {two})", ("{new}",)),
    ("{box} = {one}, {two}\n{new}, _ = {box}", ("{new}", "{box}[1]")),
    ("{box} = [{two}]\nif {flag}:\n    {box}[0] = {one}", ("{box}[0]",)),
    ("{box} = [{two}]\nif {flag}:\n    {box}.insert(0, {one})", ("{box}[0]", "{box}[-1]")),
    ("switch({one}, {flag})", ()),
    ("switch({one}, {flag}, name='x')", ()),
    ("Box({one}).change({number})", ()),
    ("for {new} in ({one}, {two}):\n    {new}.train.iters += 1", ("{new}",)),
    ("for {new} in [{one}, {two}][{flag}:]:\n    {new}.train.iters = {number}", ("{new}",)),
    ("for {new} in [c for c in ({one}, {two}) if c.train.resume]:\n    {new}.train.iters = {number}", ()),
    ("for {new} in filter(lambda c: c.train.resume, ({one}, {two})):\n    {new}.train.iters = {number}", ()),
    ("for {new} in ({one}, {two}):\n    if {flag}:\n        {new}.train.iters = {number}\n        break", ("{new}",)),
)  # fmt: skip
"""A configuration under another name, in something that holds it, or one of two; and what it is reached by then."""
CALLBACKS = (
    "perhaps(lambda: setattr({one}.train, 'iters', {number}))",
    "perhaps(functools.partial(switch, {one}, {flag}))",
    "perhaps(functools.partial(Box({one}).change, {number}))",
    "def {new}():\n    {one}.train.iters = {number}\nperhaps({new})",
    "def {new}(c={one}):\n    c.ddp = DDP()\nperhaps([{new}][0])",
    "@perhaps\ndef {new}():\n    {one}.train.iters = {number}",
    "chosen([{one}, {two}]).train.iters = {number}",
    "{new} = chosen(({one}, {two}))\n{one}.train.iters = 1\n{new}.train.iters = 2",
    "{new} = chosen([{one}, {two}])\n{one}.ddp = DDP(overlap=False)\n{new}.ddp.overlap = True",
)
"""Code that changes a configuration, handed to code out of sight."""
OVERWRITTEN = (
    ("train.iters", "1", "2"),
    ("ddp.overlap", "False", "True"),
    ("model.moe.router", "'x'", "'y'"),
    ("checkpoint", "Checkpoint()", "Checkpoint(save='b')"),
)
"""A setting, and two values for it: one before a configuration gets another name, one through that name."""


def hold(scope: Scope) -> None:
    """A configuration that is reached in more than one way."""
    names, pick = scope.types["cfg"], scope.pick
    if not names or not scope.local:
        return set_field(scope)
    parts = {
        "one": names[pick(len(names))],
        "two": section(scope, "cfg"),
        "flag": f"({expression(scope, 'bool', 1)})",
        "number": f"({expression(scope, 'int', 0)})",
        "new": scope.new("cfg"),
        "box": scope.new("box"),
    }
    form, held = HELD[pick(len(HELD))]
    if scope.open_world and pick(8) == 0:
        form, held = CALLBACKS[pick(len(CALLBACKS))], ()
    if held and pick(2) == 0:
        setting, before, after = OVERWRITTEN[pick(len(OVERWRITTEN))]
        form = f"{{one}}.{setting} = {before}\n{form}\n{held[-1]}.{setting} = {after}"
    scope.line(form.format_map(parts))
    names.extend(name.format_map(parts) for name in held)
    return None


# -- blocks ---------------------------------------------------------------------------------------------------------


def if_(scope: Scope) -> None:
    scope.line(f"if {expression(scope, 'bool', 2)}:")
    body(scope)
    if scope.pick(3) == 0:
        scope.line(f"elif {expression(scope, 'bool', 1)}:")
        body(scope, 1)
    if scope.pick(2) == 0:
        scope.line("else:")
        body(scope)


def early_return(scope: Scope) -> None:
    if scope.returns is None or (scope.returns == "cfg" and not scope.types["cfg"]):
        return if_(scope)
    scope.line(f"if {expression(scope, 'bool', 2)}:")
    with scope.indented():
        block(scope, scope.pick(3))
        if scope.returns == "none":
            scope.line("return")
        else:
            value = scope.types["cfg"][0] if scope.returns == "cfg" else expression(scope, scope.returns, 1)
            scope.line(f"return {value}")
    return None


def for_(scope: Scope) -> None:
    item, other = scope.new("int"), scope.new("str")
    form = scope.pick(8)
    scope.line(
        (
            f"for {item} in list({expression(scope, 'ints', 1)}):",
            f"for {item} in range({expression(scope, 'int', 0)} & 3):",
            f"for {item}, {other} in enumerate(['a', {expression(scope, 'str', 1)}]):",
            f"for {other}, {item} in dict({expression(scope, 'table', 1)}).items():",
            f"for {item}, {other} in zip({expression(scope, 'ints', 1)}, 'xyz'):",
            f"for {item} in (1, {expression(scope, 'int', 1)}):",
            f"for {item} in counting({expression(scope, 'int', 1)} & 3):",
            f"for {other}, {item} in sorted({expression(scope, 'table', 1)}.items()):",
        )[form]
    )
    with scope.indented(repeated=True):
        scope.types["int"].append(item)
        if form in (2, 3, 4, 7):
            scope.types["str"].append(other)
        block(scope, 1 + scope.pick(2))
        leave = scope.pick(6)
        if leave < 3:
            scope.line(f"if {expression(scope, 'bool', 1)}:")
            scope.line(f"    {('break', 'continue', 'break')[leave]}")
            block(scope, 1, simple=True)
    if scope.pick(6) == 0:
        scope.line("else:")
        body(scope, 1)


def while_(scope: Scope) -> None:
    counter = scope.new("int")
    scope.line(f"{counter} = {expression(scope, 'int', 0)} & 3")
    unsure = f" and ({expression(scope, 'bool', 1)})" if scope.pick(3) == 0 else ""
    scope.line(f"while {counter} < 4{unsure}:")
    with scope.indented(repeated=True):
        scope.line(f"{counter} += 1")
        block(scope, 1 + scope.pick(2))
        if scope.pick(3) == 0:
            scope.line(f"if {expression(scope, 'bool', 1)}:")
            scope.line(f"    {('break', 'continue')[scope.pick(2)]}")
    scope.types["int"].append(counter)


RISKS = (
    "{{'a': {I}}}[{S}]", "{L}[{I}]", "int({S})", "1 // ({I} % 2)", "{T}['a']", "getattr(object(), {S})", "[1].index({I})", "next(iter({L}))", "Kind({S})", "{O} + 'x'", "len({I})",
    "[].pop()", "Kind[{S}]", "max({L})", "{O}.upper()", "None + 1", "{T}.pop('b')", "dict(a=1)['b']",
)  # fmt: skip
ERRORS = ("KeyError", "IndexError", "ValueError", "(KeyError, IndexError, TypeError)", "Exception", "LookupError",
          "AttributeError", "ZeroDivisionError", "ArithmeticError", "(ValueError, AttributeError, TypeError)")  # fmt: skip


def try_(scope: Scope) -> None:
    name = scope.new("int")
    pick = scope.pick
    scope.line("try:")
    with scope.indented():
        block(scope, pick(2))
        risk = RISKS[pick(len(RISKS))]
        parts = {
            m: expression(scope, k, 1)
            for m, k in (("I", "int"), ("S", "str"), ("L", "ints"), ("T", "table"), ("O", "opt"))
        }
        if pick(4) == 0:
            scope.line(f"if {expression(scope, 'bool', 1)}:")
            scope.line(f"    raise {('ValueError', 'KeyError', 'RuntimeError')[pick(3)]}('no')")
        scope.line(f"{name} = {risk.format_map(parts)}")
        block(scope, pick(2))
    for error in [ERRORS[pick(len(ERRORS))]] * (pick(3) == 0) + ["Exception"] * (pick(4) > 0):
        scope.line(f"except {error}{('', ' as error')[pick(2)]}:")
        body(scope, 1)
    if scope.lines[-1].strip() and not _has_handler(scope):
        scope.line("finally:")
        body(scope, 1)
        return
    if pick(4) == 0:
        scope.line("else:")
        body(scope, 1)
    if pick(4) == 0:
        scope.line("finally:")
        body(scope, 1)


def _has_handler(scope: Scope) -> bool:
    indent = "    " * scope.depth
    for line in reversed(scope.lines):
        if line.startswith(f"{indent}except"):
            return True
        if line.startswith(f"{indent}try:"):
            return False
    return False


def with_(scope: Scope) -> None:
    pick = scope.pick
    form = pick(4)
    if form == 0 and scope.types["cfg"]:
        owner, name, kind = _field_of(scope)
        old = scope.new(kind)
        scope.line(f"with patched({owner}, {name!r}, {expression(scope, kind, 1)}) as {old}:")
        with scope.indented():
            scope.types[kind].append(old)
            block(scope, 1 + pick(2))
    elif form == 1:
        log = scope.new("ints")
        scope.line(f"{log} = []")
        scope.line(f"with noted({log}):")
        body(scope)
        scope.types["ints"].append(log)
    elif form == 2:
        scope.line("with contextlib.suppress(KeyError, ValueError):")
        with scope.indented():
            block(scope, pick(2))
            scope.line(f"{scope.new('int')} = {{'a': 1}}[{expression(scope, 'str', 1)}]")
            block(scope, 1)
    else:
        name = scope.new("quiet")
        scope.line(f"with Quiet(KeyError, TypeError) as {name}, contextlib.nullcontext():")
        with scope.indented():
            block(scope, pick(2))
            if pick(3) == 0:
                scope.line("raise KeyError('x')")
            scope.line(f"{scope.new('int')} = {name}.entered")
            block(scope, 1)


def match_(scope: Scope) -> None:
    pick = scope.pick
    form = pick(5)
    name = scope.new("int")
    if form == 0:
        scope.line(f"match {expression(scope, 'str', 1)}:")
        patterns = ["'a'", "'fp8_mx' | 'b'", "str() as " + scope.new("str")]
    elif form == 1:
        scope.line(f"match {expression(scope, 'int', 1)}:")
        patterns = ["0", f"{name} if {name} > 2", "1 | 2"]
    elif form == 2:
        scope.line(f"match {expression(scope, 'ints', 1)}:")
        patterns = ["[]", f"[{name}]", f"[{name}, *_]"]
    elif form == 3:
        scope.line(f"match {expression(scope, 'table', 1)}:")
        patterns = [f"{{'a': {name}}}", "{'b': 3, **others}", "{}"]
    else:
        scope.line(f"match ({expression(scope, 'bool', 1)}, {expression(scope, 'opt', 1)}):")
        patterns = ["(True, None)", "(False, str())", "(_, 'b')"]
    for pattern in patterns[: 1 + pick(3)]:
        scope.line(f"    case {pattern}:")
        scope.depth += 1
        with scope.indented():
            if name in pattern:
                scope.types["int"].append(name)
            block(scope, 1)
        scope.depth -= 1
    if pick(2):
        scope.line("    case _:")
        scope.depth += 1
        body(scope, 1)
        scope.depth -= 1


def define(scope: Scope) -> None:
    """A nested function over the names around it, and a call of it."""
    pick = scope.pick
    name, count = scope.new("inner"), scope.new("int")
    form = pick(3)
    if form == 0 and scope.local:
        scope.line(f"{count} = {expression(scope, 'int', 1)}")
        scope.line(f"def {name}(by=1):")
        scope.line(f"    nonlocal {count}")
        scope.line(f"    {count} += by")
        scope.line(f"    return {count}")
        for _ in range(1 + pick(2)):
            scope.line(f"{name}({expression(scope, 'int', 1)})")
        scope.types["int"].append(count)
        return
    numbers = [one for one, kind in scope.globals if kind == "int"]
    if form == 1 and numbers:
        scope.line(f"def {name}():")
        scope.line(f"    global {numbers[0]}")
        scope.line(f"    {numbers[0]} = {numbers[0]} + 1")
        scope.line(f"    return {numbers[0]}")
        scope.line(f"{count} = {name}() + {numbers[0]}")
        scope.types["int"].append(count)
        return
    inner = scope.inside({"x": "int", "rest": "tuple", "k": "int"})
    # A name that the function binds itself is its own from its first line on.
    for kind in BASIC:
        inner.types[kind] = [one for one in inner.types[kind] if one in ("x", "k") or one.startswith("G_")]
    scope.line(f"def {name}(x, *rest, k={expression(scope, 'int', 1)}):")
    with inner.indented():
        inner.returns = "int"
        block(inner, 1 + pick(2))
        inner.line(f"return {expression(inner, 'int', 2)}")
    scope.line(f"{count} = {name}({expression(scope, 'int', 1)})")
    scope.types["int"].append(count)


def use_library(scope: Scope) -> None:
    if not by_library(scope):
        set_field(scope)


SIMPLE: list[Callable[[Scope], None]] = [
    set_field, set_field, set_field, bind, bind, augment, alias, replace_section, change_container, unpack, call_helper, method_call,
    environment, odd, shake, hold, use_library, use_library,
]  # fmt: skip
COMPOUND: list[Callable[[Scope], None]] = [
    if_,
    if_,
    if_,
    early_return,
    for_,
    for_,
    while_,
    try_,
    try_,
    with_,
    match_,
    define,
]
