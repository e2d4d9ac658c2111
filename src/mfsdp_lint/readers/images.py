"""Dockerfiles: their instructions, and the files of the tree that an image has."""

from __future__ import annotations

import posixpath
import re

from mfsdp_lint.readers.shell.state import ContainerFiles

INSTRUCTION = re.compile(
    r"""^[ \t]*(?P<name>[A-Za-z]+)[ \t]+
    (?P<said>(?:[^\n\\]
               |\\[ \t]*\r?\n(?:[ \t]*(?:\#[^\n]*)?\r?\n)*  # goes on, behind comments and empty lines
               |\\.)*)""",
    re.MULTILINE | re.VERBOSE,
)


def files_of_image(text: str) -> ContainerFiles:
    """Return the file system of the last stage: its folder, and the places that files of the tree are copied to."""
    copied: list[tuple[str, str]] = []
    folder = "/"
    for found in INSTRUCTION.finditer(text):
        name = found["name"].upper()
        words = [each for each in found["said"].split() if not each.startswith("--")]
        if name == "FROM":
            copied, folder = [], "/"
        elif name == "WORKDIR":
            folder = posixpath.join(folder, found["said"].strip())
        elif name in ("COPY", "ADD") and "--from" not in found["said"] and not found["said"].startswith("["):
            copied += [(posixpath.normpath(posixpath.join(folder, words[-1])), each) for each in words[:-1]]
    return ContainerFiles(folder, tuple(copied))
