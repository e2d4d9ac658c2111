"""Runs users' files with the real package and records the configurations they make: a process of its own for each.

Started by benchmarks/upgrade.py, by a Python that has torch and what Megatron-Bridge imports. Reads a list of
{"folder": …, "ask": "user.mine()" or "train.py"} and writes for each {"settings": {path: value}} or {"error": …}.
"""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

from injected_worker import configuration, launch
from real_upstream import arguments, import_training, in_a_child, replace_launchers, set_up, write_out

_SECONDS = 120


def made(harness: Any, folder: str, ask: str) -> dict[str, Any]:
    """Return the settings of a configuration, or the error with which the file ends."""
    os.chdir(folder)
    sys.path.insert(0, folder)
    try:
        with harness.quiet():
            config = configuration(ask)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:300]}
    settings, _ = harness.flatten(config)
    return {"settings": json.loads(json.dumps(settings, default=str).replace(folder, "<CWD>"))}


def main() -> int:
    """Run the jobs, one after the other."""
    parser = arguments(__doc__, "jobs", "bridge", "core")
    options = parser.parse_args()
    harness = set_up(options, Path(options.bridge), Path(options.core))
    import_training()
    replace_launchers(launch)
    jobs = json.loads(Path(options.jobs).read_text())
    died = {"error": "the process died"}
    write_out(options, [in_a_child(partial(made, harness, job["folder"], job["ask"]), died, _SECONDS) for job in jobs])
    return 0


if __name__ == "__main__":
    sys.exit(main())
