"""What of a recipe is run."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.values import Known
from mfsdp_lint.dryrun.subject import recipe_of, saving


@pytest.mark.parametrize(
    ("settings", "place"),
    [
        ({}, "/dry-run/checkpoints"),
        ({"checkpoint.save": None}, "/dry-run/checkpoints"),
        ({"checkpoint.save": "/results"}, "/results"),
    ],
)
def test_a_recipe_that_is_to_save_has_a_place_for_it(settings: dict[str, str | None], place: str) -> None:
    (variant,) = saving(recipe_of(settings)).variants
    assert variant.value("checkpoint.save") == Known(place)
