"""Effects: what a call of an upstream function does with its arguments, as a list that the evaluator carries out.

An *effect* is a list that begins with its kind and ends with its line (counted from that of the function) and how many
more lines it has; a *value* is a constant, or a list that begins with its kind.

    ["set", [target...], value]              ["add", sign, target, value]       ["drop", [target...]]
    ["do", value]                            ["give", value]                    ["raise", value]
    ["if", value, [effect...], [effect...]]  ["each", target, value, [effect...]]
    ["require", value]                       ["break"]                          ["continue"]
    ["with", [[value, target?]...], [effect...]]
    ["def", number, [name...], [value...], [effect...]]
    ["try", [effect...], [[value?, number?, [effect...]]...], [effect...], [effect...]]

    ["$", number or name]                    a local value, or a parameter; a target as well
    ["global", name]                         a name of the module, or of `names`; else a built-in one
    [".", value, name]  ["[]", value, value]  ["[:]", value, value, value, value]
    ["()", value, [value...], [[name?, value]...]]
    ["op", sign, value, value]  ["un", sign, value]  ["and", value...]  ["or", value...]
    ["cmp", value, [sign, value]...]  ["either", value, value, value]  ["*", value]
    ["text", text or [value, conversion, value?]...]
    ["list", value...]  ["tuple", value...]  ["set", value...]  ["dict", [value, value, line...] or [value]...]
    ["all", kind, [value...], [[target, value, value...]...]]
    ["fn", [name...], [value...], value]     a function of parameters, the last ones with defaults
    ["(", target...]                         several targets

A function with effects has `at` (its line, and how many more), `does`, its effects, and `names`, nodes of the global
names that its module does not offer to import. Carried out with the arguments of a call, they give the values that
upstream's code gives, and every value knows the argument that it came from.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

BINARY: dict[str, type[ast.operator]] = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "//": ast.FloorDiv, "%": ast.Mod, "**": ast.Pow,
    "|": ast.BitOr, "&": ast.BitAnd, "^": ast.BitXor, "<<": ast.LShift, ">>": ast.RShift, "@": ast.MatMult,
}  # fmt: skip
UNARY: dict[str, type[ast.unaryop]] = {"not": ast.Not, "-": ast.USub, "+": ast.UAdd, "~": ast.Invert}
COMPARISONS: dict[str, type[ast.cmpop]] = {
    "==": ast.Eq, "!=": ast.NotEq, "<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE, "is": ast.Is,
    "is not": ast.IsNot, "in": ast.In, "not in": ast.NotIn,
}  # fmt: skip
COMPREHENSIONS: dict[str, Any] = {
    "list": ast.ListComp, "set": ast.SetComp, "dict": ast.DictComp, "generator": ast.GeneratorExp,
}  # fmt: skip

LOAD, STORE = ast.Load(), ast.Store()


_SET_LATER = "$global"
"""A name that no module has, so that nothing is known of it."""


def executable(name: str, arguments: ast.arguments, effects: Any) -> ast.FunctionDef:
    """Return a function with these effects, in the form that the evaluator runs."""
    line, more = effects["at"]
    body = _Steps(line).block(effects["does"])
    return ast.FunctionDef(
        name, arguments, body, [], lineno=line, col_offset=0, end_lineno=line + more, end_col_offset=0
    )


class _Steps:
    """The effects of one function, which begins at a line."""

    def __init__(self, line: int) -> None:
        self.line = line

    def block(self, effects: Sequence[Any]) -> list[ast.stmt]:
        return [self.effect(each) for each in effects] or [ast.Pass(**self.place([0]))]

    def place(self, told: Sequence[int]) -> dict[str, Any]:
        first = self.line + told[0]
        last = first + told[1] if len(told) > 1 else first
        return {"lineno": first, "end_lineno": last, "col_offset": 0, "end_col_offset": 0}

    def effect(self, effect: Any) -> ast.stmt:
        match effect:
            case ["set", targets, value, *place]:
                return ast.Assign([self.target(each) for each in targets], self.value(value), **self.place(place))
            case ["add", sign, target, value, *place]:
                return ast.AugAssign(self.target(target), BINARY[sign](), self.value(value), **self.place(place))
            case ["do", value, *place]:
                return ast.Expr(self.value(value), **self.place(place))
            case ["give", value, *place]:
                return ast.Return(self.value(value), **self.place(place))
            case ["if", test, body, orelse, *place]:
                return ast.If(self.value(test), self.block(body), self._perhaps(orelse), **self.place(place))
            case ["each", target, iterable, body, *place]:
                return ast.For(self.target(target), self.value(iterable), self.block(body), [], **self.place(place))
            case ["raise", error, *place]:
                return ast.Raise(self.value(error), None, **self.place(place))
            case ["require", test, *place]:
                return ast.Assert(self.value(test), None, **self.place(place))
            case ["drop", targets, *place]:
                return ast.Delete([self.target(each) for each in targets], **self.place(place))
            case ["break", *place]:
                return ast.Break(**self.place(place))
            case ["continue", *place]:
                return ast.Continue(**self.place(place))
            case ["with", managers, body, *place]:
                items = [
                    ast.withitem(self.value(manager), None if target is None else self.target(target))
                    for manager, target in managers
                ]
                return ast.With(items, self.block(body), **self.place(place))
            case ["try", body, handlers, orelse, final, *place]:
                caught = [self._handler(kind, number, done, place) for kind, number, done in handlers]
                return ast.Try(
                    self.block(body), caught, self._perhaps(orelse), self._perhaps(final), **self.place(place)
                )
            case ["def", number, names, defaults, body, *place]:
                arguments = self._parameters(names, defaults)
                return ast.FunctionDef(_local(number), arguments, self.block(body), [], **self.place(place))
        raise ValueError(f"no effect: {effect[0]}")

    def _perhaps(self, effects: Sequence[Any]) -> list[ast.stmt]:
        return self.block(effects) if effects else []

    def _handler(self, kind: Any, number: int | None, body: Sequence[Any], place: Sequence[int]) -> ast.ExceptHandler:
        caught = None if kind is None else self.value(kind)
        return ast.ExceptHandler(
            caught, None if number is None else _local(number), self.block(body), **self.place(place)
        )

    def target(self, target: Any) -> Any:
        made = self.value(target)
        made.ctx = STORE
        return made

    def value(self, value: Any) -> Any:
        match value:
            case None | bool() | int() | float() | str():
                return ast.Constant(value)
            case ["$", slot]:
                return ast.Name(_local(slot), LOAD)
            case ["global", name]:
                return ast.Name(name, LOAD)
            case [".", None, name]:
                # A global name that is None when the module is imported: another function sets it.
                return ast.Attribute(ast.Name(_SET_LATER, LOAD), name, LOAD)
            case [".", owner, name]:
                return ast.Attribute(self.value(owner), name, LOAD)
            case ["[]", owner, key]:
                return ast.Subscript(self.value(owner), self.value(key), LOAD)
            case ["[:]", owner, *bounds]:
                told = [None if each is None else self.value(each) for each in bounds]
                return ast.Subscript(self.value(owner), ast.Slice(*told), LOAD)
            case ["()", called, arguments, keywords, *place]:
                named = [ast.keyword(name, self.value(each)) for name, each in keywords]
                return ast.Call(self.value(called), list(map(self.value, arguments)), named, **self.place(place))
            case ["*", inner]:
                return ast.Starred(self.value(inner), LOAD)
            case ["(", *targets]:
                return ast.Tuple([self.target(each) for each in targets], STORE)
            case ["op", sign, left, right]:
                return ast.BinOp(self.value(left), BINARY[sign](), self.value(right))
            case ["un", sign, operand]:
                return ast.UnaryOp(UNARY[sign](), self.value(operand))
            case ["and" | "or" as sign, *values]:
                return ast.BoolOp(ast.And() if sign == "and" else ast.Or(), list(map(self.value, values)))
            case ["cmp", left, *pairs]:
                signs = [COMPARISONS[sign]() for sign, _ in pairs]
                return ast.Compare(self.value(left), signs, [self.value(other) for _, other in pairs])
            case ["either", test, body, orelse]:
                return ast.IfExp(self.value(test), self.value(body), self.value(orelse))
            case ["text", *parts]:
                return ast.JoinedStr([self._part(each) for each in parts])
            case ["list", *items]:
                return ast.List(list(map(self.value, items)), LOAD)
            case ["tuple", *items]:
                return ast.Tuple(list(map(self.value, items)), LOAD)
            case ["set", *items]:
                return ast.Set(list(map(self.value, items)))
            case ["dict", *entries]:
                keys = [self.value(entry[0]) if len(entry) > 1 else None for entry in entries]
                return ast.Dict(keys, [self._written(entry) for entry in entries])
            case ["all", kind, produced, loops]:
                generators = [
                    ast.comprehension(self.target(target), self.value(iterable), list(map(self.value, tests)), 0)
                    for target, iterable, *tests in loops
                ]
                return COMPREHENSIONS[kind](*map(self.value, produced), generators)
            case ["fn", names, defaults, body]:
                return ast.Lambda(self._parameters(names, defaults), self.value(body), **self.place([0]))
        raise ValueError(f"no value: {value[0]}")

    def _parameters(self, names: Sequence[str], defaults: Sequence[Any]) -> ast.arguments:
        named = [ast.arg(name) for name in names]
        return ast.arguments(
            posonlyargs=[], args=named, kwonlyargs=[], kw_defaults=[], defaults=list(map(self.value, defaults))
        )

    def _part(self, part: Any) -> ast.expr:
        if isinstance(part, str):
            return ast.Constant(part)
        value, conversion, spec = part
        return ast.FormattedValue(self.value(value), conversion, None if spec is None else self.value(spec))

    def _written(self, entry: Any) -> ast.expr:
        made: ast.expr = self.value(entry[-1] if len(entry) == 1 else entry[1])
        if len(entry) > 2 and not hasattr(made, "lineno"):
            for name, number in self.place(entry[2:]).items():
                setattr(made, name, number)
        return made


def _local(slot: int | str) -> str:
    """Return the name of a local value; no upstream name is like that of a number."""
    return slot if isinstance(slot, str) else f"${slot}"
