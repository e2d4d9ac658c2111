"""A document as it is typed: what is found in it, and what its recipes say."""

from __future__ import annotations

from collections.abc import Callable

from mfsdp_lint.core.finding import Finding
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.engine.read import question, read
from mfsdp_lint.engine.run import run
from mfsdp_lint.inputs.configuration import read_configuration
from mfsdp_lint.inputs.options import Options, UsageError, merge
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions.target import Target
from mfsdp_lint.reports.cells import in_files, recipes_in_files


@dataclass(frozen=True, slots=True)
class Document:
    """The text of a file in an editor, and the editor's number of its state."""

    path: str
    text: str
    version: int | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """Findings in one state of a document; `problem` says why there could be none."""

    path: str
    text: str
    version: int | None
    findings: tuple[Finding, ...]
    text_of: Callable[[str], str | None]
    problem: str = ""


def check(document: Document) -> Checked:
    """Check a document, with its imports as they are on disk. Silenced findings are left out."""
    try:
        outcome = run(replace(_options(document), show_fixes=True))
    except UsageError as error:
        return Checked(document.path, document.text, document.version, (), lambda _: None, str(error))
    mine = [each for each in outcome.findings if each.span.path == document.path and each.suppressed is None]
    found = in_files(mine, outcome.sources)
    return Checked(document.path, document.text, document.version, found, outcome.written)


def recipes(document: Document) -> tuple[tuple[Recipe, ...], Target, Sources]:
    """Read the recipes of a document, with the calls that led to each value. Raises UsageError."""
    asked, _ = question(_options(document))
    sources = Sources({**asked.command_line.texts, document.path: document.text})
    found = read(asked, sources, tracing=True).recipes
    return tuple(recipes_in_files(found, sources)), asked.target, sources


def _options(document: Document) -> Options:
    """Build the command line's options for one text. Raises UsageError."""
    quiet = {"fix": False, "fix_only": False, "diff": False, "cache": False, "update_baseline": False}
    return merge({"paths": (document.path,), "stdin": document.text, **quiet}, read_configuration())
