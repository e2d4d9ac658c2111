"""Says as JSON which of the packages named there are installed with this Python, and in which version. Imports none."""

import importlib.metadata
import json
import platform
import sys
from collections.abc import Sequence


def main(names: Sequence[str]) -> None:
    versions: dict[str, str | None] = {}
    for name in names:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = None
    json.dump({"python": platform.python_version(), "versions": versions}, sys.stdout)
