"""`--completion SHELL`: the script that completes commands, options and choices, made by shtab from the parsers."""

from __future__ import annotations

import argparse
from importlib import import_module
from pkgutil import iter_modules

from mfsdp_lint import commands as package
from mfsdp_lint.inputs.options import UsageError


def script(shell: str) -> str:
    """Return the completion script that a shell reads once. Raises UsageError where shtab is not installed."""
    try:
        import shtab
    except ImportError:
        raise UsageError("--completion: shtab is not installed: pip install 'mfsdp-lint[completion]'") from None
    text: str = shtab.complete(_every_parser(), shell)
    return text


def _every_parser() -> argparse.ArgumentParser:
    """Build one parser of all commands, as shtab reads it: the real ones are made one by one."""
    root = argparse.ArgumentParser("mfsdp-lint", allow_abbrev=False)
    commands = root.add_subparsers(dest="command")
    for found in iter_modules(package.__path__):
        module = import_module(f"{package.__name__}.{found.name}")
        if hasattr(module, "SUMMARY"):  # else it is what commands share
            name = found.name.replace("_", "-")
            module.add_arguments(commands.add_parser(name, help=module.SUMMARY, allow_abbrev=False))
    return root
