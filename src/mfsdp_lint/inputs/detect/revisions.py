"""Git revisions of Megatron-Bridge and Megatron-LM: tags, release branches and the commits of releases."""

from __future__ import annotations

import re

from mfsdp_lint.inputs.detect.found import Found
from mfsdp_lint.megatron.versions.ranges import HEAD
from mfsdp_lint.megatron.versions.releases import CORE_HEAD, CORE_RELEASES, RELEASES

_REPOSITORY = re.compile(r"[/:]([\w.-]+?)(?:\.git)?/?(?=[@?#\s\"']|$)")
_SHORTEST_COMMIT = 7


def from_revision(place: str, url: str, *revisions: str | None) -> Found | None:
    """Return the versions of the first known revision; None where none is known, or the repository is another."""
    repository = _REPOSITORY.search(url.partition("://")[2] or url)
    while repository and repository[1].lower() not in ("megatron-bridge", "megatron-lm"):
        url = url[repository.end() - 1 :]
        repository = _REPOSITORY.search(url, 1)
    if repository is None:
        return None
    for revision in revisions:
        if not revision:
            continue
        if repository[1].lower() == "megatron-bridge":
            if bridge := _bridge(revision):
                return Found(place, bridge=bridge)
        elif core := _core(revision):
            return Found(place, core=core)
    return None


def _bridge(revision: str) -> str | None:
    if named := re.fullmatch(r"(?:refs/\w+/)?[vr](\d+\.\d+(?:\.\d+)?\w*)", revision):
        return named[1]
    if revision == "main":
        return HEAD
    return next((each.bridge for each in RELEASES if _same(revision, each.commit)), None)


def _core(revision: str) -> str | None:
    if named := re.fullmatch(r"(?:refs/\w+/)?core_[vr](\d+\.\d+(?:\.\d+)?\w*)", revision):
        return named[1]
    if revision == "main":
        return CORE_HEAD
    commits = [(each.core_commit, each.core) for each in RELEASES] + [
        (each.commit, each.core) for each in CORE_RELEASES
    ]
    return next((core for commit, core in commits if _same(revision, commit)), None)


def _same(revision: str, commit: str) -> bool:
    return len(revision) >= _SHORTEST_COMMIT and commit.startswith(revision.lower())
