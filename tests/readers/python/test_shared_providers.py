"""Providers of Hugging Face models are worked out once for all readings of the same texts, and never for other ones."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import Known, OneOf, Value
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.readers.python.state.interpreter import Interpreter

BRIDGE = """\
from megatron.bridge.models.conversion.model_bridge import MegatronModelBridge
from megatron.bridge.utils.{name} import STAGES
from megatron.bridge.models.provider import Provider


@MegatronModelBridge.register_bridge(source="{source}", target="GPTModel")
class {name}Bridge(MegatronModelBridge):
    def provider_bridge(self, hf_pretrained):
        return Provider(pipeline_model_parallel_size=STAGES, modules=["core_attn"])
"""
FILES = {
    "megatron/bridge/models/conversion/auto_bridge.py": """\
        class AutoBridge:
            @classmethod
            def from_hf_pretrained(cls, name):
                return cls()

            def to_megatron_provider(self):
                return None
        """,
    "megatron/bridge/models/conversion/model_bridge.py": """\
        class MegatronModelBridge:
            @staticmethod
            def register_bridge(source, target):
                return lambda cls: cls
        """,
    "megatron/bridge/models/provider.py": """\
        from dataclasses import dataclass


        @dataclass
        class Provider:
            pipeline_model_parallel_size: int = 1
            modules: list | None = None
        """,
    "megatron/bridge/models/llama/llama_bridge.py": BRIDGE.format(name="llama", source="LlamaForCausalLM"),
    "megatron/bridge/utils/llama.py": "STAGES = 2\n",
    "megatron/bridge/models/qwen/qwen_bridge.py": BRIDGE.format(name="qwen", source="Qwen2ForCausalLM"),
    "megatron/bridge/utils/qwen.py": "STAGES = 4\n",
    "megatron/bridge/training/config.py": """\
        from dataclasses import dataclass
        from typing import Any


        @dataclass
        class ConfigContainer:
            model: Any
        """,
    "llama.py": """\
        from megatron.bridge.models.conversion.auto_bridge import AutoBridge
        from megatron.bridge.training.config import ConfigContainer


        def recipe():
            provider = AutoBridge.from_hf_pretrained("meta-llama/Llama-3.2-1B").to_megatron_provider()
            return ConfigContainer(model=provider)
        """,
}
FILES["qwen.py"] = FILES["llama.py"].replace("meta-llama/Llama-3.2-1B", "Qwen/Qwen2.5-7B")
STAGES = "model.pipeline_model_parallel_size"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(dedent(text))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> list[Interpreter]:
    """The interpreters that were made to work providers out by themselves."""
    made: list[Interpreter] = []
    anew = Interpreter.anew

    def noted(interp: Interpreter) -> Interpreter:
        made.append(anew(interp))
        return made[-1]

    monkeypatch.setattr(Interpreter, "anew", noted)
    return made


def stages(sources: Sources, name: str, texts: Mapping[str, str] | None = None) -> Value:
    (recipe,) = recipes(sources if texts is None else sources.with_texts(texts), name)
    return recipe.setting(STAGES).value


def recipes(sources: Sources, name: str) -> list[Recipe]:
    return read_python([f"{name}.py"], sources, search_path=["."]).recipes


def test_two_readings_of_the_same_texts_work_it_out_once(folder: Path, alone: list[Interpreter]) -> None:
    sources = Sources()
    assert [stages(sources, "llama"), stages(sources, "llama")] == [Known(2), Known(2)]
    assert len(alone) == 1


def test_other_models_are_worked_out_beside_it(folder: Path, alone: list[Interpreter]) -> None:
    sources = Sources()
    assert [stages(sources, "llama"), stages(sources, "qwen")] == [Known(2), Known(4)]
    assert len(alone) == 1


def test_readings_that_ask_for_other_files_of_upstream_share_it_by_what_they_ask_for(
    folder: Path, alone: list[Interpreter]
) -> None:
    sources = Sources()

    def asking_for_upstream() -> Value:
        paths = ["llama.py", "megatron/bridge/utils/llama.py"]
        (recipe,) = read_python(paths, sources, search_path=["."]).recipes
        return recipe.setting(STAGES).value

    assert [asking_for_upstream(), stages(sources, "llama")] == [Known(2), Known(2)]
    assert [asking_for_upstream(), stages(sources, "llama")] == [Known(2), Known(2)]
    assert len(alone) == 2


def test_a_changed_file_of_upstream_changes_it_and_is_forgotten_with_the_change(folder: Path) -> None:
    sources = Sources()
    changed = {"megatron/bridge/utils/llama.py": "STAGES = 8\n"}
    found = [stages(sources, "llama"), stages(sources, "llama", changed), stages(sources, "llama")]
    assert found == [Known(2), Known(8), Known(2)]


def test_what_was_not_read_at_first_is_read_as_it_is_then(folder: Path) -> None:
    sources = Sources()
    changed = {"megatron/bridge/utils/qwen.py": "STAGES = 8\n"}
    assert stages(sources, "llama", changed) == Known(2)
    assert [stages(sources, "qwen"), stages(sources, "qwen", changed)] == [Known(4), Known(8)]


def test_a_changed_recipe_changes_nothing_of_it(folder: Path, alone: list[Interpreter]) -> None:
    sources = Sources()
    changed = {"llama.py": dedent(FILES["llama.py"]).replace("    return", "    # edited\n    return")}
    assert [stages(sources, "llama"), stages(sources, "llama", changed)] == [Known(2), Known(2)]
    assert len(alone) == 1


def test_a_program_that_patches_upstream_has_a_provider_of_its_own(folder: Path) -> None:
    patch = """\
        from megatron.bridge.models.llama import llama_bridge

        llama_bridge.STAGES = 16
        """
    sources = Sources()
    patched = {"llama.py": dedent(patch) + dedent(FILES["llama.py"])}
    found = [stages(sources, "llama"), stages(sources, "llama", patched), stages(sources, "llama")]
    assert found == [Known(2), Known(16), Known(2)]


def test_each_recipe_has_a_copy_of_its_own(folder: Path) -> None:
    text = dedent(FILES["llama.py"])
    other = text.replace("def recipe", "def other").replace(
        "    return", "    provider.modules.append('mlp')\n    return"
    )
    (folder / "llama.py").write_text(text + "\n\n" + other[other.index("def") :])
    first, second = recipes(Sources(), "llama")
    assert [each.setting("model.modules").value for each in (first, second)] == [
        Known(["core_attn"]),
        Known(["core_attn", "mlp"]),
    ]


def test_doubts_about_the_environment_count_only_where_a_function_asks_for_a_variable(
    folder: Path, alone: list[Interpreter]
) -> None:
    asks = """\
        import os

        STAGES = 8 if os.environ.get("DEEP") == "1" else 2


        def stages():
            return 16 if os.environ.get("WIDE", "0") == "1" else 4
        """
    bridge = FILES["megatron/bridge/models/qwen/qwen_bridge.py"]
    bridge = bridge.replace("utils.qwen import STAGES", "utils.llama import stages").replace("=STAGES", "=stages()")
    (folder / "megatron/bridge/utils/llama.py").write_text(dedent(asks))
    (folder / "megatron/bridge/models/qwen/qwen_bridge.py").write_text(bridge)
    sources = Sources()
    followed_no_further = """
    for step in steps():
        if step:
            break
    """

    def unsure_and_sure(name: str) -> list[Value]:
        text = dedent(FILES[f"{name}.py"])
        unsure = "from outside import steps\n" + text.replace("\n    provider", f"{followed_no_further}provider")
        return [stages(sources, name, {f"{name}.py": each}) for each in (unsure, text, unsure)]

    assert unsure_and_sure("llama") == [Known(2)] * 3
    assert unsure_and_sure("qwen") == [OneOf((16, 4)), Known(4), OneOf((16, 4))]
    assert len(alone) == 1
