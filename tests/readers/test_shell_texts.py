"""Texts that programs make of texts, and loops that end: the words that a launch is given in the end."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known
from mfsdp_lint.readers.shell.text_programs import printed_by
from tests.shell import only_recipe, recipes

LAUNCH = "torchrun pretrain_gpt.py --tensor-model-parallel-size 1 "
FILES = {
    "config.json": '{"ckpt": {"format": "fsdp_dtensor"}, "args": ["--bf16", "--ckpt-format", "fsdp_dtensor"]}',
    "config.yaml": "ckpt:\n  format: fsdp_dtensor\nflags:\n  save: /c\n  ckpt-format: fsdp_dtensor\n",
    "table.txt": "small torch_dist\nbig fsdp_dtensor\n",
    "long.txt": "\n".join(f"# line {n}" for n in range(40)) + "\n\n--bf16 # yes\n--ckpt-format fsdp_dtensor\n",
    "words.txt": "# the format\n--ckpt-format fsdp_dtensor\n",
    "settings.env": "# settings\nF=fsdp_dtensor\n",
}


def fmt(script: str, arguments: str) -> object:
    (recipe,) = recipes(f"{script}\n{LAUNCH}{arguments}\n", FILES)
    return recipe.setting("checkpoint.ckpt_format").value


def test_a_script_may_end_in_a_variable_without_a_new_line() -> None:
    (recipe,) = recipes(f"_f=fsdp_dtensor\n{LAUNCH}--ckpt-format $_f", {})
    assert recipe.setting("checkpoint.ckpt_format").value == Known("fsdp_dtensor")


@pytest.mark.parametrize(
    ("script", "arguments"),
    [
        pytest.param("F=$(echo a:fsdp_dtensor | cut -d: -f2)", "--ckpt-format $F", id="a field"),
        pytest.param("F=$(echo FSDP_DTENSOR | tr A-Z a-z)", "--ckpt-format $F", id="small letters"),
        pytest.param("F=$(awk '$1==\"big\" {print $2}' table.txt)", "--ckpt-format $F", id="a row of a table"),
        pytest.param("F=$(grep ^big table.txt | sed 's/.* //')", "--ckpt-format $F", id="the end of a line"),
        pytest.param("F=$(sed -n 's/^F=//p' settings.env)", "--ckpt-format $F", id="a value of a file"),
        pytest.param("F=$(jq -r .ckpt.format config.json)", "--ckpt-format $F", id="jq"),
        pytest.param("F=$(jq -r '.x // .ckpt[\"format\"]' < config.json)", "--ckpt-format $F", id="jq with a default"),
        pytest.param("A=$(jq -r '.args | join(\" \")' config.json)", "$A", id="a list of jq"),
        pytest.param(
            'A=$(yq \'.flags | to_entries[] | "--" + .key + " " + .value\' config.yaml)', "$A", id="entries of yq"
        ),
        pytest.param("A=$(grep -v '^#' words.txt | xargs)", "$A", id="words on a line"),
        pytest.param("export $(grep -v '^#' settings.env | xargs)", "--ckpt-format $F", id="exported lines"),
        pytest.param("source <(sed 's/^/export /' settings.env)", "--ckpt-format $F", id="a sourced text"),
        pytest.param("source /dev/stdin <<< F=fsdp_dtensor", "--ckpt-format $F", id="a sourced input"),
        pytest.param("A=$(grep -v -e '^#' -e '^$' words.txt)", "$A", id="lines that several patterns leave"),
        pytest.param(
            'A=$(jq -r \'.ckpt | to_entries[] | if .key == "x" then empty else "--ckpt-format \\(.value)" end\' '
            "config.json)",
            "$A",
            id="jq with a condition",
        ),
        pytest.param(
            "A=$(jq -r --arg p ckpt '({n: 1, format: 2} * .[$p]).format' config.json)",
            "--ckpt-format $A",
            id="objects of jq",
        ),
        pytest.param(
            'F=$(jq -nr --arg h "$(hostname)" \'{$h, f: "fsdp_dtensor"}.f\')',
            "--ckpt-format $F",
            id="jq beside a text that is not known",
        ),
        pytest.param("F=$(jq -nr --arg f fsdp_dtensor '{f: $f}.f')", "--ckpt-format $F", id="jq without a file"),
        pytest.param(
            'mapfile -t L < long.txt\nA=()\nfor l in "${L[@]}"; do\n  l=${l%%#*}\n  [[ -z ${l// } ]] && continue\n'
            '  read -ra W <<< "$l"\n  A+=("${W[@]}")\ndone',
            '"${A[@]}"',
            id="many lines, one by one",
        ),
        pytest.param(
            'A=\nwhile read -r l; do\n  case $l in --*) A="$A $l" ;; esac\ndone < long.txt', "$A", id="many lines, read"
        ),
        pytest.param("set -a\n: ${F:=fsdp_dtensor}\nA=$(echo '$F' | envsubst)", "--ckpt-format $A", id="a default"),
        pytest.param("F=$(basename /x/fsdp_dtensor.sh .sh)", "--ckpt-format $F", id="a name"),
        pytest.param("printf -v A -- '--ckpt-format %s' fsdp_dtensor", "$A", id="printf into a variable"),
        pytest.param("printf -v F '%s_%s' fsdp dtensor", "--ckpt-format $F", id="printf of two"),
        pytest.param("IFS=: read -r _ F <<< a:fsdp_dtensor", "--ckpt-format $F", id="read"),
        pytest.param("IFS=, read -ra A <<< --ckpt-format,fsdp_dtensor", '"${A[@]}"', id="read into an array"),
        pytest.param("read -r -d '' A <<'EOF' || true\n--bf16\n--ckpt-format fsdp_dtensor\nEOF", "$A", id="all lines"),
        pytest.param("readarray -d , -t A <<< --ckpt-format,fsdp_dtensor", "${A[@]}", id="readarray"),
        pytest.param("mapfile -t A < <(tr ' ' '\\n' < words.txt | tail -n 2)", '"${A[@]}"', id="the last lines"),
        pytest.param("IFS=,\nset -- --ckpt-format,fsdp_dtensor\nA=$1", "$A", id="split at commas"),
        pytest.param("F=xxfsdp_dtensor", "--ckpt-format ${F:2}", id="from a place on"),
        pytest.param("_f=fsdp_dtensor\nunset F", '--ckpt-format "${F:-$_f}"', id="a default whose name begins with _"),
        pytest.param("F=xxfsdp_dtensor", "--ckpt-format ${F: -12}", id="the end of a text"),
        pytest.param("F=FSDP_DTENSOR", "--ckpt-format ${F@L}", id="in small letters"),
        pytest.param("declare -l F=FSDP_DTENSOR", "--ckpt-format $F", id="a variable of small letters"),
        pytest.param("A=(x --ckpt-format fsdp_dtensor)", '"${A[@]:1}"', id="a part of an array"),
        pytest.param("A=(bf16 ckpt-format=fsdp_dtensor)", '"${A[@]/#/--}"', id="each with something in front"),
        pytest.param("A=(x fsdp_dtensor)", "--ckpt-format ${A[-1]}", id="the last element"),
        pytest.param("A=(x --ckpt-format fsdp_dtensor)\nunset 'A[0]'", '"${A[@]}"', id="without an element"),
        pytest.param("[[ f=fsdp_dtensor =~ ^f=(.+)$ ]]", "--ckpt-format ${BASH_REMATCH[1]}", id="a group"),
        pytest.param(
            'K=(a ckpt-format)\nV=(b fsdp_dtensor)\nA=\nfor ((i=0; i<${#K[@]}; i++)); do A+=" --${K[i]} ${V[i]}"; done',
            "$A",
            id="a loop that counts",
        ),
        pytest.param(
            'V=(--ckpt-format fsdp_dtensor)\nA=\ni=0\nwhile [ $i -lt 2 ]; do A="$A ${V[$i]}"; i=$((i+1)); done',
            "$A",
            id="a loop while",
        ),
        pytest.param("while read -r k v; do [ $k = big ] && F=$v; done < table.txt", "--ckpt-format $F", id="lines"),
        pytest.param(
            "while read -r k v <&3; do read -r o; [ $k = big ] && F=$v; done 3< table.txt",
            "--ckpt-format $F",
            id="lines from another descriptor",
        ),
        pytest.param(
            "while read -r k v; do grep -q a /etc/hosts && E=1; [ $k = big ] && F=$v; done < table.txt",
            "--ckpt-format $F",
            id="lines, and ways that differ elsewhere",
        ),
        pytest.param(
            "exec 4< table.txt\nread -r -u 4 k v\n{ read -r -u 4 k F; } < long.txt",
            "--ckpt-format $F",
            id="a descriptor that stays open",
        ),
        pytest.param(
            'exec {d}< table.txt\nF=fsdp_dtensor\nread -r -u "$d" k v', "--ckpt-format $F", id="a descriptor by name"
        ),
        pytest.param(
            "set -- -f fsdp_dtensor\nwhile getopts f: o; do F=$OPTARG; done", "--ckpt-format $F", id="getopts"
        ),
        pytest.param(
            'set -- x --format fsdp_dtensor\neval set -- "$(getopt -o \'\' -l format:,on -- "$@")"\n'
            "while [ $1 != -- ]; do case $1 in --format) F=$2; shift ;; esac; shift; done",
            "--ckpt-format $F",
            id="getopt",
        ),
        pytest.param(
            "V=$(printf '%03d:%s' 7 fsdp_dtensor)", "--ckpt-format ${V#007:}", id="printf behind a filled number"
        ),
        pytest.param("case a in a) X=1 ;& b) F=fsdp_dtensor ;; esac", "--ckpt-format $F", id="one case falls through"),
    ],
)
def test_what_a_flag_is_in_the_end(script: str, arguments: str) -> None:
    assert fmt(script, arguments) == Known("fsdp_dtensor")


@pytest.mark.parametrize(
    ("script", "arguments"),
    [
        pytest.param("F=$(awk '{x += $1} END {print x}' table.txt)", "--ckpt-format $F", id="a program of awk"),
        pytest.param(
            "F=$(jq -r 'reduce .args[] as $x (0; . + 1)' config.json)", "--ckpt-format $F", id="a program of jq"
        ),
        pytest.param("F=$(grep . table.txt words.txt)", "--ckpt-format $F", id="lines behind the names of their files"),
        pytest.param(
            'F=$(jq -nr --arg h "$(hostname)" \'if $h == "a" then "torch" else "torch_dist" end\')',
            "--ckpt-format $F",
            id="a question about a text that is not known",
        ),
        pytest.param("F=$(sed 's/a/\\U&/' table.txt)", "--ckpt-format $F", id="a sign that sed alone has"),
        pytest.param("F=$(cut -d, -f1 missing.csv)", "--ckpt-format $F", id="a file that is not there"),
        pytest.param("F=$(hostname | cut -d. -f1)", "--ckpt-format $F", id="a text that is not known"),
        pytest.param('exec {d}< table.txt\nread -r -u "$d" k F', "--ckpt-format $F", id="a descriptor by name"),
        pytest.param("{ read -r k F <&$d; } < table.txt", "--ckpt-format $F", id="some descriptor"),
    ],
)
def test_what_is_not_known_stays_unknown(script: str, arguments: str) -> None:
    assert fmt(script, arguments) in (UNKNOWN, NOT_NONE)


@pytest.mark.parametrize("folder", ["$PWD", "$SLURM_SUBMIT_DIR", "${PBS_O_WORKDIR:-$PWD}", "$(pwd)"])
def test_the_folder_of_the_checkout_has_the_files_of_the_tree(folder: str) -> None:
    for read in (f'source "{folder}/settings.env"', f"cd {folder}\nsource settings.env"):
        assert fmt(read, "--ckpt-format $F") == Known("fsdp_dtensor")


def test_a_flag_whose_name_is_not_known_may_be_any() -> None:
    recipe = only_recipe(f"{LAUNCH}--use-megatron-fsdp --$(hostname) x\n")
    assert recipe.setting("checkpoint.ckpt_format") is None or recipe.setting("checkpoint.ckpt_format").value == UNKNOWN


def test_a_finding_stands_where_the_text_was_taken_from() -> None:
    recipe = only_recipe(f"S=8:torch_dist\nIFS=: read -r N F <<< $S\n{LAUNCH}--ckpt-format $F\n")
    origin = recipe.setting("checkpoint.ckpt_format").origin
    assert origin is not None
    (source,) = origin.sources
    assert (source.span.line, source.span.column) == (1, 5)


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("echo '{}' | xargs torchrun pretrain_gpt.py", id="words of the input"),
        pytest.param(
            "echo fsdp_dtensor | xargs -I@ torchrun pretrain_gpt.py --use-megatron-fsdp --ckpt-format @", id="a mark"
        ),
        pytest.param("cat > job <<'EOF'\ntorchrun pretrain_gpt.py {}\nEOF\nsbatch job", id="a script without a suffix"),
        pytest.param(
            "cat > job <<ARGS\n\nARGS_A=({})\nARGS\necho 'torchrun pretrain_gpt.py ${{ARGS_A[@]}}' >> job\nsbatch job",
            id="a line that begins like the document's end",
        ),
        pytest.param(
            "cat > job <<'EOF'\n# —\nD=/a/$USER/b\nEOF\ncat >> job <<EOF\ntorchrun pretrain_gpt.py {}\nEOF\nsbatch job",
            id="a document with a folder of somebody, and other signs than ASCII",
        ),
        pytest.param(
            "tee job.sh <<'EOF' > /dev/null\ntorchrun pretrain_gpt.py {}\nEOF\nbash job.sh", id="written by tee"
        ),
        pytest.param("bash <(echo torchrun pretrain_gpt.py {})", id="a script that a command prints"),
        pytest.param("bsub -J x -n 2 <<EOF\ntorchrun pretrain_gpt.py {}\nEOF", id="a job of LSF"),
        pytest.param("bsub -q gpu torchrun pretrain_gpt.py {}", id="a command that LSF starts"),
        pytest.param('bsub -q gpu -R "span[ptile=1] x" "cd /x; torchrun pretrain_gpt.py {}"', id="a line for LSF"),
        pytest.param("oarsub -l gpu=8 'python pretrain_gpt.py {}'", id="a line for OAR"),
        pytest.param('bash -c \'torchrun "$0" "$@"\' pretrain_gpt.py {}', id="the words behind a text of a shell"),
        pytest.param("sh -c 'python -u $0 --bf16 $1 $2 $3' pretrain_gpt.py {}", id="a word after the other"),
        pytest.param("bash -eo pipefail -c 'python pretrain_gpt.py {}'", id="an option of the shell with a value"),
        pytest.param(
            "cat > $T/rank.sh <<'EOF'\npython pretrain_gpt.py \"$@\"\nEOF\nsrun --label $T/rank.sh {}",
            id="a script behind an option",
        ),
        pytest.param("echo torchrun pretrain_gpt.py {} | qsub -N x", id="a job of PBS"),
        pytest.param(
            "cat > ./rank.sh <<'EOF'\npython pretrain_gpt.py \"$@\"\nEOF\ntorchrun --no-python ./rank.sh {}",
            id="a script for each rank",
        ),
        pytest.param("f() {{ torchrun pretrain_gpt.py {}; }}\ntrap f EXIT", id="at the end of the script"),
        pytest.param("flux run -n 8 python pretrain_gpt.py {}", id="a program that is not known in front"),
        pytest.param('lep job create --command "torchrun pretrain_gpt.py {}"', id="as an option's value"),
        pytest.param('ssh host "torchrun pretrain_gpt.py ${{A[*]@Q}} {}"', id="quoted for another shell"),
    ],
)
def test_a_launch_that_is_started_by_something_else(script: str) -> None:
    words = "--use-megatron-fsdp --ckpt-format fsdp_dtensor"
    recipe = only_recipe(script.format(words) if "@ " not in script and not script.endswith("@") else script)
    assert recipe.setting("ddp.use_megatron_fsdp").value == Known(True)


TEXT = "b:2:x\na:1:y y\n\nb:2:x\n"
COMMANDS = [
    ["cut", "-d:", "-f2-"],
    ["cut", "-c1-3"],
    ["tr", "a-b", "A-B"],
    ["tr", "-d", "[:digit:]"],
    ["tr", "-s", " \n", " "],
    ["sed", "s/\\([a-z]\\):/<\\1>/g"],
    ["sed", "-E", "-n", "/^a/,$p"],
    ["sed", "-e", "2d", "-e", "s/x$/&&/"],
    ["grep", "-v", "^$"],
    ["grep", "-oE", "[0-9]:[xy]"],
    ["awk", "-F:", "NF > 1 {print $1, $NF}"],
    ["awk", "!/^b/"],
    ["awk", "-v", "n=1", "NR == n+1 {print $1}"],
    ["awk", 'BEGIN{FS=":"} NF > 1 {print $(NF-1)}'],
    ["awk", 'NR == 1 {printf "<%s> ", $1}'],
    ["head", "-n", "2"],
    ["tail", "-n", "+3"],
    ["sort", "-u"],
    ["sort", "-r"],
    ["uniq"],
    ["wc", "-l"],
    ["tac"],
    ["rev"],
    ["paste", "-sd,"],
    ["xargs"],
    ["seq", "2", "3", "9"],
    ["basename", "-s", ".py", "/a/b.py"],
    ["expr", "4", "*", "3"],
    ["grep", "-e", "^a", "-e", "^$"],
    ["grep", "-vF", "-e", ".", "-e", "y"],
    ["getopt", "-o", "ab:", "-l", "name:,on", "-n", "run", "--", "--on", "x", "-b", "it's", "--name=y z", "-a", "w"],
    ["getopt", "--options=+a", "--long", "size:", "--", "-a", "--si", "8b", "--", "-b"],
    ["getopt", "-u", "-o", "a", "--", "b", "-a"],
    ["getopt", "ab:", "-b", "x", "y", "-a"],
    ["getopt", "-o", "", "--long", "pp:", "--"],
    ["getopt", "--long", "pp:", "a", "--pp", "2", "-a"],
    ["getopt", "-u", "--", "ab", "-a", "x"],
]
QUERIES = [
    ".",
    "{a, c: .d.e, (.a): 1}",
    '{"x\\(.n)": .d | .e, y: (.n + 1)}',
    ".d * {e: {f: 2}}",
    ".d as $x | $x.e",
    "[.l[] | select(. > 1 and . != 3)]",
    "if .n == 1 then .a elif .n then .l else empty end",
    '.l | map(tostring) | join(",")',
    "to_entries | map(.key)",
    'with_entries(select(.value | type == "number"))',
    "[.l[] - 1] | add",
    ".d | map_values(.f // .)",
    '.a | ltrimstr("b"), ascii_upcase, split(""), startswith("b")',
    "[.l[], .a] | @sh",
    "[.nope, .n] | map(values) | length",
    "$who, {$who}",
    ". | -1, (.n | not)",
    "reduce .l[] as $x (0; . + $x)",
    ". as $all | $all.d",
    '"--\\(.a | gsub("-"; "_"))=\\(.l)"',
    ".l[1:], .l[:-1], .a[0:1]",
    "[limit(2; .l[])], first(.l[]), last(.l[])",
    ".n = 5 | .d.new.key = [.l[0]]",
    ".l[1] |= . * 10 | .n += 1 | .nope //= 3",
    ".d |= with_entries(.key |= ascii_upcase)",
    "del(.l[0, 1], .d.e)",
    "[paths], [leaf_paths], [.. | numbers]",
    '[paths(scalars) as $path | "\\($path | join("."))=\\(getpath($path))"]',
    '.a | test("^b.c"), sub("[a-c]"; "x"), . / "-"',
    "[range(2; 4)], (.l | any(. > 2), all(. > 2), reverse, max), 7 / 2",
    "[.l, [.l]] | flatten | sort | unique",
    "1 + 2 as $x | $x * 10, (.z // 42), (if 0 then 1 else 2 end), 0.5 * 2",
    '[(1, 2) + (10, 20)], "\\(1, 2)-\\(3, 4)"',
    'del(.l[1, 0]), (.l | contains([2])), (.a | contains("-"))',
]
UNKNOWN_QUERIES = [
    "def twice: . * 2; .n | twice", "try error catch .", "env.HOME", ".n / 0", "[range(2000)]", ".a[]?", ".a[0]?",
    ".l[-1] = 9", "[recurse(.d)]", 'reduce range(60) as $i ("aa"; . + .)', "reduce range(60) as $i (3; . * .)",
    "[., inputs]",
]  # fmt: skip
MERGED = ["reduce .[] as $layer ({}; . * $layer)", ".[0] * .[1]", "add", "map(.k)"]
DATA = '{"a": "b-c", "n": 1, "d": {"e": {"f": true, "g": null}}, "l": [1, 2, 3], "o": 1e-4}'


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_what_a_program_prints_is_what_the_real_one_prints(command: list[str]) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip("this machine does not have the program")
    real = subprocess.run(command, input=TEXT, capture_output=True, text=True, check=False)
    assert printed_by(command[0], command[1:], TEXT, lambda path: None) == real.stdout


@pytest.mark.parametrize("said", QUERIES)
@pytest.mark.parametrize("options", [["-r"], ["-c"]], ids=" ".join)
def test_a_query_that_is_known_prints_what_jq_does(said: str, options: list[str]) -> None:
    if shutil.which("jq") is None:
        pytest.skip("this machine does not have jq")
    arguments = [*options, "--arg", "who", "me", said]
    real = subprocess.run(["jq", *arguments], input=DATA, capture_output=True, text=True, check=False).stdout
    assert printed_by("jq", arguments, DATA, lambda path: None) == real


@pytest.mark.parametrize("said", UNKNOWN_QUERIES)
def test_a_query_that_is_not_known_prints_nothing_that_is(said: str) -> None:
    assert printed_by("jq", [said], DATA, lambda path: None) is None


@pytest.mark.parametrize("said", MERGED)
@pytest.mark.parametrize("options", [["-s"], ["-n"]], ids=" ".join)
def test_a_query_of_several_files_prints_what_jq_does(said: str, options: list[str], tmp_path: Path) -> None:
    if shutil.which("jq") is None:
        pytest.skip("this machine does not have jq")
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for file, data in zip(files, ('{"k": {"a": 1, "b": [1]}, "l": 2}', '{"k": {"b": 3}}'), strict=True):
        file.write_text(data)
    said = said if options == ["-s"] else f"[inputs] | {said}"
    arguments = ["-c", *options, said, *map(str, files)]
    real = subprocess.run(["jq", *arguments], capture_output=True, text=True, check=True).stdout
    assert printed_by("jq", arguments, None, lambda path: Path(path).read_text()) == real


def test_a_flag_that_a_query_makes_of_a_key_stands_at_that_key() -> None:
    flags = '{"flags": {\n  "use-megatron-fsdp": true,\n  "ckpt-format": "torch_dist"\n}}\n'
    made = '.flags | to_entries[] | if .value == true then "--\\(.key)" else "--\\(.key) \\(.value)" end'
    (recipe,) = recipes(f"torchrun pretrain_gpt.py $(jq -r '{made}' run.json)\n", {"run.json": flags})
    for setting, line in (("ddp.use_megatron_fsdp", 2), ("checkpoint.ckpt_format", 3)):
        origin = recipe.setting(setting).origin
        assert origin is not None
        assert (origin.point.path, origin.point.line) == ("run.json", line)


def test_a_script_that_is_the_value_of_an_option_is_not_what_a_command_starts() -> None:
    files = {"setup.sh": "torchrun pretrain_gpt.py --use-torch-fsdp2\n"}
    recipe = only_recipe("srun --task-prolog setup.sh python pretrain_gpt.py --use-megatron-fsdp\n", files)
    assert recipe.setting("dist.use_torch_fsdp2").value == Known(False)


@pytest.mark.parametrize(
    ("first", "second", "read", "is_first"),
    [
        ("/tmp/a.$$", "/tmp/b.$$", "/tmp/a.$$", True),
        ("$T/a", "$T/b", "$T/a", True),
        ("/tmp/x.$A", "/tmp/x.$B", "/tmp/x.$A", True),
        ("/tmp/x.$A", "/tmp/x.$B", "/tmp/x.$B", False),
        ("/tmp/x.$A", "/tmp/x.$B", "/tmp/x.$C", False),
        ("/tmp/x.$A", "/tmp/y.$A", "/tmp/x.$C", True),
        ("$(mktemp)", "$(mktemp)", "$(mktemp)", False),
    ],
)
def test_files_whose_names_are_not_known_are_told_apart(first: str, second: str, read: str, is_first: bool) -> None:
    files = f'echo --use-megatron-fsdp > "{first}"\necho --bf16 > "{second}"\n'
    found = recipes(f'{files}torchrun pretrain_gpt.py --ckpt-format fsdp_dtensor $(cat "{read}")\n')
    assert any(each.setting("ddp.use_megatron_fsdp").value == Known(True) for each in found) is is_first
