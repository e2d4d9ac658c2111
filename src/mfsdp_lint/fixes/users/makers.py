"""Programs of a repository that make one of its files: by its name, by a name that is put together, or by its folder.

An edit of such a file is gone when it is made again, and a check that makes it again fails until then.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.inputs.dependents import MOST_FILES
from mfsdp_lint.inputs.imports import parsed
from mfsdp_lint.inputs.mentions import uncommented
from mfsdp_lint.readers.registry import is_python

ANY = "*"
"""A part of a path that is put in when the program runs."""

_WRITES = lazy_pattern(r"\.(?:write_text|write_bytes|dump|save|copy(?:file|2|tree)?|move)\([^)\s]")
_OPENS = lazy_pattern(r"\bopen\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*[\"'][wax][bt+]*[\"']")
_MODE = lazy_pattern(r"[wax][bt+]*")
_OUTSIDE = lazy_pattern(r"(?i)(?<![a-z])te?mp(?![a-z])|tempfile|te?mpdir|mkd?s?temp")
"""An expression that gives a place for what is thrown away."""
_PERCENT = lazy_pattern(r"%(?:\(\w+\))?[-#0 +\d.]*[a-zA-Z]")
_FIELD = lazy_pattern(r"\{[^{}]*\}")
_MOST_STEPS = 8

_EXPANSION = lazy_pattern(r"\$\{\{[^}\n]*\}\}|\$?\$\{[^}\n]*\}|\$?\$\([^)\n]*\)|\$?\$[\w@*#?]+|`[^`\n]*`|%(?!\w*%)")
_VARIABLE = lazy_pattern(r"\A\$?\$[({]?(?P<name>\w+)(?::?[-=](?P<default>[^}]*))?[)}]?\Z")
_ASSIGNED = lazy_pattern(r"^[ \t]*(?:export[ \t]+)?(?P<name>\w+)[ \t]*[:?]?=[ \t]*(?P<value>[^\s;#]*)", re.MULTILINE)
_SHELL_WORD = r"(?P<word>(?:\$\{\{[^}\n]*\}\}|\$\{[^}\n]*\}|\$\([^)\n]*\)|\"[^\"\n]*\"|'[^'\n]*'|[^\s;&|()<>\"'])+)"
_REDIRECTED = lazy_pattern(rf"(?:(?<![-=<>&\w])[1&]?>{{1,2}}\|?|\btee[ \t]+(?:-a[ \t]+)?)[ \t]*{_SHELL_WORD}")
_OUTPUT = lazy_pattern(rf"[ \t](?:-o|--out(?:put)?(?:-(?:dir|file|path|files))?)(?:[ \t]+|=){_SHELL_WORD}")
_RULE = lazy_pattern(
    r"^(?P<targets>[^\s#:=][^\n#:=]*?)[ \t]*:(?![:=])(?:(?P<pattern>[^\n:=;]*%[^\n:=;]*):)?[^\n=]*\n\t",
    re.MULTILINE,
)
"""A rule of a Makefile that has a recipe; of a static pattern rule the pattern of its targets."""


def maker_of(texts: Mapping[str, str], path: str, but: Collection[str] = ()) -> str:
    """Return who makes a file, as "gen/render.py makes web.sbatch"; "" where nobody is seen to.

    `texts` are those of the other files by their paths; files in `but` train with the file.
    """
    *folders, name = os.path.abspath(path).split("/")
    beside = os.path.dirname(os.path.abspath(path))
    given: list[str] | None = None
    for other, text in texts.items():
        for parts in () if other in but else _written(text, _kind(other)):
            if not fnmatchcase(name, parts[-1]) or not _is_below(parts[:-1], folders):
                continue
            is_named = bool(parts[-1].strip(ANY))
            is_made = len(parts) > 1 and bool(parts[-2].strip(ANY))
            is_made = is_made or (is_named and os.path.dirname(os.path.abspath(other)) == beside)
            if not is_made and parts != (ANY,):
                given = list(_lines_with(texts.values(), folders[-1])) if given is None else given
                is_made = _starts(given, other)
            if is_made:
                return f"{other} makes {name}"
    return ""


def _is_below(parts: Sequence[str], folders: Sequence[str]) -> bool:
    """Tell whether a file's folders end as a path does, as far as that is written."""
    for part, folder in zip(reversed(parts), reversed(folders), strict=False):
        if part == ANY:
            return True
        if not fnmatchcase(folder, part):
            return False
    return True


def _lines_with(texts: Iterable[str], folder: str) -> Iterator[str]:
    """Yield the lines of texts that have a folder as a word by itself, as a command has that is given it."""
    given = re.compile(rf"(?<![\w./-])(?:[\w.-]+/)*{re.escape(folder)}/?(?![\w./-])")
    for text in texts:
        if folder in text:
            said = uncommented(text).replace("\\\n", "  ")
            assigned = _assigned(said)
            # (A variable may hold the folder.)
            words = (folder, *(name for name in assigned if folder in _put_in(f"${name}", assigned)))
            lines = (_put_in(each, assigned) for each in said.split("\n") if any(word in each for word in words))
            yield from (each for each in lines if given.search(each))


def _starts(lines: Iterable[str], program: str) -> bool:
    """Tell whether one of some lines names a program, by its file or as a module."""
    name = os.path.basename(program)
    module = re.escape(os.path.splitext(name)[0])
    named = re.compile(rf"(?<![\w-])(?:{re.escape(name)}|-m[ \t]+[\w.]*{module})(?![\w-])")
    return any(map(named.search, lines))


def _kind(path: str) -> str:
    name = os.path.basename(path)
    if is_python(path):
        return "python"
    return "make" if name.lower() in ("makefile", "gnumakefile") or name.endswith(".mk") else "commands"


@lru_cache(maxsize=MOST_FILES)
def _written(text: str, kind: str) -> Sequence[tuple[str, ...]]:
    """Return the parts of the paths that a program writes, each with ANY for what is put in when it runs."""
    written = _written_in_python(text) if kind == "python" else _written_by_commands(text, is_make=kind == "make")
    paths = (tuple(part for part in path.split("/") if part not in ("", ".", "..")) for path in written)
    return [each for each in dict.fromkeys(paths) if each]


def _written_in_python(text: str) -> Iterator[str]:
    tree = parsed(text) if _WRITES.search(text) or _OPENS.search(text) else None
    nodes = [] if tree is None else list(ast.walk(tree))
    targets = [each for node in nodes if isinstance(node, ast.Call) for each in _targets(node)]
    values = _values(nodes) if targets else {}
    return (_spelled(each, values) for each in targets)


def _targets(call: ast.Call) -> Iterator[ast.expr]:
    """Yield what a call writes to, if it does: a path, or what is opened."""
    mode = next((each.value for each in call.keywords if each.arg == "mode"), None)
    match call:
        case ast.Call(func=ast.Attribute(value=path, attr="write_text" | "write_bytes")):
            yield path
        case ast.Call(func=ast.Name(id="open") | ast.Attribute(attr="open"), args=[path, *rest]) if _is_mode(
            rest[0] if rest else mode
        ):
            yield path
        case ast.Call(func=ast.Attribute(value=path, attr="open"), args=args) if _is_mode(args[0] if args else mode):
            yield path
        case ast.Call(
            func=ast.Attribute(attr="dump" | "save" | "copy" | "copyfile" | "copy2" | "copytree" | "move"),
            args=[*_, path],
        ):
            yield path


def _is_mode(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and _MODE.fullmatch(node.value) is not None


def _values(nodes: Iterable[ast.AST]) -> dict[str, ast.expr | None]:
    """Return the values of variables, parameters and options, by name; of those with several, None."""
    values: dict[str, ast.expr | None] = {}
    for node in nodes:
        found: list[tuple[str, ast.expr]] = []
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                found = [(name, value)]
            case ast.arguments():
                parameters = (*node.posonlyargs, *node.args)
                given = zip(parameters[len(parameters) - len(node.defaults) :], node.defaults, strict=True)
                found = [(each.arg, value) for each, value in given]
                only = zip(node.kwonlyargs, node.kw_defaults, strict=True)
                found += [(each.arg, value) for each, value in only if value is not None]
            case ast.Call(func=ast.Attribute(attr="add_argument"), args=[*_, ast.Constant(value=str(option))]):
                name = f".{option.lstrip('-').replace('-', '_')}"
                found = [(name, each.value) for each in node.keywords if each.arg == "default"]
        values.update((name, None if name in values else value) for name, value in found)
    return values


def _spelled(node: ast.expr | None, values: Mapping[str, ast.expr | None], steps: int = 0) -> str:
    """Return the text of a path, with ANY for what is not written."""

    def spelled(each: ast.expr | None) -> str:
        return ANY if steps >= _MOST_STEPS else _spelled(each, values, steps + 1)

    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(map(spelled, parts))
        case ast.FormattedValue(value=value):
            return spelled(value)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return f"{spelled(left)}/{spelled(right)}"
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return spelled(left) + spelled(right)
        case ast.BinOp(left=left, op=ast.Mod()):
            return _PERCENT.sub(ANY, spelled(left))
        case ast.Call(func=ast.Attribute(value=text, attr="format")):
            return _FIELD.sub(ANY, spelled(text))
        case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="path"), attr="join"), args=args):
            return "/".join(map(spelled, args))
        case ast.Call(func=ast.Attribute(value=path, attr="joinpath" | "join"), args=args):
            return "/".join(map(spelled, (path, *args)))
        case ast.Call(func=ast.Attribute(value=path, attr="with_suffix"), args=[suffix]):
            return os.path.splitext(spelled(path))[0] + spelled(suffix)
        case ast.Call(func=ast.Attribute(value=path, attr="with_name"), args=[name]):
            return f"{os.path.dirname(spelled(path)) or ANY}/{spelled(name)}"
        case ast.Call(func=ast.Attribute(value=path, attr="resolve" | "absolute" | "expanduser"), args=[]):
            return spelled(path)
        case ast.Call(func=ast.Name(id="Path" | "str") | ast.Attribute(attr="Path" | "fspath"), args=[_, *_] as args):
            return "/".join(map(spelled, args))
        case ast.Name(id=name) if values.get(name) is not None:
            return spelled(values[name])
        case ast.Attribute(value=ast.Name(), attr=attr) if values.get(f".{attr}") is not None:
            return spelled(values[f".{attr}"])
    return "/tmp" if node is not None and _OUTSIDE.search(ast.unparse(node)) else ANY


def _written_by_commands(text: str, *, is_make: bool) -> Iterator[str]:
    """Yield what commands write to, and the targets of rules of a Makefile."""
    if ">" not in text and "tee " not in text and "-o" not in text and not is_make:
        return
    said = uncommented(text)
    assigned = _assigned(said)
    for found in _REDIRECTED.finditer(said):
        yield _put_in(found["word"], assigned)
    for found in _OUTPUT.finditer(said):
        word = _put_in(found["word"], assigned)
        yield from (word, f"{word.rstrip('/')}/{ANY}")
    for rule in _RULE.finditer(said) if is_make else ():
        for word in (rule["pattern"] or rule["targets"]).split():
            yield _put_in(word, assigned)


def _assigned(text: str) -> dict[str, str]:
    """Return the variables that a text gives one value."""
    values: dict[str, str] = {}
    for found in _ASSIGNED.finditer(text):
        values[found["name"]] = found["value"] if values.get(found["name"], found["value"]) == found["value"] else ANY
    return values


def _put_in(word: str, assigned: Mapping[str, str], steps: int = 0) -> str:
    """Return a text of commands with the values of its variables, and ANY for what is not known."""

    def value(found: re.Match[str]) -> str:
        variable = _VARIABLE.match(found[0])
        said = None if variable is None else assigned.get(variable["name"]) or variable["default"]
        if said and steps < _MOST_STEPS:
            return _put_in(said, assigned, steps + 1)
        return "/tmp" if _OUTSIDE.search(found[0]) else ANY

    return re.sub(r"[\"']", "", _EXPANSION.sub(value, word))
