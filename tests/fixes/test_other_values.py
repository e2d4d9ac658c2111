"""Fixes of launches whose FSDP is a default: what works for whoever gives another value works after a fix."""

from __future__ import annotations

import pytest

from tests.fixes.conftest import Fixed

LAUNCH = "torchrun --nproc_per_node 8 pretrain_gpt.py"
REST = "--use-distributed-optimizer --data-parallel-sharding-strategy optim_grads_params"
ON = f"--use-megatron-fsdp {REST}"
OLD = " --save /c --ckpt-format torch_dist"
UPSTREAM = "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n"

DEFAULTS = {
    "a variable of the environment": ("a.sh", "ARGS=${ARGS-'ON'}\nLAUNCH $ARGS\n"),
    "an empty variable as well": ("a.sh", 'ARGS="${ARGS:-ON}"\nLAUNCH $ARGS\n'),
    "a flag alone": ("a.sh", f"MODE=${{MODE:---use-megatron-fsdp}}\nLAUNCH {REST} $MODE\n"),
    "an argument": ("a.sh", "LAUNCH ${1:-ON}\n"),
    "a variable that is set": ("a.sh", "FSDP=${FSDP-1}\nLAUNCH ${FSDP:+ON}\n"),
    "an option of the script": (
        "a.sh",
        'ARGS="ON"\nwhile [ $# -gt 0 ]; do\n  case $1 in --ddp) ARGS="" ;; esac\n  shift\ndone\nLAUNCH $ARGS\n',
    ),
    "a variable of a container": (
        "compose.yaml",
        "services:\n  train:\n    image: nemo\n    command: LAUNCH ${ARGS-ON}\n",
    ),
}


@pytest.mark.parametrize(("path", "text"), DEFAULTS.values(), ids=DEFAULTS)
def test_whoever_gives_another_value_keeps_the_format(fixed: Fixed, path: str, text: str) -> None:
    front, _, behind = text.replace("ON", ON).rpartition("LAUNCH")
    assert fixed({path: f"{front}{LAUNCH}{behind.rstrip()}{OLD}\n"}, path) == {}


@pytest.mark.parametrize(("path", "text"), DEFAULTS.values(), ids=DEFAULTS)
def test_the_default_has_the_format_where_nothing_behind_it_says_another(fixed: Fixed, path: str, text: str) -> None:
    before = text.replace("ON", ON).replace("LAUNCH", LAUNCH + OLD)
    after = before.replace("--use-megatron-fsdp", "--use-megatron-fsdp --ckpt-format fsdp_dtensor")
    assert fixed({path: before}, path) == {path: after}


def test_whoever_gives_an_input_of_a_workflow_keeps_the_format(fixed: Fixed) -> None:
    head = (
        f"on:\n  workflow_dispatch:\n    inputs:\n      args:\n        default: {ON}\njobs:\n  t:\n    runs-on: gpu\n"
    )
    steps = f"    steps:\n      - run: {LAUNCH} ${{{{ inputs.args }}}}{OLD}\n"
    assert fixed({".github/workflows/t.yml": head + steps}, ".github") == {}


def test_a_default_in_another_file_is_one_as_well(fixed: Fixed) -> None:
    files = {"args.sh": f"ARGS=${{ARGS-'{ON}'}}\n", "a.sh": f"source args.sh\n{LAUNCH} $ARGS{OLD}\n"}
    assert fixed(files, "a.sh", "args.sh") == {}


def test_a_variable_that_a_clause_adds_to_is_no_default(fixed: Fixed) -> None:
    head = f'ARGS="{ON}"\ncase $1 in\n  --big) ARGS="$ARGS --num-layers 80" ;;\nesac\n'
    text = f"{head}{LAUNCH} $ARGS{OLD}\n"
    assert fixed({"a.sh": text}, "a.sh") == {"a.sh": text.replace("torch_dist", "fsdp_dtensor")}


def test_a_format_that_is_a_default_itself_is_changed(fixed: Fixed) -> None:
    text = f"F=${{F:-torch_dist}}\n{LAUNCH} {ON} --save /c --ckpt-format $F\n"
    assert "fsdp_dtensor" in fixed({"a.sh": text}, "a.sh")["a.sh"]


def test_whoever_gives_a_launcher_other_arguments_keeps_the_format(fixed: Fixed) -> None:
    head = f"import os\nimport subprocess\n\ngiven = os.environ.get('ARGS', '{ON}')\n"
    assert fixed({"a.py": f"{head}subprocess.run(f'{LAUNCH} {{given}}{OLD}', shell=True)\n"}, "a.py") == {}


def test_a_recipe_that_the_environment_switches_has_the_format_for_one_side(fixed: Fixed) -> None:
    recipe = f"import os\n{UPSTREAM}\nFSDP = os.environ.get('FSDP', '1') == '1'\n\n\ndef train():\n"
    recipe += "    cfg = llama3_8b_pretrain_config()\n    cfg.ddp.use_megatron_fsdp = FSDP\n"
    recipe += "    cfg.ddp.average_in_collective = False\n    return cfg\n"
    changed = fixed({"train.py": recipe}, "train.py")["train.py"]
    assert '"fsdp_dtensor" if FSDP else' in changed.replace("'", '"')
