"""`mfsdp-lint server`: a language server over standard input and output."""

from __future__ import annotations

import argparse

from mfsdp_lint.inputs.options import UsageError

SUMMARY = "Talks to an editor (language server protocol, over standard input and output)."

EXAMPLES = (("mfsdp-lint server", "what an editor starts; see docs/integrations.md"),)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It has none: the editor says everything."""


def main(arguments: argparse.Namespace) -> int:
    """Serves until the editor ends it. Raises UsageError where pygls is not installed."""
    try:
        from mfsdp_lint.server.serve import server
    except ImportError as error:
        raise UsageError(f"{error.name} is not installed: pip install 'mfsdp-lint[lsp]'") from None
    server().start_io()
    return 0
