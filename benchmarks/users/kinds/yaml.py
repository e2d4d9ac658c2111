# ruff: noqa: E501 — the files of a project are written as they are, in one string each
"""Sections of YAML that two readers use."""

from __future__ import annotations

import random

from benchmarks.users.project import RECIPE, Project, notebook


def shared_yaml(draw: random.Random) -> Project:
    """Draw a YAML file that a recipe reads or extends, and another reader."""
    style = draw.choice(["read by Python", "anchor"])
    base = "checkpoint:\n  ckpt_format: torch_dist\n  save: /ckpt\n"
    language = draw.choice(["Python", "shell", "notebook", "Makefile"])
    read = "import yaml\nprint(yaml.safe_load(open('{}'))['{}']['ckpt_format'])\n"
    if style == "anchor":
        text = "plain: &plain\n  ckpt_format: torch_dist\n  save: /ckpt\n  load: null\n  pretrained_checkpoint: null\nddp:\n  use_megatron_fsdp: true\ncheckpoint:\n  <<: *plain\n"
        path, key, files, wrong = "train.yaml", "plain", {"train.yaml": text}, ["show_yaml train.yaml"]
        lint = ["train.yaml"]
    else:
        path, key, lint = "base.yaml", "checkpoint", ["train.py", "base.yaml"]
        train = f"import yaml\n{RECIPE}\n\ndef train():\n    cfg = upstream()\n    cfg.ddp.use_megatron_fsdp = True\n    with open('base.yaml') as file:\n        given = yaml.safe_load(file)\n    cfg.checkpoint.ckpt_format = given['checkpoint']['ckpt_format']\n    return cfg\n"
        files, wrong = {"base.yaml": base, "train.py": train}, ["show train.train"]
    match language:
        case "Python":
            files |= {"plain.py": read.format(path, key)}
            user = "python plain.py"
        case "notebook":
            files |= {"plain.ipynb": notebook(read.format(path, key))}
            user = "run_notebook plain.ipynb"
        case "shell":
            files |= {
                "plain.sh": f"#!/bin/bash\nFMT=$(grep -m1 ckpt_format {path} | cut -d: -f2)\npython convert.py --loader $FMT\n",
                "convert.py": "import sys\nprint(sys.argv[1:])\n",
            }
            user = "bash plain.sh"
        case _:
            files |= {"Makefile": f"plain:\n\t@grep -m1 ckpt_format {path}\n"}
            user = "make -s plain"
    return Project(f"YAML: {style}", language, files, lint, wrong, "ckpt_format=torch_dist", user)


_READ = "import yaml\nprint(yaml.safe_load(open('{}'))['{}']['ckpt_format'])\n"


def _reader(draw: random.Random, path: str, key: str) -> tuple[str, dict[str, str], str]:
    """Return another reader of a section."""
    read = _READ.format(path, key)
    return draw.choice(
        [
            ("Python", {"plain.py": read}, "python plain.py"),
            ("notebook", {"plain.ipynb": notebook(read)}, "run_notebook plain.ipynb"),
            ("Makefile", {"Makefile": f"plain:\n\t@grep -m1 ckpt_format {path}\n"}, "make -s plain"),
            (
                "shell",
                {
                    "plain.sh": f"#!/bin/bash\nFMT=$(sed -n 's/.*ckpt_format: //p' {path} | head -1)\necho convert --loader $FMT\n"
                },
                "bash plain.sh",
            ),
            (
                "python -c",
                {"plain.sh": '#!/bin/bash\npython -c "' + read.strip().replace("\n", "; ") + '"\n'},
                "bash plain.sh",
            ),
        ]
    )


def extended_yaml(draw: random.Random) -> Project:
    """Draw a file that others extend, of which one turns FSDP on."""
    base = draw.choice(["base", "common", "defaults_8b"])
    text = "checkpoint:\n  ckpt_format: torch_dist\n  save: /ckpt\nddp:\n  use_megatron_fsdp: false\n"
    files = {f"{base}.yaml": text, "train.yaml": "ddp:\n  use_megatron_fsdp: true\n"}
    merge = f"OmegaConf.merge(OmegaConf.load('{base}.yaml'), OmegaConf.load('{{}}.yaml'))"
    files["train.py"] = (
        f"from omegaconf import OmegaConf\n{RECIPE}\n\ndef train():\n    cfg = upstream()\n    given = {merge.format('train')}\n"
        "    cfg.ddp.use_megatron_fsdp = given.ddp.use_megatron_fsdp\n    cfg.checkpoint.ckpt_format = given.checkpoint.ckpt_format\n    return cfg\n"
    )
    if draw.random() < 0.5:
        language = draw.choice(["Python", "notebook"])
        files["plain.yaml"] = "train:\n  train_iters: 10\n"
        read = f"from omegaconf import OmegaConf\nprint({merge.format('plain')}.checkpoint.ckpt_format)\n"
        more, user = (
            ({"plain.py": read}, "python plain.py")
            if language == "Python"
            else ({"plain.ipynb": notebook(read)}, "run_notebook plain.ipynb")
        )
    else:
        language, more, user = _reader(draw, f"{base}.yaml", "checkpoint")
    files |= more
    lint = draw.choice([["train.py", "train.yaml", f"{base}.yaml"], ["train.py", "train.yaml"], ["train.py"]])
    return Project("YAML: extended", language, files, lint, ["show train.train"], "ckpt_format=torch_dist", user)


def own_yaml(draw: random.Random) -> Project:
    """Draw a file at fault by itself, of which another program takes a value."""
    style = draw.choice(["alias of a value", "interpolation", "read", "list", "documents"])
    rest = "  save: /ckpt\n  load: /ckpt\n  pretrained_checkpoint: null\n"
    on = "ddp:\n  use_megatron_fsdp: true\n"
    files: dict[str, str] = {}
    match style:
        case "alias of a value":
            text = f"{on}checkpoint:\n  ckpt_format: &fmt torch_dist\n{rest}export:\n  ckpt_format: *fmt\n"
            language, more, user = _reader(draw, "train.yaml", "export")
            if language in ("Makefile", "shell"):
                language, more, user = "Python", {"plain.py": _READ.format("train.yaml", "export")}, "python plain.py"
        case "interpolation":
            text = f"{on}checkpoint:\n  ckpt_format: torch_dist\n{rest}export:\n  ckpt_format: ${{checkpoint.ckpt_format}}\n"
            read = "from omegaconf import OmegaConf\nprint(OmegaConf.load('train.yaml').export.ckpt_format)\n"
            language, more, user = draw.choice(
                [
                    ("Python", {"plain.py": read}, "python plain.py"),
                    ("notebook", {"plain.ipynb": notebook(read)}, "run_notebook plain.ipynb"),
                ]
            )
        case "list":
            text = f"plain: &plain\n  ckpt_format: torch_dist\n{rest}{on}checkpoint: *plain\n"
            language, more, user = _reader(draw, "train.yaml", "plain")
        case "documents":
            text = f"{on}checkpoint:\n  ckpt_format: torch_dist\n{rest}"
            files["plain.yaml"] = "ddp:\n  use_megatron_fsdp: false\ncheckpoint:\n  ckpt_format: torch_dist\n"
            language, more, user = "YAML", {}, "show_yaml plain.yaml"
        case _:
            text = f"{on}checkpoint:\n  ckpt_format: torch_dist\n{rest}"
            language, more, user = _reader(draw, "train.yaml", "checkpoint")
    files |= {"train.yaml": text} | more
    # Of what the other program takes the very value there is no second place.
    fixable = style in ("documents", "list")
    return Project(
        f"YAML: {style}",
        language,
        files,
        ["train.yaml"],
        ["show_yaml train.yaml"],
        "ckpt_format=torch_dist",
        user,
        fixable,
    )


def launching_yaml(draw: random.Random) -> Project:
    """Draw a file that launches with variables of its own, which other commands of it have as well."""
    fsdp = "torchrun --nproc_per_node 8 pretrain_gpt.py --use-megatron-fsdp --use-distributed-optimizer --data-parallel-sharding-strategy optim_grads_params --ckpt-format fsdp_dtensor"
    tp = "torchrun --nproc_per_node 8 pretrain_gpt.py --tensor-model-parallel-size 2 --sequence-parallel"
    style = draw.choice(["job", "workflow", "services", "workflow step", "words"])
    language = draw.choice(["shell", "Python", "echo"])
    use = {"shell": tp, "Python": "python eval.py", "echo": "echo user $CUDA_DEVICE_MAX_CONNECTIONS"}[language]
    files = {"eval.py": 'import os\nprint("user", os.environ["CUDA_DEVICE_MAX_CONNECTIONS"])\n'}
    wrong = "CUDA_DEVICE_MAX_CONNECTIONS=1"
    match style:
        case "job":
            text = f'resources:\n  accelerators: H100:8\nenvs:\n  CUDA_DEVICE_MAX_CONNECTIONS: "1"\nrun: |\n  {use}\n  {fsdp}\n'
        case "workflow":
            text = f'on: push\nenv:\n  CUDA_DEVICE_MAX_CONNECTIONS: "1"\njobs:\n  train:\n    runs-on: gpu\n    steps:\n      - run: {use}\n      - run: {fsdp}\n'
        case "workflow step":
            text = f'on: push\njobs:\n  train:\n    runs-on: gpu\n    env:\n      CUDA_DEVICE_MAX_CONNECTIONS: "1"\n    steps:\n      - run: |\n          {use}\n          {fsdp}\n'
        case "services":
            text = f'x-env: &env\n  CUDA_DEVICE_MAX_CONNECTIONS: "1"\nservices:\n  eval:\n    image: nemo\n    environment: *env\n    command: {use.replace("$", "$$")}\n  train:\n    image: nemo\n    environment: *env\n    command: {fsdp}\n'
        case _:
            wrong = "ckpt_format=torch_dist"
            use = "echo user $COMMON"
            language = "echo"
            launch = fsdp.replace(" --ckpt-format fsdp_dtensor", " --save /ckpt $COMMON")
            text = f'resources:\n  accelerators: H100:8\nenvs:\n  COMMON: "--ckpt-format torch_dist"\nrun: |\n  {use}\n  {launch}\n'
    files["job.yaml"] = text
    return Project(
        f"launching YAML: {style}",
        language,
        files,
        ["job.yaml"],
        ["run_job job.yaml | grep use_megatron_fsdp=True"],
        wrong,
        "run_job job.yaml | grep -v use_megatron_fsdp=True",
    )
