"""Definition of a rule. One YAML file of `rules/` is one `Rule`, field by field; `form.py` reads it.

In upstream's error texts, `{checkpoint.ckpt_format}` stands for the value of a setting as upstream prints it, and `{*}`
for any text that a configuration does not tell (a path, a list). Other braces are upstream's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeVar

from mfsdp_lint.core.finding import Severity, Stage
from mfsdp_lint.core.front_ends import BRIDGE, FrontEnd, Refusal
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Seen, Variant
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.core.values import Known, Plain, describe
from mfsdp_lint.megatron.conditions import EVERYWHERE, Applicability, ByVersion, Site
from mfsdp_lint.megatron.conditions.language import Condition, parse
from mfsdp_lint.megatron.versions import Target

View = Literal["written", "validation", "run"]

Sees = str
"""Which settings a case looks at: a `View`, or the settings before or after a step of start-up.

They are as they are written, as start-up validation finds them (after environment variables, mixed precision and
communication overlap were applied), or as they are in the end; `before STEP` and `after STEP` name a step of
startup.yaml."""

STEP_VIEW = lazy_pattern(r"(before|after) (\S.*)")

Judges = Literal["settings", "writes", "text"]
"""The subject of a rule: the settings, the trace of assignments that made them, or the text of the file."""

Written = Literal["undeclared", "refused", "replaced", "wrapped", "overruled", "lost"]
"""Which assignments a rule about writes is about: those to a name that is no field, those that start-up
replaces, those that it leaves and that are replaced when the model is wrapped, those that a framework on top does not
hand on."""

Preset = Literal["performance"]
"""A set of rules that is off until it is asked for."""

Confirm = Literal["none", "introspect", "cpu", "gpu"]
"""The lowest tier of a dry run that can decide a rule."""

EnforcedBy = Literal["validation", "dataclass", "wrapper", "core", "framework", "nobody"]
"""The part of the framework that stops the run: the front-end's start-up validation, a configuration dataclass, the
code that wraps the model, other code of megatron-core that was not made to check this, a check of the framework on top
(whose data file has it), or nobody."""

T = TypeVar("T")

PLACEHOLDER = lazy_pattern(r"\{(\w+(?:\.\w+)+)\}")
"""A setting in a text: `{checkpoint.ckpt_format}`."""


@dataclass(frozen=True, slots=True)
class MessageText:
    """A sentence in which `{checkpoint.ckpt_format}` stands for the setting's real value."""

    template: str

    def of(self, variant: Variant) -> str:
        """Fill in one variant's values."""
        return PLACEHOLDER.sub(lambda match: _said(variant, match[1]), self.template)


def _said(variant: Variant, path: str) -> str:
    value = variant.value(path)
    # What is said of an assignment (rules/writes.py) are words already.
    return str(value.value) if path.startswith("write.") and isinstance(value, Known) else describe(value)


@dataclass(frozen=True, slots=True)
class Showing:
    """Needs of a dry run of a case beside the settings, and the condition that shows it where nothing is raised.

    `shows` is a condition on the observations of a run (dryrun/evidence.py): true of the run with the mistake, and not
    of the run without it. `keeps` are settings that the small model takes from the recipe, though it trains without
    them elsewhere. `saved_with` are the settings in which the run that saved the checkpoint differs from the run that
    loads it.
    """

    shows: Condition | None = None
    keeps: tuple[str, ...] = ()
    saved_with: Mapping[str, Plain] = field(default_factory=dict)

    def at(self, site: Site) -> Showing:
        """Restrict its condition to one site."""
        return replace(self, shows=self.shows and self.shows.at(site))


@dataclass(frozen=True, slots=True)
class Case:
    """A form in which a rule is broken. `when` has to hold in addition to the rule's `applies`; None: always.

    `sees` names the settings that both look at, `confirm` the lowest tier of a dry run that decides it, and `showing`
    how. Writing the `intended` values is deliberate: then the finding is an info.
    """

    when: Condition | None
    severity: Severity
    stage: Stage
    sees: Sees
    message: MessageText
    consequence: MessageText
    enforced_by: ByVersion[EnforcedBy]
    raises: ByVersion[ErrorText]
    versions: Applicability
    confirm: Confirm = "none"
    showing: Showing = field(default_factory=Showing)
    intended: Mapping[str, Plain] = field(default_factory=dict)

    def at(self, site: Site) -> Case:
        """Restrict the case to one site."""
        return replace(
            self,
            when=self.when and self.when.at(site),
            showing=self.showing.at(site),
            enforced_by=_only(self.enforced_by.at(site)),
            raises=_only(self.raises.at(site)),
        )

    def refused(self, refusal: Refusal, front_end: FrontEnd) -> Case:
        """Return the same case as a check of a framework's own."""
        return replace(
            self,
            when=parse(refusal.when, {}) if refusal.when else None,
            severity="error",
            stage=refusal.stage,
            message=MessageText(refusal.message) if refusal.message else self.message,
            consequence=MessageText(f"{front_end} refuses it {_MADE[refusal.stage]} ({refusal.evidence})"),
            enforced_by=ByVersion.everywhere("framework"),
            raises=ByVersion.everywhere(ErrorText(refusal.raises)),
            versions=EVERYWHERE,
            confirm="none",
            showing=Showing(),
            intended={},
        )

    @property
    def error(self) -> ErrorText | None:
        """Upstream's error text; to be asked at one site."""
        return next((text for _, text in self.raises.entries), None)

    @property
    def enforcer(self) -> EnforcedBy:
        """The part of the framework that stops the run; valid only for a case restricted to one site."""
        return next((who for _, who in self.enforced_by.entries), "nobody")


@dataclass(frozen=True, slots=True)
class Blame:
    """Possible targets of a finding, each a setting or a term (that is, the settings in it).

    `value` are those whose value is wrong, `enabled_by` those that turned on the feature that conflicts with it. Only
    the settings that made the rule fire are considered.
    """

    value: tuple[Condition, ...]
    enabled_by: tuple[Condition, ...] = ()

    def at(self, site: Site) -> Blame:
        """Restrict the settings to one site."""
        return Blame(
            tuple(setting.at(site) for setting in self.value), tuple(setting.at(site) for setting in self.enabled_by)
        )


@dataclass(frozen=True, slots=True)
class FixSpec:
    """Changes that remove the problem, or the reason why no fix is offered: `none` has the reason, and the rest is
    empty then.

    The fix is safe where `safe` is true and `unsafe` is not known to be; elsewhere `else_advice` is added to the
    message: `unsafe` is for settings that a file of overrides may leave out. `rename` names the setting that was meant
    in place of the one that is written (`write.nearest`, see rules/writes.py). `drop` are settings without effect
    after the fix: their writes are taken out where possible. `replace` is the text that a rule about text puts in the
    place of its match (see rules/text.py). Of several fixes of a rule the first one counts whose `versions` and `when`
    hold.
    """

    set: Mapping[str, Plain]
    unset: tuple[str, ...]
    safe: ByVersion[Condition]
    versions: Applicability
    none: str = ""
    rename: str = ""
    unsafe: Condition | None = None
    when: Condition | None = None
    drop: tuple[str, ...] = ()
    else_advice: str = ""
    replace: str | None = None

    def at(self, site: Site) -> FixSpec:
        """Restrict the fix to one site."""
        safe = self.safe.at(site)
        unsafe = self.unsafe and self.unsafe.at(site)
        return replace(self, safe=_only(safe and safe.at(site)), unsafe=unsafe, when=self.when and self.when.at(site))

    def is_safe(self, variant: Variant) -> bool:
        """Tell whether the fix changes nothing that works; valid only for a fix restricted to one site."""
        if self.unsafe is not None and self.unsafe.truth(variant):
            return False
        return any(bool(safe.truth(variant)) for _, safe in self.safe.entries)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A line of an upstream source tree: `repository` is `bridge` or `megatron-lm` (as that Bridge release pins it)."""

    repository: Literal["bridge", "megatron-lm"]
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Example:
    """A configuration that a rule reports (with `severity`) or is silent about (None), in one or more notations.

    `versions` are where it is so, among those of the rule. `components` are versions to judge it with ({"te": "2.9"}).
    `megatron_lm` is a functional-test file of Megatron-LM (`MODEL_ARGS`, `ENV_VARS`), `shell` a launch script.
    """

    settings: Mapping[str, Plain]
    python: str
    yaml: str
    megatron_lm: str
    shell: str
    versions: Applicability
    components: Mapping[str, str]
    severity: Severity | None


@dataclass(frozen=True, slots=True)
class Backing:
    """Evidence and examples of a rule: people and tests look at them, a run does not."""

    evidence: Mapping[str, tuple[Evidence, ...]]
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A mistake that settings show, or the assignments that made them.

    It is broken where `applies` is true and so is the `when` of a case; the first such case is the finding. What is
    not known is passed over. `weaker_than` names rules, or groups of rules, whose finding makes this one say nothing
    new; `groups` are those that it belongs to. A rule with a `preset` is off until that, or the rule, is
    asked for, and so is one in `preview`.
    Whoever writes an `intended` value gets what he asked for: then it says nothing. `unconfirmed` says why no tier of a
    dry run can decide it. A rule about text `finds` a
    pattern in `files` of these kinds (none named: of all), or is about what their reader `notices`.
    """

    code: str
    name: str
    summary: str
    why: str
    applies: Condition
    cases: tuple[Case, ...]
    blame: Blame
    versions: Applicability
    judges: Judges = "settings"
    written: Written | None = None
    finds: re.Pattern[str] | None = None
    notices: Seen | None = None
    files: tuple[str, ...] = ()
    fixes: tuple[FixSpec, ...] = ()
    control: Mapping[str, Plain] = field(default_factory=dict)
    intended: Mapping[str, Plain] = field(default_factory=dict)
    confirm: Confirm = "none"
    unconfirmed: str = ""
    preset: Preset | None = None
    preview: bool = False
    groups: tuple[str, ...] = ()
    weaker_than: tuple[str, ...] = ()
    backing: Callable[[], Backing] = field(default=lambda: Backing({}, ()), compare=False, repr=False)
    file: str = ""

    @property
    def evidence(self) -> Mapping[str, tuple[Evidence, ...]]:
        """Upstream's places that enforce the rule, by version."""
        return self.backing().evidence

    @property
    def examples(self) -> tuple[Example, ...]:
        """Examples that the rule reports, and examples about which it is silent."""
        return self.backing().examples

    @property
    def gate(self) -> Condition:
        """A necessary condition of the rule that is cheap to test."""
        return self.applies.first

    @property
    def views(self) -> tuple[Sees, ...]:
        """The settings that its cases look at."""
        return tuple(dict.fromkeys(case.sees for case in self.cases))

    @property
    def is_about_reading(self) -> bool:
        """True for a rule about words that start-up refuses to read, so that no setting is looked at."""
        return self.written == "refused" or self.notices == "no-such-flag"

    @property
    def is_of_frameworks(self) -> bool:
        """True for a rule about frameworks on top alone, whose lines are in their data files."""
        enforcers = (who for case in self.cases for _, who in case.enforced_by.entries)
        return self.written == "overruled" or all(who == "framework" for who in enforcers)

    @property
    def is_on(self) -> bool:
        """True if the rule is on by default."""
        return self.preset is None and not self.preview

    def at(self, target: Target, front_end: FrontEnd = BRIDGE) -> Rule | None:
        """Restrict the rule to a target: its cases there, its terms as they are meant there. None without a case."""
        site = Site(target, front_end)
        if self.code in front_end.spared or not self.versions.truth(site):
            return None
        refusals = [each for each in front_end.refuses if each.rule == self.code]
        refused = (self.cases[0].refused(each, front_end).at(site) for each in refusals)
        here = (case.at(site) for case in self.cases if case.versions.truth(site))
        cases = (*refused, *(case for case in here if front_end.checks(case.enforcer)))
        if not cases:
            return None
        fixable = self.fixes if self.code not in front_end.reverts else ()
        fixes = tuple(fix.at(site) for fix in fixable if fix.versions.truth(site))
        blame = Blame(tuple(_named_by(refusals))) if refusals and not self.blame.value else self.blame
        return replace(self, applies=self.applies.at(site), blame=blame.at(site), cases=cases, fixes=fixes)

    def fix_for(self, variant: Variant, seen: Variant | None = None) -> FixSpec | None:
        """Find the fix of one variant, for a rule restricted to one site. `seen` has an assignment's facts."""
        looked = variant if seen is None or self.judges == "settings" else seen
        return next((fix for fix in self.fixes if fix.when is None or fix.when.truth(looked)), None)


_MADE = {"startup": "before the model is built", "wrap": "when the model is wrapped"}


def _named_by(refusals: Iterable[Refusal]) -> Iterator[Condition]:
    """Yield the settings that the conditions of refusals name, in their order."""
    for refusal in refusals:
        for path in sorted(parse(refusal.when, {}).paths(), key=refusal.when.index):
            yield parse(path, {})


def _only(what: T | None) -> ByVersion[T]:
    """Make a value of one site hold for all versions."""
    return ByVersion() if what is None else ByVersion.everywhere(what)


_HOLE = lazy_pattern(r"\{(\*|\w+(?:\.\w+)+)\}")


@dataclass(frozen=True, slots=True)
class ErrorText:
    """The text of an error, with holes."""

    template: str

    def of(self, variant: Variant) -> str:
        """Fill in one variant's values; if a value is not known, return the longest piece that is."""
        pieces = [""]
        for index, piece in enumerate(_HOLE.split(self.template)):
            if index % 2 == 0:
                pieces[-1] += piece
            elif piece != "*" and isinstance(value := variant.value(piece), Known):
                pieces[-1] += str(value.value)
            else:
                pieces.append("")
        return max((piece.strip() for piece in pieces), key=len)

    def fixed(self) -> str:
        """Return the longest piece that is the same for every configuration."""
        return max((piece.strip() for piece in _HOLE.split(self.template)[::2]), key=len)

    def pieces(self) -> tuple[str, ...]:
        """Return the pieces that are the same for every configuration, in their order."""
        return tuple(piece for piece in _HOLE.split(self.template)[::2] if piece.strip())


def stronger(rules: Sequence[Rule]) -> Mapping[str, frozenset[str]]:
    """Map each code to the codes whose finding makes its own superfluous: `weaker_than`, by groups, transitively."""
    members = groups(rules)
    direct = {
        rule.code: {code for name in rule.weaker_than for code in members.get(name, (name,))} - {rule.code}
        for rule in rules
    }
    return {code: frozenset(_reached(code, direct) - {code}) for code in direct}


def groups(rules: Sequence[Rule]) -> Mapping[str, tuple[str, ...]]:
    """Return the codes of the rules that belong to each group."""
    found: dict[str, list[str]] = {}
    for rule in rules:
        for name in rule.groups:
            found.setdefault(name, []).append(rule.code)
    return {name: tuple(codes) for name, codes in found.items()}


def _reached(code: str, direct: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    ahead = [code]
    while ahead:
        new = direct.get(ahead.pop(), set()) - found
        found |= new
        ahead += new
    return found
