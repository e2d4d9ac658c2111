"""The suite of user idioms: which there are, and what their comments say is expected (notation: README.md here)."""

from __future__ import annotations

import ast
import io
import json
import re
import shutil
import tokenize
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mfsdp_lint.megatron.versions import parse_range

FOLDER = Path(__file__).parent
VERSIONS = ("0.2.0", "0.3.1", "0.4.2", "0.5.1", "0.6.0", "head")

_NOT_IDIOMS = {"truth", "outside", "__pycache__"}
_HEADERS = ("idiom", "versions", "argv", "env", "outside", "depends", "run")
_CODE = re.compile(r"([A-Za-z]\w*)(?:\s+at\s+([\w./-]+):(\d+))?(?:\s*\[([^\]]+)\])?")


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in an idiom where something is expected, from `line` to `end_line` of `path` (relative to its folder).

    `name` is the function or variable that the place defines, or the function that it lies in ("" at the top level);
    `expression` says how the real recipe is made.
    """

    key: str
    path: str
    line: int
    end_line: int
    name: str
    expression: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """The text that decides a bad value: a finding with this code (or an exception of this name) belongs there."""

    code: str
    path: str
    line: int
    versions: str

    def holds(self, version: str) -> bool:
        """Whether it is expected in a version."""
        return includes(self.versions, version)


@dataclass(frozen=True, slots=True)
class Idiom:
    """One idiom: where it is, in which versions it can occur, and what is expected of it.

    `outside` are modules that it imports and that are not there for the linter; `depends` are settings that the
    launch decides. `script` is what is run, "" where functions are called one by one.
    """

    name: str
    source: Path
    headers: dict[str, str]
    recipes: tuple[Mark, ...]
    launches: tuple[Mark, ...]
    decisions: tuple[Decision, ...]
    script: str

    def occurs(self, version: str) -> bool:
        """Whether it can occur in a version."""
        return includes(self.headers.get("versions", ""), version)

    @property
    def outside(self) -> tuple[str, ...]:
        """The modules that only the real run has."""
        return words(self.headers.get("outside", ""))

    @property
    def depends(self) -> frozenset[str]:
        """The settings that whoever launches it decides."""
        return frozenset(words(self.headers.get("depends", "")))

    def lay_out(self, folder: Path) -> None:
        """Copies its files into an empty folder of their own, where nothing but them can be imported."""
        if self.source.is_dir():
            shutil.copytree(self.source, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(self.source, folder)


def includes(versions: str, version: str) -> bool:
    """Whether a range such as ">=0.3,<0.6" includes a version; the empty one includes all."""
    return not versions or ("0.7.0" if version == "head" else version) in parse_range(versions)


def words(text: str) -> tuple[str, ...]:
    """The parts between commas."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def idioms(folder: Path = FOLDER) -> tuple[Idiom, ...]:
    """Every idiom, by group and name."""
    found = []
    for group in sorted(folder.iterdir()):
        if group.is_dir() and group.name not in _NOT_IDIOMS:
            sources = [each for each in sorted(group.iterdir()) if each.is_dir() or each.suffix == ".py"]
            found += [_idiom(f"{group.name}/{each.stem}", each) for each in sources if each.name != "__pycache__"]
    return tuple(found)


def truth(version: str, folder: Path = FOLDER) -> dict[str, Any]:
    """What the real upstream code of a version makes of every idiom: `{idiom: {"marks": {key: [run]}, "raised": …}}`.

    A run has the `settings` of one configuration (None where it is None, nothing where it has none), the error that
    start-up `refused` it with, and the `codes` of the findings that its real values deserve.
    """
    file = folder / "truth" / f"{version}.json"
    stored = json.loads(file.read_text())
    for record in stored["idioms"].values():
        for runs in record["marks"].values():
            for run in runs:
                without = run.pop("without")
                kept = {path: value for path, value in stored["common"].items() if path not in without}
                run["settings"] = {**kept, **run["settings"]}
    found: dict[str, Any] = stored["idioms"]
    return found


def _idiom(name: str, source: Path) -> Idiom:
    files = [each for each in sorted(source.rglob("*")) if each.is_file()] if source.is_dir() else [source]
    root = source if source.is_dir() else source.parent
    headers: dict[str, str] = {}
    main = ""
    recipes: list[Mark] = []
    launches: list[Mark] = []
    decisions: list[Decision] = []
    for file in files:
        if file.suffix not in (".py", ".yaml", ".yml", ".toml", ".txt"):
            continue
        path = file.relative_to(root).as_posix()
        text = file.read_text()
        if text.startswith("# idiom:"):
            main = path
            headers = _headers(text)
            decisions += _decisions(headers.pop("decides", ""), path, 0)
        tree = ast.parse(text) if file.suffix == ".py" else None
        for line, comment in _comments(text, python=tree is not None):
            for part in comment.split(";"):
                kind, _, rest = part.strip().partition(":")
                if kind == "decides":
                    decisions += _decisions(rest, path, line)
                elif kind in ("recipe", "launch") and tree is not None:
                    marks = recipes if kind == "recipe" else launches
                    marks.append(_mark(kind, len(marks), path, line, tree, rest.strip()))
    if not main:
        raise ValueError(f"{source}: no file begins with `# idiom:`")
    script = headers.get("run", main if launches else "")
    return Idiom(name, source, headers, tuple(recipes), tuple(launches), tuple(decisions), script)


def _headers(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in text.splitlines():
        kind, colon, rest = line.removeprefix("#").strip().partition(":")
        if not line.startswith("#") or not colon or kind not in (*_HEADERS, "decides"):
            break
        found[kind] = ", ".join(filter(None, (found.get(kind, ""), rest.strip())))
    return found


def _comments(text: str, *, python: bool) -> list[tuple[int, str]]:
    """The comments after something, by line."""
    if not python:
        lines = enumerate(text.splitlines(), 1)
        return [(number, line.partition(" # ")[2]) for number, line in lines if line.partition(" # ")[0].strip()]
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [
        (token.start[0], token.string.removeprefix("#").strip())
        for token in tokens
        if token.type == tokenize.COMMENT and token.line[: token.start[1]].strip()
    ]


def _decisions(text: str, path: str, line: int) -> list[Decision]:
    return [
        Decision(code, other or path, int(number or line), versions)
        for code, other, number, versions in _CODE.findall(text)
    ]


def _mark(kind: str, number: int, path: str, line: int, tree: ast.Module, expression: str) -> Mark:
    """The mark at a line: its statement there, and the name that this defines or the function that it lies in."""
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and _covers(node, line)]
    functions = [node for node in statements if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    statement = min(statements, key=_length)
    name = min(functions, key=_length).name if functions else ""
    if kind == "launch":
        end = statement.end_lineno or line
        return Mark(
            f"launch {number}", path, statement.lineno, max(end, line) if _length(statement) < 12 else line, name
        )
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            name = statement.name
        case ast.Assign(targets=[ast.Name(id=target)]) | ast.AnnAssign(target=ast.Name(id=target)):
            name = target
    return Mark(f"recipe {name}", path, statement.lineno, line, name, expression or f"{name}()")


def _covers(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _length(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno
