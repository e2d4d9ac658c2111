"""`python start.py MODULE ARGUMENT…` runs `main` of a module beside this file, contained.

The modules are a package of their own, so that their names hide no package that is installed.
"""

import importlib.util
import os
import sys

PACKAGE = "mfsdp_dry_run"


def load_package() -> None:
    """Make this folder importable as the package, and by no other name."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != here]
    spec = importlib.util.spec_from_file_location(
        PACKAGE, os.path.join(here, "__init__.py"), submodule_search_locations=[here]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)


# Saving a checkpoint spawns helpers, which import this file again under another name.
if __name__ == "__main__":
    load_package()
    importlib.import_module(f"{PACKAGE}.contained").begin()
    importlib.import_module(f"{PACKAGE}.{sys.argv[1]}").main(sys.argv[2:])
