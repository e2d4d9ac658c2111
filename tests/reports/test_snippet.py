"""The mark stands under what it means, whatever the line is made of."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.recipe import Span
from mfsdp_lint.reports.text import lines_of, snippet


def shown(text: str, line: int, column: int, end_line: int, end_column: int) -> str:
    rows = snippet(Span("a.py", line, column, end_line, end_column), lines_of({"a.py": text}.get)("a.py"))
    return "\n".join(f"{number:>3} {content}" for number, content in rows)


@pytest.mark.parametrize(
    ("why", "text", "columns", "expected"),
    [
        ("plain text", "ab = cd", (6, 8), "ab = cd\n         ^^"),
        ("an empty span still gets a mark", "ab = cd", (6, 6), "ab = cd\n         ^"),
        ("a place behind the end of the line", "ab", (3, 3), "ab\n      ^"),
        ("tabs take four columns", "\tab = cd", (2, 4), "    ab = cd\n        ^^"),
        ("wide characters take two columns", 'x = "数据" or 1', (5, 9), 'x = "数据" or 1\n        ^^^^^^'),
        ("what follows a wide character", '"数" or 1', (5, 7), '"数" or 1\n         ^^'),
        ("combining characters take none", 'x = "e\u0301" or 1', (10, 12), 'x = "e\u0301" or 1\n            ^^'),
        ("escape characters are spelt out", "a\x1bb = 1", (3, 4), "a\\x1bb = 1\n         ^"),
    ],
)
def test_one_line(why: str, text: str, columns: tuple[int, int], expected: str) -> None:
    assert shown(text, 1, columns[0], 1, columns[1]) == "  1 " + expected, why


def test_a_line_ends_where_python_ends_it() -> None:
    text = "a = '\x0c'\r\nb = '\u2028'\rc = 3\n"
    assert shown(text, 3, 5, 3, 6) == "  3 c = 3\n        ^"


def test_a_short_span_over_lines_is_shown_whole() -> None:
    text = "cfg.ddp = DDP(\n    a=1,\n    b=2,\n)\n"
    assert shown(text, 1, 11, 4, 2) == (
        "  1   cfg.ddp = DDP(\n"
        "     ___________^\n"
        "  2 |     a=1,\n"
        "  3 |     b=2,\n"
        "  4 | )\n"
        "    |_^"
    )  # fmt: skip


def test_a_long_span_shows_both_ends() -> None:
    text = "DDP(\n" + "".join(f"    a{number}={number},\n" for number in range(20)) + ")\n"
    assert shown(text, 1, 1, 22, 2) == (
        "  1   DDP(\n"
        "     _^\n"
        "  2 |     a0=0,\n"
        "  3 |     a1=1,\n"
        "  4 |     a2=2,\n"
        "... |\n"
        " 22 | )\n"
        "    |_^"
    )  # fmt: skip


def test_a_span_that_takes_the_line_end_along_stays_on_its_line() -> None:
    assert shown("ab = 1\ncd = 2\n", 1, 1, 2, 1) == "  1 ab = 1\n    ^^^^^^"


def test_a_very_long_line_is_cut_around_the_mark() -> None:
    text = "x = [" + "1, " * 100_000 + "]; y = 2; z = " + "3" * 1000
    output = shown(text, 1, len("x = [" + "1, " * 100_000 + "]; ") + 1, 1, len("x = [" + "1, " * 100_000 + "]; y") + 1)
    line, mark = output.split("\n")
    assert len(line) < 200
    assert line[mark.index("^")] == "y"
    assert line.startswith("  1 …")
    assert line.endswith("…")


def test_a_line_that_the_file_does_not_have_shows_nothing() -> None:
    assert shown("a = 1\n", 7, 1, 7, 2) == ""
