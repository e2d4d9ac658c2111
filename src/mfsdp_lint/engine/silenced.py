"""Silencing from outside a file: by the configuration, or by a baseline. Comments silence from inside.

The baseline has the findings that a project accepts for now, in a file that its repository keeps. An entry is known by
its rule, its file, and what is at fault there, not by its line. Where its file is gone, the same in another file is
taken for it: files are renamed.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

from mfsdp_lint.core.files import put
from mfsdp_lint.core.finding import Finding, Suppression, fingerprint
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.discover import matches, normalised
from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.rules.about_files import INTERNAL, STALE_ENTRY, UNREADABLE

VERSION = 1

NEVER_ACCEPTED = (UNREADABLE, INTERNAL, STALE_ENTRY)
"""Findings that say that something was not checked."""


@dataclass(frozen=True, slots=True, order=True)
class AcceptedFinding:
    """A finding that is accepted. `path` is relative to the baseline's folder; `message` is for whoever reads it."""

    path: str
    code: str
    fingerprint: str
    message: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """The accepted findings that a file lists."""

    file: str
    entries: tuple[AcceptedFinding, ...]

    def accepted(self, findings: Sequence[Finding]) -> dict[int, AcceptedFinding]:
        """Return, by index, the findings that it accepts, each with an entry of its own."""
        free: dict[tuple[str, str], list[AcceptedFinding]] = defaultdict(list)
        for entry in self.entries:
            free[entry.path, entry.fingerprint].append(entry)
        may_be = {index: each for index, each in enumerate(findings) if _may_be_accepted(each)}
        taken = {
            index: entries.pop()
            for index, finding in may_be.items()
            if (entries := free.get((self.relative(finding.span.path), finding.content_fingerprint)))
        }
        gone: dict[str, list[AcceptedFinding]] = defaultdict(list)
        for (path, mark), entries in free.items():
            if entries and not disk.exists(self.absolute(path)):
                gone[mark] += entries
        for index, finding in may_be.items():
            if index not in taken and gone[finding.content_fingerprint]:
                taken[index] = gone[finding.content_fingerprint].pop()
        return taken

    def stale(
        self, findings: Sequence[Finding], codes: Collection[str], paths: Collection[str], folders: Collection[str]
    ) -> Iterator[Finding]:
        """Yield a finding for each entry that accepts nothing, where these codes, files and folders were to find it."""
        used = list(self.accepted(findings).values())
        for entry in self.entries:
            if entry in used:
                used.remove(entry)
            elif entry.code in codes and self._was_asked_for(entry, paths, folders):
                yield self._stale(entry)

    def updated(
        self, findings: Sequence[Finding], codes: Collection[str], paths: Collection[str], folders: Collection[str]
    ) -> Baseline:
        """Return the baseline that accepts these findings, and keeps its entries of other rules and in other files."""
        asked = (entry for entry in self.entries if entry.code in codes)
        again = [entry for entry in asked if self._was_asked_for(entry, paths, folders)]
        others = [entry for entry in self.entries if entry not in again]
        return Baseline(self.file, tuple(sorted([*others, *map(self._entry, filter(_may_be_accepted, findings))])))

    def relative(self, path: str) -> str:
        """Return a path as the entries have it."""
        folder = os.path.dirname(os.path.abspath(self.file))
        return os.path.relpath(os.path.abspath(path), folder).replace(os.sep, "/")

    def absolute(self, path: str) -> str:
        """Return the absolute path of an entry."""
        return os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(self.file)), path))

    def write(self) -> None:
        """Write the file. Raises UsageError where it cannot be written."""
        rows = ",\n".join("    " + json.dumps(_document(entry), ensure_ascii=False) for entry in self.entries)
        text = f'{{\n  "version": {VERSION},\n  "findings": [\n{rows}\n  ]\n}}\n' if rows else _EMPTY
        try:
            put(self.file, text.encode("utf-8", "backslashreplace"), 0o644)
        except OSError as error:
            raise UsageError(f"{self.file}: {error.strerror or error}") from None

    def _was_asked_for(self, entry: AcceptedFinding, paths: Collection[str], folders: Collection[str]) -> bool:
        path = self.absolute(entry.path)
        real = disk.real(path)
        return real in paths or (not disk.exists(path) and any(real.startswith(folder) for folder in folders))

    def _entry(self, finding: Finding) -> AcceptedFinding:
        return AcceptedFinding(
            self.relative(finding.span.path), finding.code, finding.content_fingerprint, finding.message
        )

    def _stale(self, entry: AcceptedFinding) -> Finding:
        line = _line(self.file, entry)
        return Finding(
            code=STALE_ENTRY,
            name="stale-baseline-entry",
            severity="error",
            stage="never",
            message=f"the baseline accepts {entry.code} in {entry.path}, which is not found there any more",
            span=Span(self.file, line, 1, line, 1),
            consequence="the same mistake would be accepted again: --update-baseline takes the entry out",
            enforced_by="nobody",
            fingerprint=fingerprint(STALE_ENTRY, entry.path, entry.fingerprint),
        )


_EMPTY = f'{{\n  "version": {VERSION},\n  "findings": []\n}}\n'


def load(file: str, *, to_update: bool) -> Baseline:
    """Read the baseline of a file; an empty one where a file `to_update` is missing. Raises UsageError."""
    try:
        content = disk.read(file)
    except FileNotFoundError:
        if to_update:
            return Baseline(file, ())
        raise UsageError(f"baseline: {file}: no such file; --update-baseline makes it") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"baseline: {file}: {getattr(error, 'strerror', None) or error}") from None
    try:
        document = json.loads(content)
        if document["version"] != VERSION:
            raise UsageError(f"baseline: {file}: of version {document['version']}, and {VERSION} is known")
        return Baseline(file, tuple(sorted(map(_read, document["findings"]))))
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(f"baseline: {file}: not a baseline; --update-baseline makes one, in a new file") from None


def _read(entry: dict[str, str]) -> AcceptedFinding:
    read = AcceptedFinding(entry["path"], entry["code"], entry["fingerprint"], entry["message"])
    if not all(isinstance(text, str) for text in (read.path, read.code, read.fingerprint, read.message)):
        raise TypeError
    return read


def _document(entry: AcceptedFinding) -> dict[str, str]:
    return {"path": entry.path, "code": entry.code, "fingerprint": entry.fingerprint, "message": entry.message}


def _may_be_accepted(finding: Finding) -> bool:
    silenced = finding.suppressed is not None and finding.suppressed.by != "baseline"
    return not silenced and finding.code not in NEVER_ACCEPTED


def _line(file: str, entry: AcceptedFinding) -> int:
    """Return the line of an entry: each has one of its own, as it is written."""
    row = json.dumps(_document(entry), ensure_ascii=False)
    try:
        lines: Iterable[str] = disk.read(file).decode("utf-8", "replace").splitlines()
    except OSError:
        return 1
    return next((number for number, line in enumerate(lines, 1) if line.strip().rstrip(",") == row), 1)


@dataclass(frozen=True, slots=True)
class Silenced:
    """The rules that do not count in some files, by glob, and the findings that are accepted."""

    per_file: tuple[tuple[str, tuple[str, ...]], ...] = ()
    baseline: Baseline | None = None

    def mark(self, findings: Sequence[Finding]) -> list[Finding]:
        """Return all findings, with the silenced ones marked."""
        found = [self._by_file(finding) for finding in findings] if self.per_file else list(findings)
        if self.baseline is None:
            return found
        for index, entry in self.baseline.accepted(found).items():
            place = Span(self.baseline.file, 1, 1, 1, 1)
            reason = f"accepted in {self.baseline.file} as {entry.fingerprint}"
            found[index] = replace(found[index], suppressed=Suppression(place, reason, "baseline"))
        return found

    def _by_file(self, finding: Finding) -> Finding:
        if finding.suppressed is not None:
            return finding
        for glob, codes in self.per_file:
            if finding.code.startswith(codes) and matches(finding.span.path, (normalised(glob),)):
                said = Suppression(finding.span, f"per-file-ignores: {glob}", "configuration")
                return replace(finding, suppressed=said)
        return finding


NOTHING = Silenced()
