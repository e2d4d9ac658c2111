"""Makes the list of upstream's checks, and of the rules that cover them: docs/coverage.md.

    python -m tools.coverage.generate [--bridge REPOSITORY --megatron-lm REPOSITORY]

With the two git repositories (bare ones with all tags do) the checks are read anew, at every version that rules have
evidence for, into `checks.json`; without, only the page is written, for rules or reasons that changed.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import tarfile
from collections.abc import Mapping
from pathlib import Path

from mfsdp_lint.megatron.versions import HEAD
from mfsdp_lint.megatron.versions.releases import CORE_RELEASES, RELEASES
from mfsdp_lint.rules.load import load_rules
from tools.coverage.callgraph import Source, reached
from tools.coverage.checks import Check, checks_of
from tools.coverage.covered import covered
from tools.coverage.known import ARGUMENTS, FILE, FSDP, TRAINING, Checks, Repository, as_text, known, read
from tools.coverage.page import PAGE, page
from tools.evidenced import sites


def checks_at(version: str, bridge: Path, megatron_lm: Path) -> Checks:
    """Read the checks of one version: all of the files that configure and wrap Megatron-FSDP, and of every other file
    those that stop the run in a function that start-up may call.

    Raises LookupError, StopIteration for a version nobody knows.
    """
    if version.startswith("core "):
        core = files(megatron_lm, _core_commit(version.removeprefix("core ")), "", ("megatron/",))
        return _checks({}, core, (ARGUMENTS, FSDP), {ARGUMENTS: ("validate_args",)})
    release = next(each for each in RELEASES if each.bridge == version)
    own = files(bridge, release.commit, "src/", ("megatron/bridge/",))
    core = files(megatron_lm, release.core_commit, "", ("megatron/",))
    return _checks(own, core, (*TRAINING, FSDP), {TRAINING[0]: ("runtime_config_update", "ConfigContainer.validate")})


def _checks(
    bridge: Mapping[str, str], core: Mapping[str, str], whole: tuple[str, ...], entries: Mapping[str, tuple[str, ...]]
) -> Checks:
    texts = {**core, **bridge}
    started = reached(Source(texts), entries)
    found: dict[tuple[Repository, str], list[Check]] = {}
    for path, text in texts.items():
        if path.startswith(whole):
            checks = checks_of(text)
        elif path in started:
            checks = [each for each in checks_of(text) if each.kind != "warning" and each.is_in(started[path])]
        else:
            continue
        found["bridge" if path in bridge else "megatron-lm", path] = checks
    return {place: checks for place, checks in found.items() if checks}


def _core_commit(core: str) -> str:
    """Return the commit of a release of Megatron-LM; "head" is the one that Megatron-Bridge's head pins."""
    if core == HEAD:
        return next(each.core_commit for each in RELEASES if each.bridge == HEAD)
    return next(each.commit for each in CORE_RELEASES if each.core == core)


def files(repository: Path, commit: str, root: str, wanted: tuple[str, ...]) -> dict[str, str]:
    """Return the Python files of a commit, by their path from `root`: of every folder, or file, that is named."""
    asked = [f"{root}{path}" for path in wanted]
    packed = subprocess.run(
        ["git", "-C", str(repository), "archive", commit, "--", *asked], check=True, capture_output=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        members = [each for each in archive.getmembers() if each.isfile() and each.name.endswith(".py")]
        texts = {each.name.removeprefix(root): archive.extractfile(each) for each in members}
        return {path: text.read().decode() for path, text in texts.items() if text is not None}


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bridge", type=Path, metavar="REPOSITORY")
    parser.add_argument("--megatron-lm", type=Path, metavar="REPOSITORY")
    options = parser.parse_args()
    if options.bridge and options.megatron_lm:
        versions = {version: checks_at(version, options.bridge, options.megatron_lm) for version in sites()}
        FILE.write_text(as_text(known(versions)), encoding="utf-8")
    PAGE.write_text(page(covered(read(), load_rules())), encoding="utf-8")


if __name__ == "__main__":
    main()
