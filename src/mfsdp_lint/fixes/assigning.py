"""New assignments in Python: behind a statement, in front of the `return`, or for those who turn something on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.recipe import Origin
from mfsdp_lint.fixes import lines, returned, roots, spelling
from mfsdp_lint.fixes.conditions import choice, condition
from mfsdp_lint.fixes.editor import ABSENT, Assignments, Old, Switch
from mfsdp_lint.fixes.statements import PythonFile, Scope, insert_after, insert_before, inside, loop_around
from mfsdp_lint.fixes.written import names_many, statement_of

Insert = Callable[[Sequence[str]], list[Edit] | None]
"""Puts statements in a place."""


def assign_after(file: PythonFile, anchor: Origin, setting: str, new: Assignments) -> list[Edit] | None:
    """Assign settings on the lines behind `anchor`, the statement that sets `setting`, by the same configuration.

    Behind the loop where that statement sets whatever a table says.
    """
    place = statement_of(file, anchor)
    if place is None:
        return None
    target = partial(roots.target_of, file, place, anchor, setting)
    written = [lines.line(file, path, value, target) for path, value in new]
    if names_many(place.node):
        place = loop_around(file, place) or place
    return _inserted(file, new, written, partial(insert_after, file, place))


def assign_after_where(
    file: PythonFile, anchor: Origin, setting: str, switch: Switch, new: Assignments, old: Old
) -> list[Edit] | None:
    """Assign settings on the lines behind `anchor`, each what it was (`old`, or itself) for others."""
    place, asked = statement_of(file, anchor), condition(file, switch)
    if place is None or asked is None:
        return None
    written: list[str | None] = []
    for path, value in new:
        target = lines.target(file, path, partial(roots.target_of, file, place, anchor, setting))
        if value is ABSENT:
            line = lines.line(file, path, value, partial(roots.target_of, file, place, anchor, setting))
            written.append(line and inside(file, place, f"if {asked}:", line))
        elif target is None or (path.startswith(lines.PROCESS) and path not in old):
            return None
        else:
            quote = spelling.usual_quote(file)
            otherwise = spelling.spell(old[path], quote) if path in old else target
            written.append(f"{target} = {choice(asked, spelling.spell(value, quote), otherwise)}")
    return _inserted(file, new, written, partial(insert_after, file, place))


def assign_at_end(file: PythonFile, scope: Scope, new: Assignments) -> list[Edit] | None:
    """Assign settings in front of the `return NAME` that ends a function; what it returns gets a name if need be."""

    def written(name: str) -> list[str | None]:
        return [lines.line(file, path, value, lambda path: f"{name}.{path}") for path, value in new]

    if end := roots.final_return(file, scope):
        return _inserted(file, new, written(end[1]), partial(insert_before, file, end[0]))
    if unnamed := returned.named(file, scope):
        return _inserted(file, new, written(unnamed[1]), partial(returned.assign, file, *unnamed))
    if changed := returned.given(file, scope):
        return _inserted(file, new, written(changed[1]), partial(insert_after, file, changed[0]))
    return None


def _inserted(
    file: PythonFile,
    new: Assignments,
    written: Sequence[str | None],
    insert: Insert,
) -> list[Edit] | None:
    """Insert the statements, and the import that they need; return None if one of them cannot be written."""
    known = [line for line in written if line is not None]
    if len(known) < len(written):
        return None
    edits = insert(known)
    return None if edits is None else [*lines.imports(file, new), *edits]
