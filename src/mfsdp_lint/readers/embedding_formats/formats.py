"""Files that embed scripts or command lines: containers, pipelines and jobs → the runs that they start.

Docker's images and Docker Compose; GitHub, GitLab, Kubernetes and Ray. Every text keeps its place in the file.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice, product

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.recipe import Recipe, Unfollowed
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.inputs.projects import beside
from mfsdp_lint.inputs.sources import Sources, Unreadable
from mfsdp_lint.megatron.vocabulary.tables import Versions
from mfsdp_lint.readers.embedding_formats.any_job import job_scripts, text_scripts, toml_scripts
from mfsdp_lint.readers.embedding_formats.held_texts import (
    Variables,
    added,
    command,
    dotenv_variables,
    entries,
    environment,
    filled_in,
    held,
    items,
    joined,
    mappings,
    said,
    script_of,
    text_of,
    variable,
)
from mfsdp_lint.readers.embedding_formats.kubernetes import is_kubernetes, kubernetes_scripts, with_maps
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.images import INSTRUCTION, files_of_image
from mfsdp_lint.readers.launch_memory import ShellRead
from mfsdp_lint.readers.programs import Programs
from mfsdp_lint.readers.relevance import Relevance
from mfsdp_lint.readers.shell.launch_command import path_of
from mfsdp_lint.readers.shell.read import read_shell
from mfsdp_lint.readers.shell.script import Piece, Text, filled, holed, plain
from mfsdp_lint.readers.shell.stages import with_other_formats
from mfsdp_lint.readers.shell.state import ContainerFiles, Held, HeldCommand, Variable
from mfsdp_lint.readers.shell_files import may_start
from mfsdp_lint.readers.yaml.document import YamlDocument
from mfsdp_lint.readers.yaml.nodes import MappingNode, Node, SequenceNode, compose_documents


def is_compose(document: YamlDocument, root: MappingNode) -> bool:
    """Tell whether a document has services."""
    services = entries(document, entries(document, root).get("services"))
    return any({"image", "build", "command"} & entries(document, each).keys() for each in services.values())


def compose_scripts(document: YamlDocument, root: MappingNode, sources: Sources) -> Iterator[Held]:
    """Yield the scripts of the services: the entry point with the command behind it.

    Files of variables are beside the file; those of `.env` are filled in (docs.docker.com/compose, interpolation). A
    service sees the tree where a volume has it. One that is built here has the entry point, the variables and the files
    of its Dockerfile.
    """
    dotenv = beside(document.path, ".env")
    text = sources.text_or_none(dotenv) if sources.exists(dotenv) else None
    fill = partial(_interpolated, dotenv_variables(dotenv, text) if text is not None else {})
    for service in entries(document, entries(document, root).get("services")).values():
        own = entries(document, service)
        image = _built_image(document, own, sources)
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


def _built_image(document: YamlDocument, service: Mapping[str, Node], sources: Sources) -> DockerImage:
    """Return the image that a service is built as: `build: FOLDER`, or a mapping with `context` and `dockerfile`."""
    build = service.get("build")
    own = entries(document, build)
    context = said(document, own.get("context") if own else build)
    if build is None or context is None:
        return NO_IMAGE
    name = said(document, own.get("dockerfile")) or "Dockerfile"
    path = beside(document.path, posixpath.normpath(posixpath.join(context, name)))
    text = sources.text_or_none(path) if sources.exists(path) else None
    if text is None:
        return NO_IMAGE
    image = image_of(path, text)
    copied = ((there, posixpath.normpath(posixpath.join(context, here))) for there, here in image.container.mounts)
    return replace(image, container=replace(image.container, mounts=tuple(copied)))


_VOLUME = re.compile(r"(?P<source>\$\{?PWD\}?[^:]*|\.[^:]*):(?P<target>/[^:]*)(?::\w+)?")


def _volumes(document: YamlDocument, service: Mapping[str, Node]) -> Iterator[tuple[str, str]]:
    """Yield the places that a service has paths of the tree at: `./x:/y`, or a mapping with `source` and `target`."""
    for each in items(document, service.get("volumes")):
        own = entries(document, each)
        names = [said(document, own.get(name)) for name in ("source", "target")] if own else [said(document, each)]
        if found := _VOLUME.fullmatch(":".join(each or "" for each in names)):
            yield posixpath.normpath(found["target"]), re.sub(r"^\$\{?PWD\}?", ".", found["source"])


_INTERPOLATED = re.compile(
    r"\$(?:(?P<dollar>\$)|\{(?P<braced>\w+)(?::?(?P<how>[-+?])(?P<default>[^}]*))?\}|(?P<bare>[A-Za-z_]\w*))"
)


def _interpolated(dotenv: Variables, text: Text) -> Text:
    """Fill in the variables of a text as Compose does before anything sees it; `$$` is how the file writes `$`."""

    def fill(each: re.Match[str], piece: Piece) -> Text:
        name = each["braced"] or each["bare"] or ""
        given = dotenv[name].text if name in dotenv else None
        if each["dollar"]:
            return (replace(piece.cut(*each.span()), text="$"),)
        if given is not None:
            return given
        if each["how"] == "-":
            return (replace(piece.cut(*each.span("default")), option=f"${name}"),)
        return holed(each, piece, option=f"${name}")

    return filled(text, _INTERPOLATED, fill)


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


_PAIR = re.compile(
    r"""(?P<name>[A-Za-z_]\w*)=(?P<quote>["']?)
    (?P<value>(?<=")(?:[^"\\]|\\.)*|(?<=')[^']*|[^\s"'\\]*)""",
    re.VERBOSE,
)
_OLD = re.compile(r"(?P<name>[A-Za-z_]\w*)[ \t]+(?P<value>[^\n]*\S)")


@dataclass(frozen=True, slots=True)
class DockerImage:
    """The last stage of a Dockerfile: its variables, the entry point and the command behind it, and its files."""

    variables: Variables
    entry: Text | None
    command: Text | None
    container: ContainerFiles


NO_IMAGE = DockerImage({}, None, None, ContainerFiles("/", ()))


def image_of(path: str, text: str) -> DockerImage:
    """Read a Dockerfile."""
    lines = Lines(text)
    variables: dict[str, Variable] = {}
    last: dict[str, Text] = {}
    for found in INSTRUCTION.finditer(text):
        name = found["name"].upper()
        piece = Piece(found["said"], path, lines, found.start("said"), found.end("said"))
        if name == "FROM":
            variables, last = {}, {}
        elif name == "ENV":
            variables |= _environment(piece)
        elif name in ("CMD", "ENTRYPOINT"):
            last[name] = (piece,)
    return DockerImage(variables, last.get("ENTRYPOINT"), last.get("CMD"), files_of_image(text))


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


def _environment(piece: Piece) -> Iterator[tuple[str, Variable]]:
    pairs = list(_PAIR.finditer(piece.text))
    old = None if pairs else _OLD.match(piece.text)
    for found in pairs or filter(None, (old,)):
        value = piece.cut(found.start("value"), found.end("value"))
        yield found["name"], variable((value,))


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


_FOLLOWED_SHELLS = (None, "bash", "sh")


def is_github(document: YamlDocument, root: MappingNode) -> bool:
    """Tell whether a document is a workflow or an action."""
    whole = entries(document, root)
    return ("jobs" in whole and "on" in whole) or "steps" in entries(document, whole.get("runs"))


def github_scripts(document: YamlDocument, root: MappingNode, sources: Sources) -> Iterator[Held]:
    """Yield the script of every step."""
    whole = entries(document, root)
    outer = environment(document, whole.get("env"))
    for job in (*entries(document, whole.get("jobs")).values(), whole.get("runs")):
        own = entries(document, job)
        inputs = entries(
            document, entries(document, entries(document, whole.get("on")).get("workflow_dispatch")).get("inputs")
        )
        given = {
            f"inputs.{name}": text
            for name, each in inputs.items()
            if (text := text_of(document, entries(document, each).get("default")))
        }
        for chosen in _combinations(document, entries(document, own.get("strategy")).get("matrix")):
            fill = partial(filled_in, {**given, **{f"matrix.{name}": text for name, text in chosen.items()}})
            around = outer | environment(document, own.get("env"), fill)
            for step in items(document, own.get("steps")):
                inside = entries(document, step)
                shell = said(document, inside.get("shell"))
                if "run" in inside and (shell in _FOLLOWED_SHELLS or str(shell).startswith(("bash ", "sh "))):
                    script = fill(text_of(document, inside["run"]))
                    yield from held(script, around, environment(document, inside.get("env"), fill))


def _combinations(document: YamlDocument, matrix: Node | None) -> Iterator[dict[str, Text]]:
    """Yield the values of each job of a matrix, as far as there are few; one without any where they are not known."""
    own = entries(document, matrix)
    axes = {
        name: [text_of(document, item) for item in items(document, each)]
        for name, each in own.items()
        if name not in ("include", "exclude")
    }
    added = [
        {name: text_of(document, value) for name, value in entries(document, item).items()}
        for item in items(document, own.get("include"))
    ]
    left_out = [
        {name: said(document, value) for name, value in entries(document, item).items()}
        for item in items(document, own.get("exclude"))
    ]
    jobs = (
        [dict(zip(axes, chosen, strict=True)) for chosen in islice(product(*axes.values()), _MOST_JOBS + 1)]
        if axes
        else []
    )
    jobs = [
        job for job in jobs if not any(all(plain(job.get(k, ())) == v for k, v in each.items()) for each in left_out)
    ]
    for each in added:
        same = [job for job in jobs if axes and all(plain(job[k]) == plain(v) for k, v in each.items() if k in axes)]
        for job in same:
            job |= each
        jobs += [] if same else [each]
    yield from jobs if 0 < len(jobs) <= _MOST_JOBS else [{}]


_OF_A_PIPELINE = {"stages", "include", "workflow", "default", "variables", "before_script"}
_OF_A_JOB = {
    *("stage", "tags", "rules", "needs", "extends", "only", "except"),
    *("before_script", "after_script", "artifacts"),
}


def is_gitlab(document: YamlDocument, root: MappingNode) -> bool:
    """Tell whether a document has jobs: sections with a script, beside other keys of a pipeline or a job.

    Other kinds of files have sections with a script as well, but none of these keys.
    """
    whole = entries(document, root)
    jobs = [own.keys() for each in whole.values() if {"script", "extends"} & (own := entries(document, each)).keys()]
    return bool(jobs) and (not whole.keys().isdisjoint(_OF_A_PIPELINE) or any(_OF_A_JOB & own for own in jobs))


_MOST_JOBS = 8
"""Jobs that a matrix makes of one; beyond, what differs between them is not known."""


def gitlab_scripts(document: YamlDocument, root: MappingNode, sources: Sources) -> Iterator[Held]:
    """Yield the script of every job, with the `before_script` in front; of a matrix, of each of its jobs.

    A job has what the jobs have that it extends, and a hidden one is only there for that (docs.gitlab.com/ci/yaml).
    """
    whole = entries(document, root)
    default = entries(document, whole.get("default"))
    outer = _variables(document, whole.get("variables"))
    for name in whole:
        if name.startswith("."):
            continue
        parts = _extended(document, whole, name, _DEEPEST)
        own = {key: value for part in parts for key, value in part.items()}
        if "script" not in own:
            continue
        before = own.get("before_script", default.get("before_script", whole.get("before_script")))
        lines = [text_of(document, each) for part in (before, own["script"]) for each in items(document, part)]
        variables = {key: value for part in parts for key, value in _variables(document, part.get("variables")).items()}
        for given in _matrix(document, entries(document, own.get("parallel")).get("matrix")):
            yield from held(joined(lines), outer, variables, given)


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
        jobs += [dict(zip(named, values, strict=True)) for values in islice(product(*named.values()), _MOST_JOBS + 1)]
    if len(jobs) > _MOST_JOBS:
        jobs = [{name: Variable(None, exported=True) for each in jobs for name in each}]
    yield from jobs


def _variables(document: YamlDocument, node: Node | None) -> Variables:
    """Read variables: `NAME: value`, or with the value below `value`."""
    return {
        name: variable(text_of(document, entries(document, each).get("value", each)))
        for name, each in entries(document, node).items()
        if name.isidentifier()
    }


@dataclass(frozen=True, slots=True)
class JobFile:
    """A file that is one job: its script, a text or a list of lines, and its environment, under keys at the top.

    It has the script, and one of the other keys that are its own.
    """

    script: str
    environment: tuple[str, ...]
    others: frozenset[str]


JOB_FILES = (
    # docs.skypilot.co/en/latest/reference/yaml-spec.html
    JobFile(
        "run", ("envs", "secrets"), frozenset({"resources", "num_nodes", "setup", "file_mounts", "workdir", "envs"})
    ),
    # dstack.ai/docs/reference/dstack.yml/task
    JobFile("commands", ("env",), frozenset({"nodes", "resources", "ide", "python", "backends"})),
)


def is_job_file(document: YamlDocument, root: MappingNode) -> bool:
    """Tell whether a document is a job of SkyPilot or dstack."""
    return _job_file(document, root) is not None


def _job_file(document: YamlDocument, root: MappingNode) -> JobFile | None:
    keys = entries(document, root).keys()
    return next((each for each in JOB_FILES if each.script in keys and not each.others.isdisjoint(keys)), None)


def job_file_scripts(document: YamlDocument, root: MappingNode, sources: Sources) -> Iterator[Held]:
    """Yield the script of a job. Its environment may be given other values where it is started."""
    whole, job = entries(document, root), _job_file(document, root)
    if job is not None:
        lines = [text_of(document, each) for each in items(document, whole[job.script])]
        variables = [environment(document, whole.get(name)) for name in job.environment]
        yield from held(joined(lines), *variables)


def is_sweep(document: YamlDocument, root: MappingNode) -> bool:
    """Tell whether a document is a sweep of Weights & Biases."""
    return {"program", "method", "parameters"} <= entries(document, root).keys()


_SWEEP_COMMAND = ("${env}", "${interpreter}", "${program}", "${args}")


def sweep_scripts(document: YamlDocument, root: MappingNode, sources: Sources) -> Iterator[Held]:
    """Yield the command of each run of a sweep (docs.wandb.ai/guides/sweeps/define-sweep-configuration).

    A parameter with a distribution, and one of too many values together, is not known.
    """
    whole = entries(document, root)
    words = [text_of(document, each) for each in items(document, whole.get("command"))]
    program = text_of(document, whole["program"])
    if not program:
        return
    words = words or [(added(program[-1], each),) for each in _SWEEP_COMMAND]
    parameters: list[tuple[str, list[Text]]] = []
    for name, node in entries(document, whole["parameters"]).items():
        own = entries(document, node)
        values = [text_of(document, each) for each in items(document, own.get("values", own.get("value")))]
        if not values or not all(values):
            values = [(replace(program[-1], text=HOLE),)]
        parameters.append((name, values))
    names = [name for name, _ in parameters]
    combined = list(islice(product(*(values for _, values in parameters)), _MOST_JOBS + 1))
    if len(combined) > _MOST_JOBS:
        combined = [tuple(each[0] if len(each) == 1 else (replace(program[-1], text=HOLE),) for _, each in parameters)]
    for chosen in combined:
        given = dict(zip(names, chosen, strict=True))
        filled = [each for word in words for each in _of_sweep(word, program, given)]
        yield from held(script_of([each for each in filled if each]))


def _of_sweep(word: Text, program: Text, given: Mapping[str, Text]) -> Iterator[Text]:
    """Yield the words that a word of a sweep's command stands for."""
    match plain(word):
        case "${program}":
            yield program
        case "${env}":
            yield (replace(word[0], text="env"),)
        case "${interpreter}":
            yield (replace(word[0], text="python"),)
        case "${args}" | "${args_no_boolean_flags}" | "${args_no_hyphens}" as said:
            dashes = "" if said == "${args_no_hyphens}" else "--"
            for name, value in given.items():
                known = plain(value) if said == "${args_no_boolean_flags}" else ""
                if known in ("true", "false"):
                    yield (_at_value(value, f"--{name}"),) if known == "true" else ()
                else:
                    yield (_at_value(value, f"{dashes}{name}="), *value)
        case said if said.startswith("${"):
            yield (replace(word[0], text=HOLE).splitting(),)
        case _:
            yield word


def _at_value(value: Text, text: str) -> Piece:
    return replace(value[0], text=text, end=value[0].start)


def is_dvc(document: YamlDocument, root: MappingNode) -> bool:
    """Tell whether a document is a pipeline of DVC."""
    stages = entries(document, entries(document, root).get("stages")).values()
    return any("cmd" in entries(document, entries(document, each).get("do", each)) for each in stages)


def dvc_scripts(document: YamlDocument, root: MappingNode, sources: Sources) -> Iterator[Held]:
    """Yield the script of each stage, with the values of the parameters that it names: `${train.lr}`.

    They are those of params.yaml, and of the files and mappings under `vars` (dvc.org/doc, dvc.yaml files).
    """
    whole = entries(document, root)
    given = dict(_parameters_beside(document, "params.yaml", sources))
    for each in items(document, whole.get("vars")):
        name = said(document, each)
        given |= _flattened(document, each) if name is None else dict(_parameters_beside(document, name, sources))

    def fill(match: re.Match[str], piece: Piece) -> Text:
        return given.get(match[1]) or holed(match, piece)

    for stage in entries(document, whole["stages"]).values():
        own = entries(document, entries(document, stage).get("do", stage))
        lines = [
            filled(text_of(document, each, templated=False), _OF_DVC, fill) for each in items(document, own.get("cmd"))
        ]
        folder = said(document, own.get("wdir"))
        yield from (replace(each, folder=folder) for each in held(joined(lines)))


_OF_DVC = re.compile(r"(?<!\\)\$\{\s*([\w.-]+)\s*\}")


def _parameters_beside(document: YamlDocument, name: str, sources: Sources) -> Iterator[tuple[str, Text]]:
    """Yield the values of a file, with the keys that lead to each of them."""
    path = beside(document.path, name)
    text = sources.text_or_none(path) if path.endswith((".yaml", ".yml")) and sources.exists(path) else None
    if text is not None:
        with suppress(Unreadable):
            inner = YamlDocument(path, Lines(text))
            for root in compose_documents(path, text, again=True):
                yield from _flattened(inner, root).items()


def _flattened(document: YamlDocument, node: Node, before: str = "") -> dict[str, Text]:
    own = entries(document, node)
    found = {f"{before}{name}": text for name, each in own.items() if (text := text_of(document, each))}
    for name, each in own.items():
        found |= _flattened(document, each, f"{before}{name}.")
    return found


_RUNTIME = ("runtime_env", "runtimeEnvYAML")


def is_ray(document: YamlDocument, root: MappingNode) -> bool:
    """Tell whether a document has a job."""
    return any("entrypoint" in own and not own.keys().isdisjoint(_RUNTIME) for own in _sections(document, root))


def ray_scripts(document: YamlDocument, root: MappingNode, sources: Sources) -> Iterator[Held]:
    """Yield the command line of every job."""
    for own in _sections(document, root):
        if "entrypoint" not in own:
            continue
        for name in _RUNTIME:
            if name in own:
                inside = entries(document, own[name])
                variables = environment(document, inside.get("env_vars")) if inside else _in_text(document, own[name])
                yield from held(text_of(document, own["entrypoint"]), variables)


def _sections(document: YamlDocument, root: MappingNode) -> Iterator[dict[str, Node]]:
    return (entries(document, each) for each in mappings(document, root))


def _in_text(document: YamlDocument, node: Node) -> Variables:
    """Return the variables of an environment that is YAML in a text."""
    text = text_of(document, node)
    try:
        roots = compose_documents(document.path, plain(text))
    except Unreadable:
        return {}
    inner = YamlDocument(document.path, Lines(plain(text)))
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


_FORMATS: Sequence[
    tuple[Callable[[YamlDocument, MappingNode], bool], Callable[[YamlDocument, MappingNode, Sources], Iterator[Held]]]
] = (
    (is_kubernetes, kubernetes_scripts),
    (is_github, github_scripts),
    (is_gitlab, gitlab_scripts),
    (is_ray, ray_scripts),
    (is_compose, compose_scripts),
    (is_job_file, job_file_scripts),
    (is_sweep, sweep_scripts),
    (is_dvc, dvc_scripts),
)
"""For each format in YAML a test for its documents, and a reader of their scripts, with the files that they name."""


def read_yaml_holder(
    path: str,
    text: str,
    versions: Versions,
    sources: Sources,
    programs: Programs | None = None,
    unfollowed: list[Unfollowed] | None = None,
) -> list[Recipe] | None:
    """Return the runs that scripts of a YAML file start; None where it is no file that holds scripts.

    With `programs`, those of the tree are followed. Raises Unreadable.
    """
    try:
        scripts, is_known = yaml_scripts(path, text, sources)
    except Unreadable:
        # A template may be no YAML before it is filled in.
        if not _IS_TEMPLATE.search(text):
            raise
        scripts, is_known = list(text_scripts(path, text, sources)), False
    found = recipes_of(path, scripts, versions, sources, programs, unfollowed)
    return found if found or is_known else None


_IS_TEMPLATE = re.compile(r"\{\{|\{%")


def yaml_scripts(path: str, text: str, sources: Sources) -> tuple[list[Held], bool]:
    """Return the scripts in a YAML file, and whether it is of a format that holds scripts. Raises Unreadable."""
    scripts: list[Held] = []
    is_known = False
    document = YamlDocument(path, Lines(text))
    roots = compose_documents(path, text, again=True)
    with_maps(document, roots, sources)
    for root in roots:
        found = scripts_of_document(document, root, sources) if isinstance(root, MappingNode) else None
        is_known = is_known or found is not None
        is_map = isinstance(root, MappingNode) and said(document, entries(document, root).get("kind")) == "ConfigMap"
        scripts += (found or ()) if found or is_map else job_scripts(document, root)
    return scripts, is_known


def any_scripts(path: str, text: str, sources: Sources) -> Iterable[Held]:
    """Return the command lines of a file that may be of any format."""
    if path.endswith(".json"):
        with suppress(Unreadable):
            return yaml_scripts(path, text, sources)[0]
    if path.endswith(".toml") and (held := list(toml_scripts(path, text))):
        return held
    return text_scripts(path, text, sources)


def scripts_of_document(document: YamlDocument, root: MappingNode, sources: Sources) -> list[Held] | None:
    """Return the scripts in a document; None where it is of no format that holds any."""
    readers = [scripts_of for is_one, scripts_of in _FORMATS if is_one(document, root)]
    return [held for scripts_of in readers for held in scripts_of(document, root, sources)] if readers else None


def script_alone(path: str, text: str, script: Text) -> str:
    """Return a file's text with blanks for all that is not of one script in it: each place stays where it is."""
    kept = list(re.sub(r"[^\n]", " ", text))
    for piece in script:
        if piece.path == path and piece.end - piece.start == len(piece.text):
            kept[piece.start : piece.end] = piece.text
        elif piece.path == path and piece.text == HOLE:
            kept[piece.start : piece.end] = re.sub(r"[^\n]", "_", text[piece.start : piece.end])
    return "".join(kept)


def recipes_of(
    path: str,
    scripts: Sequence[Held | HeldCommand],
    versions: Versions,
    sources: Sources,
    programs: Programs | None = None,
    unfollowed: list[Unfollowed] | None = None,
) -> list[Recipe]:
    """Return the runs that scripts start, numbered through the file; `unfollowed` receives launches that give none."""
    relevance = Relevance(sources) if programs is None else programs.asked.relevance
    reads: list[ShellRead] = []
    for script in scripts:
        if may_start(path, _said_by(path, script, sources), relevance):
            one = [script] if isinstance(script, HeldCommand) else script
            reads.append(read_shell(path, one, versions, sources, programs))
            if unfollowed is not None:
                unfollowed += reads[-1].unfollowed
    found = list(_after_one_another(reads))
    if len(found) < 2:
        return found
    name = posixpath.basename(path)
    return [
        replace(each, name=f"{name}[{number}]", qualified_name=f"{path}[{number}]")
        for number, each in enumerate(found, 1)
    ]


def _after_one_another(reads: Sequence[ShellRead]) -> Iterator[Recipe]:
    """Yield the runs of a file's scripts, each with notices of what the other scripts save."""
    loadings = [
        replace(loading, recipe=recipe)
        for read in reads
        for loading, recipe in zip(read.loadings, read.recipes, strict=True)
    ]
    yield from with_other_formats(
        loadings,
        loadings,
        [each for read in reads for each in read.converted],
        [each for read in reads for each in read.imported],
        frozenset().union(*(read.touched for read in reads)),
    )


def _said_by(path: str, script: Held | HeldCommand, sources: Sources) -> str:
    """Return the texts of a script, and of the files that it finds in its container under the names that it says."""
    if isinstance(script, HeldCommand):
        return " ".join(map(plain, script.words))
    texts = [plain(each) for each in (script.text, *script.files.values())]
    if script.container is not None:
        names = re.findall(r"[\w./-]*[\w-]", texts[0])
        paths = (path_of(name, path, sources, None, script.container) for name in dict.fromkeys(names))
        texts += [sources.text_or_none(each) or "" for each in paths if each is not None]
    return "\n".join(texts)
