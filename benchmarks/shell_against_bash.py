#!/usr/bin/env python3
"""Asks a real bash what scripts launch, and compares it with what the reader of shell says.

    python benchmarks/shell_against_bash.py --generated 2000 [--from 0] [--show 3]
    python benchmarks/shell_against_bash.py --files FOLDER [--show 3]

The scripts run in a sandbox (benchmarks/shell/sandbox.py): no network, a root folder of their own, every program
replaced by one that records its words and its environment. It takes root, for `unshare` and `chroot`. Exit status 1
where anything that is said is wrong, or less than 97 % is decided of what does not depend on the outside.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.shell.compare import Told, compare, launches, outside, read
from benchmarks.shell.sandbox import Sandbox
from benchmarks.shell.scripts import script

ENOUGH = 0.97
ROOT = "/one/of/the/places/where/it/may/lie/"

OUTSIDES = (("7", None, "7", "0"), ("0", "1", "0", "0"), ("true", "true", "true", "0"), ("1", "0", "x", "1"))
"""What variables that a script needs hold (and its arguments, but for the first time), those that it can do without,
what programs write, and their status."""


def main() -> int:
    """Print the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--generated", type=int, default=0)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--files", type=Path)
    parser.add_argument("--show", type=int, default=0)
    arguments = parser.parse_args()
    every, counts = Told(), {"scripts": 0, "refused": 0, "given up": 0, "no launch": 0}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        sandbox = Sandbox(Path(folder))
        os.chdir(folder)
        for path, files in (*_generated(arguments.first, arguments.generated), *_real(arguments.files)):
            told = _told(sandbox, path, files, one=arguments.files is None)
            if isinstance(told, str):
                counts[told] += 1
                continue
            counts["scripts"] += 1
            for name in ("decided", "undecided", "outside", "launches"):
                setattr(every, name, getattr(every, name) + getattr(told, name))
            for kind, said in (("WRONG", told.wrong), ("open", told.open)):
                if said and arguments.show > 0:
                    arguments.show -= kind == "WRONG" or arguments.files is None
                    print(f"{kind} {path}", *[each.replace("\uf8ff", "?")[:300] for each in said[:3]], sep="\n    ")
                    if arguments.files is None:
                        print(files[path])
            every.wrong += told.wrong
    of = every.decided + every.undecided
    share = every.decided / of if of else 1.0
    print(
        counts, f"launches {every.launches}, wrong {len(every.wrong)}, decided {every.decided} of {of} ({share:.1%}),"
    )
    print(f"and {every.outside} that depend on the outside")
    return int(bool(every.wrong) or share < ENOUGH)


def _told(sandbox: Sandbox, path: str, files: Mapping[str, str], *, one: bool) -> Told | str:
    names = dict(outside(files[path]))
    runs = []
    for need, can_do_without, says, status in OUTSIDES[: 1 if one else None]:
        given = {name: can_do_without if without else need for name, without in names.items()}
        environment = {name: value for name, value in given.items() if value is not None and not one}
        inside = {name.removeprefix(ROOT): text for name, text in files.items()}
        words = [need] * (0 if can_do_without is None else 20)
        environment |= {"STATUS": status}
        place = "one/of/the/places/where/it/may/lie" if can_do_without is None else "and/now/in/another/that/is/as/deep"
        recorded = sandbox.run(inside, path.removeprefix(ROOT), environment, "" if one else says, words, place)
        runs.append(None if recorded is None else launches(recorded))
    if runs[0] is None:
        return "refused"
    if not runs[0]:
        return "no launch"
    said = read(path, files)
    if said is None:
        return "given up"
    return compare(said, runs[0], [run or [] for run in runs[1:]], set(names))


def _generated(first: int, count: int) -> Iterator[tuple[str, Mapping[str, str]]]:
    for seed in range(first, first + count):
        yield f"{ROOT}s.sh", {f"{ROOT}s.sh": script(seed)}


def _real(folder: Path | None) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the scripts below a folder, each with the files beside it."""
    for path in sorted(folder.rglob("*.sh")) if folder else ():
        beside = [each for each in path.parent.iterdir() if each.is_file() and each.suffix in (".sh", ".env", ".conf")]
        texts = {f"{ROOT}{each.name}": each.read_text("utf-8", "replace") for each in beside[:60]}
        text = texts.setdefault(f"{ROOT}{path.name}", path.read_text("utf-8", "replace"))
        if "torchrun" in text or "python" in text:
            yield f"{ROOT}{path.name}", texts


if __name__ == "__main__":
    sys.exit(main())
