"""Shape of a command line that may start a training run, in whatever file it stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from mfsdp_lint.core.patterns import lazy_pattern

PYTHON = lazy_pattern(r"(?:python|pypy|ipython)[\d.]*(?:-\w+)?")
RANK_LAUNCHERS = ("torchrun", "torch.distributed.run", "torch.distributed.launch", "ft_launcher")

IMPORT = ("python", "convert_checkpoints.py", "import")
"""Bridge's program that makes a checkpoint of a model of Hugging Face, which is what `AutoBridge.import_ckpt` does."""

COMMAND_LINE = lazy_pattern(
    r"(?:^|[\s;&|(/=:\"'])(?:torchrun|accelerate|deepspeed|srun|mpirun|sbatch|bash|python[\d.]*)\s"
    r"[^\n]{0,1000}(?:\\[ \t\r]*\n[^\n]{0,1000}){0,60}(?:\.(?:py|sh)\b|\s-m\s)"
)
"""A launcher, or Python, and a program behind it. (The lengths have bounds, for a text may be meant to take long.)"""

FOLDER_KEYS = r"(?:code|cwd|chdir|(?:source|working|work|project|run)[_-]?dir(?:ectory)?)"
"""The keys that name the folder in which a job starts: AzureML's `code`, `working_dir` of many."""

_EXPORTS = lazy_pattern(
    r"(?:^|;|&&)[ \t]*(?:export|unset)(?P<words>(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\$\([^()\n]*\)|[^\s;&|()\"'])+)+)",
    re.MULTILINE,
)
_EXPORTED = lazy_pattern(
    r"(?<!\S)(?P<name>[A-Za-z_]\w*)(?=[=\s]|\Z)(?:=(?P<quote>[\"']?)(?P<value>[\w./:,@%+-]*)(?P=quote)(?!\S))?"
)


def exports(lines: str) -> Iterator[tuple[str, str | None, int]]:
    """Yield the variables that lines of shell export or unset: name, value, and where the value stands in the lines.

    A value that is not a plain word there is not known (None), nor is that of a variable which is only named.
    """
    for found in _EXPORTS.finditer(lines):
        for each in _EXPORTED.finditer(found["words"]):
            yield each["name"], each["value"], found.start("words") + max(each.start("value"), each.start())


def is_launcher(name: str) -> bool:
    """Tell whether a word is the name of Python, or of a launcher of ranks."""
    return name in RANK_LAUNCHERS or name in ("accelerate", "deepspeed") or bool(PYTHON.fullmatch(name))


def submits_recipe(program: str, words: Iterable[str]) -> bool:
    """Tell whether a command submits run_recipe.py of Bridge to Slurm, whose jobs get the variables that it names.

    (scripts/training/setup_experiment.py, lines 262 to 310 in 0.6.0; that of scripts/performance has other options.)
    """
    return program == "setup_experiment.py" and any(word.partition("=")[0] in ("--recipe", "--model") for word in words)
