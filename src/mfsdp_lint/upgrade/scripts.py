"""Launch scripts: programs of Megatron-Bridge that a release renamed or lacks, modules and recipes asked for by name.

paths.json has what each release renamed, as git tells it, and what upstream names instead (tools/upstream_paths.py,
part of `make upstream`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.store import read_json
from mfsdp_lint.inputs import disk
from mfsdp_lint.megatron.versions.releases import steps_between
from mfsdp_lint.upgrade.breaks import Break
from mfsdp_lint.upgrade.library import Library, LibraryCall
from mfsdp_lint.upgrade.renames import is_comment
from mfsdp_lint.upgrade.successors import successor_of

SOURCE = Path(__file__).with_name("paths.json")

_PATH = lazy_pattern(r"(?<![\w.])(?:scripts|examples)/[\w./-]+\.(?:py|sh)\b")
_RECIPE = lazy_pattern(r"--recipe[= ]\s*[\"']?(\w+)")
_MODULE = lazy_pattern(r"(?<=-m)\s+(megatron\.bridge(?:\.\w+)+)")


def script_breaks(path: str, text: str, old: Library, new: Library) -> Iterator[Break]:
    """Yield the programs of the old release that a launch script starts and the new one lacks."""
    lines = Lines(text)
    moved = _moved(old.target.data, new.target.data)
    for found in _PATH.finditer(text):
        # A file of the project's own is not upstream's.
        if found[0] not in moved or disk.exists(found[0]) or is_comment(text, found.start()):
            continue
        successor = moved[found[0]]
        span = lines.span(path, *found.span())
        message = f"{found[0]} is gone from Megatron-Bridge"
        if isinstance(successor, str):
            yield Break("script", span, found[0], message, successor, edits=(Edit(span, successor),))
        elif len(successor) == 1:
            reason = "upstream's own files name it instead; it is another program"
            yield Break("script", span, found[0], message, successor[0], reason=reason)
        else:
            named = f", but upstream's own files name {', '.join(successor)}" if successor else ""
            reason = f"no file of the new release has its text{named}"
            yield Break("script", span, found[0], message, reason=reason)
    yield from _recipe_breaks(path, text, old, new)
    for found in _MODULE.finditer(text):
        if old.has(found[1]) and not new.has(found[1]) and not is_comment(text, found.start()):
            what = f"module {found[1]}"
            yield Break(
                "script",
                lines.span(path, *found.span(1)),
                what,
                f"{what} is gone",
                reason="nothing is known to start instead",
            )


def _recipe_breaks(path: str, text: str, old: Library, new: Library) -> Iterator[Break]:
    """Yield the recipes of the library that a script names and the new release lacks, each with its successor."""
    lines = Lines(text)
    for found in _RECIPE.finditer(text):
        places = [] if is_comment(text, found.start()) or new.defining(found[1]) else old.defining(found[1])
        if len(places) != 1:
            continue
        succession = successor_of(LibraryCall(places[0]), old, new, places[0][0])
        span = lines.span(path, *found.span(1))
        message = f"{'.'.join(places[0])} is gone"
        if succession.successor is None:
            reason = succession.why or "nothing in the new release is known to have taken its place"
            yield Break("script", span, found[1], message, candidates=succession.candidates, reason=reason)
            continue
        name = succession.successor[1]
        yield Break("script", span, found[1], message, name, edits=(Edit(span, name),), reason=succession.why)


Successor = str | list[str]
"""The path of a renamed file; else those that upstream's own files name in its place, none where they name none."""


def _moved(old: str, new: str) -> dict[str, Successor]:
    """Return the paths that are gone between two releases, over all releases between them; renames back as well."""
    steps = _steps()
    found: dict[str, Successor] = {}
    for pair in pairwise(steps_between(old, new)):
        step = steps[pair] if pair in steps else _back(steps[pair[1], pair[0]])
        found = {path: _after(there, step) for path, there in found.items()}
        found |= {path: there for path, there in step.items() if path not in found}
    return found


def _after(there: Successor, step: Mapping[str, Successor]) -> Successor:
    if isinstance(there, str):
        return step.get(there, there)
    further = [step.get(each, each) for each in there]
    return [path for each in further for path in ([each] if isinstance(each, str) else each)]


def _back(step: Mapping[str, Successor]) -> dict[str, Successor]:
    return {now: then for then, now in step.items() if isinstance(now, str)}


@cache
def _steps() -> Mapping[tuple[str, str], Mapping[str, Successor]]:
    """Return what each release renamed, by the names of the release before it and of its own, oldest first."""
    data: Mapping[str, Mapping[str, Successor]] = read_json(SOURCE)
    return {(old, new): names for (old, new), names in ((step.split(" "), names) for step, names in data.items())}
