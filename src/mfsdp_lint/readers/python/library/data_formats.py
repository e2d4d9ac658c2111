"""YAML, JSON, TOML and Python literals as data, each value with its place in the text. Nothing is ever constructed."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import yaml

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.recipe import Origin
from mfsdp_lint.inputs.sources import Unreadable
from mfsdp_lint.readers.python.values.places import Placed
from mfsdp_lint.readers.yaml.nodes import Alias, Mapping, Node, Scalar, Sequence, compose_documents

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HEAVIEST = 20_000
"""Values of one document, every alias written out."""

NOT_KNOWN = Placed(None, open=True)


class NoData(Exception):
    """A text that is not in the format: the loader refuses it."""


def from_yaml(path: str, text: str) -> list[Placed]:
    """The documents of a YAML text as PyYAML's `safe_load` gives them. Raises NoData."""
    return _Yaml(path, text, omegaconf=False).documents()


def from_omegaconf(path: str, text: str) -> list[Placed]:
    """The documents of a YAML text as `OmegaConf.load` gives them: interpolations are open. Raises NoData."""
    return _Yaml(path, text, omegaconf=True).documents()


def from_json(path: str, text: str) -> Placed:
    """What `json.loads` gives. Raises NoData."""
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
    """What `tomllib.loads` gives, without places. Raises NoData."""
    try:
        return _without_places(tomllib.loads(text))
    except (ValueError, RecursionError) as error:
        raise NoData(str(error)) from None


def from_literal(path: str, text: str) -> Placed:
    """What `ast.literal_eval` gives. Raises NoData."""
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


class _Yaml:
    """One YAML text."""

    def __init__(self, path: str, text: str, omegaconf: bool) -> None:
        self.path = path
        self.text = text
        self.lines = Lines(text)
        self.omegaconf = omegaconf

    def documents(self) -> list[Placed]:
        try:
            roots = compose_documents(self.path, self.text)
        except Unreadable as error:
            raise NoData(str(error)) from None
        return [NOT_KNOWN if root.weight > HEAVIEST else self.placed(root) for root in roots]

    def placed(self, node: Node) -> Placed:
        target = node.target if isinstance(node, Alias) else node
        if target is None or isinstance(target, Alias):
            return NOT_KNOWN
        origin = self.origin(target)
        match target:
            case Scalar():
                return self.scalar(target, origin)
            case Sequence(tag="seq"):
                return Placed([self.placed(item) for item in target.items], origin)
            case Mapping(tag="map"):
                return Placed(self.entries(target), origin)
            case _:
                return Placed(None, origin, open=True)

    def origin(self, node: Scalar | Sequence | Mapping) -> Origin:
        focus = self.lines.span(self.path, node.start, node.end)
        return Origin(self.lines.span(self.path, node.pair, node.end), "assigned", focus)

    def entries(self, node: Mapping) -> dict[Any, Placed]:
        """The entries by key: what merge keys bring first, of several values the last."""
        merged: dict[Any, Placed] = {}
        own: dict[Any, Placed] = {}
        for key, value in node.entries:
            target = key.target if isinstance(key, Alias) else key
            if isinstance(target, Scalar) and target.tag == "merge":
                merged = self.merged(value) | merged
            elif isinstance(target, Scalar) and not (known := self.scalar(target, None)).open:
                own[known.value] = self.placed(value)
            else:
                raise NoData("a key that is no scalar")
        return merged | own

    def merged(self, value: Node) -> dict[Any, Placed]:
        target = value.target if isinstance(value, Alias) else value
        found: dict[Any, Placed] = {}
        for source in target.items[::-1] if isinstance(target, Sequence) else (target,):
            inner = source.target if isinstance(source, Alias) else source
            if not isinstance(inner, Mapping):
                raise NoData("a merge key of what is no mapping")
            found |= self.entries(inner)
        return found

    def scalar(self, node: Scalar, origin: Origin | None) -> Placed:
        tag = self.tag(node)
        if tag == "str":
            interpolated = self.omegaconf and ("${" in node.text or node.text == "???")
            return Placed(None if interpolated else node.text, origin, open=interpolated)
        construct = _CONSTRUCT.get(tag)
        if construct is None:
            return Placed(None, origin, open=True)
        try:
            return Placed(construct(yaml.ScalarNode(tag, node.text)), origin)
        except (ValueError, KeyError, IndexError, OverflowError):
            raise NoData(f"{node.text!r} is no {tag}") from None

    def tag(self, node: Scalar) -> str:
        """The tag of a scalar; the nodes have those of OmegaConf's loader, which knows more floats and no dates."""
        if self.omegaconf or node.style or node.tag not in ("float", "str"):
            return node.tag
        resolved = _RESOLVER.resolve(yaml.ScalarNode, node.text, (True, False))  # type: ignore[no-untyped-call]
        found = str(resolved).rpartition(":")[2]
        return found if found in ("str", "timestamp") else node.tag


_RESOLVER = yaml.resolver.Resolver()
_CONSTRUCTOR = yaml.constructor.SafeConstructor()
_CONSTRUCT: dict[str, Callable[[Any], Any]] = {
    "null": _CONSTRUCTOR.construct_yaml_null,
    "bool": _CONSTRUCTOR.construct_yaml_bool,
    "int": _CONSTRUCTOR.construct_yaml_int,
    "float": _CONSTRUCTOR.construct_yaml_float,
}
