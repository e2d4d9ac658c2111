"""Runs upstream's own unit tests and asks start-up about every configuration that they put to it.

Started by benchmarks/upstream_unit_tests.py, by a Python that has torch, pytest and what Megatron-Bridge imports. The
tests patch what start-up calls, so that a configuration is only recorded while they run, before start-up changes it.
Afterwards the unpatched start-up is asked about a copy of each, as it stands and with FSDP switched on. A row is a
line of JSON.
"""

from __future__ import annotations

import argparse
import copy
import importlib
import json
import logging
import os
import sys
import typing
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import typing_extensions

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from mfsdp_lint.dryrun.worker.build import failure
from mfsdp_lint.dryrun.worker.execute import flat
from mfsdp_lint.dryrun.worker.stand_ins import import_upstream, pretend

TESTS = ("test_config.py", "test_comm_overlap*.py", "test_mixed_precision*.py")

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """A configuration as a test puts it to start-up, the number of ranks that the test pretends, its environment."""

    test: str
    config: Any
    ranks: int
    environment: dict[str, str]


class Recorder:
    """A plugin of pytest: the configurations that the tests put to start-up, before it changes them."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.test = ""
        self.inside = False
        self.asked: list[Asked] = []
        self.left_out = 0

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.test = nodeid.partition("::")[2]

    def wrap(self, real: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a function of start-up, to record the configuration that it gets from outside of start-up."""

        def recorded(config: Any, *arguments: Any, **keywords: Any) -> Any:
            if self.inside:
                return real(config, *arguments, **keywords)
            self.inside = True
            try:
                self.record(config)
                return real(config, *arguments, **keywords)
            finally:
                self.inside = False

        return recorded

    def record(self, config: Any) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        try:
            self.asked.append(Asked(self.test, copy.deepcopy(config), self.module.get_world_size_safe(), environment))
        except Exception:  # a mock in the place of a section
            self.left_out += 1


def rows(asked: Asked, variants: Mapping[str, Mapping[str, Any]], start_up: Callable[[Any], None]) -> Iterator[Row]:
    """Yield start-up's answers for a configuration, as it stands and with the settings of each variant."""
    for name, settings in variants.items():
        config = copy.deepcopy(asked.config)
        changed = [_set(config, path, value) for path, value in settings.items()]
        if any(changed) or not settings:
            row = {"test": asked.test, "variant": name, "env": asked.environment, "world_size": asked.ranks}
            yield row | {"settings": flat(config)} | _answer(config, asked, start_up)


def _set(config: Any, path: str, value: Any) -> bool:
    """Set a field where the class has it; True where that changes anything."""
    section, name = path.split(".")
    owner = getattr(config, section)
    if getattr(owner, name, value) == value:
        return False
    setattr(owner, name, value)
    return True


def _answer(config: Any, asked: Asked, start_up: Callable[[Any], None]) -> Row:
    import torch

    before = dict(os.environ)
    os.environ.clear()
    os.environ.update({**asked.environment, "RANK": "0", "WORLD_SIZE": str(asked.ranks)})
    try:
        with redirect_stdout(StringIO()):
            start_up(config)
    except Exception as error:
        return {"error": failure(error)}
    finally:
        os.environ.clear()
        os.environ.update(before)
        torch.use_deterministic_algorithms(False)  # which start-up may switch on for the whole process
    return {"error": None, "after": flat(config)}


def main() -> int:
    """Run the tests, whose own outcome says how far the stand-ins can be trusted; then ask start-up."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("tests", "variants", "out", "te"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    if sys.version_info < (3, 12):  # which Megatron-Bridge asks for from 0.4 on, and uses nothing else of
        typing.override = typing_extensions.override
    import_upstream()
    module = importlib.import_module("megatron.bridge.training.config")
    pretend(options.te)
    recorder = Recorder(module)
    validate, start_up = module.ConfigContainer.validate, module.runtime_config_update
    module.ConfigContainer.validate, module.runtime_config_update = recorder.wrap(validate), recorder.wrap(start_up)
    files = sorted(str(path) for name in TESTS for path in Path(options.tests).glob(name))
    pytest.main([*files, "-q", "-p", "no:cacheprovider", "--no-header", "--tb=no", "-W", "ignore"], plugins=[recorder])
    module.ConfigContainer.validate, module.runtime_config_update = validate, start_up
    print(f"{len(recorder.asked)} configurations recorded, {recorder.left_out} left out")
    logging.disable()
    warnings.simplefilter("ignore")
    with Path(options.out).open("w", encoding="utf-8") as out:
        for number, asked in enumerate(recorder.asked):
            module.get_world_size_safe = lambda: asked.ranks  # noqa: B023  # asked about before the next
            for row in rows(asked, json.loads(options.variants), start_up):
                out.write(json.dumps({"configuration": number, **row}, default=str) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
