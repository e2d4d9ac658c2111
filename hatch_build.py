"""Puts the rules, the vocabulary, the steps of start-up and the front-ends into the wheel as one data file, made by
`mfsdp_lint.checkout`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface[Any]):
    """Compiles what is kept as YAML for a built wheel. An editable install does it with the first run."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        sys.path.insert(0, str(Path(self.root, "src")))
        from mfsdp_lint.checkout import compiled
        from mfsdp_lint.core.store import FILE

        self._scratch = tempfile.TemporaryDirectory()
        made = Path(self._scratch.name, Path(FILE).name)
        made.write_bytes(compiled())
        build_data["force_include"][str(made)] = str(Path(FILE).relative_to(Path(self.root, "src")))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self._scratch.cleanup()
