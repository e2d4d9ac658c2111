"""docs/architecture.md, made from the layout: `python -m tools.architecture_page` (`make docs`)."""

from __future__ import annotations

from pathlib import Path

from mfsdp_lint.checkout import CHECKOUT
from mfsdp_lint.core.files import PACKAGE

PAGE = CHECKOUT.parent / "docs" / "architecture.md"

HEAD = """# Architecture

Data goes one way: files → readers → recipes → start-up → rules → findings → fixes → reports. Every stage is a plain
function of the values of the stage before it; few named modules touch files, git and processes. The tool never imports
or runs the code that it reads: it interprets Python on abstract values ([the evaluator](evaluator.md)), follows shell
([launch scripts](launch-scripts.md)), and describes frameworks on top by data files ([front-ends](front-ends.md)).
Rules are data, too: a YAML file each ([rules](rules/README.md)).

A value is known, one of several, set to an unknown value, or unknown. It has an origin: the place that wrote it, and
the value that this replaced. Rules are silent about unknown values.

Each package imports only from those above it:

| package | contents |
| --- | --- |"""

FOOT = """
## Three walks

**An assignment in a recipe becomes an annotation for GitHub.** `cli` picks `commands/check`, which asks
`engine/cache` for a run, and `engine/run` makes one. `engine/judge` reads the files (`engine/read`,
`readers/python_files`, `readers/python/read`). `readers/python/entries` finds the functions that configure a run
and calls each on all its paths; the assignment is evaluated in `readers/python/eval` and written through
`Interpreter.put` of `readers/python/state`. `readers/python/export` gives the finished configuration as a
`core/recipe.Recipe`. `megatron/startup` computes the changes of start-up, `rules/check` asks the rules,
`rules/findings` joins violations with one cause, and `reports/forges` prints.

**A flag in a launch script becomes an annotation.** `readers/shell_files` looks for scripts that may start a run.
`readers/shell/run` follows one (words, variables, branches), `readers/shell/shapes` recognises the launched program,
and `readers/megatron_lm_flags` turns the flag into a setting. `readers/programs` loads the evaluator for a program of
the tree, which `readers/python/entries/addressed` then runs. From the recipe on, everything is as above.

**A rule becomes a patch.** `rules/load` reads a rule's YAML file; its `fix:` names the settings to change.
`engine/repair` turns findings into requests, `fixes/plan` finds the places where each could be written, and
`fixes/prove` tries them: it changes texts in memory, has the same `engine/judge` judge them again, and compares every
recipe with its former state, also in files that only use the edited ones. Entry points and launch
scripts that no change reaches keep their results (`readers/python/entries/incremental`, `readers/launch_memory`), and
results that depend on upstream's source alone are computed once (`readers/python/eval/huggingface`). A program that is
started with the same words is followed once, and one that comes to nothing once for all releases that it does not ask
for (`readers/python/entries/addressed`).
`engine/write` writes the files, or `reports` prints the patch.

A later run takes the same results from the disk (`engine/recall`): an entry point or a script is read again if a text
that it read, a file whose existence it asked for, or what a name leads to has changed. A new file that nobody looked
for costs itself; a file that is gone costs those that used it. A run about other files, as of a commit hook, takes
over what is known of each; only the modules of Megatron's own packages are read otherwise once they are asked for, so
in a fork of it their users are read again. The server keeps the same memory for each open document, in its process, and
knows with it the texts that nobody has saved; it proves fixes once somebody asks for an action at a finding.

A hook also reads the files that use those that it names (`inputs/dependents`): of a module between two files, those who
mean the functions and values that have to do with the named one (`inputs/names_reached`); and the launches that ask for
one of these functions by name.

`python benchmarks/walks.py` counts the modules on each walk.

## Facts

The facts about each release of Megatron-Bridge and Megatron-LM (defaults, recipes, start-up, checks) are generated
from their source. [Coverage](coverage.md) lists every upstream check beside the rule that reports it, and
[verified](verified.md) the rules that were run against the real packages. Only a [dry run](dry-run.md) runs Megatron,
in processes of its own."""


def text() -> str:
    """Write the page."""
    layout = Path(PACKAGE, "layout.txt").read_text(encoding="utf-8").splitlines()
    told = [line.split(maxsplit=1) for line in layout if line and not line.startswith("#")]
    rows = (f"| `{name}` | {says} |" for name, says in told)
    return "\n".join([HEAD, *rows, FOOT, ""])


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
