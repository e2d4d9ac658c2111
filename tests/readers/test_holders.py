"""Files that hold scripts: what they start, in which environment, and where that is written."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from mfsdp_lint.cli import main
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import DEFAULT_TARGET
from mfsdp_lint.readers.embedding_formats.docker import dockerfile_scripts
from mfsdp_lint.readers.embedding_formats.formats import read_yaml_holder, recipes_of

LAUNCH = "torchrun pretrain_gpt.py --tensor-model-parallel-size 2 --use-megatron-fsdp --ckpt-format torch_dist"
CONNECTIONS = "env.CUDA_DEVICE_MAX_CONNECTIONS"

HOLDERS = {
    "a container of Kubernetes": f"""\
        apiVersion: v1
        kind: Pod
        spec:
          containers:
            - name: train
              env:
                - name: CUDA_DEVICE_MAX_CONNECTIONS
                  value: "1"
              command: [bash, -c]
              args:
                - |
                  set -e
                  {LAUNCH}
        """,
    "a container with the words of a command": """\
        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        spec:
          pytorchReplicaSpecs:
            Worker:
              template:
                spec:
                  containers:
                    - env: [{name: CUDA_DEVICE_MAX_CONNECTIONS, value: "1"}]
                      command: [torchrun, pretrain_gpt.py]
                      args:
                        - --tensor-model-parallel-size=2
                        - --use-megatron-fsdp
                        - --ckpt-format
                        - torch_dist
        """,
    "a script of a ConfigMap": f"""\
        apiVersion: v1
        kind: ConfigMap
        data:
          train.sh: |
            export CUDA_DEVICE_MAX_CONNECTIONS=1
            {LAUNCH}
        """,
    "a service": f"""\
        services:
          train:
            image: x
            environment: {{CUDA_DEVICE_MAX_CONNECTIONS: 1}}
            command: {LAUNCH}
        """,
    "a service with a list": f"""\
        services:
          train:
            build: .
            environment:
              - CUDA_DEVICE_MAX_CONNECTIONS=1
            entrypoint: [sh, -c]
            command: ["{LAUNCH}"]
        """,
    "a step": f"""\
        on: [push]
        env:
          CUDA_DEVICE_MAX_CONNECTIONS: 2
        jobs:
          train:
            steps:
              - uses: actions/checkout@v4
              - env: {{CUDA_DEVICE_MAX_CONNECTIONS: 1}}
                run: |
                  echo ${{{{ github.sha }}}}
                  {LAUNCH}
        """,
    "a step of an action": f"""\
        name: x
        runs:
          using: composite
          steps:
            - shell: bash
              run: CUDA_DEVICE_MAX_CONNECTIONS=1 {LAUNCH}
        """,
    "a job of GitLab": f"""\
        variables:
          CUDA_DEVICE_MAX_CONNECTIONS:
            value: "1"
        train:
          before_script:
            - export TP=2
          script:
            - {LAUNCH.replace("size 2", "size $TP")}
        """,
    "a job of Ray": f"""\
        entrypoint: {LAUNCH}
        runtime_env:
          env_vars: {{CUDA_DEVICE_MAX_CONNECTIONS: "1"}}
        """,
    "a RayJob": f"""\
        apiVersion: ray.io/v1
        kind: RayJob
        spec:
          entrypoint: {LAUNCH}
          runtimeEnvYAML: |
            env_vars:
              CUDA_DEVICE_MAX_CONNECTIONS: "1"
        """,
    "a service whose entry point has words, and its command a text": f"""\
        services:
          train:
            environment: [CUDA_DEVICE_MAX_CONNECTIONS=1]
            entrypoint: [torchrun, --nproc-per-node, "8"]
            command: {LAUNCH.removeprefix("torchrun ")}
        """,
    "a template of Argo": f"""\
        apiVersion: argoproj.io/v1alpha1
        kind: Workflow
        spec:
          templates:
            - name: train
              script:
                command: [bash]
                env: [{{name: CUDA_DEVICE_MAX_CONNECTIONS, value: "1"}}]
                source: |
                  {LAUNCH} --seed {{{{workflow.parameters.seed}}}}
        """,
    "a task of SkyPilot": f"""\
        resources: {{accelerators: "H100:8"}}
        envs: {{CUDA_DEVICE_MAX_CONNECTIONS: "1"}}
        run: |
          cd /src
          {LAUNCH}
        """,
    "a task of dstack": f"""\
        type: task
        nodes: 2
        env: [CUDA_DEVICE_MAX_CONNECTIONS=1]
        commands:
          - pip install .
          - {LAUNCH}
        """,
}

IMAGES = {
    "words": f"""\
        FROM base AS build
        ENV CUDA_DEVICE_MAX_CONNECTIONS=8
        FROM base
        ENV NCCL_DEBUG=INFO \\
            # a comment
            CUDA_DEVICE_MAX_CONNECTIONS="1"
        ENTRYPOINT ["torchrun", "pretrain_gpt.py"]
        CMD {str(LAUNCH.split()[2:]).replace("'", '"')}
        """,
    "a command": f"""\
        FROM base
        ENV CUDA_DEVICE_MAX_CONNECTIONS 1
        CMD {LAUNCH}
        """,
}


def of_yaml(text: str) -> list[Recipe]:
    return read_yaml_holder("run.yaml", dedent(text), DEFAULT_TARGET, Sources({"run.yaml": dedent(text)})) or []


def of_image(text: str) -> list[Recipe]:
    return recipes_of(
        "Dockerfile", list(dockerfile_scripts("Dockerfile", dedent(text), Sources({}))), DEFAULT_TARGET, Sources({})
    )


@pytest.mark.parametrize("name", [*HOLDERS, *IMAGES])
def test_what_is_started_in_which_environment(name: str) -> None:
    text = dedent({**HOLDERS, **IMAGES}[name])
    (recipe,) = of_image(text) if name in IMAGES else of_yaml(text)
    found = recipe.variants[0]
    paths = ("ddp.use_megatron_fsdp", "model.tensor_model_parallel_size", CONNECTIONS)
    assert [found.value(path) for path in paths] == [Known(True), Known(2), Known("1")]
    for path, word in (("checkpoint.ckpt_format", "torch_dist"), (CONNECTIONS, "1")):
        origin = found.origin(path)
        assert origin is not None
        place = origin.sources[-1].span if origin.sources else origin.point
        assert text.splitlines()[place.line - 1][place.column - 1 : place.end_column - 1] == word


def test_a_service_reads_a_file_of_variables() -> None:
    text = HOLDERS["a service"].replace(
        "environment: {CUDA_DEVICE_MAX_CONNECTIONS: 1}", "env_file: [train.env, none.env]"
    )
    files = {
        "deploy/run.yaml": dedent(text),
        "deploy/train.env": "# x\nexport CUDA_DEVICE_MAX_CONNECTIONS='1' # y\nA=$B\n",
    }
    (recipe,) = read_yaml_holder("deploy/run.yaml", dedent(text), DEFAULT_TARGET, Sources(files)) or []
    found = recipe.variants[0]
    assert [found.value(path) for path in (CONNECTIONS, "env.A")] == [Known("1"), UNKNOWN]
    origin = found.origin(CONNECTIONS)
    assert origin is not None
    assert (origin.point.path, origin.point.line, origin.point.column) == ("deploy/train.env", 2, 37)


@pytest.mark.parametrize("value", ["$OTHER", "${{ matrix.connections }}", "$(OTHER)"])
def test_what_stands_for_something_else_is_set_but_not_known(value: str) -> None:
    (recipe,) = of_yaml(HOLDERS["a step"].replace("CONNECTIONS: 1}", f"CONNECTIONS: '{value}'}}"))
    assert recipe.variants[0].value(CONNECTIONS) == UNKNOWN


def test_what_is_filled_in_before_a_shell_sees_it_is_not_known() -> None:
    (recipe,) = of_yaml(HOLDERS["a step"].replace("parallel-size 2", "parallel-size ${{ matrix.tp }}"))
    assert recipe.variants[0].value("model.tensor_model_parallel_size") in (UNKNOWN, NOT_NONE)


def test_several_runs_of_a_file_are_numbered() -> None:
    found = of_yaml(dedent(HOLDERS["a service"]) + f"  again:\n    image: x\n    command: {LAUNCH}\n")
    assert [each.name for each in found] == ["run.yaml[1]", "run.yaml[2]"]


@pytest.mark.parametrize(
    "text",
    [
        "services: {a: {image: x, command: [python, -m, http.server]}}\n",
        "on: push\njobs: {a: {steps: [{run: pytest -k megatron.py}]}}\n",
        "apiVersion: v1\nkind: Pod\nspec: {containers: [{command: [1, {a: b}], args: x, env: [1, {name: 2}]}]}\n",
        "services: 1\n",
        "on: [\n",
    ],
)
def test_what_starts_no_training_run_is_no_recipe(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.yaml").write_text(text, encoding="utf-8")
    assert main(["run.yaml"]) == 0


def test_findings_are_told_in_the_file_that_holds_the_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Dockerfile").write_text(dedent(IMAGES["a command"]), encoding="utf-8")
    (tmp_path / "job.yaml").write_text(dedent(HOLDERS["a job of GitLab"]), encoding="utf-8")
    main([".", "--output-format", "concise", "--select", "MFSDP501"])
    told = [line.partition(": error")[0] for line in capsys.readouterr().out.splitlines() if "MFSDP501" in line]
    assert told == ["Dockerfile:2:33", "job.yaml:3:13"]


def test_an_anchor_may_be_set_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    jobs = f"""\
        stages: [train]
        .one: &script
          script: [echo]
        model: &script
          variables: {{CUDA_DEVICE_MAX_CONNECTIONS: "1"}}
          script: ["{LAUNCH}"]
        train: *script
        """
    (tmp_path / ".gitlab-ci.yml").write_text(dedent(jobs), encoding="utf-8")
    main([".gitlab-ci.yml", "--output-format", "concise", "--select", "MFSDP501,MFSDP901"])
    told = [line.split()[2] for line in capsys.readouterr().out.splitlines() if line.startswith(".gitlab")]
    assert told == ["MFSDP501"]


def test_the_runtime_environment_of_ray_in_a_script() -> None:
    text = f"""\
        on: push
        jobs:
          train:
            steps:
              - run: |
                  RUNTIME='{{"env_vars": {{"CUDA_DEVICE_MAX_CONNECTIONS": "1", "A": "${{A}}"}}}}'
                  ray job submit --runtime-env-json="$RUNTIME" -- {LAUNCH}
        """
    (recipe,) = of_yaml(text)
    assert recipe.variants[0].value(CONNECTIONS) == Known("1")


SCRIPT = """\
import argparse

from nemo import lightning as nl
from nemo.collections import llm
from megatron.core.distributed import DistributedDataParallelConfig

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fsdp", action="store_true")
    ddp = DistributedDataParallelConfig(use_megatron_fsdp=parser.parse_args().fsdp, overlap_param_gather=True)
    trainer = nl.Trainer(strategy=nl.MegatronStrategy(ddp=ddp))
    llm.train(llm.LlamaModel(), None, trainer)
"""


def test_a_script_of_the_tree_is_followed_as_it_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train_megatron.py").write_text(SCRIPT, encoding="utf-8")
    job = HOLDERS["a container of Kubernetes"].replace(LAUNCH, "torchrun train_megatron.py --fsdp")
    (tmp_path / "job.yaml").write_text(dedent(job), encoding="utf-8")
    main(["job.yaml", "--output-format", "concise", "--select", "MFSDP101", "--target-bridge", "0.3.1"])
    assert "error MFSDP101" in capsys.readouterr().out
