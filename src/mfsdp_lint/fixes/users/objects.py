"""Objects of a module that functions put into their configurations: what one of them writes there, all of them have."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from mfsdp_lint.inputs.imports import parsed
from mfsdp_lint.readers.registry import is_python

if TYPE_CHECKING:
    from mfsdp_lint.fixes.users import EditUsers

_ENVIRONMENT = "env_vars"
"""The variables of Bridge's configuration."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def sharer_of(
    users: EditUsers, path: str, tree: ast.Module, name: str, settings: Collection[str], but: Collection[str]
) -> str:
    """Return a function that takes the same object as a function of a module, whose settings an edit writes there.

    `settings` are those that the edit changes, `but` the functions that get the same edit.
    """
    sections = {_ENVIRONMENT if each.startswith("env.") else each.split(".")[-2] for each in settings if "." in each}
    shared = {each for function in _functions(tree) if function.name == name for each in _taken(function, sections)}
    for word in sorted(shared):
        for other, text in {path: "", **users.search(path, {word})}.items():
            there = tree if other == path else parsed(text) if is_python(other) else None
            for function in _functions(there or ast.Module([], [])):
                if function.name not in but and any(_names(function, word)):
                    return f"{function.name} of {other} has the same {word}"
    return ""


def _functions(tree: ast.Module) -> Iterator[_Function]:
    return (each for each in ast.walk(tree) if isinstance(each, _Function))


def _taken(function: _Function, sections: Collection[str]) -> Iterator[str]:
    """Yield the names from around a function that it gives to a section of a configuration, as they are."""
    nodes = list(ast.walk(function))
    own = {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    own |= {each.arg for each in nodes if isinstance(each, ast.arg)}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Attribute(attr=section)], value=ast.Name(id=name)) if section in sections:
                found = name
            case ast.Assign(targets=[ast.Attribute(attr=section)], value=ast.Attribute(attr=name)) if (
                section in sections and name.isupper()
            ):
                found = name
            case ast.keyword(arg=str(section), value=ast.Name(id=name)) if section in sections:
                found = name
            case _:
                continue
        if found not in own:
            yield found


def _names(function: _Function, word: str) -> Iterator[bool]:
    for each in ast.walk(function):
        match each:
            case ast.Name(id=name) | ast.Attribute(attr=name) if name == word:
                yield True
