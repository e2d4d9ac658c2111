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
from mfsdp_lint.core.values import Known
from mfsdp_lint.readers.given_words import HOLE, GivenWord
from mfsdp_lint.readers.overrides import Element, NoOverride, read_element, split_override
from mfsdp_lint.readers.python.eval.attribute_writes import set_attribute
from mfsdp_lint.readers.python.eval.operators import equal
from mfsdp_lint.readers.python.eval.path_objects import text_of_path
from mfsdp_lint.readers.python.eval.unfollowed import call_at, unfollowed
from mfsdp_lint.readers.python.library.config_trees import (
    apply,
    as_dictionary,
    as_objects,
    entries,
    forget_because_of,
    is_whole,
    make_tree,
    merge,
    put_below,
    read_entry,
    tree_of,
)
from mfsdp_lint.readers.python.library.data import from_omegaconf, in_place, loaded, to_object
from mfsdp_lint.readers.python.library.environment import read
from mfsdp_lint.readers.python.library.text_places import NOT_KNOWN, NoData, Placed
from mfsdp_lint.readers.python.state.calling import Model, invoke, models
from mfsdp_lint.readers.python.state.copies import deep_copy
from mfsdp_lint.readers.python.state.forgetting import forget_reachable
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised, RefusedCall
from mfsdp_lint.readers.python.state.truth import truth
from mfsdp_lint.readers.python.state.variables import word_of, words
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.markers import MAY_HAVE_CHANGED, WHOLE
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    OVERRIDE,
    Choice,
    ClassObject,
    ConfigTree,
    DictObject,
    Interpolation,
    ListObject,
    Object,
    Option,
    PartlyKnown,
    Unknown,
    Write,
    blame,
    is_symbolic,
)

__all__ = ("NoOverride", "Override", "parse")


@dataclass(frozen=True, slots=True)
class Override:
    """`sign` is "" (change), "+" (add), "++" (add or change) or "~" (take away); `key` has dots."""

    sign: str
    key: str
    value: Placed


def parse(text: str) -> Override:
    """Parse one override. Raises NoOverride."""
    found = split_override(text)
    if found is None:
        raise NoOverride(text)
    return Override(
        found.sign, found.key, Placed(None) if found.written is None else _placed(read_element(found.written))
    )


def _placed(element: Element) -> Placed:
    match element:
        case list():
            return Placed([_placed(each) for each in element])
        case dict():
            return Placed({key: _placed(each) for key, each in element.items()})
        case Known(value):
            return Placed(value)
    return Placed(None, open=True)


def _fresh(interp: Interpreter, source: Object, call: Call) -> Object:
    """Make a new tree with the entries of an object, a dictionary, or another tree."""
    if isinstance(source, ConfigTree):
        return deep_copy(interp, source)
    found = tree_of(interp, source)
    return found if isinstance(found, (ConfigTree, ListObject)) else interp.unknown("config", not_none=True)


@models("omegaconf.OmegaConf.create", "omegaconf.OmegaConf.structured", "omegaconf.DictConfig")
def _create(interp: Interpreter, call: Call) -> Object:
    source = interp.settle(call.argument(0, "obj", call.keywords.get("content", MISSING)))
    if source is MISSING:
        return make_tree(interp)
    if isinstance(source, str):
        found = _from_text(interp, source, call)
        return found if isinstance(found, ConfigTree) else make_tree(interp) if found is None else interp.unknown()
    if isinstance(source, ClassObject):
        try:
            source = invoke(interp, source, call.passing([]))
        except Raised:  # fields without a default are missing in the tree, and no error
            return interp.unknown("config", not_none=True)
    return _fresh(interp, source, call)


@models("omegaconf.OmegaConf.merge", "omegaconf.OmegaConf.unsafe_merge")
def _merge(interp: Interpreter, call: Call) -> Object:
    sources = [interp.settle(argument) for argument in call.arguments]
    made = _fresh(interp, sources[0], call) if sources else interp.unknown("config")
    for source in sources[1:]:
        if isinstance(made, ConfigTree):
            merge(interp, made, source, call)
    return made


@models("omegaconf.OmegaConf.from_dotlist")
def _from_dotlist(interp: Interpreter, call: Call) -> Object:
    texts = overrides_in(interp, call.argument(0, "dotlist"))
    return interp.unknown("config", not_none=True) if texts is None else _of_dotlist(interp, texts, call)


@models("omegaconf.OmegaConf.from_cli")
def _from_cli(interp: Interpreter, call: Call) -> Object:
    """Read the overrides of the command line: none, unless the call gives some or the program starts with some."""
    words_given = interp.started_with() or ()
    here = interp.settle(call.argument(0, "args_list"))
    texts = overrides_in(interp, words(interp, words_given, call.frame) if here is None else here)
    return interp.unknown("config", not_none=True) if texts is None else _of_dotlist(interp, texts, call)


def _of_dotlist(interp: Interpreter, texts: list[OverrideWord], call: Call) -> ConfigTree:
    made = make_tree(interp)
    for each in texts:
        if isinstance(each.text, str):
            key, equals, written = each.text.partition("=")
            value = _from_text(interp, written, call) if equals else None
        else:
            key, value = each.key, interp.unknown(each.key)
        put_below(interp, made, key, value, _said(interp, each, value, call), call)
    return made


def _from_text(interp: Interpreter, text: str, call: Call) -> Object:
    try:
        documents = in_place(interp, from_omegaconf, text, call)
    except NoData as error:
        raise Raised("ValueError", str(error)) from None
    return tree_of(interp, to_object(interp, documents[0], None, call)) if documents else None


@models("omegaconf.OmegaConf.load")
def _load(interp: Interpreter, call: Call) -> Object:
    given = call.argument(0, "file_")
    source = interp.settle(given)
    text: Object = source
    is_given = type(source) is Option or not (isinstance(source, Unknown) and source.fields)
    if text_of_path(source) is not None or (interp.tries_files and is_given):
        text = read(interp, given, call.frame)
    found = None if text is None else loaded(interp, text, from_omegaconf, call)
    if found is None:
        # A file that is named, and is not here, is no argument that somebody else gives.
        at = None if text_of_path(source) is None else call_at("", call.node, call.frame)
        return interp.unknown("config", not_none=True, obstacle=at)
    return tree_of(interp, found[0]) if found else make_tree(interp)


@models("omegaconf.OmegaConf.to_object")
def _to_object(interp: Interpreter, call: Call) -> Object:
    tree = interp.settle(call.argument(0, "cfg"))
    return as_objects(interp, tree, call) if isinstance(tree, ConfigTree) else interp.unknown("config")


@models("omegaconf.OmegaConf.to_container")
def _to_container(interp: Interpreter, call: Call) -> Object:
    tree, resolve = interp.settle(call.argument(0, "cfg")), interp.settle(call.keywords.get("resolve", False))
    if not isinstance(tree, ConfigTree) or not isinstance(resolve, bool):
        return interp.unknown("config")
    made = as_dictionary(interp, tree, call.frame, resolve)
    blame(made, tree.obstacle)
    return made


@models("omegaconf.OmegaConf.update")
def _update(interp: Interpreter, call: Call) -> Object:
    tree, key = interp.settle(call.argument(0, "cfg")), interp.settle(call.argument(1, "key"))
    if isinstance(tree, ConfigTree) and isinstance(key, str):
        value = interp.settle(call.argument(2, "value"))
        write = interp.note(call.node, call.frame, call.expression(2), "assigned", value, None)
        put_below(interp, tree, key, tree_of(interp, value), write, call)
    else:
        forget_reachable(interp, tree)
    return None


@models("omegaconf.OmegaConf.select", "omegaconf.DictConfig.get")
def _select(interp: Interpreter, call: Call) -> Object:
    tree, key = interp.settle(call.argument(0, "cfg")), interp.settle(call.argument(1, "key"))
    default = interp.settle(call.argument(2, "default", call.keywords.get("default_value")))
    if not isinstance(tree, ConfigTree) or not isinstance(key, str):
        return interp.unknown("config")
    found: Object = tree
    for part in key.split("."):
        if not isinstance(found, ConfigTree):
            return interp.unknown(key)
        if part not in found.fields:
            return default if is_whole(found) else interp.unknown(key)
        value, _ = read_entry(interp, found, part, call.frame)
        found = interp.settle(value)
    return default if found is None else found


@models("omegaconf.OmegaConf.resolve")
def _resolve(interp: Interpreter, call: Call) -> Object:
    """Put the values of interpolations in their place."""
    tree = interp.settle(call.argument(0, "cfg"))
    if not isinstance(tree, ConfigTree):
        return None
    for key, value in entries(tree):
        if isinstance(value, Interpolation):
            found, write = read_entry(interp, tree, key, call.frame)
            interp.put(tree, key, found)
            interp.record(tree, key, write)
        elif isinstance(value, ConfigTree):
            _resolve(interp, call.passing([value]))
    return None


for _name in ("set_struct", "set_readonly", "register_new_resolver", "save"):
    models(f"omegaconf.OmegaConf.{_name}")(lambda interp, call: None)
models("omegaconf.OmegaConf.to_yaml", "omegaconf.open_dict", "omegaconf.read_write", "omegaconf.OmegaConf.is_config")(
    lambda interp, call: interp.unknown("", not_none=True)
)


def _method(interp: Interpreter, call: Call) -> Object:
    """Forget the tree: the method is not modelled and may change it."""
    forget_reachable(interp, call.arguments[0])
    return interp.unknown("config")


models(*(f"omegaconf.DictConfig.{name}" for name in ("clear", "popitem")))(_method)


@models("omegaconf.DictConfig.update")
def _update_entries(interp: Interpreter, call: Call) -> Object:
    tree, *others = call.arguments
    sources = [*map(interp.settle, others), DictObject(dict(call.keywords), interp.tick())]
    if not isinstance(tree, ConfigTree) or not all(is_whole(each) for each in sources):
        return _method(interp, call)
    for source in sources:
        assert isinstance(source, (ConfigTree, DictObject))
        for key, value in entries(source):
            set_attribute(interp, tree, key, value, call.node, call.frame)
    return None


def _taken(interp: Interpreter, call: Call) -> Object:
    """Return an entry, or the default; `pop` takes the entry away, and `setdefault` adds a missing one."""
    tree, key, default = call.argument(0), interp.settle(call.argument(1, "key")), call.argument(2, "default", MISSING)
    if not isinstance(tree, ConfigTree) or not isinstance(key, str) or not is_whole(tree):
        return _method(interp, call)
    there = key in tree.fields
    pops = getattr(getattr(call.node, "func", None), "attr", "") == "pop"
    if not there and default is MISSING:
        raise Raised("KeyError", key)
    found = read_entry(interp, tree, key, call.frame)[0] if there else default
    if pops and there:
        interp.drop(tree, key)
    elif not pops and not there:
        set_attribute(interp, tree, key, default, call.node, call.frame)
    return found


models("omegaconf.DictConfig.pop", "omegaconf.DictConfig.setdefault")(_taken)


@models("omegaconf.DictConfig.merge_with")
def _merge_with(interp: Interpreter, call: Call) -> Object:
    tree, *sources = call.arguments
    if not isinstance(tree, ConfigTree):
        return unfollowed(interp, "omegaconf.DictConfig.merge_with", call)
    for source in sources:
        merge(interp, tree, interp.settle(source), call)
    return None


models("omegaconf.DictConfig.copy")(lambda interp, call: deep_copy(interp, call.arguments[0]))


def _listed(pick: Callable[[str, Object], Object]) -> Model:
    def model(interp: Interpreter, call: Call) -> Object:
        tree = call.arguments[0]
        if not isinstance(tree, ConfigTree) or not is_whole(tree):
            forget_reachable(interp, tree)
            return interp.unknown("entries", not_none=True)
        found = [(key, read_entry(interp, tree, key, call.frame)[0]) for key, _ in entries(tree)]
        return ListObject([pick(key, value) for key, value in found], interp.tick())

    return model


models("omegaconf.DictConfig.items")(_listed(lambda key, value: (key, value)))
models("omegaconf.DictConfig.keys")(_listed(lambda key, value: key))
models("omegaconf.DictConfig.values")(_listed(lambda key, value: value))


# -- upstream's functions ---------------------------------------------------------------------------------------------

UPSTREAM = "megatron.bridge.training.utils.omegaconf_utils."


def _config_tree(interp: Interpreter, config: Object) -> ConfigTree:
    """Turn a configuration into a tree; of a configuration from elsewhere only the changes are known."""
    found = tree_of(interp, config)
    if isinstance(found, ConfigTree):
        return found
    made = make_tree(interp)
    made.fields[WHOLE] = False
    return made


models(
    "megatron.bridge.training.utils.config_utils._ConfigContainerBase.print_yaml",  # 0.2.0 to 0.4.2
    "megatron.training.config.container.ConfigContainerBase.print_yaml",  # core 0.19.0, container.py:215
)(lambda interp, call: None)


@models(f"{UPSTREAM}create_omegaconf_dict_config")
def _create_config(interp: Interpreter, call: Call) -> Object:
    excluded = DictObject({}, interp.tick())
    excluded.writes[MAY_HAVE_CHANGED] = True
    return (_config_tree(interp, interp.settle(call.argument(0, "config_container"))), excluded)


@models(f"{UPSTREAM}apply_overrides")
def _apply_overrides(interp: Interpreter, call: Call) -> Object:
    apply(interp, interp.settle(call.argument(0, "config_obj")), call.argument(1, "overrides_dict"), call)
    return None


@models(f"{UPSTREAM}parse_hydra_overrides")
def _parse_hydra(interp: Interpreter, call: Call) -> Object:
    tree, texts = interp.settle(call.argument(0, "cfg")), overrides_in(interp, call.argument(1, "overrides"))
    if not isinstance(tree, ConfigTree):
        return interp.unknown("config", not_none=True)
    if texts is None:
        forget_reachable(interp, tree)
    else:
        override(interp, tree, texts, call)
    return tree


@models(f"{UPSTREAM}process_config_with_overrides")
def _process(interp: Interpreter, call: Call) -> Object:
    config = interp.settle(call.argument(0, "config"))
    tree = _config_tree(interp, config)
    path, overrides = call.argument(1, "config_filepath"), call.argument(2, "cli_overrides")
    if truth(interp, path) is not False:
        merge(interp, tree, _load(interp, call.passing([path])), call)
    if truth(interp, overrides) is not False:
        _parse_hydra(interp, call.passing([tree, overrides]))
    if WHOLE in tree.fields:
        apply(interp, config, tree, call)
    else:
        forget_because_of(interp, config, tree)
    return config


def override(interp: Interpreter, tree: ConfigTree, texts: list[OverrideWord], call: Call) -> None:
    """Change a tree as overrides in Hydra's grammar say. Raises RefusedCall where Hydra refuses one."""
    for said in texts:
        try:
            _override(interp, tree, said, call)
        except RefusedCall as error:
            error.place = said.place
            raise


def _override(interp: Interpreter, tree: ConfigTree, said: OverrideWord, call: Call) -> None:
    """Change a tree as one override says. Raises RefusedCall."""
    each = _parsed(said)
    value = tree_of(interp, to_object(interp, each.value, None, call))
    write = _said(interp, said, value, call)
    mergeable = isinstance(value, (ConfigTree, ListObject))
    if each.sign == "+" and not mergeable and _is_there(interp, tree, each.key):
        raise _refused(f"Could not append to config. An item is already at '{each.key}'")
    if each.sign == "~":
        _delete(interp, tree, each.key, value)
    else:
        put_below(interp, tree, each.key, value, write, call, struct=True, force=bool(each.sign))


def _parsed(said: OverrideWord) -> Override:
    """Parse one override. Raises RefusedCall where Hydra does not read it."""
    try:
        if isinstance(said.text, str):
            name, _, value = said.text.partition("=")
            if is_symbolic(value) and not is_symbolic(name):  # a folder, whose name has none of Hydra's signs
                return replace(parse(f"{name}="), value=Placed(value))
            return parse(said.text)
        return replace(parse(f"{said.key}="), value=NOT_KNOWN)
    except NoOverride as error:
        raise _refused(str(error)) from None


def _delete(interp: Interpreter, tree: ConfigTree, key: str, value: Object) -> None:
    """Take an entry away, if it has the value: an entry that the tree lacks keeps its value in the object."""
    *above, last = key.split(".")
    for part in above:
        inner = interp.settle(tree.fields.get(part))
        if not isinstance(inner, ConfigTree):
            raise _refused(f"Could not delete from config. '{key}' does not exist.")
        tree = inner
    found = interp.settle(tree.fields.get(last))
    if (found is None and is_whole(tree)) or (value is not None and equal(interp, found, value) is False):
        raise _refused(f"Could not delete from config: '{key}'")
    interp.drop(tree, last)


def _refused(text: str) -> RefusedCall:
    """Return the exception in which Bridge hands on Hydra's message."""
    return RefusedCall(text, name="OverridesError")


def _is_there(interp: Interpreter, tree: ConfigTree, key: str) -> bool:
    found: Object = tree
    for part in key.split("."):
        if not isinstance(found, ConfigTree):
            return False
        found = interp.settle(found.fields.get(part))
    return found is not None and not isinstance(found, (Choice, Unknown))


def overrides_in(interp: Interpreter, value: Object) -> list[OverrideWord] | None:
    """Return the texts in a list; None where they are not known, but for values behind a known name."""
    value = interp.settle(value)
    items = value.items if isinstance(value, ListObject) else value if isinstance(value, tuple) else None
    if items is None:
        return None
    found = [OverrideWord(interp.settle(item), word_of(item), _place_of(item)) for item in items]
    if not all(isinstance(each.text, str) or each.is_named for each in found):
        return None
    return found


def _place_of(item: Object) -> Origin | None:
    place = item.said[1] if type(item) is Option and item.said is not None else None
    found = word_of(item)
    return place if isinstance(place, Origin) else None if found is None else found.origin


@dataclass(frozen=True, slots=True)
class OverrideWord:
    """An override, and the word of the command line that it is, if it is one; its value need not be known.

    `place` is where the word is written that it is, or was made of.
    """

    text: Object
    word: GivenWord | None = None
    place: Origin | None = None

    @property
    def key(self) -> str:
        """The part before the value."""
        return self._said.partition("=")[0]

    @property
    def is_named(self) -> bool:
        """Tell whether it is known what is given a value."""
        return HOLE not in self.key and (self.word is not None or "=" in self._said)

    @property
    def _said(self) -> str:
        if self.word is not None:
            return self.word.text
        return self.text.said if isinstance(self.text, PartlyKnown) else str(self.text)


def _said(interp: Interpreter, said: OverrideWord, value: Object, call: Call) -> Write:
    """Return the write of an override: at the word, or at the text where only one place has it, else at the call."""
    if said.place is not None:
        return Write(call.frame.module, said.place, None, call.frame.function, OVERRIDE, value, interp.tick(), None)  # type: ignore[arg-type]  # of data it is the origin, and no node
    text = str(said.text)
    place = _place(call.node, text) or _place(call.frame.module.tree, text)
    return interp.note(place or call.node, call.frame, None, OVERRIDE, value, None)


def _place(above: Any, text: str) -> ast.AST | None:
    if not isinstance(above, ast.AST):
        return None
    said = _texts_in(above)
    # A text may also be one of several words, which the program takes apart.
    found = [node for node, value in said if value == text] or [
        node for node, value in said if text in value and text in value.split()
    ]
    return found[0] if len(found) == 1 else None


@cache
def _texts_in(above: ast.AST) -> Sequence[tuple[ast.Constant, str]]:
    """Return the texts that a piece of code contains."""
    constants = (node for node in ast.walk(above) if isinstance(node, ast.Constant))
    return [(node, node.value) for node in constants if isinstance(node.value, str)]
