"""Rules verified by running, at each version: docs/verified.md, from the output of runs of `rules --verify`.

    python -m tools.verified [VERSION=FILE …]

FILE is the output of `mfsdp-lint rules --verify --output-format json` with that version, named as evidence names it
("0.3.1", "core 0.16.1" for `--megatron-lm`). Its result for a rule replaces the entry of `verified.json` for the
version, from which all later pages take it. A rule whose conditions or examples have changed since is not verified by
it.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mfsdp_lint.checkout import CHECKOUT
from mfsdp_lint.core.store import read_json
from mfsdp_lint.megatron.versions.releases import NEWEST_ON_THE_INDEX
from mfsdp_lint.rules.load import load_rules, raw_rules
from mfsdp_lint.rules.model import Rule
from tools.evidenced import sites

FILE = Path(__file__).parent / "verified.json"
PAGE = CHECKOUT.parent / "docs" / "verified.md"

TRIED = ("versions", "applies", "cases", "confirm", "control", "fix", "examples")
"""The parts of a rule file that a run depends on."""

WITH = ("megatron-bridge", "megatron-core", "torch", "transformer-engine")
"""The packages that are told of a run."""

_PATH = re.compile(r"(?<!\w)/\S+")

Records = Mapping[str, Mapping[str, Any]]
"""By version: what it was run with, and by rule the tier, the outcome and what was tried."""


def digest(data: Mapping[str, Any]) -> str:
    """Digest the parts of a rule file that a run depends on, in a few characters: whether its fix is safe is none."""
    tried = [_without_safety(data.get(name)) if name == "fix" else data.get(name) for name in TRIED]
    said = json.dumps(tried, sort_keys=True, default=str)
    return hashlib.sha256(said.encode()).hexdigest()[:12]


def _without_safety(fix: Any) -> Any:
    """Leave out when a fix is safe, or each of several fixes."""
    if isinstance(fix, list):
        return [_without_safety(each) for each in fix]
    if not isinstance(fix, dict):
        return fix
    return {name: each for name, each in fix.items() if name not in ("safe", "unsafe")}


def digests() -> dict[str, str]:
    """Return the digests by code, for the rules as they are now."""
    return {data["code"]: digest(data) for data in raw_rules().values() if "code" in data}


def record(version: str, document: Mapping[str, Any], now: Mapping[str, str]) -> dict[str, Any]:
    """Extract the lasting data of a run's JSON. The command line is the source tree's, so no core is listed."""
    of_bridge = not version.startswith("core ")
    packages = {name: value for name, value in document["installed"].items() if name in WITH and value}
    told = {name: value for name, value in packages.items() if of_bridge or not name.startswith("megatron")}
    rules = {
        row["code"]: {
            "rule": now[row["code"]],
            "tier": row["tier"],
            "outcome": row["agreement"] if row["examples"] else "",
            "examples": [_example(each) for each in row["examples"]],
        }
        for row in document["rules"]
        if row["code"] in now
    }
    return {"with": told, "rules": rules}


def _example(each: Mapping[str, Any]) -> list[Any]:
    """Return bad or good, the number, the verdict, and the reason if the verdict is neither yes nor no."""
    name = f"{'bad' if each['bad'] else 'good'} {each['number']}"
    if each["verdict"] in ("confirmed", "passed"):
        return [name, each["verdict"]]
    return [name, each["verdict"], _PATH.sub("…", " ".join(each["seen"].split()))[:120]]


def as_text(records: Records) -> str:
    """Write JSON with a line for each rule."""
    versions = []
    for version, run in records.items():
        lines = [f"  {json.dumps(code)}: {json.dumps(said, ensure_ascii=False)}" for code, said in run["rules"].items()]
        rules = "{\n" + ",\n".join(lines) + "\n }"
        versions.append(f'{json.dumps(version)}: {{"with": {json.dumps(run["with"])}, "rules": {rules}}}')
    return "{\n" + ",\n".join(versions) + "\n}\n"


# -- the page -------------------------------------------------------------------------------------------------------


def page(rules: Sequence[Rule], records: Records, now: Mapping[str, str]) -> str:
    """Write the page."""
    versions = list(sites())
    table = {rule.code: {version: _cell(rule, version, records, now) for version in versions} for rule in rules}
    return "\n".join([*_head(table, versions, records), *_rows(rules, table, versions), *_open(rules, table, records)])


def _cell(rule: Rule, version: str, records: Records, now: Mapping[str, str]) -> str:
    """Return `cpu` if a run of that tier agreed; `read` for evidence alone; empty if the rule has no case there."""
    site = sites()[version]
    if rule.at(site.target, site.front_end) is None:
        return ""
    said = records.get(version, {}).get("rules", {}).get(rule.code)
    if said is None or said["rule"] != now[rule.code]:
        return "read"
    if said["outcome"] == "disagreement":
        return "**wrong**"
    return str(said["tier"]) if said["outcome"] == "agreement" else "read"


def _head(table: Mapping[str, Mapping[str, str]], versions: Sequence[str], records: Records) -> Iterator[str]:
    yield "# What is verified, and how"
    yield ""
    yield "Made by `python -m tools.verified`. `introspect`, `cpu` and `gpu`: the rule's examples were run"
    yield "with that version (`mfsdp-lint rules --verify`), and Megatron did as the rule says: a bad one was"
    yield "confirmed, a good one passed, none said the contrary. `read`: the rule names the lines of that version's"
    yield "source. Empty: the rule says nothing there. **wrong**: an example contradicts the rule. Only 0.3.1 is on"
    yield "the package index with all that it needs; the others were run from source, and but for the head for what"
    yield "start-up refuses alone."
    yield ""
    yield "| version | rules | by running | introspect | cpu | gpu | by reading | wrong | run with |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for version in versions:
        counts = Counter(cells[version] for cells in table.values() if cells[version])
        ran = sum(counts[tier] for tier in ("introspect", "cpu", "gpu"))
        share = f"{ran} ({ran / counts.total():.0%})" if counts.total() else ""
        told = ", ".join(f"{name} {value}" for name, value in records.get(version, {}).get("with", {}).items())
        numbers = [counts[each] or "" for each in ("introspect", "cpu", "gpu", "read", "**wrong**")]
        yield f"| {version} | {counts.total()} | {share} | {' | '.join(map(str, numbers))} | {told} |"
    yield ""


def _rows(rules: Sequence[Rule], table: Mapping[str, Mapping[str, str]], versions: Sequence[str]) -> Iterator[str]:
    yield "## Every rule"
    yield ""
    yield f"| rule | {' | '.join(versions)} |"
    yield "|---|" + "---|" * len(versions)
    for rule in rules:
        cells = [table[rule.code][version] for version in versions]
        yield f"| [{rule.code}](rules/{rule.code}.md) {rule.name} | {' | '.join(cells)} |"
    yield ""


def _open(rules: Sequence[Rule], table: Mapping[str, Mapping[str, str]], records: Records) -> Iterator[str]:
    version = NEWEST_ON_THE_INDEX
    left = [rule for rule in rules if table[rule.code][version] == "read"]
    yield f"## Not run with {version}: {len(left)}"
    yield ""
    for rule in left:
        said = records.get(version, {}).get("rules", {}).get(rule.code)
        yield f"- {rule.code} {rule.name}: {_why(rule, said)}"
    yield ""


def _why(rule: Rule, said: Mapping[str, Any] | None) -> str:
    """Explain why a rule is not verified by running."""
    if said is None:
        return "not tried"
    if said["outcome"] == "agreement":
        return "changed since it was tried"
    if said["tier"] == "none":
        return rule.unconfirmed or "its cases say that no run shows it"
    if said["tier"] == "gpu" and not said["examples"]:
        return "needs a GPU"
    reasons = [f"{name}: {more[0]}" for name, _, *more in said["examples"] if more]
    if reasons:
        return "; ".join(reasons)
    bad = any(name.startswith("bad") for name, *_ in said["examples"])
    return "no good example that can be run" if bad else "no bad example that can be run"


def main(arguments: Sequence[str]) -> None:
    """Write the files."""
    now = digests()
    records = dict(read_json(FILE)) if FILE.is_file() else {}
    for argument in arguments:
        version, _, file = argument.partition("=")
        fresh = record(version, read_json(Path(file)), now)
        before = records.get(version, {}).get("rules", {})
        records[version] = {**fresh, "rules": dict(sorted({**before, **fresh["rules"]}.items()))}
    ordered = {version: records[version] for version in sites() if version in records}
    FILE.write_text(as_text(ordered), encoding="utf-8")
    PAGE.write_text(page(load_rules(), ordered, now), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
