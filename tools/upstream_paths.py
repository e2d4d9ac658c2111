"""Paths of Megatron-Bridge's scripts and examples that a release renamed or lacks: src/mfsdp_lint/upgrade/paths.json.

    python -m tools.upstream_paths CLONE

CLONE is a clone of Megatron-Bridge (a bare one does). For each pair of neighbouring releases with a snapshot, the file
has the paths that the older one has and the newer one has not, each with the path that git finds to have the same text;
else a list of the paths that upstream's own files name in its place, the most often named first. Only what a person
starts is listed: Python and shell files.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

from mfsdp_lint.megatron.versions.releases import RELEASES, Release

OUTPUT = Path(__file__).parents[1] / "src/mfsdp_lint/upgrade/paths.json"
FOLDERS = ("scripts", "examples")
STARTED = (".py", ".sh")
ALIKE = 50
"""Per cent of a file that have to be the same in its successor, which is git's own default."""


def gone(clone: str, old: Release, new: Release) -> dict[str, str | list[str]]:
    """Return the paths that a release lacks, each with its successor, or its candidates."""
    commits = old.commit, new.commit
    found: dict[str, str | list[str]] = {}
    for line in _git(clone, "diff", f"-M{ALIKE}%", "--name-status", *commits, "--", *FOLDERS).splitlines():
        kind, *paths = line.split("\t")
        if kind[0] in "RD" and paths[0].endswith(STARTED) and not paths[0].endswith("__init__.py"):
            found[paths[0]] = paths[1] if kind[0] == "R" else []
    there = set(_git(clone, "ls-tree", "-r", "--name-only", new.commit, "--", *FOLDERS).splitlines())
    named: dict[str, Counter[str]] = defaultdict(Counter)
    patch = _git(clone, "diff", "-U0", *commits, "--", *(f":(glob)**/*{ending}" for ending in NAMING), *NOT_READ)
    for hunk in re.split(r"^(?:@@|diff ).*\n", patch, flags=re.MULTILINE):
        removed, added = (set(_PATH.findall("\n".join(_lines(hunk, sign)))) for sign in "-+")
        for path in removed - added:
            named[path].update(each for each in (added & there) - removed)
    for path, successor in found.items():
        if not successor:
            counts = named[path]
            best = max(counts.values(), default=0)
            found[path] = sorted((each for each in counts if counts[each] == best and best > 1), key=str)
    return found


_PATH = re.compile(r"(?:scripts|examples)/[\w./-]+\.(?:py|sh)\b")
NAMING = (".md", ".sh", ".py", ".yml", ".yaml")
"""Files that say what to start."""

NOT_READ = (":(exclude)docs/fern/**",)
"""Copies of older releases' documentation."""


def _lines(hunk: str, sign: str) -> list[str]:
    return [line[1:] for line in hunk.splitlines() if line.startswith(sign)]


def _git(clone: str, *arguments: str) -> str:
    command = ["git", "-C", clone, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, errors="replace").stdout


def main() -> int:
    """Write the file."""
    (clone,) = sys.argv[1:]
    known = [release for release in RELEASES if release.bridge == release.data]
    steps = {f"{old.data} {new.data}": gone(clone, old, new) for old, new in pairwise(known)}
    OUTPUT.write_text(json.dumps(steps, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
