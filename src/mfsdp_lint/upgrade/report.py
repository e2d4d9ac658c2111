"""An upgrade as text, by urgency: what breaks, what changes silently, what is found differently, what else it wants.

And for programs, as JSON. Every key is always there; version 1 only gains keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from mfsdp_lint.core.finding import Finding
from mfsdp_lint.core.values import describe
from mfsdp_lint.megatron.versions import Target, nearest
from mfsdp_lint.megatron.versions.releases import CONTAINERS, Container
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.reports.json import finding_document, span_document, target_document, value_document
from mfsdp_lint.reports.wording import clipped, count
from mfsdp_lint.upgrade.breaks import Break
from mfsdp_lint.upgrade.changes import Cause, Change
from mfsdp_lint.upgrade.run import Upgrade

SHOWN = 20
"""Lines of a part that are printed without `--all`."""

_LONGEST = 60
_NAMED = 5

CAUSES: dict[Cause, str] = {
    "files": "follows from your own files, which decide otherwise under the other release",
    "default": "a default that upstream declares is another",
    "recipe": "a recipe of the library, or a helper of it, sets another value",
    "start-up": "written alike, and start-up makes it another",
}


def render(found: Upgrade, *, written: bool, pin: bool, every: bool = False) -> Iterator[str]:
    """Yield the report, line by line."""
    yield f"{found.old.label} → {found.new.label}: {count(found.files, 'file')}, {count(found.recipes, 'recipe')}"
    shown = None if every else SHOWN
    yield from _part(f"breaks: {len(found.breaks)}", _breaks(found), shown)
    settings = count(len(found.changes), "setting") if found.changes else "nothing"
    same = f"{found.compared.equal} settings of {count(found.compared.recipes, 'recipe')} are equal"
    yield from _part(f"changes silently: {settings}; {same}", _changes(found.changes), shown)
    yield from _part("the same under another name", _moved(found), shown)
    undecided = (f"{path}, {count(number, 'recipe')}" for path, number in sorted(found.compared.undecided.items()))
    yield from _part("not known in one of the releases, or in both", undecided, shown)
    yield from _part(f"findings that are new: {len(found.appeared)}", _findings(found.appeared), shown)
    yield from _part(f"findings that are gone: {len(found.gone)}", _findings(found.gone), shown)
    yield from _part("the new release wants", (f"{name} {new} (was {old})" for name, old, new in wanted(found)), shown)
    yield ""
    files = count(len(found.texts), "file")
    pins = sum(found.pinned.values())
    if not found.texts:
        yield "nothing can be edited" if found.breaks or found.changes else "nothing has to be edited"
    elif written:
        yield f"{files} changed" + (f", {count(pins, 'setting')} pinned to the old value" if pins else "")
    else:
        yield f"{files} would change (--write does it, --diff shows it)" + (
            f", {count(pins, 'setting')} pinned" if pins else ""
        )
    if found.changes and not pin:
        yield "--pin writes the old values, so that the recipes train as before"
    for key, reason in sorted(found.not_pinned.items()):
        yield f"not pinned: {key}: {reason}"


def _part(title: str, lines: Iterable[str], shown: int | None) -> Iterator[str]:
    rows = list(lines)
    if not rows:
        return
    yield ""
    yield title
    heads = [number for number, row in enumerate(rows) if not row.startswith("    ")]
    end = len(rows) if shown is None or len(heads) <= shown else heads[shown]
    yield from (f"  {row}" for row in rows[:end])
    if end < len(rows):
        yield f"  and {len(heads) - (shown or 0)} more (--all)"


def _breaks(found: Upgrade) -> Iterator[str]:
    for each in found.breaks:
        yield f"{each.span.path}:{each.span.line}:{each.span.column}: {each.message}{instead_of(each)}"
        if each.reason:
            yield f"    {each.reason}"
        if each.recipes:
            yield f"    stops {', '.join(each.recipes[:_NAMED])}{' and others' if len(each.recipes) > _NAMED else ''}"
        for candidate in each.candidates if not each.successor else ():
            said = f": {'; '.join(candidate.differs)}" if candidate.differs else ""
            yield f"    perhaps {'.'.join(candidate.name)}{clipped(said, 2 * _LONGEST)}"


def instead_of(found: Break) -> str:
    """Say what took the place of what is gone; "" where that is not known."""
    if not found.successor:
        return ""
    if found.kind == "argument":
        return f"; {found.successor}" if found.successor.startswith("no ") else f"; it is {found.successor}"
    return f"; it is {found.successor} now"


def _changes(changes: Sequence[Change]) -> Iterator[str]:
    cause = None
    for each in changes:
        if each.cause != cause:
            cause = each.cause
            yield f"  ({CAUSES[cause]})"
        old, new = (clipped(describe(value), _LONGEST) for value in (each.old, each.new))
        yield f"{each.path}: {old} → {new}, {count(len(each.recipes), 'recipe')}{_place(each)}"
        if (meaning := meaning_of(each.path)) is not None:
            yield f"    {meaning}"
        if len(each.recipes) == 1:
            yield f"    {each.recipes[0]}"


def _place(change: Change) -> str:
    if not change.places:
        return ""
    (old, new), *more = change.places
    others = f" and {count(len(more), 'other place')}" if more else ""
    return f" ({old} → {new}{others})"


def _moved(found: Upgrade) -> Iterator[str]:
    for old, new in sorted(found.compared.moved.items()):
        if not old.startswith("model.") or new != f"model.transformer.{old.partition('.')[2]}":
            yield f"{old} → {new}"


def meaning_of(path: str) -> str | None:
    """Say what a setting means; None where the vocabulary does not."""
    entry = table().entry(path)
    return None if entry is None else entry.meaning


def _findings(findings: Sequence[Finding]) -> Iterator[str]:
    for each in findings:
        yield f"{each.span.path}:{each.span.line}: {each.severity}[{each.code}]: {each.message}"


def wanted(found: Upgrade) -> Iterator[tuple[str, str, str]]:
    """Yield what else the new release goes with, by name, with the old and the new version; what is known in both.

    Transformer Engine is what upstream's uv.lock pins; PyTorch is that of the container.
    """
    old, new = _container(found.old), _container(found.new)
    for name, before, after in (
        ("megatron-core", found.old.core, found.new.core),
        ("Transformer Engine", nearest(found.old.bridge).te, nearest(found.new.bridge).te),
        ("PyTorch", old and old.torch, new and new.torch),
        ("container nvcr.io/nvidia/nemo", old and old.tag, new and new.tag),
    ):
        if before and after and before != after:
            yield name, before, after


def _container(target: Target) -> Container | None:
    return next((each for each in reversed(CONTAINERS) if each.bridge == target.bridge), None)


VERSION = 1


def document(found: Upgrade) -> dict[str, Any]:
    """Return the document of an upgrade."""
    return {
        "version": VERSION,
        "from": target_document(found.old),
        "to": target_document(found.new),
        "breaks": [_break(each) for each in found.breaks],
        "changes": [_change(each) for each in found.changes],
        "moved": dict(found.compared.moved),
        "undecided": dict(found.compared.undecided),
        "findings": {
            "new": [_finding(each) for each in found.appeared],
            "gone": [_finding(each) for each in found.gone],
        },
        "wants": [{"name": name, "old": old, "new": new} for name, old, new in wanted(found)],
        "pinned": dict(found.pinned),
        "not_pinned": dict(found.not_pinned),
        "files_to_change": sorted(found.texts),
        "summary": {
            "files": found.files,
            "recipes": found.recipes,
            "compared": found.compared.recipes,
            "equal": found.compared.equal,
        },
    }


def _break(found: Break) -> dict[str, Any]:
    return {
        "kind": found.kind,
        "what": found.what,
        "message": found.message,
        "place": span_document(found.span),
        "successor": found.successor or None,
        "candidates": [{"name": ".".join(each.name), "differs": list(each.differs)} for each in found.candidates],
        "edits": [{**span_document(each.span), "text": each.text} for each in found.edits],
        "reason": found.reason,
        "recipes": list(found.recipes),
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "setting": change.path,
        "old": value_document(change.old),
        "new": value_document(change.new),
        "cause": change.cause,
        "places": [{"old": old, "new": new} for old, new in change.places],
        "recipes": list(change.recipes),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {**finding_document(finding), "place": span_document(finding.span)}
