"""Variables of the process environment and words of the command line, as a program finds them.

What the program itself has set is known. Any other variable is unset unless whoever starts the program sets it, so its
default is what runs; the value knows that (objects.Option). What launchers and systems set is not known. Words are
known where somebody is known to start the program with them.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.readers.given_words import HOLE, GivenWord
from mfsdp_lint.readers.python.state.calling import Model
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised, RefusedCall
from mfsdp_lint.readers.python.state.truth import join
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.markers import ARGV, MAY_HAVE_CHANGED, TAKEN_AWAY, WORD
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Choice,
    DictObject,
    EnumMember,
    External,
    Frame,
    Function,
    ListObject,
    Native,
    Object,
    Option,
    PathObject,
    SetObject,
    Unknown,
    Write,
    derived,
    obstacle_of,
)

_GIVEN = lazy_pattern(
    r"(LOCAL_|GROUP_|ROLE_|NODE_)?RANK|(LOCAL_|ROLE_)?WORLD_SIZE|ROLE_NAME|MASTER_(ADDR|PORT)|NUM_NODES|N?NODES|NNODES"
    r"|NPROC_PER_NODE|GPUS_PER_NODE|OMP_NUM_THREADS|CUDA_VISIBLE_DEVICES|NVIDIA_VISIBLE_DEVICES"
    r"|(TORCHELASTIC|SLURM|SBATCH|SRUN|OMPI|PMI|PMIX|MPI|MV2|PBS|LSB|KUBERNETES|SKYPILOT)_\w+"
    r"|HOME|USER|LOGNAME|PATH|PWD|SHELL|HOSTNAME|LANG|TERM|TMPDIR|TEMP|LD_LIBRARY_PATH|VIRTUAL_ENV|CONDA_\w+"
)
"""Variables that every process has of torchrun (torch 2.13.0, distributed/run.py), batch systems, MPI or the system."""


ENVIRONMENT = External("os.environ")


def is_environment(value: Object) -> bool:
    """Tell whether a value is `os.environ`."""
    return type(value) is External and value.name == ENVIRONMENT.name


ANY_VARIABLE = "*"
"""Stands for all variables among those that a file asks for (see Interpreter.asking)."""


def variable(interp: Interpreter, name: Object, frame: Frame, default: Object = MISSING) -> Object:
    """Return `os.environ.get(name, default)`; without a default, `os.environ[name]`."""
    if not isinstance(name, str):
        return interp.unknown("environment")
    options = _set_by_program(interp, name)
    if options == (None,) and default is MISSING:
        raise Raised("KeyError", name)
    found = [_value(interp, name, option, default, frame) for option in options]
    return found[0] if len(found) == 1 else join(interp, found)


def copied_environment(interp: Interpreter) -> DictObject:
    """Return `dict(os.environ)`: the known variables, and others that are not known."""
    interp.dependencies.asks_start = True
    interp.asks_at_import(ANY_VARIABLE)
    environment = interp.path.environment
    names = [name for name, value in environment.fields.items() if value is not None and isinstance(name, str)]
    made = DictObject({name: environment.fields[name] for name in names}, interp.tick())
    made.writes.update({name: environment.writes.get(name) for name in made.fields})
    made.writes[MAY_HAVE_CHANGED] = True
    if gone := frozenset(name for name, value in environment.fields.items() if value is None and isinstance(name, str)):
        made.writes[TAKEN_AWAY] = gone
    return made


def inherited_environment(interp: Interpreter) -> DictObject:
    """Return the variables that a program is started with where nobody names them: those put there behind the back of
    `os.environ` as well, unless this has set them since.
    """
    environment = interp.path.environment
    fields, writes = dict(environment.fields), dict(environment.writes)
    fields.pop(ARGV, None)
    for key in [each for each in fields if isinstance(each, tuple)]:
        value, write = fields.pop(key), writes.pop(key, None)
        name = key[1]
        since = writes.get(name)
        if not isinstance(since, Write) or (isinstance(write, Write) and write.order > since.order):
            # (Where the program has taken it away, nobody notes when.)
            fields[name] = interp.unknown(f"${name}") if name in fields and not isinstance(since, Write) else value
            writes[name] = write
    made = DictObject(fields, interp.tick())
    made.writes = writes
    return made


def no_text(interp: Interpreter, value: Object) -> RefusedCall | None:
    """Return the error that setting a variable to a value raises; None for a text, and where the kind is not known.

    Source: `_encode_value` of Python's `os.environ` (Lib/os.py).
    """
    value = interp.settle(value)
    if isinstance(value, _NO_TEXTS) and not isinstance(value, (str, EnumMember)):
        return RefusedCall(f"str expected, not {_name_of_type(value)}")
    return None


def no_word(interp: Interpreter, value: Object) -> RefusedCall | None:
    """Return the error that a word or a variable raises that a program is started with; None for a text and a path, and
    where the kind is not known.

    Source: `os.fsencode` (Lib/os.py), which subprocess asks.
    """
    value = interp.settle(value)
    if isinstance(value, _NO_TEXTS) and not isinstance(value, (str, bytes, PathObject, EnumMember)):
        return RefusedCall(f"expected str, bytes or os.PathLike object, not {_name_of_type(value)}")
    return None


def _name_of_type(value: Object) -> str:
    return _TYPE_NAMES.get(type(value), type(value).__name__)


_TYPE_NAMES: dict[type, str] = {ListObject: "list", DictObject: "dict", SetObject: "set", PathObject: "PosixPath"}
"""Python's names of the kinds that an evaluated value has."""

_NO_TEXTS = (*CONSTANTS, tuple, *_TYPE_NAMES)


def is_set(interp: Interpreter, name: Object, frame: Frame) -> Object:
    """Evaluate `name in os.environ`."""
    if not isinstance(name, str):
        return interp.unknown("a variable is set", not_none=True)
    found = _set_by_program(interp, name)
    if found == (MISSING,) and not _is_given(interp, name):
        _ask(interp, name, frame)
        return Option(interp.tick(), f"${name}", False)
    if len(found) == 1 and isinstance(found[0], CONSTANTS):
        return found[0] is not None
    return interp.unknown(f"${name} is set", not_none=True)


def _set_by_program(interp: Interpreter, name: str) -> tuple[Object, ...]:
    """Return the values that the program may have set a variable to: None where it took it away, MISSING if neither."""
    interp.dependencies.variables.add(name)
    environment = interp.path.environment
    found = environment.fields.get(name, MISSING)
    if interp.module_level:
        interp.asks_at_import(name)
        # (What is not a top level's is made for one state of the environment: see eval/huggingface.py.)
        is_open = found is MISSING and interp.executing is not None and environment.writes.get(MAY_HAVE_CHANGED)
        interp.module_variables.setdefault(name, MAY_HAVE_CHANGED if is_open else found)
    return found.options if isinstance(found, Choice) else (found,)


def _value(interp: Interpreter, name: str, found: Object, default: Object, frame: Frame) -> Object:
    if found is None:
        return interp.unknown(f"${name}") if default is MISSING else default
    return _from_outside(interp, name, default, frame) if found is MISSING else found


def _from_outside(interp: Interpreter, name: str, default: Object, frame: Frame) -> Object:
    if isinstance(default, (*CONSTANTS, Option)) and not _is_given(interp, name):
        _ask(interp, name, frame)
        option = Option(interp.tick(), f"${name}", interp.settle(default))
        return derived(option, option, default)
    if default is not MISSING and default is not None:
        known = interp.unknown(f"${name}", not_none=True)
        known.obstacle = obstacle_of(default)
        return known
    found = interp.variables.get(name)
    if found is None:
        found = interp.variables[name] = interp.unknown(f"${name}")
        if not _is_given(interp, name):
            found.obstacle = (frame.module, f"${name}", frame.function)
    return found


def _ask(interp: Interpreter, name: str, frame: Frame) -> None:
    """Remember where a variable is asked for that nobody gives."""
    interp.asked_for.setdefault(f"${name}", {})[_scope(frame)] = frame.module


def decides(interp: Interpreter, option: Option, frame: Frame) -> None:
    """Remember where a condition is decided by the default of a variable."""
    for name in option.text.split(", "):
        if name in interp.asked_for:
            interp.asked_for[name][_scope(frame)] = frame.module


def _scope(frame: Frame) -> ast.AST:
    """Return the function, or the module, that is being run."""
    return frame.code.node if isinstance(frame.code, Function) else frame.module.tree


def _is_given(interp: Interpreter, name: str) -> bool:
    """Tell whether somebody may well have set a variable that the program itself did not set."""
    return _GIVEN.fullmatch(name) is not None or bool(interp.path.environment.writes.get(MAY_HAVE_CHANGED))


def word(interp: Interpreter, said: GivenWord, frame: Frame, value: Object = None) -> Unknown:
    """Return a program's value for a word: its text, or the `value` made of it; it knows where the word is written."""
    known = said.known
    if known is None:
        made = interp.unknown(said.text.replace(HOLE, "…"), not_none=True)
        made.obstacle = None if said.origin.obstacle is None else (frame.module, said.origin, frame.function)
        made.fields["startswith"] = Native("str.startswith", _startswith(said.text.partition(HOLE)[0]))
    else:
        place = (frame.module, said.origin, frame.function)
        made = Option(interp.tick(), said.origin.option, known if value is None else value, True, place)
    made.fields[WORD] = said
    return made


def _startswith(start: str) -> Model:
    """Return `startswith` of a text that begins with `start`, and goes on in a way that is not known."""

    def answer(interp: Interpreter, call: Call) -> Object:
        wanted = interp.settle(call.arguments[0]) if len(call.arguments) == 1 else None
        if isinstance(wanted, str) and (len(wanted) <= len(start) or not wanted.startswith(start)):
            return start.startswith(wanted)
        return interp.unknown("startswith()", not_none=True)

    return answer


def holds(value: Object, part: Object) -> bool:
    """Tell whether a partly known text surely contains this part."""
    said = word_of(value)
    return said is not None and isinstance(part, str) and any(part in known for known in said.text.split(HOLE))


def words(interp: Interpreter, said: Sequence[GivenWord], frame: Frame) -> ListObject:
    """Return a list of words; a list of unknown elements where one of them may be several."""
    if any(each.several for each in said):
        return ListObject(None, interp.tick())
    return ListObject([word(interp, each, frame) for each in said if not each.nothing], interp.tick())


def argv(interp: Interpreter, frame: Frame) -> ListObject | None:
    """Return `sys.argv` of a program that is started with known words, or that has changed it; None where neither is
    so, or the words are not known.
    """
    own = own_argv(interp)
    if own is not MISSING:
        return own if isinstance(own, ListObject) else None
    given = interp.started_with()
    if given is None or any(each.several for each in given):
        return None
    return ListObject([interp.unknown("sys.argv[0]", not_none=True), *words(interp, given, frame).items], interp.tick())


def own_argv(interp: Interpreter) -> Object:
    """Return the list that the program has made of `sys.argv`; MISSING where it has not."""
    return interp.settle(interp.path.environment.fields.get(ARGV, MISSING))


def replace_argv(interp: Interpreter, value: Object, node: Any, frame: Frame) -> None:
    """Run `sys.argv = value`."""
    environment = interp.path.environment
    interp.put(environment, ARGV, value)
    interp.record(environment, ARGV, interp.note(node, frame, None, "assigned", value, None))


def changeable_argv(interp: Interpreter, node: Any, frame: Frame) -> ListObject:
    """Put a list in place of `sys.argv` that a program is about to change. Nothing is given but what somebody gives."""
    given = words(interp, interp.started_with() or (), frame).items
    first = interp.unknown("sys.argv[0]", not_none=True)
    made = ListObject(None if given is None else [first, *given], interp.tick())
    replace_argv(interp, made, node, frame)
    return made


def word_of(value: Object) -> GivenWord | None:
    """Return the word that a value is, where the program was started with it; None for other values."""
    found = value.fields.get(WORD) if isinstance(value, Unknown) else None
    return found if isinstance(found, GivenWord) else None
