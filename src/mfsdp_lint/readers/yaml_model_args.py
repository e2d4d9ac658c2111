"""YAML that holds flags of Megatron-LM's command line, as its functional tests have it.

    ENV_VARS:
      CUDA_DEVICE_MAX_CONNECTIONS: 1
    MODEL_ARGS:
      --use-megatron-fsdp: true
      --ckpt-format: fsdp_dtensor

What the script that starts such a test makes of the values (tests/functional_tests/shell_test_utils/_run_training.sh,
0.12.0 to head): `true` is the flag alone, brackets are taken off a list and its words are split, `${NAME}` is replaced
from the environment. `MODEL_ARGS_2` stands in for `MODEL_ARGS` in the second run.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from mfsdp_lint.core.front_ends import MEGATRON_LM
from mfsdp_lint.core.recipe import Origin, Recipe, Setting, Variant
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known, Value
from mfsdp_lint.readers.yaml import MODEL_ARGS, Document, target_of
from mfsdp_lint.readers.yaml_nodes import Mapping, Node, Scalar
from mfsdp_lint.readers.yaml_nodes import Sequence as Items
from mfsdp_lint.vocabulary import table
from mfsdp_lint.vocabulary.entry import Versions
from mfsdp_lint.vocabulary.flags import Flag
from mfsdp_lint.vocabulary.sections import COMMAND_LINE_SECTIONS
from mfsdp_lint.vocabulary.tables import ENVIRONMENT, opposite

_VARIABLES = "ENV_VARS"

_PLACEHOLDER = re.compile(r"\$\{?\w|\{\{|<[A-Z_]+>")
"""Something that is filled in before the run starts."""


def read_model_args(document: Document, root: Mapping, versions: Versions, nth: str) -> list[Recipe]:
    """One recipe for every mapping of flags, with what the command line has by default for the flags that are left out.

    A flag that the core version does not know, or that is no setting of the vocabulary, is the setting `args.NAME`.
    """
    entries = {key: values[-1] for key, values in document.effective(root).items()}
    variables = list(_variables(document, entries.get(_VARIABLES)))
    recipes = []
    for key, value in entries.items():
        flags = document.follow(value)
        if not MODEL_ARGS.fullmatch(key) or not isinstance(flags, Mapping):
            continue
        given = list(_given(document, flags, versions))
        if not given:
            continue
        place = Origin(document.lines.span(document.path, value.pair, value.pair + len(key)), "default")
        settings = {setting.path: setting for setting in (*_defaults(versions, place), *given, *variables)}
        suffix = nth if key == "MODEL_ARGS" else f"{nth}[{key}]"
        recipes.append(
            Recipe(
                name=posixpath.basename(document.path) + suffix,
                qualified_name=document.path + suffix,
                path=document.path,
                line=document.lines.position(value.pair)[0],
                kind="arguments",
                variants=(Variant(WrittenSettings(settings)),),
                front_end=MEGATRON_LM,
            )
        )
    return recipes


def _variables(document: Document, node: Node | None) -> Iterator[Setting]:
    mapping = document.follow(node) if node is not None else None
    if not isinstance(mapping, Mapping):
        return
    for name, values in document.effective(mapping).items():
        words = _words(document, values[-1])
        value = UNKNOWN if words is None else NOT_NONE if not words or _filled_in(words) else Known(" ".join(words))
        yield document.setting(ENVIRONMENT + name, value, values[-1], None)


def _given(document: Document, flags: Mapping, versions: Versions) -> Iterator[Setting]:
    known = table()
    for name, values in document.effective(flags).items():
        node = document.follow(values[-1])
        if not name.startswith("-") or (isinstance(node, Scalar) and _is(node, "false")):
            continue
        flag = known.flag(name, versions.core)
        value = _value(document, flag, node)
        entries = known.by_attribute(flag.dest) if flag else ()
        for entry in entries:
            yield document.setting(entry.path, opposite(value) if entry.inverted else value, values[-1], None)
        if not entries:
            attribute = flag.dest if flag else name.lstrip("-").replace("-", "_")
            yield document.setting(f"args.{attribute}", value, values[-1], None)


def _value(document: Document, flag: Flag | None, node: Node | None) -> Value:
    alone = isinstance(node, Scalar) and _is(node, "true")
    words = [] if alone else _words(document, node)
    if words is None:
        return UNKNOWN
    if flag is None:
        return Known(True) if alone else NOT_NONE if _filled_in(words) else Known(" ".join(words))
    if flag.nargs is None:
        words = [" ".join(words)] if words else []
    if not flag.is_switch and _filled_in(words):
        return NOT_NONE
    return flag.read(words)


def _words(document: Document, node: Node | None) -> list[str] | None:
    """What the flag is followed by; None where that is not known."""
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


def _filled_in(words: Sequence[str]) -> bool:
    return any(_PLACEHOLDER.search(word) for word in words)


def _defaults(versions: Versions, place: Origin) -> Iterator[Setting]:
    known = table()
    for path, entry in known.entries.items():
        if entry.section in COMMAND_LINE_SECTIONS:
            value = known.default(path, versions, MEGATRON_LM)
            if value is not None:
                yield Setting(path, value, place)
