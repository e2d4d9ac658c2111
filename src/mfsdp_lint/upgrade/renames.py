"""Settings that are called otherwise in another release: what a person decided (renames.yaml), and their edits."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.core.store import read_yaml
from mfsdp_lint.inputs.imports import parsed
from mfsdp_lint.inputs.sources import NOTEBOOK
from mfsdp_lint.megatron.versions import Target, numbers

SOURCE = Path(__file__).with_name("renames.yaml")


def renames(old: Target, new: Target) -> Mapping[str, str]:
    """Return the settings that have another name in the new release, which may be an older one."""
    first, last = numbers(old.data), numbers(new.data)
    found = {}
    for each in _decided():
        since = numbers(str(each["since"]))
        if first < since <= last:
            found[each["from"]] = each["to"]
        elif last < since <= first:
            found[each["to"]] = each["from"]
    return found


@cache
def _decided() -> Sequence[Mapping[str, Any]]:
    data: Sequence[Mapping[str, Any]] = read_yaml(SOURCE)
    return data


def written_names(path: str, text: str, wanted: Mapping[str, str]) -> Iterator[tuple[Span, str, str]]:
    """Yield the places in a file that say the last name of such a setting, with its old and its new path.

    The name has to stand behind that of its section: `cfg.dataset.rewrite` in Python, `dataset.rewrite` in a launch
    script, and one key within the other in YAML.
    """
    if not any(old.rpartition(".")[2] in text for old in wanted):
        return
    if path.endswith((".yaml", ".yml")):
        found = _in_yaml(path, text)
    elif path.endswith((".py", NOTEBOOK)):
        found = _in_python(path, text)
    else:
        found = _in_shell(path, text, wanted)
    yield from ((span, old, wanted[old]) for old, span in found if old in wanted)


def _in_python(path: str, text: str) -> Iterator[tuple[str, Span]]:
    if (tree := parsed(text)) is None:
        return
    lines = Lines(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
            end = lines.of_node(path, node)
            start = end.end_column - len(node.attr)
            yield f"{node.value.attr}.{node.attr}", Span(path, end.end_line, start, end.end_line, end.end_column)


def _in_shell(path: str, text: str, wanted: Mapping[str, str]) -> Iterator[tuple[str, Span]]:
    lines = Lines(text)
    for old in wanted:
        name = old.rpartition(".")[2]
        for found in re.finditer(rf"(?<![\w.]){re.escape(old)}(?=[.=])", text):
            if not is_comment(text, found.start()):
                yield old, lines.span(path, found.end() - len(name), found.end())


def _in_yaml(path: str, text: str) -> Iterator[tuple[str, Span]]:
    import yaml

    try:
        pending = [("", node) for node in yaml.compose_all(text, yaml.SafeLoader)]
    except (yaml.YAMLError, RecursionError):
        return
    seen = set()
    while pending:
        section, node = pending.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            pending += ((section, each) for each in node.value)
        if not isinstance(node, yaml.MappingNode):
            continue
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.style is None:
                start, end = key.start_mark, key.end_mark
                *above, name = f"{section}.{key.value}".split(".")
                span = Span(path, end.line + 1, end.column + 1 - len(name), end.line + 1, end.column + 1)
                if start.line == end.line:
                    yield f"{above[-1] if above else ''}.{name}", span
                pending.append((key.value, value))


def is_comment(text: str, offset: int) -> bool:
    """Tell whether a place in a script or a YAML file is in a line that is a comment."""
    start = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    return text[start:offset].lstrip().startswith("#")
