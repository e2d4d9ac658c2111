"""`--show-files` and `--show-settings`: what a run would do."""

from __future__ import annotations

import json

from mfsdp_lint import terminal
from mfsdp_lint.commands.arguments import tell
from mfsdp_lint.engine.read import question
from mfsdp_lint.inputs.configuration import KEYS
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.reports.printable import printable


def files(options: Options) -> int:
    """Print the files that would be checked, one a line. Raises UsageError."""
    asked, problems = question(options)
    terminal.show("".join(f"{printable(file.path)}\n" for file in asked.every_file))
    return tell((), problems)


def settings(options: Options) -> int:
    """Print the value of every key, and the versions judged against. Raises UsageError."""
    from mfsdp_lint.inputs.configuration import configuration_file
    from mfsdp_lint.reports.summary import judged_against

    asked, _ = question(options)
    said = [f"# configuration: {configuration_file() or 'none'}", f"# {judged_against(asked.targets)}"]
    said += [f"{key.name} = {_spelled(key.kind, getattr(options, key.field))}" for key in KEYS]
    terminal.show("".join(f"{printable(line)}\n" for line in said))
    return 0


def _spelled(kind: str, value: object) -> str:
    if value is None:
        return "# not set"
    if kind in ("codes by glob", "levels") and isinstance(value, tuple):
        return "{ " + ", ".join(f"{json.dumps(name)} = {json.dumps(said)}" for name, said in value) + " }"
    return json.dumps(value, ensure_ascii=False)
