"""Pipelines of GitLab: the scripts of their jobs, with the files that they include (docs.gitlab.com/ci/yaml)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from itertools import islice, product

from mfsdp_lint.core.recipe import Unfollowed
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.projects import above
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.embedding_formats.held_texts import (
    MOST_JOBS,
    Variables,
    entries,
    held,
    items,
    joined,
    said,
    text_of,
    variable,
)
from mfsdp_lint.readers.relevance import Relevance
from mfsdp_lint.readers.shell.script import plain
from mfsdp_lint.readers.shell.state import Held, Variable
from mfsdp_lint.readers.shell_files import may_start
from mfsdp_lint.readers.yaml.document import YamlDocument
from mfsdp_lint.readers.yaml.merged import is_taken, merged, taken
from mfsdp_lint.readers.yaml.nodes import MappingNode, Node

_OF_A_PIPELINE = {"stages", "include", "workflow", "default", "variables", "before_script"}
_OF_A_JOB = {
    "stage", "tags", "rules", "needs", "extends", "only", "except", "before_script", "after_script", "artifacts",
}  # fmt: skip


def is_gitlab(document: YamlDocument, root: MappingNode) -> bool:
    """Tell whether a document has jobs: sections with a script, beside other keys of a pipeline or a job.

    Other kinds of files have sections with a script as well, but none of these keys, and none is hidden by a dot.
    """
    whole = entries(document, root)
    jobs = {
        name: own.keys()
        for name, each in whole.items()
        if {"script", "extends"} & (own := entries(document, each)).keys()
    }
    return any(name.startswith(".") or _OF_A_JOB & own for name, own in jobs.items()) or (
        bool(jobs) and not whole.keys().isdisjoint(_OF_A_PIPELINE)
    )


def gitlab_scripts(document: YamlDocument, root: MappingNode, sources: Sources) -> Iterator[Held]:
    """Yield the script of every job, with the `before_script` in front; of a matrix, of each of its jobs.

    A job has what the jobs have that it extends, and a hidden one is only there for that. Of a pipeline in several
    files, each has the jobs whose script is written in it.
    """
    whole = entries(document, _pipeline(document, root, sources))
    default = entries(document, whole.get("default"))
    outer = _variables(document, whole.get("variables"))
    for name in whole:
        if name.startswith("."):
            continue
        parts = _extended(document, whole, name, _DEEPEST)
        own = {key: value for part in parts for key, value in part.items()}
        before = own.get("before_script", default.get("before_script", whole.get("before_script")))
        lines = [text_of(document, each) for part in (before, own.get("script")) for each in items(document, part)]
        script = joined(lines)
        bases = [each for part in parts for each in items(document, part.get("extends"))]
        missing = [each for each in bases if said(document, each) not in whole]
        # What has no script at all is told where it asks for one.
        is_here = bool(missing) and not is_taken(document, own.get("script", missing[0]))
        if is_here and (not script or may_start(document.path, plain(script), Relevance(sources))):
            document.unfollowed += [_nowhere(document, name, each) for each in missing]
        if is_taken(document, own.get("script")):
            continue
        variables = {key: value for part in parts for key, value in _variables(document, part.get("variables")).items()}
        for given in _matrix(document, entries(document, own.get("parallel")).get("matrix")):
            yield from held(script, outer, variables, given)


_MAIN = ".gitlab-ci.yml"
_MOST_FOLDERS = 500


def _pipeline(document: YamlDocument, root: MappingNode, sources: Sources) -> Node:
    """Return the pipeline that has a file in it, as one mapping: what a file includes is below it."""
    own = posixpath.normpath(document.path)
    read: dict[str, MappingNode | None] = {own: root}

    def with_included(path: str, used: set[str]) -> Node | None:
        used.add(path)
        if path not in read:
            read[path] = next(iter(taken(document, path, sources)[-1:]), None)
        whole: Node | None = None
        for each in items(document, entries(document, read[path]).get("include")):
            for name in _local(document, path, each, sources):
                inner = None if name in used else with_included(name, used)
                whole = whole if inner is None else merged(document, whole, inner)
        upper = read[path]
        return whole if upper is None else merged(document, whole, upper)

    mains = (posixpath.normpath(posixpath.join(folder, _MAIN)) for folder in above(own))
    for main in (each for each in mains if each == own or sources.exists(each)):
        used: set[str] = set()
        whole = with_included(main, used)
        if whole is not None and own in used:
            return whole
    return with_included(own, set()) or root


def _local(document: YamlDocument, path: str, node: Node, sources: Sources) -> Iterator[str]:
    """Yield the files of the repository that an `include` names from its root; `*` stands for any name in a folder,
    `**` for any path. What is only included on a condition is not known.
    """
    own = entries(document, node)
    name = said(document, own.get("local")) if own else said(document, node)
    if name is None or "://" in name or "$" in name or "rules" in own:
        return
    name = name.lstrip("/")
    pattern = re.compile(re.escape(name).replace(r"\*\*", ".*").replace(r"\*", "[^/]*"))
    # The root of the repository is the outermost folder.
    for folder in reversed(above(path)):
        found = [posixpath.normpath(posixpath.join(folder, name))]
        if "*" in name:
            start = posixpath.join(folder, posixpath.dirname(name.partition("*")[0]))
            walked = islice(disk.walk(start or "."), _MOST_FOLDERS)
            there = (posixpath.normpath(posixpath.join(at, each)) for at, _, names in walked for each in names)
            found = sorted(each for each in there if pattern.fullmatch(posixpath.relpath(each, folder or ".")))
        if there_are := [each for each in found if sources.exists(each)]:
            yield from there_are
            return


def _nowhere(document: YamlDocument, name: str, base: Node) -> Unfollowed:
    home = document.homes.get(base, document)
    message = f"`{name}` extends `{said(document, base)}`, which no file at hand has"
    return Unfollowed.of_launch(document.path, home.places(base)[1], "out of sight", message)


_DEEPEST = 11
"""Jobs that extend each other, as GitLab has it."""


def _extended(document: YamlDocument, whole: Mapping[str, Node], name: str, depth: int) -> list[dict[str, Node]]:
    """Return the entries of a job behind those of the jobs that it extends."""
    own = entries(document, whole.get(name))
    names = [said(document, each) or "" for each in items(document, own.get("extends"))] if depth else []
    return [*(each for base in names for each in _extended(document, whole, base, depth - 1)), own]


def _matrix(document: YamlDocument, node: Node | None) -> Iterator[Variables]:
    """Yield the variables of each job that a matrix makes."""
    if node is None:
        yield {}
        return
    jobs: list[Variables] = []
    for each in items(document, node):
        named = {
            name: [variable(text_of(document, value)) for value in items(document, values)]
            for name, values in entries(document, each).items()
        }
        jobs += [dict(zip(named, values, strict=True)) for values in islice(product(*named.values()), MOST_JOBS + 1)]
    if len(jobs) > MOST_JOBS:
        jobs = [{name: Variable(None, exported=True) for each in jobs for name in each}]
    yield from jobs


def _variables(document: YamlDocument, node: Node | None) -> Variables:
    """Read variables: `NAME: value`, or with the value below `value`."""
    return {
        name: variable(text_of(document, entries(document, each).get("value", each)))
        for name, each in entries(document, node).items()
        if name.isidentifier()
    }
