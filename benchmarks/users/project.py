"""A drawn project: its files, the run at fault, and the second user whom the fix must not change."""

from __future__ import annotations

import json
import random
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

RECIPE = "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config as upstream\n"
CONNECTIONS = "CUDA_DEVICE_MAX_CONNECTIONS"
FSDP = "--use-megatron-fsdp --use-distributed-optimizer --data-parallel-sharding-strategy optim_grads_params"
LAUNCH = "torchrun --nproc_per_node 8 pretrain_gpt.py"
TP = f"{LAUNCH} --tensor-model-parallel-size 2 --sequence-parallel"

Draw = Callable[[random.Random], "Project"]
"""A class of traps draws a project."""


@dataclass(frozen=True)
class Project:
    """A project with a mistake in one run, and with another user of the text that makes it.

    `kind` is the class of trap, `language` that of the second user. `lint` are the words behind `--fix`. `at_fault` are
    commands of the run at fault, one for every value of its parameters, which print `wrong` before; `user` is the
    command of the second user. `fixable` is false where nothing local would help.
    """

    kind: str
    language: str
    files: Mapping[str, str]
    lint: Sequence[str]
    at_fault: Sequence[str]
    wrong: str
    user: str
    fixable: bool = True
    unsafe: bool = False
    enable: str = ""
    repository: bool = True

    def __str__(self) -> str:
        return f"{self.kind}, used in {self.language}"


def notebook(*cells: str) -> str:
    """Return a notebook with these cells."""
    made = [
        {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": cell.splitlines(True)}
        for cell in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def second_user_of_shell(draw: random.Random, line: str, work: str) -> tuple[str, dict[str, str], str]:
    """Return the language of a user that runs a line of shell before its work, its files and the command for it."""
    language = draw.choice(
        ["shell", "shell", "shell", "Makefile", "Dockerfile", "YAML", "notebook", "Python", "no suffix"]
    )
    match language:
        case "shell":
            name = draw.choice(["plain.sh", "b.sh", "eval_tp.sh"])
            return language, {name: f"#!/bin/bash\n{line}\n{work}\n"}, f"bash {name}"
        case "Makefile":
            said = f"{line} && {work}".replace("$", "$$")
            return language, {"Makefile": f"plain:\n\t{said}\n"}, "make -s plain SHELL=/bin/bash"
        case "Dockerfile":
            text = f"FROM nvcr.io/nvidia/pytorch\nRUN {line} && {work}\n"
            return language, {"Dockerfile": text}, "sed -n 's/^RUN //p' Dockerfile > .run && bash .run"
        case "YAML":
            text = f"steps:\n  - name: plain\n    run: |\n      {line}\n      {work}\n"
            return language, {"ci.yaml": text}, "run_yaml ci.yaml"
        case "notebook":
            return language, {"plain.ipynb": notebook(f"%%bash\n{line}\n{work}\n")}, "run_notebook plain.ipynb"
        case "Python":
            text = (
                f'import subprocess\n\nsubprocess.run(["bash", "-c", {json.dumps(line + " && " + work)}], check=True)\n'
            )
            return language, {"plain.py": text}, "python plain.py"
        case _:
            return language, {"plain": f"#!/usr/bin/env bash\n{line}\n{work}\n"}, "bash plain"


def second_user_of_python(
    draw: random.Random, module: str, imports: str, body: str, *, seen: bool = True
) -> tuple[str, dict[str, str], str]:
    """Return the language of a user that imports from a module, its files and the command for it.

    `body` may use what `imports` binds. With `seen` a plain Python file is among the languages.
    """
    languages = [
        "notebook",
        "not parsed",
        "no suffix",
        "python -c",
        "loaded by path",
        "another folder",
        "YAML",
        "Makefile",
        "here-document",
        "run by path",
        "imported by name",
        "star",
        "getattr",
        "Dockerfile",
    ]
    language = draw.choice([*languages, *(["Python"] * 6 if seen else [])])
    text = f"{imports}\n{body}"
    if language == "YAML" and "_target_" not in imports:
        name = imports.split(" import ")[1].split(" as ")[0].strip()
        target = draw.choice(["_target_", "factory"])
        key = f"{module.replace('/', '.')}.{name}"
        return language, {"plain.yaml": f"plain:\n  {target}: {key}\n"}, "run_target plain.yaml " + shlex.quote(body)
    match language:
        case "Python":
            return language, {"plain.py": text}, "python plain.py"
        case "notebook":
            return language, {"plain.ipynb": notebook(imports, body)}, "run_notebook plain.ipynb"
        case "not parsed":
            return language, {"plain.py": f"{text}width = {{% width %}}\n"}, "run_template plain.py"
        case "no suffix":
            return language, {"plain": f"#!/usr/bin/env python3\n{text}"}, "python plain"
        case "python -c":
            line = f"python -c '{text.replace(chr(39), chr(34))}'"
            return language, {"plain.sh": f"#!/bin/bash\n{line}\n"}, "bash plain.sh"
        case "Makefile":
            one = "; ".join(each for each in text.replace("'", '"').splitlines() if each)
            if "\n " in text or one.endswith(":"):
                return (
                    "python -c",
                    {"plain.sh": f"#!/bin/bash\npython -c '{text.replace(chr(39), chr(34))}'\n"},
                    "bash plain.sh",
                )
            return language, {"Makefile": f"plain:\n\t@python -c '{one}'\n"}, "make -s plain"
        case "here-document":
            return language, {"plain.sh": f"#!/bin/bash\npython - <<'END'\n{text}END\n"}, "bash plain.sh"
        case "Dockerfile" if "\n " not in text:
            one = "; ".join(each for each in text.replace("'", '"').splitlines() if each)
            run = f"FROM nvcr.io/nvidia/pytorch\nRUN python -c '{one}'\n"
            return language, {"Dockerfile": run}, "sed -n 's/^RUN //p' Dockerfile > .run && bash .run"
        case "run by path" | "imported by name" | "getattr":
            name = imports.split(" import ")[1].strip()
            real, _, given = name.partition(" as ")
            load = {
                "run by path": f"import runpy\n{given or real} = runpy.run_path('{module}.py')['{real}']\n",
                "imported by name": f"import importlib\n{given or real} = importlib.import_module('{module}').{real}\n",
                "getattr": f"import {module}\n{given or real} = getattr({module}, '{real}')\n",
            }[language]
            return language, {"plain.py": load + body}, "python plain.py"
        case "star" if " as " not in imports:
            return language, {"plain.py": f"from {module} import *\n{body}"}, "python plain.py"
        case "loaded by path":
            name = imports.split(" import ")[1].strip()
            real, _, given = name.partition(" as ")
            load = (
                "import importlib.util\n"
                f"spec = importlib.util.spec_from_file_location('loaded', '{module}.py')\n"
                "loaded = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(loaded)\n"
                f"{given or real} = loaded.{real}\n"
            )
            return language, {"plain.py": load + body}, "python plain.py"
        case _:
            path = "tools/plain.py"
            start = "import os, sys\nsys.path.insert(0, os.getcwd())\n"
            return language, {path: start + text}, f"python {path}"
