"""Reading raises Python's recursion limit; hypothesis minds that happening while a test runs, so it is done before."""

from __future__ import annotations

import sys

from mfsdp_lint.readers.python.read import PYTHON_STACK

sys.setrecursionlimit(max(sys.getrecursionlimit(), PYTHON_STACK))
