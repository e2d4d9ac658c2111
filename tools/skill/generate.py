"""The skill for agents: `python -m tools.skill.generate` (`make docs`)."""

from __future__ import annotations

from collections.abc import Mapping

from mfsdp_lint.checkout import CHECKOUT
from tools.skill.card import card
from tools.skill.page import NAME, page
from tools.skill.pitfalls import pitfalls

FOLDER = CHECKOUT.parent / "skills" / NAME


def files() -> Mapping[str, str]:
    """Write every file of the skill by its name."""
    found = pitfalls()
    return {"SKILL.md": page(found), "card.yaml": card(found)}


def write() -> None:
    """Write the files."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
