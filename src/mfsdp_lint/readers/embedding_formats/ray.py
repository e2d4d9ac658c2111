"""Jobs of Ray: the command line of a driver, with the variables that it and the cluster's workers have.

docs.ray.io, cluster/running-applications/job-submission, and the RayJob of KubeRay (ray.io/v1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs.sources import Sources, Unreadable
from mfsdp_lint.readers.embedding_formats.held_texts import (
    Variables,
    entries,
    environment,
    held,
    items,
    mappings,
    said,
    text_of,
)
from mfsdp_lint.readers.embedding_formats.kubernetes import variables_of_container
from mfsdp_lint.readers.given_words import OF_WORKERS
from mfsdp_lint.readers.shell.script import Piece, Text, plain
from mfsdp_lint.readers.shell.state import LOST, Held, Variable
from mfsdp_lint.readers.yaml.document import YamlDocument
from mfsdp_lint.readers.yaml.nodes import MappingNode, Node, compose_documents

_RUNTIME = ("runtime_env", "runtimeEnvYAML")
_CLUSTER = "rayClusterSpec"
_GPU = "nvidia.com/gpu"
_ON_A_WORKER = ("entrypointNumCpus", "entrypointNumGpus", "entrypointResources")
"""Keys of a job whose driver need not run on the cluster's head."""


def is_ray(document: YamlDocument, root: MappingNode) -> bool:
    """Tell whether a document has a job."""
    return any(_is_job(own) for own in _sections(document, root))


def ray_scripts(document: YamlDocument, root: MappingNode, sources: Sources) -> Iterator[Held]:
    """Yield the command line of every job."""
    for own in filter(_is_job, _sections(document, root)):
        job = _of_job(document, next((own[name] for name in _RUNTIME if name in own), None))
        head, *workers = _containers(document, entries(document, own.get(_CLUSTER)))
        of_head, *of_nodes = [variables_of_container(document, each) for each in (head, *workers)]
        if not workers or _GPU in entries(document, entries(document, head.get("resources")).get("limits")):
            of_nodes.append(of_head)
        anywhere = {**_in_all(of_nodes), **job}
        driver = anywhere if not own.keys().isdisjoint(_ON_A_WORKER) else {**of_head, **job}
        of_workers = {f"{OF_WORKERS}{name}": each for name, each in anywhere.items()}
        yield from held(text_of(document, own["entrypoint"]), driver, of_workers)


def _is_job(own: Mapping[str, Node]) -> bool:
    return "entrypoint" in own and not own.keys().isdisjoint((*_RUNTIME, _CLUSTER))


def _sections(document: YamlDocument, root: MappingNode) -> Iterator[dict[str, Node]]:
    return (entries(document, each) for each in mappings(document, root))


def _containers(document: YamlDocument, cluster: Mapping[str, Node]) -> list[Mapping[str, Node]]:
    """Return the containers that Ray runs in on a cluster's nodes, that of the head first."""
    found: list[Mapping[str, Node]] = []
    for group in (cluster.get("headGroupSpec"), *items(document, cluster.get("workerGroupSpecs"))):
        pod = entries(document, entries(document, entries(document, group).get("template")).get("spec"))
        found.append(entries(document, next(iter(items(document, pod.get("containers"))), None)))
    return found


def _in_all(nodes: Sequence[Variables]) -> Variables:
    """Return the variables of all nodes; where they differ, the value is not known."""
    texts = {
        name: [each.text and plain(each.text) for each in (own.get(name, LOST) for own in nodes)] for name in nodes[0]
    }
    return {name: each if len({*texts[name]}) == 1 else Variable(None) for name, each in nodes[0].items()}


def _of_job(document: YamlDocument, node: Node | None) -> Variables:
    """Return the variables of a job's environment, which may be YAML in a text."""
    if (inside := entries(document, node)) or not said(document, node):
        return environment(document, inside.get("env_vars"))
    return variables_in(text_of(document, node))


def variables_in(text: Text) -> Variables:
    """Return the variables of a job's environment that is YAML in a text."""
    path = text[0].path
    try:
        roots = compose_documents(path, plain(text))
    except Unreadable:
        return {}
    inner = YamlDocument(path, Lines(plain(text)))
    found = environment(inner, entries(inner, roots[0]).get("env_vars")) if len(roots) == 1 else {}
    for name, each in found.items():
        # Places in the text become places in the file that holds the text.
        words = tuple(tuple(_outside(piece, text) for piece in word) for word in each.words or ())
        found[name] = replace(each, words=words, written=words[0][0]) if words else each
    return found


def _outside(piece: Piece, text: Text) -> Piece:
    start = 0
    for line in text:
        if start <= piece.start < start + len(line.text):
            return replace(line.cut(piece.start - start, piece.end - start), text=piece.text)
        start += len(line.text)
    return replace(text[0], text=piece.text)
