"""Changes in a new upstream version, and the rules to check again.

    python -m scripts.drift OLD NEW --old BRIDGE CORE --new BRIDGE CORE [--snapshots FOLDER] [--show N]

OLD and NEW are versions as the rules' evidence names them ("0.6.0", "head"), the trees their source. Printed are

- settings that are new, gone, or have another default (a star: the vocabulary has the setting);
- recipes that are new or gone, from the snapshots bridge-OLD.snapshot and bridge-NEW.snapshot;
- for every piece of evidence that rules have for OLD: where the line is now, or that it is gone, with the line that is
  most like it; and upstream error texts that the new source no longer has;
- the checks of docs/coverage.md (as `make upstream` has just read them) that NEW has and OLD has not: those that
  neither a rule nor a reason covers are holes.

Exit 0; a person decides what follows from it.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from mfsdp_lint.core.values import Value, describe
from mfsdp_lint.megatron.conditions import Site
from mfsdp_lint.megatron.versions import numbers, resolve_target
from mfsdp_lint.megatron.vocabulary import NAMES
from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.rules.model import ErrorText, Rule
from mfsdp_lint.snapshots import Snapshot
from mfsdp_lint.snapshots.knowledge import DATA
from tools.coverage.covered import Covered, covered
from tools.coverage.known import read
from tools.evidenced import CORE, core_site
from tools.vocabulary.sections import bridge_sections
from tools.vocabulary.trees import Folder, Source

ALIKE = 0.6
"""How like the old line a new one has to be to be shown (difflib's ratio)."""
AROUND = 3
"""Lines before and after, by which one of several equal lines is chosen."""
CONTAINER = ["ref", "megatron.bridge.training.config", "ConfigContainer"]
SHORTEST = 12
"""Characters of a piece of an error text that are worth looking for."""


@dataclass(frozen=True, slots=True)
class Trees:
    """The source of one version."""

    version: str
    bridge: Path
    core: Path

    def lines(self, repository: str, path: str) -> list[str] | None:
        """Return the lines of a file as evidence names it; None if it is not there."""
        root = self.bridge if repository == "bridge" else self.core
        for candidate in (root / path, root / path.removeprefix("src/")):
            if candidate.is_file():
                return _lines(candidate)
        return None

    def named(self, repository: str, name: str) -> Iterator[str]:
        """Yield the files of that name, in any folder."""
        root = self.bridge if repository == "bridge" else self.core
        yield from (str(path.relative_to(root)) for path in sorted(root.rglob(name)))


@lru_cache(maxsize=256)
def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


@dataclass(frozen=True, slots=True)
class Moved:
    """New place of a line of the old source: `alike` is 1 for the same line, 0 if none is like it."""

    path: str
    line: int
    alike: float
    text: str = ""


def find(old: Trees, new: Trees, repository: str, path: str, line: int) -> Moved | None:
    """Find the new place of a line; None if the old source does not have it."""
    before = old.lines(repository, path)
    if before is None or not 1 <= line <= len(before):
        return None
    where = [path]
    if new.lines(repository, path) is None:
        where = list(new.named(repository, os.path.basename(path)))
    found = [_in_file(before, line, other, new.lines(repository, other) or []) for other in where]
    best = max(found, key=lambda moved: moved.alike, default=Moved(path, 0, 0.0))
    return best if best.line else _anywhere(before, line, new, repository) or best


def _anywhere(before: Sequence[str], line: int, new: Trees, repository: str) -> Moved | None:
    """Find the same line in any other file, if it is long enough to be distinctive."""
    wanted = before[line - 1].strip()
    if len(wanted) < SHORTEST:
        return None
    for path in new.named(repository, "*.py"):
        lines = new.lines(repository, path) or []
        if any(text.strip() == wanted for text in lines):
            return _in_file(before, line, path, lines)
    return None


def _in_file(before: Sequence[str], line: int, path: str, after: Sequence[str]) -> Moved:
    wanted = before[line - 1].strip()
    same = [number for number, text in enumerate(after, 1) if text.strip() == wanted]
    if same:
        around = _around(before, line)
        best = max(same, key=lambda number: _ratio(around, _around(after, number)))
        return Moved(path, best, 1.0, wanted)
    likely = difflib.get_close_matches(wanted, {text.strip() for text in after}, n=1, cutoff=ALIKE)
    if not likely:
        return Moved(path, 0, 0.0)
    number = next(number for number, text in enumerate(after, 1) if text.strip() == likely[0])
    return Moved(path, number, _ratio(wanted, likely[0]), likely[0])


def _around(lines: Sequence[str], number: int) -> str:
    return "\n".join(line.strip() for line in lines[max(0, number - 1 - AROUND) : number + AROUND])


def _ratio(left: str, right: str) -> float:
    return difflib.SequenceMatcher(None, left, right).ratio()


def texts_of(trees: Trees, repository: str, path: str) -> str:
    """Return all texts of a Python file, pieces of f-strings and implicitly joined texts included."""
    lines = trees.lines(repository, path) if path.endswith(".py") else None
    found = ast.walk(ast.parse("\n".join(lines or ())))
    return "".join(
        f"{node.value}\n" for node in found if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def gone_messages(rule: Rule, site: Site, before: str, after: str) -> list[str]:
    """Return the error texts predicted by a rule at a site that the old source has, and the new has not.

    Python's own error messages are in neither.
    """
    here = [case.at(site) for case in rule.cases if case.versions.truth(site) is not False]
    errors = {case.error for case in here if case.error is not None}
    return sorted(error.template for error in errors if _has(before, error) and not _has(after, error))


def _has(texts: str, error: ErrorText) -> bool:
    pieces = [piece.strip() for piece in error.pieces() if len(piece.strip()) >= SHORTEST]
    return bool(pieces) and all(piece in texts for piece in pieces)


# -- settings and recipes -------------------------------------------------------------------------------------------


def settings(trees: Trees) -> dict[str, Value]:
    """Return the declared default of every setting of the configuration container."""
    sections = bridge_sections(Source(Folder(trees.bridge), Folder(trees.core)))
    return {
        f"{section}.{name}": field.value() for section, fields in sections.items() for name, field in fields.items()
    }


def recipes(snapshot: Snapshot) -> set[str]:
    """Return the dotted names of the functions that return a configuration container."""
    return {
        f"{module}.{name}"
        for module in snapshot.modules()
        for name in snapshot.names(module) or ()
        if not name.startswith("_") and _returned(snapshot.entry(module, name)) == CONTAINER
    }


def _returned(entry: Any) -> Any:
    """Return the class of a function's result; None if it is not known, or the entry is no function."""
    # One that is only known to be bound has no outcome.
    outcome = entry[1].get("outcome") if entry[0] == "function" else None
    result = outcome["result"] if outcome else None
    while isinstance(result, list) and result[0] in ("def", "dep", "pass"):
        result = result[2]
    return result[1] if isinstance(result, list) and result[0] == "obj" else None


# -- what is printed ------------------------------------------------------------------------------------------------


def drift(old: Trees, new: Trees, snapshots: Path, show: int) -> Iterator[str]:
    """Yield the report, line by line."""
    yield from _settings_drift(settings(old), settings(new), show)
    yield from _recipe_drift(_snapshot(snapshots, old.version), _snapshot(snapshots, new.version), show)
    yield from _rule_drift(old, new)
    yield from _check_drift(old, new)


def _snapshot(folder: Path, version: str) -> Snapshot:
    return Snapshot((folder / f"bridge-{version}.snapshot").read_bytes())


def _settings_drift(old: Mapping[str, Value], new: Mapping[str, Value], show: int) -> Iterator[str]:
    yield from _listed(
        "new settings", [f"{_starred(path)} = {describe(new[path])}" for path in new if path not in old], show
    )
    yield from _listed(
        "settings gone", [f"{_starred(path)} = {describe(old[path])}" for path in old if path not in new], show
    )
    changed = [path for path in new if path in old and new[path] != old[path]]
    rows = [f"{_starred(path)}: {describe(old[path])} -> {describe(new[path])}" for path in changed]
    yield from _listed("changed defaults", rows, show)


def _starred(path: str) -> str:
    return f"* {path}" if path in NAMES else f"  {path}"


def _recipe_drift(old: Snapshot, new: Snapshot, show: int) -> Iterator[str]:
    before, after = recipes(old), recipes(new)
    names = {name.rpartition(".")[2]: name for name in after - before}
    moved = {name: names[name.rpartition(".")[2]] for name in before - after if name.rpartition(".")[2] in names}
    yield from _listed("new recipes", [f"  {name}" for name in sorted(after - before - set(moved.values()))], show)
    yield from _listed("recipes gone", [f"  {name}" for name in sorted(before - after - moved.keys())], show)
    yield from _listed("recipes moved", [f"  {name} -> {place}" for name, place in sorted(moved.items())], show)


def _listed(title: str, rows: Sequence[str], show: int) -> Iterator[str]:
    yield f"{title}: {len(rows)}"
    yield from sorted(rows)[:show]
    if len(rows) > show:
        yield f"  and {len(rows) - show} more"


def _rule_drift(old: Trees, new: Trees) -> Iterator[str]:
    site = Site(resolve_target(old.version))
    same, rows, messages = 0, [], []
    known = right = 0
    for rule in load_rules():
        before = after = ""
        for evidence in rule.evidence.get(old.version, ()):
            moved = find(old, new, evidence.repository, evidence.path, evidence.line)
            said = rule.evidence.get(new.version, ())
            if moved is not None and said:
                known += 1
                right += any((place.path, place.line) == (moved.path, moved.line) for place in said)
            if moved is not None and moved.alike == 1.0:
                same += 1
                path = moved.path
            else:
                rows.append(f"  {rule.code} {evidence.path}:{evidence.line}{_told(moved)}")
                path = moved.path if moved is not None else evidence.path
            before += texts_of(old, evidence.repository, evidence.path)
            after += texts_of(new, evidence.repository, path)
        messages += [f"  {rule.code} {text}" for text in gone_messages(rule, site, before, after)]
    yield f"evidence found again: {same}"
    yield from _listed("evidence gone", rows, len(rows))
    yield from _listed("error texts gone", messages, len(messages))
    if known:
        yield f"of {known} lines that the rules name for {new.version} already, {right} are where this would look"


def _told(moved: Moved | None) -> str:
    if moved is None:
        return ": not in the old source either"
    if not moved.line:
        return ": nothing like it"
    return f": perhaps {moved.path}:{moved.line} ({moved.alike:.0%} alike) {moved.text}"


def _check_drift(old: Trees, new: Trees) -> Iterator[str]:
    before, after = _of_release(old.version), _of_release(new.version)
    found = covered(read(), load_rules())
    fresh = [each for each in found if after & each.known.at.keys() and not before & each.known.at.keys()]
    gone = [each for each in found if before & each.known.at.keys() and not after & each.known.at.keys()]
    yield f"checks of upstream: {len(fresh)} new, {len(gone)} gone"
    holes = [_check(each) for each in fresh if each.is_hole]
    yield from _listed("new checks with neither rule nor reason", holes, len(holes))


def _of_release(version: str) -> set[str]:
    """Return a release of Megatron-Bridge, and the line of Megatron-LM that it pins, as evidence names them."""
    line = numbers(resolve_target(version).core)[:2]
    return {version} | {f"core {core}" for core in CORE if numbers(core_site(core).target.core)[:2] == line}


def _check(each: Covered) -> str:
    check = each.known.check
    return f"  {each.known.path}:{check.own[0]} {check.kind} {check.condition or check.message}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old_version", metavar="OLD")
    parser.add_argument("new_version", metavar="NEW")
    parser.add_argument("--old", nargs=2, required=True, type=Path, metavar=("BRIDGE", "CORE"))
    parser.add_argument("--new", nargs=2, required=True, type=Path, metavar=("BRIDGE", "CORE"))
    parser.add_argument("--snapshots", type=Path, default=Path(DATA))
    parser.add_argument("--show", type=int, default=20)
    options = parser.parse_args()
    before, after = Trees(options.old_version, *options.old), Trees(options.new_version, *options.new)
    for line in drift(before, after, options.snapshots, options.show):
        print(line)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
