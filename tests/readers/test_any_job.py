"""Command lines in files of which no reader knows the format; and more of the formats that are known."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mfsdp_lint.cli import main
from tests.readers.test_started_by_others import BAD, CONNECTIONS, FORMAT, FSDP, GOOD, NAME, RUN, Files, told

WORDS = ", ".join(f'"{word}"' for word in f"{RUN} {BAD}".split())
CONTAINER = f"{{name: t, command: [{', '.join(f'{RUN} {GOOD}'.split())}]"

POD = f"apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - {{}}\n    command: [sh, -c, '{RUN} {GOOD}']\n"
POD_WITH_MAP = POD.format("envFrom: [{configMapRef: {name: train}}]")
POD_WITH_KEY = POD.format(f"env: [{{name: {NAME}, valueFrom: {{configMapKeyRef: {{name: train, key: {NAME}}}}}}}]")
MAP = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{{{name: train}}}}\ndata: {{{{{NAME}: '{{}}'}}}}\n"
OWN_LOOP = {
    "train.py": "import torch\nfrom megatron.core import datasets\nfrom options import parse\nargs = parse()\n",
    "options.py": (
        "import argparse\n\n\ndef parse():\n    parser = argparse.ArgumentParser()\n"
        "    parser.add_argument('--use-megatron-fsdp', action='store_true')\n"
        "    parser.add_argument('--ckpt-format', default='dcp')\n    return parser.parse_known_args()[0]\n"
    ),
}
SCRIPT = MAP.replace(f"{NAME}: '{{}}'", f'go: "#!/bin/bash\\n{RUN} {GOOD}"').format()


def pod_with_script(variable: str) -> str:
    """Return a pod that runs a file of a ConfigMap with a variable."""
    return (
        f"apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - command: [bash, /s/go]\n"
        f"    env: [{{name: {variable}}}]\n    volumeMounts: [{{name: v, mountPath: /s}}]\n"
        f"    image: lab/megatron\n  volumes: [{{name: v, configMap: {{name: train}}}}]\n"
    )


TASKS = (
    "version: '3'\nvars: {{FMT: fsdp_dtensor}}\ntasks:\n  run:\n    internal: true\n"
    f"    cmds: ['{RUN} --save /c --ckpt-format {{{{{{{{.FMT}}}}}}}}']\n  nightly:\n    cmds:\n    - task: run\n"
    "      vars: {{FMT: {}}}\n"
)

CASES: dict[str, tuple[Files, list[str]]] = {
    "a task that another calls with variables": (
        {"Taskfile.yml": TASKS.format("torch_dist")},
        [f"Taskfile.yml:10 {FORMAT}"],
    ),
    "a task that is called rightly": ({"Taskfile.yml": TASKS.format("fsdp_dtensor")}, []),
    "a pipeline nobody knows": (
        {"steps.yml": f"jobs:\n- label: train\n  command: {RUN} {BAD}\n  env: {{A: b}}\n"},
        [f"steps.yml:3 {FORMAT}"],
    ),
    "its environment, of a section around": (
        {"job.yaml": f"environment_variables:\n  {NAME}: '1'\ntask:\n  shell: {RUN} {GOOD}\n"},
        [f"job.yaml:2 {CONNECTIONS}"],
    ),
    "words of a task over several lines": (
        {"pyproject.toml": f'[tool.poe.tasks.fsdp]\ncmd = """\ntorchrun pretrain_gpt.py\n  {FSDP}\n  {BAD}\n"""\n'},
        [f"pyproject.toml:5 {FORMAT}"],
    ),
    "variables that are made of others": (
        {
            "tasks.yml": (
                f"vars:\n  OUT: /c\n  FORMAT: torch_dist\ntasks:\n  train:\n    vars:\n"
                "      SAVE: --save {{.OUT}} --load {{.HOME}} --ckpt-format {{.FORMAT}}\n"
                f"    cmds:\n      - torchrun pretrain_gpt.py {FSDP} {{{{.SAVE}}}}\n"
            )
        },
        [f"tasks.yml:3 {FORMAT}"],
    ),
    "a folder that the job starts in": (
        {
            "job.yml": f"environment_variables: {{{NAME}: '1'}}\ncode: ./src\ncommand: bash train.sh\n",
            "src/train.sh": f"{RUN} {GOOD}\n",
        },
        [f"job.yml:1 {CONNECTIONS}"],
    ),
    "a script in a template of HCL, whose variables of the shell are kept from it": (
        {
            "job.hcl": (
                f'job "a" {{\n  template {{\n    data = <<EOT\nOPTS=(\n  {BAD}\n)\n'
                f'torchrun pretrain_gpt.py {FSDP} "$${{OPTS[@]}}" --seed ${{var.seed}}\nEOT\n  }}\n}}\n'
            )
        },
        [f"job.hcl:5 {FORMAT}"],
    ),
    "a command and its arguments": (
        {
            "job.yaml": (
                f"trainer:\n  command: [torchrun, pretrain_gpt.py]\n  args: [{', '.join(f'{FSDP} {BAD}'.split())}]\n"
            )
        },
        [f"job.yaml:3 {FORMAT}"],
    ),
    "a folded text, each word at its place": (
        {"job.yaml": f"entrypoint: >-\n  {RUN}\n  {BAD}\nresources: {{slots: 8}}\n"},
        [f"job.yaml:3 {FORMAT}"],
    ),
    "a value that a placeholder has in the file": (
        {
            "play.yml": (
                f"- vars: {{fmt: torch_dist}}\n  tasks:\n  - shell: |\n"
                f"      {RUN} --save /c --ckpt-format {{{{ fmt }}}}\n"
            )
        },
        [f"play.yml:1 {FORMAT}"],
    ),
    "parameters of CircleCI": (
        {"config.yml": f"steps:\n- run:\n    command: {RUN} --save /c --ckpt-format << parameters.fmt >>\n"},
        [],
    ),
    "a default of a placeholder": (
        {"play.yml": f'run: {RUN} --save /c --ckpt-format {{{{ .FMT | default "torch_dist" }}}}\n'},
        [f"play.yml:1 {FORMAT}"],
    ),
    "a default of Jinja, where the variable has another value": (
        {"play.yml": f"vars:\n  f: fsdp_dtensor\nrun: {RUN} --save /c --ckpt-format {{{{ f | default('torch') }}}}\n"},
        [],
    ),
    "words that a command of a task runner prints": (
        {
            "tasks.yml": f"vars:\n  FLAGS:\n    sh: grep -v '^#' flags.txt\nrun: {RUN} --save /c {{{{.FLAGS}}}}\n",
            "flags.txt": "# the format\n--ckpt-format torch_dist\n",
        },
        [f"flags.txt:2 {FORMAT}"],
    ),
    "a placeholder that nobody fills in": ({"play.yml": f"run: {RUN} --save /c --ckpt-format {{{{ fmt }}}}\n"}, []),
    "arguments of tox, which nobody gives": (
        {"tox.ini": f"[testenv:run]\ncommands =\n    {RUN} {BAD} {{posargs}}\n"},
        [f"tox.ini:3 {FORMAT}"],
    ),
    "defaults of tox": (
        {"tox.ini": f"[testenv]\ncommands = {RUN} --save /c --ckpt-format {{env:F:torch_dist}} {{posargs:--bf16}}\n"},
        [f"tox.ini:2 {FORMAT}"],
    ),
    "a description is no command": ({"a.yaml": f"description: start it with {RUN} {BAD}\nx: 1\n"}, []),
    "JSON": ({"job.json": f'{{"jobSpec": {{"command": [{WORDS}]}}}}\n'}, [f"job.json:1 {FORMAT}"]),
    "TOML": ({"pyproject.toml": f'[tool.tasks]\ntrain = "{RUN} {BAD}"\n'}, [f"pyproject.toml:2 {FORMAT}"]),
    "a here-document of another language": (
        {"main.tf": f"x = <<-EOT\n  #!/bin/bash\n  {RUN} --num-layers ${{var.n}} \\\n    {BAD}\nEOT\n"},
        [f"main.tf:4 {FORMAT}"],
    ),
    "a text between three quotes": (
        {"main.nf": f'process T {{\n  """\n  {RUN} \\\\\n    {BAD}\n  """\n}}\n'},
        [f"main.nf:4 {FORMAT}"],
    ),
    "texts behind each other": (
        {"Snakefile": f'rule a:\n    shell:\n        "{RUN} "\n        "{BAD} --num-layers {{input}}"\n'},
        [f"Snakefile:4 {FORMAT}"],
    ),
    "a list behind the program's name": (
        {
            "t.nomad": (
                f'config {{\n  command = "torchrun"\n'
                f'  args = ["pretrain_gpt.py", {WORDS.partition("pretrain_gpt.py")[2][3:]}]\n}}\n'
            )
        },
        [f"t.nomad:3 {FORMAT}"],
    ),
    "a line of a service": ({"t.service": f"[Service]\nExecStart=/usr/bin/{RUN} {BAD}\n"}, [f"t.service:2 {FORMAT}"]),
    "a program of supervisord, with variables of its own": (
        {
            "supervisord.conf": (
                f'[supervisord]\nenvironment={NAME}="1",A="b"\n\n[program:plain]\ncommand=train.sh  ; as it is\n'
                f'[program:other]\ncommand=/opt/bin/train.sh\nenvironment=B="%(host_node_name)s",{NAME}="8"\n'
            ),
            "train.sh": f"#!/bin/bash\n{RUN} {GOOD}\n",
        },
        [f"supervisord.conf:2 {CONNECTIONS}"],
    ),
    "a program with options of its own, called as Megatron's are": (
        {"train.sh": f"torchrun train.py {FSDP} {BAD}\n", **OWN_LOOP},
        [],
    ),
    "one that hands such options on": (
        {
            "train.sh": f"torchrun train.py {FSDP} {BAD}\n",
            **OWN_LOOP,
            "train.py": f"import sys\nfrom megatron_runner import launch\n{OWN_LOOP['train.py']}launch(sys.argv)\n",
        },
        [f"train.sh:1 {FORMAT}"],
    ),
    "prose": (
        dict.fromkeys(("notes.txt", "README.md", "page.mdx", "page.markdown", "page.adoc", "a.org"), f"{RUN} {BAD}\n"),
        [],
    ),
    "tasks of pixi, in the environment that is activated": (
        {
            "pixi.toml": (
                f"[activation.env]\n{NAME} = '1'\n[tasks]\none = '{RUN} {GOOD}'\n"
                f"two = {{ cmd = ['bash', 'train.sh'], env = {{ {NAME} = '8' }} }}\n"
            ),
            "train.sh": f"{RUN} {GOOD}\n",
        },
        [f"pixi.toml:2 {CONNECTIONS}"],
    ),
    "a shell and its script as words": (
        {
            "pixi.toml": "[tasks.train]\ncmd = ['bash', 'train.sh']\nenv = { FORMAT = 'torch_dist' }\n",
            "train.sh": f"{RUN} {FSDP} --save /c --ckpt-format ${{FORMAT:?}}\n",
        },
        [f"pixi.toml:3 {FORMAT}"],
    ),
    "a template of a script, with branches": (
        {
            "job.sh.j2": (
                f"#!/bin/bash\n{{% if x %}}\nexport A=1\n{{% endif %}}\n"
                f"{RUN} --num-layers {{{{ n }}}} \\\n{{% if w %}}\n  --wandb-project w \\\n{{% endif %}}\n"
                f"  {BAD}\n"
            )
        },
        [f"job.sh.j2:9 {FORMAT}"],
    ),
    "a template of a script whose branch gives the flag": (
        {
            "job.sh.j2": (
                f"#!/bin/bash\n{RUN} \\\n{{% if x %}}\n  --ckpt-format fsdp_dtensor \\\n{{% endif %}}\n  --save /c\n"
            )
        },
        [],
    ),
    "a template of a script, with branches behind each other within a command": (
        {
            "job.sh.j2": (
                f"#!/bin/bash\n{RUN} \\\n{{% if x %}}\n  --seed 1 \\\n{{% endif %}}\n"
                f"{{% if y == 'a' %}}\n  --wandb-project w \\\n{{% elif y %}}\n  --num-layers 2 \\\n{{% endif %}}\n"
                f"  {BAD}\n"
            )
        },
        [f"job.sh.j2:11 {FORMAT}"],
    ),
    "a file that an image has of the tree": (
        {
            "docker/train.sh": f"{RUN} {GOOD}\n",
            "docker/Dockerfile": (
                f'FROM x\nENV {NAME}=1\nWORKDIR /w\nCOPY docker/train.sh run.sh\nCMD ["bash", "/w/run.sh"]\n'
            ),
        },
        [f"docker/Dockerfile:2 {CONNECTIONS}"],
    ),
    "a file beside a script, that an image has as well": (
        {
            "Dockerfile": 'FROM x\nCOPY start.sh flags.sh /opt/\nENTRYPOINT ["/opt/start.sh"]\nCMD ["a"]\n',
            "start.sh": f'#!/bin/bash\n. "$(dirname "$0")/flags.sh"\n{RUN} $A\n',
            "flags.sh": f"A='{BAD}'\n",
        },
        [f"flags.sh:1 {FORMAT}"],
    ),
    "a folder that a service sees of the tree": (
        {
            "compose.yaml": (
                f"x-a: &a\n  image: x\n  volumes: ['./:/work:ro', 'data:/data']\n  environment:\n    {NAME}: '1'\n"
                f"services:\n  t:\n    <<: *a\n    working_dir: /work\n    command: [bash, jobs/train.sh]\n"
            ),
            "jobs/train.sh": f"source /work/jobs/flags.sh\n{RUN} $A\n",
            "jobs/flags.sh": f"A='{GOOD}'\n",
        },
        [f"compose.yaml:5 {CONNECTIONS}"],
    ),
    "a service with the words behind the entry point of its image": (
        {
            "compose.yaml": (
                "services:\n  t:\n    build: {context: ., dockerfile: docker/Dockerfile}\n"
                f"    command: >-\n      --use-megatron-fsdp {BAD}\n"
            ),
            "docker/Dockerfile": (f'FROM x\nENV {NAME}=8\nCOPY docker/start.sh /start.sh\nENTRYPOINT ["/start.sh"]\n'),
            "docker/start.sh": 'exec torchrun --nproc_per_node 8 pretrain_gpt.py "$@"\n',
        },
        [f"compose.yaml:5 {FORMAT}"],
    ),
    "an entry point that takes no words": (
        {
            "compose.yaml": f"services:\n  t:\n    build: image\n    command: [{', '.join(BAD.split())}]\n",
            "image/Dockerfile": f"FROM x\nENTRYPOINT {RUN} {GOOD}\n",
        },
        [],
    ),
    "a program in a folder that a service sees": (
        {
            "compose.yaml": (
                "services:\n  t:\n    image: x\n    command: python /w/a/launch.py\n"
                "    volumes:\n      - {type: bind, source: ., target: /w}\n"
            ),
            "a/launch.py": (
                "import argparse, subprocess\nargparse.ArgumentParser().parse_args()\n"
                f"subprocess.run('{RUN} {BAD}', shell=True)\n"
            ),
        },
        [f"a/launch.py:3 {FORMAT}"],
    ),
    "a folder that a service does not see": (
        {
            "compose.yaml": (
                f"services:\n  t:\n    image: x\n    environment: {{{NAME}: '1'}}\n"
                f"    command: bash /work/train.sh\n    volumes: ['./other:/work', 'v:/v']\n"
            ),
            "train.sh": f"{RUN} {GOOD}\n",
        },
        [],
    ),
    "parameters of DVC": (
        {
            "dvc.yaml": (
                "vars: [more.yaml]\nstages:\n  t:\n    wdir: .\n"
                f"    cmd: {RUN} --save ${{out}} --ckpt-format ${{shard.format}}\n"
            ),
            "params.yaml": "export:\n  format: fsdp_dtensor\nshard:\n  format: torch_dist\n",
            "more.yaml": "out: /c\n",
        },
        [f"params.yaml:4 {FORMAT}"],
    ),
    "parameters of DVC in the pipeline": (
        {
            "dvc.yaml": (
                f"vars:\n  - f: torch_dist\nstages:\n  t:\n    foreach: [1]\n    do:\n"
                f"      cmd: [echo, '{RUN} --save /c --ckpt-format ${{f}}']\n"
            )
        },
        [f"dvc.yaml:2 {FORMAT}"],
    ),
    "a task that starts a script": (
        {
            "pixi.toml": f'[tasks.t]\ncmd = "bash jobs/train.sh"\nenv = {{ {NAME} = "1" }}\n',
            "jobs/train.sh": f"{RUN} {GOOD}\n",
        },
        [f"pixi.toml:3 {CONNECTIONS}"],
    ),
    "values of Compose's .env": (
        {
            ".env": "F=fsdp_dtensor\n",
            "compose.yaml": f"services:\n  t:\n    command: {RUN} --save /c --ckpt-format ${{F:-torch_dist}}\n",
        },
        [],
    ),
    "a default of Compose": (
        {
            "compose.yaml": (
                f"services:\n  t:\n    image: x\n    command: {RUN} --save /c --ckpt-format ${{F:-torch_dist}}\n"
            )
        },
        [f"compose.yaml:4 {FORMAT}"],
    ),
    "variables of a whole ConfigMap": (
        {
            "job.yaml": (
                f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata: {{{NAME}: '1'}}\n---\n"
                f"apiVersion: v1\nkind: Pod\nspec:\n"
                f"  containers: [{CONTAINER}, envFrom: [{{configMapRef: {{name: c}}}}]}}]\n"
            )
        },
        [f"job.yaml:4 {CONNECTIONS}"],
    ),
    "variables of a ConfigMap in the file beside": (
        {"job.yaml": POD_WITH_MAP, "cm.yaml": MAP.format(1)},
        [f"cm.yaml:4 {CONNECTIONS}"],
    ),
    "a single variable of a ConfigMap in the file beside": (
        {"job.yaml": POD_WITH_KEY, "cm.yaml": MAP.format(1)},
        [f"cm.yaml:4 {CONNECTIONS}"],
    ),
    "two ConfigMaps of one name, of which nobody knows which is applied": (
        {"job.yaml": POD_WITH_MAP, "dev.yaml": MAP.format(1), "prod.yaml": MAP.format(8)},
        [],
    ),
    "a script of a ConfigMap beside, in the environment of each container": (
        {
            "jobs.yaml": pod_with_script(f"{NAME}, value: '8'") + "---\n" + pod_with_script(f"{NAME}, value: '1'"),
            "cm.yaml": SCRIPT,
        },
        [f"jobs.yaml:16 {CONNECTIONS}"],
    ),
    "a script by another name, in a volume of several sources": (
        {
            "job.yaml": pod_with_script(f"{NAME}, value: '1'")
            .replace(
                "configMap: {name: train}",
                "projected: {sources: [{secret: {}}, {configMap: {name: train, items: "
                "[{key: go, path: bin/run.sh}]}}]}",
            )
            .replace("/s/go", "/s/bin/run.sh"),
            "cm.yaml": SCRIPT,
        },
        [f"job.yaml:6 {CONNECTIONS}"],
    ),
    "a script that is right as every container starts it": (
        {
            "job.yaml": pod_with_script("FORMAT, value: fsdp_dtensor"),
            "cm.yaml": SCRIPT.replace(GOOD, "--save /c --ckpt-format ${FORMAT:-torch_dist}"),
        },
        [],
    ),
    "a ConfigMap of another folder": ({"job.yaml": POD_WITH_MAP, "other/cm.yaml": MAP.format(1)}, []),
    "a variable that Kubernetes fills in": (
        {
            "job.yaml": (
                f"apiVersion: v1\nkind: Pod\nspec:\n  containers:\n"
                f"  - command: [sh, -c, '{RUN} --save /c --ckpt-format $(F)']\n"
                f"    env: [{{name: F, value: torch_dist}}]\n"
            )
        },
        [f"job.yaml:6 {FORMAT}"],
    ),
    "items of a step of Argo": (
        {
            "wf.yaml": (
                f"apiVersion: a/v1\nkind: Workflow\nspec:\n  templates:\n  - name: m\n    steps:\n"
                f"    - - template: t\n"
                f"        arguments: {{parameters: [{{name: f, value: '{{{{item}}}}'}}]}}\n"
                f"        withItems:\n        - fsdp_dtensor\n        - torch_dist\n  - name: t\n"
                f"    inputs: {{parameters: [{{name: f}}]}}\n    container:\n"
                f"      command: [sh, -c, '{RUN} --save /c --ckpt-format {{{{inputs.parameters.f}}}}']\n"
            )
        },
        [f"wf.yaml:11 {FORMAT}"],
    ),
    "a matrix of GitHub": (
        {
            "ci.yml": (
                f"on: push\njobs:\n  t:\n    strategy:\n      matrix:\n        f:\n"
                f"        - fsdp_dtensor\n        - torch_dist\n        - torch\n"
                f"        exclude: [{{f: torch}}]\n    steps:\n"
                f"    - run: {RUN} --save /c --ckpt-format ${{{{ matrix.f }}}}\n"
            )
        },
        [f"ci.yml:8 {FORMAT}"],
    ),
    "parameters of a just recipe that nobody needs to give": (
        {"justfile": f"train *ARGS:\n    {RUN} {BAD} {{{{ARGS}}}}\n"},
        [f"justfile:2 {FORMAT}"],
    ),
    "a value that sed puts into a script": (
        {"job.sh": f"#!/bin/bash\n{RUN} --save /c --ckpt-format @FORMAT@\n"},
        [],
    ),
    "a script that puts it in": (
        {
            "job.tmpl": f"{RUN} --save /c --ckpt-format @FORMAT@\n",
            "run.sh": '#!/bin/bash\nF=torch_dist\nsed "s/@FORMAT@/$F/" job.tmpl > out.sh\nbash out.sh\n',
        },
        [f"run.sh:2 {FORMAT}"],
    ),
    "beside one that nobody replaces": (
        {"job.sh": f"#!/bin/bash\n{RUN} --seed @SEED@ --save /c --ckpt-format torch_dist\n"},
        [f"job.sh:2 {FORMAT}"],
    ),
    "lines that Terraform may leave out": (
        {
            "run.sh.tftpl": (
                f"#!/bin/bash\n{RUN} \\\n%{{ if sharded ~}}\n  --ckpt-format torch \\\n%{{ endif ~}}\n  --save /c\n"
            )
        },
        [],
    ),
    "a parameter of a job of AWS Batch": (
        {"job.json": f'{{"command": ["bash", "-c", "{RUN} --save /c --ckpt-format \\"$0\\"", "Ref::format"]}}\n'},
        [],
    ),
    "a file of variables that just loads": (
        {"justfile": f"set dotenv-load\n\ntrain:\n    {RUN} {GOOD}\n", ".env": f"# all runs\n{NAME}=1\n"},
        [f".env:2 {CONNECTIONS}"],
    ),
    "a default of just which such a file of another name replaces": (
        {
            "jobs/justfile": (
                f"set dotenv-filename := 'train.env'\nf := env('F', 'fsdp_dtensor')\n\n"
                f"train:\n    {RUN} --save /c --ckpt-format {{{{f}}}}\n"
            ),
            "train.env": "F=torch_dist\n",
            "pyproject.toml": "",
        },
        [f"train.env:1 {FORMAT}"],
    ),
    "several variables of a container at once": (
        {"run.sh": f"apptainer exec --env A=b,{NAME}=1 x.sif {RUN} {GOOD}\n"},
        [f"run.sh:1 {CONNECTIONS}"],
    ),
    "a command line of a cluster's client": (
        {
            "a.py": (
                f"import ray\n"
                f"ray.JobSubmissionClient('x').submit_job(entrypoint='{RUN} {GOOD}',"
                f" runtime_env={{'env_vars': {{'{NAME}': '1'}}}})\n"
            )
        },
        [f"a.py:2 {CONNECTIONS}"],
    ),
    "words of a module for an operator of Airflow": (
        {
            "dag.py": "from airflow.providers.cncf.kubernetes.operators.pod import KubernetesPodOperator\n"
            "from words import words\nKubernetesPodOperator(cmds=['torchrun'], arguments=words('torch_dist'))\n",
            "words.py": f"WORDS = [{WORDS.partition(', ')[2]}]\n\n\ndef words(fmt):\n    return WORDS[:-1] + [fmt]\n",
        },
        [f"dag.py:3 {FORMAT}"],
    ),
    "words of a module that another one takes over": (
        {
            "launch.py": "import subprocess\nfrom args import ARGS\nsubprocess.run(['torchrun', *ARGS])\n",
            "args.py": "from base import ARGS\n",
            "base.py": f"ARGS = [{WORDS.partition(', ')[2]}]\n",
        },
        [f"base.py:1 {FORMAT}"],
    ),
    "a list of words for code out of sight": (
        {
            "a.py": (
                f"import submitit\n"
                f"submitit.AutoExecutor(folder='x').submit(submitit.helpers.CommandFunction([{WORDS}]))\n"
            )
        },
        [f"a.py:2 {FORMAT}"],
    ),
    "a launcher, and its words behind it": (
        {"a.py": f"import specs\nspecs.Role(entrypoint='torchrun', args=[{WORDS.partition(', ')[2]}])\n"},
        [f"a.py:2 {FORMAT}"],
    ),
    "a function that a framework calls": (
        {
            "a.py": (
                f"import subprocess\nimport modal\napp = modal.App('x')\n@app.function()\ndef train():\n"
                f"    subprocess.run('{RUN} {BAD}', shell=True)\n"
            )
        },
        [f"a.py:6 {FORMAT}"],
    ),
    "a function with options that a framework calls": (
        {
            "tasks.py": (
                "from invoke import task\nWORDS = {'save': '/c',\n    'ckpt-format': 'torch_dist'}\n"
                "@task\ndef train(c, gpus=8, old=True):\n"
                "    words = [f'--{k} {v}' for k, v in WORDS.items()]\n    if old:\n        words.append('--bf16')\n"
                f"    c.run(f'torchrun --nproc_per_node={{gpus}} pretrain_gpt.py {FSDP} ' + ' '.join(words))\n"
            )
        },
        [f"tasks.py:3 {FORMAT}"],
    ),
    "a process that is awaited": (
        {
            "a.py": (
                f"import asyncio\nasync def main():\n    await asyncio.create_subprocess_exec({WORDS})\n"
                f"asyncio.run(main())\n"
            )
        },
        [f"a.py:3 {FORMAT}"],
    ),
    "a command that is only logged": ({"a.py": f"import logging\nlogging.info('{RUN} {BAD}')\n"}, []),
    "flags made of names, each at its name": (
        {
            "a.py": (
                "import subprocess\nARGS = dict(use_megatron_fsdp=True,\n    save='/c',\n"
                "    ckpt_format='torch_dist')\nwords = []\nfor k, v in ARGS.items():\n"
                "    words += ['--' + k.replace('_', '-')] + ([] if v is True else [v])\n"
                "subprocess.run(['torchrun', 'pretrain_gpt.py', *words])\n"
            )
        },
        [f"a.py:4 {FORMAT}"],
    ),
    "names that flags without a value are made of": (
        {
            "a.py": (
                "import subprocess\nFLAGS = [\n    'bf16',\n    'use-megatron-fsdp',\n"
                "    'use-distributed-optimizer',\n]\ncmd = ['torchrun', 'pretrain_gpt.py', '--save', '/c']\n"
                "subprocess.run(cmd + [f'--{name}' for name in FLAGS])\n"
            ),
        },
        [f"a.py:4 {FORMAT}"],
    ),
    "a flag that a text only mentions": (
        {
            "a.py": (
                "import subprocess\nABOUT = 'it takes use-megatron-fsdp'\nOF = 'megatron'\n"
                "cmd = ['torchrun', 'pretrain_gpt.py', '--save', '/c', '--use-distributed-optimizer']\n"
                "subprocess.run([*cmd, f'--use-{OF}-fsdp'])\n"
            ),
        },
        [f"a.py:3 {FORMAT}"],
    ),
    "a launcher in Python that a script gives a file": (
        {
            "run.sh": "python launch.py conf.yaml\n",
            "conf.yaml": "use-megatron-fsdp: true\nsave: /c\nckpt-format: torch_dist\n",
            "launch.py": (
                "import subprocess\nimport sys\nimport yaml\nwords = []\n"
                "for k, v in yaml.safe_load(open(sys.argv[1])).items():\n"
                "    words += [f'--{k}'] if v is True else [f'--{k}', str(v)]\n"
                "subprocess.run(['torchrun', 'pretrain_gpt.py', *words])\n"
            ),
        },
        [f"conf.yaml:3 {FORMAT}"],
    ),
}


@pytest.mark.parametrize(("files", "wanted"), CASES.values(), ids=CASES)
def test_a_launch_is_found_wherever_it_is_written(
    files: Files, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told(files, tmp_path, capsys) == wanted


def test_a_script_of_a_config_map_that_is_not_at_hand_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("job.yaml").write_text(pod_with_script("A, value: b"))
    main(["runs", "--no-cache", "."])
    assert "job.yaml:5: not followed: /s/go is of the ConfigMap train, which is not at hand" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        pytest.param([f"!{RUN} \\\\", f"  {BAD}"], [f"2 {FORMAT}"], id="a command over two lines"),
        pytest.param(["%%bash", f"{RUN} {BAD}"], [f"2 {FORMAT}"], id="a cell of a shell"),
        pytest.param(["f = 'torch_dist'", f"!{RUN} --save /c --ckpt-format {{f}}"], [f"1 {FORMAT}"], id="a value"),
        pytest.param([f"%env {NAME}=1", f"!{RUN} {GOOD}"], [f"1 {CONNECTIONS}"], id="the environment"),
        pytest.param([f"%env {NAME}=8", f"!{RUN} {GOOD}"], [], id="all is right"),
    ],
)
def test_a_notebook_that_starts_a_run(
    lines: list[str],
    wanted: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    source = ",\n".join(f'"{line}\\n"' for line in lines)
    cell = f'{{"cell_type": "code", "execution_count": null, "metadata": {{}}, "outputs": [], "source": [\n{source}]}}'
    kernel = '"metadata": {"kernelspec": {"name": "python3", "language": "python"}}, "nbformat": 4}'
    Path("a.ipynb").write_text(f'{{"cells": [\n{cell}],\n{kernel}\n')
    main(["--no-cache", "--target-core", "0.16.1", "--output-format", "concise", "--select", "MFSDP1,MFSDP5", "."])
    found = re.finditer(r"^a.ipynb:cell 1:(\d+):\d+: error (MFSDP\d+)", capsys.readouterr().out, re.MULTILINE)
    assert [f"{each[1]} {each[2]}" for each in found] == wanted


LINE = f"{RUN} --save /c --ckpt-format"


@pytest.mark.parametrize(
    ("path", "text", "placeholder"),
    [
        ("Jenkinsfile", f'pipeline {{ steps {{ sh "{LINE} ${{params.FMT}}" }} }}\n', "${params.FMT}"),
        ("main.tf", f'resource "a" "b" {{\n  command = "{LINE} ${{var.fmt}}"\n}}\n', "${var.fmt}"),
        ("main.nf", f'process train {{\n  """\n  {LINE} ${{params.fmt}}\n  """\n}}\n', "${params.fmt}"),
        ("ci.yml", f"on: push\njobs:\n  t:\n    steps:\n    - run: {LINE} ${{{{ env.A }}}}\n", "${{ env.A }}"),
        ("train.j2", f"{LINE} {{{{ fmt }}}}\n", "{{ fmt }}"),
    ],
)
def test_a_placeholder_that_leaves_a_setting_open_is_told(
    path: str,
    text: str,
    placeholder: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(path).write_text(text)
    main(
        [
            "--no-cache",
            "--target-core",
            "0.16.1",
            "--output-format",
            "concise",
            "--show-info",
            "--select",
            "MFSDP1,MFSDP9",
            ".",
        ]
    )
    (line,) = [each for each in capsys.readouterr().out.splitlines() if "MFSDP907" in each]
    assert line.startswith(f"{path}:")
    assert f"checkpoint.ckpt_format could not be decided: `{placeholder}`" in line
