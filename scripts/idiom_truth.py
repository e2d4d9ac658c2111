#!/usr/bin/env python3
"""Results of the real upstream code for every idiom in tests/idioms, in every version: makes tests/idioms/truth.

    PYTHONPATH=src:. python scripts/idiom_truth.py --harness DIR --trees DIR [--overlay DIR] [--version V …] [IDIOM …]

Run it with a Python that has torch and what Megatron-Bridge imports. HARNESS has the stand-ins for packages that need
a GPU (oracle_lib.py); TREES has VERSION/bridge and VERSION/core, the source; OVERLAY the older packages that versions
up to 0.3 want. With names of idioms, only these are made anew.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from tests.idioms.suite import FOLDER, VERSIONS, Idiom, idioms, truth

WORKER = Path(__file__).with_name("idiom_worker.py")
_OLD_PACKAGES = ("0.2.0", "0.3.1")


def made(version: str, asked: list[Idiom], options: argparse.Namespace) -> dict[str, Any]:
    """Run the idioms in a process with that version of upstream, and return the results."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "out.json"
        command = [sys.executable, str(WORKER), "--harness", options.harness, "--version", version]
        command += ["--tree", str(Path(options.trees) / version), "--scratch", scratch, "--out", str(out)]
        if options.overlay and version in _OLD_PACKAGES:
            command += ["--overlay", options.overlay]
        subprocess.run([*command, *(idiom.name for idiom in asked)], check=True)
        found: dict[str, Any] = json.loads(out.read_text())
        return found


def stored(found: dict[str, Any]) -> dict[str, Any]:
    """Factor out the values that most runs have in common."""
    runs = [run for record in found.values() for marked in record["marks"].values() for run in marked]
    counts: dict[str, Counter[str]] = {}
    for run in runs:
        for path, value in run["settings"].items():
            counts.setdefault(path, Counter())[json.dumps(value)] += 1
    common = {path: json.loads(values.most_common(1)[0][0]) for path, values in sorted(counts.items())}
    for run in runs:
        settings = run["settings"]
        run["without"] = [path for path in common if path not in settings]
        run["settings"] = {
            path: value for path, value in settings.items() if json.dumps(value) != json.dumps(common[path])
        }
    return {"common": common, "idioms": dict(sorted(found.items()))}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="IDIOM")
    parser.add_argument("--harness", required=True)
    parser.add_argument("--trees", required=True)
    parser.add_argument("--overlay")
    parser.add_argument("--version", action="append", choices=VERSIONS)
    options = parser.parse_args()
    every = idioms()
    for version in options.version or VERSIONS:
        asked = [
            idiom for idiom in every if idiom.occurs(version) and (not options.names or idiom.name in options.names)
        ]
        file = FOLDER / "truth" / f"{version}.json"
        kept = truth(version) if options.names and file.exists() else {}
        found = {**kept, **made(version, asked, options)}
        found = {idiom.name: found[idiom.name] for idiom in every if idiom.name in found and idiom.occurs(version)}
        text = json.dumps(stored(found), indent=0, separators=(",", ":"), sort_keys=True)
        file.write_text(text + "\n")
        raised = sum(record["raised"] is not None for record in found.values())
        print(f"{version}: {len(found)} idioms, {raised} that raise")
    return 0


if __name__ == "__main__":
    sys.exit(main())
