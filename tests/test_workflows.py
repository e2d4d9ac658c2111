"""The workflows in the pages and the action, as zizmor judges them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ZIZMOR = Path(sys.executable).with_name("zizmor")
WORKFLOW = re.compile(r"^```yaml\n(# \.github/workflows/.*?)^```", re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.skipif(not ZIZMOR.exists(), reason="needs zizmor")


def judged(path: Path) -> subprocess.CompletedProcess[str]:
    command = [str(ZIZMOR), "--offline", "--pedantic", "--no-progress", "--color=never", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def workflow_of(page: str) -> str:
    """Return the one workflow of a page, with something in place of what a reader fills in."""
    (text,) = WORKFLOW.findall((ROOT / page).read_text(encoding="utf-8"))
    text = text.replace("<this repository>", "owner/mfsdp-lint").replace(
        "<address of this repository>", "https://x.test"
    )
    return str(text.replace("<commit>", "0123456789" * 4))


@pytest.mark.parametrize("page", ["README.md", "docs/integrations.md"])
def test_a_workflow_that_a_page_shows_is_safe(page: str, tmp_path: Path) -> None:
    workflow = tmp_path / ".github" / "workflows" / "mfsdp-lint.yml"
    workflow.parent.mkdir(parents=True)
    workflow.write_text(workflow_of(page), encoding="utf-8")
    done = judged(workflow)
    assert done.returncode == 0, done.stdout + done.stderr
    workflow.write_text(workflow_of(page).replace("persist-credentials: false", "show-progress: false"))
    assert "artipacked" in judged(workflow).stdout


def test_the_action_is_safe() -> None:
    done = judged(ROOT / "action.yml")
    assert done.returncode == 0, done.stdout + done.stderr
