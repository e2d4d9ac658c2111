"""Architectures of published Hugging Face models: reviewed facts.

Each is the `architectures` field of the model's config.json. The first pattern that matches counts. A model that is
not listed may have any architecture; nothing is concluded from names alone.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

ARCHITECTURES: tuple[tuple[str, str], ...] = (
    ("meta-llama/Llama-3.2-*Vision*", "MllamaForConditionalGeneration"),
    ("meta-llama/Llama-2-*", "LlamaForCausalLM"),
    ("meta-llama/Llama-3.*", "LlamaForCausalLM"),
    ("meta-llama/Meta-Llama-3*", "LlamaForCausalLM"),
    ("Qwen/Qwen2-Audio-*", "Qwen2AudioForConditionalGeneration"),
    ("Qwen/Qwen2-VL-*", "Qwen2VLForConditionalGeneration"),
    ("Qwen/Qwen2-57B-A14B*", "Qwen2MoeForCausalLM"),
    ("Qwen/Qwen2-*B*", "Qwen2ForCausalLM"),
    ("Qwen/Qwen2.5-VL-*", "Qwen2_5_VLForConditionalGeneration"),
    ("Qwen/Qwen2.5-Omni-*", "Qwen2_5OmniModel"),
    ("Qwen/Qwen2.5-*B*", "Qwen2ForCausalLM"),
    ("Qwen/Qwen3-Next-*", "Qwen3NextForCausalLM"),
    ("Qwen/Qwen3-Omni-*", "Qwen3OmniMoeForConditionalGeneration"),
    ("Qwen/Qwen3-VL-*-A*B*", "Qwen3VLMoeForConditionalGeneration"),
    ("Qwen/Qwen3-VL-*B*", "Qwen3VLForConditionalGeneration"),
    ("Qwen/Qwen3-*-A*B*", "Qwen3MoeForCausalLM"),
    ("Qwen/Qwen3-[0-9]*B*", "Qwen3ForCausalLM"),
    ("Qwen/Qwen3.5-*-A*B*", "Qwen3_5MoeForConditionalGeneration"),
    ("Qwen/Qwen3.5-[0-9]*B*", "Qwen3_5ForConditionalGeneration"),
    ("google/gemma-[27]b*", "GemmaForCausalLM"),
    ("google/gemma-2-*", "Gemma2ForCausalLM"),
    ("google/gemma-3-1b-*", "Gemma3ForCausalLM"),
    ("google/gemma-3-*b-*", "Gemma3ForConditionalGeneration"),
    ("deepseek-ai/DeepSeek-V2*", "DeepseekV2ForCausalLM"),
    ("deepseek-ai/DeepSeek-V3", "DeepseekV3ForCausalLM"),
    ("deepseek-ai/DeepSeek-V3-*", "DeepseekV3ForCausalLM"),
    ("deepseek-ai/DeepSeek-R1", "DeepseekV3ForCausalLM"),
    ("moonshotai/Moonlight-16B-A3B*", "DeepseekV3ForCausalLM"),
    ("openai/gpt-oss-*", "GptOssForCausalLM"),
    ("zai-org/GLM-4.5V*", "Glm4vMoeForConditionalGeneration"),
    ("zai-org/GLM-4.5*", "Glm4MoeForCausalLM"),
    ("mistralai/Mistral-7B-*", "MistralForCausalLM"),
    ("mistralai/Ministral-3-*-2512", "Mistral3ForConditionalGeneration"),
    ("nvidia/NVIDIA-Nemotron-Nano-*-v2-VL-*", "NemotronH_Nano_VL_V2"),
    ("nvidia/NVIDIA-Nemotron-Nano-*-v2*", "NemotronHForCausalLM"),
    ("nvidia/Nemotron-H-*", "NemotronHForCausalLM"),
    ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-*", "NemotronHForCausalLM"),
    ("allenai/OLMoE-1B-7B-*", "OlmoeForCausalLM"),
)


def architecture(model: str) -> str | None:
    """Return the architecture of a model by its id ("meta-llama/Llama-3.2-1B"), or None if it is not listed."""
    return next((name for pattern, name in ARCHITECTURES if fnmatchcase(model, pattern)), None)
