"""The configuration: its keys; found, read, put together from the files that it extends, and checked.

The editors' schema is made of the keys.

A configuration that is found came with the repository: it is input like every other file there. Its paths stay inside
the repository, it replaces no file but a report, and it does not edit. A file that the user names (`--config`) may do
all that the command line may.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal

from mfsdp_lint.core import files
from mfsdp_lint.core.finding import SEVERITIES
from mfsdp_lint.core.nearest import did_you_mean
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.version import __version__
from mfsdp_lint.inputs.discover import beside
from mfsdp_lint.inputs.options import (
    EXECUTORS,
    FAIL_ON,
    GROUPINGS,
    OUTPUT_FORMATS,
    PRESETS,
    TARGETS,
    UsageError,
    output_of,
)
from mfsdp_lint.inputs.projects import repository_above
from mfsdp_lint.inputs.sources import SIZE_LIMIT

Kind = Literal[
    "switch", "text", "number", "choice", "texts", "globs", "folder", "folders", "outputs",
    "codes by glob", "levels", "table",
]  # fmt: skip
"""The kind of value of a key. `folder` is any path; relative to the file that says it, like `folders` and `globs`."""


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """A key of the configuration. `name` is as it is written; the field of the options has the same name with `_`.

    A table has `keys` of its own.
    """

    name: str
    kind: Kind
    says: str
    choices: tuple[str, ...] = ()
    keys: tuple[ConfigKey, ...] = ()

    @property
    def field(self) -> str:
        """The field of Options that it fills."""
        return self.name.replace("-", "_")


KEYS = (
    ConfigKey("select", "texts", "check only these rules: codes, prefixes of codes, or names"),
    ConfigKey("extend-select", "texts", "check these rules in addition"),
    ConfigKey("ignore", "texts", "do not check these rules"),
    ConfigKey("per-file-ignores", "codes by glob", "rules to ignore in matching files"),
    ConfigKey("severity", "levels", "the severity of a rule's findings, instead of the rule's own", SEVERITIES),
    ConfigKey("preset", "choice", "the set of rules that is on by default", PRESETS),
    ConfigKey("preview", "switch", "include new rules, which may still change"),
    ConfigKey("fail-on", "choice", "the lowest severity that makes the run fail", FAIL_ON),
    ConfigKey("exclude", "globs", "files and folders to skip"),
    ConfigKey(
        "force-exclude", "switch", "apply exclude also to files named on the command line, as a commit hook does"
    ),
    ConfigKey("respect-gitignore", "switch", "skip files that git ignores"),
    ConfigKey("dependents", "switch", "also check the files that use a named file, as a commit hook should"),
    ConfigKey("search-path", "folders", "folders to find imports in"),
    ConfigKey("installed-source", "switch", "read the source of the target where it is installed or checked out"),
    ConfigKey("extend-rules", "folders", "folders with the project's own rules"),
    ConfigKey("baseline", "folder", "a file of accepted findings, which are not reported"),
    ConfigKey("target-bridge", "text", "the megatron-bridge release to judge against, or a range of releases"),
    ConfigKey("target-core", "text", "the megatron-core release, if it is not the one that megatron-bridge pins"),
    ConfigKey("target-te", "text", "the Transformer Engine version"),
    ConfigKey("target-torch", "text", "the PyTorch version"),
    ConfigKey("target-gpu", "text", "the GPU type"),
    ConfigKey("front-end", "text", "read YAML files as configurations of this framework"),
    ConfigKey("fix", "switch", "apply safe fixes"),
    ConfigKey("fix-only", "switch", "apply safe fixes, and do not report the remaining findings"),
    ConfigKey("show-fixes", "switch", "prove every fix, and list the fixes that are applied"),
    ConfigKey("unsafe-fixes", "switch", "include unsafe fixes when fixes are counted, shown or applied"),
    ConfigKey("diff", "switch", "print the changes that fixing would make as a patch; write nothing"),
    ConfigKey("output-format", "outputs", "the format of the report; FORMAT=FILE writes it to a file", OUTPUT_FORMATS),
    ConfigKey("group-by", "choice", "how the report is grouped", GROUPINGS),
    ConfigKey("statistics", "switch", "count the findings of each rule instead of listing them"),
    ConfigKey("cache", "switch", "reuse results while no file that a check read has changed"),
    ConfigKey("cache-dir", "folder", "the folder for the cache"),
    ConfigKey(
        "dry-run",
        "table",
        "where a dry run is run",
        keys=(
            ConfigKey("executor", "choice", "this machine, or the nodes of a cluster", EXECUTORS),
            ConfigKey("keep", "folder", "the folder for the logs and answers of launches, which Slurm's nodes see too"),
            ConfigKey("nodes", "number", "the nodes that share the ranks of a job"),
            ConfigKey("partition", "text", "the partition of Slurm"),
            ConfigKey("account", "text", "the account of Slurm"),
            ConfigKey("time", "text", "the time limit of a job: minutes, H:M:S, D-H"),
            ConfigKey("gpus-per-job", "number", "the GPUs of a job"),
            ConfigKey("container-image", "text", "the container that jobs run in (pyxis)"),
            ConfigKey("container-mounts", "text", "folders to mount in the container, separated by commas"),
            ConfigKey("max-jobs", "number", "the most jobs that the recipes share"),
            ConfigKey("setup", "texts", "lines of shell that a job runs first"),
        ),
    ),
)

EXTEND = ConfigKey("extend", "folder", "a file whose keys apply unless this file sets them")
REQUIRED_VERSION = ConfigKey("required-version", "text", "the versions of mfsdp-lint that may read this file")

ONLY_ASKED = ("fix", "fix-only", "unsafe-fixes")
"""The keys that change files: they count on the command line and in a file that it names."""

DRY_RUN = "dry_run"
"""The field of the table for dry runs."""

ONLY_ASKED_OF_A_DRY_RUN = ("container-image", "container-mounts", "setup")
"""The keys of that table that run programs: they count likewise."""

EVERY_KEY = (EXTEND, REQUIRED_VERSION, *KEYS)
BY_NAME = {key.name: key for key in EVERY_KEY}

OWN_FILE = "mfsdp-lint.toml"
"""A file that is all configuration; before pyproject.toml where both are in a folder."""

SHARED_FILE = "pyproject.toml"

TABLE = "tool.mfsdp-lint"

_MERGED = ("codes by glob", "levels", "table")
"""The kinds of keys whose entries add to those of the file that is extended; all else replaces."""


def read_configuration(file: str | None = None) -> dict[str, Any]:
    """Read the configuration by field name: of `file`, else of the nearest file that has one, upwards from here.

    Paths and globs are relative to the file that names them. `remarks` says which keys of a file that was found do not
    count. Raises UsageError with file and key.
    """
    if file is not None:
        return _read(file, (), None)
    found = next(((table, each) for each in _candidates() if (table := _table(each)) is not None), None)
    if found is None:
        return {}
    table, file = found
    repository = os.path.realpath(repository_above(os.path.dirname(os.path.abspath(file))))
    configured = _merged(table, file, (), repository)
    remarks = []
    if dropped := [name for name in ONLY_ASKED if configured.pop(BY_NAME[name].field, False)]:
        remarks.append(_does_not_count(file, file, dropped, "edits nothing"))
    of_a_dry_run = dict(configured.get(DRY_RUN, ()))
    if dropped := [
        name for name in ONLY_ASKED_OF_A_DRY_RUN if of_a_dry_run.pop(name.replace("-", "_"), None) is not None
    ]:
        configured[DRY_RUN] = tuple(of_a_dry_run.items())
        remarks.append(_does_not_count(file, f"{file}: dry-run", dropped, "runs no program"))
    if remarks:
        configured["remarks"] = tuple(remarks)
    return configured


def _does_not_count(file: str, where: str, names: Sequence[str], why: str) -> str:
    flags = " ".join(f"--{name}" for name in names)
    said = f"a configuration that came with the files {why}; give {flags}, or name the file: --config {file}"
    return f"{where}: {', '.join(names)}: {said}"


def configuration_file() -> str | None:
    """Return the file that `read_configuration` reads where none is named. Raises UsageError."""
    return next((candidate for candidate in _candidates() if _table(candidate) is not None), None)


def _candidates() -> Iterator[str]:
    """Yield every file that may hold a configuration, from the current directory upwards, as a relative path."""
    depth = os.getcwd().rstrip(os.sep).count(os.sep)
    for up in range(depth + 1):
        for name in (OWN_FILE, SHARED_FILE):
            candidate = os.path.join(*[os.pardir] * up, name)
            if os.path.isfile(candidate):
                yield candidate


def _read(file: str, extended_by: tuple[str, ...], repository: str | None) -> dict[str, Any]:
    """Read the configuration of a file that is named. Raises UsageError."""
    table = _table(file)
    if table is None:
        raise UsageError(f"{file}: has no [{TABLE}] table")
    return _merged(table, file, extended_by, repository)


def _merged(table: object, file: str, extended_by: tuple[str, ...], repository: str | None) -> dict[str, Any]:
    """Merge the keys of a file over those of the file that it extends. Raises UsageError.

    `repository` is the folder, without links, that their paths stay in; None where the user named the file.
    """
    if not isinstance(table, dict):
        raise UsageError(f"{file}: [{TABLE}] must be a table")
    said = {name: _checked(name, value, file, repository) for name, value in table.items()}
    if (required := said.pop(REQUIRED_VERSION.name, None)) is not None:
        from mfsdp_lint.megatron.versions import VersionError, parse_range

        where = _where(file, REQUIRED_VERSION.name)
        try:
            fits = __version__ in parse_range(required)
        except VersionError as error:
            raise UsageError(f"{where}: {error}") from None
        if not fits:
            raise UsageError(f"{where}: this is mfsdp-lint {__version__}, and the configuration is for {required}")
    base = said.pop(EXTEND.name, None)
    own = {BY_NAME[name].field: value for name, value in said.items()}
    if any(name in own for name in TARGETS):
        own["target_from"] = file
    if base is None:
        return own
    chain = (*extended_by, file)
    if any(os.path.realpath(base) == os.path.realpath(each) for each in chain):
        raise UsageError(f"{file}: extend: {' → '.join((*chain, base))} goes in a circle")
    below = _read(base, chain, repository)
    both = [key.field for key in map(BY_NAME.__getitem__, said) if key.kind in _MERGED and key.field in below]
    return {**below, **own, **{name: (*below[name], *own[name]) for name in both}}


def _table(file: str) -> object | None:
    """Return this tool's table of a file as TOML has it, None where the file has none. Raises UsageError."""
    try:
        content = files.read(file, SIZE_LIMIT)
    except (OSError, ValueError) as error:
        raise UsageError(f"{file}: {getattr(error, 'strerror', None) or error}") from None
    own = os.path.basename(file) == OWN_FILE
    if not own and b"mfsdp" not in content:  # spares the parser, and whoever has a broken file without our table
        return None
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        document: dict[str, Any] = tomllib.loads(content.decode("utf-8"))
    except ValueError as error:  # TOMLDecodeError and UnicodeDecodeError
        if own or b"mfsdp-lint" in content:
            raise UsageError(f"{file}: {error}") from None
        return None
    if own:
        return document
    tool = document.get("tool")
    if not isinstance(tool, dict):
        return None
    for name in tool:
        if name != "mfsdp-lint" and name.replace("_", "-").startswith(("mfsdp", "megatron-fsdp-lint")):
            raise UsageError(f"{file}: [tool.{name}]: no such table; did you mean [{TABLE}]?")
    return tool.get("mfsdp-lint")


def _where(file: str, key: str) -> str:
    return f"{file}: {key}" if os.path.basename(file) == OWN_FILE else f"{file}: [{TABLE}] {key}"


def _checked(name: str, value: object, file: str, repository: str | None, table: ConfigKey | None = None) -> Any:
    """Convert the value of a key, of a table where one is given, to the value of its field. Raises UsageError."""
    keys = {key.name: key for key in table.keys} if table else BY_NAME
    where = _where(file, f"{table.name}.{name}" if table else name)
    beside_it = partial(_path_beside, file, repository, where)
    key = keys.get(name)
    if key is None:
        hint = did_you_mean(name.replace("_", "-"), keys) or f" (known: {', '.join(keys)})"
        raise UsageError(f"{where}: no such setting{hint}")
    match key.kind:
        case "switch":
            return _of_type(bool, "true or false", value, where)
        case "text":
            return _of_type(str, "a string", value, where)
        case "number":
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise UsageError(f"{where}: expected a number above 0, got {_spell(value)}")
            return value
        case "choice":
            return _one_of(key, _of_type(str, "a string", value, where), where)
        case "folder":
            return beside_it(_of_type(str, "a string", value, where))
        case "texts":
            return _texts(value, where)
        case "globs":
            return tuple(beside(file, glob) for glob in _texts(value, where))
        case "folders":
            return tuple(map(beside_it, _texts(value, where)))
        case "outputs":
            texts = (value,) if isinstance(value, str) else _texts(value, where)
            named = [(_one_of(key, name, where), target) for name, target in map(output_of, texts)]
            placed = [(name, beside_it(target) if target else "") for name, target in named]
            if repository is not None:
                for name, target in placed:
                    _check_report(name, target, where)
            return tuple(f"{name}={target}" if target else name for name, target in placed)
        case "codes by glob":
            inner = _of_type(dict, "a table", value, where)
            return tuple((beside(file, glob), _texts(codes, f"{where}.{glob}")) for glob, codes in inner.items())
        case "table":
            inner = _of_type(dict, "a table", value, where)
            return tuple((each.replace("-", "_"), _checked(each, inner[each], file, repository, key)) for each in inner)
        case "levels":
            inner = _of_type(dict, "a table", value, where)
            return tuple(
                (code, _one_of(key, _of_type(str, "a string", level, at), at))
                for code, level in inner.items()
                for at in (f"{where}.{code}",)
            )


def _of_type(kind: type, called: str, value: object, where: str) -> Any:
    if not isinstance(value, kind):
        raise UsageError(f"{where}: expected {called}, got {_spell(value)}")
    return value


def _texts(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise UsageError(f"{where}: expected a list of strings, got {_spell(value)}")
    return tuple(value)


def _one_of(key: ConfigKey, value: str, where: str) -> str:
    if value not in key.choices:
        hint = did_you_mean(value, key.choices)
        raise UsageError(f"{where}: expected one of {', '.join(key.choices)}, got {_spell(value)}{hint}")
    return value


def _spell(value: object) -> str:
    import json

    return json.dumps(value, default=str)


def _path_beside(file: str, repository: str | None, where: str, path: str) -> str:
    """Return a path that a file gives, relative to that file.

    Raises UsageError for one that leaves the repository, or belongs to git.
    """
    placed = os.path.normpath(os.path.join(os.path.dirname(file), path))
    if repository is None:
        return placed
    try:
        real = os.path.realpath(placed)
    except ValueError:  # no path at all, as whoever opens it will say
        return placed
    below = os.path.join(repository, "")
    if real != repository and not real.startswith(below):
        raise UsageError(f"{where}: {path} leads out of the repository {repository}, to {real}; {_INSTEAD}")
    if ".git" in real.removeprefix(below).casefold().split(os.sep):
        raise UsageError(f"{where}: {path} belongs to git; {_INSTEAD}")
    return placed


_INSTEAD = "to allow it, give it on the command line, or name the configuration there (--config)"

_REPORT_HEADS: Mapping[str, tuple[bytes, ...]] = {
    "json": (b'{\n  "version": 1,\n  "target": {',),
    "sarif": (b'{\n  "$schema": "https://json.schemastore.org/sarif',),
    "gitlab": (b"[]\n", b'[\n  {\n    "description": "'),
    "junit": (b'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="mfsdp-lint"',),
    "rdjson": (b'{\n  "source": {\n    "name": "mfsdp-lint"',),
}
"""The beginnings of reports; those for people end with the line of summary instead."""

_SUMMARY = b"; judged against "


def _check_report(name: str, path: str, where: str) -> None:
    """Raise UsageError where a report would replace something else."""
    if not path:
        return
    try:
        content = files.read(path)
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise UsageError(f"{where}: {path}: {getattr(error, 'strerror', None) or error}") from None
    head = _REPORT_HEADS.get(name)
    is_report = content.startswith(head) if head else _SUMMARY in content[content[:-1].rfind(b"\n") + 1 :]
    if content and not is_report:
        raise UsageError(f"{where}: {path} is no report in the format {name} and is not replaced; {_INSTEAD}")
