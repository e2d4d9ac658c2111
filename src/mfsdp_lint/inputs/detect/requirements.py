"""Requirements: requirements*.txt, environment.yml, pyproject.toml.

All of them are read as lines that name a package, which is what they have in common: a file that is malformed for its
own tool still says what it says, and every line has a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mfsdp_lint.inputs.detect.found import Found, from_package, version_or_range
from mfsdp_lint.inputs.detect.places import Places
from mfsdp_lint.inputs.detect.revisions import from_revision

PINNED = ("requirements*.txt", "environment.yml", "environment.yaml")
DECLARED = ("pyproject.toml",)

_NAME = r"(?P<name>(?:nvidia[-_.])?(?:megatron|transformer|torch)[\w.-]*)"
_REQUIREMENT = re.compile(
    rf"""(?:^|["'\s\-=])
    {_NAME}\s*(?:\[[^\]]*\])?\s*
    (?:@\s*(?P<url>[^\s"',;]+) | (?P<specifiers>(?:(?:[<>=!~]=?=?|\^)\s*[\w.*+!-]+\s*,?\s*)+))""",
    re.VERBOSE | re.IGNORECASE,
)
_TABLE_ENTRY = re.compile(rf"""^["']?{_NAME}["']?\s*=\s*(?P<value>["'{{].*)$""", re.IGNORECASE)
_URL = re.compile(r"(?:git\+)?(?:https?|ssh)://[^\s\"']*?megatron-(?:bridge|lm)[^\s\"']*", re.IGNORECASE)
_REVISION = re.compile(r"@([\w./-]+?)(?=[#&\s\"']|$)")
_INLINE = re.compile(r"""\b(version|git|rev|tag|branch)\s*=\s*["']([^"']*)["']""")


def in_requirements(places: Places) -> Iterator[Found]:
    """Yield the versions that the requirement files ask for, from files that pin first."""
    for patterns in (PINNED, DECLARED):
        for path in places.files(*patterns):
            yield from _lines(path, places.text(path))


def _lines(path: str, text: str) -> Iterator[Found]:
    lowered = text.lower()
    if not any(word in lowered for word in ("megatron", "transformer", "torch")):
        return
    for number, line in enumerate(text.splitlines(), 1):
        place = f"{path}:{number}"
        line = line.strip()
        if line.startswith("#"):
            continue
        yield from _requirements(place, re.sub(r"\s#.*$", "", line))


def _requirements(place: str, line: str) -> Iterator[Found]:
    if url := _URL.search(line):
        revision = _REVISION.search(url[0].rpartition("/")[2])
        inline = dict(_INLINE.findall(line))
        named = (revision and revision[1]) or inline.get("rev") or inline.get("tag") or inline.get("branch")
        if found := from_revision(place, url[0], named):
            yield found
        return
    if entry := _TABLE_ENTRY.match(line):
        inline = dict(_INLINE.findall(entry["value"]))
        value = inline.get("version", "") if entry["value"].startswith("{") else entry["value"].strip("\"', ")
        if value[:1].isdigit() or value[:1] in "^~<>=!*":
            # A bare version in one of Poetry's tables means "this one or newer below the next that breaks".
            if found := from_package(place, entry["name"], version_or_range(_caret(value))):
                yield found
            return
    for match in _REQUIREMENT.finditer(line):
        if match["specifiers"] and (found := from_package(place, match["name"], version_or_range(_conda(match)))):
            yield found


def _caret(value: str) -> str:
    return f"^{value}" if value[:1].isdigit() and "*" not in value and "," not in value else value


def _conda(match: re.Match[str]) -> str:
    """Return the specifiers; conda's `=0.3.1` is `==0.3.1`."""
    specifiers = match["specifiers"].strip().rstrip(",")
    return f"={specifiers}" if re.match(r"=[^=]", specifiers) else specifiers
