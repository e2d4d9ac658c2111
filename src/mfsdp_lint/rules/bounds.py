"""Bounds of a project's own rules: they are input, and what they cost grows neither with their cunning nor with luck.

A rule file is small, its conditions stay small with all their terms written out, and its patterns cannot search for
long. The bounds count what is written and never the time, so that a rule is refused everywhere or nowhere. The tool's
own rules are far below them: 60 parts and 9 levels at most, 4,100 parts in all.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from mfsdp_lint.core.records import fields
from mfsdp_lint.megatron.conditions.language import Condition
from mfsdp_lint.megatron.conditions.nodes import Apply, Comparison, Expression, Junction, NamedValue, Node, Not, Term

FILE_BYTES = 64 * 1024
FILES = 200
"""In all folders together."""

YAML_NODES = 5_000
"""In one file, with every alias written out."""

YAML_DEPTH = 20

TEXT = 2_000
"""Characters of a condition, and of a message."""

PLACEHOLDERS = 20
"""In a message."""

TEXT_IN_FULL = 10_000
"""Characters of a condition with its terms written out."""

PARTS = 500
"""Questions, values and junctions in a condition with its terms written out."""

PARTS_IN_ALL = 20_000
"""In all conditions of all files."""

DEPTH = 40
"""Levels of a condition with its terms written out."""

PATHS = 1_000
"""Ways in which a pattern may match at one place: of these a search tries each."""

PATHS_IN_ALL = 2_000

PATTERN_LENGTH = 500
"""Characters of the longest text that a pattern matches."""


class TooCostly(ValueError):
    """A rule that costs too much; the message says what, and what to do."""


def check_yaml(text: str) -> None:
    """Raise TooCostly for YAML that is deep, or large with its aliases written out; yaml.YAMLError for what is none."""
    import yaml

    sizes: dict[str, int] = {}
    open_nodes: list[tuple[str | None, int]] = []
    total = 0
    for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        if isinstance(event, yaml.AliasEvent):
            total += sizes.get(event.anchor or "", 1)
        elif isinstance(event, yaml.NodeEvent):
            total += 1
            if isinstance(event, yaml.CollectionStartEvent):
                open_nodes.append((event.anchor, total))
            elif event.anchor:
                sizes[event.anchor] = 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_nodes.pop()
            if anchor:
                sizes[anchor] = total - before + 1
        if total > YAML_NODES:
            raise TooCostly(f"more than {YAML_NODES:,} values, with aliases written out; make several rules of it")
        if len(open_nodes) > YAML_DEPTH:
            raise TooCostly(f"nested more than {YAML_DEPTH} deep")


def check_text(text: str) -> None:
    """Raise TooCostly for the text of a condition or a message that is too long."""
    if len(text) > TEXT:
        raise TooCostly(f"longer than {TEXT:,} characters")


def check_meaning(meaning: Condition | Expression) -> None:
    """Raise TooCostly for a condition or a value that is large or deep with its terms written out."""
    pending: list[tuple[Node | Expression, int]] = [(_root(meaning), 1)]
    parts = 0
    while pending:
        node, depth = pending.pop()
        parts += 1
        if parts > PARTS or depth > DEPTH:
            raise TooCostly(f"more than {PARTS} parts or {DEPTH} levels, with its terms written out")
        pending += ((each, depth + 1) for each in _below(node))
    if isinstance(meaning, Condition) and len(meaning.in_full) > TEXT_IN_FULL:
        raise TooCostly(f"longer than {TEXT_IN_FULL:,} characters, with its terms written out")


def check_together(rules: Iterable[object]) -> None:
    """Raise TooCostly where all these rules together are too much."""
    parts = paths = 0
    for rule in rules:
        for each in _conditions(rule):
            pending = [_root(each)]
            while pending:
                parts += 1
                pending += _below(pending.pop())
        finds = getattr(rule, "finds", None)
        paths += _ways(finds)[0] if finds is not None else 0
    if parts > PARTS_IN_ALL:
        raise TooCostly(f"the conditions of all rules have {parts:,} parts, and {PARTS_IN_ALL:,} are the most")
    if paths > PATHS_IN_ALL:
        raise TooCostly(f"the patterns of all rules can match in {paths:,} ways, and {PATHS_IN_ALL:,} are the most")


def check_pattern(pattern: re.Pattern[str]) -> None:
    """Raise TooCostly for a pattern whose search could take long: the bound holds for every text."""
    paths, length = _ways(pattern)
    if paths > PATHS or length > PATTERN_LENGTH:
        raise TooCostly(
            f"can match in {paths:,} ways a text of {length:,} characters, and {PATHS:,} and {PATTERN_LENGTH} are the "
            "most; give its repeats smaller limits"
        )


def _root(meaning: Condition | Expression) -> Node | Expression:
    return meaning.root if isinstance(meaning, Condition) else meaning


def _below(node: Node | Expression) -> tuple[Node | Expression, ...]:
    match node:
        case Junction(arms):
            return arms
        case Not(operand):
            return (operand,)
        case Term(_, meaning):
            return tuple(one.root for _, one in meaning.entries)
        case NamedValue(_, meaning):
            return tuple(one for _, one in meaning.entries)
        case Comparison(operands) | Apply(_, operands):
            return operands
    return ()


def _conditions(value: Any) -> Iterator[Condition]:
    """Yield the conditions in a rule."""
    if isinstance(value, Condition):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from _conditions(each)
    elif hasattr(type(value), "__dataclass_fields__"):
        for field in fields(type(value)):
            yield from _conditions(getattr(value, field.name))


def _ways(pattern: re.Pattern[str]) -> tuple[int, int]:
    """Return in how many ways a pattern can match at one place, and how long the longest match is.

    Raises TooCostly for one of which neither can be told.
    """
    if sys.version_info >= (3, 11):
        from re import _parser as parser
    else:
        import sre_parse as parser
    # A piece is an operation and its argument, as Python's own compiler sees them.
    return _ways_of(parser.parse(pattern.pattern, pattern.flags), 0)


_CAP = 10**9

_ONE_CHARACTER = ("LITERAL", "NOT_LITERAL", "ANY", "IN", "CATEGORY", "RANGE")
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


def _ways_of(items: Any, repeated: int) -> tuple[int, int]:
    paths, length = 1, 0
    for operation, argument in items:
        match str(operation), argument:
            case name, _ if name in _ONE_CHARACTER:
                ways, longest = 1, 1
            case "AT", _:
                ways, longest = 1, 0
            case "SUBPATTERN", (_, _, _, inner):
                ways, longest = _ways_of(inner, repeated)
            case "BRANCH", (_, options):
                each = [_ways_of(option, repeated) for option in options]
                ways, longest = sum(one for one, _ in each), max(one for _, one in each)
            case (("ASSERT" | "ASSERT_NOT"), (_, inner)):
                ways, longest = _ways_of(inner, repeated)
            case name, (least, most, inner) if name in _REPEATS:
                if int(most) > PATTERN_LENGTH:
                    raise TooCostly("repeats without a limit; give it one, as in {0,80} for *")
                if repeated:
                    raise TooCostly("repeats what repeats; write it without")
                one, longest = _ways_of(inner, repeated + 1)
                ways = sum(min(one**count, _CAP) for count in range(int(least), int(most) + 1))
                longest *= int(most)
            case _:
                raise TooCostly("looks back at a group; write it without")
        paths, length = min(paths * max(ways, 1), _CAP), min(length + longest, _CAP)
    return paths, length
