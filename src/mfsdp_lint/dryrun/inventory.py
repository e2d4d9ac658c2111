"""Packages and GPUs of a Python, the tiers and devices that they allow, and the commands that install the others."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.dryrun.containment import MEMORY, WORKER, contained
from mfsdp_lint.dryrun.introspection import NoAnswer, validator
from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.megatron.versions import MEGATRON_CORE, Target, UnknownVersion, resolve_target
from mfsdp_lint.megatron.versions.releases import NEWEST_ON_THE_INDEX

_CORE_NEEDS = ("torch", "megatron-core", "numpy", "einops", "psutil", "packaging")
_BRIDGE_NEEDS = (
    *("omegaconf", "PyYAML", "regex", "six", "tqdm", "rich", "hydra-core", "typing-extensions", "transformers"),
)
"""Packages that importing megatron-bridge needs without a GPU, as the extra `bridge` has it."""

BRIDGE = "megatron-bridge"
TRANSFORMER_ENGINE = "transformer-engine"

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
        """The tiers that can run here."""
        if self.missing:
            return ()
        return ("introspect", "cpu", "gpu") if self.gpus else ("introspect", "cpu")

    def device(self, tier: str, ranks: int) -> Device:
        """Choose a tier's device for so many ranks. Raises UsageError.

        "auto" takes GPUs if there is one for each rank; "gpu" lets ranks share them if there are fewer.
        """
        if tier == "gpu" and not self.gpus:
            elsewhere = (
                "--executor slurm or ray sends it to a cluster, and with --print-job shows what would be submitted"
            )
            raise UsageError(f"--tier gpu: {self.python} sees no GPU: {self.no_gpu}", f"  {elsewhere}")
        if tier != "gpu" and (tier != "auto" or len(self.gpus) < ranks):
            return CPU
        weakest = min(gpu.capability for gpu in self.gpus[:ranks])
        return Device("cuda", "nccl", self.packages.get(TRANSFORMER_ENGINE) is not None, weakest, len(self.gpus))

    def on_the_nodes(self, gpus: int, *, in_a_container: bool) -> Device:
        """Return the device of a cluster's jobs, which run with this Python or in a container for training.

        `gpus` is how many a job has, 0 for one for each rank.
        """
        has_it = in_a_container or self.packages.get(TRANSFORMER_ENGINE) is not None
        return replace(A_CLUSTER, transformer_engine=has_it, gpus=gpus)

    def ready(self) -> Installed:
        """Return the installation. Raises UsageError, with the commands that install the rest, if no tier can run."""
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
            known = resolve_target(bridge, "installed")
            torch = (self.packages.get("torch") or "").partition("+")[0] or None
            return replace(known, core=MEGATRON_CORE.version(core), torch=torch)
        except UnknownVersion:
            return None

    def known_target(self) -> Target:
        """Return the installed versions, for the rules. Raises UsageError where the tool knows no such release."""
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
            root = Path(__file__).resolve().parents[3]  # the checkout that this tool runs from, if any
            itself = root if (root / "pyproject.toml").is_file() else "mfsdp-lint"
            yield f"{self.python} -m pip install '{itself}[dry-run,bridge]'"
        if BRIDGE in self.missing:
            yield f"{self.python} -m pip install --no-deps megatron-bridge=={NEWEST_ON_THE_INDEX}"


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
            command, capture_output=True, timeout=60, check=True, env=environment, stdin=subprocess.DEVNULL
        )
        said = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise UsageError(f"--python: {chosen} cannot be asked what it has: {error}") from None
    gpus = tuple(Gpu(gpu["name"], tuple(gpu["capability"])) for gpu in said["gpus"])
    return Installed(chosen, said["python"], said["versions"], gpus, said["no_gpu"])


Tier = Literal["introspect", "cpu", "gpu"]
Trains = Literal["cpu", "gpu"]


@dataclass(frozen=True, slots=True)
class Device:
    """`backend` is that of torch.distributed, `capability` the GPUs' compute capability.

    `gpus` is how many there are, which more ranks share; 0 where it is not known, or there are none.
    """

    kind: Literal["cpu", "cuda"]
    backend: Literal["gloo", "nccl"]
    transformer_engine: bool = False
    capability: tuple[int, int] = (0, 0)
    gpus: int = 0

    @property
    def tier(self) -> Trains:
        """The tier that trains on it."""
        return "cpu" if self.kind == "cpu" else "gpu"

    @property
    def decides(self) -> tuple[Trains, ...]:
        """Training here decides what these tiers decide."""
        return ("cpu", "gpu") if self.is_gpu else ("cpu",)

    @property
    def is_gpu(self) -> bool:
        """Tell whether CUDA is real here."""
        return self.kind == "cuda"

    @property
    def memory(self) -> int:
        """The bytes of data of a process where nobody sets a limit; 0, none, on a GPU, whose driver maps far more."""
        return 0 if self.is_gpu else MEMORY

    @property
    def computes_in_8_bits(self) -> bool:
        """Tell whether Transformer Engine has kernels for fp8 here: on Ada, Hopper and later GPUs."""
        return self.transformer_engine and self.capability >= (8, 9)

    @property
    def computes_in_blocks(self) -> bool:
        """Tell whether it has kernels that scale by blocks of 32 or 16 numbers (mxfp8, nvfp4): on Blackwell."""
        return self.transformer_engine and self.capability >= (10, 0)


CPU = Device("cpu", "gloo")

A_CLUSTER = Device("cuda", "nccl", transformer_engine=True, capability=(9, 0))
"""The device of a job for another machine: Hopper, in a container for training."""


def why_broken(installed: Installed, timeout: float) -> str:
    """Say why what is installed cannot be tried: no rules are known for it, or it cannot be imported.

    "" where it can, or where something is missing. Raises UsageError where there is no room for a temporary directory.
    """
    if installed.missing:
        return ""
    target = installed.target()
    if target is None:
        return f"no rules are known for {installed.label}"
    try:
        # As a dry run starts it: what fails here would fail there, and nothing else.
        with contained(installed.python) as launch, validator(launch, target, timeout):
            return ""
    except NoAnswer as error:
        return str(error)


def setup_report(installed: Installed, broken: str = "") -> str:
    """Return a line for each package and each tier; `broken` explains why none can run though everything is there."""
    lines = [f"python      {installed.python} ({installed.version})"]
    lines += [
        f"{name:<20}{version or 'missing'}"
        for name, version in installed.packages.items()
        if version or name != TRANSFORMER_ENGINE
    ]
    lines.append("")
    can = "can run" if installed.tiers and not broken else "cannot run"
    lines += [f"{tier:<12}{can}" for tier in ("introspect", "cpu")]
    lines.append(f"{'gpu':<12}{'cannot run' if broken else _gpu(installed)}")
    if broken:
        lines += ["", broken]
    if installed.missing:
        lines += ["", "install what is missing with", *(f"  {line}" for line in installed.install_lines())]
    return "\n".join(lines) + "\n"


def _gpu(installed: Installed) -> str:
    """Describe the tier for GPUs: whether it can run, on which of them, and with which layers."""
    if not installed.gpus:
        return f"cannot run: {installed.no_gpu}"
    one = len(installed.gpus) == 1
    names = Counter(f"{gpu.name} ({'.'.join(map(str, gpu.capability))})" for gpu in installed.gpus)
    counted = " and ".join(f"{count} {name}" for name, count in names.items())
    if "gpu" not in installed.tiers:
        return f"cannot run; there {'is' if one else 'are'} {counted}"
    device = installed.device("gpu", 1)
    layers = f"layers of Transformer Engine{'' if device.computes_in_8_bits else ', nothing in 8 bits'}"
    if not device.transformer_engine:
        own = "megatron-core's own layers"
        layers = f"{own}, for {TRANSFORMER_ENGINE} is missing: nothing in 8 bits, and no offloading"
    return f"can run on {counted}, {layers}"
