"""Paths of Megatron-Bridge's scripts and examples that a release renamed or lacks: src/mfsdp_lint/upgrade/paths.json.

    python -m tools.upstream_paths CLONE

CLONE is a clone of Megatron-Bridge (a bare one does). For each pair of neighbouring releases with a snapshot, the file
has the paths that the older one has and the newer one has not, each with the path that git finds to have the same text,
or null. Only what a person starts is listed: Python and shell files.
"""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

from mfsdp_lint.megatron.versions.releases import RELEASES, Release

OUTPUT = Path(__file__).parents[1] / "src/mfsdp_lint/upgrade/paths.json"
FOLDERS = ("scripts", "examples")
STARTED = (".py", ".sh")
ALIKE = 50
"""Per cent of a file that have to be the same in its successor, which is git's own default."""


def gone(clone: str, old: Release, new: Release) -> dict[str, str | None]:
    """Return the paths that a release lacks, each with its successor."""
    command = ["git", "-C", clone, "diff", f"-M{ALIKE}%", "--name-status", old.commit, new.commit, "--", *FOLDERS]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found: dict[str, str | None] = {}
    for line in said.splitlines():
        kind, *paths = line.split("\t")
        if kind[0] in "RD" and paths[0].endswith(STARTED) and not paths[0].endswith("__init__.py"):
            found[paths[0]] = paths[1] if kind[0] == "R" else None
    return found


def main() -> int:
    """Write the file."""
    (clone,) = sys.argv[1:]
    known = [release for release in RELEASES if release.bridge == release.data]
    steps = {f"{old.data} {new.data}": gone(clone, old, new) for old, new in pairwise(known)}
    OUTPUT.write_text(json.dumps(steps, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
