"""The server: answers to an editor, one at a time, beside the loop that reads its next question."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import TypeVar

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer

from mfsdp_lint import __version__
from mfsdp_lint.inputs.faults import described
from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.server import documents
from mfsdp_lint.server.documents import (
    SOURCE,
    CheckedDocument,
    OpenDocument,
    check,
    column_of,
    diagnostics,
    quick_fixes,
    range_of,
    recipes_of,
)

PAUSE = 0.3
"""Seconds without a keystroke, after which a document is checked."""

Answer = TypeVar("Answer")


class Server(LanguageServer):
    """The documents that are open: the findings in each, and the check that is due."""

    def __init__(self) -> None:
        super().__init__(SOURCE, __version__)
        self.checked: dict[str, CheckedDocument] = {}
        self.due: dict[str, asyncio.Task[None]] = {}
        self.turn = asyncio.Lock()
        self.was_shut_down = False

    def document(self, uri: str) -> OpenDocument | None:
        """Return the document as the editor has it; None if it is no file."""
        path = uris.to_fs_path(uri)
        if path is None:
            return None
        open_one = self.workspace.get_text_document(uri)
        return OpenDocument(_relative(path), open_one.source, open_one.version)

    async def alone(self, work: Callable[[], Answer]) -> Answer:
        """Run slow work, one piece at a time, to its end, even if its request is cancelled."""

        async def held() -> Answer:
            async with self.turn:
                return await asyncio.to_thread(work)

        return await asyncio.shield(held())

    def check_soon(self, uri: str, pause: float) -> None:
        """Check a document after a pause, unless it changes before."""
        if uri in self.due:
            self.due[uri].cancel()
        self.due[uri] = asyncio.ensure_future(self._check(uri, pause))

    def complain(self, problem: str) -> None:
        """Show an error that does not concern the document."""
        self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"{SOURCE}: {problem}"))

    async def _check(self, uri: str, pause: float) -> None:
        await asyncio.sleep(pause)
        document = self.document(uri)
        if document is None:
            return
        try:
            checked = await self.alone(lambda: check(document))
        except Exception as error:
            self.complain(described(error))
            return
        self.checked[uri] = checked
        if checked.problem:
            self.complain(checked.problem)
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, diagnostics(checked, _uri), version=checked.document.version)
        )


def server() -> Server:
    """Make a server without a client."""
    made = Server()

    @made.feature(types.INITIALIZED)
    def begun(server: Server, _: types.InitializedParams) -> None:
        root = server.workspace.root_path
        if root and os.path.isdir(root):
            os.chdir(root)  # paths and the configuration are relative to it

    @made.feature(types.SHUTDOWN)
    def shut_down(server: Server, *_: object) -> None:
        server.was_shut_down = True

    @made.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(server: Server, asked: types.DidOpenTextDocumentParams) -> None:
        server.check_soon(asked.text_document.uri, 0)

    @made.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(server: Server, asked: types.DidChangeTextDocumentParams) -> None:
        server.check_soon(asked.text_document.uri, PAUSE)

    @made.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(server: Server, _: types.DidSaveTextDocumentParams) -> None:
        for uri in server.checked:  # its importers are wrong or right by it
            server.check_soon(uri, 0)

    @made.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(server: Server, asked: types.DidCloseTextDocumentParams) -> None:
        uri = asked.text_document.uri
        server.checked.pop(uri, None)
        if uri in server.due:
            server.due.pop(uri).cancel()
        server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    @made.feature(
        types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
    )
    async def fixes(server: Server, asked: types.CodeActionParams) -> list[types.CodeAction]:
        uri = asked.text_document.uri
        checked = server.checked.get(uri)
        if checked is None or server.workspace.get_text_document(uri).source != checked.document.text:
            return []  # proved for another text
        return list(quick_fixes(checked, asked.range, uri))

    @made.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(server: Server, asked: types.HoverParams) -> types.Hover | None:
        named = _setting_at(server, asked)
        if named is None:
            return None
        document, path = named
        try:
            found, target, _ = await server.alone(lambda: recipes_of(document))
        except UsageError:
            return None
        text = documents.setting_text(path, found, target)
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text))

    @made.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(server: Server, asked: types.DefinitionParams) -> list[types.Location]:
        named = _setting_at(server, asked)
        if named is None:
            return []
        document, path = named
        try:
            found, _, sources = await server.alone(lambda: recipes_of(document))
        except UsageError:
            return []
        return [
            types.Location(_uri(origin.point.path), range_of(origin.point, text))
            for origin in documents.setting_origins(path, found)
            if (text := sources.as_it_is_or_none(origin.point.path)) is not None
        ]

    @made.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[":", " "]))
    async def completion(server: Server, asked: types.CompletionParams) -> list[types.CompletionItem]:
        document = server.document(asked.text_document.uri)
        if document is None or not document.path.endswith((".yaml", ".yml")):
            return []
        found = documents.choices(document.text, asked.position.line + 1)
        return [types.CompletionItem(label=label, detail=detail) for label, detail in found]

    return made


def _setting_at(server: Server, asked: types.HoverParams | types.DefinitionParams) -> tuple[OpenDocument, str] | None:
    document = server.document(asked.text_document.uri)
    if document is None:
        return None
    column = column_of(document.text, asked.position)
    path = documents.setting_at(document.text, asked.position.line + 1, column)
    return None if path is None else (document, path)


def _relative(path: str) -> str:
    """Return a path as the command line would get it in the root of the workspace."""
    relative = os.path.relpath(path)
    return path if relative.startswith(os.pardir) else relative


def _uri(path: str) -> str:
    return uris.from_fs_path(os.path.abspath(path)) or path
