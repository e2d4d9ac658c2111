"""Report of `--check-setup`: the tiers that can run, the packages that each lacks, and how to install them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from mfsdp_lint.dryrun.containment import contained
from mfsdp_lint.dryrun.inventory import TRANSFORMER_ENGINE, Installed
from mfsdp_lint.dryrun.validator import NoAnswer, validator
from mfsdp_lint.megatron.versions.target import nearest


def broken(installed: Installed, timeout: float) -> str:
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
        with contained(installed.python) as launch, validator(launch, nearest(target.bridge).te, timeout):
            return ""
    except NoAnswer as error:
        return str(error)


def told(installed: Installed, broken: str = "") -> str:
    """Return a line for each package and each tier; `broken` explains why none can run though everything is there."""
    lines = [f"python      {installed.python} ({installed.version})"]
    lines += [
        f"{name:<20}{version or 'missing'}"
        for name, version in installed.packages.items()
        if version or name != TRANSFORMER_ENGINE
    ]
    lines.append("")
    for tier in ("introspect", "cpu"):
        can = tier in installed.tiers and not broken
        lines.append(f"{tier:<12}{'can run' if can else 'cannot run'}")
    lines.append(f"{'gpu':<12}{'cannot run' if broken else _gpu(installed)}")
    if broken:
        lines += ["", broken]
    if installed.missing:
        lines += ["", "install what is missing with", *(f"  {line}" for line in installed.install_lines())]
    return "\n".join(lines) + "\n"


def _gpu(installed: Installed) -> str:
    if not installed.gpus:
        return f"cannot run: {installed.no_gpu}"
    if "gpu" not in installed.tiers:
        return f"cannot run; there {'is' if len(installed.gpus) == 1 else 'are'} {_counted(installed)}"
    return f"can run with {_ranks(len(installed.gpus))} on {_counted(installed)}, {'; '.join(_limits(installed))}"


def _ranks(count: int) -> str:
    return "--ranks 1 alone" if count == 1 else f"up to {count} ranks"


def _counted(installed: Installed) -> str:
    names = Counter(f"{gpu.name} ({'.'.join(map(str, gpu.capability))})" for gpu in installed.gpus)
    return " and ".join(f"{count} {name}" for name, count in names.items())


def _limits(installed: Installed) -> Iterator[str]:
    device = installed.device("gpu", 1)
    if not device.transformer_engine:
        yield f"megatron-core's own layers, for {TRANSFORMER_ENGINE} is missing: nothing in 8 bits, and no offloading"
    elif not device.computes_in_8_bits:
        yield "layers of Transformer Engine, nothing in 8 bits"
    else:
        yield "layers of Transformer Engine"
