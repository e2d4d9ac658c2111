"""What will run: start-up's own changes, in its order, at each release."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfsdp_lint.core.recipe import Origin, Setting, Span, Variant
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import NONE, NOT_NONE, UNKNOWN, Known, OneOf, Plain, Value, possible, same
from mfsdp_lint.megatron.startup.resolve import Resolution, changes_of, differs, resolve
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.rules.judging import variant_of

RELEASES = ("0.2.0", "0.3.1", "0.4.0", "0.4.2", "0.5.1", "0.6.0", "head")

FSDP: dict[str, Plain] = {"dist.use_megatron_fsdp": True, "ddp.use_megatron_fsdp": True}
OVERLAP: dict[str, Plain] = {
    "comm_overlap.tp_comm_overlap": False,
    "comm_overlap.overlap_grad_reduce": None,
    "comm_overlap.overlap_param_gather": None,
    "comm_overlap.bucket_size": None,
    "ddp.use_distributed_optimizer": True,
    "ddp.overlap_grad_reduce": False,
    "ddp.overlap_param_gather": True,
    "ddp.bucket_size": None,
    "model.tensor_model_parallel_size": 2,
    "model.pipeline_model_parallel_size": 1,
    "model.virtual_pipeline_model_parallel_size": None,
    "model.context_parallel_size": 1,
}


def start(settings: dict[str, Plain], release: str = "0.4.2", ranks: int | None = None) -> Resolution:
    return resolve(variant_of(settings), resolve_target(release), ranks)


def changed(settings: dict[str, Plain], release: str = "0.4.2", ranks: int | None = None) -> dict[str, Value]:
    """What start-up is known to change, by setting."""
    found = start(settings, release, ranks).changed()
    return {path: change.after for path, change in found.items() if change.after != UNKNOWN}


# -- Megatron-FSDP --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("on", ["dist.use_megatron_fsdp", "ddp.use_megatron_fsdp"])
def test_either_switch_of_megatron_fsdp_becomes_both(release: str, on: str) -> None:
    off = next(path for path in FSDP if path != on)
    assert changed({on: True, off: False}, release) == {off: Known(True)}


ASKED_FOR: dict[str, Plain] = FSDP | {
    "mixed_precision": None,
    "ddp.average_in_collective": True,
    "ddp.disable_symmetric_registration": False,
    "ddp.fsdp_manual_registration": False,
    "ddp.megatron_fsdp_use_decoupled_grad": False,
    "ddp.megatron_fsdp_version": 1,
    "ddp.nccl_ub": True,
    "ddp.preserve_fp32_weights": True,
    "ddp.reuse_grad_buf_for_mxfp8_param_ag": True,
    "ddp.use_distributed_optimizer": False,
    "model.gradient_accumulation_fusion": True,
    "optimizer.reuse_grad_buf_for_mxfp8_param_ag": True,
    "optimizer.use_distributed_optimizer": False,
    "optimizer.use_precision_aware_optimizer": True,
}


@pytest.mark.parametrize(
    ("releases", "lost"),
    [
        (
            ("0.2.0", "0.2.2"),
            {
                "ddp.average_in_collective": False,
                "ddp.preserve_fp32_weights": False,
                "model.gradient_accumulation_fusion": False,
            },
        ),
        (
            ("0.3.0", "0.3.1"),
            {
                "ddp.average_in_collective": False,
                "ddp.reuse_grad_buf_for_mxfp8_param_ag": False,
                "model.gradient_accumulation_fusion": False,
                "optimizer.reuse_grad_buf_for_mxfp8_param_ag": False,
            },
        ),
        (
            ("0.4.0", "0.4.2"),
            {
                "ddp.average_in_collective": False,
                "ddp.reuse_grad_buf_for_mxfp8_param_ag": False,
                "optimizer.reuse_grad_buf_for_mxfp8_param_ag": False,
            },
        ),
        (
            ("0.5.0", "0.5.1", "0.6.0", "head"),
            {
                "ddp.average_in_collective": False,
                "ddp.fsdp_manual_registration": True,
                "ddp.megatron_fsdp_use_decoupled_grad": True,
                "ddp.reuse_grad_buf_for_mxfp8_param_ag": False,
                "ddp.use_distributed_optimizer": True,
                "optimizer.reuse_grad_buf_for_mxfp8_param_ag": False,
                "optimizer.use_distributed_optimizer": True,
            },
        ),
    ],
)
def test_what_megatron_fsdp_overwrites_depends_on_the_release(releases: tuple[str, ...], lost: dict[str, bool]) -> None:
    for release in releases:
        assert changed(ASKED_FOR, release) == {path: Known(value) for path, value in lost.items()}, release


def test_without_symmetric_registration_the_average_stays_from_0_4_on() -> None:
    settings = ASKED_FOR | {"ddp.disable_symmetric_registration": True}
    assert changed(settings, "0.3.1")["ddp.average_in_collective"] == Known(False)
    assert "ddp.average_in_collective" not in changed(settings, "0.4.2")


def test_version_2_brings_its_own_sharding_and_optimizer() -> None:
    settings = ASKED_FOR | {
        "ddp.megatron_fsdp_version": 2,
        "ddp.data_parallel_sharding_strategy": "no_shard",
        "ddp.overlap_grad_reduce": True,
        "ddp.use_distributed_optimizer": True,
    }
    assert changed(settings, "head") == {
        "ddp.data_parallel_sharding_strategy": Known("optim_grads_params"),
        "ddp.overlap_grad_reduce": Known(False),
        "ddp.use_distributed_optimizer": Known(False),
        "model.gradient_accumulation_fusion": Known(False),
    }


@pytest.mark.parametrize("release", RELEASES)
def test_the_distributed_optimizer_is_one_switch(release: str) -> None:
    settings: dict[str, Plain] = {
        "dist.use_megatron_fsdp": False,
        "ddp.use_megatron_fsdp": False,
        "ddp.use_distributed_optimizer": False,
        "optimizer.use_distributed_optimizer": True,
    }
    assert changed(settings, release) == {"ddp.use_distributed_optimizer": Known(True)}


# -- mixed precision ------------------------------------------------------------------------------------------------


def test_a_precision_name_overwrites_model_optimizer_and_ddp() -> None:
    settings: dict[str, Plain] = {
        "mixed_precision": "bf16-mixed",  # a hyphen is as good as an underscore
        "model.bf16": False,
        "model.fp8_recipe": "delayed",
        "optimizer.params_dtype": "torch.float32",
        "ddp.grad_reduce_in_fp32": False,
        "ddp.fp8_param_gather": True,
    }
    assert changed(settings) == {
        "model.bf16": Known(True),
        "model.fp8_recipe": Known("tensorwise"),
        "optimizer.params_dtype": Known("torch.bfloat16"),
        "ddp.grad_reduce_in_fp32": Known(True),
        "ddp.fp8_param_gather": Known(False),
    }


def test_a_precision_object_does_so_with_its_own_fields() -> None:
    settings: dict[str, Plain] = {
        "mixed_precision.bf16": True,
        "mixed_precision.fp8_param": None,
        "mixed_precision.fp8_param_gather": True,
        "model.bf16": False,
        "model.fp8_param": False,
        "ddp.fp8_param_gather": False,
    }
    result = changed(settings)
    assert (
        result["ddp.fp8_param_gather"]
        == result["model.fp8_param"]
        == result["mixed_precision.fp8_param"]
        == Known(True)
    )


def test_without_mixed_precision_nothing_is_overwritten() -> None:
    assert changed({"mixed_precision": None, "model.bf16": False, "ddp.grad_reduce_in_fp32": False}) == {}


def test_an_unknown_precision_may_overwrite_anything() -> None:
    run = start({"model.bf16": False, "ddp.grad_reduce_in_fp32": False}).run
    assert run.value("ddp.grad_reduce_in_fp32") == UNKNOWN
    assert start({"mixed_precision": "of_our_own", "model.bf16": False}).run.value("model.bf16") == UNKNOWN


def test_a_name_may_mean_something_else_in_a_patch_release() -> None:
    settings: dict[str, Plain] = {"mixed_precision": "bf16_with_nvfp4_mixed", "model.fp8_recipe": "delayed"}
    assert changed(settings, "0.4.1")["model.fp8_recipe"] == Known(None)
    assert changed(settings, "0.4.2")["model.fp8_recipe"] == Known("tensorwise")


# -- communication overlap ------------------------------------------------------------------------------------------


def test_overlap_is_on_where_there_is_something_to_overlap_with() -> None:
    assert changed(OVERLAP, ranks=8) == {
        "ddp.overlap_grad_reduce": Known(True),
        "ddp.bucket_size": Known(128 * 1024 * 1024),
    }
    assert changed(OVERLAP, ranks=2) == {"ddp.overlap_param_gather": Known(False)}


def test_without_the_number_of_ranks_it_is_one_of_both() -> None:
    run = start(OVERLAP).run
    assert run.value("ddp.overlap_grad_reduce") == OneOf((False, True))
    assert run.value("ddp.bucket_size") == OneOf((None, 128 * 1024 * 1024))


def test_what_the_author_says_of_the_overlap_counts() -> None:
    settings = OVERLAP | {"comm_overlap.overlap_param_gather": False, "comm_overlap.overlap_grad_reduce": False}
    assert "ddp.overlap_grad_reduce" not in changed(settings, ranks=8)
    assert changed(settings, ranks=8)["ddp.overlap_param_gather"] == Known(False)


def test_only_the_distributed_optimizer_overlaps() -> None:
    settings = OVERLAP | {"ddp.use_distributed_optimizer": False, "optimizer.use_distributed_optimizer": False}
    assert changed(settings, ranks=8) == {}


def test_the_distributed_optimizer_comes_too_late_for_the_overlap() -> None:
    settings = OVERLAP | FSDP | {"ddp.use_distributed_optimizer": False, "optimizer.use_distributed_optimizer": False}
    assert "ddp.overlap_grad_reduce" not in changed(settings, "0.5.1", ranks=8)


# -- environment ----------------------------------------------------------------------------------------------------


def test_a_recipes_own_variables_are_defaults_from_0_6_on() -> None:
    settings: dict[str, Plain] = {
        "env_vars": {"CUDA_DEVICE_MAX_CONNECTIONS": 1, "NCCL_DEBUG": "INFO"},
        "env.NCCL_DEBUG": "WARN",
    }
    assert changed(settings, "0.5.1") == {}
    assert changed(settings, "0.6.0") == {"env.CUDA_DEVICE_MAX_CONNECTIONS": Known("1")}


def test_in_an_environment_that_is_not_known_a_default_may_not_count() -> None:
    variant = variant_of({"env_vars": {"NCCL_DEBUG": "INFO"}}, partial_environment=True)
    assert resolve(variant, resolve_target("0.6.0")).run.value("env.NCCL_DEBUG") == UNKNOWN


# -- the model's own --------------------------------------------------------------------------------------------------


def test_a_model_class_may_have_a_start_up_of_its_own() -> None:
    settings: dict[str, Plain] = {
        "model.__class__": "megatron.bridge.models.qwen_vl.qwen3_vl_provider.Qwen3VLMoEModelProvider",
        "model.sequence_parallel": False,
        "model.tensor_model_parallel_size": 2,
    }
    assert changed(settings) == {"model.sequence_parallel": Known(True)}
    assert changed(settings | {"model.__class__": "models.Ours"}) == {}
    del settings["model.__class__"]
    assert start(settings).run.value("model.sequence_parallel") == OneOf((False, True))


@pytest.mark.parametrize(("release", "size"), [("0.5.1", 2), ("0.6.0", 1), ("head", 1)])
def test_experts_divided_among_ranks_are_not_tensor_parallel_from_0_6_on(release: str, size: int) -> None:
    settings: dict[str, Plain] = {
        "model.tensor_model_parallel_size": 2,
        "model.expert_model_parallel_size": 8,
        "model.expert_tensor_parallel_size": None,
    }
    assert changed(settings, release) == {"model.expert_tensor_parallel_size": Known(size)}
    dense = settings | {"model.expert_model_parallel_size": 1}
    assert changed(dense, release) == {"model.expert_tensor_parallel_size": Known(2)}


@pytest.mark.parametrize(
    ("release", "after"),
    [
        ("0.2.0", {"model.cuda_graph_scope": ["full_iteration"]}),
        ("0.4.2", {"model.cuda_graph_scope": ["full_iteration"]}),
        (
            "0.5.1",
            {
                "model.cuda_graph_impl": "full_iteration",
                "model.cuda_graph_modules": [],
                "model.cuda_graph_scope": None,
            },
        ),
    ],
)
def test_the_scope_of_a_cuda_graph_moves(release: str, after: dict[str, Plain]) -> None:
    settings: dict[str, Plain] = {
        "model.cuda_graph_impl": "local",
        "model.cuda_graph_modules": None,
        "model.cuda_graph_scope": "full_iteration",
    }
    assert changed(settings, release) == {path: Known(value) for path, value in after.items()}


def test_what_the_wrapper_changes_comes_after_start_up() -> None:
    settings = FSDP | {
        "comm_overlap": None,
        "ddp.data_parallel_sharding_strategy": "optim_grads_params",
        "ddp.overlap_param_gather": False,
        "ddp.nccl_ub": True,
        "ddp.fsdp_double_buffer": False,
    }
    result = start(settings)
    assert "ddp.overlap_param_gather" not in result.changed()
    assert result.run.value("ddp.fsdp_double_buffer") == Known(False)
    assert (
        result.wrapped.value("ddp.overlap_param_gather")
        == result.wrapped.value("ddp.fsdp_double_buffer")
        == Known(True)
    )
    assert {change.phase for change in result.wrapping} == {"wrap"}


def test_version_2_is_wrapped_otherwise() -> None:
    settings = FSDP | {"ddp.megatron_fsdp_version": 2, "ddp.overlap_param_gather": True}
    assert start(settings, "head").wrapped.value("ddp.overlap_param_gather") == Known(False)


# -- stages and origins ---------------------------------------------------------------------------------------------


def test_validation_sees_what_precision_has_set_and_not_what_validation_will_set() -> None:
    settings = ASKED_FOR | {"mixed_precision": "bf16_with_mxfp8_mixed", "ddp.fp8_param_gather": False}
    result = start(settings)
    assert result.written.value("ddp.fp8_param_gather") == Known(False)
    assert result.validation.value("ddp.fp8_param_gather") == Known(True)
    assert result.validation.value("ddp.reuse_grad_buf_for_mxfp8_param_ag") == Known(True)
    assert result.run.value("ddp.reuse_grad_buf_for_mxfp8_param_ag") == Known(False)


def test_a_change_and_its_way_back_is_no_change() -> None:
    settings = FSDP | {"mixed_precision": "bf16_with_mxfp8_mixed", "ddp.reuse_grad_buf_for_mxfp8_param_ag": False}
    assert "ddp.reuse_grad_buf_for_mxfp8_param_ag" not in changed(settings)


def test_a_setting_that_nobody_knows_is_not_changed_whatever_it_becomes() -> None:
    result = start({"dist.use_megatron_fsdp": True})
    assert result.run.value("ddp.use_megatron_fsdp") == Known(True)
    assert result.changed() == {}


def test_the_origin_is_upstreams_line_with_the_written_one_before_it() -> None:
    written = Origin(Span("recipe.py", 3, 5, 3, 40), "assigned")
    settings = {"ddp.average_in_collective": Setting("ddp.average_in_collective", Known(True), written)}
    settings |= {path: Setting(path, Known(value)) for path, value in FSDP.items()}
    origin = resolve(Variant(WrittenSettings(settings)), resolve_target("0.3.1")).run.origin(
        "ddp.average_in_collective"
    )
    assert origin is not None
    assert (origin.how, origin.span.path, origin.span.line, origin.upstream, origin.earlier) == (
        "startup",
        "megatron/bridge/training/config.py",
        1480,
        "megatron-bridge 0.3.1",
        written,
    )


def test_where_it_is_not_known_whether_fsdp_is_on_both_may_run() -> None:
    run = start({"ddp.use_megatron_fsdp": False, "ddp.average_in_collective": True}, "0.3.1").run
    assert run.value("ddp.use_megatron_fsdp") == OneOf((False, True))
    assert run.value("ddp.average_in_collective") == OneOf((True, False))


def test_a_recipe_may_run_some_phases_itself() -> None:
    settings = variant_of({"mixed_precision": "bf16_mixed", "model.bf16": False, "dist.use_megatron_fsdp": True})
    early = {change.path for change in changes_of(settings, resolve_target("0.4.2"), {"update"})}
    late = {change.path for change in changes_of(settings, resolve_target("0.4.2"), {"validation"})}
    assert "model.bf16" in early
    assert "ddp.use_megatron_fsdp" not in early
    assert "ddp.use_megatron_fsdp" in late
    assert "model.bf16" not in late


def test_what_differs_is_known_to_differ() -> None:
    assert differs(Known(True), Known(False))
    assert differs(Known(False), OneOf((False, True)))
    assert not differs(OneOf((False, True)), OneOf((True, False)))
    assert not differs(Known(True), UNKNOWN)
    assert differs(Known(1), Known(True))


# -- properties -----------------------------------------------------------------------------------------------------

FLAGS: tuple[Plain, ...] = (False, True)
DOMAINS: dict[str, tuple[Plain, ...]] = {
    "dist.use_megatron_fsdp": FLAGS,
    "dist.lazy_init": FLAGS,
    "ddp.use_megatron_fsdp": FLAGS,
    "ddp.megatron_fsdp_version": (1, 2),
    "ddp.average_in_collective": FLAGS,
    "ddp.disable_symmetric_registration": FLAGS,
    "ddp.nccl_ub": FLAGS,
    "ddp.use_distributed_optimizer": FLAGS,
    "ddp.overlap_param_gather": FLAGS,
    "ddp.reuse_grad_buf_for_mxfp8_param_ag": FLAGS,
    "optimizer.use_distributed_optimizer": FLAGS,
    "optimizer.overlap_param_gather": FLAGS,
    "optimizer.use_precision_aware_optimizer": FLAGS,
    "mixed_precision": (None, "bf16_mixed", "bf16_with_mxfp8_mixed"),
    "comm_overlap": (None,),
    "rng.te_rng_tracker": FLAGS,
    "model.__class__": (
        "megatron.bridge.models.gpt_provider.GPTModelProvider",
        "megatron.bridge.models.qwen_vl.qwen3_vl_provider.Qwen3VLMoEModelProvider",
    ),
    "model.use_te_rng_tracker": FLAGS,
    "model.gradient_accumulation_fusion": FLAGS,
    "model.sequence_parallel": FLAGS,
    "model.tensor_model_parallel_size": (1, 2),
    "model.pipeline_model_parallel_size": (1, 2),
    "model.virtual_pipeline_model_parallel_size": (None, 2),
    "model.context_parallel_size": (1, 2),
    "model.cuda_graph_impl": ("none", "local"),
    "model.enable_cuda_graph": (False,),
    "model.external_cuda_graph": (False,),
    "model.cuda_graph_scope": (None, "full", ["full_iteration"]),
    "model.recompute_modules": (None, ["mlp"]),
    "run.world_size": (8, 16),
    "env.NCCL_DEBUG": (None, "INFO"),
    "env_vars": ({}, {"NCCL_DEBUG": "WARN"}),
}
WITH_OVERLAP: dict[str, tuple[Plain, ...]] = {
    "comm_overlap.tp_comm_overlap": FLAGS,
    "comm_overlap.overlap_grad_reduce": (None, False, True),
    "comm_overlap.align_param_gather": (None, True),
}


@st.composite
def knowledge_and_truth(draw: st.DrawFn) -> tuple[Variant, Variant]:
    """What is known of a configuration, and what it may really be."""
    domains = dict(DOMAINS)
    known: dict[str, Value] = {}
    real: dict[str, Value] = {}
    if draw(st.booleans()):
        del domains["comm_overlap"]
        domains |= WITH_OVERLAP
        known["comm_overlap"] = real["comm_overlap"] = NOT_NONE
    for path, domain in domains.items():
        value = draw(st.sampled_from(domain))
        real[path] = Known(value)
        others = [each for each in domain if not same(each, value)]
        states: list[Value] = [Known(value), *(OneOf((value, each)) for each in others)]
        if path != "env_vars":  # where nothing is known of a recipe's own variables, it is taken to have none
            states.append(UNKNOWN)
        known[path] = draw(st.sampled_from(states))
    return _variant(known), _variant(real)


def _variant(values: dict[str, Value]) -> Variant:
    return Variant(WrittenSettings.of(values))


@given(knowledge_and_truth(), st.sampled_from(RELEASES))
def test_what_is_known_to_run_runs_whatever_the_unknown_settings_are(
    both: tuple[Variant, Variant], release: str
) -> None:
    target = resolve_target(release)
    known, real = (resolve(variant, target) for variant in both)
    for path in real.run.settings:
        assert _covers(known.validation.value(path), real.validation.value(path)), path
        assert _covers(known.run.value(path), real.run.value(path)), path


def _covers(known: Value, real: Value) -> bool:
    """Whether everything that is really possible was thought possible."""
    thought, possibly = possible(known), possible(real)
    if thought is None:
        return known == UNKNOWN or (possibly is None or None not in possibly)
    return possibly is not None and all(any(same(one, other) for other in thought) for one in possibly)


@given(knowledge_and_truth(), st.sampled_from(RELEASES))
def test_a_second_start_up_changes_nothing(both: tuple[Variant, Variant], release: str) -> None:
    # Upstream's own second one does where overlap or the model's class ask for what the first has changed.
    settings = {path: both[1].value(path) for path in both[1].settings}
    settings |= {"comm_overlap": NONE, "model.__class__": Known("megatron.bridge.models.gpt_provider.GPTModelProvider")}
    target = resolve_target(release)
    first = resolve(_variant(settings), target).run
    assert resolve(first, target).changed() == {}
