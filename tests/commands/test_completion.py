"""`--completion`: what a shell offers once it has read the script."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from mfsdp_lint.cli import COMMANDS, main


def offered(line: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What bash offers for the last word of a line."""
    assert main(["--completion", "bash"]) == 0
    words = line.split(" ")
    asked = " ".join(f"'{word}'" for word in words)
    ask = f"COMP_WORDS=({asked}); COMP_CWORD={len(words) - 1}\n" + (
        "name=$(complete -p mfsdp-lint | sed -E 's/.* -F ([^ ]+) .*/\\1/')\n"
        f"$name mfsdp-lint '{words[-1]}' '{words[-2]}'; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", capsys.readouterr().out + "\n" + ask], capture_output=True, text=True, check=False
    )
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="asks bash")
def test_bash_offers_commands_options_and_choices(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(COMMANDS) <= set(offered("mfsdp-lint ", capsys))
    assert "--output-format" in offered("mfsdp-lint check --out", capsys)
    assert {"default", "strict", "performance"} <= set(offered("mfsdp-lint check --preset ", capsys))


@pytest.mark.parametrize("shell", ["zsh", "tcsh", "fish"])
def test_other_shells_have_a_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--completion", shell]) == 0
    assert "mfsdp-lint" in capsys.readouterr().out


def test_without_the_extra_it_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["--completion", "bash"]) == 2
    assert "pip install '.[completion]' in a checkout" in capsys.readouterr().err
