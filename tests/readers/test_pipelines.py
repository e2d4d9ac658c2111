"""Variables of pipelines: of Azure, and those that a step of GitHub hands on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from mfsdp_lint.cli import main
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


MAIN = "azure-pipelines.yml"
STEPS = f"parameters:\n- name: fmt\n  default: fsdp_dtensor\nsteps:\n- bash: {OF_FORMAT} ${{{{ parameters.fmt }}}}\n"

TEMPLATES: dict[str, tuple[Mapping[str, str], list[str]]] = {
    "variables": (
        {MAIN: f"variables:\n- template: ci/vars.yml\n{STEP}", "ci/vars.yml": f"variables:\n  {NAME}: 1\n"},
        [f"ci/vars.yml:2 {CONNECTIONS}"],
    ),
    "variables behind which another value counts": (
        {
            MAIN: f"variables:\n- template: ci/vars.yml\n- name: {NAME}\n  value: 8\n{STEP}",
            "ci/vars.yml": f"variables:\n  {NAME}: 1\n",
        },
        [],
    ),
    "variables of a parameter": (
        {
            MAIN: f"variables:\n- template: vars.yml\n  parameters:\n    number: 1\n{STEP}",
            "vars.yml": f"parameters:\n- name: number\n  default: 8\nvariables:\n- name: {NAME}\n"
            "  value: ${{ parameters.number }}\n",
        },
        [f"{MAIN}:4 {CONNECTIONS}"],
    ),
    "variables of a template that is not at hand": (
        {MAIN: f"variables:\n- name: {NAME}\n  value: 1\n- template: vars.yml@shared\n{STEP}"},
        [],
    ),
    "variables on a condition": (
        {MAIN: f"variables:\n- name: {NAME}\n  value: 1\n- ${{{{ if x }}}}:\n  - name: {NAME}\n    value: 8\n{STEP}"},
        [],
    ),
    "steps of a parameter": (
        {MAIN: "steps:\n- template: ci/steps.yml\n  parameters: {fmt: torch_dist}\n", "ci/steps.yml": STEPS},
        [f"{MAIN}:3 {FORMAT}"],
    ),
    "steps with the default of a parameter": (
        {MAIN: "steps:\n- template: ci/steps.yml\n", "ci/steps.yml": STEPS},
        [],
    ),
    "steps get the variables of the pipeline": (
        {MAIN: f"variables:\n  {NAME}: 1\nsteps:\n- template: ci/steps.yml\n", "ci/steps.yml": STEPS},
        [f"{MAIN}:2 {CONNECTIONS}"],
    ),
    "a job, named from the root of the repository, on a condition": (
        {
            MAIN: f"variables:\n  {NAME}: 1\njobs:\n- ${{{{ if x }}}}:\n  - template: /ci/jobs/train.yml@self\n",
            "ci/jobs/train.yml": f"jobs:\n- job: a\n  {STEP}",
        },
        [f"{MAIN}:2 {CONNECTIONS}"],
    ),
    "a pipeline that extends a template": (
        {
            MAIN: f"variables:\n  {NAME}: 1\nextends:\n  template: base.yml\n",
            "base.yml": f"stages:\n- stage: a\n  jobs:\n  - job: a\n    {STEP}",
        },
        [f"{MAIN}:2 {CONNECTIONS}"],
    ),
    "a template of itself": ({MAIN: f"variables:\n  {NAME}: 8\n{STEP[:-2]}, {{template: {MAIN}}}]\n"}, []),
}


@pytest.mark.parametrize(("files", "wanted"), TEMPLATES.values(), ids=TEMPLATES)
def test_templates_of_azure(
    files: Mapping[str, str],
    wanted: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    assert told(files, tmp_path, capsys) == wanted


def test_a_template_of_azure_that_is_not_at_hand_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(MAIN).write_text(f"variables:\n- template: vars.yml@shared\n{STEP}")
    main(["runs", "--no-cache", "."])
    assert f"{MAIN}:2: not followed: the template vars.yml@shared is not at hand" in capsys.readouterr().out


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


WORKFLOW, CALLER = ".github/workflows/train.yml", ".github/workflows/nightly.yml"
STEPS = f"jobs:\n  t:\n    steps:\n    - run: {OF_FORMAT} ${{{{ inputs.fmt }}}}\n"
CALLED = f"on:\n  workflow_call:\n    inputs:\n      fmt: {{required: true}}\n{STEPS}"
USES = "uses: ./.github/workflows/train.yml"
CALL = f"on: push\njobs:\n  a:\n    {USES}\n    with:\n      fmt: "
ACTION = (
    f"inputs:\n  fmt:\n    default: torch_dist\nruns:\n  using: composite\n  steps:\n  - shell: bash\n    run: {RUN}"
)
OF_ACTION = f"{ACTION} --save /c --ckpt-format ${{{{ inputs.fmt }}}}\n"

CALLS: dict[str, tuple[dict[str, str], list[str]]] = {
    "a workflow": ({WORKFLOW: CALLED, CALLER: f"{CALL}torch_dist\n"}, [f"{CALLER}:6 {FORMAT}"]),
    "a workflow with a good value": ({WORKFLOW: CALLED, CALLER: f"{CALL}fsdp_dtensor\n"}, []),
    "a workflow that is called twice": (
        {
            WORKFLOW: CALLED,
            CALLER: f"{CALL}fsdp_dtensor\n  b:\n    {USES}\n    with:\n      fmt: torch_dist\n",
        },
        [f"{CALLER}:10 {FORMAT}"],
    ),
    "a workflow with values of a matrix": (
        {
            WORKFLOW: CALLED,
            CALLER: f"{CALL}${{{{ matrix.fmt }}}}\n    strategy:\n      matrix:\n        fmt:\n        - torch_dist\n",
        },
        [f"{CALLER}:10 {FORMAT}"],
    ),
    "a workflow that a called one calls": (
        {
            WORKFLOW: CALLED,
            ".github/workflows/inner.yml": CALLED.partition("jobs:")[0]
            + CALL.partition("\n")[2]
            + "${{ inputs.fmt }}\n",
            CALLER: f"{CALL}torch_dist\n".replace("train.yml", "inner.yml"),
        },
        [f"{CALLER}:6 {FORMAT}"],
    ),
    "a workflow with its default": (
        {WORKFLOW: CALLED.replace("required: true", "default: torch_dist"), CALLER: CALL.partition("    with")[0]},
        [f"{WORKFLOW}:4 {FORMAT}"],
    ),
    "a default that its callers replace": (
        {WORKFLOW: CALLED.replace("required: true", "default: torch_dist"), CALLER: f"{CALL}fsdp_dtensor\n"},
        [],
    ),
    "a default that counts where it starts by itself": (
        {
            WORKFLOW: CALLED.replace("required: true", "default: torch_dist").replace("on:\n", "on:\n  push:\n"),
            CALLER: f"{CALL}fsdp_dtensor\n",
        },
        [f"{WORKFLOW}:5 {FORMAT}"],
    ),
    "a workflow that another repository calls": ({WORKFLOW: CALLED}, []),
    "a text for an input that is empty": (
        {
            WORKFLOW: CALLED.replace("workflow_call", "workflow_dispatch")
            .replace("required: true", "default: ''")
            .replace("inputs.fmt", "inputs.fmt || 'torch_dist'")
        },
        [f"{WORKFLOW}:8 {FORMAT}"],
    ),
    "a text for an input that has a default": (
        {
            WORKFLOW: CALLED.replace("workflow_call", "workflow_dispatch")
            .replace("required: true", "default: fsdp_dtensor")
            .replace("inputs.fmt", "inputs.fmt || 'torch_dist'")
        },
        [],
    ),
    "a value that nobody knows": ({WORKFLOW: CALLED, CALLER: f"{CALL}${{{{ vars.FMT }}}}\n"}, []),
    "a caller's variables are not its workflow's": (
        {
            WORKFLOW: f"on: [workflow_call]\njobs:\n  t:\n    steps:\n    - run: {RUN} {GOOD}\n",
            CALLER: f"on: push\nenv: {{{NAME}: 1}}\njobs:\n  a:\n    {USES}\n",
        },
        [],
    ),
    "an action": (
        {
            "ci/train/action.yml": OF_ACTION,
            CALLER: "on: push\njobs:\n  a:\n    steps:\n    - uses: ./ci/train\n      with:\n        fmt: torch\n",
        },
        [f"{CALLER}:7 {FORMAT}"],
    ),
    "an action with its default": ({"ci/train/action.yml": OF_ACTION}, [f"ci/train/action.yml:3 {FORMAT}"]),
    "a caller's variables are its action's": (
        {
            "ci/train/action.yml": f"{ACTION} {GOOD}\n",
            CALLER: f"on: push\nenv:\n  {NAME}: 1\njobs:\n  a:\n    steps:\n    - uses: ./ci/train\n",
        },
        [f"{CALLER}:3 {CONNECTIONS}"],
    ),
}


@pytest.mark.parametrize(("files", "wanted"), CALLS.values(), ids=CALLS)
def test_what_workflows_call(
    files: dict[str, str],
    wanted: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told(files, tmp_path, capsys) == wanted


JOB = f"train:\n  stage: t\n  script: [{RUN} {GOOD}]\n"
ONE, EIGHT = (f"variables:\n  {NAME}: {number}\n" for number in (1, 8))
GPU = f".gpu:\n  variables:\n    {NAME}: 1\n"

GITLAB: dict[str, tuple[dict[str, str], list[str]]] = {
    "variables of an included file": (
        {".gitlab-ci.yml": f"include: ci/gpu.yml\n{JOB}", "ci/gpu.yml": ONE},
        [f"ci/gpu.yml:2 {CONNECTIONS}"],
    ),
    "a job of an included file": (
        {".gitlab-ci.yml": f"include: [{{local: /ci/gpu.yml}}]\n{JOB}  extends: .gpu\n", "ci/gpu.yml": GPU},
        [f"ci/gpu.yml:3 {CONNECTIONS}"],
    ),
    "files of a pattern": (
        {".gitlab-ci.yml": f"include: {{local: '/ci/*.yml'}}\n{JOB}  extends: .gpu\n", "ci/gpu.yml": GPU},
        [f"ci/gpu.yml:3 {CONNECTIONS}"],
    ),
    "files of a pattern for a folder alone": (
        {".gitlab-ci.yml": f"include: '/ci/*.yml'\n{JOB}", "ci/a/gpu.yml": ONE},
        [],
    ),
    "files of a pattern for folders": (
        {".gitlab-ci.yml": f"include: '/ci/**.yml'\n{JOB}", "ci/a/gpu.yml": ONE},
        [f"ci/a/gpu.yml:2 {CONNECTIONS}"],
    ),
    "a file that an included one includes": (
        {".gitlab-ci.yml": f"include: ci/a.yml\n{JOB}", "ci/a.yml": "include: ci/b.yml\n", "ci/b.yml": ONE},
        [f"ci/b.yml:2 {CONNECTIONS}"],
    ),
    "files that include each other": (
        {".gitlab-ci.yml": f"include: ci/a.yml\n{JOB}", "ci/a.yml": f"include: .gitlab-ci.yml\n{ONE}"},
        [f"ci/a.yml:3 {CONNECTIONS}"],
    ),
    "the file itself counts more than what it includes": (
        {".gitlab-ci.yml": f"include: ci/gpu.yml\n{EIGHT}{JOB}", "ci/gpu.yml": ONE},
        [],
    ),
    "a later file counts more than an earlier one": (
        {".gitlab-ci.yml": f"include: [ci/a.yml, ci/b.yml]\n{JOB}", "ci/a.yml": EIGHT, "ci/b.yml": ONE},
        [f"ci/b.yml:2 {CONNECTIONS}"],
    ),
    "variables of whoever includes the script": (
        {".gitlab-ci.yml": f"include: ci/gpu.yml\n{ONE}", "ci/gpu.yml": JOB},
        [f".gitlab-ci.yml:3 {CONNECTIONS}"],
    ),
    "a variable of a script that whoever includes it cures": (
        {".gitlab-ci.yml": f"include: ci/gpu.yml\n{EIGHT}", "ci/gpu.yml": f"{ONE}{JOB}"},
        [],
    ),
    "a script that whoever includes it extends": (
        {
            ".gitlab-ci.yml": f"include: ci/gpu.yml\nlong:\n  extends: .train\n  {ONE.replace('  ', '    ')}",
            "ci/gpu.yml": f".{JOB}",
        },
        [f".gitlab-ci.yml:5 {CONNECTIONS}"],
    ),
    "a file that nothing includes": ({".gitlab-ci.yml": JOB, "ci/gpu.yml": ONE}, []),
    "a file that is included on a condition": (
        {".gitlab-ci.yml": f"include: [{{local: ci/gpu.yml, rules: [{{if: $GPU}}]}}]\n{JOB}", "ci/gpu.yml": ONE},
        [],
    ),
    "a file of another project": (
        {".gitlab-ci.yml": f"include: [{{project: a/b, file: ci/gpu.yml}}]\n{JOB}", "ci/gpu.yml": ONE},
        [],
    ),
}


@pytest.mark.parametrize(("files", "wanted"), GITLAB.values(), ids=GITLAB)
def test_a_pipeline_of_gitlab_in_several_files(
    files: dict[str, str],
    wanted: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told(files, tmp_path, capsys) == wanted


@pytest.mark.parametrize(
    ("job", "is_told"),
    [
        pytest.param(f"{JOB}  extends: .gpu\n", True, id="a job that starts a run"),
        pytest.param(f"{JOB}test:\n  extends: .gpu\n", True, id="a job whose script is elsewhere"),
        pytest.param(f"{JOB}test:\n  extends: .gpu\n  script: [pytest]\n", False, id="a job that starts none"),
        pytest.param(f"{JOB}  extends: .own\n.own:\n  tags: [gpu]\n", False, id="a job that is there"),
    ],
)
def test_a_job_of_gitlab_that_extends_one_that_is_nowhere_is_told(
    job: str, is_told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".gitlab-ci.yml").write_text(job)
    main(["--no-cache", "--show-unfollowed", "."])
    assert ("extends `.gpu`, which no file at hand has" in capsys.readouterr().err) == is_told
