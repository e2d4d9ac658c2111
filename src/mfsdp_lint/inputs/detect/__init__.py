"""Detection of the versions that a project uses: one idea a module, asked in this order.

The first place that names a version counts. A range goes on to later places, which may narrow it down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.inputs.detect.declared import (
    NamedVersions,
    ProjectFolders,
    in_locks,
    in_requirements,
    in_set_up,
    project_folders,
    set_up_by,
)
from mfsdp_lint.inputs.detect.present import in_flags, in_site_packages, in_submodules, in_tree, in_use, source_of
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.megatron.versions import (
    DEFAULT_TARGET,
    MEGATRON_BRIDGE,
    MEGATRON_CORE,
    Target,
    UnknownVersion,
    gpu_kind,
    is_version,
    nearest,
    numbers,
    release_for_core,
)

KINDS: tuple[Callable[[ProjectFolders], Iterator[NamedVersions]], ...] = (
    in_tree,
    in_locks,
    in_requirements,
    in_submodules,
    in_set_up,
    in_site_packages,
)
ASKED = 0
"""The step before all these: what the options say, which nothing narrows down."""


@dataclass(frozen=True, slots=True)
class Detected:
    """The versions to judge against, the newest first (one, unless a range is all that is known), and remarks."""

    targets: tuple[Target, ...]
    remarks: tuple[str, ...] = ()


@dataclass(slots=True)
class _Known:
    """The versions known of one package so far: those it may be, where they were named, and at which step."""

    expand: Callable[[str], tuple[str, ...]]
    versions: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    step: int = ASKED

    def hear(self, text: str, reason: str, step: int) -> None:
        """Take the versions in, if they are the first or narrow down the known ones. Raises UnknownVersion."""
        said = self.expand(text)
        if not self.versions:
            self.versions, self.reasons, self.step = said, (reason,), step
        elif len(self.versions) > 1 and self.step != ASKED:
            both = tuple(version for version in self.versions if version in said)
            if both and both != self.versions:
                self.versions, self.reasons = both, (*self.reasons, reason)


@dataclass(slots=True)
class _Component:
    """A component whose version is told by the first place that has one."""

    name: str
    version: str | None
    place: str = ""

    def hear(self, version: str | None, place: str) -> None:
        """Take the version in, if it is the first, and is a version."""
        if version and not self.version and is_version(version):
            self.version, self.place = version, place


def detect(paths: Sequence[str], options: Options, files: Sequence[str] = (), scripts: Sequence[str] = ()) -> Detected:
    """Find the versions for these paths: as the options say, else as the project does; `files` are its Python files,
    and `scripts` all others.

    Raises UnknownVersion for an option that is no known version; an unknown version that the project names is a
    remark.
    """
    bridge, core = _Known(MEGATRON_BRIDGE.versions), _Known(MEGATRON_CORE.versions)
    te, torch = _Component("te", options.target_te), _Component("torch", options.target_torch)
    gpu = _ask(bridge, core, options)
    looked = project_folders(paths, options.search_path)
    at = {}
    for step, found in _everything(looked, files, scripts, bridge, core):
        for known, text in ((bridge, found.bridge), (core, found.core)):
            # A core that is found behind the place that says which Bridge it is belongs to another.
            if text and not (known is core and bridge.versions and bridge.step < step):
                try:
                    known.hear(text, found.place, step)
                except UnknownVersion as error:
                    looked.remarks.append(f"{found.place}: {error}")
        at[found.place] = found
        te.hear(found.te, found.place)
        torch.hear(found.torch, found.place)
        if len(bridge.versions) == 1 and te.version and torch.version:
            break
    found_targets = _targets(bridge, core) or (DEFAULT_TARGET,)
    said = [at[place] for place in core.reasons if place in at and not bridge.versions]
    targets = tuple(
        replace(
            each,
            reason=_reason(each, te, torch),
            te=te.version,
            torch=torch.version,
            gpu=gpu,
            older=any(found.older for found in said),
            between=any(found.between for found in said),
        )
        for each in found_targets
    )
    remarks = tuple(dict.fromkeys(looked.remarks))
    # One reading serves all targets: source of one release would not do for another.
    if options.installed_source and len(targets) == 1 and not targets[0].core_alone:
        targets = (replace(targets[0], source=source_of(looked, targets[0].bridge, targets[0].core)),)
    return Detected(tuple(reversed(targets)), remarks)


def _ask(bridge: _Known, core: _Known, options: Options) -> str | None:
    """Take in the versions that the options name; return the kind of GPU.

    Raises UnknownVersion with the option's name.
    """
    for name, known, text in (
        ("target-bridge", bridge, options.target_bridge),
        ("target-core", core, options.target_core),
    ):
        if text is not None:
            try:
                known.hear(text, options.target_from, ASKED)
            except UnknownVersion as error:
                raise UnknownVersion(f"{name}: {error}") from None
    for name, text in (("target-te", options.target_te), ("target-torch", options.target_torch)):
        if text is not None and not is_version(text):
            raise UnknownVersion(f"{name}: {text!r} is not a version")
    try:
        return None if options.target_gpu is None else gpu_kind(options.target_gpu)
    except UnknownVersion as error:
        raise UnknownVersion(f"target-gpu: {error}") from None


def _everything(
    looked: ProjectFolders, files: Sequence[str], scripts: Sequence[str], bridge: _Known, core: _Known
) -> Iterator[tuple[int, NamedVersions]]:
    """Yield the versions that every place names; what is used is asked only where the version is not known by then."""
    for step, kind in enumerate(KINDS, 1):
        yield from ((step, found) for found in kind(looked))
    if not (bridge.versions or core.versions):
        yield from ((len(KINDS) + 1, found) for found in set_up_by(looked, scripts))
    if (len(bridge.versions) > 1 and bridge.step != ASKED) or not (bridge.versions or core.versions):
        found = in_use(looked, files)
        # That the newest release on the index would do says nothing that is not assumed anyway.
        if found and (bridge.versions or DEFAULT_TARGET.bridge not in MEGATRON_BRIDGE.versions(found.bridge or "")):
            yield len(KINDS) + 2, found
    if not (bridge.versions or core.versions) and (found := in_flags(looked, scripts, files, DEFAULT_TARGET.core)):
        yield len(KINDS) + 3, found


def _targets(bridge: _Known, core: _Known) -> tuple[Target, ...]:
    """Return every pair of versions that is meant, the oldest first."""
    if not bridge.versions:
        return tuple(with_core(version, ", ".join(core.reasons)) for version in core.versions)
    reasons, cores = bridge.reasons, () if core.step > bridge.step else core.versions
    if cores:
        reasons = tuple(dict.fromkeys((*reasons, *core.reasons)))
    versions = [version for version in bridge.versions if _pinned(version, cores)] or list(bridge.versions)
    return tuple(
        Target(version, _pinned(version, cores) or cores[-1], ", ".join(reasons), assumed=False) for version in versions
    )


def _reason(target: Target, *components: _Component) -> str:
    """Name the places that count, each file once."""
    whys = target.reason.split(", ")
    reasons = [why for i, why in enumerate(whys) if _file(why) not in map(_file, whys[:i])]
    beside = [each for each in components if each.place and _file(each.place) not in map(_file, reasons)]
    return "; ".join([", ".join(reasons), *(f"{each.name} from {each.place}" for each in beside)])


def _file(place: str) -> str:
    path, _, line = place.rpartition(":")
    return path if line.isdigit() else place


def _pinned(bridge: str, cores: Sequence[str]) -> str | None:
    """Return the core that a Bridge version pins; None where `cores` name other ones."""
    pinned = nearest(bridge).core
    return pinned if not cores or numbers(pinned) in map(numbers, cores) else None


def with_core(core: str, reason: str) -> Target:
    """Return the target where only the version of megatron-core is known."""
    release = release_for_core(core)
    return Target(
        release.bridge if release else DEFAULT_TARGET.bridge, core, reason, assumed=False, core_alone=release is None
    )
