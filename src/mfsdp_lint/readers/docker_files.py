"""Dockerfiles: the training runs that an image starts (`readers/embedding_formats`). Nothing is executed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.inputs.faults import Faults
from mfsdp_lint.inputs.filetypes import FileType
from mfsdp_lint.inputs.sources import Problem, Unreadable
from mfsdp_lint.inputs.suppression import CommentPlace, comment_places
from mfsdp_lint.readers.reader import Reading, ToRead
from mfsdp_lint.readers.shell_files import may_start, programs_of

_RUNS = re.compile(r"^\s*(?:CMD|ENTRYPOINT)\b", re.MULTILINE | re.IGNORECASE)
_COMMENT = re.compile(r"(?m:^)[ \t]*(?P<text>#.*)")


class DockerFiles:
    """Each file is read by itself, with the scripts that it names."""

    type = FileType(
        "docker", "a Dockerfile", suffixes=(".dockerfile", ".Dockerfile"), names=("Dockerfile", "Containerfile")
    )

    def read(self, asked: ToRead, before: object) -> Reading:
        """Read the recipes of every file that has some."""
        recipes: list[Recipe] = []
        problems: list[Problem] = []
        faults = Faults()
        for path in asked.paths:
            with faults.contained(path):
                try:
                    text = asked.sources.text(path)
                except Unreadable as error:
                    if error.is_told(partial(may_start, path, relevance=asked.relevance)):
                        problems.append(error.problem)
                    continue
                if _RUNS.search(text) and may_start(path, text, asked.relevance):
                    from mfsdp_lint.readers.embedding_formats.containers import dockerfile_scripts
                    from mfsdp_lint.readers.embedding_formats.read import recipes_of

                    held = list(dockerfile_scripts(path, text))
                    recipes += recipes_of(path, held, asked.target, asked.sources, programs_of(asked))
        return Reading(recipes, [*problems, *faults.problems])

    def comments(self, text: str) -> Iterable[CommentPlace]:
        """Yield every comment, which has a line of its own."""
        return comment_places(text, ((found.start("text"), found["text"]) for found in _COMMENT.finditer(text)))
