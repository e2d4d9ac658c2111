"""A fix changes nobody else: who uses the edited text, in whatever language, keeps it, or the fix is made elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mfsdp_lint.cli import main
from tests.fixes.conftest import Fixed

LAUNCH = "torchrun --nproc_per_node 8 pretrain_gpt.py"
REST = "--use-distributed-optimizer --data-parallel-sharding-strategy optim_grads_params"
GOOD = f"{LAUNCH} --use-megatron-fsdp {REST} --ckpt-format fsdp_dtensor"
NAME = "CUDA_DEVICE_MAX_CONNECTIONS"
EXPORT = f"export {NAME}=1\n"

SOURCING = {
    "another script": ("b.sh", f". ./env.sh\n{LAUNCH} --tensor-model-parallel-size 2\n"),
    "a Makefile": ("Makefile", f"eval:\n\t. ./env.sh && {LAUNCH}\n"),
    "a pipeline": ("ci.yaml", f"steps:\n  - run: source env.sh && {LAUNCH}\n"),
    "a script without a suffix": ("plain", f"#!/bin/bash\nsource env.sh\n{LAUNCH}\n"),
    "a program": ("plain.py", 'import subprocess\nsubprocess.run(["bash", "-c", ". ./env.sh && run"])\n'),
    "a pipeline whose name is hidden": (".gitlab-ci.yml", "a:\n  script:\n    - source env.sh && ./legacy\n"),
}


@pytest.mark.parametrize(("path", "text"), SOURCING.values(), ids=SOURCING)
def test_a_variable_stays_where_somebody_else_sources_it(fixed: Fixed, path: str, text: str) -> None:
    files = {"env.sh": EXPORT, "a.sh": f"source env.sh\n{GOOD}\n", path: text}
    changed = fixed(files, "a.sh", "env.sh")
    assert changed.keys() == {"a.sh"}


WRITTEN = ["--ckpt-format $FMT", '--ckpt-format "${FMT}"', "--ckpt-format=$FMT", "--ckpt-format \\\n  $FMT"]


@pytest.mark.parametrize("words", WRITTEN)
def test_a_command_says_the_value_itself_where_somebody_else_has_the_variable(fixed: Fixed, words: str) -> None:
    files = {
        "env.sh": "FMT=torch_dist\n",
        "a.sh": f". ./env.sh\n{LAUNCH} --use-megatron-fsdp {REST} --save /c {words} --bf16\n",
        "b.sh": f". ./env.sh\n{LAUNCH} --save /c --ckpt-format $FMT\n",
    }
    said = words.replace("${FMT}", "fsdp_dtensor").replace("$FMT", "fsdp_dtensor")
    assert fixed(files, ".") == {"a.sh": files["a.sh"].replace(words, said)}


@pytest.mark.parametrize("word", ["$COMMON", "--ckpt-format ${FMT:-torch_dist}"])
def test_a_flag_is_added_where_words_of_others_or_a_default_decide(fixed: Fixed, word: str) -> None:
    files = {
        "env.sh": 'FMT=torch_dist\nCOMMON="--seed 1 --ckpt-format torch_dist"\n',
        "a.sh": f". ./env.sh\n{LAUNCH} --use-megatron-fsdp {REST} --save /c {word}\n",
        "b.sh": f". ./env.sh\n{LAUNCH} --save /c --ckpt-format $FMT $COMMON\n",
    }
    assert fixed(files, ".") == {"a.sh": f"{files['a.sh'].rstrip()} --ckpt-format fsdp_dtensor\n"}


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
    "a program on every rank": "srun --ntasks-per-node=8 /opt/nccl-tests/build/all_reduce_perf -b 2G",
    "a program of somebody's own": "/opt/health/check --all",
}


@pytest.mark.parametrize("line", ["srun mkdir -p /tmp/cache", "srun -N 2 hostname", "/usr/bin/date"])
def test_a_tool_that_inherits_a_variable_does_not_read_it(fixed: Fixed, line: str) -> None:
    assert fixed({"a.sh": f"{EXPORT}{GOOD}\n{line}\n"}, "a.sh") == {"a.sh": f"{GOOD}\n{line}\n"}


@pytest.mark.parametrize(
    ("line", "is_fixed"), [("{ cat head.sh; echo --seed 1; } > a.sh", False), ("bash head.sh", True)]
)
def test_a_script_that_others_continue_keeps_its_end(fixed: Fixed, line: str, is_fixed: bool) -> None:
    assert bool(fixed({"head.sh": GOOD, "make.sh": f"{line}\n"}, "head.sh", "--select", "MFSDP913")) is is_fixed


def test_an_option_that_gives_two_settings_is_removed(fixed: Fixed) -> None:
    script = f"{LAUNCH} --use-torch-fsdp2 --untie-embeddings-and-output-weights --no-gradient-accumulation-fusion"
    files = {"a.sh": f"{script} --use-distributed-optimizer --ckpt-format torch_dist\n"}
    assert fixed(files, "--target-bridge", "0.6.0", "a.sh") == {"a.sh": f"{script} --ckpt-format torch_dist\n"}


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
CELL: dict[str, object] = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
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
    "an entry point": ("setup.py", "from setuptools import setup\n\nsetup(entry_points={'x': ['a = consts:FMT']})\n"),
    "a module by a name in a table": (
        "plain.py",
        "import importlib\n\nTABLE = {'a': 'consts'}\nprint(importlib.import_module(TABLE['a']).FMT)\n",
    ),
    "the magic of a notebook": (
        "plain.ipynb",
        json.dumps({**NOTEBOOK, "cells": [{**CELL, "source": ["%run -i consts\n"]}]}),
    ),
    "a program that is given the file": ("convert.sh", "python tools/show.py consts.py\n"),
    "another language": ("plan.lua", 'print(io.open("consts.py"):read("a"))\n'),
    "a program that is named when it runs": ("convert.sh", "for each in consts; do python show.py $each.py; done\n"),
    "an import that a workflow fills in": (
        "ci.yml",
        "matrix: {mod: [consts]}\nrun: python -c 'import ${{ matrix.mod }} as m; print(m.FMT)'\n",
    ),
    "a pattern of names": ("show.py", "from pathlib import Path\n\nprint([*Path().glob('c*.py')])\n"),
    "a list of its folder": ("show.py", "import os\n\nfor each in os.listdir():\n    print(open(each).read())\n"),
    "a name that is put together": ("show.py", "exec(open('consts' + '.py').read())\n"),
}
CONSTANT = {"consts.py": 'FMT = "torch_dist"\n', "train.py": TRAIN, "more.py": TRAIN}


@pytest.mark.parametrize(("path", "text"), TAKING.values(), ids=TAKING)
def test_a_constant_stays_where_somebody_else_takes_it(fixed: Fixed, path: str, text: str) -> None:
    changed = fixed({**CONSTANT, path: text}, *CONSTANT)
    assert changed.keys() == {"train.py", "more.py"}
    assert all('"fsdp_dtensor"' in each for each in changed.values())


CHAINS = {
    "all names": ("from consts import *\n", "from middle import FMT\n\nprint(FMT)\n"),
    "another name": ("from consts import FMT as DEFAULT\n", "import middle\n\nprint(middle.DEFAULT)\n"),
    "the name of the module": (
        "import os\nfrom importlib import import_module\n\nprint(import_module(os.environ['M']).FMT)\n",
        "env: {M: consts}\n",
    ),
}


@pytest.mark.parametrize(("middle", "end"), CHAINS.values(), ids=CHAINS)
def test_a_constant_stays_where_somebody_has_it_through_another_file(fixed: Fixed, middle: str, end: str) -> None:
    last = "end.yml" if end.startswith("env") else "end.py"
    assert fixed({**CONSTANT, "middle.py": middle, last: end}, *CONSTANT).keys() == {"train.py", "more.py"}


def test_a_constant_is_changed_where_nobody_else_takes_it(fixed: Fixed) -> None:
    others = {
        "other.py": 'FMT = "other"\nprint(FMT)\n',
        "notes.yaml": "consts: none\n",
        "CODEOWNERS": "consts.py @me\n",
        "run.sh": "torchrun train.py\npython consts.py\n",
        "show.py": "from pathlib import Path\n\nprint([*Path().glob('t*.py')])\n",
    }
    assert fixed({**CONSTANT, **others}, *CONSTANT) == {"consts.py": 'FMT = "fsdp_dtensor"\n'}


def test_a_constant_in_a_file_of_its_own_stays_where_one_recipe_takes_it(fixed: Fixed) -> None:
    files = {path: text for path, text in CONSTANT.items() if path != "more.py"}
    assert fixed(files, *files).keys() == {"train.py"}


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


TURNED_ON = {
    "by several targets": "cfg.dist.use_megatron_fsdp = cfg.ddp.use_megatron_fsdp = True",
    "by the names of a section": "vars(cfg.ddp).update(use_megatron_fsdp=True)",
}


@pytest.mark.parametrize("line", TURNED_ON.values(), ids=TURNED_ON)
def test_the_way_on_which_a_feature_is_off_stays(fixed: Fixed, line: str) -> None:
    imports = "from megatron.bridge.training.pretrain import pretrain\n"
    off = "\n\nclass Sharding:\n    def __init__(self, on=False):\n        self.on = on\n\n    def to(self, cfg):\n"
    off += "        if not self.on:\n            return cfg\n"
    rest = f"        {line}\n        cfg.checkpoint.ckpt_format = 'fsdp_dtensor'\n        return cfg\n\n\n"
    rest += "pretrain(Sharding(on=True).to(llama3_8b_pretrain_config()), None)\n"
    (changed,) = fixed({"train.py": UPSTREAM + imports + off + rest}, "train.py").values()
    assert changed.startswith(UPSTREAM + imports + off)
    assert changed.count("average_in_collective") == 1


def test_a_comment_inside_of_a_value_stays(fixed: Fixed) -> None:
    recipe = RECIPE.replace('"torch_dist"', "(\n        'torch'  # what we have\n        '_dist'\n    )")
    assert "# what we have\n" in fixed({"ckpt.py": recipe}, "ckpt.py")["ckpt.py"]


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


SOURCING_BY_PATTERN = {
    "a loop over files": 'for each in lib/*.sh; do source "$each"; done',
    "an argument": 'source "lib/$1.sh"',
    "a default": '. lib/"${SITE:-env}".sh',
    "an argument of a function": 'load() { source "lib/$1.sh"; }\nload env',
}


@pytest.mark.parametrize("line", SOURCING_BY_PATTERN.values(), ids=SOURCING_BY_PATTERN)
def test_a_variable_stays_where_somebody_sources_files_by_a_pattern(fixed: Fixed, line: str) -> None:
    files = {"lib/env.sh": EXPORT, "a.sh": f"source lib/env.sh\n{GOOD}\n", "b.sh": f"{line}\npython eval.py\n"}
    assert fixed(files, "a.sh", "lib/env.sh").keys() == {"a.sh"}


SOURCING_OTHERWISE = {
    "the start of every shell": ("Makefile", "t:\n\tBASH_ENV=env.sh bash legacy\n"),
    "a login": ("Dockerfile", 'FROM base\nCOPY env.sh /etc/profile.d/train.sh\nCMD ["bash", "-lc", "./legacy"]\n'),
    "direnv": (".envrc", "source_env ./env.sh\n"),
}


@pytest.mark.parametrize("comment", ["", "  # one queue", " #needed"], ids=["alone", "a comment", "a short comment"])
@pytest.mark.parametrize(("path", "text"), SOURCING_OTHERWISE.values(), ids=SOURCING_OTHERWISE)
def test_a_variable_stays_whatever_runs_its_file(fixed: Fixed, path: str, text: str, comment: str) -> None:
    files = {"env.sh": f"export {NAME}=1{comment}\n", "a.sh": f"source env.sh\n{GOOD}\n", path: text}
    assert fixed(files, "a.sh", "env.sh").keys() == {"a.sh"}


PARTS = {
    "run.sh": f'source "exps/$1.sh"\n{LAUNCH} {REST} "${{STORE[@]}}" "${{HOW[@]}}"\n',
    "exps/a.sh": 'for p in store; do source "parts/$p.sh"; done\nHOW=(--use-megatron-fsdp)\nSTORE+=(--save /c)\n',
    "exps/b.sh": 'for p in store; do source "parts/$p.sh"; done\nHOW=(--bf16)\nSTORE=(--ckpt-format torch_dist)\n',
    "parts/store.sh": "STORE=(--ckpt-format torch_dist)\n",
}


@pytest.mark.parametrize(("using", "is_fixed"), [("exps/a.sh", False), ("exps/b.sh", False), ("c.sh", True)])
def test_a_part_is_for_who_sources_the_scripts_that_source_it(fixed: Fixed, using: str, is_fixed: bool) -> None:
    files = {**PARTS, "show.sh": f'source {using}\npython show.py "${{STORE[@]}}"\n'}
    changed = fixed(files, "run.sh", "exps", "parts")
    assert (changed == {"parts/store.sh": "STORE=(--ckpt-format fsdp_dtensor)\n"}) is is_fixed


TAKING_BY_PATTERN = {
    "make sources it": ("Makefile", "SITE = env\nt:\n\t. lib/$(SITE).sh && ./legacy\n"),
    "make includes it": ("Makefile", "include lib/*.sh\nt:\n\t./legacy\n"),
    "a workflow sources it": (".github/workflows/t.yml", "run: source lib/${{ matrix.site }}.sh && ./legacy\n"),
    "an image has it": ("Dockerfile", "FROM base\nCOPY lib/ /etc/profile.d/\n"),
    "a script joins it": ("join.sh", "cat lib/*.sh > all.sh\n"),
}


@pytest.mark.parametrize(("path", "text"), TAKING_BY_PATTERN.values(), ids=TAKING_BY_PATTERN)
def test_a_variable_stays_where_somebody_takes_files_by_a_pattern(fixed: Fixed, path: str, text: str) -> None:
    files = {"lib/env.sh": EXPORT, "a.sh": f"source lib/env.sh\n{GOOD}\n", path: text}
    assert fixed(files, "a.sh", "lib/env.sh").keys() == {"a.sh"}


def test_what_a_link_leads_to_stays(fixed: Fixed, tmp_path: Path) -> None:
    (tmp_path / "link.sh").symlink_to("lib/env.sh")
    (tmp_path / "other").symlink_to("shared")
    script = {"lib/env.sh": EXPORT, "a.sh": f"source lib/env.sh\n{GOOD}\n", "b.sh": "source link.sh\npython eval.py\n"}
    assert fixed(script, "a.sh", "lib/env.sh").keys() == {"a.sh"}
    train = TRAIN.replace("consts", "shared.consts")
    files = {"shared/consts.py": 'FMT = "torch_dist"\n', "train.py": train, "o.py": "import other.consts\n"}
    assert fixed(files, "train.py", "shared/consts.py").keys() == {"train.py"}


def test_a_link_to_the_repository_itself_holds_nothing_back(fixed: Fixed, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "project").symlink_to("..")
    assert fixed({"env.sh": EXPORT, "a.sh": f"source env.sh\n{GOOD}\n"}, "a.sh", "env.sh").keys() == {"env.sh"}


def test_another_pattern_holds_nothing_back(fixed: Fixed) -> None:
    files = {"lib/env.sh": EXPORT, "a.sh": f"source lib/env.sh\n{GOOD}\n", "b.sh": "source lib/site_$1.sh\nrun\n"}
    assert fixed(files, "a.sh", "lib/env.sh").keys() == {"lib/env.sh"}


JOB = f'resources: {{accelerators: H100:8}}\nenvs:\n  {NAME}: "1"\nrun: |\n'


@pytest.mark.parametrize("other", ["python eval.py", f"echo ${NAME}", "bash plain.sh"])
def test_a_variable_of_a_job_stays_for_its_other_commands(fixed: Fixed, other: str) -> None:
    changed = fixed({"job.yaml": f"{JOB}  {other}\n  {GOOD}\n"}, "job.yaml")
    assert changed["job.yaml"] == f"{JOB}  {other}\n  env -u {NAME} {GOOD}\n"


def test_a_variable_that_a_job_has_for_its_launch_alone_is_taken_out(fixed: Fixed) -> None:
    assert NAME not in fixed({"job.yaml": f"{JOB}  cd work\n  {GOOD}\n"}, "job.yaml")["job.yaml"]


def test_variables_that_services_share_stay(fixed: Fixed) -> None:
    service = "    image: nemo\n    environment: *env\n    command: {}\n"
    text = f'x-env: &env\n  {NAME}: "1"\nservices:\n  eval:\n{service.format("python eval.py")}  train:\n'
    changed = fixed({"compose.yaml": text + service.format(GOOD)}, "compose.yaml")
    assert changed["compose.yaml"] == text + service.format(f"env -u {NAME} {GOOD}")


WORDS = 'COMMON = ["--ckpt-format", "torch_dist", "--save", "/c"]\n'
STARTED = ", ".join(f'"{each}"' for each in REST.split())
RUN = f'subprocess.run(["torchrun", "pretrain_gpt.py", *COMMON, {STARTED}, "--use-megatron-fsdp"])\n'
LOCAL = RUN.replace('"--use-megatron-fsdp"', '"--use-megatron-fsdp", "--ckpt-format", "fsdp_dtensor"')


@pytest.mark.parametrize("use", ["print(COMMON[:2])\n", "convert = 'torch_dist' in COMMON\n"])
def test_words_of_a_launcher_stay_where_it_uses_them_itself(fixed: Fixed, use: str) -> None:
    changed = fixed({"launch.py": f"import subprocess\n{WORDS}{RUN}{use}"}, "launch.py")
    assert changed["launch.py"] == f"import subprocess\n{WORDS}{LOCAL}{use}"


def test_words_that_only_a_launch_has_are_replaced(fixed: Fixed) -> None:
    changed = fixed({"launch.py": f"import subprocess\n{WORDS}{RUN}"}, "launch.py")
    assert changed["launch.py"] == f"import subprocess\n{WORDS.replace('torch_dist', 'fsdp_dtensor')}{RUN}"


def test_words_of_another_module_stay_for_its_other_users(fixed: Fixed) -> None:
    files = {
        "words.py": WORDS,
        "launch.py": f"import subprocess\nfrom words import COMMON\n{RUN}",
        "plain.py": "from words import COMMON\nprint(COMMON)\n",
    }
    changed = fixed(files, "launch.py", "words.py")
    assert changed == {"launch.py": f"import subprocess\nfrom words import COMMON\n{LOCAL}"}


RECIPE = """from megatron.bridge.recipes.llama import llama3_8b_pretrain_config as upstream


def train():
    cfg = upstream()
    cfg.ddp.use_megatron_fsdp = True
    cfg.checkpoint.ckpt_format = "torch_dist"
    return cfg


def other():
    return 1
"""


def test_who_holds_a_fix_back_is_told(fixed: Fixed, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {"ckpt.py": RECIPE, "plain": "#!/usr/bin/env python3\nfrom ckpt import train\n"}
    assert not fixed(files, "ckpt.py")
    main(["--no-cache", "--target-bridge", "0.3.1", "--fix", "ckpt.py"])
    assert "help: the fix is held back: plain uses ckpt\n" in capsys.readouterr().out


def test_who_imports_another_function_holds_nothing_back(fixed: Fixed) -> None:
    files = {"ckpt.py": RECIPE, "plain": "#!/usr/bin/env python3\nfrom ckpt import other\n"}
    assert fixed(files, "ckpt.py").keys() == {"ckpt.py"}


def test_the_summary_says_which_fixes_repair_a_run_that_could_not_start(
    fixed: Fixed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fixed({})
    (tmp_path / "ckpt.py").write_text(RECIPE)
    main(["--no-cache", "--target-bridge", "0.3.1", "--fix", "ckpt.py"])
    assert "2 fixed (1 of a run that could not start)" in capsys.readouterr().out


COMPARING = {
    "a test": "from ckpt import train\n\n\ndef test_format():\n    assert train().checkpoint.ckpt_format == {}\n",
    "a method of a test": (
        "import unittest\nimport ckpt\n\n\nclass Formats(unittest.TestCase):\n    def test_format(self):\n"
        "        self.assertEqual(ckpt.train().checkpoint.ckpt_format, {})\n"
    ),
    "an exporter": "from ckpt import train\nif train().checkpoint.ckpt_format == {}:\n    print('to be converted')\n",
    "a test by a method": (
        "from ckpt import train\n\n\ndef test_format():\n    assert train().checkpoint.ckpt_format.startswith({})\n"
    ),
    "a test by a table": (
        "from ckpt import train\n\nEXPECTED = {{'ckpt_format': {}}}\n\n\ndef test_format():\n"
        "    assert all(getattr(train().checkpoint, name) == value for name, value in EXPECTED.items())\n"
    ),
    "a test by rows": (
        "from ckpt import train\n\nROWS = [('checkpoint.ckpt_format', {})]\n\n\ndef test_format():\n"
        "    for name, value in ROWS:\n        assert getattr(train().checkpoint, name[11:]) == value\n"
    ),
    "a test by a variable": (
        "from ckpt import train\n\n\ndef test_format():\n    got = train().checkpoint.ckpt_format\n"
        "    assert got == {}\n"
    ),
    "a test by the attributes": (
        "from ckpt import train\n\n\ndef test_format():\n    assert vars(train().checkpoint)['ckpt_format'] == {}\n"
    ),
    "a program by cases": (
        "from ckpt import train\n\n\ndef main():\n    match train().checkpoint.ckpt_format:\n"
        "        case {}:\n            print('to be converted')\n"
    ),
    "a program by a table": (
        "from ckpt import train\n\n\ndef main():\n    print({{{}: 'convert'}}[train().checkpoint.ckpt_format])\n"
    ),
}


@pytest.mark.parametrize("text", COMPARING.values(), ids=COMPARING)
def test_who_compares_a_setting_with_its_old_value_holds_the_fix_back(
    fixed: Fixed, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = RECIPE.replace("True", "True\n    cfg.ddp.average_in_collective = False")
    assert not fixed({"ckpt.py": recipe, "test_ckpt.py": text.format("'torch_dist'")}, "ckpt.py")
    main(["--no-cache", "--target-bridge", "0.3.1", "--fix", "ckpt.py"])
    assert "help: the fix is held back: test_ckpt.py compares ckpt_format\n" in capsys.readouterr().out


@pytest.mark.parametrize("text", COMPARING.values(), ids=COMPARING)
def test_who_compares_it_with_the_new_value_does_not(fixed: Fixed, text: str) -> None:
    files = {"ckpt.py": RECIPE, "test_ckpt.py": text.format("'fsdp_dtensor'")}
    assert fixed(files, "ckpt.py").keys() == {"ckpt.py"}


EXPECTING = {
    "in a set": "{'ddp.average_in_collective', 'ddp.use_megatron_fsdp'}",
    "put together": "{f'ddp.{name}' for name in ('use_megatron_fsdp', 'average_in_collective')}",
    "by a variable": "CHANGED",
}
CHANGES = """import ckpt

CHANGED = ["ddp.use_megatron_fsdp", "ddp.average_in_collective"]


def test_changes():
    assert changes(ckpt.train()) == {}
"""


@pytest.mark.parametrize("names", EXPECTING.values(), ids=EXPECTING)
@pytest.mark.parametrize(("rest", "is_fixed"), [("", False), ("_by_another_name", True)])
def test_who_expects_the_names_of_changed_settings_holds_the_fix_back(
    fixed: Fixed, names: str, rest: str, is_fixed: bool
) -> None:
    recipe = RECIPE.replace("True", "True\n    cfg.ddp.average_in_collective = True").replace(
        "torch_dist", "fsdp_dtensor"
    )
    text = CHANGES.format(names).replace("average_in_collective", f"average_in_collective{rest}")
    changed = fixed({"ckpt.py": recipe, "test_ckpt.py": text}, "ckpt.py")
    assert (changed.keys() == {"ckpt.py"}) is is_fixed


LOOKING = {
    "dir": "import consts\n\nfor name in dir(consts):\n    print(name)\n",
    "vars": "import consts as given\n\nprint(vars(given))\n",
    "getattr": "import sys\nimport consts\n\nprint(getattr(consts, sys.argv[1]))\n",
    "the dictionary": "import consts\n\nprint(consts.__dict__)\n",
}


@pytest.mark.parametrize("text", LOOKING.values(), ids=LOOKING)
def test_a_constant_stays_where_somebody_looks_through_its_module(fixed: Fixed, text: str) -> None:
    files = {"consts.py": 'FMT = "torch_dist"\n', "train.py": TRAIN, "export.py": text}
    assert fixed(files, "train.py", "consts.py").keys() == {"train.py"}


def test_a_setting_that_callers_choose_is_not_overruled_in_the_helper(fixed: Fixed) -> None:
    helper = (
        "def save(cfg, fmt):\n    cfg.checkpoint.ckpt_format = fmt\n"
        "    cfg.checkpoint.save = cfg.checkpoint.load = '/c'\n    cfg.logger.wandb_exp_name = f'run-{fmt}'\n"
    )
    train = TRAIN.replace("consts import FMT", "saving import save").replace(
        "cfg.checkpoint.ckpt_format = FMT", 'save(cfg, "torch_dist")'
    )
    changed = fixed({"saving.py": helper, "train.py": train}, "train.py", "saving.py")
    assert changed == {
        "train.py": train.replace("    return", '    cfg.checkpoint.ckpt_format = "fsdp_dtensor"\n    return')
    }


@pytest.mark.parametrize(
    ("head", "rest"),
    [
        pytest.param("F=torch_dist", "declare -p F > /tmp/words", id="printed"),
        pytest.param("F=torch_dist", "name=F\necho ${!name}", id="by a name in another variable"),
        pytest.param(": ${F:=torch_dist}", "python convert.py --to $F", id="a default that is assigned"),
    ],
)
def test_a_variable_of_a_script_stays_where_it_is_used_otherwise(fixed: Fixed, head: str, rest: str) -> None:
    changed = fixed({"a.sh": f"{head}\n{BAD} $F\n{rest}\n"}, "a.sh")
    assert changed == {"a.sh": f"{head}\n{BAD} fsdp_dtensor\n{rest}\n"}


def test_nothing_is_put_between_a_flag_and_its_value(fixed: Fixed) -> None:
    files = {"a.sh": f": ${{F:=torch_dist}}\n{BAD} $F\n", "b.sh": "export F=torch_dist\nbash a.sh\n"}
    assert fixed(files, ".")["a.sh"].endswith(f"{BAD} $F --ckpt-format fsdp_dtensor\n")


YAML = (
    "_target_: megatron.bridge.training.config.ConfigContainer\n"
    "dist: {use_megatron_fsdp: true}\nddp:\n  use_megatron_fsdp: true\n  average_in_collective: false\n"
    "checkpoint:\n  save: /c\n  load: /c\n  ckpt_format: torch_dist\n"
)
WHOLE = {
    "a template": ("jobs/eval.j2", "{% include 'train.yaml' %}\n"),
    "an image": ("Dockerfile", "FROM x\nCOPY train.yaml /etc/old.yaml\n"),
    "another program": ("b.sh", "python convert.py --config train.yaml\n"),
    "a sum of it": ("SHA256SUMS", "0123  train.yaml\n"),
    "who lists its folder, and asks for the setting": (
        "show.R",
        'for (f in list.files(".")) print(read_yaml(f)$checkpoint$ckpt_format)\n',
    ),
}


@pytest.mark.parametrize(("path", "text"), WHOLE.values(), ids=WHOLE)
def test_a_recipe_in_yaml_stays_where_somebody_takes_the_file(fixed: Fixed, path: str, text: str) -> None:
    assert fixed({"train.yaml": YAML, path: text}, "train.yaml") == {}


def test_a_recipe_in_yaml_is_changed_where_it_is_only_started(fixed: Fixed) -> None:
    others = {"run.sh": "torchrun train.py --config train.yaml\n", "CODEOWNERS": "train.yaml @me\n"}
    assert fixed({"train.yaml": YAML, **others}, "train.yaml").keys() == {"train.yaml"}


def test_a_variable_stays_for_the_other_ways_to_a_launch(fixed: Fixed) -> None:
    head = f'MODE=${{1:-fsdp}}\n{EXPORT}A="--bf16"\nif [ "$MODE" = fsdp ]; then\n'
    on = f'  A="$A --use-megatron-fsdp {REST} --ckpt-format fsdp_dtensor"\n'
    rest = f'else\n  A="$A --tensor-model-parallel-size 4"\nfi\n{LAUNCH} $A\n'
    assert fixed({"a.sh": head + on + rest}, "a.sh") == {"a.sh": f"{head}{on}  unset {NAME}\n{rest}"}


OPTIONS = {
    "options of a command line": (
        "import argparse\n\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--fsdp', type=bool, default=True)\n",
        "given = parser.parse_args()",
    ),
    "a class of settings": (
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Settings:\n    fsdp: bool = True\n",
        "given = Settings()",
    ),
}


@pytest.mark.parametrize(("head", "given"), OPTIONS.values(), ids=OPTIONS)
def test_who_gives_another_option_keeps_what_it_chose(fixed: Fixed, head: str, given: str) -> None:
    recipe = (
        f"{head}{UPSTREAM}\n\ndef train():\n    {given}\n    cfg = llama3_8b_pretrain_config()\n"
        "    cfg.ddp.use_megatron_fsdp = given.fsdp\n    cfg.ddp.average_in_collective = False\n"
        "    return cfg\n"
    )
    (changed,) = fixed({"train.py": recipe}, "train.py").values()
    assert "if given.fsdp" in changed


CHOOSING = {
    "by a name of the command line": "from recipes import base as recipes\n\ncfg = getattr(recipes, sys.argv[1])()\n",
    "from a table": "import recipes.base\n\nALL = {'base': recipes.base.base}\ncfg = ALL[sys.argv[1]]()\n",
    "from a module that is chosen": (
        "from importlib import import_module\n\ncfg = import_module('recipes.' + sys.argv[1]).base()\n"
    ),
}
BASE = RECIPE.replace("def train", "def base").replace("True", "True\n    cfg.ddp.average_in_collective = False")


@pytest.mark.parametrize("choice", CHOOSING.values(), ids=CHOOSING)
def test_a_recipe_stays_for_a_program_that_chooses_it_and_turns_fsdp_off(fixed: Fixed, choice: str) -> None:
    program = f"import sys\n{choice}cfg.ddp.use_megatron_fsdp = '--ddp' not in sys.argv\n"
    files = {"recipes/__init__.py": "", "recipes/base.py": BASE, "main.py": program}
    assert fixed(files, "recipes/base.py") == {}
    assert fixed({**files, "main.py": f"import sys\n{choice}print(cfg)\n"}, "recipes/base.py").keys() == {
        "recipes/base.py"
    }


@pytest.mark.parametrize(("words", "is_fixed"), [("ddp.use_megatron_fsdp=false", False), ("train.train_iters=3", True)])
def test_a_recipe_in_yaml_stays_for_a_launch_that_turns_fsdp_off(fixed: Fixed, words: str, is_fixed: bool) -> None:
    files = {"train.yaml": YAML, "Makefile": f"run:\n\ttorchrun train.py --config train.yaml {words}\n"}
    assert (fixed(files, "train.yaml").keys() == {"train.yaml"}) is is_fixed


def test_no_condition_asks_the_value_that_is_to_be_changed(fixed: Fixed) -> None:
    recipe = (
        "import argparse\n" + UPSTREAM + "\n\ndef train():\n    parser = argparse.ArgumentParser()\n"
        "    parser.add_argument('--mapping', type=int, default=1)\n    args = parser.parse_args()\n"
        "    cfg = llama3_8b_pretrain_config()\n    cfg.ddp.use_megatron_fsdp = True\n"
        "    cfg.ddp.average_in_collective = False\n    cfg.checkpoint.ckpt_format = 'fsdp_dtensor'\n"
        "    cfg.dist.use_tp_pp_dp_mapping = args.mapping\n    return cfg\n"
    )
    assert " if args.mapping else " not in fixed({"train.py": recipe}, "train.py").get("train.py", "")


def test_what_slurm_exports_again_is_not_taken_away_in_front_of_srun(fixed: Fixed) -> None:
    script = f"#!/bin/bash\n#SBATCH --export=ALL,{NAME}=1\nsrun {GOOD}\n"
    changed = fixed({"a.sh": script}, "a.sh").get("a.sh", script)
    assert f"env -u {NAME} srun" not in changed
    assert f"unset {NAME}" not in changed


IN_OTHER_TEXTS = {
    "a command of a script": ("ddp.sh", 'python -c "{}"\n', "; "),
    "a command of a Makefile": ("Makefile", 'ddp:\n\tpython -c "{}"\n', "; "),
    "a command of a container": ("job.yaml", 'containers:\n  - command: [python, -c, "{}"]\n', "; "),
    "the input of a command": (
        "ci.yml",
        "jobs:\n  t:\n    steps:\n      - run: |\n          python - <<'EOF'\n          {}\n          EOF\n",
        "\n          ",
    ),
    "a file that a script writes": ("ddp.sh", "cat > /tmp/d.py <<'EOF'\n{}\nEOF\ntorchrun /tmp/d.py\n", "\n"),
}
TAKING_IT = ["from recipes.base import base", "from megatron.bridge.training.pretrain import pretrain", "c = base()"]


@pytest.mark.parametrize(("path", "text", "end"), IN_OTHER_TEXTS.values(), ids=IN_OTHER_TEXTS)
def test_a_recipe_stays_for_python_in_another_text_that_turns_fsdp_off(
    fixed: Fixed, path: str, text: str, end: str
) -> None:
    files = {"recipes/__init__.py": "", "recipes/base.py": BASE}
    for line, changed in (("c.ddp.use_megatron_fsdp = False", set()), ("c.train.train_iters = 3", {"recipes/base.py"})):
        other = text.format(end.join((*TAKING_IT, line, "pretrain(c)")))
        assert fixed({**files, path: other}, ".").keys() == changed


FIXTURE = "import pytest\nfrom recipes.base import base\n\n@pytest.fixture\ndef cfg():\n    return base()\n\n"
LINE = "    cfg.ddp.use_megatron_fsdp = {}\n    cfg.validate()\n"
TESTED = {
    "a fixture": {"tests/test_ddp.py": f"{FIXTURE}def test_ddp(cfg):\n{LINE}"},
    "a fixture of a folder": {"tests/conftest.py": FIXTURE, "tests/test_ddp.py": f"def test_ddp(cfg):\n{LINE}"},
    "a fixture with a name": {
        "tests/test_ddp.py": FIXTURE.replace("fixture\ndef cfg", "fixture(name='cfg')\ndef made")
        + f"def test_ddp(cfg):\n{LINE}"
    },
    "a fixture of a fixture": {
        "tests/test_ddp.py": f"{FIXTURE.replace('cfg', 'full')}@pytest.fixture\ndef cfg(full):\n    return full\n\n"
        f"def test_ddp(cfg):\n{LINE}"
    },
    "what is set up": {
        "tests/test_ddp.py": "from unittest import TestCase\nfrom recipes.base import base\n\n"
        "class TestDdp(TestCase):\n    def setUp(self):\n        self.cfg = base()\n\n"
        "    def test_ddp(self):\n        self.cfg.ddp.use_megatron_fsdp = {}\n        self.cfg.validate()\n"
    },
}


@pytest.mark.parametrize(("value", "is_fixed"), [("False", False), ("True", True)])
@pytest.mark.parametrize("tests", TESTED.values(), ids=TESTED)
def test_a_recipe_stays_for_a_test_that_turns_fsdp_off(
    fixed: Fixed, tests: dict[str, str], value: str, is_fixed: bool
) -> None:
    files = {path: text.format(value) for path, text in tests.items()}
    changed = fixed({"recipes/__init__.py": "", "recipes/base.py": BASE, **files}, ".")
    assert changed.keys() == ({"recipes/base.py"} if is_fixed else set())


def test_a_fixture_of_a_folder_is_not_for_functions_elsewhere(fixed: Fixed) -> None:
    files = {"recipes/__init__.py": "", "recipes/base.py": BASE, "tests/conftest.py": FIXTURE}
    other = f"def without(cfg):\n{LINE.format(False)}"
    assert fixed({**files, "plain/helpers.py": other}, ".").keys() == {"recipes/base.py"}
