"""The tool's own data files: YAML in a checkout, one compact JSON file in a wheel."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mfsdp_lint.core import files

if TYPE_CHECKING:
    from pathlib import Path


def read_yaml(path: Path) -> Any:
    """Read a YAML file. Raises OSError and ValueError, and yaml.YAMLError for a file that is none. Imports PyYAML."""
    import yaml

    return yaml.load(files.text(path), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def read_json(path: Path) -> Any:
    """Read a JSON file. Raises OSError, and ValueError for a file that is none."""
    return json.loads(files.text(path))
