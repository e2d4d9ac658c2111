"""Files are left out only where reading them would change nothing: a filter saves work, and decides nothing."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfsdp_lint.readers.relevance import Relevance
from tests.readers.python.relevance import UPSTREAM, answers, everything_is_parsed, put, write


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32))
def test_no_answer_changes_where_every_file_is_parsed(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    draw = random.Random(seed)
    folder = tmp_path_factory.mktemp("package")
    with pytest.MonkeyPatch.context() as here:
        here.chdir(folder)
        paths = put(write(draw.randrange), folder)
        for asked in (paths, draw.sample(paths, 1)):
            filtered = answers(asked)
            with everything_is_parsed():
                assert answers(asked) == filtered


def test_the_property_needs_that_imports_are_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    paths = put(
        {
            "kit/alpha.py": UPSTREAM.format(made="long"),
            "beta.py": "from kit.alpha import long\n\n\ndef wide():\n    return long()\n",
        },
        tmp_path,
    )
    monkeypatch.setattr(Relevance, "imported", lambda self, path: ())
    filtered = answers(paths)
    with everything_is_parsed():
        assert answers(paths) != filtered
