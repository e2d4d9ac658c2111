"""Where the configuration is found, what it extends, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from mfsdp_lint.inputs.configuration import EVERY_KEY, read_configuration
from mfsdp_lint.inputs.options import UsageError
from tests.inputs.conftest import Write
from tools.configuration_schema import schema


def test_a_file_of_its_own_has_no_table(write: Write) -> None:
    write("mfsdp-lint.toml", 'select = ["MFSDP1"]\n')
    assert read_configuration() == {"select": ("MFSDP1",)}


def test_a_file_of_its_own_counts_before_pyproject_beside_it(write: Write) -> None:
    write("mfsdp-lint.toml", 'select = ["MFSDP1"]\n')
    write("pyproject.toml", '[tool.mfsdp-lint]\nselect = ["MFSDP2"]\n')
    assert read_configuration()["select"] == ("MFSDP1",)


def test_the_nearest_file_counts_and_no_other(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write("mfsdp-lint.toml", 'select = ["MFSDP1"]\nfix = true\n')
    write("a/pyproject.toml", '[tool.mfsdp-lint]\nselect = ["MFSDP2"]\n')
    monkeypatch.chdir("a")
    assert read_configuration() == {"select": ("MFSDP2",)}


def test_what_is_extended_counts_where_nothing_else_is_said(write: Write) -> None:
    write("shared/lint.toml", '[tool.mfsdp-lint]\nselect = ["MFSDP1"]\npreview = true\nsearch-path = ["vendor"]\n')
    write("mfsdp-lint.toml", 'extend = "shared/lint.toml"\nselect = ["MFSDP2"]\n')
    assert read_configuration() == {"select": ("MFSDP2",), "preview": True, "search_path": ("shared/vendor",)}


def test_tables_add_to_what_is_extended(write: Write) -> None:
    write("base/mfsdp-lint.toml", '[severity]\nMFSDP101 = "warning"\nMFSDP102 = "info"\n')
    write("mfsdp-lint.toml", 'extend = "base/mfsdp-lint.toml"\n[severity]\nMFSDP101 = "error"\n')
    assert read_configuration()["severity"] == (
        ("MFSDP101", "warning"),
        ("MFSDP102", "info"),
        ("MFSDP101", "error"),
    )


def test_files_that_extend_each_other_are_told(write: Write) -> None:
    write("mfsdp-lint.toml", 'extend = "other/mfsdp-lint.toml"\n')
    write("other/mfsdp-lint.toml", 'extend = "../mfsdp-lint.toml"\n')
    with pytest.raises(UsageError, match=r"goes in a circle"):
        read_configuration()


def test_globs_with_a_slash_are_relative_to_the_file(write: Write, tmp_path: Path) -> None:
    write("mfsdp-lint.toml", 'exclude = ["old", "a/old"]\n[per-file-ignores]\n"a/**/gen_*.py" = ["MFSDP1"]\n')
    assert read_configuration() == {
        "exclude": ("old", f"{tmp_path}/a/old"),
        "per_file_ignores": ((f"{tmp_path}/a/**/gen_*.py", ("MFSDP1",)),),
    }


@pytest.mark.parametrize(
    ("required", "message"),
    [
        (">=99", r"required-version: this is mfsdp-lint [\d.]+, and the configuration is for >=99"),
        ("new", "required-version: 'new' is not a version"),
    ],
)
def test_a_version_that_does_not_fit_is_refused(write: Write, required: str, message: str) -> None:
    write("mfsdp-lint.toml", f'required-version = "{required}"\n')
    with pytest.raises(UsageError, match=message):
        read_configuration()


def test_a_version_that_fits_is_fine(write: Write) -> None:
    write("mfsdp-lint.toml", 'required-version = ">=0.1,<99"\n')
    assert read_configuration() == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.mfsdp_lint]\nfix = true\n", "[tool.mfsdp_lint]: no such table; did you mean [tool.mfsdp-lint]?"),
        ("[tool.mfsdplint]\nfix = true\n", "[tool.mfsdplint]: no such table; did you mean [tool.mfsdp-lint]?"),
        ("[tool.mfsdp-lint.sevrity]\nX = 'error'\n", "sevrity: no such setting; did you mean severity?"),
        ("[tool.mfsdp-lint.severity]\nX = 'warn'\n", "severity.X: expected one of error, warning, info"),
        ("[tool.mfsdp-lint]\npreset = 'strickt'\n", "did you mean strict?"),
        ("[tool.mfsdp-lint]\nper-file-ignores = ['a']\n", "per-file-ignores: expected a table"),
        ("[tool.mfsdp-lint.per-file-ignores]\n'a' = 'X'\n", "per-file-ignores.a: expected a list of strings"),
        ("[tool.mfsdp-lint]\noutput-format = ['full', 'sarf=out']\n", "did you mean sarif?"),
    ],
)
def test_what_is_misspelt_is_told_with_what_is_nearest(write: Write, text: str, message: str) -> None:
    write("pyproject.toml", text)
    with pytest.raises(UsageError) as error:
        read_configuration()
    assert message in str(error.value)


EXAMPLES = {
    "switch": True,
    "text": "a",
    "folder": "a",
    "texts": ["a"],
    "globs": ["a"],
    "folders": ["a"],
    "codes by glob": {"a": ["b"]},
    "levels": {"a": "error"},
    "table": {"partition": "a"},
}


@pytest.mark.parametrize("key", EVERY_KEY, ids=lambda key: key.name)
def test_the_schema_takes_what_is_read_and_refuses_what_is_not(write: Write, key: object) -> None:
    from mfsdp_lint.inputs.configuration import ConfigKey

    assert isinstance(key, ConfigKey)
    validator = Draft7Validator(schema())
    example = EXAMPLES.get(key.kind, key.choices[0] if key.choices else "a")
    assert validator.is_valid({key.name: example})
    assert not validator.is_valid({key.name: 3})
    if key.name not in ("extend", "required-version"):
        toml = (
            json.dumps(example)
            if not isinstance(example, dict)
            else "{ " + " ".join(f"{name} = {json.dumps(value)}" for name, value in example.items()) + " }"
        )
        write("mfsdp-lint.toml", f"{key.name} = {toml}\n")
        assert key.field in read_configuration("mfsdp-lint.toml")
    write("mfsdp-lint.toml", f"{key.name} = 3\n")
    with pytest.raises(UsageError):
        read_configuration()


DRY_RUN = """
[tool.mfsdp-lint.dry-run]
executor = "slurm"
partition = "gpu"
gpus-per-job = 2
setup = ["module load cuda"]
"""


def test_a_dry_run_has_a_table_of_its_own(write: Write) -> None:
    write("pyproject.toml", DRY_RUN)
    said = dict(read_configuration("pyproject.toml")["dry_run"])
    assert said == {"executor": "slurm", "partition": "gpu", "gpus_per_job": 2, "setup": ("module load cuda",)}


def test_lines_of_shell_that_came_with_the_files_are_not_run(write: Write) -> None:
    write("pyproject.toml", DRY_RUN)
    found = read_configuration()
    assert dict(found["dry_run"]) == {"executor": "slurm", "partition": "gpu", "gpus_per_job": 2}
    assert found["remarks"] == (
        "pyproject.toml: dry-run: setup: a configuration that came with the files runs no program; give --setup, or "
        "name the file: --config pyproject.toml",
    )


def test_a_key_of_the_table_that_does_not_exist_is_told(write: Write) -> None:
    write("pyproject.toml", '[tool.mfsdp-lint.dry-run]\npartitions = "gpu"\n')
    with pytest.raises(UsageError, match=r"dry-run\.partitions: no such setting; did you mean partition\?"):
        read_configuration()
