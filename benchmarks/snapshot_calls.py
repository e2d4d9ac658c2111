#!/usr/bin/env python3
"""Recipes called with arguments: what the snapshot says, against what upstream's source says.

    python benchmarks/snapshot_calls.py VERSION BRIDGE_TREE CORE_TREE [--snapshot FILE] [--sample N] [--show N]

The trees are the source of a release (scripts/unpack_release.py writes both). A user's file is made that calls every
recipe of the library in many ways: with each parameter alone, at each value that its name, annotation and default make
likely; with two arguments; and with a dictionary (`**COMMON`). Each call is read and judged with the snapshot alone,
and with the source. Counted are settings with another value; settings that are lost, known with the source and not with
the snapshot; of the settings that a text of the user's decides with the source, those that the same text decides with
the snapshot; and calls with other findings. Exit status: 1 if a value differs.
"""

from __future__ import annotations

import argparse
import ast
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from mfsdp_lint import process
from mfsdp_lint.core.recipe import Recipe, Source
from mfsdp_lint.core.values import Unknown, describe
from mfsdp_lint.engine.judge import Linter
from mfsdp_lint.engine.read import question
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.rules.load import load_rules

FOLDERS = ("recipes", "perf_recipes", "diffusion/recipes")
TOGETHER = 60
"""Calls in one file."""

NAMED = {
    "dir": ['"/results"'],
    "name": ['"run"'],
    "peft": ['"lora"', '"dora"', '"none"', "None"],
    "peft_scheme": ['"lora"', '"dora"', "None"],
    "precision_config": ['"bf16_mixed"', '"bf16_with_mxfp8_mixed"', "None"],
    "precision": ['"bf16"', '"fp8_cs"', '"fp8_mx"'],
    "mixed_precision": ['"bf16_mixed"', "None"],
    "recompute_granularity": ['"full"', '"selective"', "None"],
    "recompute_method": ['"uniform"', '"block"'],
    "recompute_modules": ['["core_attn"]'],
    "pretrained_checkpoint": ['"/base"', "None"],
    "hf_path": ['"meta-llama/Meta-Llama-3-8B"'],
    "packed_sequence": ["True", "False"],
}  # fmt: skip
"""Values that the library itself distinguishes, or that everybody writes, by the parameter's name."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a recipe, with its annotation and default as upstream writes them ("" for none)."""

    name: str
    annotation: str = ""
    default: str = ""
    required: bool = False

    def values(self) -> list[str]:
        """Return likely values, as a user writes them."""
        found = NAMED.get(self.name) or [*self._by_kind()]
        return [value for value in dict.fromkeys(found) if value != self.default]

    def _by_kind(self) -> Iterator[str]:
        words = {
            word.strip() for word in self.annotation.replace("|", ",").replace("[", ",").replace("]", ",").split(",")
        }
        try:
            default = ast.literal_eval(self.default) if self.default else None
        except ValueError:
            default = None
        if "bool" in words or isinstance(default, bool):
            yield from ("True", "False")
        elif "int" in words or isinstance(default, int):
            yield str(2 * default if isinstance(default, int) and default else 2)
        if "float" in words or isinstance(default, float):
            yield repr(2 * default if isinstance(default, float) and default else 2e-5)
        if "list" in words or "List" in words:
            yield '["a", "b"]'
        elif "str" in words or isinstance(default, str):
            yield '"other"'
        if "dtype" in self.annotation:
            yield "torch.bfloat16"
        if "None" in words or "Optional" in words:
            yield "None"


@dataclass(frozen=True)
class Call:
    """A call of a recipe with some arguments; `common` of them are written in a dictionary of the file."""

    module: str
    function: str
    arguments: tuple[tuple[str, str], ...]
    common: tuple[tuple[str, str], ...] = ()

    def text(self, number: int) -> str:
        """Return the user's code: a function that returns what the recipe does."""
        given = [f"{name}={value}" for name, value in self.arguments]
        before = ""
        if self.common:
            entries = ", ".join(f'"{name}": {value}' for name, value in self.common)
            before = f"COMMON_{number} = {{{entries}}}\n\n"
            given.append(f"**COMMON_{number}")
        called = f"{self.function}({', '.join(given)})"
        return f"{before}def r{number}():\n    from {self.module} import {self.function}\n    return {called}\n\n"

    def __str__(self) -> str:
        given = [f"{name}={value}" for name, value in self.arguments]
        given += [f"**{{{name}: {value}}}" for name, value in self.common]
        return f"{self.module.rpartition('.')[2]}.{self.function}({', '.join(given)})"


def calls(root: Path) -> Iterator[Call]:
    """Yield the calls of every recipe of a source tree."""
    trees = dict(_trees(root))
    dictionaries = {
        node.name: node for tree in trees.values() for node in tree.body if isinstance(node, ast.ClassDef)
    }  # fmt: skip
    for module, tree in trees.items():
        if not module.startswith(tuple(f"megatron.bridge.{folder.replace('/', '.')}." for folder in FOLDERS)):
            continue
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and _is_recipe(node):
                yield from _calls(module, node.name, list(_parameters(node, dictionaries)))


def _trees(root: Path) -> Iterator[tuple[str, ast.Module]]:
    for path in sorted((root / "megatron" / "bridge").rglob("*.py")):
        if "recipes" in path.parts:
            yield ".".join(path.relative_to(root).with_suffix("").parts), ast.parse(path.read_text())


def _is_recipe(node: ast.FunctionDef) -> bool:
    returns = "" if node.returns is None else ast.unparse(node.returns)
    return not node.name.startswith("_") and (returns == "ConfigContainer" or node.name.endswith("_config"))


def _parameters(node: ast.FunctionDef, dictionaries: Mapping[str, ast.ClassDef]) -> Iterator[Parameter]:
    arguments = node.args
    named = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(named) - len(arguments.defaults))
    defaults += arguments.defaults
    for each, default in zip([*named, *arguments.kwonlyargs], [*defaults, *arguments.kw_defaults], strict=True):
        note = "" if each.annotation is None else ast.unparse(each.annotation)
        yield Parameter(each.arg, note, "" if default is None else ast.unparse(default), default is None)
    if arguments.kwarg is not None and arguments.kwarg.annotation is not None:
        name = ast.unparse(arguments.kwarg.annotation).removeprefix("Unpack[").removesuffix("]")
        yield from _keys(name, dictionaries)


def _keys(name: str, dictionaries: Mapping[str, ast.ClassDef]) -> Iterator[Parameter]:
    cls = dictionaries.get(name)
    for base in cls.bases if cls is not None else ():
        yield from _keys(ast.unparse(base), dictionaries)
    for node in cls.body if cls is not None else ():
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield Parameter(node.target.id, ast.unparse(node.annotation))


def _calls(module: str, function: str, parameters: Sequence[Parameter]) -> Iterator[Call]:
    needed = tuple((each.name, (each.values() or ["None"])[0]) for each in parameters if each.required)
    given = [(each.name, value) for each in parameters if not each.required for value in each.values()]
    if needed:
        given = [*given, *((each.name, value) for each in parameters if each.required for value in each.values()[1:])]
    for argument in given:
        others = tuple(each for each in needed if each[0] != argument[0])
        yield Call(module, function, (*others, argument))
    first = list({name: (name, value) for name, value in reversed(given)}.values())[::-1]
    for left, right in pairwise(first):
        others = tuple(each for each in needed if each[0] not in (left[0], right[0]))
        yield Call(module, function, (*others, left, right))
    if len(first) > 1:
        wanted = [each for each in first if each[0] in ("dir", "name", "peft", "seq_length", "lr", "finetune_lr")]
        common = tuple(wanted or first[:3])
        others = tuple(each for each in needed if each[0] not in dict(common))
        yield Call(module, function, others, common)
        rest = tuple(each for each in first[-2:] if each not in common)
        yield Call(module, function, (*others, *(each for each in rest if each[0] not in dict(others))), common)


@dataclass
class Tally:
    """What was compared, and what differs."""

    calls: int = 0
    settings: int = 0
    different: int = 0
    lost: int = 0
    decided: int = 0
    at_text: int = 0
    findings: int = 0
    told: list[str] = field(default_factory=list)
    by_path: Counter[str] = field(default_factory=Counter)

    def row(self, version: str) -> str:
        """Return the row of the table in RESULTS.md."""
        lost = 100 * self.lost / max(self.settings, 1)
        there = 100 * self.at_text / max(self.decided, 1)
        return (
            f"| {version} | {self.calls:,} | {self.settings:,} | {self.different} | {self.lost:,} ({lost:.3f} %) | "
            f"{self.at_text:,} of {self.decided:,} ({there:.2f} %) | {self.findings} |"
        )


Read = tuple[Recipe, frozenset[tuple[str, str, int, int]]]
"""A recipe, and its findings: rule, severity, line and column."""


def compare(chosen: Sequence[Call], version: str, roots: Sequence[str]) -> Tally:
    """Read and judge the calls with the snapshot and with the source in `roots`; count the differences."""
    tally = Tally()
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for start in range(0, len(chosen), TOGETHER):
                _compare_some(chosen[start : start + TOGETHER], version, roots, tally)
        finally:
            os.chdir(before)
    return tally


def _compare_some(chosen: Sequence[Call], version: str, roots: Sequence[str], tally: Tally) -> None:
    text = "import torch\n\n" + "".join(call.text(number) for number, call in enumerate(chosen))
    Path("recipes.py").write_text(text)
    real, mine = _read(version, roots), _read(version, ())
    for number, call in enumerate(chosen):
        name = f"r{number}"
        if name not in real:
            continue
        tally.calls += 1
        if name not in mine:
            tally.different += 1
            tally.told.append(f"no recipe: {call}")
            continue
        (expected, findings), (given, found) = real[name], mine[name]
        if findings != found:
            tally.findings += 1
            tally.told.append(f"findings: {call}: {sorted(found - findings)}, from source {sorted(findings - found)}")
        for path in sorted({*expected.paths(), *given.paths()}):
            _compare_setting(call, path, expected, given, tally)


def _compare_setting(call: Call, path: str, expected: Recipe, given: Recipe, tally: Tally) -> None:
    tally.settings += 1
    real, mine = expected.setting(path), given.setting(path)
    if real.value != mine.value or type(getattr(real.value, "value", 0)) is not type(getattr(mine.value, "value", 0)):
        kind = "lost" if mine.value.state != "known" and real.value.state == "known" else "different"
        if isinstance(mine.value, Unknown) or (real.value.state == "known" and mine.value.state != "known"):
            kind = "lost"
            tally.lost += 1
        else:
            tally.different += 1
        tally.by_path[f"{kind} {path}"] += 1
        tally.told.append(f"{kind}: {call} {path}: {describe(mine.value)}, from source {describe(real.value)}")
    expected_places = _users(real.origin)
    if expected_places:
        tally.decided += 1
        if _users(mine.origin)[:1] == expected_places[:1]:
            tally.at_text += 1
        else:
            tally.by_path[f"text {path}"] += 1
            tally.told.append(f"text: {call} {path}: {_users(mine.origin)[:1]}, from source {expected_places[0].span}")


def _users(origin: object) -> list[Source]:
    """Return the places in the user's file where a value could be changed."""
    return [] if origin is None else origin.places(lambda path: path == "recipes.py")  # type: ignore[attr-defined]


def _read(version: str, roots: Sequence[str]) -> dict[str, Read]:
    asked, _ = question(
        Options(paths=("recipes.py",), target_bridge=version, search_path=tuple(roots), installed_source=False)
    )
    rules = tuple(load_rules())
    linter = Linter(asked, rules, rules)
    judged = linter(Sources())
    findings: dict[str, set[tuple[str, str, int, int]]] = {}
    for violation in linter.violations(judged.recipes, Sources()):
        said = (violation.rule.code, violation.severity, violation.primary.span.line, violation.primary.span.column)
        findings.setdefault(violation.recipe.name, set()).add(said)
    return {each.name: (each, frozenset(findings.get(each.name, ()))) for each in judged.recipes}


def main() -> int:
    """Compare, print the figures, and return the exit status."""
    process.own()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version")
    parser.add_argument("bridge", type=Path)
    parser.add_argument("core", type=Path)
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="every Nth call alone")
    parser.add_argument("--only", default="", metavar="TEXT", help="the calls with this text in them")
    parser.add_argument("--show", type=int, default=20, metavar="N", help="of each kind of difference")
    options = parser.parse_args()
    root = options.bridge if (options.bridge / "megatron").is_dir() else options.bridge / "src"
    chosen = [call for call in calls(root.resolve()) if options.only in str(call)][:: options.sample]
    tally = compare(chosen, options.version, [str(root.resolve()), str(options.core.resolve())])
    shown = Counter[str]()
    for line in tally.told:
        kind = line.partition(":")[0]
        shown[kind] += 1
        if shown[kind] <= options.show:
            print(line)
    for path, count in tally.by_path.most_common(options.show):
        print(f"{count} times {path}")
    print(tally.row(options.version))
    return 1 if tally.different else 0


if __name__ == "__main__":
    sys.exit(main())
