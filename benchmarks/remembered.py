"""Edit a project at random, run with what earlier runs left on disk, and compare with a run that remembers nothing.

    python benchmarks/remembered.py [--edits 200] [--seed 1] [--fixes] [FOLDER …]

A folder of few files is copied as a project; of any other, neighbouring files become one. Without folders it is
`small_project`: recipes with helpers and defaults, a program, YAML and launch scripts that use each other. Each edit
changes a constant or a default, drops or doubles a statement, changes a word of YAML or of a script, or adds, deletes,
renames or shadows a file. After each the whole project is asked for, then some of its files, as a commit hook does, and
then one as an editor has it: edited again without being saved, beside others that are open. Findings, counts, code that
was not followed, problems and remarks have to be those of a run without a cache; with `--fixes`, also the proved fixes.
So have the patch of `--diff`, and now and then the files that `--fix` writes, safe fixes or all.
Prints every difference, how often an earlier run was used, and how often it had to be given up; exits with 1 if
anything differs.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir, suppress
from os.path import commonpath, relpath
from pathlib import Path
from shutil import copytree, ignore_patterns
from tempfile import TemporaryDirectory
from typing import Any

from incremental import edited

from mfsdp_lint import process
from mfsdp_lint.core.records import replace
from mfsdp_lint.engine import cache, recall
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.inputs.projects import OWN_FOLDER

PROJECT = 10
"""Files of a project."""

EDITS = 8
"""Edits of one project."""

SUFFIXES = (".py", ".sh", ".yaml", ".yml", ".ipynb")


def structurally(text: str, chance: random.Random) -> str | None:
    """Drop, double or comment a statement anywhere, or rename in it; None where that is no Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    if not nodes:
        return None
    node = chance.choice([*nodes, *tree.body])
    lines = text.splitlines(keepends=True)
    piece = lines[node.lineno - 1 : node.end_lineno]
    match chance.randrange(4):
        case 0:
            piece = []
        case 1:
            piece = [*piece, *piece]
        case 2:
            piece = ["# a comment\n", *piece]
        case 3:
            piece = [line.replace("_config", "_configuration", 1) for line in piece]
    changed = "".join((*lines[: node.lineno - 1], *piece, *lines[node.end_lineno :]))
    try:
        ast.parse(changed)
    except SyntaxError:
        return None
    return changed


def in_words(text: str, chance: random.Random) -> str | None:
    """Change a number or a truth value of YAML or a script, or drop a line."""
    words = list(re.finditer(r"\b(?:\d+|true|false|fsdp_dtensor|torch_dist|no_shard)\b", text))
    if words and chance.random() < 0.7:
        word = chance.choice(words)
        new = chance.choice(("0", "1", "2", "true", "false", "fsdp_dtensor", "torch_dist"))
        return text[: word.start()] + new + text[word.end() :]
    lines = text.splitlines(keepends=True)
    if lines:
        del lines[chance.randrange(len(lines))]
    return "".join(lines)


EFFECTS = (
    'import os\n\nos.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "1"\n',
    'import {module} as imported\n\nimported.{name} = "torch_dist"\n',
)


def acting(text: str, chance: random.Random) -> str:
    """Let importing a module do something: to the environment, or to a module that it imports."""
    imported = re.findall(r"^from ([\w.]+) import (\w+)", text, re.MULTILINE)
    module, name = chance.choice(imported) if imported else ("json", "dumps")
    return f"{text}\n\n{chance.choice(EFFECTS).format(module=module, name=name)}"


def changed_text(path: str, text: str, chance: random.Random) -> str | None:
    """Change a text in one place; None where that is not possible."""
    if not path.endswith(".py"):
        return in_words(text, chance)
    if chance.random() < 0.1:
        return acting(text, chance)
    anywhere = chance.random() < 0.5
    return structurally(text, chance) if chance.random() < 0.4 else edited(text, chance, anywhere=anywhere)


def edit(project: Path, spare: Mapping[Path, str], chance: random.Random) -> str:
    """Edit the project; return the description of the edit, "" for none."""
    files = sorted(path for path in project.rglob("*") if path.suffix in SUFFIXES)
    if not files:
        return ""
    path = chance.choice(files)
    text = path.read_text(errors="replace")
    beside = path.with_name(f"{path.stem}_{chance.randrange(100)}{path.suffix}")
    kind = chance.choice(("text",) * 12 + ("added", "copied", "shadowed", "removed", "renamed", "restored"))
    match kind:
        case "removed":
            path.unlink()
        case "renamed":
            path.rename(beside)
        case "added" | "restored" if spare:
            new = chance.choice(list(spare))
            beside = path.with_name(new.name) if kind == "added" else project / new
            if ".." in beside.parts:
                return ""
            beside.parent.mkdir(parents=True, exist_ok=True)
            beside.write_text(spare[new])
        case "added" | "copied" | "restored":
            beside.write_text(text)
        case "shadowed":
            imported = re.findall(r"^(?:from|import) \.*(\w+(?:\.\w+)*)", text, re.MULTILINE)
            if path.suffix != ".py" or not imported:
                return ""
            name = chance.choice(imported).split(".")
            root = chance.choice((project, path.parent))
            kind += f" {'.'.join(name)} by"
            beside = root / chance.choice((f"{name[0]}.py", f"{name[-1]}.py", f"{'/'.join(name)}/__init__.py"))
            try:
                beside.parent.mkdir(parents=True, exist_ok=True)
            except OSError:
                return ""
            beside.write_text(chance.choice(("", text)))
        case _:
            changed = changed_text(path.name, text, chance)
            if changed is None or changed == text:
                return ""
            path.write_text(changed)
            return f"changed {path}"
    return f"{kind} {path} {beside}"


def told(options: Options, run: Callable[[Options], cache.Outcome] = cache.run) -> dict[str, Any]:
    """Run the linter; return all that the run tells."""
    found = run(options)
    names = ("findings", "summary", "unfollowed", "problems", "remarks", "recipes", "patch", "fixes", "left")
    return {name: getattr(found, name) for name in names}


def fixed(whole: Options, seen: Counter[str], where: str) -> None:
    """Fix the project with the memory, and a copy of it without, and tell what differs."""
    with TemporaryDirectory() as folder:
        copy = Path(folder, "copy")
        copytree(".", copy, ignore=ignore_patterns(OWN_FOLDER))
        with chdir(copy):
            anew = {**told(replace(whole, cache=False)), **_texts()}
    compared(whole, seen, f"{where}, fixed", expected=anew, and_more=_texts)


def _texts() -> dict[str, str]:
    return {str(path): path.read_text(errors="replace") for path in _files(Path())}


def projects(folders: Sequence[str], chance: random.Random) -> Iterator[tuple[dict[Path, str], dict[Path, str]]]:
    """Yield the files of a project with their texts, and files that may be added to it."""
    every = {Path(folder).absolute(): sorted(_files(Path(folder).absolute())) for folder in folders}
    while True:
        common, files = chance.choice(list(every.items()))
        some, more = files, files
        if len(files) > 2 * PROJECT:
            start = chance.randrange(len(files))
            some, more = files[start : start + PROJECT], files[start + PROJECT : start + 2 * PROJECT]
            common = Path(commonpath([each.parent for each in some]))
        texts, spare = (
            {Path(relpath(each, common)): each.read_text(errors="replace") for each in part} for part in (some, more)
        )
        yield {Path("pyproject.toml"): "", **texts}, spare


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.suffix in (*SUFFIXES, ".toml") and path.is_file())


def counted(seen: Counter[str]) -> None:
    """Count how often the memory of an earlier run is used, and given up."""
    original_earlier, original_recorded = recall._earlier, cache._recorded

    def earlier(*given: Any) -> Any:
        found = original_earlier(*given)
        seen["used"] += found is not None
        return found

    def recorded(*given: Any) -> Any:
        try:
            return original_recorded(*given)
        except cache.NotKept:
            seen["given up"] += 1
            raise

    recall._earlier, cache._recorded = earlier, recorded


class Editor:
    """Files that are open in an editor, with their texts, and the memory of the checks of each."""

    def __init__(self) -> None:
        self.open: dict[str, str] = {}
        self.memories: dict[str, cache.ProcessMemory] = {}

    def ask(self, whole: Options, files: Sequence[str], seen: Counter[str], where: str, chance: random.Random) -> None:
        """Open, close, edit or save files, and check one of them."""
        for path in [path for path in self.open if path not in files or chance.random() < 0.2]:
            self.memories.pop(path, None)
            del self.open[path]
        if not self.open or chance.random() < 0.4:
            path = chance.choice(files)
            self.open[path] = Path(path).read_text(errors="replace")
        path = chance.choice(list(self.open))
        changed = changed_text(path, self.open[path], chance)
        if changed is not None and chance.random() < 0.8:
            self.open[path] = changed
        if chance.random() < 0.3:
            Path(path).write_text(self.open[path])
        path = chance.choice(list(self.open))
        others = tuple((other, text) for other, text in self.open.items() if other != path)
        asked = replace(whole, paths=(path,), stdin=self.open[path], unsaved=others, cache=False, dependents=False)
        memory = self.memories.setdefault(path, cache.ProcessMemory())
        for other, each in self.memories.items():
            if other != path and chance.random() < 0.5:
                each.sources = None
        compared(
            asked,
            seen,
            f"{where}, in an editor with {list(self.open)}",
            lambda options: cache.run_again(options, memory),
        )


def compared(
    asked: Options,
    seen: Counter[str],
    where: str,
    run: Callable[[Options], cache.Outcome] = cache.run,
    *,
    expected: Mapping[str, Any] | None = None,
    and_more: Callable[[], Mapping[str, Any]] = dict,
) -> None:
    """Ask with the memory, and without where it is not said what is expected, and tell what differs."""
    seen["runs"] += 1
    warm = {**told(asked, run), **and_more()}
    anew = told(replace(asked, cache=False)) if expected is None else expected
    for name in anew:
        if warm[name] != anew[name]:
            seen["different"] += 1
            print(f"{where}, {asked.paths}: {name}", file=sys.stderr)
            for said, here, there in (("remembered", warm[name], anew[name]), ("anew", anew[name], warm[name])):
                alone = [each for each in here if each not in there] if isinstance(here, tuple) else here
                print(f"  {said}: {alone}"[:1500], file=sys.stderr, flush=True)


def campaign(arguments: argparse.Namespace, seen: Counter[str]) -> None:
    """Edit one project after the other until there were enough edits."""
    chance = random.Random(arguments.seed)
    for number, (texts, spare) in enumerate(projects(arguments.folders, chance)):
        with TemporaryDirectory() as folder, chdir(folder):
            for path, text in texts.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            target = chance.choice([None, "0.3.1", "head"])  # None: findings tell the versions they hold for
            whole = Options(paths=(".",), target_bridge=target, group_by="recipe", show_fixes=arguments.fixes)
            told(whole)
            editor = Editor()
            for _ in range(EDITS):
                done = edit(Path(), spare, chance)
                if not done:
                    continue
                seen["edits"] += 1
                where = f"project {number}, edit {seen['edits']}, {done}"
                files = sorted(str(each) for each in Path().rglob("*") if each.suffix in SUFFIXES)
                compared(whole, seen, where)
                unsafe = chance.random() < 0.5
                if chance.random() < 0.4:
                    compared(replace(whole, diff=True, unsafe_fixes=unsafe), seen, f"{where}, as a patch")
                if files:
                    compared(replace(whole, paths=tuple(chance.sample(files, min(3, len(files))))), seen, where)
                    editor.ask(whole, files, seen, where, chance)
                if chance.random() < 0.2:
                    fixed(replace(whole, fix=True, unsafe_fixes=unsafe), seen, where)
        if seen["edits"] >= arguments.edits:
            return


def main() -> int:
    """Run the campaign, until it is interrupted or done; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fixes", action="store_true")
    parser.add_argument("folders", nargs="*", default=[str(Path(__file__).with_name("small_project"))])
    arguments = parser.parse_args()
    process.own()
    seen: Counter[str] = Counter()
    counted(seen)
    with suppress(KeyboardInterrupt):
        campaign(arguments, seen)
    print(
        f"{seen['edits']} edits, {seen['runs']} runs, {seen['used']} with an earlier one, {seen['given up']} given up, "
        f"{seen['different']} answers differ"
    )
    return int(seen["different"] > 0)


if __name__ == "__main__":
    sys.exit(main())
