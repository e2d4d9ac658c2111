"""Launches that are made out of the text of a script: by whoever reads or rewrites it, and does not only run it."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.fixes.users.takers import lists
from mfsdp_lint.inputs.imports import parsed
from mfsdp_lint.inputs.mentions import uncommented
from mfsdp_lint.readers.registry import is_python

_PROGRAM = r"(?:^|(?<=[\s\"'`/(\[]))(?:bash|sh|zsh|sbatch|qsub|exec|nohup)[\"']?[\s,]+(?:-\w+[\"']?[\s,]+)*"
_START = lazy_pattern(rf"(?:^[ \t@-]*|[;&|(][ \t]*|(?P<program>{_PROGRAM}))[\"']?[\w./${{}}-]*\Z", re.MULTILINE)
"""The text in front of a script's name where it is run as a process of its own."""
_SOURCED = lazy_pattern(r"(?:\bsource|(?:^|[\s;&|(\"'])\.)\s+[\"']?\S*\Z")
_IN_LIST = lazy_pattern(r"[\"']\s*[,)\]}:]")
"""The text behind a name that a program holds, and no command."""

_TEXT_TOOL = lazy_pattern(
    r"(?<![\w.-])(?:(?P<by_place>head|tail)|sed|[gm]?awk|perl|[ef]?grep)\s"
    r"(?:[^;&|]*?(?P<lines>(?<=[\s\"'{])\d+(?:,[\d$+~]+)?[ \t]*!?[acdipqsy={]|\bF?NR\b|\$\.[ \t]*[=!<>]))?"
)
"""A command that gives a script's text to a program: by the number of its lines, or by what they say."""
_CAT = lazy_pattern(r"(?<![\w.-])cat\s")
_QUOTED = lazy_pattern(r"\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'")
_READS = r"\b(?:open|\w*[rR]ead\w*|file_get_contents)\([^\n]{0,80}?"
_READ_FROM = r"[\"')\s]*(?:\.\w+\([^()\n]*\))*\.(?:read\w*|open)\("
_MAKES = lazy_pattern(r"\b(?:exec|compile|replace|subn?|substitute)\(")
_HELD = lazy_pattern(r"(?:^|[\s;({])(?P<name>\w+)\s*(?::\s*\w+\s*)?:?=[^=\n][^\n]*\Z")
"""The text in front of a name that a program gives a variable."""
_MOST_BEFORE = 2_000
_WORD = lazy_pattern(r"[A-Za-z_][\w.-]{4,}")
_OF_PROGRAM = lazy_pattern(r"[\w.-]+\.(?:py|pl|rb|sed|awk)\b")


DIGESTS = lazy_pattern(
    r"(?<![\w.-])(?:hashlib|xxhash|(?:md5|sha\d*|b2|ck)sum|shasum|git hash-object|hash\(|hashFiles\()"
    r"|\b(?:sha\d+|md5|blake2[bs]|blake3|crc32|adler32|uuid[35]|xxh\w+)\("
)
"""Calls, and commands, whose result names something: a folder of a run, say, which another text would name anew."""
SUMS = ("md5sum", "sha1sum", "sha256sum", "sha512sum", "shasum", "b2sum", "cksum", "hash-object")
_LOADS_GIVEN = lazy_pattern(r"\b(?:yaml|\w*[cC]onf|tomllib|toml|json)\.\w*load\w*\(\s*(?![\s\"'])")
"""Makes settings of a text, or of a file, whose name is not written there: PyYAML, OmegaConf, tomllib, json."""
_DIGESTS_GIVEN = lazy_pattern(rf"(?<![\w.-])(?:{'|'.join(SUMS)})\s(?:[^;&|\n]*\s)?<?\"?\$\{{?(?P<name>\w+)")
"""A command that makes a digest of the file of a variable."""
_GIVEN_ON = r"(?:(?<![\w.-])(?:bash|sh|sbatch|source)\s+|--[\w-]*(?:conf|cfg|recipe)[\w-]*[\s=]+)\"?\$\{{?{name}\b"
"""A command that starts the file of a variable, or gives it to a program for its settings."""
_OWN_FILE = lazy_pattern(r"\b__file__\b|\$\{?(?:0\b|BASH_SOURCE)")

_READS_ANY = lazy_pattern(
    r"(?<![\"'])(?<![\"']\))(?<![\"']\)\))\.read(?:_text|lines)?\(|\bin open\((?!\s*[\"'])|\bfileinput\b"
    r"|\bas (?P<file>\w+):\s+for \w+ in (?P=file)\b|\bprocess_iter\("
)
"""A program that reads lines or words of a file whose name is not written there, or of what processes were given."""
_SEARCHES_ANY = lazy_pattern(r"(?<![\w.-])(?:sed|[gm]?awk|perl|[ef]?grep)\s[^\n;|&]*\$\{?[\w@*<^][^\n]*")
"""A command that looks for something in a file that a variable names."""
_SEARCHES_PROCESSES = lazy_pattern(
    r"(?<![\w.-])(?:p(?:grep|kill)\b(?=[^\n;|&]*[\s\"'](?:-\w*f|--full\b))|ps\s[^\n;&]*\|\s*[ef]?grep\s)[^\n;&|]*"
)
"""A command that looks for something in the command lines of processes: pgrep(1), `-f`."""
_VARIABLE = lazy_pattern(r"\$[\w{@*]")
_HERE_TEXT = lazy_pattern(r"<<-?[ \t]*[\"']?(\w+)[\"']?.*?^[ \t]*\1$", re.MULTILINE | re.DOTALL)


def digester_of(texts: Mapping[str, str], path: str, programs: Collection[str]) -> str:
    """Return who makes a digest of a file, as "train.sh makes a digest of config.yaml"; "" for none.

    `texts` are those of the file itself and of others, of which `programs` may have it without its name. A script may
    have it by a variable.
    """
    name = os.path.basename(path)
    for other, text in texts.items():
        said = uncommented(text) if DIGESTS.search(text) else ""
        lines = said.split("\n") if not is_python(other) else [said]
        for each in lines if said else ():
            is_own = other == path and _OWN_FILE.search(each) is not None
            if DIGESTS.search(each) and (is_own or other in programs or any(mentions_of(each, name))):
                return f"{other} makes a digest of {name}"
            given = None if is_python(path) else _DIGESTS_GIVEN.search(each)
            if given is not None and re.search(_GIVEN_ON.format(name=given["name"]), said):
                return f"{other} makes a digest of files that it is given"
    return ""


def trains_with_what_it_is_given(text: str) -> bool:
    """Tell whether a program trains with settings from a file that only its caller names."""
    return "megatron" in text and _LOADS_GIVEN.search(uncommented(text)) is not None


def searcher_of(texts: Mapping[str, str], word: str) -> str:
    """Return who looks for a word in files that it is given, or in processes, as "submit looks for --bf16 in files or
    processes"; "" for none.

    `texts` are those that have the word, or name a list that has it; where it is code, nobody looks for it.
    """
    for other, text in texts.items():
        if word in text and any(word in each for each in _asked(text, is_program=is_python(other))):
            return f"{other} looks for {word} in files or processes"
    return ""


@lru_cache(maxsize=1024)
def _asked(text: str, *, is_program: bool) -> Sequence[str]:
    """Return the pieces of a text that say what it looks for in files that it is given, or in processes."""
    plain = uncommented(text)
    commands = _without_separators(plain)
    in_processes = [plain[slice(*found.span())] for found in _SEARCHES_PROCESSES.finditer(commands)]
    if is_program:
        tree = parsed(text) if in_processes or _READS_ANY.search(plain) else None
        if tree is None:
            return ()
        return tuple(_texts_in(ast.walk(tree)) if in_processes else _compared_texts(tree))
    in_files = [plain[slice(*found.span())] for found in _SEARCHES_ANY.finditer(commands)]
    # What is looked for may be in a variable; that of the file is another one.
    held = any(map(_VARIABLE.search, in_processes)) or any(len(_VARIABLE.findall(each)) > 1 for each in in_files)
    kinds = (_QUOTED, _HERE_TEXT) if held else (_HERE_TEXT,) if in_files else ()
    pieces = [found[0] for each in kinds for found in each.finditer(plain)]
    return [*pieces, *in_processes, *in_files]


_LOOKS_FOR = frozenset(
    "find index count replace startswith endswith partition split match search fullmatch findall finditer sub".split()  # noqa: SIM905
)
"""Methods, of texts or of the module `re`, whose first argument says what to look for."""


def _compared_texts(tree: ast.Module) -> Iterator[str]:
    """Yield the texts that a program looks for in others: written there, or held by a name, also one by one."""
    nodes = list(ast.walk(tree))
    asked: list[ast.expr] = []
    for node in nodes:
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            asked.append(node.left)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _LOOKS_FOR:
            asked += node.args[:1]
    names = {each.id for each in asked if isinstance(each, ast.Name)}
    for node in nodes:
        if isinstance(node, ast.For | ast.comprehension) and getattr(node.target, "id", None) in names:
            asked.append(node.iter)
            names |= {node.iter.id} if isinstance(node.iter, ast.Name) else set()
    for node in nodes:
        if isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id in names for to in node.targets):
            asked.append(node.value)
    yield from _texts_in(piece for each in asked for piece in ast.walk(each))


def _texts_in(nodes: Iterable[ast.AST]) -> Iterator[str]:
    return (each.value for each in nodes if isinstance(each, ast.Constant) and isinstance(each.value, str))


def is_start(text: str, mention: re.Match[str]) -> bool:
    """Tell whether a script is named to run it by itself, as a process of its own."""
    found = None if is_sourced(text, mention) else _START.search(_line_before(text, mention))
    return found is not None and (found["program"] is not None or not _IN_LIST.match(text, mention.end()))


def is_sourced(text: str, mention: re.Match[str]) -> bool:
    """Tell whether a script is named to run it in the shell that names it."""
    return _SOURCED.search(_line_before(text, mention)) is not None


def mentions_of(text: str, name: str) -> Iterator[re.Match[str]]:
    """Yield the places where a text without comments names a file."""
    return re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text)


def rewriter_of(texts: Mapping[str, str], path: str, said: Collection[str], *, reads: bool) -> str:
    """Return who changes the text of a file by a command, as "Makefile takes the text of llama.py"; "" for none.

    `texts` are those that name the file, `said` words of what another launch has to leave out, or that the edit
    replaces. `reads`: a program that reads the file takes its text as well, where it changes or runs texts.
    """
    name = os.path.basename(path)
    for other, text in texts.items():
        plain = uncommented(text)
        makes = reads and _MAKES.search(plain) is not None
        if any(_edits(plain, each, said) or (makes and _reads(plain, each)) for each in mentions_of(plain, name)):
            return f"{other} takes the text of {name}"
    return ""


def maker_of_another(texts: Mapping[str, str], path: str, said: Collection[str], but: Collection[str] = ()) -> str:
    """Return who may make another launch out of a script's text, as "ddp.py takes the text of train.sh"; "" for none.

    `said` are texts of the launch that another one has to leave out, or that the edit replaces; of files in `but`,
    which say all of that, commands and programs count that take the text.
    """
    name = os.path.basename(path)
    words = {max(found, key=len) for each in said if (found := _WORD.findall(each))}
    parts = _parts(words)
    for other, text in texts.items():
        # (Most texts do neither, and to look for comments and patterns takes longer.)
        low = text.lower()
        if name not in text and (other in but or not any(part in low for part in parts)):
            continue
        plain = uncommented(text)
        mentions = mentions_of(plain, name)
        others = [each for each in mentions if not (is_start(plain, each) or is_sourced(plain, each))]
        named = [] if other in but else [plain, *_programs(texts, plain, others)]
        asked = [each[0].lower() for each in _SEARCHES_ANY.finditer(plain)] if named else []
        if (
            any(_edits(plain, each, words) or _reads(plain, each) for each in others)
            or (any(word in each for each in named for word in words) and (others or lists(other, text, path)))
            or (any(part in each for part in parts for each in asked) and lists(other, text, path))
        ):
            return f"{other} takes the text of {name}"
    return ""


def joiner_of(texts: Mapping[str, str], path: str) -> str:
    """Return who puts another text behind that of a file, as "make.sh continues head.sh"; "" for none."""
    name = os.path.basename(path)
    for other, text in texts.items():
        plain = uncommented(text) if name in text else ""
        if any(_CAT.search(_command_before(plain, each)) for each in mentions_of(plain, name)):
            return f"{other} continues {name}"
    return ""


def _edits(text: str, mention: re.Match[str], words: Collection[str]) -> bool:
    """Tell whether a command changes a file's text, by its lines or by the last part of one of the words."""
    command = _command_before(text, mention)
    if _CAT.search(command):
        after = _without_separators(text[mention.end() :].partition("\n")[0].lstrip("\"'"))
        command = re.split(r"[;&]", after)[0].lstrip().removeprefix("|").partition("|")[0]
    tool = _TEXT_TOOL.search(command)
    return tool is not None and (any(tool.groups()) or any(each in command.lower() for each in _parts(words)))


def _command_before(text: str, mention: re.Match[str]) -> str:
    """Return the command in front of a file's name."""
    return re.split(r"[;&|]", _without_separators(_line_before(text, mention)))[-1]


def _without_separators(text: str) -> str:
    """Return a text of the same length in which no quoted piece has what separates commands."""
    return _QUOTED.sub(lambda found: re.sub(r"[;&|]", " ", found[0]), text)


def _parts(words: Collection[str]) -> set[str]:
    return {re.split(r"[-_.]", each)[-1].lower() for each in words}


def _reads(text: str, mention: re.Match[str]) -> bool:
    """Tell whether a program reads a file, by its name or by a variable."""
    held = _HELD.search(_line_before(text, mention))
    names = [re.escape(mention[0]), *([rf"\b{held['name']}\b"] if held else ())]
    return any(re.search(f"{_READS}{each}|{each}{_READ_FROM}", text) for each in names)


def _programs(texts: Mapping[str, str], text: str, mentions: Collection[re.Match[str]]) -> Iterator[str]:
    """Yield the texts of the programs that are given the script on a line that names it."""
    given = {found for each in mentions for found in _OF_PROGRAM.findall(_line_before(text, each))}
    return (said for path, said in texts.items() if os.path.basename(path) in given)


def _line_before(text: str, mention: re.Match[str]) -> str:
    before = text[max(mention.start() - _MOST_BEFORE, 0) : mention.start()]
    return before.replace("\\\n", "  ").rpartition("\n")[2]
