"""Everybody in a project who uses some files: a proof of edits looks at them, though nobody asked for them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace

from mfsdp_lint.engine.read import Question
from mfsdp_lint.inputs.discover import File
from mfsdp_lint.inputs.importers import importers
from mfsdp_lint.readers.registry import kind_of


def with_users(question: Question, paths: Iterable[str]) -> Question:
    """The question with the files that import one of these beside. Raises TooMany where that cannot be found out."""
    known = {os.path.realpath(file.path) for file in (*question.files, *question.beside)}
    modules = [path for path in sorted(paths) if kind_of(path) == "python"]
    users = [*modules, *importers(modules)]
    new = tuple(File(path, "python") for path in users if os.path.realpath(path) not in known)
    return replace(question, beside=(*question.beside, *new))
