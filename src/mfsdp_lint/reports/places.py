"""Places of findings in the terms of reports' readers: cells or lines of a notebook, paths of the repository, URIs."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from mfsdp_lint.core.files import RULES
from mfsdp_lint.core.finding import Finding
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Obstacle, Origin, Recipe, Setting, Settings, Span, Unfollowed, Variant
from mfsdp_lint.core.records import replace
from mfsdp_lint.core.settings import Layer
from mfsdp_lint.inputs.notebooks import NoNotebook, Notebook, read_notebook
from mfsdp_lint.inputs.sources import NOTEBOOK, Problem, Sources, Unreadable


def in_repository(path: str, directory: str) -> str:
    """Return a path relative to the root of the repository; `directory` is where the tool runs, relative to that."""
    return posixpath.normpath(posixpath.join(directory, path.replace(os.sep, "/")))


def uri(path: str, directory: str = "") -> str:
    """Return a reference relative to the root of the repository; for an absolute path, a `file` URI."""
    from urllib.parse import quote

    where = in_repository(path, directory)
    quoted = quote(where.encode("utf-8", "surrogateescape"))
    return f"file://{quoted}" if posixpath.isabs(where) else quoted


@cache
def rule_page(code: str, *, local: bool = False) -> str:
    """Return the address of a rule's page; "" where none is known.

    The installed package names its documentation (`Project-URL: Documentation`). With `local`, a checkout's own page is
    taken where there is one.
    """
    if not _HAS_PAGE.fullmatch(code):
        return ""
    page = os.path.join(os.path.dirname(RULES), "docs", "rules", f"{code}.md")
    if local and os.path.isfile(page):
        return uri(page)
    base = documentation()
    return f"{base}/rules/{code}/" if base else ""


_HAS_PAGE = lazy_pattern(r"MFSDP\d{3}")


@cache
def documentation() -> str:
    """Return the address of the documentation that the installed package names; "" if it names none."""
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        urls = metadata("mfsdp-lint").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    named = (url.partition(", ") for url in urls)
    return next((address.rstrip("/") for name, _, address in named if name == "Documentation"), "")


CELL = ":cell "
"""Between the file and the number of a cell, which counts from 1 and all cells."""

Move = Callable[[Span], Span]


def in_cells(findings: Sequence[Finding], sources: Sources) -> tuple[Finding, ...]:
    """Move the findings' places to `notebook.ipynb:cell 3`, line 5; other files stay as they are."""
    return tuple(_moved(finding, _into_cells(sources)) for finding in findings)


def in_files(findings: Sequence[Finding], sources: Sources) -> tuple[Finding, ...]:
    """Move the findings to lines and columns of the file."""
    return tuple(_moved(finding, _into_files(sources)) for finding in findings)


def recipes_in_cells(recipes: Iterable[Recipe], sources: Sources) -> list[Recipe]:
    """Move the recipes' places into cells, as findings have them for people."""
    return [_recipe(recipe, _into_cells(sources), sources) for recipe in recipes]


def recipes_in_files(recipes: Iterable[Recipe], sources: Sources) -> list[Recipe]:
    """Move the recipes to lines and columns of the file."""
    return [_recipe(recipe, _into_files(sources), sources) for recipe in recipes]


def unfollowed_in_files(unfollowed: Iterable[Unfollowed], sources: Sources) -> list[Unfollowed]:
    """Move code without a recipe to lines and columns of the file."""
    move = _into_files(sources)
    return [
        replace(
            each,
            line=line_in_file(each.path, each.line, sources),
            span=each.span and move(each.span),
            focus=each.focus and move(each.focus),
        )
        for each in unfollowed
    ]


def problems_in_files(problems: Iterable[Problem], sources: Sources) -> list[Problem]:
    """Move problems to lines and columns of the file."""
    move = _into_files(sources)
    moved = ((each, move(Span(each.path, each.line, each.column, each.line, each.column))) for each in problems)
    return [replace(each, line=span.line, column=span.column) for each, span in moved]


def line_in_file(path: str, line: int, sources: Sources) -> int:
    """Convert a line of the text that is read of a file to the file's own line."""
    notebook = _notebook(path, sources)
    return line if notebook is None else notebook.line_in_file(line)


def document_in_files(document: Any, sources: Sources) -> Any:
    """Move all places of a JSON document, those with `path` and `line`, to lines and columns of the file."""
    if isinstance(document, list):
        return [document_in_files(each, sources) for each in document]
    if not isinstance(document, dict):
        return document
    moved = {key: document_in_files(each, sources) for key, each in document.items()}
    if not (isinstance(moved.get("path"), str) and "line" in moved):
        return moved
    line, column = moved["line"], moved.get("column", 1)
    end_line, end_column = moved.get("end_line", line), moved.get("end_column", column)
    span = _into_files(sources)(Span(moved["path"], line, column, end_line, end_column))
    return moved | {key: getattr(span, key) for key in moved.keys() & {"line", "column", "end_line", "end_column"}}


def text_of(path: str, sources: Sources) -> str | None:
    """Read the text of a file, or of a cell; None if it cannot be read."""
    file, _, cell = path.rpartition(CELL)
    if not (file.endswith(NOTEBOOK) and cell.isdecimal()):
        return sources.text_or_none(path)
    notebook = _notebook(file, sources)
    return None if notebook is None else notebook.text_of(int(cell))


def _moved(finding: Finding, move: Move) -> Finding:
    silenced = finding.suppressed
    return replace(
        finding,
        span=move(finding.span),
        handed_on=finding.handed_on and move(finding.handed_on),
        related=tuple(replace(note, span=move(note.span)) for note in finding.related),
        suppressed=silenced and replace(silenced, span=move(silenced.span)),
    )


class _Moved(Layer):
    """Settings whose origins have other places."""

    __slots__ = ("_move",)

    def __init__(self, below: Settings, move: Move) -> None:
        super().__init__(below)
        self._move = move

    def get(self, path: str) -> Setting | None:
        found = self.below.get(path)
        return found and replace(found, origin=found.origin and _origin(found.origin, self._move))

    def obstacle(self, path: str) -> Obstacle | None:
        found = self.below.obstacle(path)
        return found and replace(found, span=self._move(found.span))

    def history(self, path: str) -> list[tuple[str, Origin]]:
        return [(written, _origin(origin, self._move)) for written, origin in self.below.history(path)]


def _recipe(recipe: Recipe, move: Move, sources: Sources) -> Recipe:
    if _notebook(recipe.path, sources) is None:
        return recipe  # its imports are no notebooks either: nobody imports one

    def moved(variants: Sequence[Variant]) -> tuple[Variant, ...]:
        return tuple(replace(each, settings=_Moved(each.settings, move)) for each in variants)

    here = move(Span(recipe.path, recipe.line, 1, recipe.line, 1))
    return replace(
        recipe, path=here.path, line=here.line, variants=moved(recipe.variants), exposed=moved(recipe.exposed)
    )


def _origin(origin: Origin, move: Move) -> Origin:
    return replace(
        origin,
        span=move(origin.span),
        focus=origin.focus and move(origin.focus),
        calls=tuple(replace(call, span=move(call.span)) for call in origin.calls),
        sources=tuple(replace(source, span=move(source.span)) for source in origin.sources),
        obstacle=origin.obstacle and replace(origin.obstacle, span=move(origin.obstacle.span)),
    )


def _into_cells(sources: Sources) -> Move:
    def move(span: Span) -> Span:
        notebook = _notebook(span.path, sources)
        found = notebook and notebook.in_cell(span)
        return replace(found[1], path=f"{span.path}{CELL}{found[0]}") if found else span

    return move


def _into_files(sources: Sources) -> Move:
    def move(span: Span) -> Span:
        notebook = _notebook(span.path, sources)
        return notebook.in_file(span) if notebook else span

    return move


def _notebook(path: str, sources: Sources) -> Notebook | None:
    """Read the notebook at a path; None if there is none that can be read."""
    if not path.endswith(NOTEBOOK):
        return None
    try:
        return read_notebook(sources.as_it_is(path))
    except (Unreadable, NoNotebook):
        return None
