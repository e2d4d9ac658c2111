"""However a YAML file is formatted: the wanted scalar changes, and nothing else does."""

from __future__ import annotations

import yaml as pyyaml
from hypothesis import given
from hypothesis import strategies as st

from mfsdp_lint.fixes.edits import apply_edits
from mfsdp_lint.fixes.yaml import open_yaml
from tests.fixes.marked import marked

PATH = "checkpoint.ckpt_format"
OLD, NEW = "torch_dist", "fsdp_dtensor"

blanks = st.sampled_from(["", " ", "   "])
comments = st.sampled_from(["", " # plain", " # ckpt_format: torch", " #ünï😀", " # {a: b, c"])
quotes = st.sampled_from(["", "'", '"'])
others = st.sampled_from(["1", "true", "[4, {5: 6}]", "'#, é'", '"a: b"', "null", "{x: 1}"])


@st.composite
def entries(draw: st.DrawFn, wanted: str) -> list[str]:
    """`key: value`, one of them the wanted one."""
    before = [f"a{index}: {draw(others)}" for index in range(draw(st.integers(0, 2)))]
    after = [f"b{index}: {draw(others)}" for index in range(draw(st.integers(0, 2)))]
    return [*before, f"«ckpt_format:{draw(blanks)} {wanted}»", *after]


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A file with the entry in a section, in block or flow style, with others around it."""
    quote, end = draw(quotes), draw(st.sampled_from(["\n", "\r\n"]))
    inside = draw(entries(f"{quote}{OLD}{quote}"))
    head = draw(st.sampled_from(["", "# ö\n", "---\n", "first: {x: 1}\n\n"]))
    tail = draw(st.sampled_from(["", "last: [1,\n  2]\n", "# end\n"]))
    if draw(st.booleans()):
        section = f"checkpoint: {{{draw(blanks)}{', '.join(inside)}{draw(blanks)}}}{draw(comments)}\n"
    else:
        indentation = draw(st.sampled_from(["  ", "    "]))
        lines = [f"{indentation}{entry}{draw(blanks)}{draw(comments)}\n" for entry in inside]
        section = f"checkpoint:{draw(comments)}\n" + "".join(lines)
    return (head + section + tail).replace("\n", end)


@given(documents())
def test_replacing_a_value(text: str) -> None:
    plain, origin = marked(text, "o.yaml")
    file = open_yaml("o.yaml", plain)
    assert file is not None
    edits = file.replace_value(origin, PATH, NEW, {})
    assert edits is not None
    (edit,) = edits
    start, end = file.document.range(edit.span)
    after = apply_edits("o.yaml", plain, edits)
    assert plain[start:end].strip("'\"") == OLD
    assert after == plain[:start] + edit.text + plain[end:]
    assert after == plain.replace(OLD, NEW)


@given(documents())
def test_taking_an_entry_out(text: str) -> None:
    plain, origin = marked(text, "o.yaml")
    file = open_yaml("o.yaml", plain)
    assert file is not None
    edits = file.delete_write(origin, PATH)
    assert edits is not None
    expected = pyyaml.safe_load(plain)
    del expected["checkpoint"]["ckpt_format"]
    after = apply_edits("o.yaml", plain, edits)
    assert pyyaml.safe_load(after) == expected
    # Every other line is still there, as it was.
    kept = [line for line in plain.splitlines(keepends=True) if "ckpt_format:" not in line or line.startswith(" #")]
    assert [line for line in after.splitlines(keepends=True) if line in kept] == [
        line for line in kept if not line.startswith("checkpoint:") or line in after
    ]
