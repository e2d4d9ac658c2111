"""The language server: findings, fixes and facts about settings, in an editor. Needs the extra `lsp`.

Answers are given one at a time, beside the loop that reads the editor's next question. A check takes over what the last
one of the same document found out, and proves no fix: that is done once an action is asked for at a finding.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer

from mfsdp_lint.core.finding import Finding, Severity
from mfsdp_lint.core.lines import split_lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Origin, Recipe, Span
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.values import Known, Value, describe
from mfsdp_lint.core.version import __version__
from mfsdp_lint.engine.cache import ProcessMemory, run_again
from mfsdp_lint.engine.ignore import fixed_text, with_comments
from mfsdp_lint.engine.read import question, read
from mfsdp_lint.fixes.editor import EDITORS
from mfsdp_lint.inputs.configuration import read_configuration
from mfsdp_lint.inputs.faults import described
from mfsdp_lint.inputs.options import Options, UsageError, merge
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.startup.resolve import differs, resolve
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.megatron.vocabulary.tables import find
from mfsdp_lint.process import spend_all
from mfsdp_lint.readers.registry import kind_of
from mfsdp_lint.reports.explain import render_setting
from mfsdp_lint.reports.places import in_files, recipes_in_files, rule_page
from mfsdp_lint.reports.why import stories
from mfsdp_lint.reports.wording import remarks
from mfsdp_lint.rules.about_files import FILE_CODES, UNUSED_COMMENT
from mfsdp_lint.rules.selection import rules_about


@dataclass(frozen=True, slots=True)
class OpenDocument:
    """A file's text in an editor and the number of its state. `others` are the other open texts by path."""

    path: str
    text: str
    version: int | None = None
    others: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class CheckedDocument:
    """Findings in one state of a document; `problem` says why there could be none.

    `depends_on` tells whether the check asked for a file. Fixes are possible ones where they are not `proved`.
    """

    document: OpenDocument
    findings: tuple[Finding, ...] = ()
    text_of: Callable[[str], str | None] = lambda _: None
    depends_on: Callable[[str], bool] = lambda _: False
    problem: str = ""
    proved: bool = False


def check(
    document: OpenDocument, memory: ProcessMemory, *, dependents: bool = False, prove: bool = False
) -> CheckedDocument:
    """Check a document; its imports are as the editor has them, else as on disk. Silenced findings are left out.

    `memory` is that of the last check of this kind. With `dependents`, the files that use it are checked with it; with
    `prove`, fixes are proved, as far as a budget goes. Both take longer.
    """
    try:
        options = _options(document)
        options = replace(options, dependents=dependents and options.dependents is not False)
        proofs: dict[str, Any] = {"show_fixes": None, "output_format": ("json",)} if prove else {"show_fixes": False}
        outcome = run_again(replace(options, **proofs), memory)
    except UsageError as error:
        return CheckedDocument(document, problem=str(error))
    mine = [each for each in outcome.findings if each.span.path == document.path and each.suppressed is None]
    sources = outcome.sources
    return CheckedDocument(document, in_files(mine, sources), outcome.written, sources.was_asked_for, proved=prove)


def recipes_of(document: OpenDocument) -> tuple[tuple[Recipe, ...], Target, Sources]:
    """Read the recipes of a document, with the calls that led to each value. Raises UsageError."""
    asked, _ = question(_options(document))
    sources = Sources(asked.texts)
    found = read(asked, sources, tracing=True).recipes
    return tuple(recipes_in_files(found, sources)), asked.target, sources


def _options(document: OpenDocument) -> Options:
    """Build the command line's options for one text. Raises UsageError."""
    quiet = {"fix": False, "fix_only": False, "diff": False, "cache": False, "update_baseline": False}
    texts = {"stdin": document.text, "unsaved": document.others}
    return merge({"paths": (document.path,), **texts, **quiet}, read_configuration())


SOURCE = "mfsdp-lint"

_SEVERITIES: dict[Severity, types.DiagnosticSeverity] = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}


def touches(asked: types.Range, other: types.Range) -> bool:
    """Tell whether two ranges meet."""
    ends = (asked.start, other.end), (other.start, asked.end)
    return all((one.line, one.character) <= (two.line, two.character) for one, two in ends)


def quick_fixes(checked: CheckedDocument, asked: types.Range, uri: str) -> Iterator[types.CodeAction]:
    """Yield the proved fixes of the findings in a range. A fix that has edits in other files is not offered here."""
    document = checked.document
    for finding in checked.findings:
        fix = finding.fix
        if fix is None or not fix.edits or not touches(asked, range_of(finding.span, document.text)):
            continue
        if any(edit.span.path != document.path for edit in fix.edits):
            continue
        text = fix.edits[0].text.strip()
        does = "Change these lines" if "\n" in text else f"Write `{text}`" if text else "Remove this text"
        does = does if len(fix.edits) == 1 else f"Change {len(fix.edits)} places"
        edits = [types.TextEdit(range_of(edit.span, document.text), edit.text) for edit in fix.edits]
        identifier = types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=document.version)
        yield types.CodeAction(
            title=f"{does} ({finding.code}{', unsafe' if fix.safety == 'unsafe' else ''})",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[_diagnostic(finding, checked, lambda path: path)],
            is_preferred=fix.safety == "safe",
            edit=types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(identifier, edits)]),
        )


TO_WRITE = "TODO: say why"
"""The reason in a comment that an editor writes; a person replaces it."""

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.mfsdp-lint"


def comments_to_write(checked: CheckedDocument, asked: types.Range, uri: str) -> Iterator[types.CodeAction]:
    """Yield a suppression comment for each finding in a range."""
    document = checked.document
    if kind_of(document.path) not in EDITORS:
        return
    for finding in checked.findings:
        if finding.code in FILE_CODES or not touches(asked, range_of(finding.span, document.text)):
            continue
        text = with_comments(document.path, document.text, [finding], TO_WRITE)
        if text is not None:
            yield types.CodeAction(
                title=f"Silence {finding.code} here, with a reason",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[_diagnostic(finding, checked, lambda path: path)],
                edit=_edit(document, text, uri),
            )


def _edit(document: OpenDocument, text: str, uri: str) -> types.WorkspaceEdit:
    """Return the edit of the lines in which a new text differs."""
    old, new = split_lines(document.text), split_lines(text)
    first = next(
        (at for at, (one, two) in enumerate(zip(old, new, strict=False)) if one != two), min(map(len, (old, new)))
    )
    same = 0
    while same < min(len(old), len(new)) - first and old[-1 - same] == new[-1 - same]:
        same += 1
    place = types.Range(types.Position(first, 0), types.Position(len(old) - same, 0))
    edit = types.TextEdit(place, "".join(new[first : len(new) - same]))
    identifier = types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=document.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(identifier, [edit])])


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
        code_description=types.CodeDescription(page) if (page := rule_page(finding.code, local=True)) else None,
        source=SOURCE,
        message="\n".join([finding.message, *remarks(finding)]),
        related_information=related,
        tags=[types.DiagnosticTag.Unnecessary] if finding.code == UNUSED_COMMENT else [],
    )


_WORD = lazy_pattern(r"-{0,2}[A-Za-z_][\w.-]*")
_KEY = lazy_pattern(r"(?P<indent>[ ]*)(?P<key>[A-Za-z_][\w.]*):(?P<rest>.*)")

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
    lines = []
    for recipe in recipes[:_MOST_RECIPES]:
        after = [resolve(each, target, front_end=recipe.front_end).run.value(path) for each in recipe.variants]
        run = list(dict.fromkeys(map(describe, after)))
        for story in stories(recipe, path, target):
            written = describe(story.value)
            changed = "" if run == [written] else f", will run {' or '.join(run)}"
            when = f" when {' or '.join(' and '.join(each) for each in story.when)}" if story.when else ""
            lines.append(f"- **{recipe.label}**{when}: written {written}{changed}")
            origins = [write.origin for write in story.writes[-3:]]
            lines += [f"  - {each.how} at {each.point.path}:{each.point.line}" for each in origins]
    if len(recipes) > _MOST_RECIPES:
        lines.append(f"- and {len(recipes) - _MOST_RECIPES} more recipes")
    entry = render_setting(table().entries[path], table(), rules_about(path))
    return "\n".join([*lines, "", "```text", entry.rstrip(), "```"])


def effective_values(path: str, recipes: Sequence[Recipe], target: Target) -> dict[Span, str]:
    """Return the final values of the settings that a file writes, by the place of the write, where they differ.

    A later write or start-up may have replaced a value. A write is left out if a value is unknown in any recipe.
    """
    found: dict[Span, dict[str, list[tuple[Value, Value]]]] = {}
    for recipe in recipes:
        for variant in recipe.variants:
            run = resolve(variant, target, front_end=recipe.front_end).run
            for name in variant.settings.written():
                writes = [origin for at, origin in variant.settings.history(name) if at == name]
                for origin in writes:
                    written = variant.value(name) if origin is writes[-1] else origin.value
                    if origin.point.path == path:
                        found.setdefault(origin.point, {}).setdefault(name, []).append((written, run.value(name)))
    return {
        place: " or ".join(dict.fromkeys(describe(final) for _, final in values))
        for place, named in found.items()
        for values in named.values()
        if len(named) == 1
        and all(isinstance(each, Known) for pair in values for each in pair)
        and any(differs(*pair) for pair in values)
    }


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


PAUSE = 0.02
"""Seconds without a keystroke, after which a document is checked; what is typed meanwhile is checked afterwards."""

USERS_PAUSE = 1.0
"""Seconds without a keystroke, after which the other open documents that use it are checked."""

Answer = TypeVar("Answer")


class Server(LanguageServer):
    """The documents that are open: the findings in each, what checks of it remember, and the check that is due.

    `begun` counts the checks, each of which ends a proof that goes on.
    """

    def __init__(self) -> None:
        super().__init__(SOURCE, __version__)
        self.checked: dict[str, CheckedDocument] = {}
        self.memories: dict[tuple[str, bool], ProcessMemory] = {}
        self.due: dict[str, asyncio.Task[None]] = {}
        self.begun = 0
        self.turn = asyncio.Lock()
        self.shows_effective_values = False
        self.was_shut_down = False

    def document(self, uri: str) -> OpenDocument | None:
        """Return the document as the editor has it; None if it is no file."""
        path = _path(uri)
        if path is None:
            return None
        open_one = self.workspace.get_text_document(uri)
        others = (
            (other, document.source)
            for each, document in self.workspace.text_documents.items()
            if each != open_one.uri and (other := _path(each)) is not None
        )
        return OpenDocument(path, open_one.source, open_one.version, tuple(others))

    def memory(self, uri: str, dependents: bool) -> ProcessMemory:
        """Return the memory of the last check of a document, alone or with its users; what others know of upstream's
        files is let go of.
        """
        for other, memory in self.memories.items():
            if other != (uri, dependents):
                memory.sources = None
        return self.memories.setdefault((uri, dependents), ProcessMemory())

    async def alone(self, work: Callable[[], Answer]) -> Answer:
        """Run slow work, one piece at a time, to its end, even if its request is cancelled."""

        async def held() -> Answer:
            async with self.turn:
                return await asyncio.to_thread(work)

        return await asyncio.shield(held())

    def check_soon(self, uri: str, pause: float, *, dependents: bool = False) -> None:
        """Check a document after a pause, unless it changes before; perhaps with the files that use it."""
        if uri in self.due:
            self.due[uri].cancel()
        self.due[uri] = asyncio.ensure_future(self._check(uri, pause, dependents))

    def check_users_soon(self, uri: str, pause: float) -> None:
        """Check the other documents whose last check asked for a file."""
        path = _path(uri)
        for other, checked in self.checked.items():
            if other != uri and path is not None and checked.depends_on(path):
                self.check_soon(other, pause)

    def complain(self, problem: str) -> None:
        """Show an error that does not concern the document."""
        self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"{SOURCE}: {problem}"))

    async def with_proofs(self, uri: str, checked: CheckedDocument) -> CheckedDocument:
        """Return the check of a document with its fixes proved, as far as nobody types meanwhile."""
        if checked.proved:
            return checked
        begun = self.begun
        proved = await self.alone(lambda: check(checked.document, ProcessMemory(), prove=True))
        if self.begun == begun and self.checked.get(uri) is checked:
            self.checked[uri] = proved
        return proved

    async def _check(self, uri: str, pause: float, dependents: bool) -> None:
        await asyncio.sleep(pause)
        task = asyncio.current_task()

        def work() -> CheckedDocument | None:
            # As it is when its turn has come; whoever waits for a later state is told of that alone.
            document = self.document(uri) if self.due.get(uri) is task else None
            return None if document is None else check(document, self.memory(uri, dependents), dependents=dependents)

        self.begun += 1
        spend_all()
        try:
            checked = await self.alone(work)
        except Exception as error:
            self.complain(described(error))
            return
        if checked is None:
            return
        self.checked[uri] = checked
        if checked.problem:
            self.complain(checked.problem)
        found = [_diagnostic(finding, checked, _uri) for finding in checked.findings]
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, found, version=checked.document.version)
        )


def server() -> Server:
    """Make a server without a client."""
    made = Server()

    @made.feature(types.INITIALIZED)
    def begun(server: Server, _: types.InitializedParams) -> None:
        root = server.workspace.root_path
        if root and os.path.isdir(root):
            os.chdir(root)  # paths and the configuration are relative to it

    @made.feature(types.INITIALIZE)
    def beginning(server: Server, asked: types.InitializeParams) -> None:
        chosen = asked.initialization_options
        server.shows_effective_values = isinstance(chosen, dict) and chosen.get("effectiveValues") is True

    @made.feature(types.SHUTDOWN)
    def shut_down(server: Server, *_: object) -> None:
        server.was_shut_down = True

    @made.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(server: Server, asked: types.DidOpenTextDocumentParams) -> None:
        server.check_soon(asked.text_document.uri, 0)

    @made.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(server: Server, asked: types.DidChangeTextDocumentParams) -> None:
        server.check_soon(asked.text_document.uri, PAUSE)
        server.check_users_soon(asked.text_document.uri, USERS_PAUSE)

    @made.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(server: Server, asked: types.DidSaveTextDocumentParams) -> None:
        for uri in server.checked:  # its importers are wrong or right by it
            server.check_soon(uri, 0, dependents=uri == asked.text_document.uri)

    @made.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(server: Server, asked: types.DidCloseTextDocumentParams) -> None:
        uri = asked.text_document.uri
        server.checked.pop(uri, None)
        for dependents in (False, True):
            server.memories.pop((uri, dependents), None)
        if uri in server.due:
            server.due.pop(uri).cancel()
        server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
        server.check_users_soon(uri, PAUSE)  # they see the text on disk again

    @made.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(
            code_action_kinds=[types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll], resolve_provider=True
        ),
    )
    async def fixes(server: Server, asked: types.CodeActionParams) -> list[types.CodeAction]:
        uri = asked.text_document.uri
        checked = server.checked.get(uri)
        if checked is None or server.workspace.get_text_document(uri).source != checked.document.text:
            return []  # proved for another text
        only = asked.context.only
        found: list[types.CodeAction] = []
        if only is None or any(_covers(kind, types.CodeActionKind.QuickFix.value) for kind in only):
            text = checked.document.text
            if any(each.fixable and touches(asked.range, range_of(each.span, text)) for each in checked.findings):
                checked = await server.with_proofs(uri, checked)
            found += [*quick_fixes(checked, asked.range, uri), *comments_to_write(checked, asked.range, uri)]
        fixable = any(each.fixable == "safe" for each in checked.findings)
        if fixable and (only is None or any(_covers(kind, FIX_ALL) for kind in only)):
            found.append(types.CodeAction(title="Apply all safe fixes in this file", kind=FIX_ALL, data=uri))
        return found

    @made.feature(types.CODE_ACTION_RESOLVE)
    async def resolved(server: Server, action: types.CodeAction) -> types.CodeAction:
        uri = action.data if isinstance(action.data, str) else ""
        document = server.document(uri)
        if document is None:
            return action
        text = await server.alone(lambda: fixed_text(_options(document)))
        if text is not None:
            action.edit = _edit(document, text, uri)
        return action

    @made.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(server: Server, asked: types.HoverParams) -> types.Hover | None:
        named = await _setting_named(server, asked)
        if named is None:
            return None
        path, recipes, target, _ = named
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, setting_text(path, recipes, target)))

    @made.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(server: Server, asked: types.DefinitionParams) -> list[types.Location]:
        named = await _setting_named(server, asked)
        if named is None:
            return []
        path, recipes, _, sources = named
        return [
            types.Location(_uri(origin.point.path), range_of(origin.point, text))
            for origin in setting_origins(path, recipes)
            if (text := sources.as_it_is_or_none(origin.point.path)) is not None
        ]

    @made.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def hints(server: Server, asked: types.InlayHintParams) -> list[types.InlayHint]:
        document = server.document(asked.text_document.uri) if server.shows_effective_values else None
        if document is None:
            return []
        try:
            recipes, target, _ = await server.alone(lambda: recipes_of(document))
        except UsageError:
            return []  # the check reports it
        found = effective_values(document.path, recipes, target)
        places = ((range_of(place, document.text), value) for place, value in found.items())
        return [
            types.InlayHint(place.end, f"runs with {value}", padding_left=True)
            for place, value in places
            if touches(asked.range, place)
        ]

    @made.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[":", " "]))
    async def completion(server: Server, asked: types.CompletionParams) -> list[types.CompletionItem]:
        document = server.document(asked.text_document.uri)
        if document is None or not document.path.endswith((".yaml", ".yml")):
            return []
        found = choices(document.text, asked.position.line + 1)
        return [types.CompletionItem(label=label, detail=detail) for label, detail in found]

    return made


def _covers(kind: str | types.CodeActionKind, other: str) -> bool:
    """Tell whether a kind of action is another one, or holds it (`source` has `source.fixAll.mfsdp-lint`)."""
    asked = kind.value if isinstance(kind, types.CodeActionKind) else kind
    return f"{other}.".startswith(f"{asked}.")


async def _setting_named(
    server: Server, asked: types.HoverParams | types.DefinitionParams
) -> tuple[str, Sequence[Recipe], Target, Sources] | None:
    """Return the path of the setting at a position, and what the document configures; None if there is none."""
    document = server.document(asked.text_document.uri)
    if document is None:
        return None
    path = setting_at(document.text, asked.position.line + 1, column_of(document.text, asked.position))
    if path is None:
        return None
    try:
        return path, *await server.alone(lambda: recipes_of(document))
    except UsageError:
        return None


def _path(uri: str) -> str | None:
    """Return the path of a file, relative to the root of the workspace if it is in there; None if it is no file."""
    path = uris.to_fs_path(uri)
    if path is None:
        return None
    relative = os.path.relpath(path)
    return path if relative.startswith(os.pardir) else relative


def _uri(path: str) -> str:
    return uris.from_fs_path(os.path.abspath(path)) or path
