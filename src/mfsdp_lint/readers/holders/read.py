"""From a file that holds scripts to the recipes of the runs that they start."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Sequence

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.vocabulary.entry import Versions
from mfsdp_lint.readers.holders import compose, github, gitlab, kubernetes, ray
from mfsdp_lint.readers.python.entries.started import Programs
from mfsdp_lint.readers.relevance import Relevance
from mfsdp_lint.readers.shell.held import Held
from mfsdp_lint.readers.shell.pieces import plain
from mfsdp_lint.readers.shell.read import read_shell
from mfsdp_lint.readers.shell_files import may_start
from mfsdp_lint.readers.yaml.document import Document
from mfsdp_lint.readers.yaml.nodes import Mapping, compose_documents


@dataclass(frozen=True, slots=True)
class Holder:
    """A kind of file that holds scripts: a test for its documents, and a reader of their scripts."""

    is_one: Callable[[Document, Mapping], bool]
    scripts: Callable[[Document, Mapping], Iterator[Held]]


def _holders(sources: Sources) -> Iterator[Holder]:
    """Yield the holders in YAML. `sources` are for files that a document names."""
    yield from (Holder(each.is_one, each.scripts) for each in (kubernetes, github, gitlab, ray))
    yield Holder(compose.is_one, lambda document, root: compose.scripts(document, root, sources))


def read_yaml_holder(
    path: str, text: str, versions: Versions, sources: Sources, programs: Programs | None = None
) -> list[Recipe] | None:
    """Return the runs that scripts of a YAML file start; None where it is no file that holds scripts.

    With `programs`, those of the tree are followed. Raises Unreadable.
    """
    scripts: list[Held] = []
    holds = False
    document = Document(path, Lines(text))
    for root in compose_documents(path, text, again=True):
        if not isinstance(root, Mapping):
            continue
        for holder in _holders(sources):
            if holder.is_one(document, root):
                holds = True
                scripts += holder.scripts(document, root)
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
