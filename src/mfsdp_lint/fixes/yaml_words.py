"""Plain values in YAML's spelling."""

from __future__ import annotations

import re

import yaml

from mfsdp_lint.core.values import Plain


def spell(value: Plain, old: str = "") -> str:
    """Write a plain value in YAML, in the style of the scalar that it replaces."""
    match value:
        case bool():
            word = str(value)
            return word if old in ("True", "False") else word.upper() if old in ("TRUE", "FALSE") else word.lower()
        case None:
            return "null"
        case str():
            if old[:1] in ("'", '"'):
                return quoted(value, old[0])
            return value if bare(value) else quoted(value, '"')
        case int() | float():
            return repr(value)
    return yaml.safe_dump(value, default_flow_style=True, width=10**6).strip()


def quoted(value: str, quote: str) -> str:
    """Write a string in these quotes."""
    if quote == "'" and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    return yaml.safe_dump(value, default_style='"', width=10**6, allow_unicode=True).strip()


def bare(value: str) -> bool:
    """Tell whether a string needs no quotes, in flow mappings as well."""
    if not re.fullmatch(r"[A-Za-z0-9_./][A-Za-z0-9_./ -]*", value) or value != value.strip():
        return False
    return bool(yaml.safe_load(value) == value)
