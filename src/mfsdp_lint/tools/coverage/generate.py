"""Makes the list of upstream's checks, and of the rules that cover them: docs/coverage.md.

    python -m mfsdp_lint.tools.coverage.generate [--bridge REPOSITORY --megatron-lm REPOSITORY]

With the two git repositories (bare ones with all tags do) the checks are read anew, at every version that rules have
evidence for, into `checks.json`; without, only the page is written, for rules or reasons that changed.
"""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path

from mfsdp_lint.rules.evidenced import sites
from mfsdp_lint.rules.load import load_rules
from mfsdp_lint.tools.coverage.covered import covered
from mfsdp_lint.tools.coverage.known import ARGUMENTS, FILE, FSDP, TRAINING, Repository, Texts, as_text, known, read
from mfsdp_lint.tools.coverage.page import PAGE, page
from mfsdp_lint.versions.ranges import HEAD
from mfsdp_lint.versions.releases import CORE_RELEASES, RELEASES


def texts_of(version: str, bridge: Path, megatron_lm: Path) -> Texts:
    """The files that are looked at of one version. Raises LookupError, StopIteration for a version nobody knows."""
    if version.startswith("core "):
        found = files(megatron_lm, _core_commit(version.removeprefix("core ")), "", (ARGUMENTS, FSDP))
        return {("megatron-lm", path): text for path, text in found.items()}
    release = next(each for each in RELEASES if each.bridge == version)
    trees: dict[Repository, dict[str, str]] = {
        "bridge": files(bridge, release.commit, "src/", TRAINING),
        "megatron-lm": files(megatron_lm, release.core_commit, "", (FSDP,)),
    }
    return {(repository, path): text for repository, found in trees.items() for path, text in found.items()}


def _core_commit(core: str) -> str:
    """The commit of a release of Megatron-LM; "head" is what the head of Megatron-Bridge pins, as in the rules."""
    if core == HEAD:
        return next(each.core_commit for each in RELEASES if each.bridge == HEAD)
    return next(each.commit for each in CORE_RELEASES if each.core == core)


def files(repository: Path, commit: str, root: str, wanted: tuple[str, ...]) -> dict[str, str]:
    """The Python files of a commit, by their path from `root`: of every folder, or file, that is named."""
    asked = [f"{root}{path}" for path in wanted]
    listed = _git(repository, "ls-tree", "-r", "--name-only", commit, *asked).split()
    return {
        path.removeprefix(root): _git(repository, "show", f"{commit}:{path}") for path in listed if path.endswith(".py")
    }


def _git(repository: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(repository), *arguments], check=True, capture_output=True, text=True).stdout


def main() -> None:
    """Writes the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bridge", type=Path, metavar="REPOSITORY")
    parser.add_argument("--megatron-lm", type=Path, metavar="REPOSITORY")
    options = parser.parse_args()
    if options.bridge and options.megatron_lm:
        versions = {version: texts_of(version, options.bridge, options.megatron_lm) for version in sites()}
        FILE.write_text(as_text(known(versions)), encoding="utf-8")
    PAGE.write_text(page(covered(read(), load_rules())), encoding="utf-8")


if __name__ == "__main__":
    main()
