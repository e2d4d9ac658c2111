"""Packages and GPUs of a Python, the tiers that they allow, and the commands that install the others."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.dryrun.containment import WORKER
from mfsdp_lint.dryrun.device import A_CLUSTER, CPU, Device, Tier
from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.megatron.versions.releases import NEWEST_ON_THE_INDEX
from mfsdp_lint.megatron.versions.target import Target, UnknownVersion, bridge_version, core_version, resolve_target

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
TRANSFORMER_ENGINE = "transformer-engine"

_SECONDS = 60


PACKAGES = (*_CORE_NEEDS, *_BRIDGE_NEEDS, BRIDGE, TRANSFORMER_ENGINE)
"""All that a dry run looks for; it runs without the last one."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """GPU that torch can use."""

    name: str
    capability: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Installed:
    """A Python, and the version of each package that a dry run may need; None where it is not there.

    `gpus` are those that its torch can use, `no_gpu` says why there are none.
    """

    python: str
    version: str
    packages: Mapping[str, str | None]
    gpus: tuple[Gpu, ...] = ()
    no_gpu: str = ""

    @property
    def missing(self) -> tuple[str, ...]:
        """The packages that no tier runs without."""
        return tuple(name for name in (*_CORE_NEEDS, *_BRIDGE_NEEDS, BRIDGE) if not self.packages.get(name))

    @property
    def tiers(self) -> tuple[Tier, ...]:
        """The tiers that can run here, the one for GPUs with as many ranks as there are GPUs."""
        if self.missing:
            return ()
        return ("introspect", "cpu", "gpu") if self.gpus else ("introspect", "cpu")

    def device(self, tier: str, ranks: int) -> Device:
        """Choose the device of a tier with so many ranks; "auto" takes GPUs where there are enough.

        Raises UsageError where there are too few, and they were asked for.
        """
        if tier == "gpu" and len(self.gpus) < ranks:
            raise UsageError(f"--tier gpu: {self._too_few(ranks)}")
        if tier not in ("gpu", "auto") or len(self.gpus) < ranks:
            return CPU
        weakest = min(gpu.capability for gpu in self.gpus[:ranks])
        return Device("cuda", "nccl", self.packages.get(TRANSFORMER_ENGINE) is not None, weakest)

    def on_the_nodes(self, tier: str, ranks: int) -> Device:
        """Choose the device where the ranks run on other machines with this Python: GPUs that are asked for
        are there.
        """
        if tier == "gpu" and len(self.gpus) < ranks:
            return replace(A_CLUSTER, transformer_engine=self.packages.get(TRANSFORMER_ENGINE) is not None)
        return self.device(tier, ranks)

    def _too_few(self, ranks: int) -> str:
        if not self.gpus:
            return f"{self.python} sees no GPU: {self.no_gpu}"
        have = f"{len(self.gpus)} GPU{'' if len(self.gpus) == 1 else 's'}"
        return f"{ranks} ranks take {ranks} GPUs, and {self.python} sees {have}; there is --ranks {len(self.gpus)}"

    def ready(self) -> Installed:
        """Return the installation. Raises UsageError, with the commands that install the rest, where no
        tier can run.
        """
        if self.missing:
            lines = (f"  {line}" for line in self.install_lines())
            raise UsageError(f"{self.python} has no {', '.join(self.missing)}; install them with", *lines)
        return self

    def torch(self) -> str:
        """Return the version of torch, the only certain need of a source tree. Raises UsageError without torch."""
        version = self.packages.get("torch")
        if not version:
            raise UsageError(f"{self.python} has no torch; install it with", f"  {next(self.install_lines())}")
        return version

    def target(self) -> Target | None:
        """Return the versions that are installed, for the rules; None where the tool knows no such release."""
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
        """Return the versions that are installed, for the rules. Raises UsageError where the tool knows no such
        release.
        """
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
        """Yield the commands that install what is missing."""
        if set(self.missing) - {BRIDGE}:
            yield f"{self.python} -m pip install '{_itself()}[dry-run,bridge]'"
        if BRIDGE in self.missing:
            yield f"{self.python} -m pip install --no-deps megatron-bridge=={NEWEST_ON_THE_INDEX}"


def _itself() -> str:
    """Return what installs this tool: the checkout that it runs from, or its name."""
    root = Path(__file__).resolve().parents[3]
    return str(root) if (root / "pyproject.toml").is_file() else "mfsdp-lint"


def look(python: str | None) -> Installed:
    """Look up the packages and GPUs of a Python: the named one, else this one if it has torch. Raises UsageError.

    The look-up takes a process of its own, and imports torch there if there seems to be a GPU.
    """
    chosen = shutil.which(os.path.expanduser(python)) if python else sys.executable
    if chosen is None:
        raise UsageError(f"--python: {python}: no such program")
    chosen = os.path.abspath(chosen)  # a launch has its own directory
    command = [chosen, str(WORKER / "start.py"), "inventory", *PACKAGES]
    environment = {**os.environ, "MFSDP_LINT_DRY_RUN_PARENT": str(os.getpid())}
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=_SECONDS, check=True, env=environment, stdin=subprocess.DEVNULL
        )
        said = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise UsageError(f"--python: {chosen} cannot be asked what it has: {error}") from None
    gpus = tuple(Gpu(gpu["name"], tuple(gpu["capability"])) for gpu in said["gpus"])
    return Installed(chosen, said["python"], said["versions"], gpus, said["no_gpu"])
