"""Folders of installed packages, as far as the process itself names them."""

from __future__ import annotations

import os
import sys

VARIABLES = ("VIRTUAL_ENV", "CONDA_PREFIX")
"""The variables of the environment that name an active virtual or conda environment."""


def active_environments() -> list[str]:
    """Return the folders of the environments that are active."""
    return [folder for variable in VARIABLES if (folder := os.environ.get(variable))]


def own_packages() -> list[str]:
    """Return the folders of packages that are installed beside the tool, as in a training container."""
    return [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
