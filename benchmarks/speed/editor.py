"""An editor at the real server: how long a typed character waits for the findings about it."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from pathlib import Path
from statistics import median

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from speed.place import Place

_NUMBER = re.compile(r"(?<=[ =])\d(?=[\d_]*$)", re.MULTILINE)
"""The first digit of a number at the end of a line."""


def milliseconds_after_a_character(here: Place) -> float:
    """Measure the time from the change of a digit in the last recipe file that has one to the diagnostics, once the
    file has been open for a while.
    """
    with here.copied() as copy:
        files = [copy / Path(path).relative_to(here.repository) for path in here.recipe_files]
        with_numbers = [path for path in files if _NUMBER.search(path.read_text(encoding="utf-8"))]
        return asyncio.run(_typed(copy, with_numbers[-1], here.runs)) * 1000


async def _typed(root: Path, path: Path, runs: int) -> float:
    client, published = LanguageClient("bench", "1"), asyncio.Queue[types.PublishDiagnosticsParams]()
    client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda told: published.put_nowait(told))
    await client.start_io(sys.executable, "-P", "-m", "mfsdp_lint", "server", cwd=str(root))
    await client.initialize_async(types.InitializeParams(types.ClientCapabilities(), root_uri=root.as_uri()))
    client.initialized(types.InitializedParams())
    text, uri = path.read_text(encoding="utf-8"), path.as_uri()
    client.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "python", 1, text)))
    await published.get()
    taken = []
    for version in range(2, runs + 2):
        typed = _NUMBER.sub(str(version % 9 + 1), text, count=1)
        changed = types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(uri=uri, version=version),
            [types.TextDocumentContentChangeWholeDocument(typed)],
        )
        begun = time.perf_counter()
        client.text_document_did_change(changed)
        await published.get()
        taken.append(time.perf_counter() - begun)
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    return median(taken)
