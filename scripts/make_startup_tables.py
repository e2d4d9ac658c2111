#!/usr/bin/env python3
"""Make src/mfsdp_lint/megatron/startup/startup-tables.json: the copies that start-up makes, per version.

    make_startup_tables.py 0.5.1=BRIDGE_TREE:MEGATRON_LM_TREE …

The trees are source trees: `src/megatron/bridge` (or `megatron/bridge`) below the first, `megatron/core` below the
second. Per version the file holds

    fields    the fields of the configurations that start-up applies (mixed_precision, comm_overlap) and their defaults
    shared    per section that such a configuration is applied to: the fields that both have
    rows      the named mixed-precision configurations: the fields that finalize() leaves with another value

The registry of named configurations is code, so it is run: mixed_precision.py alone, with empty modules in place of
what it imports. Versions that the file has and that are not given stay as they are.
"""

from __future__ import annotations

import ast
import dataclasses
import json
import sys
import types
from pathlib import Path
from typing import Any

OUT = Path(__file__).resolve().parents[1] / "src" / "mfsdp_lint" / "megatron" / "startup" / "startup-tables.json"


def bridge_file(tree: Path, name: str) -> Path:
    """Return a file of the package megatron.bridge."""
    found = [root for root in (tree / "src", tree) if (root / "megatron" / "bridge").is_dir()]
    if not found:
        raise SystemExit(f"{tree}: no megatron/bridge in it")
    return found[0] / "megatron" / "bridge" / name


def class_fields(path: Path) -> dict[str, list[str]]:
    """Return the annotated names of every class of a file."""
    found: dict[str, list[str]] = {}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef):
            found[node.name] = [
                item.target.id
                for item in node.body
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
            ]
    return found


def registry(path: Path) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the fields of MixedPrecisionConfig, and every registered configuration."""
    saved = {name: module for name, module in sys.modules.items() if name.split(".")[0] in ("torch", "megatron")}
    torch = types.ModuleType("torch")
    vars(torch).update({"dtype": str, "half": "torch.float16", "float": "torch.float32"})
    vars(torch).update({name: f"torch.{name}" for name in ("bfloat16", "float16", "float32")})
    stubs = {"torch": torch}
    for name, names in {
        "megatron": [],
        "megatron.core": [],
        "megatron.core.distributed": ["DistributedDataParallelConfig"],
        "megatron.core.optimizer": ["OptimizerConfig"],
        "megatron.core.utils": [],
        "megatron.bridge": [],
        "megatron.bridge.models": ["GPTModelProvider", "T5ModelProvider"],
        "mixed_precision": [],
    }.items():
        stubs[name] = types.ModuleType(name)
        for each in names:
            setattr(stubs[name], each, type(each, (), {}))
    stubs["megatron.core.utils"].is_te_min_version = lambda _: True  # type: ignore[attr-defined]
    sys.modules.update(stubs)
    module = stubs["mixed_precision"]
    try:
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
        defaults = {field.name: field.default for field in dataclasses.fields(module.MixedPrecisionConfig)}
        rows = {}
        for name, make in sorted(module.MIXED_PRECISION_RECIPES.items()):
            config = make()
            config.finalize()
            values = {field: getattr(config, field) for field in defaults}
            changed = {field: value for field, value in values.items() if value != defaults[field]}
            rows[name.replace("-", "_")] = changed
        return defaults, rows
    finally:
        for name in stubs:
            del sys.modules[name]
        sys.modules.update(saved)


def tables(bridge: Path, core: Path) -> dict[str, Any]:
    """Make all tables of one version."""
    training = bridge_file(bridge, "training")
    precision, rows = registry(training / "mixed_precision.py")
    overlap = dict.fromkeys(class_fields(training / "comm_overlap.py")["_CommOverlapConfig"])
    config = class_fields(training / "config.py")
    model = class_fields(core / "megatron/core/model_parallel_config.py")["ModelParallelConfig"]
    model += class_fields(core / "megatron/core/transformer/transformer_config.py")["TransformerConfig"]
    ddp = class_fields(core / "megatron/core/distributed/distributed_data_parallel_config.py")
    optimizer = class_fields(core / "megatron/core/optimizer/optimizer_config.py")
    targets = {
        "model": model,
        "optimizer": [*optimizer["OptimizerConfig"], *config.get("OptimizerConfig", [])],
        "ddp": [*ddp["DistributedDataParallelConfig"], *config.get("DistributedDataParallelConfig", [])],
    }
    fields = {"mixed_precision": precision, "comm_overlap": overlap}
    shared = {
        section: {name: [field for field in names if field in has] for name, has in targets.items()}
        for section, names in fields.items()
    }
    return {"fields": fields, "shared": shared, "rows": {"mixed_precision": rows}}


def main(arguments: list[str]) -> None:
    found = json.loads(OUT.read_text(encoding="utf-8")) if OUT.is_file() else {}
    for argument in arguments:
        version, _, trees = argument.partition("=")
        bridge, _, core = trees.partition(":")
        found[version] = tables(Path(bridge), Path(core))
    OUT.write_text(json.dumps(dict(sorted(found.items())), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
