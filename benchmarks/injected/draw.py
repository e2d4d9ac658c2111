"""Injections to try: drawn by a seed, every shape and every pitfall as often as every other."""

from __future__ import annotations

import gc
import random
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from benchmarks.injected.pitfalls import Pitfall, pitfalls
from benchmarks.injected.recipes import UpstreamRecipe, upstream_recipes
from benchmarks.injected.shapes import SHAPES, Project
from benchmarks.injected.trial import Verdict, takes, tried
from mfsdp_lint import process
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.megatron.versions import resolve_target

_COLLECTED_AFTER = 20


@dataclass(frozen=True, slots=True)
class Injection:
    """A pitfall, the recipe under it, the shape, and the seed of what else is drawn."""

    recipe: UpstreamRecipe
    pitfall: Pitfall
    shape: str
    seed: str

    def project(self, shape: str | None = None) -> Project:
        """Write the user's files; in another shape, if one is given."""
        return SHAPES[shape or self.shape](self.recipe, self.pitfall, random.Random(self.seed))

    def __str__(self) -> str:
        return f"{self.pitfall.name} · {self.shape} · {self.recipe.module}.{self.recipe.name} · {self.seed}"


def drawn(
    version: str, tree: Path, number: int, seed: int, codes: Collection[str] = (), shapes: Collection[str] = ()
) -> list[Injection]:
    """Draw a number of injections into recipes of a source tree; with `codes` or `shapes` only these."""
    recipes = upstream_recipes(tree)
    every = [
        (pitfall, shape)
        for pitfall in pitfalls(resolve_target(version))
        for shape in SHAPES
        if (not codes or pitfall.code in codes) and (not shapes or shape in shapes)
    ]
    chance = random.Random(seed)
    found: list[Injection] = []
    while len(found) < number and every:
        chance.shuffle(every)
        for pitfall, shape in every[: number - len(found)]:
            found.append(Injection(chance.choice(recipes), pitfall, shape, f"{seed}.{len(found)}"))
    return found


def judged(injection: Injection, version: str, search_path: tuple[str, ...] = ()) -> Verdict:
    """Run one trial. If nothing is found, a plain assignment shows whether there is anything to find."""
    process.own()
    gc.disable()  # looking for cycles takes longer than reading
    parts = injection.pitfall.components
    options = Options(
        target_bridge=version, search_path=search_path, target_te=parts.get("te"), target_torch=parts.get("torch")
    )
    code = injection.pitfall.code
    verdict = tried(injection.project(), code, options)
    if verdict.state == "not found" and not takes(injection.project("assignment"), code, options):
        verdict = Verdict("no effect")
    if int(injection.seed.partition(".")[2]) % _COLLECTED_AFTER == 0:
        gc.collect()
    return verdict
