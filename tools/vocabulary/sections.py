"""The dataclasses behind the sections of a configuration: their fields, and the defaults that they declare."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tools.vocabulary.fields import Field, fields_of
from tools.vocabulary.trees import Found, Module, Source

CONTAINER = ("megatron.bridge.training.config", "ConfigContainer")

CORE_CLASSES = {
    "ddp": ("megatron.core.distributed.distributed_data_parallel_config", "DistributedDataParallelConfig"),
    "model": ("megatron.core.transformer.transformer_config", "TransformerConfig"),
    "optimizer": ("megatron.core.optimizer.optimizer_config", "OptimizerConfig"),
}
"""The classes whose fields Megatron-LM's command line fills in from its flags (get_megatron_ddp_config and
get_megatron_optimizer_config in megatron/training/training.py, core_transformer_config_from_args, 0.12.0 to head); a
field without a flag keeps the default declared here."""

Sections = Mapping[str, Mapping[str, Field]]


def bridge_sections(source: Source) -> Sections:
    """Return the fields of every section of Bridge's `ConfigContainer`.

    A section of several classes has the fields of the first one, which for `model` is GPTModelProvider. Raises
    LookupError.
    """
    sections = {}
    for field in _container(source).values():
        inner = (fields_of(*each) for each in _classes(field.module, field.annotation))
        if first := next(filter(None, inner), None):
            sections[field.name] = first
    return sections


@dataclass(frozen=True, slots=True)
class SectionNames:
    """The names of the classes that a section may be of, and the names of their fields."""

    classes: tuple[str, ...]
    fields: tuple[str, ...]


def bridge_names(source: Source) -> Mapping[str, SectionNames]:
    """Return the classes of every section of Bridge's `ConfigContainer`, and their fields. Raises LookupError."""
    sections = {}
    for field in _container(source).values():
        classes = list(_classes(field.module, field.annotation))
        names = dict.fromkeys(name for each in classes for name in fields_of(*each))
        sections[field.name] = SectionNames(tuple(node.name for _, node in classes), tuple(names))
    return sections


def _container(source: Source) -> Mapping[str, Field]:
    """Return the fields of `ConfigContainer`. Raises LookupError."""
    module = source.module(CONTAINER[0])
    found = module.find(CONTAINER[1]) if module is not None else None
    if found is None or not isinstance(found[1], ast.ClassDef):
        raise LookupError(f"no {'.'.join(CONTAINER)}")
    return fields_of(found[0], found[1])


def core_sections(source: Source) -> Sections:
    """Return the fields of the core's classes that the command line fills in. Raises LookupError."""
    sections = {}
    for section, (name, cls) in CORE_CLASSES.items():
        module = source.module(name)
        found = module.find(cls) if module is not None else None
        if found is None or not isinstance(found[1], ast.ClassDef):
            raise LookupError(f"no {name}.{cls}")
        sections[section] = fields_of(found[0], found[1])
    return sections


def _classes(module: Module, annotation: ast.expr) -> Iterator[tuple[Module, ast.ClassDef]]:
    """Yield the classes of the available source that an annotation names."""
    found: Found | None = module.find(annotation.id) if isinstance(annotation, ast.Name) else None
    if found is not None and isinstance(found[1], ast.ClassDef):
        yield found[0], found[1]
        return
    for node in ast.iter_child_nodes(annotation):
        if isinstance(node, ast.expr):
            yield from _classes(module, node)
