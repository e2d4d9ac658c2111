"""Which packages a Python has, which tiers that allows, and what to install for the others."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from mfsdp_lint.dryrun.containment import WORKER
from mfsdp_lint.options import UsageError
from mfsdp_lint.upstream.target import Target, UnknownVersion, bridge_version, core_version, resolve_target

Tier = Literal["introspect", "cpu", "gpu"]
TIERS: tuple[Tier, ...] = get_args(Tier)

_CORE_NEEDS = ("torch", "megatron-core", "numpy", "einops", "psutil", "packaging")
_BRIDGE_NEEDS = (
    "omegaconf",
    "PyYAML",
    "regex",
    "six",
    "tqdm",
    "rich",
    "hydra-core",
    "typing-extensions",
    "transformers",
)
"""What importing megatron-bridge asks for without a GPU, as the extra `bridge` has it."""

BRIDGE = "megatron-bridge"

_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Installed:
    """A Python, and the version of each package that a dry run may need; None where it is not there."""

    python: str
    version: str
    packages: Mapping[str, str | None]

    @property
    def missing(self) -> tuple[str, ...]:
        """The packages that no tier runs without."""
        return tuple(name for name in (*_CORE_NEEDS, *_BRIDGE_NEEDS, BRIDGE) if not self.packages.get(name))

    @property
    def tiers(self) -> tuple[Tier, ...]:
        """The tiers that can run here without a GPU."""
        return () if self.missing else ("introspect", "cpu")

    def ready(self) -> Installed:
        """The same. Raises UsageError, with what to install, where no tier can run."""
        if self.missing:
            lines = "\n  ".join(self.install_lines())
            raise UsageError(f"{self.python} has no {', '.join(self.missing)}; install them with\n  {lines}")
        return self

    def target(self) -> Target | None:
        """The versions that are installed, for the rules; None where the tool knows no such release."""
        bridge, core = self.packages.get(BRIDGE), self.packages.get("megatron-core")
        if not bridge or not core:
            return None
        try:
            known = resolve_target(bridge_version(bridge), "installed")
            torch = (self.packages.get("torch") or "").partition("+")[0] or None
            return replace(known, core=core_version(core), torch=torch)
        except UnknownVersion:
            return None

    def known_target(self) -> Target:
        """The same. Raises UsageError where the tool knows no such release."""
        target = self.target()
        if target is None:
            raise UsageError(f"no rules are known for {self.label}")
        return target

    @property
    def label(self) -> str:
        """`megatron-bridge 0.3.1 with megatron-core 0.16.1 and torch 2.13.0+cpu`."""
        have = {name: self.packages.get(name) or "?" for name in (BRIDGE, "megatron-core", "torch")}
        return f"{BRIDGE} {have[BRIDGE]} with megatron-core {have['megatron-core']} and torch {have['torch']}"

    def install_lines(self) -> Iterator[str]:
        """The commands that install what is missing."""
        if set(self.missing) - {BRIDGE}:
            yield f"{self.python} -m pip install 'mfsdp-lint[dry-run,bridge]'"
        if BRIDGE in self.missing:
            yield f"{self.python} -m pip install --no-deps megatron-bridge==0.3.1"


def look(python: str | None) -> Installed:
    """What a Python has: the one that is named, else this one if it has torch. Raises UsageError.

    torch is looked for, and not imported.
    """
    chosen = shutil.which(os.path.expanduser(python)) if python else sys.executable
    if chosen is None:
        raise UsageError(f"--python: {python}: no such program")
    chosen = os.path.abspath(chosen)  # a launch has its own directory
    names = (*_CORE_NEEDS, *_BRIDGE_NEEDS, BRIDGE)
    command = [chosen, str(WORKER / "start.py"), "inventory", *names]
    environment = {**os.environ, "MFSDP_LINT_DRY_RUN_PARENT": str(os.getpid())}
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=_SECONDS, check=True, env=environment, stdin=subprocess.DEVNULL
        )
        said = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise UsageError(f"--python: {chosen} cannot be asked what it has: {error}") from None
    return Installed(chosen, said["python"], said["versions"])
