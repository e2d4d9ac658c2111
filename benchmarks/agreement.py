#!/usr/bin/env python3
"""Agreement of the effective configurations that the tool computes with those that the recipes really yield.

    python benchmarks/agreement.py --oracle FOLDER --version 0.3.1 --tree CHECKOUT [--search-path MEGATRON] [--called]

FOLDER holds what the real recipes returned when they were run (values-VERSION.json.xz, origins-VERSION.json.xz) and
the script that compares (compare.py). CHECKOUT is a Megatron-Bridge source tree of that version, or its unpacked
wheel; MEGATRON the Megatron-LM source it pins (without it, the tool's built-in knowledge of the release is used). With
--called, the performance recipes that take arguments are compared, each as it was called. Exit status: compare.py's.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from mfsdp_lint.megatron.vocabulary import SETTINGS

AUDITED = ("recipes", "perf_recipes", "diffusion")


def audited(tree: Path) -> list[str]:
    """Return the folders with recipes, as far as a version has them."""
    package = tree / "src" if (tree / "src").is_dir() else tree
    return [str(folder) for name in AUDITED if (folder := package / "megatron" / "bridge" / name).is_dir()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", required=True, type=Path)
    parser.add_argument("--version", required=True)
    parser.add_argument("--tree", required=True, type=Path)
    parser.add_argument("--search-path", action="append", default=[])
    parser.add_argument("--called", action="store_true")
    options = parser.parse_args()
    compare = [
        sys.executable,
        str(options.oracle / "compare.py"),
        "--values",
        str(options.oracle / f"values-{options.version}.json.xz"),
    ]
    with tempfile.TemporaryDirectory() as scratch:
        asked = audited(options.tree)
        if options.called:
            listed = subprocess.run(
                [*compare, "--addresses", "--root", str(options.tree)], check=True, capture_output=True, text=True
            )
            addresses = Path(scratch) / "addresses.txt"
            addresses.write_text(listed.stdout)
            asked = [f"@{addresses}"]
        audit = Path(scratch) / "audit.json"
        command = [
            sys.executable,
            "-m",
            "mfsdp_lint",
            "audit",
            "--output-format=json",
            f"--target-bridge={options.version}",
        ]
        command += [f"--search-path={path}" for path in options.search_path] + [
            f"--settings={path}" for path in SETTINGS
        ]
        with audit.open("wb") as output:
            subprocess.run([*command, *asked], check=True, stdout=output)
        extra = (
            ["--called"]
            if options.called
            else ["--origins", str(options.oracle / f"origins-{options.version}.json.xz")]
        )
        return subprocess.run([*compare, *extra, "--show", "5", str(audit)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
