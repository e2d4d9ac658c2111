"""What the tests of the engine share."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mfsdp_lint.cli import main

Told = Callable[..., str]


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Told:
    """Run the tool on this folder with more arguments; return its exit code and its output."""

    def tell(*arguments: str) -> str:
        code = main([*arguments, "."])
        return f"{code}\n{capsys.readouterr().out}"

    return tell
