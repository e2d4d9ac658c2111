"""Puts the rules, the vocabulary and the steps of start-up into the wheel as one data file each.

See `compile.py` beside either loader.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface[Any]):
    """Compiles what is kept as YAML for a built wheel. An editable install reads the YAML files themselves."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        sys.path.insert(0, str(Path(self.root, "src")))
        from mfsdp_lint.rules import compile as rules
        from mfsdp_lint.rules.load import COMPILED as RULES
        from mfsdp_lint.upstream import compile as startup
        from mfsdp_lint.upstream.startup import COMPILED as STARTUP
        from mfsdp_lint.vocabulary import compile as vocabulary
        from mfsdp_lint.vocabulary.load import COMPILED as VOCABULARY

        self._scratch = tempfile.TemporaryDirectory()
        for compiled in (RULES, STARTUP, VOCABULARY):
            scratch = Path(self._scratch.name, compiled.parent.name)
            scratch.mkdir()
            build_data["force_include"][str(scratch / compiled.name)] = str(
                compiled.relative_to(Path(self.root, "src"))
            )
        rules.write(Path(self._scratch.name, "rules", RULES.name), Path(self.root, "rules"))
        startup.write(Path(self._scratch.name, "upstream", STARTUP.name))
        vocabulary.write(Path(self._scratch.name, "vocabulary", VOCABULARY.name))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self._scratch.cleanup()
