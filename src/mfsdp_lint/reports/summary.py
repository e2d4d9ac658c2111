"""Summary of a run: in figures, in one line, recipe by recipe; and the versions that a finding holds for, in words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from mfsdp_lint.core.finding import SEVERITIES, Finding, Safety, Severity
from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.values import spell
from mfsdp_lint.megatron.versions import Target, by_places, is_known, numbers
from mfsdp_lint.megatron.versions.releases import CORE_RELEASES, RELEASES
from mfsdp_lint.reports.wording import count, printable
from mfsdp_lint.rules.about_files import UNDECIDED

if TYPE_CHECKING:
    from mfsdp_lint.rules.check import Violation
    from mfsdp_lint.rules.findings import FindingGroup


@dataclass(frozen=True, slots=True)
class Summary:
    """Suppressed findings count only under `suppressed`.

    `fixable` is what `--fix` would remove as the run was asked (unsafe fixes only where they were asked for),
    `held_back` what only `--unsafe-fixes` would, `fixed` what this run has removed, `repaired` how many of those
    stopped a run at start-up. Where they were not all proved, `fixable_at_most` and `held_back_at_most` say so. `also`
    are the other versions of a range, of which `target` is the newest. `unfollowed` counts code of which there is no
    recipe though there should be, `already` findings that are not told as an earlier revision had them, `undecided`
    recipes of which a setting could not be decided. Where that code is `listed`, nothing says how to see it.
    """

    target: Target
    files: int
    recipes: int
    errors: int = 0
    warnings: int = 0
    infos: int = 0
    suppressed: int = 0
    fixable: int = 0
    held_back: int = 0
    fixed: int = 0
    repaired: int = 0
    fixable_at_most: bool = False
    held_back_at_most: bool = False
    also: tuple[Target, ...] = ()
    unfollowed: int = 0
    already: int = 0
    listed: bool = False
    undecided: int = 0

    @property
    def findings(self) -> int:
        """All that are not suppressed."""
        return self.errors + self.warnings + self.infos


def summarise(
    findings: Sequence[Finding],
    targets: Sequence[Target],
    *,
    files: int,
    recipes: int,
    fixed: int = 0,
    repaired: int = 0,
    unsafe_fixes: bool = False,
    unfollowed: int = 0,
    already: int = 0,
) -> Summary:
    """Count the remaining findings."""
    shown = [finding for finding in findings if finding.suppressed is None]
    fixable = Counter(finding.fixable for finding in shown)
    proved = {safety: all(each.fix_proved for each in shown if each.fixable == safety) for safety in ("safe", "unsafe")}
    summary = Summary(
        target=targets[0],
        also=tuple(targets[1:]),
        files=files,
        recipes=recipes,
        fixable=fixable["safe"] + (fixable["unsafe"] if unsafe_fixes else 0),
        held_back=0 if unsafe_fixes else fixable["unsafe"],
        fixed=fixed,
        repaired=repaired,
        fixable_at_most=not proved["safe"] or (unsafe_fixes and not proved["unsafe"]),
        held_back_at_most=not unsafe_fixes and not proved["unsafe"],
        unfollowed=unfollowed,
        already=already,
        undecided=len({recipe.name for each in shown if each.code == UNDECIDED for recipe in each.recipes}),
    )
    return recounted(summary, findings)


def recounted(summary: Summary, findings: Sequence[Finding]) -> Summary:
    """Update the summary to the severities of these findings. The fixable ones are not counted again."""
    shown = [finding for finding in findings if finding.suppressed is None]
    severities = Counter(finding.severity for finding in shown)
    return replace(
        summary,
        errors=severities["error"],
        warnings=severities["warning"],
        infos=severities["info"],
        suppressed=len(findings) - len(shown),
    )


def summary_line(summary: Summary) -> str:
    """Write files, recipes, findings, fixable, held back, and the versions judged against with the reason."""
    severities = ((summary.errors, "error"), (summary.warnings, "warning"), (summary.infos, "info"))
    # "info" has no plural
    found = [f"{number} {noun}" if noun == "info" else count(number, noun) for number, noun in severities if number]
    fixable = f"{'up to ' if summary.fixable_at_most else ''}{summary.fixable}"
    held_back = f"{'up to ' if summary.held_back_at_most else ''}{summary.held_back}"
    repaired = f" ({summary.repaired} of a run that could not start)" if summary.repaired else ""
    hint = "" if summary.listed else " (--show-unfollowed)"
    results = (
        (summary.fixed, f"{summary.fixed} fixed{repaired}"),
        (summary.fixable, f"{fixable} fixable with --fix"),
        (summary.held_back, f"{held_back} held back as unsafe (--unsafe-fixes)"),
        (summary.unfollowed, f"{count(summary.unfollowed, 'recipe')} could not be followed{hint}"),
        (summary.undecided, f"{count(summary.undecided, 'recipe')} with a setting that could not be decided"),
        (summary.suppressed, f"{summary.suppressed} suppressed"),
        (summary.already, f"{summary.already} there before"),
    )
    checked = f"{count(summary.files, 'file')}, {count(summary.recipes, 'recipe')}"
    total = count(summary.findings, "finding") + (f" ({', '.join(found)})" if found else "")
    against = printable(judged_against((summary.target, *summary.also)))
    return f"{checked}: {'; '.join([total, *(text for number, text in results if number), against])}"


def judged_against(targets: Sequence[Target]) -> str:
    """Write `judged against megatron-bridge 0.4.2 with megatron-core 0.17.1 (uv.lock:812)`, newest versions first.

    Versions that hold in some places alone follow with these: `people/ida against megatron-core 0.18.2 (…)`.
    """
    (_, first), *others = by_places(targets).items()
    nearer = (f"{_named(places)} against {_versions(each)}" for places, each in others)
    return "; ".join((f"judged against {_versions(first)}", *nearer))


_MOST_PLACES = 3


def _named(places: Sequence[str]) -> str:
    more = len(places) - _MOST_PLACES
    return ", ".join(places[:_MOST_PLACES]) + (f" and {more} more" if more > 0 else "")


def _versions(targets: Sequence[Target]) -> str:
    target = targets[0]
    label = target.label
    if len(targets) > 1:
        bridges = named_versions(each.name for each in targets if not each.core_alone)
        cores = named_versions(f"{CORE} {each.core}" for each in targets)
        label = " with ".join(filter(None, (bridges, cores)))
    whys = [target.reason] + [f"with what is known of {each.data}" for each in targets if not is_known(each.bridge)]
    whys += [f"its source in {target.source[0]} is read"] if target.source else []
    beside = {"transformer-engine": target.te, "torch": target.torch, "on": target.gpu}
    versions = [f"{name} {version}" for name, version in beside.items() if version]
    return f"{', '.join([label, *versions])} ({'; '.join(whys)})"


BRIDGE, CORE = "megatron-bridge", "megatron-core"
_ORDER = {BRIDGE: [each.bridge for each in RELEASES], CORE: [each.core for each in CORE_RELEASES]}


def holds_for(violation: Violation) -> str:
    """Return the version whose check this is: that of the component that the recipe's front-end is released with."""
    target = violation.target
    return target.name if violation.recipe.front_end.released_with == "bridge" else f"{CORE} {target.core}"


def with_versions(cause: FindingGroup, versions: Iterable[str]) -> FindingGroup:
    """Add the versions for which it holds to the finding, in its message as well."""
    found = in_order(versions)
    finding = cause.finding
    return replace(
        cause,
        finding=replace(finding, versions=found, message=f"{finding.message} (holds for {named_versions(found)})"),
    )


def in_order(versions: Iterable[str]) -> tuple[str, ...]:
    """Sort versions, each once, by package, the oldest first."""
    return tuple(sorted(set(versions), key=lambda each: (each.split()[0], numbers(each.split()[1]))))


def named_versions(versions: Iterable[str]) -> str:
    """Name versions: `megatron-bridge 0.4.2, 0.5.1`; three and more known releases in a row are `0.3.1 to 0.5.1`."""
    packages: dict[str, list[list[str]]] = defaultdict(list)
    for version in in_order(versions):
        package, _, number = version.partition(" ")
        runs = packages[package]
        if runs and (runs[-1][-1], number) in pairwise(_ORDER[package]):
            runs[-1].append(number)
        else:
            runs.append([number])
    return "; ".join(
        f"{package} {', '.join(f'{run[0]} to {run[-1]}' if len(run) > 2 else ', '.join(run) for run in runs)}"
        for package, runs in packages.items()
    )


@dataclass(frozen=True, slots=True)
class RecipeTrouble:
    """A rule's finding in a recipe, and the setting whose value is wrong.

    `changes` remove it; they are empty if no fix is known, and a person has to decide.
    """

    code: str
    severity: Severity
    message: str
    setting: str
    changes: tuple[str, ...]
    safety: Safety | None
    fingerprint: str


@dataclass(frozen=True, slots=True)
class RecipeState:
    """A recipe and all that is wrong with it, the most severe first."""

    name: str
    path: str
    line: int
    troubles: tuple[RecipeTrouble, ...]

    @property
    def pressing(self) -> tuple[RecipeTrouble, ...]:
        """Troubles that need attention: an info never fails."""
        return tuple(each for each in self.troubles if each.severity != "info")

    @property
    def ready(self) -> bool:
        """True if the recipe runs as meant, as far as is known."""
        return not self.pressing


Level = Callable[[str, Severity], Severity]
"""The severity that counts for a code, instead of the rule's own."""


def recipe_states(recipes: Sequence[Recipe], causes: Iterable[FindingGroup], level: Level) -> tuple[RecipeState, ...]:
    """List every recipe once, in the order of the files; silenced findings are left out."""

    def key(recipe: Recipe) -> tuple[str, int, str]:
        return recipe.path, recipe.line, recipe.label

    found: dict[tuple[str, int, str], dict[tuple[str, str], RecipeTrouble]] = {key(recipe): {} for recipe in recipes}
    for cause in causes:
        for violation in cause.violations if cause.finding.suppressed is None else ():
            code, remedy = violation.rule.code, violation.remedy
            when = f" (when called with {violation.variant.when[0]})" if violation.variant.exposed else ""
            message = violation.case.message.of(violation.seen) + when
            changes = [f"{path} = {spell(value)}" for path, value in remedy.set.items()] if remedy else []
            changes += [f"{path} not set" for path in remedy.unset] if remedy else []
            wrong = (path for setting in violation.rule.blame.value for path in setting.deciding(violation.seen))
            trouble = RecipeTrouble(
                code,
                level(code, violation.severity),
                message,
                next((path for path in wrong if path in violation.witnesses), violation.primary.setting),
                tuple(changes),
                remedy.safety if remedy and changes else None,
                cause.finding.fingerprint,
            )
            found[key(violation.recipe)].setdefault((code, message), trouble)
    return tuple(
        RecipeState(
            name,
            path,
            line,
            tuple(sorted(troubles.values(), key=lambda each: (SEVERITIES.index(each.severity), each.code))),
        )
        for (path, line, name), troubles in sorted(found.items())
    )
