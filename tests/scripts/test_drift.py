"""What a new release changes: lines that moved, lines that are gone, texts that are no longer there."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest

from mfsdp_lint.rules.model import ErrorText


@pytest.fixture(scope="module")
def drift() -> ModuleType:
    path = Path(__file__).parents[2] / "scripts/drift.py"
    spec = importlib.util.spec_from_file_location("drift", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["drift"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


OLD = """\
    class Config:
        def validate(self):
            if self.sharded:
                assert self.format == "dtensor", "only dtensor works"
            if self.other:
                assert self.size > 1
    """


def found(drift: ModuleType, folder: Path, new: dict[str, str], line: int) -> tuple[str, int, bool]:
    """Where line `line` of the old config.py is in a tree with these files, and whether it is the same line."""
    for version, files in (("old", {"src/config.py": OLD}), ("new", new)):
        for name, text in files.items():
            path = folder / version / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text))
    trees = [drift.Trees(version, folder / version, folder / version) for version in ("old", "new")]
    moved = drift.find(*trees, "bridge", "src/config.py", line)
    return moved.path, moved.line, moved.alike == 1.0


def test_a_line_that_moved_down_is_found(drift: ModuleType, tmp_path: Path) -> None:
    new = {"src/config.py": "import os\n\n" + dedent(OLD)}
    assert found(drift, tmp_path, new, 4) == ("src/config.py", 6, True)


def test_of_two_equal_lines_the_one_in_the_same_company_counts(drift: ModuleType, tmp_path: Path) -> None:
    new = {"src/config.py": "def before():\n    if x:\n        assert self.size > 1\n    y = 2\n\n\n" + dedent(OLD)}
    assert found(drift, tmp_path, new, 6) == ("src/config.py", 12, True)


def test_a_line_that_was_rewritten_is_shown_with_the_one_most_like_it(drift: ModuleType, tmp_path: Path) -> None:
    new = {"src/config.py": OLD.replace('== "dtensor"', 'in ("dtensor", "other")')}
    assert found(drift, tmp_path, new, 4) == ("src/config.py", 4, False)


def test_a_file_that_moved_is_found_by_its_name(drift: ModuleType, tmp_path: Path) -> None:
    assert found(drift, tmp_path, {"src/training/config.py": OLD}, 4) == ("src/training/config.py", 4, True)


def test_a_line_that_moved_to_another_file_is_found_there(drift: ModuleType, tmp_path: Path) -> None:
    new = {"src/config.py": "nothing = 1\n", "src/checks.py": OLD}
    assert found(drift, tmp_path, new, 4) == ("src/checks.py", 4, True)


def test_a_line_that_nothing_is_like_has_no_place(drift: ModuleType, tmp_path: Path) -> None:
    assert found(drift, tmp_path, {"src/config.py": "nothing = 1\n"}, 4) == ("src/config.py", 0, False)


def test_an_error_text_is_found_in_pieces(drift: ModuleType, tmp_path: Path) -> None:
    text = 'raise ValueError(f"the strategy {name} "\n    "does not work with this wrapper")\n'
    (tmp_path / "checks.py").write_text(text)
    trees = drift.Trees("new", tmp_path, tmp_path)
    texts = drift.texts_of(trees, "bridge", "checks.py")
    assert drift._has(texts, ErrorText("the strategy {ddp.strategy} does not work with this wrapper"))
    assert not drift._has(texts, ErrorText("the strategy {ddp.strategy} does not work with that wrapper"))
