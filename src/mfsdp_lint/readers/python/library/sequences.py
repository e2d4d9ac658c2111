"""Lists, tuples, sets, dictionaries; functions that walk over them, and that reduce them to one value."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

from mfsdp_lint.readers.python.eval.attributes import get_attribute
from mfsdp_lint.readers.python.eval.branches import known_truth
from mfsdp_lint.readers.python.eval.classes import special
from mfsdp_lint.readers.python.eval.containers import any_of, make_set, make_tuple, set_entry
from mfsdp_lint.readers.python.eval.huggingface import length_of_tokenizer, tokenizer_of
from mfsdp_lint.readers.python.eval.iteration import LONGEST, as_text, called, elements, forget_rest, iterate, walked
from mfsdp_lint.readers.python.eval.methods import method, sort
from mfsdp_lint.readers.python.eval.operators import binary
from mfsdp_lint.readers.python.eval.standard_objects import MOST_DIGITS, NotKnown, answer
from mfsdp_lint.readers.python.state.calling import GeneratorCall, Model, invoke, models
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised, kept
from mfsdp_lint.readers.python.state.truth import join, negated, truth
from mfsdp_lint.readers.python.state.variables import argv
from mfsdp_lint.readers.python.values.bounds import is_small, is_wide, weighs_little
from mfsdp_lint.readers.python.values.code import Call, plain
from mfsdp_lint.readers.python.values.markers import FACTORY, IN_SOME_ORDER, MAY_HAVE_CHANGED
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    TRUTH_WORDS,
    Choice,
    DictObject,
    External,
    Frame,
    Instance,
    IteratorObject,
    ListObject,
    Object,
    PartlyKnown,
    Unknown,
    all_are,
    is_constant,
    is_symbolic,
    uncertain,
)


def settled(interp: Interpreter, arguments: list[Object]) -> list[Object]:
    """Settle the arguments as far as they were decided on this path."""
    return [interp.settle(argument) for argument in arguments]


def computes(function: Callable[..., Any]) -> Model:
    """Return the model of a function that Python answers for; unknown where an argument is not known."""

    def model(interp: Interpreter, call: Call) -> Object:
        arguments = settled(interp, call.arguments)
        if len(arguments) == 1 and isinstance(arguments[0], Choice):
            return join(interp, [model(interp, call.passing([one], call.keywords)) for one in arguments[0].options])
        try:
            return answer(interp, function, arguments, call.keywords)
        except NotKnown:
            return interp.unknown("", not_none=True)

    return model


def _round(number: Any, ndigits: Any = None) -> Any:
    if isinstance(ndigits, int) and abs(ndigits) > MOST_DIGITS:
        raise NotKnown
    return round(number, ndigits)


models("builtins.round")(computes(_round))
models("builtins.ascii")(computes(ascii))


def _of_numbers(function: Callable[..., Any]) -> Model:
    """Return the model of a function to which a member of an enumeration that is a number, or a text, is just that."""
    compute = computes(function)
    return lambda interp, call: compute(
        interp, call.passing([plain(each) for each in settled(interp, call.arguments)], call.keywords)
    )


for _function in (abs, bin, chr, complex, divmod, float, hex, int, oct, ord):
    models(f"builtins.{_function.__name__}")(_of_numbers(_function))


def _strtobool(text: str) -> int:
    if text.lower() not in TRUTH_WORDS:
        raise ValueError(f"invalid truth value {text!r}")
    return int(TRUTH_WORDS[text.lower()])


models("distutils.util.strtobool", "setuptools._distutils.util.strtobool")(computes(_strtobool))


models("builtins.pow")(
    lambda interp, call: (
        binary(interp, ast.Pow, *call.arguments) if len(call.arguments) == 2 else interp.unknown("", not_none=True)
    )
)


@models("builtins.bytes")
def _bytes(interp: Interpreter, call: Call) -> Object:
    if any(isinstance(argument, int) for argument in call.arguments):
        return interp.unknown("", not_none=True)
    return computes(bytes)(interp, call)


@models("builtins.format")
def _format(interp: Interpreter, call: Call) -> Object:
    if any(isinstance(argument, str) and is_wide(argument) for argument in call.arguments[1:]):
        return interp.unknown("", not_none=True)
    return computes(format)(interp, call)


@models("builtins.str")
def _str(interp: Interpreter, call: Call) -> Object:
    if not call.arguments:
        return ""
    if type(value := interp.settle(call.arguments[0])) is PartlyKnown:
        return value
    text = as_text(interp, call.arguments[0])
    return interp.unknown("", not_none=True) if text is None else text


@models("builtins.repr")
def _repr(interp: Interpreter, call: Call) -> Object:
    value = interp.settle(call.argument(0))
    if is_constant(value) and is_small(value) and not is_symbolic(value):
        return repr(value)
    text = as_text(interp, value) if isinstance(value, ListObject) else None
    return interp.unknown("", not_none=True) if text is None else text


@models("builtins.bool")
def _bool(interp: Interpreter, call: Call) -> Object:
    if not call.arguments:
        return False
    known = known_truth(interp, call.arguments[0], call.node, call.frame)
    if known is None:
        return negated(interp, negated(interp, call.arguments[0]))
    return known


@models("builtins.list")
def _list(interp: Interpreter, call: Call) -> Object:
    given = interp.settle(call.argument(0, default=()))
    if isinstance(given, Unknown) and IN_SOME_ORDER in given.fields:
        return given
    items = elements(interp, given, call.frame)
    made = ListObject(None if items is None else list(items), interp.tick())
    if made.items and (writes := interp.writers(given)):
        interp.tell_pieces(made.items, writes)
    return made


@models("builtins.sorted")
def _sorted(interp: Interpreter, call: Call) -> Object:
    items = iterate(interp, call.argument(0, default=()), call.frame)
    return ListObject(None if items is None else sort(interp, items, call.keywords, call.frame), interp.tick())


def _iterator(interp: Interpreter, items: list[Object] | None, walked: list[Object]) -> IteratorObject:
    made = IteratorObject(items, interp.tick())
    made.walked = [(one, one.items) for one in settled(interp, walked) if type(one) is ListObject]
    return made


@models("builtins.reversed")
def _reversed(interp: Interpreter, call: Call) -> Object:
    items = elements(interp, call.argument(0, default=()), call.frame)
    return _iterator(interp, None if items is None else items[::-1], call.arguments)


@models("builtins.iter")
def _iter(interp: Interpreter, call: Call) -> Object:
    value = interp.settle(call.arguments[0])
    if isinstance(value, (IteratorObject, GeneratorCall)):
        return value
    if isinstance(value, Instance):
        own = walked(interp, value, call.frame)
        if own is not value or special(interp, value, "__next__") is not None:
            return own
    if len(call.arguments) > 1:
        return interp.unknown("iter()", not_none=True)
    return _iterator(interp, elements(interp, call.argument(0, default=()), call.frame), call.arguments)


@models("builtins.tuple")
def _tuple(interp: Interpreter, call: Call) -> Object:
    given = interp.settle(call.argument(0, default=()))
    made = make_tuple(interp, elements(interp, given, call.frame))
    if isinstance(made, tuple) and (writes := interp.writers(given)):
        interp.tell_pieces(made, writes)
    return made


models("builtins.set", "builtins.frozenset")(
    lambda interp, call: make_set(interp, iterate(interp, call.argument(0, default=()), call.frame))
)


@models("builtins.dict", "collections.OrderedDict", "types.MappingProxyType")
def _dict(interp: Interpreter, call: Call) -> Object:
    made = DictObject({}, interp.tick())
    made.made = interp.note(call.node, call.frame, None, "default", None, None)
    method(interp, made, "update", call.passing([*call.arguments]))
    for keyword in getattr(call.node, "keywords", ()):
        if keyword.arg in call.keywords:
            set_entry(interp, made, keyword.arg, call.keywords[keyword.arg], call.node, call.frame, keyword)
    for name, value in call.keywords.items():
        if name == "**":
            made.writes[MAY_HAVE_CHANGED] = True
        elif name not in made.fields:
            set_entry(interp, made, name, value, call.node, call.frame)
    return made


@models("collections.defaultdict")
def _defaultdict(interp: Interpreter, call: Call) -> Object:
    made = _dict(interp, call.passing(call.arguments[1:], call.keywords))
    assert isinstance(made, DictObject)
    factory = interp.settle(call.argument(0))
    if factory is not None:
        made.writes[FACTORY] = factory
    return made


@models("builtins.range")
def _range(interp: Interpreter, call: Call) -> Object:
    arguments = settled(interp, call.arguments)
    if not all_are(arguments, int):
        return interp.unknown("range", not_none=True)
    try:
        found = range(*arguments)
    except (TypeError, ValueError) as error:
        raise Raised(type(error).__name__, str(error)) from None
    return ListObject(list(found) if len(found) <= LONGEST else None, interp.tick())


@models("builtins.len")
def _len(interp: Interpreter, call: Call) -> Object:
    value = interp.settle(call.arguments[0])
    if isinstance(value, (str, bytes, tuple)):
        return interp.unknown("len", not_none=True) if is_symbolic(value) else len(value)
    if isinstance(value, Instance):
        return invoke(interp, get_attribute(interp, value, "__len__", None, call.frame), call.passing([]))
    if value == External("sys.argv"):
        value = argv(interp, call.frame) or value
    if isinstance(value, (ListObject, DictObject, frozenset)):
        items = iterate(interp, value, call.frame)
        return interp.unknown("len", not_none=True) if items is None else len(items)
    if isinstance(value, (int, float, type(None))):
        raise Raised("TypeError", "object has no len()")
    words = length_of_tokenizer(value)
    return interp.unknown("len", not_none=True) if words is None else words


models("transformers.AutoTokenizer.from_pretrained")(tokenizer_of)


@models("builtins.enumerate")
def _enumerate(interp: Interpreter, call: Call) -> Object:
    items = iterate(interp, call.argument(0, default=()), call.frame)
    start = call.argument(1, "start", 0)
    found = None if items is None or not isinstance(start, int) else list[Object](enumerate(items, start))
    return _iterator(interp, found, call.arguments[:1])


def _columns(interp: Interpreter, arguments: list[Object], frame: Frame) -> list[list[Object]] | None:
    columns = [iterate(interp, argument, frame) for argument in arguments]
    return None if None in columns else [column or [] for column in columns]


def _rows_of(interp: Interpreter, arguments: list[Object], frame: Frame) -> list[list[Object]] | None:
    """Return the elements that `zip` takes of each argument; of one with `__next__`, only as many as it needs."""
    sources = [walked(interp, argument, frame) for argument in settled(interp, arguments)]
    endless = [special(interp, source, "__next__") is not None for source in sources]
    finite = _columns(interp, [source for source, asked in zip(sources, endless, strict=True) if not asked], frame)
    if finite is None or not any(endless) or not finite:
        return finite if not any(endless) else None
    rows = min(map(len, finite))
    columns: list[list[Object]] = []
    for source, asked in zip(sources, endless, strict=True):
        if not asked:
            columns.append(finite.pop(0))
            continue
        behind = any(len(column) == rows for column in columns)
        taken: list[Object] = []
        try:
            while len(taken) < (rows if behind else rows + 1):
                taken.append(called(interp, source, "__next__", None, frame))
        except Raised as error:
            if error.name != "StopIteration":
                raise
        columns.append(taken)
    return columns


@models("builtins.zip")
def _zip(interp: Interpreter, call: Call) -> Object:
    columns = _rows_of(interp, call.arguments, call.frame)
    if columns is None:
        return _iterator(interp, None, call.arguments)
    if truth(interp, call.keywords.get("strict", False)) is True and len({len(column) for column in columns}) > 1:
        raise Raised("ValueError", "zip() arguments have different lengths")
    rows: list[Object] | None = None if _is_heavy(columns) else [*zip(*columns, strict=False)]
    for position, row in enumerate(rows or ()):
        interp.tell_pieces(row, [interp.piece(interp.settle(each), position) for each in call.arguments])
    return _iterator(interp, rows, call.arguments)


def _is_heavy(rows: Iterable[Iterable[Object]]) -> bool:
    """Tell whether one of the elements is a tuple that holds very much."""
    return any(type(item) is tuple and not weighs_little(item) for row in rows for item in row)


_MOST_TIMES = 64
"""The largest number that such a function may be given."""


def _rearranges(function: Callable[..., Iterator[Any]], all_walked: bool) -> Model:
    """Return the model of a function that rearranges the elements of all its arguments, or of the first."""

    def model(interp: Interpreter, call: Call) -> Object:
        walked = call.arguments if all_walked else call.arguments[:1]
        columns = _columns(interp, walked, call.frame)
        numbers = settled(interp, call.arguments[len(walked) :])
        keywords = {name: interp.settle(value) for name, value in call.keywords.items()}
        times = [*numbers, *(value for name, value in keywords.items() if name != "fillvalue")]
        if columns is None or not all(isinstance(each, int | None) and (each or 0) <= _MOST_TIMES for each in times):
            return _iterator(interp, None, walked)
        try:
            found = list(itertools.islice(function(*columns, *numbers, **keywords), LONGEST + 1))
        except (TypeError, ValueError) as error:
            raise Raised(type(error).__name__, str(error)) from None
        interp.charge(sum(map(len, found)))
        return _iterator(interp, found if len(found) <= LONGEST and not _is_heavy(found) else None, walked)

    return model


for _name in ("product", "zip_longest"):
    models(f"itertools.{_name}")(_rearranges(getattr(itertools, _name), all_walked=True))
for _name in ("combinations", "combinations_with_replacement", "pairwise", "permutations"):
    models(f"itertools.{_name}")(_rearranges(getattr(itertools, _name), all_walked=False))


@models("itertools.chain")
def _chain(interp: Interpreter, call: Call) -> Object:
    columns = [elements(interp, argument, call.frame) for argument in call.arguments]
    found = None if None in columns else [item for column in columns for item in column or ()]
    return _iterator(interp, found, call.arguments)


@models("builtins.map")
def _map(interp: Interpreter, call: Call) -> Object:
    columns = _columns(interp, call.arguments[1:], call.frame)
    if columns is None:
        return _iterator(interp, None, call.arguments[1:])
    rows = list(zip(*columns, strict=False))

    def make(found: Callable[[Object], Object]) -> None:
        for row in rows:
            found(invoke(interp, call.arguments[0], call.passing(list(row))))

    return _lazily(interp, make, call)


def _lazily(interp: Interpreter, make: Callable[[Callable[[Object], Object]], None], call: Call) -> Object:
    # Python makes each element when it is asked for: one that raises, or changes something, does so only then.
    found: list[Object] = []
    mark, born = len(interp.path.journal), interp.clock + 1
    error: Raised | None = None
    try:
        make(found.append)
    except Raised as raised:
        error = kept(raised)
    if interp.touched_older(mark, born) and not any(map(uncertain, found)):
        interp.rollback(mark)
        frame = call.frame
        inner = Frame(frame.module, "<lazy>", frame, frame, frame.node, interp.tick())
        inner.fields = dict(enumerate(call.arguments))
        return GeneratorCall(interp, inner, make)
    if error is not None:
        return IteratorObject(found, interp.tick(), error)
    return _iterator(interp, found, call.arguments[1:])


@models("builtins.filter")
def _filter(interp: Interpreter, call: Call) -> Object:
    items = iterate(interp, call.arguments[1], call.frame)
    if items is None:
        return _iterator(interp, None, call.arguments[1:])

    def make(kept: Callable[[Object], Object]) -> None:
        for item in items:
            value = item if call.arguments[0] is None else invoke(interp, call.arguments[0], call.passing([item]))
            known = known_truth(interp, value, call.node, call.frame)
            if known is not False:
                kept(item if known else join(interp, [item, MISSING]))

    return _lazily(interp, make, call)


@models("builtins.next")
def _next(interp: Interpreter, call: Call) -> Object:
    iterable = interp.settle(call.arguments[0])
    if isinstance(iterable, Instance):
        found = called(interp, iterable, "__next__", call.node, call.frame)
        return interp.unknown("next()") if found is MISSING else found
    if isinstance(iterable, GeneratorCall):
        if iterable.state == "open":
            forget_rest(interp, iterable)
        found = iterable.first()
        if found is not MISSING:
            return found
    elif not isinstance(iterable, IteratorObject) or iterable.items is None or iterable.is_stale:
        return interp.unknown()
    elif any(map(uncertain, iterable.items)):
        found = any_of(interp, [*iterable.items, *call.arguments[1:]])
        interp.put(iterable, "items", None)
        return found
    elif iterable.items:
        first: Object
        first, *rest = iterable.items
        interp.put(iterable, "items", rest)
        return first
    elif iterable.error is not None:
        raise iterable.error
    if len(call.arguments) > 1:
        return call.arguments[1]
    raise Raised("StopIteration", "")


models("builtins.slice")(
    lambda interp, call: (
        slice(*call.arguments)
        if all(isinstance(part, (int, type(None))) for part in call.arguments)
        else interp.unknown("slice")
    )
)
models("builtins.any")(lambda interp, call: _any_all(interp, True, call))
models("builtins.all")(lambda interp, call: _any_all(interp, False, call))


def _any_all(interp: Interpreter, wanted: bool, call: Call) -> Object:
    iterable = interp.settle(call.arguments[0])
    if isinstance(iterable, GeneratorCall) and iterable.state == "new":
        return _any_all_made(interp, iterable, wanted, call)
    error = None
    items: list[Object] | None
    if isinstance(iterable, IteratorObject) and iterable.error is not None:
        items, error = iterable.items, iterable.error
    else:
        items = iterate(interp, iterable, call.frame)
    if items is None:
        return interp.unknown("", not_none=True)
    answers = [known_truth(interp, item, call.node, call.frame) for item in items]
    if wanted in answers:
        return wanted
    if None in answers:
        return interp.unknown("", not_none=True)
    if error is not None:
        raise error
    return not wanted


class _Decided(BaseException):
    pass


def _any_all_made(interp: Interpreter, generator: GeneratorCall, wanted: bool, call: Call) -> Object:
    answers: list[bool | None] = []
    begun, mark, unfollowed = interp.clock, len(interp.path.journal), interp.unfollowed

    def look(item: Object) -> Object:
        answers.append(known_truth(interp, item, call.node, call.frame))
        if answers[-1] is wanted:
            raise _Decided
        return None

    with suppress(_Decided):
        generator.run(look)
    if None not in answers:
        return wanted in answers if wanted else False not in answers
    own = (generator, generator.frame, interp.path.facts)
    written = (owner for owner, *_ in interp.path.journal[mark:] if owner not in own)
    if interp.unfollowed > unfollowed or any(abs(owner.born) <= begun for owner in written):
        forget_rest(interp, generator)  # it may have stopped before what it did
    return interp.unknown("", not_none=True)


def _folds(operator: type, start: int) -> Model:
    """Return the model of a function that puts an operator between all elements."""

    def model(interp: Interpreter, call: Call) -> Object:
        items = iterate(interp, call.arguments[0], call.frame)
        if items is None:
            return interp.unknown("", not_none=True)
        total = call.argument(1, "start", start)
        for item in items:
            interp.step()
            total = binary(interp, operator, total, item)
        return total

    return model


models("builtins.sum")(_folds(ast.Add, 0))
models("math.prod")(_folds(ast.Mult, 1))


models("builtins.min")(lambda interp, call: _extreme(interp, False, call))
models("builtins.max")(lambda interp, call: _extreme(interp, True, call))


def _extreme(interp: Interpreter, largest: bool, call: Call) -> Object:
    arguments, keywords = settled(interp, call.arguments), call.keywords
    items = iterate(interp, arguments[0], call.frame) if len(arguments) == 1 else arguments
    if items is None:
        return interp.unknown("", not_none=True)
    if not items:
        if "default" in keywords:
            return keywords["default"]
        raise Raised("ValueError", "the sequence is empty")
    # Sorting keeps the order of equals: the first of the largest is the first of the reversed order.
    given = {key: value for key, value in keywords.items() if key == "key"}
    ordered = sort(interp, items, {**given, "reverse": largest}, call.frame)
    return interp.unknown("", not_none=True) if ordered is None else ordered[0]
