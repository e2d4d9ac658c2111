"""Projects: where one begins."""

from __future__ import annotations

import os

from mfsdp_lint.inputs import disk

MARKERS = (".git", "pyproject.toml", "setup.py", "setup.cfg")
"""What the root folder of a project has."""


def root_above(folder: str) -> str:
    """The nearest folder from `folder` upwards that is the root of a project; itself, where there is none."""
    above = folder
    while not any(disk.exists(os.path.join(above, marker)) for marker in MARKERS):
        if os.path.dirname(above) == above:
            return folder
        above = os.path.dirname(above)
    return above
