"""Models of OmegaConf and of Megatron-Bridge's functions on it: overrides from files, lists and Python.

Upstream's functions are those of megatron/bridge/training/utils/omegaconf_utils.py, 0.2.0 to 0.6.0.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from mfsdp_lint.core.recipe import Origin
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.readers.given_words import HOLE, GivenWord
from mfsdp_lint.readers.python.eval.operators import equal
from mfsdp_lint.readers.python.eval.path_objects import text_of_path
from mfsdp_lint.readers.python.eval.unfollowed import unfollowed
from mfsdp_lint.readers.python.library.config_trees import (
    apply,
    as_dictionary,
    is_whole,
    make_tree,
    merge,
    put_below,
    tree_of,
)
from mfsdp_lint.readers.python.library.data import loaded, to_object
from mfsdp_lint.readers.python.library.data_formats import from_omegaconf
from mfsdp_lint.readers.python.library.data_places import in_place
from mfsdp_lint.readers.python.library.files import read
from mfsdp_lint.readers.python.library.hydra_overrides import NoOverride, Override, parse
from mfsdp_lint.readers.python.state.calling import invoke
from mfsdp_lint.readers.python.state.copies import deep_copy
from mfsdp_lint.readers.python.state.forgetting import havoc
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import Model, models
from mfsdp_lint.readers.python.state.paths import Raised, Refused
from mfsdp_lint.readers.python.state.started import word_of, words
from mfsdp_lint.readers.python.state.truth import truth
from mfsdp_lint.readers.python.values.classes import ClassObject
from mfsdp_lint.readers.python.values.frames import Call, Frame
from mfsdp_lint.readers.python.values.markers import HAZY, WHOLE
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Choice,
    ConfigTree,
    DictObject,
    ListObject,
    Object,
    Option,
    Unknown,
    Write,
)
from mfsdp_lint.readers.python.values.places import NOT_KNOWN, NoData

Arguments = dict[str, Object]


def _takes(*names: str) -> Callable[[Callable[[Machine, Arguments, Any, Frame], Object]], Model]:
    """Make a model whose function takes its arguments by name; arguments that were not given are left out."""

    def wrap(function: Callable[[Machine, Arguments, Any, Frame], Object]) -> Model:
        def model(machine: Machine, call: Call) -> Object:
            if len(call.arguments) > len(names):
                raise Raised("TypeError", "too many arguments")
            given = {**dict(zip(names, call.arguments, strict=False)), **call.keywords}
            return function(
                machine, {name: machine.settle(value) for name, value in given.items()}, call.node, call.frame
            )

        return model

    return wrap


def _fresh(machine: Machine, source: Object, node: Any, frame: Frame) -> Object:
    """Make a new tree with the entries of an object, a dictionary, or another tree."""
    if isinstance(source, ConfigTree):
        return deep_copy(machine, source)
    found = tree_of(machine, source)
    return found if isinstance(found, (ConfigTree, ListObject)) else machine.unknown("config", not_none=True)


@models("omegaconf.OmegaConf.create", "omegaconf.OmegaConf.structured", "omegaconf.DictConfig")
@_takes("obj", "parent", "flags")
def _create(machine: Machine, given: Arguments, node: Any, frame: Frame) -> Object:
    source = given.get("obj", given.get("content", MISSING))
    if source is MISSING:
        return make_tree(machine)
    if isinstance(source, str):
        found = _from_text(machine, source, node, frame)
        return found if isinstance(found, ConfigTree) else make_tree(machine) if found is None else machine.unknown()
    if isinstance(source, ClassObject):
        try:
            source = invoke(machine, source, Call([], {}, node, frame))
        except Raised:  # fields without a default are missing in the tree, and no error
            return machine.unknown("config", not_none=True)
    return _fresh(machine, source, node, frame)


@models("omegaconf.OmegaConf.merge", "omegaconf.OmegaConf.unsafe_merge")
def _merge(machine: Machine, call: Call) -> Object:
    sources = [machine.settle(argument) for argument in call.arguments]
    made = _fresh(machine, sources[0], call.node, call.frame) if sources else machine.unknown("config")
    for source in sources[1:]:
        if isinstance(made, ConfigTree):
            merge(machine, made, source, call.node, call.frame)
    return made


@models("omegaconf.OmegaConf.from_dotlist")
@_takes("dotlist")
def _from_dotlist(machine: Machine, given: Arguments, node: Any, frame: Frame) -> Object:
    texts = _texts(machine, given.get("dotlist"))
    return machine.unknown("config", not_none=True) if texts is None else _of_dotlist(machine, texts, node, frame)


@models("omegaconf.OmegaConf.from_cli")
@_takes("args_list")
def _from_cli(machine: Machine, given: Arguments, node: Any, frame: Frame) -> Object:
    """Read the overrides of the command line: none, unless the call gives some or the program starts with some."""
    words_given = machine.started_with() or ()
    here = given.get("args_list")
    texts = _texts(machine, words(machine, words_given, frame) if here is None else here)
    return machine.unknown("config", not_none=True) if texts is None else _of_dotlist(machine, texts, node, frame)


def _of_dotlist(machine: Machine, texts: list[Said], node: Any, frame: Frame) -> ConfigTree:
    made = make_tree(machine)
    for each in texts:
        if isinstance(each.text, str):
            key, equals, written = each.text.partition("=")
            value = _from_text(machine, written, node, frame) if equals else None
        else:
            key, value = each.key, machine.unknown(each.key)
        put_below(machine, made, key, value, _said(machine, each, value, node, frame), node, frame)
    return made


def _from_text(machine: Machine, text: str, node: Any, frame: Frame) -> Object:
    try:
        documents = in_place(machine, from_omegaconf, text, node, frame)
    except NoData as error:
        raise Raised("ValueError", str(error)) from None
    return tree_of(machine, to_object(machine, documents[0], None, node, frame)) if documents else None


@models("omegaconf.OmegaConf.load")
@_takes("file_")
def _load(machine: Machine, given: Arguments, node: Any, frame: Frame) -> Object:
    source = given.get("file_")
    text: Object = source
    if text_of_path(source) is not None:
        text = read(machine, source, frame)
    found = None if text is None else loaded(machine, text, from_omegaconf, node, frame)
    if found is None:
        return machine.unknown("config", not_none=True)
    return tree_of(machine, found[0]) if found else make_tree(machine)


@models("omegaconf.OmegaConf.to_container", "omegaconf.OmegaConf.to_object")
@_takes("cfg", "resolve", "throw_on_missing", "enum_to_str", "structured_config_mode")
def _to_container(machine: Machine, given: Arguments, node: Any, frame: Frame) -> Object:
    tree = given.get("cfg")
    return as_dictionary(machine, tree) if isinstance(tree, ConfigTree) else machine.unknown("config")


@models("omegaconf.OmegaConf.update")
@_takes("cfg", "key", "value", "merge", "force_add")
def _update(machine: Machine, given: Arguments, node: Any, frame: Frame) -> Object:
    tree, key = given.get("cfg"), given.get("key")
    if isinstance(tree, ConfigTree) and isinstance(key, str):
        value = given.get("value")
        focus = node.args[2] if isinstance(node, ast.Call) and len(node.args) > 2 else None
        write = machine.note(node, frame, focus, "assigned", value, None)
        put_below(machine, tree, key, tree_of(machine, value), write, node, frame)
    else:
        havoc(machine, tree)
    return None


@models("omegaconf.OmegaConf.select")
@_takes("cfg", "key", "default", "throw_on_resolution_failure", "throw_on_missing")
def _select(machine: Machine, given: Arguments, node: Any, frame: Frame) -> Object:
    tree, key = given.get("cfg"), given.get("key")
    if not isinstance(tree, ConfigTree) or not isinstance(key, str):
        return machine.unknown("config")
    found: Object = tree
    for part in key.split("."):
        if not isinstance(found, ConfigTree):
            return machine.unknown(key)
        whole, found = is_whole(found), machine.settle(found.fields.get(part, MISSING))
        if found is MISSING:
            return given.get("default") if whole else machine.unknown(key)
    return given.get("default") if found is None else found


@models(
    "omegaconf.OmegaConf.set_struct", "omegaconf.OmegaConf.set_readonly", "omegaconf.OmegaConf.resolve",
    "omegaconf.OmegaConf.register_new_resolver", "omegaconf.OmegaConf.save",
)  # fmt: skip
def _nothing(machine: Machine, call: Call) -> Object:
    return None


@models("omegaconf.OmegaConf.to_yaml", "omegaconf.open_dict", "omegaconf.read_write", "omegaconf.OmegaConf.is_config")
def _unknown(machine: Machine, call: Call) -> Object:
    return machine.unknown("", not_none=True)


def _method(machine: Machine, call: Call) -> Object:
    """Forget the tree: the method is not modelled and may change it."""
    havoc(machine, call.arguments[0])
    return machine.unknown("config")


models(*(f"omegaconf.DictConfig.{name}" for name in ("update", "pop", "setdefault", "clear", "popitem")))(_method)


@models("omegaconf.DictConfig.merge_with")
def _merge_with(machine: Machine, call: Call) -> Object:
    tree, *sources = call.arguments
    if not isinstance(tree, ConfigTree):
        return unfollowed(machine, "omegaconf.DictConfig.merge_with", call)
    for source in sources:
        merge(machine, tree, machine.settle(source), call.node, call.frame)
    return None


@models("omegaconf.DictConfig.get")
def _get(machine: Machine, call: Call) -> Object:
    tree, key, *default = call.arguments
    return _select(machine, call.passing([tree, key, *default]))


@models("omegaconf.DictConfig.copy")
def _copy(machine: Machine, call: Call) -> Object:
    return deep_copy(machine, call.arguments[0])


@models("omegaconf.DictConfig.items", "omegaconf.DictConfig.keys", "omegaconf.DictConfig.values")
def _listed(machine: Machine, call: Call) -> Object:
    """Forget the tree: changes to its parts through these entries are not followed."""
    havoc(machine, call.arguments[0])
    return machine.unknown("entries", not_none=True)


# -- upstream's functions ---------------------------------------------------------------------------------------------

UPSTREAM = "megatron.bridge.training.utils.omegaconf_utils."


def _config_tree(machine: Machine, config: Object) -> ConfigTree:
    """Turn a configuration into a tree; of a configuration from elsewhere only the changes are known."""
    found = tree_of(machine, config)
    if isinstance(found, ConfigTree):
        return found
    made = make_tree(machine)
    made.fields[WHOLE] = False
    return made


@models(f"{UPSTREAM}create_omegaconf_dict_config")
@_takes("config_container")
def _create_config(machine: Machine, given: Arguments, node: Any, frame: Frame) -> Object:
    excluded = DictObject({}, machine.tick())
    excluded.writes[HAZY] = True
    return (_config_tree(machine, given.get("config_container")), excluded)


@models(f"{UPSTREAM}apply_overrides")
@_takes("config_obj", "overrides_dict", "excluded_fields")
def _apply_overrides(machine: Machine, given: Arguments, node: Any, frame: Frame) -> Object:
    apply(machine, given.get("config_obj"), given.get("overrides_dict"), node, frame)
    return None


@models(f"{UPSTREAM}parse_hydra_overrides")
@_takes("cfg", "overrides")
def _parse_hydra(machine: Machine, given: Arguments, node: Any, frame: Frame) -> Object:
    tree, texts = given.get("cfg"), _texts(machine, given.get("overrides"))
    if not isinstance(tree, ConfigTree):
        return machine.unknown("config", not_none=True)
    if texts is None:
        havoc(machine, tree)
    else:
        override(machine, tree, texts, node, frame)
    return tree


@models(f"{UPSTREAM}process_config_with_overrides")
@_takes("config", "config_filepath", "cli_overrides")
def _process(machine: Machine, given: Arguments, node: Any, frame: Frame) -> Object:
    config = given.get("config")
    tree = _config_tree(machine, config)
    path, overrides = given.get("config_filepath"), given.get("cli_overrides")
    if truth(machine, path) is not False:
        merge(machine, tree, _load(machine, Call([path], {}, node, frame)), node, frame)
    if truth(machine, overrides) is not False:
        _parse_hydra(machine, Call([tree, overrides], {}, node, frame))
    if WHOLE in tree.fields:
        apply(machine, config, tree, node, frame)
    else:
        havoc(machine, config)
    return config


def override(machine: Machine, tree: ConfigTree, texts: list[Said], node: Any, frame: Frame) -> None:
    """Change a tree as overrides in Hydra's grammar say. Raises Refused where Hydra refuses one."""
    for said in texts:
        try:
            _override(machine, tree, said, node, frame)
        except Refused as error:
            error.place = said.place
            raise


def _override(machine: Machine, tree: ConfigTree, said: Said, node: Any, frame: Frame) -> None:
    """Change a tree as one override says. Raises Refused."""
    each = _parsed(said)
    value = tree_of(machine, to_object(machine, each.value, None, node, frame))
    write = _said(machine, said, value, node, frame)
    mergeable = isinstance(value, (ConfigTree, ListObject))
    if each.sign == "+" and not mergeable and _is_there(machine, tree, each.key):
        raise _refused(f"Could not append to config. An item is already at '{each.key}'")
    if each.sign == "~":
        _delete(machine, tree, each.key, value)
    else:
        put_below(machine, tree, each.key, value, write, node, frame, struct=True, force=bool(each.sign))


def _parsed(said: Said) -> Override:
    """Parse one override. Raises Refused where Hydra does not read it."""
    try:
        if isinstance(said.text, str):
            return parse(said.text)
        return replace(parse(f"{said.key}="), value=NOT_KNOWN)
    except NoOverride as error:
        raise _refused(str(error)) from None


def _delete(machine: Machine, tree: ConfigTree, key: str, value: Object) -> None:
    """Take an entry away, if it has the value: an entry that the tree lacks keeps its value in the object."""
    *above, last = key.split(".")
    for part in above:
        inner = machine.settle(tree.fields.get(part))
        if not isinstance(inner, ConfigTree):
            raise _refused(f"Could not delete from config. '{key}' does not exist.")
        tree = inner
    found = machine.settle(tree.fields.get(last))
    if (found is None and is_whole(tree)) or (value is not None and equal(machine, found, value) is False):
        raise _refused(f"Could not delete from config: '{key}'")
    machine.drop(tree, last)


def _refused(text: str) -> Refused:
    """Return the exception in which Bridge hands on Hydra's message."""
    return Refused(text, name="OverridesError")


def _is_there(machine: Machine, tree: ConfigTree, key: str) -> bool:
    found: Object = tree
    for part in key.split("."):
        if not isinstance(found, ConfigTree):
            return False
        found = machine.settle(found.fields.get(part))
    return found is not None and not isinstance(found, (Choice, Unknown))


def _texts(machine: Machine, value: Object) -> list[Said] | None:
    """Return the texts in a list; None where they are not known, but for the values of words of the command line."""
    items = value.items if isinstance(value, ListObject) else value if isinstance(value, tuple) else None
    if items is None:
        return None
    found = [Said(machine.settle(item), word_of(item), _place_of(item)) for item in items]
    if not all(isinstance(each.text, str) or (each.word and HOLE not in each.key) for each in found):
        return None
    return found


def _place_of(item: Object) -> Origin | None:
    place = item.said[1] if type(item) is Option and item.said is not None else None
    found = word_of(item)
    return place if isinstance(place, Origin) else None if found is None else found.origin


@dataclass(frozen=True, slots=True)
class Said:
    """An override, and the word of the command line that it is, if it is one: its value need not be known then.

    `place` is where the word is written that it is, or was made of.
    """

    text: Object
    word: GivenWord | None = None
    place: Origin | None = None

    @property
    def key(self) -> str:
        """The part before the value."""
        return (self.word.text if self.word else str(self.text)).partition("=")[0]


def _said(machine: Machine, said: Said, value: Object, node: Any, frame: Frame) -> Write:
    """Return the write of an override: at the word, or at the text where only one place has it, else at the call."""
    if said.place is not None:
        return Write(frame.module, said.place, None, frame.function, "override", value, machine.tick(), None)  # type: ignore[arg-type]  # of data it is the origin, and no node
    text = str(said.text)
    place = _place(node, text) or _place(frame.module.tree, text)
    return machine.note(place or node, frame, None, "assigned", value, None)


def _place(above: Any, text: str) -> ast.AST | None:
    if not isinstance(above, ast.AST):
        return None
    said = _texts_in(above)
    # A text may also be one of several words, which the program takes apart.
    found = [node for node, value in said if value == text] or [node for node, value in said if text in value.split()]
    return found[0] if len(found) == 1 else None


@cache
def _texts_in(above: ast.AST) -> Sequence[tuple[ast.Constant, str]]:
    """Return the texts that a piece of code contains."""
    constants = (node for node in ast.walk(above) if isinstance(node, ast.Constant))
    return [(node, node.value) for node in constants if isinstance(node.value, str)]
