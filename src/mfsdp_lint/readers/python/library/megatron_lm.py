"""Programs of Megatron-LM: what they add to the flags that they are started with.

Megatron-LM parses the command line itself. A program has a say in three ways: the function that declares further
options (`extra_args_provider`) may change the parser's defaults, `args_defaults` fills in what is None once the words
are parsed, and between parsing and validation it may assign to the arguments. The calls that validate are launches.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mfsdp_lint.core.recipe import Origin
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import NONE, NOT_NONE, Known, Value
from mfsdp_lint.readers.given_words import GivenWord
from mfsdp_lint.readers.python.eval.branches import one_of
from mfsdp_lint.readers.python.eval.unfollowed import launch_one
from mfsdp_lint.readers.python.library.command_line import Declaration, from_words, span_of, words_of_start
from mfsdp_lint.readers.python.state.calling import LIBRARY, NOTICED, invoke, models
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

if TYPE_CHECKING:
    from mfsdp_lint.readers.megatron_lm_arguments import CommandLine

_UPSTREAM = "megatron."


@models("megatron.training.arguments.parse_args")
def _parse_args(interp: Interpreter, call: Call) -> Object:
    return _parsed(interp, call.argument(0, "extra_args_provider"), call)


@models("megatron.training.arguments.validate_args")
def _validate_args(interp: Interpreter, call: Call) -> Object:
    args = interp.settle(call.argument(0, "args"))
    _validate(interp, args, call.argument(1, "defaults"), call)
    forget_reachable(interp, args)
    if isinstance(args, Unknown):
        interp.drop(args, ARGUMENTS)
        interp.put(args, VALIDATED, True)
    return None


def _notices(name: str, provider: int, defaults: int, parsed: int | None = None) -> None:
    """Notice a function that parses the command line and validates the arguments; the numbers are the positions of its
    parameters.
    """

    def notice(interp: Interpreter, call: Call) -> None:
        args = interp.settle(None if parsed is None else call.argument(parsed, "parsed_args"))
        if args is None:
            args = _parsed(interp, call.argument(provider, "extra_args_provider"), call)
        _validate(interp, args, call.argument(defaults, "args_defaults"), call)

    NOTICED[name] = notice


_notices("megatron.training.arguments.parse_and_validate_args", 0, 2)
_notices("megatron.training.initialize.initialize_megatron", 0, 1, 7)
# (From 0.18 on neither of these is given the command line: their configuration is made of validated arguments.)
_notices("megatron.training.training.pretrain", 5, 6)


def _parsed(interp: Interpreter, provider: Object, call: Call) -> Unknown:
    """Return the parsed arguments: attributes that nobody gives are known where the words and the parser are."""
    args = interp.unknown("args", not_none=True)
    line = interp.knowledge.command_line()
    if line is None:
        return args
    parser = _parser(interp, line, interp.settle(provider), call)
    said = words_of_start(interp, call)
    here = interp.note(call.node, call.frame, None, "default", None, None)
    given = line.given(said or (), span_of(interp, here.module, here.node))
    complete = parser.known and not given.open and said is not None
    for name, default in line.defaults().items() if complete else ():
        args.fields[name] = _object(interp, default, name)
    for name, (value, write) in parser.defaults.items():
        # (One more word cannot turn off what a switch turns on.)
        switch = line.gives(name)
        sure = not given.open or (isinstance(switch, Known) and switch.value is value)
        args.fields[name] = value if sure else interp.unknown(name)
        args.writes[name] = write
    for name, (by_word, origin) in given.values.items():
        args.fields[name] = _object(interp, by_word, name)
        args.writes[name] = _by_word(interp, origin, args, name)
    for name, value in parser.own_words(interp, [each for each in said or () if each is not None], call).items():
        word = word_of(value)
        args.fields[name] = value
        args.writes[name] = _by_word(interp, None if word is None else word.origin, args, name, how="argument")
    args.fields[ARGUMENTS], args.writes[ARGUMENTS] = True, here
    args.fields[COMPLETE] = None if said is None else complete
    return args


@dataclass(frozen=True, slots=True)
class _Parser:
    """Changes that a program makes to Megatron-LM's parser: defaults, and options of its own, with the values that they
    have where no word gives them. `known` says that these are all.
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


def _parser(interp: Interpreter, line: CommandLine, provider: Object, call: Call) -> _Parser:
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
        elif isinstance(name, str) and not line.is_setting(name):
            own[name] = value
    is_seen = returned is parser and "**" not in changed and not defaults.writes.get(MAY_HAVE_CHANGED)
    private = any(isinstance(name, str) and name.startswith("_") for name in parser.fields)
    return _Parser(changed, own, specs, known=is_seen and not private)


def _is_upstream(provider: Object) -> bool:
    name = provider.name if isinstance(provider, External) else getattr(getattr(provider, "module", None), "name", "")
    return str(name).startswith(_UPSTREAM)


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
    """Launch parsed arguments, to which the program has added something that decides. They are validated once."""
    line = interp.knowledge.command_line()
    if line is None or not isinstance(args, Unknown) or ARGUMENTS not in args.fields:
        return
    if VALIDATED in interp.path.validated.fields:
        return
    ignored = _fill_in(interp, line, args, interp.settle(defaults), call)
    interp.put(args, IGNORED, ignored)
    writes = {name: write for name, write in args.writes.items() if isinstance(name, str) and isinstance(write, Write)}
    own = [name for name, write in writes.items() if _is_own(write)]
    if line.decide([*map(str, ignored.fields), *own], writes):
        interp.put(interp.path.validated, VALIDATED, True)
        launch_one(interp, args, call)


def _fill_in(interp: Interpreter, line: CommandLine, args: Unknown, defaults: Object, call: Call) -> DictObject:
    """Set the arguments that are None to the defaults that a program gives; return those that are not taken."""
    ignored = DictObject({}, interp.tick())
    for name, value in defaults.fields.items() if isinstance(defaults, DictObject) else ():
        if not isinstance(name, str) or not isinstance(defaults, DictObject):
            continue
        said = defaults.writes.get(name)
        if not isinstance(said, Write):
            said = interp.note(call.node, call.frame, None, "argument", value, None)
        now, default = interp.settle(args.fields.get(name, MISSING)), line.default(name)
        if now is None or (now is MISSING and default == NONE):
            sure = now is None or args.fields.get(COMPLETE, False) is None
            interp.put(args, name, value if sure else interp.unknown(name))
            interp.record(args, name, said)
        elif name not in args.writes and isinstance(default, Known):
            ignored.fields[name], ignored.writes[name] = value, said
    return ignored


def _is_own(write: Write) -> bool:
    return isinstance(write.node, ast.AST) or write.how == "argument"
