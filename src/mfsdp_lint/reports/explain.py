"""Rules, settings and frameworks for reading in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from textwrap import fill, indent, shorten

from mfsdp_lint.core.front_ends import BRIDGE, MEGATRON_LM
from mfsdp_lint.core.values import UNKNOWN, Value, describe, spell
from mfsdp_lint.megatron.front_ends import KeyTarget, Pinned, Profile
from mfsdp_lint.megatron.vocabulary.tables import COMMAND_LINE_SECTIONS, ENVIRONMENT, SettingEntry, Table
from mfsdp_lint.reports.wording import STAGES, table
from mfsdp_lint.rules.about_files import AboutFiles
from mfsdp_lint.rules.model import Example, FixSpec, Rule

WIDTH = 110

SCREEN = 24
"""Lines, the oldest terminal's."""

_MOST_CASES = 4


def brief(rule: Rule) -> str:
    """Describe one rule on one screen: its subject, its consequences, its remedy."""
    told = (
        f"{each.severity}, {STAGES[each.stage]}: {each.message.template}: {each.consequence.template}"
        for each in rule.cases
    )
    happens = [
        fill(each, WIDTH, break_on_hyphens=False, subsequent_indent="  ", max_lines=2, placeholder=" …")
        for each in told
    ]
    happens = list(dict.fromkeys(happens))
    shown = happens[:_MOST_CASES]
    if len(happens) > len(shown):
        shown.append(f"  and {len(happens) - len(shown)} more")
    fixes = dict.fromkeys(shorten(f"fix: {fix_of(fix)}", WIDTH, placeholder=" …") for fix in rule.fixes)
    lines = [
        f"{rule.code} {rule.name}",
        rule.summary,
        "",
        _paragraph(rule.why, most=8),
        "",
        f"applies to: {said_of_versions(rule)}",
        *shown,
        *list(fixes)[:_MOST_CASES],
        "",
        f"conditions, error texts and examples: mfsdp-lint explain {rule.code} --all",
    ]
    return "\n".join(lines) + "\n"


def _paragraph(text: str, most: int | None = None) -> str:
    """Break a text into indented lines, at most so many."""
    return indent(fill(text, WIDTH - 2, break_on_hyphens=False, max_lines=most, placeholder=" …"), "  ")


def about_files(about: AboutFiles) -> str:
    """Describe a kind of finding about files."""
    lines = [
        f"{about.code} {about.name}",
        about.summary,
        "",
        _paragraph(about.why),
        "",
        f"severity: {', '.join(about.severities)}",
        f"fix: {about.fix}",
    ]
    return "\n".join(lines) + "\n"


def render_rule(rule: Rule) -> str:
    """Render all of one rule."""
    lines = [
        *(f"{rule.code} {rule.name}", rule.summary, ""),
        _paragraph(rule.why),
        *("", f"applies to: {said_of_versions(rule)}", f"found where: {found_where(rule)}"),
    ]
    if rule.preview:
        lines.append(f"in preview: on with --select {rule.code}, or --preview")
    if rule.preset:
        lines.append(f'off by default: on with --select {rule.code}, or preset = "{rule.preset}"')
    for case in rule.cases:
        where = f" ({case.versions.text})" if case.versions.text else ""
        when = f", where {case.when.text}" if case.when else ""
        told = f"{case.message.template}: {case.consequence.template}"
        lines += ["", f"{case.severity}, {STAGES[case.stage]}{where}{when}"]
        lines.append(_paragraph(told))
        for versions, text in case.raises.entries:
            lines.append(f"  raises{f' ({versions.text})' if versions.text else ''}: {text.template}")
    for fix in rule.fixes:
        lines += ["", f"fix{fix_where(fix)}: {fix_of(fix)}"]
    bad = next((example for example in rule.examples if example.severity), None)
    good = next((example for example in rule.examples if not example.severity), None)
    for title, example in (("bad", bad), ("good", good)):
        if example and (text_of := code_of(example)):
            lines += ["", f"{title}:", indent(text_of.rstrip(), "  ")]
    return "\n".join(lines) + "\n"


def said_of_versions(rule: Rule) -> str:
    """Name the front-ends and versions that the rule is for."""
    return rule.versions.text or "every version of Megatron-Bridge"


def found_where(rule: Rule, quote: str = "") -> str:
    """Write the condition; for a rule about text also the pattern, and the files that it is for."""
    if rule.judges != "text":
        return rule.applies.text
    files = f" of a {' or '.join(rule.files)} file" if rule.files else ""
    also = "" if rule.applies.text == "always" else f", and {quote}{rule.applies.text}{quote}"
    what = f"has a {rule.notices}" if rule.finds is None else f"matches {quote}{rule.finds.pattern}{quote}"
    return f"the text{files} {what}{also}"


def fix_of(fix: FixSpec) -> str:
    """Describe the changes of a fix."""
    if fix.none:
        return f"none, {fix.none}"
    copied = {path: isinstance(value, str) and value.startswith("write.") for path, value in fix.set.items()}
    changes = [f"{path} = {value if copied[path] else spell(value)}" for path, value in fix.set.items()]
    changes += [f"take {path} out" for path in (*fix.unset, *fix.drop)]
    if fix.rename:
        changes.append(f"rename it to {fix.rename}")
    if fix.replace is not None:
        changes.append(f"replace it by {spell(fix.replace)}")
    return ", ".join(changes) or fix.else_advice


def fix_where(fix: FixSpec) -> str:
    """Describe the versions and the condition of a fix, to put behind another text; "" if there are none."""
    parts = [fix.versions.text, f"where {fix.when.text}" if fix.when else ""]
    return "".join(f" ({each})" for each in (", ".join(filter(None, parts)),) if each)


def code_of(example: Example) -> str:
    """Return an example in the notation that is read most."""
    return example.python or example.yaml or example.megatron_lm or example.shell


def rules_table(rules: Sequence[Rule], columns: int = 0) -> str:
    """List all rules under a head, one a line where the terminal is wide enough."""
    rows = [(rule.code, severities(rule), stages(rule), rule.name, rule.summary) for rule in rules]
    return "".join(f"{line}\n" for line in table(("code", "severity", "stage", "name", "summary"), rows, columns))


def severities(rule: Rule) -> str:
    """List the severities that the rule's findings can have."""
    return ", ".join(dict.fromkeys(case.severity for case in rule.cases))


def stages(rule: Rule) -> str:
    """List the stages at which the mistake shows."""
    return ", ".join(dict.fromkeys(STAGES[case.stage] for case in rule.cases))


Rows = Iterator[tuple[str, str, str]]
"""Lines of three columns; a title that stands above as well is not repeated."""


def render_setting(entry: SettingEntry, table: Table, rules: Mapping[str, str]) -> str:
    """Render one setting. `rules` are the codes and names of the rules that look at it."""
    meaning = _paragraph(entry.meaning)
    about_it = (("rules", code, name) for code, name in rules.items())
    kind = entry.type + (" or None" if entry.optional else "")
    kind += f": {', '.join(map(spell, entry.choices))}" if entry.choices else ""
    kind += f" ({entry.unit})" if entry.unit else ""
    rows = [("type", "", kind), *_defaults(entry, table), *_names(entry, table), *about_it]
    return f"{entry.path}\n{meaning}\n\n{_titled(rows)}"


def render_flag(name: str, table: Table) -> str:
    """Render one flag of Megatron-LM's command line that is no setting of the vocabulary."""
    flags = {version: table.flag(name, version) for version in table.core_versions}
    newest = [flag for flag in flags.values() if flag][-1]
    choices = f": {', '.join(map(spell, newest.choices))}" if newest.choices else ""
    rows = [
        ("type", "", "a switch" if newest.is_switch else newest.type + choices),
        *_by_version("megatron-lm", {version: flag.default if flag else None for version, flag in flags.items()}),
        ("names", "megatron-lm", f"{', '.join(newest.names)} (args.{newest.dest})"),
    ]
    return f"{name}\n  A flag of Megatron-LM's command line.\n\n{_titled(rows)}"


def _titled(rows: Sequence[tuple[str, str, str]]) -> str:
    wide = max((len(who) for _, who, _ in rows), default=0)
    above = ["", *(title for title, _, _ in rows)]
    lines = (
        f"{'' if title == before else title:<8} {who:<{wide}}  {text}".rstrip()
        for (title, who, text), before in zip(rows, above, strict=False)
    )
    return "".join(f"{line}\n" for line in lines)


def _defaults(entry: SettingEntry, table: Table) -> Rows:
    if entry.path.startswith(ENVIRONMENT):
        return
    for front_end, versions in ((BRIDGE, table.bridge_versions), (MEGATRON_LM, table.core_versions)):
        if entry.section in COMMAND_LINE_SECTIONS or not front_end.takes_flags:
            values = {each: table.default(entry.path, Pinned(each, each), front_end) for each in versions}
            yield from _by_version(front_end.name, values)


def _by_version(who: str, values: Mapping[str, Value | None]) -> Rows:
    """Yield the defaults by range of versions; the range is left out if there is only one."""
    for _, group in groupby(values, key=lambda version: repr(values[version])):
        run = list(group)
        value = values[run[0]]
        if value is not None:
            told = "worked out at start-up" if value == UNKNOWN else describe(value)
            yield "default", who, told + ("" if len(run) == len(values) else f" in {_range(run)}")
            who = ""


def _range(run: Sequence[str]) -> str:
    return run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}"


def _names(entry: SettingEntry, table: Table) -> Rows:
    if entry.path.startswith(ENVIRONMENT):
        yield "names", "environment", entry.name
        return
    bridge = (table.default(entry.path, Pinned(version, "")) for version in table.bridge_versions)
    if entry.section != "args" and any(default is not None for default in bridge):
        yield "names", "bridge", entry.path
    flags: dict[str, list[str]] = {}
    for version in table.core_versions:
        for name in (name for flag in table.setting_flags(entry, version) for name in flag.names):
            flags.setdefault(name, []).append(version)
    for name, versions in flags.items():
        flag = table.flag(name, versions[-1])
        opposite = flag is not None and flag.is_switch and (flag.action == "store_false") != entry.inverted
        when = "" if len(versions) == len(table.core_versions) else f" in {_range(versions)}"
        yield "names", "megatron-lm", f"{name}{' (means the opposite)' if opposite else ''}{when}"
    if entry.perf:
        yield "names", "performance scripts", ", ".join(entry.perf)
    yield from (("names", "also", alias) for alias in entry.aliases)
    yield from (("names", "removed", f"{removed.name} (until {removed.until})") for removed in entry.removed)
    yield from (("names", "now", newer.path) for newer in table.by_removed_name(entry.name))


_NAMED = {"attributes": "the names of Megatron-LM's parsed arguments", "flags": "Megatron-LM's flags"}


def render_framework(profile: Profile) -> str:
    """Render one framework."""
    who = profile.front_end
    validated = "" if who.starts_up else ", without its start-up validation"
    core = f", on megatron-core {who.core} alone" if who.core else ""
    lines = [who.name, f"  runs the code of {who.runs}{validated}{core}; as of {profile.source}", ""]
    for code, reason in profile.reasons:
        verb = "spared" if code in who.spared else "reverts"
        lines.append(f"{verb:<9} {code}  {reason}")
    lines += [
        f"refuses   {each.rule}{' when ' if each.when else ''}{each.when}  ({each.evidence})" for each in who.refuses
    ]
    for place in profile.places:
        wanted = ", ".join(f"{'.'.join(key)}: {' or '.join(map(str, values))}" for key, values in place.where)
        lines.append(f"settings  at {'.'.join(place.at) or 'the root'}" + (f", where {wanted}" if wanted else ""))
        if place.named in _NAMED:
            lines.append(f"          {_NAMED[place.named]}")
        wide = max((len(".".join(line.key)) for line in place.lines), default=0)
        for line in place.lines:
            meant = ", ".join(map(_target, line.targets)) or "nothing: nobody reads it"
            lines.append(f"          {'.'.join(line.key):<{wide}}  {meant}")
        for made in place.made:
            when = f" when {made.when.text}" if made.when else ""
            lines.append(f"makes    {' where nobody writes it' if made.default else ''}{when}  ({made.evidence})")
            lines += [f"          {path} = {describe(value)}" for path, value in made.settings]
    return "\n".join(lines) + "\n"


def _target(target: KeyTarget) -> str:
    words = ", ".join(f"{word} = {meant}" for word, meant in target.values if word != meant)
    return target.setting + (f" ({words})" if words else "")
