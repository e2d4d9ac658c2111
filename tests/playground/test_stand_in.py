"""What stands in for tree-sitter in a browser gives the trees that tree-sitter gives."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tree_sitter
import tree_sitter_bash

from playground.python import tree_sitter as stand_in

BASH = tree_sitter.Language(tree_sitter_bash.language())

SCRIPTS = {
    "plain": "#!/bin/bash\nexport A=1\ntorchrun train.py --flag ${A:-2} \\\n  --other \"$B\" # why\n",
    "heredoc": "cat <<'EOF' > run.sh\npython train.py\nEOF\nfor i in 1 2; do echo $i; done\n",
    "other-letters": "echo 'größe 🙂' --a=ü\nARGS=(\n  --x 1 # 🙂\n)\n",
    "broken": "if [ 1; then\n  echo 'open\n",
    "empty": "",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _parsed_by_the_real_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stand_in, "parse_bash", lambda text: json.dumps(list(_nodes(text))))


def _nodes(text: str) -> Iterator[tuple[Any, ...]]:
    """As docs/playground/grammar.js gives them."""
    data = text.encode()
    cursor = tree_sitter.Parser(BASH).parse(data).walk()
    parents, number = [-1], 0
    while True:
        node = cursor.node
        assert node is not None
        start, end = (len(data[:byte].decode().encode("utf-16-le")) // 2 for byte in (node.start_byte, node.end_byte))
        yield node.type, node.is_named, node.is_missing, node.has_error, start, end, cursor.field_name, parents[-1]
        if cursor.goto_first_child():
            parents.append(number)
        else:
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return
                parents.pop()
        number += 1


def _told(node: Any) -> dict[str, Any]:
    """What the linter asks of a node, those below it by what they are."""
    siblings = (node.next_sibling, node.next_named_sibling, node.prev_named_sibling)
    points = (node.start_point, node.end_point)
    return {
        "is": (node.type, node.is_named, node.is_missing, node.has_error, node.text),
        "at": (node.start_byte, node.end_byte, *((point.row, point.column) for point in points)),
        "beside": [other and (other.type, other.start_byte) for other in siblings],
        "above": node.parent and node.parent.type,
        "named": ([child.type for child in node.named_children], node.named_child_count),
        "fields": [_names(node, name) for name in ("name", "value", "body", "condition", "redirect", "argument")],
    }


def _names(node: Any, name: str) -> Any:
    first = node.child_by_field_name(name)
    return first and first.type, [child.type for child in node.children_by_field_name(name)]


def _whole(node: Any) -> Iterator[Any]:
    yield node
    for child in node.children:
        yield from _whole(child)


@pytest.mark.parametrize("text", SCRIPTS.values(), ids=SCRIPTS)
def test_every_node_is_told_alike(text: str) -> None:
    data = text.encode()
    real = tree_sitter.Parser(BASH).parse(data).root_node
    ours = stand_in.Parser(stand_in.Language(None)).parse(data).root_node
    assert [_told(node) for node in _whole(ours)] == [_told(node) for node in _whole(real)]


@pytest.mark.parametrize("text", SCRIPTS.values(), ids=SCRIPTS)
def test_the_smallest_node_around_a_range_is_the_same(text: str) -> None:
    data = text.encode()
    real = tree_sitter.Parser(BASH).parse(data).root_node
    ours = stand_in.Parser(stand_in.Language(None)).parse(data).root_node
    for start in range(len(data)):
        for end in range(start + 1, min(start + 12, len(data))):
            expected, found = real.descendant_for_byte_range(start, end), ours.descendant_for_byte_range(start, end)
            assert expected is not None
            assert (start, end, found.type, found.start_byte) == (start, end, expected.type, expected.start_byte)


def test_nothing_else_is_asked_of_a_node() -> None:
    """What the linter uses of tree-sitter's nodes is there."""
    shell = Path(__file__).parents[2] / "src" / "mfsdp_lint"
    files = [*(shell / "readers" / "shell").rglob("*.py"), *(shell / "fixes").glob("shell*.py")]
    words = {word for file in files for word in _attributes(file.read_text(encoding="utf-8"))}
    only_theirs = {name for name in dir(tree_sitter.Node) if not name.startswith("_")} & words
    assert only_theirs - set(dir(stand_in.Node)) - OTHERS == set()


OTHERS = {"edit", "range"}
"""Names of ours as well."""


def _attributes(text: str) -> set[str]:
    return {node.attr for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute)}
