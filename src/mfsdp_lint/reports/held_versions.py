"""The versions that a finding holds for, in words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from mfsdp_lint.core.front_ends import Component
from mfsdp_lint.core.records import replace
from mfsdp_lint.megatron.versions.ranges import numbers
from mfsdp_lint.megatron.versions.releases import CORE_RELEASES, RELEASES
from mfsdp_lint.megatron.versions.target import Target

if TYPE_CHECKING:  # reports of what is known already need no rules
    from mfsdp_lint.rules.check import Violation
    from mfsdp_lint.rules.findings import Cause

BRIDGE, CORE = "megatron-bridge", "megatron-core"
_ORDER = {
    BRIDGE: [release.bridge for release in RELEASES],
    CORE: [release.core for release in CORE_RELEASES],
}


_NAMED: Mapping[Component, Callable[[Target], str]] = {
    "bridge": lambda target: target.name,
    "core": lambda target: f"{CORE} {target.core}",
}


def holds_for(violation: Violation) -> str:
    """Return the version whose check this is: that of the component that the recipe's front-end is released with."""
    return _NAMED[violation.recipe.front_end.released_with](violation.target)


def told(cause: Cause, versions: Iterable[str]) -> Cause:
    """Add the versions for which it holds to the finding, in its message as well."""
    found = in_order(versions)
    finding = cause.finding
    return replace(
        cause, finding=replace(finding, versions=found, message=f"{finding.message} (holds for {named(found)})")
    )


def in_order(versions: Iterable[str]) -> tuple[str, ...]:
    """Sort versions, each once, by package, the oldest first."""
    return tuple(sorted(set(versions), key=lambda each: (each.split()[0], numbers(each.split()[1]))))


def named(versions: Iterable[str]) -> str:
    """Name versions: `megatron-bridge 0.4.2, 0.5.1`; three and more known releases in a row are `0.3.1 to 0.5.1`."""
    packages: dict[str, list[str]] = defaultdict(list)
    for version in in_order(versions):
        package, _, number = version.partition(" ")
        packages[package].append(number)
    return "; ".join(f"{package} {', '.join(_runs(package, found))}" for package, found in packages.items())


def _runs(package: str, versions: list[str]) -> Iterable[str]:
    order = _ORDER[package]
    start = 0
    for end in range(1, len(versions) + 1):
        if end < len(versions) and _follows(order, versions[end - 1], versions[end]):
            continue
        run = versions[start:end]
        yield from [f"{run[0]} to {run[-1]}"] if len(run) > 2 else run
        start = end


def _follows(order: list[str], left: str, right: str) -> bool:
    return left in order and right in order and order.index(right) == order.index(left) + 1
