"""The command line: picks the command, reports its failures, answers with an exit code.

Nothing heavy is imported here: `--version` answers before argparse is.
"""

from __future__ import annotations

import os
import sys

from mfsdp_lint import terminal
from mfsdp_lint.core.version import __version__

TYPE_CHECKING = False  # `typing` itself would cost a third of the time that --version takes
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Protocol

    class CommandModule(Protocol):
        """The interface of a module under `mfsdp_lint.commands`."""

        SUMMARY: str
        EXAMPLES: Sequence[tuple[str, str]]

        def add_arguments(self, parser: argparse.ArgumentParser) -> None:
            """Add the command's flags."""

        def main(self, arguments: argparse.Namespace) -> int:
            """Run the command and return the exit code; raises UsageError for a user's mistake."""


COMMANDS = {
    "check": "find and fix mistakes in recipes (the default command)",
    "audit": "show the effective configuration of every recipe, with the origin of each value",
    "runs": "list the training runs that launch scripts start, with their settings",
    "why": "show where the value of a setting comes from",
    "explain": "explain a rule, a setting or a flag",
    "rules": "list the rules, or try their examples with the real Megatron",
    "enable": "turn Megatron-FSDP on in a recipe, with everything that it needs",
    "upgrade": "move recipes to another release of Megatron-Bridge",
    "judge": "judge configurations given as JSON",
    "dry-run": "try recipes with the real Megatron on two ranks",
    "checkpoint": "describe a checkpoint folder, and check that it is complete",
    "cache": "show or empty the cache of this project",
    "config": "explain a key of the configuration",
    "init": "write a configuration and a commit hook for a project",
    "server": "start the language server for an editor",
}
"""Every command; each is the module of that name, with `_` for `-`, under `mfsdp_lint.commands`."""

ABOUT_A_WORD = ("explain",)
"""The commands whose first argument may look like an option."""

DEFAULT_COMMAND = "check"

USAGE = 2
"""The exit code for wrong usage, a path that does not exist, or an internal error."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line (`sys.argv` unless `argv` is given) and return the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments and arguments[0] in ("--version", "-V"):
        terminal.show(f"mfsdp-lint {__version__}\n")
        return 0
    import signal
    from contextlib import suppress

    from mfsdp_lint.inputs.options import UsageError

    # Asked to end, it cleans up as it does after Ctrl-C. Only where it is the program: a thread has no signals.
    before = signal.getsignal(signal.SIGTERM)
    with suppress(ValueError):
        signal.signal(signal.SIGTERM, _end)
    try:
        command, parsed = _chosen(arguments)
        code = command.main(parsed)
        sys.stdout.flush()
        return code
    except UsageError as error:
        terminal.note(f"error: {error}", *error.more)
        return USAGE
    except SystemExit as exit:  # how argparse ends --help and --version
        return int(exit.code or 0)
    except KeyboardInterrupt:
        terminal.note("interrupted")
        return 130
    except _Ended:
        terminal.note("terminated")
        return 143
    except BrokenPipeError:
        terminal.hang_up()
        return USAGE
    except Exception as error:
        import platform
        import traceback

        from mfsdp_lint.inputs.faults import DEBUG, described

        if os.environ.get(DEBUG) == "1":
            terminal.notes("".join(traceback.format_exception(error)))
        else:
            terminal.note(
                f"internal error: {described(error)}, please report with `mfsdp-lint {__version__}`, "
                f"Python {platform.python_version()} and the output under {DEBUG}=1"
            )
        return USAGE
    finally:
        with suppress(ValueError, TypeError):
            signal.signal(signal.SIGTERM, before)


class _Ended(BaseException):
    """SIGTERM."""


def _end(*_: object) -> None:
    raise _Ended


def _chosen(arguments: list[str]) -> tuple[CommandModule, argparse.Namespace]:
    """Find the command that is meant, and parse its arguments. Raises UsageError, and SystemExit as argparse does."""
    from importlib import import_module

    from mfsdp_lint import process
    from mfsdp_lint.commands.arguments import parser_for, word_first
    from mfsdp_lint.inputs.options import UsageError
    from mfsdp_lint.inputs.writing import clear_up

    terminal.never_fail_to_print()
    process.own()
    name = arguments.pop(0) if arguments and arguments[0] in COMMANDS else DEFAULT_COMMAND
    word = arguments[0] if name == DEFAULT_COMMAND and arguments else ""
    if word.isascii() and word.replace("-", "").isalpha() and word[0] != "-" and not os.path.lexists(word):
        from mfsdp_lint.core.nearest import nearest

        if meant := nearest(word, COMMANDS, cutoff=0.7):
            raise UsageError(f"{word}: no such file or directory; did you mean {meant[0]}?")
    command: CommandModule = import_module(f"mfsdp_lint.commands.{name.replace('-', '_')}")
    prog, summary = f"mfsdp-lint {name}", command.SUMMARY
    if name == DEFAULT_COMMAND:
        lines = [f"  {each:12}{says}" for each, says in COMMANDS.items()]
        prog, summary = "mfsdp-lint", "\n".join([f"{summary}\n\ncommands (each has its own --help):", *lines])
    parser = parser_for(prog, summary, command.EXAMPLES)
    command.add_arguments(parser)
    clear_up()
    return command, parser.parse_args(word_first(arguments) if name in ABOUT_A_WORD else arguments)
