"""The steps of start-up: the form of their data, and what the shipped ones say of every release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from mfsdp_lint import checkout
from mfsdp_lint.core.front_ends import MEGATRON_LM
from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known, OneOf, Plain, Value
from mfsdp_lint.megatron import startup
from mfsdp_lint.megatron.conditions import Site
from mfsdp_lint.megatron.startup import StartupError, StartupStep, nearest
from mfsdp_lint.megatron.startup.resolve import resolve
from mfsdp_lint.megatron.versions import RELEASES, Target, resolve_target
from mfsdp_lint.rules.judging import variant_of

TARGETS = [resolve_target(release.bridge) for release in RELEASES]
CORES = ("0.12.0", "0.13.1", "0.14.0", "0.15.3", "0.16.1", "0.17.1", "0.18.2", "0.19.0", "0.20.0.dev")


def steps(found: tuple[StartupStep, ...]) -> Iterator[StartupStep]:
    for step in found:
        yield step
        yield from steps(step.steps)


def at_core(core: str, te: str | None = None) -> Target:
    return replace(resolve_target("head"), core=core, te=te)


# -- what is shipped ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.bridge)
def test_every_step_has_upstreams_line_at_every_release(target: Target) -> None:
    found = list(steps(startup.startup(target)))
    assert {step.phase for step in found} == {"update", "validation", "wrap"}
    for step in found:
        assert step.name
        assert step.place is not None, step.name
        assert step.place.path.startswith("megatron/")
        assert step.place.line > 1
        if target.bridge == target.data:
            assert step.place.release in (f"megatron-bridge {target.bridge}", f"megatron-core {target.core}"), step.name


@pytest.mark.parametrize("core", CORES)
def test_so_it_has_for_the_command_line(core: str) -> None:
    found = list(steps(startup.startup(at_core(core), MEGATRON_LM)))
    assert found
    version = "head" if core == "0.20.0.dev" else core[:4]
    for step in found:
        assert step.place is not None, step.name
        assert step.place.path == "megatron/training/arguments.py"
        assert step.place.release.startswith(f"megatron-core {version}")


def test_compiled_they_are_what_is_edited() -> None:
    assert dict(startup.raw_steps()) == checkout.startup()


# -- Megatron-LM's command line -------------------------------------------------------------------------------------


def runs(settings: dict[str, Plain], core: str, te: str | None = None) -> dict[str, Value]:
    found = resolve(variant_of(settings), at_core(core, te), front_end=MEGATRON_LM).changed()
    return {path: change.after for path, change in found.items()}


FSDP: dict[str, Plain] = {
    "ddp.use_megatron_fsdp": True,
    "ddp.use_distributed_optimizer": False,
    "ddp.reuse_grad_buf_for_mxfp8_param_ag": True,
    "ddp.fsdp_manual_registration": False,
    "ddp.fsdp_double_buffer": False,
    "ddp.megatron_fsdp_version": 1,
    "ddp.nccl_ub": True,
    "optimizer.optimizer": "adam",
    "args.freeze_all_layers": False,
}


@pytest.mark.parametrize(
    ("core", "lost"),
    [
        ("0.13.0", {}),
        ("0.16.1", {}),
        (
            "0.18.2",
            {
                "ddp.use_distributed_optimizer": True,
                "ddp.reuse_grad_buf_for_mxfp8_param_ag": False,
                "ddp.fsdp_manual_registration": True,
            },
        ),
        (
            "0.19.0",
            {
                "ddp.use_distributed_optimizer": True,
                "ddp.reuse_grad_buf_for_mxfp8_param_ag": False,
                "ddp.fsdp_manual_registration": True,
                "ddp.fsdp_double_buffer": True,
            },
        ),
    ],
)
def test_the_command_line_overwrites_its_own(core: str, lost: dict[str, bool]) -> None:
    assert runs(FSDP, core) == {path: Known(value) for path, value in lost.items()}


def test_megatron_bridges_start_up_is_not_that_of_the_command_line() -> None:
    settings = FSDP | {"dist.use_megatron_fsdp": False}
    assert "dist.use_megatron_fsdp" not in runs(settings, "0.19.0")


PIPELINE: dict[str, Plain] = {
    "args.num_layers_per_virtual_pipeline_stage": None,
    "args.num_virtual_stages_per_pipeline_rank": None,
    "args.hybrid_layer_pattern": None,
    "args.hybrid_override_pattern": None,
    "model.pipeline_model_parallel_layout": None,
    "model.overlap_p2p_comm": True,
    "model.batch_p2p_comm": False,
    "ddp.align_param_gather": True,
}


@pytest.mark.parametrize("core", CORES)
def test_without_an_interleaved_schedule_stages_do_not_overlap(core: str) -> None:
    assert runs(PIPELINE, core) == {
        "model.overlap_p2p_comm": Known(False),
        "model.batch_p2p_comm": Known(True),
        "ddp.align_param_gather": Known(False),
    }
    assert runs(PIPELINE | {"args.num_virtual_stages_per_pipeline_rank": 2}, core) == {}


def test_a_pattern_of_hybrid_layers_may_interleave_the_schedule() -> None:
    hybrid = PIPELINE | {"args.hybrid_layer_pattern": "M*M-|M*M-"}
    assert "model.overlap_p2p_comm" in runs(hybrid, "0.16.1")  # which has no such flag
    assert runs(hybrid, "0.19.0") == {}


@pytest.mark.parametrize("core", ["0.17.1", "0.18.2", "0.19.0", "0.20.0.dev"])
def test_a_save_that_blocks_is_written_by_megatron_itself(core: str) -> None:
    saving: dict[str, Plain] = {"checkpoint.async_save": False, "checkpoint.async_strategy": "nvrx"}
    assert runs(saving, core) == {"checkpoint.async_strategy": Known("mcore")}
    later = saving | {"checkpoint.async_save": True, "checkpoint.use_persistent_ckpt_worker": True}
    assert runs(later, core) == {}


def test_only_emerging_optimizers_are_spread_by_layers() -> None:
    spread: dict[str, Plain] = {
        "optimizer.optimizer": "adam",
        "optimizer.use_layer_wise_distributed_optimizer": True,
        "optimizer.use_distributed_optimizer": True,
        "ddp.use_megatron_fsdp": False,
        "args.freeze_all_layers": False,
    }
    off = {"optimizer.use_layer_wise_distributed_optimizer": Known(False)}
    assert runs(spread, "0.19.0") == off
    assert runs(spread, "0.17.1") == {}
    muon = spread | {"optimizer.optimizer": "muon", "optimizer.use_layer_wise_distributed_optimizer": False}
    assert runs(muon, "0.19.0")["optimizer.use_layer_wise_distributed_optimizer"] == Known(True)
    assert runs(muon, "0.19.0")["optimizer.use_distributed_optimizer"] == Known(False)


def test_fsdp_communicates_on_streams_of_high_priority() -> None:
    groups = "dist.high_priority_stream_groups"
    asked: dict[str, Plain] = {groups: ["cp"], "dist.use_torch_fsdp2": True, "model.expert_model_parallel_size": 1}
    assert runs(asked, "0.16.1") == {groups: Known(["cp", "dp_cp"])}
    assert runs(asked, "0.12.0") == {}
    assert runs(asked | {"model.expert_model_parallel_size": 2}, "0.16.1") == {groups: Known(["cp", "dp_cp", "ep_dp"])}
    assert runs(asked | {groups: ["dp_cp"]}, "0.16.1") == {}
    # Megatron-FSDP needs them on Blackwell and later, and nobody says which GPU there is.
    megatron = asked | {"dist.use_torch_fsdp2": False, "ddp.use_megatron_fsdp": True}
    assert runs(megatron, "0.16.1")[groups] == UNKNOWN


def test_version_2_leaves_the_distributed_optimizer_alone() -> None:
    settings = FSDP | {"ddp.megatron_fsdp_version": 2}
    assert "ddp.use_distributed_optimizer" not in runs(settings, "0.20.0.dev")


def test_sequence_parallelism_without_tensor_parallelism_is_off() -> None:
    settings: dict[str, Plain] = {"model.tensor_model_parallel_size": 1, "model.sequence_parallel": True}
    assert runs(settings, "0.19.0") == {"model.sequence_parallel": Known(False)}


def test_where_a_version_decides_that_nobody_knows_it_is_one_of_both() -> None:
    settings: dict[str, Plain] = {"dist.use_torch_fsdp2": True, "ddp.fp8_param_gather": True}
    assert runs(settings, "0.19.0", te="2.3") == {"ddp.fp8_param_gather": Known(False)}
    assert runs(settings, "0.19.0", te="1.13") == {}
    assert runs(settings, "0.19.0") == {"ddp.fp8_param_gather": OneOf((True, False))}


# -- the form -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "known", "asked"),
    [
        ("0.4.1", ("0.3.1", "0.4.0", "0.4.2"), "0.4.0"),
        ("0.4.5", ("0.3.1", "0.4.0", "0.4.2"), "0.4.2"),
        ("0.3.0", ("0.2.0", "0.3.1", "0.4.2"), "0.3.1"),
        ("0.5.0", ("0.2.0", "0.4.2", "0.6.0"), "0.4.2"),
        ("0.1.0", ("0.2.0", "0.3.1"), "0.2.0"),
        ("head", ("0.6.0", "head"), "head"),
        ("0.20.0.dev", ("0.19.0", "head"), "head"),
        ("0.20.0.dev", ("0.18.0", "0.19.0"), "0.19.0"),
    ],
)
def test_a_release_without_data_uses_its_nearest_neighbours(version: str, known: tuple[str, ...], asked: str) -> None:
    assert nearest(version, known) == asked


def test_a_step_may_set_what_nobody_can_spell() -> None:
    assert after({"set": {"a.b": {"set": True}}}) == {"a.b": NOT_NONE}
    assert after({"set": {"a.b": {"unknown": True}}}) == {"a.b": UNKNOWN}
    assert after({"set": {"a.b": {"from": "a.c"}, "a.c": 1}}) == {"a.b": Known(2), "a.c": Known(1)}


def test_an_element_of_a_list_may_be_left_out() -> None:
    assert after({"set": {"a.d": {"list": "a.d", "split": ",", "without": "x"}}}) == {"a.d": Known(["y"])}


def after(step: dict[str, Any]) -> dict[str, Value]:
    """What one step of start-up writes."""
    here = Site(resolve_target("0.4.2"))
    (found,) = startup.steps_of({"bridge": [{"name": "x", "phase": "update", **step}]}, {}, here)
    written = variant_of({"a.b": None, "a.c": 2, "a.d": "x,y"})
    return {path: source(written.value) for path, source in found.writes}


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        ({"name": "x", "set": {}}, "x: there is no phase None"),
        ({"name": "x", "phase": "later"}, "x: there is no phase later"),
        ({"name": "x", "phase": "wrap", "sett": {}}, "x: unknown field 'sett'"),
        ({"name": "x", "phase": "wrap", "when": "a +"}, "x: not a condition: a +"),
        ({"name": "x", "phase": "wrap", "set": {"a.b": {"form": "c.d"}}}, "a.b: {'form': 'c.d'} is no value"),
        ({"name": "x", "phase": "wrap", "evidence": {"0.2.0": "config.py"}}, "expected `bridge PATH:LINE` or "),
    ],
)
def test_data_that_has_not_the_form_is_refused(step: dict[str, Any], problem: str) -> None:
    with pytest.raises(StartupError) as raised:
        startup.steps_of({"bridge": [step]}, {}, Site(resolve_target("0.4.2")))
    assert str(raised.value).startswith(problem)
