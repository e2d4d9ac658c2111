"""The browser that the pages are tried in: the system's Chromium, driven by Playwright, without a network.

These tests are skipped where Chromium is not installed. MFSDP_LINT_BROWSER=required asks for it, as CI does.
"""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.opened import is_required, opened

WITHOUT = ["background-networking", "component-update", "sync"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for a file: its driver has an event loop, which the tests of other folders would meet."""
    chromium = shutil.which("chromium")
    if chromium is None:
        assert not is_required(), "chromium is not installed"
        pytest.skip("chromium is not installed")
    with sync_playwright() as driver:
        flags = ["--no-sandbox", *(f"--disable-{name}" for name in WITHOUT)]
        browser = driver.chromium.launch(executable_path=chromium, args=flags)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh page. What it writes to the console as an error, or throws, fails the test."""
    with opened(browser, offline=True) as page:
        yield page
