"""Models of Python's built-ins and standard library (and of torch's types): meaning, not code to run.

Each model takes (interp, call) and gives the call's value; a fresh unknown where that
depends on the machine the program would run on. A function that is not modelled is a call that is not followed.
"""

from mfsdp_lint.readers.python.library import (  # noqa: F401 (each registers its models)
    answers,
    applications,
    command_line,
    coroutines,
    data,
    environment,
    functions,
    hydra,
    megatron_lm,
    nemo_run,
    objects,
    omegaconf,
    packages,
    sequences,
    subprocesses,
    templates,
    types,
)
