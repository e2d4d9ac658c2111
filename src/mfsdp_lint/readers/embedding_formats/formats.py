"""Files that embed scripts or command lines: containers, pipelines and jobs → the runs that they start.

Files that are one job; and the list of all formats in YAML. Every text keeps its place in the file.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice, product

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Recipe, Unfollowed
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.inputs.projects import beside
from mfsdp_lint.inputs.sources import Sources, Unreadable
from mfsdp_lint.megatron.vocabulary.tables import Versions
from mfsdp_lint.readers.embedding_formats.ansible import ansible_scripts
from mfsdp_lint.readers.embedding_formats.any_job import job_scripts, text_scripts, toml_scripts
from mfsdp_lint.readers.embedding_formats.azure import azure_scripts, is_azure, with_pipelines
from mfsdp_lint.readers.embedding_formats.docker import compose_scripts, is_compose
from mfsdp_lint.readers.embedding_formats.github import github_scripts, is_github
from mfsdp_lint.readers.embedding_formats.gitlab import gitlab_scripts, is_gitlab
from mfsdp_lint.readers.embedding_formats.held_texts import (
    MOST_JOBS,
    added,
    entries,
    environment,
    held,
    items,
    joined,
    said,
    script_of,
    text_of,
)
from mfsdp_lint.readers.embedding_formats.kubernetes import is_kubernetes, kubernetes_scripts, with_images, with_maps
from mfsdp_lint.readers.embedding_formats.ray import is_ray, ray_scripts
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.launch_memory import ShellRead
from mfsdp_lint.readers.programs import Programs
from mfsdp_lint.readers.relevance import Relevance
from mfsdp_lint.readers.shell.launch_command import path_of
from mfsdp_lint.readers.shell.read import read_shell
from mfsdp_lint.readers.shell.script import Piece, Text, filled, holed, plain
from mfsdp_lint.readers.shell.stages import with_other_formats
from mfsdp_lint.readers.shell.state import Held, HeldCommand
from mfsdp_lint.readers.shell_files import may_start
from mfsdp_lint.readers.yaml.document import YamlDocument
from mfsdp_lint.readers.yaml.nodes import MappingNode, Node, compose_documents


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
    combined = list(islice(product(*(values for _, values in parameters)), MOST_JOBS + 1))
    if len(combined) > MOST_JOBS:
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


_OF_DVC = lazy_pattern(r"(?<!\\)\$\{\s*([\w.-]+)\s*\}")


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


_FORMATS: Sequence[
    tuple[Callable[[YamlDocument, MappingNode], bool], Callable[[YamlDocument, MappingNode, Sources], Iterator[Held]]]
] = (
    (is_kubernetes, kubernetes_scripts),
    (is_github, github_scripts),
    (is_gitlab, gitlab_scripts),
    (is_azure, azure_scripts),
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
        scripts, is_known = yaml_scripts(path, text, sources, unfollowed)
    except Unreadable:
        # A template may be no YAML before it is filled in.
        if not _IS_TEMPLATE.search(text):
            raise
        scripts, is_known = list(text_scripts(path, text, sources)), False
    found = recipes_of(path, scripts, versions, sources, programs, unfollowed)
    return found if found or is_known else None


_IS_TEMPLATE = lazy_pattern(r"\{\{|\{%")


def yaml_scripts(
    path: str, text: str, sources: Sources, unfollowed: list[Unfollowed] | None = None
) -> tuple[list[Held], bool]:
    """Return the scripts in a YAML file, and whether it is of a format that holds scripts.

    `unfollowed` receives what of them is not at hand. Raises Unreadable.
    """
    scripts: list[Held] = []
    is_known = False
    document = YamlDocument(path, Lines(text))
    roots = compose_documents(path, text, again=True)
    with_maps(document, roots, sources)
    with_images(document, roots, sources)
    with_pipelines(document, sources)
    for root in roots:
        found = scripts_of_document(document, root, sources) if isinstance(root, MappingNode) else None
        scripts += ansible_scripts(document, root, sources)
        is_known = is_known or found is not None
        is_map = isinstance(root, MappingNode) and said(document, entries(document, root).get("kind")) == "ConfigMap"
        # What is merged with other files starts what they say together.
        scripts += found or () if found or is_map or document.is_merged else job_scripts(document, root)
    if unfollowed is not None:
        unfollowed += dict.fromkeys(document.unfollowed)
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
    """Return the texts of a script, behind the change to its folder, and of the files that it finds in its container
    under the names that it says.
    """
    changed = f"cd {script.folder}\n" if script.folder else ""
    if isinstance(script, HeldCommand):
        return changed + " ".join(map(plain, script.words))
    texts = [changed + plain(each) for each in (script.text, *script.files.values())]
    if script.container is not None:
        names = re.findall(r"[\w./-]*[\w-]", texts[0])
        paths = (path_of(name, path, sources, None, script.container) for name in dict.fromkeys(names))
        texts += [sources.text_or_none(each) or "" for each in paths if each is not None]
    return "\n".join(texts)
