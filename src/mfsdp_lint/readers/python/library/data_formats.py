"""YAML, JSON, TOML and Python literals as data, each value with its place in the text. Nothing is ever constructed.

The parser of a format is imported for the first text of it.
"""

from __future__ import annotations

import ast
import json
import sys
from typing import Any

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.recipe import Origin
from mfsdp_lint.core.records import replace
from mfsdp_lint.readers.python.values.places import NOT_KNOWN, NoData, Placed


def from_yaml(path: str, text: str) -> list[Placed]:
    """Load the documents of a YAML text as PyYAML's `safe_load` does. Raises NoData."""
    from mfsdp_lint.readers.python.library.yaml_data import YamlData

    return YamlData(path, text, omegaconf=False).documents()


def from_omegaconf(path: str, text: str) -> list[Placed]:
    """Load the documents of a YAML text as `OmegaConf.load` does: interpolations are open. Raises NoData."""
    from mfsdp_lint.readers.python.library.yaml_data import YamlData

    return YamlData(path, text, omegaconf=True).documents()


def from_json(path: str, text: str) -> Placed:
    """Load a JSON text as `json.loads` does. Raises NoData."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NoData(str(error)) from None
    try:
        # Places are only known of JSON that is YAML as well, as nearly all is.
        placed = from_yaml(path, text)[0]
    except (NoData, IndexError):
        return _without_places(value)
    return _with_places(value, placed)


def from_toml(path: str, text: str) -> Placed:
    """Load a TOML text as `tomllib.loads` does, without places. Raises NoData."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return _without_places(tomllib.loads(text))
    except (ValueError, RecursionError) as error:
        raise NoData(str(error)) from None


def from_literal(path: str, text: str) -> Placed:
    """Load a literal as `ast.literal_eval` does. Raises NoData."""
    try:
        stripped = text.lstrip(" \t")
        node = ast.parse(stripped, mode="eval").body
        ast.literal_eval(node)
        _indent(node, len(text) - len(stripped))
        return _literal(path, Lines(text), node)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as error:
        raise NoData(str(error)) from None


def _indent(node: ast.expr, blanks: int) -> None:
    """Put what stands in the first line behind the blanks that were taken away in front of it."""
    for part in ast.walk(node):
        if isinstance(part, ast.expr):
            part.col_offset += blanks if part.lineno == 1 else 0
            part.end_col_offset = (part.end_col_offset or 0) + (blanks if part.end_lineno == 1 else 0)


def _literal(path: str, lines: Lines, node: ast.expr, pair: ast.expr | None = None) -> Placed:
    origin = _of_node(path, lines, node, pair)
    match node:
        case ast.Dict(keys=keys, values=values):
            entries = zip(keys, values, strict=True)
            return Placed({ast.literal_eval(k): _literal(path, lines, v, k) for k, v in entries if k}, origin)
        case ast.List(elts=items):
            return Placed([_literal(path, lines, item) for item in items], origin)
        case _:
            return Placed(ast.literal_eval(node), origin)


def _of_node(path: str, lines: Lines, node: ast.expr, pair: ast.expr | None) -> Origin:
    focus = lines.of_node(path, node)
    first = focus if pair is None else lines.of_node(path, pair)
    return Origin(replace(focus, line=first.line, column=first.column), "assigned", focus)


def _without_places(value: Any) -> Placed:
    if isinstance(value, dict):
        return Placed({key: _without_places(item) for key, item in value.items()})
    if isinstance(value, list):
        return Placed([_without_places(item) for item in value])
    return Placed(value) if isinstance(value, (str, int, float, bool, type(None))) else NOT_KNOWN


def _with_places(value: Any, placed: Placed) -> Placed:
    if isinstance(value, dict) and isinstance(placed.value, dict):
        texts = {str(key): item for key, item in placed.value.items()}
        entries = {key: _with_places(item, texts.get(key, NOT_KNOWN)) for key, item in value.items()}
        return Placed(entries, placed.origin)
    if isinstance(value, list) and isinstance(placed.value, list) and len(value) == len(placed.value):
        items = [_with_places(item, known) for item, known in zip(value, placed.value, strict=True)]
        return Placed(items, placed.origin)
    found = _without_places(value)
    return Placed(found.value, placed.origin, found.open)
