"""Makes a snapshot from upstream source, with the tool's own evaluator. Nothing upstream is imported or run.

python -m tools.snapshot.generate CHECKOUT [--core TREE] [--release VERSION] -o FILE
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from mfsdp_lint.core.files import text
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import RELEASES
from mfsdp_lint.readers.python.eval import huggingface
from mfsdp_lint.readers.python.eval.classes import lookup
from mfsdp_lint.readers.python.eval.huggingface import ARCHITECTURES
from mfsdp_lint.readers.python.eval.imports import ensure_ran
from mfsdp_lint.readers.python.state.modules import ModuleFinder
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    ClassObject,
    DictObject,
    Function,
    Instance,
    ListObject,
    Module,
    Object,
    Partial,
    SetObject,
)
from mfsdp_lint.snapshots import PROVIDERS, Node, Snapshot
from tools.snapshot.bounds import ChangeBounds
from tools.snapshot.effects import add_effects
from tools.snapshot.encode import Encoder, PlaceNumbers, bare
from tools.snapshot.entries import Upstream, class_entry, function_entry
from tools.snapshot.meaning import global_of
from tools.snapshot.summarise import Watching
from tools.snapshot.writing import Contents, dump

PACKAGES = ("megatron.bridge", "megatron.core", "megatron.training")
AUTO_BRIDGE = ("megatron.bridge.models.conversion.auto_bridge", "AutoBridge")


class NoSource(ValueError):
    """A folder that does not hold the upstream source it should."""


def make_snapshot(
    checkout: str,
    core: str | None = None,
    say: Callable[[str], None] = lambda _: None,
    release: str | None = None,
) -> bytes:
    """Make the snapshot of a Megatron-Bridge source tree as the bytes of its file.

    `checkout` is a clone or an unpacked wheel; `core` the Megatron-LM tree or unpacked megatron-core wheel that goes
    with it, by default the submodule `3rdparty/Megatron-LM`. `say` is called for every module. `release` names the
    tree's release if its `package_info.py` has another one: that of the 0.6.0 tag says 0.6.1. Raises NoSource.
    """
    bridge_root = _root(checkout, "megatron/bridge", "Megatron-Bridge")
    core_root = _root(core or os.path.join(checkout, "3rdparty", "Megatron-LM"), "megatron/core", "Megatron-LM")
    maker = _Maker([bridge_root, core_root], say)
    modules = maker.make()
    bridge = release or _version(bridge_root, "bridge")
    # The development head of Megatron-LM calls itself by the release that it will be.
    pinned = {known.bridge: known.core for known in RELEASES}
    return dump(Contents(bridge, pinned.get(bridge) or _version(core_root, "core"), modules, maker.places.all()))


def _root(folder: str, package: str, name: str) -> str:
    for root in (folder, os.path.join(folder, "src")):
        if os.path.isdir(os.path.join(root, package)):
            return root
    raise NoSource(f"{folder}: no {name} source ({package}/) in it")


def _version(root: str, package: str) -> str:
    """Read the version from `package_info.py`: MAJOR.MINOR.PATCH and the pre-release."""
    path = os.path.join(root, "megatron", package, "package_info.py")
    try:
        said = text(path)
    except (OSError, ValueError):
        raise NoSource(f"{path}: not there") from None
    parts = dict(re.findall(r"^(MAJOR|MINOR|PATCH|PRE_RELEASE) *= *[\"']?(\w*)", said, re.M))
    return f"{parts.get('MAJOR')}.{parts.get('MINOR')}.{parts.get('PATCH')}{parts.get('PRE_RELEASE', '')}"


class _Maker:
    """The state of making one snapshot: the evaluator, and what was made of each module so far."""

    def __init__(self, roots: Sequence[str], say: Callable[[str], None]) -> None:
        self.roots = roots
        self.say = say
        self.places = PlaceNumbers(roots)
        self.finder = ModuleFinder(Sources(), roots)
        self.interp = Watching(self.finder)
        self.modules: dict[str, Module] = {}
        self.providers: dict[str, Instance] = {}
        self.homes: dict[int, tuple[str, str] | None] = {}
        self.alive: list[Object] = []
        self.upstream = Upstream(self.interp, self.modules, ChangeBounds(self.interp, self.modules))

    def make(self) -> dict[str, dict[str, Any]]:
        for package in PACKAGES:
            for name, path in self._files(package):
                module = self.finder.load(path, name)
                if module is not None:
                    self.modules[name] = module
        self._find_providers()
        made = {}
        for name, module in self.modules.items():
            names = self._module(module)
            if names:
                made[name] = names
                self.say(f"{name}: {len(names)} names")
        add_effects(self.interp, self.modules, Encoder(self.interp, self.home, self.places, self.providers), made)
        encoder = Encoder(self.interp, self.home, self.places, {})
        made[PROVIDERS] = {key: ["value", encoder.encode(provider)] for key, provider in self.providers.items()}
        return made

    def _files(self, package: str) -> Iterator[tuple[str, str]]:
        for root in self.roots:
            folder = os.path.join(root, *package.split("."))
            for above, folders, files in os.walk(folder):
                folders.sort()
                for file in sorted(files):
                    if not file.endswith(".py"):
                        continue
                    path = os.path.join(above, file)
                    parts = os.path.relpath(path, root)[: -len(".py")].split(os.sep)
                    yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path

    def home(self, value: ClassObject | Function) -> tuple[str, str] | None:
        """Return the module and the name of a class or function, if that name still refers to it."""
        if id(value) not in self.homes:
            self.alive.append(value)
            self.homes[id(value)] = None
            module = self.modules.get(value.module.name)
            if module is not None and value.name.isidentifier() and global_of(self.interp, module, value.name) is value:
                self.homes[id(value)] = (module.name, value.name)
        return self.homes[id(value)]

    # -- providers ----------------------------------------------------------------------------------------------------

    def _find_providers(self) -> None:
        module = self.modules.get(AUTO_BRIDGE[0])
        cls = global_of(self.interp, module, AUTO_BRIDGE[1]) if module is not None else None
        if not isinstance(cls, ClassObject):
            return
        encoder = Encoder(self.interp, self.home, None, {})
        nodes: dict[str, Node] = {}
        for method in huggingface.PROVIDER_METHODS:
            function, _ = lookup(self.interp, cls, method)
            if not isinstance(function, Function):
                continue
            for architecture in (None, *dict.fromkeys(name for _, name in ARCHITECTURES)):
                self.interp.begin(())
                found = huggingface.provider_template(self.interp, function, architecture)
                self.interp.finish()
                node = bare(encoder.encode(found))
                anything = nodes.setdefault(method, node)
                if isinstance(found, Instance) and (architecture is None or node != anything):
                    self.providers[f"{method} {architecture or ''}"] = found

    # -- modules ------------------------------------------------------------------------------------------------------

    def _module(self, module: Module) -> dict[str, Any]:
        found = {}
        encoder = Encoder(self.interp, self.home, self.places, self.providers)
        for name in self._names(module, set()):
            if name.startswith("__") and name != "__version__":
                continue
            entry = self._entry(encoder, module, name, global_of(self.interp, module, name))
            if entry is not None:
                found[name] = entry
        return found

    def _names(self, module: Module, seen: set[str]) -> list[str]:
        if module.name in seen:
            return []
        seen.add(module.name)
        self.interp.path.steps = 0
        ensure_ran(self.interp, module)
        names = [name for name in module.fields if isinstance(name, str)]
        for star in module.stars:
            if isinstance(star, Module):
                names += [name for name in self._names(star, seen) if not name.startswith("_")]
        return list(dict.fromkeys(names))

    def _entry(self, encoder: Encoder, module: Module, name: str, value: Object) -> Any:
        if isinstance(value, Module):
            return ["module", value.name] if value.name in self.modules else None
        if isinstance(value, (ClassObject, Function)):
            home = self.home(value)
            if home is None:
                return None
            if home != (module.name, name):
                return ["from", *home]
            if isinstance(value, ClassObject):
                return ["class", class_entry(self.upstream, encoder, value)]
            made = function_entry(self.upstream, encoder, value)
            return None if made is None else ["function", made]
        if isinstance(value, (*CONSTANTS, tuple, ListObject, DictObject, SetObject, Instance, Partial)):
            node = encoder.encode(value)
            return None if isinstance(node, list) and node[0] == "?" else ["value", node]
        return None


def main(argv: Sequence[str] | None = None) -> None:
    """Make the snapshot and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", metavar="CHECKOUT", help="a clone of Megatron-Bridge, or its wheel unpacked")
    parser.add_argument(
        "--core", metavar="TREE", help="the Megatron-LM that goes with it (default: CHECKOUT/3rdparty/Megatron-LM)"
    )
    parser.add_argument("--release", metavar="VERSION", help="the release of the tree, if its package_info.py is wrong")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", required=True, help="where to write the snapshot")
    parser.add_argument("--verbose", action="store_true", help="print each module as it is done")
    arguments = parser.parse_args(argv)
    try:
        data = make_snapshot(
            arguments.checkout, arguments.core, print if arguments.verbose else lambda _: None, arguments.release
        )
    except NoSource as error:
        parser.error(str(error))
    arguments.output.write_bytes(data)
    made, size = Snapshot(data), len(data) // 1024
    modules = f"{len(made.modules())} modules, {size} KiB"
    print(f"{arguments.output}: megatron-bridge {made.bridge} with megatron-core {made.core}, {modules}")


if __name__ == "__main__":
    main()
