"""A small project that launch scripts belong to."""

from __future__ import annotations

from pathlib import Path

from mfsdp_lint.cli import main
from mfsdp_lint.core.recipe import Recipe, Unfollowed
from mfsdp_lint.engine.read import Read, question, read
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.inputs.sources import Sources


class Project:
    """A folder, which is the current one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / ".git").mkdir()

    def write(self, path: str, text: str) -> None:
        """Write a file."""
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    def runs(self, *paths: str, bridge: str | None = None) -> list[Recipe]:
        """The runs that files start, with a release of Megatron-Bridge."""
        return [recipe for recipe in _read(paths, bridge).recipes if recipe.command is not None]

    def unfollowed(self, *paths: str, bridge: str | None = None) -> tuple[Unfollowed, ...]:
        """What of files cannot be followed."""
        return _read(paths, bridge).unfollowed

    def lint(self, *paths: str) -> int:
        """Lint files; what is printed is for who captures it."""
        return main(["--no-cache", "--output-format", "concise", *paths])


def _read(paths: tuple[str, ...], bridge: str | None = None) -> Read:
    asked, _ = question(Options(paths=paths, target_bridge=bridge))
    return read(asked, Sources({}))
