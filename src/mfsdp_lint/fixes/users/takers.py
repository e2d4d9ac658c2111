"""Texts that take a whole file, whatever they read of it: by its path, by a pattern, by a name that is put together.

Such a text need not say the name of the constant, or the key, that an edit changes.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Collection, Mapping
from functools import lru_cache

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs.mentions import uncommented

OF_TOOLS = frozenset((
    "CODEOWNERS", "MANIFEST.in", "pyproject.toml", "setup.cfg", ".pre-commit-config.yaml", ".gitignore",
    ".gitattributes", ".dockerignore", "mkdocs.yml", "ruff.toml", ".ruff.toml", "mypy.ini", ".flake8", "uv.lock",
))  # fmt: skip
"""Files that name others for tools that look at no value in them."""

_PROGRAM = lazy_pattern(r"(?:\bpython[\d.]*|\btorchrun|\baccelerate|\bdeepspeed|\bsrun)\b(?:(?!\.py\b)[^\n;&|])*\Z")
"""The text in front of a file's name where it is the program that a command starts."""

# (A pattern begins where a name does: from each letter of a long run, that takes quadratic time.)
_WILDCARD = lazy_pattern(r"(?<![\w.${}-])(?P<folder>[\w.${}-]*/)?(?P<last>[\w.-]*[*?\[][\w.*?\[\]-]{0,60})(?![\w/*])")
_LISTING = lazy_pattern(
    r"\b(?:iterdir|listdir|scandir|walk_packages|iter_modules|list\.files|(?:readdir|opendir|glob)Sync|readdir|opendir"
    r"|os\.walk|read_dir|ReadDir|WalkDir|listFiles|filepath\.(?:Glob|Walk))\b|\.walk\(\)|\bcontents\(|\bDir[.\[]|\b[ir]?glob\((?!\s*r?[\"'])"
)
"""Calls, of whatever language, that list what is in a folder; of patterns those that are no plain text."""

_LOADING = lazy_pattern(
    r"\b(?:import_module|__import__|run_path|run_module|read_text|exec|open|load_source|SourceFileLoader)\("
    r"(?!\s*[\"'][^\"'{]*[\"']\s*[,)])|\bspec_from_file_location\("
)
"""Calls that load a module or a file by a name that is no plain text."""

_IMPORTING = lazy_pattern(r"\b(?:import_module|__import__|run_path|run_module)\((?!\s*[\"'][^\"'{]*[\"']\s*[,)])")
"""Those of them that import."""

_COMPUTED = lazy_pattern(r"\$\{?\{?[^\s\"'$]{0,80}\.py\b|\bimport\s+[\w., ]{0,200}[\"']?\$|-m\s+[\"']?\$")
"""A program, or an import in a command, whose name is put in when it runs."""


@dataclass(frozen=True, slots=True)
class _Facts:
    """The patterns of file names in a text, each with the folder in front of it, and whether the text lists folders,
    loads by names that are put together (`imports`: modules), or starts programs by such names.
    """

    patterns: tuple[tuple[str, str], ...]
    lists: bool
    loads: bool
    imports: bool
    computes: bool


@lru_cache(maxsize=4096)
def _facts(text: str) -> _Facts:
    said = uncommented(text)
    wildcards = _WILDCARD.finditer(said) if "*" in said or "?" in said else ()
    patterns = dict.fromkeys(((found["folder"] or "").rstrip("/"), found["last"]) for found in wildcards)
    asked = (_LISTING, _LOADING, _IMPORTING, _COMPUTED)
    return _Facts(tuple(patterns), *(each.search(said) is not None for each in asked))


def taker_of(texts: Mapping[str, str], path: str, but: Collection[str] = ()) -> str:
    """Return a text that takes a file as a whole, as "convert.sh uses consts.py"; "" where there is none.

    `texts` are those of the other files by their paths; files in `but` are compared by a proof.
    """
    folder, name = os.path.split(os.path.abspath(path))
    above, stem = os.path.basename(folder), os.path.splitext(name)[0]
    is_package = stem == "__init__"
    named = re.compile(rf"(?<![\w.-]){re.escape(f'{above}/{name}' if is_package else name)}(?![\w-])")
    module = re.escape(above if is_package else stem)
    says_module = re.compile(rf"(?<![\w.-]){module}(?![\w-])")
    in_quotes = re.compile(rf"[\"'](?:[\w./]*[./])?(?:{module}|{re.escape(above)})(?:[./][^\"'\n]*)?[\"']")
    importing: list[str] = []
    naming: list[str] = []
    for other, text in texts.items():
        if other in but or os.path.basename(other) in OF_TOOLS:
            continue
        said, facts = uncommented(text), _facts(text)
        takes = (
            any(not _is_program(said, each.start()) for each in named.finditer(said))
            or lists(other, text, path)
            or (facts.loads and in_quotes.search(said) is not None)
            or ((facts.computes or "%run" in said) and says_module.search(said) is not None)
        )
        if takes:
            return f"{other} uses {name}"
        importing += [other] * facts.imports
        naming += [other] * (not other.endswith((".py", ".ipynb")) and says_module.search(said) is not None)
    # (Somebody may hand the name of the module to the one that imports it.)
    return f"{importing[0]} uses {name}" if importing and naming else ""


def is_computed(text: str) -> bool:
    """Tell whether a text imports or loads something by a name that is put together."""
    facts = _facts(text)
    return facts.imports or facts.loads


def lists(other: str, text: str, path: str) -> bool:
    """Tell whether another file's text takes a file by a pattern of names, or lists the folder that it lies in."""
    folder, name = os.path.split(os.path.abspath(path))
    above, facts = os.path.basename(folder), _facts(text)
    if any(_means(said, last, above, name) for said, last in facts.patterns):
        return True
    is_beside = os.path.dirname(os.path.abspath(other)) == folder
    return facts.lists and (is_beside or re.search(rf"(?<!\w){re.escape(above)}(?!\w)", uncommented(text)) is not None)


def _is_program(text: str, place: int) -> bool:
    return _PROGRAM.search(text[text.rfind("\n", 0, place) + 1 : place]) is not None


def _means(folder: str, last: str, above: str, name: str) -> bool:
    """Tell whether a pattern means a file: one that is nothing but a star says it by the folder in front of it."""
    if not last.strip("*") and folder.rpartition("/")[2] != above:
        return False
    return fnmatch.fnmatchcase(name, last)
