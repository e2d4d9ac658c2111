"""Objects: attributes by name, copies, names in scope, and the smaller parts of the standard library."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from typing import Any

from mfsdp_lint.readers.python.eval.attribute_writes import set_attribute, write, write_around
from mfsdp_lint.readers.python.eval.attributes import attributes_of, attributes_of_unknown, get_attribute, has_attribute
from mfsdp_lint.readers.python.eval.class_views import order, own_attributes
from mfsdp_lint.readers.python.eval.classes import lookup, special
from mfsdp_lint.readers.python.eval.iteration import called
from mfsdp_lint.readers.python.eval.methods import method
from mfsdp_lint.readers.python.eval.written import written
from mfsdp_lint.readers.python.library.packages import names_of
from mfsdp_lint.readers.python.state.calling import BUILTINS, evaluate, invoke, isolated, models, run_block
from mfsdp_lint.readers.python.state.copies import deep_copy
from mfsdp_lint.readers.python.state.deciding import inside
from mfsdp_lint.readers.python.state.forgetting import forget_reachable, is_part, part_of, shallow_copy
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.truth import join, part_of_each
from mfsdp_lint.readers.python.values.code import Call, StarOut
from mfsdp_lint.readers.python.values.markers import COPY_OF, METHOD_OF
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Bound,
    Choice,
    ClassObject,
    DictObject,
    External,
    Frame,
    Function,
    Instance,
    ListObject,
    Module,
    Object,
    Partial,
    Unknown,
    obstacle_of,
)

LONGEST_PROGRAM = 10_000
"""Characters of a text that is followed as a program."""


@models("builtins.getattr")
def _getattr(interp: Interpreter, call: Call) -> Object:
    name = interp.settle(call.arguments[1])
    if isinstance(name, Choice) and all(isinstance(option, str) for option in name.options):
        given = ([call.arguments[0], option, *call.arguments[2:]] for option in name.options)
        return part_of_each(interp, name, [_getattr(interp, call.passing(each)) for each in given])
    if not isinstance(name, str):
        method = interp.unknown()
        method.fields[METHOD_OF] = call.arguments[0]
        method.obstacle = obstacle_of(name)
        return join(interp, [*_parts(interp, call.arguments[0]), *call.arguments[2:], method])
    if len(call.arguments) < 3:
        return get_attribute(interp, call.arguments[0], name, call.node, call.frame)
    owner = interp.settle(call.arguments[0])
    if isinstance(owner, Choice):
        given = ([option, name, call.arguments[2]] for option in owner.options)
        return join(interp, [_getattr(interp, call.passing(each)) for each in given])
    if has_attribute(interp, owner, name, call.node, call.frame) is None and not isinstance(owner, Unknown):
        try:
            return join(interp, [get_attribute(interp, owner, name, call.node, call.frame), call.arguments[2]])
        except Raised:
            return interp.unknown(name)
    try:
        return get_attribute(interp, owner, name, call.node, call.frame)
    except Raised as error:
        if error.name != "AttributeError":
            raise
        return call.arguments[2]


def _parts(interp: Interpreter, owner: Object) -> list[Object]:
    """Return the objects that an attribute of `owner` may be, whatever its name."""
    owner = interp.settle(owner)
    if isinstance(owner, Choice):
        return [part for option in owner.options for part in _parts(interp, option)]
    fields = owner.fields if isinstance(owner, (Instance, Unknown)) else {}
    parts = [part for key, part in fields.items() if is_part(key)]
    held = [one for part in parts for one in (part.options if isinstance(part, Choice) else (part,))]
    return [one for one in held if isinstance(one, (Instance, Unknown, DictObject, ListObject))]


@models("builtins.setattr")
def _setattr(interp: Interpreter, call: Call) -> Object:
    owner, name, value = call.arguments
    name = interp.settle(name)
    if isinstance(name, str):
        set_attribute(interp, owner, name, value, call.node, call.frame, call.expression(2))
    else:
        with interp.blaming(obstacle_of(name)):
            forget_reachable(interp, owner)
    return None


@models("object.__getattribute__")
def _object_getattribute(interp: Interpreter, call: Call) -> Object:
    owner, name = (interp.settle(argument) for argument in call.arguments)
    if not isinstance(owner, Instance) or not isinstance(name, str) or not isinstance(owner.cls, ClassObject):
        return interp.unknown(str(name))
    # Without `__getattr__`, which is what this is called for.
    if name not in owner.fields and lookup(interp, owner.cls, name)[0] is MISSING:
        raise Raised("AttributeError", f"'{owner.cls.name}' object has no attribute '{name}'")
    return get_attribute(interp, owner, name, call.node, call.frame)


@models("object.__setattr__")
def _object_setattr(interp: Interpreter, call: Call) -> Object:
    owner, name, value = call.arguments
    if isinstance(owner, Instance) and isinstance(name, str):
        write_around(interp, owner, name, value, call.node, call.frame, None, "assigned")
    elif isinstance(owner, Unknown) and isinstance(name, str):
        write(interp, owner, name, value, call.node, call.frame, None, "assigned")
    elif isinstance(owner, Choice) and isinstance(name, str):
        set_attribute(interp, owner, name, value, call.node, call.frame)
    else:
        forget_reachable(interp, owner)
    return None


@models("builtins.delattr", "object.__delattr__")
def _delattr(interp: Interpreter, call: Call) -> Object:
    owner, name = (interp.settle(argument) for argument in call.arguments)
    if isinstance(owner, (Instance, Unknown)) and isinstance(name, str):
        interp.drop(owner, name)
    else:
        forget_reachable(interp, owner)
    return None


@models("builtins.hasattr")
def _hasattr(interp: Interpreter, call: Call) -> Object:
    owner, name = call.arguments[0], interp.settle(call.arguments[1])
    if not isinstance(name, str):
        return interp.unknown("", not_none=True)
    known = has_attribute(interp, interp.settle(owner), name, call.node, call.frame)
    if known is None and isinstance(owner, Unknown):
        return part_of(interp, owner, ("has", name), f"hasattr({owner.text}, {name!r})")
    return interp.unknown("", not_none=True) if known is None else known


@models("builtins.vars")
def _vars(interp: Interpreter, call: Call) -> Object:
    owner = interp.settle(call.argument(0))
    if isinstance(owner, Instance):
        return attributes_of(interp, owner)
    if isinstance(owner, Unknown):
        return attributes_of_unknown(interp, owner)
    if isinstance(owner, Module):
        return invoke(interp, written(interp, "builtins.names_of"), call.passing([owner]))
    if not call.arguments:
        return _locals(interp, call.passing([]))
    own = own_attributes(interp, owner)
    return interp.unknown("vars()", not_none=True) if own is None else own


@models("inspect.getmro")
def _order(interp: Interpreter, call: Call) -> Object:
    cls = interp.settle(call.argument(0, "cls"))
    found = order(interp, cls) if isinstance(cls, ClassObject) else None
    return interp.unknown("classes", not_none=True) if found is None else found


@models("type.mro")
def _order_in_a_list(interp: Interpreter, call: Call) -> Object:
    found = _order(interp, call)
    return ListObject(list(found), interp.tick()) if isinstance(found, tuple) else found


models("type.__subclasses__")(lambda interp, call: interp.unknown("classes", not_none=True))


@models("builtins.globals")
def _globals(interp: Interpreter, call: Call) -> Object:
    return invoke(interp, written(interp, "builtins.names_of"), call.passing([call.frame.module]))


@models("builtins.locals")
def _locals(interp: Interpreter, call: Call) -> Object:
    if call.frame.fields is call.frame.module.fields:
        return _globals(interp, call)
    return DictObject(dict(call.frame.fields), interp.tick())


def _names_of_file(interp: Interpreter, call: Call) -> Object:
    """Return the names that `exec(text, names)` puts into an empty dictionary, where the text is that of a file of the
    tree; None for any other call.
    """
    text, names = interp.settle(call.argument(0)), interp.settle(call.argument(1))
    path = interp.finder.texts.get(text) if isinstance(text, str) else None
    if path is None or not isinstance(names, DictObject) or names.fields or names.writes or len(call.arguments) != 2:
        return None
    module = interp.finder.load_for(call.frame.module.path, path)
    return None if module is None else names_of(interp, module)


@models("builtins.compile")
def _compile(interp: Interpreter, call: Call) -> Object:
    return call.argument(0, "source")


@models("builtins.eval", "builtins.exec")
def _run_text(interp: Interpreter, call: Call) -> Object:
    if (made := _names_of_file(interp, call)) is not None:
        method(interp, call.arguments[1], "update", call.passing([made]))
        return None
    text = interp.settle(call.arguments[0]) if len(call.arguments) == 1 else None
    function = getattr(getattr(call.node, "func", None), "id", "")
    if isinstance(text, str) and function in ("eval", "exec") and len(text) < LONGEST_PROGRAM:
        try:
            tree = ast.parse(text.strip() if function == "eval" else text, mode=function)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise Raised("SyntaxError", "invalid syntax") from None
        for inner in ast.walk(tree):
            ast.copy_location(inner, call.node)
        if isinstance(tree, ast.Expression):
            return evaluate(interp, tree.body, call.frame)
        run_block(interp, tree.body, call.frame)  # type: ignore[attr-defined]
        return None
    # It may do anything to what it can name.
    with interp.blaming((call.frame.module, call.node, call.frame.function)):
        here: Frame | None = call.frame
        while here is not None:
            for value in list(here.fields.values()):
                forget_reachable(interp, value)
            here = here.enclosing
        given = call.values
        for value in (*given, interp.path.environment, *call.frame.module.fields.values()):
            forget_reachable(interp, value)
    return interp.unknown("eval()")


models("builtins.hash", "builtins.id")(lambda interp, call: interp.unknown("", not_none=True))

_OF_EVERY_MODULE = ("__name__", "__doc__", "__package__", "__loader__", "__spec__", "__file__", "__builtins__")


@models("builtins.names_in")
def _names_in(interp: Interpreter, call: Call) -> Object:
    """List the names that a module has by now, in the order in which they were bound; no list where it is not known."""
    module = interp.settle(call.argument(0))
    if not isinstance(module, Module) or any(isinstance(star, StarOut) for star in module.stars):
        return interp.unknown("names", not_none=True)
    stars = (name for star in module.stars for name in star.fields if not str(name).startswith("_"))
    return ListObject(list(dict.fromkeys((*_OF_EVERY_MODULE, *stars, *module.fields))), interp.tick())


@models("builtins.dir")
def _dir(interp: Interpreter, call: Call) -> Object:
    names = _names_in(interp, call) if call.arguments else None
    items = names.items if isinstance(names, ListObject) else None
    known = items is not None and all(isinstance(name, str) for name in items)
    return ListObject(sorted(items or ()), interp.tick()) if known else interp.unknown("", not_none=True)


models("object")(lambda interp, call: interp.unknown("object()", not_none=True))
models("builtins.print")(lambda interp, call: None)

_ERRORS = [name for name, each in vars(builtins).items() if isinstance(each, type) and issubclass(each, BaseException)]
BUILTINS.update({name: External(name) for name in ("object", "super", "NotImplemented", *_ERRORS)})
BUILTINS.update({name: External(f"builtins.{name}") for name in ("open", "input")})
BUILTINS.update({"Ellipsis": ..., "__debug__": True})


@models("copy.deepcopy")
def _deepcopy(interp: Interpreter, call: Call) -> Object:
    value = interp.settle(call.arguments[0])
    own = special(interp, value, "__deepcopy__")
    if own is not None:
        return invoke(interp, own, call.passing([value, DictObject({}, interp.tick())]))
    copies: dict[int, Object] = {}
    others: list[Object] = []
    for part in _copied_parts(interp, value, set()):
        if id(part) not in copies and _is_copied_by_another(interp, part, call):
            inner = _copied_instead(interp, part, call)
            copied = interp.unknown("copy", not_none=True) if inner is None else deep_copy(interp, inner)
            if isinstance(copied, Instance):
                copied.made = interp.note(call.node, call.frame, None, "assigned", copied, None)
            copies[id(part)] = copied
            others.append(copied)
    found = deep_copy(interp, value, copies)
    for holder in _copied_parts(interp, found, set()) if others else ():
        for name, field in holder.fields.items():
            if any(field is other for other in others):
                holder.writes[name] = interp.note(call.node, call.frame, None, "assigned", field, None)
    return found


def _copied_instead(interp: Interpreter, value: Instance, call: Call) -> Instance | None:
    """Return the object whose copy stands in the place of a copy; None where that is not known."""
    if isinstance(value.cls, ClassObject) and value.cls.data is not None:
        inner = value.fields.get(_ASKED_AT_HEAD)
    else:
        found = isolated(interp, lambda: get_attribute(interp, value, "__deepcopy__", call.node, call.frame))
        inner = found.owner if isinstance(found, Bound) else None
    inner = interp.settle(inner)
    return inner if isinstance(inner, Instance) and inner is not value else None


_ASKED_AT_HEAD = "transformer"
"""The attribute whose object the model asks for what it has not itself (megatron-core, training/models/gpt.py)."""


def _copied_parts(interp: Interpreter, value: Object, seen: set[int]) -> Iterator[Instance]:
    """Yield the objects that a deep copy reaches."""
    value = interp.settle(value)
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, Instance):
        yield value
    inner: Iterable[Object] = ()
    if isinstance(value, (Instance, DictObject)):
        inner = value.fields.values()
    elif isinstance(value, ListObject):
        inner = value.items or ()
    elif isinstance(value, (tuple, Choice)):
        inner = value.options if isinstance(value, Choice) else value
    for each in inner:
        yield from _copied_parts(interp, each, seen)


def _is_copied_by_another(interp: Interpreter, value: Instance, call: Call) -> bool:
    """Tell whether `copy` finds `__deepcopy__` by a `__getattr__` that asks another object: it then copies that one.

    At head the model is such an object (GPTModelConfig in megatron-core's training/models/gpt.py): its copy is of the
    class of the TransformerConfig in it.
    """
    if not isinstance(lookup(interp, value.cls, "__getattr__")[0], Function):
        return False
    if isinstance(value.cls, ClassObject) and value.cls.data is not None:
        return True  # a snapshot does not tell special methods
    try:
        found = isolated(interp, lambda: get_attribute(interp, value, "__deepcopy__", call.node, call.frame))
    except Raised:
        return False
    return found is not MISSING


@models("copy.copy")
def _copy(interp: Interpreter, call: Call) -> Object:
    value = interp.settle(call.arguments[0])
    own = called(interp, value, "__copy__", call.node, call.frame)
    if own is not MISSING:
        return own
    if isinstance(value, (Instance, DictObject)):
        copied: Instance | DictObject
        born = interp.tick()
        copied = Instance(value.cls, born, value.made) if isinstance(value, Instance) else DictObject({}, born)
        copied.fields, copied.writes = dict(value.fields), dict(value.writes)
        return copied
    if isinstance(value, ListObject):
        return type(value)(value.items, interp.tick())
    if isinstance(value, Choice):
        return join(interp, [_copy(interp, call.passing([option])) for option in value.options])
    if type(value) is Unknown:
        made = shallow_copy(interp, value)
        made.fields[COPY_OF] = value
        return made
    return value if isinstance(value, (*CONSTANTS, tuple, frozenset)) else interp.unknown()


models("typing.cast", "typing_extensions.cast")(lambda interp, call: call.arguments[1])
models("typing.TypeVar", "typing.NewType", "typing.TypedDict")(
    lambda interp, call: interp.unknown("type", not_none=True)
)
models("enum.auto")(lambda interp, call: External("enum.auto()"))


@models("types.SimpleNamespace", "argparse.Namespace")
def _namespace(interp: Interpreter, call: Call) -> Object:
    if call.arguments or "**" in call.keywords:
        return interp.unknown("namespace", not_none=True)
    given: list[ast.keyword] = getattr(call.node, "keywords", [])
    unpacked = [each.value for each in given if not each.arg]
    focus: dict[str, Any] = {name: inside(each, (name,)) for each in unpacked for name in call.keywords}
    focus |= {each.arg: each for each in given if each.arg}
    return invoke(interp, written(interp, "types.SimpleNamespace"), call._replace(focus=focus))


models("contextlib.suppress")(lambda interp, call: Partial(External("contextlib.suppress"), call.arguments, {}))
models("contextlib.redirect_stdout", "contextlib.redirect_stderr")(
    lambda interp, call: interp.unknown("context", not_none=True)
)
