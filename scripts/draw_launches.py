#!/usr/bin/env python3
"""Draws launch files that name FSDP, at random, from bare or checked-out git repositories; says what became of each.

    python -m scripts.draw_launches [--seed 1] [--number 200] --out FOLDER REPOSITORY[@REVISION] …

A launch file is a shell, YAML or JSON file, or a Python file that starts programs, with a flag of FSDP outside of
comments. Files with the same content count once. The whole revision of a drawn file is written to FOLDER, so that
programs are found, and `mfsdp-lint audit` is asked for the drawn files alone. Printed is a line for each: "run" (with
FSDP on, or "run without" where no run of the file has it), "told" (with the reason), or "silent"; then the sums.
Nothing of a repository is imported or run.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from scripts.linter import document

FLAG = re.compile(
    rb"^[^#\n]*(?:--use[-_](?:megatron|custom)[-_]fsdp|--use[-_]torch[-_]fsdp2|"
    rb"\buse_(?:megatron_fsdp|torch_fsdp2)['\"]?\s*[=:]\s*['\"]?true)",
    re.IGNORECASE | re.MULTILINE,
)
SUFFIXES = (".sh", ".bash", ".slurm", ".sbatch", ".yaml", ".yml", ".json", ".py")
STARTS = re.compile(rb"torchrun|subprocess|os\.system|sbatch|run\.Script")
"""What Python that launches says; all other Python is part of a program."""


class Drawn(NamedTuple):
    """A file of a revision."""

    repository: str
    revision: str
    path: str


def candidates(repository: str) -> dict[str, Drawn]:
    """Return the launch files of a repository by the hash of their contents."""
    place, _, revision = repository.partition("@")
    revision = revision or "HEAD"
    found: dict[str, Drawn] = {}
    for path, blob in _files(place, revision).items():
        if path.endswith(SUFFIXES):
            found.setdefault(blob, Drawn(place, revision, path))
    contents = _contents(place, sorted(found))
    return {
        blob: found[blob]
        for blob, content in contents.items()
        if FLAG.search(content) and (not found[blob].path.endswith(".py") or STARTS.search(content))
    }


def _files(place: str, revision: str) -> dict[str, str]:
    rows = (
        line.split("\t", 1)
        for line in _git(place, "ls-tree", "-r", "-z", revision).decode(errors="replace").split("\0")[:-1]
    )
    return {path: meta.split()[2] for meta, path in rows if meta.split()[1] == "blob"}


def _contents(place: str, blobs: list[str]) -> dict[str, bytes]:
    data = _git(place, "cat-file", "--batch", given="\n".join(blobs).encode() + b"\n")
    at, contents = 0, {}
    for blob in blobs:
        end = data.index(b"\n", at)
        words = data[at:end].split()
        size = 0 if words[1] == b"missing" else int(words[2]) + 1
        contents[blob] = data[end + 1 : end + size]
        at = end + 1 + size
    return contents


def _git(place: str, *arguments: str, given: bytes | None = None) -> bytes:
    command = ["git", "-C", place, *arguments]
    return subprocess.run(command, input=given, stdout=subprocess.PIPE, check=True).stdout


def checkout(place: str, revision: str, out: Path) -> Path:
    """Write a revision, if it is not there yet, without links and what is not at hand; return its folder."""
    folder = out / re.sub(r"\W+", "-", f"{place}-{revision}").strip("-")
    if not folder.is_dir():
        named = _files(place, revision)
        contents = _contents(place, sorted(set(named.values())))
        for path, blob in named.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(contents[blob])
    return folder


def outcomes(root: Path, paths: list[str]) -> dict[str, str]:
    """Return what the linter says of files: "run", "run without", "told: REASON" or "silent"."""
    said = document(root, "audit", "--settings", "ddp.use_*fsdp*", "--settings", "dist.use_*fsdp*", *paths)
    result = {each["path"]: f"told: {each['why']}: {each['reason']}" for each in said["unfollowed"]}
    for each in said["recipes"]:
        is_on = any(setting.get("value") not in (None, False) for setting in each["settings"].values())
        result[each["path"]] = "run" if is_on or result.get(each["path"]) == "run" else "run without"
    silent = [path for path in paths if path not in result]
    for each in document(root, "check", "--no-cache", *silent)["findings"] if silent else ():
        if each["code"] == "MFSDP901":
            result[each["path"]] = f"told: {each['message']}"
    return {path: result.get(path, "silent") for path in paths}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="+", metavar="REPOSITORY[@REVISION]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    arguments = parser.parse_args()
    found: dict[str, Drawn] = {}
    for repository in arguments.repositories:
        for blob, drawn in candidates(repository).items():
            found.setdefault(blob, drawn)
    every = sorted(found.values())
    random.Random(arguments.seed).shuffle(every)
    sums: Counter[str] = Counter()
    for (place, revision), drawn in groupby(sorted(every[: arguments.number]), key=lambda each: each[:2]):
        root = checkout(place, revision, arguments.out)
        for path, result in outcomes(root, [each.path for each in drawn]).items():
            sums[result.partition(":")[0]] += 1
            print(f"{result[:120]:40} {place} {path}", flush=True)
    print(f"{len(every)} candidates;", ", ".join(f"{kind} {number}" for kind, number in sorted(sums.items())))


if __name__ == "__main__":
    main()
