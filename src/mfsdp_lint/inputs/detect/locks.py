"""Lock files: uv.lock and poetry.lock (pdm.lock has the same form).

They are read line by line: a TOML parser takes half a second for a large one, and knows no line numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mfsdp_lint.inputs.detect.found import PACKAGES, Found, from_package, normalised
from mfsdp_lint.inputs.detect.places import Places
from mfsdp_lint.inputs.detect.revisions import from_revision

LOCKS = ("uv.lock", "poetry.lock", "pdm.lock")

_PACKAGE = re.compile(r"^\[\[package\]\][^\n]*\n(.*?)(?=^\[\[package\]\]|^\[metadata\]|\Z)", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"""^(name|version|source|url|reference|resolved_reference|git|revision|ref)\s*=\s*(.*)$""", re.M)
_GIT = re.compile(r'git\s*=\s*"([^"?#]+)(?:\?(?:[^"#]*&)?(?:rev|tag|branch)=([^"&#]+))?[^"#]*(?:#(\w+))?"')


def in_locks(places: Places) -> Iterator[Found]:
    """Yield the locked versions, and their places."""
    for path in places.files(*LOCKS):
        text = places.text(path)
        if not any(name in text for name in PACKAGES):
            continue
        for match in _PACKAGE.finditer(text):
            name = re.match(r'name\s*=\s*"([^"]+)"', match[1])
            if name is None or normalised(name[1]) not in PACKAGES:
                continue
            place = f"{path}:{text.count(chr(10), 0, match.start(1)) + 1}"
            if found := _locked(place, name[1], match[1]):
                yield found


def _locked(place: str, name: str, body: str) -> Found | None:
    fields: dict[str, str] = {}
    for match in _FIELD.finditer(body):
        fields.setdefault(match[1], match[2].strip())
    said = {key: value.strip("\"'") for key, value in fields.items()}
    if git := _GIT.search(fields.get("source", "")):
        if found := from_revision(place, git[1], git[3], git[2]):
            return found
    elif url := said.get("url") or said.get("git"):
        commit = said.get("resolved_reference") or said.get("revision")
        if found := from_revision(place, url, commit, said.get("reference") or said.get("ref")):
            return found
    return from_package(place, name, said.get("version"))
