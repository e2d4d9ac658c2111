"""Launches of scripts, as a real bash starts them: each word, and each variable of interest."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.shell.run import ScriptRunner
from mfsdp_lint.readers.shell.script import known

BASH = shutil.which("bash")

RECORD = """#!/bin/bash
for word in "$@"; do printf '%s\\x1f' "$word" >> "$RECORD"; done
printf '\\n' >> "$RECORD"
"""
SUBMIT = '#!/bin/bash\nif [ "$#" -gt 0 ]; then exec bash "$@"; else exec bash; fi\n'

FILES = {
    "args.txt": "--tp 2\n# --tp 4\n--bf16\n",
    "plain.txt": "--tp 2\n--save /c\n",
    "table.csv": "name,tp,more\none,1,--bf16\ntwo,2,--a --b\n",
    "job.in": "torchrun t.py --tp $TP --save ${DIR} --x $OTHER\n",
    "lib.sh": 'add() {\n  local -n out=$1\n  out+=(--tp "${2:-1}")\n}\n'
    "lines() { printf '%s\\n' --bf16 --save \"$1\"; }\n",
}

SCRIPTS: Mapping[str, str] = {
    "a heredoc into a shell": "X=2\ncat <<EOF | bash\ntorchrun t.py --tp $X\nEOF\n",
    "lines of a text that go on": "A='--tp 2'\nC=\"torchrun t.py \\\n  $A \\\n  ${B:-x} \\\n  $(echo c) \\\n  "
    '$((1 + 1)) \\\n"\n$C\neval "$C --y"\nbash -c "$C \\\n $A"\n',
    "a list in a heredoc": "A=(--tp 2 --bf16)\ncat > j.sh <<EOF\ntorchrun t.py ${A[@]} --x ${A[*]}\nEOF\nbash j.sh\n",
    "arguments in a heredoc": "f() {\n  cat > j.sh <<EOF\ntorchrun t.py $@ --x $*\nEOF\n}\nf --tp 2\nbash j.sh\n",
    "lines of a heredoc that go on": "A='--tp 2'\ncat > j.sh <<EOF\ntorchrun \\\\\n  t.py \\\\\n  $A \\\\\n"
    "  --x ${A}\\\n b\nEOF\nbash j.sh\n",
    "signs that a heredoc keeps": "A=1\ncat > j.sh <<EOF\nA=2\nB=\\$(echo \\`echo 3\\`)\ntorchrun t.py $A \\$A \\${B} "
    '"$(echo "a )")" \\\\\\$A\nEOF\nbash j.sh\n',
    "quotes in a heredoc": 'A=\'b  c\'\ncat > j.sh <<EOF\ntorchrun t.py "$A" \'$A\' \\"$A\\" "it\'s ${U:-"d  e"}" '
    '"$(echo "$A" \'f )\')"\nEOF\nbash j.sh\n',
    "a heredoc that keeps its first sign": "cat > j.sh <<EOF\n  \\$(echo torchrun t.py) \\`echo a\\` \\\n  b\nEOF\n"
    "bash j.sh\n",
    "a heredoc of usage": "usage() {\n  cat <<EOF\n  $0 --a 1\\\n    --b 2\\\n    it's \"so\n$0 --c\\\n --d\nEOF\n}\n"
    'usage > /dev/null\ntorchrun t.py # <<EOF\nB="<<EOF"\ntorchrun t.py $B\n',
    "numbers that braces count": "for i in {1..3} {009..011} a{-01..1}.x; do torchrun t.py $i {1..2}; done\n",
    "words into a shell": "echo 'torchrun t.py --tp 2' | bash\n",
    "a file into a job": "echo 'torchrun t.py --tp 2' > j.sh\ncat j.sh | sbatch\n",
    "a file as input": "echo 'torchrun t.py --tp 2' > j.sh\nsbatch < j.sh\n",
    "words for xargs": "cat plain.txt | xargs torchrun t.py --bf16\n",
    "xargs without input": "echo --tp 2 | xargs -r torchrun t.py\n",
    "lines that are left out": "F=$(grep -v '^#' args.txt | tr '\\n' ' ')\ntorchrun t.py $F\n",
    "with an extended pattern": "torchrun t.py $(grep -vE '^(#|$)' args.txt)\n",
    "lines of a file": 'mapfile -t A < plain.txt\ntorchrun t.py "${A[@]}" ${A[@]}\n',
    "lines of a function": '. ./lib.sh\nmapfile -t A < <(lines /c)\ntorchrun t.py "${A[@]}"\n',
    "what a function prints": ". ./lib.sh\ntorchrun t.py $(lines /c)\n",
    "a name for another variable": '. ./lib.sh\nA=(t.py)\nadd A\nadd A 4\ntorchrun "${A[@]}"\n',
    "an associative array": 'declare -A P=([a]="--tp 1" [b]="--tp 2 --bf16")\nK=b\ntorchrun t.py ${P[$K]} "${P[a]}"\n',
    "its entries, one by one": "declare -A P\nP[tp]=2\nP[save-dir]=/c\nP[tp]+=1\n"
    "torchrun t.py --tp ${P[tp]} ${P[save-dir]}\n",
    "whether it has an entry": "declare -A P=([a]=1)\ntorchrun t.py ${P[a]+--yes} ${P[b]+--no} ${P[b]:-none}\n",
    "its keys": 'declare -A P=([tp]=2)\nfor k in "${!P[@]}"; do torchrun t.py "--$k" "${P[$k]}"; done\n',
    "the numbers of an array": 'A=(x y)\nfor i in "${!A[@]}"; do torchrun t.py $i ${A[$i]}; done\n',
    "the rows of a table": "while IFS=, read -r name tp more; do\n  [[ $name == name ]] && continue\n"
    '  torchrun t.py --tp "$tp" $more < /dev/null\ndone < table.csv\n',
    "rows in the script": "while read -r tp more; do\n  torchrun t.py --tp $tp $more < /dev/null\ndone <<'T'\n"
    "1   --bf16  --x\n2\nT\n",
    "rows that are printed": "printf '%s\\n' 1 2 | while read -r tp; do torchrun t.py --tp $tp < /dev/null; done\n",
    "variables that are filled in": "export TP=2 DIR=/c OTHER=z\nenvsubst < job.in > job.sh\nbash job.sh\n",
    "only some of them": "export TP=2 DIR=/c OTHER=z\nenvsubst '$TP ${DIR}' < job.in > job.sh\nbash job.sh\n",
}


def by_bash(script: str, folder: Path) -> list[list[str]]:
    programs = folder / "bin"
    programs.mkdir()
    for name, text in (("torchrun", RECORD), ("sbatch", SUBMIT)):
        (programs / name).write_text(text, encoding="utf-8")
        (programs / name).chmod(0o755)
    (folder / "run.sh").write_text(script, encoding="utf-8")
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "RECORD": str(folder / "record")}
    subprocess.run([str(BASH), "run.sh"], cwd=folder, env=environment, check=True, timeout=20)
    lines = (folder / "record").read_text(encoding="utf-8").splitlines()
    return [line.split("\x1f")[:-1] for line in lines]


@pytest.mark.skipif(BASH is None, reason="there is no bash")
@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_a_script_starts_what_bash_starts(script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "envsubst" in script and shutil.which("envsubst") is None:
        pytest.skip("there is no envsubst")
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    started = by_bash(script, tmp_path)
    (tmp_path / "run.sh").unlink()
    runner = ScriptRunner("run.sh", Sources({"run.sh": script}))
    runner.run(script)
    found = [[known(launch.started.program), *map(known, launch.started.arguments)] for launch in runner.launches]
    assert sorted(map(str, found)) == sorted(map(str, started))
