"""Judges `mfsdp-lint upgrade` by the source of both releases, and by the real code where there is a Python for it.

    PYTHONPATH=src:. python benchmarks/upgrade.py --trees DIR [--real PYTHON --harness DIR [--new DIR --old DIR]]
        [--pair OLD:NEW …] [--every N] [--no-pin]

TREES has VERSION/bridge and VERSION/core, the source of releases. Users' files are written for the old release, in the
shapes below and on recipes of many families; each is upgraded with --write --pin and evaluated: as it was with the
source of the old release, and as it is then with that of the new one. The tool itself reads neither: it has its
snapshots. With --real and --harness the files are run by upstream's own code on both sides (NEW and OLD are folders
with the packages that newer and older releases want), and not evaluated.

Every setting that both configurations have is compared. A difference is *said* where the report lists it: as a change
that is left, or as a break. Printed are, for each pair of releases, the files that work before and after, the settings
that are equal, the differences that are said and that are not, and those that are reported though nothing differs,
or as other values. With --no-pin only what breaks is edited, so that every change of upstream has to be in the report.

    PYTHONPATH=src:. python benchmarks/upgrade.py --trees DIR --examples

judges by upstream's own history instead: every Python file below examples/, scripts/ and tests/functional_tests of a
release that is still there in the next one. For each name of the library that the file uses and the next release lacks,
the successor that is proposed, or the only candidate, is looked for in upstream's own next text of the file. (What is
known of upstream's replacements is of other folders: tools/upstream_successors.py.) With --moved BEFORE AFTER and
--pair, the files of any project are, before and after it moved from one release to another.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from mfsdp_lint.core.values import Known, Value
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import resolve_target
from mfsdp_lint.readers.python.read import read_python
from mfsdp_lint.upgrade.breaks import library_breaks
from mfsdp_lint.upgrade.library import Library
from mfsdp_lint.upgrade.names import names_in
from mfsdp_lint.upgrade.run import Upgrade, upgrade

RELEASES = ("0.2.0", "0.3.1", "0.4.2", "0.5.1", "0.6.0", "head")
_OLD = ("0.2.0", "0.3.1")
WORKER = Path(__file__).parents[1] / "scripts" / "upgrade_worker.py"

RECIPES = (
    ("llama", "llama3_8b_pretrain_config"),
    ("llama", "llama3_70b_pretrain_config"),
    ("llama", "llama32_1b_pretrain_config"),
    ("llama", "llama3_8b_finetune_config"),
    ("llama", "llama3_8b_sft_config"),
    ("llama", "llama3_70b_peft_config"),
    ("qwen", "qwen3_8b_pretrain_config"),
    ("qwen", "qwen25_7b_pretrain_config"),
    ("qwen", "qwen3_30b_a3b_pretrain_config"),
    ("qwen", "qwen3_4b_finetune_config"),
    ("qwen", "qwen3_4b_sft_config"),
    ("deepseek", "deepseek_v2_lite_pretrain_config"),
    ("gemma", "gemma3_1b_pretrain_config"),
    ("glm", "glm45_air_106b_pretrain_config"),
    ("moonlight", "moonlight_16b_pretrain_config"),
    ("nemotronh", "nemotronh_4b_pretrain_config"),
    ("gpt_oss", "gpt_oss_20b_pretrain_config"),
    ("gpt_oss", "gpt_oss_20b_finetune_config"),
)
"""Families of recipes, by package; those that the old release lacks are left out."""

SHAPES = {
    "returned": "from {module} import {recipe}\n\n\ndef mine():\n    return {recipe}({given})\n",
    "assigned": (
        "from {module} import {recipe} as base\n\n\ndef mine():\n    cfg = base({given})\n"
        "    cfg.train.train_iters = 100\n    cfg.ddp.use_megatron_fsdp = True\n"
        '    cfg.checkpoint.ckpt_format = "fsdp_dtensor"\n    return cfg\n'
    ),
    "by module": (
        "from {package} import {family}\n\n\ndef mine():\n    cfg = {family}.{recipe}({given})\n"
        "    cfg.optimizer.lr = 1e-5\n    cfg.model.tensor_model_parallel_size = 2\n    return cfg\n"
    ),
    "helper": (
        "from {module} import {recipe}\n\n\ndef shard(cfg):\n    cfg.dist.use_megatron_fsdp = True\n"
        "    cfg.ddp.use_megatron_fsdp = True\n    cfg.ddp.average_in_collective = False\n    return cfg\n\n\n"
        "def mine(fsdp=True):\n    cfg = {recipe}({given})\n    if fsdp:\n        cfg = shard(cfg)\n    return cfg\n"
    ),
    "two on one base": (
        "from {module} import {recipe}\n\n\ndef base():\n    cfg = {recipe}({given})\n"
        "    cfg.train.micro_batch_size = 1\n    return cfg\n\n\n"
        "def mine():\n    cfg = base()\n    cfg.train.global_batch_size = 64\n    return cfg\n"
    ),
    "launched": (
        "from {module} import {recipe}\nfrom megatron.bridge.training.gpt_step import forward_step\n"
        "from megatron.bridge.training.pretrain import pretrain\n\n\ndef main():\n    cfg = {recipe}({given})\n"
        "    cfg.logger.log_interval = 5\n    pretrain(cfg, forward_step)\n\n\n"
        'if __name__ == "__main__":\n    main()\n'
    ),
}
"""Shapes in which users write recipes."""

ARGUMENTS = ('train_iters=50, name="mine"', "seq_length=2048, global_batch_size=64", "")
"""Given in turn to recipes that take such."""


@dataclass
class User:
    """A user's file: what it is, the folder that it is in, and how its configuration is asked for."""

    name: str
    text: str
    ask: str


def users(version: str) -> Iterator[User]:
    """Yield the users' files for a release."""
    library = Library(resolve_target(version))
    number = 0
    for family, recipe in RECIPES:
        module = f"megatron.bridge.recipes.{family}"
        if library.entry((module, recipe)) is None:
            continue
        for shape, text in SHAPES.items():
            takes = library.takes((module, recipe))
            given = ARGUMENTS[number % len(ARGUMENTS)]
            number += 1
            names = {each.partition("=")[0] for each in given.split(", ") if each}
            given = given if takes is not None and names <= takes else ""
            said = text.format(
                module=module, recipe=recipe, given=given, family=family, package="megatron.bridge.recipes"
            )
            yield User(f"{recipe} {shape}", said, "user.py" if shape == "launched" else "user.mine()")


@dataclass
class Count:
    """The figures of a pair of releases."""

    figures: Counter[str] = field(default_factory=Counter)
    unsaid: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    details: list[str] = field(default_factory=list)
    seconds: float = 0.0


Settings = Mapping[str, Any] | None


class Source:
    """Evaluates a file with the source of a release."""

    def __init__(self, trees: Path) -> None:
        self._trees = trees

    def made(self, version: str, folders: Sequence[Path], asks: Sequence[str]) -> list[Settings]:
        tree = self._trees / version
        return [self._settings(folder / "user.py", ask, tree) for folder, ask in zip(folders, asks, strict=True)]

    def _settings(self, path: Path, ask: str, tree: Path) -> Settings:
        read = read_python([str(path)], Sources(), search_path=[str(tree / "bridge" / "src"), str(tree / "core")])
        found = [each for each in read.recipes if each.name == "mine" or each.kind == "script" or each.name == "main"]
        if not found or found[0].partial:
            return None
        known = ((each, found[0].setting(each).value) for each in found[0].paths())
        return {path: value.value for path, value in known if isinstance(value, Known)}


class Real:
    """Runs a file by upstream's own code."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options

    def made(self, version: str, folders: Sequence[Path], asks: Sequence[str]) -> list[Settings]:
        options, tree = self._options, Path(self._options.trees) / version
        with tempfile.TemporaryDirectory() as scratch:
            jobs, out = Path(scratch) / "jobs.json", Path(scratch) / "out.json"
            jobs.write_text(
                json.dumps([{"folder": str(each), "ask": ask} for each, ask in zip(folders, asks, strict=True)])
            )
            command = [options.real, str(WORKER), "--harness", options.harness, "--jobs", str(jobs), "--out", str(out)]
            command += ["--bridge", str(tree / "bridge"), "--core", str(tree / "core"), "--scratch", scratch]
            overlay = options.old if version in _OLD else options.new
            subprocess.run([*command, *(["--overlay", overlay] if overlay else [])], check=True, stdout=sys.stderr)
            return [each.get("settings") for each in json.loads(out.read_text())]


def judged(old: str, new: str, options: argparse.Namespace) -> Count:
    """Upgrade every user's file from one release to another, and compare."""
    count = Count()
    every = list(islice(users(old), None, None, options.every))
    backend = Real(options) if options.real else Source(options.trees)
    with tempfile.TemporaryDirectory(prefix="upgrade-") as scratch:
        folders = []
        for number, user in enumerate(every):
            folder = Path(scratch) / "before" / f"u{number}"
            folder.mkdir(parents=True)
            (folder / "user.py").write_text(user.text)
            folders.append(folder)
        before = backend.made(old, folders, [user.ask for user in every])
        found: list[Upgrade] = []
        after_folders = []
        for number, (user, folder) in enumerate(zip(every, folders, strict=True)):
            there = Path(scratch) / "after" / f"u{number}"
            there.mkdir(parents=True)
            start = time.process_time()
            one = upgrade(Options(paths=(str(folder / "user.py"),), cache=False), new, old, pin=not options.no_pin)
            count.seconds += time.process_time() - start
            (there / "user.py").write_text(one.texts.get(str(folder / "user.py"), user.text))
            found.append(one)
            after_folders.append(there)
        after = backend.made(new, after_folders, [user.ask for user in every])
        for user, one, then, now in zip(every, found, before, after, strict=True):
            _compare(user, one, then, now, count)
    return count


def _compare(user: User, found: Upgrade, then: Settings, now: Settings, count: Count) -> None:
    figures = count.figures
    figures["files"] += 1
    if then is None:
        figures["do not work before"] += 1
        return
    if now is None:
        said = [each for each in found.breaks if not each.edits]
        figures["stopped, and said"] += bool(said)
        if not said:
            figures["stopped, not said"] += 1
            count.failed.append(user.name)
        return
    said_paths = {each.path for each in found.changes}
    written = {each.path for each in found.changes if each.cause != "start-up"}
    moved = found.compared.moved
    figures["settings that moved"] += len(moved)
    shared = [path for path in then if path in now and path not in moved and not _is_internal(path)]
    different = {path for path in shared if _unlike(then[path], now[path])}
    figures["settings"] += len(shared)
    figures["equal"] += len(shared) - len(different)
    figures["different, said"] += len(different & said_paths)
    real = {
        each.path
        for each in found.changes
        if each.path in different and each.cause != "start-up"
        if _tells(each.old, then[each.path]) and _tells(each.new, now[each.path])
    }
    otherwise = (different & written) - real
    figures["different, said as other values"] += len(otherwise)
    undecided = set(found.compared.undecided) - said_paths
    figures["different, said to be unknown"] += len(different & undecided)
    figures["different, not said"] += len(different - said_paths - undecided)
    count.unsaid.update(different - said_paths - undecided)
    false = {path for path in written & set(shared) if not _unlike(then[path], now[path])}
    figures["said, not different"] += len(false)
    count.wrong.update(false)
    for path in sorted((different - said_paths - undecided) | false | otherwise):
        count.details.append(f"{user.name}: {path}: {then[path]!r} → {now[path]!r}"[:160])


def _tells(told: Value, real: Any) -> bool:
    return not isinstance(told, Known) or not _unlike(told.value, real)


def _is_internal(path: str) -> bool:
    return path.endswith(".__class__") or path.rpartition(".")[2].startswith("_")


def _unlike(one: Any, other: Any) -> bool:
    return bool(json.dumps(one, default=str, sort_keys=True) != json.dumps(other, default=str, sort_keys=True))


FOLDERS = ("examples", "scripts", "tests/functional_tests")
"""Upstream's files that judge successors."""


def by_history(
    old: str, new: str, before: Path, after: Path, folders: Sequence[str] = FOLDERS
) -> tuple[Counter[str], list[str]]:
    """Compare the successors of names with the next text of the same files; return figures and contradictions."""
    libraries = Library(resolve_target(old)), Library(resolve_target(new))
    figures, against = Counter[str](), []
    for folder in folders:
        for path in sorted((before / folder).rglob("*.py")):
            there = after / path.relative_to(before)
            here = names_in(str(path), path.read_text(encoding="utf-8"))
            if here is None or not there.is_file():
                continue
            text = there.read_text(encoding="utf-8")
            uses = names_in(str(there), text)
            theirs = {use.name for use in uses.names} if uses else set()
            added = theirs - {use.name for use in here.names}
            for each in library_breaks([here], *libraries):
                if each.kind != "name":
                    continue
                name = each.what.rpartition(".")[2]
                listed = [candidate.name[1] for candidate in each.candidates]
                proposed = each.successor.rpartition(".")[2] or (listed[0] if len(listed) == 1 else "")
                figures["names gone"] += 1
                if proposed != name and re.search(rf"\b{name}\b", text):
                    figures["still in the next text"] += 1
                elif proposed and re.search(rf"\b{proposed}\b", text):
                    how = "proposed" if each.successor else "one candidate"
                    figures[f"{how}, as it was written"] += 1
                elif any(re.search(rf"\b{candidate}\b", text) for candidate in listed):
                    figures["listed among others, one as it was written"] += 1
                elif not added:
                    figures["no other name is used in its place"] += 1
                elif proposed:
                    figures["proposed, not in the next text"] += 1
                    against.append(f"{path.relative_to(before)}: {each.what} → {proposed}; written: {sorted(added)}")
                else:
                    figures["no proposal"] += 1
                    against.append(f"{path.relative_to(before)}: {each.what} → nothing; written: {sorted(added)}")
    return figures, against


def main() -> int:
    """Print the figures of every pair of releases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trees", type=Path, required=True)
    for name in ("real", "harness", "old", "new"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--pair", action="append", metavar="OLD:NEW")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth of the files alone")
    parser.add_argument("--moved", nargs=2, metavar=("BEFORE", "AFTER"), help="the same, for another project's files")
    parser.add_argument("--no-pin", action="store_true", help="judge the report of what changes, and edit breaks alone")
    parser.add_argument("--show", type=int, default=12)
    parser.add_argument("--examples", action="store_true", help="judge by upstream's own history")
    options = parser.parse_args()
    if options.examples or options.moved:
        for old, new in [each.split(":") for each in options.pair or map(":".join, pairwise(RELEASES))]:
            if options.moved:
                figures, against = by_history(old, new, *map(Path, options.moved), folders=["."])
            else:
                figures, against = by_history(old, new, *(options.trees / each / "bridge" for each in (old, new)))
            print(f"{old} → {new}: {dict(figures)}", *against[: options.show], sep="\n  ", flush=True)
        return 0
    pairs = [each.split(":") for each in options.pair or ()]
    pairs = pairs or [[old, new] for at, old in enumerate(RELEASES[:-1]) for new in RELEASES[at + 1 :]]
    total = Counter[str]()
    for old, new in pairs:
        count = judged(old, new, options)
        total += count.figures
        print(
            f"{old} → {new}: {dict(count.figures)} {count.seconds / max(count.figures['files'], 1):.2f} s a file",
            flush=True,
        )
        for title, rows in (("not said", count.unsaid), ("said, not different", count.wrong)):
            if rows:
                print(f"  {title}: {rows.most_common(options.show)}", flush=True)
        print(*(f"    {line}" for line in count.details[: options.show]), sep="\n", flush=True)
        if count.failed:
            print(f"  stopped, not said: {count.failed[: options.show]}", flush=True)
    print(f"all: {dict(total)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
