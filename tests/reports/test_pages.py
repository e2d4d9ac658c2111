"""The address of a rule's page, in the formats that lead there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from email.message import Message

import pytest

from mfsdp_lint.reports.forges import gitlab, rdjson, sarif
from mfsdp_lint.reports.places import documentation, rule_page
from mfsdp_lint.rules.load import load_rules
from tests.reports.samples import FILES, FORMAT

Installed = Callable[..., None]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Installed]:
    """Has the package name these addresses."""

    def named(*urls: str) -> None:
        package = Message()
        for url in urls:
            package["Project-URL"] = url
        monkeypatch.setattr("importlib.metadata.metadata", lambda _: package)
        forget()

    yield named
    forget()


def forget() -> None:
    documentation.cache_clear()
    rule_page.cache_clear()


PAGE = "https://pages.test/mfsdp/rules/MFSDP101/"


def test_each_format_leads_to_the_page_of_the_rule(installed: Installed) -> None:
    installed("Source, https://code.test", "Documentation, https://pages.test/mfsdp/")
    driver = json.loads(sarif([FORMAT], load_rules(), FILES.get))["runs"][0]["tool"]["driver"]
    assert driver["informationUri"] == "https://pages.test/mfsdp"
    assert PAGE in {rule.get("helpUri") for rule in driver["rules"]}
    assert json.loads(gitlab([FORMAT]))[0]["description"].endswith(f"(at start-up: validation stops the run) {PAGE}")
    assert json.loads(rdjson([FORMAT], FILES.get))["diagnostics"][0]["code"]["url"] == PAGE


def test_without_an_address_nothing_is_said_of_it(installed: Installed) -> None:
    installed()
    reports = sarif([FORMAT], load_rules(), FILES.get), gitlab([FORMAT]), rdjson([FORMAT], FILES.get)
    keys = "informationUri", "helpUri", "https://pages.test"
    assert [key for key in keys if any(key in report for report in reports)] == []
