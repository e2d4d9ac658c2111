"""Comparison of the shell reader's launches with the commands that a real bash has recorded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.shell.sandbox import Command
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.shell.launch_command import LaunchedProgram, ShellLaunch, started_by
from mfsdp_lint.readers.shell.run import ScriptRunner, TooMuch
from mfsdp_lint.readers.shell.script import HOLE, Text, of_file, plain

VARIABLES = re.compile(r"(?:CUDA|NCCL|NVTE|PYTORCH)_\w+")
_OUTSIDE = re.compile(r"\$\(|`|-[fdesrwxLhp] |\bcommand\b|\bwhich\b")


@dataclass
class Told:
    """Words and variables of launches: decided, wrong, not decided, and what depends on the outside."""

    decided: int = 0
    undecided: int = 0
    outside: int = 0
    launches: int = 0
    wrong: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Real:
    """A launch as it was recorded: program and arguments, and its environment."""

    words: tuple[str, ...]
    environment: Mapping[str, str]


def read(path: str, files: Mapping[str, str]) -> list[ShellLaunch] | None:
    """Return the reader's launches; None if it gives up, and says so."""
    runner = ScriptRunner(path, Sources(files))
    try:
        runner.run(files[path])
    except (TooMuch, RecursionError):
        return None
    return None if runner.lost else runner.launches


def launches(recorded: Sequence[Command]) -> list[Real]:
    """Return those of the recorded commands that launch a Python program."""
    found = []
    for command in (each for each in recorded if each.words):
        seen = started_by([_text(word) for word in command.words])
        if isinstance(seen, LaunchedProgram):
            words = (plain(seen.program), *map(plain, seen.arguments))
            environment = {} if seen.fresh else dict(command.environment)
            for name, value in seen.environment.items():
                environment.pop(name, None)
                environment |= {} if value is None else {name: plain(value)}
            found.append(Real(words, {n: v for n, v in environment.items() if VARIABLES.fullmatch(n)}))
    return found


def compare(
    said: Sequence[ShellLaunch], first: Sequence[Real], others: Sequence[Sequence[Real]], given: set[str]
) -> Told:
    """Compare the reader's launches with the real ones of the first environment.

    `others` are the launches in other environments: a difference there depends on the environment. `given` are
    variables from there.
    """
    told = Told()
    for number, real in enumerate(first):
        elsewhere = [other[number] if number < len(other) else None for other in others]
        told.launches += 1
        fitting = [each for each in said if _fits(each, real, given)]
        if not fitting:
            told.wrong.append(f"{real.words} {dict(real.environment)}")
            continue
        best = min(fitting, key=lambda each: sum(HOLE in plain(word) for word in _words(each)))
        ways = [each for each in said if each.span == best.span and each.when]
        _tell(told, best, ways, real, elsewhere, given)
    for each in said:
        if not each.when and not each.given and not any(_fits(each, real, given) for real in first) and first:
            told.open.append(f"said, and not seen: {[plain(word) for word in _words(each)]}")
    return told


def _tell(
    told: Told,
    best: ShellLaunch,
    ways: Sequence[ShellLaunch],
    real: Real,
    elsewhere: Sequence[Real | None],
    given: set[str],
) -> None:
    same = [other for other in elsewhere if other is not None]
    gone = len(same) < len(elsewhere)
    decided_outside = any(
        _OUTSIDE.search(when) or given & set(re.findall(r"\w+", when)) for w in ways for when in w.when
    )
    spread = _spread(best, real)
    for number, word in enumerate(_words(best)):
        texts = {plain(_words(each)[number]) if number < len(_words(each)) else None for each in ways}
        here = spread[number]
        moved = gone or any(len(o.words) != len(real.words) or o.words[here] != real.words[here] for o in same)
        said = f"{plain(word)} {real.words[here]} {[p.lines.cut(p.span) for p in word if HOLE in p.text]}"
        moved = moved or all(piece.option for piece in word if HOLE in piece.text)
        _count(told, HOLE not in plain(word), len(texts) > 1, moved or decided_outside, said)
    for name in sorted({*real.environment, *filter(VARIABLES.fullmatch, best.environment)}):
        variable = best.environment.get(name)
        known = variable is not None and (variable.unset or HOLE not in plain(variable.text or (_hole(),)))
        texts = {_said(each, name) for each in ways}
        moved = gone or name in given or any(o.environment.get(name) != real.environment.get(name) for o in same)
        _count(told, known, len(texts) > 1, moved or decided_outside, f"{name} {real.environment.get(name)}")


def _count(told: Told, known: bool, differs: bool, outside: bool, said: str) -> None:
    if known and not differs:
        told.decided += 1
    elif outside:
        told.outside += 1
    else:
        told.undecided += 1
        told.open.append(f"{'differs' if differs else 'not known'}: {said}")


def _said(launch: ShellLaunch, name: str) -> str | None:
    variable = launch.environment.get(name)
    return None if variable is None or variable.text is None else plain(variable.text)


def _words(launch: ShellLaunch) -> list[Text]:
    return [launch.started.program, *launch.started.arguments]


def _fits(launch: ShellLaunch, real: Real, given: set[str]) -> bool:
    """Tell whether a launch contradicts a real one in nothing."""
    if _spread(launch, real, may_fail=True) is None:
        return False
    for name, variable in launch.environment.items():
        if not VARIABLES.fullmatch(name) or name in given:
            continue
        value = real.environment.get(name)
        if variable.unset:
            if value is not None:
                return False
        elif variable.text is not None and (value is None or not _pattern(variable.text).fullmatch(value)):
            return False
    return True


def _spread(launch: ShellLaunch, real: Real, *, may_fail: bool = False) -> dict[int, slice]:
    """Map each word of the launch to the real words that it covers; None if there is no such mapping (`may_fail`)."""
    said = _words(launch)
    patterns = [_pattern(word) for word in said]
    several = [any(piece.splits and HOLE in piece.text for piece in word) for word in said]
    ends: list[dict[int, int]] = [{0: 0}]  # after each word: where it may end, and where it then began
    for number, pattern in enumerate(patterns):
        after: dict[int, int] = {}
        for start in ends[-1]:
            most = len(real.words) if several[number] else min(start + 1, len(real.words))
            least = start if several[number] and not plain(said[number]).strip(HOLE) else start + 1
            for end in range(least, most + 1):
                if end not in after and pattern.fullmatch(" ".join(real.words[start:end])):
                    after[end] = start
        ends.append(after)
    end = len(real.words)
    if end not in ends[-1]:
        if may_fail:
            return None  # type: ignore[return-value]
        raise AssertionError("no way")
    found = {}
    for number in range(len(said), 0, -1):
        start = ends[number][end]
        found[number - 1] = slice(start, end)
        end = start
    return found


def _pattern(text: Text) -> re.Pattern[str]:
    parts = (".*" if piece.text == HOLE else re.escape(piece.text).replace(re.escape(HOLE), ".*") for piece in text)
    return re.compile("".join(parts), re.DOTALL)


def _hole() -> object:
    return _text(HOLE)[0]


def _text(word: str) -> Text:
    return of_file("", word)


def outside(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the variables that a script takes from outside, and whether it can do without each."""
    assigned = set(re.findall(r"(?<![\w$])([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=", text))
    assigned |= {
        name for names in re.findall(r"\b(?:for|read(?: -\w+)*|select)\s+([\w ]+)", text) for name in names.split()
    }
    used = re.findall(r"\$\{?([A-Za-z_]\w*)(:?[-=+])?", text)
    without = {name for name, operator in used if operator}
    for name in sorted({name for name, _ in used} - assigned - _OWN):
        yield name, name in without


_OWN = frozenset(
    [
        "BASH_SOURCE",
        "PWD",
        "OLDPWD",
        "RANDOM",
        "SECONDS",
        "UID",
        "EUID",
        "PIPESTATUS",
        "OPTARG",
        "OPTIND",
        "FUNCNAME",
        "LINENO",
        "IFS",
        "PATH",
        "HOME",
        "HOSTNAME",
        "BASHPID",
        "PPID",
        "SHELL",
        "BASH_VERSION",
        "BASH",
        "REPLY",
    ]
)
