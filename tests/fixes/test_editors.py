"""Editors: one a kind of file, found by the kind and not by what it is not."""

from __future__ import annotations

import pytest

from mfsdp_lint.fixes.editor import EDITORS, open_for_edit
from mfsdp_lint.readers import registry


def test_what_is_edited_can_be_read() -> None:
    assert set(EDITORS) <= {reader.type.name for reader in registry.READERS}


@pytest.mark.parametrize(("path", "text"), [("a.py", "x = 1\n"), ("a.yaml", "x: 1\n"), ("a.yml", "{}\n")])
def test_a_file_of_a_kind_that_has_an_editor_is_opened(path: str, text: str) -> None:
    assert open_for_edit(path, text) is not None


@pytest.mark.parametrize(("path", "text"), [("a.py", "x = (\n"), ("a.yaml", "x: [1\n")])
def test_what_cannot_be_read_any_more_is_not(path: str, text: str) -> None:
    assert open_for_edit(path, text) is None


@pytest.mark.parametrize("path", ["a.txt", "a"])
def test_what_nobody_reads_is_not_edited_as_something_else(path: str) -> None:
    assert open_for_edit(path, "x = 1\n") is None
