"""Rules about assignments: a name that is no field, a value that a framework, start-up or the wrapping of the model
replaces.

What a rule file can say of the assignment at hand are settings of their own, in conditions and in texts:

    write.path     what is written, as a path          write.value     what is written there
    write.owner    the class that lacks the field      write.name      the name that is no field
    write.nearest  the field that was probably meant   write.after     what start-up puts in its place
    write.alike    how many fields it is much like     write.sure      whether the class is known, not presumed
    write.whole    the path as the text has it, where that goes on behind the name
    write.step     the step of start-up that does it   write.line      upstream's line that does it
    write.alone    whether writing what runs changes nothing else that runs
    write.known    whether the value of an override that is lost is known

`fix: {set: {write.path: write.after}}` writes what will run, `fix: {rename: write.nearest}` the name that was meant.

Writes by name alone, as overrides in a file or on a command line are: which of their names are no fields.

Only the path of such a write is known, and what the classes of the release declare. A class out of sight may have other
fields, so a name is told only where it is nearly that of a field and no class of the release has it, or where other
releases have it in this section.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache

from mfsdp_lint.core.finding import IsLinted
from mfsdp_lint.core.front_ends import BRIDGE
from mfsdp_lint.core.nearest import nearest
from mfsdp_lint.core.recipe import NamedWrite, Origin, Settings, Undeclared, Variant
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.settings import With
from mfsdp_lint.core.values import Known, Plain, describe
from mfsdp_lint.megatron import versions
from mfsdp_lint.megatron.startup.resolve import StartupChange, resolve
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.rules.index import SettingsViews
from mfsdp_lint.rules.model import Case, Rule, Written

_ALIKE = 0.85
_ALIKE_SECTIONS = 0.6  # the fields that are written in it tell as well
_CONTAINER = "ConfigContainer"
_UPSTREAM = "megatron."


def no_fields(settings: Settings, target: Target) -> Iterator[Undeclared]:
    """Yield the writes by name for which no class of the target has a field."""
    told: set[str] = set()
    for write in settings.named():
        if _may_be_a_field(target.bridge, write.path):
            continue
        sections = table().sections(target.bridge)
        if not sections:
            return
        section, name, below = _parts(write.path)
        if section not in sections:
            # What else is written in it has the same reason.
            yield from _no_section(write, section, name, target) if section not in told else ()
            told.add(section)
            continue
        meant = _fields_meant(target.bridge, section, name)
        if meant is None:
            continue
        of_section = settings.value(f"{section}.__class__")
        # A section that is known to be of a class that is not upstream's may have any field.
        if not (isinstance(of_section, Known) and not str(of_section.value).startswith(_UPSTREAM)):
            owner = sections[section].classes[0]
            yield Undeclared(f"{section}.{name}", owner, meant, write.origin, below, write.refused)


@lru_cache(maxsize=4096)  # words are compared once, however many configurations have them
def _fields_meant(bridge: str, section: str, name: str) -> tuple[str, ...] | None:
    """Return the fields of which a name that is none of a section's may be one; None where nothing says that it is no
    field.
    """
    found = table().sections(bridge)[section]
    # Of several classes that a section may be of, one out of sight may have it as well.
    if len(found.classes) == 1 and name in table().every_field(section):
        return ()
    if (
        found.classes
        and nearest(name, found.fields, cutoff=_ALIKE)
        and name not in _upstream_names(versions.nearest(bridge).data)
    ):
        return found.fields
    return None


@lru_cache(maxsize=4096)  # who judges many configurations gives the same settings each time
def _may_be_a_field(bridge: str, path: str) -> bool:
    """Tell whether a path leads to a section, a field of one, what is below it, or what no class declares."""
    section, name, _ = _parts(path)
    return not name or name.startswith("_") or name in _fields(bridge, section)


def _parts(path: str) -> tuple[str, str, str]:
    """Split a path into the section, the name in it, and the rest below that."""
    section, _, rest = path.partition(".")
    name, _, below = rest.partition(".")
    return section, name, below


@cache
def _fields(bridge: str, section: str) -> frozenset[str]:
    found = table().sections(bridge).get(section)
    return frozenset(found.fields) if found else frozenset()


def _no_section(write: NamedWrite, section: str, name: str, target: Target) -> Iterator[Undeclared]:
    """Yield an unknown section if another release has it, or if a section with a near name has the written field."""
    meant = [each for each in _sections_alike(target.bridge, section) if name in _fields(target.bridge, each)]
    if meant or section in table().every_field(""):
        below = write.path.removeprefix(f"{section}.")
        yield Undeclared(section, _CONTAINER, tuple(meant), write.origin, below, write.refused)


@lru_cache(maxsize=4096)
def _sections_alike(bridge: str, section: str) -> tuple[str, ...]:
    return tuple(nearest(section, table().sections(bridge), 2, _ALIKE_SECTIONS))


@cache
def _upstream_names(data: str) -> frozenset[str]:
    """Collect the names of all fields, attributes and properties of the classes of a release."""
    from mfsdp_lint.snapshots.knowledge import shipped  # hardly any run asks

    snapshot = shipped(data)
    if snapshot is None:
        return frozenset()
    names: set[str] = set()
    for module in snapshot.modules():
        for name in snapshot.names(module) or ():
            entry = snapshot.entry(module, name)
            if entry and entry[0] == "class":
                described = entry[1]
                names.update(field[0] for field in described.get("fields", ()))
                names.update(described.get("attributes", ()), described.get("properties", ()))
    return frozenset(names)


_EXPLICIT = ("assigned", "argument")
"""Origins of values that somebody wrote down for this setting."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """An assignment that rules may report. `after` is the plain value that start-up, or wrapping, puts in its place."""

    path: str
    origin: Origin
    facts: Mapping[str, Plain]
    after: Plain = None


def assignments(views: SettingsViews, kind: Written, is_linted: IsLinted) -> Iterator[Assignment]:
    """Yield the assignments of one kind in a variant, as far as they are in the user's own files."""
    if kind in ("undeclared", "refused"):
        settings = views.written.settings
        if views.presumed is None:
            views.presumed = tuple(no_fields(settings, views.site.target))
        for sure, every in ((True, settings.undeclared()), (False, views.presumed)):
            for each in every:
                if each.refused == (kind == "refused") and _is_own(each.origin, is_linted):
                    yield _undeclared(each, views.written, sure=sure)
        return
    if kind == "overruled":
        if views.site.front_end != BRIDGE:  # which has nothing on top
            yield from _overruled(views.written, is_linted)
        return
    if kind == "lost":
        yield from _lost(views.written, is_linted)
        return
    resolution = views.resolution
    changed = resolution.changed() if kind == "replaced" else resolution.changed_by_wrapping()
    for path, change in changed.items():
        origin, value = views.written.origin(path), views.written.value(path)
        if origin is None or origin.how not in _EXPLICIT or not _is_own(origin, is_linted):
            continue
        if isinstance(value, Known) and isinstance(change.after, Known):
            if isinstance(value.value, str) and isinstance(change.after.value, list):
                continue  # start-up merely splits a text into the list that it spells
            yield _replaced(path, origin, change, value, change.after, alone=_is_alone(views, path, change.after))


def _overruled(written: Variant, is_linted: IsLinted) -> Iterator[Assignment]:
    """Yield the assignments of a file whose framework puts another value in their place, on a line of its own.

    It is sure of a setting that has that value: of another one it is known only that the assignment is ignored.
    """
    for path in written.settings.written():
        made = written.origin(path)
        if made is None or made.how != "startup" or made.earlier is None:
            continue
        after = made.value
        if not isinstance(after, Known):
            continue
        if isinstance(made.earlier.value, Known) and _is_own(made.earlier, is_linted):
            facts: dict[str, Plain] = {
                "write.path": path,
                "write.value": describe(made.earlier.value),
                "write.after": describe(after),
                "write.step": made.because,
                "write.line": f"{made.span.path}:{made.span.line}",
                "write.sure": written.value(path) == after,
            }
            yield Assignment(path, made.earlier, facts, after.value)


def _lost(written: Variant, is_linted: IsLinted) -> Iterator[Assignment]:
    """Yield the overrides of a launch over which the program itself writes another value."""
    for path in written.settings.written():
        made, after = written.origin(path), written.value(path)
        given = None if made is None else made.earlier
        if made is None or given is None or given.how != "override" or not _is_own(given, is_linted):
            continue
        is_known = isinstance(given.value, Known)
        if isinstance(after, Known) and (given.value != after if is_known else after.value is None):
            facts: dict[str, Plain] = {
                "write.path": path,
                "write.known": is_known,
                "write.value": describe(given.value) if is_known else None,
                "write.after": describe(after),
                "write.line": "" if made.span.path.startswith("<") else f"{made.span.path}:{made.span.line}",
            }
            yield Assignment(path, given, facts, after.value)


def broken(rule: Rule, views: SettingsViews, is_linted: IsLinted) -> Iterator[tuple[Case, Variant, Assignment]]:
    """Yield the assignments that break a rule, each with its case and the settings with the facts about it."""
    if rule.written is None or all(rule.applies.truth(views.of(case.sees)) is False for case in rule.cases):
        return
    for assignment in assignments(views, rule.written, is_linted):
        for case in rule.cases:
            seen = with_facts(views.of(case.sees), assignment.facts)
            if rule.applies.truth(seen) and (case.when is None or case.when.truth(seen)):
                yield case, seen, assignment
                break


def _undeclared(found: Undeclared, written: Variant, *, sure: bool) -> Assignment:
    name = found.path.rpartition(".")[2]
    return Assignment(
        found.path,
        found.origin,
        {
            "write.path": found.path,
            "write.name": name,
            "write.owner": found.owner,
            "write.nearest": next(iter(_alike(name, found.fields)), None),
            "write.alike": len(_alike(name, found.fields)),
            "write.sure": sure,
            "write.whole": found.written,
            "write.value": describe(written.value(found.written)),
        },
    )


def _is_own(origin: Origin, is_linted: IsLinted) -> bool:
    return not origin.upstream and is_linted(origin.span.path)


@cache
def _alike(name: str, fields: tuple[str, ...]) -> tuple[str, ...]:
    """Return the fields that may have been meant, the likeliest first."""
    one_slip = (len(name) - 1) / len(name)  # which weighs more than a quarter in a name of three letters
    return tuple(nearest(name, fields, 2, cutoff=max(0.6, min(0.75, one_slip))))


def _is_alone(views: SettingsViews, path: str, after: Known) -> bool:
    """Tell whether nothing else runs otherwise where what start-up makes of a setting is written: an earlier step may
    look at what is written.
    """
    now = views.resolution
    written = replace(views.written, settings=With.known(views.written.settings, {path: after.value}))
    then = resolve(written, views.site.target, front_end=views.site.front_end)
    changes = (*now.changes, *now.wrapping, *then.changes, *then.wrapping)
    others = {each.path for each in changes if each.path != path and not each.path.startswith(_OF_STARTUP)}
    return all(now.wrapped.value(each) == then.wrapped.value(each) for each in others)


_OF_STARTUP = ("startup.", "run.")
"""Names of what start-up works with, which are no settings."""


def _replaced(
    path: str, origin: Origin, change: StartupChange, value: Known, after: Known, *, alone: bool
) -> Assignment:
    place = change.place
    return Assignment(
        path,
        origin,
        {
            "write.path": path,
            "write.value": describe(value),
            "write.after": describe(after),
            "write.step": change.step,
            "write.line": f"{place.path}:{place.line}" if place else "",
            "write.alone": alone,
        },
        after.value,
    )


def with_facts(variant: Variant, facts: Mapping[str, Plain]) -> Variant:
    """Add the facts about an assignment (or passage) to the settings of a variant."""
    return Variant(With.known(variant.settings, facts), variant.when)
