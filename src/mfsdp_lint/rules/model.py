"""What a rule is. One YAML file of `rules/` is one `Rule`, field by field; `form.py` reads it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Literal, TypeVar

from mfsdp_lint.conditions.applicability import Applicability, Site
from mfsdp_lint.conditions.byversion import ByVersion
from mfsdp_lint.conditions.language import Condition
from mfsdp_lint.core.finding import Severity, Stage
from mfsdp_lint.core.front_ends import BRIDGE, FrontEnd
from mfsdp_lint.core.recipe import Seen, Variant
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.core.values import Known, Plain, describe
from mfsdp_lint.rules.errortext import ErrorText
from mfsdp_lint.versions.target import Target

Sees = Literal["written", "validation", "run"]
"""Which settings a case looks at: as they are written, as start-up validation finds them (after environment variables,
mixed precision and communication overlap were applied), or as they are in the end."""

Judges = Literal["settings", "writes", "text"]
"""What a rule is about: the settings, the trace of assignments that made them, or the text of the file."""

Written = Literal["undeclared", "replaced"]
"""Which assignments a rule about writes is about: those to a name that is no field, those that start-up replaces."""

Preset = Literal["performance"]
"""A set of rules that is off until it is asked for."""

Confirm = Literal["none", "introspect", "cpu", "gpu"]
"""The lowest tier of a dry run that can decide a rule."""

EnforcedBy = Literal["validation", "dataclass", "wrapper", "core", "nobody"]
"""Who stops the run: the front-end's start-up validation, a configuration dataclass, the code that wraps the model,
other code of megatron-core that was not made to check this, or nobody."""

T = TypeVar("T")

PLACEHOLDER = re.compile(r"\{(\w+(?:\.\w+)+)\}")
"""A setting in a text: `{checkpoint.ckpt_format}`."""


@dataclass(frozen=True, slots=True)
class Text:
    """A sentence in which `{checkpoint.ckpt_format}` stands for the setting's real value."""

    template: str

    def of(self, variant: Variant) -> str:
        """The sentence for one variant's values."""
        return PLACEHOLDER.sub(lambda match: _said(variant, match[1]), self.template)


def _said(variant: Variant, path: str) -> str:
    value = variant.value(path)
    # What is said of an assignment (rules/writes.py) are words already.
    return str(value.value) if path.startswith("write.") and isinstance(value, Known) else describe(value)


@dataclass(frozen=True, slots=True)
class Showing:
    """What a dry run of a case takes beside the settings, and what shows it where nothing is raised.

    `shows` is a condition on what was seen of a run (dryrun/seen.py): true of the run with the mistake, and not of the
    one without. `keeps` are settings that the small model has as the recipe has them, though it trains without them
    elsewhere. `saved_with` are the settings in which the run differs that saved what is loaded.
    """

    shows: Condition | None = None
    keeps: tuple[str, ...] = ()
    saved_with: Mapping[str, Plain] = field(default_factory=dict)

    def at(self, site: Site) -> Showing:
        """The same at one site."""
        return replace(self, shows=self.shows and self.shows.at(site))


@dataclass(frozen=True, slots=True)
class Case:
    """One form in which a rule is broken. `when` comes on top of the rule's `applies`; None: always.

    `sees` says which settings both look at, `confirm` which tier of a dry run decides it, at the least, and
    `showing` how. Whoever writes the `intended` values knows about it: then it is an info.
    """

    when: Condition | None
    severity: Severity
    stage: Stage
    sees: Sees
    message: Text
    consequence: Text
    enforced_by: ByVersion[EnforcedBy]
    raises: ByVersion[ErrorText]
    versions: Applicability
    confirm: Confirm = "none"
    showing: Showing = field(default_factory=Showing)
    intended: Mapping[str, Plain] = field(default_factory=dict)

    def at(self, site: Site) -> Case:
        """The same at one site."""
        return replace(
            self,
            when=self.when and self.when.at(site),
            showing=self.showing.at(site),
            enforced_by=_only(self.enforced_by.at(site)),
            raises=_only(self.raises.at(site)),
        )

    @property
    def error(self) -> ErrorText | None:
        """Upstream's error text; to be asked at one site."""
        return next((text for _, text in self.raises.entries), None)

    @property
    def enforcer(self) -> EnforcedBy:
        """Who stops the run; to be asked at one site."""
        return next((who for _, who in self.enforced_by.entries), "nobody")


@dataclass(frozen=True, slots=True)
class Blame:
    """What a finding can point at, each a setting or a term (which stands for the settings in it).

    `value` are those whose value is wrong, `enabled_by` those that turned on what it is wrong for. Only the settings
    that made the rule fire are considered.
    """

    value: tuple[Condition, ...]
    enabled_by: tuple[Condition, ...] = ()

    def at(self, site: Site) -> Blame:
        """The same at one site."""
        return Blame(
            tuple(setting.at(site) for setting in self.value),
            tuple(setting.at(site) for setting in self.enabled_by),
        )


@dataclass(frozen=True, slots=True)
class FixSpec:
    """What removes the problem, or why nothing is offered: `none` says that in words, and the rest is empty then.

    It is safe where `safe` is true and `unsafe` is not known to be; elsewhere `else_advice` is added to the message:
    `unsafe` is for what a file of overrides need not say. `rename` names the setting that
    was meant in place of the one that is written (`write.nearest`, see rules/writes.py). `drop` are settings that say
    nothing any more then: what a recipe writes of them is taken out where it can be. `replace` is what a rule about
    text puts in the place of what it found (see rules/text.py). Of several fixes of a rule the first one counts whose
    `versions` and `when` hold.
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
        """The same at one site."""
        safe = self.safe.at(site)
        unsafe = self.unsafe and self.unsafe.at(site)
        return replace(self, safe=_only(safe and safe.at(site)), unsafe=unsafe, when=self.when and self.when.at(site))

    def is_safe(self, variant: Variant) -> bool:
        """Whether it changes nothing that works; to be asked at one site."""
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
    """What backs a rule: people and tests look at it, a run does not."""

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
        """Where upstream enforces it, by version."""
        return self.backing().evidence

    @property
    def examples(self) -> tuple[Example, ...]:
        """What it reports, and what it is silent about."""
        return self.backing().examples

    @property
    def gate(self) -> Condition:
        """What has to hold for the rule to say anything, as far as that is soon asked."""
        return self.applies.first

    @property
    def views(self) -> tuple[Sees, ...]:
        """Which settings its cases look at."""
        return tuple(dict.fromkeys(case.sees for case in self.cases))

    @property
    def is_on(self) -> bool:
        """Whether it is on where nobody asks for more."""
        return self.preset is None and not self.preview

    def at(self, target: Target, front_end: FrontEnd = BRIDGE) -> Rule | None:
        """The same as it reads there: its cases, its terms as they are meant. None where it says nothing there."""
        site = Site(target, front_end)
        if self.code in front_end.spared or not self.versions.truth(site):
            return None
        here = (case.at(site) for case in self.cases if case.versions.truth(site))
        cases = tuple(case for case in here if front_end.checks(self.code, case.enforcer))
        if not cases:
            return None
        fixes = tuple(fix.at(site) for fix in self.fixes if fix.versions.truth(site))
        return replace(self, applies=self.applies.at(site), blame=self.blame.at(site), cases=cases, fixes=fixes)

    def fix_for(self, variant: Variant, seen: Variant | None = None) -> FixSpec | None:
        """The fix of one variant; to be asked at one site. `seen` has what there is to say of an assignment."""
        looked = variant if seen is None or self.judges == "settings" else seen
        return next((fix for fix in self.fixes if fix.when is None or fix.when.truth(looked)), None)


def _only(what: T | None) -> ByVersion[T]:
    """What holds at one site, as something that holds everywhere."""
    return ByVersion() if what is None else ByVersion.everywhere(what)
