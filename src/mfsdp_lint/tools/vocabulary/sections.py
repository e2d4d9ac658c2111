"""The dataclasses behind the sections of a configuration, and the defaults that they declare."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from mfsdp_lint.tools.vocabulary.fields import Field, fields_of
from mfsdp_lint.tools.vocabulary.trees import Found, Module, Source

CONTAINER = ("megatron.bridge.training.config", "ConfigContainer")

CORE_CLASSES = {
    "ddp": ("megatron.core.distributed.distributed_data_parallel_config", "DistributedDataParallelConfig"),
    "model": ("megatron.core.transformer.transformer_config", "TransformerConfig"),
    "optimizer": ("megatron.core.optimizer.optimizer_config", "OptimizerConfig"),
}
"""What Megatron-LM's command line fills in from its flags (get_megatron_ddp_config and
get_megatron_optimizer_config in megatron/training/training.py, core_transformer_config_from_args, 0.12.0 to head); a
field without a flag keeps the default declared here."""

Sections = Mapping[str, Mapping[str, Field]]


def bridge_sections(source: Source) -> Sections:
    """The fields of every section of Bridge's `ConfigContainer`.

    A section of several classes is that of the first one, which for `model` is GPTModelProvider. Raises LookupError.
    """
    module = source.module(CONTAINER[0])
    found = module.find(CONTAINER[1]) if module is not None else None
    if found is None or not isinstance(found[1], ast.ClassDef):
        raise LookupError(f"no {'.'.join(CONTAINER)}")
    sections = {}
    for field in fields_of(found[0], found[1]).values():
        inner = _first_class(field.module, field.annotation)
        if inner is not None:
            sections[field.name] = inner
    return sections


def core_sections(source: Source) -> Sections:
    """The fields of the core's classes that the command line fills in. Raises LookupError."""
    sections = {}
    for section, (name, cls) in CORE_CLASSES.items():
        module = source.module(name)
        found = module.find(cls) if module is not None else None
        if found is None or not isinstance(found[1], ast.ClassDef):
            raise LookupError(f"no {name}.{cls}")
        sections[section] = fields_of(found[0], found[1])
    return sections


def _first_class(module: Module, annotation: ast.expr) -> Mapping[str, Field] | None:
    found: Found | None = module.find(annotation.id) if isinstance(annotation, ast.Name) else None
    if found is not None and isinstance(found[1], ast.ClassDef):
        return fields_of(found[0], found[1]) or None
    inner = (_first_class(module, node) for node in ast.iter_child_nodes(annotation) if isinstance(node, ast.expr))
    return next(filter(None, inner), None)
