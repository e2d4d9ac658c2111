"""A notebook is read as the code of its cells, each line where the file has it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfsdp_lint.core.lines import split_lines
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.inputs.notebooks import PREPARED, NoNotebook, as_python, python_of, read_notebook


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
        (notebook("a = 1", indent=None).replace('["a = 1"]', "5"), "neither a text nor a list of texts"),
        (notebook("a = 1").replace("a = 1", "a = '\\ud800'"), "half of a character"),
    ],
    ids=["no JSON", "a list", "a number for code", "no text"],
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


@pytest.mark.parametrize(
    ("cell", "read"),
    [
        ('D="/data" # here\nmkdir -p $D\ncd </data>', ["pass", "", ""]),
        (
            "torchrun train.py \\\n  --tp 2",
            ['import os; os.system("torchrun train.py \\\\\\n"', '"  --tp 2\\n")'],
        ),
        ("cfg = recipe()\ncfg.x = (", ["cfg = recipe()", "cfg.x = ("]),
        ("x = (", ["x = ("]),
        ("import a b", ["import a b"]),
    ],
    ids=["commands", "a launch", "a mistake", "nothing but a mistake", "a mistake behind a keyword"],
)
def test_commands_for_a_terminal_are_no_python(cell: str, read: list[str]) -> None:
    assert as_python(cell.split("\n")) == read


def test_a_line_within_a_text_is_no_magic() -> None:
    lines = ["!ls", 'said = """', "!ls", '"""']
    assert as_python(lines) == ["pass", *lines[1:]]


@pytest.mark.parametrize(
    ("first", "rest"),
    [("%%bash", ["pass", ""]), ("%%time", ["pass", "a = 1"]), ("%%unheard_of", ["exec(get_ipython())", ""])],
)
def test_a_magic_of_a_cell_decides_about_all_of_it(first: str, rest: list[str]) -> None:
    assert as_python([first, "a = 1"]) == rest


CODE = 'a = "x"\n\nb = 2  # \\n é 😀\nfor c in (1,\n  2): pass'


def _joined(text: str) -> str:
    """With every cell as one string."""
    whole = json.loads(text)
    for cell in whole["cells"]:
        cell["source"] = "".join(cell["source"])
    return json.dumps(whole, indent=1)


def _in_sheets(text: str) -> str:
    """As Jupyter wrote them before format 4."""
    whole = json.loads(text)
    cells = whole.pop("cells")
    for cell in cells:
        cell["input"] = cell.pop("source")
    return json.dumps({**whole, "nbformat": 3, "worksheets": [{"cells": cells[:1]}, {"cells": cells[1:]}]}, indent=1)


def _with_two_lines_in_a_string(text: str) -> str:
    whole = json.loads(text)
    for cell in whole["cells"]:
        lines = cell["source"]
        cell["source"] = ["".join(lines[:2]), *lines[2:]]
    return json.dumps(whole, indent=1)


def _with_lines_in_pieces(text: str) -> str:
    """A string for every three characters, whatever they are."""
    whole = json.loads(text)
    for cell in whole["cells"]:
        said = "".join(cell["source"])
        cell["source"] = [said[at : at + 3] for at in range(0, len(said), 3)]
    return json.dumps(whole, indent=1)


SPELLED: dict[str, Callable[[str], str]] = {
    "as Jupyter does": lambda text: text,
    "a string for a cell": _joined,
    "several lines in a string": _with_two_lines_in_a_string,
    "several strings for a line": _with_lines_in_pieces,
    "on one line": lambda text: json.dumps(json.loads(text)),
    "a string for a cell, on one line": lambda text: json.dumps(json.loads(_joined(text))),
    "without indentation": lambda text: json.dumps(json.loads(text), indent=0),
    "with tabs": lambda text: json.dumps(json.loads(text), indent="\t"),
    "with characters as they are": lambda text: json.dumps(json.loads(text), indent=4, ensure_ascii=False),
    "with CR LF in the file": lambda text: text.replace("\n", "\r\n"),
    "with CR LF in the code": lambda text: re.sub(r"(?<!\\)\\n", r"\\r\\n", _joined(text)),
    "with a code for each end of a line": lambda text: re.sub(r"(?<!\\)\\n", r"\\u000A", text),
    "in format 3": _in_sheets,
}


@pytest.fixture(params=list(SPELLED.values()), ids=list(SPELLED))
def spelled(request: pytest.FixtureRequest) -> str:
    """A notebook with code in its cells 1 and 3."""
    spell: Callable[[str], str] = request.param
    return spell(notebook(CODE, "#md Title\n", "d = 3\n"))


def test_the_code_is_the_same_however_json_spells_it(spelled: str) -> None:
    first, _, code = python_of(spelled).partition("# %% [1]\n")
    assert first.strip() == PREPARED
    assert [line for line in code.split("\n") if line] == [*filter(None, CODE.split("\n")), "# %% [3]", "d = 3"]


def test_a_cell_says_what_it_did(spelled: str) -> None:
    read = read_notebook(spelled)
    assert (read.text_of(1), read.text_of(2), read.text_of(3)) == (CODE, None, "d = 3")


def test_every_character_is_found_where_the_file_has_it(spelled: str) -> None:
    read = read_notebook(spelled)
    file = split_lines(spelled)
    for number, line in enumerate(python_of(spelled).split("\n")[1:], 2):
        for column, character in enumerate("" if line.startswith("# %%") else line, 1):
            there = read.in_file(Span("a.ipynb", number, column, number, column + 1))
            spelling = json.dumps(character, ensure_ascii=False)[1:-1], json.dumps(character)[1:-1]
            assert file[there.line - 1][there.column - 1 :].startswith(spelling)


def test_every_line_is_found_where_its_cell_has_it(spelled: str) -> None:
    read = read_notebook(spelled)
    for number, line in enumerate(python_of(spelled).split("\n"), 1):
        if number in read.rows:
            cell, there = read.in_cell(Span("a.ipynb", number, 1, number, 1)) or (0, Span("", 0, 0, 0, 0))
            assert str(read.text_of(cell)).split("\n")[there.line - 1] == line


def test_what_is_no_code_has_a_place_as_well(spelled: str) -> None:
    read = read_notebook(spelled)
    last = len(split_lines(spelled))
    for number in range(1, len(read.code) + 3):
        assert 1 <= read.line_in_file(number) <= last


def test_a_line_ends_where_python_ends_it() -> None:
    assert "a = 1\u2028b = 2" in python_of(notebook("a = 1\u2028b = 2\n")).split("\n")


def test_a_cell_of_another_language_is_no_python() -> None:
    whole = json.loads(_in_sheets(notebook("x <- 1", "y = 2")))
    whole["worksheets"][0]["cells"][0]["language"] = "R"
    assert "# %% [2]\ny = 2\n" in python_of(json.dumps(whole))
    assert "x" not in python_of(json.dumps(whole))


def test_what_outputs_show_is_not_taken_for_the_code() -> None:
    whole = json.loads(notebook("a = 1"))
    whole["cells"][0]["outputs"] = [{"source": ["a = 1"]}]
    text = json.dumps(whole, indent=1)
    assert text.split("\n")[python_of(text).split("\n").index("a = 1") - 1] == '   "source": ['


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
