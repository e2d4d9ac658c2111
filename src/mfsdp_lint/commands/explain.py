"""`mfsdp-lint explain WORD`: a setting, a framework or a rule, also by the error that the rule foresees."""

from __future__ import annotations

import argparse

from mfsdp_lint import terminal
from mfsdp_lint.core.nearest import did_you_mean
from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.megatron.front_ends import Profile, profiles
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.megatron.vocabulary.tables import find, nearest
from mfsdp_lint.reports import explain as report
from mfsdp_lint.rules.about_files import ABOUT_FILES
from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.rules.selection import lookup, rules_about

SUMMARY = (
    "Explains a rule (by its code, its name, or the text of an error that a run ended with) or a setting (by its path, "
    "its name, a flag of a command line, or an environment variable) or a framework on top of Megatron (by its name)."
)

EXAMPLES = (
    ("mfsdp-lint explain MFSDP101", "a rule"),
    ("mfsdp-lint explain --ckpt-format", "a flag and the setting that it sets"),
    ("mfsdp-lint explain 'Megatron FSDP only supports fsdp_dtensor'", "the rule that predicts this error"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the one word that is explained, which may look like an option, and the options."""
    parser.add_argument(
        "word", metavar="WORD", help="MFSDP101, 'a pasted error message', checkpoint.ckpt_format, --ckpt-format"
    )
    parser.add_argument("--front-end", action="store_true", help="the word is the name of a framework")
    parser.add_argument(
        "--all", action="store_true", help="also print the conditions, error texts and examples of a rule"
    )


def main(arguments: argparse.Namespace) -> int:
    """Print the explanation of the word. Raises UsageError for a word that has no meaning here."""
    word = arguments.word
    if not arguments.front_end:
        terminal.show(explained(word, everything=arguments.all))
        return 0
    known = _frameworks()
    if word not in known:
        raise UsageError(f"there is no framework {word!r}{did_you_mean(word, known)}")
    terminal.show(report.render_framework(known[word]))
    return 0


def explained(word: str, *, everything: bool = False) -> str:
    """Explain a word: the settings or the framework of that name, else the rules that it leads to.

    The name of a setting occurs in many error texts, so that settings are first. Of a rule the explanation fits a
    screen, unless `everything` is asked for. Raises UsageError.
    """
    found = find(word, table())
    if found:
        told = [report.render_setting(entry, table(), rules_about(entry.path)) for entry in found.entries]
        if found.removed:
            told.insert(0, f"{word} is a name that was removed; it is now:\n")
        return "\n".join(told or [report.render_flag(found.flag, table())])
    framework = _frameworks().get(word.lower())
    return _rules(word, everything) if framework is None else report.render_framework(framework)


def _frameworks() -> dict[str, Profile]:
    """Return every framework by its name."""
    return {each.front_end.name: each for each in profiles()}


def _rules(word: str, everything: bool) -> str:
    about = next((each for each in ABOUT_FILES if word.strip().lower() in (each.code.lower(), each.name)), None)
    if about is not None:
        return report.about_files(about)
    told = lookup(word, load_rules())
    if told.rules:
        return "\n".join(map(report.render_rule if everything else report.brief, told.rules))
    close = nearest(word, table())
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    if told.nearest and not close:
        hint = f"; the nearest rules are {', '.join(f'{rule.code} ({rule.name})' for rule in told.nearest)}"
    raise UsageError(f"nothing is known of {word!r}{hint}")
