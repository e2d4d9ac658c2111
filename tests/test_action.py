"""The action, with a script in place of GitHub's runner: its steps, environment files and the page of the job."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import mfsdp_lint

ACTION = Path(__file__).parents[1] / "action.yml"
WRONG = "ddp:\n  use_megatron_fsdp: true\ncheckpoint:\n  ckpt_format: torch_dist\n  save: /results\n"

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="the steps are bash")


class Runner:
    """Runs steps of the action as GitHub does, in a checkout with one wrong file."""

    def __init__(self, folder: Path) -> None:
        self.action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
        self.temporary, self.checkout = folder / "temp", folder / "check out"
        programs = self.temporary / "mfsdp-lint" / "bin"
        programs.mkdir(parents=True)
        self.checkout.mkdir()
        (self.checkout / "run.yaml").write_text(WRONG, encoding="utf-8")
        source = Path(mfsdp_lint.__file__).parents[1]
        self.program(programs / "mfsdp-lint", f'PYTHONPATH="{source}" exec "{sys.executable}" -m mfsdp_lint "$@"')
        self.program(
            programs / "gh", f'printf "%s\\n" "$@" > "{self.temporary}/asked"; cp "$6" "{self.temporary}/body"'
        )
        self.output, self.page = self.temporary / "output", self.temporary / "page"
        self.environment = {
            **os.environ,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "RUNNER_TEMP": str(self.temporary),
            "GITHUB_ACTIONS": "true",
            "GITHUB_WORKSPACE": str(self.checkout),
            "GITHUB_OUTPUT": str(self.output),
            "GITHUB_STEP_SUMMARY": str(self.page),
            "GITHUB_REPOSITORY": "me/recipes",
            "GITHUB_SHA": "0123abc",
            "GITHUB_REF": "refs/heads/main",
            "MFSDP_LINT_CACHE_DIR": "",
        }

    @staticmethod
    def program(path: Path, line: str) -> None:
        path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        path.chmod(0o755)

    def step(self, name: str, **inputs: str) -> subprocess.CompletedProcess[str]:
        step = next(each for each in self.action["runs"]["steps"] if each["id"] == name)
        known = {f"inputs.{key}": said["default"] for key, said in self.action["inputs"].items()}
        known |= {f"inputs.{key.replace('_', '-')}": value for key, value in inputs.items()}
        known |= {f"steps.lint.outputs.{key}": value for key, value in self.outputs().items()}
        known["github.token"] = "secret"

        def filled(text: str) -> str:
            return re.sub(r"\$\{\{ *([\w.-]+) *\}\}", lambda match: known[match[1]], text)

        own: dict[str, Any] = {key: filled(value) for key, value in step.get("env", {}).items()}
        return subprocess.run(
            # As the runner calls it.
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
            cwd=self.checkout,
            env={**self.environment, **own},
            capture_output=True,
            text=True,
            check=False,
        )

    def outputs(self) -> dict[str, str]:
        lines = self.output.read_text(encoding="utf-8").splitlines() if self.output.exists() else ()
        return dict(line.split("=", 1) for line in lines)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


def test_findings_are_annotations_a_page_and_a_failure(runner: Runner) -> None:
    done = runner.step("lint", target_bridge="0.3.1")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("::error file=run.yaml,line=4,")
    assert runner.outputs() == {"exit-code": "1", "sarif": ""}
    assert "MFSDP101" in runner.page.read_text(encoding="utf-8")


def test_paths_are_lines_and_may_hold_spaces(runner: Runner) -> None:
    (runner.checkout / "run.yaml").rename(runner.checkout / "a run.yaml")
    (runner.checkout / "-x.yaml").write_text(WRONG, encoding="utf-8")
    done = runner.step("lint", paths="a run.yaml\n-x.yaml\n", target_bridge="0.3.1")
    assert [line.partition(",")[0] for line in done.stdout.splitlines()[:2]] == [
        "::error file=-x.yaml",
        "::error file=a run.yaml",
    ]


def test_what_fails_is_for_the_job_to_say(runner: Runner) -> None:
    (runner.checkout / "run.yaml").write_text(WRONG.replace("  save: /results\n", ""), encoding="utf-8")
    assert runner.step("lint", target_bridge="0.3.1", fail_on="error").returncode == 0
    assert runner.step("lint", target_bridge="0.3.1", fail_on="errors").returncode == 2


def test_what_is_put_in_is_never_run(runner: Runner) -> None:
    mark = runner.temporary / "executed"
    for name in ("paths", "target_bridge", "fail_on", "since", "sarif"):
        runner.step("lint", **{name: f"$(touch '{mark}')`touch '{mark}'`; touch '{mark}'"})
    assert not mark.exists()


def test_sarif_is_uploaded_as_the_api_asks_for_it(runner: Runner) -> None:
    runner.step("lint", target_bridge="0.3.1", upload_sarif="true")
    done = runner.step("upload")
    assert (done.returncode, done.stderr) == (0, "")
    asked = (runner.temporary / "asked").read_text(encoding="utf-8").splitlines()
    assert asked[:4] == ["api", "--method", "POST", "repos/me/recipes/code-scanning/sarifs"]
    body = json.loads((runner.temporary / "body").read_text(encoding="utf-8"))
    assert (body["commit_sha"], body["ref"]) == ("0123abc", "refs/heads/main")
    document = json.loads(gzip.decompress(base64.b64decode(body["sarif"])))
    assert [each["ruleId"] for each in document["runs"][0]["results"]] == ["MFSDP101"]


def test_no_action_of_others_is_used(runner: Runner) -> None:
    assert [step for step in runner.action["runs"]["steps"] if "uses" in step] == []
