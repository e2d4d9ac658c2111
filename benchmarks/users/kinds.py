# ruff: noqa: E501 — the files of a project are written as they are, in one string each
"""The classes of traps, each a function that draws a project."""

from __future__ import annotations

import random
from collections.abc import Callable

from benchmarks.users.project import (
    CONNECTIONS,
    RECIPE,
    Project,
    notebook,
    second_user_of_python,
    second_user_of_shell,
)

FSDP = "--use-megatron-fsdp --use-distributed-optimizer --data-parallel-sharding-strategy optim_grads_params"
TP = "torchrun --nproc_per_node 8 pretrain_gpt.py --tensor-model-parallel-size 2 --sequence-parallel"
LAUNCH = "torchrun --nproc_per_node 8 pretrain_gpt.py"

Draw = Callable[[random.Random], Project]


def _env_file(draw: random.Random) -> tuple[str, str]:
    """Return the path of a shared file of shell, and the words that source it."""
    path = draw.choice(["env.sh", "common.sh", "lib/env.sh", "scripts/setup_env.sh"])
    spelled = draw.choice(["source {}", ". ./{}", 'source "$(dirname "$0")/{}"', 'ROOT=.; . "$ROOT/{}"'])
    return path, spelled.format(path)


def _export(draw: random.Random) -> str:
    return draw.choice(
        [f"export {CONNECTIONS}=1", f"export {CONNECTIONS}='1'", f"export OMP_NUM_THREADS=1 {CONNECTIONS}=1"]
    )


def shared_variable(draw: random.Random) -> Project:
    path, line = _env_file(draw)
    source = line if "dirname" not in line else f"source {path}"
    language, files, user = second_user_of_shell(draw, source, TP)
    fsdp = f"{LAUNCH} {FSDP} --ckpt-format fsdp_dtensor"
    if draw.random() < 0.5:
        fsdp = fsdp.replace(" --", " \\\n    --")
    files |= {path: f"{_export(draw)}\nexport NCCL_DEBUG=INFO\n", "a.sh": f"#!/bin/bash\n{line}\n{fsdp}\n"}
    lint = draw.choice([["a.sh", path], ["."], ["a.sh"]])
    if lint == ["."] and language == "shell":
        lint = ["a.sh", path]
    return Project("shared variable", language, files, lint, ["bash a.sh"], f"{CONNECTIONS}=1", user)


def shared_words(draw: random.Random) -> Project:
    path, line = _env_file(draw)
    source = line if "dirname" not in line else f"source {path}"
    name = draw.choice(["COMMON", "TRAIN_ARGS", "CKPT"])
    rest = draw.choice(["", " --save /ckpt", " --seq-length 4096"])
    array = draw.random() < 0.5
    text = f"{name}=(--ckpt-format torch_dist{rest})\n" if array else f'{name}="--ckpt-format torch_dist{rest}"\n'
    use = f'"${{{name}[@]}}"' if array else f"${name}"
    language, files, user = second_user_of_shell(draw, source, f"{LAUNCH} {use}")
    order = draw.choice([f"{use} {FSDP}", f"{FSDP} {use}"])
    files |= {path: text, "a.sh": f"#!/bin/bash\n{line}\n{LAUNCH} --save /ckpt {order}\n"}
    lint = draw.choice([["a.sh", path], ["a.sh"]])
    return Project("shared words", language, files, lint, ["bash a.sh"], "ckpt_format=torch_dist", user)


def shared_function(draw: random.Random) -> Project:
    path, line = _env_file(draw)
    source = line if "dirname" not in line else f"source {path}"
    language, files, user = second_user_of_shell(draw, source, "launch --bf16")
    body = f'launch() {{\n    {LAUNCH} --ckpt-format torch_dist --save /ckpt "$@"\n}}\n'
    files |= {path: body, "a.sh": f"#!/bin/bash\n{line}\nlaunch {FSDP}\n"}
    lint = draw.choice([["a.sh", path], ["a.sh"]])
    return Project("shared function", language, files, lint, ["bash a.sh"], "ckpt_format=torch_dist", user)


def variable_read(draw: random.Random) -> Project:
    fsdp = f"{LAUNCH} {FSDP} --ckpt-format fsdp_dtensor"
    export = (
        _export(draw)
        if draw.random() < 0.7
        else draw.choice([f"declare -x {CONNECTIONS}=1", f'eval "export {CONNECTIONS}=1"'])
    )
    files: dict[str, str] = {}
    language = draw.choice(
        ["echo", "must be set", "child script", "child Python", "Python in a string", "after", "conditional"]
    )
    before, after = "", ""
    match language:
        case "echo":
            before = f"set -u\necho connections ${CONNECTIONS}\n"
        case "must be set":
            before = f": ${{{CONNECTIONS}:?}}\necho user there\n"
        case "child script":
            files["plain.sh"] = f"#!/bin/bash\n{TP}\n"
            before, after = draw.choice([("", "bash plain.sh\n"), ("bash plain.sh\n", "")])
        case "child Python":
            files["eval.py"] = f"import os\n\nprint('user', os.environ['{CONNECTIONS}'])\n"
            before, after = draw.choice([("", "python eval.py\n"), ("python eval.py\n", "")])
        case "Python in a string":
            after = f'python -c \'import os; print("user", os.environ["{CONNECTIONS}"])\'\n'
        case "after":
            after = f"{TP}\n"
        case "conditional":
            after = f'if [ "${{{CONNECTIONS}}}" = 1 ]; then echo user tuned; fi\n'
    files["run.sh"] = f"#!/bin/bash\n{export}\n{before}{fsdp}\n{after}"
    user = "bash run.sh | grep -v use_megatron_fsdp=True"
    return Project(
        "variable read",
        language,
        files,
        ["run.sh"],
        ["bash run.sh | grep use_megatron_fsdp=True"],
        f"{CONNECTIONS}=1",
        user,
    )


def helper_out_of_sight(draw: random.Random) -> Project:
    """Draw a helper that several modules may call, of which one turns FSDP on."""
    module = draw.choice(["ckpt", "helpers", "base", "common"])
    name = draw.choice(["base_config", "small", "with_checkpoints"])
    style = draw.choice(["function", "parameter", "in place"])
    if style == "function":
        helper = f'{RECIPE}\n\ndef {name}():\n    cfg = upstream()\n    cfg.checkpoint.ckpt_format = "torch_dist"\n    return cfg\n'
        train = f"from {module} import {name}\n\n\ndef train():\n    cfg = {name}()\n    cfg.ddp.use_megatron_fsdp = True\n    return cfg\n"
        body = f"cfg = {name}()\nprint(cfg.checkpoint.ckpt_format)\n"
    elif style == "parameter":
        helper = f'{RECIPE}\n\ndef {name}(fsdp=False):\n    cfg = upstream()\n    cfg.ddp.use_megatron_fsdp = fsdp\n    cfg.checkpoint.ckpt_format = "torch_dist"\n    return cfg\n'
        train = f"from {module} import {name}\n\n\ndef train():\n    cfg = {name}(fsdp=True)\n    return cfg\n"
        body = f"cfg = {name}()\nprint(cfg.checkpoint.ckpt_format, cfg.ddp.use_megatron_fsdp)\n"
    else:
        helper = f'def {name}(cfg):\n    cfg.checkpoint.ckpt_format = "torch_dist"\n    cfg.checkpoint.save = cfg.checkpoint.load = "/ckpt"\n'
        train = f"{RECIPE}from {module} import {name}\n\n\ndef train():\n    cfg = upstream()\n    cfg.ddp.use_megatron_fsdp = True\n    {name}(cfg)\n    return cfg\n"
        body = f"from types import SimpleNamespace as N\ncfg = N(checkpoint=N())\n{name}(cfg)\nprint(cfg.checkpoint.ckpt_format)\n"
    language, files, user = second_user_of_python(draw, module, f"from {module} import {name}", body)
    if language == "YAML" and style == "in place":
        files, user, language = (
            {"plain.ipynb": notebook(f"from {module} import {name}", body)},
            "run_notebook plain.ipynb",
            "notebook",
        )
    files |= {f"{module}.py": helper, "train.py": train}
    lint = draw.choice([["train.py", f"{module}.py"], [f"{module}.py", "train.py"]])
    return Project(
        "helper",
        language,
        files,
        lint,
        ["show train.train"],
        "ckpt_format=torch_dist",
        user,
        repository=draw.random() < 0.8,
    )


def shared_constant(draw: random.Random) -> Project:
    module = draw.choice(["consts", "common", "settings", "defaults"])
    name = draw.choice(["FMT", "CKPT_FORMAT", "FORMAT"])
    imports = draw.choice([f"from {module} import {name}", f"from {module} import {name} as given"])
    used = imports.split()[-1]
    body = draw.choice([f'print("convert" if {used} == "torch_dist" else "copy")\n', f"print('--loader', {used})\n"])
    language, files, user = second_user_of_python(draw, module, imports, body)
    take = draw.choice([(f"from {module} import {name}", name), (f"import {module}", f"{module}.{name}")])
    files |= {
        f"{module}.py": f'{name} = "torch_dist"\nWIDTH = 8\n',
        "train.py": f"{RECIPE}{take[0]}\n\n\ndef train():\n    cfg = upstream()\n    cfg.ddp.use_megatron_fsdp = True\n    cfg.checkpoint.ckpt_format = {take[1]}\n    return cfg\n",
    }
    return Project(
        "constant",
        language,
        files,
        draw.choice([["train.py", f"{module}.py"], ["train.py"]]),
        ["show train.train"],
        "ckpt_format=torch_dist",
        user,
    )


def shared_default(draw: random.Random) -> Project:
    """Draw a default of a dataclass, of a parser or of a parameter that others take as well."""
    style = draw.choice(["dataclass", "parser", "parameter", "class attribute"])
    module = draw.choice(["common", "options"])
    match style:
        case "dataclass":
            shared = 'from dataclasses import dataclass\n\n\n@dataclass\nclass Options:\n    fmt: str = "torch_dist"\n    width: int = 8\n'
            name, value = "Options", "Options().fmt"
        case "class attribute":
            shared = 'class Options:\n    fmt = "torch_dist"\n'
            name, value = "Options", "Options.fmt"
        case "parser":
            shared = 'import argparse\n\n\ndef parser():\n    made = argparse.ArgumentParser()\n    made.add_argument("--fmt", default="torch_dist")\n    return made\n'
            name, value = "parser", "parser().parse_args([]).fmt"
        case _:
            shared = 'def chosen(fmt="torch_dist"):\n    return fmt\n'
            name, value = "chosen", "chosen()"
    language, files, user = second_user_of_python(draw, module, f"from {module} import {name}", f"print({value})\n")
    files |= {
        f"{module}.py": shared,
        "train.py": f"{RECIPE}from {module} import {name}\n\n\ndef train():\n    cfg = upstream()\n    cfg.ddp.use_megatron_fsdp = True\n    cfg.checkpoint.ckpt_format = {value}\n    return cfg\n",
    }
    return Project(
        f"default of a {style}",
        language,
        files,
        ["train.py", f"{module}.py"],
        ["show train.train"],
        "ckpt_format=torch_dist",
        user,
    )


def array_twice(draw: random.Random) -> Project:
    name = draw.choice(["ARGS", "TRAIN"])
    style = draw.choice(["slice", "replaced", "word given twice", "whole twice"])
    words = f"--ckpt-format torch_dist --save /ckpt {FSDP}"
    match style:
        case "slice":
            head = f"{name}=({words})\n"
            fsdp, user = f'{LAUNCH} "${{{name}[@]}}"\n', f'echo user "${{{name}[@]:0:4}}"\n'
        case "replaced":
            head = f"{name}=({words})\n"
            fsdp, user = f'{LAUNCH} "${{{name}[@]}}"\n', f'echo user "${{{name}[@]/--use-megatron-fsdp/}}"\n'
        case "word given twice":
            head = "FMT=torch_dist\n"
            fsdp, user = f"{LAUNCH} {FSDP} --save /ckpt --ckpt-format $FMT\n", "python convert.py --loader $FMT\n"
        case _:
            head = f"{name}=(--ckpt-format torch_dist --save /ckpt)\n"
            fsdp, user = f'{LAUNCH} "${{{name}[@]}}" {FSDP}\n', f'echo user "${{{name}[@]}}"\n'
    files = {"run.sh": f"#!/bin/bash\n{head}{fsdp}{user}", "convert.py": "import sys\nprint('user', sys.argv[1:])\n"}
    return Project(
        f"array: {style}",
        "shell",
        files,
        ["run.sh"],
        ["bash run.sh | grep use_megatron_fsdp=True"],
        "ckpt_format=torch_dist",
        "bash run.sh | grep '^user'",
    )


def two_ways(draw: random.Random) -> Project:
    """Draw a recipe with several ways to its end, every one of them at fault."""
    enable = draw.random() < 0.3
    on = "" if enable else "    cfg.ddp.use_megatron_fsdp = True\n"
    more = "        cfg.model.num_layers = 80\n"
    style = draw.choice(["early return", "else", "match", "try"])
    match style:
        case "early return":
            body = f"    if big:\n{more}        return cfg\n    return cfg\n"
        case "else":
            body = f"    if big:\n{more}        return cfg\n    else:\n        return cfg\n"
        case "match":
            body = f"    match big:\n        case True:\n    {more}            return cfg\n    return cfg\n"
        case _:
            body = f"    if big:\n        try:\n    {more}            return cfg\n        finally:\n            print('made')\n    return cfg\n"
    where = draw.choice(["before", "written", "elsewhere"])
    written = '    cfg.checkpoint.ckpt_format = "torch_dist"\n' if where == "written" else ""
    default = draw.choice(["big", "big=False", "big: bool = True"])
    files = {
        "train.py": f"{RECIPE}\n\ndef train({default}):\n    cfg = upstream()\n{written}{on}{body}",
        "plain.py": "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n\nprint(llama3_8b_pretrain_config().checkpoint.ckpt_format)\n",
    }
    if where == "elsewhere" and not enable:
        # The line that turns it on is in a file that is not to be edited.
        files["base.py"] = f"{RECIPE}\n\ndef sharded():\n    cfg = upstream()\n{on}    return cfg\n"
        files["train.py"] = f"from base import sharded\n\n\ndef train({default}):\n    cfg = sharded()\n{body}"
    return Project(
        "two ways" + (" (enable)" if enable else ""),
        "Python",
        files,
        ["train.py"],
        ["show 'train.train(True)'", "show 'train.train(False)'"],
        "use_megatron_fsdp=False" if enable else "ckpt_format=torch_dist",
        "python plain.py",
        enable="train.py::train" if enable else "",
    )


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


KINDS: tuple[Draw, ...] = (
    shared_variable,
    shared_words,
    shared_function,
    variable_read,
    helper_out_of_sight,
    shared_constant,
    shared_default,
    array_twice,
    two_ways,
    shared_yaml,
)
