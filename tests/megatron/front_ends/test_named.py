"""A framework that somebody names is whose the YAML files are, whatever they look like."""

from __future__ import annotations

import pytest

from mfsdp_lint.cli import main
from tests.megatron.front_ends.project import Project

FLAT = "use_megatron_fsdp: true\ntensor_model_parallel_size: 2\n"
"""As ms-swift takes it; nothing in it says so."""


def read(project: Project, *arguments: str) -> str:
    """How many recipes there are, as the summary says it."""
    assert main(["run.yaml", *arguments, "--no-cache", "--output-format", "concise"]) == 0
    return project.capsys.readouterr().out.splitlines()[-1].partition(":")[0]


def test_what_its_content_does_not_tell_a_name_does(project: Project) -> None:
    project.write({"run.yaml": FLAT})
    assert read(project) == "1 file, 0 recipes"
    assert read(project, "--front-end", "ms-swift") == "1 file, 1 recipe"


def test_the_configuration_may_name_it(project: Project) -> None:
    project.write({"run.yaml": FLAT, "mfsdp-lint.toml": 'front-end = "ms-swift"\n'})
    assert read(project) == "1 file, 1 recipe"


def test_one_that_is_named_alone_counts(project: Project) -> None:
    project.write({"run.yaml": "ENV:\n  A: 1\n" + FLAT})
    assert read(project) == "1 file, 1 recipe"
    assert read(project, "--front-end", "nemo-rl") == "1 file, 0 recipes"


@pytest.mark.parametrize("command", [["run.yaml", "--front-end"], ["explain", "--front-end"]])
def test_a_misspelt_name_leads_to_the_nearest(
    project: Project, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    project.write({"run.yaml": FLAT})
    assert main([*command, "ms-swfit"]) == 2
    assert "did you mean ms-swift?" in capsys.readouterr().err


def test_explain_prints_what_is_known_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--front-end", "verl"]) == 0
    assert capsys.readouterr().out.startswith("verl\n")
