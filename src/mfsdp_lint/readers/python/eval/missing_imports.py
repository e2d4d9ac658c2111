"""Imports that may fail, where the program is ready for that: in the body of a `try`."""

from __future__ import annotations

import ast
import os

from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.imports import STDLIB, relative_target
from mfsdp_lint.readers.python.eval.imports import resolve_global
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import LIBRARY
from mfsdp_lint.readers.python.state.modules import submodule
from mfsdp_lint.readers.python.state.outcomes import Raised
from mfsdp_lint.readers.python.values.frames import Frame
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.names import StarOut
from mfsdp_lint.readers.python.values.objects import MISSING, External

INSTALLED = frozenset((
    "torch", "numpy", "transformers", "datasets", "accelerate", "omegaconf", "hydra", "yaml", "tensorboard", "wandb",
    "mlflow", "rich", "six", "regex", "tqdm", "typing_extensions", "packaging", "einops", "safetensors",
    "huggingface_hub", "tokenizers", "requests", "transformer_engine", "mamba_ssm", "causal_conv1d", "fla", "timm",
    "open_clip", "qwen_vl_utils", "nvidia_resiliency_ext", "pkg_resources", "setuptools",
))  # fmt: skip
"""Requirements of Megatron-Bridge 0.2.0 to 0.6.0 (pyproject.toml), and the packages that these require."""


def import_guarded(machine: Machine, node: ast.Import | ast.ImportFrom, frame: Frame) -> bool:
    """Bind what an import in a `try` binds, where it may fail; False where it is an import like any other.

    Raises Raised where it surely fails.
    """
    if isinstance(node, ast.Import):
        answers = [is_there(machine, alias.name, frame.module) for alias in node.names]
        if all(answers):
            return False
        if False in answers:
            raise Raised("ModuleNotFoundError", ast.unparse(node))
        for alias in node.names:
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            machine.put(frame, alias.asname or name, External(name))
    else:
        answers = [_has_name(machine, node, alias.name, frame.module) for alias in node.names]
        if all(answers):
            return False
        if False in answers:
            missing = not node.level and is_there(machine, node.module or "", frame.module) is False
            raise Raised("ModuleNotFoundError" if missing else "ImportError", ast.unparse(node))
        for alias in node.names:
            if alias.name != "*":
                machine.put(frame, alias.asname or alias.name, External(f"{node.module}.{alias.name}"))
    machine.doubts += 1
    return True


def is_there(machine: Machine, name: str, module: Module) -> bool | None:
    """Tell whether a module is installed, or at hand; None where that is not known."""
    top = name.partition(".")[0]
    if top in STDLIB or top in INSTALLED or machine.finder.find(name, module.path) is not None:
        return True
    if top != "megatron" or machine.knowledge is None:
        return True if top == "megatron" else None
    if machine.knowledge.module(machine, name) is not None:
        return True
    return False if machine.knowledge.lacks(name) else None


def _has_name(machine: Machine, node: ast.ImportFrom, name: str, module: Module) -> bool | None:
    """Tell whether `from … import name` finds the name; None where that is not known."""
    if node.level:
        target = relative_target(module.path, node.level, node.module)
        source = submodule(machine.finder, module, target, node.module or "")
        if source is None:
            return disk.is_folder(target) and (name == "*" or _is_module(machine, module, target, name))
        return _module_has(machine, source, name) or _is_module(machine, module, target, name)
    full = node.module or ""
    source = machine.finder.resolve(full, module.path)
    if source is not None:
        return _module_has(machine, source, name) or machine.finder.find(f"{full}.{name}", module.path) is not None
    if machine.finder.find(f"{full}.{name}", module.path) is not None:
        return True
    if machine.knowledge is not None and machine.knowledge.lacks(full, None if name == "*" else name):
        return False
    if f"{full}.{name}" in LIBRARY:
        return True
    if full.partition(".")[0] != "megatron" or machine.knowledge is None:
        return is_there(machine, full, module)
    # A release may have names that nothing is known of.
    return True if machine.knowledge.member(machine, full, name) is not None else None


def _is_module(machine: Machine, module: Module, target: str, name: str) -> bool:
    return submodule(machine.finder, module, os.path.join(target, name), name) is not None


def _module_has(machine: Machine, source: Module, name: str) -> bool:
    if name == "*" or any(isinstance(star, StarOut) for star in source.stars):
        return True
    return resolve_global(machine, source, name) is not MISSING
