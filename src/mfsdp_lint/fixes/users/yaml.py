"""Users of an edited piece of YAML: who reads the file for itself, and other sections that share it by an alias."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.fixes.judged import FixRequest, anchors_of
from mfsdp_lint.fixes.users.sections import user_of_variables
from mfsdp_lint.fixes.users.shell import reader_of
from mfsdp_lint.fixes.users.shell import user_of as user_in_script
from mfsdp_lint.fixes.users.takers import OF_TOOLS, lists
from mfsdp_lint.inputs.dependents import builds_on
from mfsdp_lint.inputs.discover import KUSTOMIZATIONS
from mfsdp_lint.inputs.mentions import uncommented
from mfsdp_lint.inputs.sources import Sources, Unreadable
from mfsdp_lint.readers.command_lines import COMMAND_LINE
from mfsdp_lint.readers.embedding_formats.formats import script_alone, yaml_scripts
from mfsdp_lint.readers.registry import is_python
from mfsdp_lint.readers.yaml.nodes import MappingNode, Node, compose_documents

if TYPE_CHECKING:
    from mfsdp_lint.fixes.users import EditUsers


def user_of(users: EditUsers, request: FixRequest, edit: Edit, settings: Collection[str]) -> str:
    """Return another user of what an edit of YAML changes; "" where there is none."""
    path, text = edit.span.path, users.texts(edit.span.path)
    lines = Lines(text)
    start, end = lines.range(edit.span)
    if any(each.path == path and _is_default(text, *lines.range(each), start) for each in anchors_of(request)):
        return f"{path} has other ways to this launch"
    if anchor := _anchor(path, text, start):
        return f"{path} uses {anchor}"
    folder = os.path.basename(os.path.dirname(os.path.abspath(path)))
    for other, said in users.search(path, {folder}).items():
        if os.path.basename(other) in KUSTOMIZATIONS and builds_on(said, (path,)) and not users.is_read(other):
            return f"{other} is built of {os.path.dirname(path)}"
    scripts, _ = yaml_scripts(path, text, Sources({path: text}))
    for held in scripts:
        if any(piece.path == path and piece.start <= start and end <= piece.end for piece in held.text):
            return user_in_script(users, request, edit, settings, script_alone(path, text, held.text))
    variables = [each.removeprefix("env.") for each in settings if each.startswith("env.")]
    place = start + len(text[start:end]) - len(text[start:end].lstrip())
    if variables and (found := user_of_variables(users, path, text, place)):
        return found
    for name in variables:
        for held in scripts:
            variable = held.variables.get(name)
            written = None if variable is None else variable.written
            if written is not None and written.path == path and start <= written.start < end:
                alone = script_alone(path, text, held.text)
                if found := reader_of(users, request, settings, path, alone, name):
                    return found
    return _user_of_file(users, request, path, settings, replaced=end > start and text[start:end].strip()[:1] != "*")


_DEFAULT = lazy_pattern(r"\$\{\w+:?[-=+][^}\n]*\Z|^[ \t]*default:[^\n]*\Z")
"""The text in front of a value that holds where whoever starts the job gives no other."""


def _is_default(text: str, start: int, end: int, edited: int) -> bool:
    """Tell whether a piece of a file is such a value, and the edit stands outside of it."""
    found = _DEFAULT.search(text[text.rfind("\n", 0, start) + 1 : start])
    if found is None:
        return False
    last = text.find("}" if "{" in found[0] else "\n", end)
    return not start - len(found[0]) <= edited <= last


def _user_of_file(
    users: EditUsers, request: FixRequest, path: str, settings: Collection[str], *, replaced: bool
) -> str:
    """Return who reads the file, or takes it as a whole, beside the recipes that the proof compares.

    Whoever reads an entry that is `replaced` names it; one that is new has to be asked for in its section.
    """
    taking = {recipe.path for recipe, spans in users.writes(settings) if any(span.path == path for span in spans)}
    taking |= {span.path for _, spans in users.writes(settings) for span in spans if any(s.path == path for s in spans)}
    taking |= {need.recipe.path for need in request.needs}
    own = all(need.recipe.path == path for need in request.needs)
    about = {*settings, *(each for need in request.needs for each in need.anchors)}
    name = os.path.basename(path)
    words = [each.split(".")[-1 if replaced else -2 :] for each in settings]
    for other, said in users.search(path, {name}).items():
        said = uncommented(said)
        named = any(all(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", said) for word in each) for each in words)
        # (A launch may override a part of a recipe of its own.)
        overrides = own and any(f"{each}=" in said for each in about)
        if overrides or (other not in taking and (named or not own or _hands_on(other, said, name))):
            return f"{other} uses {name}"
    for setting in settings:
        for other in users.search(path, setting.split(".")):
            if other.endswith(_OF_POLICIES):
                return f"{other} says what {setting} may be"
    # A recipe of its own has no other place for the edit: whoever lists its folder has to ask for the setting.
    for key in dict.fromkeys(each[0] for each in words) if own else ("",):
        for other, said in users.search(path, {key} if key else ()).items():
            of_dvc = key and (name, os.path.basename(other)) == _OF_DVC
            if other not in taking and (of_dvc or lists(other, said, path)):
                return f"{other} uses {name}"
    return ""


_OF_POLICIES = (".rego", ".cue", ".sentinel")
"""Endings of languages in which somebody says what data of other files may be."""
_OF_DVC = ("params.yaml", "dvc.yaml")
"""A file of parameters that is not named where it is used (dvc.org, `dvc.yaml`, "params")."""
_OTHER_WORK = lazy_pattern(r"(?i)conver|export|eval|infer|serv|merge|upload|check|test|valid|compar|diff|report")
"""Words of a program that reads a recipe for something else than a training run."""


def _hands_on(path: str, text: str, name: str) -> bool:
    """Tell whether a text takes a recipe as a whole for something else than to start it: it copies or includes the
    file, or gives it to another program.
    """
    if os.path.basename(path) in OF_TOOLS:
        return False
    if is_python(path):
        return _OTHER_WORK.search(os.path.basename(path)) is not None
    for found in re.finditer(rf"(?<![\w.-]){re.escape(name)}(?!\w)", text):
        start = text.rfind("\n", 0, found.start()) + 1
        line = text[start : (text + "\n").index("\n", found.end())]
        if not COMMAND_LINE.search(line) or _OTHER_WORK.search(line):
            return True
    return False


def _anchor(path: str, text: str, place: int) -> str:
    """Return the anchor of the section around a place, where an alias takes it as well; "" where none does."""
    try:
        documents = compose_documents(path, text)
    except Unreadable:
        return ""
    for root in documents:
        for node in _sections(root):
            if node.start <= place <= node.end:
                before = text[: node.start].rstrip()
                found = re.search(r"&([\w-]+)\s*\Z", before)
                if found and re.search(rf"\*{re.escape(found[1])}(?![\w-])", text):
                    return found[1]
    return ""


def _sections(node: Node) -> Iterator[MappingNode]:
    if isinstance(node, MappingNode):
        yield node
        for _, value in node.entries:
            yield from _sections(value)
