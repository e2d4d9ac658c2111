"""What the playground asks of the linter, answered as JSON: with the words and figures of the command line.

The text lies in the file that the page says it is called, in a folder of its own, and the linter is run as
`mfsdp-lint --isolated FILE` runs it there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from mfsdp_lint.core.finding import Finding
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.values import describe
from mfsdp_lint.engine.cache import Outcome
from mfsdp_lint.engine.read import question, read
from mfsdp_lint.engine.run import run
from mfsdp_lint.inputs.faults import described
from mfsdp_lint.inputs.options import Options, UsageError, merge
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.startup.resolve import differs, will_run
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.megatron.versions.releases import NEWEST_ON_THE_INDEX, RELEASES
from mfsdp_lint.reports import json as findings_as_json
from mfsdp_lint.reports import why as stories_as_text
from mfsdp_lint.reports.audit.columns import chosen
from mfsdp_lint.reports.summary import summary_line
from mfsdp_lint.reports.text import Lines, lines_of, snippet
from mfsdp_lint.reports.why import stories
from mfsdp_lint.reports.wording import WHEN
from mfsdp_lint.rules.load import load_rules

_Asked = Mapping[str, Any]
"""`name` and `text` of the file, `target` (a release of Megatron-Bridge), `unsafe` (fixes as well)."""


def answer(request: str) -> str:
    """The answer to a request, `{"ask": …}` with what it needs; `{"error": …}` where there is none."""
    asked = json.loads(request)
    try:
        return json.dumps(_answered(asked))
    except UsageError as error:
        return json.dumps({"error": str(error)})
    except Exception as error:
        return json.dumps({"error": described(error)})


def _answered(asked: _Asked) -> dict[str, Any]:
    if asked["ask"] == "targets":
        return _targets()
    file = Path(PurePosixPath(asked["name"]).name)
    file.write_bytes(asked["text"].encode())
    try:
        return _ANSWERS[asked["ask"]](str(file), asked)
    finally:
        file.unlink()


def _targets() -> dict[str, Any]:
    """The releases to choose from, the newest first, and the one to begin with."""
    names = [release.bridge for release in reversed(RELEASES)]
    return {"targets": names, "usual": NEWEST_ON_THE_INDEX, "codes": [rule.code for rule in load_rules()]}


def _check(path: str, asked: _Asked) -> dict[str, Any]:
    """What is found (as `--output-format json` has it, with frames), the patch of `--diff`, and the configurations."""
    outcome = run(_options(path, asked, show_fixes=True))
    document = json.loads(findings_as_json.render(outcome.findings, outcome.summary, outcome.unfollowed))
    lines = lines_of(outcome.shown)
    for entry, finding in zip(document["findings"], outcome.findings, strict=True):
        entry |= _shown(finding, lines)
    return {
        "report": document,
        "summary": summary_line(outcome.summary),
        "problems": [*outcome.problems, *outcome.remarks],
        "patch": _patch(path, asked, outcome),
        "recipes": _recipes(path, asked),
    }


def _fix(path: str, asked: _Asked) -> dict[str, Any]:
    """The text after `--fix`."""
    outcome = run(_options(path, asked, fix_only=True))
    return {
        "text": Path(path).read_bytes().decode(),
        "left": [*outcome.left, *(each.message for each in outcome.findings)],
    }


def _why(path: str, asked: _Asked) -> dict[str, Any]:
    """The story of one setting (`setting`) of one recipe (`recipe`, by its number), as `why` tells it."""
    wanted, _ = question(_options(path, asked))
    sources = Sources()
    recipe = read(wanted, sources, tracing=True).recipes[asked["recipe"]]
    told = stories(recipe, asked["setting"], wanted.target)
    return {"story": stories_as_text.render(recipe, told, sources.text_or_none)}


_ANSWERS = {"check": _check, "fix": _fix, "why": _why}


def _options(path: str, asked: _Asked, **more: bool) -> Options:
    given = {"paths": (path,), "target_bridge": asked["target"], "unsafe_fixes": asked["unsafe"], "cache": False}
    return merge({**given, **more}, {})


def _patch(path: str, asked: _Asked, outcome: Outcome) -> str:
    """What the fixes change; where none can be made there is nothing to ask for."""
    if not any(finding.fixable or finding.fix for finding in outcome.findings):
        return ""
    return run(_options(path, asked, diff=True)).patch.decode("utf-8")


def _shown(finding: Finding, lines: Lines) -> dict[str, Any]:
    """What a page shows besides: when it happens, in words, and the lines with a mark under them."""
    return {
        "when": WHEN[finding.stage],
        "frame": snippet(finding.span, lines(finding.span.path)),
        "notes": [
            {
                "message": note.message,
                "place": f"{note.span.path}:{note.span.line}",
                "frame": snippet(note.span, lines(note.span.path), "-"),
            }
            for note in finding.related
        ],
    }


def _recipes(path: str, asked: _Asked) -> list[dict[str, Any]]:
    wanted, _ = question(_options(path, asked))
    return [_configuration(recipe, wanted.target) for recipe in read(wanted, Sources()).recipes]


def _configuration(recipe: Recipe, target: Target) -> dict[str, Any]:
    """A recipe with its settings: written, will run, and where the value comes from."""
    after = will_run(recipe, target)
    settings = [_row(recipe, after, path) for path in chosen(recipe, ()) if "." in path]
    return {
        "name": recipe.label,
        "line": recipe.line,
        "ways": [list(variant.when) for variant in recipe.variants if variant.when],
        "settings": settings,
    }


def _row(recipe: Recipe, after: Recipe, path: str) -> dict[str, Any]:
    setting, run_with = recipe.setting(path), after.setting(path)
    row: dict[str, Any] = {"path": path, "written": describe(setting.value)}
    if differs(setting.value, run_with.value):
        row |= {"runs": describe(run_with.value), "because": run_with.origin.because if run_with.origin else ""}
    if setting.origin is not None:
        point = setting.origin.point
        row |= {"how": setting.origin.how, "line": point.line, "file": point.path}
        row |= {"upstream": setting.origin.upstream} if setting.origin.upstream else {}
    return row
