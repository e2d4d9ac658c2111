"""Images that the repository builds → the Dockerfile, its folder and its target, by the image's name.

They are built by commands (`docker build -t NAME .`, kaniko) in scripts, Makefiles, justfiles and pipelines, and by
mappings that say as much: a step of docker/build-push-action, one with `tags` and `context`, a service of Compose with
`image` and `build`, an artifact of Skaffold with `image` and `context`.
"""

from __future__ import annotations

import os
import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.dependents import MOST_FOLDERS
from mfsdp_lint.inputs.discover import CI, written_folders
from mfsdp_lint.inputs.projects import above, is_project, repository_above, shown
from mfsdp_lint.inputs.sources import Sources, Unreadable
from mfsdp_lint.readers.embedding_formats.held_texts import entries, items, mappings, said
from mfsdp_lint.readers.yaml.document import YamlDocument
from mfsdp_lint.readers.yaml.nodes import Node, compose_documents

SCRIPTS = (".sh", ".bash", ".mk", ".just", "akefile", "ustfile")
_YAML = (".yml", ".yaml")


@dataclass(frozen=True, slots=True)
class ImageBuild:
    """A build of an image: its name, the Dockerfile and the folder that it is built with, and the stage.

    `arguments` are those that the build gives, whose values are not known here; `by` is the file that says so.
    """

    name: str
    dockerfile: str
    context: str
    target: str = ""
    arguments: tuple[str, ...] = ()
    by: str = ""

    @property
    def repository(self) -> str:
        return repository_of(self.name)


def repository_of(image: str) -> str:
    """Return the name of an image without its tag and digest."""
    return re.sub(r":[^/]*$", "", image.partition("@")[0])


def build_of(image: str, path: str, sources: Sources) -> ImageBuild | None:
    """Return the build of an image that a file names; None where the repository has none, or different ones. Another
    tag is another time of the same build.
    """
    found = [each for each in builds_around(path, sources) if each.repository == repository_of(image)]
    found = [each for each in found if each.name == image] or found
    known = {(each.dockerfile, each.context, each.target, each.arguments) for each in found}
    return found[0] if len(known) == 1 else None


def builds_around(path: str, sources: Sources) -> list[ImageBuild]:
    """Return all builds in the repository of a file."""

    def found() -> Iterator[ImageBuild]:
        for script, text in written_texts(path, sources, (*SCRIPTS, *_YAML)):
            if _SPEAKS.search(text):
                yield from _of_commands(script, text, sources)
                if script.endswith(_YAML):
                    yield from _of_mappings(script, text, sources)

    return sources.shared(("builds of images", root_of(path)), lambda: list(dict.fromkeys(found()))).result


def root_of(path: str) -> str:
    """Return the folder that is searched for what concerns a file: its repository's, or its own outside of any."""
    folder = os.path.abspath(os.path.dirname(path))
    root = repository_above(folder)
    return root if is_project(root) else folder


def written_texts(path: str, sources: Sources, endings: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the files with these endings that people write in the repository of a file, with their texts; outside of
    any project those of its folder.
    """
    root = root_of(path)
    alone = [(root, disk.Listing(root).matching("*"))] if not is_project(root) else ()
    for at, names in islice(alone or written_folders(root), MOST_FOLDERS):
        for name in names:
            if name.endswith(endings) and (name[0] != "." or name in CI):
                place = shown(os.path.join(at, name))
                yield place, sources.text_or_none(place) or ""


_SPEAKS = lazy_pattern(r"\b(?:build|bud|context|kaniko)\b")
_COMMAND = lazy_pattern(
    r"(?:(?:\b(?:docker|podman|nerdctl|buildah)|\$[({]?DOCKER[)}]?)\s+(?:buildx\s+|image\s+)*(?:build|bud)\b"
    r"|/kaniko/executor\b)"
    r"(?P<words>(?:\\\n|\n[ \t]+(?=--)|[^\n;&|])*)",
    re.IGNORECASE,
)
"""A build, which goes on behind a backslash, or in YAML on lines of options."""
_ALONE = lazy_pattern(r"-[qD]|--(?:pull|no-cache|push|load|quiet|rm|force-rm|squash|compress|check|debug|layers)")
"""Options without a value (docs.docker.com/reference/cli/docker/buildx/build)."""
_ASSIGNED = lazy_pattern(
    r"^[ \t]*(?:-[ \t]+)?(?:(?:export|readonly|local)[ \t]+)?(?P<name>[A-Za-z_]\w*)[ \t]*"
    r"(?:[?:]{0,2}=|:(?=[ \t]))[ \t]*[\"']?(?P<value>[^\s\"'#]+)[\"']?[ \t]*$",
    re.MULTILINE,
)
_USED = lazy_pattern(
    r"\$(?:(?P<bare>[A-Za-z_]\w*)|\((?P<round>[A-Za-z_]\w*)\)"
    r"|\{\{?\s*(?:env\.)?(?P<curly>[A-Za-z_]\w*)(?::?-(?P<default>[^{}]*))?\s*\}?\})"
)
_DEEPEST = 8
"""Variables within variables."""


def _with_values(text: str, within: str) -> str:
    """Put into a text the values of the variables that the file around it gives one value."""
    values: dict[str, set[str]] = {}
    for each in _ASSIGNED.finditer(within):
        values.setdefault(each["name"], set()).add(each["value"])

    def value(found: re.Match[str]) -> str:
        name = found["bare"] or found["round"] or found["curly"]
        known = values.get(name) or ({found["default"]} if found["default"] else set())
        return next(iter(known)) if len(known) == 1 else found[0]

    for _ in range(_DEEPEST):
        before, text = text, _USED.sub(value, text)
        if text == before:
            break
    return text


def _of_commands(path: str, text: str, sources: Sources) -> Iterator[ImageBuild]:
    for command in _COMMAND.finditer(text):
        try:
            words = shlex.split(_with_values(command["words"].replace("\\\n", " "), text))
        except ValueError:
            continue
        names: list[str] = []
        places: list[str] = []
        options: dict[str, str] = {}
        arguments: list[str] = []
        while words:
            name, equals, value = words.pop(0).partition("=")
            if not name.startswith("-") or name == "-":
                places.append(name + equals + value)
                continue
            if not equals and not _ALONE.fullmatch(name):
                value = words.pop(0) if words else ""
            if name in ("-t", "--tag", "--destination"):
                names.append(value)
            elif name == "--build-arg":
                arguments.append(value.partition("=")[0])
            options[{"-f": "--file", "--dockerfile": "--file"}.get(name, name)] = value
        places += [options["--context"]] if "--context" in options else []
        if len(places) == 1:
            build = (options.get("--file", ""), places[0], options.get("--target", ""), tuple(arguments))
            yield from _built(path, names, *build, sources)


def _of_mappings(path: str, text: str, sources: Sources) -> Iterator[ImageBuild]:
    document = YamlDocument(path, Lines(text))
    with suppress(Unreadable):
        for root in compose_documents(path, text, again=True):
            for each in mappings(document, root):
                own = entries(document, each)
                is_action = _ACTION.match(said(document, own.get("uses")) or "")
                if "build" in own:
                    own = _of_service(document, own)
                elif is_action:
                    own = {**entries(document, own.get("with"))}
                names = _names_in(document, own, text)
                names = [name for one in names for name in _by_metadata(document, root, one)]
                if not names or not (is_action or {"context", "file", "dockerfile", "docker"} & own.keys()):
                    continue
                inner = {**own, **entries(document, own.get("docker"))}
                said_by = {key: _with_values(said(document, node) or "", text) for key, node in inner.items()}
                given = next((inner[key] for key in ("build-args", "args", "buildArgs") if key in inner), None)
                listed = "\n".join(said(document, one) or "" for one in items(document, given)).split("\n")
                arguments = (*entries(document, given), *(one.partition("=")[0] for one in listed if one))
                file = said_by.get("file") or said_by.get("dockerfile") or ""
                # (The file of an action is named from the repository's folder, that of the others from the context.)
                context = said_by.get("context", ".")
                if file and "file" not in own:
                    file = posixpath.join(context, file)
                yield from _built(path, names, file, context, said_by.get("target", ""), arguments, sources)


_ACTION = lazy_pattern(r"docker/build-push-action@")
"""An action that builds the repository itself where no folder is named (github.com/docker/build-push-action)."""
_METADATA = lazy_pattern(r"\$\{\{\s*steps\.(?P<id>[\w-]+)\.outputs\.tags\s*\}\}")


def _by_metadata(document: YamlDocument, root: Node, name: str) -> list[str]:
    """Return the names that a step of docker/metadata-action makes, for a text that names its tags; else the text."""
    found = _METADATA.fullmatch(name)
    steps = [entries(document, each) for each in mappings(document, root)] if found else ()
    made = [each for each in steps if found and said(document, each.get("id")) == found["id"]]
    images = [said(document, entries(document, each.get("with")).get("images")) or "" for each in made]
    return [each for text in images for each in re.split(r"[\s,]+", text) if each] if found else [name]


def _of_service(document: YamlDocument, own: Mapping[str, Node]) -> dict[str, Node]:
    """Return the image of a service beside the keys of its `build`."""
    build = own["build"]
    inner = entries(document, build) or ({"context": build} if said(document, build) else {})
    return {**inner, **({"image": own["image"]} if "image" in own else {})}


def _names_in(document: YamlDocument, own: Mapping[str, Node], within: str) -> list[str]:
    """Return the names of an image that a mapping has; a text may have several lines of them."""
    nodes = [*items(document, own.get("tags")), *items(document, own.get("image"))]
    texts = [_with_values(said(document, each) or "", within) for each in nodes]
    return [name for text in texts for name in re.findall(r"(?:\$\{\{.*?\}\}|[^\s,])+", text)]


_ROOT = lazy_pattern(r"^\$(?:\([^)]*\)|\{[^}]*\}|\w+)/?")
"""The beginning of a path that a variable, or a command, gives: some folder above."""


def _built(
    path: str,
    names: list[str],
    file: str,
    context: str,
    target: str,
    arguments: tuple[str, ...],
    sources: Sources,
) -> Iterator[ImageBuild]:
    """Yield the builds whose Dockerfile is at hand: it is named from a folder above the file that says so."""
    context = _ROOT.sub("", context.removeprefix("{{defaultContext}}").lstrip(":")) or "."
    file = _ROOT.sub("", file) or posixpath.join(context, "Dockerfile")
    for place in above(path):
        dockerfile = posixpath.normpath(posixpath.join(place, file))
        if sources.exists(dockerfile):
            folder = posixpath.normpath(posixpath.join(place, context))
            for name in names:
                if "$" not in repository_of(name):
                    yield ImageBuild(name, dockerfile, folder, target, arguments, path)
            return
