"""Writes the source of one release out of clones with all tags.

    python scripts/unpack_release.py VERSION BRIDGE_CLONE CORE_CLONE FOLDER

FOLDER/bridge and FOLDER/core become the trees that releases.py names for the Megatron-Bridge release: its own, and that
of the Megatron-LM that it pins. Trees that are there already stay. Nothing in them is imported or run.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tarfile
from pathlib import Path

from mfsdp_lint.megatron.versions.releases import RELEASES

FOLDERS = {"bridge": ("src", "scripts"), "core": ("megatron",)}
"""What is looked at of each tree."""


def unpack(clone: Path, commit: str, folders: tuple[str, ...], target: Path) -> None:
    """Write these folders of a commit below `target`. Raises subprocess.CalledProcessError."""
    if target.is_dir():
        return
    packed = subprocess.run(
        ["git", "-C", str(clone), "archive", commit, *folders], check=True, capture_output=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(target, filter="data")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version")
    parser.add_argument("bridge", type=Path)
    parser.add_argument("core", type=Path)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    release = next((release for release in RELEASES if release.bridge == options.version), None)
    if release is None:
        print(
            f"{options.version}: write its commits into src/mfsdp_lint/megatron/versions/releases.py first",
            file=sys.stderr,
        )
        return 2
    unpack(options.bridge, release.commit, FOLDERS["bridge"], options.folder / "bridge")
    unpack(options.core, release.core_commit, FOLDERS["core"], options.folder / "core")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
