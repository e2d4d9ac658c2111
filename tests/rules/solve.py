"""Settings that make a condition true, or false: found by trying the literals that it speaks of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import NOT_NONE, Known, Plain, Value
from mfsdp_lint.megatron.conditions.nodes import Comparison, Constant, Either, Junction, Node, Not, Test

Assignment = Mapping[str, Plain]
Pool = Mapping[str, tuple[Plain, ...]]

_ALWAYS: tuple[Plain, ...] = (True, False, None, 0, 1, 2, 4, "text", "1")


def solutions(node: Node, wanted: bool, pool: Pool, given: Assignment) -> Iterator[Assignment]:
    """Assignments that extend `given` and make a condition what is wanted."""
    match node:
        case Constant(value):
            if value is wanted:
                yield given
        case Not(operand):
            yield from solutions(operand, not wanted, pool, given)
        case Junction(arms, decisive) if decisive is wanted:
            for arm in arms:
                yield from solutions(arm, wanted, pool, given)
        case Junction(arms, _):
            yield from _all(arms, wanted, pool, given)
        case Either(meanings):
            yield from _all(meanings, wanted, pool, given)
        case Test() | Comparison():
            paths = list(dict.fromkeys(path for path, _ in node.landmarks()))
            for values in product(*((given[path],) if path in given else pool[path] for path in paths)):
                extended = {**given, **dict(zip(paths, values, strict=True))}
                if node.truth(variant(extended)) is wanted:
                    yield extended
        case _:
            raise AssertionError(f"{type(node).__name__} has to be taken at a site first")


def _all(arms: tuple[Node, ...], wanted: bool, pool: Pool, given: Assignment) -> Iterator[Assignment]:
    if not arms:
        yield given
        return
    for found in solutions(arms[0], wanted, pool, given):
        yield from _all(arms[1:], wanted, pool, found)


def pool_of(*nodes: Node) -> Pool:
    """The values to try for each setting: what it is compared with, what lies beside that, and a few more."""
    found: dict[str, list[Plain]] = {}
    for node in nodes:
        for path, literals in node.landmarks():
            values = found.setdefault(path, [])
            for literal in literals:
                values += [literal, *_beside(literal)]
    for values in found.values():
        values.append([value for value in _different(values) if isinstance(value, str)])  # a list with all of them
    return {path: _different([*values, *_ALWAYS]) for path, values in found.items()}


def _beside(literal: Plain) -> list[Plain]:
    if isinstance(literal, bool) or literal is None:
        return []
    if isinstance(literal, int | float):
        return [literal - 1, literal + 1]
    if isinstance(literal, str):
        return [[literal], [], f"un{literal}"]
    return list(literal) if isinstance(literal, list) else []


def _different(values: list[Plain]) -> tuple[Plain, ...]:
    return tuple({repr(value): value for value in values}.values())


def variant(settings: Mapping[str, Plain | Value]) -> Variant:
    known = {
        path: value if value is NOT_NONE or isinstance(value, Known) else Known(value)  # type: ignore[arg-type]
        for path, value in settings.items()
    }
    return Variant(WrittenSettings.of(known))
