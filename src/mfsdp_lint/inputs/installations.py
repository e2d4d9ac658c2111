"""Where packages are installed, as far as the process itself says."""

from __future__ import annotations

import os
import sys

VARIABLES = ("VIRTUAL_ENV", "CONDA_PREFIX")
"""The variables of the environment that name an active virtual or conda environment."""


def active_environments() -> list[str]:
    """The folders of the environments that are active."""
    return [folder for variable in VARIABLES if (folder := os.environ.get(variable))]


def own_packages() -> list[str]:
    """Where the packages lie that are installed beside the tool, as in a training container."""
    return [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
