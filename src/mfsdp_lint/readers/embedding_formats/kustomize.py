"""Kustomizations: resources, and patches over them → the scripts that Kubernetes is given.

Every piece of a script is at its place: in a resource, in a patch, or in a file that becomes a ConfigMap. Facts:
kubectl.docs.kubernetes.io/references/kustomize/kustomization, RFC 6902, kustomize 5.4 (api/filters, kyaml/yaml/merge2).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Recipe, Unfollowed
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.inputs.discover import KUSTOMIZATIONS
from mfsdp_lint.inputs.projects import beside
from mfsdp_lint.inputs.sources import Sources, Unreadable
from mfsdp_lint.megatron.vocabulary.tables import Versions
from mfsdp_lint.readers.embedding_formats.formats import recipes_of
from mfsdp_lint.readers.embedding_formats.go_functions import to_yaml
from mfsdp_lint.readers.embedding_formats.held_texts import dotenv_variables
from mfsdp_lint.readers.embedding_formats.helm import not_followed, scripts_of_manifest, text_of_item
from mfsdp_lint.readers.embedding_formats.template_values import Item, Scalar, item_of
from mfsdp_lint.readers.programs import Programs
from mfsdp_lint.readers.relevance import Relevance
from mfsdp_lint.readers.shell.script import Piece, Text, of_file, plain, sliced, standing_at
from mfsdp_lint.readers.shell_files import may_start
from mfsdp_lint.readers.yaml.document import YamlDocument
from mfsdp_lint.readers.yaml.nodes import compose_documents

_RESOURCES = ("resources", "bases", "components")
_PATCHES = ("patches", "patchesStrategicMerge", "patchesJson6902")
_NOT_FOLLOWED = ("replacements", "vars", "transformers", "generators", "helmCharts")
"""Keys that may change what a container runs; the others name and label objects."""

_RUNS = lazy_pattern(r"\b(?:command|args|env|envFrom|data|stringData)\b|containers\W*$")
"""Fields of objects that decide what a container runs, and with which variables."""

_DEEPEST = 16
_MOST = 64
"""Kustomizations that are built for one."""

_BUILT_IN = lazy_pattern(r"v1|(?:apps|batch)/\w+")
"""The versions of the objects whose lists have keys: those of a resource that a cluster was taught are replaced."""

_MERGE_KEYS = {
    "containers": "name",
    "env": "name",
    "initContainers": "name",
    "ports": "containerPort",
    "volumeMounts": "mountPath",
    "volumes": "name",
}
"""The lists of a pod that are merged, with the keys of their items (k8s.io/api/core/v1/types.go, patchMergeKey)."""


def is_part(path: str, sources: Sources) -> bool:
    """Tell whether the kustomization beside a file has it as a resource, or as a patch."""
    kustomization = _in_folder(posixpath.dirname(path), sources)
    if kustomization is None or kustomization == path:
        return False
    return posixpath.normpath(path) in _named(kustomization, (*_RESOURCES, *_PATCHES), sources)


def _named(kustomization: str, keys: Sequence[str], sources: Sources) -> set[str]:
    """Return the paths that a kustomization has under these keys."""
    own = _kustomization(kustomization, sources)
    named = [each for key in keys for each in _list(own, key)]
    names = {text_of_item(each, "path") if isinstance(each, Mapping) else _said(each) for each in named}
    return {beside(kustomization, name) for name in names if name}


def read_kustomization(
    path: str,
    versions: Versions,
    sources: Sources,
    programs: Programs | None,
    unfollowed: list[Unfollowed],
) -> list[Recipe]:
    """Return the runs of what a kustomization builds; `unfollowed` receives what of it is not followed.

    One that others are built of may be applied by itself as well, unless it is a component.
    """
    if _of(_kustomization(path, sources), "kind") == "Component":
        return []
    relevance = Relevance(sources) if programs is None else programs.asked.relevance
    build = _Build(sources)
    manifest, replaced = _manifest(path, build)
    if not may_start(path, plain((*manifest, *replaced)), relevance):
        return []
    given = scripts_of_manifest(path, manifest, relevance, sources=sources)
    unfollowed += [*(not_followed(path, *each) for each in build.untold), *given.unfollowed]
    found = recipes_of(path, given.scripts, versions, sources, programs, unfollowed)
    bases = frozenset((each, 1, "") for each in build.kustomizations if each != posixpath.normpath(path))
    return [replace(each, bases=bases) for each in found]


def kustomized(path: str, sources: Sources) -> tuple[Text, Text, list[Unfollowed]]:
    """Return the manifest that a kustomization builds, the objects of which its other parts may change what they run,
    and the parts that are not followed."""
    build = _Build(sources)
    return (*_manifest(path, build), [not_followed(path, *each) for each in build.untold])


def _manifest(path: str, build: _Build) -> tuple[Text, Text]:
    """Return the manifest of a build, and the objects of which its other parts may change what they run."""
    objects = build.objects(path)
    start = standing_at("", of_file(path, build.sources.text_or_none(path) or " ")[0])
    manifest, replaced = (
        [
            piece
            for one in objects
            for piece in (*to_yaml(one.item, start), standing_at("\n---\n", start))
            if one.is_replaced is which and piece.text
        ]
        for which in (False, True)
    )
    return tuple(manifest), tuple(replaced)


@dataclass(frozen=True, slots=True)
class _Object:
    """An object, and the names that a patch may call it by: each kustomization may put something around its name.

    What one that `is_replaced` runs may be changed by a part that is not followed.
    """

    item: Item
    names: tuple[str, ...]
    is_replaced: bool = False


def _selects(target: Item, one: _Object) -> bool:
    """Tell whether a target of `replacements` may be a field of an object that decides what it runs."""
    select = target.get("select") if isinstance(target, Mapping) else None
    kind, name = (_of(select, key) if select is not None else "" for key in ("kind", "name"))
    fields = (_said(each) for each in _list(target, "fieldPaths"))
    return any(map(_RUNS.search, fields)) and kind in ("", _of(one.item, "kind")) and name in ("", *one.names)


class _NotPatched(Exception):
    """A patch that does not fit, or of which not all is known."""


class _TestFails(Exception):
    """An operation tests for another value: kustomize stops, and builds nothing."""


class _Build:
    """A build of a kustomization, and of others for it; `untold` are the parts that are not followed, with places."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.untold: list[tuple[Piece | None, str]] = []
        self.kustomizations: list[str] = []

    def objects(self, path: str, given: Sequence[_Object] = (), depth: int = 0) -> list[_Object]:
        """Return the objects that a kustomization builds, of those that it is given as a component as well."""
        self.kustomizations.append(posixpath.normpath(path))
        own = _kustomization(path, self.sources)
        keys = own.keys() if isinstance(own, Mapping) else ()
        self.untold += [
            (None, f"`{key}` of this kustomization is not followed") for key in _NOT_FOLLOWED if key in keys
        ]
        found = [*given, *(each for key in ("resources", "bases") for each in self._resources(path, own, key, depth))]
        for each in _list(own, "configMapGenerator"):
            found = _with_map(found, self._map(path, each), text_of_item(each, "behavior"))
        for each in _list(own, "components"):
            component = self._inner(path, each, depth)
            found = found if component is None else self.objects(component, found, depth + 1)
        replaced = self._replaced(path, own)
        before, behind = (text_of_item(own, key) for key in ("namePrefix", "nameSuffix"))
        return [
            replace(
                each,
                names=(*each.names, f"{before}{each.names[-1]}{behind}"),
                is_replaced=each.is_replaced or replaced is None or any(_selects(target, each) for target in replaced),
            )
            for each in self._patched(path, own, found)
        ]

    def _replaced(self, path: str, own: Item) -> list[Item] | None:
        """Return the targets of a kustomization's `replacements`; None where anything may be changed that it builds."""
        if isinstance(own, Mapping) and "transformers" in own:
            return None
        found: list[Item] = []
        for each in _list(own, "replacements"):
            name = _of(each, "path")
            text = self._file(path, name) if name else None
            inside = [each] if text is None else [one for root in self._documents(text) for one in _flat(root)]
            targets = [target for one in inside for target in _list(one, "targets")]
            if name and not targets:
                return None
            found += targets
        return found

    def _inner(self, path: str, named: Item, depth: int) -> str | None:
        """Return the kustomization in a folder that another one names."""
        found = _in_folder(beside(path, _said(named)), self.sources)
        return found if depth < _DEEPEST and len(self.kustomizations) < _MOST else None

    def _resources(self, path: str, own: Item, key: str, depth: int) -> Iterator[_Object]:
        for each in _list(own, key):
            name = _said(each)
            inner = self._inner(path, each, depth)
            text = self._file(path, name) if inner is None else None
            if inner is not None:
                yield from self.objects(inner, depth=depth + 1)
            elif text is not None:
                for item in self._documents(text):
                    if isinstance(item, Mapping):
                        yield _Object(item, (text_of_item(item.get("metadata", {}), "name"),))
            else:
                self.untold.append((_place(each), f"the resource {name} is not at hand"))

    def _map(self, path: str, generator: Item) -> _Object:
        """Return the ConfigMap that a generator makes of files, of files of variables, and of `name=text`."""
        data: dict[str, Item] = {}
        for each in _list(generator, "files"):
            key, equals, name = _said(each).partition("=")
            text = self._file(path, name if equals else key)
            if text is not None:
                data[key if equals else posixpath.basename(key)] = Scalar(plain(text), text)
        for each in (*_list(generator, "envs"), *_list(generator, "env")):
            text = self._file(path, _said(each))
            variables = dotenv_variables(text[0].path, plain(text)) if text is not None else {}
            for name, variable in variables.items():
                data[name] = Scalar(plain(variable.text or ()), variable.text or ())
        for each in _list(generator, "literals"):
            key, _, value = _said(each).partition("=")
            start = len(key) + 1
            if isinstance(each, Scalar):
                data[key] = Scalar(value, tuple(sliced(each.text, start, start + len(value))))
        name = text_of_item(generator, "name")
        made: dict[str, Item] = {"metadata": {"name": _made(name)}, "data": data}
        return _Object({**made, "apiVersion": _made("v1"), "kind": _made("ConfigMap")}, (name,))

    def _patched(self, path: str, own: Item, objects: list[_Object]) -> list[_Object]:
        for patch in (each for key in _PATCHES for each in _list(own, key)):
            if isinstance(patch, Mapping):
                inline, name = patch.get("patch"), text_of_item(patch, "path")
            else:
                inline, name = patch if "\n" in _said(patch) else None, _said(patch)
            text = inline.text if isinstance(inline, Scalar) else self._file(path, name)
            if text is None:
                self.untold.append((_place(patch), f"the patch {name} is not at hand"))
                continue
            target = patch.get("target") if isinstance(patch, Mapping) else None
            for item in self._documents(text):
                try:
                    objects = [each for one in objects for each in _with_patch(one, item, target)]
                except _TestFails:
                    self.untold.append((text[0], "kustomize stops at this patch, which tests for another value"))
                    return [replace(each, is_replaced=True) for each in objects]
                except (_NotPatched, KeyError, IndexError, ValueError, TypeError):
                    self.untold.append((text[0], "this patch is not followed"))
        return objects

    def _file(self, path: str, name: str) -> Text | None:
        found = beside(path, name)
        text = self.sources.text_or_none(found) if name and "://" not in name and self.sources.exists(found) else None
        return None if text is None else of_file(found, text)

    def _documents(self, text: Text) -> list[Item]:
        """Return the documents of a text, each scalar at its place in it."""
        said, path = plain(text), text[0].path if text else ""
        document = YamlDocument(path, Lines(said))
        try:
            roots = compose_documents(path, said, again=True)
        except Unreadable:
            self.untold.append((text[0], "this file is not known to be YAML"))
            return []
        return [_led_back(item_of(document, root), text, said) for root in roots]


def _led_back(item: Item, text: Text, said: str) -> Item:
    """Return an item of the plain text of another one with its pieces where they are written in that."""

    def back(piece: Piece) -> Iterator[Piece]:
        inside = list(sliced(text, piece.start, max(piece.end, piece.start + 1)))
        same = said[piece.start : piece.end] == piece.text
        yield from inside if same else (standing_at(piece.text, inside[0]),) if inside else (piece,)

    if isinstance(item, Mapping):
        return {name: _led_back(each, text, said) for name, each in item.items()}
    if isinstance(item, Sequence):
        return [_led_back(each, text, said) for each in item]
    if isinstance(item, Scalar):
        return replace(item, text=tuple(each for piece in item.text for each in back(piece)))
    return item


def _with_map(objects: list[_Object], made: _Object, behavior: str) -> list[_Object]:
    """Return objects with a ConfigMap: a new one, or one that replaces that of a base, or is laid over it."""
    former = [each for each in objects if made.names[0] in each.names and _of(each.item, "kind") == "ConfigMap"]
    if behavior == "merge" and former:
        made = replace(former[0], item=_merged(former[0].item, made.item, keyed=True))
    return [*(each for each in objects if not any(each is one for one in former)), made]


# -- patches -------------------------------------------------------------------------------------------------------


def _with_patch(one: _Object, patch: Item, target: Item | None) -> Sequence[_Object]:
    """Return an object under a patch, if that is meant for it; nothing for one that is deleted."""
    if target is None and isinstance(patch, Mapping):
        kind, name = _of(patch, "kind"), text_of_item(patch.get("metadata", {}), "name")
        is_meant = kind == _of(one.item, "kind") and name in one.names
    else:
        is_meant = _is_target(one, target)
    if not is_meant:
        return (one,)
    if isinstance(patch, Mapping):
        if _of(patch, "$patch") == "delete":
            return ()
        # A target says which objects are meant, not what they are called.
        changes = {key: each for key, each in patch.items() if key not in ("metadata", "kind", "apiVersion")}
        keyed = _BUILT_IN.fullmatch(_of(one.item, "apiVersion")) is not None
        return (replace(one, item=_merged(one.item, changes, keyed=keyed)),)
    if not isinstance(patch, Sequence):
        raise _NotPatched
    item = one.item
    for operation in patch:
        item = _operated(item, operation)
    return (replace(one, item=item),)


def _is_target(one: _Object, target: Item | None) -> bool:
    if not isinstance(target, Mapping) or not {"labelSelector", "annotationSelector"}.isdisjoint(target):
        raise _NotPatched
    group, _, version = _of(one.item, "apiVersion").rpartition("/")
    own = {"kind": [_of(one.item, "kind")], "name": one.names, "group": [group], "version": [version]}
    return all(
        any(re.fullmatch(text_of_item(target, key), each) for each in values)
        for key, values in own.items()
        if key in target
    )


def _operated(item: Item, operation: Item) -> Item:
    """Return an item behind an operation of RFC 6902. Raises KeyError, IndexError or _NotPatched."""
    path = _pointer(text_of_item(operation, "path"))
    value = operation.get("value") if isinstance(operation, Mapping) else None
    match text_of_item(operation, "op"):
        case "add" | "replace" as change if value is not None:
            return _changed(item, path, change, value)
        case "remove":
            return _changed(item, path, "remove", None)
        case "copy" | "move" as change:
            source = _pointer(text_of_item(operation, "from"))
            moved = _at(item, source)
            return _changed(_changed(item, source, "remove", None) if change == "move" else item, path, "add", moved)
        case "test":
            expected, found = value, _at(item, path)
            if isinstance(expected, Scalar) and isinstance(found, Scalar) and expected.value != found.value:
                raise _TestFails
            return item
    raise _NotPatched


def _pointer(said: str) -> list[str]:
    return [each.replace("~1", "/").replace("~0", "~") for each in said.split("/")[1:]]


def _at(item: Item, path: Sequence[str]) -> Item:
    for key in path:
        if isinstance(item, Mapping):
            item = item[key]
        elif isinstance(item, Sequence):
            item = item[int(key)]
        else:
            raise _NotPatched
    return item


def _changed(item: Item, path: Sequence[str], change: str, value: Item | None) -> Item:
    """Return an item with another value at a path; `change` is an operation of RFC 6902."""
    key, *rest = path
    if isinstance(item, Mapping):
        if rest:
            return {**item, key: _changed(item[key], rest, change, value)}
        if value is None:
            return {name: each for name, each in item.items() if name != key}
        return {**item, key: value}
    if not isinstance(item, Sequence):
        raise _NotPatched
    at = len(item) if key == "-" else int(key)
    if rest:
        return [*item[:at], _changed(item[at], rest, change, value), *item[at + 1 :]]
    return [*item[:at], *(() if value is None else (value,)), *item[at if change == "add" else at + 1 :]]


def _merged(item: Item, patch: Item, *, keyed: bool) -> Item:
    """Return an item under a strategic merge patch; lists whose items have keys are merged if `keyed`."""
    if not isinstance(patch, Mapping):
        return patch
    found = dict(item) if isinstance(item, Mapping) and _of(patch, "$patch") != "replace" else {}
    for name, each in patch.items():
        former = found.get(name)
        if name == "$patch":
            continue
        if isinstance(each, Scalar) and each.value is None:
            found.pop(name, None)
        elif keyed and name in _MERGE_KEYS and isinstance(each, Sequence) and isinstance(former, Sequence):
            found[name] = _merged_lists(former, each, _MERGE_KEYS[name])
        else:
            found[name] = _merged({} if former is None else former, each, keyed=keyed)
    return found


def _merged_lists(items: Sequence[Item], patches: Sequence[Item], key: str) -> list[Item]:
    """Return a list of items with keys under a patch, whose items stand in front."""
    former = {_of(each, key): each for each in items}
    named = {_of(each, key): each for each in patches}
    kept = (each for each in named.values() if _of(each, "$patch") != "delete")
    return [
        *(_merged(former.get(_of(each, key), {}), each, keyed=True) for each in kept),
        *(each for name, each in former.items() if name not in named),
    ]


# -- items ---------------------------------------------------------------------------------------------------------


def _kustomization(path: str, sources: Sources) -> Item:
    text = sources.text_or_none(path)
    found = _Build(sources)._documents(of_file(path, text)) if text is not None else []
    return found[0] if found else {}


def _in_folder(folder: str, sources: Sources) -> str | None:
    """Return the kustomization of a folder."""
    return next((each for name in KUSTOMIZATIONS if sources.exists(each := posixpath.join(folder, name))), None)


def _list(item: Item, key: str) -> Sequence[Item]:
    value = item.get(key) if isinstance(item, Mapping) else None
    return () if value is None else value if isinstance(value, Sequence) else (value,)


def _flat(item: Item) -> Sequence[Item]:
    return item if isinstance(item, Sequence) else (item,)


def _said(item: Item | None) -> str:
    return str(item.value) if isinstance(item, Scalar) and item.value is not None else ""


def _of(item: Item, key: str) -> str:
    return _said(item.get(key)) if isinstance(item, Mapping) else ""


def _place(item: Item) -> Piece | None:
    """Return the first place of an item."""
    if isinstance(item, Scalar):
        return item.text[0] if item.text else None
    inner = item.values() if isinstance(item, Mapping) else item if isinstance(item, Sequence) else ()
    return next((place for each in inner if (place := _place(each)) is not None), None)


def _made(text: str) -> Scalar:
    return Scalar(text, (Piece(text, "", Lines(text), 0, len(text)),))
