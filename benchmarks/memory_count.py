"""Numbers of parameters in models of the real megatron-core, with which the tests compare the count from settings.

    echo '[{"model.num_layers": 2, …}]' | PYTHON benchmarks/memory_count.py

PYTHON has torch, megatron-core and megatron-bridge. Every model of the list on standard input is built on the meta
device, with megatron-core's own layers; `[parameters, those of experts]` of each go to standard output.
"""

from __future__ import annotations

import importlib
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

WORKER = Path(__file__).resolve().parents[1] / "src" / "mfsdp_lint" / "dryrun" / "worker"


def main() -> None:
    """Read the settings, and print the counts."""
    worker = _worker()
    import torch
    from megatron.core import parallel_state
    from megatron.core.tensor_parallel.random import model_parallel_cuda_manual_seed

    with tempfile.TemporaryDirectory() as folder:
        torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=0, world_size=1)
        parallel_state.initialize_model_parallel()
        model_parallel_cuda_manual_seed(1)
        with torch.device("meta"):
            counts = [_count(worker, settings) for settings in json.load(sys.stdin)]
        torch.distributed.destroy_process_group()
    print(json.dumps(counts))


def _worker() -> Any:
    """Load the dry run's worker, in whose processes Megatron runs without a GPU."""
    sys.path.insert(0, str(WORKER))
    start = importlib.import_module("start")
    start.load_package()

    def part(name: str) -> Any:
        return importlib.import_module(f"{start.PACKAGE}.{name}")

    part("stand_ins").replace_cuda()
    part("stand_ins").import_upstream()
    part("training").import_bridge()
    return part


def _count(worker: Any, settings: Mapping[str, Any]) -> list[int]:
    without_weights = {"model.use_cpu_initialization": True, "model.perform_initialization": False}
    model = worker("build").build({**settings, **without_weights}).config.model
    model.transformer_layer_spec = lambda config: _block(worker, config)
    _predict_with_own_layers()
    if hasattr(model, "finalize"):
        model.finalize()
    model._pg_collection = _groups()
    built = model.provide(pre_process=True, post_process=True)
    counted = [(name, parameter.numel()) for name, parameter in built.named_parameters()]
    return [sum(size for _, size in counted), sum(size for name, size in counted if ".experts." in name)]


def _groups() -> Any:
    from megatron.core.process_groups_config import ProcessGroupCollection

    return ProcessGroupCollection.use_mpu_process_groups()


def _block(worker: Any, config: Any) -> Any:
    """Build every layer as its settings say, of megatron-core's own modules."""
    from megatron.core.models.gpt.gpt_layer_specs import get_gpt_decoder_block_spec

    spec = get_gpt_decoder_block_spec(config, use_transformer_engine=False, normalization=config.normalization)
    if config.multi_latent_attention:
        for layer in spec.layer_specs:
            layer.submodules.self_attention.submodules.core_attention = worker("proxy_model").plain_attention()
    return spec


def _predict_with_own_layers() -> None:
    """Use megatron-core's own modules in layers that predict further tokens, too: the provider offers no choice."""
    from megatron.core.models.gpt import gpt_layer_specs as specs

    real = specs.get_gpt_mtp_block_spec

    def ours(config: Any, spec: Any, use_transformer_engine: bool, **keywords: Any) -> Any:
        return real(config, spec, False, **keywords)

    specs.get_gpt_mtp_block_spec = ours


if __name__ == "__main__":
    main()
