"""Names that upstream put in the place of names which a release lacks: src/mfsdp_lint/upgrade/successors.json.

    python -m tools.upstream_successors BRIDGE_CLONE CORE_CLONE

The clones are of Megatron-Bridge and Megatron-LM (bare ones do). For each pair of neighbouring releases with a
snapshot, and every public function and class that the older one has and the newer one lacks, the file has

    {"megatron.bridge.x.Gone": {"megatron.bridge.y.New": [files, lost]}}

`files` counts upstream's own files that say New in the newer release where they said Gone in the older one; 0 where
only the place is another: Megatron-LM defines the same name once, elsewhere. `lost` are the parameters of Gone that New
does not take, null where one of them has none of its own. Recipes are left out, because these are compared by their
effective configuration. Upstream's files below examples/, scripts/ and tests/functional_tests are not read: they judge
what is proposed (benchmarks/upgrade.py --examples).
"""

from __future__ import annotations

import ast
import io
import json
import subprocess
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path

from mfsdp_lint.megatron.versions.releases import RELEASES, Release

OUTPUT = Path(__file__).parents[1] / "src/mfsdp_lint/upgrade/successors.json"
ALIKE = 40
"""Per cent of a file that have to be the same in its successor: files are followed further than git does by default."""

_REEXPORTS = 8
"""The longest chain of imports that is followed."""

Definition = ast.ClassDef | ast.FunctionDef
Successors = dict[str, dict[str, list[object]]]


@dataclass
class Repository:
    """A clone, the folder below which its package is, that package, and the folders with files that use it."""

    clone: str
    source: str
    package: str
    users: tuple[str, ...]


class Revision:
    """The files of a repository at a commit, and the public names of its package."""

    def __init__(self, repository: Repository, commit: str) -> None:
        self._repository, self._commit = repository, commit
        self.definitions: dict[str, dict[str, Definition]] = {}
        self.imported: dict[str, dict[str, tuple[str, str]]] = {}
        self.bound: dict[str, set[str]] = {}
        for path, text in self._files():
            module = self.module(path)
            tree = ast.parse(text)
            defined = [node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))]
            self.definitions[module] = {node.name: node for node in defined}
            self.imported[module] = dict(imports(tree, module, path.endswith("__init__.py"), repository.package))
            names = (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
            self.bound[module] = {*self.definitions[module], *self.imported[module], *names}

    def module(self, path: str) -> str:
        """Return the module of a file of the package; of another file, the text of its path."""
        inner = path.removeprefix(self._repository.source).removesuffix(".py").removesuffix("/__init__")
        return inner.replace("/", ".")

    def text(self, path: str) -> str:
        """Return the text of a file."""
        return _git(self._repository.clone, "show", f"{self._commit}:{path}")

    def _files(self) -> Iterator[tuple[str, str]]:
        folder = f"{self._repository.source}{self._repository.package.replace('.', '/')}"
        listed = _git(self._repository.clone, "ls-tree", "-r", "--name-only", self._commit, "--", folder).split("\n")
        paths = [path for path in listed if path.endswith(".py")]
        asked = "".join(f"{self._commit}:{path}\n" for path in paths).encode()
        command = ["git", "-C", self._repository.clone, "cat-file", "--batch"]
        said = subprocess.run(command, input=asked, check=True, capture_output=True).stdout
        for path in paths:
            header, _, said = said.partition(b"\n")
            size = int(header.split()[2])
            yield path, said[:size].decode()
            said = said[size + 1 :]

    def definition(self, module: str, name: str) -> tuple[str, str] | None:
        """Return the place where a public function or class is defined, with its module."""
        for _ in range(_REEXPORTS):
            if name in self.definitions.get(module, ()):
                return None if name.startswith("_") else (module, name)
            module, name = self.imported.get(module, {}).get(name, ("", ""))
        return None

    def node(self, name: tuple[str, str]) -> Definition:
        """Return the definition at a place."""
        return self.definitions[name[0]][name[1]]

    def has(self, name: tuple[str, str]) -> bool:
        """Tell whether a name can be imported from a place."""
        names = self.bound.get(name[0], ())
        return name[1] in names or "*" in names  # (it has all names of another module)


def imports(tree: ast.Module, module: str, is_package: bool, package: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the names of a package that a file imports, with the module and the name there."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        source = node.module or ""
        if node.level:
            above = module.split(".")[: len(module.split(".")) - node.level + is_package]
            source = ".".join([*above, source] if source else above)
        if f"{source}.".startswith(f"{package}."):
            yield from ((alias.asname or alias.name, (source, alias.name)) for alias in node.names)


def successors(repository: Repository, old: str, new: str) -> Successors:
    """Return the names that took the place of others between two commits."""
    before, after = Revision(repository, old), Revision(repository, new)
    files: dict[tuple[str, str], dict[tuple[str, str], int]] = defaultdict(lambda: defaultdict(int))
    for was, now in _changed(repository, old, new):
        for pair in _replaced(before, after, was, now, repository.package):
            files[pair[0]][pair[1]] += 1
    if repository.package == "megatron.core":
        for gone, place in _elsewhere(before, after):
            files[gone].setdefault(place, 0)
    found: Successors = {}
    for gone, those in sorted(files.items()):
        kept = {each: count for each, count in those.items() if _is_kind(before.node(gone), after.node(each))}
        order = sorted(kept, key=lambda each: (-kept[each], each))
        if order and not _makes_recipe(before.node(gone)):
            lost = {each: _lost(before.node(gone), after.node(each)) for each in order}
            found[".".join(gone)] = {".".join(each): [kept[each], lost[each]] for each in order}
    return found


def _changed(repository: Repository, old: str, new: str) -> Iterator[tuple[str, str]]:
    folders = (f":(glob){folder}/**/*.py" for folder in repository.users)
    said = _git(repository.clone, "diff", f"-M{ALIKE}%", "--name-status", old, new, "--", *folders)
    for line in said.splitlines():
        kind, *paths = line.split("\t")
        if kind[0] in "MR":
            yield paths[0], paths[-1]


Pair = tuple[tuple[str, str], tuple[str, str]]


def _replaced(before: Revision, after: Revision, was: str, now: str, package: str) -> set[Pair]:
    """Return the names that are gone, with those that a file says in their places."""
    texts = before.text(was), after.text(now)
    sides = [
        _names(text, each, path, package) for text, each, path in zip(texts, (before, after), (was, now), strict=True)
    ]
    gone = {local: name for local, name in sides[0].items() if not after.has(name)}
    added = {local: name for local, name in sides[1].items() if local not in sides[0]}
    if not gone or not added:
        return set()
    found = set()
    before_lines, after_lines = (_tokens(text) for text in texts)
    for kind, *places in SequenceMatcher(None, before_lines, after_lines, autojunk=False).get_opcodes():
        if kind != "replace":
            continue
        words = [word for line in before_lines[places[0] : places[1]] for word in line]
        new_words = [word for line in after_lines[places[2] : places[3]] for word in line]
        for inner, *at in SequenceMatcher(None, words, new_words, autojunk=False).get_opcodes():
            one = {word for word in words[at[0] : at[1]] if word in gone}
            other = {word for word in new_words[at[2] : at[3]] if word in added}
            if inner == "replace" and len(one) == len(other) == 1:
                found.add((gone[one.pop()], added[other.pop()]))
    return found


def _names(text: str, revision: Revision, path: str, package: str) -> dict[str, tuple[str, str]]:
    """Return a file's names of public functions and classes of the package, with the places of their definitions."""
    module = revision.module(path)
    tree = ast.parse(text)
    named = dict(imports(tree, module, path.endswith("__init__.py"), package))
    named |= {name: (module, name) for name in revision.definitions.get(module, ())}
    places = {local: revision.definition(*name) for local, name in named.items()}
    return {local: place for local, place in places.items() if place is not None}


def _tokens(text: str) -> list[tuple[str, ...]]:
    """Return the names and operators of a file, line by line, without its imports."""
    inside = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    found: dict[int, list[str]] = defaultdict(list)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.NAME, tokenize.OP) and token.start[0] not in inside:
            found[token.start[0]].append(token.string)
    return [tuple(each) for each in found.values()]


def _elsewhere(before: Revision, after: Revision) -> Iterator[Pair]:
    """Yield the public names that are defined once in the newer release, in another module."""
    places: dict[str, list[str]] = defaultdict(list)
    for module, names in after.definitions.items():
        for name in names:
            places[name].append(module)
    for module, names in before.definitions.items():
        for name in names:
            if not name.startswith("_") and not after.has((module, name)) and len(places.get(name, ())) == 1:
                yield (module, name), (places[name][0], name)


def _is_kind(one: Definition, other: Definition) -> bool:
    return type(one) is type(other)


def _makes_recipe(node: Definition) -> bool:
    returned = getattr(node, "returns", None)
    return returned is not None and ast.unparse(returned) == "ConfigContainer"


def _lost(one: Definition, other: Definition) -> list[str] | None:
    sides = [_parameters(each) for each in (one, other)]
    if sides[0] is None or sides[1] is None:
        return None
    return [name for name in sides[0] if name not in sides[1]]


def _parameters(node: Definition) -> list[str] | None:
    if isinstance(node, ast.ClassDef):
        inits = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
        return _parameters(inits[0]) if inits else None
    given = node.args
    return [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def _git(clone: str, *arguments: str) -> str:
    command = ["git", "-C", clone, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, errors="replace").stdout


def _steps() -> Iterator[tuple[Release, Release]]:
    yield from pairwise(release for release in RELEASES if release.bridge == release.data)


def main() -> int:
    """Write the file."""
    bridge = Repository(sys.argv[1], "src/", "megatron.bridge", ("src", "tests/unit_tests", "tutorials"))
    core = Repository(sys.argv[2], "", "megatron.core", ("megatron", "tests/unit_tests", "tools", "tasks"))
    steps: dict[str, Mapping[str, object]] = {}
    for old, new in _steps():
        steps[f"{old.data} {new.data}"] = {
            **successors(bridge, old.commit, new.commit),
            **successors(core, old.core_commit, new.core_commit),
        }
    rows = (
        f"{json.dumps(step)}: {{\n" + ",\n".join(f" {json.dumps(k)}: {json.dumps(v)}" for k, v in names.items()) + "\n}"
        for step, names in steps.items()
    )
    OUTPUT.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
