"""Installed packages: the names of `*.dist-info` folders in site-packages. Nothing is imported, no file is opened."""

from __future__ import annotations

from collections.abc import Iterator

from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.detect.found import Found, from_package
from mfsdp_lint.inputs.detect.places import Places, join
from mfsdp_lint.inputs.detect.tree import in_tree
from mfsdp_lint.inputs.installations import active_environments, own_packages

ENVIRONMENTS = (".venv", "venv", "env")
OURS = "mfsdp_lint-"


def in_site_packages(places: Places) -> Iterator[Found]:
    """Yield the installed versions.

    They are on the search path (as source, too), next to the project, in active environments, and beside the tool.
    """
    yield from in_tree(Places(places.search_path, remarks=places.remarks))
    folders: dict[str, None] = {}
    for folder in places.folders:
        for environment in ENVIRONMENTS:
            folders.update(dict.fromkeys(_site_packages(join(folder, environment))))
    folders.update(dict.fromkeys(places.search_path))
    for environment in active_environments():
        folders.update(dict.fromkeys(_site_packages(environment)))
    folders.update(dict.fromkeys(own_packages()))
    for folder in folders:
        found = list(_distributions(places, folder))
        if _is_where_megatron_runs(places, folder, found):
            yield from found


def _is_where_megatron_runs(places: Places, folder: str, found: list[Found]) -> bool:
    """Tell whether the packages installed there show the versions of the project.

    Beside this tool there may be the torch and megatron-core of its dry run, and torch alone is everywhere.
    """
    if any(each.bridge for each in found):
        return True
    return any(each.core for each in found) and not places.names(folder, f"{OURS}*")


def _site_packages(environment: str) -> Iterator[str]:
    """Yield the site-packages of a virtual or conda environment, wherever its platform puts them."""
    windows = join(environment, "Lib/site-packages")
    if disk.is_folder(windows):
        yield windows
    library = join(environment, "lib")
    yield from (join(library, f"{name}/site-packages") for name in disk.Listing(library).matching("python3*"))


def _distributions(places: Places, folder: str) -> Iterator[Found]:
    for name in places.names(folder, "*.dist-info"):
        distribution, _, version = name.removesuffix(".dist-info").partition("-")
        if found := from_package(join(folder, name), distribution, version):
            yield found
