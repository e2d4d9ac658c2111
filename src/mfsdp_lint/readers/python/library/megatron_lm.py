"""Programs of Megatron-LM: what they add to the flags that they are started with.

Megatron-LM parses the command line itself. A program has a say in three ways: the function that declares further
options (`extra_args_provider`) may change the parser's defaults, `args_defaults` fills in what is None once the words
are parsed, and between parsing and validation it may assign to the arguments. The calls that validate are launches.
The code of these functions is never followed, whether it is at hand or not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mfsdp_lint.core.recipe import Origin
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import NONE, NOT_NONE, UNKNOWN, Known, Value
from mfsdp_lint.megatron.vocabulary import SETTINGS, table
from mfsdp_lint.megatron.vocabulary.tables import Flag, Versions, opposite
from mfsdp_lint.readers.given_words import HOLE, GivenWord
from mfsdp_lint.readers.megatron_lm_flags import Word, settings_from_flags
from mfsdp_lint.readers.python.eval.branches import one_of
from mfsdp_lint.readers.python.eval.unfollowed import launch_one
from mfsdp_lint.readers.python.library.command_line import Declaration, from_words, span_of, words_of_start
from mfsdp_lint.readers.python.state.calling import LIBRARY, invoke, models
from mfsdp_lint.readers.python.state.forgetting import forget_reachable
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.variables import word_of
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.markers import (
    ARGUMENTS,
    COMPLETE,
    IGNORED,
    MAY_HAVE_CHANGED,
    OPTIONS,
    SPECS,
    VALIDATED,
)
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Choice,
    DictObject,
    External,
    Object,
    Unknown,
    Write,
)

_UPSTREAM = "megatron."


@models("megatron.training.arguments.parse_args")
def _parse_args(interp: Interpreter, call: Call) -> Object:
    return _parsed(interp, call.argument(0, "extra_args_provider"), call)


@models("megatron.training.arguments.validate_args")
def _validate_args(interp: Interpreter, call: Call) -> Object:
    _validate(interp, interp.settle(call.argument(0, "args")), call.argument(1, "defaults"), call)
    return None


@models("megatron.training.arguments.parse_and_validate_args")
def _parse_and_validate(interp: Interpreter, call: Call) -> Object:
    args = _parsed(interp, call.argument(0, "extra_args_provider"), call)
    _validate(interp, args, call.argument(2, "args_defaults"), call)
    return args


@models("megatron.training.initialize.initialize_megatron")
def _initialize(interp: Interpreter, call: Call) -> Object:
    args = interp.settle(call.argument(7, "parsed_args"))
    if args is None:
        args = _parsed(interp, call.argument(0, "extra_args_provider"), call)
    _validate(interp, args, call.argument(1, "args_defaults"), call)
    return interp.unknown("initialize_megatron()")


@models("megatron.training.training.pretrain")
def _pretrain(interp: Interpreter, call: Call) -> Object:
    # (From 0.18 on it is given a configuration that is made of validated arguments, and neither of the two.)
    args = _parsed(interp, call.argument(5, "extra_args_provider"), call)
    _validate(interp, args, call.argument(6, "args_defaults"), call)
    for value in call.values:
        forget_reachable(interp, value)
    return interp.unknown("pretrain()")


@models("megatron.training.global_vars.get_args")
def _get_args(interp: Interpreter, call: Call) -> Object:
    args = interp.unknown("args", not_none=True)
    args.fields[VALIDATED] = True
    return args


def _parsed(interp: Interpreter, provider: Object, call: Call) -> Unknown:
    """Return the parsed arguments: attributes that nobody gives are known where the words and the parser are."""
    args = interp.unknown("args", not_none=True)
    versions = interp.knowledge.command_line()
    if versions is None:
        return args
    parser = _parser(interp, interp.settle(provider), call)
    said = words_of_start(interp, call)
    here = interp.note(call.node, call.frame, None, "default", None, None)
    given = settings_from_flags(_words(interp, said or (), here, versions), versions)
    is_open = said is not None and given.open
    flags = table().attributes(versions.core)
    complete = parser.known and not is_open and said is not None
    for name, flag in flags.items() if complete else ():
        if table().by_attribute(name):
            args.fields[name] = _object(interp, flag.default, name)
    for name, (value, write) in parser.defaults.items():
        # (One more word cannot turn off what a switch turns on.)
        switch = flags[name].read() if name in flags and flags[name].is_switch else UNKNOWN
        sure = not is_open or (isinstance(switch, Known) and switch.value is value)
        args.fields[name] = value if sure else interp.unknown(name)
        args.writes[name] = write
    by_words = {
        name: (value, setting.origin)
        for path, setting in given.settings.items()
        for name, value in _attributes(path, setting.value, flags)
    }
    for name, (said_value, origin) in by_words.items():
        args.fields[name] = _object(interp, said_value, name)
        args.writes[name] = _by_word(interp, origin, args, name)
    own = parser.own_words(interp, [each for each in said or () if each is not None], call)
    for name, value in own.items():
        word = word_of(value)
        args.fields[name] = value
        args.writes[name] = _by_word(interp, None if word is None else word.origin, args, name, how="argument")
    args.fields[ARGUMENTS], args.writes[ARGUMENTS] = True, here
    args.fields[COMPLETE] = None if said is None else complete
    return args


@dataclass(frozen=True, slots=True)
class _Parser:
    """What a program does to Megatron-LM's parser: the defaults that it sets, and options of its own, with the values
    that they have where no word gives them. `known` says that this is all.
    """

    defaults: Mapping[str, tuple[Object, Write]]
    own: Mapping[str, Object]
    specs: DictObject | None
    known: bool

    def own_words(self, interp: Interpreter, words: Sequence[GivenWord], call: Call) -> Mapping[str, Object]:
        """Return the values of the program's own options, some of whose attributes may be Megatron-LM's."""
        if self.specs is None:
            return {}
        found = from_words(interp, self.specs, words, False, call)
        if found is not None:
            return {**self.own, **found[0]}
        declared: Mapping[Any, Any] = self.specs.fields
        destinations = {each.spec.destination for each in declared.values() if isinstance(each, Declaration)}
        return {name: interp.unknown(name) for name in {*self.own, *destinations}}


_UNCHANGED = _Parser({}, {}, None, known=True)


def _parser(interp: Interpreter, provider: Object, call: Call) -> _Parser:
    """Call the function that declares a program's own options; upstream's functions change no default."""
    if isinstance(provider, Choice):
        options = dict.fromkeys(None if _is_upstream(each) else each for each in provider.options)
        provider = one_of(interp, list(options), "extra_args_provider")
    if provider is None or _is_upstream(provider):
        return _UNCHANGED
    parser = LIBRARY["argparse.ArgumentParser"](interp, call.passing([], {"allow_abbrev": False}))
    assert isinstance(parser, Unknown)
    defaults, specs = parser.fields[OPTIONS], parser.fields[SPECS]
    assert isinstance(defaults, DictObject)
    assert isinstance(specs, DictObject)
    returned = interp.settle(invoke(interp, provider, call.passing([parser])))
    changed: dict[str, tuple[Object, Write]] = {}
    own: dict[str, Object] = {}
    for name, value in defaults.fields.items():
        write = defaults.writes.get(name)
        if isinstance(write, Write):
            changed[str(name)] = value, write
        elif isinstance(name, str) and not table().by_attribute(name):
            own[name] = value
    is_seen = returned is parser and "**" not in changed and not defaults.writes.get(MAY_HAVE_CHANGED)
    private = any(isinstance(name, str) and name.startswith("_") for name in parser.fields)
    return _Parser(changed, own, specs, known=is_seen and not private)


def _is_upstream(provider: Object) -> bool:
    name = provider.name if isinstance(provider, External) else getattr(getattr(provider, "module", None), "name", "")
    return str(name).startswith(_UPSTREAM)


def _words(interp: Interpreter, said: Iterable[GivenWord | None], here: Write, versions: Versions) -> Iterator[Word]:
    """Yield words as the readers of launches have them: what is not known is a value where a flag waits for one."""
    place = span_of(interp, here.module, here.node)
    waits = False
    before: Word | None = None
    for each in said:
        if each is None:
            if place is not None:
                yield Word(NOT_NONE, place, may_be_flags=not waits, elsewhere=True)
        elif each.known is not None:
            flag = table().flag(each.text, versions.core)
            waits = flag is not None and not flag.is_switch and flag.nargs in (None, "*", "+")
            span = each.origin.span
            apart = before is None or before.span.path != span.path or span.line - before.span.end_line not in (0, 1)
            before = Word(Known(each.text), span, option=each.origin.option, elsewhere=apart)
            yield before
            continue
        elif each.text.startswith("-") and HOLE not in each.text.partition("=")[0]:
            yield Word(Known(each.text.partition("=")[0]), each.origin.span)
            yield Word(NOT_NONE, each.origin.span, obstacle=each.origin.obstacle)
        elif waits or (each.text.strip(HOLE) and not each.text.startswith("-")):
            yield Word(NOT_NONE, each.origin.span, obstacle=each.origin.obstacle)
        elif not each.nothing:
            yield Word(NOT_NONE, each.origin.span, may_be_flags=True)
        waits = False


def _attributes(path: str, value: Value, flags: Mapping[str, Flag]) -> Iterator[tuple[str, Value]]:
    """Yield the attributes of the parsed arguments that a setting is read from, with their values."""
    entry = table().entry(path)
    for name in entry.attributes if entry is not None else (path.partition(".")[2],):
        if name in flags or entry is None:
            yield name, opposite(value) if entry is not None and entry.inverted else value


def _object(interp: Interpreter, value: Value, name: str) -> Object:
    if isinstance(value, Known) and isinstance(value.value, CONSTANTS):
        return value.value
    return interp.unknown(name, not_none=value == NOT_NONE or isinstance(value, Known))


def _by_word(interp: Interpreter, origin: Origin | None, args: Unknown, name: str, how: str = "assigned") -> Write:
    """Record that a word gives an attribute: the write has the word's origin in the place of a node."""
    earlier = args.writes.get(name)
    earlier = earlier if isinstance(earlier, Write) else None
    return Write(None, origin, None, "", how, args.fields[name], interp.tick(), earlier)  # type: ignore[arg-type]


def _validate(interp: Interpreter, args: Object, defaults: Object, call: Call) -> None:
    """Launch parsed arguments, to which the program has added something that decides; start-up may change them then."""
    interp.unfollowed += 1
    interp.doubts += 1
    if isinstance(args, Unknown) and ARGUMENTS in args.fields:
        _fill_in(interp, args, interp.settle(defaults), call)
        if _is_changed(args):
            interp.found_configuration()
            launch_one(interp, args, call)
    forget_reachable(interp, args)
    if isinstance(args, Unknown):
        interp.drop(args, ARGUMENTS)
        interp.put(args, VALIDATED, True)


def _fill_in(interp: Interpreter, args: Unknown, defaults: Object, call: Call) -> None:
    """Set the attributes that are None to the defaults that a program gives; all others keep their values."""
    versions = interp.knowledge.command_line()
    if not isinstance(defaults, DictObject) or versions is None:
        return
    flags = table().attributes(versions.core)
    ignored = DictObject({}, interp.tick())
    for name, value in defaults.fields.items():
        if not isinstance(name, str):
            continue
        said = defaults.writes.get(name)
        if not isinstance(said, Write):
            said = interp.note(call.node, call.frame, None, "argument", value, None)
        now = interp.settle(args.fields.get(name, MISSING))
        declared = flags[name].default if name in flags else NONE
        if now is None or (now is MISSING and declared == NONE):
            sure = now is None or args.fields.get(COMPLETE, False) is None
            interp.put(args, name, value if sure else interp.unknown(name))
            interp.record(args, name, said)
        elif name not in args.writes and isinstance(declared, Known):
            ignored.fields[name], ignored.writes[name] = value, said
    interp.put(args, IGNORED, ignored)


def _is_changed(args: Unknown) -> bool:
    """Tell whether a program itself sets, or means to set, something that decides. Words alone are read as those of
    any other launch.
    """
    named = [name for name, write in args.writes.items() if isinstance(write, Write) and _is_own(write)]
    named += args.fields[IGNORED].fields if IGNORED in args.fields else ()
    paths = {entry.path for name in named for entry in table().by_attribute(name)}
    return not paths.isdisjoint(SETTINGS)


def _is_own(write: Write) -> bool:
    return isinstance(write.node, ast.AST) or write.how == "argument"
