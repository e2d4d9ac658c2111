#!/usr/bin/env python3
"""Judgement of the real package on injected recipes, before and after `--fix`.

    python benchmarks/fixes_by_the_real_package.py --python PYTHON --harness DIR --tree BRIDGE --core CORE
        [--overlay DIR] [--version 0.3.1] [--wanted 300] [--seed 0]

Injections (see injections.py) are drawn and fixed until there are enough that start-up should refuse before and accept
after, according to the rules. Then PYTHON, which has torch, runs the users' files with the package's own source, and
its own start-up says whether it does. HARNESS has the stand-ins for packages that need a GPU (oracle_lib.py). A
refusal for another reason that also concerns upstream's own recipe says nothing about a fix, and is left out.

Exit code 1 where it says anything else.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from benchmarks.injected.draw import Injection, drawn, judged  # noqa: E402
from benchmarks.injected.pitfalls import pitfalls, stops_runs  # noqa: E402
from benchmarks.injected.trial import Verdict  # noqa: E402
from mfsdp_lint.megatron.versions import resolve_target  # noqa: E402

WORKER = Path(__file__).parents[1] / "scripts" / "injected_worker.py"
LEFT_OUT = "left out: upstream's own recipe is refused"
_SPARE = 1.1  # for those that are left out
_AT_A_TIME = 100
_MOST_ROUNDS = 40


def foreseen(options: argparse.Namespace) -> Iterator[tuple[Injection, Verdict]]:
    """Yield injections whose first caller start-up should refuse before, by the injected rule, and accept after."""
    found = 0
    target = resolve_target(options.version)
    codes = {pitfall.code for pitfall in pitfalls(target) if stops_runs(pitfall.code, target)}
    for number in range(_MOST_ROUNDS):
        for injection in drawn(options.version, Path(options.tree), _AT_A_TIME, options.seed + number, codes):
            verdict = judged(injection, options.version)
            before, after = verdict.refused
            if verdict.state == "fixed" and injection.pitfall.code in before and not after:
                yield injection, verdict
                found += 1
                if found >= options.wanted * _SPARE:
                    return


def asked(folder: Path, injection: Injection, files: Mapping[str, str]) -> dict[str, str]:
    """Write the files to the folder, and return the request about them."""
    folder.mkdir(parents=True)
    for path, text in files.items():
        (folder / path).write_text(text, encoding="utf-8")
    project = injection.project()
    return {"folder": str(folder), "ask": (*project.calls, *project.alone)[0]}


def untouched(folder: Path, injection: Injection) -> dict[str, str]:
    """Write a file that calls upstream's own recipe, and return the request about it."""
    folder.mkdir(parents=True)
    recipe = injection.recipe
    (folder / "untouched.py").write_text(f"from {recipe.module} import {recipe.name}\n")
    return {"folder": str(folder), "ask": f"untouched.{recipe.name}()"}


def answers(questions: list[dict[str, str]], scratch: Path, options: argparse.Namespace) -> list[str | None]:
    """Return the real start-up's answer to each request."""
    (scratch / "asked.json").write_text(json.dumps(questions))
    command = [options.python, str(WORKER), "--harness", options.harness, "--bridge", options.tree]
    command += ["--core", options.core, "--scratch", str(scratch), "--asked", str(scratch / "asked.json")]
    command += ["--out", str(scratch / "out.json"), *(["--overlay", options.overlay] if options.overlay else [])]
    subprocess.run(command, check=True)
    found: list[str | None] = json.loads((scratch / "out.json").read_text())
    return found


def main() -> int:
    """Draw, fix, ask."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True)
    parser.add_argument("--harness", required=True)
    parser.add_argument("--tree", required=True, help="Megatron-Bridge's source")
    parser.add_argument("--core", required=True, help="Megatron-Core's source")
    parser.add_argument("--overlay", help="older packages that this version wants")
    parser.add_argument("--version", default="0.3.1")
    parser.add_argument("--wanted", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name).resolve()
        pairs = list(foreseen(options))
        print(f"{len(pairs)} injections drawn and fixed, {time.monotonic() - began:.0f} s", flush=True)
        questions = []
        for number, (injection, verdict) in enumerate(pairs):
            questions.append(asked(scratch / f"{number}" / "before", injection, verdict.before or {}))
            questions.append(asked(scratch / f"{number}" / "after", injection, verdict.after or {}))
            questions.append(untouched(scratch / f"{number}" / "untouched", injection))
        said = answers(questions, scratch, options)
    outcomes: Counter[str] = Counter()
    by_rule: Counter[str] = Counter()
    for (injection, _), before, after, own in zip(pairs, said[::3], said[1::3], said[2::3], strict=True):
        if after is not None and after == own:
            outcomes[LEFT_OUT] += 1
            continue
        outcome = (
            f"{'accepts' if before is None else 'refuses'} before, {'accepts' if after is None else 'refuses'} after"
        )
        outcomes[outcome] += 1
        by_rule[injection.pitfall.code] += 1
        if before is None or after is not None:
            print(f"{injection}\n  before: {before}\n  after: {after}")
    for outcome, count in outcomes.most_common():
        print(f"{count:5} {outcome}")
    print(", ".join(f"{count} of {code}" for code, count in sorted(by_rule.items())))
    print(f"{time.monotonic() - began:.0f} s")
    del outcomes[LEFT_OUT]
    return int(sum(outcomes.values()) < options.wanted or set(outcomes) != {"refuses before, accepts after"})


if __name__ == "__main__":
    sys.exit(main())
