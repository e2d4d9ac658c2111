"""The flags of Megatron-LM's command line, read from megatron/training/arguments.py.

`add_megatron_arguments` calls functions that declare flags by `add_argument`, and from core 0.16 on also by
`ArgumentGroupFactory(SomeConfig, exclude=[…]).build_group(parser, …)`, which makes one flag of every field of a
dataclass. Its rules (megatron/training/argument_utils.py, 0.16.0 to head): the flag is the field's name with dashes; a
boolean is `store_true` if its default is False, else `store_false` under two names, `--no-…` and `--disable-…`;
`list[T]` takes `+`; a Literal or an enum gives the choices; what the field's metadata says under `argparse_meta`
counts more than all that.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from mfsdp_lint.core.values import NONE, Known, Plain, Value
from mfsdp_lint.megatron.vocabulary.tables import Flag
from tools.vocabulary.fields import Field, fields_of
from tools.vocabulary.trees import Module, Source
from tools.vocabulary.values import is_enum, members, value_of

ARGUMENTS = "megatron.training.arguments"
ADDED = ("megatron.post_training.arguments", "add_modelopt_args")
"""The flags that pretrain_gpt.py itself adds (0.12.0 to head)."""

_TYPES = ("str", "int", "float", "bool")


def flags_of(source: Source) -> list[Flag]:
    """Return all flags, in the order in which they are added. Raises LookupError if there is no such command line."""
    module = source.module(ARGUMENTS)
    if module is None:
        raise LookupError(f"no {ARGUMENTS}")
    flags = list(_reached(module, "add_megatron_arguments", set()))
    more = source.module(ADDED[0])
    if more is not None:
        flags += _reached(more, ADDED[1], set())
    return flags


def _reached(module: Module, name: str, seen: set[str]) -> Iterator[Flag]:
    found = module.find(name)
    if name in seen or found is None:
        return
    seen.add(name)
    where, function = found
    if not isinstance(function, ast.FunctionDef):
        return
    local = {
        target.id: statement.value
        for statement in ast.walk(function)
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    imports = [node for node in function.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    inside = Module(where.source, where.name, ast.Module([*where.tree.body, *imports], []), False)
    for call in _calls(function):
        match call.func:
            case ast.Attribute(attr="add_argument"):
                yield from _declared(inside, call)
            case ast.Attribute(attr="build_group", value=factory):
                made = local.get(factory.id) if isinstance(factory, ast.Name) else factory
                if isinstance(made, ast.Call):
                    yield from _generated(inside, made, local)
            case ast.Name(id=callee) if callee != name:
                yield from _reached(where, callee, seen)


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls inside a function, in the order in which they are made."""
    for inner in ast.iter_child_nodes(node):
        yield from _calls(inner)
        if isinstance(inner, ast.Call):
            yield inner


def _declared(module: Module, call: ast.Call) -> Iterator[Flag]:
    names = [
        str(name.value) for name in call.args if isinstance(name, ast.Constant) and str(name.value).startswith("-")
    ]
    if not names:
        return
    said = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    flag = _flag(module, tuple(names), said, None)
    if flag.action == "BooleanOptionalAction":  # one flag for on, and one for off
        yield replace(flag, action="store_true")
        off = tuple(name.replace("--", "--no-", 1) for name in flag.names if name.startswith("--"))
        yield replace(flag, names=off, action="store_false")
    else:
        yield flag


def _flag(module: Module, names: tuple[str, ...], said: dict[str, ast.expr], dest: str | None) -> Flag:
    long = next((name for name in names if name.startswith("--")), names[0])
    return Flag(
        names=names,
        dest=_text(module, said.get("dest")) or dest or long.lstrip("-").replace("-", "_"),
        action=_action(module, said.get("action")),
        type=_type(said.get("type")),
        choices=_choices(module, said.get("choices")),
        nargs=_nargs(module, said.get("nargs")),
        const=_plain(module, said.get("const")),
        default=_default(module, said),
    )


def _default(module: Module, said: dict[str, ast.expr]) -> Value:
    if "default" in said:
        return value_of(module, said["default"])
    return {"store_true": Known(False), "store_false": Known(True)}.get(_action(module, said.get("action")), NONE)


def _text(module: Module, node: ast.expr | None) -> str | None:
    plain = _plain(module, node)
    return plain if isinstance(plain, str) else None


def _plain(module: Module, node: ast.expr | None) -> Plain:
    value = value_of(module, node) if node is not None else NONE
    return value.value if isinstance(value, Known) else None


def _action(module: Module, node: ast.expr | None) -> str:
    if isinstance(node, ast.Attribute):  # argparse.BooleanOptionalAction
        return node.attr
    return _text(module, node) or "store"


def _nargs(module: Module, node: ast.expr | None) -> str | int | None:
    plain = _plain(module, node)
    return plain if isinstance(plain, (str, int)) else None


def _type(node: ast.expr | None) -> str:
    match node:
        case None:
            return "str"
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return "function"


def _choices(module: Module, node: ast.expr | None) -> tuple[Plain, ...] | None:
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "list" and len(node.args) == 1:
        node = node.args[0]
    if isinstance(node, ast.Name):
        found = module.find(node.id)
        if found is not None and isinstance(found[1], ast.ClassDef) and is_enum(*found):
            return tuple(members(found[1]))
    plain = _plain(module, node)
    return tuple(plain) if isinstance(plain, list) else None


# -- flags made of the fields of a dataclass ----------------------------------------------------------------------


def _generated(module: Module, factory: ast.Call, local: dict[str, ast.expr]) -> Iterator[Flag]:
    if not factory.args or not isinstance(factory.args[0], ast.Name):
        return
    found = module.find(factory.args[0].id)
    if found is None or not isinstance(found[1], ast.ClassDef):
        return
    given = [*factory.args[1:2], *(keyword.value for keyword in factory.keywords if keyword.arg == "exclude")]
    listed = given[0] if given else None
    excluded = _plain(module, local.get(listed.id) if isinstance(listed, ast.Name) else listed)
    for field in fields_of(found[0], found[1]).values():
        if field.init and not (isinstance(excluded, list) and field.name in excluded):
            yield _from_field(field)


def _from_field(field: Field) -> Flag:
    meta = _meta(field)
    dashed = field.name.replace("_", "-")
    names: tuple[str, ...] = (f"--{dashed}",)
    inferred: dict[str, ast.expr] = dict(_inferred(field.module, field.annotation))
    kind = inferred.get("type")
    if isinstance(kind, ast.Name) and kind.id == "bool":
        off = field.default is not None and field.value() in (Known(False), Known(0))
        inferred = {"action": ast.Constant("store_true" if off else "store_false")}
        names = names if off else (f"--no-{dashed}", f"--disable-{dashed}")
    said_names = _plain(field.module, meta.pop("arg_names", None))
    if isinstance(said_names, list):
        names = tuple(str(name) for name in said_names)
    flag = _flag(field.module, names, {**inferred, **meta}, field.name)
    if "default" in meta:
        return flag
    return replace(flag, default=field.value())


def _meta(field: Field) -> dict[str, ast.expr]:
    """Return the keywords under `argparse_meta` in a field's metadata."""
    match field.metadata:
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "argparse_meta" and isinstance(value, ast.Dict):
                    return {
                        str(name.value): said
                        for name, said in zip(value.keys, value.values, strict=True)
                        if isinstance(name, ast.Constant)
                    }
    return {}


def _inferred(module: Module, annotation: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield the keywords that a field's type gives its flag; none for a union that is not optional."""
    match annotation:
        case ast.Constant(value=str(quoted)):
            yield from _inferred(module, ast.parse(quoted, mode="eval").body)
        case ast.BinOp(left=left, op=ast.BitOr(), right=ast.Constant(value=None)):
            yield from _inferred(module, left)
        case ast.Subscript(value=ast.Name(id="Optional") | ast.Attribute(attr="Optional"), slice=inner):
            yield from _inferred(module, inner)
        case ast.Subscript(value=ast.Name(id="Union"), slice=ast.Tuple(elts=[first, ast.Constant(value=None)])):
            yield from _inferred(module, first)
        case ast.Subscript(value=ast.Name(id="list" | "List"), slice=inner):
            yield from _inferred(module, inner)
            yield "nargs", ast.Constant("+")
        case ast.Subscript(value=ast.Name(id="Literal") | ast.Attribute(attr="Literal"), slice=inner):
            items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            text = items[0].value if isinstance(items[0], ast.Constant) else ""
            yield "type", ast.Name(type(text).__name__)
            yield "choices", ast.List(items)
        case ast.Name(id=name) if name in _TYPES:
            yield "type", annotation
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield "type", ast.Name(name)
            found = module.find(name)
            if found is not None and is_enum(*found) and isinstance(found[1], ast.ClassDef):
                yield "choices", ast.List([ast.Constant(member) for member in members(found[1])])
