"""Findings about files, and about comments and baselines that silence findings. No rule file has them."""

from __future__ import annotations

from mfsdp_lint.core.finding import Finding, Severity, fingerprint
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs.sources import Problem

UNREADABLE = "MFSDP901"
MALFORMED_COMMENT = "MFSDP902"
UNUSED_COMMENT = "MFSDP903"
RAISES = "MFSDP904"
INTERNAL = "MFSDP905"
STALE_ENTRY = "MFSDP906"
UNDECIDED = "MFSDP907"


@dataclass(frozen=True, slots=True)
class AboutFiles:
    """A kind of finding about files. `severities` are those that it can have; `fix` describes the remedy."""

    code: str
    name: str
    severities: tuple[Severity, ...]
    summary: str
    why: str
    fix: str


ABOUT_FILES = (
    AboutFiles(
        UNREADABLE,
        "unreadable-file",
        ("error", "info"),
        "A file cannot be read or parsed, so that nothing in it was checked.",
        "What is not checked must not look like what is right. A file that has nothing to do with training, "
        "as far as its text tells, is only an info. Selecting other rules does not hide it; ignoring it does.",
        "mend the file, or leave it out with `exclude`",
    ),
    AboutFiles(
        MALFORMED_COMMENT,
        "malformed-suppression",
        ("info",),
        "A suppression comment means nothing, and silences nothing.",
        "It has another word than `ignore` or `ignore-file`, no closing bracket, a code that is none, or it "
        "does not say why. The reason is required: who reads the comment later could not tell whether it "
        "still has to be there.",
        "write `# mfsdp: ignore[CODE] reason`",
    ),
    AboutFiles(
        UNUSED_COMMENT,
        "unused-suppression",
        ("info",),
        "A suppression comment silences nothing.",
        "It would hide a mistake that is made there later. It is told only where it is certain: for files "
        "below a folder that is linted, at versions that are known, for rules that were run.",
        "--fix takes the comment out, or those of its codes that silence nothing",
    ),
    AboutFiles(
        RAISES,
        "raises-at-start-up",
        ("error",),
        "Code that makes a configuration surely ends with an exception.",
        "A call is given an argument that the function does not have, a name is used that is not there. The "
        "run ends before the framework looks at the configuration.",
        "the message names what is nearest to the name that is not there",
    ),
    AboutFiles(
        INTERNAL,
        "internal-error",
        ("error",),
        "The linter failed at a file.",
        "A fault of its own. The other files are checked; what is wrong in this one may not be told.",
        "report it, with the output under MFSDP_LINT_DEBUG=1",
    ),
    AboutFiles(
        STALE_ENTRY,
        "stale-baseline-entry",
        ("error",),
        "The baseline accepts a finding that is not there any more.",
        "It would accept the same mistake when it is made again. It is told of files that were checked, by "
        "rules that were run.",
        "run once with --update-baseline, or take the entry's line out of the file",
    ),
    AboutFiles(
        UNDECIDED,
        "undecided-setting",
        ("info", "warning"),
        "A setting that decides a rule is not known, because a call in your own files is not followed.",
        "A rule says nothing about what it does not know, and that must not look like what is right. It is told where "
        "one value of the setting would make a rule of level error or warning fire: once for each call that is not "
        "followed, or variable of the environment that nothing which is followed sets, and for no argument of your "
        "function or program, and nothing that upstream's code or a model's files decide. With the preset `strict` it "
        "is a warning.",
        "give the value with the --set that the message tells; or write it where it can be read",
    ),
)

FILE_CODES = tuple(each.code for each in ABOUT_FILES)
"""The codes that no rule has."""

_SAID = {
    "unreadable": (UNREADABLE, "unreadable-file", "not checked: ", ""),
    "foreign": (UNREADABLE, "unreadable-file", "not checked: ", ""),
    "comment": (MALFORMED_COMMENT, "malformed-suppression", "", "the comment silences nothing"),
    "internal": (INTERNAL, "internal-error", "not checked to the end: ", "what is wrong here may not be told"),
}
"""By the kind of a problem: code and name of its finding, what stands before its message, and what it leads to."""


def file_finding(problem: Problem) -> Finding:
    """Make the finding about a file that was not judged at all, or about a comment in it."""
    code, name, before, consequence = _SAID[problem.kind]
    return Finding(
        code=code,
        name=name,
        severity="error" if problem.kind in ("unreadable", "internal") else "info",
        stage="never",
        message=before + problem.message,
        span=Span(problem.path, problem.line, problem.column, problem.line, problem.column),
        consequence=consequence,
        enforced_by="nobody",
        fingerprint=fingerprint(code, problem.path, problem.message),
        content_fingerprint=fingerprint(code, problem.message),
    )
