"""Files of other tools that start training runs: Makefiles, justfiles, Visual Studio Code, Airflow and nemo-run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from mfsdp_lint.cli import main

FSDP = "--use-megatron-fsdp --use-distributed-optimizer --data-parallel-sharding-strategy optim_grads_params"
RUN = f"torchrun --nproc_per_node 8 pretrain_gpt.py {FSDP}"
NAME = "CUDA_DEVICE_MAX_CONNECTIONS"
GOOD, BAD = "--ckpt-format fsdp_dtensor --save /c", "--ckpt-format torch_dist --save /c"
FORMAT, CONNECTIONS = "MFSDP101", "MFSDP501"

Files = Mapping[str, str]


def told(files: Files, folder: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Lint the files, and return the errors: `path:line code`."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    main(["--no-cache", "--target-core", "0.16.1", "--output-format", "concise", "--select", "MFSDP1,MFSDP5", "."])
    found = re.finditer(r"^(\S+?:\d+):\d+: error (MFSDP\d+)", capsys.readouterr().out, re.MULTILINE)
    return [f"{each[1]} {each[2]}" for each in found]


MAKEFILES: Mapping[str, tuple[str, list[str]]] = {
    "a line": (f"train:\n\t{RUN} {BAD}\n", [f"Makefile:2 {FORMAT}"]),
    "an exported variable": (f"export {NAME}=1\ntrain:\n\t@{RUN} {GOOD}\n", [f"Makefile:1 {CONNECTIONS}"]),
    "a variable of the target": (
        f"train: export {NAME} = 1\ntrain:\n\tcd src && {RUN} {GOOD}\n",
        [f"Makefile:1 {CONNECTIONS}"],
    ),
    "variables that are added to": (
        f"ARGS := {FSDP}\nARGS += {BAD}\nRUN ?= torchrun\ntrain:\n\t$(RUN) pretrain_gpt.py $(ARGS)\n",
        [f"Makefile:2 {FORMAT}"],
    ),
    "several lines of a variable": (
        f"ARGS = {FSDP} \\\n  {BAD}\ntrain:\n\ttorchrun pretrain_gpt.py ${{ARGS}}\n",
        [f"Makefile:2 {FORMAT}"],
    ),
    "a definition": (
        f"define ARGS\n{FSDP}\n{BAD}\nendef\ntrain:\n\ttorchrun pretrain_gpt.py $(strip $(ARGS))\n",
        [f"Makefile:3 {FORMAT}"],
    ),
    "a name that is put together": (
        f"SIZE ?= 8b\nARGS_8b = {FSDP}\ntrain:\n\ttorchrun pretrain_gpt.py $(ARGS_$(SIZE)) {BAD}\n",
        [f"Makefile:4 {FORMAT}"],
    ),
    "a choice": (
        f"FSDP ?= 1\nARGS = $(if $(FSDP), {FSDP}) $(if $(NONE),--bf16,$(or $(NONE), {BAD}))\n"
        "train:\n\ttorchrun pretrain_gpt.py $(ARGS)\n",
        [f"Makefile:2 {FORMAT}"],
    ),
    "a choice that is not known": (
        f"ARGS = {FSDP} $(if $(shell which srun),{BAD},{GOOD})\ntrain:\n\ttorchrun pretrain_gpt.py $(ARGS)\n",
        [],
    ),
    "a condition that holds": (
        f"FSDP ?= 1\nifeq ($(FSDP),1)\nARGS = {FSDP}\nelse\nARGS =\nendif\n"
        f"train:\n\ttorchrun pretrain_gpt.py {BAD} $(ARGS)\n",
        [f"Makefile:8 {FORMAT}"],
    ),
    "a condition that is not known": (
        f"ifeq ($(shell hostname),a)\nARGS = {FSDP}\nendif\ntrain:\n\ttorchrun pretrain_gpt.py {BAD} $(ARGS)\n",
        [],
    ),
    "a command of the shell in a variable": (
        f"FMT := $(shell cat fmt)\ntrain:\n\t{RUN} --save /c --ckpt-format $(FMT)\n",
        [],
    ),
    "each line is a shell": (f"train:\n\texport {NAME}=1\n\t{RUN} {GOOD}\n", []),
    "but not in one shell": (
        f".ONESHELL:\ntrain:\n\texport {NAME}=1\n\t{RUN} {GOOD}\n",
        [f"Makefile:3 {CONNECTIONS}"],
    ),
    "the recipe behind the rule": (
        f"DOCKER = docker run -e {NAME}=1 nemo\ntrain: ; $(DOCKER) {RUN} {GOOD}\n",
        [f"Makefile:1 {CONNECTIONS}"],
    ),
    "a variable of the shell": (
        f"train:\n\tfor tp in 1; do \\\n\t  {RUN} {BAD} --tensor-model-parallel-size $$tp; \\\n\tdone\n",
        [f"Makefile:3 {FORMAT}"],
    ),
    "a definition that is given something": (
        f"define run\n{RUN} --save /c \\\n  --ckpt-format $(2) $(1)\nendef\n"
        "train:\n\t$(call run,--bf16 $(strip --lr 1),torch_dist)\n",
        [f"Makefile:6 {FORMAT}"],
    ),
    "a definition that is not given it": (
        f"define run\n{RUN} --save /c \\\n  --ckpt-format $(2)\nendef\ntrain:\n\t$(call run,--bf16)\n",
        [],
    ),
    "a pattern, for each target that is named": (
        f"ARGS_a = {BAD}\nARGS_b = {GOOD}\nARGS_c = {BAD}\nall: run-a run-b\nrun-%:\n\t{RUN} $(ARGS_$*) --lr 1\n",
        [f"Makefile:1 {FORMAT}"],
    ),
    "a pattern, for each variable that it takes": (
        f"ARGS_a = {BAD}\nARGS_b = {GOOD}\nrun-%:\n\t{RUN} $(ARGS_$*)\n",
        [f"Makefile:1 {FORMAT}"],
    ),
    "a pattern, with the variables of a target": (
        f"run-%: ARGS = --lr 1\nrun-a: ARGS += {BAD}\nrun-b: ARGS += {GOOD}\nrun-%:\n\t{RUN} $(ARGS)\n",
        [f"Makefile:2 {FORMAT}"],
    ),
    "a pattern, whose targets are not known": (
        f"RUN_a = {GOOD}\n.PHONY: run-a\nrun-b:\n\ttouch b\nrun-%:\n\t{RUN} --save /c --ckpt-format torch$*\n",
        [],
    ),
    "a comment": (f"# {RUN} {BAD}\nclean:\n\trm -rf /c # {BAD}\n", []),
}


@pytest.mark.parametrize(("text", "wanted"), MAKEFILES.values(), ids=MAKEFILES)
def test_makefiles(
    text: str, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told({"Makefile": text}, tmp_path, capsys) == wanted


PARTS: Mapping[str, tuple[Files, list[str]]] = {
    "words": (
        {"Makefile": f"include args.inc\ntrain:\n\t{RUN} $(ARGS)\n", "args.inc": f"ARGS = {BAD}\n"},
        ["args.inc:1"],
    ),
    "the program, and options of it": (
        {
            "Makefile": f"include mk/run.mk\ntrain:\n\t$(RUN) {FSDP} $(SAVE)\n",
            "mk/run.mk": "FORMAT ?= torch_dist\nSAVE = --save /c --ckpt-format $(FORMAT)\n"
            "RUN = torchrun pretrain_gpt.py\n",
        },
        ["mk/run.mk:1"],
    ),
    "a rule, which has the variables of the whole": (
        {"Makefile": f"ARGS = {BAD}\n-include mk/*.mk\n", "mk/rules.mk": f"train:\n\t{RUN} $(ARGS)\n"},
        ["Makefile:1"],
    ),
    "files that fit a pattern": (
        {"Makefile": f"include $(wildcard mk/*.mk)\ntrain:\n\t{RUN} $(ARGS)\n", "mk/a.mk": f"ARGS = {BAD}\n"},
        ["mk/a.mk:1"],
    ),
    "a file in a folder that the Makefile finds": (
        {
            "sub/Makefile": "HERE := $(dir $(lastword $(MAKEFILE_LIST)))\ninclude $(HERE)../mk/a.mk\n"
            f"train:\n\t{RUN} $(ARGS)\n",
            "mk/a.mk": f"ARGS = {BAD}\n",
        },
        ["mk/a.mk:1"],
    ),
    "a file that need not be there": (
        {"Makefile": f"-include my.mk\ntrain:\n\t{RUN} --save /c $(ARGS)\n"},
        ["Makefile:3"],
    ),
    "a file that is made first": ({"Makefile": f"include my.mk\ntrain:\n\t{RUN} --save /c $(ARGS)\n"}, []),
    "a rule whose variables are set by whoever includes it": ({"rules.mk": f"train:\n\t{RUN} --save /c $(ARGS)\n"}, []),
}


@pytest.mark.parametrize(("files", "wanted"), PARTS.values(), ids=PARTS)
def test_files_that_a_makefile_includes(
    files: Files, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told(files, tmp_path, capsys) == [f"{each} {FORMAT}" for each in wanted]


def test_a_program_that_is_not_known_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Makefile").write_text(f"-include my.mk\ntrain:\n\t$(LAUNCH) {FSDP} {BAD}\n")
    main(["--no-cache", "--show-unfollowed", "."])
    assert "Makefile:3: Makefile could not be followed: the program that this" in capsys.readouterr().err


JUSTFILES: Mapping[str, tuple[str, list[str]]] = {
    "a line": (f"train:\n    {RUN} {BAD}\n", [f"justfile:2 {FORMAT}"]),
    "an exported variable": (f'export {NAME} := "1"\n\ntrain:\n    @{RUN} {GOOD}\n', [f"justfile:1 {CONNECTIONS}"]),
    "all are exported": (f"set export\n{NAME} := '1'\ntrain:\n  {RUN} {GOOD}\n", [f"justfile:2 {CONNECTIONS}"]),
    "a default of the environment": (
        f"export {NAME} := env('{NAME}', '1')\ntrain:\n    {RUN} {GOOD}\n",
        [f"justfile:1 {CONNECTIONS}"],
    ),
    "a parameter's default": (
        f"train fmt='torch_dist':\n    {RUN} --save /c --ckpt-format {{{{fmt}}}}\n",
        [f"justfile:1 {FORMAT}"],
    ),
    "a parameter without one": (f"train fmt:\n    {RUN} --save /c --ckpt-format {{{{fmt}}}}\n", []),
    "what another recipe gives it": (
        f"train fmt='torch_dist' *more='': (_train fmt more)\n_train fmt more:\n"
        f"    {RUN} --save /c --ckpt-format {{{{ fmt }}}} {{{{ more }}}}\n",
        [f"justfile:1 {FORMAT}"],
    ),
    "what one of two gives it": (
        f"right: (_train 'fsdp_' + 'dtensor')\nwrong: (_train 'torch_dist')\n_train fmt:\n"
        f"    {RUN} --save /c --ckpt-format {{{{ fmt }}}}\n",
        [f"justfile:2 {FORMAT}"],
    ),
    "texts put together": (
        f"args := '{FSDP} ' + '{BAD}'\ntrain: prepare\n    torchrun pretrain_gpt.py {{{{ args }}}}\n"
        "prepare:\n    true\n",
        [f"justfile:1 {FORMAT}"],
    ),
    "a script": (
        f"[group('train')]\ntrain ${NAME}='1':\n    #!/usr/bin/env bash\n    set -eu\n    {RUN} {GOOD}\n",
        [f"justfile:2 {CONNECTIONS}"],
    ),
    "an expression that is not followed": (
        f"fsdp := if env('FSDP', '1') == '1' {{ '{FSDP}' }} else {{ '' }}\ntrain:\n"
        f"    torchrun pretrain_gpt.py {{{{fsdp}}}} {BAD}\n",
        [],
    ),
}


@pytest.mark.parametrize(("text", "wanted"), JUSTFILES.values(), ids=JUSTFILES)
def test_justfiles(
    text: str, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told({"justfile": text}, tmp_path, capsys) == wanted


def _configuration(words: str, **more: object) -> str:
    own = {"name": "train", "type": "debugpy", "request": "launch", "args": words.split(), **more}
    return json.dumps({"version": "0.2.0", "configurations": [own]}, indent=4)


LAUNCH = ".vscode/launch.json"
CONFIGURATIONS: Mapping[str, tuple[Files, list[str]]] = {
    "a program": (
        {LAUNCH: _configuration(f"{FSDP} {BAD}", program="${workspaceFolder}/pretrain_gpt.py")},
        [f"{LAUNCH}:14 {FORMAT}"],
    ),
    "a module, with an environment": (
        {
            LAUNCH: _configuration(
                f"--nproc_per_node=8 pretrain_gpt.py {FSDP} {GOOD}", module="torch.distributed.run", env={NAME: "1"}
            )
        },
        [f"{LAUNCH}:22 {CONNECTIONS}"],
    ),
    "a file of variables": (
        {
            LAUNCH: _configuration(f"{FSDP} {GOOD}", program="pretrain_gpt.py", envFile="${workspaceFolder}/.env"),
            ".env": f"{NAME}=1\n",
        },
        [f".env:1 {CONNECTIONS}"],
    ),
    "comments, and a comma too many": (
        {
            LAUNCH: "// mine\n"
            + _configuration(f"{FSDP} {BAD}", program="pretrain_gpt.py").replace("\n        }", ",\n}")
        },
        [f"{LAUNCH}:15 {FORMAT}"],
    ),
    "a program that the editor asks for": (
        {LAUNCH: _configuration(f"${{command:pickArgs}} {BAD}", program="${file}")},
        [],
    ),
    "a program that is attached to": (
        {LAUNCH: _configuration(f"{FSDP} {BAD}", program="pretrain_gpt.py", request="attach")},
        [],
    ),
    "a task": (
        {
            ".vscode/tasks.json": json.dumps(
                {
                    "tasks": [
                        {"label": "x", "type": "shell", "command": f"{RUN} {GOOD}", "options": {"env": {NAME: "1"}}}
                    ]
                }
            )
        },
        [f".vscode/tasks.json:1 {CONNECTIONS}"],
    ),
}


@pytest.mark.parametrize(("files", "wanted"), CONFIGURATIONS.values(), ids=CONFIGURATIONS)
def test_configurations_of_visual_studio_code(
    files: Files,
    wanted: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told(files, tmp_path, capsys) == wanted


BASH = "from airflow import DAG\nfrom airflow.operators.bash import BashOperator\nwith DAG('x') as dag:\n"
PROGRAMS: Mapping[str, tuple[str, list[str]]] = {
    "an operator": (f"{BASH}    t = BashOperator(task_id='t', bash_command='{RUN} {BAD}')\n", [f"4 {FORMAT}"]),
    "a template in a file beside it": (
        f"{BASH}    t = BashOperator(\n        task_id='t',\n        bash_command='train.sh',\n"
        f"        env={{'A': '{{{{ ds }}}}', '{NAME}': '1'}},\n        append_env=True,\n    )\n",
        [f"7 {CONNECTIONS}"],
    ),
    "a template of which nothing is beside it": (
        f"{BASH}    t = BashOperator(task_id='t', bash_command='other/train.sh', env={{'{NAME}': '1'}})\n",
        [],
    ),
    "an operator for another host": (
        "from airflow.providers.ssh.operators.ssh import SSHOperator\n"
        f"t = SSHOperator(\n    command='{RUN} {GOOD}',\n    environment={{'{NAME}': '1'}})\n",
        [f"4 {CONNECTIONS}"],
    ),
    "its environment": (
        f"{BASH}    t = BashOperator(\n        task_id='t',\n        bash_command='{RUN} {GOOD}',\n"
        f"        env={{'{NAME}': '1'}},\n    )\n",
        [f"7 {CONNECTIONS}"],
    ),
    "a template": (f"{BASH}    t = BashOperator(bash_command='{RUN} --save /c --ckpt-format {{{{ fmt }}}}')\n", []),
    "a function that makes the tasks": (
        "from airflow.decorators import dag\nfrom airflow.providers.standard.operators.bash import BashOperator\n\n\n"
        f"@dag()\ndef train():\n    BashOperator(task_id='t', bash_command='{RUN} {BAD}')\n\n\ntrain()\n",
        [f"7 {FORMAT}"],
    ),
    "a container": (
        "from airflow.providers.cncf.kubernetes.operators.pod import KubernetesPodOperator\n"
        "t = KubernetesPodOperator(\n    cmds=['torchrun', 'pretrain_gpt.py'],\n"
        f"    arguments='{FSDP} {GOOD}'.split(),\n"
        f"    env_vars={{'{NAME}': '1'}},\n)\n",
        [f"5 {CONNECTIONS}"],
    ),
    "a script of nemo-run": (
        f"import nemo_run as run\nscript = run.Script(inline='''\n{RUN} {BAD}\n''')\nrun.run(script)\n",
        [f"3 {FORMAT}"],
    ),
    "its environment and its words": (
        "import nemo_run as run\nrun.run(\n    run.Script(\n"
        "        path='pretrain_gpt.py',\n        entrypoint='python',\n"
        f"        args='{FSDP} {GOOD}'.split(),\n        env={{'{NAME}': '1'}},\n    )\n)\n",
        [f"7 {CONNECTIONS}"],
    ),
    "an executor's environment": (
        "import nemo_run as run\nWORDS = '" + f"{FSDP} {GOOD}'.split()\n\n\ndef executor(**more):\n"
        "    return run.SlurmExecutor(env_vars={'A': '1', **more}, ntasks_per_node=8, launcher='torchrun')\n\n\n"
        "task = run.Script(path='pretrain_gpt.py', entrypoint='python', args=WORDS)\n"
        "with run.Experiment('x') as exp:\n"
        f"    exp.add(task, executor=executor(\n        {NAME}='1'), name='t')\n    exp.run()\n",
        [f"12 {CONNECTIONS}"],
    ),
    "an executor's environment, which gives way to the script's": (
        f"import nemo_run as run\ntask = run.Script(\n    path='pretrain_gpt.py', entrypoint='python',\n"
        f"    args='{FSDP} {GOOD}'.split(), env={{'{NAME}': '8'}})\n"
        f"run.run(task, executor=run.LocalExecutor(env_vars={{'{NAME}': '1'}}))\n",
        [],
    ),
    "a plugin that changes the executor": (
        "import nemo_run as run\n\n\nclass Environment(run.Plugin):\n    def setup(self, task, executor):\n"
        f"        executor.env_vars['{NAME}'] = '1'\n        task.args += ['--ckpt-format', 'torch_dist']\n\n\n"
        f"task = run.Script(path='pretrain_gpt.py', entrypoint='python', args='{FSDP} --save /c'.split())\n"
        "run.run(task, executor=run.LocalExecutor(), plugins=[Environment()])\n",
        [f"6 {CONNECTIONS}", f"7 {FORMAT}"],
    ),
    "a plugin that nobody knows": (
        "import nemo_run as run\nfrom elsewhere import Environment\n"
        f"task = run.Script(path='pretrain_gpt.py', entrypoint='python', args='{FSDP} {GOOD}'.split())\n"
        f"run.run(task, executor=run.LocalExecutor(env_vars={{'{NAME}': '1'}}), plugins=[Environment()])\n",
        [],
    ),
    "a login node's environment, which a cluster does not have": (
        f"import nemo_run as run, os\nos.environ['{NAME}'] = '1'\n"
        f"task = run.Script(path='pretrain_gpt.py', entrypoint='python', args='{FSDP} {GOOD}'.split())\n"
        "run.run(task, executor=run.SlurmExecutor(account='a'))\n",
        [],
    ),
    "a function that somebody calls elsewhere": (
        "import subprocess, submitit\n\n\ndef train(words):\n"
        "    subprocess.run(['torchrun', 'pretrain_gpt.py', *words], check=True)\n\n\n"
        "executor = submitit.AutoExecutor(folder='log')\n"
        f"executor.submit(train, '{FSDP} --save /c'.split() + [\n    '--ckpt-format', 'torch_dist'])\n",
        [f"10 {FORMAT}"],
    ),
    "lines that a job of nemo-run begins with": (
        "import nemo_run as run\n"
        f"on = run.SlurmExecutor(env_vars={{'A': 'b'}},\n    setup_lines='module load x\\nexport {NAME}=1')\n"
        f"run.run(run.Script(inline='{RUN} {GOOD}'), executor=on)\n",
        [f"3 {CONNECTIONS}"],
    ),
    "lines that a job of submitit begins with": (
        f"import subprocess, submitit\n\n\ndef train():\n    subprocess.run('{RUN} {GOOD}', shell=True)\n\n\n"
        "executor = submitit.AutoExecutor(folder='log')\n"
        f"executor.update_parameters(\n    slurm_setup=['module load x', 'export {NAME}=1'])\nexecutor.submit(train)\n",
        [f"10 {CONNECTIONS}"],
    ),
    "lines that a job of submitit begins with, for a command": (
        "import submitit\nexecutor = submitit.AutoExecutor(folder='log')\n"
        f"executor.update_parameters(slurm_setup=[\n    'export {NAME}=1'])\n"
        f"executor.submit(submitit.helpers.CommandFunction('{RUN} {GOOD}'.split()))\n",
        [f"4 {CONNECTIONS}"],
    ),
    "lines that a job of submitit begins with, for a command under a name": (
        "import submitit\nexecutor = submitit.SlurmExecutor(folder='log')\n"
        f"executor.update_parameters(setup=[\n    'export {NAME}=1'])\n"
        f"job = submitit.helpers.CommandFunction('{RUN} {GOOD}'.split())\nexecutor.submit(job)\n",
        [f"4 {CONNECTIONS}"],
    ),
    "lines that another job of submitit begins with": (
        "import submitit\none = submitit.AutoExecutor(folder='log')\nother = submitit.AutoExecutor(folder='log')\n"
        f"other.update_parameters(slurm_setup=['export {NAME}=1'])\n"
        "other.submit(submitit.helpers.CommandFunction(['nvidia-smi']))\n"
        f"one.submit(submitit.helpers.CommandFunction('{RUN} {GOOD}'.split()))\n",
        [],
    ),
    "lines that a job of submitit begins with, for an object that is called": (
        "import subprocess, submitit\n\n\n"
        "class Training:\n    def __init__(self, words):\n        self.words = words\n\n"
        "    def __call__(self):\n        self.run('python', 'pretrain_gpt.py')\n\n"
        "    def run(self, *program):\n        subprocess.check_call([*program, *self.words])\n\n\n"
        "on = submitit.AutoExecutor(folder='log')\n"
        f"on.update_parameters(\n    slurm_setup=['module load x', 'export A=$(hostname | head -n1) {NAME}=1'])\n"
        f"on.submit(Training('{FSDP} {GOOD}'.split()))\n",
        [f"17 {CONNECTIONS}"],
    ),
    "lines that a job of submitit begins with, for a method": (
        f"import subprocess, submitit\n\n\nclass Training:\n    def run(self):\n        subprocess.run('{RUN} {GOOD}'"
        f".split())\n\n\nSETUP = [\n    'module load x',\n    'export {NAME}=1',\n]\n"
        "PARAMETERS = dict(nodes=1, slurm_setup=[*SETUP, 'true'])\n"
        "on = submitit.AutoExecutor(folder='log')\non.update_parameters(**PARAMETERS)\n"
        "training = Training()\non.submit(training.run)\n",
        [f"11 {CONNECTIONS}"],
    ),
    "what Slurm passes on to a job of submitit": (
        f"import subprocess, submitit\n\n\ndef train():\n    subprocess.run('{RUN} {GOOD}', shell=True)\n\n\n"
        "on = submitit.AutoExecutor(folder='log')\n"
        f"on.update_parameters(slurm_additional_parameters={{\n    'export': 'ALL,{NAME}=1'}})\non.submit(train)\n",
        [f"10 {CONNECTIONS}"],
    ),
    "lines that a job of submitit begins with, after its submitter set a variable": (
        f"import os, subprocess, submitit\n\n\ndef train():\n    subprocess.run('{RUN} {GOOD}', shell=True)\n\n\n"
        f"os.environ['{NAME}'] = '8'\non = submitit.AutoExecutor(folder='log')\n"
        f"on.update_parameters(slurm_setup=['export {NAME}=1'])\non.submit(train)\n",
        [f"10 {CONNECTIONS}"],
    ),
    "a function that sets a variable behind the lines that its job begins with": (
        f"import os, subprocess, submitit\n\n\ndef train():\n    os.environ['{NAME}'] = '8'\n"
        f"    subprocess.run('{RUN} {GOOD}', shell=True)\n\n\non = submitit.AutoExecutor(folder='log')\n"
        f"on.update_parameters(slurm_setup=['export {NAME}=1'])\non.submit(train)\n",
        [],
    ),
    "lines that begin another job with the same function": (
        f"import subprocess, submitit\n\n\ndef train(words):\n    subprocess.run('{RUN} {GOOD}', shell=True)\n\n\n"
        "one = submitit.AutoExecutor(folder='log')\nother = submitit.AutoExecutor(folder='log')\n"
        f"other.update_parameters(slurm_setup=['export {NAME}=1'])\none.submit(train)\n",
        [],
    ),
    "a line that sets a variable again, to what is not known": (
        f"import subprocess, submitit\n\n\ndef train():\n    subprocess.run('{RUN} {GOOD}', shell=True)\n\n\n"
        "on = submitit.AutoExecutor(folder='log')\n"
        f"on.update_parameters(slurm_setup=['export {NAME}=1', 'export {NAME}=$MORE'])\non.submit(train)\n",
        [],
    ),
    "a line of which a part is not known": (
        f"import subprocess, submitit\n\n\ndef train():\n    subprocess.run('{RUN} {GOOD}', shell=True)\n\n\n"
        "on = submitit.AutoExecutor(folder='log')\n"
        f"on.update_parameters(slurm_setup=[f'export {NAME}=1{{more()}}'])\non.submit(train)\n",
        [],
    ),
    "a name that one job of submitit and then another has": (
        "import submitit\none = submitit.AutoExecutor(folder='log')\nother = submitit.AutoExecutor(folder='log')\n"
        f"other.update_parameters(slurm_setup=['export {NAME}=1'])\n"
        "job = submitit.helpers.CommandFunction(['nvidia-smi'])\nother.submit(job)\n"
        f"job = submitit.helpers.CommandFunction('{RUN} {GOOD}'.split())\none.submit(job)\n",
        [],
    ),
    "the variables of a container": (
        f"from kubernetes import client\nENV = {{'{NAME}': 1}}\nclient.V1Container(\n"
        f"    name='train', command='{RUN}'.split(), args='{GOOD}'.split(),\n"
        "    env=[client.V1EnvVar(name=k, value=str(v)) for k, v in ENV.items()])\n",
        [f"5 {CONNECTIONS}"],
    ),
    "a variable of a container that a secret has": (
        f"from kubernetes import client\nclient.V1Container(\n"
        f"    name='train', command='{RUN}'.split(), args='{GOOD}'.split(),\n"
        f"    env=[client.V1EnvVar('{NAME}', value_from=client.V1EnvVarSource())])\n",
        [],
    ),
    "the environment of an image": (
        f"import modal, subprocess\nimage = modal.Image.debian_slim().env(\n    {{'{NAME}': '1'}}).pip_install('x')\n"
        "app = modal.App('x', image=image)\n\n\n@app.function(gpu='H100:8')\n"
        f"def train():\n    subprocess.run('{RUN} {GOOD}', shell=True)\n",
        [f"3 {CONNECTIONS}"],
    ),
    "the image of one function": (
        f"import modal, subprocess\napp = modal.App('x')\n\n\n@app.function(image=modal.Image.debian_slim().env({{\n"
        f"    '{NAME}': '1'}}))\ndef train():\n    subprocess.run('{RUN} {GOOD}', shell=True)\n\n\n"
        f"@app.function()\ndef other():\n    subprocess.run('{RUN} {GOOD}', shell=True)\n",
        [f"6 {CONNECTIONS}"],
    ),
    "the environment of a cluster's workers": (
        f"import ray, subprocess\nENV = {{\n    '{NAME}': '1'}}\nray.init(runtime_env={{'env_vars': ENV}})\n\n\n"
        f"@ray.remote(num_gpus=8)\ndef train():\n    subprocess.run('{RUN} {GOOD}', shell=True)\n\n\n"
        "ray.get(train.remote())\n",
        [f"3 {CONNECTIONS}"],
    ),
    "the environment of one task": (
        f"import ray, subprocess\n\n\n@ray.remote\ndef train():\n    subprocess.run('{RUN} {GOOD}', shell=True)\n\n\n"
        f"ray.get(train.options(\n    runtime_env={{'env_vars': {{'{NAME}': '1'}}}}).remote())\n",
        [f"10 {CONNECTIONS}"],
    ),
    "a task with its arguments": (
        "import ray, subprocess\n\n\n@ray.remote\ndef train(format):\n"
        f"    subprocess.run('{RUN} --ckpt-format '.split() + [format])\n\n\n"
        "ray.get(train.options(num_gpus=8).remote('torch_dist'))\n",
        [f"9 {FORMAT}"],
    ),
    "a method of an actor": (
        f"import ray, subprocess\nray.init(runtime_env={{'env_vars': {{'{NAME}': '1'}}}})\n\n\n"
        "@ray.remote(num_gpus=8)\nclass Trainer:\n    def __init__(self, format):\n        self.format = format\n\n"
        "    def train(self):\n"
        f"        subprocess.run('{RUN} --ckpt-format '.split() + [self.format])\n\n\n"
        "trainer = Trainer.remote('fsdp_dtensor')\nray.get(trainer.train.remote())\n",
        [f"2 {CONNECTIONS}"],
    ),
    "a driver's environment, which a worker need not have": (
        f"import os, ray, subprocess\nos.environ['{NAME}'] = '1'\n\n\n@ray.remote\ndef train(format):\n"
        f"    subprocess.run('{RUN} --ckpt-format '.split() + [format])\n\n\ntrain.remote('fsdp_dtensor')\n",
        [],
    ),
    "a cluster's environment, which its driver does not have": (
        f"import ray, subprocess\nray.init(runtime_env={{'env_vars': {{'{NAME}': '1'}}}})\n\n\n"
        f"def train():\n    subprocess.run('{RUN} {GOOD}', shell=True)\n\n\ntrain()\n",
        [],
    ),
    "a variable that the program sets as well": (
        f"import os, ray, subprocess\n\n\n@ray.remote(runtime_env={{'env_vars': {{'{NAME}': '1'}}}})\ndef train():\n"
        f"    os.environ['{NAME}'] = '8'\n    subprocess.run('{RUN} {GOOD}', shell=True)\n\n\ntrain.remote()\n",
        [],
    ),
    "a manifest in Python": (
        f"from kubernetes import client\nARGS = '{FSDP} {GOOD}'.split()\n"
        "container = {\n    'command': ['torchrun', 'pretrain_gpt.py'],\n    'args': ARGS,\n"
        f"    'env': [{{'name': '{NAME}',\n             'value': '1'}}],\n}}\n"
        "client.CustomObjectsApi().create_namespaced_custom_object(body={'spec': {'containers': [container]}})\n",
        [f"7 {CONNECTIONS}"],
    ),
    "a line that sets a variable": (
        f"from fabric import Connection\nConnection('node').run('cd /work && {NAME}=1 {RUN} {GOOD}')\n",
        [f"2 {CONNECTIONS}"],
    ),
    "an estimator of SageMaker": (
        "from sagemaker.pytorch import PyTorch\nPyTorch(\n    entry_point='train.sh',\n"
        f"    environment={{'{NAME}': '1'}},\n).fit()\n",
        [f"4 {CONNECTIONS}"],
    ),
    "a module": (
        "import nemo_run as run\nrun.run(\n    run.Script(\n        path='pretrain_gpt',\n        m=True,\n"
        f"        entrypoint='python',\n        args='{FSDP} {BAD}'.split(),\n    )\n)\n",
        [f"7 {FORMAT}"],
    ),
    "a line that is put together": (
        "import subprocess\nOVER = ['--use-megatron-fsdp', '--save=/c',\n    '--ckpt-format=torch_dist']\n"
        "line = 'torchrun pretrain_gpt.py '\nline += ' '.join(OVER)\nsubprocess.run(line, shell=True)\n",
        [f"3 {FORMAT}"],
    ),
    "a text with backslashes": (
        f'{BASH}    RUN = """\n    {RUN} \\\\\n      --ckpt-format torch_dist \\\\\n      --save /c\n    """\n'
        "    t = BashOperator(bash_command=RUN)\n",
        [f"6 {FORMAT}"],
    ),
    "a function that returns a script": (
        "from airflow.sdk import DAG, task\nwith DAG('x'):\n    @task.bash\n    def train():\n"
        f"        return '{RUN} {BAD}'\n    train()\n",
        [f"5 {FORMAT}"],
    ),
    "with an environment": (
        f"from airflow.decorators import task\n\n\n@task.bash(env={{'{NAME}': '1'}})\ndef train():\n"
        f"    return f'{RUN} {GOOD}'\n\n\ntrain()\n",
        [f"4 {CONNECTIONS}"],
    ),
    "a script that it writes": (
        "import argparse, pathlib, subprocess\nT = '''#!/bin/bash\n"
        f"srun {RUN} {{more}}\n'''\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--n', default=2, type=int)\n"
        "text = T.format(nodes=parser.parse_args().n,\n    more='--save /c --ckpt-format torch_dist')\n"
        "path = pathlib.Path('job.sh')\npath.write_text(text)\nsubprocess.run(['sbatch', str(path)])\n",
        [f"8 {FORMAT}"],
    ),
    "a script that it writes piece by piece": (
        "import os\nwith open('job.sh', 'w') as file:\n    file.write('#!/bin/bash\\n')\n"
        f"    file.write('{RUN} {BAD}\\n')\nos.system('bash job.sh')\n",
        [f"4 {FORMAT}"],
    ),
    "a script that it hands on": (
        f"import subprocess\ntext = '#!/bin/bash\\n{RUN} {BAD}'\nsubprocess.run(['sbatch'], input=text, text=True)\n",
        [f"2 {FORMAT}"],
    ),
    "a helper of tasks that a framework calls": (
        "from invoke import task\n\n\ndef _run(c, extra, connections):\n"
        f"    c.run(f'{RUN} {{extra}}', env={{'{NAME}': connections}})\n\n\n"
        f"@task\ndef fsdp(c):\n    _run(c, '{GOOD}', '32')\n\n\n@task\ndef slow(c):\n    _run(c, '{BAD}', '1')\n",
        [f"5 {CONNECTIONS}", f"15 {FORMAT}"],
    ),
    "a line of which a word is not known": (
        "from prefect import flow\nfrom prefect_shell import ShellOperation\n\n\n@flow\ndef main(where='/c'):\n"
        f"    words = ['{RUN}', '{BAD}', '--load', f'{{where}}/c']\n"
        "    ShellOperation(commands=[' '.join(words)]).run()\n\n\nmain()\n",
        [f"7 {FORMAT}"],
    ),
    "words that nobody gives to a command of click": (
        "import subprocess\nimport click\n\n\n@click.command()\n@click.argument('extra', nargs=-1)\ndef go(extra):\n"
        f"    subprocess.run(['torchrun', *'{RUN} {BAD}'.split()[1:], *extra])\n\n\ngo()\n",
        [f"8 {FORMAT}"],
    ),
    "the steps of a flow": (
        "import subprocess\nfrom metaflow import FlowSpec, Parameter, step\n\n\nclass Flow(FlowSpec):\n"
        f"    kind = Parameter('kind', default='{BAD}')\n\n"
        "    @step\n    def start(self):\n        self.next(self.train, self.other)\n\n"
        f"    @step\n    def train(self):\n        subprocess.run(f'{RUN} {{self.kind}}', shell=True)\n"
        "        self.next(self.end)\n\n"
        "    @step\n    def other(self):\n        self.next(self.end)\n\n"
        "    @step\n    def end(self, inputs):\n        pass\n\n\nif __name__ == '__main__':\n    Flow()\n",
        [f"6 {FORMAT}"],
    ),
    "one answer to one question": (
        "import os, subprocess, sys\nfsdp = '--ddp' not in sys.argv\nenv = os.environ.copy()\n"
        f"env['{NAME}'] = '1'\nif fsdp:\n    env.pop('{NAME}')\n\n\ndef words(fsdp):\n"
        f"    return '{FSDP} {GOOD}'.split() if fsdp else []\n\n\n"
        "if __name__ == '__main__':\n    subprocess.run(['torchrun', 'pretrain_gpt.py', *words(fsdp)], env=env)\n",
        [],
    ),
}


@pytest.mark.parametrize(("text", "wanted"), PROGRAMS.values(), ids=PROGRAMS)
def test_programs_that_hand_scripts_on(
    text: str, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    started = {"train.sh": f"{RUN} {GOOD}\n"} if "train.sh" in text else {}
    assert told({"launch.py": text, **started}, tmp_path, capsys) == [f"launch.py:{each}" for each in wanted]


@pytest.mark.parametrize("given", ["train", f"submitit.helpers.CommandFunction('{RUN} {GOOD}'.split())"])
def test_what_a_submitter_unsets_is_set_again_by_the_lines_that_a_job_begins_with(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (
        "import os, subprocess, submitit\n\n\ndef train():\n    subprocess.run(['bash', 'train.sh'])\n\n\n"
        f"os.environ.pop('{NAME}', None)\non = submitit.AutoExecutor(folder='log')\n"
        f"on.update_parameters(slurm_setup=['export {NAME}=1'])\non.submit({given})\n"
    )
    files = {"launch.py": text, "train.sh": f"{RUN} {GOOD}\n"}
    assert told(files, tmp_path, capsys) == [f"launch.py:10 {CONNECTIONS}"]


LAUNCHER = f"""import argparse
import subprocess

parser = argparse.ArgumentParser()
parser.add_argument("--format")
parser.add_argument("--dry", action="store_true")


def start(format):
    subprocess.run(f"{RUN} --save /c --ckpt-format {{format}}", shell=True)


def show():
    print("torchrun")


def main():
    arguments = parser.parse_args()
    show()
    if not arguments.dry:
        start(arguments.format)


if __name__ == "__main__":
    main()
"""
JOBS = "on: push\njobs:\n  train:\n    steps:\n"
STARTS: Mapping[str, tuple[list[str], list[str]]] = {
    "that differ": (
        ["--format fsdp_dtensor", "--format torch_dist", "--format fsdp_dtensor"],
        [f"launch.py:10 {FORMAT}"],
    ),
    "the first of which starts nothing": (["--dry", "--format torch_dist"], [f"launch.py:10 {FORMAT}"]),
    "the last of which starts nothing": (["--format torch_dist", "--dry"], [f"launch.py:10 {FORMAT}"]),
    "none of which starts anything": (["--dry", "--dry --format torch_dist"], []),
}


@pytest.mark.parametrize("in_files", [1, 2], ids=["in one file", "in several"])
@pytest.mark.parametrize(("starts", "wanted"), STARTS.values(), ids=STARTS)
def test_several_starts_of_one_program(
    starts: list[str],
    wanted: list[str],
    in_files: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    steps = [f"      - run: python launch.py {each}\n" for each in starts]
    groups = [steps] if in_files == 1 else [[each] for each in steps]
    files = {f".github/workflows/{number}.yml": JOBS + "".join(each) for number, each in enumerate(groups)}
    found = told({"launch.py": LAUNCHER, **files}, tmp_path, capsys)
    assert found == wanted
