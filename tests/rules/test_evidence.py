"""The evidence of a rule is the line that enforces it: compared with the packages that are at hand.

Those are the wheel of Megatron-Bridge, and where the dry run's environment is installed the megatron-core that it pins.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.rules.model import PLACEHOLDER, Evidence, Rule
from tests.dryrun.conftest import PYTHON
from tests.rules.sites import SITES
from tools.coverage.checks import Check, checks_of
from tools.coverage.covered import SHORTEST

BRIDGE, CORE = "0.3.1", "0.16.1"
"""The release, and the megatron-core that it pins: the commit of its submodule is that of the tag."""

CHECKOUT = Path(__file__).parents[2]
WHEEL = CHECKOUT / f".cache/megatron-bridge-{BRIDGE}"
INSTALLED = next((CHECKOUT / PYTHON).parents[1].glob("lib/python*/site-packages"), None)
NEAR = 25
"""Lines between the evidence and Bridge's check with the rule's error text: a rule may name the condition before it."""

NAMES: Mapping[str, Sequence[str]] = {
    "MFSDP150": ["_get_checkpoint_format"],
    "MFSDP152": ["get_parameter"],
    "MFSDP160": ["load_state_dict"],
    "MFSDP161": ["get_parameter"],
    "MFSDP163": ["apply_swiglu_sharded_factory"],
    "MFSDP172": ["_get_checkpoint_format"],
    "MFSDP173": ["checkpoint_exists"],
    "MFSDP202": ["pg_collection", "sub_modules_to_wrap", "finish_grad_sync"],
    "MFSDP257": ["scale_gradients"],
    "MFSDP259": ["TorchFullyShardedDataParallel"],
    "MFSDP264": ["main_grad"],
    "MFSDP266": ["broadcast_params"],
    "MFSDP270": ["grad_acc_param_list", "register_post_accumulate_grad_hook"],
    "MFSDP350": ["rearrange"],
    "MFSDP352": ["is_last_microbatch"],
    "MFSDP353": ["local_grad"],
    "MFSDP354": ["gbuf"],
    "MFSDP355": ["fetch_bucket"],
    "MFSDP392": ["param_data"],
    "MFSDP356": ["hsdp_gbuf"],
    "MFSDP357": ["_get_hsdp_tp_mesh"],
    "MFSDP360": ["grad_stats_parallel_group"],
    "MFSDP362": ["main_grad_buffer", "local_grad"],
    "MFSDP363": ["fsdp_unit_modules", "_post_forward"],
    "MFSDP450": ["_get_sub_optimizer_param_groups"],
    "MFSDP451": ["update_fp32_param_by_new_param"],
    "MFSDP550": ["PYTORCH_CUDA_ALLOC_CONF"],
    "MFSDP551": ["CUDA_DEVICE_MAX_CONNECTIONS"],
    "MFSDP552": ["gradient_reduce_preprocessing", "expert_gradient_scaling_factor"],
    "MFSDP557": ["combined_1f1b_schedule_for_no_pipelining"],
    "MFSDP558": ["TorchFullyShardedDataParallel"],
    "MFSDP561": ["symmetric"],
    "MFSDP657": ["new_param_data"],
    "MFSDP658": ["set_item"],
    "MFSDP659": ["grad = None", "grad.data"],
    "MFSDP660": ["grad.to"],
    "MFSDP661": ["gate_weight"],
    "MFSDP671": ["grad.to"],
    "MFSDP701": ["ConfigContainer"],
    "MFSDP702": ["runtime_config_update"],
    "MFSDP703": ["set_struct"],
    "MFSDP704": ["overlap_param_gather"],
    "MFSDP752": ["self.ddp_config", "reshard_after_forward"],
}
"""Names in upstream's code by which a line concerns a rule, where it names none of the rule's settings."""

CHANCE = 0.05
"""The share of a file's statements that may concern a rule, on average: so seldom does a made-up number pass."""


def evidence() -> Iterator[Any]:
    """Yield each rule with a place of its evidence in a file that is at hand."""
    for rule in load_rules():
        for version in (BRIDGE, f"core {CORE}"):
            for place in rule.evidence.get(version, ()):
                path = file_of(place)
                if path is not None and path.is_file():
                    yield pytest.param(rule, version, path, place.line, id=f"{rule.code}-{path.name}:{place.line}")


def file_of(place: Evidence) -> Path | None:
    if place.repository == "bridge":
        return WHEEL / place.path.removeprefix("src/")
    return INSTALLED and INSTALLED / place.path


@cache
def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def checks(path: Path) -> list[Check]:
    return checks_of(text(path))


@cache
def statements(path: Path) -> list[tuple[int, int]]:
    """Return the first and last line of each statement; a compound one ends where its body begins."""
    found = []
    for node in ast.walk(ast.parse(text(path))):
        if isinstance(node, (ast.stmt, ast.ExceptHandler)):
            body = getattr(node, "body", None)
            last = max(node.lineno, first_line(body[0]) - 1) if isinstance(body, list) else node.end_lineno
            found.append((first_line(node), last or node.lineno))
    return found


def first_line(node: ast.stmt | ast.ExceptHandler) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


def statement_at(path: Path, line: int) -> tuple[int, int] | None:
    around = [(first, last) for first, last in statements(path) if first <= line <= last]
    return min(around, key=lambda lines: lines[1] - lines[0], default=None)


def pieces(rule: Rule, version: str) -> list[str]:
    """Return the pieces of text in the errors that the rule promises for the version."""
    texts = [case.at(SITES[version]).error for case in rule.cases if case.versions.truth(SITES[version]) is not False]
    return [piece.strip() for text in texts if text for piece in text.pieces() if len(piece.strip()) >= SHORTEST]


def settings_of(rule: Rule, version: str) -> set[str]:
    """Return the names of the settings that the rule asks about, tells or changes."""
    site = SITES[version]
    blame = rule.blame.at(site)
    conditions = [rule.applies, *(case.when for case in rule.cases if case.when), *blame.value, *blame.enabled_by]
    paths = {path for each in conditions for path in each.at(site).paths()}
    paths |= {path for case in rule.cases for path in PLACEHOLDER.findall(case.message.template)}
    paths |= {path for fix in rule.fixes for path in (*fix.set, *fix.unset)}
    return {path.rpartition(".")[2] for path in paths if rule.judges == "settings"}


def concerns(rule: Rule, version: str, path: Path) -> list[tuple[int, int]]:
    """Return the statements of a file that name a setting of the rule or raise its error."""
    wanted = pieces(rule, version)
    names = {*settings_of(rule, version), *NAMES.get(rule.code, ())}
    named = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in names) or "(?!)")
    raising = [check for check in checks(path) if any(piece in check.message for piece in wanted)]
    lines = text(path).splitlines()
    found = []
    for first, last in statements(path):
        said = "\n".join(lines[first - 1 : last])
        if named.search(said) or any(piece in said for piece in wanted) or any(each.is_at(first) for each in raising):
            found.append((first, last))
    return found


EVIDENCE = list(evidence())
each_place = pytest.mark.parametrize(("rule", "version", "path", "line"), EVIDENCE)


@each_place
def test_evidence_is_a_statement_that_names_a_setting_of_the_rule_or_raises_its_error(
    rule: Rule, version: str, path: Path, line: int
) -> None:
    statement = statement_at(path, line)
    assert statement is not None, "there is no statement"
    assert statement in concerns(rule, version, path), text(path).splitlines()[line - 1]


@each_place
def test_evidence_is_near_the_check_that_raises_the_error(rule: Rule, version: str, path: Path, line: int) -> None:
    wanted = pieces(rule, version)
    raising = [check for check in checks(path) if any(piece in check.message for piece in wanted)]
    if raising and path.is_relative_to(WHEEL):  # errors of core are often a consequence
        assert any(check.is_at(line) or abs(check.own[0] - line) <= NEAR for check in raising)


def test_a_made_up_line_is_refused() -> None:
    shares = [
        len(concerns(rule, version, path)) / len(statements(path))
        for rule, version, path, _ in (case.values for case in EVIDENCE)
    ]
    assert sum(shares) / len(shares) < CHANCE


def test_the_wheel_is_at_hand() -> None:
    assert sum(path.is_relative_to(WHEEL) for _, _, path, _ in (case.values for case in EVIDENCE)) > 20


def test_no_name_is_given_in_vain() -> None:
    """Each name is in the evidence of its rule, where that can be read."""
    said: dict[str, str] = {}
    for rule, _, path, line in (case.values for case in EVIDENCE):
        if (statement := statement_at(path, line)) is not None:
            first, last = statement
            said[rule.code] = "\n".join([said.get(rule.code, ""), *text(path).splitlines()[first - 1 : last]])
    missing = [(code, name) for code, names in NAMES.items() for name in names if name not in said.get(code, name)]
    assert INSTALLED is None or missing == []
