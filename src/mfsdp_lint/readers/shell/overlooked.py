"""Launches that give no run: a command that speaks of FSDP or names a training program, with the reason."""

from __future__ import annotations

import posixpath
import re

from tree_sitter import Node

from mfsdp_lint.core.recipe import Span, Unfollowed
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.relevance import trains_nothing
from mfsdp_lint.readers.shell.builtins import BUILTINS
from mfsdp_lint.readers.shell.launch_command import STARTS_NOTHING, ShellLaunch, may_start, program_of
from mfsdp_lint.readers.shell.run import Runner
from mfsdp_lint.readers.shell.script import Script, plain

_TRAINS = re.compile(
    r"(?<![\w-])[\w./-]*\b(?:(?:pre)?train|finetune|run_recipe)\w*\.py\b"
    r"|(?<![\w/-])--?[\w-]*fsdp|\$[{]?\w*fsdp|\bfsdp\w*=|_fsdp\w*=",
    re.IGNORECASE,
)
"""A program's name, an option, a variable or an override: a message or a folder may have the word as well."""

_SHARDS = re.compile(
    r"(?<![\w-])(?:--|(?:[+\w]+\.)*)use[-_](?:(?:megatron|custom)[-_]fsdp|torch[-_]fsdp2)\b(?![= ]false\b)",
    re.IGNORECASE,
)
"""An option or an override of Megatron's own switches."""


def overlooked(path: str, runner: Runner) -> Unfollowed | None:
    """Return the first command of a script without runs that may start one, with the reason why it is not followed.

    None where there is no such command, or the program that it starts was followed and is not told to shard.
    """
    launches = {launch.span: launch for launch in runner.launches}
    for script in list(runner.scripts.values()):
        for node in script.nodes():
            place = script.span(node) if node.type == "command" else None
            if place is not None and _TRAINS.search(script.source(node) + _words_of(launches.get(place))):
                reason = _reason(script, node, launches.get(place), runner, place)
                if reason:
                    name = posixpath.basename(path)
                    return Unfollowed(name, path, path, place.line, "launch", "out of sight", reason, place)
    return None


def _is_message(script: Script, node: Node) -> bool:
    """Tell whether a command is given texts alone, as `log "starting …"` is."""
    texts = [script.source(each) for each in node.children_by_field_name("argument")]
    return all(each[0] in "\"'" and " " in each and ".py" not in each for each in texts)


def _words_of(launch: ShellLaunch | None) -> str:
    return "" if launch is None else " ".join(map(plain, launch.started.arguments))


def _reason(script: Script, node: Node, launch: ShellLaunch | None, runner: Runner, place: Span) -> str:
    named = node.child_by_field_name("name")
    name = posixpath.basename(script.source(named)) if named is not None else ""
    if name in BUILTINS or STARTS_NOTHING.fullmatch(name):
        return ""
    if launch is not None:
        at_hand = program_of(launch, runner.path, runner.sources)
        if at_hand is not None:
            text = runner.sources.text_or_none(at_hand)
            is_told = _SHARDS.search(_words_of(launch)) and text is not None and not trains_nothing(text)
            return f"{at_hand} makes no configuration that is known" if is_told else ""
        program = plain(launch.started.program)
        if any(HOLE in plain(word) and any(piece.splits for piece in word) for word in launch.started.arguments):
            return f"the words that {posixpath.basename(program)} is given are not known"
        return f"{posixpath.basename(program)} is not at hand, and its words give no settings of Megatron"
    if place not in runner.followed:
        return "no way that is followed leads to this launch"
    if re.fullmatch(r"\w[\w.-]*", name) and not may_start(name) and not _is_message(script, node):
        return f"the launch goes through `{name}`, which is not followed"
    return ""
