"""The checks of every version, as `checks.json` keeps them: one entry a check, with the versions that have it.

A check is the same one as long as its file, its function, its kind and its text are (where it has no text: its
condition), so that one that only moved stays itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from mfsdp_lint.core.store import read_json
from tools.coverage.checks import Check

Repository = Literal["bridge", "megatron-lm"]

FILE = Path(__file__).parent / "checks.json"

FSDP = "megatron/core/distributed/fsdp/"
ARGUMENTS = "megatron/training/arguments.py"
TRAINING = tuple(
    f"megatron/bridge/training/{name}.py"
    for name in ("config", "setup", "checkpointing", "comm_overlap", "mixed_precision")
)


@dataclass(frozen=True, slots=True)
class Known:
    """A check over the versions: `at` has where it stands, oldest first; the rest is as the newest has it."""

    repository: Repository
    path: str
    check: Check
    at: Mapping[str, tuple[Check, ...]]

    @property
    def title(self) -> str:
        """`config.py ConfigContainer.validate`, for messages."""
        return f"{self.path.rpartition('/')[2]} {self.check.function}"


Checks = Mapping[tuple[Repository, str], Sequence[Check]]
"""The checks of one version, by their file's path from the import root."""


def known(versions: Mapping[str, Checks]) -> list[Known]:
    """Merge the checks of all versions, oldest version first; in the order of the newest that has each."""
    found: dict[tuple[str, ...], Known] = {}
    for version, files in versions.items():
        for (repository, path), checks in files.items():
            for check in checks:
                key = (repository, path, check.function, check.kind, check.message or check.condition)
                before = found[key].at if key in found else {}
                at = {**before, version: (*before.get(version, ()), check)}
                newest = check if version not in before else found[key].check
                found[key] = Known(repository, path, newest, at)
    newest_first = {version: -number for number, version in enumerate(versions)}
    return sorted(
        found.values(), key=lambda each: (each.repository, each.path, newest_first[list(each.at)[-1]], each.check.own)
    )


# -- as data ----------------------------------------------------------------------------------------------------


def as_text(checks: Iterable[Known]) -> str:
    """Write JSON, a line for each check."""
    lines = (json.dumps(_data(each), ensure_ascii=False, separators=(",", ":")) for each in checks)
    return "[\n" + ",\n".join(lines) + "\n]\n"


def read(file: Path = FILE) -> list[Known]:
    """Read the output of `as_text`."""
    return [_known(data) for data in read_json(file)]


def _data(each: Known) -> dict[str, object]:
    check = each.check
    said = [each.repository, each.path, check.function, check.kind, check.condition, check.message]
    return {"check": said, "at": {version: [_lines(place) for place in places] for version, places in each.at.items()}}


def _lines(check: Check) -> list[int]:
    return [*check.own, *(check.guard or ())]


def _known(data: Mapping[str, Any]) -> Known:
    repository, path, function, kind, condition, message = data["check"]
    blank = Check(function, kind, condition, message, (0, 0))
    at = {version: tuple(_moved(blank, lines) for lines in places) for version, places in data["at"].items()}
    return Known(repository, path, next(reversed(at.values()))[0], at)


def _moved(check: Check, lines: Sequence[int]) -> Check:
    return replace(check, own=(lines[0], lines[1]), guard=(lines[2], lines[3]) if len(lines) > 2 else None)
