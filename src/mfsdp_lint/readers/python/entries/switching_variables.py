"""Variables of the environment that may turn FSDP on in a recipe: its files ask for them, and they are not given.

The text alone decides; reading the recipe with the variable shows whether a switch really changes
(engine/environment.py). A variable may decide a switch where a function that asks for it, or that has a condition on
it, names a switch. It also may where a function that names a switch uses the result of such a function, or a name that
a module sets under such a condition.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from mfsdp_lint.core.records import replace
from mfsdp_lint.megatron.vocabulary import SWITCHES
from mfsdp_lint.readers.python.entries.entries import Entry
from mfsdp_lint.readers.python.entries.running import Found
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.modules import Module

_NAMES = frozenset(path.rpartition(".")[2] for path in SWITCHES)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def with_variables(machine: Machine, entry: Entry, found: Iterable[Found], called: Iterable[Module]) -> list[Found]:
    """Add to recipes the variables that may decide a switch; the entry point `called` functions of these modules."""
    variables = {}
    modules = dict.fromkeys((entry.module, *called)) if machine.asked_for else {}
    for name, scopes in machine.asked_for.items():
        asking = [scope for scope, module in scopes.items() if _reaches(machine, entry, module, modules)]
        if asking and _may_switch(machine, asking, modules):
            texts = dict.fromkeys(text for scope in asking for text in _compared(scope))
            variables[name[1:]] = tuple(texts)
    if not variables:
        return list(found)
    return [replace(each, recipe=replace(each.recipe, variables=variables)) for each in found]


def _reaches(machine: Machine, entry: Entry, module: Module, called: Collection[Module]) -> bool:
    """Tell whether an entry point has called functions of a module, or imports it, directly or not."""
    if module in called:
        return True
    found, pending = {module.path}, [module.path]
    while pending:
        more = machine.finder.users.get(pending.pop(), set()) - found
        found |= more
        pending += more
    return entry.module.path in found


def _may_switch(machine: Machine, asking: Iterable[ast.AST], modules: Iterable[Module]) -> bool:
    given: set[str] = set()
    for scope in asking:
        if not _NAMES.isdisjoint(_words(scope)):
            return True
        given |= {scope.name} if isinstance(scope, _SCOPES) else _set_under_conditions(scope)
    for module in modules:
        text = _text_with_switch(machine, module)
        if not any(word in text for word in given):
            continue
        scopes = (node for node in ast.walk(module.tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
        words = (_words(each) for each in (*scopes, module.tree))
        if any(not _NAMES.isdisjoint(each) and not given.isdisjoint(each) for each in words):
            return True
    return False


def _text_with_switch(machine: Machine, module: Module) -> str:
    """Return the text of a module that names a switch; "" for any other module."""
    key = ("text with a switch", module)
    if key not in machine.memo:
        text = machine.finder.sources.text_or_none(module.path) or ""
        machine.memo[key] = text if any(name in text for name in _NAMES) else ""
    found: str = machine.memo[key]
    return found


def _within(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function, or of a module's top level, without the functions and classes in it."""
    pending = list(ast.iter_child_nodes(scope))
    while pending:
        node = pending.pop(0)
        yield node
        if not isinstance(node, _SCOPES):
            pending += ast.iter_child_nodes(node)


@lru_cache(maxsize=4096)
def _words(scope: ast.AST) -> frozenset[str]:
    """Return the names and texts in a function or a module's top level."""
    found: set[str] = set()
    for node in _within(scope):
        match node:
            case (
                ast.Name(id=word)
                | ast.Attribute(attr=word)
                | ast.keyword(arg=str(word))
                | ast.Constant(value=str(word))
            ):
                found.add(word.rpartition(".")[2])
    return frozenset(found)


@lru_cache(maxsize=256)
def _set_under_conditions(module: ast.AST) -> frozenset[str]:
    """Return the names that a module's top level binds under conditions."""
    found: set[str] = set()
    for node in _within(module):
        if isinstance(node, ast.If):
            names = (each for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))
            found.update(each.id for each in names)
    return frozenset(found)


@lru_cache(maxsize=256)
def _compared(scope: ast.AST) -> tuple[str, ...]:
    """Return the texts in the conditions of a function or a module's top level."""
    conditions = (node for node in _within(scope) if isinstance(node, (ast.Compare, ast.match_case)))
    inner = (each for node in conditions for each in ast.walk(node) if isinstance(each, ast.Constant))
    return tuple(dict.fromkeys(each.value for each in inner if isinstance(each.value, str)))
