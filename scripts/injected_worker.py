"""Runs users' files with the real package and asks its start-up: a process of its own for each.

Started by fixes_by_the_real_package.py, by a Python that has torch and what Megatron-Bridge imports. Reads a list of
{"folder": …, "ask": "user.user_config()" or "train.py"} and writes what start-up said of each: null where it accepts,
else the error.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import runpy
import sys
from functools import partial
from pathlib import Path
from typing import Any

from real_upstream import RANKS, arguments, import_training, in_a_child, replace_launchers, set_up, write_out

_SECONDS = 120
_CONNECTIONS = "CUDA_DEVICE_MAX_CONNECTIONS"  # which the harness unsets, unless it is told


class Launched(BaseException):
    """Thrown by what stands in for the launcher."""

    def __init__(self, config: Any) -> None:
        self.config = config


def launch(config: Any = None, *_: Any, **named: Any) -> None:
    """Raise `Launched` with the configuration, in the place of `pretrain` and `finetune`."""
    raise Launched(named.get("cfg", config))


def configuration(ask: str) -> Any:
    """Return the configuration that a script launches, or a call returns."""
    if ask.endswith(".py"):
        sys.argv = [ask]
        try:
            runpy.run_path(ask, run_name="__main__")
        except Launched as launched:
            return launched.config
        raise RuntimeError("nothing is launched")
    module, _, call = ask.partition(".")
    return eval(call, vars(importlib.import_module(module)))


def said(harness: Any, folder: str, ask: str) -> str | None:
    """Return start-up's error on a number of ranks that the sizes divide, with a user's values filled in."""
    os.chdir(folder)
    sys.path.insert(0, folder)
    with harness.quiet():
        config = configuration(ask)
    try:
        ranks = math.lcm(harness.min_world(config), RANKS)
    except Exception:
        ranks = RANKS
    environment = {_CONNECTIONS: os.environ.get(_CONNECTIONS)}
    for _ in range(1 + len(harness.fills())):
        told = harness.validate(config, ranks, "runtime", environment, gpu="h100", want_diff=False)
        if told["outcome"] == "pass":
            return None
        missing = [values for text, values in harness.fills() if text in told["error"]]
        if not missing:
            break
        # Start-up changes what it is given, so that it begins anew.
        with harness.quiet():
            config = configuration(ask)
        harness.apply_overrides(config, missing[0])
    return f"{told['error_type']}: {told['error']}"[:300]


def told(harness: Any, folder: str, ask: str) -> str | None:
    """Return start-up's error, or the exception that was raised before start-up was called."""
    try:
        return said(harness, folder, ask)
    except BaseException as error:
        return f"no configuration: {type(error).__name__}: {error}"[:300]


def main() -> int:
    """Ask start-up about all of them."""
    options = arguments(__doc__, "bridge", "core", "asked").parse_args()
    harness = set_up(options, options.bridge, options.core)
    import_training()
    replace_launchers(launch)
    os.environ["WORLD_SIZE"] = str(RANKS)
    asked = json.loads(Path(options.asked).read_text())
    found = []
    for number, each in enumerate(asked):
        ask = partial(told, harness, each["folder"], each["ask"])
        found.append(in_a_child(ask, "the process died", _SECONDS))
        if number % 20 == 19:
            print(f"{number + 1} of {len(asked)}", file=sys.stderr, flush=True)
    write_out(options, found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
