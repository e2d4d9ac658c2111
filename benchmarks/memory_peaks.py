"""The estimate of activations against the peak that torch's profiler sees while small real models train on a CPU.

    python benchmarks/memory_peaks.py PYTHON

PYTHON has torch, megatron-core and megatron-bridge, and builds GPTModels of megatron-core's own layers, in bf16, on one
rank. Two kernels that only a GPU has are replaced by such as keep the same: torch's fused attention takes the place of
Transformer Engine's, and RMSNorm keeps its input alone. Weights and gradients are there before. *Kept* is what autograd
holds when the backward pass begins; *peak* is the most that is allocated at once in a forward and a backward pass
(`torch.profiler`, `profile_memory`). The parts of what is kept go to standard error.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

GPT: dict[str, Any] = {
    "model.__class__": "megatron.bridge.models.gpt_provider.GPTModelProvider",
    "model.num_layers": 8,
    "model.hidden_size": 256,
    "model.ffn_hidden_size": 1024,
    "model.vocab_size": 512,
    "model.num_attention_heads": 4,
    "model.num_query_groups": 4,
    "model.seq_length": 512,
    "model.bf16": True,
    "model.params_dtype": "torch.bfloat16",
    "model.should_pad_vocab": False,
    "model.normalization": "LayerNorm",
    "model.add_bias_linear": True,
    "model.gated_linear_unit": False,
    "model.position_embedding_type": "learned_absolute",
    "model.attention_dropout": 0.0,
    "model.hidden_dropout": 0.1,
    "model.masked_softmax_fusion": False,
}
LLAMA = GPT | {
    "model.normalization": "RMSNorm",
    "model.add_bias_linear": False,
    "model.gated_linear_unit": True,
    "model.activation_func": "<function torch.nn.functional.silu>",
    "model.bias_activation_fusion": True,
    "model.position_embedding_type": "rope",
    "model.hidden_dropout": 0.0,
    "model.ffn_hidden_size": 896,
    "model.num_query_groups": 1,
}
EXPERTS = {
    "model.moe_layer_freq": 1,
    "model.moe_shared_expert_intermediate_size": None,
    "model.num_moe_experts": 4,
    "model.moe_router_topk": 2,
    "model.moe_ffn_hidden_size": 512,
}
MODELS = {
    "GPT 3's kind": GPT,
    "the same, all layers recomputed one by one": GPT
    | {"model.recompute_granularity": "full", "model.recompute_method": "uniform", "model.recompute_num_layers": 1},
    "the same, half of the layers recomputed": GPT
    | {"model.recompute_granularity": "full", "model.recompute_method": "block", "model.recompute_num_layers": 4},
    "the same, 16 layers": GPT | {"model.num_layers": 16},
    "the same, hidden size 512": GPT | {"model.hidden_size": 512, "model.ffn_hidden_size": 2048},
    "Llama 3's kind": LLAMA,
    "Mixtral's kind, two of four experts": LLAMA | EXPERTS,
    "GPT 3's kind, wide vocabulary": GPT | {"model.vocab_size": 8192},
}
TOKENS, BATCH = 512, 2


def main(python: str) -> None:
    """Compare, and print a line for each model."""
    root = Path(__file__).resolve().parents[1]
    sys.path[:0] = [str(root), str(root / "src")]
    from benchmarks.memory_activations import USUAL
    from mfsdp_lint.core.settings import WrittenSettings
    from mfsdp_lint.core.values import Known
    from mfsdp_lint.megatron.versions import resolve_target
    from mfsdp_lint.memory.activations import activations
    from mfsdp_lint.memory.counting import model_of
    from mfsdp_lint.memory.facts import SettingFacts, layout_of

    environment = {**os.environ, "TORCHDYNAMO_DISABLE": "1", "OMP_NUM_THREADS": "1"}
    asked = json.dumps(list(MODELS.values()))
    done = subprocess.run(
        [python, __file__, "--measure"], input=asked, capture_output=True, text=True, env=environment, check=False
    )
    if done.returncode != 0:
        sys.exit(done.stderr)
    print("| model | estimate | kept | peak | estimate against the peak |")
    print("|---|---:|---:|---:|---:|")
    run = {"model.tensor_model_parallel_size": 1, "model.pipeline_model_parallel_size": 1}
    run |= {"model.sequence_parallel": False, "model.virtual_pipeline_model_parallel_size": None}
    run |= {"model.recompute_granularity": None, "train.micro_batch_size": BATCH, "train.global_batch_size": BATCH}
    for (name, model), (kept, peak, parts) in zip(MODELS.items(), json.loads(done.stdout), strict=True):
        known = WrittenSettings.of({path: Known(value) for path, value in {**USUAL, **run, **model}.items()})
        facts = SettingFacts(known)
        layout = layout_of(facts)
        counted = model_of(facts, known, layout, resolve_target("0.3.1"))
        estimate = activations(facts, counted.shape, counted.layers, layout, 1).bytes
        sizes = " | ".join(f"{size / 1e6:.1f} MB" for size in (estimate, kept, peak))
        print(f"| {name} | {sizes} | {estimate / peak - 1:+.1%} |")
        print(*(f"    {size / 1e6:6.2f} MB {part}" for part, size in parts), sep="\n", file=sys.stderr)


def measure() -> None:
    """Train the models on standard input, and print the bytes that are kept, the peak, and the largest kept parts."""
    sys.path.insert(0, str(Path(__file__).parent))
    import memory_count

    worker = memory_count._worker()
    import torch
    from megatron.core import parallel_state
    from megatron.core.tensor_parallel.random import model_parallel_cuda_manual_seed
    from torch.utils.checkpoint import checkpoint

    class Attention(torch.nn.Module):  # type: ignore[misc]
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__()

        def forward(self, *heads: Any, **named: Any) -> Any:
            query, key, value = (each.permute(1, 2, 0, 3) for each in heads[:3])
            attend = torch.nn.functional.scaled_dot_product_attention
            out = attend(query, key, value, is_causal=True, enable_gqa=True)
            return out.permute(2, 0, 1, 3).flatten(2)

    def block(config: Any) -> Any:
        spec = memory_count._block(worker, config)
        for layer in spec.layer_specs:
            layer.submodules.self_attention.submodules.core_attention = Attention
        return spec

    def one(settings: dict[str, Any]) -> tuple[int, int, list[tuple[str, int]]]:
        provider = worker("build").build({**settings, "model.use_cpu_initialization": True}).config.model
        provider.transformer_layer_spec = block
        provider.finalize()
        provider._pg_collection = memory_count._groups()
        model = provider.provide(pre_process=True, post_process=True).to(torch.bfloat16)
        for parameter in model.parameters():
            parameter.grad = torch.zeros_like(parameter)
        words = torch.randint(0, settings["model.vocab_size"], (BATCH, TOKENS))
        positions = torch.arange(TOKENS).expand(BATCH, TOKENS)
        for module in model.modules():
            if isinstance(module, torch.nn.RMSNorm):  # of torch, it keeps two copies of its input in 32 bits
                module.forward = partial(checkpoint, module.forward, use_reentrant=True)
        own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
        kept: dict[int, tuple[str, int]] = {}

        def keep(tensor: Any) -> Any:
            storage, frame = tensor.untyped_storage(), sys._getframe(1)
            if storage.data_ptr() not in own:
                while frame.f_back and "megatron" not in frame.f_code.co_filename:
                    frame = frame.f_back
                place = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno} {tensor.dtype}"
                kept.setdefault(storage.data_ptr(), (place, storage.nbytes()))
            return tensor

        def forward() -> Any:
            return model(words, positions, None, labels=words).float().mean()

        forward().backward()
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            loss = forward()
        loss.backward()
        del loss
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
            forward().backward()
        now = peak = 0
        for event in profile.profiler.kineto_results.events():
            if event.name() == "[memory]":
                now += event.nbytes()
                peak = max(peak, now)
        parts: dict[str, int] = {}
        for place, size in kept.values():
            parts[place] = parts.get(place, 0) + size
        return sum(parts.values()), peak, sorted(parts.items(), key=lambda each: -each[1])[:12]

    with tempfile.TemporaryDirectory() as folder:
        torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=0, world_size=1)
        parallel_state.initialize_model_parallel()
        model_parallel_cuda_manual_seed(1)
        measured = [one(settings) for settings in json.load(sys.stdin)]
        torch.distributed.destroy_process_group()
    print(json.dumps(measured))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(measure() if sys.argv[1] == "--measure" else main(sys.argv[1]))
