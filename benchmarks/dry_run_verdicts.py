#!/usr/bin/env python3
"""Does a dry run ever say *passed* of a mistake, or *confirmed* or *failed* of a recipe that is right?

    python benchmarks/dry_run_verdicts.py --python PYTHON [--count 200] [--seed 0] [--into DIR] [--batch 100]

Recipes of megatron-bridge 0.3.1 of many model families get Megatron-FSDP as NVIDIA's guide has it, in ways that are
right; half of them then get the bad example of a rule. All go through `dry-run --tier cpu`. What is expected is known
from how a recipe was made: the injected mistake, or nothing. Exit code 1 where a verdict is false.

With --into the recipes and the verdicts stay there, and verdicts that are there already are not asked for again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from benchmarks.verdicts.recipes import FAMILIES, RIGHT, written  # noqa: E402
from mfsdp_lint.megatron.conditions import Site  # noqa: E402
from mfsdp_lint.megatron.versions import resolve_target  # noqa: E402
from mfsdp_lint.rules.load import load_rules  # noqa: E402
from mfsdp_lint.rules.model import Example  # noqa: E402

VERSION = "0.3.1"
_ELSEWHERE = ("run.", "args.", "startup.", "write.")
_OF_NO_FIELD = "ddp.megatron_fsdp_version"
"""What an example says for other front-ends, and Megatron-Bridge has no field for."""


@dataclass(frozen=True, slots=True)
class Made:
    """A recipe: its name, its family, and the mistake that is in it with its severity, "" where it is right.

    `too` are mistakes that come with it in this family.
    """

    name: str
    family: str
    text: str
    code: str = ""
    severity: str = ""
    too: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict on a recipe, and what is false about it, "" where nothing is."""

    made: Made
    word: str
    false: str
    reason: str


def right_ones(count: int) -> Iterator[Made]:
    """Yield recipes without a mistake, `count` of them: each way to be right, in one family after the other."""
    ways = [(way, family) for way in RIGHT for family in FAMILIES if way.fits(family)]
    for number, (way, family) in enumerate(ways[:count]):
        name = f"right_{number:03}"
        yield Made(name, family.name, written(name, family, way.settings))


def wrong_ones(count: int, seed: int) -> Iterator[Made]:
    """Yield `count` recipes with a mistake: all rules' bad examples, errors first, in families drawn by chance."""
    draw = random.Random(seed)
    mistakes = sorted(_mistakes(), key=lambda each: ("error", "warning", "info").index(each[1]))
    errors = [each for each in mistakes if each[1] == "error"]
    chosen = (mistakes + errors * (count // len(errors) + 1))[:count]
    for number, (code, severity, settings) in enumerate(chosen):
        name = f"wrong_{number:03}"
        family = draw.choice(FAMILIES)
        # Hybrid sharding of experts that are spread is a mistake of its own.
        too = ("MFSDP357",) if family.experts and "ddp.num_distributed_optimizer_instances" in settings else ()
        yield Made(name, family.name, written(name, family, settings), code, severity, too)


def _mistakes() -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the code, the severity and the settings of every bad example that fits a recipe of this version."""
    target = resolve_target(VERSION)
    for rule in load_rules():
        if rule.preset or rule.judges != "settings" or rule.at(target) is None:
            continue
        for example in rule.examples:
            if example.severity and _can_be_written(example) and example.versions.truth(Site(target)):
                settings = {path: value for path, value in example.settings.items() if path != _OF_NO_FIELD}
                yield rule.code, example.severity, settings


def _can_be_written(example: Example) -> bool:
    """Tell whether assignments in a recipe can say all of it: not how many ranks there are, nor a section's class."""
    paths = example.settings
    elsewhere = any(path.startswith(_ELSEWHERE) or path.endswith("__class__") for path in paths)
    return bool(paths) and not example.components and not elsewhere


def tried(recipes: Sequence[Made], into: Path, python: str, batch: int) -> Mapping[str, Any]:
    """Return the dry run's verdict on each recipe, by name."""
    for each in recipes:
        (into / f"{each.name}.py").write_text(each.text, encoding="utf-8")
    told: dict[str, Any] = {}
    for first in range(0, len(recipes), batch):
        answers = into / f"verdicts-{recipes[first].name}.json"
        if not answers.exists():
            names = [f"{each.name}.py::{each.name}" for each in recipes[first : first + batch]]
            command = [sys.executable, "-m", "mfsdp_lint", "dry-run", *names, "--tier", "cpu", "--python", python]
            done = subprocess.run(
                [*command, "--timeout", "300", "--output-format", "json"],
                cwd=into,
                env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
                stdout=subprocess.PIPE,
                check=False,
            )
            answers.write_bytes(done.stdout)
        told |= {recipe["name"]: recipe for recipe in json.loads(answers.read_bytes())["recipes"]}
        print(f"{first + len(recipes[first : first + batch])} of {len(recipes)}", file=sys.stderr, flush=True)
    return told


def judged(made: Made, told: Mapping[str, Any] | None) -> Judged:
    """Find a verdict's errors."""
    if told is None:
        return Judged(made, "not read", "not read", "")
    word = told["verdict"]
    confirmed = {finding["code"] for finding in told["findings"] if finding["verdict"] == "confirmed"}
    reason = _reason(told)
    false = ""
    if not made.code:
        false = f"false {word}" if word in ("confirmed", "failed", "refuted") else ""
    elif word in ("passed", "refuted") and made.severity == "error":
        false = f"false {word}"
    elif word == "confirmed" and confirmed.isdisjoint((made.code, *made.too)) and not _seen_as(made, told):
        false = "false confirmed"
    if word == "inconclusive" and not reason:
        false = "no reason"
    return Judged(made, word, false, reason)


def _seen_as(made: Made, told: Mapping[str, Any]) -> bool:
    """Tell whether the real start-up itself refused the mistake, for any rule."""
    return any(refusal["error"] for refusal in told["refusals"]) and bool(made.code)


def _reason(told: Mapping[str, Any]) -> str:
    """Return the reason why nothing was decided, or the error that was seen."""
    reasons = [told["why"], *(f"{each['code']}: {each['reason']}" for each in told["findings"] if each["reason"])]
    reasons += [f"{each['code']} takes {each['tier']}" for each in told["untried"] if each["severity"] == "error"]
    reasons += [refusal["error"] for refusal in told["refusals"] if refusal["code"] is None]
    if told["trained"] and not told["trained"]["fine"]:
        reasons.append(told["trained"]["told"])
    return "; ".join(" ".join(reason.split())[:160] for reason in reasons if reason)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True)
    parser.add_argument("--count", type=int, default=200, help="of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--into")
    options = parser.parse_args()
    recipes = [*right_ones(options.count), *wrong_ones(options.count, options.seed)]
    with tempfile.TemporaryDirectory() as temporary:
        into = Path(options.into or temporary).absolute()
        into.mkdir(parents=True, exist_ok=True)
        told = tried(recipes, into, os.path.abspath(options.python), options.batch)
    return report([judged(made, told.get(made.name)) for made in recipes])


def report(verdicts: Sequence[Judged]) -> int:
    """Print false verdicts, the reasons of open ones, and the tables; return the exit code."""
    for each in verdicts:
        if each.false:
            print(f"{each.false}: {each.made.name} ({each.made.family}) {each.made.code}: {each.reason}")
    words = ("passed", "confirmed", "failed", "refuted", "inconclusive", "not read")
    for title, kind in (("family", lambda each: each.made.family), ("made with", _kind)):
        rows: dict[str, Counter[str]] = defaultdict(Counter)
        for each in verdicts:
            rows[kind(each)].update([each.word, "false"] if each.false else [each.word])
        print(f"\n| {title} | " + " | ".join((*words, "false")) + " |\n|" + "---|" * (len(words) + 2))
        for name, row in sorted(rows.items()):
            print(f"| {name} | " + " | ".join(str(row[word]) for word in (*words, "false")) + " |")
    reasons = Counter(f"{each.made.code or 'right'}: {each.reason}" for each in verdicts if each.word == "inconclusive")
    print("\ninconclusive, for:")
    for reason, count in reasons.most_common():
        print(f"{count:4} {reason}")
    return 1 if any(each.false for each in verdicts) else 0


def _kind(each: Judged) -> str:
    return f"a mistake ({each.made.severity})" if each.made.code else "no mistake"


if __name__ == "__main__":
    sys.exit(main())
