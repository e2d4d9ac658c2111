"""What is asked of fixes: a finding, and what has to change on each way through each recipe that has it."""

from __future__ import annotations

from collections.abc import Mapping

from mfsdp_lint.core.finding import Edit, Safety, Severity
from mfsdp_lint.core.recipe import Recipe, Variant
from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.core.values import Plain


@dataclass(frozen=True, slots=True)
class Need:
    """What has to change on one way through one recipe.

    `set` are the values that settings should have, `unset` settings that should not be set at all. `anchors` are the
    settings that turned on what the finding is about, the most telling first. The variant is one of the recipe's own.
    `edits` have to be made as they are: of a finding about text, which has no setting to change. `drop` are settings
    that say nothing any more then: what is written of them is taken out where it can be. `rename` has the paths of
    what is no setting, each with the setting that was meant.
    """

    recipe: Recipe
    variant: Variant
    set: Mapping[str, Plain]
    unset: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    drop: tuple[str, ...] = ()
    rename: Mapping[str, str] = field(default_factory=dict)

    @property
    def named(self) -> tuple[str, ...]:
        """The settings that may change."""
        return (*self.set, *self.unset, *self.drop, *self.rename, *self.rename.values())


@dataclass(frozen=True, slots=True)
class FixRequest:
    """A finding that should be fixed: `key` tells it from all others, `code` is what is broken (see `Broken`)."""

    key: str
    code: str
    severity: Severity
    safety: Safety
    needs: tuple[Need, ...]
