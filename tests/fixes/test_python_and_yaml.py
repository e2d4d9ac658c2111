"""The same mistake in Python and in a file of overrides: the same fix, as safe, and the same settings changed by it.

Both say what the rule's bad example says, and nothing of the configuration that they change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from mfsdp_lint.core.front_ends import BRIDGE
from mfsdp_lint.core.values import Plain, Value
from mfsdp_lint.engine.judge import Linter
from mfsdp_lint.engine.read import question
from mfsdp_lint.engine.repair import Repair
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.rules.model import Example, Rule
from tests.rules.sites import where_of

RULES = tuple(load_rules())
HEAD = """\
import os

from megatron.bridge.training.config import ConfigContainer


def change(cfg: ConfigContainer):
"""
ENVIRONMENT = "env."
HARMLESS: Mapping[str, Plain] = {"logger.log_interval": 10}
"""There are recipes in both then, where an example is about variables alone."""


def _examples() -> Iterator[Any]:
    for rule in RULES:
        for number, example in enumerate(rule.examples):
            if example.severity and rule.judges == "settings" and _can_be_written(example.settings):
                versions = [name for name, site in where_of(rule, example) if site.front_end == BRIDGE]
                # Variables are settings of an override file from 0.6 on.
                if versions and (versions[-1] in ("0.6.0", "head") or not _variables(example.settings)):
                    yield pytest.param(rule, example, versions[-1], id=f"{rule.code}-{number}")


def _variables(settings: Mapping[str, Plain]) -> list[str]:
    return [path for path in settings if path.startswith(ENVIRONMENT)]


def _can_be_written(settings: Mapping[str, Plain]) -> bool:
    """Nobody writes the number of ranks, a function, or a class, in an override file; flags are for Megatron-LM."""
    return bool(settings) and not any(
        path.startswith(("args.", "run.")) or "__" in path or "." not in path or str(value).startswith(("<", "torch."))
        for path, value in settings.items()
    )


def in_python(settings: Mapping[str, Plain]) -> str:
    lines = [
        f'os.environ["{path.removeprefix(ENVIRONMENT)}"] = {value!r}'
        if path.startswith(ENVIRONMENT)
        else f"cfg.{path} = {value!r}"
        for path, value in settings.items()
        if not (path.startswith(ENVIRONMENT) and value is None)
    ]
    return HEAD + "".join(f"    {line}\n" for line in (*lines, "return cfg"))


def in_yaml(settings: Mapping[str, Plain]) -> str:
    tree: dict[str, Any] = {}
    for path, value in settings.items():
        if path.startswith(ENVIRONMENT):
            if value is not None:
                tree.setdefault("env_vars", {})[path.removeprefix(ENVIRONMENT)] = value
            continue
        *sections, name = path.split(".")
        place = tree
        for section in sections:
            place = place.setdefault(section, {})
        place[name] = value
    return yaml.safe_dump(tree, sort_keys=False)


def fixed(rule: Rule, path: str, text: str, version: str) -> tuple[list[str | None], dict[str, Value]]:
    """How safe the rule's fixes are there, and the settings that they change."""
    Path(path).write_text(text, encoding="utf-8")
    asked, _ = question(Options(paths=(path,), target_bridge=version))
    judge = Linter(asked, RULES, RULES)
    judgement = judge(Sources({}))
    done = Repair(judgement, judge, {rule.code}).applied(unsafe=True)
    before, after = judgement.recipes[0].variants[0], done.after.recipes[0].variants[0]
    # (A section comes into being with its first setting.)
    paths = [path for path in dict.fromkeys((*after.settings, *before.settings)) if "." in path]
    return (
        [cause.safety for cause in judgement.causes if cause.finding.code == rule.code],
        {path: after.value(path) for path in paths if after.value(path) != before.value(path)},
    )


@pytest.mark.parametrize(("rule", "example", "version"), list(_examples()))
def test_a_mistake_has_the_same_fix_in_both(
    rule: Rule, example: Example, version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = {**HARMLESS, **example.settings}
    python = fixed(rule, "change.py", in_python(settings), version)
    assert python == fixed(rule, "change.yaml", in_yaml(settings), version)


@pytest.mark.parametrize(
    ("more", "safety"),
    [
        ({"checkpoint.load": "/results"}, "safe"),
        ({"checkpoint.load": "/elsewhere"}, "unsafe"),
        ({"checkpoint.load": "/results", "checkpoint.pretrained_checkpoint": "/elsewhere"}, "unsafe"),
        ({"checkpoint.load": None, "checkpoint.pretrained_checkpoint": None}, "safe"),
        ({}, "unsafe"),
    ],
    ids=["it resumes", "it loads another's", "it begins with another's", "it begins with nothing", "nobody says"],
)
def test_a_checkpoint_format_is_safe_where_the_run_goes_on_from_its_own(
    more: Mapping[str, Plain], safety: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rule = next(rule for rule in RULES if rule.code == "MFSDP101")
    on: Mapping[str, Plain] = {"dist.use_megatron_fsdp": True, "checkpoint.ckpt_format": "torch_dist"}
    settings = {**on, "checkpoint.save": "/results", **more}
    for path, text in (("change.py", in_python(settings)), ("change.yaml", in_yaml(settings))):
        assert fixed(rule, path, text, "0.3.1")[0] == [safety]
