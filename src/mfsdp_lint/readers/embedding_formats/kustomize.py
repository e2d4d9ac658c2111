"""Overlays of kustomize: resources, as patches and generators of a kustomization change them → scripts of containers.

Every piece of a script is at its place: in the base, in the patch, or in the kustomization. Facts: kustomize 5.4
(api/internal/target/kusttarget.go, api/resmap, plugin/builtin/patchtransformer, kyaml/yaml/merge2).
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.recipe import Recipe, Unfollowed
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.projects import beside
from mfsdp_lint.inputs.sources import Sources, Unreadable
from mfsdp_lint.megatron.vocabulary.tables import Versions
from mfsdp_lint.readers.embedding_formats.formats import recipes_of
from mfsdp_lint.readers.embedding_formats.held_texts import dotenv_variables, entries, items, said, text_of
from mfsdp_lint.readers.embedding_formats.helm import scripts_of_manifest
from mfsdp_lint.readers.python.entries.addressed import Programs
from mfsdp_lint.readers.relevance import Relevance
from mfsdp_lint.readers.shell.script import Piece, Text, of_file, plain, sliced
from mfsdp_lint.readers.shell_files import may_start
from mfsdp_lint.readers.yaml.document import YamlDocument
from mfsdp_lint.readers.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode, compose_documents

NAMES = ("kustomization.yaml", "kustomization.yml")

Value = dict[str, "Value"] | list["Value"] | Text | None
"""A part of a manifest: its scalars are texts that know where they are written, `None` is YAML's null."""

Manifest = dict[str, Value]

_MOST_FOLDERS = 500
_MOST_BUILT = 100
"""Kustomizations that one is built of."""

_HEAVIEST = 20_000
"""Values of one document, every alias written out."""

_NOT_FOLLOWED = ("replacements", "vars", "transformers", "generators", "helmCharts")
"""Keys of a kustomization that change or make resources in ways that are not followed here."""

_LISTS_BY = {
    "containers": "name",
    "initContainers": "name",
    "env": "name",
    "volumes": "name",
    "volumeMounts": "mountPath",
    "ports": "containerPort",
}
"""The lists that a strategic patch merges, by the key of their items (`patchMergeKey` in k8s.io/api/core/v1)."""

_BUILT_IN = frozenset(
    ("Pod", "Job", "CronJob", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController")
)
"""Kinds whose lists merge; a strategic patch replaces those of any other kind."""


class NotBuilt(Exception):
    """A kustomization that is not followed, or that kustomize refuses; the text says why."""


def read_kustomization(
    path: str, versions: Versions, sources: Sources, programs: Programs | None, unfollowed: list[Unfollowed]
) -> list[Recipe]:
    """Return the runs of the containers that a kustomization gives; `unfollowed` receives launches that give none."""
    relevance = Relevance(sources) if programs is None else programs.asked.relevance
    if not any(may_start(path, each, relevance) for each in _texts_named(path, sources)) or _is_base(path, sources):
        return []
    try:
        given = scripts_of_manifest(path, _built(path, sources), relevance)
    except (NotBuilt, Unreadable) as error:
        said = f"this kustomization is not followed: {error}"
        unfollowed.append(Unfollowed(posixpath.basename(path), path, path, 1, "launch", "out of sight", said))
        return []
    unfollowed += given.unfollowed
    return recipes_of(path, given.scripts, versions, sources, programs, unfollowed)


def _texts_named(path: str, sources: Sources) -> Iterator[str]:
    """Yield the texts of a kustomization and of all files that it is built of, as far as they are at hand."""
    pending = [path]
    seen: set[str] = set()
    while pending:
        here = pending.pop()
        text = sources.text_or_none(here) if here not in seen else None
        seen.add(here)
        if text is None:
            continue
        yield text
        if posixpath.basename(here) in NAMES:
            for target in _named_in(here, text):
                pending += [target] if sources.exists(target) else []
                pending += _kustomizations(target, sources)


def is_part(path: str, sources: Sources) -> bool:
    """Tell whether the kustomization of a file's folder, or of that above it, names the file."""
    folder = posixpath.dirname(path)
    around = (each for above in (folder, posixpath.dirname(folder)) for each in _kustomizations(above, sources))
    return any(posixpath.normpath(path) in _named_in(each, sources.text_or_none(each) or "") for each in around)


def _named_in(path: str, text: str) -> set[str]:
    """Return the paths that a kustomization may name, outside of its comments."""
    return {beside(path, name) for name in re.findall(r"[\w./-]+", re.sub(r"(?:^|\s)#.*", "", text))}


def _is_base(path: str, sources: Sources) -> bool:
    """Tell whether another kustomization near by is built of this one, and so applied in its place."""
    folder = posixpath.dirname(path)
    for at, _, names in islice(disk.walk(posixpath.dirname(folder) or "."), _MOST_FOLDERS) if folder else ():
        for each in (posixpath.normpath(posixpath.join(at, name)) for name in names if name in NAMES):
            text = sources.text_or_none(each) if each != path else None
            if posixpath.normpath(folder) in _named_in(each, text or ""):
                return True
    return False


def _kustomizations(folder: str, sources: Sources) -> list[str]:
    found = (posixpath.join(folder, name) for name in NAMES)
    return [each for each in found if sources.exists(each)][:1]


def _built(path: str, sources: Sources) -> Text:
    """Return the manifests that `kustomize build` gives for a kustomization, as YAML. Raises NotBuilt, Unreadable."""
    start = Piece("", path, Lines(sources.text(path)), 0, 0)
    parts = [_written(each, 0, start) for each in _Kustomization(path, sources, []).manifests()]
    return tuple(piece for part in parts for piece in (replace(start, text="---\n"), *part))


class _Kustomization:
    """A file of kustomize, in the order in which it changes its resources."""

    def __init__(self, path: str, sources: Sources, built: list[str]) -> None:
        built.append(path)
        if len(built) > _MOST_BUILT:
            raise NotBuilt("it is built of itself, or of too many others")
        self.path, self.sources, self.built = path, sources, built
        roots = list(_documents(path, sources.text(path)))
        self.said: Manifest = roots[0] if len(roots) == 1 and isinstance(roots[0], dict) else {}

    def manifests(self) -> list[Manifest]:
        """Return the resources as they are in the end. Raises NotBuilt."""
        for name in _NOT_FOLLOWED:
            if name in self.said:
                raise NotBuilt(f"`{name}` is not followed")
        found = [each for name in ("resources", "bases") for one in self._names(name) for each in self._resource(one)]
        found = self.changed(found)
        for name in self._names("components"):
            for each in _kustomizations(beside(self.path, name), self.sources):
                found = _Kustomization(each, self.sources, self.built).changed(found)
        return found

    def changed(self, manifests: list[Manifest]) -> list[Manifest]:
        """Apply the generators and the patches to resources. Raises NotBuilt."""
        for generator in _items(self.said.get("configMapGenerator")):
            _add_map(manifests, self._config_map(_mapping(generator)))
        for each in _items(self.said.get("patchesStrategicMerge")):
            is_inline = "\n" in plain(_text(each)).strip()
            self._patch(manifests, self._written_in(each) if is_inline else self._in_file(each), {})
        for name in ("patches", "patchesJson6902"):
            for each in map(_mapping, _items(self.said.get(name))):
                patches = self._written_in(each["patch"]) if "patch" in each else self._in_file(each.get("path"))
                self._patch(manifests, patches, _mapping(each.get("target")))
        return manifests

    def _names(self, name: str) -> list[str]:
        return [plain(_text(each)) for each in _items(self.said.get(name))]

    def _resource(self, name: str) -> list[Manifest]:
        path = beside(self.path, name)
        if below := _kustomizations(path, self.sources):
            return _Kustomization(below[0], self.sources, self.built).manifests()
        return [each for each in _documents(path, self._text_of(path, name)) if isinstance(each, dict)]

    def _text_of(self, path: str, name: str) -> str:
        text = self.sources.text_or_none(path) if self.sources.exists(path) else None
        if text is None:
            raise NotBuilt(f"{name} is not at hand")
        return text

    def _in_file(self, said: Value) -> list[Value]:
        name = plain(_text(said))
        path = beside(self.path, name)
        return list(_documents(path, self._text_of(path, name)))

    def _written_in(self, said: Value) -> list[Value]:
        """Return the patches that are written in place."""
        outer = _text(said)
        return [_within(each, outer) for each in _documents(self.path, plain(outer))]

    def _patch(self, manifests: list[Manifest], patches: list[Value], target: Manifest) -> None:
        for patch in patches:
            aimed = target or {name: _mapping(patch).get(name) for name in ("kind", "metadata")}
            hit = [number for number, each in enumerate(manifests) if _is_target(each, aimed)]
            if not hit and not target:
                raise NotBuilt("a patch is for no resource")
            for number in reversed(hit):
                if isinstance(patch, list):
                    for operation in map(_mapping, patch):
                        _operate(manifests[number], operation)
                elif _says(_mapping(patch).get("$patch"), "delete"):
                    del manifests[number]
                else:
                    own = manifests[number]
                    kind = plain(_text(own.get("kind")))
                    manifests[number] = _merged(own, _mapping(patch), kind in _BUILT_IN)

    def _config_map(self, said: Manifest) -> Manifest:
        """Return the ConfigMap that an entry of `configMapGenerator` makes."""
        data: Manifest = {}
        for each in _items(said.get("literals")):
            name, _, value = plain(_text(each)).partition("=")
            quoted = value[:1] in "\"'" and value[:1] == value[-1:] and len(value) > 1
            data[name] = tuple(sliced(_text(each), len(name) + 1 + quoted, len(name) + 1 + len(value) - quoted))
        for each in _items(said.get("files")):
            key, _, name = plain(_text(each)).rpartition("=")
            path = beside(self.path, name)
            data[key or posixpath.basename(name)] = of_file(path, self._text_of(path, name))
        for each in (*_items(said.get("envs")), *_items(said.get("env"))):
            path = beside(self.path, plain(_text(each)))
            found = dotenv_variables(path, self._text_of(path, plain(_text(each))))
            data |= {name: one.text or () for name, one in found.items()}
        kind = (replace(next(iter(_text(said.get("name")))), text="ConfigMap"),) if _text(said.get("name")) else ()
        return {"apiVersion": kind, "kind": kind, "metadata": {"name": said.get("name")}, "data": data}


def _documents(path: str, text: str) -> Iterator[Value]:
    document = YamlDocument(path, Lines(text))
    for root in compose_documents(path, text, again=True):
        if root.weight > _HEAVIEST:
            raise NotBuilt(f"{path} is too large")
        yield _value(document, root)


def _value(document: YamlDocument, node: Node) -> Value:
    match document.follow(node):
        case MappingNode() as mapping:
            return {name: _value(document, each) for name, each in entries(document, mapping).items()}
        case SequenceNode() as sequence:
            return [_value(document, each) for each in items(document, sequence)]
        case ScalarNode() as scalar if said(document, scalar) is not None:
            return text_of(document, scalar, templated=False)
    return None


def _within(value: Value, outer: Text) -> Value:
    """Return a value that was read in a text, with its pieces at the places that the text has."""
    if isinstance(value, dict):
        return {name: _within(each, outer) for name, each in value.items()}
    if isinstance(value, list):
        return [_within(each, outer) for each in value]
    return value and tuple(
        piece if plain((piece,)) == each.text else replace(piece, text=each.text)
        for each in value
        for piece in sliced(outer, each.start, each.end)
    )


def _items(value: Value) -> Sequence[Value]:
    return value if isinstance(value, list) else () if value is None else (value,)


def _mapping(value: Value) -> Manifest:
    return value if isinstance(value, dict) else {}


def _text(value: Value) -> Text:
    return value if isinstance(value, tuple) else ()


def _says(value: Value, text: str) -> bool:
    return plain(_text(value)) == text


def _name(manifest: Mapping[str, Value]) -> str:
    return plain(_text(_mapping(manifest.get("metadata")).get("name")))


def _is_target(manifest: Manifest, target: Manifest) -> bool:
    """Tell whether a patch is for a manifest: its target's kind and name are expressions for the whole of them."""
    if target.keys() - {"kind", "name", "metadata", "group", "version", "namespace"}:
        raise NotBuilt("a target with a selector is not followed")
    wanted = plain(_text(target.get("name"))) or _name(target)
    pairs = ((plain(_text(target.get("kind"))), plain(_text(manifest.get("kind")))), (wanted, _name(manifest)))
    return all(not pattern or re.fullmatch(pattern, own) is not None for pattern, own in pairs)


def _add_map(manifests: list[Manifest], made: Manifest) -> None:
    """Add a ConfigMap, or its texts to the one of that name."""
    for each in manifests:
        if _says(each.get("kind"), "ConfigMap") and _name(each) == _name(made):
            each["data"] = {**_mapping(each.get("data")), **_mapping(made["data"])}
            return
    manifests.append(made)


def _merged(own: Manifest, patch: Manifest, lists: bool) -> Manifest:
    """Apply a strategic patch; with `lists` those that have a key are merged."""
    if _says(patch.get("$patch"), "replace"):
        return {name: each for name, each in patch.items() if name != "$patch"}
    found = dict(own)
    for name, new in patch.items():
        old = own.get(name)
        if new is None:
            found.pop(name, None)
        elif isinstance(new, dict):
            found[name] = _merged(_mapping(old), new, lists)
        elif lists and name in _LISTS_BY and isinstance(new, list) and isinstance(old, list):
            found[name] = _merged_lists(old, new, _LISTS_BY[name])
        else:
            found[name] = new
    return found


def _merged_lists(old: list[Value], new: list[Value], key: str) -> list[Value]:
    found = list(old)
    for each in map(_mapping, new):
        name = plain(_text(each.get(key)))
        at = next((number for number, one in enumerate(found) if _says(_mapping(one).get(key), name)), None)
        if _says(each.get("$patch"), "delete"):
            found[at : None if at is None else at + 1] = [] if at is not None else found
        elif at is None:
            found.append(each)
        else:
            found[at] = _merged(_mapping(found[at]), each, True)
    return found


def _operate(manifest: Manifest, operation: Manifest) -> None:
    """Apply an operation of a JSON patch (RFC 6902). Raises NotBuilt where there is no such place."""
    what, place = plain(_text(operation.get("op"))), plain(_text(operation.get("path")))
    *above, last = [part.replace("~1", "/").replace("~0", "~") for part in place.split("/")[1:]] or [""]
    here: Value = manifest
    for part in above:
        here = (
            here[int(part)]
            if isinstance(here, list) and part.isdigit() and int(part) < len(here)
            else _mapping(here).get(part)
        )
    value, at = operation.get("value"), int(last) if last.isdigit() else -1
    if isinstance(here, dict) and what in ("add", "replace"):
        here[last] = value
    elif isinstance(here, dict) and what == "remove":
        here.pop(last, None)
    elif isinstance(here, list) and what == "add" and (last == "-" or 0 <= at <= len(here)):
        here.insert(len(here) if last == "-" else at, value)
    elif isinstance(here, list) and what in ("replace", "remove") and 0 <= at < len(here):
        here[at : at + 1] = [value] if what == "replace" else []
    else:
        raise NotBuilt(f"`{what} {place}` is not followed")


def _written(value: Value, indent: int, start: Piece) -> Iterator[Piece]:
    """Write a value as YAML; its scalars are blocks, so that each text is as it is."""
    blanks = " " * indent
    pairs = list(value.items()) if isinstance(value, dict) else [(None, each) for each in _items(value)]
    for name, each in pairs:
        yield replace(start, text=f"{blanks}-" if name is None else f"{blanks}{json.dumps(name)}:")
        if isinstance(each, tuple) and each:
            yield replace(start, text=f" |2-\n{blanks}  ")
            for piece in each:
                at = 0
                for number, line in enumerate(piece.text.split("\n")):
                    yield replace(start, text=f"\n{blanks}  " if number else "")
                    yield piece.cut(at, at + len(line))
                    at += len(line) + 1
            yield replace(start, text="\n")
        elif isinstance(each, (dict, list)) and each:
            yield replace(start, text="\n")
            yield from _written(each, indent + 2, start)
        else:
            yield replace(start, text=f" {_EMPTY[type(each)]}\n")


_EMPTY = {dict: "{}", list: "[]", tuple: "''", type(None): "null"}
