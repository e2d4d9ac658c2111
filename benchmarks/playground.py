#!/usr/bin/env python3
"""The playground: how long a visitor waits, and whether it says what the command line says.

    make site && python benchmarks/playground.py [--rounds 5] [--compare python yaml shell megatron_lm]

Each round is a browser of its own, with nothing in its cache, and the site of build/site served by this machine. With
`--compare` all bad examples that the rules have in these notations are checked in the page and by the command line:
code, line and message of every finding, and the patch. Exit code 1 where any differs.
"""

from __future__ import annotations

import argparse
import io
import json
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from mfsdp_lint.cli import main as mfsdp_lint  # noqa: E402
from tests.browser.playground import FILES, Playground, Sample, samples, served  # noqa: E402

RECIPE = Sample("recipe.py", (ROOT / "examples" / "llama3_8b_fsdp.py").read_text(encoding="utf-8"), "0.3.1")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--compare", nargs="*", choices=list(FILES), default=())
    arguments = parser.parse_args()
    runtime = ROOT / "build" / "site" / "playground" / "runtime"
    print(f"loaded: {sum(file.stat().st_size for file in runtime.iterdir()) / 1e6:.1f} MB")
    with served(ROOT / "build" / "site") as address, sync_playwright() as driver:
        rounds = [measured(driver.chromium.launch(**CHROMIUM), address) for _ in range(arguments.rounds)]
        for name in rounds[0]:
            times = sorted(each[name] for each in rounds)
            print(f"{name}: {statistics.median(times):.2f} s ({times[0]:.2f} to {times[-1]:.2f})")
        if arguments.compare:
            return compared(driver.chromium.launch(**CHROMIUM), address, arguments.compare)
    return 0


CHROMIUM = {"executable_path": "/usr/bin/chromium", "args": ["--no-sandbox"]}


def measured(browser: Browser, address: str) -> dict[str, float]:
    """Measure seconds until the page is there, until the first check is shown, and for the checks after it."""
    page = browser.new_page()
    began = time.perf_counter()
    page.goto(f"{address}/playground/", wait_until="domcontentloaded")
    shown = time.perf_counter()
    playground = Playground(page)
    playground.check(RECIPE)
    first = time.perf_counter()
    playground.check(RECIPE)
    second = time.perf_counter()
    page.click("#pg-apply")
    page.wait_for_selector("#pg-fix", state="hidden")
    fixed = time.perf_counter()
    browser.close()
    return {
        "the page": shown - began,
        "loading, and the first check": first - shown,
        "a second check": second - first,
        "applying the fix, and checking again": fixed - second,
    }


def compared(browser: Browser, address: str, notations: Sequence[str]) -> int:
    """Compare every example, and print those that differ."""
    page = browser.new_page()
    page.goto(f"{address}/playground/")
    playground = Playground(page)
    playground.check(RECIPE)
    counts: Counter[str] = Counter()
    for notation in notations:
        for code, sample in samples(notation):
            playground.check(sample)
            same = (playground.findings(), playground.diff()) == by_the_command_line(sample)
            counts[f"{notation}: {'the same' if same else 'DIFFERENT'}"] += 1
            if not same:
                print(f"{code} in {notation}, {sample.target}: different")
    print(*(f"{name}: {count}" for name, count in sorted(counts.items())), sep="\n")
    return int(any("DIFFERENT" in name for name in counts))


def by_the_command_line(sample: Sample) -> tuple[list[tuple[str, int, str]], str]:
    """Return the findings, and the patch without the names of the files."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path(sample.name).write_bytes(sample.text.encode())
        findings = json.loads(printed(sample, "--output-format", "json"))["findings"]
        patch = printed(sample, "--diff").splitlines(keepends=True)
    told = [(each["code"], each["line"], each["message"]) for each in findings]
    return told, "".join(line for line in patch if not line.startswith(("---", "+++")))


def printed(sample: Sample, *options: str) -> str:
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        mfsdp_lint(["--isolated", "--no-cache", "--target-bridge", sample.target, *options, sample.name])
    return out.buffer.getvalue().decode()  # type: ignore[attr-defined]  # it is the BytesIO from above


if __name__ == "__main__":
    sys.exit(main())
