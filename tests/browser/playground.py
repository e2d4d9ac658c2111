"""The playground as a page, and the recipes that it is tried with."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import FilePayload, Page

from mfsdp_lint.core.front_ends import BRIDGE
from mfsdp_lint.rules.load import load_rules
from tests.rules.sites import where_of

FILES = {"python": "recipe.py", "yaml": "overrides.yaml", "megatron_lm": "model_config.yaml", "shell": "launch.sh"}


@dataclass(frozen=True)
class Sample:
    """A recipe, what it is called, and the release that it is judged against."""

    name: str
    text: str
    target: str


def samples(notation: str) -> Iterator[tuple[str, Sample]]:
    """The rules' bad examples in a notation, each with the rule's code, at the newest release that it is of."""
    for rule in load_rules():
        for each in rule.examples:
            text = getattr(each, notation)
            if text and each.severity is not None:
                sites = [site for _, site in where_of(rule, each)]
                bridge = [site for site in sites if site.front_end == BRIDGE]
                yield rule.code, Sample(FILES[notation], text, (bridge or sites)[-1].target.bridge)


@dataclass
class Playground:
    """The page, with everything that it asked for."""

    page: Page
    requests: list[str] = field(default_factory=list)

    def check(self, sample: Sample) -> None:
        """Checks a text, and waits for what comes of it."""
        if self.page.is_enabled("#pg-target"):
            self.page.select_option("#pg-target", sample.target)
        if "\r" in sample.text:  # as only a file has it
            file: FilePayload = {"name": sample.name, "mimeType": "text/plain", "buffer": sample.text.encode()}
            self.page.set_input_files("#pg-file", [file])
        else:
            self.page.fill("#pg-name", sample.name)
            self.page.fill("#pg-editor", sample.text)
            if self.page.is_visible("#pg-crlf"):
                self.page.uncheck("#pg-crlf")
        self.page.click("#pg-check")
        self.wait()

    def wait(self) -> None:
        self.page.wait_for_selector("#pg-results:not([aria-busy])", state="attached")

    def findings(self) -> list[tuple[str, int, str]]:
        """Code, line and message of each."""
        found = self.page.eval_on_selector_all(
            "#pg-findings > li",
            "all => all.map(e => [e.dataset.code, +e.dataset.line, e.querySelector('.pg-message').textContent])",
        )
        return [tuple(each) for each in found]

    def status(self) -> str:
        return self.page.inner_text("#pg-status")

    def diff(self) -> str:
        return "".join(self.page.locator("#pg-patch span").all_text_contents())


@contextmanager
def served(folder: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()
