"""Write the fixed files: each whole, those that one fix changes together, and nobody's own change lost."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.fixes.apply import Fixed
from mfsdp_lint.fixes.prove import Proved
from mfsdp_lint.inputs.faults import Faults, contained
from mfsdp_lint.inputs.sources import Sources, Unreadable
from mfsdp_lint.inputs.writing import CHANGED, NotWritten, check_writable, remove_unfinished, replace_file


@dataclass(frozen=True, slots=True)
class Written:
    """The texts that are on disk now, the fixes that are in them, and which files were left, each with the reason.

    `number` is how many of the findings that there were at first these fixes are for, `repaired` how many of those
    say that start-up refuses the run.
    """

    texts: Mapping[str, str]
    fixed: tuple[Proved, ...]
    number: int
    repaired: int
    left: tuple[str, ...]


def not_writable(texts: Mapping[str, str], sources: Sources) -> dict[str, str]:
    """Return the files that these texts cannot be written to, with the reasons; callers ask before the first write."""
    return {path: reason for path, text in texts.items() if (reason := _hindrance(path, text, sources))}


def remove_leftovers(paths: Iterable[str]) -> None:
    """Remove the files that killed runs left beside these files."""
    remove_unfinished({os.path.dirname(os.path.realpath(path)) for path in paths})


def write(fixed: Fixed, sources: Sources, faults: Faults | None = None) -> Written:
    """Write the new texts, group by group; a group of which one file cannot be written is left as it was."""
    texts: dict[str, str] = {}
    left: list[str] = []
    for group in _groups(fixed):
        failed: tuple[str, str] | None = (group[0], "a fault of the linter's own")
        with contained(faults, group[0]):
            failed = _write_group(group, fixed.texts, sources)
        if failed is None:
            texts |= {path: fixed.texts[path] for path in group}
            continue
        left += _left_of(group, *failed)
    on_disk = tuple(proved for proved in fixed.fixed if _paths(proved) <= texts.keys())
    removed = {proved.request.key: proved.request.stops for proved in on_disk if proved.request.key in fixed.asked}
    return Written(texts, on_disk, len(removed), sum(removed.values()), tuple(left))


def _groups(fixed: Fixed) -> list[list[str]]:
    """Group the changed files: files that one fix changes together are one group."""
    group_of = {path: {path} for path in fixed.texts}
    for proved in fixed.fixed:
        together = set().union(*(group_of[path] for path in _paths(proved)))
        group_of |= dict.fromkeys(together, together)
    return sorted({id(group): sorted(group) for group in group_of.values()}.values())


def _paths(proved: Proved) -> set[str]:
    return {edit.span.path for edit in proved.edits}


def _write_group(group: Collection[str], texts: Mapping[str, str], sources: Sources) -> tuple[str, str] | None:
    """Write a group of files.

    Returns the file that could not be written, and why; then the others are restored. Returns None where all are
    written.
    """
    done: list[str] = []
    for path, reason in not_writable({path: texts[path] for path in group}, sources).items():
        return path, reason
    for path in group:
        try:
            replace_file(path, sources.encode(path, texts[path]), partial(sources.still_on_disk, path))
        except (OSError, Unreadable) as error:
            _restore(done, texts, sources)
            return path, _reason(error)
        except Exception:
            _restore(done, texts, sources)
            raise
        done.append(path)
    return None


def _restore(paths: Iterable[str], texts: Mapping[str, str], sources: Sources) -> None:
    """Take back what was written a moment ago, unless somebody has changed it since."""
    for path in paths:
        old = sources.encode(path, sources.text(path))
        try:
            replace_file(path, old, partial(_holds, path, texts[path]))
        except OSError:
            continue


def _holds(path: str, text: str) -> bool:
    return Sources().text_or_none(path) == text


def _hindrance(path: str, text: str, sources: Sources) -> str:
    try:
        check_writable(path)
        sources.encode(path, text)
    except (OSError, Unreadable) as error:
        return _reason(error)
    return "" if sources.still_on_disk(path) else CHANGED


def _reason(error: OSError | Unreadable) -> str:
    if isinstance(error, Unreadable):
        return error.message
    return str(error) if isinstance(error, NotWritten) else error.strerror or str(error)


def _said(path: str, reason: str, tried: bool = True) -> str:
    return f"{path}: {'not written' if tried else 'would not be written'}: {reason}"


def left(blocked: Mapping[str, str], *, tried: bool = True) -> Iterator[str]:
    """Say of each of these files that it is not written, or would not be where nothing was to be written."""
    return (_said(path, reason, tried) for path, reason in sorted(blocked.items()))


def patch(texts: Mapping[str, str], sources: Sources) -> bytes:
    """Return the patch that makes these texts out of those that the sources have."""
    from mfsdp_lint.fixes.edits import make_patch

    encode, now = sources.encode, sources.text
    return make_patch((path, encode(path, now(path)), encode(path, text)) for path, text in sorted(texts.items()))


def write_texts(texts: Mapping[str, str], sources: Sources) -> tuple[str, ...]:
    """Write new texts that belong together, all or none of them. Return a line for each file that was left."""
    failed = _write_group(sorted(texts), texts, sources)
    return () if failed is None else tuple(_left_of(sorted(texts), *failed))


def _left_of(group: Iterable[str], failed: str, reason: str) -> Iterator[str]:
    """Say of each file of a group why it is not written: one of them could not be."""
    yield _said(failed, reason)
    yield from (_said(path, f"what it needs in {failed} was not written") for path in group if path != failed)
