"""Options of a run: the configuration overlaid by the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from mfsdp_lint.core.finding import Severity
from mfsdp_lint.core.records import dataclass

OutputFormat = Literal["full", "concise", "json", "github", "sarif", "gitlab", "junit", "rdjson"]
OUTPUT_FORMATS: tuple[OutputFormat, ...] = get_args(OutputFormat)

WITH_EDITS = ("json", "sarif", "rdjson")
"""The formats that carry the edits of fixes."""

GroupBy = Literal["finding", "recipe"]
GROUPINGS: tuple[GroupBy, ...] = get_args(GroupBy)

PRESETS = ("default", "strict", "performance")
"""Which rules are on without being named: those that are about what goes wrong; these and every other one, and a run
fails for each finding; those that are about speed as well."""

Executor = Literal["local", "slurm", "ray"]
EXECUTORS: tuple[Executor, ...] = get_args(Executor)

FailOn = Severity
FAIL_ON: tuple[FailOn, ...] = get_args(FailOn)

AS_ASKED = "as asked"
"""The source of a version that the command line names."""


class UsageError(Exception):
    """A user's mistake: the message says what is wrong, where, and what to do. Exit code 2.

    `more` are lines below the message.
    """

    def __init__(self, message: str, *more: str) -> None:
        super().__init__(message)
        self.more = more


@dataclass(frozen=True, slots=True)
class Options:
    """`select` empty means every rule but those of a preset that is not asked for, and
    those in preview without `preview`; `extend_select` is added to either. `extend_rules` are folders of rules.

    `per_file_ignores` are globs, each with rules that do not count there; `severity` is how severe rules are where not
    as they say. `fail_on` is the least severity that makes a run fail; None leaves that to the preset.
    `force_exclude` leaves out what `exclude` matches though it is named.
    `baseline` is the file of findings that are accepted, and is written anew with `update_baseline`.
    `since` is a revision of git: only what the change since then caused is told.
    `dependents` has the files that use the named ones checked with them; None leaves out those of a text on stdin.

    `stdin` is the text of the one file that `paths` names, which need not be there. `unsaved` are texts of other files
    that an editor has open: by path, in front of those on disk.

    `front_end` is the framework whose configurations the YAML files are, whatever they look like.

    `fix_only` fixes, and says nothing of what remains. `show_fixes` proves the fixes that there could be, and lists
    those that are made; None leaves the proofs to the format: only those that show edits need them.
    `diff` shows what `fix` would do and writes nothing, whatever `fix` says. `overrides` and `environment` are those of
    one launch, as `--set` and `--env` say them: never configured. `confirm` asks for a dry run of what is found, with
    the Python that `python` names and the source tree `megatron_lm`. The `target_*` are versions or ranges of them as
    written; `target_from` is who says so: AS_ASKED, or a file. `dry_run` is where
    a dry run is run, by the names of its options. `remarks` tell what of the configuration does not count.
    """

    paths: tuple[str, ...] = (".",)
    stdin: str | None = None
    unsaved: tuple[tuple[str, str], ...] = ()
    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    severity: tuple[tuple[str, Severity], ...] = ()
    fail_on: FailOn | None = None
    baseline: str | None = None
    update_baseline: bool = False
    since: str | None = None
    dependents: bool | None = None
    exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    respect_gitignore: bool = True
    search_path: tuple[str, ...] = ()
    installed_source: bool = True
    extend_rules: tuple[str, ...] = ()
    preset: str | None = None
    preview: bool = False
    target_bridge: str | None = None
    target_core: str | None = None
    target_te: str | None = None
    target_torch: str | None = None
    target_gpu: str | None = None
    front_end: str | None = None
    target_from: str = AS_ASKED
    fix: bool = False
    fix_only: bool = False
    show_fixes: bool | None = None
    unsafe_fixes: bool = False
    diff: bool = False
    output_format: tuple[str, ...] = ()
    statistics: bool = False
    group_by: GroupBy = "finding"
    cache: bool = True
    cache_dir: str | None = None
    overrides: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    confirm: bool = False
    python: str | None = None
    megatron_lm: str | None = None
    dry_run: tuple[tuple[str, Any], ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def fixes_are_seen(self) -> bool:
        """Tell whether a report shows the result of a proof: the edits of each finding, or why there are none."""
        if self.diff:
            return False
        if self.show_fixes is not None:
            return self.show_fixes
        formats = {output_of(each)[0] for each in self.output_format} or {"full"}
        return not formats.isdisjoint(WITH_EDITS) or ("full" in formats and self.group_by == "finding")

    @property
    def fails_on(self) -> FailOn:
        """The least severity that makes a run fail."""
        return self.fail_on or ("info" if self.preset == "strict" else "warning")


TARGETS = ("target_bridge", "target_core", "target_te", "target_torch", "target_gpu")


def merge(arguments: Mapping[str, Any], configuration: Mapping[str, Any]) -> Options:
    """Merge the command line's values by field name (None: not given) over those of the configuration."""
    given = {name: value for name, value in arguments.items() if value is not None}
    configured = dict(configuration)
    if any(name in given for name in TARGETS):
        configured.pop("target_from", None)
    return Options(**{**configured, **given})


def output_of(text: str) -> tuple[str, str]:
    """Split `sarif=out.sarif` into the format and the file; "" where no file is named."""
    name, _, file = text.partition("=")
    return name, file
