"""Variables of the process environment, as a program finds them.

What the program itself has set is known. Any other variable is unset unless whoever starts the program sets it, so its
default is what runs; the value knows that (objects.Option). What launchers and systems set is not known.
"""

from __future__ import annotations

import re

from mfsdp_lint.readers.python.state.joining import join
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.values.markers import HAZY
from mfsdp_lint.readers.python.values.objects import (
    CONSTANTS,
    MISSING,
    Choice,
    External,
    Object,
    Option,
    derived,
)

_GIVEN = re.compile(
    r"(LOCAL_|GROUP_|ROLE_|NODE_)?RANK|(LOCAL_|ROLE_)?WORLD_SIZE|ROLE_NAME|MASTER_(ADDR|PORT)|NUM_NODES|N?NODES|NNODES"
    r"|NPROC_PER_NODE|GPUS_PER_NODE|OMP_NUM_THREADS|CUDA_VISIBLE_DEVICES|NVIDIA_VISIBLE_DEVICES"
    r"|(TORCHELASTIC|SLURM|SBATCH|SRUN|OMPI|PMI|PMIX|MPI|MV2|PBS|LSB|KUBERNETES|SKYPILOT)_\w+"
    r"|HOME|USER|LOGNAME|PATH|PWD|SHELL|HOSTNAME|LANG|TERM|TMPDIR|TEMP|LD_LIBRARY_PATH|VIRTUAL_ENV|CONDA_\w+"
)
"""What torchrun (torch 2.13.0, distributed/run.py), batch systems, MPI and the system itself give to every process."""


def is_environment(value: Object) -> bool:
    """Whether a value is `os.environ`."""
    return type(value) is External and value.name == "os.environ"


def variable(machine: Machine, name: Object, default: Object = MISSING) -> Object:
    """`os.environ.get(name, default)`; without a default, `os.environ[name]`."""
    if not isinstance(name, str):
        return machine.unknown("environment")
    found = [_value(machine, name, option, default) for option in _set_by_program(machine, name)]
    return found[0] if len(found) == 1 else join(machine, found)


def is_set(machine: Machine, name: Object) -> Object:
    """`name in os.environ`."""
    if not isinstance(name, str):
        return machine.unknown("a variable is set", not_none=True)
    found = _set_by_program(machine, name)
    if found == (MISSING,) and not _is_given(machine, name):
        return Option(machine.tick(), f"${name}", False)
    if len(found) == 1 and isinstance(found[0], CONSTANTS):
        return found[0] is not None
    return machine.unknown(f"${name} is set", not_none=True)


def _set_by_program(machine: Machine, name: str) -> tuple[Object, ...]:
    """What the program may have set a variable to: None where it took it away, MISSING where it did neither."""
    machine.asked_environment += 1
    machine.asked_start += 1
    found = machine.path.environment.fields.get(name, MISSING)
    return found.options if isinstance(found, Choice) else (found,)


def _value(machine: Machine, name: str, found: Object, default: Object) -> Object:
    if found is None:
        return machine.unknown(f"${name}") if default is MISSING else default
    return _from_outside(machine, name, default) if found is MISSING else found


def _from_outside(machine: Machine, name: str, default: Object) -> Object:
    if isinstance(default, (*CONSTANTS, Option)) and not _is_given(machine, name):
        option = Option(machine.tick(), f"${name}", machine.settle(default))
        return derived(option, option, default)
    if default is not MISSING and default is not None:
        return machine.unknown(f"${name}", not_none=True)
    found = machine.variables.get(name)
    if found is None:
        found = machine.variables[name] = machine.unknown(f"${name}")
    return found


def _is_given(machine: Machine, name: str) -> bool:
    """Whether somebody may well have set a variable that the program itself did not set."""
    return _GIVEN.fullmatch(name) is not None or bool(machine.path.environment.writes.get(HAZY))
