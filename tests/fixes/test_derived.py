"""Fixes of scripts out of whose text somebody makes another launch, which has no FSDP: it has to work after a fix."""

from __future__ import annotations

import pytest

from tests.fixes.conftest import Fixed

ON = "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params"
LAUNCH = f"torchrun --nproc_per_node 8 pretrain_gpt.py --use-distributed-optimizer {ON} --save /c --ckpt-format"
SCRIPT = f"{LAUNCH} torch_dist\n"
EXPORTED = f"export CUDA_DEVICE_MAX_CONNECTIONS=1\n{LAUNCH} fsdp_dtensor\n"

MAKING = {
    "a script": ("ddp.sh", f"sed 's/ {ON}//' jobs/train.sh | bash\n"),
    "a script without the lines of FSDP": ("ddp.sh", "grep -v fsdp jobs/train.sh > ddp.sbatch\nsbatch ddp.sbatch\n"),
    "a script by numbers of lines": ("ddp.sh", "(echo set -e; tail -n +2 jobs/train.sh) | bash\n"),
    "a line by its number": ("save.sh", "cp -r \"$(sed -n '2s/.*--save \\([^ ]*\\).*/\\1/p' jobs/train.sh)\" /old\n"),
    "a line by its number in awk": ("save.sh", "cp -r $(awk 'NR == 2 { print $2 }' jobs/train.sh) /old\n"),
    "lines out of a pipe": ("save.sh", 'cat "jobs/train.sh" | sed -n 2,3p > args\n'),
    "an image": ("Dockerfile", f"FROM x\nCOPY jobs/train.sh /w/\nRUN sed -i 's/ {ON}//' /w/train.sh\n"),
    "an image that runs it": (
        "Dockerfile",
        f"FROM x\nCOPY jobs/train.sh /w/\nRUN sed -i 's/ {ON}//' /w/train.sh\nCMD bash /w/train.sh\n",
    ),
    "a step of a workflow": ("ci.yml", f"steps:\n  - run: perl -pe 's/ {ON}//' jobs/train.sh | bash\n"),
    "Ansible": ("play.yml", f"- replace:\n    path: /w/train.sh\n    regexp: ' {ON}'\n    replace: ''\n"),
    "Ansible that runs it": (
        "play.yml",
        f"- hosts: gpu\n  tasks:\n    - lineinfile: {{path: /w/train.sh, regexp: '{ON}', state: absent}}\n"
        "    - command: bash jobs/train.sh\n",
    ),
    "a program": ("ddp.py", "from pathlib import Path\n\nrun(made_of(Path('jobs/train.sh').read_text()))\n"),
    "a program with a variable": ("ddp.py", "SCRIPT = 'jobs/train.sh'\nrun(made_of(open(SCRIPT).read()))\n"),
    "another language": ("ddp.js", "run(madeOf(fs.readFileSync('jobs/train.sh')))\n"),
    "a program for all scripts": (
        "ddp.py",
        f"import glob\n\nfor each in glob.glob('jobs/*.sh'):\n    run(open(each).read().replace(' {ON}', ''))\n",
    ),
}


@pytest.mark.parametrize("script", [SCRIPT, EXPORTED], ids=["a flag", "a variable"])
@pytest.mark.parametrize(("path", "text"), MAKING.values(), ids=MAKING)
def test_a_script_stays_whose_text_becomes_another_launch(fixed: Fixed, script: str, path: str, text: str) -> None:
    assert fixed({"jobs/train.sh": script, path: text}, ".") == {}


def test_a_script_stays_that_a_command_gives_to_a_program_which_takes_fsdp_out(fixed: Fixed) -> None:
    files = {
        "train.sh": SCRIPT,
        "Makefile": "ddp:\n\tpython tools/without.py train.sh\n",
        "tools/without.py": "import sys\n\nprint(open(sys.argv[1]).read().replace('--use-megatron-fsdp', ''))\n",
    }
    assert fixed(files, "train.sh") == {}


RECIPE = """\
from megatron.bridge.recipes.llama import llama32_1b_pretrain_config

def train():
    cfg = llama32_1b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.average_in_collective = False
    cfg.checkpoint.ckpt_format = "torch_dist"
    return cfg
"""
OFF = "sed -i 's/use_megatron_fsdp = True/use_megatron_fsdp = False/'"
REWRITING = {
    "a Makefile": ("Makefile", f"ddp:\n\t{OFF} recipes/llama.py\n\ttorchrun train.py\n"),
    "a script": ("ddp.sh", f"cp -r recipes /tmp/r\n{OFF} /tmp/r/llama.py\ntorchrun train.py\n"),
    "an image": ("Dockerfile", f"FROM x\nCOPY . /w\nRUN {OFF} /w/recipes/llama.py\n"),
    "a program": ("ddp.py", "from pathlib import Path\n\nexec(made_of(Path('recipes/llama.py').read_text()))\n"),
}
AS_IT_IS = {
    "a start": ("ddp.sh", "torchrun recipes/llama.py --use_megatron_fsdp\n"),
    "other words": ("Makefile", "short:\n\tsed -i 's/train_iters = 100/train_iters = 1/' recipes/llama.py\n"),
    "a program that shows it": ("page.py", "from pathlib import Path\n\nshow(Path('recipes/llama.py').read_text())\n"),
    "another file": ("Makefile", f"ddp:\n\t{OFF} recipes/other.py\n\ttorchrun recipes/llama.py\n"),
}


@pytest.mark.parametrize(("path", "text"), REWRITING.values(), ids=REWRITING)
def test_a_recipe_in_python_stays_whose_text_becomes_another_one(fixed: Fixed, path: str, text: str) -> None:
    assert fixed({"recipes/llama.py": RECIPE, path: text}, "recipes") == {}


@pytest.mark.parametrize(("path", "text"), AS_IT_IS.values(), ids=AS_IT_IS)
def test_a_recipe_in_python_is_fixed_where_its_text_is_kept(fixed: Fixed, path: str, text: str) -> None:
    assert fixed({"recipes/llama.py": RECIPE, path: text}, "recipes").keys() == {"recipes/llama.py"}


STARTING = {
    "scripts": ("all.sh", "FOO=1 ./train.sh 2>&1 | tee log\nsrun train.sh > log\nsbatch < train.sh\n"),
    "another host": ("all.sh", "scp train.sh node:\nssh node 'bash -s' < train.sh\nchmod +x train.sh\n"),
    "what changes other words": ("all.sh", 'sed "s/NAME/$1/" train.sh | sbatch\nenvsubst < train.sh | sbatch\n'),
    "what changes a number": ("all.sh", "sed 's/4 nodes/8 nodes/; s/100p/1p/' train.sh | sbatch\n"),
    "what shows other lines": ("all.sh", "cat train.sh; sed -n 3p hosts\ncat train.sh | sbatch; head -1 log\n"),
    "an image": ("Dockerfile", 'FROM x\nCOPY train.sh /w/\nCMD ["bash", "/w/train.sh"]\n'),
    "a program": ("all.py", "SCRIPT = 'train.sh'\nsubprocess.run(['bash', SCRIPT], stdout=open('log', 'w'))\n"),
    "a package": ("setup.py", "setup(scripts=['train.sh'], long_description=Path('README.md').read_text())\n"),
    "a list": ("jobs.yaml", "deps:\n  - train.sh\n"),
    "a check": (".pre-commit-config.yaml", "hooks: [{id: shellcheck, files: train.sh}]\n"),
}


@pytest.mark.parametrize(("path", "text"), STARTING.values(), ids=STARTING)
def test_who_starts_or_copies_a_script_holds_nothing_back(fixed: Fixed, path: str, text: str) -> None:
    changed = fixed({"train.sh": SCRIPT, path: text}, "train.sh")
    assert changed == {"train.sh": SCRIPT.replace("torch_dist", "fsdp_dtensor")}


def test_a_variable_is_left_out_of_one_command_where_a_program_may_take_the_script(fixed: Fixed) -> None:
    changed = fixed({"train.sh": EXPORTED, "send.py": "send(Path('train.sh'))\n"}, "train.sh")
    assert changed == {"train.sh": EXPORTED.replace("torchrun", "env -u CUDA_DEVICE_MAX_CONNECTIONS torchrun")}


SEARCHING = {
    "a wrapper": ("submit", '#!/bin/bash\ngrep -q -- "--ckpt-format torch_dist" "$1" || exit 2\nexec sbatch "$1"\n'),
    "lines in a here-document": (
        "submit",
        '#!/bin/bash\nwhile read -r line; do grep -qF -- "$line" "$1" || exit 2; done <<END\n'
        "--ckpt-format torch_dist\nEND\n",
    ),
    "a program of awk": (
        "fmt.sh",
        "awk '{ for (i = 1; i < NF; i++) if ($i ~ /ckpt-format/) print $(i + 1) }' \"$1\"\n",
    ),
    "a program": (
        "submit.py",
        "import pathlib\nimport sys\n\nwords = pathlib.Path(sys.argv[1]).read_text().split()\n"
        "print('big' if 'torch_dist' in words else 'small')\n",
    ),
    "a watchdog": (
        "watch.sh",
        "LIVE='pretrain_gpt.py .*torch_dist'\npgrep -u me -f -- \"$LIVE\" || sbatch jobs/train.sh\n",
    ),
    "who ends the run": ("stop.sh", "pkill -9 -f 'use-megatron-fsdp .*(torch_dist|zarr)' && echo ended\n"),
    "who looks at the processes": ("watch.sh", "ps -ef | grep -v grep | grep -q '[t]orchrun .*torch_dist'\n"),
    "a watchdog in Python": (
        "watch.py",
        "import subprocess\n\nLIVE = 'torch_dist'\nsubprocess.run(['pgrep', '-f', LIVE])\n",
    ),
    "a rule of make": ("Makefile", "plain/%.sh: jobs/%.sh jobs/*.sh\n\tsed -e 's/--use-megatron-fsdp//' $< > $@\n"),
}


@pytest.mark.parametrize(("path", "text"), SEARCHING.values(), ids=SEARCHING)
def test_a_script_stays_whose_words_somebody_looks_for_in_files_that_he_is_given(
    fixed: Fixed, path: str, text: str
) -> None:
    changed = fixed({"jobs/train.sh": SCRIPT, path: text}, ".")
    assert "--ckpt-format torch_dist" in changed.get("jobs/train.sh", SCRIPT)


def test_a_script_stays_whose_line_a_list_requires(fixed: Fixed) -> None:
    check = 'for each in jobs/*; do grep -qFf required.txt "$each" || exit 1; done\n'
    changed = fixed({"jobs/train.sh": SCRIPT, "required.txt": "torch_dist\n", "check.sh": check}, ".")
    assert "--ckpt-format torch_dist" in changed.get("jobs/train.sh", SCRIPT)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("sizes.sh", 'awk \'$1 == "--num-layers" { print $2 }\' "$1"\n'),
        ("notes.py", "NOTE = 'torch_dist is an old format'\n"),
        ("stop.sh", "pkill -f pretrain_gpt.py && echo 'torch_dist run ended'\n"),
        ("stop.sh", "pkill torch_dist || ps aux | grep $USER\n"),
        ("hosts.py", "import sys\n\nprint(open(sys.argv[1]).read().split())\n"),
    ],
)
def test_who_looks_for_other_words_is_not_concerned(fixed: Fixed, path: str, text: str) -> None:
    assert fixed({"train.sh": SCRIPT, path: text}, ".") == {"train.sh": SCRIPT.replace("torch_dist", "fsdp_dtensor")}


TABLE = """\
import hashlib

from megatron.bridge.recipes.llama import llama32_1b_pretrain_config

TABLE = {"ckpt_format": "torch_dist", "save_interval": 100}


def train():
    cfg = llama32_1b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.dist.use_megatron_fsdp = True
    for name, value in TABLE.items():
        setattr(cfg.checkpoint, name, value)
    cfg.checkpoint.load = None
    cfg.checkpoint.save = "/c/" + %s
    return cfg
"""


@pytest.mark.parametrize(
    "tag",
    [
        "hashlib.sha1(repr(TABLE).encode()).hexdigest()",
        "hashlib.sha1(str(TABLE).encode()).hexdigest()",
        "str(uuid.uuid5(uuid.NAMESPACE_URL, repr(TABLE)))",
    ],
)
def test_a_table_stays_whose_digest_names_a_run(fixed: Fixed, tag: str) -> None:
    text = (TABLE % tag).replace("import hashlib\n", "import hashlib\nimport uuid\n")
    (changed,) = fixed({"recipe.py": text}, ".").values()
    assert '{"ckpt_format": "torch_dist"' in changed
    assert 'cfg.checkpoint.ckpt_format = "fsdp_dtensor"' in changed


def test_a_table_stays_that_a_function_beside_it_reads(fixed: Fixed) -> None:
    files = {
        "tables.py": 'TABLE = {"ckpt_format": "torch_dist"}\n\n\ndef name():\n    return "-".join(TABLE.values())\n'
    }
    files["recipe.py"] = (TABLE % "'x'").replace(TABLE.split("\n")[4], "from tables import TABLE")
    assert "tables.py" not in fixed(files, ".")


@pytest.mark.parametrize(
    "digest", ['RUN=$(md5sum < "$0" | cut -c1-8)\n', "key=`sha1sum $BASH_SOURCE`\n", "h=$(git hash-object train.sh)\n"]
)
def test_a_script_stays_whose_digest_names_something(fixed: Fixed, digest: str) -> None:
    assert fixed({"train.sh": digest + SCRIPT}, ".") == {}


def test_a_digest_of_another_file_changes_nothing(fixed: Fixed) -> None:
    text = "sha256sum data.bin\n" + SCRIPT
    assert fixed({"train.sh": text}, ".") == {"train.sh": text.replace("torch_dist", "fsdp_dtensor")}


CONF = """\
dist:
  use_megatron_fsdp: true
ddp:
  use_megatron_fsdp: true
  data_parallel_sharding_strategy: optim_grads_params
  average_in_collective: true
model:
  gradient_accumulation_fusion: false
train:
  train_iters: 10
checkpoint:
  ckpt_format: fsdp_dtensor
"""
TRAINING = """\
import sys
{0}
import yaml
from megatron.bridge.recipes.llama import llama32_1b_pretrain_config
from megatron.bridge.training.config import apply_overrides
from megatron.bridge.training.pretrain import pretrain

raw = open(sys.argv[1], "rb").read()
cfg = apply_overrides(llama32_1b_pretrain_config(), yaml.safe_load({1}))
cfg.checkpoint.save = "/c/" + {2}
pretrain(cfg)
"""
NAMING = {
    "a program": ("launch.py", TRAINING.format("import hashlib\n", "raw", "hashlib.sha1(raw).hexdigest()")),
    "a wrapper": ("launch", 'ID=$(sha1sum "$1" | cut -c1-9)\nrun --name $ID --config-file "$1"\n'),
    "a wrapper by a variable": ("launch", "CONF=$1\nID=`git hash-object ${CONF}`\nrun --name $ID --cfg=$CONF\n"),
}
NOT_NAMING = {
    "no digest": ("launch.py", TRAINING.format("", "raw", "'x'")),
    "settings of another file": (
        "launch.py",
        TRAINING.format("import hashlib\n", "'a: {b: 1}'", "hashlib.sha1(raw).hexdigest()"),
    ),
    "a wrapper that checks other data": ("launch", 'sha1sum "$DATA" | cut -c1-9\nrun --config-file "$1"\n'),
    "a digest of a section": ("launch", 'ID=$(yq .data "$1" | sha1sum)\nrun --name $ID --config-file "$1"\n'),
}


@pytest.mark.parametrize(("path", "text"), NAMING.values(), ids=NAMING)
def test_settings_stay_where_a_digest_of_the_given_file_names_the_run(fixed: Fixed, path: str, text: str) -> None:
    assert fixed({"conf/a.yaml": CONF, path: text}, "conf") == {}


@pytest.mark.parametrize(("path", "text"), NOT_NAMING.values(), ids=NOT_NAMING)
def test_other_digests_hold_no_settings_back(fixed: Fixed, path: str, text: str) -> None:
    assert fixed({"conf/a.yaml": CONF, path: text}, "conf").keys() == {"conf/a.yaml"}
