"""Requests for fixes: a finding, and the changes needed on each way through each recipe that has it."""

from __future__ import annotations

from collections.abc import Mapping

from mfsdp_lint.core.finding import Edit, Safety, Severity
from mfsdp_lint.core.recipe import Recipe, Variant
from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.core.values import Plain


@dataclass(frozen=True, slots=True)
class Need:
    """Changes needed on one way through one recipe.

    `set` has the values that settings should have, `unset` the settings that should not be set at all. `anchors` are
    the settings that turned on the feature that the finding is about, the most telling first. The variant is one of
    the recipe's own. `edits` have to be made as they are: they belong to a finding about text, which has no setting to
    change. `drop` are settings without effect after the fix: their writes are taken out where possible. `rename` maps
    paths that are no settings to the setting that was meant. `may_change` are the settings that `edits` are about.
    """

    recipe: Recipe
    variant: Variant
    set: Mapping[str, Plain]
    unset: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    drop: tuple[str, ...] = ()
    rename: Mapping[str, str] = field(default_factory=dict)
    may_change: tuple[str, ...] = ()

    @property
    def named(self) -> tuple[str, ...]:
        """The settings that may change."""
        return (*self.set, *self.unset, *self.drop, *self.rename, *self.rename.values(), *self.may_change)


@dataclass(frozen=True, slots=True)
class FixRequest:
    """A finding that should be fixed: `key` tells it from all others, `code` is what is broken (see `Broken`).

    `unread`: the run surely ends before start-up looks at any setting. What is wrong with the settings was never told
    then, so that the fix uncovers it, and does not bring it in.
    """

    key: str
    code: str
    severity: Severity
    safety: Safety
    needs: tuple[Need, ...]
    unread: bool = False
