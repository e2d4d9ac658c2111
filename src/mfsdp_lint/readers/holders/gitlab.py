"""GitLab: the scripts of jobs, with the variables of the pipeline and of the job."""

from __future__ import annotations

from collections.abc import Iterator

from mfsdp_lint.readers.holders.parts import Variables, entries, held, items, joined, text_of, variable
from mfsdp_lint.readers.shell.held import Held
from mfsdp_lint.readers.yaml.document import Document
from mfsdp_lint.readers.yaml.nodes import Mapping, Node


def is_one(document: Document, root: Mapping) -> bool:
    """Whether a document has jobs: sections with a script."""
    return any("script" in entries(document, each) for each in entries(document, root).values())


def scripts(document: Document, root: Mapping) -> Iterator[Held]:
    """The script of every job, behind what comes before it."""
    whole = entries(document, root)
    default = entries(document, whole.get("default"))
    outer = _variables(document, whole.get("variables"))
    for job in whole.values():
        own = entries(document, job)
        before = own.get("before_script", default.get("before_script", whole.get("before_script")))
        lines = [text_of(document, each) for part in (before, own.get("script")) for each in items(document, part)]
        if "script" in own:
            yield from held(joined(lines), outer, _variables(document, own.get("variables")))


def _variables(document: Document, node: Node | None) -> Variables:
    """`NAME: value`, or with the value below `value`."""
    return {
        name: variable(text_of(document, entries(document, each).get("value", each)))
        for name, each in entries(document, node).items()
        if name.isidentifier()
    }
