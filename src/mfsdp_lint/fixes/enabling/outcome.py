"""The outcome of turning Megatron-FSDP on in a recipe."""

from __future__ import annotations

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.fixes.apply import Fixed
from mfsdp_lint.fixes.patch import make_patch
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions.target import Target
from mfsdp_lint.rules.check import Violation


@dataclass(frozen=True, slots=True)
class Enabling:
    """`fixed` has the new texts: none where it is on already, and where it cannot be, of which `reasons` tell.

    `required` says which rules require what no guide names, `also` are the recipes that are built on this
    one and get it as well, `switches` the parameters that turned it on for those who asked, `rest` is what the rules
    say of the recipe then.
    """

    recipe: Recipe
    targets: tuple[Target, ...]
    sources: Sources
    fixed: Fixed | None = None
    reasons: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()
    rest: tuple[Violation, ...] = ()

    @property
    def patch(self) -> bytes:
        """Return the changes as `git apply` takes them; empty where there are none."""
        texts = self.fixed.texts if self.fixed else {}
        encode, now = self.sources.encode, self.sources.text
        return make_patch((path, encode(path, now(path)), encode(path, text)) for path, text in sorted(texts.items()))
