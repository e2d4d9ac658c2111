"""`mfsdp-lint server`: a language server over standard input and output."""

from __future__ import annotations

import argparse

from mfsdp_lint import terminal
from mfsdp_lint.inputs.options import UsageError

SUMMARY = "Starts the language server for an editor (LSP over standard input and output)."

EXAMPLES = (("mfsdp-lint server", "what an editor starts; see docs/integrations.md"),)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no options: the editor sends them all."""


def main(arguments: argparse.Namespace) -> int:
    """Serve until the editor ends it.

    Exit code 0 where the editor shut it down first, else 1, as the protocol has it. Raises UsageError where pygls is
    not installed.
    """
    try:
        from mfsdp_lint.server import server
    except ImportError as error:
        raise UsageError(f"{error.name} comes with mfsdp-lint[lsp]: pip install '.[lsp]' in a checkout") from None
    made = server()
    # The server closes the stream that it writes to, and the command line flushes its own one at the end.
    with terminal.channel() as answers:
        made.start_io(stdout=answers)
    return 0 if made.was_shut_down else 1
