"""Texts that say what a whole file is, or some lines of it: its digest, a patch, a comparison, a generator's note.

They hold an edit back in whatever language the file is written. An edit elsewhere in it may leave a patch as it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from hashlib import md5, sha1, sha256, sha512
from typing import TYPE_CHECKING

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.fixes.judged import FixRequest
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.mentions import uncommented

if TYPE_CHECKING:
    from mfsdp_lint.fixes.users import EditUsers

_HEAD = 10
"""Lines in which a file says that it is generated."""

_GENERATED = re.compile(
    r"^[ \t]*(?:#+|//|\"\"\"|''')[ \t]*(?P<said>.*(?:@generated|\bdo not (?:edit|modify))\b.*"
    r"|(?:this \w+ (?:is|was) )?(?:(?:auto-?|automatically )generated\b|generated (?:by|from|with)\b).*)",
    re.IGNORECASE | re.MULTILINE,
)
_FILE = re.compile(r"^\+\+\+ (?P<path>[^\t\n]+).*\n", re.MULTILINE)
_HUNK = re.compile(r"^@@ [^\n]*\n(?P<lines>(?:[ +\\-][^\n]*(?:\n|\Z)|\n)*)", re.MULTILINE)
_COMPARING = re.compile(r"^.*(?<!git )\b(?:cmp|diff)[ (].*", re.MULTILINE)
"""A line that compares files, or the output of one that it starts."""
_NAMES = re.compile(r"(?<![\w./-])[\w./-]*\w\.\w+")


def pin_of(users: EditUsers, request: FixRequest, edit: Edit) -> str:
    """Return a text that no longer holds once the edit is made, as "SHA256SUMS has the digest of train.sh"; "" for
    none.
    """
    path, text = edit.span.path, users.texts(edit.span.path)
    if said := _GENERATED.search("\n".join(text.split("\n", _HEAD)[:_HEAD])):
        return f'{path} says "{said["said"].strip()[:60]}"'
    name = os.path.basename(path)
    for digest in _digests(path):
        for other in users.search(path, (digest,), quoting=True):
            return f"{other} has the digest of {name}"
    first, last = (
        edit.span.line,
        edit.span.end_line - (edit.span.end_column == 1 and edit.span.end_line > edit.span.line),
    )
    for other, said in users.search(path, (name,), quoting=True).items():
        if any(start <= last and first <= end for start, end in _patched(said, path, text)):
            return f"{other} is a patch of these lines of {name}"
    for each in dict.fromkeys((path, *(need.recipe.path for need in request.needs))):
        name = os.path.basename(each)
        for other, said in users.search(each, (name,)).items():
            if _is_compared(users, said, name):
                return f"{other} compares {name}"
    return ""


def _digests(path: str) -> Iterator[str]:
    """Yield the digests of a file as it is on the disk."""
    try:
        data = disk.read(path)
    except (OSError, ValueError):
        return
    for kind in (sha256, md5, sha1, sha512):
        yield kind(data, usedforsecurity=False).hexdigest()


def _patched(patch: str, path: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield the first and last lines of a file that a patch expects as they are, where it can be applied."""
    files = list(_FILE.finditer(patch))
    lines = text.split("\n")
    for number, file in enumerate(files):
        below = file["path"].partition("/")[2] or file["path"]
        if not os.path.abspath(path).endswith(f"/{below}"):
            continue
        end = files[number + 1].start() if number + 1 < len(files) else len(patch)
        for hunk in _HUNK.finditer(patch, file.end(), end):
            old = [each[1:] for each in hunk["lines"].split("\n") if each[:1] in (" ", "-")]
            for start in range(len(lines) - len(old) + 1):
                if old and lines[start : start + len(old)] == old:
                    yield start + 1, start + len(old)


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
