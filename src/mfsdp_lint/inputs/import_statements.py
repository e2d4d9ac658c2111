"""The import statements of a Python file, found in its text without parsing it.

More are found than there are: a comment may read like an import. None is overlooked, wherever it stands: in a function,
under a condition, behind a semicolon.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mfsdp_lint.core.records import dataclass

_STATEMENT = re.compile(
    # What a lookahead has found is not tried again in parts: the dots in front of a module take linear time.
    # Each alternative begins with a letter, in front of what is asked of the place: so places are found twice as fast.
    r"""
    f(?<=\bf)rom\b(?=(?P<dots>(?:[. \t]|\\\r?\n)*))(?P=dots)(?P<module>(?:\w[\w.]*)?)(?:[ \t]|\\\r?\n)*\bimport\b
        (?P<names>(?:[ \t]|\\\r?\n)*(?:\((?:[^)#]|\#[^\n]*)*|(?:[^\n(;#\\]|\\\r?\n)*))
    | i(?<=\bi)mport(?:
        (?:[ \t]|\\\r?\n)(?P<modules>(?:[^\n;#\\]|\\\r?\n)*)
        | _module\b(?=(?P<call>\s*\(?\s*[^\n]{0,200}))
      )
    | _(?<=\b_)_import__\b(?=(?P<builtin>\s*\(?\s*[^\n]{0,200}))
    """,
    re.VERBOSE,
)
_COMMENT = re.compile(r"#[^\n]*")
_LITERAL = re.compile(r"\s*\(\s*[\"'](?P<dots>\.*)(?P<module>[\w.]+)[\"']")
_ALIAS = re.compile(r"(?P<name>[^\W\d][\w.]*|\*)(?:\s+as\s+(?P<alias>\w+))?")


@dataclass(frozen=True, slots=True)
class Import:
    """A module that a file imports.

    `level` is the number of dots in front of it. `names` are what is imported from it; none where it is the module
    itself, and then `whole` says that the name of its outermost package is bound, as `import a.b` binds `a`. `words`
    are those of a call that imports, as far as the line goes.
    """

    level: int
    module: str
    names: tuple[str, ...] = ()
    whole: bool = False
    words: tuple[str, ...] = ()


def imports_in(text: str) -> Iterator[Import]:
    """Yield the imports in a text, in their order."""
    if "import" not in text:
        return
    for found in _STATEMENT.finditer(text):
        if found["modules"] is not None:
            for alias in map(_ALIAS.match, map(str.strip, found["modules"].replace("\\", " ").split(","))):
                if alias is not None:
                    yield Import(0, alias["name"], whole=alias["alias"] is None)
        elif (call := found["builtin"] if found["call"] is None else found["call"]) is not None:
            literal = _LITERAL.match(call)
            module = ("", "") if literal is None else (literal["dots"], literal["module"])
            words = tuple(re.findall(r"[^\W\d]\w*", call))
            yield Import(len(module[0]), module[1], words=words)
        else:
            names = _ALIAS.finditer(_COMMENT.sub("", found["names"]))
            yield Import(found["dots"].count("."), found["module"], tuple(each["name"] for each in names))
