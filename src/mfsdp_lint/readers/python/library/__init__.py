"""Models of Python's built-ins and standard library (and of torch's types): meaning, not code to run.

Each model takes (machine, call) and gives the call's value; a fresh unknown where that
depends on the machine the program would run on. A function that is not modelled is a call that is not followed.
"""

from mfsdp_lint.readers.python.library import (
    answers,
    applications,
    asynchronous,
    command_line,
    data,
    decorators,
    environment,
    files,
    hydra,
    made_classes,
    nemo_run,
    objects,
    omegaconf,
    packages,
    records,
    reductions,
    search_path,
    sequences,
    signatures,
    standard,
    subprocesses,
    text,
    types,
    versions,
)

__all__ = [
    "answers",
    "applications",
    "asynchronous",
    "command_line",
    "data",
    "decorators",
    "environment",
    "files",
    "hydra",
    "made_classes",
    "nemo_run",
    "objects",
    "omegaconf",
    "packages",
    "records",
    "reductions",
    "search_path",
    "sequences",
    "signatures",
    "standard",
    "subprocesses",
    "text",
    "types",
    "versions",
]
