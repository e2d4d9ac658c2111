#!/usr/bin/env python3
"""Ready texts for upstream's issue tracker: one for each rule that upstream's own recipes break.

    python -m scripts.upstream_texts head=TREE -o build/upstream-texts [--select MFSDP409]

TREE is a source tree of that Megatron-Bridge release, or of its development branch (`head`); nothing in it is imported.
Each text has a title, a body with every place and recipe, the check that refuses them, and the patch that repairs them,
where a safe or unsafe fix is proved. Without `--select` the rules are those with findings of severity error. A person
reads, completes and sends them: they are not committed, because a patch quotes upstream's code.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mfsdp_lint import process
from mfsdp_lint.core.finding import Finding
from mfsdp_lint.engine.run import run
from mfsdp_lint.inputs.options import Options
from mfsdp_lint.reports.wording import WHEN, count
from mfsdp_lint.rules.load import raw_rules
from scripts.upstream_report import FOLDERS

HERE = {"bridge": "Megatron-Bridge", "megatron-lm": "Megatron-LM"}


def texts(version: str, tree: Path, select: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the name and the content of each text; `select` are codes, empty for all with errors."""
    os.chdir(tree)
    folders = tuple(folder for folder in FOLDERS if Path(folder).is_dir())
    options = Options(paths=folders, target_bridge=version, select=tuple(select), show_fixes=False, dependents=False)
    found: dict[str, list[Finding]] = {}
    for finding in run(options).findings:
        if finding.suppressed is None and (select or finding.severity == "error"):
            found.setdefault(finding.code, []).append(finding)
    rules = {data["code"]: data for data in raw_rules().values() if "code" in data}
    for code, findings in sorted(found.items()):
        yield f"{code}.md", "\n".join(_text(version, rules[code], findings, _patch(options, code, findings))) + "\n"


def _patch(options: Options, code: str, findings: Sequence[Finding]) -> str:
    """Return the patch that repairs these findings; "" if no fix is proved."""
    paths = tuple(dict.fromkeys(finding.span.path for finding in findings))
    outcome = run(
        Options(**{**_fields(options), "paths": paths, "select": (code,), "diff": True, "unsafe_fixes": True})
    )
    return outcome.patch.decode(errors="replace")


def _fields(options: Options) -> dict[str, Any]:
    return {name: getattr(options, name) for name in Options.__dataclass_fields__}


def _text(version: str, rule: Mapping[str, Any], findings: Sequence[Finding], patch: str) -> Iterator[str]:
    recipes = list(dict.fromkeys(recipe.name for finding in findings for recipe in finding.recipes))
    first = findings[0]
    yield f"# {count(len(recipes), 'recipe')}: {first.message}"
    yield ""
    files = {finding.span.path for finding in findings}
    places = f"{count(len(recipes), 'recipe')} in {count(len(files), 'file')}"
    does = "run otherwise than their settings say" if first.stage == "never" else "cannot run as shipped"
    yield f"In {_named(version)}, {places} {does}."
    yield f"{WHEN[first.stage].capitalize()}: {first.consequence}."
    if first.raises:
        yield ""
        yield f"The error: `{first.raises}`"
    yield ""
    yield "## Where"
    yield ""
    for finding in findings:
        names = ", ".join(f"`{recipe.name}`" for recipe in finding.recipes)
        yield f"- `{finding.span.path}:{finding.span.line}`: {finding.message} ({names})"
        yield from (f"  - {note.message}: `{note.span.path}:{note.span.line}`" for note in finding.related)
    yield ""
    yield "## Why"
    yield ""
    yield str(rule["why"]).strip()
    found = rule.get("evidence", {}).get(version, [])
    for place in [found] if isinstance(found, str) else found:
        repository, _, line = place.partition(" ") if place.split(" ")[0] in HERE else ("bridge", " ", place)
        yield ""
        yield f"Upstream's code: {HERE[repository]}, `{line}`."
    yield ""
    yield "## Patch"
    yield ""
    if patch:
        yield "It was checked that it changes no other setting of any recipe."
        yield ""
        yield f"```diff\n{patch.rstrip()}\n```"
    else:
        yield f"None: {first.no_fix or 'no fix is proved'}."
    yield ""
    yield "## How it was found"
    yield ""
    yield f"`mfsdp-lint --select {first.code} --target-bridge {version} {first.span.path}`"
    yield "(a static check; nothing was run)."


def _named(version: str) -> str:
    return "the development branch" if version == "head" else f"Megatron-Bridge {version}"


def main() -> int:
    """Write the texts."""
    process.own()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", metavar="VERSION=TREE")
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="FOLDER")
    parser.add_argument("--select", action="append", default=[], metavar="CODE")
    options = parser.parse_args()
    version, equals, path = options.tree.partition("=")
    if not equals or not Path(path).is_dir():
        parser.error(f"{options.tree}: expected VERSION=TREE, an existing folder")
    output = options.output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    for name, text in texts(version, Path(path), options.select):
        (output / name).write_text(text, encoding="utf-8")
        print(output / name)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
