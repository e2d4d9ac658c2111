"""Detection of the versions that a project uses: one idea a module, asked in this order.

The first place that names a version counts. A range goes on to later places, which may narrow it down. Several people
or projects may share a repository: a file is judged by the versions that it names itself, or the nearest folder above.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.detect.declared import (
    NamedVersions,
    ProjectFolders,
    in_images_of,
    in_locks,
    in_own_set_up,
    in_pages,
    in_requirements,
    in_requirements_below,
    in_set_up,
    named_by,
    project_folders,
    set_up_by,
    tables,
    upwards,
)
from mfsdp_lint.inputs.detect.present import in_flags, in_site_packages, in_submodules, in_tree, in_use, source_of
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.megatron.versions import (
    DEFAULT_TARGET,
    MEGATRON_BRIDGE,
    MEGATRON_CORE,
    Target,
    UnknownVersion,
    by_places,
    gpu_kind,
    is_version,
    nearest,
    numbers,
    release_for_core,
)

Kind = Callable[[ProjectFolders], Iterator[NamedVersions]]

KINDS: tuple[Kind, ...] = (
    in_tree,
    in_locks,
    in_requirements,
    in_submodules,
    in_set_up,
    in_site_packages,
)
NEAR: tuple[Kind, ...] = (in_locks, in_requirements, in_submodules, in_own_set_up)
"""The kinds of places that are a folder's own: the nearest folder that has one counts before those above it."""

ASKED = 0
"""The step before all these: what the options say, which nothing narrows down."""


@dataclass(frozen=True, slots=True)
class Detected:
    """The versions to judge against, and remarks.

    The newest come first (there is one, unless a range is all that is known), and behind them those that hold only in
    some folders and files (`Target.places`).
    """

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
    looked = project_folders(paths, options.search_path)
    if options.target_bridge is not None or options.target_core is not None:
        return Detected(_detected(looked, options, files, scripts), tuple(dict.fromkeys(looked.remarks)))
    nearest_to = _Nearest(looked)
    by_place: dict[str, list[str]] = defaultdict(list)
    for path in files:
        by_place[nearest_to.folder(path)].append(path)
    for path in scripts:
        by_place[nearest_to.place(path)].append(path)
    python = frozenset(files)
    # The widest place comes first.
    found: dict[object, tuple[Target, ...]] = {}
    said: dict[str, tuple[Target, ...]] = {}
    for place in sorted(by_place or [""], key=len):
        here = by_place[place]
        there = looked.only(tuple(upwards(place))) if place else nearest_to.unnamed()
        if not place:
            # The set-up of one launch says something of those that nothing else is known of.
            here = [*here, *(each for each in scripts if each in by_place and not nearest_to.folder(each))]
        modules, others = ([each for each in here if (each in python) == is_module] for is_module in (True, False))
        targets = tuple(
            replace(target, places=(place,) if place else ())
            for target in _detected(there, options, modules, others, place)
        )
        said[place] = tuple(replace(target, reason="", places=()) for target in targets)
        if place and said[place] == said.get(_around(place, said)):
            continue  # as around it
        key = _versions(targets)
        found[key] = _together(found[key], targets) if key in found else targets
    return Detected(tuple(chain.from_iterable(found.values())), tuple(dict.fromkeys(looked.remarks)))


def _around(place: str, places: Iterable[str]) -> str:
    """Return the nearest other place that a place lies in; "" for what lies in none."""
    return max((each for each in places if each and place.startswith(os.path.join(each, ""))), key=len, default="")


def detect_beside(known: Sequence[Target], paths: Iterable[str], options: Options) -> tuple[Target, ...]:
    """Return the known targets, and those of further files whose own names, or nearest folders', are other ones."""
    if options.target_bridge is not None or options.target_core is not None:
        return tuple(known)
    nearest_to = _Nearest(project_folders((), options.search_path))
    places = dict.fromkeys(nearest_to.place(path) for path in paths)
    open_ = [each for each in places if not any(each in target.places or not each for target in known)]
    found = {_versions(each): each for each in by_places(known).values()}
    for place in open_:
        above = nearest_to.looked.only(tuple(upwards(place)))
        targets = tuple(replace(each, places=(place,)) for each in _detected(above, options, (), (), place))
        key = _versions(targets)
        found[key] = _together(found[key], targets) if key in found else targets
    return tuple(chain.from_iterable(found.values()))


def _versions(targets: Sequence[Target]) -> object:
    """Return the part of the targets of a place that they share with those of places with the same versions."""
    return tuple((replace(each, reason="", places=()), not each.places) for each in targets)


@dataclass(slots=True)
class _Nearest:
    """The place that names versions for a file: the nearest folder that does, the file itself, or none."""

    looked: ProjectFolders
    _above: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _in: dict[tuple[str, Kind], bool] = field(default_factory=dict)

    def place(self, path: str) -> str:
        """Return the place for a file that may start runs: an image that it names is nearer than any folder.

        It is not nearer than Megatron's own source around it, which the run brings along.
        """
        brings_source = any(self._is_tree(each) or self._names(each, in_submodules) for each in self._folders(path))
        return path if not brings_source and named_by(self.looked, path) else self.folder(path)

    def folder(self, path: str) -> str:
        """Return the nearest folder above a file that names versions; "" without one."""
        above = self._folders(path)
        # (Of the folders of one checkout, such as `src`, the outermost has all of its files.)
        tree = next(filter(self._is_tree, reversed(above)), None)
        return tree or next(filter(self._declares, above), "")

    def unnamed(self) -> ProjectFolders:
        """Return the folders that are looked into for files without such a place."""
        named = {folder for (folder, _), names in self._in.items() if names}
        return self.looked.only(tuple(each for each in self.looked.folders if each not in named))

    def _folders(self, path: str) -> tuple[str, ...]:
        folder = os.path.dirname(path)
        if folder not in self._above:
            self._above[folder] = tuple(upwards(path))
        return self._above[folder]

    def _is_tree(self, folder: str) -> bool:
        return self._names(folder, in_tree)

    def _declares(self, folder: str) -> bool:
        return any(self._names(folder, kind) for kind in NEAR)

    def _names(self, folder: str, kind: Kind) -> bool:
        if (folder, kind) not in self._in:
            self._in[folder, kind] = any(each.bridge or each.core for each in kind(self.looked.only((folder,))))
        return self._in[folder, kind]


def _together(found: Sequence[Target], more: Sequence[Target]) -> tuple[Target, ...]:
    """Join the same versions of two places."""
    return tuple(
        replace(
            one,
            reason=", ".join(dict.fromkeys((*one.reason.split(", "), *other.reason.split(", ")))),
            places=(*one.places, *other.places),
        )
        for one, other in zip(found, more, strict=True)
    )


def _detected(
    looked: ProjectFolders, options: Options, files: Sequence[str], scripts: Sequence[str], place: str = ""
) -> tuple[Target, ...]:
    """Find the versions that hold in a place, the newest first. Raises UnknownVersion, see `detect`."""
    bridge, core = _Known(MEGATRON_BRIDGE.versions), _Known(MEGATRON_CORE.versions)
    te, torch = _Component("te", options.target_te), _Component("torch", options.target_torch)
    gpu = _ask(bridge, core, options)
    at = {}
    for step, found in _everything(looked, files, scripts, bridge, core, place):
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
    # One reading serves all targets: source of one release would not do for another.
    if options.installed_source and len(targets) == 1 and not targets[0].core_alone:
        targets = (replace(targets[0], source=source_of(looked, targets[0].bridge, targets[0].core)),)
    return tuple(reversed(targets))


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
    looked: ProjectFolders,
    files: Sequence[str],
    scripts: Sequence[str],
    bridge: _Known,
    core: _Known,
    place: str,
) -> Iterator[tuple[int, NamedVersions]]:
    """Yield the versions that every place names; what is used is asked only where the version is not known by then."""
    folders = [looked.only((folder,)) for folder in looked.folders]
    near = [(kind, folder) for folder in folders for kind in NEAR]
    kinds = [*((kind, looked) for kind in KINDS[:1]), *near, *((kind, looked) for kind in KINDS[1:])]
    if place:
        # What is set up in the folders beside a place is theirs.
        kinds = [(kind, looked.only(looked.folders[:1]) if kind is in_set_up else where) for kind, where in kinds]
    if disk.is_file(place):
        yield from ((ASKED + 1, found) for found in named_by(looked, place))
        kinds = [(kind, where) for kind, where in kinds if kind is not in_set_up]
    for step, (kind, where) in enumerate(kinds, 2):
        yield from ((step, found) for found in kind(where))
    step = len(kinds) + 2
    if not (bridge.versions or core.versions) and (found := in_requirements_below(looked)):
        yield step, found
    if not (bridge.versions or core.versions):
        yield from ((step, found) for found in set_up_by(looked, scripts))
    if not (bridge.versions or core.versions) and (named := in_images_of(looked, [*files, *tables(looked)])):
        yield step, named
    if not (bridge.versions or core.versions) and (told := in_pages(looked)):
        yield step, told
    if (len(bridge.versions) > 1 and bridge.step != ASKED) or not (bridge.versions or core.versions):
        found = in_use(looked, files)
        # That the newest release on the index would do says nothing that is not assumed anyway.
        if found and (bridge.versions or DEFAULT_TARGET.bridge not in MEGATRON_BRIDGE.versions(found.bridge or "")):
            yield step + 1, found
    if not (bridge.versions or core.versions) and (found := in_flags(looked, scripts, files, DEFAULT_TARGET.core)):
        yield step + 2, found


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
