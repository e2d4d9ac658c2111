"""Outcomes of runs, and a cache of them in files: a check of unchanged files takes no time.

The key of a run is its question and the tool itself; its outcome counts for as long as every look at the disk that it
took shows the same (inputs/disk.py). Beside each outcome lies the memory of its run (engine/recall.py), for a run after
texts have changed, or one about other files; and beside all of them an index of the texts (inputs/index.py). The files
hold data alone. They may be deleted, damaged or written by several runs at once: an unusable file is ignored, and the
run is done anew. The folder lies in the project, so it may have come with a checkout: each file is sealed with a secret
of this user on this machine, and one without the seal is ignored.
`check` is the library's front door for files.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from mfsdp_lint.core import files, kept
from mfsdp_lint.core.digests import blake2b, compare_digest
from mfsdp_lint.core.files import PACKAGE, RULES
from mfsdp_lint.core.finding import Applied, Finding
from mfsdp_lint.core.kept import NotKept
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Recipe, Unfollowed
from mfsdp_lint.core.records import dataclass, fields, replace
from mfsdp_lint.core.store import FILE
from mfsdp_lint.core.version import __version__
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.configuration import read_configuration
from mfsdp_lint.inputs.options import TARGETS, Options, UsageError, merge
from mfsdp_lint.inputs.projects import DECIDING, OWN_FOLDER, active_environments, own_packages, root_above
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.reports.summary import RecipeState, Summary, recounted

if TYPE_CHECKING:
    from mfsdp_lint.engine.recall import Recall


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run: the findings that remain, by place and code, and the requests that cannot be met.

    `fixes` are those that were applied, or are in the patch. `recipes` has the findings by recipe, where that was
    asked for. `unfollowed` is code of which there is no recipe though there should be. `patch` is the output of
    `--diff`. `left` says which files were to be written and were not. `sources` are the files as they are after the
    run. `read` are the recipes themselves for every target; None where the outcome is cached from an earlier run, and
    `legible` then the files whose text may be shown: those that the earlier run looked at. More than what was looked at
    decided one that is not `is_lasting`, as a revision that a variable names.
    """

    findings: tuple[Finding, ...]
    summary: Summary
    sources: Sources
    fixes: tuple[Applied, ...] = ()
    recipes: tuple[RecipeState, ...] = ()
    unfollowed: tuple[Unfollowed, ...] = ()
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    patch: bytes = b""
    left: tuple[str, ...] = ()
    read: Mapping[Target, tuple[Recipe, ...]] | None = None
    legible: Collection[str] | None = None
    is_lasting: bool = True

    @property
    def files(self) -> Iterator[str]:
        """The paths of the files of which something is told, not each once."""
        yield from (finding.span.path for finding in self.findings)
        yield from (fix.span.path for fix in self.fixes)
        yield from (recipe.path for recipe in self.recipes)
        yield from (each.path for each in self.unfollowed)

    def only(self, paths: Collection[str], faults: Collection[Finding]) -> Outcome:
        """Keep what is told of these files, and the faults for which the others are left out."""
        findings = (*(each for each in self.findings if each.span.path in paths), *faults)
        return replace(
            self,
            findings=findings,
            summary=recounted(self.summary, findings),
            fixes=tuple(each for each in self.fixes if each.span.path in paths),
            recipes=tuple(each for each in self.recipes if each.path in paths),
            unfollowed=tuple(each for each in self.unfollowed if each.path in paths),
        )

    def shown(self, path: str) -> str | None:
        """Return the text of a file, or of a notebook's cell, for people; None where it cannot be read."""
        from mfsdp_lint.reports.places import CELL, text_of

        file = path.partition(CELL)[0]
        return text_of(path, self.sources) if self.legible is None or file in self.legible else None

    def written(self, path: str) -> str | None:
        """Return the text of a file as it is, for programs; None where it cannot be read."""
        return self.sources.as_it_is_or_none(path) if self.legible is None or path in self.legible else None


VARIABLE = "MFSDP_LINT_CACHE_DIR"
"""The variable of the environment that names another folder; empty: nothing is kept."""

MOST_RUNS = 100
"""Those that were used last."""

MOST_MEMORIES = 12
"""The memories (engine/recall.py) that were used last; that of a large tree takes megabytes."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The outcome of a run, and every look at the disk that led to it."""

    looks: tuple[disk.Watched, ...]
    findings: tuple[Finding, ...]
    summary: Summary
    recipes: tuple[RecipeState, ...]
    unfollowed: tuple[Unfollowed, ...]
    problems: tuple[str, ...]
    remarks: tuple[str, ...]


def run(options: Options) -> Outcome:
    """Run the linter as the options ask, or return the cached outcome of an earlier run. Raises UsageError.

    A run that changes files, or asks a dry run, is always done, with the memory of other runs.
    """
    folder = _folder(options) if options.cache else None
    place = None if folder is None or _is_always_done(options) else os.path.join(folder, f"{_key(options)}.outcome")
    if place is not None and (known := load(place)) is not None:
        with suppress(OSError):
            os.utime(place)
        return Outcome(
            known.findings,
            known.summary,
            Sources(),
            recipes=known.recipes,
            unfollowed=known.unfollowed,
            problems=known.problems,
            remarks=known.remarks,
            legible={each.path for each in known.looks},
        )
    from mfsdp_lint.engine.run import run as run_anew  # what a cached run does not need is not imported
    from mfsdp_lint.inputs import index

    if folder is None:
        return run_anew(options)
    there = os.path.join(folder, f"{_hash(*_tool())}.index")
    with index.kept(partial(_content, there), partial(_put, there)):
        return run_anew(options) if options.stdin is not None else _run_and_keep(options, folder, place)


def _run_and_keep(options: Options, folder: str, place: str | None) -> Outcome:
    """Run the linter with the memory of an earlier run, and keep the memory of this one, and at a place the outcome.

    What was asked of files that this run has changed is of no use to others.
    """
    places = [os.path.join(folder, f"{key}.memory") for key in _keys_of_memories(options)]
    outcome, record, recall = _remembering(options, partial(_memory, places), partial(_put, places[0]))
    if record.complete:
        if place is not None and outcome.is_lasting:
            _save(place, outcome, record)
        if options.diff or not outcome.fixes:
            recall.keep()
    return outcome


@dataclass(slots=True)
class ProcessMemory:
    """The memory of the runs of one process that ask the same about other texts: the last one's, and its sources."""

    key: str = ""
    content: bytes | None = None
    sources: Sources | None = None

    def keep(self, content: bytes) -> None:
        """Keep the memory of a run."""
        self.content = content


def run_again(options: Options, memory: ProcessMemory) -> Outcome:
    """Run the linter with the memory of an earlier run of this process; keep that of this one. Raises UsageError."""
    key = _key(replace(options, stdin=None, unsaved=()))
    if memory.key != key:
        memory.key, memory.content, memory.sources = key, None, None
    outcome, record, recall = _remembering(options, lambda: memory.content, memory.keep, memory.sources)
    memory.content, memory.sources = None, recall.sources
    if record.complete:
        recall.keep()
    return outcome


def _remembering(
    options: Options,
    load: Callable[[], bytes | None],
    save: Callable[[bytes], None],
    sources: Sources | None = None,
) -> tuple[Outcome, disk.Record, Recall]:
    """Run the linter with the memory of an earlier run; return the outcome, its looks, and the memory of this one."""
    from mfsdp_lint.engine.recall import Recall

    theirs = bool(options.extend_rules)
    try:
        return _recorded(options, Recall(load, save, theirs, sources))
    except NotKept:
        return _recorded(options, Recall(lambda: None, save, theirs))


def _memory(places: Sequence[str]) -> bytes | None:
    """Return the memory of an earlier run, at the first of these places that has one; where a place has none, the
    largest one of the same question about other files.
    """
    for place in places:
        found = _content(place) or _largest_like(place)
        if found is not None:
            return found
    return None


def _largest_like(place: str) -> bytes | None:
    folder, name = os.path.split(place)
    with suppress(OSError):  # another process may remove one
        with os.scandir(folder) as scan:
            alike = [each for each in scan if each.name[:_COMMON] == name[:_COMMON] and _ENTRY.fullmatch(each.name)]
        memories = [each for each in alike if each.name.endswith(".memory")]
        largest = max(memories, key=lambda each: each.stat().st_size, default=None)
        return None if largest is None else _content(largest.path)
    return None


def _recorded(options: Options, recall: Recall) -> tuple[Outcome, disk.Record, Recall]:
    """Run the linter, and record every look that it takes."""
    from mfsdp_lint.engine.run import run as run_anew

    with disk.recorded() as record:
        for folder in options.extend_rules:
            _look_at_rules(folder)
        return run_anew(options, recall), record, recall


def _is_always_done(options: Options) -> bool:
    changes = options.fix or options.fix_only or options.update_baseline
    return changes or options.since is not None or options.diff or options.confirm or options.stdin is not None


def _look_at_rules(folder: str) -> None:
    """Record a look at the rules of a team: they are as much a part of a run as the files that it reads."""
    for name in disk.Listing(folder).matching("*.yaml"):
        with suppress(OSError):
            disk.read(os.path.join(folder, name))


def _folder(options: Options) -> str | None:
    """Return the folder of the cache, which is there; None where nothing can be kept. Raises UsageError.

    A folder that is a link, or holds anything else, is not the cache: it would be hidden from git and from the run.
    """
    folder = cache_folder(options)
    if not folder or secret() is None:
        return None
    names: list[str] = []
    try:
        # Before the run looks around, so that it sees neither the folder appear nor what happens in it.
        os.makedirs(folder, exist_ok=True)
        names = os.listdir(folder)
    except OSError:
        return None
    other = next((name for name in names if not name.startswith(".") and not _ENTRY.fullmatch(name)), None)
    if os.path.islink(folder) or other:
        why = f"holds other files ({other})" if other else "is a link"
        raise UsageError(f"{folder}: {why}; the cache needs a folder of its own (--cache-dir, or --no-cache)")
    disk.overlook(folder)
    if not names:
        with suppress(OSError):
            files.put(os.path.join(folder, ".gitignore"), b"*\n")
    return folder


def cache_folder(options: Options) -> str:
    """Return the folder that keeps the outcomes of runs here; "" where nothing is kept."""
    folder = options.cache_dir or os.environ.get(VARIABLE)
    return os.path.join(root_above(os.getcwd()), OWN_FOLDER) if folder is None else folder


def clean(folder: str) -> int:
    """Remove the cache's own files from a folder; return their number."""
    removed = 0
    for name in os.listdir(folder) if os.path.isdir(folder) and not os.path.islink(folder) else ():
        if _ENTRY.fullmatch(name):
            with suppress(OSError):
                os.unlink(os.path.join(folder, name))
                removed += 1
    return removed


_ENTRY = lazy_pattern(r"[0-9a-f]{32}\.(outcome|json|memory|index)(\.\d+)?")
"""The names of files in the cache, finished and unfinished; earlier releases kept outcomes as JSON."""


def secret_file() -> str:
    """Return the file with the secret of this user on this machine, in the user's own folder for caches."""
    if sys.platform == "win32":
        home = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~")
    else:
        home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(home, "mfsdp-lint", "secret")


def secret() -> bytes | None:
    """Return the secret that seals the cache; made where there is none. None where nobody's secret can be kept."""
    path = secret_file()
    if not os.path.isabs(path):  # nobody's home; and relative to a project it would be no secret
        return None
    try:
        with files.opened(path) as file:
            status = os.fstat(file.fileno())
            found = file.read(_SECRET_BYTES + 1) or b""
        mine = not hasattr(os, "geteuid") or (status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & 0o77)
        if mine and len(found) == _SECRET_BYTES:
            return found
    except FileNotFoundError:
        pass
    except OSError:
        return None
    made = os.urandom(_SECRET_BYTES)
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        files.put(path, made, 0o600)
    except OSError:
        return None
    return made


_SECRET_BYTES = 32


def _key(options: Options) -> str:
    """Return a key that differs for every question, whoever asks it. The format of the answer is not part of it."""
    proofs = options.show_fixes if options.fixes_are_seen else False
    asked = replace(options, output_format=(), statistics=False, fail_on=None, show_fixes=proofs, cache_dir=None)
    return _hash(*_world(), *(os.environ.get(name, "") for name in DECIDING), repr(asked))


_OF_READINGS = (
    "search_path", "installed_source", "extend_rules", "front_end", "overrides", "environment", *TARGETS,
    "select", "extend_select", "ignore", "preset", "preview",
)  # fmt: skip
"""The options that decide how files are read, and by which rules they are judged. (Whoever takes a memory over compares
the questions themselves.)"""


def _keys_of_memories(options: Options) -> list[str]:
    """Return the keys of the memories that a run may take over: its own, and that of a run which proves fixes and so
    asks for more of each recipe. What questions about other files have in common is the beginning of a key.
    """
    asked = (*_world(), *(repr(getattr(options, name)) for name in _OF_READINGS))
    proves = options.fixes_are_seen or options.fix or options.fix_only or options.diff
    return [
        "".join(_hash(*asked, str(proofs), *paths)[:_COMMON] for paths in ((), options.paths))
        for proofs in dict.fromkeys((proves, True))
    ]


def _world() -> tuple[str, ...]:
    return (*_tool(), *active_environments(), *own_packages())


def _tool() -> tuple[str, ...]:
    """Return texts that differ between two states of the tool, or two places that it is started at."""
    return __version__, *_own_files(), sys.version, os.getcwd()


def _hash(*parts: str) -> str:
    return blake2b("\0".join(parts).encode(errors="surrogateescape"), digest_size=16).hexdigest()


_COMMON = 16


def _own_files() -> Iterator[str]:
    """Yield texts that differ between two states of one version of the tool.

    In a checkout they are about all files but the one that runs make of the others, else about one.
    """
    if not os.path.isdir(RULES):
        yield str(os.stat(__file__).st_mtime_ns)
        return
    pending = [PACKAGE, RULES]
    while pending:
        with os.scandir(pending.pop()) as scan:
            for entry in scan:
                if entry.is_dir():
                    if entry.name != "__pycache__":
                        pending.append(entry.path)
                elif not entry.name.startswith(os.path.basename(FILE)):
                    status = entry.stat()
                    yield f"{entry.path} {status.st_size} {status.st_mtime_ns}"


def sealed(place: str, data: bytes) -> bytes | None:
    """Return the content of a file for some data: a seal on it and on the file's name, and the data.

    None where there is no secret to seal it with.
    """
    seal = _seal(place, data)
    return None if seal is None else seal + b"\n" + data


def _seal(place: str, data: bytes) -> bytes | None:
    key = secret()
    if key is None:
        return None
    hashed = blake2b(os.path.basename(place).encode() + b"\n", digest_size=32, key=key)
    hashed.update(data)
    return hashed.hexdigest().encode()


def _content(place: str) -> bytes | None:
    """Return the data in a file of the cache; None where it is not sealed by this user, or not there."""
    try:
        content = files.read(place)
    except OSError:
        return None
    seal, _, data = content.partition(b"\n")
    expected = _seal(place, data)
    return data if expected is not None and compare_digest(seal, expected) else None


def load(place: str) -> Kept | None:
    """Read an outcome; None where it is not sealed by this user, damaged, of another shape, or not there, or where the
    disk shows something else today.
    """
    data = _content(place)
    if data is None:
        return None
    with suppress(Exception):  # which bytes of another shape may raise
        found = kept.loads(data)
        if isinstance(found, Kept) and disk.shows_the_same(found.looks):
            return found
    return None


def _save(place: str, outcome: Outcome, record: disk.Record) -> None:
    told = Kept(
        record.watched(),
        outcome.findings,
        outcome.summary,
        outcome.recipes,
        outcome.unfollowed,
        outcome.problems,
        outcome.remarks,
    )
    # A full disk is nobody's fault.
    with suppress(OSError, ValueError, TypeError):
        _put(place, kept.dumps(told))


def _put(place: str, data: bytes) -> None:
    """Write a file of the cache, and remove the oldest ones of its kind. Raises OSError."""
    content = sealed(place, data)
    if content is not None:
        files.put(place, content, 0o600)
        kind = os.path.splitext(place)[1]
        _forget_the_oldest(os.path.dirname(place), kind, MOST_RUNS if kind == ".outcome" else MOST_MEMORIES)


def _forget_the_oldest(folder: str, kind: str, most: int) -> None:
    found = [os.path.join(folder, name) for name in os.listdir(folder) if _ENTRY.fullmatch(name) and kind in name]
    if len(found) > most:
        ages = {}
        for path in found:
            with suppress(OSError):
                ages[path] = os.stat(path).st_mtime_ns
        for path in sorted(ages, key=ages.__getitem__)[: len(found) - most]:
            with suppress(OSError):
                os.unlink(path)


_WRITES = ("fix", "fix_only", "update_baseline")


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of a check: the findings that count, the silenced ones, and the problems.

    Findings are in the order of their places. `problems` name the files that could not be checked.
    """

    findings: tuple[Finding, ...]
    suppressed: tuple[Finding, ...]
    problems: tuple[str, ...]
    summary: Summary


def check(
    paths: Sequence[str] = (".",), *, config: str | None = None, isolated: bool = False, **options: Any
) -> Checked:
    """Check files, folders and addresses, as `mfsdp-lint PATHS` does; nothing in them is imported or run.

    `options` are the keys of the configuration with `_` for `-` (`select=("MFSDP1",)`, `target_bridge="0.4.2"`). They
    override those of the nearest configuration, of the file `config`, or with `isolated` of none. Nothing is written.
    Raises UsageError for an option that is wrong.
    """
    known = {field.name for field in fields(Options)} - {"paths", *_WRITES}
    for name in options:
        if name not in known:
            from mfsdp_lint.core.nearest import did_you_mean

            raise UsageError(f"{name}: no such option{did_you_mean(name, known)}")
    configured = {} if isolated else read_configuration(config)
    configured = {name: value for name, value in configured.items() if name not in _WRITES}
    outcome = run(merge({**options, "paths": tuple(paths)}, configured))
    return Checked(
        tuple(finding for finding in outcome.findings if finding.suppressed is None),
        tuple(finding for finding in outcome.findings if finding.suppressed is not None),
        outcome.problems,
        outcome.summary,
    )
