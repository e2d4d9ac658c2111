"""`mfsdp-lint config KEY`: a key of the configuration, explained."""

from __future__ import annotations

import argparse

from mfsdp_lint import terminal
from mfsdp_lint.core.nearest import did_you_mean
from mfsdp_lint.inputs.configuration import (
    BY_NAME,
    ONLY_ASKED,
    ONLY_ASKED_OF_A_DRY_RUN,
    configuration_file,
    read_configuration,
)
from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.reports.wording import table

SUMMARY = "Explains a key of the configuration, with its value here; without a key, lists all keys."

EXAMPLES = (
    ("mfsdp-lint config fail-on", "one key"),
    ("mfsdp-lint config", "all keys"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("key", nargs="?", metavar="KEY", help="a key, as in fail-on")
    parser.add_argument("--config", metavar="FILE", help="read the configuration from this file")


def main(arguments: argparse.Namespace) -> int:
    """Print the explanation. Raises UsageError for an unknown key."""
    if arguments.key is None:
        rows = [(key.name, key.kind, key.says) for key in BY_NAME.values()]
        terminal.show("".join(f"{line}\n" for line in table(("key", "takes", "meaning"), rows, terminal.columns())))
        return 0
    key = BY_NAME.get(arguments.key.replace("_", "-"))
    if key is None:
        raise UsageError(f"{arguments.key}: no such key{did_you_mean(arguments.key, BY_NAME)}")
    value = read_configuration(arguments.config).get(key.field)
    if key.keys and value is not None:
        value = ", ".join(f"{name.replace('_', '-')} = {each}" for name, each in value)
    file = arguments.config or configuration_file() or "no configuration file"
    choices = f": {', '.join(key.choices)}" if key.choices else ""
    lines = [f"{key.name}: {key.says}", f"takes: {key.kind}{choices}"]
    lines += [f"  {each.name} ({each.kind}): {each.says}" for each in key.keys]
    lines.append(f"here: {'not set' if value is None else value} ({file})")
    if key.name in ONLY_ASKED:
        lines.append("counts on the command line, and in a file that --config names")
    if key.keys:
        names = ", ".join(ONLY_ASKED_OF_A_DRY_RUN)
        lines.append(f"{names} count on the command line, and in a file that --config names")
    terminal.show("".join(f"{terminal.printable(line)}\n" for line in lines))
    return 0
