"""What the evaluator knows of Python's built-ins and standard library (and of torch's types): meaning, not code to run.

Each model takes (machine, arguments, keywords, frame, node) and gives the call's value; a fresh unknown where that
depends on the machine the program would run on. A function that is not modelled is a call that is not followed.
"""

from mfsdp_lint.readers.python.library import (
    command_line,
    environment,
    objects,
    records,
    sequences,
    standard,
    text,
    types,
)
from mfsdp_lint.readers.python.library.decorators import decorate
from mfsdp_lint.readers.python.library.environment import CWD, environment_value
from mfsdp_lint.readers.python.library.registry import BUILTINS, LIBRARY, changes_nothing, models
from mfsdp_lint.readers.python.library.sequences import sort, unbound
from mfsdp_lint.readers.python.library.text import as_text
from mfsdp_lint.readers.python.library.types import is_instance

__all__ = [
    "BUILTINS",
    "CWD",
    "LIBRARY",
    "as_text",
    "changes_nothing",
    "command_line",
    "decorate",
    "environment",
    "environment_value",
    "is_instance",
    "models",
    "objects",
    "records",
    "sequences",
    "sort",
    "standard",
    "text",
    "types",
    "unbound",
]
