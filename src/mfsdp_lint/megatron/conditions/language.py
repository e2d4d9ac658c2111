"""The condition language of the rules, in three-valued logic.

    megatron_fsdp and checkpoint.ckpt_format != "fsdp_dtensor"
    model.recompute_granularity is not None or model.pipeline_model_parallel_size > 1
    "expandable_segments:True" in split(env.PYTORCH_CUDA_ALLOC_CONF, ",")

Python's own parser reads it, what is not on this list is refused, and nothing is ever executed:

    condition   condition and condition | condition or condition | not condition | ( condition )
                term                                    a condition with a name, see rules/terms.yaml
                setting                                 it is true, as Python takes it
                value == value, !=, <, <=, >, >=        numbers have an order; None, text and flags have none
                value is None | value is not None
                value in ["a", "b"] | value not in …    one of these literals
                "a" in value | "a" not in value         the value is a list with this element (see nodes.as_list)
                mentions(value, "a")                    the value is a text with this part
                always | never                          as the whole condition
    value       setting | literal | term | v + v, -, *, //, %
                split(v, ",") | item(v, "a") | len(v) | lower(v) | number(v) | without(v, ["a"])

A dotted name is a setting, a plain name a term or a section that can be missing as a whole (`peft`). `run.world_size`
is the number of ranks, which files do not say.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from typing import cast

from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Plain, refuse_huge, same
from mfsdp_lint.megatron.conditions import ByVersion, Site, Truth
from mfsdp_lint.megatron.conditions.nodes import (
    ARITHMETIC,
    FUNCTIONS,
    UNDEFINED,
    Apply,
    Comparison,
    Constant,
    Expression,
    Junction,
    Literal,
    NamedValue,
    Node,
    Not,
    Rooted,
    SettingValue,
    Term,
    Test,
    Undefined,
    arithmetic,
    as_list,
    is_number,
)

SECTIONS = ("peft", "comm_overlap", "mixed_precision")
"""Settings without a dot: whole sections, which may be None, or the name of a configuration."""


class ConditionError(ValueError):
    """A text that is not a condition."""


class Condition:
    """A condition: its text, and what it means, which may be worked out when it is first asked."""

    __slots__ = ("_in_full", "_root", "text")

    def __init__(self, text: str, root: Node | Callable[[], Node], in_full: str | Callable[[], str] = "") -> None:
        self.text = text
        self._root = root
        self._in_full = in_full

    @property
    def root(self) -> Node:
        """The question that it asks."""
        if callable(self._root):
            self._root = self._root()
        return self._root

    @property
    def in_full(self) -> str:
        """Return its text without the names of terms."""
        if callable(self._in_full):
            self._in_full = self._in_full()
        return self._in_full

    @property
    def first(self) -> Condition:
        """Return its first arm, which has to hold for the whole condition to hold."""

        def first() -> Node:
            root = self.root
            return root.arms[0] if isinstance(root, Junction) and not root.decisive else root

        return Condition(first_arm(self.text), first)

    def truth(self, variant: Variant) -> Truth:
        """Tell whether it holds for these settings; None where it is not decided."""
        return self.root.truth(variant)

    def deciding(self, variant: Variant) -> tuple[str, ...]:
        """Return the settings that made it true or false: of an `or` that holds the arms that hold, of an `and` all."""
        return tuple(dict.fromkeys(self.root.deciding(variant)))

    def at(self, site: Site) -> Condition:
        """Return the condition at one site; only there can it be judged."""
        return Condition(self.text, lambda: self.root.at(site), lambda: self.in_full)

    def paths(self) -> frozenset[str]:
        """Return the settings in it."""
        return frozenset(path for path, _ in self.root.landmarks())


Meaning = ByVersion[Condition] | ByVersion[Expression]

Terms = Mapping[str, Meaning]
"""By name: a condition, or a value."""


def parse(text: str, terms: Terms) -> Condition:
    """Read a condition. Raises ConditionError."""
    if text in ("always", "never"):
        return Condition(text, Constant(text == "always"), text)
    return Condition(text, _Parser(text, terms).root(), _in_full(text, terms))


def deferred(text: str, terms: Terms) -> Condition:
    """Return the condition of a text that is known to be right: it is parsed when it is first evaluated."""
    return Condition(text, lambda: parse(text, terms).root, lambda: _in_full(text, terms))


def first_arm(text: str) -> str:
    """Return the text before the first `and` of a condition; the whole text of a condition without one."""
    tree = _tree(text)
    return ast.unparse(tree.values[0]) if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And) else text


def _in_full(text: str, terms: Terms) -> str:
    """Replace the terms of a condition by their meanings, where a term has one meaning everywhere."""
    for name in dict.fromkeys(re.findall(r"(?<![\w.])[a-z_]+(?![\w.])", text)):
        entries = terms[name].entries if name in terms else ()
        if len(entries) == 1 and isinstance(meant := entries[0][1], Condition):
            text = meant.in_full if text == name else re.sub(rf"(?<![\w.]){name}(?![\w.])", f"({meant.in_full})", text)
    return text


def parse_value(text: str, terms: Terms) -> Expression:
    """Read a value. Raises ConditionError."""
    try:
        return _Parser(text, terms).value(_tree(text))
    except RecursionError:
        raise ConditionError(f"nested too deeply: {text}") from None


def _tree(text: str) -> ast.expr:
    try:
        refuse_huge(text)
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ConditionError(f"not a condition: {text}") from None


@dataclass(frozen=True, slots=True)
class _Parser:
    text: str
    terms: Terms

    def root(self) -> Node:
        try:
            return self.node(_tree(self.text))
        except RecursionError:
            raise ConditionError(f"nested too deeply: {self.text}") from None

    def node(self, tree: ast.expr) -> Node:
        match tree:
            case ast.BoolOp(op=op, values=values):
                return Junction(tuple(self.node(value) for value in values), isinstance(op, ast.Or))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Not(self.node(operand))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self.comparison(tree, left, op, right)
            case ast.Call(func=ast.Name(id="mentions"), args=[value, part], keywords=[]):
                text = self.literal(part)
                if not isinstance(text, str):
                    raise self.error(part, "expected text")
                return self.about([self.value(value)], lambda found: _mentions(found, text), literals=(text,))
            case ast.Name(id=name) if name not in SECTIONS:
                return self.term(tree, name)
            case ast.Name() | ast.Attribute():
                return Test(self.path(tree), bool, literals=(True,))
            case _:
                raise self.error(tree, "only settings, terms, literals, comparisons, and, or, not are allowed")

    def term(self, tree: ast.expr, name: str) -> Node:
        meaning = self.meaning(tree, name)
        if not all(isinstance(one, Condition) for _, one in meaning.entries):
            raise self.error(tree, f"{name} is a value; compare it with something")
        return Term(name, cast(ByVersion[Rooted], meaning))

    def meaning(self, tree: ast.expr, name: str) -> Meaning:
        if name not in self.terms:
            raise self.error(tree, f"{name} is neither a term nor a setting")
        return self.terms[name]

    def comparison(self, tree: ast.Compare, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Node:
        match op:
            case ast.In() | ast.NotIn():
                return _negated_if(isinstance(op, ast.NotIn), self.membership(left, right))
            case ast.Is() | ast.IsNot():
                if not (isinstance(right, ast.Constant) and right.value is None):
                    raise self.error(right, "`is` can only ask for None")
                unset = self.about([self.value(left)], lambda found: found is None, when_set=False, literals=(None,))
                return _negated_if(isinstance(op, ast.IsNot), unset)
        for side in (left, right):
            if isinstance(side, ast.Constant) and side.value is None:
                raise self.error(side, "ask for None with `is`")
        compare = same if isinstance(op, ast.Eq | ast.NotEq) else _ORDER[type(op)]
        one, other = self.value(left), self.value(right)
        if isinstance(one, Literal) and isinstance(other, Literal):
            raise self.error(tree, "a comparison needs a setting, such as checkpoint.save")
        return _negated_if(isinstance(op, ast.NotEq), self.about([one, other], compare))

    def membership(self, left: ast.expr, right: ast.expr) -> Node:
        one, other = self.value(left), self.value(right)
        match one, other:
            case Literal(value), Literal():
                raise self.error(left, "a comparison needs a setting, such as checkpoint.save")
            case Literal(value), _:
                return self.about([other], lambda found: _contains(found, value), literals=(value,))
            case _, Literal(list() as options):
                return self.about([one], lambda found: _is_one_of(found, options), literals=tuple(options))
        raise self.error(right, "`in` needs a list of literals on its right, or a literal on its left")

    def about(
        self,
        operands: list[Expression],
        ask: Callable[..., Truth],
        when_set: Truth = None,
        literals: tuple[Plain, ...] = (),
    ) -> Node:
        """Build a question to expressions; to a bare setting, which is nearly all, in its short form."""
        match operands:
            case [SettingValue(path)]:
                return Test(path, ask, when_set, literals)
            case [SettingValue(path), Literal(value)]:
                return Test(path, lambda found: ask(found, value), literals=(value,))
            case [Literal(value), SettingValue(path)]:
                return Test(path, lambda found: ask(value, found), literals=(value,))
        # A question is undecided about undefined values.
        return Comparison(tuple(operands), lambda *found: None if UNDEFINED in found else ask(*found), literals)

    def value(self, tree: ast.expr) -> Expression:
        match tree:
            case ast.Attribute():
                return SettingValue(self.path(tree))
            case ast.Name(id=name) if name in SECTIONS:
                return SettingValue(name)
            case ast.Name(id=name):
                meaning = self.meaning(tree, name)
                if any(isinstance(one, Condition) for _, one in meaning.entries):
                    raise self.error(tree, f"{name} is a condition, not a value")
                return NamedValue(name, cast(ByVersion[Expression], meaning))
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
                count, function = FUNCTIONS[name]
                if len(args) != count:
                    raise self.error(tree, f"{name} takes {count}")
                return Apply(function, tuple(self.value(argument) for argument in args))
            case ast.BinOp(left=left, op=op, right=right) if type(op).__name__ in ARITHMETIC:
                return Apply(arithmetic(ARITHMETIC[type(op).__name__]), (self.value(left), self.value(right)))
            case _:
                return Literal(self.literal(tree))

    def path(self, tree: ast.expr) -> str:
        names: list[str] = []
        while isinstance(tree, ast.Attribute):
            names.append(tree.attr)
            tree = tree.value
        if not isinstance(tree, ast.Name):
            raise self.error(tree, "only settings, such as checkpoint.save, have a dot")
        return ".".join([tree.id, *reversed(names)])

    def literal(self, tree: ast.expr) -> Plain:
        try:
            value = ast.literal_eval(tree)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            raise self.error(tree, "expected a setting, a literal or one of the functions") from None
        items = value if isinstance(value, list) else [value]
        if not all(item is None or isinstance(item, bool | int | float | str) for item in items):
            raise self.error(tree, "expected a plain value or a list of them")
        return cast(Plain, value)

    def error(self, tree: ast.AST, message: str) -> ConditionError:
        return ConditionError(f"{message}: {ast.unparse(tree)!r} in {self.text!r}")


def _negated_if(negated: bool, node: Node) -> Node:
    return Not(node) if negated else node


def _is_one_of(value: Plain, options: list[Plain]) -> Truth:
    return any(same(value, option) for option in options)


def _contains(value: Plain, element: Plain) -> Truth:
    elements = as_list(value)
    return None if isinstance(elements, Undefined) else _is_one_of(element, elements)


def _mentions(value: Plain, part: str) -> Truth:
    if value is None:
        return False
    return part in value if isinstance(value, str) else None


def _ordered(compare: Callable[[float, float], bool]) -> Callable[[Plain, Plain], Truth]:
    """Wrap an order on numbers; it is unknown for anything else (None, text, a flag), which upstream cannot order."""

    def decide(left: Plain, right: Plain) -> Truth:
        return compare(left, right) if is_number(left) and is_number(right) else None

    return decide


_ORDER: dict[type[ast.cmpop], Callable[[Plain, Plain], Truth]] = {
    ast.Lt: _ordered(operator.lt),
    ast.LtE: _ordered(operator.le),
    ast.Gt: _ordered(operator.gt),
    ast.GtE: _ordered(operator.ge),
}
