"""Has every function of the linter fail at one file of eight, one function after the other: what is lost?

    python benchmarks/injected_faults.py

Of each kind of file one is the bad one in turn. A function counts as wrong where the findings of the seven others are
not as usual, no MFSDP905 names the bad file, or the run ends in another way.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.engine.injected_faults import FILES, functions, name_of, reaching, run, write_files, wrong_with


def main() -> int:
    """Print a line for every function that is wrong, and the figures; fail if there is one."""
    failed = 0
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        write_files()
        run()  # what is loaded once is loaded
        usual, every = run(), functions()
        for kind in FILES:
            bad, wrong = f"bad.{kind}", 0
            working_on_it = reaching(bad, every)
            for function in working_on_it:
                if why := wrong_with(function, bad, usual):
                    wrong += 1
                    print(f"{bad}: {name_of(function)}: {why}")
            print(f"{bad}: {len(working_on_it)} functions of {len(every)} that a run calls work on it; {wrong} wrong")
            failed += wrong
        os.chdir("/")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
