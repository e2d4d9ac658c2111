"""The readers, in the order in which they read."""

from __future__ import annotations

from mfsdp_lint.inputs.discover import FileTypes
from mfsdp_lint.readers.python_files import NotebookFiles, PythonFiles
from mfsdp_lint.readers.reader import Reader
from mfsdp_lint.readers.shell_files import HOLDERS, ShellFiles
from mfsdp_lint.readers.yaml_files import YamlFiles

READERS: tuple[Reader, ...] = (PythonFiles(), NotebookFiles(), YamlFiles(), ShellFiles(), *HOLDERS)


def file_types() -> FileTypes:
    """Return every kind of file that is read."""
    return FileTypes(reader.type for reader in READERS)


def reader_of(kind: str) -> Reader:
    """Return the reader of a kind of file; the kind must have a reader."""
    return next(reader for reader in READERS if reader.type.name == kind)


def is_python(path: str) -> bool:
    """Tell whether a file is Python, which its name decides: files of other kinds may have to be opened (`kind_of`)."""
    return PythonFiles.type.is_named(path)


def kind_of(path: str) -> str:
    """Return the kind of a file; "" where no reader takes it."""
    found = file_types().of(path)
    return found.name if found else ""
