"""Launches that give no run: a command that speaks of FSDP or names a training program, with the reason."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from tree_sitter import Node

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Span, Unfollowed
from mfsdp_lint.inputs.projects import above
from mfsdp_lint.readers.experiments import experiments_in
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.relevance import TRAINING_PROGRAM, trains_nothing
from mfsdp_lint.readers.shell.builtins import BUILTINS
from mfsdp_lint.readers.shell.launch_command import STARTS_NOTHING, ShellLaunch, may_start, program_of
from mfsdp_lint.readers.shell.run import ScriptRunner
from mfsdp_lint.readers.shell.script import Script, plain

_TRAINS = lazy_pattern(
    rf"(?<![\w./-])[\w./-]*\b{TRAINING_PROGRAM}\b"
    r"|(?<![\w/-])--?[\w-]*fsdp|\$[{]?\w*fsdp|\bfsdp\w*=|_fsdp\w{0,99}="
    r"|(?<![\w/-])--model_recipe_name\b",  # (of Bridge's performance scripts, which have names of all kinds)
    re.IGNORECASE,
)
"""A program's name, an option, a variable or an override: a message or a folder may have the word as well."""

_SHARDS = lazy_pattern(
    r"(?<![\w.-])(?:--|(?:[+\w]+\.)*)use[-_](?:(?:megatron|custom)[-_]fsdp|torch[-_]fsdp2)\b(?![= ]false\b)",
    re.IGNORECASE,
)
"""An option or an override of Megatron's own switches."""


def overlooked(path: str, runner: ScriptRunner) -> Unfollowed | None:
    """Return the first command of a script without runs that may start one, with the reason why it is not followed.

    None where there is no such command, or the program that it starts was followed and is not told to shard.
    """
    launches = {launch.span: launch for launch in runner.launches}
    found = ((place, reason) for place, reason in _reasons(runner, launches) if reason)
    place, reason = next(found, (None, ""))
    if place is None:
        return None
    return Unfollowed.of_launch(path, place, "out of sight", reason)


def _reasons(runner: ScriptRunner, launches: dict[Span, ShellLaunch]) -> Iterator[tuple[Span, str]]:
    """Yield the commands that may start a run, those of scripts first, each with its reason."""
    for script in list(runner.scripts.values()):
        for node in script.nodes():
            if node.type == "command":
                launch = launches.pop(place := script.span(node), None)
                if _TRAINS.search(script.source(node) + _words_of(launch)):
                    yield place, _reason(script, node, launch, runner, place)
                elif launch is None and (reason := _goes_elsewhere(script, node, runner)):
                    yield place, reason
    for place, launch in launches.items():
        if _TRAINS.search(_words_of(launch)):
            yield place, _reason_of_launch(launch, runner)


_SPEAKS_OF_TRAINING = lazy_pattern(r"(?<![\w./-])(?:(?:pre|post)?train|sft|finetune|launch)\w*(?![\w./-])")
_SCRIPT = lazy_pattern(r"(?:\S*/)?(?P<name>[\w.-]+\.(?:sh|bash))")


def _goes_elsewhere(script: Script, node: Node, runner: ScriptRunner) -> str:
    """Return the reason why an experiment is not started: a command is given it that is not at hand; "" without one.

    A script may be given it in the environment, by whatever name.
    """
    named = node.child_by_field_name("name")
    words = [script.source(each) for each in (named, *node.children_by_field_name("argument")) if each is not None]
    if not words or posixpath.basename(words[0]) in BUILTINS or STARTS_NOTHING.fullmatch(posixpath.basename(words[0])):
        return ""
    own = script.source(node)
    experiments = list(experiments_in(runner.path, runner.sources.text_or_none(runner.path) or "", runner.sources))
    given = next((file for name, file in experiments if name in own), None)
    first = words[1] if words[0] in ("bash", "sh") and len(words) > 1 else words[0]
    is_script = _SCRIPT.fullmatch(first.strip("\"'"))
    at_hand = is_script and any(
        runner.sources.exists(posixpath.normpath(posixpath.join(folder, is_script[0].lstrip("/"))))
        for folder in above(runner.path)
    )
    if is_script and experiments and not at_hand and (given or "$" not in own):
        return f"{is_script['name']} is not at hand, and may start {given or experiments[0][1]}"
    if given is not None and _SPEAKS_OF_TRAINING.search(own) and not may_start(posixpath.basename(words[0])):
        return f"the launch of {given} goes through `{posixpath.basename(words[0])}`, which is not followed"
    return ""


def _is_message(script: Script, node: Node) -> bool:
    """Tell whether a command is given texts alone, as `log "starting …"` is."""
    texts = [script.source(each) for each in node.children_by_field_name("argument")]
    return all(each[0] in "\"'" and " " in each and ".py" not in each for each in texts)


def _words_of(launch: ShellLaunch | None) -> str:
    return "" if launch is None else " ".join(map(plain, (launch.started.program, *launch.started.arguments)))


def _reason(script: Script, node: Node, launch: ShellLaunch | None, runner: ScriptRunner, place: Span) -> str:
    named = node.child_by_field_name("name")
    name = posixpath.basename(script.source(named)) if named is not None else ""
    if launch is not None:
        return _reason_of_launch(launch, runner)
    if name == "eval" and place in runner.followed:
        return "the command that `eval` is given is not known"
    if name in BUILTINS or STARTS_NOTHING.fullmatch(name):
        return ""
    if place not in runner.followed:
        return "no way that is followed leads to this launch"
    if re.fullmatch(r"\w[\w.-]*", name) and not may_start(name) and not _is_message(script, node):
        return f"the launch goes through `{name}`, which is not followed"
    if name.strip("\"'")[:1] in ("$", HOLE) and _SHARDS.search(script.source(node)):
        return "the program that this command starts is not known"
    return ""


def _reason_of_launch(launch: ShellLaunch, runner: ScriptRunner) -> str:
    at_hand = program_of(launch, runner.path, runner.sources)
    if at_hand is not None:
        text = runner.sources.text_or_none(at_hand)
        is_told = shards(launch) and text is not None and not trains_nothing(text)
        return f"{at_hand} makes no configuration that is known" if is_told else ""
    program = posixpath.basename(plain(launch.started.program))
    if has_open_words(launch):
        return why_open(launch)
    return f"{program} is not at hand, and its words give no settings of Megatron"


def why_open(launch: ShellLaunch) -> str:
    """Return the reason why nothing is judged of a launch with open words."""
    return f"the words that {posixpath.basename(plain(launch.started.program))} is given are not known"


def shards(launch: ShellLaunch) -> bool:
    """Tell whether a launch is given one of Megatron's own switches."""
    return _SHARDS.search(_words_of(launch)) is not None


def has_open_words(launch: ShellLaunch) -> bool:
    """Tell whether a program is given words of which nobody knows how many they are."""
    return any(HOLE in plain(word) and any(piece.splits for piece in word) for word in launch.started.arguments)
