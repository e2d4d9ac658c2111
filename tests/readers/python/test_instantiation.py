"""Objects that a configuration names by `_target_`: of hydra.utils.instantiate, and of Megatron-Bridge's from_yaml."""

from __future__ import annotations

from pathlib import Path

import pytest

from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.values import UNKNOWN, Known, Plain
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.python.read import read_python

CONFIG = """\
from dataclasses import dataclass, field
from elsewhere import elsewhere


@dataclass
class DDP:
    bucket_size: object = None
    use_megatron_fsdp: bool = False


@dataclass
class ConfigContainer:
    ddp: DDP = field(default_factory=DDP)

    @classmethod
    def from_yaml(cls, yaml_path, mode=None):
        return elsewhere(cls, yaml_path)
"""
HEAD = """\
import yaml
from hydra.utils import instantiate
from config import DDP, ConfigContainer
from elsewhere import where


def of(ddp):
    return ConfigContainer(ddp=ddp)


def recipe():
"""


def variant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, **files: str) -> Variant:
    monkeypatch.chdir(tmp_path)
    Path("config.py").write_text(CONFIG)
    Path("train.py").write_text(HEAD + body)
    for name, text in files.items():
        Path(f"{name}.yaml").write_text(text)
    (found,) = [each for each in read_python(["train.py"], Sources({})).recipes if each.name == "recipe"]
    return found.variants[0]


MADE: dict[str, tuple[str, Plain]] = {
    "a class": ("of(instantiate({'_target_': 'config.DDP', 'bucket_size': 7}))", 7),
    "of other arguments": ("of(instantiate({'_target_': 'config.DDP', 'bucket_size': 7}, bucket_size=8))", 8),
    "of arguments by position": ("of(instantiate({'_target_': 'config.DDP', '_args_': [9]}))", 9),
    "one within another": (
        "instantiate({'_target_': 'config.ConfigContainer', 'ddp': {'_target_': 'config.DDP', 'bucket_size': 7}})",
        7,
    ),
    "a call for later": ("of(instantiate({'_target_': 'config.DDP', '_partial_': True, 'bucket_size': 7})())", 7),
    "a name": ("of(DDP(instantiate({'_target_': 'config.DDP', '_call_': False}).__name__))", "DDP"),
    "what is plain stays so": ("of(DDP(instantiate({'size': 7, 'deep': {'size': 8}}).deep.size))", 8),
    "one within what is plain": ("of(instantiate({'ddp': {'_target_': 'config.DDP', 'bucket_size': 7}}).ddp)", 7),
    "nothing": ("of(DDP(instantiate(None)))", None),
}


@pytest.mark.parametrize(("made", "size"), MADE.values(), ids=MADE)
def test_what_a_target_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: str, size: Plain) -> None:
    assert variant(tmp_path, monkeypatch, f"    return {made}\n").value("ddp.bucket_size") == Known(size)


@pytest.mark.parametrize(
    "made", ["{'_target_': 'elsewhere.Thing'}", "{'_target_': 'config.DDP', '_recursive_': False, 'bucket_size': 7}"]
)
def test_what_is_not_at_hand_or_not_modelled_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: str
) -> None:
    body = f"    return of(DDP(instantiate({made})))\n"
    assert variant(tmp_path, monkeypatch, body).value("ddp.bucket_size") == UNKNOWN


WHOLE = "_target_: config.ConfigContainer\nddp:\n  _target_: config.DDP\n  bucket_size: 7\n  gone: 1\n"


def test_a_configuration_of_a_file_has_its_values_from_its_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = variant(tmp_path, monkeypatch, "    return ConfigContainer.from_yaml('run.yaml')\n", run=WHOLE)
    origin = found.origin("ddp.bucket_size")
    assert found.value("ddp.bucket_size") == Known(7)
    assert origin is not None
    assert any(span.path == "run.yaml" and span.line == 4 for span in origin.spans())


def test_a_configuration_of_a_file_that_is_not_known_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "    cfg = ConfigContainer.from_yaml(where())\n    cfg.ddp.use_megatron_fsdp = True\n    return cfg\n"
    assert variant(tmp_path, monkeypatch, body, run=WHOLE).value("ddp.bucket_size") == UNKNOWN
