"""From a YAML file to recipes: it is a framework's, or each of its documents is of the first shape that takes it.

Override files change the configuration of a Megatron-Bridge recipe. Bridge loads such a file with OmegaConf and merges
it over a recipe's configuration (`process_config_with_overrides` in megatron/bridge/training/utils/omegaconf_utils.py,
0.2.0 to 0.6.0). One recipe a document; what that leaves out is unknown.

Other YAML holds flags of Megatron-LM's command line, as its functional tests have it:

    ENV_VARS:
      CUDA_DEVICE_MAX_CONNECTIONS: 1
    MODEL_ARGS:
      --use-megatron-fsdp: true
      --ckpt-format: fsdp_dtensor

The script that starts such a test reads the values so (tests/functional_tests/shell_test_utils/_run_training.sh,
0.12.0 to head): `true` is the flag alone, brackets are taken off a list and its words are split, `${NAME}` is replaced
from the environment. `MODEL_ARGS_2` replaces `MODEL_ARGS` in the second run.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from mfsdp_lint.core.front_ends import MEGATRON_LM
from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import NamedWrite, Origin, Recipe, Setting, Unfollowed, Variant
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import NONE, NOT_NONE, UNKNOWN, Known, Value
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.front_ends import profiles
from mfsdp_lint.megatron.versions import DEFAULT_TARGET
from mfsdp_lint.megatron.vocabulary import SECTIONS, table
from mfsdp_lint.megatron.vocabulary.tables import ENVIRONMENT, Flag, Versions
from mfsdp_lint.readers.framework_configs import recipes_of
from mfsdp_lint.readers.megatron_lm_flags import Word, default_settings, settings_from_flags
from mfsdp_lint.readers.overrides import of_bridge
from mfsdp_lint.readers.trees import Leaf, Section, Tree
from mfsdp_lint.readers.yaml.compose import COMPOSE
from mfsdp_lint.readers.yaml.document import Files, YamlDocument, settings_of, target_of, written_origin
from mfsdp_lint.readers.yaml.nodes import MappingNode, Node, ScalarNode, compose_documents

_WHOLE = Known("megatron.bridge.training.config.ConfigContainer")
"""The class of a whole configuration."""

_SECTION_NAMES = "|".join(sorted(SECTIONS))
"""A document of this shape has one of them, as a pattern."""


_OF_OTHERS = frozenset({"defaults", "exp_manager"})
"""Keys of other files beside a `model`: the files below this one (Hydra), and the section that every configuration of
NeMo 1 has. Bridge merges one file alone, and refuses keys that are none of its sections."""


def _writes_sections(root: MappingNode) -> bool:
    """Tell whether a document writes to a section, and to a configuration of Bridge."""
    if any(isinstance(key, ScalarNode) and key.text in _OF_OTHERS for key, _ in root.entries):
        return False
    for key, value in root.entries:
        if isinstance(key, ScalarNode):
            section, dot, _ = key.text.partition(".")
            if section in SECTIONS and (dot or isinstance(target_of(value), MappingNode)):
                return True
    return False


def _recipe_of_overrides(document: YamlDocument, root: MappingNode, versions: Versions, nth: str) -> Iterator[Recipe]:
    """Yield the recipe of a document; `nth` distinguishes it from the others of its file.

    A configuration that Bridge has dumped (`run_config.yaml`) contains every setting.
    """
    settings = settings_of(document.section(root))
    dumped = (whole := settings.get("__class__")) is not None and whole.value == _WHOLE
    named = () if dumped else of_bridge(NamedWrite(each.path, each.origin) for each in settings.values() if each.origin)
    yield Recipe(
        name=posixpath.basename(document.path) + nth,
        qualified_name=document.path + nth,
        path=document.path,
        line=document.lines.position(root.start)[0],
        kind="configuration" if dumped else "overrides",
        variants=(Variant(WrittenSettings(settings, named)),),
        partial=not dumped,
    )


_MODEL_ARGS = r"MODEL_ARGS(?:_\d+)?"
"""The keys that hold flags, as a pattern; the numbered ones are for the runs after the first."""

MODEL_ARGS = lazy_pattern(_MODEL_ARGS)

_VARIABLES = "ENV_VARS"

_PLACEHOLDER = lazy_pattern(r"\$\{?\w|\{\{|<[A-Z_]+>")
"""Something that is filled in before the run starts."""


def _recipes_of_flags(document: YamlDocument, root: MappingNode, versions: Versions, nth: str) -> Iterator[Recipe]:
    """Yield one recipe for every mapping of flags; flags that are left out have their defaults."""
    entries = {key: values[-1] for key, values in document.effective(root).items()}
    variables = list(_variables(document.tree(entries[_VARIABLES]))) if _VARIABLES in entries else []
    for key, value in entries.items():
        if not MODEL_ARGS.fullmatch(key) or not isinstance(flags := document.tree(value), Section):
            continue
        given = settings_from_flags(_command_line(flags, versions), versions, len(variables)).settings
        if not given:
            continue
        place = Origin(document.lines.span(document.path, value.pair, value.pair + len(key)), "default")
        defaults = {setting.path: setting for setting in default_settings(versions, place)}
        suffix = nth if key == "MODEL_ARGS" else f"{nth}[{key}]"
        yield Recipe(
            name=posixpath.basename(document.path) + suffix,
            qualified_name=document.path + suffix,
            path=document.path,
            line=document.lines.position(value.pair)[0],
            kind="arguments",
            variants=(Variant(WrittenSettings({**defaults, **given, **{each.path: each for each in variables}})),),
            front_end=MEGATRON_LM,
        )


def _variables(tree: Tree) -> Iterator[Setting]:
    for order, (name, each) in enumerate(tree.entries.items() if isinstance(tree, Section) else (), 1):
        words = _words(each)
        (value,) = [NOT_NONE] if words == [] else _values(words, None)
        text = each.text if isinstance(each, Leaf) else None
        if each.origin is not None:
            origin = written_origin(value, each.origin, order, text, None)
            yield Setting(ENVIRONMENT + name, value, origin)


def _command_line(flags: Section, versions: Versions) -> Iterator[Word]:
    """Yield the words that the script makes of a mapping of flags."""
    for name, each in flags.entries.items():
        switch = (each.text or "").strip().lower() if isinstance(each, Leaf) else ""
        if each.origin is None or not name.startswith("-") or switch == "false":
            continue
        focus = each.origin.point
        yield Word(Known(name), each.origin.span, says=focus)
        if switch != "true":
            flag = table().flag(name, versions.core)
            yield from (Word(value, focus) for value in _values(_words(each), flag))


def _values(words: Sequence[str] | None, flag: Flag | None) -> list[Value]:
    """Return the values behind a flag. The words are several values only for a flag that takes several."""
    if words is None:
        return [UNKNOWN]
    if flag is None or (flag.nargs is None and words):
        words = [" ".join(words)]
    return [NOT_NONE if _PLACEHOLDER.search(word) else Known(word) for word in words]


def _words(tree: Tree) -> list[str] | None:
    """Return the words that follow the flag; None where they are not known."""
    if not isinstance(tree, Leaf) or (tree.text == "" and tree.value == NONE):
        return None
    if tree.items is not None:
        words = [item.text for item in tree.items if isinstance(item, Leaf) and item.text is not None]
        return words if len(words) == len(tree.items) else None
    if tree.text is None:
        return None
    text = tree.text.strip()
    for quote in "\"'":
        if len(text) > 1 and text[0] == text[-1] == quote:
            text = text[1:-1]
    return text[1:-1].split() if text.startswith("[") and text.endswith("]") else text.split()


@dataclass(frozen=True, slots=True)
class DocumentShape:
    """A way of keeping a configuration in YAML.

    `keys` is a pattern of the keys without which no document has the shape, `takes` tells whether a document has the
    shape, `recipes` makes recipes of it (its last argument distinguishes the document from the others of its file).
    """

    keys: str
    takes: Callable[[MappingNode], bool]
    recipes: Callable[[YamlDocument, MappingNode, Versions, str], Iterable[Recipe]]


DOCUMENT_SHAPES = (
    DocumentShape(
        _MODEL_ARGS,
        lambda root: any(isinstance(key, ScalarNode) and MODEL_ARGS.fullmatch(key.text) for key, _ in root.entries),
        _recipes_of_flags,
    ),
    DocumentShape(_SECTION_NAMES, _writes_sections, _recipe_of_overrides),
)

_TEMPLATE = lazy_pattern(r"\{\{|\{% ")
"""A template of Jinja or Helm: what it will be cannot be known."""

_MENTION = lazy_pattern(rf"\b(?:{'|'.join(shape.keys for shape in DOCUMENT_SHAPES)})[\"']?\s*[:.]")
"""A file that has none of these as a key, as most YAML files, is not looked at."""


def may_be_one(text: str) -> bool:
    """Tell whether a text may hold a configuration: one of the keys is in it, and it is no template."""
    mentioned = _MENTION.search(text) or any(profile.mention.search(text) for profile in profiles())
    return bool(mentioned) and not _TEMPLATE.search(text)


_TURNS_ON = lazy_pattern(
    r"""^[ \t-]*(["']?)((?:--)?use[-_](?:(?:megatron|custom)[-_]fsdp|torch[-_]fsdp2))\1[ \t]*:[ \t]*["']?true\b""",
    re.MULTILINE | re.IGNORECASE,
)
"""A pair that turns one of Megatron's own switches on."""


def overlooked(path: str, text: str) -> Unfollowed | None:
    """Return the pair of a file without recipes that turns FSDP on, if there is one.

    Tools of a team's own make command lines of such files.
    """
    found = _TURNS_ON.search(text)
    if found is None:
        return None
    place = Lines(text).span(path, *found.span(2))
    why = f"{found[2]} is true here, and no program or framework that is known reads this file"
    return Unfollowed(posixpath.basename(path), path, path, place.line, "overrides", "out of sight", why, place)


def read_yaml(
    path: str,
    text: str,
    versions: Versions = DEFAULT_TARGET,
    files: Files | None = None,
    front_end: str | None = None,
) -> list[Recipe]:
    """Read the recipes of a file: a framework's configuration, put together from `files`, or else each document.

    Anything that has no known shape, a template included, gives no recipe. With `front_end` it is that framework's,
    whatever it looks like, and no other's.

    Lists are plain values. Settings that no file writes, and foreign tags, are unknown. In a document by itself
    mappings are known to be set (their content depends on the configuration that they are merged into) and each of
    their entries is a setting of its own; interpolations and `???` are unknown. `env_vars` become settings `env.NAME`
    with text values.

    Origins: the span is the pair of key and value, the focus the value, both where they were written (for an alias, at
    its anchor). The focus of an empty value is empty and directly behind the colon.

    Raises Unreadable (see `compose_documents`).
    """
    if _TEMPLATE.search(text) or not (front_end or may_be_one(text)):
        return []
    roots = compose_documents(path, text)
    files = files or Files(Sources({path: text}))
    recipes = _of_a_framework(path, text, versions, files, front_end) if len(roots) == 1 else None
    return list(_by_itself(YamlDocument(path, Lines(text)), roots, versions)) if recipes is None else recipes


def _of_a_framework(
    path: str, text: str, versions: Versions, files: Files, front_end: str | None
) -> list[Recipe] | None:
    """Return the recipes of a framework's configuration; None where it is no framework's."""
    root = files.tree(path)
    found: list[Recipe] | None = None
    for profile in profiles() if root else ():
        named = front_end == profile.front_end.name
        if root and not found and (named or (front_end is None and profile.mention.search(text))):
            whole = COMPOSE[profile.compose](path, root, files, profile.ships, Section())
            if named or any(whole.get(*key) for key in profile.known_by):
                found = recipes_of(profile, path, whole, versions, files.evaluate)
    return found


def _by_itself(document: YamlDocument, roots: Sequence[Node], versions: Versions) -> Iterator[Recipe]:
    for number, root in enumerate(roots, 1):
        shape = (
            next((shape for shape in DOCUMENT_SHAPES if shape.takes(root)), None)
            if isinstance(root, MappingNode)
            else None
        )
        if shape is not None and isinstance(root, MappingNode):
            nth = f"[{number}]" if number > 1 else ""
            # Each document has its own count of writes, and of what aliases stand for.
            yield from shape.recipes(YamlDocument(document.path, document.lines), root, versions, nth)
