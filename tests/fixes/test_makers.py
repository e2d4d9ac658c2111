"""A fix leaves a file alone that a program of the repository makes: its edit would be gone the next time."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.cli import main
from tests.fixes.conftest import Fixed
from tests.fixes.test_pins import BAD, GOOD, RECIPE

TABLE = "import sys\nfrom pathlib import Path\nfrom rows import ROWS\n\n"
TO_GIVEN_FOLDER = (
    f'{TABLE}out = Path(sys.argv[1])\nfor row in ROWS:\n    (out / f"{{row.id}}.sh").write_text(row.text)\n'
)

MAKERS = {
    "a program that is given the folder": {
        "gen.py": TO_GIVEN_FOLDER,
        "justfile": "scripts:\n  python gen.py runs\n",
    },
    "a module that is given the folder": {
        "tools/gen.py": f"{TABLE}for row in ROWS:\n    open(sys.argv[1] + '/%s.sh' % row.id, 'w').write(row.text)\n",
        "Makefile": "DIR := ./runs\nall:\n\tpython -m tools.gen $(DIR)\n",
    },
    "a program that says the folder": {
        "gen.py": f"{TABLE}OUT = Path(__file__).parent / 'runs'\nfor row in ROWS:\n"
        "    with (OUT / row.id).open('w') as file:\n        file.write(row.text)\n",
    },
    "an option that has the folder": {
        "gen.py": f"{TABLE}import argparse, os\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--out-dir', default='runs')\nargs = parser.parse_args()\nfor row in ROWS:\n"
        "    open(os.path.join(args.out_dir, '{}.sh'.format(row.id)), mode='w').write(row.text)\n",
    },
    "a program beside the file": {
        "runs/gen.py": f"{TABLE}here = Path(__file__).parent\nfor row in ROWS:\n"
        "    here.joinpath(row.id).with_suffix('.sh').write_text(row.text)\n",
    },
    "a template engine": {
        "gen.py": "from jinja2 import Template\n\ndef render(name, out='runs'):\n"
        "    Template(open('t.j2').read()).stream(name=name).dump(f'{out}/{name}.sh')\n",
    },
    "a loop of a shell": {
        "gen.bash": 'out=runs\nfor n in $(cat names); do\n  N=$n envsubst < t.tmpl > "$out/$n.sh"\ndone\n',
    },
    "a rule of make": {"Makefile": "runs/%.sh: jobs/%.json\n\tpython fill.py $< > $@\n"},
    "a static rule of make": {"Makefile": "$(ALL): runs/%.sh: jobs/%.json\n\tpython fill.py $< > $@\n"},
    "an option of a command": {"Makefile": "all:\n\tjsonnet --multi jobs.jsonnet --output-dir runs\n"},
}


@pytest.mark.parametrize("files", MAKERS.values(), ids=MAKERS)
def test_a_file_that_a_program_makes_stays(fixed: Fixed, files: dict[str, str]) -> None:
    assert fixed({"runs/train.sh": BAD, **files}, "runs") == {}


OTHERS = {
    "other files of the folder": {
        "gen.py": f"{TABLE}for row in ROWS:\n    Path(f\"runs/{{row.id}}.log\").write_text('')\n",
    },
    "files of another folder": {
        "gen.py": f'{TABLE}for row in ROWS:\n    Path(f"out/{{row.id}}.sh").write_text(row.text)\n',
        "justfile": "scripts:\n  python gen.py runs\n",
    },
    "files of a folder that nobody says": {
        "gen.py": TO_GIVEN_FOLDER,
        "justfile": "scripts:\n  python gen.py /scratch/jobs\n",
    },
    "files that are thrown away": {
        "gen.py": f"{TABLE}import tempfile\nout = Path(tempfile.mkdtemp())\nfor row in ROWS:\n"
        "    (out / f\"{row.id}.sh\").write_text('')\n",
        "justfile": "scripts:\n  python gen.py runs\n",
    },
    "the output of the script": {"Makefile": "all:\n\tmkdir -p logs\n\tbash runs/train.sh > logs/train.sh.log\n"},
    "a target that has no rule": {"Makefile": "runs/%.sh: jobs/%.json\n\nall: ; true\n"},
}


@pytest.mark.parametrize("files", OTHERS.values(), ids=OTHERS)
def test_programs_that_make_other_files_hold_nothing_back(fixed: Fixed, files: dict[str, str]) -> None:
    assert fixed({"runs/train.sh": BAD, **files}, "runs") == {"runs/train.sh": GOOD}


def test_a_recipe_that_a_program_makes_stays(fixed: Fixed) -> None:
    gen = f"{TABLE}for row in ROWS:\n    Path('recipes', row.id + '.py').write_text(row.text)\n"
    assert fixed({"recipes/small.py": RECIPE, "gen.py": gen}, "recipes") == {}
    assert fixed({"recipes/small.py": RECIPE, "gen.py": gen.replace("'recipes'", "'reports'")}, "recipes")


def test_the_program_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path, text in {"runs/train.sh": BAD, **MAKERS["a program that is given the folder"]}.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / ".git").mkdir()
    main(["check", "--no-cache", "--fix", str(tmp_path / "runs")])
    assert "held back: gen.py makes train.sh" in capsys.readouterr().out.replace(f"{tmp_path}/", "")
