#!/usr/bin/env python3
"""Compares the linter's result on checked-out repositories with what their text says.

    python -m scripts.public_repositories [--list] CHECKOUT …

By names alone, and independently of the linter, it finds every function (or top level) that calls a recipe of
`megatron.bridge`, makes a `ConfigContainer`, or calls `pretrain` or `finetune` of upstream. Each must be a recipe, be
called by one by its name, or be in the list of what could not be followed; what is neither is silent, and the exit
status is 1. Printed is a line of a table for each checkout; with --list also every function and what became of it.
Only files that speak of upstream are linted; seconds are those of the processor.
Nothing of a checkout is imported or run.
"""

from __future__ import annotations

import argparse
import ast
import resource
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.linter import document

UPSTREAM = "megatron.bridge"
LAUNCHERS = frozenset({"pretrain", "finetune"})
Place = tuple[str, int]
"""A file, from the root of its checkout, and the line where a function begins: its decorators count."""


@dataclass(slots=True)
class Caller:
    """A function, or the top level of a file, and the names that it calls."""

    path: str
    name: str
    line: int
    telling: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)

    @property
    def place(self) -> Place:
        return self.path, self.line


def callers(root: Path, parts: list[str]) -> Iterator[Caller]:
    """Yield the functions of files that mention upstream, with their calls; unparsable files are left out."""
    for path in sorted({path for part in parts for path in _python_files(root / part)}):
        text = path.read_text(encoding="utf-8", errors="replace")
        if UPSTREAM not in text and "ConfigContainer" not in text:
            continue
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        yield from _callers(str(path.relative_to(root)), "", tree, dict(_imported(tree)))


def _python_files(part: Path) -> Iterator[Path]:
    yield from [part] if part.is_file() else (path for path in part.rglob("*.py") if path.is_file())


def _callers(path: str, name: str, node: ast.AST, imported: dict[str, str]) -> Iterator[Caller]:
    decorators = getattr(node, "decorator_list", [])
    line = min([getattr(node, "lineno", 1), *(each.lineno for each in decorators)])
    here = Caller(path, name, line)
    pending = list(ast.iter_child_nodes(node))
    while pending:
        inner = pending.pop()
        if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _callers(path, f"{name}.{inner.name}" if name else inner.name, inner, imported)
            continue
        if isinstance(inner, ast.ClassDef):
            for each in inner.body:
                if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    inside = f"{name}.{inner.name}.{each.name}".removeprefix(".")
                    yield from _callers(path, inside, each, imported)
                else:
                    pending.append(each)
            continue
        if isinstance(inner, ast.Call):
            here.telling.extend(_telling(inner.func, imported))
        if isinstance(inner, (ast.Name, ast.Attribute)):
            here.names.add(getattr(inner, "id", getattr(inner, "attr", "")))
        pending.extend(ast.iter_child_nodes(inner))
    yield here


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from ((each.asname or each.name, f"{node.module}.{each.name}") for each in node.names)
        elif isinstance(node, ast.Import):
            yield from (
                (each.asname or each.name.partition(".")[0], (each.asname and each.name) or "") for each in node.names
            )


def _telling(function: ast.expr, imported: dict[str, str]) -> Iterator[str]:
    """Yield the dotted name of the called function, if that makes or launches a configuration."""
    if not isinstance(function, (ast.Name, ast.Attribute)):
        return
    head, dot, rest = ast.unparse(function).partition(".")
    name = f"{imported.get(head) or head}{dot}{rest}"
    parts = name.split(".")
    is_upstream = name.startswith(f"{UPSTREAM}.")
    is_recipe = is_upstream and "recipes" in parts and "utils" not in parts and parts[-1].endswith("_config")
    if parts[-1] == "ConfigContainer" or is_recipe or (is_upstream and parts[-1] in LAUNCHERS):
        yield name


@dataclass(frozen=True, slots=True)
class Result:
    """Result of the linter for a checkout, by place; `seconds` is its processor time."""

    recipes: frozenset[Place]
    unfollowed: dict[Place, str]
    findings: list[dict[str, Any]]
    seconds: float


def lint(root: Path, options: list[str], files: list[str]) -> Result:
    """Run the two commands on a checkout, or on some of its files. Raises RuntimeError if one of them fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    linted = document(root, "check", *options, "--show-unfollowed", *files)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    audited = document(root, "audit", "--settings", "ddp.use_megatron_fsdp", *options, *files)
    recipes = frozenset((each["path"], each["line"]) for each in audited["recipes"])
    lost = {(each["path"], each["line"]): f"{each['why']}: {each['reason']}" for each in linted["unfollowed"]}
    return Result(recipes, lost, linted["findings"], seconds)


def outcomes(found: list[Caller], result: Result) -> dict[Place, str]:
    """Classify every function that configures something: "recipe", "unfollowed", "part" or "silent"."""
    named = {each.place: each for each in found}
    lines: dict[Place, str] = dict.fromkeys(result.recipes, "recipe")
    lines.update((place, "unfollowed") for place in result.unfollowed if place not in lines)
    used = set[str]()
    reached = [named[place] for place in lines if place in named]
    seen = {each.place for each in reached}
    while reached:
        new = reached.pop().names - used
        used |= new
        more = [each for each in found if each.name.rpartition(".")[2] in new and each.place not in seen]
        seen.update(each.place for each in more)
        reached.extend(more)
    return {
        each.place: lines.get(each.place) or ("part" if each.place in seen else "silent")
        for each in found
        if each.telling
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", nargs="+", type=Path, metavar="CHECKOUT")
    parser.add_argument("--list", action="store_true", help="tell every function, and every error and warning")
    parser.add_argument("--target-bridge", default="0.3.1", metavar="VERSION")
    parser.add_argument("--under", action="append", metavar="PATH", help="only this file, or this folder; repeatable")
    arguments = parser.parse_args()
    options = ["--target-bridge", arguments.target_bridge]
    print("| repository | files | functions | recipes | parts of them | unfollowed | silent | errors, warnings | s |")
    silent = 0
    for root in arguments.checkouts:
        found = list(callers(root, arguments.under or ["."]))
        result = lint(root, options, sorted({each.path for each in found}))
        ends = outcomes(found, result)
        count = {end: list(ends.values()).count(end) for end in ("recipe", "part", "unfollowed", "silent")}
        silent += count["silent"]
        told = [each for each in result.findings if each["severity"] in ("error", "warning")]
        files = len({path for path, _ in ends})
        numbers = " | ".join(map(str, (files, len(ends), *count.values(), len(told))))
        print(f"| {root.name} | {numbers} | {result.seconds:.1f} |", flush=True)
        if arguments.list:
            _list(found, ends, result, told)
    return 1 if silent else 0


def _list(found: list[Caller], ends: dict[Place, str], result: Result, told: list[dict[str, Any]]) -> None:
    for each in found:
        if each.place in ends:
            what = ", ".join(sorted({name.rpartition(".")[2] for name in each.telling}))
            reason = result.unfollowed.get(each.place, "")
            print(f"  {ends[each.place]:10} {each.path}:{each.line} {each.name or '(top level)'} [{what}] {reason}")
    for (path, line), reason in sorted(result.unfollowed.items()):
        if (path, line) not in ends:
            print(f"  also told  {path}:{line} {reason}")
    for each in told:
        print(f"  {each['severity']:10} {each['path']}:{each['line']} {each['code']} {each['message']}")


if __name__ == "__main__":
    sys.exit(main())
