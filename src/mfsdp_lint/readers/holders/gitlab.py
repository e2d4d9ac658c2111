"""GitLab: the scripts of jobs, with the variables of the pipeline and of the job."""

from __future__ import annotations

from collections.abc import Iterator

from mfsdp_lint.readers.holders.parts import Variables, entries, held, items, joined, text_of, variable
from mfsdp_lint.readers.shell.held import Held
from mfsdp_lint.readers.yaml.document import Document
from mfsdp_lint.readers.yaml.nodes import Mapping, Node

_OF_A_PIPELINE = {"stages", "include", "workflow", "default", "variables", "before_script"}
_OF_A_JOB = {
    "stage",
    "tags",
    "rules",
    "needs",
    "extends",
    "before_script",
    "after_script",
    "artifacts",
    "only",
    "except",
}


def is_one(document: Document, root: Mapping) -> bool:
    """Tell whether a document has jobs: sections with a script, beside other keys of a pipeline or a job.

    Other kinds of files have sections with a script as well, but none of these keys.
    """
    whole = entries(document, root)
    jobs = [own.keys() for each in whole.values() if "script" in (own := entries(document, each))]
    return bool(jobs) and (not whole.keys().isdisjoint(_OF_A_PIPELINE) or any(_OF_A_JOB & own for own in jobs))


def scripts(document: Document, root: Mapping) -> Iterator[Held]:
    """Yield the script of every job, with the `before_script` in front."""
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
    """Read variables: `NAME: value`, or with the value below `value`."""
    return {
        name: variable(text_of(document, entries(document, each).get("value", each)))
        for name, each in entries(document, node).items()
        if name.isidentifier()
    }
