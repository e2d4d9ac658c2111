"""Variables of pipelines: of Azure, and those that a step of GitHub hands on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.readers.test_started_by_others import BAD, CONNECTIONS, FORMAT, GOOD, NAME, RUN, told

STEP = f"steps: [{{bash: '{RUN} {GOOD}'}}]\n"
OF_FORMAT = f"{RUN} --save /c --ckpt-format"

AZURE: dict[str, tuple[str, list[str]]] = {
    "variables of the pipeline": (f"variables:\n  {NAME}: 1\n{STEP}", [f"2 {CONNECTIONS}"]),
    "a list of variables": (
        f"variables:\n- group: g\n- name: {NAME}\n  value: '1'\njobs:\n- job: a\n  {STEP}",
        [f"4 {CONNECTIONS}"],
    ),
    "variables of a stage": (
        f"stages:\n- stage: a\n  variables: {{{NAME}: 1}}\n  jobs:\n  - job: b\n    {STEP}",
        [f"3 {CONNECTIONS}"],
    ),
    "variables of a job count more": (
        f"variables: {{{NAME}: 1}}\njobs:\n- job: a\n  variables: {{{NAME}: 8}}\n  {STEP}",
        [],
    ),
    "variables of another job": (
        f"jobs:\n- job: a\n  variables: {{{NAME}: 1}}\n  steps: [{{bash: ls}}]\n- job: b\n  {STEP}",
        [],
    ),
    "the environment of a step counts most": (
        f"variables: {{{NAME}: 1}}\nsteps:\n- script: {RUN} {GOOD}\n  env: {{{NAME}: 8}}\n",
        [],
    ),
    "a name in the environment has capitals": (
        f"variables:\n  format: torch_dist\nsteps:\n- script: {OF_FORMAT} $FORMAT\n",
        [f"2 {FORMAT}"],
    ),
    "a variable filled in": (
        f"variables:\n  fmt: torch_dist\n  same: $(FMT)\nsteps:\n- bash: {OF_FORMAT} $(same)\n",
        [f"2 {FORMAT}"],
    ),
    "a variable filled in early": (
        f"variables:\n  fmt: torch_dist\nsteps:\n- bash: {OF_FORMAT} ${{{{ variables.fmt }}}}\n",
        [f"2 {FORMAT}"],
    ),
    "a default of a parameter": (
        f"parameters:\n- name: fmt\n  default: torch_dist\nvariables: {{a: b}}\n"
        f"steps:\n- bash: {OF_FORMAT} ${{{{ parameters.fmt }}}}\n",
        [f"3 {FORMAT}"],
    ),
    "an expression": (f"variables: {{fmt: '$[ x ]'}}\nsteps:\n- bash: {OF_FORMAT} $(fmt)\n", []),
    "a command whose output is no variable": (f"variables: {{a: b}}\nsteps:\n- bash: {OF_FORMAT} $(cat x)\n", []),
    "jobs of a matrix": (
        f"variables: {{a: b}}\njobs:\n- job: a\n  strategy:\n    matrix:\n      x: {{fmt: fsdp_dtensor}}\n"
        f"      y: {{fmt: torch_dist}}\n  steps:\n  - bash: {OF_FORMAT} $(fmt)\n",
        [f"7 {FORMAT}"],
    ),
    "a task, of a deployment": (
        f"variables:\n  {NAME}: 1\njobs:\n- deployment: a\n  strategy:\n    runOnce:\n      deploy:\n        steps:\n"
        f"        - task: Bash@3\n          inputs:\n            script: {RUN} {GOOD}\n",
        [f"2 {CONNECTIONS}"],
    ),
    "a step on a condition of the template": (
        f"variables:\n  {NAME}: 1\nsteps:\n- ${{{{ if x }}}}:\n  - bash: {RUN} {GOOD}\n",
        [f"2 {CONNECTIONS}"],
    ),
    "no variables at all": (f"steps:\n- bash: {RUN} {BAD}\n", [f"2 {FORMAT}"]),
}


@pytest.mark.parametrize(("text", "wanted"), AZURE.values(), ids=AZURE)
def test_a_pipeline_of_azure(
    text: str, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told({"azure-pipelines.yml": text}, tmp_path, capsys) == [f"azure-pipelines.yml:{each}" for each in wanted]


TRAIN = f"    - run: {RUN} {GOOD}\n"
SET = f"{NAME}=1"

GITHUB: dict[str, tuple[str, list[str]]] = {
    "echo": (f"    - run: echo '{SET}' >> \"$GITHUB_ENV\"\n{TRAIN}", [f"5 {CONNECTIONS}"]),
    "printf": (f"    - run: printf '{SET}\\n' >> ${{GITHUB_ENV}}\n{TRAIN}", [f"5 {CONNECTIONS}"]),
    "tee": (f"    - run: echo {SET} | tee -a $GITHUB_ENV\n{TRAIN}", [f"5 {CONNECTIONS}"]),
    "a here-document": (
        f"    - run: |\n        cat >> $GITHUB_ENV <<EOF\n        A=b\n        {SET}\n        EOF\n{TRAIN}",
        [f"8 {CONNECTIONS}"],
    ),
    "several commands, and a value of several lines": (
        f"    - run: |\n        {{\n          echo 'A<<E'\n          echo '{NAME}=8'\n          echo E\n"
        f"          echo {SET}\n        }} >> $GITHUB_ENV\n{TRAIN}",
        [f"10 {CONNECTIONS}"],
    ),
    "a value of a variable": (
        f"    - run: |\n        N=1\n        echo {NAME}=$N >> $GITHUB_ENV\n{TRAIN}",
        [f"6 {CONNECTIONS}"],
    ),
    "more than the environment of the job": (
        f"    - run: echo {SET} >> $GITHUB_ENV\n{TRAIN}    env: {{{NAME}: 8}}\n",
        [f"5 {CONNECTIONS}"],
    ),
    "less than the environment of a step": (
        f"    - run: echo {SET} >> $GITHUB_ENV\n{TRAIN}      env: {{{NAME}: 8}}\n",
        [],
    ),
    "not the step itself": (f"    - run: |\n        echo {SET} >> $GITHUB_ENV\n        {RUN} {GOOD}\n", []),
    "not the steps before": (f"{TRAIN}    - run: echo {SET} >> $GITHUB_ENV\n", []),
    "not another job": (f"    - run: echo {SET} >> $GITHUB_ENV\n  u:\n    steps:\n{TRAIN}", []),
    "not another file": (f"    - run: echo {SET} >> env.txt\n{TRAIN}", []),
    "set again": (
        f"    - run: echo {SET} >> $GITHUB_ENV\n    - run: echo {NAME}=8 >> $GITHUB_ENV\n{TRAIN}",
        [],
    ),
    "a step on a condition": (f"    - if: x\n      run: echo {SET} >> $GITHUB_ENV\n{TRAIN}", []),
    "a condition in a step": (
        f'    - run: |\n        if nvidia-smi | grep H100; then echo "{SET}" >> $GITHUB_ENV; fi\n{TRAIN}',
        [],
    ),
    "a step of another language": (
        f"    - shell: python\n      run: open(os.environ['GITHUB_ENV'], 'a').write('{SET}')\n{TRAIN}",
        [],
    ),
    "a value that is not known": (f"    - run: echo {NAME}=$(nproc) >> $GITHUB_ENV\n{TRAIN}", []),
}


@pytest.mark.parametrize(("steps", "wanted"), GITHUB.values(), ids=GITHUB)
def test_variables_that_a_step_of_github_sets_for_those_behind_it(
    steps: str, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = f"on: push\njobs:\n  t:\n    steps:\n{steps}"
    assert told({"ci.yml": text}, tmp_path, capsys) == [f"ci.yml:{each}" for each in wanted]
