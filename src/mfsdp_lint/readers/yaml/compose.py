"""Composition of each framework's files: a function for each way that is different .

NeMo-RL: `defaults` names the files that lie below this one; values may refer to each other. A section with
`_override_: true` replaces the one below it (`load_config_with_inheritance` in nemo_rl/utils/config.py, 7ea279ab).

Primus: an experiment names a module's and a model's preset, and overrides them.

    modules:
      pre_trainer:
        framework: megatron
        config: pre_trainer.yaml     # primus/configs/modules/megatron/pre_trainer.yaml
        model: llama3_8B.yaml        # primus/configs/models/megatron/llama3_8B.yaml
        overrides: {…}

Every file may extend others beside it, and `${NAME:default}` is a variable of the environment (`parse_yaml` in
primus/core/config/yaml_loader.py, `PrimusParser` in primus/core/launcher/parser.py, fd1eeabb).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping

from mfsdp_lint.core.recipe import Setting
from mfsdp_lint.core.records import replace
from mfsdp_lint.core.values import NONE, UNKNOWN, Known, Plain, is_known_as
from mfsdp_lint.readers.hydra_defaults import HYDRA, Composer, ConfigFile, NotComposed, package_of
from mfsdp_lint.readers.paths import above, beside
from mfsdp_lint.readers.trees import LONGEST_CHAIN, MISSING, Leaf, Section, Tree, changed, merge
from mfsdp_lint.readers.yaml.files import Files
from mfsdp_lint.readers.yaml.interpolation import ARITHMETIC, given_by, resolved, sources_of

_REPLACES = "_override_"


def _over_named_files(
    path: str,
    root: Section | None,
    files: Files,
    key: str,
    lay: Callable[[Section, Section], Section],
    read: Callable[[Section], Section] = lambda section: section,
    chain: tuple[str, ...] = (),
) -> Section:
    """Return a file laid over the files that it names under a key; they are kept, as many others may begin with them.

    The file of a name that is not known is missing.
    """
    if root is None or path in chain or len(chain) > LONGEST_CHAIN:
        return MISSING
    root = read(root)
    found = root.get(key)
    if found is None:
        return root
    known = found.value.value if isinstance(found, Leaf) and isinstance(found.value, Known) else None
    below = Section()
    for name in known if isinstance(known, list) else [known]:
        there = beside(path, name) if isinstance(name, str) else ""
        if there not in files.composed:
            tree = files.tree(there) if there else None
            files.composed[there] = _over_named_files(there, tree, files, key, lay, read, (*chain, path))
        below = lay(below, files.composed[there])
    return lay(below, root.without(key))


def compose_inherited(path: str, root: Section, files: Files) -> Section:
    """Compose a file of NeMo-RL with all that it inherits, references filled in."""
    whole = _over_named_files(path, root, files, "defaults", _laid_over)
    return resolved(whole, files.environment, ARITHMETIC)


def _laid_over(below: Section, above: Section) -> Section:
    """Merge a section over another, but for those of its sections that replace what lies below them."""
    replaced = [
        name
        for name, each in above.entries.items()
        if isinstance(each, Section)
        and isinstance(marker := each.get(_REPLACES), Leaf)
        and is_known_as(marker.value, True)
    ]
    entries = {
        name: each.without(_REPLACES) if name in replaced and isinstance(each, Section) else each
        for name, each in above.entries.items()
    }
    return merge(below.without(*replaced), replace(above, entries=entries))


def compose_hydra(path: str, root: Section, files: Files) -> Section:
    """Compose a primary configuration of Hydra from all that its defaults choose, with references filled in.

    A choice that is not in the tree may contain any entry.
    """
    if root.get("defaults") is None:
        return resolved(root, files.environment)
    folders = list(_folders(path, root))

    def load(name: str) -> ConfigFile[Section] | None:
        candidates = (posixpath.normpath(posixpath.join(folder, f"{name}.yaml")) for folder in folders)
        there = next((candidate for candidate in candidates if files.exists(candidate)), None)
        if there is None:
            return None
        tree = files.tree(there)
        if tree is None:
            raise NotComposed(f"{there} is not at hand")
        return ConfigFile(tree.without("defaults"), tree.get("defaults"), package_of(files.source_text(there)))

    primary = ConfigFile(root.without("defaults"), root.get("defaults"))
    whole = Section()
    for part in Composer(load, missing=MISSING).expanded(primary, "", ""):
        section = part.entries
        for name in reversed(part.package.split(".") if part.package else []):
            section = Section({name: section}, section.origin)
        whole = merge(whole, section)
    return resolved(whole.without(HYDRA), files.environment)


def _folders(path: str, root: Section) -> Iterator[str]:
    """Yield the folders that Hydra searches for configurations, the first place first."""
    yield posixpath.dirname(path)
    found = root.get(HYDRA, "searchpath")
    entries = found.value.value if isinstance(found, Leaf) and isinstance(found.value, Known) else None
    for entry in entries if isinstance(entries, list) else ():
        scheme, _, there = str(entry).partition("://")
        if scheme in ("file", "pkg"):
            there = there.replace(".", "/") if scheme == "pkg" else there
            yield from (posixpath.join(folder, there) for folder in above(path))


_VARIABLE = re.compile(r"\$\{([^:{}]+)(?::([^}]*))?\}")
_INTEGER = re.compile(r"-?\d+")
_FLOAT = re.compile(r"-?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)")

_YAML_FLOAT = re.compile(r"\.(?!.*[eE]\d)")
"""A float of YAML 1.1, unlike others of OmegaConf, has a dot, and a sign behind the `e`."""

_PRESETS = "primus/configs"
_OF_THE_MODULE = ("name", "framework", "config", "model", "overrides", "params")


def compose_primus(path: str, root: Section, files: Files) -> Section:
    """Compose an experiment: the presets of its modules below its own entries."""
    experiment = _extended(path, root, files)
    modules = experiment.section("modules")
    if modules is None:
        return experiment
    whole: dict[str, Tree] = {
        name: _module(path, module, files) if isinstance(module, Section) else module
        for name, module in modules.entries.items()
    }
    return replace(experiment, entries={**experiment.entries, "modules": replace(modules, entries=whole)})


def _extended(path: str, root: Section | None, files: Files) -> Section:
    """Return a file merged over the files that it extends."""
    environment = files.environment
    return _over_named_files(
        path, root, files, "extends", merge, lambda section: changed(section, lambda leaf: _read(leaf, environment))
    )


def _module(path: str, module: Section, files: Files) -> Section:
    """Return a module with its presets. A module without a preset was put together by an earlier run."""
    if module.get("config") is None:
        return module
    config, model = (_preset(path, module, kind, files) for kind in ("config", "model"))
    # Where two have a key the later one has all of it: the preset of the module is stronger than that of the model.
    below = _beneath(_beneath(model, module.without(*_OF_THE_MODULE)), config)
    written = merge(below, module.section("overrides") or Section())
    named = {name: each for name in ("framework", "model") if (each := module.get(name)) is not None}
    return replace(written, entries={**named, **written.entries}, origin=module.origin)


def _beneath(below: Section, above: Section) -> Section:
    entries = above.entries if above.open else {**below.entries, **above.entries}
    return Section(entries, open=below.open or above.open)


def _preset(path: str, module: Section, kind: str, files: Files) -> Section:
    name, framework = module.text(kind), module.text("framework")
    if name is None or framework is None:
        return MISSING
    name = name if name.endswith((".yaml", ".yml")) else f"{name}.yaml"
    inside = f"{_PRESETS}/{'modules' if kind == 'config' else 'models'}/{framework}/{name}"
    for folder in above(path):
        there = f"{folder.rstrip('/')}/{inside}" if folder else inside
        if files.exists(there):
            if there not in files.composed:
                files.composed[there] = _extended(there, files.tree(there), files)
            return files.composed[there]
    return MISSING


def _read(leaf: Leaf, environment: Mapping[str, Setting]) -> Leaf:
    """Read a value as Primus does: 1e-5 is text to PyYAML, "null" is None, environment variables are filled in.

    A variable without a default has to be set; a variable with a default has it until the environment sets another
    value.
    """
    text = leaf.text
    if text is None:
        return leaf
    if not isinstance(leaf.value, Known) or "${" in text:
        names = list(_VARIABLE.finditer(text))
        if not names:
            return leaf.with_value(Known(text))
        given = {found[1]: setting for found in names if (setting := given_by(environment, found[1])) is not None}
        if any(found[2] is None and found[1] not in given for found in names):
            return leaf.with_value(UNKNOWN)
        texts = {name: str(each.value.value) for name, each in given.items() if isinstance(each.value, Known)}
        filled = _null(_value_in(_VARIABLE.sub(lambda found: texts.get(found[1], found[2]), text)))
        if given:
            return leaf.with_value(filled, sources=sources_of(next(iter(given.values()))))
        return leaf.with_value(filled, option=f"${names[0][1]}")
    if isinstance(leaf.value.value, float):
        return leaf if _YAML_FLOAT.search(text) else leaf.with_value(Known(text))
    return leaf.with_value(_null(text))


def _null(value: Plain) -> Known:
    return NONE if value == "null" else Known(value)


def _value_in(text: str) -> Plain:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


Compose = Callable[[str, Section, Files], Section]
"""The path of a file, what it says by itself, and the files that it may name → the whole configuration."""


def alone(path: str, root: Section, files: Files) -> Section:
    """Return a file that needs no other file."""
    return root


COMPOSE: Mapping[str, Compose] = {
    "alone": alone,
    "hydra": compose_hydra,
    "inheritance": compose_inherited,
    "primus": compose_primus,
}
"""By the name that a profile has for it."""
