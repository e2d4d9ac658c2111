"""Texts that say what a file is, or lines of it: a digest, a patch, a comparison, a doctest, a schema, a generator.

They hold an edit back in whatever language the file is written. An edit elsewhere in it may leave a patch as it is.
"""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from hashlib import md5, sha1, sha256, sha512
from typing import TYPE_CHECKING

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.values import Known, Plain
from mfsdp_lint.fixes.judged import FixRequest, anchors_of
from mfsdp_lint.fixes.users.checkpoints import other_user_of_checkpoints
from mfsdp_lint.fixes.users.takers import OF_TOOLS, lists
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.dependents import MOST_FILES
from mfsdp_lint.inputs.imports import parsed
from mfsdp_lint.inputs.mentions import uncommented
from mfsdp_lint.inputs.sources import NOTEBOOK
from mfsdp_lint.readers.registry import is_python, kind_of
from mfsdp_lint.readers.regular_expressions import NotMatched, compiled, matched

if TYPE_CHECKING:
    from mfsdp_lint.fixes.users import EditUsers

_HEAD = 10
"""Lines in which a file says that it is generated."""

_GENERATED = lazy_pattern(
    r"^[ \t]*(?:#+|//|\"\"\"|''')[ \t]*(?P<said>.*(?:@generated|\bdo not (?:edit|modify))\b.*"
    r"|(?:this \w+ (?:is|was) )?(?:(?:auto-?|automatically )generated\b|generated (?:by|from|with)\b).*)",
    re.IGNORECASE | re.MULTILINE,
)
_FILE = lazy_pattern(r"^\+\+\+ (?P<path>[^\t\n]+).*\n", re.MULTILINE)
_HUNK = lazy_pattern(r"^@@ [^\n]*\n(?P<lines>(?:[ +\\-][^\n]*(?:\n|\Z)|\n)*)", re.MULTILINE)
_COMPARING = lazy_pattern(r"^.*(?<!git )\b(?:cmp|diff)[ (].*", re.MULTILINE)
"""A line that compares files, or the output of one that it starts."""
_COMPARING_FOLDERS = lazy_pattern(
    r"^.*?\b(?P<git>git )?diff\b(?=[^\n]* (?:-\w*r\w*|--recursive|--exit-code)\b)(?P<said>.*)", re.MULTILINE
)
"""A line that compares all files of folders, or a folder with what is committed."""
_DOCTEST = lazy_pattern(r"^[ \t]*>>> (?P<code>.*)\n[ \t]*(?!>>>)(?P<shown>\S.*)$", re.MULTILINE)
_CONSTANT = lazy_pattern(r"(\w+)[ \t]*[:=]")
"""A line that binds a name at the top of a module."""
_NAMES = lazy_pattern(r"(?<![\w./-])[\w./-]*\w\.\w+")
_LAST_PART = lazy_pattern(r"(?<=/)(?:\$\w+|\$?\{\w+\})(?![\w/])")
"""A variable where a path has the name of a file."""


def pin_of(users: EditUsers, request: FixRequest, edit: Edit, settings: Collection[str]) -> str:
    """Return a text that no longer holds once the edit is made, as "SHA256SUMS has the digest of train.sh"; "" for
    none.
    """
    path, text = edit.span.path, users.texts(edit.span.path)
    if note := _GENERATED.search("\n".join(text.split("\n", _HEAD)[:_HEAD])):
        return f'{path} says "{note["said"].strip()[:60]}"'
    name = os.path.basename(path)
    for digest in _digests(path):
        for other in users.search(path, (digest,), quoting=True):
            return f"{other} has the digest of {name}"
    first, last = edit.span.line, edit.span.end_line
    last -= edit.span.end_column == 1 and last > first
    for other, said in users.search(path, (name,), quoting=True).items():
        if any(lines[0] <= last and first <= lines[-1] for lines, _ in _patched(said, path, text)):
            return f"{other} is a patch of these lines of {name}"
    if found := (
        _keeper(users, path)
        or _without_feature(users, request)
        or _expecting(users, request, path)
        or _kept_result(users, request, settings)
        or _maker_of_page(users, request, path, settings)
        or _seeker(users, request, edit, settings)
        or other_user_of_checkpoints(users, request, path)
        or _quoter(users, edit)
        or _reader_of_text(users, request, path, settings)
    ):
        return found
    for each in dict.fromkeys((path, *(need.recipe.path for need in request.needs))):
        name = os.path.basename(each)
        for other, said in users.search(each, (name,)).items():
            if _is_compared(users, said, name):
                return f"{other} compares {name}"
        folder = os.path.basename(os.path.dirname(os.path.abspath(each)))
        for other, said in users.search(each, (folder, "diff")).items():
            if _is_folder_compared(users, said, folder, name):
                return f"{other} compares {folder}"
    if is_python(path):
        return _doctest(users, request, edit, settings)
    return _schema(users, request, path, settings) if kind_of(path) == "yaml" else ""


def _digests(path: str) -> Iterator[str]:
    """Yield the digests of a file as it is on the disk."""
    try:
        data = disk.read(path)
    except (OSError, ValueError):
        return
    for kind in (sha256, md5, sha1, sha512):
        yield kind(data, usedforsecurity=False).hexdigest()


def _keeper(users: EditUsers, path: str) -> str:
    """Return a text that names a file and a copy of it by their paths: it keeps them equal, or looks whether they are.

    A copy that is a recipe here gets the same edit, or is compared by the proof.
    """
    try:
        text = disk.read(path).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
    recipes = {os.path.abspath(recipe.path) for recipe in users.recipes}
    name = os.path.basename(path)
    for copy, said in users.search(path, ()).items():
        if said != text or os.path.abspath(copy) in recipes:
            continue
        for other, listing in users.search(path, ()).items():
            if other == copy or os.path.basename(copy) not in listing or os.path.basename(other) in OF_TOOLS:
                continue
            # (A loop over names has the folders beside a variable.)
            names = {each.lstrip("./") for each in _NAMES.findall(_LAST_PART.sub(name, uncommented(listing)))}
            own = {each for each in names if _is_path_of(path, each, other)}
            if any(_is_path_of(copy, each, other) for each in names - own) and own:
                return f"{other} names {name} and its copy {copy}"
    return ""


_EXPECTS = lazy_pattern(r"\b(?:raises|assertRaises\w*)\(")
_FEWEST_WORDS = 5
"""Words of a message, one behind the other, by which somebody quotes it."""


def _expecting(users: EditUsers, request: FixRequest, path: str) -> str:
    """Return a test, or a list of results, that names a recipe at fault beside the message which start-up ends it with:
    it expects that. (A report, or a log, has both as well.) So does code that goes on where start-up refuses it.
    """
    names = {need.recipe.name for need in request.needs}
    words = request.raises.rstrip(".!").split()
    parts = [" ".join(words[start : start + _FEWEST_WORDS]) for start in range(len(words) - _FEWEST_WORDS + 1)]
    said = re.compile("|".join(map(re.escape, parts)))
    for name in names if parts else ():
        for other, text in users.search(path, (name,)).items():
            is_list = other.endswith(_LISTS) and request.code.split()[0] not in text
            for found in said.finditer(text) if is_list or is_python(other) else ():
                around = _lines_around(text, found)
                if name in around and (is_list or _EXPECTS.search(around)):
                    return f"{other} expects this failure"
    for name in names if request.raises else ():
        for other, text in users.search(path, (name, "except")).items():
            if is_python(other) and name in _refusals_taken(text):
                return f"{other} expects a failure of {name}"
    return ""


_REFUSALS = frozenset({"AssertionError", "ValueError"})
"""Exceptions of start-up; whoever catches all exceptions, as of a run, means no refusal."""


@lru_cache(maxsize=64)
def _refusals_taken(text: str) -> frozenset[str]:
    """Return the names in pieces of code from which a refusal of start-up leads on to other code, and not out of it."""
    found: set[str] = set()
    attempts = (node for node in ast.walk(parsed(text) or ast.Module([], [])) if isinstance(node, ast.Try))
    for attempt in attempts:
        for handler in attempt.handlers:
            named = () if handler.type is None else ast.walk(handler.type)
            caught = {each.id for each in named if isinstance(each, ast.Name)}
            if caught & _REFUSALS and not any(isinstance(each, ast.Raise) for each in ast.walk(handler)):
                nodes = [node for statement in attempt.body for node in ast.walk(statement)]
                found |= {node.id for node in nodes if isinstance(node, ast.Name)}
                found |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return frozenset(found)


_OF_EXPECTATIONS = lazy_pattern(
    r"(?i)\.(?:ambr|snap|golden|approved\.\w+)\Z|(?:\A|[/_.-])(?:snapshots?|golden|expected|approved|regression)"
)
"""The path of what a test keeps to compare results with: of syrupy, pytest-regressions, approvaltests."""
_LINES_OF_A_RESULT = 200


def _kept_result(users: EditUsers, request: FixRequest, settings: Collection[str]) -> str:
    """Return a file that keeps for a test what a recipe at fault gave: the old value, behind the name of the recipe."""
    for need in request.needs:
        for setting in settings:
            value, word = need.variant.value(setting), setting.rpartition(".")[2]
            if not isinstance(value, Known):
                continue
            said = rf"(?<!\w){re.escape(word)}[\"']?\s*[:=]\s*[\"']?{re.escape(str(value.value))}(?!\w)"
            old, name = re.compile(said, re.IGNORECASE), _any_of([need.recipe.name])
            for other, text in users.search(need.recipe.path, (need.recipe.name, word)).items():
                if not is_python(other) and _OF_EXPECTATIONS.search(other) and _is_behind(name, old, text):
                    return f"{other} keeps the old value for a test"
    return ""


def _is_behind(name: re.Pattern[str], old: re.Pattern[str], text: str) -> bool:
    """Tell whether a value stands in the lines behind the one with a recipe's name, or in that itself."""
    left = 0
    for line in text.split("\n"):
        left = _LINES_OF_A_RESULT if name.search(line) else left - 1
        if left > 0 and old.search(line):
            return True
    return False


_IS_UNCHANGED = lazy_pattern(r"\bgit (?:diff|status)\b[^\n]{0,300}?(?:--exit-code|--quiet|--porcelain)")
_STARTED = lazy_pattern(r"\bpython[\d.]*\s+(?:-[A-Za-z]\s+){0,4}?(?:-m\s+(?P<module>[\w.]+)|(?P<file>[\w./-]+\.py))")
_WRITES = lazy_pattern(r"\bwrite_(?:text|bytes)\(|\.(?:write|dump|to_yaml|save)\(")


def _maker_of_page(users: EditUsers, request: FixRequest, path: str, settings: Collection[str]) -> str:
    """Return a program that writes files from a setting of recipes, where somebody looks whether git has them so."""
    if not is_python(path):
        return ""
    names = (os.path.basename(os.path.dirname(os.path.abspath(path))), os.path.splitext(os.path.basename(path))[0])
    said_in = _any_of([each.rpartition(".")[2] for each in settings])
    own = {path, *(need.recipe.path for need in request.needs)}
    texts = {other: text for name in names for other, text in users.search(path, (name,)).items() if other not in own}
    imports = re.compile(
        rf"^[ \t]*(?:from|import)[ \t][^\n]*(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)", re.MULTILINE
    )
    asking = (imports, said_in, _WRITES)
    writing = {other for other, text in texts.items() if all(each.search(text) for each in asking)}
    for checker, said in users.search(path, ("git",)).items():
        if not _IS_UNCHANGED.search(uncommented(said)):
            continue
        for found in _STARTED.finditer(uncommented(said)):
            program = found["file"] or found["module"].replace(".", "/") + ".py"
            for other in sorted(writing):
                if f"/{other}".endswith(f"/{program.removeprefix('./')}"):
                    return f"{other} writes what {checker} wants unchanged"
    return ""


_BESIDE = 4
"""Lines between the name of a recipe and a message that is expected of it."""


def _lines_around(text: str, found: re.Match[str]) -> str:
    before, after = text[: found.start()].split("\n"), text[found.end() :].split("\n")
    return "\n".join((*before[-_BESIDE - 1 :], *after[: _BESIDE + 1]))


_LOOKS = lazy_pattern(
    r"^[^\n]*\b(?:[ef]?grep|rg|ag|awk|entry|pattern|regexp?|contains|search|find|match(?:es)?)\b(?P<said>[^\n]+)",
    re.MULTILINE,
)
"""A line with a command, or a key of a hook, behind which a text is that is looked for."""
_PIECE = lazy_pattern(r"\A:[ \t]+(?P<whole>.+)|'(?P<plain>[^']{1,1000})'|\"(?P<escaped>(?:[^\"\\]|\\.){1,1000})\"")
_OF_AWK = lazy_pattern(r"/((?:[^/\\]|\\.){1,1000})/")
_OF_PERL = lazy_pattern(r"(?:=~|!~|\b(?:if|unless|while)[ ]?\()[ ]*m?/((?:[^/\\\n]|\\.){1,1000})/")


_SHORTEST = 6
"""Characters of a value that says what is looked for; True is not one of them."""


def _seeker(users: EditUsers, request: FixRequest, edit: Edit, settings: Collection[str]) -> str:
    """Return a text in no Python, say of a hook, that looks for what an edit takes away or brings, or for the code that
    gives a setting its value until then.
    """
    path, text = edit.span.path, users.texts(edit.span.path)
    start, end = Lines(text).range(edit.span)
    first, last = text.rfind("\n", 0, start) + 1, (text + "\n").index("\n", end)
    old, new = text[first:last].split("\n"), (text[first:start] + edit.text + text[end:last]).split("\n")
    gone, added = ([each for each in one if each not in other] for one, other in ((old, new), (new, old)))
    origins = (need.variant.origin(each) for need in request.needs for each in settings)
    lines = {span.end_line for origin in origins if origin is not None for span in origin.spans() if span.path == path}
    gone += [line for number, line in enumerate(text.split("\n"), 1) if number in lines]
    values = {
        str(each.value)
        for need in request.needs
        for path in settings
        if isinstance(each := need.variant.value(path), Known)
    }
    values |= {str(need.set[each]) for need in request.needs for each in settings if each in need.set}
    names = {each.rpartition(".")[2] for each in settings}
    about = [*names, *(each for each in values if len(each) >= _SHORTEST)]
    for other, said in users.search(path, ()).items():
        if is_python(other) or other.endswith(NOTEBOOK):
            continue
        for piece in _sought(said):
            if not any(each in piece for each in about):
                continue
            # (A sentence is a line that a run prints, of what the edit changes.)
            if len(piece.split()) >= _FEWEST_WORDS or _is_found(piece, gone) != _is_found(piece, added):
                return f"{other} looks for {piece}"
    return ""


@lru_cache(maxsize=MOST_FILES)
def _sought(text: str) -> tuple[str, ...]:
    """Return the pieces that a text looks for, as far as its lines show."""
    found: list[str] = []
    for line in _LOOKS.finditer(uncommented(text)):
        for piece in _PIECE.finditer(line["said"].rstrip()):
            said = piece["plain"] or piece["escaped"] or piece["whole"].strip("'\"")
            said = said.replace("\\\\", "\\").replace('\\"', '"') if piece["escaped"] else said
            found += [said, *_OF_AWK.findall(said)]
    found += _OF_PERL.findall(text)
    return tuple(dict.fromkeys(found))


_compiled = lru_cache(maxsize=1024)(compiled)


def _is_found(piece: str, lines: Sequence[str]) -> bool:
    """Tell whether a piece is found in a line, as a regular expression or as it stands."""
    try:
        expression = _compiled(piece)
        return any(piece in line or matched(expression, "search", line) for line in lines)
    except (re.error, NotMatched, TimeoutError):
        return any(piece in line for line in lines)


def _is_path_of(path: str, said: str, other: str) -> bool:
    """Tell whether a path in another file means a file: a name without a folder means one beside it, or at the top."""
    full = os.path.abspath(path)
    beside = os.path.join(os.path.dirname(os.path.abspath(other)), said)
    return full in (beside, os.path.abspath(said)) or ("/" in said and full.endswith(f"/{said}"))


def _without_feature(users: EditUsers, request: FixRequest) -> str:
    """Return a patch that makes another recipe of a file: it takes out what the finding is about."""
    for span in anchors_of(request):
        name = os.path.basename(span.path)
        for other, said in users.search(span.path, (name,), quoting=True).items():
            for _, removed in _patched(said, span.path, users.texts(span.path)):
                if not removed.isdisjoint(range(span.line, span.end_line + 1)):
                    return f"{other} makes another recipe of {name}"
    return ""


def _patched(patch: str, path: str, text: str) -> Iterator[tuple[range, frozenset[int]]]:
    """Yield the lines of a file that a patch expects as they are, where it can be applied, and which it takes out."""
    files = list(_FILE.finditer(patch))
    lines = text.split("\n")
    for number, file in enumerate(files):
        below = file["path"].partition("/")[2] or file["path"]
        if not os.path.abspath(path).endswith(f"/{below}"):
            continue
        end = files[number + 1].start() if number + 1 < len(files) else len(patch)
        for hunk in _HUNK.finditer(patch, file.end(), end):
            kept = [each for each in hunk["lines"].split("\n") if each[:1] in (" ", "-")]
            old = [each[1:] for each in kept]
            for start in range(len(lines) - len(old) + 1):
                if old and lines[start : start + len(old)] == old:
                    removed = frozenset(start + 1 + row for row, each in enumerate(kept) if each.startswith("-"))
                    yield range(start + 1, start + len(old) + 1), removed


def _is_compared(users: EditUsers, text: str, name: str) -> bool:
    """Tell whether a text compares a file, or its output, with another one that is no recipe here: that does not get
    the same edit.
    """
    recipes = [f"/{recipe.path}" for recipe in users.recipes]
    for found in _COMPARING.finditer(uncommented(text)):
        names = [each.lstrip("./") for each in _NAMES.findall(found[0])]
        is_meant = any(os.path.basename(each) == name for each in names)
        if is_meant and not all(any(each.endswith(f"/{other}") for each in recipes) for other in names):
            return True
    return False


def _is_folder_compared(users: EditUsers, text: str, folder: str, name: str) -> bool:
    """Tell whether a text compares a file's folder with another one where no recipe gets the same edit."""
    recipes = [f"/{recipe.path}" for recipe in users.recipes]
    for found in _COMPARING_FOLDERS.finditer(uncommented(text)):
        words = [each.strip("\"'").rstrip("/").removeprefix("./") for each in found["said"].split() if each[:1] != "-"]
        is_meant = any(os.path.basename(each) == folder for each in words)
        copies = [each for each in words if any(recipe.endswith(f"/{each}/{name}") for recipe in recipes)]
        if is_meant and (found["git"] or len(copies) < len(words)):
            return True
    return False


_PAGES = (".md", ".mdx", ".markdown", ".rst", ".adoc", ".qmd")
_LISTS = (".yaml", ".yml", ".json", ".toml", ".csv", ".tsv", ".cfg", ".ini")
"""Endings of data that may list files for a program."""
_READS_PAGES = lazy_pattern(r"```|code-block|\[source")
_READS_TEXTS = lazy_pattern(r"\bread_text\(|\.read(?:lines)?\(|\bopen\(|\bgetsource\(")
_BY_PATTERN = lazy_pattern(r"\bre\.\w+\(")
_PARSES = lazy_pattern(r"\bast\.parse\(|\bparse_module\(|\btokenize\.")
_TAKES_ALL = lazy_pattern(r"\bast\.(?:unparse|literal_eval|dump)\b")
"""Makes texts or values of the code that somebody else has written."""
_WORD = lazy_pattern(r"[A-Za-z_]\w{4,}")


def _quoter(users: EditUsers, edit: Edit) -> str:
    """Return a page that quotes the lines of an edit under the file's name, where a test reads the code on pages: it
    compares them.
    """
    lines = users.texts(edit.span.path).split("\n")
    last = edit.span.line - 1 + (edit.span.column > 1)  # an insertion at a line's begin comes between two lines
    quoted = "\n".join(lines[max(0, edit.span.line - 2) : last + 1])
    word = max(_WORD.findall(quoted), key=len, default="")
    name = os.path.basename(edit.span.path)
    pages = users.search(edit.span.path, (word, name), quoting=True).items() if word else ()
    for page, said in pages:
        if page.endswith(_PAGES) and quoted in said:
            for other, text in users.search(edit.span.path, ("assert",)).items():
                if is_python(other) and _READS_PAGES.search(text) and _READS_TEXTS.search(text):
                    return f"{page} quotes these lines, and {other} reads the code on pages"
    return ""


def _reader_of_text(users: EditUsers, request: FixRequest, path: str, settings: Collection[str]) -> str:
    """Return a program that looks for a setting in the text of a recipe which it names, or which a list for it names;
    or one that takes all that is written there.
    """
    if not is_python(path):
        return ""
    new = {
        each.rpartition(".")[2]: str(need.set[each]) for need in request.needs for each in settings if each in need.set
    }
    own = {path, *(need.recipe.path for need in request.needs)}
    name, folder = os.path.basename(path), os.path.basename(os.path.dirname(os.path.abspath(path)))
    named = [name, *(os.path.basename(each) for each in users.search(path, (name,)) if each.endswith(_LISTS))]
    for other, text in users.search(path, ()).items():
        # (Most texts have none of these words, which is found sooner than a pattern.)
        if other in own or not _is_program(other) or not any(each in text for each in (folder, *named)):
            continue
        if not _reads_code(text):
            continue
        said = [word for word, value in new.items() if value not in text and _is_asked_for(word, text)]
        if not said and not _TAKES_ALL.search(text):
            continue
        # (Who looks through all files for any code is a tool for developers.)
        is_listed = said and folder in text and lists(other, text, path)
        if is_listed or any(each in text for each in named):
            return (
                f"{other} looks for {said[0]} in the text of {name}" if said else f"{other} parses the text of {name}"
            )
    return ""


def _is_program(path: str) -> bool:
    return is_python(path) or path.endswith(NOTEBOOK)


@lru_cache(maxsize=MOST_FILES)
def _reads_code(text: str) -> bool:
    """Tell whether a program reads texts, and parses them or looks for patterns in them."""
    return _READS_TEXTS.search(text) is not None and bool(
        _PARSES.search(text) or _TAKES_ALL.search(text) or _BY_PATTERN.search(text)
    )


def _is_asked_for(word: str, text: str) -> bool:
    """Tell whether a program looks for a word in code: as a name in a parsed text, or by a pattern."""
    if word not in text:
        return False
    by_name = _PARSES.search(text) and re.search(rf"[\"'](?:[\w.]*\.)?{word}[\"']", text)
    return bool(by_name or re.search(rf"\bre\.\w+\(\s*[rf]{{0,2}}[\"'][^\"'\n]*\b{word}\b", text))


def _doctest(users: EditUsers, request: FixRequest, edit: Edit, settings: Collection[str]) -> str:
    """Return a text with a doctest that shows the old value of a setting, or of the constant that is edited, or that
    makes something of a table which has the setting.
    """
    path, text = edit.span.path, users.texts(edit.span.path)
    above = text.split("\n")[: edit.span.line]
    owner = _CONSTANT.match(next((line for line in reversed(above) if line[:1].isidentifier()), ""))
    names = [each.rpartition(".")[2] for each in settings]
    of_setting, of_either = _any_of(names), _any_of([*names, *(owner.groups() if owner else ())])
    values = (need.variant.value(each) for need in request.needs for each in settings)
    old = {str(each.value) for each in values if isinstance(each, Known)}
    module = os.path.splitext(os.path.basename(path))[0]
    for other, said in {path: text, **users.search(path, (module,), quoting=True)}.items():
        for each in _DOCTEST.finditer(said):
            shows = each["shown"].strip().strip("'\"") in old or of_setting.search(each["shown"])
            if shows and of_either.search(each["code"]):
                return f"a doctest of {other} shows the old value"
    return ""


def _any_of(names: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)")


def _schema(users: EditUsers, request: FixRequest, path: str, settings: Collection[str]) -> str:
    """Return a JSON schema that refuses the new value of a setting."""
    for setting, new in ((each, need.set[each]) for need in request.needs for each in settings if each in need.set):
        words = setting.split(".")
        for other, said in users.search(path, ("properties", *words)).items():
            if other.endswith(".json") and _refuses(_json(said), words, new):
                return f"{other} has another value"
    return ""


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _refuses(schema: object, words: Sequence[str], new: Plain) -> bool:
    """Tell whether a schema, or a part of it, has another constant for a setting."""
    waiting = [(schema, tuple(words))]
    while waiting:
        node, rest = waiting.pop()
        match node:
            case {"const": only} if not rest and only != new:
                return True
            case {"enum": list(all_of)} if not rest and new not in all_of:
                return True
            case {"properties": {**properties}} if rest:
                waiting += ((each, rest[1:] if name == rest[0] else tuple(words)) for name, each in properties.items())
    return False
