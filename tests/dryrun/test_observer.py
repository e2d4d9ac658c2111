"""What a run shows beside its numbers. Upstream is made up here."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import pytest

from mfsdp_lint.dryrun.worker.measure import Observer


@dataclass
class Container:
    model: Any = None
    ddp: Any = None


def container() -> Container:
    """A configuration of classes of its own, for a watch changes the class."""

    @dataclass
    class Ddp:
        use_custom_fsdp: bool = False
        names: list[str] = field(default_factory=list)

    return Container(None, Ddp())


def upstream(code: str, **names: Any) -> None:
    """Runs code of Megatron."""
    exec(compile(code, "megatron/core/wrap.py", "exec"), {"__name__": "megatron.core.wrap", **names})


def test_what_is_put_in_the_place_of_a_setting_or_a_variable_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCCL_COLLNET_ENABLE", "1")
    config = container()
    observer = Observer(config, {}, ())
    config.ddp.use_custom_fsdp = True
    monkeypatch.delenv("NCCL_COLLNET_ENABLE")
    assert observer.report() == {"after.ddp.use_custom_fsdp": True, "after.env.NCCL_COLLNET_ENABLE": None}


def test_a_setting_is_read_when_megatrons_code_asks_for_it() -> None:
    config = container()
    observer = Observer(config, {}, ["ddp.use_custom_fsdp"])
    assert observer.report() == {"read.ddp.use_custom_fsdp": False}
    upstream("config.ddp.use_custom_fsdp", config=config)
    assert observer.report() == {"read.ddp.use_custom_fsdp": True}


def test_copies_comparisons_and_print_outs_read_nothing() -> None:
    config = container()
    observer = Observer(config, {}, ["ddp.use_custom_fsdp"])
    upstream("assert str(copy.deepcopy(ddp)); assert ddp == ddp", copy=copy, ddp=config.ddp)
    assert observer.report() == {"read.ddp.use_custom_fsdp": False}


def test_a_name_that_is_no_field_is_there_as_an_assignment_puts_it_there() -> None:
    config = container()
    observer = Observer(config, {"ddp.use_costum_fsdp": True}, ["ddp.use_costum_fsdp"])
    assert config.ddp.use_costum_fsdp is True
    assert observer.report() == {"read.ddp.use_costum_fsdp": False}
    upstream("getattr(config.ddp, 'use_costum_fsdp', None)", config=config)
    assert observer.report() == {"read.ddp.use_costum_fsdp": True}


def test_of_a_setting_that_nobody_has_nothing_is_said() -> None:
    assert Observer(container(), {}, ["ddp.nowhere", "peft.dim"]).report() == {}
