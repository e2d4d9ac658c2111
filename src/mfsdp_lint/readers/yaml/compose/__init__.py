"""Composition of each framework's files: a module for each way that is different."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mfsdp_lint.readers.trees import Section
from mfsdp_lint.readers.yaml.compose import hydra, inheritance, primus
from mfsdp_lint.readers.yaml.files import Files

Compose = Callable[[str, Section, Files], Section]
"""The path of a file, what it says by itself, and the files that it may name → the whole configuration."""


def alone(path: str, root: Section, files: Files) -> Section:
    """Return a file that needs no other file."""
    return root


COMPOSE: Mapping[str, Compose] = {
    "alone": alone,
    "hydra": hydra.compose,
    "inheritance": inheritance.compose,
    "primus": primus.compose,
}
"""By the name that a profile has for it."""
