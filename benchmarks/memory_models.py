"""Parameters of upstream's own recipes, counted from their settings, against the models that the recipes really make.

    python benchmarks/memory_models.py PYTHON BRIDGE CORE CONFIGURATIONS VERSION

BRIDGE and CORE are source trees of Megatron-Bridge VERSION and of its megatron-core; PYTHON has torch, transformers as
that release needs it, and the other packages that its recipes import. CONFIGURATIONS is a folder with the published
configurations of models, ORGANIZATION--NAME_config.json. Every recipe that `audit --memory` counts is called, and the
(language) model of its provider is built on the meta device, for one rank and with the layers of Transformer Engine, of
which only the weights are stood in for. The exit code is 1 if a number differs.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ABSENT = ("transformer_engine", "triton", "mamba_ssm", "causal_conv1d", "fla")
ALONE = {
    **dict.fromkeys((f"{name}_parallel_size" for name in ("tensor_model", "pipeline_model", "context")), 1),
    **dict.fromkeys((f"expert_{name}_parallel_size" for name in ("model", "tensor")), 1),
    **dict.fromkeys(f"num_layers_in_{end}_pipeline_stage" for end in ("first", "last")),
    **dict.fromkeys((f"account_for_{what}_in_pipeline_split" for what in ("embedding", "loss")), False),
    **dict.fromkeys(("virtual_pipeline_model_parallel_size", "pipeline_model_parallel_layout")),
}
PLAIN = {
    **dict.fromkeys(("recompute_granularity", "recompute_modules", "recompute_method", "recompute_num_layers")),
    **dict.fromkeys(("fp8", "fp4", "moe_flex_dispatcher_backend"), None),
    **dict.fromkeys(("sequence_parallel", "overlap_moe_expert_parallel_comm", "delay_wgrad_compute"), False),
    **dict.fromkeys(("fine_grained_activation_offloading", "moe_shared_expert_overlap", "deterministic_mode"), False),
    **dict.fromkeys(("gradient_accumulation_fusion", "tp_comm_overlap", "perform_initialization"), False),
    **dict.fromkeys(("moe_router_padding_for_fp8", "moe_router_padding_for_quantization"), False),
    "moe_token_dispatcher_type": "alltoall",
    "cuda_graph_impl": "none",
    "dsa_kernel_backend": "none",
    "use_cpu_initialization": True,
}
"""Settings without which a model needs a GPU; they change no weight."""


def main(python: str, bridge: str, core: str, configurations: str, version: str) -> int:
    """Count, have the models built, compare and print."""
    recipes = Path(bridge, "src", "megatron", "bridge", "recipes")
    audit = [sys.executable, "-m", "mfsdp_lint", "audit", str(recipes), "--memory", "--world-size", "64", "--isolated"]
    environment = os.environ | {"PYTHONPATH": str(HERE.parent / "src")}
    options = ["--no-cache", "--target-bridge", version, "--output-format", "json"]
    done = subprocess.run([*audit, *options], capture_output=True, text=True, env=environment, check=True)
    counted = {}
    for recipe in json.loads(done.stdout)["recipes"]:
        if parameters := (recipe.get("memory") or {}).get("parameters"):
            counted[recipe["qualified_name"]] = parameters["total"]
    paths = [f"{bridge}/src", core, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "HF_HUB_OFFLINE": "1"}
    inside = [python, __file__, "inside", configurations]
    done = subprocess.run(inside, input=json.dumps(list(counted)), stdout=subprocess.PIPE, text=True, env=environment)
    built = json.loads(done.stdout.splitlines()[-1])
    not_built, differ = defaultdict(list), 0
    print("| recipe | counted | built |\n|---|---:|---:|")
    for name, total in sorted(counted.items(), key=lambda each: each[0].rpartition(".")[2]):
        short, found = name.rpartition(".")[2], built[name]
        if isinstance(found, str):
            not_built[found].append(short)
            continue
        differ += found != total
        print(f"| {short} | {total:,} | {found:,} |{'' if found == total else ' differs'}")
    numbers = [found for found in built.values() if isinstance(found, int)]
    print(f"\n{len(numbers)} recipes, {len(set(numbers))} models, {differ} differ")
    for why, names in not_built.items():
        print(f"{len(names)} not built: {why} ({', '.join(names[:3])}{', …' if len(names) > 3 else ''})")
    return int(differ > 0)


def inside(configurations: str) -> None:
    """Build the model of each recipe that standard input names; print its parameters, or why there is none."""
    started = _start(Path(configurations))
    found: dict[str, int | str] = {}
    for name in json.load(sys.stdin):
        try:
            with contextlib.redirect_stdout(sys.stderr):
                found[name] = _built(name, started)
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}".splitlines()[0][:150]
    print(json.dumps(found))


def _start(configurations: Path) -> Any:
    """Import upstream, with layers of Transformer Engine that have nothing but weights; return torch."""
    import typing

    import torch
    import transformers
    import typing_extensions

    typing.override = typing_extensions.override  # which Python 3.11 lacks
    worker = HERE.parent / "src" / "mfsdp_lint" / "dryrun" / "worker"
    sys.path.insert(0, str(worker))
    stand_ins = importlib.import_module("stand_ins")
    sys.path.remove(str(worker))
    # These would believe in the stand-in of triton.
    importlib.import_module("torch.utils._triton").has_triton_package = lambda *_, **__: False
    importlib.import_module("torch._inductor.compile_fx")
    finder = stand_ins._Finder()
    finder.roots = ABSENT
    sys.meta_path.append(finder)
    _weights(torch)
    stand_ins.replace_cuda()
    torch.cuda.current_device = lambda: "cpu"
    stand_ins.import_upstream()

    def configuration(name: str, *_: Any, **__: Any) -> Any:
        file = configurations / f"{str(name).replace('/', '--')}_config.json"
        if not file.exists():
            raise OSError(f"repository not found: no configuration of {name}")
        return _configuration(json.loads(file.read_text()), str(name))

    def tokenizer(name: str, *_: Any, **__: Any) -> Any:
        raise OSError(f"no tokenizer of {name} is at hand")

    transformers.AutoConfig.from_pretrained = staticmethod(configuration)
    transformers.AutoTokenizer.from_pretrained = staticmethod(tokenizer)
    from megatron.core import parallel_state
    from megatron.core.tensor_parallel.random import CudaRNGStatesTracker

    CudaRNGStatesTracker.fork = lambda *_, **__: contextlib.nullcontext()
    folder = tempfile.mkdtemp()
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=0, world_size=1)
    parallel_state.initialize_model_parallel()
    return torch


def _weights(torch: Any) -> None:
    """Put layers into the stand-ins of Transformer Engine, and of Mamba, that have weights alone."""
    from torch import nn

    class Layer(nn.Module):
        def add(self, name: str, *shape: int) -> None:
            self.register_parameter(name, nn.Parameter(torch.empty(*shape, device="meta")))

        def reset_parameters(self, *_: Any, **__: Any) -> None:
            """Do nothing: there are no numbers."""

    class Linear(Layer):
        def __init__(self, in_features: int, out_features: int, *_: Any, bias: bool = True, **__: Any) -> None:
            super().__init__()
            self.in_features, self.out_features, self.use_bias = in_features, out_features, bias
            self.add("weight", out_features, in_features)
            if bias:
                self.add("bias", out_features)

    class LayerNormLinear(Linear):
        def __init__(self, *sizes: Any, normalization: str = "LayerNorm", **keywords: Any) -> None:
            super().__init__(*sizes, **keywords)
            self.add("layer_norm_weight", self.in_features)
            if normalization == "LayerNorm":
                self.add("layer_norm_bias", self.in_features)

    class GroupedLinear(Layer):
        def __init__(
            self, num_gemms: int, in_features: int, out_features: int, *_: Any, bias: bool = True, **__: Any
        ) -> None:
            super().__init__()
            self.num_gemms, self.use_bias = num_gemms, bias
            for each in range(num_gemms):
                self.add(f"weight{each}", out_features, in_features)
                if bias:
                    self.add(f"bias{each}", out_features)

    class RMSNorm(Layer):
        def __init__(self, width: int | None = None, *_: Any, **keywords: Any) -> None:
            super().__init__()
            self.width = width or keywords.get("hidden_size") or keywords["normalized_shape"]
            self.add("weight", self.width)

    class LayerNorm(RMSNorm):
        def __init__(self, *sizes: Any, **keywords: Any) -> None:
            super().__init__(*sizes, **keywords)
            self.add("bias", self.width)

    class DotProductAttention(Layer):
        def __init__(self, heads: int = 0, *_: Any, softmax_type: str = "vanilla", **keywords: Any) -> None:
            super().__init__()
            if softmax_type == "learnable":
                self.add("softmax_offset", heads or keywords["num_attention_heads"])

    importlib.import_module("transformer_engine").__version__ = "2.17.0"
    layers = importlib.import_module("transformer_engine.pytorch")
    for each in (Linear, LayerNormLinear, GroupedLinear, RMSNorm, LayerNorm, DotProductAttention):
        setattr(layers, each.__name__, each)
    offload = importlib.import_module("transformer_engine.pytorch.cpu_offload")
    offload.get_cpu_offload_context = lambda *_, **__: (contextlib.nullcontext(), None)
    importlib.import_module("mamba_ssm.ops.triton.layernorm_gated").RMSNorm = RMSNorm


def _configuration(values: dict[str, Any], name: str = "") -> Any:
    """Make a configuration of a published one, of its own class if transformers has it."""
    from transformers import DeepseekV3Config, PretrainedConfig
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    values = {key: value for key, value in values.items() if key not in ("quantization_config", "auto_map")}
    kind = values.get("model_type")
    if kind == "kimi_k2":  # whose class is in the model's own repository
        made = DeepseekV3Config.from_dict({key: value for key, value in values.items() if key != "model_type"})
        made.model_type = kind
    elif kind in CONFIG_MAPPING:
        made = CONFIG_MAPPING[kind].from_dict(values)
    else:
        made = PretrainedConfig()
        for key, value in values.items():
            is_part = isinstance(value, dict) and key.endswith("config")
            object.__setattr__(made, key, _configuration(value) if is_part else value)
    made._name_or_path = name
    return made


def _built(name: str, torch: Any) -> int:
    """Return the number of parameters in the model of a recipe. Raises whatever the recipe, or the model, raises."""
    from megatron.core.process_groups_config import ProcessGroupCollection

    module, _, function = name.rpartition(".")
    recipe = getattr(importlib.import_module(module), function)()
    model = recipe.model
    if getattr(model, "vocab_size", 0) is None:
        # Start-up takes it from the tokenizer, and pads it.
        model.vocab_size, model.should_pad_vocab = _words(recipe.tokenizer), True
    # It is padded for the recipe's ranks, of which the model here has one.
    model.make_vocab_size_divisible_by *= model.tensor_model_parallel_size
    for setting, value in {**ALONE, **PLAIN}.items():
        if hasattr(model, setting):
            setattr(model, setting, value)
    if hasattr(model, "finalize"):
        model.finalize()
    model._pg_collection = ProcessGroupCollection.use_mpu_process_groups()
    with torch.device("meta"):
        make = getattr(model, "provide_language_model", None) or model.provide
        made = make(pre_process=True, post_process=True)
    return sum(parameter.numel() for parameter in made.parameters())


def _words(tokenizer: Any) -> int:
    from transformers import AutoConfig

    if tokenizer.tokenizer_type == "NullTokenizer":
        return int(tokenizer.vocab_size)
    return int(AutoConfig.from_pretrained(tokenizer.tokenizer_model).vocab_size)


if __name__ == "__main__":
    if sys.argv[1:2] == ["inside"]:
        inside(sys.argv[2])
    elif len(sys.argv) == 6:
        sys.exit(main(*sys.argv[1:]))
    else:
        sys.exit(__doc__)
