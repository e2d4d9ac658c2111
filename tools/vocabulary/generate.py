"""Makes the generated facts of the vocabulary from upstream source; nothing of it is imported or run.

    python -m tools.vocabulary.generate --bridge REPOSITORY --megatron-lm REPOSITORY [--out FOLDER]

Both are git repositories with all release tags (bare ones do). Written are `data/defaults.json` (what each setting of
settings.yaml is by default, per Bridge release with the core that it pins, and in the core's own classes),
`data/fields.json` (the fields that every section of a configuration has, per Bridge release), `data/flags.json`
(Megatron-LM's flags per core version) and `deciding.py`.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mfsdp_lint.checkout import VOCABULARY
from mfsdp_lint.checkout import settings as reviewed
from mfsdp_lint.core.values import Known, Value
from mfsdp_lint.megatron.versions import HEAD, RELEASES, numbers
from mfsdp_lint.megatron.vocabulary.tables import NOT_PLAIN, Flag
from tools.vocabulary.flags import flags_of
from tools.vocabulary.sections import Sections, bridge_names, bridge_sections, core_sections
from tools.vocabulary.trees import Revision, Source

FIRST_CORE = (0, 12)
"""The oldest core whose command line is described."""

_CORE_TAG = re.compile(r"core_v(\d+\.\d+\.\d+)")

DECIDING_FILE = VOCABULARY / "deciding.py"

Columns = Mapping[str, Source]
"""Source by version, oldest first."""


def runs_of(facts: Sequence[Any], missing: Any = None) -> list[list[Any]]:
    """Combine the facts of all columns into runs; `missing` is left out."""
    runs: list[list[Any]] = []
    for place, fact in enumerate(facts):
        if fact is missing:
            continue
        if runs and runs[-1][1] == place - 1 and type(runs[-1][2]) is type(fact) and runs[-1][2] == fact:
            runs[-1][1] = place
        else:
            runs.append([place, place, fact])
    return runs


def encode(value: Value) -> Any:
    """Encode a value as JSON."""
    if isinstance(value, Known):
        return value.value
    return {NOT_PLAIN: value.state}


def defaults(paths: Sequence[str], bridge: Columns, core: Columns) -> dict[str, Any]:
    """Return the content of defaults.json for these settings."""
    return {
        "bridge": _declared(paths, {version: bridge_sections(source) for version, source in bridge.items()}),
        "core": _declared(paths, {version: core_sections(source) for version, source in core.items()}),
    }


def _declared(paths: Sequence[str], columns: Mapping[str, Sections]) -> dict[str, Any]:
    values = {}
    for path in paths:
        section, _, name = path.partition(".")
        fields = [sections.get(section, {}).get(name) for sections in columns.values()]
        runs = runs_of([_MISSING if field is None else encode(field.value()) for field in fields], _MISSING)
        if runs:
            values[path] = runs
    return {"versions": list(columns), "values": values}


_MISSING = object()


def fields(bridge: Columns) -> dict[str, Any]:
    """Return the content of fields.json: by section the classes that it may be of, and the fields that these have."""
    columns = [bridge_names(source) for source in bridge.values()]
    sections = {}
    for section in dict.fromkeys(section for column in reversed(columns) for section in column):
        here = [column.get(section) for column in columns]
        names = dict.fromkeys(name for each in reversed(here) if each for name in each.fields)
        sections[section] = {
            "classes": runs_of([list(each.classes) if each else None for each in here]),
            "fields": {name: runs_of([1 if each and name in each.fields else None for each in here]) for name in names},
        }
    return {"versions": list(bridge), "sections": sections}


def flags(core: Columns) -> dict[str, Any]:
    """Return the content of flags.json."""
    columns = [_by_name(flags_of(source)) for source in core.values()]
    names = dict.fromkeys(name for column in reversed(columns) for name in column)
    return {
        "versions": list(core),
        "flags": {name: runs_of([column.get(name) for column in columns]) for name in names},
    }


def _by_name(found: Iterable[Flag]) -> dict[str, dict[str, Any]]:
    """Map each name to its flag. Of two flags that set one attribute, argparse takes the first one's default."""
    known: dict[str, Value] = {}
    by_name: dict[str, dict[str, Any]] = {}
    for flag in found:
        default = known.setdefault(flag.dest, flag.default)
        for name in flag.names:
            by_name.setdefault(name, _flag(name, flag, encode(default)))
    return by_name


def _flag(name: str, flag: Flag, default: Any) -> dict[str, Any]:
    """Describe a flag as data, without the values that are implied."""
    implied = {"store_true": False, "store_false": True}.get(flag.action)
    said = {
        "names": list(flag.names) if len(flag.names) > 1 else None,
        "dest": flag.dest if flag.dest != name.lstrip("-").replace("-", "_") else None,
        "action": flag.action if flag.action != "store" else None,
        "type": flag.type if flag.type != "str" else None,
        "choices": None if flag.choices is None else list(flag.choices),
        "nargs": flag.nargs,
        "const": flag.const,
    }
    data = {key: value for key, value in said.items() if value is not None}
    return data if default is implied else {**data, "default": default}


def deciding(settings: Mapping[str, Mapping[str, Any]]) -> str:
    """Write the text of deciding.py."""
    sections = {
        section: [name for name, data in names.items() if data.get("decides")] for section, names in settings.items()
    }
    parts = [
        textwrap.fill(f"{section}: {' '.join(names)}", 112, subsequent_indent="    ", break_on_hyphens=False)
        for section, names in sections.items()
        if names
    ]
    head = '"""Made by `tools.vocabulary.generate` from what settings.yaml marks with `decides`."""\n'
    text = "\n\n".join(parts)
    read = """\
_PARTS = (part.partition(":") for part in _TEXT.split("\\n\\n"))
BY_SECTION: dict[str, tuple[str, ...]] = {section: tuple(names.split()) for section, _, names in _PARTS}
"""
    return f'{head}\n_TEXT = """\\\n{text}"""\n{read}'


def text_of(data: Mapping[str, Any]) -> str:
    """Write JSON with a line for each setting, field or flag, so that a change is seen in a diff."""
    return _json(data, 2 if "flags" in data else 4 if "sections" in data else 3) + "\n"


def _json(data: Any, depth: int) -> str:
    if not isinstance(data, dict) or depth == 0:
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    inside = [f"{json.dumps(key)}:{_json(value, depth - 1)}" for key, value in data.items()]
    return "{\n" + ",\n".join(inside) + "\n}"


# -- from git ----------------------------------------------------------------------------------------------------


def bridge_columns(bridge: Path, megatron_lm: Path, head: str) -> dict[str, Source]:
    """Return Bridge's releases with the core that each pins. Raises LookupError for what a repository lacks."""
    return {
        release.bridge: Source(
            Revision(bridge, head if release.bridge == HEAD else f"v{release.bridge}"),
            Revision(megatron_lm, release.core_commit),
        )
        for release in RELEASES
    }


def core_columns(megatron_lm: Path, head: str) -> dict[str, Source]:
    """Return the releases of Megatron-LM from 0.12 on, and its development head."""
    listed = subprocess.run(["git", "-C", str(megatron_lm), "tag"], capture_output=True, text=True, check=True).stdout
    found = (_CORE_TAG.fullmatch(tag) for tag in listed.split())
    releases = sorted((match[1] for match in found if match), key=numbers)
    columns = {
        release: Source(Revision(megatron_lm, f"core_v{release}"))
        for release in releases
        if numbers(release) >= FIRST_CORE
    }
    return {**columns, HEAD: Source(Revision(megatron_lm, head))}


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--bridge", type=Path, required=True, metavar="REPOSITORY")
    parser.add_argument("--megatron-lm", type=Path, required=True, metavar="REPOSITORY")
    parser.add_argument("--bridge-head", default="HEAD", metavar="COMMIT")
    parser.add_argument("--megatron-lm-head", default="HEAD", metavar="COMMIT")
    parser.add_argument("--out", type=Path, default=VOCABULARY, metavar="FOLDER")
    arguments = parser.parse_args()
    settings = reviewed()
    paths = [f"{section}.{name}" for section, names in settings.items() for name in names]
    bridge = bridge_columns(arguments.bridge, arguments.megatron_lm, arguments.bridge_head)
    core = core_columns(arguments.megatron_lm, arguments.megatron_lm_head)
    texts = {
        "data/defaults.json": text_of(defaults(paths, bridge, core)),
        "data/fields.json": text_of(fields(bridge)),
        "data/flags.json": text_of(flags(core)),
        DECIDING_FILE.name: deciding(settings),
    }
    for name, text in texts.items():
        (arguments.out / name).write_text(text, encoding="utf-8")
        print(f"{name}: {len(text):,} characters")


if __name__ == "__main__":
    main()
