"""Scripts that nobody meant, and scripts that mean harm: a message or silence, in bounded time, and never a crash."""

from __future__ import annotations

import time

import pytest

from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.shell.read import read_shell

LAUNCH = "torchrun pretrain_gpt.py --use-megatron-fsdp --ckpt-format torch"


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(f'A="{LAUNCH}\n{LAUNCH}\n', id="a quote that is never closed"),
        pytest.param(f"if true; then\n{LAUNCH}\n", id="no fi"),
        pytest.param(f"{LAUNCH} \\", id="a backslash at the end"),
        pytest.param(f"cat <<EOF\n{LAUNCH}\n", id="a heredoc without an end"),
        pytest.param("((" * 3000 + "\n" + LAUNCH, id="many brackets"),
        pytest.param("$(" * 2000 + LAUNCH, id="many substitutions"),
        pytest.param("{ " * 2000 + LAUNCH + "; }" * 2000, id="many groups"),
        pytest.param("if true; then " * 500 + LAUNCH + "; fi" * 500, id="many branches within each other"),
        pytest.param("X=" + "${X:-" * 1000 + "a" + "}" * 1000 + f"\n{LAUNCH} $X", id="many defaults"),
        pytest.param(f"f() {{ f; {LAUNCH}; }}\nf", id="a function that calls itself"),
        pytest.param(f"f() {{ f & f; }}\nf\n{LAUNCH}", id="one that calls itself twice"),
        pytest.param(f'source train.sh\nbash train.sh\nbash "$0"\n{LAUNCH}', id="a script that starts itself"),
        pytest.param("X=a\n" + 'X="$X$X"\n' * 40 + f"{LAUNCH} $X", id="a text that doubles forty times"),
        pytest.param(
            "X=(a a)\n" + 'X=("${X[@]}" "${X[@]}")\n' * 40 + f'{LAUNCH} "${{X[@]}}"', id="an array that doubles"
        ),
        pytest.param('X="eval \\"\\$X\\""\neval "$X"\n' + LAUNCH, id="eval of itself"),
        pytest.param("".join(f"[ $A{n} = 1 ] && B{n}=1\n" for n in range(200)) + LAUNCH, id="two hundred branches"),
        pytest.param("for a in 1 2 3 4 5 6 7 8; do " * 12 + LAUNCH + "; done" * 12, id="loops within loops"),
        pytest.param(f"echo {{1..999999999}}\n{LAUNCH}", id="a long range"),
        pytest.param(f"X=$((9999999999 * 9999999999 * 9999999999))\n{LAUNCH} --seed $X", id="large numbers"),
        pytest.param(f"{LAUNCH} " + "--x " * 50_000, id="many words"),
        pytest.param("\ufeff\u200b\x07\x1b[31m\uf8ff\U0001f600 " + LAUNCH, id="odd characters"),
        pytest.param("\r\n".join(["#!/bin/bash", "export A=1", LAUNCH]), id="carriage returns"),
        pytest.param('X="a*b*c*d*e*f*g*' + "a" * 5000 + f'"\necho ${{X%%*a*a*a*a*a*b}}\n{LAUNCH}', id="a slow pattern"),
        *(
            pytest.param(
                f"A={'a' * 60}\n" + "".join(each.format(n) for n in range(40)) + LAUNCH, id=f"slow: {each[:12]}"
            )
            for each in (
                "[[ $A =~ (a+)+{} ]] && X=1\n",
                "X=$(echo $A | sed -E 's/(a+)+{}/x/')\n",
                "X=$(echo $A | grep -oP '(a|aa)+_{}')\n",
                "X=$(echo $A | awk '/(a+)+_{}/ {{print}}')\n",
            )
        ),
        pytest.param("", id="nothing"),
    ],
)
def test_it_ends_and_says_nothing_wrong(script: str) -> None:
    started = time.process_time()
    found = read_shell("train.sh", script, sources=Sources({"train.sh": script}))
    assert time.process_time() - started < 30
    assert all(problem.kind == "foreign" for problem in found.problems)


def test_a_quote_that_is_never_closed_is_told() -> None:
    script = f'X="open\n{LAUNCH}\n'
    (problem,) = read_shell("train.sh", script).problems
    assert (problem.line, problem.kind) == (1, "foreign")
    assert "cannot be followed" in problem.message


def _nested(depth: int) -> str:
    return "".join(f"if [ $A{n} = 1 ]; then\n" for n in range(depth)) + f"{LAUNCH}\n" + "fi\n" * depth


def test_a_launch_that_is_nested_too_deeply_is_told() -> None:
    found = read_shell("train.sh", _nested(60))
    (problem,) = found.problems
    assert (found.recipes, problem.line, problem.kind) == ([], 60, "foreign")
    assert "nested too deeply" in problem.message


def test_a_launch_that_is_nested_less_deeply_is_followed() -> None:
    found = read_shell("train.sh", _nested(50))
    assert (len(found.recipes), found.problems) == (1, [])


@pytest.mark.parametrize("script", [f"f() {{ f; {LAUNCH}; }}\nf", f'bash "$0"\nbash train.sh\n{LAUNCH}'])
def test_what_starts_itself_was_followed_before(script: str) -> None:
    assert read_shell("train.sh", script, sources=Sources({"train.sh": script})).problems == []


def test_more_ways_than_are_followed_are_told() -> None:
    loops = "".join(f"for a{n} in 1 2 3 4 5 6 7 8; do\n" for n in range(6))
    script = loops + f"{LAUNCH} --seed $a0 --lr $a1 --tensor-model-parallel-size $a2\n" + "done\n" * 6
    (problem,) = read_shell("train.sh", script).problems
    assert "more ways and steps than are followed" in problem.message


def test_scripts_that_start_each_other_too_deeply_are_told() -> None:
    files = {f"{n}.sh": f"source {n + 1}.sh\n" for n in range(20)} | {"20.sh": f"{LAUNCH}\n"}
    found = read_shell("0.sh", files["0.sh"], sources=Sources(files))
    assert [problem.kind for problem in found.problems] == ["foreign"]
