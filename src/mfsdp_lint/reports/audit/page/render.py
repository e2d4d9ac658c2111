"""The page itself: templates filled in, with data, style and script inside. Jinja2 is imported here alone."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from mfsdp_lint import __version__
from mfsdp_lint.core.files import PACKAGE
from mfsdp_lint.core.finding import Finding
from mfsdp_lint.reports import Texts
from mfsdp_lint.reports.audit.columns import COLUMNS
from mfsdp_lint.reports.audit.page.cells import KINDS
from mfsdp_lint.reports.audit.page.findings import by_rule
from mfsdp_lint.reports.settings import matches
from mfsdp_lint.results.printable import printable
from mfsdp_lint.results.summary import Summary, judged_against
from mfsdp_lint.rules.model import Rule

ASSETS = os.path.join(PACKAGE, "reports", "audit", "page", "assets")

SCRIPTS = ("dom.js", "data.js", "route.js", "matrix.js", "layout.js", "recipe.js", "compare.js", "main.js")
"""The parts of the page's script; each uses those before it."""


def render(
    sides: Sequence[Mapping[str, Any]],
    findings: Sequence[Finding],
    rules: Sequence[Rule],
    summary: Summary,
    texts: Texts,
    settings: tuple[str, ...] = (),
) -> str:
    """One file that needs nothing else. `sides` are documents of `sides.py`, the one that is shown first before all;
    `settings` are globs of those that are columns from the start.

    Its policy lets no script run but its own, and loads nothing, whatever the texts in it come to.
    """
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
        rules=by_rule(findings, rules, texts),
        style=Markup(style),
        style_hash=_hash(style),
        script=Markup(script),
        script_hash=_hash(script),
        data=Markup(embedded(data)),
    )


def embedded(data: Any) -> str:
    """JSON that cannot end the element it stands in, whatever it holds: ASCII, without what begins markup."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


def _asset(name: str) -> str:
    with open(os.path.join(ASSETS, name), encoding="utf-8", newline="\n") as file:
        return file.read()


def _hash(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()
