"""The configuration: its keys; found, read, put together from the files that it extends, and checked.

The editors' schema is made of the keys.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any, Literal

from mfsdp_lint import __version__
from mfsdp_lint.core import files
from mfsdp_lint.core.finding import SEVERITIES
from mfsdp_lint.core.nearest import did_you_mean
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs.discover import beside
from mfsdp_lint.inputs.options import FAIL_ON, GROUPINGS, OUTPUT_FORMATS, PRESETS, TARGETS, UsageError, output_of
from mfsdp_lint.inputs.sources import SIZE_LIMIT

Kind = Literal["switch", "text", "choice", "texts", "globs", "folder", "folders", "outputs", "codes by glob", "levels"]
"""The kind of value of a key. `folder` is any path; relative to the file that says it, like `folders` and `globs`."""


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """A key of the configuration. `name` is as it is written; the field of the options has the same name with `_`."""

    name: str
    kind: Kind
    says: str
    choices: tuple[str, ...] = ()

    @property
    def field(self) -> str:
        """The field of Options that it fills."""
        return self.name.replace("-", "_")


KEYS = (
    ConfigKey("select", "texts", "only these rules: codes, their beginnings, or names"),
    ConfigKey("extend-select", "texts", "these rules as well"),
    ConfigKey("ignore", "texts", "not these rules"),
    ConfigKey("per-file-ignores", "codes by glob", "rules that do not count in the files that match"),
    ConfigKey("severity", "levels", "how severe the findings of a rule are, where not as the rule says", SEVERITIES),
    ConfigKey("preset", "choice", "which rules are on without being named", PRESETS),
    ConfigKey("preview", "switch", "new rules as well, which may still change"),
    ConfigKey("fail-on", "choice", "the least severity that makes a run fail", FAIL_ON),
    ConfigKey("exclude", "globs", "files and folders that are left out"),
    ConfigKey("force-exclude", "switch", "leave them out also where they are named, as a commit hook does"),
    ConfigKey("respect-gitignore", "switch", "leave out what git ignores"),
    ConfigKey("search-path", "folders", "where imports are found"),
    ConfigKey("installed-source", "switch", "read the source of the target where it is installed or checked out"),
    ConfigKey("extend-rules", "folders", "folders with rules of one's own"),
    ConfigKey("baseline", "folder", "a file of findings that are accepted for now"),
    ConfigKey("target-bridge", "text", "the megatron-bridge release to judge against, or a range of them"),
    ConfigKey("target-core", "text", "likewise of megatron-core"),
    ConfigKey("target-te", "text", "the version of Transformer Engine"),
    ConfigKey("target-torch", "text", "the version of PyTorch"),
    ConfigKey("target-gpu", "text", "the kind of GPU"),
    ConfigKey("front-end", "text", "the framework whose configurations the YAML files are, whatever they look like"),
    ConfigKey("fix", "switch", "apply the safe fixes"),
    ConfigKey("fix-only", "switch", "apply them, and say nothing of what remains"),
    ConfigKey("show-fixes", "switch", "prove the fixes, and list those that are applied"),
    ConfigKey("unsafe-fixes", "switch", "count, show and apply unsafe fixes as well"),
    ConfigKey("diff", "switch", "print what fixing would do as a patch, and write nothing"),
    ConfigKey(
        "output-format", "outputs", "how findings are printed; FORMAT=FILE writes them to a file", OUTPUT_FORMATS
    ),
    ConfigKey("group-by", "choice", "what the report is arranged by", GROUPINGS),
    ConfigKey("statistics", "switch", "count the findings of each rule instead of showing them"),
    ConfigKey("cache", "switch", "keep what a run comes to, and use it while nothing changes"),
    ConfigKey("cache-dir", "folder", "where that is kept"),
)

EXTEND = ConfigKey("extend", "folder", "a file whose configuration counts where this one says nothing")
REQUIRED_VERSION = ConfigKey("required-version", "text", "the versions of mfsdp-lint that the configuration is for")

EVERY_KEY = (EXTEND, REQUIRED_VERSION, *KEYS)
BY_NAME = {key.name: key for key in EVERY_KEY}


OWN_FILE = "mfsdp-lint.toml"
"""A file that is all configuration; before pyproject.toml where both are in a folder."""

SHARED_FILE = "pyproject.toml"

TABLE = "tool.mfsdp-lint"

_MERGED = ("codes by glob", "levels")
"""The kinds of keys whose entries add to those of the file that is extended; all else replaces."""


def read_configuration(file: str | None = None) -> dict[str, Any]:
    """Read the configuration by field name: of `file`, else of the nearest file that has one, upwards from here.

    Paths and globs are relative to the file that names them. Raises UsageError with file and key.
    """
    if file is not None:
        return _read(file, ())
    found = next(((table, each) for each in _candidates() if (table := _table(each)) is not None), None)
    return {} if found is None else _merged(*found, ())


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


def _read(file: str, extended_by: tuple[str, ...]) -> dict[str, Any]:
    """Read the configuration of a file that is named. Raises UsageError."""
    table = _table(file)
    if table is None:
        raise UsageError(f"{file}: has no [{TABLE}] table")
    return _merged(table, file, extended_by)


def _merged(table: object, file: str, extended_by: tuple[str, ...]) -> dict[str, Any]:
    """Merge the keys of a file over those of the file that it extends. Raises UsageError."""
    if not isinstance(table, dict):
        raise UsageError(f"{file}: [{TABLE}] must be a table")
    said = {key: _checked(key, value, file) for key, value in table.items()}
    if (required := said.pop(REQUIRED_VERSION.name, None)) is not None:
        _check_version(required, file)
    base = said.pop(EXTEND.name, None)
    own = {BY_NAME[name].field: value for name, value in said.items()}
    if any(name in own for name in TARGETS):
        own["target_from"] = file
    if base is None:
        return own
    chain = (*extended_by, file)
    if any(os.path.realpath(base) == os.path.realpath(each) for each in chain):
        raise UsageError(f"{file}: extend: {' → '.join((*chain, base))} goes in a circle")
    below = _read(base, chain)
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


def _check_version(required: str, file: str) -> None:
    from mfsdp_lint.megatron.versions import VersionError, parse_range

    where = _where(file, REQUIRED_VERSION.name)
    try:
        fits = __version__ in parse_range(required)
    except VersionError as error:
        raise UsageError(f"{where}: {error}") from None
    if not fits:
        raise UsageError(f"{where}: this is mfsdp-lint {__version__}, and the configuration is for {required}")


def _where(file: str, key: str) -> str:
    return f"{file}: {key}" if os.path.basename(file) == OWN_FILE else f"{file}: [{TABLE}] {key}"


def _checked(name: str, value: object, file: str) -> Any:
    """Convert the value of a key to the value of its field. Raises UsageError."""
    where = _where(file, name)
    key = BY_NAME.get(name)
    if key is None:
        hint = did_you_mean(name.replace("_", "-"), BY_NAME) or f" (known: {', '.join(BY_NAME)})"
        raise UsageError(f"{where}: no such setting{hint}")
    match key.kind:
        case "switch":
            return _of_type(bool, "true or false", value, where)
        case "text":
            return _of_type(str, "a string", value, where)
        case "choice":
            return _one_of(key, _of_type(str, "a string", value, where), where)
        case "folder":
            return _path_beside(file, _of_type(str, "a string", value, where))
        case "texts":
            return _texts(value, where)
        case "globs":
            return tuple(beside(file, glob) for glob in _texts(value, where))
        case "folders":
            return tuple(_path_beside(file, path) for path in _texts(value, where))
        case "outputs":
            texts = (value,) if isinstance(value, str) else _texts(value, where)
            named = ((_one_of(key, name, where), target) for name, target in map(output_of, texts))
            return tuple(f"{name}={_path_beside(file, target)}" if target else name for name, target in named)
        case "codes by glob":
            table = _of_type(dict, "a table", value, where)
            return tuple((beside(file, glob), _texts(codes, f"{where}.{glob}")) for glob, codes in table.items())
        case "levels":
            table = _of_type(dict, "a table", value, where)
            return tuple(
                (code, _one_of(key, _of_type(str, "a string", level, at), at))
                for code, level in table.items()
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


def _path_beside(file: str, path: str) -> str:
    return os.path.normpath(os.path.join(os.path.dirname(file), path))
