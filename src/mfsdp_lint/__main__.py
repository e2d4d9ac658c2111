"""`python -m mfsdp_lint`."""

import sys

from mfsdp_lint.cli import main

if __name__ == "__main__":
    sys.exit(main())
