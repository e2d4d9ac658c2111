"""Patterns of names in a script: the files of the tree that they stand for, one turn of a loop each."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.cli import main
from tests.readers.test_started_by_others import FORMAT, FSDP, RUN, Files, told

MODES = {"conf/ddp.env": "MODE=--bf16\n", "conf/shard.env": f"MODE='{FSDP}'\n"}
LINE = "torchrun pretrain_gpt.py --save /c --ckpt-format torch_dist $MODE"

PATTERNS: dict[str, tuple[Files, list[str]]] = {
    "each file of a folder": (
        {**MODES, "run.sh": f"for f in conf/*.env; do . $f; {LINE}; done\n"},
        [f"run.sh:1 {FORMAT}"],
    ),
    "in a folder that the script changes to": (
        {**MODES, "run.sh": f"cd conf\nfor f in *.env; do ( . ./$f; {LINE} ) done\n"},
        [f"run.sh:2 {FORMAT}"],
    ),
    "behind the script's own folder": (
        {
            **{f"x/{path}": text for path, text in MODES.items()},
            "x/run.sh": f'HERE=$(dirname "$0")\nfor f in "$HERE"/conf/*.env; do . "$f"; {LINE}; done\n',
        },
        [f"x/run.sh:2 {FORMAT}"],
    ),
    "of several folders": (
        {
            "a/one/m.env": "MODE=\n",
            "a/two/m.env": f"MODE='{FSDP}'\n",
            "run.sh": f"for f in a/*/m.env; do . $f; {LINE}; done\n",
        },
        [f"run.sh:1 {FORMAT}"],
    ),
    "an array": (
        {**MODES, "run.sh": f'A=(conf/sh*.env)\nfor f in "${{A[@]}}"; do . $f; {LINE}; done\n'},
        [f"run.sh:2 {FORMAT}"],
    ),
    "what ls prints": (
        {**MODES, "run.sh": f"for f in $(ls conf/*.env); do . $f; {LINE}; done\n"},
        [f"run.sh:1 {FORMAT}"],
    ),
    "the names in a folder": (
        {**MODES, "run.sh": f"for f in $(ls conf); do . conf/$f; {LINE}; done\n"},
        [f"run.sh:1 {FORMAT}"],
    ),
    "scripts that a loop starts": (
        {
            "jobs/a.sh": f"{RUN} --save /c --ckpt-format $F\n",
            "all.sh": "export F=torch_dist\nfor j in jobs/*.sh; do bash $j; done\n",
        },
        [f"all.sh:1 {FORMAT}"],
    ),
    "a template that each file fills in": (
        {
            **MODES,
            "pod.tmpl": f"apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - command: [sh, -c, '{LINE}']\n",
            "run.sh": "for f in conf/*.env; do\n"
            "  (set -a; . $f; set +a; envsubst '$MODE' < pod.tmpl | kubectl apply -f -)\ndone\n",
        },
        [f"pod.tmpl:5 {FORMAT}"],
    ),
    "no pattern, within quotes": ({**MODES, "run.sh": f'for f in "conf/*.env"; do . $f; {LINE}; done\n'}, []),
    "a file that the pattern does not mean": (
        {**MODES, "run.sh": f"for f in conf/d*.env; do . $f; {LINE}; done\n"},
        [],
    ),
}


@pytest.mark.parametrize(("files", "wanted"), PATTERNS.values(), ids=PATTERNS)
def test_a_pattern_stands_for_the_files_that_are_there(
    files: Files, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told(files, tmp_path, capsys) == wanted


def test_a_loop_over_files_that_are_not_here_leaves_open_what_it_sets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    loop = "F=torch_dist\nfor f in /etc/mine/*; do F=fsdp_dtensor; done\n"
    assert told({"run.sh": f"{loop}{RUN} --save /c --ckpt-format $F\n"}, tmp_path, capsys) == []


def test_a_template_stays_as_it_is_for_the_files_that_it_is_right_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    files, _ = PATTERNS["a template that each file fills in"]
    told(files, tmp_path, capsys)
    main(["--no-cache", "--target-core", "0.16.1", "--fix", "--unsafe-fixes", "."])
    assert Path("pod.tmpl").read_text() == files["pod.tmpl"]
