"""Code that surely raises is a finding; what else could not be followed is told."""

from __future__ import annotations

from dataclasses import replace

from mfsdp_lint.core.recipe import Span, Unfollowed
from mfsdp_lint.engine.judge import raising_findings
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.reports.json import unfollowed_document
from mfsdp_lint.reports.wording import unfollowed_lines

REFUSED = Unfollowed(
    "sharded",
    "recipes.sharded",
    "recipes.py",
    3,
    "function",
    "raises",
    "TypeError: base() got an unexpected keyword argument 'use_fsdp'",
    Span("recipes.py", 4, 12, 4, 31),
    Span("recipes.py", 4, 17, 4, 30),
    "TypeError",
    "use_megatron_fsdp",
    certain=True,
)
LONG = Unfollowed("grid", "recipes.grid", "recipes.py", 9, "function", "limit", "takes too many steps")


def test_what_surely_raises_is_an_error_at_the_refused_argument() -> None:
    (found,) = raising_findings({resolve_target("0.3.1"): [REFUSED, LONG]})
    assert (found.code, found.severity, found.stage, found.span) == ("MFSDP904", "error", "startup", REFUSED.focus)
    assert found.message == f"{REFUSED.message}; did you mean use_megatron_fsdp?"
    assert found.raises == "base() got an unexpected keyword argument 'use_fsdp'"
    assert [recipe.name for recipe in found.recipes] == ["sharded"]


def test_it_says_for_which_versions() -> None:
    newer, older = resolve_target("0.3.1"), resolve_target("0.2.0")
    (found,) = raising_findings({newer: [REFUSED], older: []})
    assert found.versions == ("megatron-bridge 0.3.1",)
    assert found.message.endswith("(holds for megatron-bridge 0.3.1)")
    (both,) = raising_findings({newer: [REFUSED], older: [REFUSED]})
    assert both.versions == ("megatron-bridge 0.2.0", "megatron-bridge 0.3.1")


def test_what_could_not_be_followed_has_a_place_and_a_reason() -> None:
    assert unfollowed_lines([LONG]) == ["recipes.py:9: grid could not be followed: takes too many steps"]
    document = unfollowed_document(LONG)
    assert (document["why"], document["reason"], document["place"]["line"]) == ("limit", "takes too many steps", 9)


def test_another_exception_may_be_one_that_only_looks_certain_and_is_told_as_unfollowed() -> None:
    other = replace(REFUSED, message="AttributeError: 'Base' object has no attribute 'dp'", certain=False)
    assert raising_findings({resolve_target("0.3.1"): [other]}) == []
