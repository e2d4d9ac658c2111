"""Ready texts about upstream's recipes: the places, the check and the patch."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.upstream_texts import texts
from tests.browser.samples import REAL
from tests.folders import working_in


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    recipe = tmp_path / "scripts" / "performance" / "real.py"
    recipe.parent.mkdir(parents=True)
    recipe.write_text(REAL, encoding="utf-8")
    return tmp_path


def test_a_text_has_all_that_an_issue_needs(tree: Path) -> None:
    with working_in(tree):
        found = dict(texts("0.3.1", tree, []))
    text = found["MFSDP101.md"]
    assert text.startswith(
        '# 1 recipe: Megatron-FSDP needs checkpoint.ckpt_format "fsdp_dtensor", but it is "torch_dist"\n'
    )
    assert "The error: `Megatron FSDP only supports fsdp_dtensor checkpoint format`" in text
    assert "- `scripts/performance/real.py:6`: " in text
    assert "(`llama3_8b_fsdp`)" in text
    assert "Upstream's code: Megatron-Bridge, `" in text
    assert '+    cfg.checkpoint.ckpt_format = "fsdp_dtensor"\n' in text
    assert str(tree) not in text


def test_only_the_selected_rules_have_texts(tree: Path) -> None:
    with working_in(tree):
        assert dict(texts("0.3.1", tree, ["MFSDP350"])) == {}
