"""The audit as one page that stands by itself: templates filled in, with data, style and script inside.

recipes ──► sides ──► data ──────┐
findings and rules ──► templates ─┴──► page

A side is all recipes for one target, or at one revision, as data for the page's script. Settings that no rule knows
and no file writes are left out: they are at their declared defaults.
"""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal, get_args

from mfsdp_lint.core import files
from mfsdp_lint.core.files import PACKAGE
from mfsdp_lint.core.finding import SEVERITIES, Finding
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Origin, Recipe, Setting, Span
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.values import UNKNOWN, Value, describe
from mfsdp_lint.core.version import __version__
from mfsdp_lint.megatron.startup.resolve import differs, resolve
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.megatron.vocabulary import SETTINGS
from mfsdp_lint.memory.estimate import Footprint, Memory, MemoryOf
from mfsdp_lint.readers.overrides import COMMAND_LINE
from mfsdp_lint.reports import Texts
from mfsdp_lint.reports.audit.columns import COLUMNS, RUNS, matches
from mfsdp_lint.reports.audit.table import fit_lines, formula, parameters_and_ranks, parts_of, size_cells
from mfsdp_lint.reports.explain import code_of, fix_of, fix_where, found_where, said_of_versions
from mfsdp_lint.reports.summary import RecipeState, Summary, judged_against
from mfsdp_lint.reports.text import Lines, changes, lines_of, snippet
from mfsdp_lint.reports.wording import WHEN, clipped, printable
from mfsdp_lint.rules.about_files import ABOUT_FILES
from mfsdp_lint.rules.model import Rule


@dataclass(frozen=True, slots=True)
class FormerFinding:
    """A finding of an earlier report that was not suppressed."""

    code: str
    name: str
    severity: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class FormerReport:
    """The findings of an earlier report, and the release that it judged against."""

    findings: tuple[FormerFinding, ...]
    against: str


def former_report(text: str) -> FormerReport:
    """Read what `mfsdp-lint --output-format json` wrote. Raises ValueError if it did not write this text."""
    try:
        document = json.loads(text)
        shown = (each for each in document["findings"] if not each["suppressed"])
        found = tuple(
            FormerFinding(*(str(each[name]) for name in ("code", "name", "severity", "fingerprint"))) for each in shown
        )
        return FormerReport(found, str(document["target"]["bridge"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError("it is no report of mfsdp-lint --output-format json") from None


def overview(side: Mapping[str, Any], findings: Sequence[Finding], former: FormerReport | None) -> dict[str, Any]:
    """Count the findings and the recipes of a side's document, for the page's template.

    Every count has the earlier one beside it, None without a former report. Suppressed findings do not count.
    """
    shown = [finding for finding in findings if finding.suppressed is None]
    earlier = former.findings if former else ()
    worst_last = sorted(shown, key=lambda finding: -_order(finding.severity))
    names = {each.code: (each.name, each.severity) for each in earlier}
    names |= {each.code: (each.name, each.severity) for each in worst_last}
    recipes = Counter(code for recipe in side["recipes"] for code in {each[0] for each in recipe["troubles"]})
    now, before = Counter(each.code for each in shown), Counter(each.code for each in earlier)
    severities, severities_before = Counter(each.severity for each in shown), Counter(each.severity for each in earlier)
    here, there = ({each.fingerprint for each in some} for some in (shown, earlier))
    return {
        "former": former
        and {"against": printable(former.against), "new": len(here - there), "gone": len(there - here)},
        "severities": [
            {"severity": each, "now": severities[each], "before": severities_before[each] if former else None}
            for each in SEVERITIES
        ],
        "rules": [
            {
                "code": printable(code),
                "name": printable(name),
                "severity": severity if severity in SEVERITIES else "info",
                "recipes": recipes[code],
                "now": now[code],
                "before": before[code] if former else None,
            }
            for code, (name, severity) in sorted(names.items(), key=lambda each: (_order(each[1][1]), each[0]))
        ],
        "families": _families(side),
    }


def _families(side: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Count the recipes of each family by their worst finding; the families with most errors and warnings first."""
    found: dict[str, Counter[str]] = {}
    for recipe in side["recipes"]:
        worst = min((each[2] for each in recipe["troubles"]), key=SEVERITIES.index, default="none")
        found.setdefault(recipe["family"], Counter())[worst] += 1
    rows = [
        {"family": family, "recipes": count.total(), **{each: count[each] for each in (*SEVERITIES, "none")}}
        for family, count in found.items()
    ]
    return sorted(rows, key=lambda row: (-row["error"], -row["warning"], row["family"]))


def _order(severity: str) -> int:
    return next((at for at, each in enumerate(SEVERITIES) if each == severity), len(SEVERITIES))


@dataclass(frozen=True, slots=True)
class Side:
    """Contents of a side. `title` names it among others; `states` are the findings of the recipes, `memory` their
    memory needs, if requested.
    """

    title: str
    target: Target
    recipes: Sequence[Recipe]
    states: Sequence[RecipeState]
    lines: Lines
    at_hand: IsAtHand
    memory: MemoryOf | None = None


def side_document(side: Side) -> dict[str, Any]:
    """Describe the side as JSON.

    `settings` are paths, each with the cell that most recipes have there (-1: none); a recipe has, for each setting
    that differs, its number and that of the cell. A cell is value, kind and origin and, if start-up changes the value,
    the new value, the step and its place. `columns` are texts, with the text after start-up if that is another.
    """
    tables, paths = Tables(side.lines), dict[str, int]()
    documents = [_recipe_document(recipe, side, tables, paths) for recipe in side.recipes]
    usual = _usual([document["cells"] for document in documents], len(paths))
    troubles = {(state.path, state.line, state.name): state.troubles for state in side.states}
    for recipe, document in zip(side.recipes, documents, strict=True):
        # Setting and cell in turn, if the recipe has another cell than most, or none.
        own = [(number, document["cells"].get(number, NOTHING)) for number in range(len(usual))]
        document["cells"] = [each for number, cell in own if cell != usual[number] for each in (number, cell)]
        document["troubles"] = [
            [each.code, printable(each.message), each.severity, each.fingerprint, each.setting]
            for each in troubles.get((recipe.path, recipe.line, recipe.label), ())
        ]
        if side.memory is not None:
            document["memory"] = _memory_texts(side.memory(recipe), tables.whole)
    return {
        "title": side.title,
        "target": printable(side.target.label),
        **{name: list(getattr(tables, name)) for name in ("texts", "places", "origins", "cells")},
        "settings": [[printable(path), cell] for path, cell in zip(paths, usual, strict=True)],
        "recipes": documents,
    }


def _memory_texts(memory: Memory, whole: Callable[[str], int]) -> dict[str, Any]:
    """Describe, by texts' numbers, each way of wrapping with its sizes, and the formulas of one (best its own)."""
    shown = memory.own or next(iter(memory.footprints), None)
    return {
        "ranks": memory.ranks,
        "said": [whole(line) for line in parameters_and_ranks(memory)],
        "why": whole(memory.why),
        "rows": [[int(each.runs), whole(each.label), *map(whole, size_cells(each))] for each in memory.footprints],
        "stacks": [_stack(each) for each in memory.footprints],
        "formulas": [[whole(name), whole(formula(amount))] for name, amount in (parts_of(shown) if shown else ())],
        "fit": [whole(line) for line in fit_lines(memory)],
        "sources": [[whole(each.says), whole(f"{each.place} of {each.release}")] for each in memory.sources],
        "left": [whole(each) for each in memory.left_out],
    }


def _stack(footprint: Footprint) -> list[int]:
    """Return the bytes of everything that is estimated, 0 for what is not known; nothing without the model's state."""
    return [amount.bytes or 0 for _, amount in parts_of(footprint)] if footprint.total.bytes is not None else []


def _recipe_document(recipe: Recipe, side: Side, tables: Tables, paths: dict[str, int]) -> dict[str, Any]:
    """Describe a recipe; `cells` are by the number of their setting as yet."""
    resolved = [resolve(each, side.target, front_end=recipe.front_end) for each in recipe.variants]
    run = replace(recipe, variants=tuple(each.run for each in resolved))
    changed = dict.fromkeys(change.path for each in resolved for change in each.changes)
    differing: dict[str, list[str]] = {}
    for path in sorted(recipe.differing()):
        values = [shown(each.value(path)) for each in recipe.variants]
        if len(set(values)) > 1:
            differing[path] = values
    first = recipe.variants[0].settings
    cells: dict[int, int] = {}
    for path in dict.fromkeys((*SETTINGS, *first.written(), *differing, *changed)):
        written = recipe.setting(path) if path in differing else first.get(path) or Setting(path, UNKNOWN)
        after = run.setting(path) if path in changed else None
        if after is not None and not differs(written.value, after.value):
            after = None
        if after is None and _says_nothing(path, written, path in differing):
            continue
        cells[numbered(paths, path)] = cell_of(recipe, written, after, tables, side.at_hand)
    columns: list[str | list[str]] = []
    for column in COLUMNS:  # the cell; with the written value before it, if start-up changes it
        own, both = column.of(recipe), column.both(recipe, run)
        columns.append([printable(own), printable(both)] if RUNS in both and own != both else printable(both))
    return {
        "name": printable(recipe.label),
        "qualified": printable(recipe.qualified_name),
        "path": printable(recipe.path),
        "line": recipe.line,
        "kind": recipe.kind,
        "folder": printable(os.path.dirname(recipe.path) or "."),
        "family": printable(family_of(recipe.name)),
        "columns": columns,
        "cells": cells,
        "variants": [
            {
                "when": [printable(condition) for condition in each.when],
                "settings": {printable(path): printable(values[number]) for path, values in differing.items()},
            }
            for number, each in enumerate(recipe.variants if len(recipe.variants) > 1 else ())
        ],
    }


def _says_nothing(path: str, written: Setting, differs: bool) -> bool:
    """Tell whether a setting needs no line.

    This holds for an unknown setting that no file writes, one at a default that no rule looks at, and a section by
    itself.
    """
    if path in SETTINGS or "." not in path:
        return path not in SETTINGS or (written.origin is None and written.value == UNKNOWN)
    return not differs and (written.origin is None or written.origin.how == "default")


def _usual(rows: Sequence[Mapping[int, int]], settings: int) -> list[int]:
    """Find for every setting the cell that most recipes have; NOTHING if most have none."""
    counts: list[Counter[int]] = [Counter() for _ in range(settings)]
    for row in rows:
        for number, cell in row.items():
            counts[number][cell] += 1
    usual = []
    for count in counts:
        cell, times = count.most_common(1)[0]
        usual.append(cell if times > len(rows) - count.total() else NOTHING)
    return usual


_FIRST_WORD = lazy_pattern(r"[^\W\d_]+")


def family_of(name: str) -> str:
    """Return the first word of a name, without its number: `llama3_8b_pretrain_config` is of the family `llama`."""
    found = _FIRST_WORD.search(os.path.basename(name))
    return found.group().lower() if found else "other"


Kind = Literal["nobody", "default", "upstream", "helper", "here", "startup"]
"""Where a value comes from: nobody is known to write it; its declared default; upstream's code; another function or
file at hand; the recipe itself, the top level of its file, or its launch; or start-up sets another."""

KINDS: tuple[Kind, ...] = get_args(Kind)
"""From the least interesting to the most: of several settings in one column the last counts."""

IsAtHand = Callable[[str], bool]
"""Tells whether a path is one of the files that were read."""


def cell_of(recipe: Recipe, written: Setting, run: Setting | None, tables: Tables, at_hand: IsAtHand) -> int:
    """Return the number of the cell; `run` is the setting after start-up, if that is another.

    Such a cell has the new value, the step of start-up that sets it, and the place of that step.
    """
    kind: Kind = "startup" if run else kind_of(recipe, written.origin, at_hand)
    origin = tables.origin(written.origin) if written.origin else NOTHING
    unwritten = run is not None and written.origin is None and written.value == UNKNOWN
    row = (NOTHING if unwritten else tables.text(shown(written.value)), KINDS.index(kind), origin)
    if run is None:
        return numbered(tables.cells, row)
    by = run.origin if run.origin and run.origin.how == "startup" else None
    place = tables.place(by.span, by.function, by.upstream) if by else NOTHING
    step = (tables.text(shown(run.value)), tables.text(by.because if by else ""), place)
    return numbered(tables.cells, (*row, *step))


def kind_of(recipe: Recipe, origin: Origin | None, at_hand: IsAtHand) -> Kind:
    """Classify the place of the text that decides a value."""
    if origin is None:
        return "nobody"
    if origin.how == "default":
        return "default"
    deciding = origin.sources[-1] if origin.sources else origin
    path, function = deciding.span.path, deciding.function
    if path == COMMAND_LINE:
        return "here"
    if path == recipe.path and (recipe.kind != "function" or function in ("", recipe.name)):
        return "here"
    return "helper" if at_hand(path) or not origin.upstream else "upstream"


def shown(value: Value) -> str:
    """Write a value as a person would; `?` if nothing is known."""
    return "?" if value == UNKNOWN else describe(value)


NOTHING = -1
"""Instead of a number, where there is nothing."""

_LONGEST = 120
"""Characters of a value or a line that are worth showing."""


def numbered(rows: dict[Any, int], row: Hashable) -> int:
    """Return the number of a row among those of a table, each once, in the order of their first appearance."""
    return rows.setdefault(row, len(rows))


class Tables:
    """All tables of one side. `lines` gives the lines of files, for the text at a place;"""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._known: dict[int, tuple[Origin, int]] = {}
        self._shown: dict[str, int] = {}
        self.texts: dict[str, int] = {}
        self.places: dict[Hashable, int] = {}
        self.origins: dict[Hashable, int] = {}
        self.cells: dict[Hashable, int] = {}

    def text(self, text: str) -> int:
        """Return the number of a text, escaped and clipped for display."""
        number = self._shown.get(text)
        if number is None:
            number = self._shown[text] = numbered(self.texts, clipped(printable(text), _LONGEST)) if text else NOTHING
        return number

    def whole(self, text: str) -> int:
        """Return the number of a text in its whole length."""
        return numbered(self.texts, printable(text)) if text else NOTHING

    def place(self, span: Span, function: str = "", release: str | None = None) -> int:
        """Return the number of a place: file, line, function, upstream's release, and the code there."""
        lines = () if release else self._lines(span.path)
        code = lines[span.line - 1].strip() if 0 < span.line <= len(lines) else ""
        row = (self.text(span.path), span.line, self.text(function), self.text(release or ""), self.text(code))
        return numbered(self.places, row)

    def origin(self, origin: Origin) -> int:
        """Number an origin: kind, place, sources (the nearest first), earlier write, option that may change it."""
        known = self._known.get(id(origin))
        if known is not None:
            return known[1]
        number = NOTHING
        for each in origin.chain():
            row = (
                self.text(each.how),
                self.place(each.point, each.function, each.upstream),
                tuple(self.place(source.span, source.function) for source in each.sources),
                number,
                self.text(each.option),
            )
            number = numbered(self.origins, row)
            # Recipes share origins. They are kept, so that their ids stay their own.
            self._known[id(each)] = (each, number)
        return number


def by_rule(findings: Sequence[Finding], rules: Sequence[Rule], texts: Texts) -> list[dict[str, Any]]:
    """List every rule that has findings, the most severe first, with its documentation and its findings."""
    lines = lines_of(texts)
    known = {rule.code: rule for rule in rules}
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.code, []).append(finding)
    about = {each.code: {"summary": each.summary, "why": each.why, "fixes": [each.fix]} for each in ABOUT_FILES}
    pages = []
    for code, same in found.items():
        counted = [finding for finding in same if finding.suppressed is None]
        page = {
            "code": code,
            "name": same[0].name,
            "severity": min((each.severity for each in counted or same), key=SEVERITIES.index),
            "counted": len(counted),
            "silenced": len(same) - len(counted),
            "findings": [_finding_document(finding, lines, texts) for finding in same],
        }
        if code not in known:
            pages.append(page | about.get(code, {}))
            continue
        rule = known[code]
        bad = (code_of(each).rstrip() for each in rule.examples if each.severity)
        good = (code_of(each).rstrip() for each in rule.examples if not each.severity)
        documentation = {
            "summary": rule.summary,
            "why": rule.why,
            "versions": said_of_versions(rule),
            "found": found_where(rule),
            "cases": [
                {
                    "severity": case.severity,
                    "stage": WHEN[case.stage],
                    "where": ", ".join(
                        filter(None, (case.versions.text, f"where {case.when.text}" if case.when else ""))
                    ),
                    "says": f"{case.message.template}: {case.consequence.template}",
                }
                for case in rule.cases
            ],
            "fixes": [f"{fix_of(fix)}{fix_where(fix)}" for fix in rule.fixes],
            "bad": next(filter(None, bad), ""),
            "good": next(filter(None, good), ""),
        }
        pages.append(page | documentation)
    return sorted(pages, key=lambda page: (SEVERITIES.index(page["severity"]), page["code"]))


def _finding_document(finding: Finding, lines: Lines, texts: Texts) -> dict[str, Any]:
    silenced, fix = finding.suppressed, finding.fix
    # Removed and added lines; none if the fix holds only once others have been made.
    diffs = [
        {
            "place": printable(place),
            "rows": [{"number": number, "sign": text[:1], "text": text[2:]} for number, text in rows],
        }
        for place, rows in (changes(fix, texts) if fix else ())
    ]
    return {
        "fingerprint": finding.fingerprint,
        "code": finding.code,
        "severity": finding.severity,
        "message": printable(finding.message),
        **_frame(finding.span, lines, "^"),
        "when": WHEN[finding.stage],
        "consequence": printable(finding.consequence),
        "raises": printable(finding.raises or ""),
        "notes": [{"message": printable(note.message), **_frame(note.span, lines, "-")} for note in finding.related],
        "recipes": [printable(recipe.name) for recipe in finding.recipes],
        "fix": fix and {"safety": fix.safety, "why": printable(fix.why), "diffs": diffs},
        "fixable": finding.fixable,
        "no_fix": printable(finding.no_fix),
        "silenced": f"by {silenced.by}: {printable(silenced.reason) or 'no reason given'}" if silenced else "",
    }


def _frame(span: Span, lines: Lines, mark: str) -> dict[str, Any]:
    rows = snippet(span, lines(span.path), mark)
    return {"place": f"{printable(span.path)}:{span.line}", "rows": rows}


ASSETS = os.path.join(PACKAGE, "reports", "audit", "assets")

SCRIPTS = ("dom.js", "data.js", "route.js", "matrix.js", "layout.js", "recipe.js", "compare.js", "main.js")
"""The parts of the page's script; each uses those before it."""


def render(
    sides: Sequence[Mapping[str, Any]],
    findings: Sequence[Finding],
    rules: Sequence[Rule],
    summary: Summary,
    texts: Texts,
    settings: tuple[str, ...] = (),
    former: FormerReport | None = None,
    upgrade: Mapping[str, Any] | None = None,
) -> str:
    """Render one file that needs no other. `sides` are documents of sides, the one shown first before all others;
    `settings` are globs of those that are columns from the start. `former` is an earlier report, for the trend, and
    `upgrade` what moving from the second side's release to that of the first does (upgrade/page.py).

    The page's policy runs no script but its own, and loads nothing, for any texts in it. Raises ImportError without
    Jinja2.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    data = {
        "kinds": KINDS,
        "columns": [{"title": column.title, "settings": column.settings} for column in COLUMNS],
        "chosen": sorted(path for path, _ in sides[0]["settings"] if settings and matches(path, settings)),
        "sides": sides,
    }
    style, script = _asset("page.css"), "\n".join(map(_asset, SCRIPTS))
    return environment.get_template("page.html").render(
        version=__version__,
        recipes=len(sides[0]["recipes"]),
        summary=summary,
        against=printable(judged_against((summary.target, *summary.also))),
        overview=overview(sides[0], findings, former),
        upgrade=upgrade,
        rules=by_rule(findings, rules, texts),
        style=Markup(style),
        style_hash=_hash(style),
        script=Markup(script),
        script_hash=_hash(script),
        data=Markup(embedded(data)),
    )


def embedded(data: Any) -> str:
    """Write JSON that cannot end the element around it, for any content: ASCII, with no character of markup."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


def _asset(name: str) -> str:
    return files.text(os.path.join(ASSETS, name))


def _hash(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()
