"""`mfsdp-lint dry-run PATH::RECIPE…`: try recipes out on a tiny model, with the Megatron that is installed."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from typing import Any

from mfsdp_lint import terminal
from mfsdp_lint.commands.arguments import OptionList, add_configuration, print_json, read_asked, tell
from mfsdp_lint.core import files
from mfsdp_lint.core.front_ends import BRIDGE, MEGATRON_LM, FrontEnd
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import replace
from mfsdp_lint.dryrun import inventory
from mfsdp_lint.dryrun.executors import Asked, place
from mfsdp_lint.dryrun.introspection import Tree, tree_at
from mfsdp_lint.dryrun.inventory import Installed, look
from mfsdp_lint.dryrun.jobs import JobOptions
from mfsdp_lint.dryrun.run import Means, Told, dry_run
from mfsdp_lint.dryrun.subject import Examiner, Executed, Execution, can_be_tried, execute, not_read, recipe_of, saving
from mfsdp_lint.inputs.configuration import BY_NAME, DRY_RUN, read_configuration
from mfsdp_lint.inputs.options import EXECUTORS, UsageError
from mfsdp_lint.megatron.versions import Target, nearest
from mfsdp_lint.process import progress_line
from mfsdp_lint.readers.overrides import override
from mfsdp_lint.reports import dry_run as report
from mfsdp_lint.reports.places import recipes_in_files
from mfsdp_lint.rules.judging import NotAConfiguration
from mfsdp_lint.rules.load import load_rules

SUMMARY = (
    "Tries recipes with a tiny model and the installed Megatron, on a CPU or on GPUs: start-up validates the settings, "
    "the model is wrapped, and two ranks train it. The recipe's own code is executed only with --execute."
)

EXAMPLES = (
    ("mfsdp-lint dry-run recipes/llama.py::pretrain", "two ranks on a CPU"),
    ("mfsdp-lint dry-run --executor slurm --tier gpu --keep /shared/runs recipes/", "GPUs of a Slurm cluster"),
    ("mfsdp-lint dry-run --executor ray --tier gpu --keep runs recipes/", "GPUs of a Ray cluster"),
    ("mfsdp-lint --confirm recipes/", "a verdict on every finding"),
)

FORMATS = ("text", "json")
TIERS = ("auto", "introspect", "cpu", "gpu")

_SECONDS = 120.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options; a default of None means "not given"."""
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="files, directories, path.py::function(name=value), or a .json file with a mapping of settings",
    )
    how = OptionList(parser, "what is run")
    how.flag("--check-setup", "report which tiers can run here, and what is missing")
    how.flag("--findings", "only recipes with a finding that a dry run can decide")
    how.flag("--fixed", "apply the fixes first, and show that the run passes then")
    how.flag("--execute", "run the recipes' own code, to learn settings that cannot be computed")
    how.choice(
        "--tier",
        TIERS,
        "the last step: introspect stops after validation; auto trains on GPUs if there is one for each rank",
        default="auto",
    )
    how.flag("--checkpoint", "also save a checkpoint, and load it in another process")
    how.value("--ranks", "N", "the number of ranks (default: 2)", type=_positive, default=2)
    how.value("--timeout", "S", "seconds for each run, and for imports (default: 120)", type=_seconds, default=_SECONDS)
    how.value(
        "--memory", "MB", "the memory limit of each process (default: 4096; on a GPU and in jobs none)", type=_positive
    )
    how.value("--python", "PROGRAM", "the Python interpreter with torch and megatron-bridge")
    how.value(
        "--megatron-lm",
        "DIR",
        "a Megatron-LM source tree: recipes of its own command line go through its validate_args; other recipes "
        "are skipped",
    )
    where = OptionList(parser, "where it is run")
    where.choice("--executor", EXECUTORS, "this machine (default), or the nodes of a cluster")
    where.value(
        "--keep", "DIR", "keep the log and the answers of every launch in this folder, which Slurm's nodes see too"
    )
    where.flag("--resume", "use the answers that an earlier run left in --keep, and go on there")
    where.value("--nodes", "N", "spread the ranks of a job evenly over N nodes (default: 1)", type=_positive)
    where.value("--partition", "NAME", "the partition of Slurm")
    where.value("--account", "NAME", "the account of Slurm")
    where.value("--time", "MINUTES", "the time limit of a job, also as H:M:S (default: from --timeout)")
    where.value("--gpus-per-job", "N", "the GPUs of a job (default: one for each rank of the tier)", type=_positive)
    where.value("--container-image", "IMAGE", "run the jobs in this container (pyxis)")
    where.value("--container-mounts", "SRC:DST", "folders to mount in the container, separated by commas")
    where.value("--max-jobs", "N", "let the recipes share at most N jobs (default: a job each)", type=_positive)
    where.several("--setup", "LINE", "a line of shell that a job runs first; repeatable")
    where.flag("--print-job", "write the jobs to --keep and show their scripts; submit nothing")
    read = OptionList(parser, "what is read")
    read.several("--exclude", "PATTERN", "skip matching files and folders; repeatable")
    read.several("--search-path", "DIR", "a folder to find imports in; repeatable")
    read.several("--set", "PATH=VALUE", "override a setting, as a launcher would", dest="overrides")
    read.several("--env", "NAME=VALUE", "set an environment variable for the run", dest="environment")
    output = OptionList(parser, "output and configuration")
    output.choice("--output-format", FORMATS, default=FORMATS[0])
    add_configuration(output)


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


_TIME = lazy_pattern(r"(?:(\d{1,3})-)?(\d{1,4})(?::(\d{1,2}))?(?::(\d{1,2}))?")


def minutes(text: str) -> int:
    """Convert a time limit as Slurm writes it, M, M:S, H:M:S, D-H, D-H:M or D-H:M:S. Raises UsageError."""
    found = _TIME.fullmatch(text)
    days, *rest = found.groups() if found else (None, None)
    if not rest[0]:
        raise UsageError(f"--time {text}: no time limit as Slurm writes it (minutes, H:M:S, D-H)")
    numbers = [int(each) for each in rest if each is not None]
    if days is None and len(numbers) < 3:  # it begins with minutes
        numbers.insert(0, 0)
    hours, minutes, seconds = (*numbers, 0, 0)[:3]
    total = (int(days or 0) * 24 + hours) * 60 + minutes + (seconds > 0)
    if total == 0:
        raise UsageError(f"--time {text}: a job takes at least a minute")
    return total


def main(arguments: argparse.Namespace) -> int:
    """Exit code 0 when all passed or were refuted, 1 when something was confirmed or failed, 2 when something could not
    be read or decided. Raises UsageError.
    """
    installed = look(arguments.python)
    if arguments.check_setup:
        broken = inventory.why_broken(installed, arguments.timeout)
        terminal.show(inventory.setup_report(installed, broken))
        return 0 if installed.tiers and not broken else 2
    if not arguments.paths:
        raise UsageError("name the recipes to run: path.py::function, a file, a directory")
    if not arguments.megatron_lm:
        return _run(arguments, installed, installed.ready().known_target(), None)
    if arguments.tier not in ("auto", "introspect"):
        raise UsageError(
            f"--megatron-lm: a command line is validated and not trained, so there is no --tier {arguments.tier}"
        )
    if arguments.execute:
        raise UsageError("--megatron-lm: what a command line reads has no code to --execute")
    tree = tree_at(arguments.megatron_lm, installed.torch())
    arguments.tier = "introspect"
    return _run(arguments, installed, tree.target, tree)


def _run(arguments: argparse.Namespace, installed: Installed, target: Target, tree: Tree | None) -> int:
    asked = _asked(arguments)
    progress = progress_line()

    def note(text: str) -> None:
        progress("")
        terminal.note(text)

    here = place(installed, asked, note)
    # Jobs for elsewhere have the folder for themselves.
    keep = asked.keep if asked.executor == "local" else None
    front_end = MEGATRON_LM if tree else BRIDGE
    recipes, code = _recipes(arguments, target, installed, front_end, keep)
    judge = Examiner(target, [rule for rule in load_rules() if rule.is_on], here.device.decides, front_end)
    found = [(each, subject) for each in recipes for subject in judge.subjects([each.recipe])]
    subjects = [replace(subject, learnt=each.learnt) for each, subject in found if not each.why]
    if arguments.findings:
        subjects = [each for each in subjects if any(can_be_tried(one, *judge.trained) for one in each.violations)]
    means = Means(
        installed.python,
        trains=arguments.tier != "introspect",
        device=here.device,
        ranks=arguments.ranks,
        most=here.most,
        timeout=arguments.timeout,
        keep=keep,
        memory=here.memory,
        checkpoint="always" if arguments.checkpoint else "never",
        fixed=arguments.fixed,
        tree=tree,
    )
    done = dry_run(subjects, judge, means, progress, here.by)
    done.told += tuple(Told(subject, None, (), why=each.why) for each, subject in found if each.why)
    in_json = arguments.output_format == "json"
    if here.jobs and here.scripts:
        again = ["mfsdp-lint", "dry-run", *arguments.paths, *_options(arguments), "--resume"]
        scripts, python = here.scripts(here.jobs), here.python
        if in_json:
            print_json(report.jobs_document(here.jobs, scripts, python, again))
        else:
            terminal.show(report.jobs_text(here.jobs, scripts, here.queue, python, again))
        return code
    if in_json:
        print_json(report.document(done, installed, tree))
    else:
        terminal.show(report.text(done, installed, tree))
    words = {told.word for told in done.told}
    if words & {"confirmed", "failed"}:
        return 1
    return 2 if code or not words or "inconclusive" in words else 0


def _asked(arguments: argparse.Namespace) -> Asked:
    """Merge the command line's choice of a place over that of the configuration. Raises UsageError."""
    configured: Mapping[str, Any] = {}
    if not arguments.isolated:
        read = read_configuration(arguments.config)
        configured = dict(read.get(DRY_RUN, ()))
        for remark in read.get("remarks", ()):
            terminal.note(f"warning: {remark}")
    given = {key.field: getattr(arguments, key.field) for key in BY_NAME["dry-run"].keys}
    chosen = {**configured, **{name: value for name, value in given.items() if value is not None}}
    executor = chosen.get("executor") or EXECUTORS[0]
    if arguments.tier == "introspect" and given["executor"] is None:  # which starts nothing
        executor = EXECUTORS[0]
    of_jobs = [
        key.name for key in BY_NAME["dry-run"].keys if given[key.field] and key.field not in ("executor", "keep")
    ]
    if executor == "local" and of_jobs:
        raise UsageError(f"--{of_jobs[0]}: nothing is submitted without --executor slurm or ray")
    time = chosen.get("time")
    memory = None if arguments.memory is None else arguments.memory << 20
    return Asked(
        executor,
        arguments.tier,
        arguments.ranks,
        arguments.timeout,
        memory,
        chosen.get("keep"),
        arguments.resume,
        arguments.print_job,
        JobOptions(
            partition=chosen.get("partition"),
            account=chosen.get("account"),
            minutes=minutes(str(time)) if time is not None else None,
            gpus=chosen.get("gpus_per_job"),
            image=chosen.get("container_image"),
            mounts=chosen.get("container_mounts"),
            max_jobs=chosen.get("max_jobs"),
            setup=tuple(chosen.get("setup", ())),
            nodes=chosen.get("nodes") or 1,
            memory=memory or 0,
        ),
    )


def _recipes(
    arguments: argparse.Namespace, target: Target, installed: Installed, front_end: FrontEnd, keep: str | None
) -> tuple[list[Executed], int]:
    """Return the recipes to be tried, at the installed versions, and the exit code if not all of them could be read.

    Raises UsageError.
    """
    recipes, code = [], 0
    for path in (path for path in arguments.paths if path.endswith(".json")):
        try:
            recipe = recipe_of(json.loads(files.text(path)), path)
        except (OSError, ValueError, RecursionError, NotAConfiguration) as error:
            raise UsageError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
        recipes.append(Executed(replace(recipe, front_end=front_end)))
    if others := tuple(path for path in arguments.paths if not path.endswith(".json")):
        versions = {"target_bridge": target.bridge, "target_core": target.core, "target_torch": target.torch}
        given: dict[str, Any] = {"paths": others, **versions}
        asked, sources, read = read_asked(arguments, **given)
        found = recipes_in_files(read.recipes, sources)
        problems = list(read.problems)
        if arguments.execute:
            more, problems = not_read(asked.addresses, problems)
            means = Execution(
                installed.python,
                nearest(target.bridge).te,
                # What runs them has packages of its own.
                tuple(each for each in asked.search_path if each not in asked.target.source),
                dict(each.split("=", 1) for each in arguments.environment or () if "=" in each),
                arguments.timeout,
                keep,
            )
            recipes += [
                replace(each, recipe=override(each.recipe, asked.command_line.overrides)) if each.was_run else each
                for each in execute([*found, *more], means, lambda text: terminal.note(f"warning: {text}"))
            ]
        else:
            recipes += map(Executed, found)
        code = tell(read.remarks, problems)
    if arguments.checkpoint:
        recipes = [replace(each, recipe=saving(each.recipe)) for each in recipes]
    return recipes, code


_OF_PLANNING = (
    *("findings", "fixed", "execute", "checkpoint", "ranks", "tier", "python", "exclude", "search_path"),
    *("executor", "keep", "gpus_per_job", "nodes", "container_image"),
)
_OF_PLANNING_TOO = {"overrides": "set", "environment": "env", "config": "config"}


def _options(arguments: argparse.Namespace) -> Iterator[str]:
    """Yield the options that decide which runs there are, as they were given."""
    for name in (*_OF_PLANNING, *_OF_PLANNING_TOO):
        value, flag = getattr(arguments, name), f"--{_OF_PLANNING_TOO.get(name, name).replace('_', '-')}"
        if value is True:
            yield flag
        elif value:
            yield from (word for each in (value if isinstance(value, list) else [value]) for word in (flag, str(each)))
