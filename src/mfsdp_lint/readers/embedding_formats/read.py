"""From a file that holds scripts to the recipes of the runs that they start."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Sequence

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.vocabulary.entry import Versions
from mfsdp_lint.readers.embedding_formats.containers import compose_scripts, is_compose
from mfsdp_lint.readers.embedding_formats.jobs import (
    github_scripts,
    gitlab_scripts,
    is_github,
    is_gitlab,
    is_kubernetes,
    is_ray,
    kubernetes_scripts,
    ray_scripts,
)
from mfsdp_lint.readers.python.entries.addressed import Programs
from mfsdp_lint.readers.relevance import Relevance
from mfsdp_lint.readers.shell.pieces import plain
from mfsdp_lint.readers.shell.read import read_shell
from mfsdp_lint.readers.shell.state import Held
from mfsdp_lint.readers.shell_files import may_start
from mfsdp_lint.readers.yaml.document import YamlDocument
from mfsdp_lint.readers.yaml.nodes import MappingNode, compose_documents

_FORMATS: Sequence[
    tuple[Callable[[YamlDocument, MappingNode], bool], Callable[[YamlDocument, MappingNode, Sources], Iterator[Held]]]
] = (
    (is_kubernetes, kubernetes_scripts),
    (is_github, github_scripts),
    (is_gitlab, gitlab_scripts),
    (is_ray, ray_scripts),
    (is_compose, compose_scripts),
)
"""For each format in YAML a test for its documents, and a reader of their scripts, with the files that they name."""


def read_yaml_holder(
    path: str, text: str, versions: Versions, sources: Sources, programs: Programs | None = None
) -> list[Recipe] | None:
    """Return the runs that scripts of a YAML file start; None where it is no file that holds scripts.

    With `programs`, those of the tree are followed. Raises Unreadable.
    """
    scripts: list[Held] = []
    holds = False
    document = YamlDocument(path, Lines(text))
    for root in compose_documents(path, text, again=True):
        if not isinstance(root, MappingNode):
            continue
        for is_one, scripts_of in _FORMATS:
            if is_one(document, root):
                holds = True
                scripts += scripts_of(document, root, sources)
    return recipes_of(path, scripts, versions, sources, programs) if holds else None


def recipes_of(
    path: str, scripts: Sequence[Held], versions: Versions, sources: Sources, programs: Programs | None = None
) -> list[Recipe]:
    """Return the runs that scripts start, numbered through the file."""
    relevance = Relevance(sources) if programs is None else programs.asked.relevance
    found = [
        recipe
        for script in scripts
        if may_start(path, plain(script.text), relevance)
        for recipe in read_shell(path, script, versions, sources, programs).recipes
    ]
    if len(found) < 2:
        return found
    name = posixpath.basename(path)
    return [
        replace(each, name=f"{name}[{number}]", qualified_name=f"{path}[{number}]")
        for number, each in enumerate(found, 1)
    ]
