"""Objects of a module that functions put into their configurations: what one of them writes there, all of them have."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from mfsdp_lint.core.patterns import lazy_pattern
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
    taken = {each for function in _functions(tree) if function.name == name for each in _taken(function, sections)}
    for word, is_made in sorted(taken):
        texts = {path: users.texts(path), **users.search(path, {word})}
        if is_made and not any(is_python(other) and _is_cached(text, word) for other, text in texts.items()):
            continue
        for other, text in texts.items():
            there = tree if other == path else parsed(text) if is_python(other) else None
            for function in _functions(there or ast.Module([], [])):
                if function.name not in but and any(_names(function, word)):
                    return f"{function.name} of {other} has the same {word}"
    return ""


def _functions(tree: ast.Module) -> Iterator[_Function]:
    return (each for each in ast.walk(tree) if isinstance(each, _Function))


_CACHED = lazy_pattern(
    r"^@(?:\w+\.)*(?:lru_cache|cache|memoize)\b(?:[^\n]*\n)(?:@[^\n]*\n){0,20}(?:async )?def (?P<name>\w+)",
    re.MULTILINE,
)


def _is_cached(text: str, name: str) -> bool:
    """Tell whether a text has a function of this name that makes its result once."""
    return any(each["name"] == name for each in _CACHED.finditer(text))


def _taken(function: _Function, sections: Collection[str]) -> Iterator[tuple[str, bool]]:
    """Yield the names from around a function that it gives to a section of a configuration, each with whether it is a
    function that makes the object.
    """
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
            case (
                ast.Assign(targets=[ast.Attribute(attr=section)], value=ast.Call(func=called, args=[], keywords=[]))
                | ast.keyword(arg=str(section), value=ast.Call(func=called, args=[], keywords=[]))
            ) if section in sections:
                found = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            case _:
                continue
        if found and found not in own:
            yield found, isinstance(node.value, ast.Call)


def _names(function: _Function, word: str) -> Iterator[bool]:
    for each in ast.walk(function):
        match each:
            case ast.Name(id=name) | ast.Attribute(attr=name) if name == word:
                yield True
