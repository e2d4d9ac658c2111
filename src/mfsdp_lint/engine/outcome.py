"""The outcome of a run. Reports are made from it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from mfsdp_lint.core.finding import Applied, Finding
from mfsdp_lint.core.recipe import Recipe, Unfollowed
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions.target import Target
from mfsdp_lint.reports.by_recipe import RecipeState
from mfsdp_lint.reports.summary import Summary, recounted


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run: the findings that remain, by place and code, and the requests that cannot be met.

    `fixes` are those that were applied, or are in the patch. `recipes` has the findings by recipe, where that was
    asked for. `unfollowed` is code of which there is no recipe though there should be. `patch` is the output of
    `--diff`. `left` says which files were to be written and were not. `sources` are the files as they are after the
    run. `read` are the recipes themselves for every target; None where the outcome is cached from an earlier run.
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

    @property
    def files(self) -> Iterator[str]:
        """The paths of the files of which something is told, not each once."""
        yield from (finding.span.path for finding in self.findings)
        yield from (fix.span.path for fix in self.fixes)
        yield from (recipe.path for recipe in self.recipes)
        yield from (each.path for each in self.unfollowed)

    def only(self, paths: Collection[str], faults: Collection[Finding]) -> Outcome:
        """Keep what is told of these files, and the faults for which the others are left out."""
        findings = (*(each for each in self.findings if each.span.path in paths), *faults)
        return replace(
            self,
            findings=findings,
            summary=recounted(self.summary, findings),
            fixes=tuple(each for each in self.fixes if each.span.path in paths),
            recipes=tuple(each for each in self.recipes if each.path in paths),
            unfollowed=tuple(each for each in self.unfollowed if each.path in paths),
        )

    def shown(self, path: str) -> str | None:
        """Return the text of a file, or of a notebook's cell, for people; None where it cannot be read."""
        from mfsdp_lint.reports.places import text_of

        return text_of(path, self.sources)

    def written(self, path: str) -> str | None:
        """Return the text of a file as it is, for programs; None where it cannot be read."""
        return self.sources.as_it_is_or_none(path)
