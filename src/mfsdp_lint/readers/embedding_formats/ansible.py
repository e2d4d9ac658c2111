"""Playbooks and roles of Ansible: the scripts that their tasks make of templates, with the variables of the inventory.

Facts: ansible-core 2.18: the modules `template` and `import_tasks`, where a role and a play look for a template
(lib/ansible/parsing/dataloader.py, path_dwim_relative), and which variables count more (docs, "Understanding variable
precedence"). What is given on a command line (`-e`) is not seen, and neither are facts about the machines.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs.projects import above
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.embedding_formats.held_texts import entries, held, items, said, template_of_script
from mfsdp_lint.readers.embedding_formats.jinja_templates import (
    Printed,
    TemplateNotFollowed,
    filled_template,
    spelled,
)
from mfsdp_lint.readers.embedding_formats.template_values import (
    UNKNOWN_ITEM,
    Item,
    Scalar,
    item_of,
    items_of_file,
    merged,
)
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.shell.patterns_of_files import matching
from mfsdp_lint.readers.shell.script import Text, of_file, plain, sliced, standing_at
from mfsdp_lint.readers.shell.state import Held
from mfsdp_lint.readers.yaml.document import YamlDocument
from mfsdp_lint.readers.yaml.nodes import MappingNode, Node, SequenceNode

_TEMPLATE = ("template", "ansible.builtin.template")
_TASKS = ("tasks", "pre_tasks", "post_tasks", "handlers", "block", "rescue", "always")
_SOURCE = lazy_pattern(r"\bsrc=[\"']?([^\s\"']+)")
_ROLE = lazy_pattern(r"(?P<role>(?:.*/)?roles/[^/]+)/(?:tasks|handlers)/[^/]+\Z")
_MOST_GROUPS = 8
"""Groups of hosts whose variables are tried; beyond, what they say is not known."""

_DEEPEST = 3
"""Variables within variables."""

Variables = Mapping[str, Item]


def ansible_scripts(document: YamlDocument, root: Node, sources: Sources) -> Iterator[Held]:
    """Yield the scripts that the tasks of a playbook, or of a role, make of templates; none for other documents."""
    if not isinstance(root, SequenceNode):
        return
    role = _ROLE.fullmatch(document.path)
    folder = role["role"] if role else posixpath.dirname(document.path)
    for own in (entries(document, each) for each in items(document, root)):
        for task, given in _tasks(document, own, {}):
            if (path := _template_of(document, task, folder, sources)) is not None:
                for group, variables in _inventories(document.path, folder, said(document, own.get("hosts")), sources):
                    text = _script(path, merged(variables, given), sources)
                    yield from (replace(each, when=group) for each in held(text))


def _tasks(
    document: YamlDocument, own: Mapping[str, Node], around: Variables
) -> Iterator[tuple[Mapping[str, Node], Variables]]:
    """Yield the tasks of a play, a block or a task, each with the variables that are given with it."""
    around = merged(around, _mapping(document, own.get("vars")))
    yield own, around
    for name in _TASKS:
        for each in items(document, own.get(name)):
            yield from _tasks(document, entries(document, each), around)


def _mapping(document: YamlDocument, node: Node | None) -> Variables:
    found = item_of(document, node) if node is not None else {}
    return found if isinstance(found, Mapping) else {}


def _template_of(document: YamlDocument, task: Mapping[str, Node], folder: str, sources: Sources) -> str | None:
    """Return the path of the template of a task; None where that has none which is at hand."""
    given = next((task[name] for name in _TEMPLATE if name in task), None)
    target = document.follow(given) if given is not None else None
    if isinstance(target, MappingNode):
        name = said(document, entries(document, target).get("src"))
    else:
        short = _SOURCE.search(said(document, given) or "")
        name = short[1] if short else None
    places = (posixpath.normpath(posixpath.join(folder, each, name)) for each in ("templates", "") if name)
    return next((each for each in places if sources.exists(each)), None)


def _inventories(
    path: str, folder: str, hosts: str | None, sources: Sources
) -> Iterator[tuple[tuple[str, ...], Variables]]:
    """Yield the variables of each group of hosts that may run a play, with what tells it from others."""
    defaults = _variables(posixpath.join(folder, "defaults", "main"), sources)
    last = _variables(posixpath.join(folder, "vars", "main"), sources) if _ROLE.fullmatch(path) else {}
    worlds: list[tuple[tuple[str, ...], Variables]] = []
    for there in _folders_of_groups(path):
        every = merged(defaults, _variables(posixpath.join(there, "all"), sources))
        names = {re.sub(r"\.ya?ml\Z", "", each.partition("/")[0]) for each in matching(there, "*")} - {"all"}
        groups = [hosts] if hosts in names else sorted(names) if hosts in (None, "all") or "{" in hosts else []
        if len(groups) > _MOST_GROUPS:
            continue
        several = [(name, merged(every, _variables(posixpath.join(there, name), sources))) for name in groups]
        worlds += (((f"{there}/{name}",), each) for name, each in several or [("all", every)])
    if len(worlds) < 2:
        worlds = [((), each) for _, each in worlds] or [((), defaults)]
    yield from ((when, merged(each, last)) for when, each in worlds)


def _folders_of_groups(path: str) -> list[str]:
    """Return the folders with variables of groups, beside a playbook or an inventory."""
    patterns = ("group_vars", "inventory/group_vars", "inventories/*/group_vars", "environments/*/group_vars")
    found = (posixpath.join(at, each) for at in above(path) for pattern in patterns for each in matching(at, pattern))
    return list(dict.fromkeys(posixpath.normpath(each) for each in found))


def _variables(name: str, sources: Sources) -> Variables:
    """Return the variables of a file, or of all files of a folder."""
    below = (posixpath.join(name, each) for each in matching(name, "*.y*ml"))
    found: Variables = {}
    for path in (f"{name}.yml", f"{name}.yaml", *below):
        items_there = items_of_file(path, sources, missing={})
        found = merged(found, items_there if isinstance(items_there, Mapping) else {})
    return found


def _script(path: str, variables: Variables, sources: Sources) -> Text:
    """Return the script that a template gives: what is not known of it stays as it is, for whoever reads templates."""
    whole = of_file(path, sources.text_or_none(path) or "")
    try:
        parts = filled_template(plain(whole), _settled(variables), trim=True, keeps=True)
    except TemplateNotFollowed:
        return template_of_script(whole)
    return template_of_script(_put_together(whole, parts))


def _settled(variables: Variables) -> Variables:
    """Return variables with the values of those that their texts name."""
    for _ in range(_DEEPEST):
        variables = {name: _filled(each, variables) for name, each in variables.items()}
    return variables


def _filled(item: Item, variables: Variables) -> Item:
    if isinstance(item, Mapping):
        return {name: _filled(each, variables) for name, each in item.items()}
    if isinstance(item, Scalar):
        if not isinstance(item.value, str) or "{{" not in item.value:
            return UNKNOWN_ITEM if isinstance(item.value, str) and "{%" in item.value else item
        try:
            parts = filled_template(item.value, variables, keeps=True)
        except TemplateNotFollowed:
            return UNKNOWN_ITEM
        if len(parts) == 1 and isinstance(parts[0].item, Scalar | Mapping):
            return parts[0].item
        text = _put_together(item.text, parts)
        return item if "{{" in plain(text) or HOLE in plain(text) else Scalar(plain(text), text)
    return [_filled(each, variables) for each in item] if isinstance(item, Sequence) else item


def _put_together(template: Text, parts: Sequence[Printed]) -> Text:
    """Return the text that the parts of a filled template make, each at its place."""
    found: list[Text] = []
    for part in parts:
        own = tuple(sliced(template, part.start, part.end))
        if part.item is None or not own:
            found.append(own)
            continue
        value = spelled(part.item.value) if isinstance(part.item, Scalar) else HOLE
        written = part.item.text if isinstance(part.item, Scalar) else ()
        is_written = plain(written) == value
        found.append(written if is_written else (standing_at(value, written[0] if written else own[0]),))
    return tuple(piece for text in found for piece in text if piece.text)
