"""Lines, columns and offsets."""

from __future__ import annotations

import ast

from hypothesis import given
from hypothesis import strategies as st

from mfsdp_lint.core.lines import Lines, split_lines
from mfsdp_lint.core.recipe import Span

texts = st.text(alphabet=st.sampled_from("ab é𝄞\n\r\f\u2028\x85"))


def test_only_what_python_and_editors_call_a_line_end_ends_a_line() -> None:
    text = "a\fb\n\u2028c\r\nd\re"
    assert split_lines(text) == ["a\fb\n", "\u2028c\r\n", "d\r", "e"]
    assert Lines(text).position(text.index("e")) == (4, 1)


def test_lines_are_numbered_as_ast_does() -> None:
    text = 'a = """\f\x0b"""\r\nb = 1\rc = 2\n'
    lines = [statement.lineno for statement in ast.parse(text).body]
    assert lines == [Lines(text).position(text.index(name))[0] for name in ("a =", "b =", "c =")]


@given(texts)
def test_splitting_loses_nothing(text: str) -> None:
    assert "".join(split_lines(text)) == text


@given(texts, st.integers(0, 30), st.integers(0, 30))
def test_a_span_cuts_out_what_it_was_made_of(text: str, first: int, second: int) -> None:
    start, end = sorted((min(first, len(text)), min(second, len(text))))
    lines = Lines(text)
    assert lines.cut(lines.span("a.py", start, end)) == text[start:end]


def test_columns_count_characters_from_one() -> None:
    assert Lines("é𝄞x\n").span("a.py", 2, 3) == Span("a.py", 1, 3, 1, 4)
