"""Workflows of Snakemake: the `shell` of each rule, with the configuration and the parameters that it fills in.

Facts: Snakemake's documentation (8.x; "Rules", "Configuration"). What depends on wildcards, or is calculated, is not
known. Sections and their entries have the grammar of Python's calls.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from functools import partial

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs.projects import beside
from mfsdp_lint.inputs.sources import Sources, Unreadable
from mfsdp_lint.readers.embedding_formats.held_texts import entries, held, text_of
from mfsdp_lint.readers.shell.script import Piece, Text, filled, holed
from mfsdp_lint.readers.shell.state import Held
from mfsdp_lint.readers.yaml.document import YamlDocument
from mfsdp_lint.readers.yaml.nodes import Node, compose_documents

_RULE = lazy_pattern(r"^(?:rule|checkpoint)\b[^:\n]*:", re.MULTILINE)
_SECTION = lazy_pattern(
    r"^(?P<indent>[ \t]+)(?P<name>\w+):(?P<body>.*\n(?:(?P=indent)[ \t]+.*\n|[ \t]*\n)*)", re.MULTILINE
)
_CONFIG = lazy_pattern(r"^configfile:\s*[\"'](?P<path>[^\"'\n]+)[\"']", re.MULTILINE)
_GLOBAL = lazy_pattern(r"^(?P<name>[A-Za-z_]\w*)[ \t]*=(?!=)[ \t]*(?P<value>[^\n]+)", re.MULTILINE)
_FIELD = lazy_pattern(r"\{\{|\}\}|\{(?P<name>[^{}]*)\}")
_DEEPEST = 8


def snakefile_scripts(path: str, text: str, sources: Sources) -> Iterator[Held]:
    """Yield the scripts of all rules, and then what else has the shape of a command line (what `run` starts)."""
    from mfsdp_lint.readers.embedding_formats.any_job import text_scripts

    text = text if text.endswith("\n") else f"{text}\n"
    values: dict[str, Text] = {}
    for found in _CONFIG.finditer(text):
        values |= _configuration(beside(path, found["path"]), sources)
    lines = Lines(text)
    for found in _GLOBAL.finditer(text):
        values |= _entries(
            f"{found['name']}={found['value']}", found.start("value") - len(found["name"]) - 1, "", path, lines, values
        )
    rest = text
    starts = [found.end() for found in _RULE.finditer(text)]
    for start, end in zip(starts, (*starts[1:], len(text)), strict=True):
        own = dict(values)
        shells: list[re.Match[str]] = []
        for section in _SECTION.finditer(text, start, end):
            if section["name"] in ("params", "resources"):
                own |= _entries(section["body"], section.start("body"), f"{section['name']}.", path, lines, values)
            elif section["name"] == "shell":
                shells.append(section)
        for section in shells:
            script = _strings(section["body"], section.start("body"), path, lines)
            yield from held(filled(script, _FIELD, partial(_value, own)))
            rest = rest[: section.start()] + re.sub(r"[^\n]", " ", section[0]) + rest[section.end() :]
    yield from text_scripts(path, rest, sources)


def _configuration(path: str, sources: Sources) -> dict[str, Text]:
    """Return the scalars of a configuration by the fields that name them: `config[a][b]`."""
    text = sources.text_or_none(path) if sources.exists(path) else None
    try:
        roots = compose_documents(path, text or "")
    except Unreadable:
        return {}
    document = YamlDocument(path, Lines(text or ""))
    found: dict[str, Text] = {}

    def note(node: Node, name: str, depth: int) -> None:
        for key, each in entries(document, node).items() if depth else ():
            note(each, f"{name}[{key}]", depth - 1)
        if said := text_of(document, node, templated=False):
            found[name] = said

    for root in roots[:1]:
        note(root, "config", _DEEPEST)
    return found


def _entries(body: str, start: int, name: str, path: str, lines: Lines, values: Mapping[str, Text]) -> dict[str, Text]:
    """Return the known values of `NAME=VALUE, …`, by the fields that name them."""
    try:
        call = ast.parse(f"_({body}\n)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return {}
    inside, found = Lines(f"_({body}\n)"), {}
    for keyword in call.keywords if isinstance(call, ast.Call) else ():
        value = values.get(_field(keyword.value))
        if isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, (str, int, float)):
            span, said = inside.of_node("", keyword.value), str(keyword.value.value)
            first, last = (start + each - 2 for each in inside.range(span))
            at = lines.text.find(said, first, last)
            value = (Piece(said, path, lines, *((at, at + len(said)) if at >= 0 else (first, last))),)
        if keyword.arg and value:
            found[name + keyword.arg] = value
    return found


def _field(node: ast.expr) -> str:
    """Return the field that an expression of Python is: `config["a"]["b"]` is `config[a][b]`."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Subscript(value=value, slice=ast.Constant(value=str(key))):
            return f"{_field(value)}[{key}]"
        case ast.Call(func=ast.Attribute(value=value, attr="get"), args=[ast.Constant(value=str(key)), *_]):
            return f"{_field(value)}[{key}]"
    return ""


def _strings(body: str, start: int, path: str, lines: Lines) -> Iterator[Piece]:
    """Yield the literals of a text that are written one behind the other."""
    source = Lines(f"({body}\n)")
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source.text).readline))
    except (tokenize.TokenError, SyntaxError):
        return
    for token in tokens:
        written = re.fullmatch(r"(?s)[rRuUbBfF]*(\"\"\"|'''|\"|')(?P<said>.*)\1", token.string)
        if token.type == tokenize.STRING and written is not None:
            first = start - 1 + source.offset(token.start[0], token.start[1] + 1) + written.start("said")
            yield Piece(written["said"], path, lines, first, first + len(written["said"]))


def _value(values: Mapping[str, Text], found: re.Match[str], piece: Piece) -> Text:
    if found["name"] is None:
        return (replace(piece.cut(*found.span()), text=found[0][0]),)
    return values.get(found["name"]) or holed(found, piece)
