"""`mfsdp-lint dry-run PATH::RECIPE…`: try recipes out on a tiny model, with the Megatron that is installed."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from mfsdp_lint.arguments import options_from, tell
from mfsdp_lint.dryrun.inventory import BRIDGE, Installed, look
from mfsdp_lint.dryrun.progress import progress
from mfsdp_lint.options import UsageError
from mfsdp_lint.recipe import Recipe
from mfsdp_lint.upstream.target import Target

SUMMARY = (
    "Tries recipes out on a tiny model, with the Megatron that is installed and no GPU: their settings go through "
    "start-up validation, are wrapped and trained on two ranks. The recipe's own code is not executed."
)

FORMATS = ("text", "json")
TIERS = ("auto", "introspect", "cpu")

_SECONDS = 60.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None means "not given"."""
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="files, directories, path.py::function(name=value), or a .json file with a mapping of settings",
    )
    how = parser.add_argument_group("what is run")
    how.add_argument("--check-setup", action="store_true", help="say which tiers can run here, and what is missing")
    how.add_argument("--findings", action="store_true", help="only recipes with a finding that a dry run can decide")
    how.add_argument("--fixed", action="store_true", help="take the mistakes out first, and show that the rest passes")
    how.add_argument("--tier", choices=TIERS, default="auto", help="how far: introspect stops after validation")
    how.add_argument("--checkpoint", action="store_true", help="save, and load in another process, as well")
    how.add_argument("--ranks", type=_positive, default=2, metavar="N", help="how many ranks train (default: 2)")
    how.add_argument(
        "--timeout", type=_seconds, default=_SECONDS, metavar="S", help="seconds for each run (default: 60)"
    )
    how.add_argument("--memory", type=_positive, default=4096, metavar="MB", help="for each process (default: 4096)")
    how.add_argument("--python", metavar="PROGRAM", help="the Python that has torch and megatron-bridge")
    how.add_argument("--keep", metavar="DIR", help="keep the journal of every launch below DIR")
    read = parser.add_argument_group("what is read")
    read.add_argument("--exclude", action="append", metavar="PATTERN", help="leave out what matches; repeatable")
    read.add_argument("--search-path", action="append", metavar="DIR", help="where imports are found; repeatable")
    read.add_argument("--set", dest="overrides", action="append", metavar="PATH=VALUE", help="as a launcher sets it")
    read.add_argument("--env", dest="environment", action="append", metavar="NAME=VALUE", help="likewise")
    output = parser.add_argument_group("output and configuration")
    output.add_argument("--output-format", choices=FORMATS, default=FORMATS[0])
    output.add_argument("--config", metavar="FILE", help="read [tool.mfsdp-lint] from FILE")


def _positive(text: str) -> int:
    if not text.isdigit() or not 0 < int(text) < 1 << 20:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 86400:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return value


def main(arguments: argparse.Namespace) -> int:
    """Exit code 0 when all passed or were refuted, 1 when something was confirmed or failed, 2 when nothing could be
    run. Raises UsageError.
    """
    installed = look(arguments.python)
    if arguments.check_setup:
        sys.stdout.write(_setup(installed))
        return 0 if installed.tiers else 2
    if not arguments.paths:
        raise UsageError("name the recipes to run: path.py::function, a file, a directory")
    return _run(arguments, installed, installed.ready().known_target())


def _run(arguments: argparse.Namespace, installed: Installed, target: Target) -> int:
    from mfsdp_lint.dryrun import report
    from mfsdp_lint.dryrun.run import Means, dry_run
    from mfsdp_lint.dryrun.subject import Judge, can_be_tried
    from mfsdp_lint.rules.load import load_rules

    mappings = [path for path in arguments.paths if path.endswith(".json")]
    recipes = [_mapping(path) for path in mappings]
    code = 0
    if others := [path for path in arguments.paths if path not in mappings]:
        found, code = _read(arguments, others, target)
        recipes += found
    judge = Judge(target, [rule for rule in load_rules() if rule.preset is None])
    subjects = judge.subjects(recipes)
    if arguments.findings:
        subjects = [subject for subject in subjects if any(map(can_be_tried, subject.violations))]
    means = Means(
        installed.python,
        tier="introspect" if arguments.tier == "introspect" else "cpu",
        ranks=arguments.ranks,
        timeout=arguments.timeout,
        keep=arguments.keep,
        memory=arguments.memory << 20,
        checkpoint=arguments.checkpoint,
        fixed=arguments.fixed,
    )
    done = dry_run(subjects, judge, means, progress())
    if arguments.output_format == "json":
        print(json.dumps(report.document(done, installed), indent=2))
    else:
        sys.stdout.write(report.text(done, installed))
    words = {told.word for told in done.told}
    if words & {"confirmed", "failed"}:
        return 1
    return 2 if code or not words & {"passed", "refuted"} else 0


def _read(arguments: argparse.Namespace, paths: Sequence[str], target: Target) -> tuple[list[Recipe], int]:
    """The recipes of files, at the installed versions, and the exit code if not all could be read."""
    from mfsdp_lint.reading import question, read
    from mfsdp_lint.sources import Sources

    given: dict[str, Any] = {**vars(arguments), "output_format": None, "paths": tuple(paths)}
    given |= {"target_bridge": target.bridge, "target_core": target.core, "target_torch": target.torch}
    options = options_from(given)
    asked, not_there = question(options)
    found = read(asked, Sources(asked.overrides.texts))
    return list(found.recipes), tell(found.remarks, (*not_there, *found.problems))


def _mapping(path: str) -> Recipe:
    """The settings in a file of JSON. Raises UsageError."""
    from mfsdp_lint.configuration import NotAConfiguration
    from mfsdp_lint.dryrun.plain import recipe_of

    try:
        with open(path, encoding="utf-8") as stream:
            return recipe_of(json.load(stream), path)
    except (OSError, ValueError, RecursionError, NotAConfiguration) as error:
        raise UsageError(f"{path}: {getattr(error, 'strerror', None) or error}") from None


def _setup(installed: Installed) -> str:
    lines = [f"python      {installed.python} ({installed.version})"]
    lines += [f"{name:<20}{version or 'missing'}" for name, version in installed.packages.items()]
    lines.append("")
    for tier in ("introspect", "cpu"):
        lines.append(f"{tier:<12}{'can run' if tier in installed.tiers else 'cannot run'}")
    if installed.missing:
        lines += ["", "install what is missing with", *(f"  {line}" for line in installed.install_lines())]
    elif installed.target() is None:
        lines += ["", f"the rules do not know {BRIDGE} {installed.packages[BRIDGE]}"]
    return "\n".join(lines) + "\n"
