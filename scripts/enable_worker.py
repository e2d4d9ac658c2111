"""Runs recipes in which Megatron-FSDP was turned on, and the real start-up on what they return.

Started by benchmarks/enable.py with a Python that has what Megatron-Bridge imports. Of ours only real_upstream.py is
needed here.
"""

from __future__ import annotations

import importlib
import json
import math
import sys
import types
from functools import partial
from pathlib import Path
from typing import Any

from real_upstream import RANKS, arguments, in_a_child, set_up, write_out

ARGUMENTS = {"mixed_precision_recipe": "bf16_with_fp8_current_scaling_mixed"}
"""For parameters that have no default."""


def recipe_of(job: dict[str, Any], package: str, text: str) -> Any:
    """Make the recipe's function from the text, in the place of its module."""
    words = job["path"].removesuffix(".py").removesuffix("/__init__").split("/")
    module = types.ModuleType(".".join((package, *words)))
    module.__package__ = ".".join((package, *words[:-1]))
    module.__file__ = job["path"]
    sys.modules[module.__name__] = module
    exec(compile(text, job["path"], "exec"), module.__dict__)
    return getattr(module, job["name"])


def refusal(harness: Any, function: Any, *, switch: bool) -> str | None:
    """Return start-up's refusal; None if it accepts. Values that a run's user has to give are filled in."""
    code = function.__code__
    given = {name: ARGUMENTS[name] for name in code.co_varnames[: code.co_argcount] if name in ARGUMENTS}
    filled: dict[str, Any] = {}
    while True:
        config = harness.build(function, "h100", **given)
        harness.apply_overrides(config, filled | ({"ddp.use_megatron_fsdp": True} if switch else {}))
        ranks = math.lcm(harness.min_world(config), RANKS)
        said = harness.validate(config, ranks, "runtime", {}, gpu="h100", want_diff=False)
        if said["outcome"] == "pass":
            return None
        more = next((more for text, more in harness.fills() if text in said["error"]), {})
        if not more or more.items() <= filled.items():
            return f"{said['error_type']}: {said['error']}"[:300]
        filled |= more


def one(harness: Any, job: dict[str, Any], tree: Path) -> dict[str, Any]:
    """Ask about one recipe: untouched, with nothing but the switch turned on, and as it was changed."""
    before = (tree / "megatron" / "bridge" / job["path"]).read_text(encoding="utf-8")
    found: dict[str, Any] = {"path": job["path"], "name": job["name"]}
    for name, text, switch in (("untouched", before, False), ("switch", before, True), ("changed", job["text"], False)):
        try:
            found[name] = refusal(harness, recipe_of(job, "megatron.bridge", text), switch=switch)
        except Exception as error:
            found[name] = f"raises {type(error).__name__}: {error}"[:300]
    return found


def main() -> int:
    options = arguments(__doc__, "tree", "core", "jobs").parse_args()
    tree = Path(options.tree)
    harness = set_up(options, tree, Path(options.core))
    package = tree / "src" if (tree / "src").is_dir() else tree
    importlib.import_module("megatron.bridge.recipes.llama")
    lost = dict.fromkeys(("untouched", "switch", "changed"), "died")
    jobs = json.loads(Path(options.jobs).read_text())
    write_out(options, [in_a_child(partial(one, harness, job, package), {**job, **lost}) for job in jobs])
    return 0


if __name__ == "__main__":
    sys.exit(main())
