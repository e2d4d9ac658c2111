"""Images of Docker and services of Docker Compose → the scripts that their containers start."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs.projects import above, beside
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.embedding_formats.built_images import SCRIPTS, build_of, root_of, written_texts
from mfsdp_lint.readers.embedding_formats.held_texts import (
    Fill,
    Variables,
    command,
    dotenv_variables,
    entries,
    environment,
    held,
    items,
    joined,
    said,
    script_of,
    text_of,
    variable,
)
from mfsdp_lint.readers.images import NO_IMAGE, DockerImage, files_of_image, instructions_of
from mfsdp_lint.readers.shell.script import Piece, Text, filled, holed, plain
from mfsdp_lint.readers.shell.state import ContainerFiles, Held, Variable
from mfsdp_lint.readers.yaml.document import YamlDocument
from mfsdp_lint.readers.yaml.merged import is_taken, mapping_of, merged, taken
from mfsdp_lint.readers.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode


def is_compose(document: YamlDocument, root: MappingNode) -> bool:
    """Tell whether a document has services."""
    services = entries(document, entries(document, root).get("services"))
    return any({"image", "build", "command"} & entries(document, each).keys() for each in services.values())


def compose_scripts(document: YamlDocument, root: MappingNode, sources: Sources) -> Iterator[Held]:
    """Yield the scripts of the services: the entry point with the command behind it.

    Files of variables are beside the file; those of `.env` are filled in (docs.docker.com/compose, interpolation). A
    service sees the tree where a volume has it. One that is built here has the entry point, the variables and the files
    of its Dockerfile. Files that are merged are one: each has the services of all whose command is written in it.
    """
    dotenv = beside(document.path, ".env")
    text = sources.text_or_none(dotenv) if sources.exists(dotenv) else None
    beside_it = dotenv_variables(dotenv, text) if text is not None else {}
    fill = partial(_interpolated, beside_it, _OF_COMPOSE)
    several = _merged_files(document.path, beside_it, sources)
    for own in (each for paths in several for each in _services(document, root, paths, sources)):
        image = _built_image(document, own, sources, fill)
        variables = {
            **image.variables,
            **_of_files(document, own.get("env_file"), sources),
            **environment(document, own.get("environment"), fill),
        }
        entrypoint, given = own.get("entrypoint"), own.get("command")
        if entrypoint is None and given is not None and image.entry is not None:
            is_text = not _is_list(document, given)
            behind = fill(text_of(document, given)) if is_text else command(document, given, fill=fill)
            script = (
                joined([script_of(_words(image.entry)), behind], " ") if _is_json_list(image.entry) else image.entry
            )
        elif all(each is None or _is_list(document, each) for each in (entrypoint, given)):
            script = command(document, entrypoint, given, fill=fill)
        else:
            # A text is split into words as a shell does it.
            parts = [
                command(document, each, fill=fill) if _is_list(document, each) else fill(text_of(document, each))
                for each in (entrypoint, given)
            ]
            script = joined(parts, " ")
        folder = said(document, own.get("working_dir")) or image.container.folder
        container = ContainerFiles(folder, (*image.container.mounts, *_volumes(document, own)))
        for one in held(script, variables):
            yield replace(one, container=container)


_FILES = ("compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml")
_OVERRIDES = (
    "compose.override.yml",
    "compose.override.yaml",
    "docker-compose.override.yml",
    "docker-compose.override.yaml",
)
"""The first of each that is there counts (github.com/compose-spec/compose-go, cli/options.go, 01296029)."""


def _merged_files(path: str, dotenv: Variables, sources: Sources) -> Sequence[Sequence[str]]:
    """Return the files that Compose merges with this one, the first at the bottom: those of every command of the
    repository that names this one among several, or those that it takes where nobody names any.
    """
    own = posixpath.normpath(path)
    if named := [each for each in _named_together(path, sources) if own in each]:
        return named
    listed = dotenv.get("COMPOSE_FILE")
    names: list[str | None] = [*plain(listed.text or ()).split(":")] if listed is not None else []
    if not names:
        there = [[each for each in of if sources.exists(beside(path, each))] for of in (_FILES, _OVERRIDES)]
        names = [next(iter(each), None) for each in there]
    paths = [beside(path, each) for each in names if each]
    return [paths if own in paths and all(names) else [own]]


_COMMAND = lazy_pattern(r"\bdocker[- ]compose\b(?P<words>(?:\\\n|[^\n;&|])*)")
_NAMES = lazy_pattern(r"\s(?:-f|--file)[\s=]\s*[\"']?(?:\$[({]?\w+[)}]?/)?(?P<name>[^\s\"']+\.ya?ml)\b")


def _named_together(path: str, sources: Sources) -> list[tuple[str, ...]]:
    """Return the files that commands of the repository name behind each other (`docker compose -f A -f B up`)."""

    def found() -> Iterator[tuple[str, ...]]:
        for script, text in written_texts(path, sources, SCRIPTS):
            for line in _COMMAND.finditer(text):
                given = [each["name"] for each in _NAMES.finditer(line["words"])]
                places = [[posixpath.normpath(posixpath.join(each, name)) for each in above(script)] for name in given]
                there = [next(filter(sources.exists, each), "") for each in places]
                if len(there) > 1 and all(there):
                    yield tuple(there)

    return sources.shared(("files of Compose", root_of(path)), lambda: list(dict.fromkeys(found()))).result


def _services(
    document: YamlDocument, root: MappingNode, paths: Sequence[str], sources: Sources
) -> list[Mapping[str, Node]]:
    """Return the services of merged files, those that are started by what is written in this one."""
    whole: dict[str, Node] = {}
    for path in paths:
        roots = [root] if path == posixpath.normpath(document.path) else taken(document, path, sources)
        for one in roots:
            for name, each in entries(document, entries(document, one).get("services")).items():
                whole[name] = merged(document, whole.get(name), each, partial(_joined, document))
    services = [entries(document, each) for each in whole.values()]
    starts = [next((own[name] for name in ("command", "entrypoint", "build") if name in own), None) for own in services]
    return [own for own, start in zip(services, starts, strict=True) if not is_taken(document, start)]


_NAMED = ("environment", "args", "labels")
_LISTS = ("env_file", "volumes")


def _joined(document: YamlDocument, key: str, old: Node, new: Node) -> Node | None:
    """Merge what Compose merges in a way of its own (docs.docker.com/reference/compose-file/merge)."""
    target = document.follow(new)
    if isinstance(target, (ScalarNode, MappingNode, SequenceNode)) and target.tag.strip("!") in ("reset", "override"):
        is_reset = target.tag.strip("!") == "reset"
        return ScalarNode(new.start, new.end, new.pair, "null", "", "") if is_reset else new
    if key in _NAMED and (_is_list(document, old) or _is_list(document, new)):
        return merged(document, _by_name(document, old), _by_name(document, new))
    if key == "build" and said(document, old) is not None:
        return merged(document, mapping_of({"context": old}, old), new, partial(_joined, document))
    if key == "build" and said(document, new) is not None:
        return merged(document, old, mapping_of({"context": new}, new), partial(_joined, document))
    if key in _LISTS:
        both = (*items(document, old), *items(document, new))
        return SequenceNode(new.start, new.end, new.pair, "seq", both, False, new.weight + old.weight, new.depth)
    return None


def _by_name(document: YamlDocument, node: Node) -> Node:
    """Return a list `[NAME=value]` as a mapping."""
    if not _is_list(document, node):
        return node
    found: dict[str, Node] = {}
    for each in items(document, node):
        name, equals, value = (said(document, each) or "").partition("=")
        scalar = document.follow(each)
        if not isinstance(scalar, ScalarNode):
            continue
        home = document.homes.get(scalar, document)
        start = home.lines.text.find("=", scalar.start, scalar.end) + 1 or scalar.start
        found[name] = replace(scalar, start=start, tag="str" if equals else "null", text=value)
        if home is not document:
            document.homes[found[name]] = home
    return mapping_of(found, node)


def _built_image(document: YamlDocument, service: Mapping[str, Node], sources: Sources, fill: Fill) -> DockerImage:
    """Return the image that a service is built as: `build: FOLDER`, or a mapping with `context` and `dockerfile`, with
    `args` and a `target`; or one that the repository builds under the service's name for it.
    """
    build = service.get("build")
    own = entries(document, build)
    context = said(document, own.get("context") if own else build)
    if build is None:
        return image_named(plain(fill(text_of(document, service.get("image")))), document.path, sources)
    if context is None:
        return NO_IMAGE
    name = said(document, own.get("dockerfile")) or "Dockerfile"
    path = beside(document.path, posixpath.normpath(posixpath.join(context, name)))
    arguments = environment(document, own.get("args"), fill)
    return _image_in(path, context, arguments, said(document, own.get("target")) or "", sources)


def image_named(name: str, path: str, sources: Sources) -> DockerImage:
    """Return the image that the repository builds under a name; NO_IMAGE where it builds none, or several."""
    build = build_of(name, path, sources) if name else None
    if build is None:
        return NO_IMAGE
    arguments = dict.fromkeys(build.arguments, Variable(None, exported=True))
    context = posixpath.relpath(build.context, posixpath.dirname(path) or ".")
    return _image_in(build.dockerfile, context, arguments, build.target, sources)


def _image_in(path: str, context: str, arguments: Variables, target: str, sources: Sources) -> DockerImage:
    text = sources.text_or_none(path) if sources.exists(path) else None
    if text is None:
        return NO_IMAGE
    image = image_of(path, text, arguments, target)
    copied = ((there, posixpath.normpath(posixpath.join(context, here))) for there, here in image.container.mounts)
    return replace(image, container=replace(image.container, mounts=tuple(copied)))


_VOLUME = lazy_pattern(r"(?P<source>\$\{?PWD\}?[^:]*|\.[^:]*):(?P<target>/[^:]*)(?::\w+)?")


def _volumes(document: YamlDocument, service: Mapping[str, Node]) -> Iterator[tuple[str, str]]:
    """Yield the places that a service has paths of the tree at: `./x:/y`, or a mapping with `source` and `target`."""
    for each in items(document, service.get("volumes")):
        own = entries(document, each)
        names = [said(document, own.get(name)) for name in ("source", "target")] if own else [said(document, each)]
        if found := _VOLUME.fullmatch(":".join(each or "" for each in names)):
            yield posixpath.normpath(found["target"]), re.sub(r"^\$\{?PWD\}?", ".", found["source"])


_REFERENCE = r"\$(?:\{(?P<braced>\w+)(?::?(?P<how>[-+?])(?P<default>[^}]*))?\}|(?P<bare>[A-Za-z_]\w*))"
_OF_COMPOSE = lazy_pattern(rf"\$(?P<literal>\$)|{_REFERENCE}")
_OF_DOCKERFILE = lazy_pattern(rf"\\(?P<literal>.)|{_REFERENCE}")


def _interpolated(values: Variables, pattern: re.Pattern[str], text: Text) -> Text:
    """Fill in the variables of a text as Docker does before anything sees it; each format writes a `$` in its way."""

    def fill(each: re.Match[str], piece: Piece) -> Text:
        name = each["braced"] or each["bare"] or ""
        if each["literal"]:
            return (replace(piece.cut(*each.span()), text=each["literal"]),)
        given = values.get(name)
        if given is not None and each["how"] != "+" and (given.text is None or plain(given.text) or not each["how"]):
            return given.text or holed(each, piece)
        if each["how"] == "-":
            return (replace(piece.cut(*each.span("default")), option=f"${name}"),)
        return holed(each, piece, option=f"${name}")

    return filled(text, pattern, fill)


def _of_files(document: YamlDocument, node: Node | None, sources: Sources) -> Variables:
    """Read the variables of `env_file: name`, or of several files; an item may be a mapping with a `path`."""
    found: dict[str, Variable] = {}
    for item in items(document, node):
        name = said(document, entries(document, item).get("path", item))
        path = beside(document.path, name) if name else ""
        text = sources.text_or_none(path) if path and sources.exists(path) else None
        found |= dotenv_variables(path, text) if text is not None else {}
    return found


def _is_list(document: YamlDocument, node: Node | None) -> bool:
    return node is not None and isinstance(document.follow(node), SequenceNode)


_PAIR = lazy_pattern(
    r"""(?<=\n)[ \t]*\#[^\n]*
    |(?<!\S)(?P<name>[A-Za-z_]\w*)(?:=(?P<value>(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\])*))?(?!\S)""",
    re.VERBOSE,
)
_OLD = lazy_pattern(r"(?P<name>[A-Za-z_]\w*)[ \t]+(?P<value>[^\n]*\S)")
_PART = lazy_pattern(r"""\"(?P<double>(?:[^"\\]|\\.)*)\"|'(?P<single>[^']*)'|(?P<bare>(?:[^"'\\]|\\.)+)""")


def image_of(path: str, text: str, given: Variables | None = None, target: str = "") -> DockerImage:
    """Read a Dockerfile that is built with these arguments for a target, or for its last stage. Whoever builds it may
    give another argument than a default says.
    """
    lines = Lines(text)
    given = given or {}
    arguments: dict[str, Variable] = {}
    outside: dict[str, Variable] | None = None
    variables: dict[str, Variable] = {}
    entry: Text | None = None
    command: Text | None = None
    inherits = False
    for found in instructions_of(text, target):
        piece = Piece(found["said"], path, lines, found.start("said"), found.end("said"))
        match found["name"].upper():
            case "FROM" if outside is None:
                outside, arguments = arguments, {}
            case "FROM":
                inherits = command is not None
            case "ARG":
                for name, value in _pairs(piece):
                    known = given.get(name) or (value and _default(name, value, {**arguments, **variables}))
                    arguments |= {name: each} if (each := known or (outside or {}).get(name)) else {}
            case "ENV":
                # A variable has within the instruction the value that it had before.
                before = {**arguments, **variables}
                old = _OLD.match(piece.text)
                pairs = [(old["name"], piece.cut(*old.span("value")))] if old else _pairs(piece)
                variables |= {name: variable(_value(value, before)) for name, value in pairs if value is not None}
            case "CMD":
                command, inherits = (piece,), False
            case "ENTRYPOINT":
                # An entry point takes away the command that another stage has set.
                entry, command, inherits = (piece,), None if inherits else command, False
    return DockerImage(variables, entry, command, files_of_image(text, target))


def _pairs(piece: Piece) -> Iterator[tuple[str, Piece | None]]:
    """Yield names, each with the value behind its `=`, if there is one."""
    for found in _PAIR.finditer(piece.text):
        if found["name"]:
            yield found["name"], None if found["value"] is None else piece.cut(*found.span("value"))


def _default(name: str, value: Piece, before: Variables) -> Variable:
    return variable(tuple(replace(each, option=f"${name}") for each in _value(value, before)))


def _value(written: Piece, before: Variables) -> Text:
    """Return a value without its quotes. Within single quotes a `$` is no reference."""
    found: list[Piece] = []
    for part in _PART.finditer(written.text):
        inner = (written.cut(*part.span(part.lastgroup or 0)),)
        found += inner if part.lastgroup == "single" else _interpolated(before, _OF_DOCKERFILE, inner)
    return tuple(found) or (written.cut(0, 0),)


def dockerfile_scripts(path: str, text: str, sources: Sources) -> Iterator[Held]:
    """Yield the script of the last stage: the entry point with the command behind it, where files are copied to."""
    image = image_of(path, text)
    for one in held(_run(image.entry, image.command), image.variables):
        yield replace(one, container=image.container)


def _run(entry: Text | None, command: Text | None) -> Text:
    """Return the script: words of both, or a shell's text. A shell does not see a command behind its entry point."""
    if entry is None or command is None:
        only = entry or command or ()
        return script_of(_words(only)) if _is_json_list(only) else only
    if _is_json_list(entry):
        return script_of(_words(entry) + _words(command)) if _is_json_list(command) else ()
    return entry


def _is_json_list(text: Text) -> bool:
    return plain(text).lstrip().startswith("[")


def _words(text: Text) -> list[Text]:
    """Return the words of a list in JSON, each with its place."""
    (piece,) = text
    try:
        words = json.loads(plain(text).replace("\\\n", "\n"))
    except ValueError:
        return []
    found: list[Text] = []
    at = 0
    for word in words if isinstance(words, list) else ():
        if not isinstance(word, str):
            return []
        here = piece.text.find(word, at)
        if here < 0:
            found.append((Piece(word, piece.path, piece.lines, piece.start, piece.end),))
            continue
        found.append((piece.cut(here, here + len(word)),))
        at = here + len(word)
    return found
