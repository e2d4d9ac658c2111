"""Parameters of upstream's own recipes, counted from their settings, against models that are really built.

    python benchmarks/memory_recipes.py PYTHON RECIPES VERSION

PYTHON has torch, megatron-core and megatron-bridge 0.3.1; RECIPES is a folder of recipes of Megatron-Bridge VERSION.
Every recipe that `audit --memory` counts is built as a whole model on the meta device, with megatron-core's own layers
(benchmarks/memory_count.py), once for all that have the same sizes; of a multimodal model it is the language model.
Models that need packages for a GPU are told apart.
The table goes to standard output; the exit code is 1 if a number differs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from mfsdp_lint.commands import audit
from mfsdp_lint.commands.arguments import read_asked
from mfsdp_lint.core.recipe import Settings
from mfsdp_lint.core.values import Known
from mfsdp_lint.memory.counting import kind_of_layers
from mfsdp_lint.memory.estimate import memory
from mfsdp_lint.memory.facts import NotModelled, SettingFacts

COUNT = Path(__file__).with_name("memory_count.py")
BUILT = ("one kind", "by layer")
"""Kinds of layers that megatron-core builds without packages for a GPU."""
SIZES = (
    *("num_layers", "hidden_size", "ffn_hidden_size", "num_attention_heads", "num_query_groups", "kv_channels"),
    *("vocab_size", "should_pad_vocab", "make_vocab_size_divisible_by", "share_embeddings_and_output_weights"),
    *("add_qkv_bias", "add_bias_linear", "qk_layernorm", "normalization", "gated_linear_unit", "softmax_type"),
    *("position_embedding_type", "num_moe_experts", "moe_ffn_hidden_size", "moe_shared_expert_intermediate_size"),
    *("moe_router_topk", "moe_layer_freq", "mtp_num_layers", "multi_latent_attention", "q_lora_rank"),
    *("kv_lora_rank", "qk_head_dim", "qk_pos_emb_head_dim", "v_head_dim", "seq_length", "attention_output_gate"),
    "moe_shared_expert_gate",
)
NONE_SAYS_IT = ("q_lora_rank",)
"""Sizes of which None says something else than a plain provider's default."""
ALONE = dict.fromkeys(
    (f"model.{name}_parallel_size" for name in ("tensor_model", "pipeline_model", "context", "expert_model")), 1
)
PLAIN = {
    "model.persist_layer_norm": False,
    "model.masked_softmax_fusion": False,
    "model.bias_dropout_fusion": False,
    "model.apply_rope_fusion": False,
    "model.gradient_accumulation_fusion": False,
    "model.moe_token_dispatcher_type": "alltoall",
    "model.bf16": False,
    "model.rope_type": "rope",
}
"""Settings without which a model needs a GPU; they change no weight."""


def main(python: str, recipes: str, version: str) -> int:
    """Count, build, compare and print."""
    parser = argparse.ArgumentParser()
    audit.add_arguments(parser)
    options = ["--memory", "--world-size", "1024", "--target-bridge", version, "--isolated", "--no-cache"]
    asked, _, found = read_asked(parser.parse_args([recipes, *options]))
    counted: dict[str, tuple[dict[str, Any], int]] = {}
    told: Counter[str] = Counter()
    for recipe in found.recipes:
        settings = recipe.variants[0].settings
        count = memory(recipe, asked.target, 1024).count
        if count is None:
            told["not counted"] += 1
            continue
        try:
            kind, _ = kind_of_layers(SettingFacts(settings), settings, asked.target)
        except NotModelled:
            kind = None
        if kind not in BUILT:
            told["counted, but its layers need a GPU"] += 1
            continue
        counted[f"{recipe.path}::{recipe.name}"] = ({**dict(_sizes(settings)), **ALONE, **PLAIN}, count.total)
    shapes = list({json.dumps(settings, sort_keys=True): settings for settings, _ in counted.values()}.values())
    real = dict(zip(map(_key, shapes), _built(python, shapes), strict=True))
    wrong = 0
    print("| recipe | counted | built |\n|---|---:|---:|")
    for address, (settings, total) in sorted(counted.items(), key=lambda each: each[0].rpartition("::")[2]):
        built = real[_key(settings)]
        wrong += built != total
        print(f"| {address.rpartition('::')[2]} | {total:,} | {built:,} |{'' if built == total else ' differs'}")
    print(f"\n{len(counted)} recipes, {len(shapes)} models, {wrong} differ; {dict(told)}")
    return int(wrong > 0)


def _key(settings: Mapping[str, Any]) -> str:
    return json.dumps(settings, sort_keys=True)


def _sizes(settings: Settings) -> Iterator[tuple[str, Any]]:
    facts = SettingFacts(settings)
    for name in ("__class__", *SIZES):
        value = settings.value(f"model.{name}")
        if isinstance(value, Known) and (value.value is not None or name in NONE_SAYS_IT):
            yield f"model.{name}", value.value
    if set(facts.one_of("model.position_embedding_type")) <= {"rope", "yarn", "mrope"}:
        # Which angles positions turn by changes no weight, and a plain provider does not have all settings of them.
        yield "model.position_embedding_type", "rope"
    from_tokenizer = facts.get("model.vocab_size") is None
    if from_tokenizer or facts.on("model.should_pad_vocab"):
        # It is padded for the recipe's ranks, of which the model here has one.
        multiple = facts.size("model.make_vocab_size_divisible_by") * facts.size("model.tensor_model_parallel_size")
        yield "model.make_vocab_size_divisible_by", multiple
    if from_tokenizer and facts.known("tokenizer.tokenizer_type") == "NullTokenizer":
        yield from (("model.vocab_size", facts.size("tokenizer.vocab_size")), ("model.should_pad_vocab", True))


def _built(python: str, shapes: list[dict[str, Any]]) -> list[int]:
    """Build all models in one process, and return their numbers of parameters."""
    told = [{**shape, "model.__class__": _provider(shape)} for shape in shapes]
    done = subprocess.run([python, str(COUNT)], input=json.dumps(told), capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr[-3000:])
    return [total for total, _ in json.loads(done.stdout.splitlines()[-1])]


def _provider(shape: Mapping[str, Any]) -> str:
    """Name the plain provider of the same kind: that of a model may fetch what is on the hub."""
    latent = shape.get("model.multi_latent_attention")
    models = "megatron.bridge.models"
    return f"{models}.mla_provider.MLAModelProvider" if latent else f"{models}.gpt_provider.GPTModelProvider"


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
