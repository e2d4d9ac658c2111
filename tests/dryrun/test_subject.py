"""What of a recipe is run."""

from __future__ import annotations

import pytest

from mfsdp_lint.dryrun.plain import recipe_of
from mfsdp_lint.dryrun.subject import saving
from mfsdp_lint.values import Known


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
