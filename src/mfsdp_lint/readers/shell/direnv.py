"""`.envrc`: the variables that direnv exports to what is started in a folder (direnv.net, man/direnv.1.md).

The file is a script for bash. It is followed from behind the last function of direnv's library that takes variables
from elsewhere: what stands in front of that may have another value in the end.
"""

from __future__ import annotations

import posixpath
import re
from itertools import pairwise

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs.projects import above
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.shell.launch_command import path_of
from mfsdp_lint.readers.shell.run import ScriptRunner, TooMuch
from mfsdp_lint.readers.shell.script import Script, Text, known, located, of_file, plain
from mfsdp_lint.readers.shell.state import State, Variable

_FILE = ".envrc"
_TAKES_OTHERS = lazy_pattern(
    r"^[ \t]*(?:source_\w+|dotenv\w*|use|layout|load_prefix|direnv_load|env_vars_required)\b.*\n?", re.MULTILINE
)


def variables_of_direnv(path: str, sources: Sources) -> dict[str, Variable]:
    """Return the variables that the nearest `.envrc` beside or above a script exports, where their values are known."""
    places = (posixpath.join(folder, _FILE) for folder in above(path))
    place = next((each for each in places if sources.exists(each)), "")
    text = sources.text_or_none(place) if place else None
    if not text or "export" not in text:
        return {}
    start = max((found.end() for found in _TAKES_OTHERS.finditer(text)), default=0)
    runner = ScriptRunner(place, sources)
    try:
        ended = runner.script(Script((of_file(place, text)[0].cut(start, len(text)),)), State())
    except (TooMuch, RecursionError):
        return {}
    first, *others = [each.state.environment() for each in ended] or [{}]
    return {
        name: each
        for name, each in first.items()
        if each.text is not None and all(_is_alike(each, other.get(name)) for other in others)
    }


def with_exports_of_direnv(words: list[Text], script: str, sources: Sources, folder: str | None) -> list[Text]:
    """Return `direnv exec FOLDER COMMAND …` as the command with the variables that it is given (direnv(1)); as it is,
    where the `.envrc` of the folder is not at hand.
    """
    called = (number for number, pair in enumerate(pairwise(words)) if [*map(known, pair)] == ["direnv", "exec"])
    at = next(called, len(words))
    place = located(words[at + 2]) if at + 3 < len(words) else None
    path = None if place is None else path_of(posixpath.join(place, _FILE), script, sources, folder)
    if path is None:
        return words
    exported = ((name, each.text) for name, each in variables_of_direnv(path, sources).items())
    given = [(replace(words[at][0], text=f"{name}="), *text) for name, text in exported if text is not None]
    return [*words[:at], (replace(words[at][0], text="env"),), *given, *words[at + 3 :]]


def _is_alike(variable: Variable, other: Variable | None) -> bool:
    return other is not None and other.text is not None and plain(other.text) == plain(variable.text or ())
