"""What a run was asked to do: `[tool.mfsdp-lint]` overlaid by the command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any, Literal, get_args

from mfsdp_lint.core.records import dataclass, fields

OutputFormat = Literal["full", "concise", "json", "github"]
OUTPUT_FORMATS: tuple[OutputFormat, ...] = get_args(OutputFormat)

GroupBy = Literal["finding", "recipe"]
GROUPINGS: tuple[GroupBy, ...] = get_args(GroupBy)

PRESETS = ("performance",)
"""Sets of rules that are off until one is asked for."""

TABLE = "tool.mfsdp-lint"

AS_ASKED = "as asked"
"""Who says so where the command line does."""


class UsageError(Exception):
    """A user's mistake: the message says what is wrong, where, and what to do. Exit code 2."""


@dataclass(frozen=True, slots=True)
class Options:
    """`select` empty means every rule but those of a preset that is not asked for, and
    those in preview without `preview`. `extend_rules` are folders of rules.

    `fix_only` fixes, and says nothing of what remains. `show_fixes` proves the fixes that there could be, and lists
    those that are made; None leaves the proofs to the format: only those that show edits need them.
    `diff` shows what `fix` would do and writes nothing, whatever `fix` says. `overrides` and `environment` are those of
    one launch, as `--set` and `--env` say them: never configured. `confirm` asks for a dry run of what is found, with
    the Python that `python` names and the source tree `megatron_lm`. The `target_*` are versions or ranges of them as
    written; `target_from` is who says so: AS_ASKED, or a file.
    """

    paths: tuple[str, ...] = (".",)
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    respect_gitignore: bool = True
    search_path: tuple[str, ...] = ()
    extend_rules: tuple[str, ...] = ()
    preset: str | None = None
    preview: bool = False
    target_bridge: str | None = None
    target_core: str | None = None
    target_te: str | None = None
    target_torch: str | None = None
    target_gpu: str | None = None
    target_from: str = AS_ASKED
    fix: bool = False
    fix_only: bool = False
    show_fixes: bool | None = None
    unsafe_fixes: bool = False
    diff: bool = False
    output_format: OutputFormat = "full"
    group_by: GroupBy = "finding"
    cache: bool = True
    cache_dir: str | None = None
    overrides: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    confirm: bool = False
    python: str | None = None
    megatron_lm: str | None = None

    @property
    def fixes_are_seen(self) -> bool:
        """Whether somebody sees what a proof comes to: the edits of each finding, or why there are none."""
        if self.diff:
            return False
        if self.show_fixes is not None:
            return self.show_fixes
        return self.output_format == "json" or (self.output_format == "full" and self.group_by == "finding")


_LISTS = ("select", "ignore", "exclude", "search_path", "extend_rules")
_FOLDERS = ("search_path", "extend_rules")
_SWITCHES = ("respect_gitignore", "fix", "fix_only", "show_fixes", "unsafe_fixes", "diff", "cache", "preview")
_OF_ONE_RUN = ("paths", "overrides", "environment", "target_from", "confirm", "python", "megatron_lm")
_TARGETS = ("target_bridge", "target_core", "target_te", "target_torch", "target_gpu")
_CONFIGURABLE = tuple(field.name for field in fields(Options) if field.name not in _OF_ONE_RUN)


def merge(arguments: Mapping[str, Any], configuration: Mapping[str, Any]) -> Options:
    """Options from the command line's values by field name (None: not given) over those of the configuration."""
    given = {name: value for name, value in arguments.items() if value is not None}
    configured = dict(configuration)
    if any(name in given for name in _TARGETS):
        configured.pop("target_from", None)
    return Options(**{**configured, **given})


def read_configuration(file: str | None = None) -> dict[str, Any]:
    """The configuration by field name: of `file`, else of the nearest pyproject.toml with our table, upwards from here.

    `search-path` and `extend-rules` are relative to the file that says it. Raises UsageError with file and key.
    """
    if file is not None:
        table = _read_table(file)
        if table is None:
            raise UsageError(f"{file}: has no [{TABLE}] table")
        return _checked(table, file)
    for candidate in _pyproject_files():
        table = _read_table(candidate)
        if table is not None:
            return _checked(table, candidate)
    return {}


def _pyproject_files() -> list[str]:
    """Every pyproject.toml that there may be, from the current directory upwards, as a relative path."""
    depth = os.getcwd().rstrip(os.sep).count(os.sep)
    candidates = [os.path.join(*[os.pardir] * up, "pyproject.toml") for up in range(depth + 1)]
    return [candidate for candidate in candidates if os.path.isfile(candidate)]


def _read_table(file: str) -> object | None:
    """The [tool.mfsdp-lint] table as TOML has it, None where there is none."""
    try:
        with open(file, "rb") as stream:
            content = stream.read()
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}") from None
    if b"mfsdp-lint" not in content:  # spares the parser, and whoever has a broken pyproject.toml without our table
        return None
    try:
        tool = _parse_toml(content.decode("utf-8")).get("tool")
    except ValueError as error:  # TOMLDecodeError and UnicodeDecodeError
        raise UsageError(f"{file}: {error}") from None
    return tool.get("mfsdp-lint") if isinstance(tool, dict) else None


def _parse_toml(text: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    document: dict[str, Any] = tomllib.loads(text)
    return document


def _checked(table: object, file: str) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise UsageError(f"{file}: [{TABLE}] must be a table")
    checked = dict(_checked_entry(key, value, file) for key, value in table.items())
    return checked | ({"target_from": file} if any(name in checked for name in _TARGETS) else {})


def _checked_entry(key: str, value: object, file: str) -> tuple[str, Any]:
    name = key.replace("-", "_")
    where = f"{file}: [{TABLE}] {key}"
    if name not in _CONFIGURABLE or "_" in key:
        raise UsageError(f"{where}: no such setting{_did_you_mean(key)}")
    if name in _LISTS:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise UsageError(f"{where}: expected a list of strings, got {_spell(value)}")
        return name, tuple(_beside(file, item) for item in value) if name in _FOLDERS else tuple(value)
    if name in _SWITCHES:
        if not isinstance(value, bool):
            raise UsageError(f"{where}: expected true or false, got {_spell(value)}")
        return name, value
    if not isinstance(value, str):
        raise UsageError(f"{where}: expected a string, got {_spell(value)}")
    if name == "cache_dir":
        return name, _beside(file, value)
    if name == "preset" and value not in PRESETS:
        raise UsageError(f"{where}: expected one of {', '.join(PRESETS)}, got {_spell(value)}")
    if name == "output_format" and value not in OUTPUT_FORMATS:
        raise UsageError(f"{where}: expected one of {', '.join(OUTPUT_FORMATS)}, got {_spell(value)}")
    if name == "group_by" and value not in GROUPINGS:
        raise UsageError(f"{where}: expected one of {', '.join(GROUPINGS)}, got {_spell(value)}")
    return name, value


def _did_you_mean(key: str) -> str:
    from difflib import get_close_matches

    known = [name.replace("_", "-") for name in _CONFIGURABLE]
    nearest = get_close_matches(key.replace("_", "-"), known, n=1)
    return f"; did you mean {nearest[0]}?" if nearest else f" (known: {', '.join(known)})"


def _spell(value: object) -> str:
    import json

    return json.dumps(value, default=str)


def _beside(file: str, path: str) -> str:
    return os.path.normpath(os.path.join(os.path.dirname(file), path))
