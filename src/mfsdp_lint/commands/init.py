"""`mfsdp-lint init`: a configuration and a commit hook for a project that has none."""

from __future__ import annotations

import argparse
import os

from mfsdp_lint import terminal
from mfsdp_lint.core import files
from mfsdp_lint.core.version import __version__
from mfsdp_lint.inputs.configuration import OWN_FILE, configuration_file
from mfsdp_lint.inputs.options import UsageError

SUMMARY = "Writes a configuration and a commit hook for the project in this folder. Existing files are never changed."

EXAMPLES = (
    ("mfsdp-lint init", "write mfsdp-lint.toml and .pre-commit-config.yaml"),
    ("mfsdp-lint init --target-bridge 0.4.2", "for the release that the project uses"),
)

HOOKS_FILE = ".pre-commit-config.yaml"

CONFIGURATION = """\
# Configuration of mfsdp-lint: `mfsdp-lint --show-settings` prints the values in force, `mfsdp-lint config` every key.
required-version = ">={version}"
{target}
# preset = "strict"                # every rule, and a run fails for each finding
# ignore = ["MFSDP6"]              # rules by code, the beginning of codes, or name
# exclude = ["third_party/**"]
# search-path = ["src"]            # where imports are found

# [per-file-ignores]
# "experiments/**" = ["MFSDP101"]
"""

NO_TARGET = '# target-bridge = "0.4.2"          # without it, detected from the project\'s files; the summary names it'

HOOK = """\
  - repo: local
    hooks:
      - id: mfsdp-lint
        name: mfsdp-lint
        entry: mfsdp-lint --force-exclude --
        language: system
        types_or: [python, jupyter, yaml, shell]
        files: \\.(py|ipynb|ya?ml|sh|bash|zsh|ksh|slurm|sbatch)$
        require_serial: true
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options; a default of None means "not given"."""
    parser.add_argument("--target-bridge", metavar="VERSION", help="the megatron-bridge release, or a range of them")
    parser.add_argument("--no-hook", action="store_true", help="write no commit hook")


def main(arguments: argparse.Namespace) -> int:
    """Write the missing files, and report them and those that exist.

    Raises UsageError where a file cannot be written.
    """
    there = configuration_file()
    if there is None:
        target = NO_TARGET
        if arguments.target_bridge is not None:
            from mfsdp_lint.megatron.versions import VersionError, parse_range

            try:
                parse_range(arguments.target_bridge)
            except VersionError as error:
                raise UsageError(f"--target-bridge: {error}") from None
            target = f'target-bridge = "{arguments.target_bridge}"'
        _write(OWN_FILE, CONFIGURATION.format(version=__version__, target=target))
    else:
        terminal.show(f"{there}: has a configuration already\n")
    if arguments.no_hook:
        return 0
    if not os.path.lexists(HOOKS_FILE):
        _write(HOOKS_FILE, f"repos:\n{HOOK}")
        return 0
    try:
        is_there = b"mfsdp-lint" in files.read(HOOKS_FILE)
    except OSError as error:
        raise UsageError(f"{HOOKS_FILE}: {error.strerror or error}") from None
    what = "has the hook already\n" if is_there else f"add to its list of repositories:\n{HOOK}"
    terminal.show(f"{HOOKS_FILE}: {what}")
    return 0


def _write(file: str, text: str) -> None:
    try:
        with files.written(file, "x") as stream:
            stream.write(text.encode())
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}") from None
    terminal.show(f"{file}: written\n")
