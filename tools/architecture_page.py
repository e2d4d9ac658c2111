"""docs/architecture.md, made from the layout: `python -m tools.architecture_page` (`make docs`)."""

from __future__ import annotations

from pathlib import Path

from mfsdp_lint.checkout import CHECKOUT
from mfsdp_lint.core.files import PACKAGE

PAGE = CHECKOUT.parent / "docs" / "architecture.md"

HEAD = """# Architecture

Data goes one way: files → readers → recipes → what start-up makes of them → rules → findings → fixes → reports. Every
stage is a plain function of the values of the stage before it; files, git and processes are met in few named places.
Nothing that is read is imported or run: Python is interpreted on abstract values ([the evaluator](evaluator.md)),
shell is followed ([launch scripts](launch-scripts.md)), and frameworks on top are data files
([front-ends](front-ends.md)). Rules are data, too: a YAML file each ([rules](rules/README.md)).

A value is known, one of several, set to something that is not known, or unknown, and it has an origin: the place that
wrote it, and what that replaced. A rule is silent about what is unknown.

Each package imports only from those above it:

| package | what is in it |
| --- | --- |"""

FOOT = """
What is known of each release of Megatron-Bridge and Megatron-LM (defaults, recipes, start-up, checks) is generated
from their source; [coverage](coverage.md) lists every check of theirs beside the rule that tells it, and
[verified](verified.md) which rules were run against the real thing. Only a [dry run](dry-run.md) runs Megatron, in
processes of its own."""


def text() -> str:
    """Write the page."""
    layout = Path(PACKAGE, "layout.txt").read_text(encoding="utf-8").splitlines()
    told = [line.split(maxsplit=1) for line in layout if line and not line.startswith("#")]
    rows = (f"| `{name}` | {says} |" for name, says in told)
    return "\n".join([HEAD, *rows, FOOT, ""])


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
