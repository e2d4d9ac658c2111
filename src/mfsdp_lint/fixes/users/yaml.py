"""Users of an edited piece of YAML: who reads the file for itself, and other sections that share it by an alias."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.lines import Lines
from mfsdp_lint.fixes.judged import FixRequest
from mfsdp_lint.fixes.users.shell import reader_of
from mfsdp_lint.fixes.users.shell import user_of as user_in_script
from mfsdp_lint.inputs.mentions import uncommented
from mfsdp_lint.inputs.sources import Sources, Unreadable
from mfsdp_lint.readers.embedding_formats.formats import script_alone, yaml_scripts
from mfsdp_lint.readers.yaml.nodes import MappingNode, Node, compose_documents

if TYPE_CHECKING:
    from mfsdp_lint.fixes.users import EditUsers


def user_of(users: EditUsers, request: FixRequest, edit: Edit, settings: Collection[str]) -> str:
    """Return another user of what an edit of YAML changes; "" where there is none."""
    path, text = edit.span.path, users.texts(edit.span.path)
    lines = Lines(text)
    start, end = lines.range(edit.span)
    if anchor := _anchor(path, text, start):
        return f"{path} uses {anchor}"
    scripts, _ = yaml_scripts(path, text, Sources({path: text}))
    for held in scripts:
        if any(piece.path == path and piece.start <= start and end <= piece.end for piece in held.text):
            return user_in_script(users, request, edit, settings, script_alone(path, text, held.text))
    for name in (each.removeprefix("env.") for each in settings if each.startswith("env.")):
        for held in scripts:
            variable = held.variables.get(name)
            written = None if variable is None else variable.written
            if written is not None and start <= written.start < end:
                alone = script_alone(path, text, held.text)
                if found := reader_of(users, request, settings, path, alone, name):
                    return found
    taking = {recipe.path for recipe, spans in users.writes(settings) if any(span.path == path for span in spans)}
    taking |= {span.path for _, spans in users.writes(settings) for span in spans if any(s.path == path for s in spans)}
    own = any(need.recipe.path == path for need in request.needs)
    name = os.path.basename(path)
    # Whoever reads an entry that is replaced names it; one that is new has to be asked for in its section.
    replaced = end > start and not text[start:end].strip().startswith("*")
    words = [each.split(".")[-1 if replaced else -2 :] for each in settings]
    for other, said in users.search(path, {name}).items():
        said = uncommented(said)
        named = any(all(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", said) for word in each) for each in words)
        if other not in taking and (named or not own):
            return f"{other} uses {name}"
    return ""


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
