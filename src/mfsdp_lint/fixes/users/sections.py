"""Programs elsewhere that have the variables of a section of YAML: of a service of Compose, of a workflow of GitHub."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.inputs.sources import Unreadable
from mfsdp_lint.readers.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode, compose_documents

if TYPE_CHECKING:
    from mfsdp_lint.fixes.users import EditUsers

_ACTION = lazy_pattern(r"\buses:[ \t]*[\"']?(?P<path>\./[^\s\"'#]+)")


def user_of_variables(users: EditUsers, path: str, text: str, place: int) -> str:
    """Return who runs a program with the variables that stand at a place of YAML; "" where nobody else does.

    Compose runs another command in the container of a service. An action of the repository has the variables of the
    step, the job and the workflow; a workflow that is called has none of them (docs.github.com, "Reuse workflows").
    """
    match list(_keys_to(path, text, place)):
        case [("services", _), (service, _), ("environment", own), *_]:
            named = [
                value for key, value in own.entries if isinstance(key, ScalarNode) and key.text == "container_name"
            ]
            for name in (service, *(each.text for each in named if isinstance(each, ScalarNode))):
                runs = re.compile(_RUN.format(name=re.escape(name)))
                for other, said in users.search(path, {name}, quoting=True).items():
                    if "compose" in said.lower() and runs.search(said):
                        return f"{other} runs another command in {name}"
        case keys:
            around = next((mapping for key, mapping in keys if key == "env"), None)
            for action in _ACTION.finditer(text, around.start, around.end) if around else ():
                if not action["path"].endswith((".yml", ".yaml")):
                    return f"{action['path']} has the variables of {path}"
    return ""


_RUN = (
    r"\b(?:run|exec)\b(?:[^\n;&|\\]|\\\n)*?(?<![\w./=:-]){name}(?![\w./:=-])[\"',]*(?:[ \t]|\\\n)+"
    r"[\"']?(?!#)[\w./${{-]"
)
"""A command that is run in a service: one without a program behind the name of the service runs the service's own."""


def _keys_to(path: str, text: str, place: int) -> Iterator[tuple[str, MappingNode]]:
    """Yield the keys on the way to a place, from the top, each with the mapping that it stands in."""
    try:
        waiting: list[Node] = compose_documents(path, text)
    except Unreadable:
        return
    while waiting:
        node = next((each for each in waiting if each.pair <= place <= each.end), None)
        if isinstance(node, MappingNode):
            held = next(((key, value) for key, value in node.entries if key.start <= place <= value.end), None)
            if held is not None and isinstance(held[0], ScalarNode):
                yield held[0].text, node
            waiting = [] if held is None else [held[1]]
        else:
            waiting = list(node.items) if isinstance(node, SequenceNode) else []
