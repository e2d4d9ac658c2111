"""Dockerfiles: their instructions, and the files of the tree that an image has."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.readers.shell.script import Text
from mfsdp_lint.readers.shell.state import ContainerFiles, Variable

INSTRUCTION = lazy_pattern(
    r"""^[ \t]*(?P<name>[A-Za-z]+)[ \t]+
    (?P<said>(?:[^\n\\]
               |\\[ \t]*\r?\n(?:[ \t]*(?:\#[^\n]*)?\r?\n)*  # goes on, behind comments and empty lines
               |\\.)*)""",
    re.MULTILINE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class DockerImage:
    """The last stage of a Dockerfile: its variables, the entry point and the command behind it, and its files."""

    variables: Mapping[str, Variable]
    entry: Text | None
    command: Text | None
    container: ContainerFiles


NO_IMAGE = DockerImage({}, None, None, ContainerFiles("/", ()))


def instructions_of(text: str, target: str = "") -> Sequence[re.Match[str]]:
    """Return the instructions that a stage consists of, the last one without a target: behind what the file has before
    its first stage, those of the stage that it builds upon come first.
    """
    first: list[re.Match[str]] = []
    stages: dict[str, list[re.Match[str]]] = {}
    stage = first
    for found in INSTRUCTION.finditer(text):
        if found["name"].upper() == "FROM":
            base, *name = [each.lower() for each in found["said"].split() if not each.startswith("--")]
            stage = list(stages.get(base, first))
            stages |= {name[-1]: stage} if name else {}
        stage.append(found)
    return stages.get(target.lower(), ()) if target else stage


def files_of_image(text: str, target: str = "") -> ContainerFiles:
    """Return the file system of a stage (see `instructions_of`): its folder, and the places that files of the tree are
    copied to.
    """
    copied: list[tuple[str, str]] = []
    folder = "/"
    for found in instructions_of(text, target):
        name = found["name"].upper()
        words = [each for each in found["said"].split() if not each.startswith("--")]
        if name == "WORKDIR":
            folder = posixpath.join(folder, found["said"].strip())
        elif name in ("COPY", "ADD") and "--from" not in found["said"] and not found["said"].startswith("["):
            copied += [(posixpath.normpath(posixpath.join(folder, words[-1])), each) for each in words[:-1]]
    return ContainerFiles(folder, tuple(copied))
