#!/usr/bin/env python3
"""Turns Megatron-FSDP on in every library recipe without pipeline parallelism, and asks the real start-up about each.

    python benchmarks/enable.py --tree TREE --version 0.3.1 [--python PYTHON --harness DIR --core TREE [--overlay DIR]]

TREE is a Megatron-Bridge source tree of that version, or its unpacked wheel; its recipes are copied, and nothing of it
is changed. PYTHON has torch and what Megatron-Bridge imports, DIR stand-ins for what needs a GPU (oracle_lib.py);
CORE is the Megatron-LM source that the version pins, the overlay has older packages. Without, nothing real is asked.
Exit status 1 where a recipe is changed in more than six lines, or the real start-up refuses what it accepts untouched.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mfsdp_lint.core.values import Known
from mfsdp_lint.engine.enable import enable
from mfsdp_lint.engine.read import question, read
from mfsdp_lint.fixes.enabling import EnableOptions, Enabling
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.inputs.sources import Sources

WORKER = Path(__file__).parents[1] / "scripts" / "enable_worker.py"
MOST_LINES = 6
STAGES = "model.pipeline_model_parallel_size"


def addresses(version: str) -> Iterator[str]:
    """Yield the recipes below the current directory that run in one pipeline stage."""
    asked, _ = question(Options(paths=("recipes",), target_bridge=version))
    for recipe in read(asked, Sources()).recipes:
        if not recipe.partial and recipe.setting(STAGES).value == Known(1):
            yield f"{recipe.path}::{recipe.name}"


def enabled(address: str, version: str) -> dict[str, Any]:
    """Turn it on in one recipe, and return the result."""
    outcome = enable(Options(paths=(address,), target_bridge=version), EnableOptions())
    if not isinstance(outcome, Enabling):
        raise SystemExit(f"{address}: {outcome}")
    path, _, name = address.partition("::")
    patch = outcome.patch.decode().splitlines()
    added = [line for line in patch if line.startswith("+") and not line.startswith("+++")]
    texts = outcome.fixed.texts if outcome.fixed else {}
    return {
        "path": path,
        "name": name,
        "lines": len(added),
        "reasons": outcome.reasons,
        "required": outcome.required,
        "text": texts.get(path),
        "files": len(texts),
    }


def asked_the_real_one(jobs: list[dict[str, Any]], options: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    """Ask the real start-up about each recipe: untouched, with nothing but the switch turned on, and as changed."""
    given, out = scratch / "jobs.json", scratch / "out.json"
    given.write_text(json.dumps(jobs))
    command = [options.python, str(WORKER), "--harness", options.harness, "--tree", options.tree]
    command += ["--core", options.core, "--scratch", str(scratch), "--jobs", str(given), "--out", str(out)]
    command += ["--overlay", options.overlay] if options.overlay else []
    subprocess.run(command, check=True)
    found: list[dict[str, Any]] = json.loads(out.read_text())
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", required=True)
    parser.add_argument("--version", required=True)
    for name in ("python", "harness", "core", "overlay"):
        parser.add_argument(f"--{name}")
    parser.add_argument("recipes", nargs="*", help="only those whose address has one of these words in it")
    options = parser.parse_args()
    for name in ("tree", "harness", "core", "overlay"):
        setattr(options, name, getattr(options, name) and os.path.abspath(getattr(options, name)))
    tree = Path(options.tree)
    package = tree / "src" if (tree / "src").is_dir() else tree
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        shutil.copytree(package / "megatron" / "bridge" / "recipes", scratch / "project" / "recipes")
        (scratch / "project" / "pyproject.toml").touch()
        os.chdir(scratch / "project")
        asked = [each for each in addresses(options.version) if any(word in each for word in options.recipes or [""])]
        results = [enabled(address, options.version) for address in asked]
        changed = [each for each in results if each["text"] is not None]
        said = asked_the_real_one(changed, options, scratch) if options.python else []
    print(f"{len(results)} recipes in one pipeline stage, {len(changed)} turned on")
    print(f"changed lines: {dict(sorted(Counter(each['lines'] for each in changed).items()))}")
    print(f"more than one file: {sum(each['files'] > 1 for each in changed)}")
    print(f"required by rules: {dict(Counter(line for each in changed for line in each['required']))}")
    for each in results:
        if each["reasons"]:
            print(f"  {each['path']}::{each['name']}: {'; '.join(each['reasons'])}")
    if said:
        ways = ("untouched", "switch", "changed")
        accepted = ", ".join(f"{way} {sum(each[way] is None for each in said)}" for way in ways)
        print(f"of {len(said)} the real start-up accepts: {accepted}")
    refused = [each for each in said if each["changed"] is not None]
    for each in refused:
        same = " (untouched as well)" if each["changed"] == each["untouched"] else ""
        print(f"  refused{same}: {each['path']}::{each['name']}: {' '.join(each['changed'].split())}")
    too_long = any(each["lines"] > MOST_LINES for each in changed)
    return int(too_long or any(each["changed"] != each["untouched"] for each in refused))


if __name__ == "__main__":
    sys.exit(main())
