"""What the reader notices in the text of a script, and what it passes over."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import DEFAULT_TARGET
from mfsdp_lint.readers.shell.read import read_shell

HEAD = "torchrun pretrain_gpt.py --tensor-model-parallel-size 1"


def notices(script: str, files: dict[str, str] | None = None) -> list[tuple[str, int, int]]:
    """What is noticed, and where (line, column)."""
    read = read_shell("train.sh", script, sources=Sources({"train.sh": script, **(files or {})}))
    return [(each.kind, each.span.line, each.span.column) for recipe in read.recipes[:1] for each in recipe.notices]


@pytest.mark.parametrize(
    ("script", "found"),
    [
        pytest.param(f"{HEAD} \\ \n  --bf16\n", [("broken-continuation", 1, 58)], id="a blank behind the backslash"),
        pytest.param(f"{HEAD} \\ # no\n  --bf16\n", [("broken-continuation", 1, 58)], id="a comment behind it"),
        pytest.param(
            f'A="--bf16 \\ \n  --fp16"\n{HEAD} $A\n', [("broken-continuation", 1, 12)], id="the same within quotes"
        ),
        pytest.param(f"{HEAD}\n  --bf16\n", [("lost-continuation", 2, 3)], id="no backslash"),
        pytest.param(
            f"{HEAD} \\\n  # --bf16 \\\n  --fp16\n", [("lost-continuation", 3, 3)], id="a comment within the command"
        ),
        pytest.param(
            f"{HEAD} \\\n  # TP is 1\n  model.tensor_model_parallel_size=1 \\\n  ++a.b=2\n",
            [("lost-continuation", 3, 3)],
            id="a comment between overrides",
        ),
        pytest.param(f"{HEAD} \\ \n  a.b=1\n", [("broken-continuation", 1, 58)], id="a blank above an override"),
        pytest.param(f"{HEAD}\n  A=1 other\n", [], id="an assignment"),
        pytest.param(f"{HEAD}\n  --bf16 \\\n  --fp16\n  --seed 1\n", [("lost-continuation", 2, 3)], id="told once"),
        pytest.param(
            "torchrun train.py\n  --use-megatron-fsdp\n", [("lost-continuation", 2, 3)], id="and the run is found"
        ),
        pytest.param(
            f"cat > job.sh <<EOF\n{HEAD}\n  --bf16\nEOF\nbash job.sh\n",
            [("lost-continuation", 3, 3)],
            id="in a heredoc",
        ),
        pytest.param(
            f"A=(--bf16 # --use-megatron-fsdp\n)\n{HEAD} ${{A[@]}}\n",
            [("commented-element", 1, 11)],
            id="behind an element",
        ),
        pytest.param(
            f'A="--bf16\n# --fp16"\n{HEAD} $A\n', [("comment-within-quotes", 2, 1)], id="a comment within quotes"
        ),
        pytest.param(
            f"{HEAD} --ckpt-format torch --bf16 --ckpt-format fsdp_dtensor\n", [("duplicate-flag", 1, 84)], id="twice"
        ),
        pytest.param(
            f"{HEAD}\nexport CUDA_DEVICE_MAX_CONNECTIONS=1\n", [("late-variable", 2, 8)], id="behind the launch"
        ),
        pytest.param(
            f"ray start --head\nexport CUDA_DEVICE_MAX_CONNECTIONS=1\nray job submit -- python{HEAD[8:]}\n",
            [("late-variable", 2, 8)],
            id="behind the start of a cluster that the job runs on",
        ),
        pytest.param(f"unset CUDA_DEVICES_MAX_CONNECTIONS\n{HEAD}\n", [("misspelt-variable", 1, 7)], id="a slip"),
        pytest.param(f"{HEAD} --chkpt-format torch\n", [("no-such-flag", 1, 57)], id="a slip in a flag"),
        pytest.param(
            f"{HEAD} --data-parallel-shard-strategy optim\n", [("no-such-flag", 1, 57)], id="a word of a flag cut off"
        ),
        pytest.param(
            f"{HEAD} --bf16 '--ckpt-format torch'\n", [("no-such-flag", 1, 65)], id="a flag and its value in one"
        ),
        pytest.param(
            'A=(--use-megatron-fsdp --bf16)\ntorchrun pretrain_gpt.py --num-layers 2 "${A[*]}"\n',
            [("no-such-flag", 1, 4)],
            id="all flags of an array in one",
        ),
        pytest.param(f"{HEAD} --data-path a '--ckpt-format torch'\n", [], id="one of any number of values"),
        pytest.param(f"{HEAD} --bf16 '--ckpt-format=torch'\n", [], id="the same with a sign between"),
        pytest.param(f"{HEAD} --ckpt-format=fsdp\n", [("no-such-value", 1, 71)], id="no value of a flag"),
        pytest.param(f"{HEAD} --ckpt-format $F --lr-decay-style cosine\n", [], id="values that it may have"),
    ],
)
def test_what_is_noticed(script: str, found: list[tuple[str, int, int]]) -> None:
    assert notices(script) == found
    kinds = [kind for kind, _, _ in notices(script.replace("\n", "\r\n"))]
    assert kinds == [kind for kind, _, _ in found]


@pytest.mark.parametrize(("between", "line"), [(" ", None), (" \\\n", 1)], ids=["one line", "two lines"])
def test_a_duplicate_says_where_the_flag_stood_before(between: str, line: int | None) -> None:
    script = f"{HEAD} --ckpt-format torch{between}--ckpt-format fsdp_dtensor\n"
    ((notice,),) = (each.notices for each in read_shell("train.sh", script).recipes)
    assert notice.facts == {"value": "fsdp_dtensor", "earlier": "torch", "line": line}


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(f"{HEAD} \\\n  --bf16\n", id="a line that is continued"),
        pytest.param(f"# {HEAD} \\ \n#  --bf16\n{HEAD}\n", id="in a comment"),
        pytest.param(f"echo 'usage: x \\ \n  --bf16'\n{HEAD}\n", id="in a text that stands as it is"),
        pytest.param(f"cat <<EOF\nusage: x\n  --bf16\nEOF\n{HEAD}\n", id="in a text that nobody runs"),
        pytest.param(f'A="\n  --bf16\n  --fp16\n"\n{HEAD} $A\n', id="lines of a quoted text"),
        pytest.param(f"A=(\n  --bf16\n  # --fp16\n)\n{HEAD} ${{A[@]}}\n", id="a comment on a line of its own"),
        pytest.param(f"A=(\n  --bf16 # for speed\n)\n{HEAD} ${{A[@]}}\n", id="a comment without a flag"),
        pytest.param(f"A=(--seed 1)\nA+=(--seed 2)\n{HEAD} ${{A[@]}}\n", id="a later text that changes an earlier one"),
        pytest.param(f"{HEAD} --seed 1 --seed 1\n", id="twice the same"),
        pytest.param(f"{HEAD} --my-own-flag 1 --chkpt-format torch\n", id="a program with flags of its own"),
        pytest.param(f"{HEAD}\nexport CUDA_DEVICE_MAX_CONNECTIONS=1\n{HEAD}\n", id="between two launches"),
        pytest.param(
            f"export CUDA_DEVICE_MAX_CONNECTIONS=1\nray start --head\nray job submit -- python{HEAD[8:]}\n",
            id="in front of the start of a cluster",
        ),
        pytest.param(
            "ray start --head\nexport CUDA_DEVICE_MAX_CONNECTIONS=1\nray job submit "
            f'--runtime-env-json=\'{{"env_vars": {{"CUDA_DEVICE_MAX_CONNECTIONS": "1"}}}}\' -- python{HEAD[8:]}\n',
            id="what the job is given beside",
        ),
        pytest.param(
            f"ray start --address=$HEAD\nexport CUDA_DEVICE_MAX_CONNECTIONS=1\nray job submit -- python{HEAD[8:]}\n",
            id="a node that is not the first one of the cluster",
        ),
        pytest.param(
            f"go() {{ {HEAD}; }}\nexport CUDA_DEVICE_MAX_CONNECTIONS=1\ngo\n",
            id="behind a function that is called later",
        ),
        pytest.param(f"export CUDA_MAX_CONNECTIONS=1\nunset CUDA_MAX_CONNECTIONS\n{HEAD}\n", id="what is really set"),
        pytest.param(f"unset PYTORCH_ALLOC_CONF NCCL_DEBUG\n{HEAD}\n", id="names that are read"),
    ],
)
def test_what_is_passed_over(script: str) -> None:
    assert notices(script) == []


def test_where_nobody_names_a_version_a_flag_of_a_later_one_says_that_it_is_later() -> None:
    script = f"{HEAD} --use-mup\n"  # of 0.19
    named = replace(DEFAULT_TARGET, assumed=False)
    found = [read_shell("train.sh", script, target).recipes[0].notices for target in (DEFAULT_TARGET, named)]
    assert [[each.kind for each in notices] for notices in found] == [[], ["no-such-flag"]]


def test_a_flag_that_the_program_itself_declares() -> None:
    script = f"{HEAD} --chkpt-format torch\n"
    assert notices(script, {"pretrain_gpt.py": 'parser.add_argument("--chkpt-format")\n'}) == []


def test_a_script_without_a_run_of_megatron_says_nothing() -> None:
    assert read_shell("x.sh", "python train.py\n  --use-anything\n").recipes == []
