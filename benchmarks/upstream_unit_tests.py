#!/usr/bin/env python3
"""Compare what `judge` says with what start-up does to the configurations of upstream's own unit tests.

    python benchmarks/upstream_unit_tests.py --python PYTHON --bridge-clone CLONE --core-clone CLONE [--older DIR]
        [--versions 0.2.0,0.6.0] [--keep DIR] [--show 10]

PYTHON has torch, pytest and what Megatron-Bridge imports; DIR has the older packages that releases before 0.4 import
(transformers 4). The clones have all tags; bare ones do. scripts/unit_tests_worker.py runs the tests of each version
and asks the real start-up about every configuration in them, as it stands and with FSDP switched on in several ways.
With --keep its answers stay in a folder, and what is there already is not asked again.

    false alarm     an error at start-up where start-up accepts
    out of order    errors, none with the text of the refusal, and one of a check that start-up makes before it
    not reached     errors, all of checks that start-up makes after a refusal that no rule tells
    unforeseen      a refusal without an error; "by FSDP" where start-up accepts the configuration without it
    wrong value     a setting that `will_run` changes, and start-up does not, or to another value
    not given       a setting of the vocabulary that start-up changes, and `will_run` does not

What is unforeseen is printed with its reason in docs/coverage.md. Exit code 1 for any false alarm, error out of
order or wrong value, and for any refusal by FSDP that is unforeseen without a reason.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from mfsdp_lint.core.finding import Finding  # noqa: E402
from mfsdp_lint.megatron.versions.releases import RELEASES, Release  # noqa: E402
from mfsdp_lint.megatron.vocabulary import table  # noqa: E402
from mfsdp_lint.rules.judging import judge  # noqa: E402
from mfsdp_lint.rules.load import load_rules  # noqa: E402
from scripts.unpack_release import FOLDERS, unpack  # noqa: E402
from tools.coverage.covered import SHORTEST, Covered, covered  # noqa: E402
from tools.coverage.known import read  # noqa: E402
from tools.evidenced import bridge_site  # noqa: E402
from tools.startup_order import Order  # noqa: E402
from tools.startup_order import read as read_orders  # noqa: E402

WORKER = ROOT / "scripts" / "unit_tests_worker.py"
TESTS = ("src", "tests/unit_tests/training", "tests/unit_tests/conftest.py", "tests/unit_tests/__init__.py")
AS_IT_STANDS = "as it stands"
_MEGATRON_FSDP = {"dist.use_megatron_fsdp": True, "ddp.use_megatron_fsdp": True}
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    AS_IT_STANDS: {},
    "Megatron-FSDP": _MEGATRON_FSDP,
    "torch FSDP2": {"dist.use_torch_fsdp2": True},
    "Megatron-FSDP as in the guide": {
        **_MEGATRON_FSDP,
        "ddp.data_parallel_sharding_strategy": "optim_grads_params",
        "ddp.use_distributed_optimizer": True,
        "optimizer.use_distributed_optimizer": True,
        "ddp.overlap_grad_reduce": True,
        "ddp.overlap_param_gather": True,
        "checkpoint.ckpt_format": "fsdp_dtensor",
        "model.gradient_accumulation_fusion": False,
    },
    "version 2 of Megatron-FSDP": {**_MEGATRON_FSDP, "ddp.megatron_fsdp_version": 2},
}
"""Settings on top of a test's configuration. A version without one of the fields goes without it."""

WORST = ("false alarm", "out of order", "wrong value", "unforeseen by FSDP, without a reason")


@dataclass(frozen=True, slots=True)
class Row:
    """A configuration, and what start-up did with it: `error` where it refused, else the settings `after` it."""

    configuration: int
    test: str
    variant: str
    settings: Mapping[str, Any]
    ranks: int
    environment: Mapping[str, str]
    error: Mapping[str, Any] | None
    after: Mapping[str, Any]

    @property
    def refusal(self) -> str:
        """The text of the refusal and the place that it comes from."""
        if self.error is None:
            return ""
        before, found, place = self.error["where"][-1].rpartition("/megatron/")
        return f"{self.error['type']} {self.error['text'][:100]!r} {f'megatron/{place}' if found else before}"


def rows_of(release: Release, folder: Path, options: argparse.Namespace) -> list[Row]:
    """Return the distinct configurations of a version's tests; ask start-up unless the folder has the answers."""
    answers = folder / f"{release.bridge}.jsonl"
    if not answers.exists():
        bridge, core = folder / release.bridge / "bridge", folder / release.bridge / "core"
        unpack(options.bridge_clone, release.commit, TESTS, bridge)
        unpack(options.core_clone, release.core_commit, FOLDERS["core"], core)
        older = [options.older] if options.older and release.bridge < "0.4" else []
        command = [options.python, str(WORKER), "--tests", "tests/unit_tests/training", "--te", release.te]
        command += ["--variants", json.dumps(VARIANTS), "--out", str(answers)]
        environment = {
            "PYTHONPATH": ":".join(map(str, [*older, bridge / "src", core])),
            "PYTHONDONTWRITEBYTECODE": "1",
            "CUDA_VISIBLE_DEVICES": "",
            "PATH": "/usr/bin:/bin",
            "HOME": str(folder),
        }
        done = subprocess.run(command, cwd=bridge, env=environment, capture_output=True, text=True, check=False)
        print(f"{release.bridge}: upstream's own tests: {done.stdout.strip().splitlines()[-1:]}", flush=True)
        if done.returncode:
            raise SystemExit(done.stderr[-2000:])
    distinct: dict[str, Row] = {}
    for line in answers.read_text(encoding="utf-8").splitlines():
        data = json.loads(line)
        key = json.dumps([data["settings"], data["world_size"], data["env"]], sort_keys=True)
        after = {**data["after"]["known"]} if data["error"] is None else {}
        named = (data[name] for name in ("configuration", "test", "variant", "settings", "world_size", "env", "error"))
        distinct.setdefault(key, Row(*named, after))
    return list(distinct.values())


def _given(row: Row) -> dict[str, Any]:
    """Make a mapping for `judge`; a setting that is only known to be set is an object without fields."""
    known, only_set = row.settings["known"], row.settings["set"]
    return {**dict.fromkeys(only_set, object()), **known, "env": row.environment}


def outcomes(rows: list[Row], version: str) -> Iterator[tuple[str, str]]:
    """Yield the outcomes of each row: a word of the table, and the text to print."""
    accepted = {row.configuration for row in rows if row.variant == AS_IT_STANDS and row.error is None}
    for row in rows:
        verdict = judge(_given(row), target=version, world_size=row.ranks)
        errors = [each for each in verdict.findings if (each.severity, each.stage) == ("error", "startup")]
        codes = ", ".join(each.code for each in errors)
        place = f"{row.variant}, {row.test}"
        yield ("refused" if row.error else "accepted"), ""
        if row.error is None:
            if errors:
                yield "false alarm", f"{codes} ({place})"
            yield from _changes(row, verdict.will_run, place)
        elif any(_is_told(each, row.error) for each in errors):
            yield "foreseen", ""
        elif errors:
            reached = _reached(errors, row.error, version)
            yield ("out of order" if reached else "not reached"), f"{reached or codes}: {row.refusal}"
        elif row.variant != AS_IT_STANDS and row.configuration in accepted:
            why = _reason(row.error, version)
            yield f"unforeseen by FSDP, {'with' if why else 'without'} a reason", f"{row.refusal}: {why or 'NO REASON'}"
        else:
            yield "unforeseen, FSDP or not", f"{row.refusal}: {_reason(row.error, version) or 'not in coverage'}"


def _changes(row: Row, will_run: Mapping[str, Any], place: str) -> Iterator[tuple[str, str]]:
    known, settings = row.settings["known"], table().entries
    for path, before in known.items():
        after = row.after.get(path, before)
        said = will_run.get(path, before)
        if said != before and said != after:
            yield "wrong value", f"{path}: {before!r} becomes {after!r}, not {said!r} ({place})"
        elif after != before and path in settings:
            yield ("not given" if said == before else "given"), f"{path}: {before!r} becomes {after!r}"


def _is_told(finding: Finding, error: Mapping[str, Any]) -> bool:
    foretold, text = (" ".join(each.split()).casefold() for each in (finding.raises or "", error["text"]))
    return len(foretold) >= SHORTEST and foretold in text


def _reached(errors: list[Finding], error: Mapping[str, Any], version: str) -> str:
    """Name the errors whose checks start-up makes before a refusal, or whose place in it is not known."""
    order = _orders()[version]
    path, line = _place(error)
    refused = order.positions(path, line)
    found = []
    for finding in errors:
        here = {rule.code: rule for rule in load_rules()}[finding.code].at(bridge_site(version).target)
        cases = here.cases if here else ()
        made = [place for case in cases if case.error for place in order.raising(case.error.pieces())]
        if not made or not refused or min(made) < refused[0]:
            found.append(finding.code)
    return ", ".join(found)


def _place(error: Mapping[str, Any]) -> tuple[str, int]:
    """Return the place of a refusal: the path from the import root, and the line."""
    path, _, line = error["where"][-1].partition(" ")[0].rpartition(":")
    return f"megatron/{path.rpartition('/megatron/')[2]}", int(line)


@cache
def _orders() -> Mapping[str, Order]:
    return read_orders()


@cache
def _coverage() -> list[Covered]:
    return covered(read(), load_rules())


def _reason(error: Mapping[str, Any], version: str) -> str:
    """Return the reason why no rule reports a refusal, by its line; "" if coverage has no such reason."""
    for frame in reversed(error["where"]):
        path, _, line = frame.partition(" ")[0].rpartition(":")
        for each in _coverage():
            if path.endswith(each.known.path) and any(
                check.is_at(int(line)) for check in each.known.at.get(version, ())
            ):
                return each.why or (f"a rule covers it: {', '.join(each.codes)}" if each.codes else "")
    return ""


def main() -> int:
    """Ask, judge, and print a line of figures for each version."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True)
    parser.add_argument("--bridge-clone", type=Path, required=True)
    parser.add_argument("--core-clone", type=Path, required=True)
    parser.add_argument("--older", type=Path)
    parser.add_argument("--versions", default=",".join(dict.fromkeys(release.data for release in RELEASES)))
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--show", type=int, default=10)
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for release in [release for release in RELEASES if release.bridge in options.versions.split(",")]:
            rows = rows_of(release, folder.resolve(), options)
            told = list(outcomes(rows, release.bridge))
            figures = Counter(word for word, _ in told)
            print(
                f"{release.bridge}: {len(rows)} rows, {', '.join(f'{count} {word}' for word, count in figures.items())}"
            )
            details = Counter((word, text) for word, text in told if word not in ("given", "foreseen") and text)
            for (word, text), count in details.most_common(options.show):
                print(f"  {count:4} {word}: {text}")
            wrong += sum(figures[word] for word in WORST)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
