"""Published sizes of models, as the bridges of all releases take them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import dedent

import pytest

from mfsdp_lint.core.files import PACKAGE
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known, Value
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.published import divisor_of_vocabulary, published
from mfsdp_lint.readers.python.read import read_python

WHEEL = Path(__file__).parents[2] / ".cache/megatron-bridge-0.3.1"
SOURCE = re.compile(r"(megatron-bridge \d+\.\d+\.\d+|[\w.-]+/[\w.-]+ at [0-9a-f]{40}), \S+")
"""A release of Megatron-Bridge, or a repository and its commit; and a file."""
FILES = sorted(Path(PACKAGE, "megatron", "published").glob("*.json"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_model_has_sizes_and_says_where_they_were_read(file: Path) -> None:
    for model, said in json.loads(file.read_text()).items():
        assert said.keys() - {"tokenizer"} == {"source", "sizes"}
        assert isinstance(said.get("tokenizer", 1), int)
        assert SOURCE.match(said["source"])
        assert model.count("/") == 1
        assert {"hidden_size", "num_layers"} <= said["sizes"].keys()


def test_a_size_may_depend_on_the_release() -> None:
    moonlight = published()["moonshotai/Moonlight-16B-A3B"]
    found = {release: moonlight.sizes_in(release)["q_lora_rank"] for release in ("0.2.0", "0.3.1", "0.4.2", "head")}
    assert found == {"0.2.0": None, "0.3.1": 512, "0.4.2": None, "head": None}
    assert "q_lora_rank" not in moonlight.sizes_in(None)
    assert moonlight.sizes_in(None)["num_layers"] == 27


def test_a_size_that_is_not_certain_in_a_release_is_left_out() -> None:
    small = published()["Qwen/Qwen3.5-4B"]
    assert "mtp_num_layers" not in small.sizes_in("0.4.2")
    assert small.sizes_in("0.6.0")["mtp_num_layers"] == 1


def test_no_model_is_in_two_files() -> None:
    assert len(published()) == sum(len(json.loads(file.read_text())) for file in FILES)


@pytest.mark.parametrize(("words", "divisor"), [(128256, 128), (32000, 128), (151936, 128), (50257, 1), (100, 4)])
def test_a_vocabulary_is_padded_by_the_largest_power_of_two_that_divides_it(words: int, divisor: int) -> None:
    assert divisor_of_vocabulary(words) == divisor


def read(tmp_path: Path, body: str) -> Recipe:
    """Read a recipe whose model is made by `body` of the bridge of the wheel."""
    text = f"""\
        from megatron.bridge import AutoBridge
        from megatron.bridge.recipes.llama.llama3 import llama3_8b_sft_config


        def ours():
            cfg = llama3_8b_sft_config()
            provider = AutoBridge.from_hf_pretrained({body}
            cfg.model = provider
            return cfg
        """
    file = tmp_path / "ours.py"
    file.write_text(dedent(text))
    (recipe,) = read_python([str(file)], Sources(), search_path=[str(WHEEL)]).recipes
    return recipe


MADE = ".to_megatron_provider(load_weights=False)"


def test_a_provider_of_a_published_model_has_its_sizes(tmp_path: Path) -> None:
    recipe = read(tmp_path, f'"Qwen/Qwen3-30B-A3B"){MADE}')
    sizes = {name: recipe.setting(f"model.{name}").value for name in ("num_layers", "num_moe_experts", "kv_channels")}
    assert sizes == {"num_layers": Known(48), "num_moe_experts": Known(128), "kv_channels": Known(128)}
    assert recipe.setting("model.make_vocab_size_divisible_by").value == Known(128)


@pytest.mark.parametrize("model", ["deepseek-ai/DeepSeek-V2-Lite", "moonshotai/Moonlight-16B-A3B"])
def test_a_provider_has_what_the_bridge_of_its_release_makes_of_a_size(model: str, tmp_path: Path) -> None:
    """Their configurations say null, of which the bridge of 0.3 makes the provider's default."""
    recipe = read(tmp_path, f'"{model}"){MADE}')
    assert recipe.setting("model.q_lora_rank").value == Known(512)


def test_the_program_has_the_last_word(tmp_path: Path) -> None:
    recipe = read(tmp_path, f'"meta-llama/Meta-Llama-3-8B"){MADE}\n            provider.num_layers = int(input())')
    assert recipe.setting("model.num_layers").value in (UNKNOWN, NOT_NONE)
    assert recipe.setting("model.hidden_size").value == Known(4096)


@pytest.mark.parametrize("model", ['"meta-llama/Llama-3.3-70B-Instruct"', '"/models/Meta-Llama-3-8B"', "input()"])
def test_sizes_of_other_models_stay_unknown(tmp_path: Path, model: str) -> None:
    recipe = read(tmp_path, f"{model}){MADE}")
    assert recipe.setting("model.num_layers").value in (UNKNOWN, NOT_NONE)


GEMMA = "google/gemma-3-1b-pt"
TOKENIZER = "tokenizer = AutoTokenizer.from_pretrained"
IMPORT = "from transformers import AutoTokenizer"
ADJUSTS = "provider.vocab_size = max(provider.vocab_size, len(tokenizer))"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([IMPORT, f'{TOKENIZER}("{GEMMA}")', ADJUSTS], Known(262145)),
        ([IMPORT, f'{TOKENIZER}("{GEMMA}")', "tokenizer.add_tokens(['a'])", ADJUSTS], NOT_NONE),
        ([IMPORT, f'{TOKENIZER}("{GEMMA}")', "from elsewhere import grow", "grow(tokenizer)", ADJUSTS], NOT_NONE),
        ([IMPORT, f"{TOKENIZER}(input())", ADJUSTS], NOT_NONE),
    ],
)
def test_the_tokenizer_of_a_published_model_has_its_length_until_something_is_done_with_it(
    tmp_path: Path, lines: list[str], words: Value
) -> None:
    recipe = read(tmp_path, "\n            ".join([f'"{GEMMA}"){MADE}', *lines]))
    assert recipe.setting("model.vocab_size").value == words
