"""`mfsdp-lint explain WORD`: what a setting or a front-end is, what a rule says, or which rule foresees an error."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mfsdp_lint import terminal
from mfsdp_lint.core.nearest import did_you_mean
from mfsdp_lint.inputs.options import UsageError

if TYPE_CHECKING:
    from mfsdp_lint.megatron.front_ends import Profile
    from mfsdp_lint.megatron.vocabulary.tables import Lookup

SUMMARY = (
    "Explains a rule (by its code, its name, or the text of an error that a run ended with) or a setting (by its path, "
    "its name, a flag of a command line, or an environment variable) or a framework on top of Megatron (by its name)."
)

EXAMPLES = (
    ("mfsdp-lint explain MFSDP101", "a rule"),
    ("mfsdp-lint explain --ckpt-format", "a flag, and the setting that it is"),
    ("mfsdp-lint explain 'Megatron FSDP only supports fsdp_dtensor'", "the rule that foresees an error"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the one word that is explained, which may look like an option, and the options."""
    parser.add_argument(
        "word", metavar="WORD", help="MFSDP101, 'a pasted error message', checkpoint.ckpt_format, --ckpt-format"
    )
    parser.add_argument("--front-end", action="store_true", help="the word is the name of a framework")
    parser.add_argument("--all", action="store_true", help="of a rule also its conditions, error texts and examples")


def main(arguments: argparse.Namespace) -> int:
    """Print the explanation of the word. Raises UsageError for a word that has no meaning here."""
    word = arguments.word
    terminal.show(_named(word) if arguments.front_end else explained(word, everything=arguments.all))
    return 0


def explained(word: str, *, everything: bool = False) -> str:
    """Explain a word: the settings or the framework of that name, else the rules that it leads to.

    The name of a setting occurs in many error texts, so that settings are first. Of a rule the explanation fits a
    screen, unless `everything` is asked for. Raises UsageError.
    """
    from mfsdp_lint.megatron.vocabulary import table
    from mfsdp_lint.megatron.vocabulary.tables import find

    found = find(word, table())
    if found:
        return _settings(word, found)
    framework = _frameworks().get(word.lower())
    return _rules(word, everything) if framework is None else _framework(framework)


def _named(word: str) -> str:
    """Explain the framework of that name. Raises UsageError."""
    known = _frameworks()
    if word not in known:
        raise UsageError(f"there is no framework {word!r}{did_you_mean(word, known)}")
    return _framework(known[word])


def _framework(profile: Profile) -> str:
    from mfsdp_lint.reports.front_end import render

    return render(profile)


def _frameworks() -> dict[str, Profile]:
    """Return every framework by its name."""
    from mfsdp_lint.megatron.front_ends import profiles

    return {each.front_end.name: each for each in profiles()}


def _settings(word: str, found: Lookup) -> str:
    from mfsdp_lint.megatron.vocabulary import table
    from mfsdp_lint.reports.entry import render, render_flag
    from mfsdp_lint.rules.lookup import rules_about

    told = [render(entry, table(), rules_about(entry.path)) for entry in found.entries]
    if found.removed:
        told.insert(0, f"{word} is a name that was removed; it is now:\n")
    return "\n".join(told or [render_flag(found.flag, table())])


def _rules(word: str, everything: bool) -> str:
    from mfsdp_lint.megatron.vocabulary import table
    from mfsdp_lint.megatron.vocabulary.tables import nearest
    from mfsdp_lint.reports.rule import about_files, brief, render
    from mfsdp_lint.rules.about_files import ABOUT_FILES
    from mfsdp_lint.rules.load import load_rules
    from mfsdp_lint.rules.lookup import lookup

    about = next((each for each in ABOUT_FILES if word.strip().lower() in (each.code.lower(), each.name)), None)
    if about is not None:
        return about_files(about)
    told = lookup(word, load_rules())
    if told.rules:
        return "\n".join(map(render if everything else brief, told.rules))
    close = nearest(word, table())
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    if told.nearest and not close:
        hint = f"; the nearest rules are {', '.join(f'{rule.code} ({rule.name})' for rule in told.nearest)}"
    raise UsageError(f"nothing is known of {word!r}{hint}")
