"""Variables of the process environment, as a program finds them.

What the program itself has set is known. Any other variable is unset unless whoever starts the program sets it, so its
default is what runs; the value knows that (objects.Option). What launchers and systems set is not known.
"""

from __future__ import annotations

import ast
import re

from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.state.truth import join
from mfsdp_lint.readers.python.values.code import Frame
from mfsdp_lint.readers.python.values.markers import MAY_HAVE_CHANGED
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Choice,
    DictObject,
    External,
    Function,
    Object,
    Option,
    derived,
    obstacle_of,
)

_GIVEN = re.compile(
    r"(LOCAL_|GROUP_|ROLE_|NODE_)?RANK|(LOCAL_|ROLE_)?WORLD_SIZE|ROLE_NAME|MASTER_(ADDR|PORT)|NUM_NODES|N?NODES|NNODES"
    r"|NPROC_PER_NODE|GPUS_PER_NODE|OMP_NUM_THREADS|CUDA_VISIBLE_DEVICES|NVIDIA_VISIBLE_DEVICES"
    r"|(TORCHELASTIC|SLURM|SBATCH|SRUN|OMPI|PMI|PMIX|MPI|MV2|PBS|LSB|KUBERNETES|SKYPILOT)_\w+"
    r"|HOME|USER|LOGNAME|PATH|PWD|SHELL|HOSTNAME|LANG|TERM|TMPDIR|TEMP|LD_LIBRARY_PATH|VIRTUAL_ENV|CONDA_\w+"
)
"""Variables that every process has of torchrun (torch 2.13.0, distributed/run.py), batch systems, MPI or the system."""


def is_environment(value: Object) -> bool:
    """Tell whether a value is `os.environ`."""
    return type(value) is External and value.name == "os.environ"


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
    environment = interp.path.environment
    made = DictObject({name: value for name, value in environment.fields.items() if value is not None}, interp.tick())
    made.writes.update({name: environment.writes.get(name) for name in made.fields})
    made.writes[MAY_HAVE_CHANGED] = True
    return made


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
    found = interp.path.environment.fields.get(name, MISSING)
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
