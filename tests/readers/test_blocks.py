"""Environments that blocks of a text set: pipelines of Jenkins, jobs of Nomad, programs in JavaScript."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.readers.test_started_by_others import CONNECTIONS, FORMAT, GOOD, NAME, RUN, Files, told

SH = f"sh '{RUN} {GOOD}'"
STAGE = f"stage('t') {{ steps {{ {SH} }} }}"

CASES: dict[str, tuple[str, list[str]]] = {
    "the environment of a pipeline": (
        f"pipeline {{\n  environment {{\n    {NAME} = '1'  // of all\n  }}\n  stages {{ {STAGE} }}\n}}\n",
        [f"3 {CONNECTIONS}"],
    ),
    "the environment of a stage": (
        f"pipeline {{\n  environment {{ {NAME} = '8' }}\n  stages {{ stage('t') {{\n"
        f"    environment {{ {NAME} = '1' }}\n    steps {{ {SH} }}\n  }} }}\n}}\n",
        [f"4 {CONNECTIONS}"],
    ),
    "the environment of another stage": (
        f"pipeline {{ stages {{\n  stage('a') {{ environment {{ {NAME} = '1' }} }}\n  {STAGE}\n}} }}\n",
        [],
    ),
    "a variable of the pipeline, filled in": (
        f"pipeline {{\n  environment {{\n    N = '1'\n    {NAME} = \"${{N}}\"\n  }}\n  stages {{ {STAGE} }}\n}}\n",
        [f"3 {CONNECTIONS}"],
    ),
    "a variable of the pipeline in a command": (
        f"pipeline {{\n  environment {{ F = 'torch_dist' }}\n"
        f"  stages {{ stage('t') {{ steps {{ sh \"{RUN} --save /c --ckpt-format ${{F}}\" }} }} }}\n}}\n",
        [f"2 {FORMAT}"],
    ),
    "a variable that a command names by `env`": (
        f"pipeline {{\n  environment {{ F = 'torch_dist' }}\n"
        f'  stages {{ stage(\'t\') {{ steps {{ sh """\n{RUN} --save /c --ckpt-format ${{env.F}}\n""" }} }} }}\n}}\n',
        [f"2 {FORMAT}"],
    ),
    "a parameter of the same name is not the variable": (
        f"pipeline {{\n  environment {{ F = 'torch_dist' }}\n"
        f"  stages {{ stage('t') {{ steps {{ sh \"{RUN} --save /c --ckpt-format ${{params.F}}\" }} }} }}\n}}\n",
        [],
    ),
    "an expression": (f"pipeline {{\n  environment {{ {NAME} = '1' + x }}\n  stages {{ {STAGE} }}\n}}\n", []),
    "a credential": (f"pipeline {{\n  environment {{ {NAME} = get('1') }}\n  stages {{ {STAGE} }}\n}}\n", []),
    "a comment": (f"pipeline {{\n  environment {{\n  // {NAME} = '1'\n  }}\n  stages {{ {STAGE} }}\n}}\n", []),
    "a list for a block": (
        f"node {{\n  withEnv([\n    'PATH+X=/x',\n    \"{NAME}=1\",\n  ]) {{\n    {SH}\n  }}\n}}\n",
        [f"4 {CONNECTIONS}"],
    ),
    "a list for another block": (f"node {{\n  withEnv(['{NAME}=1']) {{ sh 'nvidia-smi' }}\n  {SH}\n}}\n", []),
    "a list of expressions": (f"node {{ withEnv(['{NAME}=1' + x]) {{ {SH} }} }}\n", []),
    "a statement before": (f"node {{\n  env.{NAME} = '1'\n  {SH}\n}}\n", [f"2 {CONNECTIONS}"]),
    "a statement behind": (f"node {{\n  {SH}\n  env.{NAME} = '1'\n}}\n", []),
    "a statement on a condition": (f"node {{\n  if (x) {{ env.{NAME} = '1' }}\n  {SH}\n}}\n", []),
    "a statement gives way to a list": (
        f"node {{\n  env.{NAME} = '1'\n  withEnv(['{NAME}=8']) {{ {SH} }}\n}}\n",
        [],
    ),
    "a brace within a text opens nothing": (
        f"node {{\n  withEnv(['{NAME}=1']) {{\n    echo '}} it''s'\n    {SH}\n  }}\n}}\n",
        [f"2 {CONNECTIONS}"],
    ),
}


@pytest.mark.parametrize(("text", "wanted"), CASES.values(), ids=CASES)
def test_a_pipeline_of_jenkins(
    text: str, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told({"Jenkinsfile": text}, tmp_path, capsys) == [f"Jenkinsfile:{each}" for each in wanted]


OTHERS: dict[str, tuple[Files, list[str]]] = {
    "a job of Nomad": (
        {"train.nomad": f'task "t" {{\n  config {{ command = "{RUN} {GOOD}" }}\n  env {{ {NAME} = "1" }}\n}}\n'},
        [f"train.nomad:3 {CONNECTIONS}"],
    ),
    "a program in JavaScript": (
        {"jobs.js": f"module.exports = {{\n  script: '{RUN} {GOOD}',\n  env: {{ '{NAME}': '1' }},\n}}\n"},
        [f"jobs.js:3 {CONNECTIONS}"],
    ),
    "a pipeline that starts a script": (
        {
            "ci/train.jenkinsfile": f"node {{\n  withEnv(['{NAME}=1']) {{ sh 'bash train.sh' }}\n}}\n",
            "train.sh": f"{RUN} {GOOD}\n",
        },
        [f"ci/train.jenkinsfile:2 {CONNECTIONS}"],
    ),
}


@pytest.mark.parametrize(("files", "wanted"), OTHERS.values(), ids=OTHERS)
def test_another_text_in_braces(
    files: Files, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told(files, tmp_path, capsys) == wanted
