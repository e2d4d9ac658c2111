"""A page that fails where it complains, for every test that drives one."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page

PATIENCE = 600_000
"""Milliseconds that anything is waited for: a page that hangs ends, and one on a busy machine does not."""


@contextmanager
def opened(browser: Browser, *, offline: bool, expected: str = "(?!)") -> Iterator[Page]:
    """A page of its own, and no console error until it is closed but what is `expected`, a regular expression."""
    context = browser.new_context(viewport={"width": 1400, "height": 900}, offline=offline)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    yield page
    context.close()
    assert [fault for fault in faults if not re.search(expected, fault)] == []


def is_required() -> bool:
    """Whether what these tests need has to be there: then its absence is an error."""
    return os.environ.get("MFSDP_LINT_BROWSER") == "required"
