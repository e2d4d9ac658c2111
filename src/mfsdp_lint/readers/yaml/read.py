"""From a YAML file to recipes: it is a framework's, or each of its documents is of the first shape that takes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.front_ends import profiles
from mfsdp_lint.megatron.versions.target import DEFAULT_TARGET
from mfsdp_lint.megatron.vocabulary.entry import Versions
from mfsdp_lint.readers.profiled import recipes_of
from mfsdp_lint.readers.yaml import model_args, overrides
from mfsdp_lint.readers.yaml.compose import COMPOSE
from mfsdp_lint.readers.yaml.document import Document
from mfsdp_lint.readers.yaml.files import Files
from mfsdp_lint.readers.yaml.nodes import Mapping, Node, compose_documents


@dataclass(frozen=True, slots=True)
class Shape:
    """A way of keeping a configuration in YAML.

    `keys` is a pattern of the keys without which no document has the shape, `takes` tells whether a document has the
    shape, `recipes` makes recipes of it (its last argument distinguishes the document from the others of its file).
    """

    keys: str
    takes: Callable[[Mapping], bool]
    recipes: Callable[[Document, Mapping, Versions, str], Iterable[Recipe]]


SHAPES = (
    Shape(model_args.KEYS, model_args.is_one, model_args.recipes),
    Shape(overrides.KEYS, overrides.is_one, overrides.recipes),
)

_TEMPLATE = re.compile(r"\{\{|\{% ")
"""A template of Jinja or Helm: what it will be cannot be known."""

_MENTION = re.compile(rf"\b(?:{'|'.join(shape.keys for shape in SHAPES)})[\"']?\s*[:.]")
"""Where none of these is a key, as in most YAML files, nothing is looked at."""


def may_be_one(text: str) -> bool:
    """Tell whether a text may hold a configuration: one of the keys is in it, and it is no template."""
    mentioned = _MENTION.search(text) or any(profile.mention.search(text) for profile in profiles())
    return bool(mentioned) and not _TEMPLATE.search(text)


def read_yaml(
    path: str,
    text: str,
    versions: Versions = DEFAULT_TARGET,
    files: Files | None = None,
    front_end: str | None = None,
) -> list[Recipe]:
    """Read the recipes of a file: a framework's configuration, put together from `files`, or else each document.

    Anything that has no known shape, a template included, gives no recipe. With `front_end` it is that framework's,
    whatever it looks like, and no other's.

    Lists are plain values. Settings that no file writes, and foreign tags, are unknown. In a document by itself
    mappings are known to be set (their content depends on the configuration that they are merged into) and each of
    their entries is a setting of its own; interpolations and `???` are unknown. `env_vars` become settings `env.NAME`
    with text values.

    Origins: the span is the pair of key and value, the focus the value, both where they were written (for an alias, at
    its anchor). The focus of an empty value is empty and directly behind the colon.

    Raises Unreadable (see `compose_documents`).
    """
    if _TEMPLATE.search(text) or not (front_end or may_be_one(text)):
        return []
    roots = compose_documents(path, text)
    files = files or Files(Sources({path: text}))
    recipes = _of_a_framework(path, text, versions, files, front_end) if len(roots) == 1 else None
    return list(_by_itself(Document(path, Lines(text)), roots, versions)) if recipes is None else recipes


def _of_a_framework(
    path: str, text: str, versions: Versions, files: Files, front_end: str | None
) -> list[Recipe] | None:
    """Return the recipes of a framework's configuration; None where it is no framework's."""
    root = files.tree(path)
    found: list[Recipe] | None = None
    for profile in profiles() if root else ():
        named = front_end == profile.front_end.name
        if root and not found and (named or (front_end is None and profile.mention.search(text))):
            whole = COMPOSE[profile.compose](path, root, files)
            if named or any(whole.get(*key) for key in profile.known_by):
                found = recipes_of(profile, path, whole, versions, files.evaluate)
    return found


def _by_itself(document: Document, roots: Sequence[Node], versions: Versions) -> Iterator[Recipe]:
    for number, root in enumerate(roots, 1):
        shape = next((shape for shape in SHAPES if shape.takes(root)), None) if isinstance(root, Mapping) else None
        if shape is not None and isinstance(root, Mapping):
            nth = f"[{number}]" if number > 1 else ""
            # Each document has its own count of writes, and of what aliases stand for.
            yield from shape.recipes(Document(document.path, document.lines), root, versions, nth)
