"""Comparison of a real error with the one that a rule names."""

from __future__ import annotations

import re

from mfsdp_lint.dryrun.outcome import Failure
from mfsdp_lint.rules.check import Violation
from mfsdp_lint.rules.errortext import ErrorText


def is_of(violation: Violation, failure: Failure) -> bool:
    """Tell whether the error is the one that the finding's rule names. False where it names none."""
    error = violation.case.error
    return error is not None and matches(error, failure)


def matches(error: ErrorText, failure: Failure) -> bool:
    """Tell whether an error has a text, with anything in place of its holes."""
    pieces = [re.escape(_plain(piece)) for piece in error.pieces()]
    return bool(pieces) and re.search(".*?".join(pieces), _plain(failure.message)) is not None


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
