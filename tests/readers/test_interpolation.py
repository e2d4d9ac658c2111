"""OmegaConf's interpolations. What is stated as known is what OmegaConf makes of it, where that is installed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from mfsdp_lint.core.values import UNKNOWN, Known, Plain, Value
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.trees import Leaf
from mfsdp_lint.readers.yaml.compose import resolved
from mfsdp_lint.readers.yaml.document import Files

TEXT = """\
size: 4
name: llama
none: null
flag: true
deep:
  beside: 1
  nested:
    up: ${..beside}
    same: ${.up}
    root: ${size}
here: ${deep.nested.up}
chain: ${here}
mixed: ${name}-${size}b-${flag}
which: size
by_name: ${${which}}
items: [a, b]
default: ${oc.env:MFSDP_LINT_NO_SUCH_VARIABLE,two}
numeric: ${oc.env:MFSDP_LINT_NO_SUCH_VARIABLE,2}
nothing: ${oc.env:MFSDP_LINT_NO_SUCH_VARIABLE,null}
decoded: "${oc.decode:'[1, 2]'}"
selected: ${oc.select:size,8}
fallback: ${oc.select:gone,8}
section: ${deep}
through: ${section.nested.root}
"""

UNDECIDED = """\
circle: ${other}
other: ${circle}
itself: ${itself}
gone: ${nowhere}
open: ${size
required: ${oc.env:MFSDP_LINT_NO_SUCH_VARIABLE}
custom: ${my.resolver:1,2}
size: ${deep}
deep: {inside: '${size.inside}'}
escaped: \\${size}
"""


def values(text: str) -> dict[str, Value]:
    root = Files(Sources({"a.yaml": text})).tree("a.yaml")
    assert root is not None
    return {".".join(key): leaf.value for key, leaf in resolved(root).leaves()}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("deep.nested.up", 1),
        ("deep.nested.same", 1),
        ("deep.nested.root", 4),
        ("here", 1),
        ("chain", 1),
        ("mixed", "llama-4b-True"),
        ("by_name", 4),
        ("default", "two"),
        ("numeric", "2"),
        ("nothing", None),
        ("decoded", [1, 2]),
        ("selected", 4),
        ("fallback", 8),
        ("section.nested.root", 4),
        ("through", 4),
    ],
)
def test_a_reference_is_what_it_refers_to(path: str, value: Plain) -> None:
    assert values(TEXT)[path] == Known(value)


@pytest.mark.parametrize("path", ["circle", "other", "itself", "gone", "open", "required", "custom", "escaped"])
def test_what_cannot_be_told_is_unknown(path: str) -> None:
    assert values(UNDECIDED)[path] == UNKNOWN


def test_a_section_within_itself_ends() -> None:
    assert values("a: {b: '${a}'}\n")


def test_a_value_knows_what_it_was_handed_on_from() -> None:
    root = Files(Sources({"a.yaml": TEXT})).tree("a.yaml")
    assert root is not None
    leaf = resolved(root).get("chain")
    assert isinstance(leaf, Leaf)
    lines = [source.span.line for source in leaf.origin.sources]
    assert (leaf.origin.span.line, lines) == (12, [11, 8, 6])


def test_what_is_known_is_what_omegaconf_says() -> None:
    omegaconf = pytest.importorskip("omegaconf")
    real = dict(_leaves(omegaconf.OmegaConf.to_container(omegaconf.OmegaConf.create(TEXT), resolve=True)))
    assert {path: Known(value) for path, value in real.items()} == values(TEXT)


def _leaves(node: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    if not isinstance(node, dict):
        yield ".".join(above), node
        return
    for name, below in node.items():
        yield from _leaves(below, (*above, name))


def test_what_doubles_with_every_line_ends() -> None:
    lines = [f"a{step}: ${{a{step + 1}}}${{a{step + 1}}}\n" for step in range(40)]
    found = values("".join(lines) + "a40: xxxxxxxx\n")
    assert found["a39"] == Known("x" * 16)
    assert not isinstance(found["a0"], Known)


def test_sections_that_double_with_every_line_end() -> None:
    lines = [f"a{step}: {{x: '${{a{step + 1}}}', y: '${{a{step + 1}}}'}}\n" for step in range(40)]
    assert len(values("".join(lines) + "a40: {z: 1}\n")) < 200_000
