"""Settings that are called otherwise in another release: what a person decided (renames.yaml), and their edits."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.core.store import read_yaml
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
    """Yield the places in a Python file that say the last name of such a setting, with its old and its new path.

    The name has to stand behind that of its section (`cfg.dataset.packed_sequence_specs`).
    """
    if not any(old.rpartition(".")[2] in text for old in wanted):
        return
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    lines = Lines(text)
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute)):
            continue
        old = f"{node.value.attr}.{node.attr}"
        if old in wanted:
            end = lines.of_node(path, node)
            start = end.end_column - len(node.attr)
            yield Span(path, end.end_line, start, end.end_line, end.end_column), old, wanted[old]
