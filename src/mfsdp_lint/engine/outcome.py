"""What a run comes to. Reports are made from it."""

from __future__ import annotations

from collections.abc import Mapping

from mfsdp_lint.core.finding import Applied, Finding
from mfsdp_lint.core.recipe import Recipe, Unfollowed
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs.sources import Sources, Unreadable
from mfsdp_lint.results.by_recipe import RecipeState
from mfsdp_lint.results.summary import Summary
from mfsdp_lint.versions.target import Target


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run comes to: the findings that remain, by place and code, and what was asked for but cannot be done.

    `fixes` are those that were applied, or are in the patch. `recipes` is the same by recipe, where that was asked for.
    `unfollowed` is code of which there is no recipe though there should be. `patch` is what `--diff` shows. `left` says
    which files were to be written and were not. `sources` are the files as they are after the run. `read` are the
    recipes themselves for every target; None where the outcome is known from an earlier run.
    """

    findings: tuple[Finding, ...]
    summary: Summary
    sources: Sources
    fixes: tuple[Applied, ...] = ()
    recipes: tuple[RecipeState, ...] = ()
    unfollowed: tuple[Unfollowed, ...] = ()
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    patch: bytes = b""
    left: tuple[str, ...] = ()
    read: Mapping[Target, tuple[Recipe, ...]] | None = None

    def shown(self, path: str) -> str | None:
        """The text of a file, or of a notebook's cell, for people; None where it cannot be read."""
        from mfsdp_lint.results.cells import text_of

        return text_of(path, self.sources)

    def written(self, path: str) -> str | None:
        """The text of a file as it is, for programs; None where it cannot be read."""
        try:
            return self.sources.as_it_is(path)
        except Unreadable:
            return None
