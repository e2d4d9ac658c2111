#!/usr/bin/env python3
"""Counts the training launches that a real bash starts from a tree's scripts, and those that `mfsdp-lint runs` lists.

    python -m benchmarks.launches_of_a_tree TREE [--under examples --under scripts] [--elsewhere] [--list] OPTION …

Every shell script runs in the sandbox of shell_against_bash.py, over the tree, with the programs that train recorded
instead of run. It runs as it is, and with its inputs filled in: variables that it needs or refuses to find empty, also
those that it empties itself, and arguments, also the words of its `case`s. What any way starts counts. A program trains
if its text, or that of a file beside it which it names, calls `pretrain`, `finetune` or `train`. A launch is in the
linter's list if a run of the script has its program and its recipe, and told if the script is in the list of what was
not followed. With --elsewhere the list is made again from other working directories and must be equal. All other
options are the linter's. It takes root, as the sandbox does. Exit status 1 where a launch is neither listed nor told,
a run is listed that no way starts, or a directory changes the list.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.shell.compare import outside
from benchmarks.shell.sandbox import Command, Sandbox
from scripts.linter import document

PROGRAMS = ("sed", "grep", "awk", "tr", "cut", "head", "tail", "seq", "date", "wc", "sort", "readlink", "mktemp")
PROGRAMS += ("ls", "cp", "rm", "ln", "touch", "chmod", "expr", "find", "true", "uname", "id")
PLACE = "opt/Megatron-Bridge"
"""Where the tree lies in the sandbox: Bridge's own scripts expect it there, in their container."""
FILLED = ("1", "/opt", "/bin/bash")
"""What an input is filled in with: a number or a word, a folder, a file."""

_REFUSED = re.compile(r"""-[zdef]\s+"?\$\{?(\w+)|\$\{(\w+):?\?|"\$\{?(\w+)(?::?-)?\}?"\s*==?\s*(?:""|'')""")
_TRAINS = re.compile(r"^[^#\n]*(?<![.\w])(?:pretrain|finetune|train)(?:_\w+)?\(", re.MULTILINE)
_CASES = re.compile(r"^\s*\(?([\w.|-]+)\)", re.MULTILINE)
_SHELLS = ("bash", "sh")
_RUNNERS = ("torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch")


class Launch(NamedTuple):
    """A training program as bash starts it: the name of its file, and its arguments."""

    program: str
    words: tuple[str, ...]


def launches(root: Path, recorded: Sequence[Command]) -> Iterator[Launch]:
    """Yield the recorded commands that start training; what a shell among them starts is recorded by itself."""
    for words in (each.words for each in recorded):
        for number, word in enumerate(words):
            if os.path.basename(word) in _SHELLS:
                break
            program = words[number + 1].replace(".", "/") + ".py" if word == "-m" and number + 1 < len(words) else word
            if program.endswith(".py") and program[:-3].replace("/", ".") not in _RUNNERS:
                if _program_trains(root, os.path.basename(program)):
                    yield Launch(os.path.basename(program), words[number + 1 + (word == "-m") :])
                break


@cache
def _program_trains(root: Path, name: str) -> bool:
    return any(_trains(path, frozenset()) for path in _named(root).get(name, ()))


@cache
def _named(root: Path) -> Mapping[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for path in root.rglob("*.py"):
        found.setdefault(path.name, []).append(path)
    return found


def _trains(path: Path, seen: frozenset[Path]) -> bool:
    text = path.read_text("utf-8", "replace")
    named = r"""(?m)^\s*(?:from|import)\s+\.?{0}\b|["'/]{0}\.py\b"""
    beside = {each for each in path.parent.glob("*.py") if re.search(named.format(each.stem), text)} - seen - {path}
    return bool(_TRAINS.search(text)) or any(_trains(each, seen | beside | {path}) for each in beside)


def ways(text: str) -> Iterator[tuple[str, dict[str, str], list[str], str]]:
    """Yield the ways to start a script: its text, its environment, its arguments, and what other programs say."""
    yield text, {}, [], ""
    refused = {name for names in _REFUSED.findall(text) for name in names if name}
    needed = refused | {name for name, can_do_without in outside(text) if not can_do_without}
    cases = dict.fromkeys(word for words in _CASES.findall(text) for word in words.split("|"))
    for value, arguments in (*((each, 0) for each in FILLED), *((each, 12) for each in (*FILLED, *cases))):
        empty = re.compile(rf"^(\s*(?:export\s+)?(?:{'|'.join(refused) or '-'})=)(?:\"\"|'')?(?=\s*(?:#|$))", re.M)
        given = value if value in FILLED else FILLED[0]
        yield empty.sub(rf"\g<1>{given}", text), dict.fromkeys(needed, given), [value] * arguments, "1"


def started(sandbox: Sandbox, root: Path, script: str) -> list[Launch]:
    """Return the different launches that any way starts."""
    every = dict[Launch, None]()
    for text, environment, arguments, says in ways((root / script).read_text("utf-8", "replace")):
        recorded = sandbox.run({script: text}, script, environment, says, arguments, PLACE, root)
        every.update(dict.fromkeys(launches(root, recorded or ())))
    return list(every)


def listed(root: Path, folder: Path, options: Sequence[str], paths: Sequence[str]) -> dict[str, Any]:
    """Return the linter's document for paths, asked from a folder; its paths are those from the root of the tree."""
    found = document(folder, "runs", *options, *paths)
    for each in (*found["runs"], *found["not_followed"]):
        each["path"] = os.path.relpath(os.path.join(folder, each["path"]), root)
    return found


def _is(root: Path, run: Mapping[str, Any], launch: Launch) -> bool:
    """Tell whether a run may be a launch: of its program, or of one that this names and starts in turn."""
    name = os.path.basename(run["program"])
    name = name if name.endswith(".py") else f"{name.rpartition('.')[2]}.py"
    texts = (path.read_text("utf-8", "replace") for path in _named(root).get(launch.program, ()))
    same = name == launch.program or any(name in text for text in texts)
    recipes = (run["recipe"] or "?").split("|")
    return same and any("?" in recipe or any(recipe in word for word in launch.words) for recipe in recipes)


def _same(found: Mapping[str, Any], below: str = "") -> list[str]:
    """Return the lines of a list for the scripts below a folder: their own numbers and words, not the directory's."""
    kept = ("path", "line", "recipe", "overrides", "environment", "requires", "runs", "world_size")
    lines = [{name: run[name] for name in kept} for run in found["runs"]] + found["not_followed"]
    return sorted(json.dumps(each, sort_keys=True) for each in lines if each["path"].startswith(below))


def main() -> int:
    """Print a line for each script that something is wrong with (all with --list), and the sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--under", action="append", metavar="FOLDER")
    parser.add_argument("--elsewhere", action="store_true")
    parser.add_argument("--list", action="store_true")
    arguments, options = parser.parse_known_args()
    root = arguments.tree.resolve()
    folders = arguments.under or [each for each in ("examples", "scripts") if (root / each).is_dir()]
    found = listed(root, root, options, folders)
    scripts = (path.relative_to(root) for part in folders for path in (root / part).rglob("*.sh"))
    sums: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        sandbox = Sandbox(Path(folder), PROGRAMS)
        for script in sorted(map(str, scripts)):
            runs = [each for each in found["runs"] if each["path"] == script]
            told = [each for each in found["not_followed"] if each["path"] == script]
            every = started(sandbox, root, script)
            missing = [each for each in every if not any(_is(root, run, each) for run in runs)]
            extra = [run for run in runs if every and not any(_is(root, run, each) for each in every)]
            sums.update(scripts=1, starting=bool(every), launches=len(every), runs=len(runs))
            sums.update({"runs of scripts that no way starts": 0 if every else len(runs)})
            sums.update(told=len(missing) if told else 0, missing=0 if told else len(missing), superfluous=len(extra))
            if missing or extra or (arguments.list and every):
                print(f"{script}: {len(every)} launches, {len(runs)} runs")
            for each in missing:
                reason = f"told: {told[0]['line']}: {told[0]['message']}" if told else "missing"
                print(f"    {reason}: {each.program} {' '.join(each.words)[:150]}")
            for run in extra:
                print(f"    superfluous: line {run['line']}: {run['program']} {run['recipe']}")
    print(", ".join(f"{name} {number}" for name, number in sums.items()))
    differing = sum(_elsewhere(root, found, options, folders)) if arguments.elsewhere else 0
    return int(bool(sums["missing"] or sums["superfluous"] or differing))


def _elsewhere(root: Path, found: Mapping[str, Any], options: Sequence[str], folders: Sequence[str]) -> Iterator[int]:
    """Yield the number of differing lines from each other directory: one out of the tree, and those with a run."""
    yield _compare("/", _same(found), listed(root, Path("/"), options, [str(root / each) for each in folders]))
    for folder in sorted({*folders, *(os.path.dirname(run["path"]) for run in found["runs"])}):
        yield _compare(folder, _same(found, f"{folder}/"), listed(root, root / folder, options, ["."]))


def _compare(folder: str, expected: list[str], found: Mapping[str, Any]) -> int:
    differing = sorted(set(expected) ^ set(_same(found)))
    print(f"from {folder}: {len(expected)} lines, {len(differing)} differ", *differing[:4], sep="\n    ")
    return len(differing)


if __name__ == "__main__":
    sys.exit(main())
