"""The tool's own data files: YAML in a checkout, one compact JSON file in a wheel."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def read_yaml(path: Path) -> Any:
    """What a YAML file holds. Raises OSError, and yaml.YAMLError for a file that is none. Imports PyYAML."""
    import yaml

    return yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def read_json(path: Path) -> Any:
    """What a JSON file holds. Raises OSError, and ValueError for a file that is none."""
    return json.loads(path.read_text(encoding="utf-8"))
