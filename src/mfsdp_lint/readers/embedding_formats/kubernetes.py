"""Manifests of Kubernetes, and workflows of Argo in them: the scripts of their containers.

A container has the scripts and variables that ConfigMaps give it, and the parameters of each step that starts it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Unfollowed
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.sources import Sources, Unreadable
from mfsdp_lint.readers.embedding_formats.docker import image_named
from mfsdp_lint.readers.embedding_formats.held_texts import (
    Fill,
    as_it_is,
    command,
    entries,
    environment,
    held,
    items,
    mappings,
    said,
    text_of,
    variable,
)
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.images import NO_IMAGE
from mfsdp_lint.readers.relevance import speaks_of_recipes
from mfsdp_lint.readers.shell.script import Piece, Text, filled, holed, plain
from mfsdp_lint.readers.shell.state import Held, Variable
from mfsdp_lint.readers.yaml.document import YamlDocument
from mfsdp_lint.readers.yaml.nodes import MappingNode, Node, compose_documents


def is_kubernetes(document: YamlDocument, root: MappingNode) -> bool:
    """Tell whether a document is a manifest."""
    return {"apiVersion", "kind"} <= entries(document, root).keys()


def kubernetes_scripts(document: YamlDocument, root: MappingNode, sources: Sources) -> Iterator[Held]:
    """Yield the scripts of its containers, wherever in it they are, and the scripts that it makes files of.

    A script that a container of the same file runs is that container's.
    """
    whole = entries(document, root)
    if said(document, whole.get("kind")) == "ConfigMap":
        for name, text in scripts_of_map(document, root).items():
            if not any(name in each for each in document.mounted):
                yield from held(text)
    workflow = _parameters(document, _workflow(document, whole))
    for own, inside in _containers(document, root):
        files = dict(_mounted(document, own, inside))
        image = document.images.get(said(document, inside.get("image")) or "", NO_IMAGE)
        container = replace(image.container, folder=said(document, inside.get("workingDir")) or image.container.folder)
        for given in _given_to(document, root, own, workflow):
            fill = partial(_with_parameters, given)
            # A template of Argo has the script by itself.
            source = fill(text_of(document, inside.get("source")))
            variables = variables_of_container(document, inside, fill)
            with_env = partial(_with_variables, variables, fill)
            text = source or command(document, inside.get("command"), inside.get("args"), fill=with_env)
            if speaks_of_recipes(document.lines.text):
                document.unfollowed += _missing(document, own, inside, text)
            for one in held(text, variables):
                yield replace(one, files=files, container=container if image.container.mounts else None)


def variables_of_container(
    document: YamlDocument, container: Mapping[str, Node], fill: Fill = as_it_is
) -> dict[str, Variable]:
    """Return the variables of a container: of its image, of whole ConfigMaps, its own, and of their single keys."""
    image = document.images.get(said(document, container.get("image")) or "", NO_IMAGE)
    variables = {**_from_maps(document, container), **environment(document, container.get("env"), fill)}
    return {**image.variables, **variables, **_keys_of_maps(document, container)}


def _from_maps(document: YamlDocument, container: Mapping[str, Node]) -> dict[str, Variable]:
    """Return the variables that a container has of whole ConfigMaps (`envFrom`)."""
    found: dict[str, Variable] = {}
    for each in items(document, container.get("envFrom")) if document.maps else ():
        own = entries(document, each)
        name = said(document, entries(document, own.get("configMapRef")).get("name")) or ""
        before = said(document, own.get("prefix")) or ""
        found |= {f"{before}{key}": variable(text) for key, text in document.maps.get(name, {}).items()}
    return {name: each for name, each in found.items() if name.isidentifier()}


def _keys_of_maps(document: YamlDocument, container: Mapping[str, Node]) -> dict[str, Variable]:
    """Return the variables that a container has of single keys of ConfigMaps (`valueFrom`)."""
    found: dict[str, Variable] = {}
    for each in items(document, container.get("env")) if document.maps else ():
        own = entries(document, each)
        key = entries(document, entries(document, own.get("valueFrom")).get("configMapKeyRef"))
        text = document.maps.get(said(document, key.get("name")) or "", {}).get(said(document, key.get("key")) or "")
        found |= {said(document, own.get("name")) or "": variable(text)} if text else {}
    return found


_REFERENCE = lazy_pattern(r"\$\(([A-Za-z_]\w*)\)")


def _with_variables(variables: Mapping[str, Variable], fill: Fill, text: Text) -> Text:
    """Fill in `$(NAME)`, for which Kubernetes puts a variable of the container before it starts the command."""

    def fill_in(named: re.Match[str], piece: Piece) -> Text | None:
        variable = variables.get(named[1])
        return None if variable is None else variable.text or holed(named, piece)

    return filled(fill(text), _REFERENCE, fill_in) or text


def _containers(document: YamlDocument, root: Node) -> Iterator[tuple[Mapping[str, Node], Mapping[str, Node]]]:
    """Yield every container of a manifest, behind the pod, or the template of Argo, that it belongs to."""
    for each in mappings(document, root):
        own = entries(document, each)
        for container in (each for name in _CONTAINERS for each in items(document, own.get(name))):
            yield own, entries(document, container)


def config_maps(document: YamlDocument, roots: Sequence[Node]) -> dict[str, dict[str, Text]]:
    """Return the texts of all ConfigMaps of a file, by the maps' names."""
    return {
        said(document, entries(document, entries(document, root).get("metadata")).get("name")) or "": _data(
            document, root
        )
        for root in roots
        if said(document, entries(document, root).get("kind")) == "ConfigMap"
    }


def scripts_of_map(document: YamlDocument, root: MappingNode) -> dict[str, Text]:
    """Return the scripts among the texts of a ConfigMap."""
    return {
        name: text
        for name, text in _data(document, root).items()
        if name.endswith((".sh", ".bash")) or plain(text).startswith("#!")
    }


def _data(document: YamlDocument, root: Node) -> dict[str, Text]:
    data = entries(document, entries(document, root).get("data"))
    return {name: text_of(document, value) for name, value in data.items()}


def _volumes(document: YamlDocument, pod: Mapping[str, Node]) -> dict[str, list[Mapping[str, Node]]]:
    """Return the ConfigMaps that the volumes of a pod have files of, by the volumes' names."""
    found: dict[str, list[Mapping[str, Node]]] = {}
    for each in items(document, pod.get("volumes")):
        own = entries(document, each)
        projected = items(document, entries(document, own.get("projected")).get("sources"))
        given = (entries(document, one).get("configMap") for one in (each, *projected))
        found[said(document, own.get("name")) or ""] = [entries(document, one) for one in given if one is not None]
    return found


def _mounts(
    document: YamlDocument, pod: Mapping[str, Node], container: Mapping[str, Node]
) -> Iterator[tuple[str, Mapping[str, Node], Mapping[str, Node]]]:
    """Yield the places at which a container sees ConfigMaps: the path, the mount itself, and the ConfigMap."""
    volumes = _volumes(document, pod)
    for each in items(document, container.get("volumeMounts")):
        own = entries(document, each)
        for source in volumes.get(said(document, own.get("name")) or "", ()):
            yield said(document, own.get("mountPath")) or "", own, source


def _mounted(
    document: YamlDocument, pod: Mapping[str, Node], container: Mapping[str, Node]
) -> Iterator[tuple[str, Text]]:
    """Yield the files that a container sees of ConfigMaps, by their paths: all files of each, or its `items`."""
    for place, mount, source in _mounts(document, pod, container) if document.maps else ():
        texts = document.maps.get(said(document, source.get("name")) or "", {})
        if "items" in source:
            named = [entries(document, each) for each in items(document, source["items"])]
            keys = {said(document, each.get("path")) or "": said(document, each.get("key")) or "" for each in named}
            texts = {path: texts.get(key, ()) for path, key in keys.items()}
        only = said(document, mount.get("subPath"))
        for name, text in texts.items():
            if text and only in (None, name):
                yield (place if only else posixpath.join(place, name)), text


def _missing(
    document: YamlDocument, pod: Mapping[str, Node], container: Mapping[str, Node], script: Text
) -> Iterator[Unfollowed]:
    """Yield what is told of a script that starts a file of a ConfigMap which is not at hand."""
    for place, _, source in _mounts(document, pod, container) if script else ():
        name = said(document, source.get("name")) or ""
        program = re.search(rf"(?<![\w./-]){re.escape(place)}(?:/[\w./-]*)?(?![\w-])", plain(script))
        if program and place.strip("/") and name not in document.maps:
            message = f"{program[0]} is of the ConfigMap {name}, which is not at hand"
            yield Unfollowed.of_launch(document.path, script[0].span, "out of sight", message)


def mounted_files(document: YamlDocument, roots: Sequence[Node]) -> frozenset[str]:
    """Return the commands of the containers that see files of ConfigMaps, as texts that name those they run."""
    return frozenset(
        plain(command(document, inside.get("command"), inside.get("args")))
        for root in roots
        for own, inside in _containers(document, root)
        if any(_mounted(document, own, inside))
    )


Parameters = Mapping[str, Text]
"""Values by the names that placeholders of Argo have for them (argo-workflows.readthedocs.io, variables)."""

_PARAMETER = lazy_pattern(r"\{\{\s*((?:workflow|inputs)\.parameters\.[\w-]+|item(?:\.[\w-]+)?)\s*\}\}")


def _with_parameters(given: Parameters, text: Text) -> Text:
    """Fill in the parameters of Argo that have a value."""
    found: list[Piece] = []
    for piece in text:
        named = _PARAMETER.fullmatch(piece.lines.text[piece.start : piece.end]) if piece.text == HOLE else None
        found += given.get(named[1], (piece,)) if named else (piece,)
    return tuple(found)


def _workflow(document: YamlDocument, whole: Mapping[str, Node]) -> Node | None:
    """Return the arguments of a workflow, also of one that a schedule starts."""
    spec = entries(document, whole.get("spec"))
    inner = entries(document, spec.get("workflowSpec")) or spec
    return inner.get("arguments")


def _parameters(
    document: YamlDocument, node: Node | None, before: str = "workflow", fill: Fill = as_it_is
) -> Parameters:
    """Return the values of `parameters: [{name: NAME, value: VALUE}]`."""
    found: dict[str, Text] = {}
    for each in items(document, entries(document, node).get("parameters")):
        own = entries(document, each)
        value = own.get("value", own.get("default"))
        if value is not None and (text := text_of(document, value)):
            found[f"{before}.parameters.{said(document, own.get('name'))}"] = fill(text)
    return found


def _given_to(
    document: YamlDocument, root: MappingNode, template: Mapping[str, Node], workflow: Parameters
) -> Sequence[Parameters]:
    """Return the parameters that a template of Argo is started with, one for each step that starts it otherwise."""
    if "inputs" not in template:
        return (workflow,)
    fill = partial(_with_parameters, workflow)
    own = {**workflow, **_parameters(document, template.get("inputs"), "inputs", fill)}
    name = said(document, template.get("name"))
    found: list[Parameters] = []
    for each in mappings(document, root):
        step = entries(document, each)
        if name and said(document, step.get("template")) == name:
            for item in _items_of(document, step):
                with_item = partial(_with_parameters, {**workflow, **item})
                given = {**own, **_parameters(document, step.get("arguments"), "inputs", with_item)}
                found += [given] if given not in found else []
    return found or (own,)


_MOST_ITEMS = 8


def _items_of(document: YamlDocument, step: Mapping[str, Node]) -> list[Parameters]:
    """Return the values that a step is started with, for each of its `withItems`."""
    found: list[Parameters] = []
    for each in items(document, step.get("withItems")):
        own = entries(document, each)
        texts = {f"item.{name}": text_of(document, value) for name, value in own.items()} or {
            "item": text_of(document, each)
        }
        found.append({name: text for name, text in texts.items() if text})
    return found if 0 < len(found) <= _MOST_ITEMS else [{}]


_CONTAINERS = ("containers", "initContainers", "container", "script")


_MOST_FILES = 64


def with_maps(document: YamlDocument, roots: Sequence[Node], sources: Sources | None = None) -> None:
    """Note in a document the ConfigMaps of the file, and those that its containers have variables or files of and that
    a file of `sources` beside it has.
    """
    document.maps = config_maps(document, roots)
    if sources is not None and (elsewhere := _named_maps(document, roots) - document.maps.keys()):
        beside = _maps_beside(document.path, sources)
        document.maps = {**document.maps, **{name: beside[name] for name in elsewhere & beside.keys()}}
    document.mounted = mounted_files(document, roots) if document.maps else frozenset()


def with_images(document: YamlDocument, roots: Sequence[Node], sources: Sources) -> None:
    """Note in a document the images of its containers that the repository builds."""
    containers = (inside for root in roots for _, inside in _containers(document, root))
    names = dict.fromkeys(said(document, inside.get("image")) or "" for inside in containers)
    document.images = {name: image_named(name, document.path, sources) for name in names}


def _named_maps(document: YamlDocument, roots: Sequence[Node]) -> set[str]:
    """Return the names of the ConfigMaps that containers have variables or files of."""
    if "configMap" not in document.lines.text:
        return set()
    places = (entries(document, each) for root in roots for each in mappings(document, root))
    named = (own.get(kind) for own in places for kind in ("configMapRef", "configMapKeyRef", "configMap"))
    return {said(document, entries(document, each).get("name")) or "" for each in named}


def _maps_beside(path: str, sources: Sources) -> dict[str, dict[str, Text]]:
    """Return the ConfigMaps in the other files of a folder; of two with one name nobody knows which is applied."""
    found: dict[str, list[dict[str, Text]]] = {}
    folder, own = posixpath.split(path)
    for name in disk.Listing(folder).matching("*.y*ml")[:_MOST_FILES]:
        place = posixpath.join(folder, name)
        text = None if name == own else sources.text_or_none(place)
        if text is not None and "ConfigMap" in text:
            with suppress(Unreadable):
                other = YamlDocument(place, Lines(text))
                for each, texts in config_maps(other, compose_documents(place, text, again=True)).items():
                    found.setdefault(each, []).append(texts)
    return {name: every[0] for name, every in found.items() if len(every) == 1}
