"""Addresses: a recipe by file and function, with the arguments that it is called with.

`path.py::function`, `path.py::Class.method`, `path.py::function(precision="fp8_mx", mock=True)`; `path.py` and
`path.yaml` alone are all recipes of the file, `launch.sh[2]` is the second of several; `@FILE` means the addresses
in a file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Plain, refuse_huge
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.discover import File, FileTypes, discover
from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.inputs.sources import Problem, reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast

SEPARATOR = "::"


@dataclass(frozen=True, slots=True)
class Address:
    """A function of a file, and how it is called. `function` may be `Class.method`."""

    path: str
    function: str
    positional: tuple[Plain, ...] = ()
    keywords: tuple[tuple[str, Plain], ...] = ()

    def __str__(self) -> str:
        given = [*map(repr, self.positional), *(f"{name}={value!r}" for name, value in self.keywords)]
        return f"{self.path}{SEPARATOR}{self.function}" + (f"({', '.join(given)})" if given else "")


@dataclass(frozen=True, slots=True)
class ParsedArguments:
    """The parsed arguments of a command: files to read whole, functions to evaluate, and problems with missing files.

    `named` are the files that only addresses name. `numbered` are, as they are written (`launch.sh[2]`), single
    recipes of `files`.
    """

    files: tuple[File, ...]
    addresses: tuple[Address, ...]
    problems: tuple[Problem, ...]
    named: tuple[File, ...] = ()
    numbered: tuple[str, ...] = ()


def ask(
    arguments: Sequence[str], types: FileTypes, exclude: Sequence[str] = (), *, gitignore: bool = True
) -> ParsedArguments:
    """Find the files of paths and addresses, of these types.

    A file that a path covers is called as the path calls it. `exclude` and `gitignore` are as for `discover`. Raises
    UsageError for an address that is none and a list of addresses that cannot be read.
    """
    numbered: list[str] = []
    texts = [_whole_file(text, numbered) for text in expand(arguments)]
    found = discover([text for text in texts if not is_address(text)], types, exclude, gitignore=gitignore)
    addresses = {str(address): address for address in (_address(text, types) for text in texts if is_address(text))}
    if not addresses:
        return ParsedArguments(tuple(found.files), (), tuple(found.problems), numbered=tuple(numbered))
    spelled = {disk.real(file.path): file.path for file in found.files}
    named = discover({address.path for address in addresses.values()}, types)
    kinds = {disk.real(file.path): file.kind for file in named.files}
    kept = [
        Address(spelled.get(disk.real(each.path), each.path), each.function, each.positional, each.keywords)
        for each in addresses.values()
        if disk.real(each.path) in kinds
    ]
    alone = dict.fromkeys(each.path for each in kept if disk.real(each.path) not in spelled)
    also = tuple(File(path, kinds[disk.real(path)]) for path in alone)
    return ParsedArguments(tuple(found.files), tuple(kept), (*found.problems, *named.problems), also, tuple(numbered))


def _whole_file(text: str, numbered: list[str]) -> str:
    """Return an argument; for a numbered recipe return its file, and add the argument to `numbered`."""
    found = re.fullmatch(r"(?P<path>.+)\[\d+\]", text)
    if found is None or disk.exists(text) or not disk.is_file(found["path"]):
        return text
    numbered.append(text.replace(os.sep, "/"))
    return found["path"]


def expand(arguments: Iterable[str]) -> Iterable[str]:
    """Yield the arguments, with `@FILE` replaced by the lines of the file.

    Blank lines and `#` comments do not count.
    """
    for argument in arguments:
        if not argument.startswith("@"):
            yield argument
            continue
        try:
            lines = [line.strip() for line in disk.read(argument[1:]).decode("utf-8").splitlines()]
        except UnicodeDecodeError:
            raise UsageError(f"{argument}: not UTF-8") from None
        except (OSError, ValueError) as error:
            raise UsageError(f"{argument}: {reason(argument[1:], error)}") from None
        yield from (line for line in lines if line and not line.startswith("#"))


def parse_address(text: str) -> Address:
    """Parse a text with `::` in it as an address. Raises UsageError."""
    path, called = _parts(text)
    name = called.partition("(")[0].strip()
    if not all(part.isidentifier() for part in name.split(".")):
        raise UsageError(f"{text}: {name!r} is not the name of a function")
    return Address(path, name, *_arguments(text, called))


def _address(text: str, types: FileTypes) -> Address:
    """Return the address, if its file is of a type that has functions. Raises UsageError."""
    path, _ = _parts(text)
    type_ = types.of(path)
    if type_ is None:
        raise UsageError(f"{text}: an address is path.py::function or path.py::function(name=value)")
    if not type_.functions:
        raise UsageError(f"{text}: {type_.called} has no functions; its address is {path}")
    return parse_address(text)


def is_address(text: str) -> bool:
    """Tell whether an argument names a function. The name of a file may have the separator in it."""
    return SEPARATOR in text and not (disk.exists(text) or disk.is_link(text))


def _parts(text: str) -> tuple[str, str]:
    """Split an address into the path and the call; where several paths are possible, take the first that exists."""
    ends = [match.start() for match in re.finditer(SEPARATOR, text)]
    end = next((end for end in ends if disk.is_file(text[:end])), ends[0])
    return text[:end].replace(os.sep, "/"), text[end + len(SEPARATOR) :]


def _arguments(text: str, called: str) -> tuple[tuple[Plain, ...], tuple[tuple[str, Plain], ...]]:
    if "(" not in called:
        return (), ()
    import ast

    try:
        refuse_huge(called)
        call = ast.parse(called.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise UsageError(f"{text}: its arguments are not valid Python") from None
    if not isinstance(call, ast.Call) or not isinstance(call.func, (ast.Name, ast.Attribute)):
        raise UsageError(f"{text}: an address ends with the arguments of the call")
    positional = tuple(_literal(text, argument) for argument in call.args)
    keywords: dict[str, Plain] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise UsageError(f"{text}: arguments are written out; `**` stands for nothing here")
        if keyword.arg in keywords:
            raise UsageError(f"{text}: {keyword.arg} is given twice")
        keywords[keyword.arg] = _literal(text, keyword.value)
    return positional, tuple(keywords.items())


def _literal(text: str, node: ast.expr) -> Plain:
    import ast

    try:
        return _plain(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        what = f"{ast.unparse(node)} is not a literal (a number, a text, True, False, None, a list or a dict)"
        raise UsageError(f"{text}: {what}") from None


def _plain(value: object) -> Plain:
    """Convert a literal to a value of settings. Raises ValueError for a kind of value that settings do not have."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case list() | tuple():
            return [_plain(item) for item in value]
        case dict() if all(isinstance(key, str) for key in value):
            return {str(key): _plain(item) for key, item in value.items()}
        case _:
            raise ValueError
