"""What the shell makes of words: the flags that a launch is given, whatever way they were written."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known
from tests.shell import only_recipe, recipes

LAUNCH = "torchrun pretrain_gpt.py --tensor-model-parallel-size 1 "


def fmt(script: str, arguments: str) -> object:
    """The checkpoint format of a launch behind a script."""
    return only_recipe(f"{script}\n{LAUNCH}{arguments}\n").setting("checkpoint.ckpt_format").value


@pytest.mark.parametrize(
    ("script", "arguments"),
    [
        pytest.param("", "--ckpt-format fsdp_dtensor", id="written out"),
        pytest.param("", "--ckpt-format=fsdp_dtensor", id="in one word"),
        pytest.param("", "--ckpt-format 'fsdp_dtensor'", id="single quotes"),
        pytest.param("", '--ckpt-format "fsdp"_dtensor', id="quotes in the middle"),
        pytest.param("", "--ckpt-format \\\n   fsdp_dtensor", id="over two lines"),
        pytest.param("", "--ckpt-format torch_dist --ckpt-format fsdp_dtensor", id="the last one counts"),
        pytest.param("F=fsdp_dtensor", "--ckpt-format $F", id="a variable"),
        pytest.param("F=fsdp_dtensor", '--ckpt-format "${F}"', id="a variable in quotes"),
        pytest.param("P=fsdp", "--ckpt-format=${P}_dtensor", id="a variable within a word"),
        pytest.param('A="--ckpt-format fsdp_dtensor"', "$A", id="a string is split where it is not quoted"),
        pytest.param('A="\n  --bf16 \\\n  --ckpt-format fsdp_dtensor \\\n"', "$A", id="a string of several lines"),
        pytest.param(
            'N=--bf16\nF=fsdp_dtensor\nA="$N \\\n${N} --ckpt-format \\\n${F}"', "$A", id="a joined line of it"
        ),
        pytest.param('A="--bf16"\nA="$A --ckpt-format fsdp_dtensor"', "$A", id="a string that grows"),
        pytest.param('A="--bf16"\nA+=" --ckpt-format fsdp_dtensor"', "$A", id="a string with +="),
        pytest.param('A=--bf16\nB=fsdp_dtensor\nC="$A --ckpt-format $B $A"', "$C", id="a string of variables"),
        pytest.param('A=--bf16\nF=fsdp_dtensor\neval "O=\\"$A ${F}\\""', "--ckpt-format ${O#* }", id="eval of one"),
        pytest.param("A=(--bf16 --ckpt-format fsdp_dtensor)", '"${A[@]}"', id="an array"),
        pytest.param("A=(\n --bf16 # half\n --ckpt-format fsdp_dtensor\n)", "${A[*]}", id="with comments in it"),
        pytest.param('A=("--ckpt-format fsdp_dtensor")', "${A[@]}", id="two words in one element, split later"),
        pytest.param("A=(--bf16)\nA+=(--ckpt-format fsdp_dtensor)", '"${A[@]}"', id="an array with +="),
        pytest.param('A=(--bf16)\nA=("${A[@]}" --ckpt-format fsdp_dtensor)', '"${A[@]}"', id="an array expanded again"),
        pytest.param("F=torch\nunset F", "--ckpt-format ${F:-fsdp_dtensor}", id="a default where it is unset"),
        pytest.param("F=", "--ckpt-format ${F:-fsdp_dtensor}", id="a default where it is empty"),
        pytest.param(': "${F:=fsdp_dtensor}"', "--ckpt-format $F", id="an assigning default"),
        pytest.param("F=1", "${F:+--ckpt-format fsdp_dtensor}", id="an alternative"),
        pytest.param("F=fsdp_dtensor.x", "--ckpt-format ${F%.*}", id="without its end"),
        pytest.param("F=a/fsdp_dtensor", "--ckpt-format ${F##*/}", id="without its beginning"),
        pytest.param("F=fsdp-dtensor", "--ckpt-format ${F//-/_}", id="with another character"),
        pytest.param("N=F\nF=fsdp_dtensor", "--ckpt-format ${!N}", id="by the name in another variable"),
        pytest.param("A=(x fsdp_dtensor)", "--ckpt-format ${A[1]}", id="an element of an array"),
        pytest.param("F=$(echo fsdp_dtensor)", "--ckpt-format $F", id="what echo writes"),
        pytest.param(
            "for F in torch fsdp_dtensor; do echo --ckpt-format $F; done > f",
            "$(cat f)",
            id="what a loop writes to a file",
        ),
        pytest.param(
            "if [ 1 = 1 ]; then echo fsdp_dtensor; fi > f", "--ckpt-format $(cat f)", id="what a clause writes"
        ),
        pytest.param("F=`echo fsdp_dtensor`", "--ckpt-format $F", id="what echo writes, in backticks"),
        pytest.param("f() { F=$1; }\nf fsdp_dtensor", "--ckpt-format $F", id="set by a function"),
        pytest.param("set -- a fsdp_dtensor\nshift", "--ckpt-format $1", id="a positional parameter"),
        pytest.param(
            "for a in torch fsdp_dtensor; do for b in torch; do [[ $a == $b ]] && continue 2; done; F=$a; done",
            "--ckpt-format $F",
            id="a turn that is left from within another loop",
        ),
        pytest.param(
            "for a in fsdp_dtensor torch; do for b in 1; do [[ $a == torch ]] && break 2; done; F=$a; done",
            "--ckpt-format $F",
            id="a loop that is left from within another one",
        ),
    ],
)
def test_the_same_flag_in_many_ways(script: str, arguments: str) -> None:
    assert fmt(script, arguments) == Known("fsdp_dtensor")


@pytest.mark.parametrize(
    ("script", "arguments", "value"),
    [
        pytest.param("", "--ckpt-format $F", NOT_NONE, id="a variable from outside"),
        pytest.param("F=$(date)", "--ckpt-format $F", NOT_NONE, id="the output of a program"),
        pytest.param("A=$(cat flags)", "--ckpt-format torch $A", UNKNOWN, id="flags that a program writes come last"),
        pytest.param("F=torch\nsource nowhere.sh", "--ckpt-format $F", NOT_NONE, id="a file that is not there"),
        pytest.param("read F", "--ckpt-format $F", NOT_NONE, id="what somebody types"),
        pytest.param("for F in $(ls); do :; done", "--ckpt-format $F", NOT_NONE, id="behind a loop of unknown words"),
        pytest.param("F=torch\nwhile x; do F=torch_dist; done", "--ckpt-format $F", NOT_NONE, id="behind a loop"),
        pytest.param(
            'while x; do A+=("$y"); done\nB=("${A[@]}")',
            '--ckpt-format torch "${B[@]}"',
            UNKNOWN,
            id="elements of a list",
        ),
        pytest.param(
            "A=$(cat flags)\nB=($A)", '--ckpt-format torch "${B[@]}"', UNKNOWN, id="words that become elements"
        ),
    ],
)
def test_what_cannot_be_known_is_not(script: str, arguments: str, value: object) -> None:
    assert fmt(script, arguments) == value


@pytest.mark.parametrize(
    "output",
    [
        *("$((RANDOM + 29500))", "$$", "${#UNKNOWN_LIST}", "$(wc -l < $1)", "$(nvidia-smi -L | wc -l)", "`nproc`"),
        *("$(date +%Y%m%d-%H%M%S)", "$(date -u '+%s')", "$(mktemp -d)", "$(hostname -s)"),
    ],
)
def test_a_number_a_name_or_a_time_is_one_word_and_no_flags(output: str) -> None:
    assert fmt(f"N={output}", "--ckpt-format fsdp_dtensor --of-its-own $N --bf16") == Known("fsdp_dtensor")


@pytest.mark.parametrize("output", ['$(date "+%F %T")', "$(cat more)", "$(wc -l *.txt)", "$(nproc; cat more)"])
def test_another_output_without_quotes_may_be_any_flags(output: str) -> None:
    assert fmt(f"N={output}", "--ckpt-format fsdp_dtensor --of-its-own $N --bf16") == UNKNOWN


DROP = """\
OPTIONS=({} --ckpt-format torch --bf16)
drop() {{
  local kept=() i=0
  while (( i < ${{#OPTIONS[@]}} )); do
    if [[ ${{OPTIONS[i]}} == "$1" ]]; then (( i += 2 )); else kept+=("${{OPTIONS[i]}}"); (( i += 1 )); fi
  done
  OPTIONS=("${{kept[@]}}")
}}
drop --ckpt-format
"""


@pytest.mark.parametrize("words", [1, 100])
def test_a_loop_over_the_words_of_a_list_is_followed_word_by_word(words: int) -> None:
    script = DROP.format(" ".join(f"--of-its-own {number}" for number in range(words)))
    assert fmt(script, '"${OPTIONS[@]}"') == Known("torch_dist")


def test_a_shell_that_only_reads_a_script_starts_nothing() -> None:
    script = "bash -n b.sh\nsh -en b.sh\nbash -e b.sh\n"
    assert len(recipes(script, {"b.sh": f"{LAUNCH} --ckpt-format torch\n"})) == 1


def test_braces_are_expanded_before_variables() -> None:
    assert fmt("A=3; for N in $(eval echo {$A..$A}); do F=torch; done", "--ckpt-format $F --of-its-own $N") == Known(
        "torch"
    )


@pytest.mark.parametrize(
    "script",
    [
        'if [ -z "$F" ]; then F=fsdp_dtensor; fi',
        "if [ -z ${F} ]; then echo none; export F=fsdp_dtensor; fi",
        '[[ -z "$F" ]] && F=fsdp_dtensor',
        "if [[ ! -v F ]]; then F=fsdp_dtensor; fi",
        'if [ "$F" = "" ]; then F=fsdp_dtensor; fi',
    ],
)
def test_a_variable_that_is_set_where_it_is_empty_has_a_default(script: str) -> None:
    assert fmt(script, "--ckpt-format $F") == Known("fsdp_dtensor")


def test_a_default_that_is_set_where_a_variable_is_empty_may_be_another_one() -> None:
    recipe = only_recipe(f'if [ -z "$F" ]; then F=torch; fi\n{LAUNCH} --ckpt-format $F\n')
    origin = recipe.setting("checkpoint.ckpt_format").origin
    assert origin is not None
    assert origin.option == "$F"


def test_nobody_gives_the_script_arguments_that_it_hands_on() -> None:
    recipe = only_recipe(f'{LAUNCH} --ckpt-format torch "$@"\n')
    assert recipe.setting("checkpoint.ckpt_format").value == Known("torch")


def test_options_from_outside_are_none_where_nobody_gives_some() -> None:
    recipe = only_recipe(f"{LAUNCH} --ckpt-format torch $EXTRA_ARGS\n")
    assert recipe.setting("checkpoint.ckpt_format").value == Known("torch")


def test_a_default_tells_whose_it_is() -> None:
    origin = only_recipe("TP=${TP:-4}\ntorchrun pretrain_gpt.py --tensor-model-parallel-size $TP\n").setting(
        "model.tensor_model_parallel_size"
    )
    assert origin.value == Known(4)
    assert origin.origin is not None
    assert origin.origin.option == "$TP"


def test_a_value_is_found_where_it_is_written() -> None:
    recipe = only_recipe("F=fsdp_dtensor # one\ntorchrun pretrain_gpt.py --use-megatron-fsdp --ckpt-format $F\n")
    origin = recipe.setting("checkpoint.ckpt_format").origin
    assert origin is not None
    assert (origin.point.line, [(each.span.line, each.span.column) for each in origin.sources]) == (2, [(1, 3)])


def test_columns_count_characters() -> None:
    recipe = only_recipe("echo 'größer'; torchrun pretrain_gpt.py --use-megatron-fsdp --ckpt-format torch\n")
    origin = recipe.setting("checkpoint.ckpt_format").origin
    assert origin is not None
    assert origin.point.column == 75


@pytest.mark.parametrize("word", ["$A/$B.out", "$A-$B/c", "${A}/$B-c", '"$A"/$B.z', "é$A/$B.é"])
def test_an_expansion_within_a_word_ends_no_word(word: str) -> None:
    launch = f'A=a\nB=b\nX={word}\ntorchrun pretrain_gpt.py --use-megatron-fsdp --load {word} --save "$X"\n'
    recipe = only_recipe(launch)
    wanted = word.replace('"', "").replace("${A}", "a").replace("$A", "a").replace("$B", "b")
    assert recipe.setting("checkpoint.load").value == Known(wanted)
    assert recipe.setting("checkpoint.save").value == Known(wanted)
