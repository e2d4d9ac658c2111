"""What is reported of recipes, and where: one finding for one cause, at the line whose change removes it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from mfsdp_lint.core.finding import Finding
from mfsdp_lint.core.recipe import Origin, Recipe, Setting, Span, Variant
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import NOT_NONE, Known, NotNone, OneOf, Plain, Unknown, Value
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.rules.check import violations
from mfsdp_lint.rules.findings import FindingGroup, causes, check
from mfsdp_lint.rules.load import load_rules

TARGET = resolve_target("0.3.1")
FORMAT = "checkpoint.ckpt_format"
FSDP = "dist.use_megatron_fsdp"


def at(line: int, *, path: str = "recipes.py", function: str = "pretrain", **more: object) -> Origin:
    """An assignment in a line of its own; the line number stands for the order of the writes."""
    span = Span(path, line, 5, line, 40)
    return dataclasses.replace(Origin(span, "assigned", function=function, order=line), **more)  # type: ignore[arg-type]


def upstream(line: int) -> Origin:
    return at(line, path="megatron/bridge/recipes/common.py", how="upstream", upstream="megatron-bridge 0.3.1")


def setting(path: str, value: Plain | Value, origin: Origin | None = None) -> Setting:
    known = isinstance(value, Known | OneOf | NotNone | Unknown)
    return Setting(path, value if known else Known(value), origin)  # type: ignore[arg-type]


def variant(*settings: Setting, when: Sequence[str] = ()) -> Variant:
    return Variant(WrittenSettings({one.path: one for one in settings}), tuple(when))


def recipe(name: str, *variants: Variant, line: int = 1) -> Recipe:
    return Recipe(name, f"recipes.{name}", "recipes.py", line, "function", variants)


def is_linted(path: str) -> bool:
    return path.startswith("recipes")


def found(*recipes: Recipe) -> list[Finding]:
    return check(recipes, TARGET, load_rules(), is_linted)


def cause(*recipes: Recipe) -> FindingGroup:
    (one,) = causes(violations(recipes, TARGET, load_rules(), is_linted))
    return one


SAVING = setting("checkpoint.save", NOT_NONE, upstream(114))


def test_a_finding_points_at_the_bad_value_that_the_user_wrote() -> None:
    settings = [setting(FSDP, True, at(3)), setting(FORMAT, "torch_dist", at(4)), SAVING]
    (finding,) = found(recipe("pretrain", variant(*settings)))
    assert (finding.code, finding.severity, finding.stage) == ("MFSDP101", "error", "startup")
    assert finding.span == at(4).span
    assert finding.message == 'Megatron-FSDP needs checkpoint.ckpt_format "fsdp_dtensor", but it is "torch_dist"; ' + (
        "a checkpoint that it loads has to be converted to fsdp_dtensor first"
    )
    assert finding.raises == "Megatron FSDP only supports fsdp_dtensor checkpoint format"
    assert finding.enforced_by == "validation"


def test_it_underlines_the_keyword_argument_of_a_constructor_call() -> None:
    focus = Span("recipes.py", 7, 9, 7, 33)
    settings = [setting(FSDP, True, at(3)), setting(FORMAT, "torch_dist", at(4, how="argument", focus=focus)), SAVING]
    assert found(recipe("pretrain", variant(*settings)))[0].span == focus


def test_it_points_at_the_line_that_turned_fsdp_on_where_the_bad_value_is_upstreams() -> None:
    settings = [setting(FSDP, True, at(3)), setting(FORMAT, "torch_dist", upstream(115)), SAVING]
    (finding,) = found(recipe("pretrain", variant(*settings)))
    assert finding.span == at(3).span
    assert [(note.message, note.span.path, note.span.line) for note in finding.related] == [
        ('checkpoint.ckpt_format is "torch_dist" in megatron-bridge 0.3.1', "megatron/bridge/recipes/common.py", 115),
        ("checkpoint.save is set in megatron-bridge 0.3.1", "megatron/bridge/recipes/common.py", 114),
    ]


def test_of_several_switches_it_points_at_the_one_that_was_written_first() -> None:
    switches = [setting("ddp.use_megatron_fsdp", True, at(3)), setting(FSDP, True, at(9))]
    (finding,) = found(recipe("pretrain", variant(*switches, setting(FORMAT, "torch_dist", upstream(115)), SAVING)))
    assert finding.span == at(3).span


def test_a_default_is_nobodys_writing_and_the_line_that_turned_fsdp_on_is_to_blame() -> None:
    settings = [setting(FSDP, True, at(9)), setting(FORMAT, "torch_dist", at(4, how="default")), SAVING]
    (finding,) = found(recipe("pretrain", variant(*settings)))
    assert finding.span == at(9).span
    assert finding.related[0].message == 'checkpoint.ckpt_format is "torch_dist" here, by default'


def test_it_points_at_the_constructor_call_where_only_that_is_the_users() -> None:
    settings = [setting(FSDP, True, upstream(7)), setting(FORMAT, "torch_dist", at(4, how="default")), SAVING]
    assert found(recipe("pretrain", variant(*settings)))[0].span == at(4).span


def test_where_nothing_is_the_users_it_points_at_the_recipe() -> None:
    settings = [setting(FSDP, True, upstream(7)), setting(FORMAT, "torch_dist", upstream(115)), SAVING]
    (finding,) = found(recipe("pretrain", variant(*settings), line=12))
    assert (finding.span.path, finding.span.line) == ("recipes.py", 12)
    assert len(finding.related) == 3


def test_a_value_that_a_healthy_recipe_shares_is_not_to_blame() -> None:
    shared = setting(FORMAT, "torch_dist", at(40, function="_common"))
    sick = recipe("sick", variant(setting(FSDP, True, at(3)), shared, SAVING))
    healthy = recipe("healthy", variant(setting(FSDP, False, at(13)), shared, SAVING), line=10)
    assert [finding.span.line for finding in found(sick)] == [40]
    assert [finding.span.line for finding in found(sick, healthy)] == [3]


def test_a_value_is_not_to_blame_if_the_same_recipe_needs_it_on_another_way() -> None:
    shared = setting(FORMAT, "torch_dist", at(2))
    on = variant(setting(FSDP, True, at(4)), shared, SAVING, when=["use_fsdp"])
    off = variant(setting(FSDP, False), setting("ddp.use_megatron_fsdp", False), shared, SAVING, when=["not use_fsdp"])
    (finding,) = found(recipe("pretrain", on, off))
    assert finding.span.line == 4


def test_recipes_that_share_the_cause_share_the_finding_and_the_worst_severity_counts() -> None:
    shared = setting(FORMAT, "torch_dist", at(40, function="_common"))
    benchmark = recipe("benchmark", variant(setting(FSDP, True, at(3)), shared), line=2)
    training = recipe("training", variant(setting(FSDP, True, at(13)), shared, SAVING), line=12)
    (finding,) = found(benchmark, training)
    assert (finding.severity, finding.stage) == ("error", "startup")
    assert [(one.name, one.severity) for one in finding.recipes] == [("benchmark", "warning"), ("training", "error")]


def test_the_message_says_when_if_the_recipe_is_fine_otherwise() -> None:
    broken = [setting(FSDP, True, at(3)), setting(FORMAT, "torch_dist", at(4)), setting("checkpoint.load", None)]
    fine = [setting(FSDP, True, at(3)), setting(FORMAT, "fsdp_dtensor", at(6))]
    (finding,) = found(recipe("r", variant(*broken, when=["mode == 'fast'"]), variant(*fine, when=["mode != 'fast'"])))
    assert "but it is \"torch_dist\" when mode == 'fast'" in finding.message


def test_the_message_says_nothing_of_conditions_that_do_not_matter() -> None:
    broken = [setting(FSDP, True, at(3)), setting(FORMAT, "torch_dist", at(4))]
    (finding,) = found(recipe("r", variant(*broken, when=["a"]), variant(*broken, when=["not a"])))
    assert "when" not in finding.message


def test_several_bad_ways_are_told_by_what_they_have_in_common_or_one_by_one() -> None:
    def message(*whens: Sequence[str]) -> str:
        broken = [setting(FSDP, True, at(3)), setting(FORMAT, "torch_dist", at(4))]
        fine = variant(setting(FORMAT, "fsdp_dtensor", at(9)), when=["otherwise"])
        return found(recipe("r", *(variant(*broken, when=when) for when in whens), fine))[0].message

    assert "when a;" in message(["a", "b"], ["a", "not b"])
    assert "when a and b or c;" in message(["a", "b"], ["c"])
    assert "when it takes one of 4 of the 5 ways through its code" in message(["a"], ["b"], ["c"], ["d"])


def test_what_is_not_known_is_not_reported() -> None:
    assert found(recipe("r", variant(setting(FSDP, True, at(3))))) == []
    assert found(recipe("r", variant(setting(FORMAT, "torch_dist", at(3)), SAVING))) == []
    assert (
        found(recipe("r", variant(setting(FSDP, True), setting(FORMAT, OneOf(("torch_dist", "fsdp_dtensor")))))) == []
    )


def test_a_weaker_rule_is_silent_where_the_stronger_one_speaks() -> None:
    both = variant(setting(FSDP, True, at(3)), setting("dist.use_torch_fsdp2", True, at(4)))
    assert [finding.code for finding in found(recipe("r", both))] == ["MFSDP201"]


def test_the_ddp_switch_with_torch_fsdp2_passes_the_start_and_stops_at_the_wrap() -> None:
    both = variant(setting("ddp.use_megatron_fsdp", True, at(3)), setting("dist.use_torch_fsdp2", True, at(4)))
    (finding,) = found(recipe("r", both))
    assert (finding.code, finding.stage, finding.span.line) == ("MFSDP201", "wrap", 4)


def test_torch_fsdp2_fails_in_each_version_in_its_own_way() -> None:
    settings = variant(
        setting("dist.use_torch_fsdp2", True, at(3)),
        setting("ddp.use_distributed_optimizer", True),
        setting("dist.use_megatron_fsdp", False),
        setting("ddp.use_megatron_fsdp", False),
    )

    def raised(version: str) -> tuple[str, str | None]:
        (finding,) = check([recipe("r", settings)], resolve_target(version), load_rules(), is_linted)
        return finding.stage, finding.raises

    keyword = "TorchFullyShardedDataParallel.__init__() got an unexpected keyword argument 'pg_collection'"
    assert raised("0.2.0") == ("wrap", "'method' object is not iterable")
    assert raised("0.3.1") == raised("0.4.2") == ("wrap", keyword)
    assert raised("0.5.1") == raised("head") == ("wrap", "'method' object is not iterable")


def test_cpu_offloading_with_two_obstacles_is_one_finding_the_one_that_start_up_meets_first() -> None:
    settings = [
        setting("model.cpu_offloading", True, at(3)),
        setting("model.pipeline_model_parallel_size", 4, upstream(20)),
        setting("model.recompute_granularity", "full", upstream(21)),
    ]
    (finding,) = found(recipe("r", variant(*settings)))
    assert finding.message.endswith("but model.pipeline_model_parallel_size is 4")


def test_the_remedy_is_what_is_left_to_change() -> None:
    done = [setting("ddp.average_in_collective", False), setting("dist.use_torch_fsdp2", True, at(3))]
    remedy = cause(recipe("r", variant(*done))).violations[0].remedy
    assert remedy is not None
    assert list(remedy.set) == [
        "dist.use_torch_fsdp2",
        "dist.use_megatron_fsdp",
        "ddp.use_megatron_fsdp",
        "ddp.data_parallel_sharding_strategy",
        "checkpoint.ckpt_format",
    ]


def test_the_format_is_safe_to_change_where_nothing_foreign_is_loaded() -> None:
    def safety(*more: Setting) -> str | None:
        return cause(recipe("r", variant(setting(FSDP, True, at(3)), setting(FORMAT, "torch_dist"), *more))).safety

    no_weights, save = setting("checkpoint.pretrained_checkpoint", None), setting("checkpoint.save", "/results")
    assert safety(no_weights, save, setting("checkpoint.load", None)) == "safe"
    assert safety(no_weights, save, setting("checkpoint.load", "/results")) == "safe"
    assert safety(no_weights, save, setting("checkpoint.load", "/elsewhere")) == "unsafe"
    assert safety(no_weights, save) == "unsafe"
    assert safety(save, setting("checkpoint.load", None)) == "unsafe"
    assert safety(setting("checkpoint.pretrained_checkpoint", "/w"), setting("checkpoint.load", None)) == "unsafe"


def test_a_shared_fix_is_safe_if_it_is_for_every_recipe() -> None:
    shared = [setting(FORMAT, "torch_dist", at(40)), setting("checkpoint.load", None)]
    fresh = recipe("fresh", variant(setting(FSDP, True), *shared, setting("checkpoint.pretrained_checkpoint", None)))
    tuned = recipe("tuned", variant(setting(FSDP, True), *shared, setting("checkpoint.pretrained_checkpoint", "/w")))
    assert cause(fresh).safety == "safe"
    assert cause(fresh, tuned).safety == "unsafe"


def test_the_environment_variable_is_an_error_from_0_5_on() -> None:
    settings = variant(setting(FSDP, True, at(3)), setting("env.CUDA_DEVICE_MAX_CONNECTIONS", "1", at(4)))

    def judged(version: str) -> tuple[str, str | None]:
        found = violations([recipe("r", settings)], resolve_target(version), load_rules(), is_linted)
        (one,) = causes(found)
        return one.finding.severity, one.safety

    assert judged("0.4.2") == ("warning", "unsafe")
    assert judged("0.5.0") == judged("0.6.0") == ("error", "safe")


def all_of(variant: Variant) -> list[Setting]:
    return [found for path in variant.settings if (found := variant.settings.get(path))]


def moved(one: Recipe, lines: int) -> Recipe:
    """The same recipe further down in its file."""

    def lower(origin: Origin | None) -> Origin | None:
        return origin and at(origin.span.line + lines, path=origin.span.path, function=origin.function)

    variants = tuple(
        Variant(WrittenSettings({s.path: Setting(s.path, s.value, lower(s.origin)) for s in all_of(v)}))
        for v in one.variants
    )
    return dataclasses.replace(one, line=one.line + lines, variants=variants)


def test_a_fingerprint_outlives_moved_lines_and_further_recipes() -> None:
    shared = setting(FORMAT, "torch_dist", at(40, function="_common"))
    one = recipe("one", variant(setting(FSDP, True, at(3)), shared, SAVING))
    two = recipe("two", variant(setting(FSDP, True, at(13)), shared, SAVING), line=12)
    (first,), (second,), (third,) = found(one), found(one, two), found(moved(one, 5))
    assert first.fingerprint == second.fingerprint == third.fingerprint


def test_different_causes_have_different_fingerprints() -> None:
    def broken(name: str, line: int, function: str) -> Recipe:
        return recipe(name, variant(setting(FSDP, True), setting(FORMAT, "torch_dist", at(line, function=function))))

    findings = found(broken("a", 3, "f"), broken("b", 5, "f"), broken("c", 7, "g"))
    assert len({finding.fingerprint for finding in findings}) == 3


def test_the_order_of_the_recipes_does_not_matter() -> None:
    recipes = [
        recipe(name, variant(setting(FSDP, True, at(line)), setting(FORMAT, "torch_dist", at(40)), SAVING), line=line)
        for name, line in (("one", 3), ("two", 13), ("three", 23))
    ]
    assert found(*recipes) == found(*reversed(recipes))
