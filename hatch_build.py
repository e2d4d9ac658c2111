"""Puts the rules into the wheel as one data file; see `mfsdp_lint.rules.compile`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface[Any]):
    """Compiles `rules/*.yaml` for a built wheel. An editable install reads the YAML files themselves."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        sys.path.insert(0, str(Path(self.root, "src")))
        from mfsdp_lint.rules.compile import write
        from mfsdp_lint.rules.load import COMPILED

        self._scratch = tempfile.TemporaryDirectory()
        compiled = Path(self._scratch.name, COMPILED.name)
        write(compiled, Path(self.root, "rules"))
        build_data["force_include"][str(compiled)] = f"mfsdp_lint/rules/{COMPILED.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self._scratch.cleanup()
