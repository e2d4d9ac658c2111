#!/usr/bin/env python3
"""The audit's page of a tree: how long it takes to make, how large it is, and how quick it is in a browser.

    python benchmarks/audit_page.py FOLDER [--target VERSION] [--runs N]

The command runs in a process of its own, first with an empty cache, then with what that run kept. Evaluating the
recipes and judging them is what `mfsdp-lint audit` and `check` do as well; "the page" is what comes on top of it,
measured inside of one process. The browser is the system's Chromium, without a network.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from mfsdp_lint import process
from mfsdp_lint.engine import audited, cache
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.reports.audit.page import render, side_document
from mfsdp_lint.rules.load import load_rules

MOST_SECONDS, MOST_BYTES, MOST_PAINT = 5.0, 5_000_000, 1000
"""The goals: the page of 750 recipes beyond their evaluation, its size, and milliseconds until something is seen."""

SEARCHES = ("l", "ll", "lla", "llam", "llama", "llama 70b", "tensor_model_parallel_size=2", "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--target", default="0.3.1")
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        os.environ[cache.VARIABLE] = str(Path(scratch, "cache"))
        page = Path(scratch, "audit.html")
        cold = _command(asked.folder, asked.target, page)
        warm = min(_command(asked.folder, asked.target, page) for _ in range(asked.runs))
        recipes, seconds = _on_top(Options(paths=(asked.folder,), target_bridge=asked.target), asked.runs)
        size = page.stat().st_size
        paint, filtering = _in_a_browser(page, asked.runs)
    print(f"recipes            {recipes}")
    print(f"whole command      {cold:.1f} s with an empty cache, {warm:.1f} s with a full one")
    print(f"the page           {seconds:.1f} s of processor time (at most {MOST_SECONDS} s)")
    print(f"size               {size / 1e6:.2f} MB (at most {MOST_BYTES / 1e6:.0f} MB)")
    print(f"first paint        {paint:.0f} ms (at most {MOST_PAINT} ms)")
    print(f"a filter           {statistics.median(filtering):.0f} ms, {max(filtering):.0f} ms at most")
    return int(seconds > MOST_SECONDS or size > MOST_BYTES or paint > MOST_PAINT)


def _command(folder: str, target: str, page: Path) -> float:
    words = ["audit", folder, "--target-bridge", target, "--output-format", "html", "-o", str(page)]
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "mfsdp_lint", *words], check=True, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def _on_top(options: Options, runs: int) -> tuple[int, float]:
    """Count the recipes, and time their page once they are read and judged; the least seconds of several runs."""
    found = []
    process.own()
    for _ in range(runs):
        outcome, question = audited.judged(options)
        ((target, recipes),) = audited.recipes_by_target(outcome, question).items()
        start = time.process_time()
        with process.without_collection():
            document = side_document(audited.side(target, recipes, outcome, question))
            render([document], outcome.findings, load_rules(), outcome.summary, outcome.shown)
        found.append((len(document["recipes"]), time.process_time() - start))
    return min(found, key=lambda each: each[1])


def _in_a_browser(page: Path, runs: int) -> tuple[float, list[float]]:
    """Measure milliseconds to the text's first paint, the median, and from each filter to the frame with it."""
    with sync_playwright() as driver:
        flags = ["--no-sandbox", "--disable-background-networking"]
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium", args=flags)
        paints = []
        for _ in range(runs):
            tab = browser.new_context(viewport={"width": 1400, "height": 900}, offline=True).new_page()
            tab.goto(page.as_uri())
            paints.append(_until(lambda tab=tab: tab.evaluate(_PAINT)))  # type: ignore[misc]
        filtering = [tab.evaluate(_SEARCH, text) for text in SEARCHES] + _choices(tab)
        browser.close()
    return statistics.median(paints), filtering


def _until(ask: Callable[[], float | None]) -> float:
    while (found := ask()) is None:
        time.sleep(0.02)
    return found


def _choices(tab: Page) -> list[float]:
    names = ("fsdp", "findings", "family", "precision", "start", "group")
    return [each for name in names for each in tab.evaluate(_CHOOSE, name)]


_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
_FRAME = """await new Promise(done => requestAnimationFrame(() => {
  const channel = new MessageChannel(); channel.port1.onmessage = done; channel.port2.postMessage(0);
}));"""
_SEARCH = f"""async (text) => {{
  const field = document.querySelector('[name=q]'); const start = performance.now();
  field.value = text; field.dispatchEvent(new Event('input', {{bubbles: true}}));
  {_FRAME} return performance.now() - start;
}}"""
_CHOOSE = f"""async (name) => {{
  const field = document.querySelector(`#choices [name=${{name}}]`); const found = [];
  for (const value of [...field.options].slice(1, 6).map(each => each.value).concat('')) {{
    const start = performance.now(); field.value = value;
    field.dispatchEvent(new Event('input', {{bubbles: true}}));
    {_FRAME} found.push(performance.now() - start);
  }}
  return found;
}}"""
"""From the choice to the message that follows the frame in which it is drawn."""


if __name__ == "__main__":
    raise SystemExit(main())
