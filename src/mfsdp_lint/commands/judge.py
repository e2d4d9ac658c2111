"""`mfsdp-lint judge [FILE]`: configurations as lines of JSON in, verdicts as lines of JSON out."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import Any, TextIO

from mfsdp_lint import terminal
from mfsdp_lint.commands.arguments import OptionList, add_pinned_versions
from mfsdp_lint.core import files
from mfsdp_lint.core.front_ends import BRIDGE
from mfsdp_lint.core.nearest import did_you_mean
from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs.options import UsageError
from mfsdp_lint.inputs.sources import SIZE_LIMIT, reason
from mfsdp_lint.megatron.front_ends import every_front_end
from mfsdp_lint.megatron.versions import MEGATRON_CORE, UnknownVersion, VersionError, gpu_kind, numbers, resolve_target
from mfsdp_lint.reports.json import finding_document, json_value
from mfsdp_lint.rules.judging import Verdict, bench, variant_of

_KEYS = frozenset({"id", "settings", "world_size"})

SUMMARY = "Judges configurations given as JSON, one on each line, and reports which settings start-up changes."

EXAMPLES = (
    ("mfsdp-lint judge configurations.jsonl", "one verdict for each line"),
    ('echo \'{"settings": {"ddp.use_megatron_fsdp": true}}\' | mfsdp-lint judge', "from another program"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options; a default of None means "not given"."""
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help='lines such as {"id": "a", "settings": {"ddp.use_megatron_fsdp": true}, "world_size": 8}; default: stdin',
    )
    parser.add_argument("--target-bridge", metavar="VERSION", help="the megatron-bridge release to judge against")
    add_pinned_versions(OptionList(parser))
    parser.add_argument(
        "--front-end",
        choices=tuple(every_front_end()),
        default=BRIDGE.name,
        help="the framework that reads the configuration (default: bridge)",
    )
    parser.add_argument(
        "--partial-environment",
        action="store_true",
        help="treat environment variables that are not given (env.NAME) as unknown instead of unset",
    )


def main(arguments: argparse.Namespace) -> int:
    """Answer every line that is a question.

    Exit code 1 where there are errors, 2 where a line is not a question, else 0. Raises UsageError.
    """
    try:
        target = resolve_target(arguments.target_bridge)
        core = MEGATRON_CORE.version(arguments.target_core) if arguments.target_core else target.core
        for version in filter(None, (arguments.target_te, arguments.target_torch)):
            numbers(version)
        gpu = gpu_kind(arguments.target_gpu) if arguments.target_gpu else None
    except (UnknownVersion, VersionError) as error:
        raise UsageError(f"target: {error}") from None
    target = replace(target, core=core, te=arguments.target_te, torch=arguments.target_torch, gpu=gpu)
    judge = bench(target, every_front_end()[arguments.front_end])
    partial = arguments.partial_environment
    name = arguments.file or "-"
    if name == "-":
        return _answer(sys.stdin, "<stdin>", judge, partial_environment=partial)
    try:
        with TextIOWrapper(files.opened(name), encoding="utf-8") as lines:
            return _answer(lines, name, judge, partial_environment=partial)
    except UnicodeDecodeError:
        raise UsageError(f"{name}: not UTF-8") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{name}: {reason(name, error)}") from None


def _answer(lines: TextIO, name: str, judge: Callable[[Variant], Verdict], *, partial_environment: bool) -> int:
    code = 0
    for number, line in enumerate(iter(lambda: lines.readline(SIZE_LIMIT + 1), ""), 1):
        if len(line) > SIZE_LIMIT:
            raise UsageError(f"{name}:{number}: a line of more than {SIZE_LIMIT >> 20} MB")
        if not line.strip():
            continue
        try:
            identity, variant = _question(line, partial_environment=partial_environment)
        except ValueError as error:
            terminal.note(f"error: {name}:{number}: {error}")
            code = 2
            continue
        verdict = judge(variant)
        code = max(code, int(any(finding.severity == "error" for finding in verdict.findings)))
        document = {
            "id": identity,
            "findings": [finding_document(finding, "enforced_by") for finding in verdict.findings],
            "will_run": {path: json_value(value) for path, value in sorted(verdict.will_run.items())},
        }
        terminal.document([json.dumps(document), "\n"])
    return code


def _question(line: str, *, partial_environment: bool) -> tuple[Any, Variant]:
    """Read the id and the settings of a line. Raises ValueError."""
    try:
        question = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} (column {error.pos + 1})") from None
    except RecursionError:
        raise ValueError("not JSON: nested too deeply") from None
    if not isinstance(question, dict) or not isinstance(question.get("settings"), dict):
        raise ValueError('expected {"id": …, "settings": {…}} with a mapping of settings')
    world_size = question.get("world_size")
    if not (world_size is None or (isinstance(world_size, int) and world_size > 0)) or isinstance(world_size, bool):
        raise ValueError(f"world_size: expected a number of ranks, not {json.dumps(world_size)}")
    if unknown := question.keys() - _KEYS:
        word = min(unknown)
        raise ValueError(f"{word}: no such key{did_you_mean(word, _KEYS)}")
    variant = variant_of(question["settings"], world_size=world_size, partial_environment=partial_environment)
    return question.get("id"), variant
