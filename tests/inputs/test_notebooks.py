"""A notebook is read as the code of its cells, each line where the file has it."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfsdp_lint.inputs.magics import as_python
from mfsdp_lint.inputs.notebooks import NoNotebook, column_in_file, python_of


def notebook(*cells: str, language: str = "python", indent: int | None = 1) -> str:
    """As Jupyter writes it; a cell that begins with `#md` is text."""
    made: list[dict[str, object]] = [
        {
            "cell_type": "markdown" if cell.startswith("#md") else "code",
            "metadata": {},
            "outputs": [{"output_type": "stream", "text": ["cfg = 1\n"]}],
            "source": cell.splitlines(keepends=True),
        }
        for cell in cells
    ]
    whole = {"cells": made, "metadata": {"kernelspec": {"language": language}}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=indent)


def test_every_line_of_code_is_on_the_line_that_holds_it() -> None:
    text = notebook("#md Title\n", 'a = "x"\nb = 2', "", "c = 3\n")
    lines = text.split("\n")
    code = python_of(text).split("\n")
    for said in ('a = "x"', "b = 2", "c = 3"):
        assert json.dumps(said)[1:-1] in lines[code.index(said)]


def test_cells_are_counted_with_those_that_hold_no_code() -> None:
    code = python_of(notebook("#md Title\n", "a = 1\n", "", "b = 2\n"))
    assert [line for line in code.split("\n")[1:] if line] == ["# %% [2]", "a = 1", "# %% [4]", "b = 2"]


def test_another_language_is_no_python() -> None:
    assert python_of(notebook("x <- 1\n", language="R")) == ""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "not valid JSON"),
        ("[]", "no notebook with cells"),
        ('{"worksheets": []}', "no notebook with cells"),
        (notebook("a = 1\nb = 2\n", indent=None), "a line of its own"),
        (notebook("a = 1\u2028b = 2\n"), "a line of its own"),
        (notebook("a = 1").replace("a = 1", r"a = 1\rb = 2"), "a line of its own"),
        (notebook("a = 1").replace("a = 1", "a = '\\ud800'"), "half of a character"),
    ],
    ids=[
        "no JSON",
        "a list",
        "an old format",
        "all in one line",
        "no line of Python",
        "two lines in one",
        "no text",
    ],
)
def test_what_cannot_be_read_is_said(text: str, says: str) -> None:
    with pytest.raises(NoNotebook, match=says):
        python_of(text)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("!pip install x", "pass"),
        ("    !ls", "    pass"),
        ("cfg?", "pass"),
        ("%matplotlib inline", "pass"),
        ("files = !ls", "files = get_ipython()"),
        ("%time train(cfg)", "pass; train(cfg)"),
        ("%run other.py", "exec(get_ipython())"),
        ("%env NAME=1", "import os; os.environ['NAME'] = '1'"),
        ("%env NAME=$other", "import os; os.environ['NAME'] = get_ipython()"),
    ],
)
def test_a_magic_is_what_it_does_to_the_names(written: str, read: str) -> None:
    before = "if True:" if written.startswith(" ") else "pass"
    assert as_python([before, written])[1] == read


def test_a_line_within_a_text_is_no_magic() -> None:
    lines = ["!ls", 'said = """', "!ls", '"""']
    assert as_python(lines) == ["pass", *lines[1:]]


@pytest.mark.parametrize(
    ("first", "rest"),
    [("%%bash", ["pass", ""]), ("%%time", ["pass", "a = 1"]), ("%%unheard_of", ["exec(get_ipython())", ""])],
)
def test_a_magic_of_a_cell_decides_about_all_of_it(first: str, rest: list[str]) -> None:
    assert as_python([first, "a = 1"]) == rest


def test_a_column_counts_what_the_file_escapes() -> None:
    line = '    "a = \\"x\\"; b = 1\\n",\n'
    assert line[column_in_file(line, 'a = "x"; b'.index("b") + 1) - 1] == "b"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.sampled_from(["source", "cells"]), inside),
    max_leaves=6,
)


@given(st.lists(st.lists(st.text(st.sampled_from("a =%!?\\\"'(é😀\t"), max_size=8), max_size=4), max_size=4))
def test_whatever_its_cells_say_lines_stay_where_they_are(cells: list[list[str]]) -> None:
    text = notebook(*("\n".join(lines) for lines in cells))
    code = python_of(text).split("\n")
    assert len(code) == len(text.split("\n")) + 1
    assert sum(line.startswith("# %% [") for line in code) == sum(any(lines) or len(lines) > 1 for lines in cells)


@given(st.lists(JSON, max_size=3), JSON, st.text(max_size=20))
def test_whatever_it_is_it_is_read_or_refused(cells: list[object], metadata: object, other: str) -> None:
    whole = json.dumps({"cells": cells, "metadata": metadata}, indent=1)
    for text in (whole, other, whole[:-3]):
        with suppress(NoNotebook):
            python_of(text)
