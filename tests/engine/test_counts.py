"""What a run announces as fixable is what `--fix` then reports as fixed."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.engine import run as running
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.rules.load import load_rules


def project(unsafe: bool) -> dict[str, str]:
    """The bad examples of every other rule that has fixes, each in a file of its own; with unsafe fixes of the others.

    Every other one is in Python, the rest in YAML.
    """
    texts: dict[str, str] = {}
    for rule in [rule for rule in load_rules() if any(not fix.none for fix in rule.fixes)][unsafe::2]:
        for number, example in enumerate(each for each in rule.examples if each.severity):
            written = [(ending, text) for ending, text in (("py", example.python), ("yaml", example.yaml)) if text]
            if written:
                ending, text = written[len(texts) % len(written)]
                texts[f"{rule.code.lower()}_{number}.{ending}"] = text
    return texts


@pytest.mark.long
@pytest.mark.parametrize("unsafe", [False, True])
def test_the_figures_are_equal(unsafe: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in project(unsafe).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    told = running.run(Options(paths=(".",), target_bridge="0.3.1", unsafe_fixes=unsafe, show_fixes=True)).summary
    done = running.run(Options(paths=(".",), target_bridge="0.3.1", unsafe_fixes=unsafe, fix=True)).summary
    assert done.fixed == told.fixable
    assert told.fixable > 20
