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
## Three walks

**An assignment in a recipe becomes an annotation for GitHub.** `cli` picks `commands/check`, which asks
`engine/cache` for a run, and `engine/run` makes one. `engine/judge` has the files read (`engine/read`,
`readers/python_files`, `readers/python/read`). `readers/python/entries` finds the functions that configure a run
and calls each on all its paths; the assignment is evaluated in `readers/python/eval` and written through
`Interpreter.put` of `readers/python/state`. `readers/python/export` gives the finished configuration as a
`core/recipe.Recipe`. `megatron/startup` works out what start-up makes of it, `rules/check` asks the rules,
`rules/findings` joins what has one cause, and `reports/forges` prints.

**A flag in a launch script becomes an annotation.** `readers/shell_files` looks for scripts that may start a run.
`readers/shell/run` follows one (words, variables, branches), `readers/shell/shapes` recognises what is started,
and `readers/megatron_lm_flags` turns the flag into a setting. A program of the tree goes to
`readers/python/entries/addressed`. From the recipe on, everything is as above.

**A rule becomes a patch.** A rule's YAML file is read by `rules/load`; its `fix:` says what to set.
`engine/repair` turns findings into requests, `fixes/plan` finds the places where each could be written, and
`fixes/prove` tries them: texts are changed in memory, read and judged again by the same `engine/judge`, and every
recipe is compared with what it was, also those of files that only use the edited ones. Entry points and launch
scripts that no change reaches keep their results (`readers/python/entries/incremental`, `readers/launch_memory`), and
what depends on upstream's source alone is worked out once (`readers/python/eval/shared_providers`). `engine/write`
writes, or `reports` prints the patch.

`python benchmarks/walks.py` counts the modules that each of them passes.

## Facts

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
