"""Jobs of Ray: the variables that a driver has, and those that its tasks and actors have."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.readers.test_started_by_others import CONNECTIONS, GOOD, NAME, RUN, told

DRIVER = f"""\
import argparse, subprocess


def main():
    argparse.ArgumentParser().parse_args()
    subprocess.run('{RUN} {GOOD}', shell=True)


main()
"""
ACTOR = f"""\
import argparse, ray, subprocess


@ray.remote(num_gpus=8)
class Trainer:
    def train(self):
        subprocess.run('{RUN} {GOOD}', shell=True)


argparse.ArgumentParser().parse_args()
ray.get(Trainer.remote().train.remote())
"""
JOB = "kind: RayJob\nspec:\n  entrypoint: python driver.py\n"
RUNTIME = f"  runtimeEnvYAML: |\n    env_vars:\n      {NAME}: '1'\n"
ENVIRONMENT = f"runtime_env: {{env_vars: {{{NAME}: '1'}}}}"


def pod(value: str, limits: str = "") -> str:
    return (
        f"template: {{spec: {{containers: [{{name: ray, resources: {{limits: {{{limits}}}}},"
        f" env: [{{name: {NAME}, value: '{value}'}}]}}]}}}}"
    )


def cluster(head: str, *workers: str) -> str:
    groups = "".join(f"    - groupName: g\n      {each}\n" for each in workers)
    return f"{JOB}  rayClusterSpec:\n    headGroupSpec:\n      {head}\n    workerGroupSpecs:\n{groups}"


CASES: Mapping[str, tuple[Mapping[str, str], list[str]]] = {
    "a driver": ({"job.yaml": JOB + RUNTIME, "driver.py": DRIVER}, [f"job.yaml:6 {CONNECTIONS}"]),
    "an actor": ({"job.yaml": JOB + RUNTIME, "driver.py": ACTOR}, [f"job.yaml:6 {CONNECTIONS}"]),
    "an actor of a job in any file": (
        {"job.yaml": f"entrypoint: python driver.py\n{ENVIRONMENT}\n", "driver.py": ACTOR},
        [f"job.yaml:2 {CONNECTIONS}"],
    ),
    "an actor of a submitted job": (
        {
            "run.sh": f'ray job submit --runtime-env-json=\'{{"env_vars": {{"{NAME}": "1"}}}}\' -- python driver.py\n',
            "driver.py": ACTOR,
        },
        [f"run.sh:1 {CONNECTIONS}"],
    ),
    "an actor of a submitted job whose environment is a file": (
        {
            "run.sh": "ray job submit --runtime-env env.yaml -- python driver.py\n",
            "env.yaml": f"env_vars:\n  A: b\n  {NAME}: '1'\n",
            "driver.py": ACTOR,
        },
        [f"env.yaml:3 {CONNECTIONS}"],
    ),
    "an actor of a job that Python submits": (
        {
            "submit.py": "import ray\nray.JobSubmissionClient('x').submit_job(entrypoint='python driver.py',\n"
            f"    runtime_env={{'env_vars': {{'{NAME}': '1'}}}})\n",
            "driver.py": ACTOR,
        },
        [f"submit.py:3 {CONNECTIONS}"],
    ),
    "the script's own environment, which an actor does not have": (
        {"run.sh": f"export {NAME}=1\npython driver.py\n", "driver.py": ACTOR},
        [],
    ),
    "a value of the actor's own": (
        {
            "job.yaml": JOB + RUNTIME,
            "driver.py": ACTOR.replace("=8", f"=8, runtime_env={{'env_vars': {{'{NAME}': '8'}}}}"),
        },
        [],
    ),
    "the head's container, of a driver": (
        {"job.yaml": cluster(pod("1"), pod("8")), "driver.py": DRIVER},
        [f"job.yaml:6 {CONNECTIONS}"],
    ),
    "the head's container, of an actor": ({"job.yaml": cluster(pod("1"), pod("8")), "driver.py": ACTOR}, []),
    "the workers' containers, of an actor": (
        {"job.yaml": cluster(pod("8"), pod("1")), "driver.py": ACTOR},
        [f"job.yaml:9 {CONNECTIONS}"],
    ),
    "containers of several groups that differ": (
        {"job.yaml": cluster(pod("8"), pod("1"), pod("8")), "driver.py": ACTOR},
        [],
    ),
    "a head that has GPUs as well": (
        {"job.yaml": cluster(pod("8", "nvidia.com/gpu: 8"), pod("1")), "driver.py": ACTOR},
        [],
    ),
    "a job's own value counts more than the containers'": (
        {"job.yaml": cluster(pod("8"), pod("8")) + RUNTIME, "driver.py": ACTOR},
        [f"job.yaml:12 {CONNECTIONS}"],
    ),
}


@pytest.mark.parametrize(("files", "wanted"), CASES.values(), ids=CASES)
def test_the_variables_of_a_job(
    files: Mapping[str, str],
    wanted: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told(files, tmp_path, capsys) == wanted
