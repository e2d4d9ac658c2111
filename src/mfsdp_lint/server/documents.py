"""A document as it is typed: its findings and their fixes, and the settings that its places name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from lsprotocol import types

from mfsdp_lint.core.finding import Edit, Finding, Severity
from mfsdp_lint.core.lines import split_lines
from mfsdp_lint.core.recipe import Origin, Recipe, Span
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.values import describe
from mfsdp_lint.engine.read import question, read
from mfsdp_lint.engine.run import run
from mfsdp_lint.inputs.configuration import read_configuration
from mfsdp_lint.inputs.options import Options, UsageError, merge
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.startup.resolve import resolve
from mfsdp_lint.megatron.versions.target import Target
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.megatron.vocabulary.tables import find
from mfsdp_lint.reports.explain import render_setting
from mfsdp_lint.reports.places import in_files, recipes_in_files
from mfsdp_lint.reports.why import stories
from mfsdp_lint.reports.wording import remarks
from mfsdp_lint.rules.about_files import UNUSED_COMMENT
from mfsdp_lint.rules.selection import rules_about


@dataclass(frozen=True, slots=True)
class OpenDocument:
    """The text of a file in an editor, and the editor's number of its state."""

    path: str
    text: str
    version: int | None = None


@dataclass(frozen=True, slots=True)
class CheckedDocument:
    """Findings in one state of a document; `problem` says why there could be none."""

    document: OpenDocument
    findings: tuple[Finding, ...] = ()
    text_of: Callable[[str], str | None] = lambda _: None
    problem: str = ""


def check(document: OpenDocument) -> CheckedDocument:
    """Check a document, with its imports as they are on disk. Silenced findings are left out."""
    try:
        outcome = run(replace(_options(document), show_fixes=True))
    except UsageError as error:
        return CheckedDocument(document, problem=str(error))
    mine = [each for each in outcome.findings if each.span.path == document.path and each.suppressed is None]
    return CheckedDocument(document, in_files(mine, outcome.sources), outcome.written)


def recipes_of(document: OpenDocument) -> tuple[tuple[Recipe, ...], Target, Sources]:
    """Read the recipes of a document, with the calls that led to each value. Raises UsageError."""
    asked, _ = question(_options(document))
    sources = Sources({**asked.command_line.texts, document.path: document.text})
    found = read(asked, sources, tracing=True).recipes
    return tuple(recipes_in_files(found, sources)), asked.target, sources


def _options(document: OpenDocument) -> Options:
    """Build the command line's options for one text. Raises UsageError."""
    quiet = {"fix": False, "fix_only": False, "diff": False, "cache": False, "update_baseline": False}
    return merge({"paths": (document.path,), "stdin": document.text, **quiet}, read_configuration())


SOURCE = "mfsdp-lint"

_SEVERITIES: dict[Severity, types.DiagnosticSeverity] = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}


def diagnostics(checked: CheckedDocument, uri_of: Callable[[str], str]) -> list[types.Diagnostic]:
    """Return the findings in the document itself."""
    return [_diagnostic(finding, checked, uri_of) for finding in checked.findings]


def quick_fixes(checked: CheckedDocument, asked: types.Range, uri: str) -> Iterator[types.CodeAction]:
    """Yield the proved fixes of the findings in a range. A fix that has edits in other files is not offered here."""
    document = checked.document
    for finding in checked.findings:
        fix = finding.fix
        if fix is None or not fix.edits or not _touch(range_of(finding.span, document.text), asked):
            continue
        if any(edit.span.path != document.path for edit in fix.edits):
            continue
        edits = [types.TextEdit(range_of(edit.span, document.text), edit.text) for edit in fix.edits]
        identifier = types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=document.version)
        why = f": {fix.why}" if fix.why else ""
        yield types.CodeAction(
            title=f"{finding.code}: {_said(fix.edits)} ({fix.safety} fix, proved{why})",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[_diagnostic(finding, checked, lambda path: path)],
            is_preferred=fix.safety == "safe",
            edit=types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(identifier, edits)]),
        )


def _diagnostic(finding: Finding, checked: CheckedDocument, uri_of: Callable[[str], str]) -> types.Diagnostic:
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(uri_of(note.span.path), range_of(note.span, text)), note.message
        )
        for note in finding.related
        if (text := checked.text_of(note.span.path)) is not None
    ]
    return types.Diagnostic(
        range=range_of(finding.span, checked.document.text),
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        source=SOURCE,
        message="\n".join([finding.message, *remarks(finding)]),
        related_information=related,
        tags=[types.DiagnosticTag.Unnecessary] if finding.code == UNUSED_COMMENT else [],
    )


def _touch(one: types.Range, other: types.Range) -> bool:
    def key(position: types.Position) -> tuple[int, int]:
        return position.line, position.character

    return key(one.start) <= key(other.end) and key(other.start) <= key(one.end)


def _said(edits: Sequence[Edit]) -> str:
    if len(edits) > 1:
        return f"change {len(edits)} places"
    text = edits[0].text.strip()
    if "\n" in text:
        return "change these lines"
    return f"write {text}" if text else "take it out"


_WORD = re.compile(r"-{0,2}[A-Za-z_][\w.-]*")
_KEY = re.compile(r"(?P<indent>[ ]*)(?P<key>[A-Za-z_][\w.]*):(?P<rest>.*)")

_MOST_RECIPES = 5


def setting_at(text: str, line: int, column: int) -> str | None:
    """Find the path of the setting that is named at a line and column (from 1); None if there is none, or several.

    In YAML the keys above count, in Python the names before the last dot.
    """
    lines = split_lines(text)
    if line > len(lines):
        return None
    word = next((each for each in _WORD.finditer(lines[line - 1]) if each.start() < column <= each.end() + 1), None)
    if word is None:
        return None
    names = ".".join([*_sections(lines, line), word.group()]).split(".")
    for length in (3, 2, 1):
        if len(names) >= length:
            found = find(".".join(names[-length:]), table()).entries
            if len(found) == 1:
                return found[0].path
    return None


def setting_text(path: str, recipes: Sequence[Recipe], target: Target) -> str:
    """Describe a setting in Markdown, with its written and final value in each recipe and the way there."""
    lines = [line for recipe in recipes[:_MOST_RECIPES] for line in _in_recipe(path, recipe, target)]
    if len(recipes) > _MOST_RECIPES:
        lines.append(f"- and {len(recipes) - _MOST_RECIPES} more recipes")
    entry = render_setting(table().entries[path], table(), rules_about(path))
    return "\n".join([*lines, "", "```text", entry.rstrip(), "```"])


def setting_origins(path: str, recipes: Sequence[Recipe]) -> list[Origin]:
    """Return the places where the recipes set it, each once."""
    found = (variant.origin(path) for recipe in recipes for variant in recipe.variants)
    return list({origin.point: origin for origin in found if origin is not None}.values())


def choices(text: str, line: int) -> list[tuple[str, str]]:
    """List possible texts in YAML at a line, with their meanings: values of its key, else keys of its section."""
    lines = split_lines(text)
    here = lines[line - 1] if line <= len(lines) else ""
    sections = _sections(lines, line, here)
    known = table().entries
    if key := _KEY.match(here):
        entry = known.get(".".join([*sections, key["key"]]))
        return [(str(choice), entry.path) for choice in entry.choices] if entry else []
    prefix = ".".join(sections)
    if prefix:
        return [(each.name, each.meaning) for path, each in known.items() if path.rpartition(".")[0] == prefix]
    return [(section, "") for section in dict.fromkeys(path.partition(".")[0] for path in known if "." in path)]


def _in_recipe(path: str, recipe: Recipe, target: Target) -> Iterator[str]:
    after = [resolve(each, target, front_end=recipe.front_end).run.value(path) for each in recipe.variants]
    run = list(dict.fromkeys(map(describe, after)))
    for story in stories(recipe, path, target):
        changed = "" if run == [describe(story.value)] else f", will run {' or '.join(run)}"
        when = f" when {' or '.join(' and '.join(each) for each in story.when)}" if story.when else ""
        yield f"- **{recipe.label}**{when}: written {describe(story.value)}{changed}"
        for write in story.writes[-3:]:
            point = write.origin.point
            yield f"  - {write.origin.how} at {point.path}:{point.line}"


def _sections(lines: Sequence[str], line: int, here: str | None = None) -> list[str]:
    """Return the keys that a line of YAML lies in; none in a text that is no YAML."""
    text = lines[line - 1] if here is None else here
    indent = len(text) - len(text.lstrip(" ")) if text.strip() else len(text.rstrip("\r\n"))
    above: list[str] = []
    for each in reversed(lines[: line - 1]):
        key = _KEY.match(each)
        if key and len(key["indent"]) < indent and not key["rest"].partition("#")[0].strip():
            above.append(key["key"])
            indent = len(key["indent"])
    return above[::-1]


def range_of(span: Span, text: str) -> types.Range:
    """Return the range of a piece of a text."""
    lines = split_lines(text)

    def position(line: int, column: int) -> types.Position:
        before = lines[line - 1][: column - 1] if line <= len(lines) else ""
        return types.Position(line - 1, sum(map(_units, before)))

    return types.Range(position(span.line, span.column), position(span.end_line, span.end_column))


def column_of(text: str, position: types.Position) -> int:
    """Return the column of a position, in characters from 1."""
    lines = split_lines(text)
    if position.line >= len(lines):
        return 1
    units, column = 0, 1
    for character in lines[position.line].rstrip("\r\n"):
        if units >= position.character:
            break
        units += _units(character)
        column += 1
    return column


def _units(character: str) -> int:
    return 2 if ord(character) > 0xFFFF else 1
