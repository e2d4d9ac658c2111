"""The estimate of activations against Megatron's own function, over a grid of layouts.

    python benchmarks/memory_activations.py MEGATRON_LM

MEGATRON_LM is a source tree of Megatron-LM: its `megatron/training/theoretical_memory_usage.py` is run as it stands,
without torch. The table goes to standard output; the exit code is 1 if a layout of the first part is off by more than
10 %.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import itertools
import sys
import types
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import Known
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.memory.activations import activations
from mfsdp_lint.memory.counting import model_of
from mfsdp_lint.memory.facts import SettingFacts, layout_of

MOST_OFF = 0.10

MODELS = {
    "Llama 3 8B": (32, 4096, 14336, 32, 8, 128256),
    "Llama 3 70B": (80, 8192, 28672, 64, 8, 128256),
    "Qwen 2.5 7B": (28, 3584, 18944, 28, 4, 152064),
    "GPT 3 175B": (96, 12288, 49152, 96, 96, 51200),
}
"""Layers, hidden size, width of the MLP, heads, query groups, words."""

USUAL: dict[str, Any] = {
    "model.__class__": "megatron.bridge.models.gpt_provider.GPTModelProvider",
    "model.transformer_layer_spec": "<function megatron.core.models.gpt.gpt_layer_specs.get_gpt_decoder_block_spec>",
    **dict.fromkeys(("model.should_pad_vocab", "model.multi_latent_attention", "model.add_bias_linear"), False),
    **dict.fromkeys(("model.num_moe_experts", "model.kv_channels", "model.recompute_method"), None),
    **dict.fromkeys(("model.expert_tensor_parallel_size", "model.pipeline_model_parallel_layout"), None),
    **dict.fromkeys(("model.num_layers_in_first_pipeline_stage", "model.num_layers_in_last_pipeline_stage"), None),
    "model.account_for_embedding_in_pipeline_split": False,
    "model.account_for_loss_in_pipeline_split": False,
    "model.normalization": "RMSNorm",
    "model.position_embedding_type": "rope",
    "model.context_parallel_size": 1,
    "model.expert_model_parallel_size": 1,
}


def main(megatron: str) -> int:
    """Compare, and print a line for each model and kind of layout."""
    real = _theory(Path(megatron))
    worst = 0.0
    print("| model | layouts | the same as Megatron's function | largest difference |")
    print("|---|---:|---:|---:|")
    for kind, sequence_parallel, granularity in KINDS:
        for name, sizes in MODELS.items():
            off = [_difference(real, sizes, sequence_parallel, granularity, *each) for each in _layouts(sizes)]
            largest = max(map(abs, off))
            if (sequence_parallel, granularity) != (True, None):
                worst = max(worst, largest)
            same = sum(abs(each) < 1e-9 for each in off)
            print(f"| {name}, {kind} | {len(off)} | {same} | {largest:.2%} |")
    return int(worst > MOST_OFF)


KINDS = (
    ("sequence parallel, selective recomputation", True, "selective"),
    ("neither", False, None),
    ("sequence parallel, no recomputation (Megatron's function overlooks the former)", True, None),
)


def _theory(tree: Path) -> types.ModuleType:
    """Load Megatron's module, whose only import is a function that prints."""
    package = types.ModuleType("theory")
    package.__path__ = []
    utils = types.ModuleType("theory.utils")
    utils.print_rank_0 = print  # type: ignore[attr-defined]
    utils.is_hybrid_model = lambda args: False  # type: ignore[attr-defined]
    sys.modules |= {"theory": package, "theory.utils": utils}
    file = tree / "megatron" / "training" / "theoretical_memory_usage.py"
    spec = importlib.util.spec_from_file_location("theory.usage", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _layouts(sizes: tuple[int, ...]) -> Iterator[tuple[int, int, int | None, int, int]]:
    """Yield tensor and pipeline sizes, virtual stages, tokens and micro-batch."""
    for tensor, pipeline, virtual, tokens, batch in itertools.product(
        (1, 2, 4, 8), (1, 2, 4), (None, 2), (4096, 32768), (1, 4)
    ):
        fits = sizes[0] % (pipeline * (virtual or 1)) == 0 and sizes[3] % tensor == 0
        if fits and (virtual is None or pipeline > 1):
            yield tensor, pipeline, virtual, tokens, batch


def _difference(
    real: types.ModuleType,
    sizes: tuple[int, ...],
    sequence_parallel: bool,
    granularity: str | None,
    tensor: int,
    pipeline: int,
    virtual: int | None,
    tokens: int,
    batch: int,
) -> float:
    layers, hidden, wide, heads, groups, words = sizes
    ranks, global_batch = 64, 256
    micro = global_batch // (batch * ranks // (tensor * pipeline))
    arguments = Namespace(
        num_layers=layers,
        hidden_size=hidden,
        ffn_hidden_size=wide,
        padded_vocab_size=words,
        seq_length=tokens,
        micro_batch_size=batch,
        tensor_model_parallel_size=tensor,
        pipeline_model_parallel_size=pipeline,
        virtual_pipeline_model_parallel_size=virtual,
    )
    with contextlib.redirect_stdout(io.StringIO()):
        by_the_table = sequence_parallel and granularity == "selective"
        function = real.compute_activation_memory if by_the_table else real.compute_activation_memory_without_sp
        expected = function(arguments, micro)
    settings = USUAL | {
        "model.num_layers": layers,
        "model.hidden_size": hidden,
        "model.ffn_hidden_size": wide,
        "model.num_attention_heads": heads,
        "model.num_query_groups": groups,
        "model.vocab_size": words,
        "model.seq_length": tokens,
        "model.sequence_parallel": sequence_parallel,
        "model.recompute_granularity": granularity,
        "model.tensor_model_parallel_size": tensor,
        "model.pipeline_model_parallel_size": pipeline,
        "model.virtual_pipeline_model_parallel_size": virtual,
        "train.micro_batch_size": batch,
        "train.global_batch_size": global_batch,
    }
    known = WrittenSettings.of({path: Known(value) for path, value in settings.items()})
    facts = SettingFacts(known)
    layout = layout_of(facts)
    model = model_of(facts, known, layout, resolve_target("0.3.1"))
    return float(activations(facts, model.shape, model.layers, layout, ranks).bytes / expected - 1)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
