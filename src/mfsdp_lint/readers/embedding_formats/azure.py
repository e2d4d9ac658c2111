"""Pipelines of Azure: the scripts of their steps, with variables (learn.microsoft.com/azure/devops/pipelines).

A template of the repository is read where a pipeline names it, with the parameters that it is given there.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Unfollowed
from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.inputs.projects import above, beside
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.embedding_formats.built_images import root_of, written_texts
from mfsdp_lint.readers.embedding_formats.held_texts import (
    MOST_JOBS,
    Variables,
    entries,
    environment,
    filled_in,
    held,
    items,
    mappings,
    said,
    text_of,
    variable,
)
from mfsdp_lint.readers.relevance import Relevance
from mfsdp_lint.readers.shell.script import Piece, Text, filled, holed, plain
from mfsdp_lint.readers.shell.state import Held, Variable
from mfsdp_lint.readers.shell_files import may_start
from mfsdp_lint.readers.yaml.document import YamlDocument
from mfsdp_lint.readers.yaml.merged import taken
from mfsdp_lint.readers.yaml.nodes import MappingNode, Node, SequenceNode

_SCRIPTS = ("script", "bash", "pwsh", "powershell")
_KINDS = ("stages", "jobs", "steps", "variables")
_TEMPLATE = lazy_pattern(r"(?P<path>[^@]+\.ya?ml)(?:@(?P<repository>[\w-]+))?")

_MOST_TEMPLATES = 100
"""Templates that one pipeline may have, as Azure has it."""


def is_azure(document: YamlDocument, root: MappingNode) -> bool:
    """Tell whether a document has steps with a script, and variables for them or a pipeline that has it as a template,
    or templates of its own; without any of these it is read as any other.
    """
    if document.pipelines or any(_names_template(document, each) for each in mappings(document, root)):
        return True
    pipeline = _Pipeline(document, root)
    jobs = pipeline.jobs(_Part(root, document.path))
    return any(declared and any(True for _ in pipeline.steps(job)) for declared, job in jobs)


def _names_template(document: YamlDocument, node: Node) -> bool:
    own = entries(document, node)
    parts = [each for kind in _KINDS for each in items(document, own.get(kind))]
    names = (said(document, entries(document, each).get("template")) for each in parts)
    return any(_TEMPLATE.fullmatch(name or "") for name in names)


def azure_scripts(document: YamlDocument, root: MappingNode, sources: Sources) -> Iterator[Held]:
    """Yield the script of every step that is written in a file, for each pipeline that has it, and each job of a
    matrix. A step of a template whose file does not speak of a run is read with the pipeline.
    """
    own = posixpath.normpath(document.path)
    found: list[Held] = []
    for path in document.pipelines:
        for whole in taken(document, path, sources)[-1:]:
            found += _Pipeline(document, root, sources).scripts(_Part(whole, path, _parameters(document, whole)))
    # What no pipeline has is one by itself; of a template that is none, nobody knows the parameters.
    given = {} if document.pipelines else _parameters(document, root)
    yield from found or _Pipeline(document, root, sources).scripts(_Part(root, own, given))


def with_pipelines(document: YamlDocument, sources: Sources) -> None:
    """Note in a document the pipelines of the repository that have it as a template, at most as many as jobs."""
    if _HAS_STEPS.search(document.lines.text):
        pending, seen = [posixpath.normpath(document.path)], set[str]()
        users = _users_of_templates(document.path, sources)
        while pending:
            own = pending.pop()
            above_it = users.get(own, ())
            if own not in seen and not above_it and seen:
                document.pipelines = (*document.pipelines, own)
            pending += above_it if own not in seen else ()
            seen.add(own)
        document.pipelines = document.pipelines if len(document.pipelines) <= MOST_JOBS else ()


_HAS_STEPS = lazy_pattern(r"(?:-[ \t]+|[{,][ \t]*)(?:script|bash|pwsh|powershell|task|template)[ \t]*:")
_USES = lazy_pattern(
    r"\btemplate:[ \t]*[\"']?(?P<name>/?[\w./-]+\.ya?ml)(?:@self)?[\"']?[ \t]*(?:\#.*)?$", re.MULTILINE
)


def _users_of_templates(path: str, sources: Sources) -> Mapping[str, Sequence[str]]:
    """Return the files that name each template of a repository."""

    def found() -> dict[str, list[str]]:
        users: dict[str, list[str]] = {}
        for user, text in written_texts(path, sources, (".yml", ".yaml")):
            user = posixpath.normpath(user)
            for name in dict.fromkeys(each["name"] for each in _USES.finditer(text)):
                for template in filter(sources.exists, _places(user, name)):
                    users.setdefault(template, []).append(user)
        return users

    return sources.shared(("templates of Azure", root_of(path)), found).result


_Declared = tuple[str, Text, Mapping[str, Text]]
"""A variable's name and text, empty where it is not known, and the parameters at its place; without a name, any other
may be set here.
"""


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a pipeline, the file that has it, and the values of the parameters there."""

    node: Node | None
    path: str = ""
    parameters: Mapping[str, Text] = field(default_factory=dict)


class _Pipeline:
    """A pipeline with its templates, as one of its files has it; without `sources` no template is read."""

    def __init__(self, document: YamlDocument, root: MappingNode, sources: Sources | None = None) -> None:
        self.document = document
        self.root = root
        self.sources = sources
        self.templates = 0

    def scripts(self, root: _Part) -> Iterator[Held]:
        """Yield the scripts of the steps that are read with the file."""
        document = self.document
        for declared, job in self.jobs(root):
            strategy = entries(document, entries(document, job.node).get("strategy"))
            legs = entries(document, strategy.get("matrix")).values()
            steps = [(step, part) for step, part in self.steps(job) if self.is_read_here(step)]
            for leg in legs if 0 < len(legs) <= MOST_JOBS else (None,):
                given = [*declared, *self.declared(job, leg)]
                variables: dict[str, Variable] = {}
                # A variable may name another beside it.
                for name, text, parameters in (*given, *given):
                    if name:
                        variables[name] = variable(_filled(parameters, variables, text))
                    else:
                        variables = dict.fromkeys(variables, Variable(None, exported=True))
                around = {name.upper().replace(".", "_"): each for name, each in variables.items()}
                for step, parameters in steps:
                    fill = partial(_filled, parameters, variables)
                    text = fill(text_of(document, _script(step)))
                    yield from held(text, around, environment(document, step.get("env"), fill))

    def is_read_here(self, step: Mapping[str, Node]) -> bool:
        """Tell whether a step is written in the document, or in a file that is not read for its own words."""
        home = self.document.homes.get(self.document.follow(_script(step)) or _script(step), self.document)
        return home.path == self.document.path or not self.speaks(home)

    def speaks(self, home: YamlDocument) -> bool:
        return self.sources is not None and may_start(home.path, home.lines.text, Relevance(self.sources))

    def jobs(self, root: _Part) -> Iterator[tuple[list[_Declared], _Part]]:
        """Yield the jobs, each with the variables of the pipeline, of its stage and its own."""
        around: list[_Declared] = []
        while root.node is not None:
            own = entries(self.document, root.node)
            around += self.declared(root, own.get("variables"))
            if "extends" not in own:
                break
            # A pipeline that extends a template is this template, with its own variables.
            root = self.template(_Part(own["extends"], root.path, root.parameters)) or _Part(None)
        for stage in list(self.parts(root, "stages")) or (root,):
            of_stage = self.declared_in(stage) if stage is not root else []
            for job in list(self.parts(stage, "jobs")) or (stage,):
                of_job = self.declared_in(job) if job is not stage else []
                yield [*around, *of_stage, *of_job], job

    def parts(self, part: _Part, kind: str) -> Iterator[_Part]:
        """Yield the stages, or jobs, of a part, those of templates in their place."""
        for each in self.listed(entries(self.document, part.node).get(kind)):
            one = _Part(each, part.path, part.parameters)
            if "template" not in entries(self.document, each):
                yield one
            elif (inner := self.template(one)) is not None:
                yield from self.parts(inner, kind)

    def listed(self, node: Node | None) -> Iterator[Node]:
        """Yield the entries of a list, also those on a condition of the template (`- ${{ if … }}: [...]`)."""
        for each in items(self.document, node):
            conditions = [value for name, value in entries(self.document, each).items() if name.startswith("${{")]
            for value in conditions:
                yield from self.listed(value)
            if not conditions:
                yield each

    def steps(self, job: _Part) -> Iterator[tuple[Mapping[str, Node], Mapping[str, Text]]]:
        """Yield the steps that have a script, or a task that is given one, wherever a job has them, each with the
        parameters at its place.
        """
        lists = [entries(self.document, each).get("steps") for each in mappings(self.document, job.node)]
        for each in (each for steps in lists for each in self.listed(steps)):
            step = entries(self.document, each)
            if "template" in step:
                inner = self.template(_Part(each, job.path, job.parameters))
                yield from self.steps(inner) if inner is not None else ()
                continue
            step = {**step, **entries(self.document, step.get("inputs"))} if "task" in step else step
            if any(said(self.document, step.get(name)) for name in _SCRIPTS):
                yield step, job.parameters

    def declared_in(self, part: _Part) -> list[_Declared]:
        return self.declared(part, entries(self.document, part.node).get("variables"))

    def declared(self, part: _Part, node: Node | None) -> list[_Declared]:
        """Return the variables that a mapping or a list declares; those on a condition of the template have no known
        value.
        """
        if isinstance(node and self.document.follow(node), SequenceNode):
            return [one for each in items(self.document, node) for one in self.declared_by(part, each)]
        found: list[_Declared] = []
        for name, value in entries(self.document, node).items():
            if name.startswith("${{"):
                found += [(inner, (), {}) for inner, _, _ in self.declared(part, value)]
            else:
                found.append((name, text_of(self.document, value), part.parameters))
        return found

    def declared_by(self, part: _Part, item: Node) -> list[_Declared]:
        """Return the variables that an item of a list declares; a template that is not at hand may set any."""
        own = entries(self.document, item)
        if "template" in own:
            inner = self.template(_Part(item, part.path, part.parameters))
            return self.declared_in(inner) if inner is not None else [("", (), {})]
        if "name" in own:
            return [(said(self.document, own["name"]) or "", text_of(self.document, own.get("value")), part.parameters)]
        return [(name, (), {}) for value in own.values() for name, _, _ in self.declared(part, value)]

    def template(self, part: _Part) -> _Part | None:
        """Return the template that a part names, with its parameters; what is not at hand is told."""
        document, sources = self.document, self.sources
        own = entries(document, part.node)
        name = plain(filled_in(part.parameters, text_of(document, own.get("template"))))
        found = _TEMPLATE.fullmatch(name)
        self.templates += 1
        if sources is None:
            return None
        if found and found["repository"] in (None, "self") and self.templates <= _MOST_TEMPLATES:
            for path in _places(part.path, found["path"]):
                is_own = path == posixpath.normpath(document.path)
                for root in [self.root] if is_own else taken(document, path, sources)[-1:]:
                    given = _texts(document, entries(document, own.get("parameters")))
                    given = {key: filled_in(part.parameters, text) for key, text in given.items()}
                    return _Part(root, path, _parameters(document, root, given))
        home = document.homes.get(own["template"], document)
        if (home is document) == self.speaks(home):
            message = f"the template {said(document, own['template'])} is not at hand"
            place = home.places(own["template"])[1]
            document.unfollowed.append(Unfollowed.of_launch(document.path, place, "out of sight", message))
        return None


def _script(step: Mapping[str, Node]) -> Node:
    return next(step[name] for name in _SCRIPTS if name in step)


def _places(path: str, name: str) -> Sequence[str]:
    """Return where a file's template may be: beside it, or with a `/` below the repository's root."""
    if not name.startswith("/"):
        return (beside(path, name),)
    return [posixpath.normpath(posixpath.join(folder, name[1:])) for folder in reversed(above(path))]


def _parameters(document: YamlDocument, root: Node, given: Mapping[str, Text] | None = None) -> dict[str, Text]:
    """Return the known values of parameters: those given, over the defaults of a list of mappings, or of a mapping."""
    declared = entries(document, root).get("parameters")
    listed = [entries(document, each) for each in items(document, declared)]
    named = {said(document, own["name"]) or "": own["default"] for own in listed if {"name", "default"} <= own.keys()}
    texts = {**_texts(document, named or entries(document, declared)), **(given or {})}
    return {name: text for name, text in texts.items() if text}


def _texts(document: YamlDocument, named: Mapping[str, Node]) -> dict[str, Text]:
    return {f"parameters.{name}": text_of(document, each) for name, each in named.items()}


_MACRO = lazy_pattern(r"\$\((?P<name>[\w.]+)\)")


def _filled(parameters: Mapping[str, Text], variables: Variables, text: Text) -> Text:
    """Fill in variables, in `$(name)` whatever their case, and parameters; any other `$(date)` may be a command."""
    by_name = {name.lower(): each for name, each in variables.items()}

    def fill(match: re.Match[str], piece: Piece) -> Text | None:
        given = by_name.get(match["name"].lower())
        return None if given is None else given.text or holed(match, piece)

    early = {f"variables.{name}": each.text for name, each in variables.items() if each.text}
    return filled(filled_in({**parameters, **early}, text), _MACRO, fill)
