"""Notebooks: their code cells, from the first to the last, as one Python file (`inputs/notebooks.py`)."""

from __future__ import annotations

from mfsdp_lint.inputs.filetypes import FileType
from mfsdp_lint.inputs.sources import NOTEBOOK
from mfsdp_lint.readers.python_files import PythonFiles


class NotebookFiles(PythonFiles):
    """They are read as Python is, and have no editor."""

    type = FileType("notebook", "a notebook", suffixes=(NOTEBOOK,), functions=True, imports=True)
