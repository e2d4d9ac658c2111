"""A finding: one cause, where it points, what will happen, and the edits that would remove it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from mfsdp_lint.core.recipe import Span
from mfsdp_lint.core.records import dataclass

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
"""Most severe first."""

Stage = Literal["startup", "wrap", "first-step", "save", "load", "never"]
"""When it goes wrong.

`startup` is the framework's start-up validation and nothing else; `never`: it runs, but not as meant.
"""

Safety = Literal["safe", "unsafe"]

HELD_BACK = "held back: "
"""How `Finding.no_fix` begins where a rule's fix is not made; the reason follows, as who else uses the text."""

IsLinted = Callable[[str], bool]
"""A test of a path: true for the files that the user asked to lint."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace a piece of a file (empty where text is only inserted) by `text`."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that belong together and were proved to remove the finding, and why they are safe, or not.

    `together` are the fingerprints of other findings whose fixes have an edit in common with it: they go as one.
    """

    safety: Safety
    edits: tuple[Edit, ...]
    why: str = ""
    together: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Applied:
    """A fix that was made. `span` is the first text that it changed, as that was; `changes` say what holds now."""

    code: str
    safety: Safety
    span: Span
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """A place that has to do with a finding, and what it contributes."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class AffectedRecipe:
    """A recipe that the cause breaks, and how badly."""

    name: str
    severity: Severity


SilencedBy = Literal["comment", "configuration", "baseline"]


@dataclass(frozen=True, slots=True)
class Suppression:
    """A comment or setting that silences a finding: its place and the reason it gives."""

    span: Span
    reason: str
    by: SilencedBy = "comment"


Decision = Literal["confirmed", "refuted", "hypothetical", "inconclusive"]
"""A dry run's verdict on a finding: it failed as the rule says and passed without the mistake; it ran through; else.

`hypothetical`: it would be confirmed if the recipe did what a warning supposes, such as save.
"""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A dry run's verdict: its tier, what was seen (the first lines of the real error, or what was measured), and why
    it says no more than it does."""

    verdict: Decision
    tier: str = ""
    seen: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation of one rule with one cause.

    `span` is the text that decides the bad value; `handed_on` is where that value is written, if that is another
    place. `message` says what is wrong with the setting's real values, `consequence` what will happen at run time.
    `raises` is the upstream error text, if there is one. `versions` are the versions that the finding holds for, each
    by its name ("megatron-bridge 0.4.2"), where more than one was asked about. `enforced_by` says who stops the run
    (validation, dataclass, wrapper, nobody). `related` are the other settings involved, each where *it* was set.
    `fingerprint` depends on the rule and the cause, not on the recipes that share it; `content_fingerprint` does not
    depend on the name of the file either. `confirmation` is set where a dry run was asked for. `no_fix` says why there
    is no `fix`. `fix_proved` is false where `fixable` is only an expectation: the proof was skipped because no reader
    would have seen it, or would have taken more work than a report is worth.
    """

    code: str
    name: str
    severity: Severity
    stage: Stage
    message: str
    span: Span
    consequence: str = ""
    raises: str | None = None
    versions: tuple[str, ...] = ()
    enforced_by: str = ""
    recipes: tuple[AffectedRecipe, ...] = ()
    related: tuple[Note, ...] = ()
    handed_on: Span | None = None
    fingerprint: str = ""
    content_fingerprint: str = ""
    suppressed: Suppression | None = None
    fixable: Safety | None = None
    fix: Fix | None = None
    no_fix: str = ""
    fix_proved: bool = True
    confirmation: Confirmation | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it points into."""
        return (self.span.path, *(note.span.path for note in self.related))

    @property
    def order(self) -> tuple[str, int, int, str]:
        """Findings are shown by place, then by code."""
        return (self.span.path, self.span.line, self.span.column, self.code)


def fingerprint(*parts: str) -> str:
    """Return a short, stable hash of the parts. Names of files may hold bytes that are not UTF-8."""
    import hashlib  # it loads OpenSSL, and a run without findings needs no fingerprint

    return hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()[:16]
