"""The condition language of the rules: comparisons of settings, in three-valued logic.

    megatron_fsdp and checkpoint.ckpt_format != "fsdp_dtensor"
    model.recompute_granularity is not None or model.pipeline_model_parallel_size > 1

A dotted name is a setting, a plain name a term (a condition with a name, see rules/terms.yaml). There are literals,
`and`, `or`, `not`, the comparisons, `in` a list of literals, `is None` and parentheses, and nothing else: Python's own
parser reads it, what is not on the list is refused, and nothing is ever executed.

A condition is true, false, or unknown (None). It is decided only if every value that the unknown settings could
still have gives the same answer (Kleene), so a rule never speaks of what nobody knows.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, cast

from mfsdp_lint.recipe import Variant
from mfsdp_lint.rules.byversion import ByVersion
from mfsdp_lint.values import NotNone, Plain, possible, same

Truth = bool | None


class ConditionError(ValueError):
    """A text that is not a condition."""


class Node(Protocol):
    """A piece of a condition."""

    def truth(self, variant: Variant) -> Truth:
        """True, false, or None where it is not decided."""

    def deciding(self, variant: Variant) -> Iterator[str]:
        """The settings that made it what it is; to be asked only where it is decided."""

    def at(self, bridge: str) -> Node:
        """The same for one Megatron-Bridge version: its terms mean what they mean there."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A parsed condition and the text it was parsed from."""

    text: str
    root: Node

    def truth(self, variant: Variant) -> Truth:
        """Whether it holds for these settings; None where it is not decided."""
        return self.root.truth(variant)

    def deciding(self, variant: Variant) -> tuple[str, ...]:
        """The settings that made it true or false: of an `or` that holds the arms that hold, of an `and` all."""
        return tuple(dict.fromkeys(self.root.deciding(variant)))

    def at(self, bridge: str) -> Condition:
        """The same for one Megatron-Bridge version, which is what can be judged."""
        return Condition(self.text, self.root.at(bridge))


@dataclass(frozen=True, slots=True)
class Constant:
    """True or false, whatever the settings are."""

    value: bool

    def truth(self, variant: Variant) -> Truth:
        return self.value

    def deciding(self, variant: Variant) -> Iterator[str]:
        return iter(())

    def at(self, bridge: str) -> Node:
        return self


@dataclass(frozen=True, slots=True)
class Test:
    """A question to one setting. `when_set` is the answer for a value of which only `not None` is known."""

    path: str
    ask: Callable[[Plain], Truth]
    when_set: Truth = None

    def truth(self, variant: Variant) -> Truth:
        value = variant.value(self.path)
        options = possible(value)
        if options is None:
            return self.when_set if isinstance(value, NotNone) else None
        return _agreed(self.ask(option) for option in options)

    def deciding(self, variant: Variant) -> Iterator[str]:
        yield self.path

    def at(self, bridge: str) -> Node:
        return self


@dataclass(frozen=True, slots=True)
class Relation:
    """A comparison of two settings."""

    left: str
    right: str
    compare: Callable[[Plain, Plain], Truth]

    def truth(self, variant: Variant) -> Truth:
        left, right = possible(variant.value(self.left)), possible(variant.value(self.right))
        if left is None or right is None:
            return None
        return _agreed(self.compare(one, other) for one in left for other in right)

    def deciding(self, variant: Variant) -> Iterator[str]:
        yield self.left
        yield self.right

    def at(self, bridge: str) -> Node:
        return self


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite."""

    operand: Node

    def truth(self, variant: Variant) -> Truth:
        truth = self.operand.truth(variant)
        return None if truth is None else not truth

    def deciding(self, variant: Variant) -> Iterator[str]:
        return self.operand.deciding(variant)

    def at(self, bridge: str) -> Node:
        return Not(self.operand.at(bridge))


@dataclass(frozen=True, slots=True)
class Junction:
    """`and` or `or`: an arm that is `decisive` (false for `and`, true for `or`) decides it alone."""

    arms: tuple[Node, ...]
    decisive: bool

    def truth(self, variant: Variant) -> Truth:
        result: Truth = not self.decisive
        for arm in self.arms:
            truth = arm.truth(variant)
            if truth is self.decisive:
                return truth
            if truth is None:
                result = None
        return result

    def deciding(self, variant: Variant) -> Iterator[str]:
        wanted = self.truth(variant)
        for arm in self.arms:
            if arm.truth(variant) is wanted:
                yield from arm.deciding(variant)

    def at(self, bridge: str) -> Node:
        return Junction(tuple(arm.at(bridge) for arm in self.arms), self.decisive)


@dataclass(frozen=True, slots=True)
class Undecided:
    """A term that means nothing in the version at hand."""

    def truth(self, variant: Variant) -> Truth:
        return None

    def deciding(self, variant: Variant) -> Iterator[str]:
        return iter(())

    def at(self, bridge: str) -> Node:
        return self


@dataclass(frozen=True, slots=True)
class Term:
    """A condition with a name, which may differ from version to version."""

    name: str
    meaning: ByVersion[Condition]

    def truth(self, variant: Variant) -> Truth:
        raise ConditionError(f"the term {self.name} has to be taken at a version before it is judged")

    def deciding(self, variant: Variant) -> Iterator[str]:
        raise ConditionError(f"the term {self.name} has to be taken at a version before it is judged")

    def at(self, bridge: str) -> Node:
        meaning = self.meaning.at(bridge)
        return Undecided() if meaning is None else meaning.root.at(bridge)


Terms = Mapping[str, ByVersion[Condition]]


def parse(text: str, terms: Terms) -> Condition:
    """Read a condition; `always` and `never` are conditions too. Raises ConditionError."""
    if text in ("always", "never"):
        return Condition(text, Constant(text == "always"))
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ConditionError(f"not a condition: {text}") from None
    return Condition(text, _Parser(text, terms).node(tree.body))


@dataclass(frozen=True, slots=True)
class _Parser:
    text: str
    terms: Terms

    def node(self, tree: ast.expr) -> Node:
        match tree:
            case ast.BoolOp(op=op, values=values):
                return Junction(tuple(self.node(value) for value in values), isinstance(op, ast.Or))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Not(self.node(operand))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self.comparison(left, op, right)
            case ast.Name(id=name) if name in self.terms:
                return Term(name, self.terms[name])
            case ast.Name(id=name):
                raise self.error(tree, f"{name} is neither a term nor a setting")
            case ast.Attribute():
                return Test(self.path(tree), bool)
            case _:
                raise self.error(tree, "only settings, terms, literals, comparisons, and, or, not are allowed")

    def comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Node:
        if isinstance(op, ast.In | ast.NotIn):
            options = self.literal(right)
            if not isinstance(options, list):
                raise self.error(right, "`in` needs a list of literals")
            return self.negated_if(isinstance(op, ast.NotIn), Test(self.path(left), _is_one_of(options)))
        if isinstance(op, ast.Is | ast.IsNot):
            if not (isinstance(right, ast.Constant) and right.value is None):
                raise self.error(right, "`is` can only ask for None")
            unset = Test(self.path(left), _is_none, when_set=False)
            return self.negated_if(isinstance(op, ast.IsNot), unset)
        compare = _EQUAL if isinstance(op, ast.Eq | ast.NotEq) else _ORDER[type(op)]
        if isinstance(right, ast.Attribute):
            node: Node = Relation(self.path(left), self.path(right), compare)
        else:
            literal = self.literal(right)
            if literal is None:
                raise self.error(right, "ask for None with `is`")
            node = Test(self.path(left), lambda value: compare(value, literal))
        return self.negated_if(isinstance(op, ast.NotEq), node)

    def negated_if(self, negated: bool, node: Node) -> Node:
        return Not(node) if negated else node

    def path(self, tree: ast.expr) -> str:
        names: list[str] = []
        while isinstance(tree, ast.Attribute):
            names.append(tree.attr)
            tree = tree.value
        if not names or not isinstance(tree, ast.Name):
            raise self.error(tree, "a comparison needs a setting, such as checkpoint.save, on its left")
        return ".".join([tree.id, *reversed(names)])

    def literal(self, tree: ast.expr) -> Plain:
        try:
            value = ast.literal_eval(tree)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            raise self.error(tree, "expected a literal") from None
        items = value if isinstance(value, list) else [value]
        if not all(item is None or isinstance(item, bool | int | float | str) for item in items):
            raise self.error(tree, "expected a plain value or a list of them")
        return cast(Plain, value)

    def error(self, tree: ast.AST, message: str) -> ConditionError:
        return ConditionError(f"{message}: {ast.unparse(tree)!r} in {self.text!r}")


def _agreed(answers: Iterator[Truth]) -> Truth:
    """The answer that all give, if all give the same."""
    first = next(answers, None)
    return first if all(answer is first for answer in answers) else None


def _is_none(value: Plain) -> Truth:
    return value is None


def _is_one_of(options: list[Plain]) -> Callable[[Plain], Truth]:
    return lambda value: any(same(value, option) for option in options)


def _ordered(compare: Callable[[float, float], bool]) -> Callable[[Plain, Plain], Truth]:
    """An order on numbers; unknown for anything else (None, text, a flag), which has none that upstream could mean."""

    def decide(left: Plain, right: Plain) -> Truth:
        if isinstance(left, bool) or isinstance(right, bool):
            return None
        if isinstance(left, int | float) and isinstance(right, int | float):
            return compare(left, right)
        return None

    return decide


_EQUAL: Callable[[Plain, Plain], Truth] = same
_ORDER: dict[type[ast.cmpop], Callable[[Plain, Plain], Truth]] = {
    ast.Lt: _ordered(operator.lt),
    ast.LtE: _ordered(operator.le),
    ast.Gt: _ordered(operator.gt),
    ast.GtE: _ordered(operator.ge),
}
