"""The command line: what it prints where, and what it answers with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mfsdp_lint import __version__
from mfsdp_lint.cli import COMMANDS, main
from mfsdp_lint.engine import run

WRONG_FORMAT = "ddp:\n  use_megatron_fsdp: true\ncheckpoint:\n  ckpt_format: torch_dist\n  save: /results\n"
RIGHT_FORMAT = WRONG_FORMAT.replace("torch_dist", "fsdp_dtensor")
JUDGED = "judged against megatron-bridge 0.3.1 with megatron-core 0.16.1 (the newest on the package index)"

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a file below the current directory."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "GITHUB_WORKSPACE", "GITHUB_STEP_SUMMARY", "MFSDP_LINT_DEBUG"):
        monkeypatch.delenv(name, raising=False)

    def write(path: str, text: str) -> Path:
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        return file

    return write


def test_a_finding_of_severity_error_is_shown_and_ends_with_1(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("run.yaml", WRONG_FORMAT)
    assert main(["run.yaml"]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("error[MFSDP101]: ")
    assert " --> run.yaml:4:16\n" in out
    assert "4 |   ckpt_format: torch_dist\n  |                ^^^^^^^^^^\n" in out
    assert out.endswith(JUDGED + "\n")
    assert err == ""


def test_nothing_found_ends_with_0(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("run.yaml", RIGHT_FORMAT)
    assert main([]) == 0
    assert capsys.readouterr().out == f"1 file, 1 recipe: 0 findings; {JUDGED}\n"


def test_the_current_directory_is_the_default(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("a/run.yaml", WRONG_FORMAT)
    assert main(["--output-format", "concise"]) == 1
    assert capsys.readouterr().out.startswith("a/run.yaml:4:16: error MFSDP101 ")


def test_a_path_that_does_not_exist_ends_with_2_and_the_others_are_checked(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("run.yaml", WRONG_FORMAT)
    assert main(["no/such.yaml", "run.yaml", "--output-format=concise"]) == 2
    out, err = capsys.readouterr()
    assert out.startswith("run.yaml:4:16: error MFSDP101 ")
    assert err == "mfsdp-lint: error: no/such.yaml: no such file or directory\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bogus"], "unknown option --bogus (see `mfsdp-lint --help`)"),
        (["--target", "0.3.1"], "unknown option --target; it begins --target-bridge, --target-core, "),
        (["--outptu-format=json"], "unknown option --outptu-format; did you mean --output-format?"),
        (["--output-format", "xml"], "argument --output-format: invalid choice: 'xml'"),
        (["--select", "MFSDP10X"], "select: there is no rule 'MFSDP10X'"),
        (["--ignore", "MFSDP1,E501"], "ignore: there is no rule 'E501'"),
        (["--target-bridge", "9.9"], "target-bridge: unknown Megatron-Bridge version '9.9' (known: 0.2.0, "),
        (["--config", "no.toml"], "no.toml: No such file or directory"),
    ],
)
def test_wrong_usage_is_one_line_and_ends_with_2(
    write: Write, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    write("run.yaml", RIGHT_FORMAT)
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"mfsdp-lint: error: {message}")
    assert err.count("\n") == 1


def test_a_file_that_cannot_be_parsed_is_a_finding_and_stops_no_other(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("bad.yaml", "ddp: [\n")
    write("run.yaml", WRONG_FORMAT)
    assert main(["--output-format=concise"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("bad.yaml:2:1: error MFSDP901 not checked: not valid YAML: ")
    assert lines[1].startswith("run.yaml:4:16: error MFSDP101 ")


def test_selecting_rules_does_not_hide_that_a_file_was_not_checked(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("bad.yaml", "ddp: [\n")
    assert main(["--select=MFSDP3"]) == 1
    assert main(["--ignore=MFSDP901"]) == 0


def test_select_and_ignore(write: Write) -> None:
    write("run.yaml", WRONG_FORMAT)
    assert main(["--select=MFSDP1"]) == 1
    assert main(["--select=MFSDP3,MFSDP4", "--select=MFSDP2"]) == 0
    assert main(["--ignore=MFSDP101"]) == 0


def test_a_suppressed_finding_does_not_fail(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("run.yaml", WRONG_FORMAT.replace("dist\n", "dist # mfsdp: ignore[MFSDP101] converted at load\n"))
    assert main([]) == 0
    assert "0 findings; 1 suppressed; " in capsys.readouterr().out
    assert main(["--output-format=json"]) == 0
    assert json.loads(capsys.readouterr().out)["findings"][0]["suppressed"] is True


def test_fix_writes_what_is_asked_for_and_says_so(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    file = write("run.yaml", WRONG_FORMAT)
    assert main(["--fix"]) == 1  # nothing is known of what is loaded, so the fix is a person's choice
    assert "1 held back as unsafe (--unsafe-fixes)" in capsys.readouterr().out
    assert file.read_text() == WRONG_FORMAT

    assert main(["--unsafe-fixes"]) == 1  # shows, and writes nothing without --fix
    assert "1 fixable with --fix" in capsys.readouterr().out
    assert file.read_text() == WRONG_FORMAT

    assert main(["--fix", "--unsafe-fixes"]) == 0
    said = "1 fixed (1 of a run that could not start)"
    assert capsys.readouterr().out == f"1 file, 1 recipe: 0 findings; {said}; {JUDGED}\n"
    assert file.read_text() == RIGHT_FORMAT


def test_diff_prints_a_patch_for_git_and_writes_nothing(
    write: Write, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    file = write("run.yaml", WRONG_FORMAT.replace("\n", "\r\n"))
    before = file.read_bytes()
    assert main(["--diff", "--fix", "--unsafe-fixes", "."]) == 1
    out, err = capfdbinary.readouterr()
    assert b"-  ckpt_format: torch_dist\r\n+  ckpt_format: fsdp_dtensor\r\n" in out
    assert err.decode().endswith(f"{JUDGED}\n")
    assert file.read_bytes() == before

    subprocess.run(["git", "init", "--quiet"], check=True)
    subprocess.run(["git", "apply"], input=out, check=True)
    assert file.read_bytes() == RIGHT_FORMAT.replace("\n", "\r\n").encode()


def test_diff_ends_with_0_where_there_is_nothing_to_show_and_nothing_to_report(
    write: Write, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    write("run.yaml", RIGHT_FORMAT)
    assert main(["--diff"]) == 0
    assert capfdbinary.readouterr().out == b""


def test_the_configuration_counts_and_the_command_line_wins(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("run.yaml", WRONG_FORMAT)
    write("pyproject.toml", '[tool.mfsdp-lint]\nignore = ["MFSDP1"]\noutput-format = "json"\n')
    assert main([]) == 0
    assert json.loads(capsys.readouterr().out)["findings"] == []
    assert main(["--ignore", "MFSDP2", "--output-format", "concise"]) == 1


def test_github_gets_commands_and_a_page(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write("jobs/run.yaml", WRONG_FORMAT)
    page = write("page.md", "# earlier step\n")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    monkeypatch.chdir(tmp_path / "jobs")
    assert main(["--output-format", "github"]) == 1
    assert capsys.readouterr().out.startswith("::error file=jobs/run.yaml,line=4,col=16,endColumn=26,title=MFSDP101 ")
    assert page.read_text().startswith("# earlier step\n### mfsdp-lint\n")
    assert "| error | MFSDP101 " in page.read_text()


def test_a_page_that_cannot_be_written_costs_the_page_alone(
    write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write("run.yaml", WRONG_FORMAT)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "no/such/page.md")
    assert main(["--output-format", "github"]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("::error file=run.yaml,")
    assert err == "mfsdp-lint: warning: no/such/page.md: No such file or directory: no summary written\n"


def test_color_only_for_a_terminal_that_wants_it(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write("run.yaml", WRONG_FORMAT)

    def printed(*arguments: str) -> str:
        """What a run prints to a terminal."""
        import pty

        leader, follower = pty.openpty()
        command = [sys.executable, "-m", "mfsdp_lint", *arguments]
        subprocess.run(command, stdout=follower, check=False, env={**os.environ, "TERM": "xterm"})
        os.close(follower)
        return os.read(leader, 65536).decode()

    assert printed().startswith("\x1b[1;31merror[MFSDP101]\x1b[0m")
    assert "\x1b" not in printed("--no-color")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in printed()


def test_an_internal_error_is_one_line_unless_debugged(
    write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def break_down(*_: object) -> None:
        raise RuntimeError("the reader\nbroke down")

    write("run.yaml", RIGHT_FORMAT)
    monkeypatch.setattr(run, "question", break_down)
    assert main([]) == 2
    err = capsys.readouterr().err
    assert err.startswith("mfsdp-lint: internal error: RuntimeError: the reader broke down (test_cli.py:")
    assert "please report with" in err
    assert err.count("\n") == 1

    monkeypatch.setenv("MFSDP_LINT_DEBUG", "1")
    assert main([]) == 2
    assert "Traceback (most recent call last)" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--version"], ["-V"], ["check", "--version"], ["recipes", "--version"]])
def test_version(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    assert capsys.readouterr().out == f"mfsdp-lint {__version__}\n"


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    for option in ("--fix", "--unsafe-fixes", "--diff", "--select", "--ignore", "--target-bridge", "--search-path"):
        assert option in out


def test_a_name_that_the_terminal_cannot_show_is_escaped(write: Write) -> None:
    write("übung.yaml", WRONG_FORMAT)
    result = subprocess.run(
        [sys.executable, "-m", "mfsdp_lint", "--output-format=concise"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=False,
    )
    assert result.returncode == 1
    assert result.stdout.startswith(b"\\xfcbung.yaml:4:16: error MFSDP101 ")
    assert result.stderr == b""


def test_a_reader_that_goes_away_gets_no_traceback(write: Write) -> None:
    for number in range(200):
        write(f"run{number}.yaml", WRONG_FORMAT)
    command = [sys.executable, "-m", "mfsdp_lint", "--output-format=json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""


def test_the_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    said = capsys.readouterr().out
    assert all(f"\n  {name} " in said for name in COMMANDS)


def test_a_misspelt_command_is_no_path(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audti", "."]) == 2
    said = "mfsdp-lint: error: audti: no such file or directory; did you mean audit?\n"
    assert capsys.readouterr() == ("", said)


def test_what_is_there_is_a_path_whatever_it_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "audits").mkdir()
    monkeypatch.chdir(tmp_path)
    assert main(["audits"]) == 0
    assert "0 files" in capsys.readouterr().out
