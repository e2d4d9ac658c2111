"""The pages that are written by hand name rules that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mfsdp_lint.inputs.configuration import EVERY_KEY, ConfigKey
from mfsdp_lint.inputs.options import OUTPUT_FORMATS
from mfsdp_lint.rules.about_files import FILE_CODES
from mfsdp_lint.rules.load import load_rules

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_every_rule_that_a_page_names_exists(page: Path) -> None:
    named = set(re.findall(r"MFSDP\d{3}\b", page.read_text(encoding="utf-8")))
    assert named - {rule.code for rule in load_rules()} - set(FILE_CODES) == set()


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("key", EVERY_KEY, ids=lambda key: key.name)
def test_every_key_of_the_configuration_is_told(key: ConfigKey) -> None:
    assert f"| `{key.name}` | {key.kind}" in (DOCS / "configuration.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", OUTPUT_FORMATS)
def test_every_output_format_is_told(name: str) -> None:
    assert f"| `{name}` | " in (DOCS / "output-formats.md").read_text(encoding="utf-8")
