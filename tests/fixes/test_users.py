"""A fix changes nobody else: who uses the edited text, in whatever language, keeps it, or the fix is made elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from mfsdp_lint.cli import main

LAUNCH = "torchrun --nproc_per_node 8 pretrain_gpt.py"
REST = "--use-distributed-optimizer --data-parallel-sharding-strategy optim_grads_params"
GOOD = f"{LAUNCH} --use-megatron-fsdp {REST} --ckpt-format fsdp_dtensor"
NAME = "CUDA_DEVICE_MAX_CONNECTIONS"
EXPORT = f"export {NAME}=1\n"

Fixed = Callable[..., dict[str, str]]


@pytest.fixture
def fixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Fixed:
    """The files that `--fix` changes in a repository, and their new texts; twice, which has to change nothing more."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()

    def fix(files: Mapping[str, str], *lint: str) -> dict[str, str]:
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        found: list[dict[str, str]] = []
        for _ in range(2):
            main(["--no-cache", "--target-bridge", "0.3.1", "--fix", *lint])
            now = {path: (tmp_path / path).read_text() for path in files}
            found.append({path: text for path, text in now.items() if text != files[path]})
        capsys.readouterr()
        assert found[0] == found[1]
        return found[0]

    return fix


SOURCING = {
    "another script": ("b.sh", f". ./env.sh\n{LAUNCH} --tensor-model-parallel-size 2\n"),
    "a Makefile": ("Makefile", f"eval:\n\t. ./env.sh && {LAUNCH}\n"),
    "a pipeline": ("ci.yaml", f"steps:\n  - run: source env.sh && {LAUNCH}\n"),
    "a script without a suffix": ("plain", f"#!/bin/bash\nsource env.sh\n{LAUNCH}\n"),
    "a program": ("plain.py", 'import subprocess\nsubprocess.run(["bash", "-c", ". ./env.sh && run"])\n'),
}


@pytest.mark.parametrize(("path", "text"), SOURCING.values(), ids=SOURCING)
def test_a_variable_stays_where_somebody_else_sources_it(fixed: Fixed, path: str, text: str) -> None:
    files = {"env.sh": EXPORT, "a.sh": f"source env.sh\n{GOOD}\n", path: text}
    changed = fixed(files, "a.sh", "env.sh")
    assert changed.keys() == {"a.sh"}


def test_a_variable_is_taken_out_where_nobody_else_has_it(fixed: Fixed) -> None:
    files = {
        "env.sh": f"{EXPORT}export NCCL_DEBUG=INFO\n",
        "a.sh": f"source env.sh\n{GOOD}\n",
        "README.md": "Variables are in `env.sh`.\n",
        "Makefile": "train:\n\tbash a.sh  # sets what env.sh says\n",
    }
    assert fixed(files, "a.sh", "env.sh") == {"env.sh": "export NCCL_DEBUG=INFO\n"}


READING = {
    "the script itself": "echo $" + NAME,
    "a test": f": ${{{NAME}:?}}",
    "another launch": f"{LAUNCH} --tensor-model-parallel-size 2",
    "a script that inherits it": "bash plain.sh",
    "a program that inherits it": "python eval.py",
}


@pytest.mark.parametrize("line", READING.values(), ids=READING)
def test_a_variable_that_is_read_is_left_out_of_one_command_alone(fixed: Fixed, line: str) -> None:
    assert fixed({"a.sh": f"{EXPORT}{GOOD}\n{line}\n"}, "a.sh") == {
        "a.sh": f"{EXPORT}env -u {NAME} {GOOD}\n{line}\n",
    }


@pytest.mark.parametrize("line", [f"declare -x {NAME}=1", f"export {NAME}=1 # needed"])
def test_nothing_is_left_of_a_declaration(fixed: Fixed, line: str) -> None:
    assert fixed({"a.sh": f"{line}\n{GOOD}\n"}, "a.sh") == {"a.sh": f"{GOOD}\n"}


def test_no_declaration_is_left_that_would_print_every_variable(fixed: Fixed) -> None:
    script = f'eval "export {NAME}=1"\n{GOOD}\n'
    assert f'eval "export {NAME}=1"' in fixed({"a.sh": script}, "a.sh").get("a.sh", script)


BAD = f"{LAUNCH} --use-megatron-fsdp {REST} --save /c --ckpt-format"
TWICE = {
    "a part of an array": ("ARGS=(--ckpt-format torch_dist --save /c)", '"${ARGS[@]}"', 'echo "${ARGS[@]:0:2}"'),
    "a variable given to another program": ("F=torch_dist", "--save /c --ckpt-format $F", "python convert.py --to $F"),
}


@pytest.mark.parametrize(("head", "words", "other"), TWICE.values(), ids=TWICE)
def test_words_that_are_used_twice_stay(fixed: Fixed, head: str, words: str, other: str) -> None:
    script = f"{head}\n{LAUNCH} {words} --use-megatron-fsdp {REST}\n{other}\n"
    changed = fixed({"a.sh": script}, "a.sh")["a.sh"]
    assert changed.startswith(f"{head}\n")
    assert changed.endswith(f"{other}\n")
    assert "fsdp_dtensor" in changed


UPSTREAM = "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n"
TRAIN = f"""\
from consts import FMT
{UPSTREAM}

def train():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.average_in_collective = False
    cfg.checkpoint.ckpt_format = FMT
    return cfg
"""
CELL = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
NOTEBOOK = {
    "cells": [{**CELL, "source": ["from consts import FMT\n", "print(FMT)\n"]}],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}
TAKING = {
    "a program that compares it": ("export.py", "from consts import FMT\n\nprint(FMT == 'torch_dist')\n"),
    "under another name": ("export.py", "from consts import FMT as given\n\nprint(given)\n"),
    "a notebook": ("plain.ipynb", json.dumps(NOTEBOOK)),
    "what does not parse": ("plain.py", "from consts import FMT\nprint FMT\n"),
    "a script without a suffix": ("plain", "#!/usr/bin/env python3\nfrom consts import FMT\nprint(FMT)\n"),
    "code in a script": ("plain.sh", "python -c 'from consts import FMT; print(FMT)'\n"),
    "code that loads the file": (
        "plain.py",
        "from importlib.util import spec_from_file_location as of\nm = made(of('m', 'consts.py'))\nprint(m.FMT)\n",
    ),
    "a configuration that names it": ("plain.yaml", "fmt:\n  _target_: consts.FMT\n"),
}


@pytest.mark.parametrize(("path", "text"), TAKING.values(), ids=TAKING)
def test_a_constant_stays_where_somebody_else_takes_it(fixed: Fixed, path: str, text: str) -> None:
    changed = fixed({"consts.py": 'FMT = "torch_dist"\n', "train.py": TRAIN, path: text}, "train.py", "consts.py")
    assert changed.keys() == {"train.py"}
    assert '"fsdp_dtensor"' in changed["train.py"]


def test_a_constant_is_changed_where_nobody_else_takes_it(fixed: Fixed) -> None:
    files = {
        "consts.py": 'FMT = "torch_dist"\n',
        "train.py": TRAIN,
        "other.py": 'FMT = "other"\nprint(FMT)\n',
        "notes.yaml": "consts: none\n",
    }
    assert fixed(files, "train.py", "consts.py") == {"consts.py": 'FMT = "fsdp_dtensor"\n'}


def test_who_holds_a_fix_back_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    recipe = TRAIN.replace("from consts import FMT\n", "").replace("FMT", '"torch_dist"')
    (tmp_path / "ckpt.py").write_text(recipe)
    (tmp_path / "plain").write_text("#!/usr/bin/env python3\nfrom ckpt import train\n\ncfg = train()\n")
    main(["--no-cache", "--target-bridge", "0.3.1", "--output-format", "json", "--show-fixes", "ckpt.py"])
    found = json.loads(capsys.readouterr().out)["findings"]
    assert next(each["no_fix"] for each in found if each["code"] == "MFSDP101") == "held back: plain uses ckpt"


def test_every_way_to_a_recipes_end_is_fixed(fixed: Fixed) -> None:
    base = (
        f"{UPSTREAM}\n\ndef sharded():\n    cfg = llama3_8b_pretrain_config()\n    cfg.ddp.use_megatron_fsdp = True\n"
    )
    base += "    cfg.ddp.average_in_collective = False\n    return cfg\n"
    train = "from base import sharded\n\n\ndef train(big=False):\n    cfg = sharded()\n    if big:\n"
    train += "        cfg.model.num_layers = 80\n{0}        return cfg\n{1}    return cfg\n"
    line = 'cfg.checkpoint.ckpt_format = "fsdp_dtensor"\n'
    changed = fixed({"base.py": base, "train.py": train.format("", "")}, "train.py")
    said = changed["train.py"].replace("'", '"')
    assert said == train.format(f"        {line}", f"    {line}")


def test_a_section_that_another_one_shares_stays(fixed: Fixed) -> None:
    text = "plain: &plain\n  ckpt_format: torch_dist\n  save: /c\n  load: /c\n"
    text += "ddp:\n  use_megatron_fsdp: true\ncheckpoint:\n  <<: *plain\n"
    assert fixed({"train.yaml": text}, "train.yaml") == {"train.yaml": f"{text}  ckpt_format: fsdp_dtensor\n"}


def test_a_file_that_somebody_else_reads_stays(fixed: Fixed) -> None:
    files = {
        "base.yaml": "checkpoint:\n  ckpt_format: torch_dist\n",
        "train.py": TRAIN.replace("from consts import FMT", "import yaml").replace(
            "FMT", "yaml.safe_load(open('base.yaml'))['checkpoint']['ckpt_format']"
        ),
        "Makefile": "convert:\n\tgrep ckpt_format base.yaml\n",
    }
    assert fixed(files, "train.py", "base.yaml").keys() == {"train.py"}


GIVEN = {
    "a container's option": (f"docker run -e {NAME}=1 -e A=b image {{}}", "docker run -e A=b image {}"),
    "on a line of its own": (f"docker run \\\n    --env {NAME}=1 \\\n    image {{}}", "docker run \\\n    image {}"),
    "MPI's option": (f"mpirun -x {NAME}=1 -x A=b {{}}", "mpirun -x A=b {}"),
    "the last of a list": (f"srun --export=ALL,{NAME}=1 {{}}", "srun --export=ALL {}"),
    "the first of a list": (f"srun --export={NAME}=1,A=b {{}}", "srun --export=A=b {}"),
    "env": (f"env {NAME}=1 {{}}", "{}"),
    "env with another one": (f"env {NAME}=1 A=b {{}}", "env A=b {}"),
}


@pytest.mark.parametrize(("before", "after"), GIVEN.values(), ids=GIVEN)
def test_a_variable_that_a_command_is_given_is_taken_out(fixed: Fixed, before: str, after: str) -> None:
    assert fixed({"a.sh": before.format(GOOD) + "\n"}, "a.sh") == {"a.sh": after.format(GOOD) + "\n"}


def test_a_variable_of_a_container_is_taken_out(fixed: Fixed) -> None:
    head = "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n    - name: train\n      env:\n"
    variable = f'        - name: {NAME}\n          value: "1"\n'
    rest = f'        - name: A\n          value: b\n      command: ["bash", "-c", "{GOOD}"]\n'
    assert fixed({"pod.yaml": head + variable + rest}, "pod.yaml") == {"pod.yaml": head + rest}


def test_an_assignment_does_not_stand_in_a_loop_that_it_does_not_depend_on(fixed: Fixed) -> None:
    recipe = f"{UPSTREAM}\n\ndef train(names):\n    cfg = llama3_8b_pretrain_config()\n    for name in ('a', 'b'):\n"
    recipe += "        print(name)\n        cfg.ddp.use_megatron_fsdp = True\n"
    line = '    cfg.checkpoint.ckpt_format = "fsdp_dtensor"\n'
    changed = fixed({"train.py": f"{recipe}    return cfg\n"}, "train.py")["train.py"]
    assert changed.replace("'fsdp_dtensor'", '"fsdp_dtensor"').startswith(f"{recipe}{line}")
