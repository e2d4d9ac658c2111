"""YAML that holds flags of Megatron-LM's command line, as its functional tests have it.

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
from collections.abc import Iterator, Sequence

from mfsdp_lint.core.front_ends import MEGATRON_LM
from mfsdp_lint.core.recipe import Origin, Recipe, Setting, Variant
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known, Value
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.megatron.vocabulary.entry import Flag, Versions
from mfsdp_lint.megatron.vocabulary.tables import ENVIRONMENT
from mfsdp_lint.readers.megatron_lm_flags import Word, default_settings, settings_from_flags
from mfsdp_lint.readers.yaml.document import Document, target_of
from mfsdp_lint.readers.yaml.nodes import Mapping, Node, Scalar
from mfsdp_lint.readers.yaml.nodes import Sequence as Items

KEYS = r"MODEL_ARGS(?:_\d+)?"
"""The keys that hold flags, as a pattern; the numbered ones are for the runs after the first."""

MODEL_ARGS = re.compile(KEYS)

_VARIABLES = "ENV_VARS"

_PLACEHOLDER = re.compile(r"\$\{?\w|\{\{|<[A-Z_]+>")
"""Something that is filled in before the run starts."""


def is_one(root: Mapping) -> bool:
    """Tell whether a document holds flags of a command line."""
    return any(isinstance(key, Scalar) and MODEL_ARGS.fullmatch(key.text) for key, _ in root.entries)


def recipes(document: Document, root: Mapping, versions: Versions, nth: str) -> Iterator[Recipe]:
    """Yield one recipe for every mapping of flags; flags that are left out have their defaults."""
    entries = {key: values[-1] for key, values in document.effective(root).items()}
    variables = list(_variables(document, entries.get(_VARIABLES)))
    for key, value in entries.items():
        flags = document.follow(value)
        if not MODEL_ARGS.fullmatch(key) or not isinstance(flags, Mapping):
            continue
        given = settings_from_flags(_command_line(document, flags, versions), versions, document.order).settings
        if not given:
            continue
        document.order += len(given)
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


def _variables(document: Document, node: Node | None) -> Iterator[Setting]:
    mapping = document.follow(node) if node is not None else None
    if not isinstance(mapping, Mapping):
        return
    for name, values in document.effective(mapping).items():
        words = _words(document, values[-1])
        (value,) = [NOT_NONE] if words == [] else _values(words, None)
        yield document.setting(ENVIRONMENT + name, value, values[-1], None)


def _command_line(document: Document, flags: Mapping, versions: Versions) -> Iterator[Word]:
    """Yield the words that the script makes of a mapping of flags."""
    for name, values in document.effective(flags).items():
        node = document.follow(values[-1])
        if not name.startswith("-") or (isinstance(node, Scalar) and _is(node, "false")):
            continue
        place, focus = document.places(values[-1])
        yield Word(Known(name), place, says=focus)
        if not (isinstance(node, Scalar) and _is(node, "true")):
            flag = table().flag(name, versions.core)
            yield from (Word(value, focus) for value in _values(_words(document, node), flag))


def _values(words: Sequence[str] | None, flag: Flag | None) -> list[Value]:
    """Return the values behind a flag. The words are several values only for a flag that takes several."""
    if words is None:
        return [UNKNOWN]
    if flag is None or (flag.nargs is None and words):
        words = [" ".join(words)]
    return [NOT_NONE if _PLACEHOLDER.search(word) else Known(word) for word in words]


def _words(document: Document, node: Node | None) -> list[str] | None:
    """Return the words that follow the flag; None where they are not known."""
    target = document.follow(node) if node is not None else None
    match target:
        case Scalar(tag="null", text=""):
            return None
        case Scalar(text=text):
            text = text.strip()
            for quote in "\"'":
                if len(text) > 1 and text[0] == text[-1] == quote:
                    text = text[1:-1]
            return text[1:-1].split() if text.startswith("[") and text.endswith("]") else text.split()
        case Items(items=items):
            found = [target_of(item) for item in items]
            words = [item.text for item in found if isinstance(item, Scalar)]
            return words if len(words) == len(found) else None
        case _:
            return None


def _is(node: Scalar, word: str) -> bool:
    return node.text.strip().lower() == word
