"""`python -m mfsdp_lint`."""

import os
import sys

# Python puts the current folder first: a checked file there must not be imported in place of a module of the tool.
if not getattr(sys.flags, "safe_path", False) and sys.path[:1] == [os.getcwd()]:
    del sys.path[0]

from mfsdp_lint.cli import main

if __name__ == "__main__":
    sys.exit(main())
