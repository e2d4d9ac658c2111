"""Words of a command line, taken by the parameters of functions and classes: click, typer, fire, tyro and their like.

Each option becomes a declaration of command_line.py, which assigns the words. None stands for what is not followed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mfsdp_lint.readers.given_words import GivenWord
from mfsdp_lint.readers.python.eval.class_views import annotated
from mfsdp_lint.readers.python.eval.classes import enum_members, has_fields, is_enum, mro
from mfsdp_lint.readers.python.eval.path_objects import make_path
from mfsdp_lint.readers.python.library.command_line import Declaration, Number, Spec, from_words
from mfsdp_lint.readers.python.state.calling import evaluate, invoke
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.variables import word, word_of
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.markers import SPECS
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    TRUTH_WORDS,
    ClassObject,
    DictObject,
    Frame,
    Function,
    Instance,
    ListObject,
    Native,
    Object,
    Partial,
    Unknown,
)


def _truth(text: str) -> bool:
    if text.lower() not in TRUTH_WORDS:
        raise ValueError(text)
    return TRUTH_WORDS[text.lower()]


def _kind(convert: Callable[[str], str | int | float | bool]) -> Native:
    def model(interp: Interpreter, call: Call) -> Object:
        try:
            return convert(str(call.arguments[0]))
        except ValueError as error:
            raise Raised("ValueError", str(error)) from None

    return Native(convert.__name__, model)


KINDS = {"str": _kind(str), "int": _kind(int), "float": _kind(float), "bool": _kind(_truth)} | {
    "Path": Native("Path", lambda interp, call: make_path(interp, call.arguments))
}
"""The conversions of words, by the name of a type."""

_CLICK = {
    "INT": "int",
    "FLOAT": "float",
    "STRING": "str",
    "BOOL": "bool",
    "Choice": "str",
    "IntRange": "int",
    "File": "str",
}
"""The types that click has names of its own for."""


def assigned(
    interp: Interpreter, declared: Sequence[Declaration], words: Sequence[GivenWord], call: Call, rest: bool = False
) -> tuple[dict[str, Object], list[GivenWord]] | None:
    """Return the values that words give, by parameter; and the words behind the first one that no option takes, where
    there may be such a `rest`. Raises Raised where the program refuses the words.
    """
    every: list[Declaration] = [*declared, Declaration(Spec((), "", "..."), None, None)] if rest else list(declared)
    specs = DictObject(dict[Any, Any](enumerate(every)), interp.tick())
    found = from_words(interp, specs, words, False, call)
    if found is None or found[1]:
        return None
    behind = found[0].pop("", None)
    items = behind.items if isinstance(behind, ListObject) else []
    left = [said for said in map(word_of, items or ()) if said is not None]
    return found[0], left


def declared_by(interp: Interpreter, function: Function | Partial) -> list[Declaration] | None:
    """Return the options of a program that is a function: those of click's decorators, and typer's parameters."""
    found: list[Declaration] = []
    given = dict(function.keywords) if isinstance(function, Partial) else {}
    for value in given.values():
        said = value.fields.get(SPECS) if isinstance(value, Unknown) else None
        if not isinstance(said, tuple):
            return None
        found += said
    inner = function.function if isinstance(function, Partial) else function
    if not isinstance(inner, Function):
        return None
    taken = len(function.arguments) if isinstance(function, Partial) else 0
    parameters: ast.arguments = inner.node.args
    for each in [*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs][taken:]:
        if each.arg not in given:
            made = _of_parameter(interp, inner, each)
            if made is None:
                return None
            found += made
    return found


def of_click(names: Sequence[str], options: dict[str, Object], destination: str) -> tuple[Declaration, ...] | None:
    """Return the declarations of `click.option(*names, **options)` or `click.argument`."""
    number, default = options.get("nargs"), options.get("default")
    if {"**", "cls", "prompt", "callback", "multiple", "count", "flag_value"} & options.keys():
        return None
    if not isinstance(number, (int, type(None))):
        return None
    said = options.get("type")
    kind: Native | None = KINDS.get(type(default).__name__, KINDS["str"])
    if said is not None:
        last = getattr(said, "name", getattr(said, "text", "")).removesuffix("()").rpartition(".")[2]
        kind = KINDS.get(_CLICK.get(last, last))
    if kind is None:
        return None
    dashed = [name for name in names if name.startswith("-")]
    return _options(dashed, destination, kind, number, flag=options.get("is_flag") is True)


def _options(
    names: Sequence[str], destination: str, kind: Object, number: Number, flag: bool
) -> tuple[Declaration, ...]:
    """Return the declarations of an option; one with a slash in a name is a pair of flags."""
    on = tuple(name.partition("/")[0].strip() for name in names)
    off = tuple(name.partition("/")[2].strip() for name in names if "/" in name)
    if not flag and not off:
        return (Declaration(Spec(on, destination, number), kind, None),)
    found = [Declaration(Spec(on, destination, 0, "store_true"), None, None)]
    if off:
        found.append(Declaration(Spec(off, destination, 0, "store_false"), None, None))
    return tuple(found)


def _of_parameter(interp: Interpreter, function: Function, parameter: ast.arg) -> tuple[Declaration, ...] | None:
    """Return the declarations of a parameter of a typer program."""
    annotation, names, is_argument = parameter.annotation, list[str](), parameter.arg not in function.defaults
    said = function.defaults.get(parameter.arg, MISSING)
    if isinstance(said, Unknown) and isinstance(said.fields.get(SPECS), tuple):
        is_argument, *names = said.fields[SPECS]
    if isinstance(annotation, ast.Subscript) and _last(annotation.value) == "Annotated":
        annotation, *more = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        for each in more:
            if isinstance(each, ast.Call) and _last(each.func) in ("Option", "Argument"):
                is_argument = _last(each.func) == "Argument"
                names = [str(one.value) for one in each.args if isinstance(one, ast.Constant)]
    kind = kind_of(interp, annotation, Frame(function.module))
    if kind is None:
        return None
    if is_argument:
        return (Declaration(Spec((), parameter.arg), kind, None),)
    flag = kind is KINDS["bool"]
    plain = parameter.arg.replace("_", "-")
    names = names or [f"--{plain}/--no-{plain}" if flag else f"--{plain}"]
    return _options(names, parameter.arg, kind, None, flag)


def kind_of(interp: Interpreter, annotation: ast.expr | None, frame: Frame) -> Object:
    """Return the conversion of words that an annotation asks for; None where it is not followed."""
    if annotation is None:
        return KINDS["str"]
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return None
    if isinstance(annotation, ast.BinOp):
        sides = [each for each in (annotation.left, annotation.right) if not isinstance(each, ast.Constant)]
        return kind_of(interp, sides[0], frame) if len(sides) == 1 else None
    if isinstance(annotation, ast.Subscript):
        match _last(annotation.value):
            case "Optional":
                return kind_of(interp, annotation.slice, frame)
            case "Literal":
                return _one_of(annotation.slice)
        return None
    if _last(annotation) in KINDS:
        return KINDS[_last(annotation)]
    found = class_named(interp, annotation, frame)
    return found if found is not None and is_enum(interp, found) else None


def class_named(interp: Interpreter, annotation: ast.expr | None, frame: Frame) -> ClassObject | None:
    """Return the class of the program that an annotation names; None where it names none."""
    try:
        found = evaluate(interp, annotation, frame) if annotation is not None else None
    except Raised:
        return None
    return found if isinstance(found, ClassObject) else None


def _one_of(choices: ast.expr) -> Native | None:
    """Return the conversion of a word to the member of `Literal[...]` that it spells."""
    items = choices.elts if isinstance(choices, ast.Tuple) else [choices]
    known = {str(each.value): each.value for each in items if isinstance(each, ast.Constant)}
    if all(isinstance(each, str) for each in known.values()):
        return KINDS["str"]
    return _kind(lambda text: _chosen(known, text)) if len(known) == len(items) else None


def _chosen(known: Mapping[str, Any], text: str) -> Any:
    if text not in known:
        raise ValueError(text)
    return known[text]


def _last(node: ast.expr) -> str:
    return str(getattr(node, "id", getattr(node, "attr", "")))


Annotations = Mapping[str, tuple[ast.expr | None, Frame]]
"""The annotations of parameters or fields, each with the frame that its names are looked up in."""


def annotations_of(interp: Interpreter, owner: ClassObject | Function) -> Annotations:
    """Return the annotations of the fields of a dataclass, or of the parameters of a function."""
    if isinstance(owner, Function):
        parameters: ast.arguments = owner.node.args
        every = (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs)
        return {each.arg: (each.annotation, Frame(owner.module)) for each in every}
    return {
        name: (annotation, Frame(base.module))
        for base in reversed(mro(interp, owner))
        if isinstance(base, ClassObject) and base.node is not None
        for name, annotation in annotated(base.node).items()
    }


def of_fields(interp: Interpreter, cls: ClassObject) -> list[Declaration] | None:
    """Return the options that HfArgumentParser makes of the fields of a dataclass."""
    found: list[Declaration] = []
    for name, (annotation, frame) in annotations_of(interp, cls).items():
        listed = _element(annotation)
        kind = kind_of(interp, listed or annotation, frame)
        if kind is None:
            return None
        flag = kind is KINDS["bool"] and listed is None
        number: Number = "+" if listed is not None else "?" if flag else None
        found.append(Declaration(Spec(_spellings("", name), name, number), kind, True if flag else None))
    return found


def _spellings(prefix: str, name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((f"--{prefix}{name}", f"--{prefix}{name}".replace("_", "-"))))


def of_values(
    interp: Interpreter, annotations: Annotations, values: Mapping[Any, Object], prefix: str = ""
) -> Iterator[Declaration]:
    """Yield the options that tyro, jsonargparse and their like make of parameters or fields, and of the fields of the
    objects in them: `--comm.user-buffers`. Options of other types are left out: a word that names one is not followed.
    """
    for name, (annotation, frame) in annotations.items():
        inner = values.get(name)
        if isinstance(inner, Instance) and isinstance(inner.cls, ClassObject) and has_fields(interp, inner.cls):
            above = f"{prefix}{name}." if name else ""
            yield from of_values(interp, annotations_of(interp, inner.cls), inner.fields, above)
            continue
        kind = kind_of(interp, annotation, frame) if annotation is not None else None
        if kind is None:
            continue
        names, place = _spellings(prefix, name), f"{prefix}{name}"
        if kind is KINDS["bool"]:
            yield Declaration(Spec(names, place, "?"), kind, True)
            yield Declaration(Spec(_spellings(prefix, f"no_{name}"), place, 0, "store_false"), None, None)
        else:
            yield Declaration(Spec(names, place), _of_value(kind), None)


_ABSL = {"string": "str", "enum": "str", "integer": "int", "float": "float"}


def of_flag(kind: str, name: str) -> tuple[Declaration, ...]:
    """Return the declarations of a flag of absl; none for one of several values, a word of which is not followed."""
    names = f"--{name}", f"-{name}"
    if kind in ("bool", "boolean"):
        off = Spec((f"--no{name}", f"-no{name}"), name, 0, "store_false")
        return Declaration(Spec(names, name, 0), KINDS["bool"], True), Declaration(off, None, None)
    return (Declaration(Spec(names, name), KINDS[_ABSL[kind]], None),) if kind in _ABSL else ()


def _of_value(kind: Object) -> Native:
    """Return the conversion of a word for a parameter that may be None, or a member of an enumeration by its name.

    The libraries differ in what else they take: such a value is not known.
    """

    def model(interp: Interpreter, call: Call) -> Object:
        text = str(call.arguments[0])
        if isinstance(kind, ClassObject):
            return enum_members(interp, kind).get(text, interp.unknown(text))
        try:
            return interp.unknown(text) if text.lower() in ("none", "null", "~", "") else invoke(interp, kind, call)
        except Raised:
            return interp.unknown(text)

    return Native("a value", model)


def _element(annotation: ast.expr | None) -> ast.expr | None:
    """Return the type of the elements where an annotation is that of a list."""
    if isinstance(annotation, ast.Subscript) and _last(annotation.value) in ("list", "List"):
        return annotation.slice
    return None


def of_fire(
    interp: Interpreter, words: Sequence[GivenWord], frame: Frame
) -> tuple[list[Object], dict[str, Object]] | None:
    """Return the positional arguments and the keywords that fire makes of words: literals of Python, or texts."""
    positional: list[Object] = []
    keywords: dict[str, Object] = {}
    left = list(_told_apart(words))
    while left:
        said, text = left.pop(0)
        if text is None:
            return None
        if not text.startswith("--"):
            positional.append(word(interp, said, frame, _literal(text)))
            continue
        name, equals, value = text[2:].partition("=")
        name = name.replace("-", "_")
        if equals:
            keywords[name] = word(interp, said, frame, _literal(value))
        elif left and left[0][1] is not None and not left[0][1].startswith("-"):
            following, value = left.pop(0)[0], ""
            keywords[name] = word(interp, following, frame, _literal(following.text))
        else:
            keywords[name] = word(interp, said, frame, True)
    return positional, keywords


def _told_apart(words: Sequence[GivenWord]) -> Iterator[tuple[GivenWord, str | None]]:
    for each in words:
        if not each.nothing:
            yield each, None if each.several else each.known


def _literal(text: str) -> Object:
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return found if isinstance(found, (str, int, float, bool)) else text
