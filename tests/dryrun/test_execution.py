"""Settings of recipes whose own code was run."""

from __future__ import annotations

import enum
import sys
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mfsdp_lint.core.recipe import Recipe, Variant
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import UNKNOWN
from mfsdp_lint.dryrun.subject import _executed, given, not_read
from mfsdp_lint.dryrun.worker.execute import _module, flat
from mfsdp_lint.inputs.addresses import Address
from mfsdp_lint.inputs.sources import Problem


class Impl(enum.Enum):
    LOCAL = 1


@dataclass
class Model:
    impl: Impl = Impl.LOCAL
    sizes: tuple[int, ...] = (1, 2)
    spec: Any = None
    nested: dict[str, Any] = field(default_factory=lambda: {"a": 1})


@dataclass
class Container:
    model: Model
    train: Any = None


def test_a_configuration_becomes_settings() -> None:
    config = Container(Model(spec=partial(print)))
    config.model.extra = 0.5  # type: ignore[attr-defined]
    assert flat(config) == {
        "known": {
            "model.__class__": f"{__name__}.Model",
            "model.impl": "LOCAL",
            "model.sizes": [1, 2],
            "model.nested": {"a": 1},  # a rule may ask for an entry by its key
            "model.nested.a": 1,
            "model.extra": 0.5,
            "train": None,
        },
        "set": ["model", "model.spec"],
    }


def test_what_is_no_configuration_is_told() -> None:
    with pytest.raises(TypeError, match="it returns a list, and not a ConfigContainer"):
        flat([])


def test_a_file_of_a_package_may_import_its_neighbours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "team_recipes" / "fsdp"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    (package.parent / "common.py").write_text("STRATEGY = 'optim'\n")
    (package / "llama.py").write_text("from ..common import STRATEGY\n")
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert _module(str(package / "llama.py"), []).STRATEGY == "optim"


RECIPE = Recipe("fsdp", "recipe.fsdp", "recipe.py", 3, "function", (Variant(WrittenSettings.of({"model.x": UNKNOWN})),))


def test_the_settings_that_a_function_returned_are_those_of_the_recipe() -> None:
    answer = {"error": None, "known": {"model.x": 1, "model.y": 2, "env.NCCL_ALGO": "Ring"}, "set": ["model"]}
    executed = _executed(RECIPE, answer)
    assert executed.learnt == ("model.x",)
    assert given(executed.recipe.variants[0]).settings == answer["known"]
    assert (executed.recipe.path, executed.recipe.line, executed.why) == ("recipe.py", 3, "")


def test_an_error_of_the_recipes_own_code_is_told_with_its_place() -> None:
    error = {"type": "KeyError", "text": "'CLUSTER'", "where": ["recipe.py:7 fsdp"]}
    executed = _executed(RECIPE, {"error": error, "stage": "calling it"})
    assert executed.why == "calling it failed: KeyError: 'CLUSTER' (recipe.py:7 fsdp)"
    assert executed.recipe is RECIPE


def test_a_function_of_which_nothing_is_known_can_be_run_all_the_same() -> None:
    unknown = Problem("recipe.py", 1, 1, "fsdp yields no configuration that can be known", "usage")
    missing = Problem("recipe.py", 1, 1, "there is no function gone", "usage")
    address = Address("recipe.py", "fsdp", keywords=(("mock", True),))
    recipes, problems = not_read([address, Address("recipe.py", "gone")], [unknown, missing])
    assert [recipe.label for recipe in recipes] == ["fsdp(mock=True)"]
    assert problems == [missing]
