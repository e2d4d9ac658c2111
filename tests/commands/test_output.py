"""Where reports go, which formats there are at once, and what makes a run fail."""

from __future__ import annotations

import io
import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.reports.forges import ANNOTATIONS
from tools.findings_schema import schema

WRONG = "ddp:\n  use_megatron_fsdp: true\ncheckpoint:\n  ckpt_format: torch_dist\n  save: /results\n"

Lint = Callable[..., tuple[int, str, str]]


@pytest.fixture
def lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Lint:
    """Lints a folder with one wrong file: the exit code, what was printed, what was complained of."""
    monkeypatch.chdir(tmp_path)
    Path("run.yaml").write_text(WRONG, encoding="utf-8")

    def lint(*arguments: str) -> tuple[int, str, str]:
        code = main(["--target-bridge", "0.3.1", *arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return lint


def test_two_formats_of_one_run(lint: Lint) -> None:
    code, out, _ = lint("--output-format", "concise", "--output-format", "sarif=out.sarif")
    assert code == 1
    assert out.startswith("run.yaml:4:16: error MFSDP101 ")
    assert json.loads(Path("out.sarif").read_text(encoding="utf-8"))["version"] == "2.1.0"


def test_json_fits_its_published_schema(lint: Lint) -> None:
    Path("code.py").write_text(
        "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n", encoding="utf-8"
    )
    jsonschema.validate(json.loads(lint("--output-format", "json", "--unsafe-fixes")[1]), schema())


def test_what_goes_to_files_alone_leaves_the_text_for_people(lint: Lint) -> None:
    _, out, _ = lint("--output-format", "junit=out.xml", "--output-format", "gitlab=out.json")
    assert out.startswith("error[MFSDP101]: ")
    assert ElementTree.parse("out.xml").getroot().tag == "testsuites"
    assert len(json.loads(Path("out.json").read_text(encoding="utf-8"))) == 1


def test_two_formats_cannot_both_be_printed(lint: Lint) -> None:
    code, _, err = lint("--output-format", "json", "--output-format", "sarif")
    assert code == 2
    assert "json and sarif cannot both be printed; write one as FORMAT=FILE" in err


def test_what_would_be_printed_can_go_to_a_file(lint: Lint) -> None:
    assert lint("--output-format", "concise", "--output-file", "out.txt")[:2] == (1, "")
    assert Path("out.txt").read_text(encoding="utf-8").startswith("run.yaml:4:16: ")


def test_a_file_that_cannot_be_written_is_told(lint: Lint) -> None:
    code, _, err = lint("--output-file", "no/such/folder.txt")
    assert (code, err) == (2, "mfsdp-lint: error: no/such/folder.txt: No such file or directory\n")


def test_inside_github_actions_annotations_are_the_default(lint: Lint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert lint()[1].startswith("::error file=run.yaml,line=4,")
    assert lint("--output-format", "concise")[1].startswith("run.yaml:4:16: ")


def test_hundreds_of_findings_are_ten_annotations_a_level_and_a_whole_summary(
    lint: Lint, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(200):
        warned = WRONG.replace("  save: /results\n", "")
        Path(f"run{number}.yaml").write_text(WRONG, encoding="utf-8")
        Path(f"warned{number}.yaml").write_text(warned, encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    code, out, _ = lint("--output-format", "github")
    assert code == 1
    commands = [line.partition(" ")[0] for line in out.splitlines() if line.startswith("::")]
    assert {command: commands.count(command) for command in commands} == {
        "::error": ANNOTATIONS,
        "::warning": ANNOTATIONS,
    }
    assert "381 more findings not annotated; the job's summary lists all of them" in out
    rows = [line for line in Path("summary.md").read_text(encoding="utf-8").splitlines() if "MFSDP101" in line]
    assert len(rows) == 401


def test_statistics_count_each_rule(lint: Lint) -> None:
    Path("other.yaml").write_text(WRONG, encoding="utf-8")
    _, out, _ = lint("--statistics")
    assert out.splitlines()[0] == "2  error  MFSDP101  fsdp-checkpoint-format (2 fixable)"


def test_exit_zero_and_the_severity_that_fails(lint: Lint) -> None:
    assert lint()[0] == 1
    assert lint("--exit-zero")[0] == 0
    assert lint("--exit-zero", "no/such.yaml")[0] == 2
    Path("run.yaml").write_text(WRONG.replace("  save: /results\n", ""), encoding="utf-8")  # a warning
    assert [lint("--fail-on", level)[0] for level in ("error", "warning", "info")] == [0, 1, 1]


def test_files_and_settings_are_shown_without_a_run(lint: Lint) -> None:
    assert lint("--show-files") == (0, "run.yaml\n", "")
    Path("mfsdp-lint.toml").write_text('ignore = ["MFSDP1"]\n', encoding="utf-8")
    code, out, _ = lint("--show-settings")
    assert code == 0
    assert out.startswith("# configuration: mfsdp-lint.toml\n# judged against megatron-bridge 0.3.1 ")
    assert 'ignore = ["MFSDP1"]\n' in out
    assert 'target-bridge = "0.3.1"\n' in out


@pytest.mark.parametrize("exclude", ["run.yaml", "*.yaml", "sub", "sub/run.yaml"])
def test_what_is_named_is_checked_unless_the_exclusions_are_forced(lint: Lint, exclude: str) -> None:
    Path("sub").mkdir()
    Path("sub/run.yaml").write_text(WRONG, encoding="utf-8")
    assert lint("sub/run.yaml", "--exclude", exclude)[0] == 1
    code, out, err = lint("sub/run.yaml", "--exclude", exclude, "--force-exclude")
    assert (code, err) == (0, "")
    assert out.startswith("0 files, 0 recipes: 0 findings; ")


@pytest.mark.parametrize(
    ("arguments", "variable", "colored"),
    [
        (["--color", "always"], "", True),
        (["--color", "always"], "1", True),
        (["--color", "never"], "", False),
        (["--no-color"], "", False),
        ([], "", False),
    ],
)
def test_colors(
    lint: Lint, monkeypatch: pytest.MonkeyPatch, arguments: list[str], variable: str, colored: bool
) -> None:
    monkeypatch.setenv("NO_COLOR", variable)
    assert ("\x1b[" in lint(*arguments)[1]) is colored


class TestStandardInput:
    @pytest.fixture(autouse=True)
    def _text(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(WRONG.encode())))

    def test_it_is_checked_under_the_name_that_it_is_given(self, lint: Lint) -> None:
        code, out, _ = lint("-", "--stdin-filename", "sub/not_there.yaml", "--output-format", "concise")
        assert code == 1
        assert out.startswith("sub/not_there.yaml:4:16: error MFSDP101 ")

    def test_it_stands_for_the_file_of_that_name(self, lint: Lint) -> None:
        Path("run.yaml").write_text("ddp: {}\n", encoding="utf-8")
        assert lint("-", "--stdin-filename", "run.yaml")[0] == 1

    def test_it_is_not_written(self, lint: Lint) -> None:
        code, _, err = lint("-", "--fix")
        assert (code, err) == (
            2,
            "mfsdp-lint: error: --fix: what comes from stdin is not written; --diff prints a patch\n",
        )

    def test_a_name_of_another_kind_is_told(self, lint: Lint) -> None:
        code, _, err = lint("-", "--stdin-filename", "run.txt")
        assert code == 2
        assert "run.txt: not a kind of file this tool reads" in err


def test_a_file_name_without_a_text_is_told(lint: Lint) -> None:
    code, _, err = lint("--stdin-filename", "run.yaml")
    assert (code, err) == (2, "mfsdp-lint: error: --stdin-filename: there is no - among the paths\n")
