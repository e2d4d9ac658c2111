"""`[tool.mfsdp-lint]` overlaid by the command line."""

from __future__ import annotations

import pytest

from mfsdp_lint.inputs.configuration import read_configuration
from mfsdp_lint.inputs.options import Options, UsageError, merge
from tests.inputs.conftest import Write


def test_every_setting_can_be_configured(write: Write) -> None:
    write(
        "pyproject.toml",
        """
        [tool.mfsdp-lint]
        select = ["MFSDP1", "MFSDP2"]
        ignore = ["MFSDP102"]
        exclude = ["old"]
        search-path = ["src", "vendor/megatron"]
        target-bridge = "0.3.1"
        target-core = "0.16.1"
        target-te = "2.12"
        target-torch = "2.10"
        target-gpu = "h100"
        fix = true
        unsafe-fixes = true
        diff = true
        output-format = "concise"
        """,
    )
    (remark,) = (merged := merge({}, read_configuration())).remarks
    assert remark.endswith("edits nothing; give --fix --unsafe-fixes, or name the file: --config pyproject.toml")
    assert merged == Options(
        select=("MFSDP1", "MFSDP2"),
        ignore=("MFSDP102",),
        exclude=("old",),
        search_path=("src", "vendor/megatron"),
        target_bridge="0.3.1",
        target_core="0.16.1",
        target_te="2.12",
        target_torch="2.10",
        target_gpu="h100",
        target_from="pyproject.toml",
        diff=True,
        output_format=("concise",),
        remarks=(remark,),
    )


def test_the_command_line_wins() -> None:
    configured = {"select": ("MFSDP1",), "fix": True, "output_format": ("json",)}
    given = {"select": ("MFSDP2",), "fix": False, "output_format": None, "paths": ("recipes",)}
    assert merge(given, configured) == Options(
        paths=("recipes",), select=("MFSDP2",), fix=False, output_format=("json",)
    )


def test_nothing_configured_is_the_defaults(write: Write) -> None:
    write("pyproject.toml", "[tool.ruff]\nline-length = 100\n")
    assert merge({}, read_configuration()) == Options()


def test_the_nearest_file_with_a_table_counts(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write("pyproject.toml", '[tool.mfsdp-lint]\ntarget-bridge = "0.2.0"\nsearch-path = ["vendor"]\n')
    write("a/pyproject.toml", "[tool.ruff]\n")
    here = write("a/b/recipe.py", "").parent
    monkeypatch.chdir(here)
    assert read_configuration() == {
        "target_bridge": "0.2.0",
        "search_path": ("../../vendor",),
        "target_from": "../../pyproject.toml",
    }

    write("a/b/pyproject.toml", '[tool.mfsdp-lint]\ntarget-bridge = "0.4.2"\n')
    assert read_configuration() == {"target_bridge": "0.4.2", "target_from": "pyproject.toml"}


def test_a_named_file_is_read_instead(write: Write) -> None:
    write("pyproject.toml", '[tool.mfsdp-lint]\ntarget-bridge = "0.2.0"\n')
    write("ci/lint.toml", '[tool.mfsdp-lint]\nsearch-path = ["../vendor"]\n')
    assert read_configuration("ci/lint.toml") == {"search_path": ("vendor",)}


def test_a_broken_file_that_does_not_speak_of_us_is_not_our_business(write: Write) -> None:
    write("pyproject.toml", "[tool.ruff\n")
    assert read_configuration() == {}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("selct = ['X']", "[tool.mfsdp-lint] selct: no such setting; did you mean select?"),
        ("unsafe_fixes = true", "[tool.mfsdp-lint] unsafe_fixes: no such setting; did you mean unsafe-fixes?"),
        ("zzz = 1", "[tool.mfsdp-lint] zzz: no such setting (known: extend, required-version, select, "),
        ("paths = ['a']", "[tool.mfsdp-lint] paths: no such setting"),
        ("select = 'MFSDP1'", '[tool.mfsdp-lint] select: expected a list of strings, got "MFSDP1"'),
        ("ignore = [1]", "[tool.mfsdp-lint] ignore: expected a list of strings, got [1]"),
        ("fix = 'yes'", '[tool.mfsdp-lint] fix: expected true or false, got "yes"'),
        ("target-bridge = 0.4", "[tool.mfsdp-lint] target-bridge: expected a string, got 0.4"),
        (
            "output-format = 'xml'",
            "[tool.mfsdp-lint] output-format: expected one of full, concise, json, github, sarif, gitlab",
        ),
        ("fix = ", "Invalid value (at line 2, column 7)"),
    ],
)
def test_a_mistake_is_told_with_file_and_key(write: Write, table: str, message: str) -> None:
    write("pyproject.toml", f"[tool.mfsdp-lint]\n{table}\n")
    with pytest.raises(UsageError) as error:
        read_configuration()
    assert str(error.value).startswith(f"pyproject.toml: {message}")


def test_a_table_of_the_wrong_kind(write: Write) -> None:
    write("pyproject.toml", "[tool]\nmfsdp-lint = 3\n")
    with pytest.raises(UsageError, match=r"pyproject\.toml: \[tool\.mfsdp-lint\] must be a table"):
        read_configuration()


def test_a_named_file_must_be_there_and_have_the_table(write: Write) -> None:
    with pytest.raises(UsageError, match=r"no\.toml: No such file or directory"):
        read_configuration("no.toml")
    write("other.toml", "[tool.ruff]\n")
    with pytest.raises(UsageError, match=r"other\.toml: has no \[tool\.mfsdp-lint\] table"):
        read_configuration("other.toml")


def test_a_file_that_is_not_utf_8(write: Write) -> None:
    write("pyproject.toml", "").write_bytes(b"[tool.mfsdp-lint]\nselect = ['\xff']\n")
    with pytest.raises(UsageError, match=r"pyproject\.toml: 'utf-8' codec can't decode"):
        read_configuration()


def test_a_target_tells_who_asked_for_it(write: Write) -> None:
    write("pyproject.toml", '[tool.mfsdp-lint]\ntarget-bridge = ">=0.4,<0.6"\n')
    assert merge({}, read_configuration()).target_from == "pyproject.toml"
    assert merge({"target_bridge": "0.3.1"}, read_configuration()).target_from == "as asked"
