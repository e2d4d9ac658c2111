"""Launches whose words stand apart: in profiles, tables, variables of targets, units, configurations and presets.

Each finding stands at the text that decides: where the word is written, not where all words are handed on.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.cli import main
from tests.readers.test_started_by_others import BAD, CONNECTIONS, FORMAT, FSDP, GOOD, NAME, RUN, Files, told

LAUNCH = "subprocess.run(['torchrun', 'pretrain_gpt.py', *words])\n"
OF_PAIRS = (
    "words = []\nfor k, v in args.items():\n    name = '--' + k.replace('_', '-')\n"
    f"    words += [name] if v is True else [name, str(v)]\n{LAUNCH}"
)
UNIT = f"[Service]\nEnvironment=FMT=fsdp_dtensor\nExecStart=/usr/bin/{RUN} --save %h/c --ckpt-format ${{FMT}}\n"
RULE = f'rule train:\n    params: fmt=config["fmt"]\n    shell:\n        "{RUN} --save /c "\n'
LAUNCHES_FILE = (
    'recipe=$1\nname=$(yq .name "$recipe")\nargs=$(yq \'.args | join(" ")\' "$recipe")\n'
    'sbatch -J $name --wrap "srun python pretrain_gpt.py $args"\n'
)
TEMPLATE = {
    "job.tmpl": f"#!/bin/bash\n#SBATCH -o $log/$name\ntorchrun pretrain_gpt.py {FSDP} --save /c --ckpt-format $fmt\n",
    "runs.csv": "name,fmt\na,torch_dist\nb,fsdp_dtensor\n",
}
SUBMIT = (
    "import csv, os, pathlib, string, subprocess\n"
    "HERE = pathlib.Path(__file__).parent\n"
    "TEMPLATE = string.Template((HERE / 'job.tmpl').read_text())\n"
    "with open(HERE / 'runs.csv') as file:\n"
    "    rows = list(csv.DictReader(file))\n"
    "for row in rows:\n"
    "    job = TEMPLATE.substitute(VALUES)\n"
    "    subprocess.run(['sbatch'], input=job, text=True)\n"
)

CASES: dict[str, tuple[Files, list[str]]] = {
    # Shell
    "a profile that sources another beside itself": (
        {
            "run.sh": f'. "$(dirname "$0")/profiles/big.sh"\n{RUN} {GOOD} --seed $SEED\n',
            "profiles/big.sh": 'source "$(dirname "${BASH_SOURCE[0]}")/common.sh"\nSEED=3\n',
            "profiles/common.sh": f"export {NAME}=1\n",
        },
        [f"profiles/common.sh:1 {CONNECTIONS}"],
    ),
    "a function that reads a file beside its own": (
        {
            "run.sh": f'HERE=${{BASH_SOURCE[0]%/*}}\n. "$HERE/lib/f.sh"\n{RUN} $(words)\n',
            "lib/f.sh": 'words() { cat "$(dirname "${BASH_SOURCE[0]}")/words.txt"; }\n',
            "lib/words.txt": f"{BAD}\n",
        },
        [f"lib/words.txt:1 {FORMAT}"],
    ),
    "a row of a table for each task": (
        {
            "run.sbatch": (
                "#!/bin/bash\n#SBATCH --array=0-1\n"
                'ROW=$(sed -n "$((SLURM_ARRAY_TASK_ID + 2))p" runs.csv)\nIFS=, read -r NAME F <<< "$ROW"\n'
                f"{RUN} --save /c --ckpt-format $F\n"
            ),
            "runs.csv": "name,fmt\na,fsdp_dtensor\nb,torch_dist\n",
        },
        [f"runs.csv:3 {FORMAT}"],
    ),
    "the loop that looks for the row of its task": (
        {
            "run.sbatch": (
                "#!/bin/bash\n#PBS -J 1-2\nN=0\nwhile IFS=, read -r a b; do\n  N=$((N+1))\n"
                f'  [ "$N" = "$PBS_ARRAY_INDEX" ] && F=$b\ndone < runs.csv\n{RUN} --save /c --ckpt-format $F\n'
            ),
            "runs.csv": "a,fsdp_dtensor\nb,torch_dist\nc,torch\n",
        },
        [f"runs.csv:2 {FORMAT}"],
    ),
    "two assignments on a line before a command": (
        {"run.sh": f"F=torch_dist N=8\n{RUN} --save /c --ckpt-format $F\n"},
        [f"run.sh:1 {FORMAT}"],
    ),
    "which hold for it alone where the line goes on": (
        {"run.sh": f"F=fsdp_dtensor\nF=torch_dist N=8 \\\n{RUN} --save /c --ckpt-format $F\n"},
        [],
    ),
    # Make
    "what a target adds for its prerequisites": (
        {
            "Makefile": (
                f"ARGS = {FSDP} {GOOD}\ntrain:\n\ttorchrun pretrain_gpt.py $(ARGS)\n"
                "fsdp: ARGS += --seed 3\nfsdp: train\nbig: ARGS += --ckpt-format torch_dist\nbig: fsdp\n"
            )
        },
        [f"Makefile:6 {FORMAT}"],
    ),
    "and what it keeps to itself": (
        {"Makefile": f"ARGS = {GOOD}\ntrain:\n\t{RUN} $(ARGS)\nother: private ARGS += {BAD}\nother: train\n"},
        [],
    ),
    # TOML
    "the environment of a task": (
        {"pyproject.toml": f'[tool.poe.tasks.t]\ncmd = "{RUN} {GOOD}"\nenv = {{ {NAME} = "1" }}\n'},
        [f"pyproject.toml:3 {CONNECTIONS}"],
    ),
    "that of all tasks, which one replaces": (
        {
            "mise.toml": (
                f'[env]\nF = "torch_dist"\n[tasks.a]\nrun = ["true", "{RUN} --save /c --ckpt-format $F"]\n'
                f"[tasks.b]\nenv = {{ F = 'fsdp_dtensor' }}\nrun = '''\n{RUN} --save /c --ckpt-format $F\n'''\n"
            )
        },
        [f"mise.toml:2 {FORMAT}"],
    ),
    "a script that a task starts in its environment": (
        {
            "pyproject.toml": (
                '[project]\nrequires-python = ">=3.10"\n[tool.poe.tasks.t]\ncmd = "bash run.sh"\nenv.KIND = "bad"\n'
                "[tool.poe.env]\nMEGATRON = '../Megatron-LM'\n"
            ),
            "run.sh": f'f() {{ case "$1" in bad) echo {BAD} ;; *) echo {GOOD} ;; esac; }}\n{RUN} $(f "${{KIND:-}}")\n',
        },
        [f"run.sh:1 {FORMAT}"],
    ),
    # A configuration that a shell script is given
    "each file that has the keys of its queries": (
        {
            "launch.sh": LAUNCHES_FILE,
            "recipes/a.yaml": f"name: a\nargs:\n  - {FSDP}\n  - {BAD}\n",
            "recipes/b.yaml": f"name: b\nargs: ['{FSDP}', '{GOOD}']\n",
            "recipes/others.yaml": f"args: [{BAD}]\n",
        },
        [f"recipes/a.yaml:4 {FORMAT}"],
    ),
    "a file that it has by default": (
        {
            "launch.sh": LAUNCHES_FILE.replace("$1", "${1:-recipes/b.yaml}"),
            "recipes/a.yaml": f"name: a\nargs: ['{FSDP}', '{BAD}']\n",
            "recipes/b.yaml": f"name: b\nargs: ['{FSDP}', '{GOOD}']\n",
        },
        [],
    ),
    # A template that Python fills in
    "a row of a table": (
        {**TEMPLATE, "submit.py": SUBMIT.replace("VALUES", "**row, log=pathlib.Path('/logs') / row['name']")},
        [f"runs.csv:2 {FORMAT}"],
    ),
    "a row and the program's own text": (
        {**TEMPLATE, "submit.py": SUBMIT.replace("VALUES", "row, fmt='torch_dist', log=os.environ['LOGS']")},
        [f"submit.py:7 {FORMAT}"],
    ),
    "a value that is not known": (
        {**TEMPLATE, "submit.py": SUBMIT.replace("VALUES", "row, fmt=os.environ['FMT'], log='/logs'")},
        [],
    ),
    # A script that is named from another root
    "what lies beside it there": (
        {
            "pod.yaml": "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - command: [/jobs/run.sh, /jobs/a.args]\n",
            "jobs/run.sh": f"{RUN} $(sed 's/#.*//' \"$1\")\n",
            "jobs/a.args": f"# of the checkpoint\n{BAD}\n",
        },
        [f"jobs/a.args:2 {FORMAT}"],
    ),
    "what lies elsewhere may be anything": (
        {
            "pod.yaml": "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - command: [/jobs/run.sh, /data/a.args]\n",
            "jobs/run.sh": f"{RUN} $(sed 's/#.*//' \"$1\")\n",
            "data/a.args": f"{BAD}\n",
        },
        [],
    ),
    # systemd
    "a file of variables stands above the unit": (
        {"t.service": f"{UNIT}EnvironmentFile=/etc/x/t.env\n", "etc/t.env": "FMT=torch_dist\n"},
        [f"etc/t.env:1 {FORMAT}"],
    ),
    "one that is not at hand may say anything": ({"t.service": f"{UNIT}EnvironmentFile=-/etc/x/t.env\n"}, []),
    "a drop-in of the unit": (
        {"t.service": UNIT, "t.service.d/50-fmt.conf": "[Service]\nEnvironment=FMT=torch_dist\n"},
        [f"t.service.d/50-fmt.conf:2 {FORMAT}"],
    ),
    "a drop-in that starts something else": (
        {"t.service": UNIT.replace("dtensor", "x"), "t.service.d/a.conf": "[Service]\nExecStart=\nExecStart=true\n"},
        [],
    ),
    "the instances of a template": (
        {
            "t@.service": f"{UNIT}EnvironmentFile=/etc/x/all.env\nEnvironmentFile=/etc/x/%i.env\n",
            "etc/all.env": "FMT=fsdp_dtensor\n",
            "etc/a.env": "FMT=torch_dist\n",
            "etc/b.env": "FMT=fsdp_dtensor\n",
            "etc/other.env": "PORT=1\n",
        },
        [f"etc/a.env:1 {FORMAT}"],
    ),
    "a template without the files of its instances": (
        {"t@.service": f"{UNIT}EnvironmentFile=/etc/x/%i.env\n", "etc/other.env": "PORT=1\n"},
        [],
    ),
    "an instance, by its name": (
        {"t@torch_dist.service": UNIT.replace("fsdp_dtensor", "%i"), "t@.service": UNIT.replace("fsdp_dtensor", "%i")},
        [f"t@torch_dist.service:2 {FORMAT}"],
    ),
    # Snakemake
    "a parameter from the configuration": (
        {
            "Snakefile": f'configfile: "conf/c.yaml"\n{RULE}        "--ckpt-format {{params.fmt}}"\n',
            "conf/c.yaml": "other: 1\nfmt: torch_dist\n",
        },
        [f"conf/c.yaml:2 {FORMAT}"],
    ),
    "a parameter that is calculated": (
        {
            "Snakefile": RULE.replace('config["fmt"]', "lambda w: w.fmt") + '        "--ckpt-format {params.fmt}"\n',
        },
        [],
    ),
    # Python
    "presets that inherit, in another module": (
        {
            "run.py": f"import subprocess\nfrom presets import get\nargs = get('big')\n{OF_PAIRS}",
            "presets.py": (
                "P = {'base': {'parent': None, 'save': '/c'},\n     'fsdp': {'parent': 'base',\n"
                "     'use_megatron_fsdp': True,\n     'ckpt_format': 'torch_dist'},\n     'big': {'parent': 'fsdp'}}\n"
                "def get(name):\n    own = dict(P[name])\n    parent = own.pop('parent')\n"
                "    return {**get(parent), **own} if parent else own\n"
            ),
        },
        [f"presets.py:4 {FORMAT}"],
    ),
    "entries that are set one by one": (
        {
            "run.py": (
                "import subprocess\nargs = {'save': '/c'}\nargs['use_megatron_fsdp'] = True\n"
                f"kind = 'torch' + '_dist'\nargs['ckpt_format'] = kind\n{OF_PAIRS}"
            )
        },
        [f"run.py:5 {FORMAT}"],
    ),
    "tables of TOML that are merged": (
        {
            "run.py": (
                "import subprocess\nimport tomllib\njob = tomllib.load(open('job.toml', 'rb'))\n"
                f"args = job['common'] | job['fsdp']\n{OF_PAIRS}"
            ),
            "job.toml": "[common]\nsave = '/c'\nckpt-format = 'torch_dist'\n[fsdp]\nuse-megatron-fsdp = true\n",
        },
        [f"job.toml:3 {FORMAT}"],
    ),
    "a list of another module": (
        {
            "run.py": "import os\nfrom flags import words\nos.system('torchrun pretrain_gpt.py ' + words())\n",
            "flags.py": f"FSDP = '{FSDP}'\nINIT = ['--save /c', '--ckpt-format torch_dist']\n"
            "def words():\n    return ' '.join([FSDP, *INIT])\n",
        },
        [f"flags.py:2 {FORMAT}"],
    ),
    "the default of an option": (
        {
            "run.py": (
                "import argparse\nimport subprocess\np = argparse.ArgumentParser()\n"
                "p.add_argument('--fmt', default='torch_dist',\n  choices=['torch_dist', 'fsdp_dtensor'])\n"
                f"a = p.parse_args()\nwords = ['--use-megatron-fsdp', '--save', '/c', '--ckpt-format', a.fmt]\n{LAUNCH}"
            )
        },
        [f"run.py:4 {FORMAT}"],
    ),
    "each row of a table, where an option chooses": (
        {
            "run.py": (
                "import argparse\nimport subprocess\nMODELS = {\n    '8b': {'fmt': 'fsdp_dtensor'},\n"
                "    '70b': {'fmt': 'torch_dist'},\n}\np = argparse.ArgumentParser()\np.add_argument('--model')\n"
                "cfg = MODELS[p.parse_args().model]\n"
                f"words = ['--use-megatron-fsdp', '--save', '/c', '--ckpt-format', cfg['fmt']]\n{LAUNCH}"
            )
        },
        [f"run.py:5 {FORMAT}"],
    ),
    "tables with the same keys": (
        {
            "run.py": (
                "import subprocess\nimport sys\nFMT = {'a': 'torch_dist', 'b': 'fsdp_dtensor'}\n"
                "FSDP = {'a': [], 'b': ['--use-megatron-fsdp']}\n"
                f"words = ['--save', '/c', '--ckpt-format', FMT[sys.argv[1]], *FSDP[sys.argv[1]]]\n{LAUNCH}"
            )
        },
        [],
    ),
    "functions of a table": (
        {
            "run.py": (
                "import os\nimport subprocess\ndef run(fmt):\n    words = ['--use-megatron-fsdp', '--save', '/c']\n"
                "    subprocess.run(['torchrun', 'pretrain_gpt.py', *words, '--ckpt-format', fmt])\n"
                "def good():\n    run('fsdp_dtensor')\ndef bad():\n    run('torch_dist')\n"
                "{'good': good, 'bad': bad}[os.environ['KIND']]()\n"
            )
        },
        [f"run.py:9 {FORMAT}"],
    ),
    "each file with the keys that a launcher reads": (
        {
            "run.py": (
                "import argparse\nimport subprocess\nimport yaml\np = argparse.ArgumentParser()\n"
                "p.add_argument('--config')\nwith open(p.parse_args().config) as f:\n    cfg = yaml.safe_load(f)\n"
                "words = ['--use-megatron-fsdp', '--save', '/c', '--ckpt-format', cfg['fmt']]\n"
                f"words += ['--num-layers', str(cfg['layers'])]\n{LAUNCH}"
            ),
            "conf/bad.yaml": "layers: 4\nfmt: torch_dist\n",
            "conf/worse.yaml": "layers: 8\n\nfmt: torch_dist\n",
            "conf/good.yaml": "layers: 4\nfmt: fsdp_dtensor\n",
            "conf/other.yaml": "fmt: torch\n",
        },
        [f"conf/bad.yaml:2 {FORMAT}", f"conf/worse.yaml:3 {FORMAT}"],
    ),
    "a path that is handed to a helper": (
        {
            "run.py": (
                "import json\nimport subprocess\nimport sys\nfrom pathlib import Path\ndef load(path):\n"
                "    return json.loads(Path(path).read_text())\nargs = load(sys.argv[1])['args']\n"
                f"{OF_PAIRS}"
            ),
            "job.json": '{"args": {"use_megatron_fsdp": true, "save": "/c",\n "ckpt_format": "torch_dist"}}',
            "package.json": '{"name": "x"}',
        },
        [f"job.json:2 {FORMAT}"],
    ),
    "flags alone": (
        {
            "run.py": (
                f"import subprocess\nimport sys\nimport yaml\nargs = yaml.safe_load(open(sys.argv[1]))\n{OF_PAIRS}"
            ),
            "job.yaml": "use_megatron_fsdp: true\nsave: /c\nckpt_format: torch_dist\n",
            "docs.yaml": "title: x\nsave: y\n",
        },
        [f"job.yaml:3 {FORMAT}"],
    ),
    "no words that nobody gives": (
        {
            "run.py": (
                "import subprocess\nimport sys\nargs = {'use_megatron_fsdp': True, 'save': '/c', 'ckpt_format': 'x'}\n"
                "args.update({'ckpt_format': 'fsdp_dtensor'})\n"
                f"args.update(dict(a.split('=', 1) for a in sys.argv[1:]))\n{OF_PAIRS}"
            )
        },
        [],
    ),
}


@pytest.mark.parametrize(("files", "wanted"), CASES.values(), ids=CASES)
def test_a_finding_stands_at_the_text_that_decides(
    files: Files, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    assert told(files, tmp_path, capsys) == wanted


def test_a_launch_whose_words_are_not_known_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    unknown = "import subprocess\nfrom elsewhere import load\nargs = {'use_megatron_fsdp': True}\nargs.update(load())\n"
    Path("run.py").write_text(unknown + OF_PAIRS.replace("[]", "['--micro-batch-size', '1']"))
    main(["runs", "--no-cache", "--target-core", "0.16.1", "."])
    assert "run.py:9: not followed: the words that pretrain_gpt.py is given are not known" in capsys.readouterr().out


def test_on_a_way_with_unknown_words_nothing_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    unknown = "import subprocess\nfrom elsewhere import load\nargs = {'use_megatron_fsdp': True}\n"
    Path("run.py").write_text(f"{unknown}args.update(load() or {{}})\n{OF_PAIRS}")
    main(["runs", "--no-cache", "--target-core", "0.16.1", "."])
    assert "FSDP megatron-fsdp|?" in capsys.readouterr().out


def test_the_rows_of_a_large_table_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "MODELS = {f'm{i}': {'fmt': 'torch_dist'} for i in range(17)}\n"
    words = f"words = ['--use-megatron-fsdp', '--ckpt-format', MODELS[sys.argv[1]]['fmt']]\n{LAUNCH}"
    Path("run.py").write_text(f"import subprocess\nimport sys\n{rows}{words}")
    main(["runs", "--no-cache", "--target-core", "0.16.1", "."])
    told = capsys.readouterr().out
    assert "FSDP megatron-fsdp" in told
    assert "run.py:4: not followed: any of 17 rows may be meant here; up to 16 are followed one by one" in told


def test_a_configuration_that_no_file_can_be_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = f"words = ['--use-megatron-fsdp', '--ckpt-format', cfg['fmt']]\n{LAUNCH}"
    Path("run.py").write_text(
        f"import subprocess\nimport sys\nimport yaml\ncfg = yaml.safe_load(open(sys.argv[1]))\n{words}"
    )
    Path("other.yaml").write_text("name: x\n")
    main(["runs", "--no-cache", "--target-core", "0.16.1", "."])
    told = capsys.readouterr().out
    assert "format set" in told
    assert "not followed: no file of the project has the keys that are read of sys.argv[1]" in told
