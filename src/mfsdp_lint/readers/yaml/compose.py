"""Composition of each framework's files, a function for each way that is different, and the references in them.

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

OmegaConf's interpolations: `${a.b}`, `${.beside}`, `${..above}`, `${resolver:argument,argument}`, text around them.
A resolver's value is known where it depends on nothing but its arguments; a variable of the environment is its default
until it is set. All the rest is unknown: references that are missing, refer to themselves, or go in circles.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Origin, Setting, Source, Span
from mfsdp_lint.core.records import replace
from mfsdp_lint.core.values import NONE, NOT_NONE, UNKNOWN, Known, Plain, Value, is_known_as
from mfsdp_lint.inputs.projects import above, beside
from mfsdp_lint.readers.hydra_defaults import AT_ROOT, HYDRA, Composer, ConfigFile, NotComposed, Options, package_of
from mfsdp_lint.readers.overrides import NoOverride, read_element, value_of
from mfsdp_lint.readers.trees import LONGEST_CHAIN, MISSING, Key, Leaf, Section, Tree, changed, merge, plain, under
from mfsdp_lint.readers.yaml.document import Files, obstacle_in

Resolver = Callable[..., Plain]
"""A resolver without side effects, on known arguments. Raises TypeError, ValueError or ArithmeticError."""

ARITHMETIC: Mapping[str, Resolver] = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "max": lambda a, b: max(a, b),
}
"""Resolvers that several frameworks register under these names."""

_RESOLVER = lazy_pattern(r"\s*([A-Za-z_][\w.]*)\s*:(.*)", re.DOTALL)
_PART = lazy_pattern(r"[^.\[\]]+")
_DEEPEST = 50
_LONGEST = 10_000
"""Characters of a text that is put together."""

_LARGEST = 50_000
"""Leaves that references to sections may stand for in one configuration."""


def resolved(
    root: Section, environment: Mapping[str, Setting] | None = None, resolvers: Mapping[str, Resolver] | None = None
) -> Section:
    """Fill in the interpolations of a whole configuration; `environment` are the variables that are given."""
    return _Resolution(root, environment or {}, resolvers or {}).section((), root)


class _Resolution:
    def __init__(self, root: Section, environment: Mapping[str, Setting], resolvers: Mapping[str, Resolver]) -> None:
        self.root = root
        self.environment = environment
        self.resolvers = resolvers
        self.open: list[Key] = []
        """The keys that are being worked out."""
        self.known: dict[Key, Tree] = {}
        self.budget = _LARGEST

    def section(self, key: Key, section: Section) -> Section:
        entries = {name: self.tree((*key, name), each) for name, each in section.entries.items()}
        return replace(section, entries=entries)

    def tree(self, key: Key, tree: Tree) -> Tree:
        return self.section(key, tree) if isinstance(tree, Section) else self.leaf(key, tree)

    def leaf(self, key: Key, leaf: Leaf) -> Tree:
        """Resolve a leaf, which may refer to a whole section."""
        if leaf.items is not None and not isinstance(leaf.value, Known):
            items = tuple(self.tree((*key, str(place)), item) for place, item in enumerate(leaf.items))
            known = [plain(item) for item in items]
            value = NOT_NONE if None in known else Known([each.value for each in known if each])
            return replace(leaf.with_value(value), items=items)
        if leaf.text is None or "${" not in leaf.text:
            return leaf
        if key in self.open or len(self.open) > _DEEPEST:
            return leaf.with_value(UNKNOWN)
        if key not in self.known:
            self.open.append(key)
            self.known[key] = self.filled(key, leaf, leaf.text)
            self.open.pop()
        return self.known[key]

    def filled(self, key: Key, leaf: Leaf, text: str) -> Tree:
        pieces = list(_pieces(text))
        if None in pieces:
            return leaf.with_value(UNKNOWN)
        if len(pieces) == 1:
            found = self.reference(key, leaf, pieces[0][1] if pieces[0] else "")
            if isinstance(found, Section):
                return found
            return leaf.with_value(found.value, **_from(found.origin, leaf.origin))
        texts = []
        option = ""
        for literal, inner in (piece for piece in pieces if piece):
            found = self.reference(key, leaf, inner) if inner else Leaf(Known(literal), leaf.origin)
            if not isinstance(found, Leaf) or not isinstance(found.value, Known):
                return leaf.with_value(NOT_NONE)
            option = option or found.origin.option
            texts.append(str(found.value.value))
            if sum(map(len, texts)) > _LONGEST:
                return leaf.with_value(NOT_NONE)
        return leaf.with_value(Known("".join(texts)), option=option)

    def reference(self, key: Key, leaf: Leaf, inner: str) -> Tree:
        """Resolve the text between the braces."""
        unknown = leaf.with_value(UNKNOWN)
        call = _RESOLVER.fullmatch(inner)
        if call:
            return self.call(key, leaf, call[1], list(_arguments(call[2])))
        name = self.filled(key, leaf, inner) if "${" in inner else leaf.with_value(Known(inner))
        if not isinstance(name, Leaf) or not isinstance(name.value, Known):
            return unknown
        return self.at(key, str(name.value.value)) or unknown

    def at(self, key: Key, name: str) -> Tree | None:
        """Return the tree at a name, which is relative where it begins with dots."""
        name = name.strip()
        dots = len(name) - len(name.lstrip("."))
        where = key[: len(key) - dots] if dots else ()
        found: Tree = self.root
        here: Key = ()
        for word in (*where, *_PART.findall(name)):
            if not isinstance(found, Section):
                return None
            below = found.entries.get(word)
            if below is None:
                return None
            here = (*here, word)
            found = self.leaf(here, below) if isinstance(below, Leaf) else below
        if not isinstance(found, Section):
            return found
        if any(here == key[: len(here)] != key for key in self.open):  # a reference to what is around it
            return None
        whole = self.section(here, found)
        self.budget -= sum(1 for _ in whole.leaves())
        return whole if self.budget >= 0 else None

    def call(self, key: Key, leaf: Leaf, name: str, texts: list[str]) -> Tree:
        unknown = leaf.with_value(UNKNOWN, obstacle=obstacle_in(leaf.text, leaf.origin.point))
        if name == "oc.select" and 1 <= len(texts) <= 2:
            found = self.at(key, texts[0])
            if found is not None or self.root.open or len(texts) == 1:
                return found or unknown
            return self.argument(key, leaf, texts[1])
        arguments = [self.argument(key, leaf, text) for text in texts]
        values = [each.value if isinstance(each, Leaf) else UNKNOWN for each in arguments]
        known = [value.value for value in values if isinstance(value, Known)]
        if name == "oc.env" and values and isinstance(values[0], Known):
            given = given_by(self.environment, str(values[0].value))
            if given is not None:
                return leaf.with_value(given.value, sources=sources_of(given))
        if name == "oc.env" and len(values) == 2 and isinstance(values[0], Known) and len(known) == 2:
            default = Known(None if known[1] is None else str(known[1]))
            return leaf.with_value(default, option=f"${known[0]}")
        if name == "oc.decode" and len(known) == len(values) == 1:
            return leaf.with_value(_plain(str(known[0])) if known[0] is not None else Known(None))
        resolver = self.resolvers.get(name)
        if resolver is None or len(known) != len(values):
            return unknown
        try:
            return leaf.with_value(Known(resolver(*known)))
        except (TypeError, ValueError, ArithmeticError):
            return unknown

    def argument(self, key: Key, leaf: Leaf, text: str) -> Tree:
        return self.filled(key, leaf, text) if "${" in text else leaf.with_value(_plain(text))


def given_by(environment: Mapping[str, Setting], name: str) -> Setting | None:
    """Return the variable that is given by this name, with a text."""
    given = environment.get(name)
    return given if given is not None and given.value != NONE else None


def sources_of(given: Setting) -> tuple[Source, ...]:
    """Return the source of a given variable."""
    return () if given.origin is None else (Source(given.origin.point, ""),)


def _from(source: Origin, own: Origin) -> dict[str, object]:
    """Return the parts of a referenced value's origin that say where the value is from."""
    if source == own:
        return {}
    sources = (Source(source.point, ""), *source.sources)
    return {"option": source.option, "sources": sources, "obstacle": source.obstacle}


def _pieces(text: str) -> Iterator[tuple[str, str] | None]:
    """Yield texts and contents of braces: a pair each, one of the two empty; None for a brace that does not close."""
    position = 0
    while (start := text.find("${", position)) >= 0:
        if start > 0 and text[start - 1] == "\\":
            yield None
            return
        end = _closing(text, start + 1)
        if end is None:
            yield None
            return
        if start > position:
            yield text[position:start], ""
        yield "", text[start + 2 : end]
        position = end + 1
    if position < len(text):
        yield text[position:], ""


def _closing(text: str, start: int) -> int | None:
    """Return where the brace that opens at `start` is closed."""
    depth = 0
    for position in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return position
    return None


def _arguments(text: str) -> Iterator[str]:
    """Yield the arguments of a resolver: separated by commas that are in no quotes and no brackets."""
    depth, quote, start = 0, "", 0
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character == "," and depth == 0:
            yield text[start:position].strip()
            start = position + 1
        else:
            depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(character, 0)
    if text[start:].strip() or start:
        yield text[start:].strip()


def _plain(text: str) -> Value:
    """Read a literal in OmegaConf's grammar, which has a value's part of Hydra's."""
    try:
        return value_of(read_element(text))
    except NoOverride:
        return UNKNOWN


_REPLACES = "_override_"


Ships = Mapping[str, Mapping[str, Plain]]
"""Files that a framework ships, each with the entries that are known of it, by dotted keys."""


LACKS = "lacks"
"""The entry with the keys that such a file surely does not have."""


def shipped(ships: Ships, name: str, named: Origin | None) -> Section | None:
    """Return what is known of a file that a framework ships, as a default of the place that named it; None for others.

    All other entries of the file may be anything.
    """
    entries = ships.get(name.removesuffix(".yaml"), ships.get(name))
    return None if entries is None else _with_entries(entries, named)


def _shipped_anywhere(ships: Ships, path: str, named: Origin | None) -> Section:
    """Return what is known of a file in a copy of the framework that is elsewhere, by the end of its path.

    A path that leads out of the tree, which is put into such a copy, may have fewer folders than the framework's.
    """
    parts = path.split("/")
    for pattern, entries in ships.items():
        asked = pattern.split("/")
        is_named = len(parts) >= len(asked) or _ANY_FILE.fullmatch(asked[-1]) is None
        if is_named and all(map(fnmatchcase, reversed(parts), reversed(asked))):
            return _with_entries(entries, named)
    return MISSING


def _with_entries(entries: Mapping[str, Plain], named: Origin | None) -> Section:
    place = named.span if named else Span("", 1, 1, 1, 1)
    found = Section(origin=named)
    for key, value in entries.items():
        found = found if key == LACKS else merge(found, under(key, _tree_of(value, place), named))
    return _open_above(found, {tuple(key.split(".")) for key in entries})


def _open_above(section: Section, known: Collection[Key], above: Key = ()) -> Section:
    """Open a section, and those in it, to any entry down to what is known at one of these keys."""
    entries = {
        name: _open_above(each, known, (*above, name))
        if isinstance(each, Section) and (*above, name) not in known
        else each
        for name, each in section.entries.items()
    }
    return replace(section, entries=entries, open=True)


def _tree_of(value: Plain, place: Span) -> Tree:
    """Return a value as a file has it; a mapping is all that the file has there."""
    if isinstance(value, dict):
        return Section({str(key): _tree_of(each, place) for key, each in value.items()}, Origin(place, "default"))
    text = value if isinstance(value, str) else None
    items = tuple(_tree_of(each, place) for each in value) if isinstance(value, list) else None
    return Leaf(Known(value), Origin(place, "default", value=Known(value)), text, items)


_ANY_FILE = lazy_pattern(r"\*\.\w+")
_COMPOSES = lazy_pattern(
    r"_*(?:bases?|extends?|inherits?|inherits?_from|includes?|imports?|parents?|defaults)_*", re.IGNORECASE
)
_FILE = lazy_pattern(r"[^\s]+\.ya?ml")


def _opened(root: Section, key: str = "") -> Section:
    """Open a file to any entry, if it names other files under a key that is not the framework's own `key`.

    A later version of the framework, or a script around it, may put them together.
    """
    for name, each in root.entries.items():
        if name == key or not _COMPOSES.fullmatch(name) or not isinstance(each, Leaf):
            continue
        said = each.value.value if isinstance(each.value, Known) else None
        if any(
            isinstance(file, str) and _FILE.fullmatch(file) for file in (said if isinstance(said, list) else [said])
        ):
            return merge(MISSING, root.without(name))
    return root


def _over_named_files(
    path: str,
    root: Section | None,
    files: Files,
    key: str,
    lay: Callable[[Section, Section], Section],
    read: Callable[[Section], Section] = lambda section: section,
    chain: tuple[str, ...] = (),
    ships: Ships | None = None,
) -> Section:
    """Return a file laid over the files that it names under a key; they are kept, as many others may begin with them.

    The file of a name that is not known is missing; of one that is not at hand, what the framework `ships` is known.
    """
    if root is None or path in chain or len(chain) > LONGEST_CHAIN:
        return MISSING
    root = _opened(read(root), key)
    found = root.get(key)
    if found is None:
        return root
    known = found.value.value if isinstance(found, Leaf) and isinstance(found.value, Known) else None
    below = Section()
    for name in known if isinstance(known, list) else [known]:
        there = beside(path, name) if isinstance(name, str) else ""
        if ships and there and not files.exists(there):
            below = lay(below, _shipped_anywhere(ships, there, found.origin))
            continue
        if there not in files.composed:
            tree = files.tree(there) if there else None
            files.composed[there] = _over_named_files(there, tree, files, key, lay, read, (*chain, path), ships)
        below = lay(below, files.composed[there])
    return lay(below, root.without(key))


def compose_inherited(path: str, root: Section, files: Files, ships: Ships, over: Section) -> Section:
    """Compose a file of NeMo-RL with all that it inherits, references filled in."""
    whole = _over_named_files(path, root, files, "defaults", _laid_over, ships=ships)
    return resolved(merge(whole, over), files.environment, ARITHMETIC)


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


def compose_hydra(path: str, root: Section, files: Files, ships: Ships, over: Section) -> Section:
    """Compose a primary configuration of Hydra from all that its defaults choose, with references filled in.

    A choice that is not in the tree may contain any entry, beside those that the framework ships.
    """
    return compose_started(path, root, files, ships, {}, over)


def compose_started(
    path: str, root: Section, files: Files, ships: Ships, choices: Mapping[str, Options], over: Section
) -> Section:
    """Compose a primary configuration as a program does that is started with choices of groups, and with values over
    those of all files.
    """
    root = _opened(root, "defaults")
    defaults = root.get("defaults")
    if defaults is None:
        return resolved(merge(root, over), files.environment)
    folders = list(_folders(path, root))

    def load(name: str) -> ConfigFile[Section] | None:
        candidates = (posixpath.normpath(posixpath.join(folder, f"{name}.yaml")) for folder in folders)
        there = next((candidate for candidate in candidates if files.exists(candidate)), None)
        if there is None:
            header = AT_ROOT if f"{name}@{AT_ROOT}" in ships else None
            known = shipped(ships, f"{name}@{header}" if header else name, defaults.origin)
            return None if known is None else ConfigFile(known.without("defaults"), known.get("defaults"), header)
        tree = files.tree(there)
        if tree is None:
            raise NotComposed(f"{there} is not at hand")
        return ConfigFile(tree.without("defaults"), tree.get("defaults"), package_of(files.source_text(there)))

    composer = Composer(load, choices, missing=MISSING)
    parts = composer.expanded(ConfigFile(root.without("defaults"), defaults), "", "")
    missing = [place for place, part in enumerate(parts) if part.entries is MISSING]
    if len(missing) == 1:  # its list has the groups that no other has
        parts[missing[0] + 1 : missing[0] + 1] = composer.unlisted()
    whole = Section()
    for part in parts:
        own = part.entries
        whole = merge(whole, under(part.package, own, own.origin) if part.package else own)
    return resolved(merge(whole.without(HYDRA), over), files.environment)


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


_VARIABLE = lazy_pattern(r"\$\{([^:{}]+)(?::([^}]*))?\}")
_INTEGER = lazy_pattern(r"-?\d+")
_FLOAT = lazy_pattern(r"-?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)")

_YAML_FLOAT = lazy_pattern(r"\.(?!.*[eE]\d)")
"""A float of YAML 1.1, unlike others of OmegaConf, has a dot, and a sign behind the `e`."""

_PRESETS = "primus/configs"
_OF_THE_MODULE = ("name", "framework", "config", "model", "overrides", "params")


def compose_primus(path: str, root: Section, files: Files, ships: Ships, over: Section) -> Section:
    """Compose an experiment: the presets of its modules below its own entries."""
    experiment = merge(_extended(path, root, files), over)
    modules = experiment.section("modules")
    if modules is None:
        return experiment
    whole: dict[str, Tree] = {
        name: _module(path, module, files, ships) if isinstance(module, Section) else module
        for name, module in modules.entries.items()
    }
    return replace(experiment, entries={**experiment.entries, "modules": replace(modules, entries=whole)})


def _extended(path: str, root: Section | None, files: Files) -> Section:
    """Return a file merged over the files that it extends."""
    environment = files.environment
    return _over_named_files(
        path, root, files, "extends", merge, lambda section: changed(section, lambda leaf: _read(leaf, environment))
    )


def _module(path: str, module: Section, files: Files, ships: Ships) -> Section:
    """Return a module with its presets. A module without a preset was put together by an earlier run."""
    if module.get("config") is None:
        return module
    config, model = (_preset(path, module, kind, files, ships) for kind in ("config", "model"))
    # Where two have a key the later one has all of it: the preset of the module is stronger than that of the model.
    below = _beneath(model, module.without(*_OF_THE_MODULE))
    # A preset that is not at hand may have any other key than those that it surely lacks.
    left = {key: below.entries[key] for key in _lacks(path, module, files, ships) if key in below.entries}
    below = _beneath(below, replace(config, entries={**left, **config.entries}))
    written = merge(below, module.section("overrides") or Section())
    named = {name: each for name in ("framework", "model") if (each := module.get(name)) is not None}
    return replace(written, entries={**named, **written.entries}, origin=module.origin)


def _beneath(below: Section, above: Section) -> Section:
    entries = above.entries if above.open else {**below.entries, **above.entries}
    return Section(entries, open=below.open or above.open)


def _preset(path: str, module: Section, kind: str, files: Files, ships: Ships) -> Section:
    inside = _named_preset(module, kind)
    there = _at_hand(path, inside, files) if inside else None
    if there is not None:
        if there not in files.composed:
            files.composed[there] = _extended(there, files.tree(there), files)
        return files.composed[there]
    said = module.get(kind)
    return shipped(ships, inside, None if said is None else said.origin) or MISSING


def _lacks(path: str, module: Section, files: Files, ships: Ships) -> Sequence[str]:
    """Return the keys that the module's preset surely lacks, where it is one of Primus that is not at hand."""
    inside = _named_preset(module, "config")
    lacked = ships.get(inside, {}).get(LACKS)
    return [str(key) for key in lacked] if isinstance(lacked, list) and _at_hand(path, inside, files) is None else []


def _named_preset(module: Section, kind: str) -> str:
    """Return the path of a module's preset among the presets; "" where it is not known."""
    name, framework = module.text(kind), module.text("framework")
    if name is None or framework is None:
        return ""
    name = name if name.endswith((".yaml", ".yml")) else f"{name}.yaml"
    return f"{'modules' if kind == 'config' else 'models'}/{framework}/{name}"


def _at_hand(path: str, inside: str, files: Files) -> str | None:
    places = (posixpath.join(folder, _PRESETS, inside) for folder in above(path))
    return next(filter(files.exists, places), None)


def _read(leaf: Leaf, environment: Mapping[str, Setting]) -> Leaf:
    """Read a value as Primus does: 1e-5 is text to PyYAML, "null" is None, environment variables are filled in.

    A variable without a default has to be set; a variable with a default has it until the environment sets another
    value.
    """
    text = leaf.text
    if text is None or (isinstance(leaf.value, Known) and not isinstance(leaf.value.value, (str, float))):
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


Compose = Callable[[str, Section, Files, Ships, Section], Section]
"""The path of a file, what it says by itself, the files that it may name, those that the framework ships, and what
whoever starts the run says over all of them → the whole configuration.
"""


def alone(_: str, root: Section, __: Files, ___: Ships, over: Section) -> Section:
    """Return a file that needs no other file."""
    return merge(_opened(root), over)


COMPOSE: Mapping[str, Compose] = {
    "alone": alone,
    "hydra": compose_hydra,
    "inheritance": compose_inherited,
    "primus": compose_primus,
}
"""By the name that a profile has for it."""
