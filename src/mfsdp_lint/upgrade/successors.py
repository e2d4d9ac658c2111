"""Successors of names that a release lacks: found by comparing what they are, not by how they are called.

A recipe is compared by its effective configuration, under the arguments that it is called with: its successor differs
in fewer settings than every other candidate, and is of no other kind than these. A function or class that stands
elsewhere under its own name has to take the arguments that it took; so has one that upstream's own files say in its
place. Everything else is listed with what tells the candidates apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path

from mfsdp_lint.core.recipe import Recipe
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.store import read_json
from mfsdp_lint.core.values import UNKNOWN, Known, describe, is_known_as, spell
from mfsdp_lint.megatron.versions import Target, resolve_target
from mfsdp_lint.megatron.versions.releases import steps_between
from mfsdp_lint.megatron.vocabulary import SECTIONS
from mfsdp_lint.reports.wording import count
from mfsdp_lint.upgrade.changes import differ
from mfsdp_lint.upgrade.library import KINDS, RECIPES, Library, LibraryCall, Name

MOST_LISTED = 4
"""Candidates that are told of where none is the successor."""

_MOST_TOLD = 3


@dataclass(frozen=True, slots=True)
class Candidate:
    """A name that may succeed another one; `differs` are settings in which it is unlike it, with both values."""

    name: Name
    differs: tuple[str, ...] = ()
    settings: int = 0


@dataclass(frozen=True, slots=True)
class Succession:
    """The fate of a name: its `successor` where that is certain, else the `candidates`; `why` says how it is known."""

    successor: Name | None
    candidates: tuple[Candidate, ...] = ()
    why: str = ""


NOTHING = Succession(None)


def successor_of(call: LibraryCall, old: Library, new: Library, module: str) -> Succession:
    """Find the successor of a name of the old release, as a call uses it; `module` is where it is imported from."""
    found = _direct(call, old, new, module)
    if found.successor is not None:
        return found
    # What became of it release by release: fewer things change in a step.
    name = call.function
    between = steps_between(old.target.data, new.target.data)[1:-1]
    for target in (*map(resolve_target, between), new.target):
        step = Library(target) if target is not new.target else new
        if step.has(*name):
            continue
        next_ = _direct(replace(call, function=name) if name == call.function else LibraryCall(name), old, step, module)
        if next_.successor is None:
            return found
        name, old, module = next_.successor, step, next_.successor[0]
    if name == call.function or not new.has(*name):
        return found
    return Succession(name, why="its successor in the releases between")


def _direct(call: LibraryCall, old: Library, new: Library, module: str) -> Succession:
    entry = old.entry(call.function)
    if entry is not None and entry[0] == "function" and module.startswith(RECIPES):
        (recipe,) = old.evaluated([call])
        if recipe is not None:
            return _of_recipe(call, recipe, old, new, module)
    kind = entry[0] if isinstance(entry, list) else None
    there = new.defining(call.function[1]) if call.function[0].startswith(RECIPES) else ()
    places = [each for each in there if kind is None or new.snapshot.entry(*each)[0] == kind]
    if not places:
        ways = [_of_replacements, *([_of_section, _of_base] if kind == "class" else [])]
        return next((found for way in ways if (found := way(call.function, old, new)) != NOTHING), NOTHING)
    took = old.takes(call.function)
    fitting = [each for each in places if took is None or (taken := new.takes(each)) is None or took <= taken]
    if len(fitting) == 1 and len(places) == 1:
        return Succession(fitting[0], why="defined there now, and takes the same arguments")
    candidates = []
    for each in places[:MOST_LISTED]:
        lost = sorted((took or frozenset()) - (new.takes(each) or took or frozenset()))
        candidates.append(Candidate(each, (f"does not take {', '.join(lost[:_MOST_TOLD])}",) if lost else ()))
    return Succession(None, tuple(candidates), why="the same name is defined elsewhere")


def _of_replacements(name: Name, old: Library, new: Library) -> Succession:
    """Find what upstream's own files say in place of a name.

    It is certain where it takes what that took, and most of these files say it: more than one, because a single file
    may have become another one in that place.
    """
    found = [each for each in replacements(old.definition(name), old.target, new.target) if new.has(*each.name)]
    candidates: list[Candidate] = []
    took = old.takes(name)
    for each in found:
        taken = new.takes(each.name)
        lost = each.lost if took is None or taken is None else tuple(sorted(took - taken))
        place = _exported(each.name, name[0], new), each.name[1]
        told = f"in its place in {count(each.files, 'file')} of upstream's own" if each.files else "defined there now"
        if lost == () and each.files != 1 and 2 * each.files >= sum(other.files for other in found):
            return Succession(place, why=f"{told}, and takes the same arguments")
        refused = (f"does not take {', '.join(lost[:_MOST_TOLD])}",) if lost else ()
        candidates.append(Candidate(place, (told, *refused)))
    if not candidates:
        return NOTHING
    return Succession(None, tuple(candidates[:MOST_LISTED]), why="upstream has another one in its place")


_RECIPES = "megatron.bridge.recipes"
_MOST_BASES = 8
_ASKED = 120


def _of_section(name: Name, old: Library, new: Library) -> Succession:
    """List the classes that the library's recipes have now where they had a class: none takes its place unchanged."""
    full = ".".join(old.definition(name))
    calls = [LibraryCall(each) for each in old.recipes(_RECIPES) if new.has(*each) and new.entry(each)][:_ASKED]
    found: Counter[str] = Counter()
    for then, now in zip(old.evaluated(calls), new.evaluated(calls), strict=True):
        for section in SECTIONS if then and now else ():
            value = now.setting(f"{section}.__class__").value if now else None
            if then and is_known_as(then.setting(f"{section}.__class__").value, full) and isinstance(value, Known):
                found[str(value.value)] += 1
    took = old.takes(name) or frozenset()
    candidates = []
    for path, _ in found.most_common(MOST_LISTED):
        module, _, cls = path.rpartition(".")
        lost = sorted(took - (new.takes((module, cls)) or took))
        candidates.append(Candidate((module, cls), (f"does not take {', '.join(lost)}",) if lost else ()))
    reason = "the library's recipes have another class in its place"
    return Succession(None, tuple(candidates), reason) if candidates else NOTHING


def _of_base(name: Name, old: Library, new: Library) -> Succession:
    """List the class that a class was made of, where it was that one with other defaults."""
    at, values = old.definition(name), dict[str, object]()
    for _ in range(_MOST_BASES):
        entry = old.entry(at)
        if entry is None or entry[0] != "class" or entry[1].get("methods"):
            break
        values = {field: node for field, node, *_ in entry[1].get("fields", ())} | values
        match entry[1].get("bases", ()):
            case [["ref", module, inner]]:
                at = module, inner
            case _:
                break
        if new.has(*at) and new.entry(at) is not None:
            plain = {
                field: node for field, node in values.items() if node is None or isinstance(node, (str, int, float))
            }
            told = ", ".join(f"{field}={spell(value)}" for field, value in plain.items())
            candidate = Candidate((_exported(at, name[0], new), at[1]), (f"with {told}",))
            return Succession(None, (candidate,), "it was another class with its own defaults")
    return NOTHING


def _of_recipe(call: LibraryCall, recipe: Recipe, old: Library, new: Library, module: str) -> Succession:
    family = _family(old.definition(call.function)[0])
    calls = [LibraryCall(name) for name in new.recipes(family)]
    found = [(each.function, made) for each, made in zip(calls, new.evaluated(calls), strict=True) if made is not None]
    if not found:
        return NOTHING
    made = dict(found)
    values = old.values(recipe)
    unlike: dict[Name, frozenset[str]] = {}
    for name, each in found:
        now = new.values(each)
        unlike[name] = frozenset(path for path, then in values.items() if differ(then, now.get(path, UNKNOWN)))
    order = sorted(unlike, key=lambda name: (len(unlike[name]), name))
    compared = len(recipe.paths())
    for first in order:
        others = [name for name in order if name != first]
        if all(_is_nearer(unlike[first], unlike[name]) for name in others) and all(
            _is_alike(made[first], made[name], unlike[first]) for name in others
        ):
            told = tuple(_told(recipe, made[first], unlike[first]))
            return Succession(
                (_exported(first, module, new), first[1]),
                (Candidate(first, told, len(unlike[first])),),
                why=f"the nearest effective configuration: of {compared} settings, {len(unlike[first])} differ",
            )
    # The nearest of each kind first: that is what a person has to choose from.
    kinds: dict[str, Name] = {}
    for name in order:
        kinds.setdefault(repr([made[name].setting(path).value for path in KINDS]), name)
    by_kind = sorted(kinds.values(), key=lambda name: KINDS[0] in unlike[name])
    near = list(dict.fromkeys((*by_kind, *order)))[:MOST_LISTED]
    common = frozenset.intersection(*(unlike[name] for name in near))
    candidates = (
        Candidate(
            (_exported(name, module, new), name[1]),
            tuple(_told(recipe, made[name], unlike[name] - common)),
            len(unlike[name]),
        )
        for name in near
    )
    return Succession(None, tuple(candidates), why="no effective configuration is the nearest in every respect")


def _is_nearer(one: frozenset[str], other: frozenset[str]) -> bool:
    """Tell whether one candidate is surely nearer to the old recipe than another: in number, and not in kind alone."""
    return len(one) < len(other) and not other.intersection(KINDS) < one.intersection(KINDS)


def _is_alike(one: Recipe, other: Recipe, unlike: frozenset[str]) -> bool:
    """Tell whether candidates for one model are of one kind wherever the first is not of the old recipe's kind."""
    alike = [one.setting(path).value == other.setting(path).value for path in KINDS]
    return not alike[0] or all(alike[at] for at, path in enumerate(KINDS) if path in unlike)


def _told(old: Recipe, new: Recipe, paths: Iterable[str]) -> Iterator[str]:
    for path in sorted(paths, key=lambda path: (path not in KINDS, not path.startswith("model."), path))[:_MOST_TOLD]:
        yield f"{path} {describe(old.setting(path).value)} → {describe(new.setting(path).value)}"


def _family(module: str) -> str:
    """Return the package of a family of recipes: `megatron.bridge.recipes.llama` of `….llama.llama3`."""
    parts = module.split(".")
    return ".".join(parts[:4]) if parts[:3] == ["megatron", "bridge", "recipes"] else module.rpartition(".")[0]


def _exported(name: Name, module: str, new: Library) -> str:
    """Return the module to import a name from: the one in use where that has it, too."""
    if name[1] in (new.snapshot.names(module) or ()) and new.definition((module, name[1])) == name:
        return module
    family = _family(name[0])
    return family if new.definition((family, name[1])) == name and new.has(family, name[1]) else name[0]


SOURCE = Path(__file__).with_name("successors.json")


@dataclass(frozen=True, slots=True)
class Replacement:
    """A name in the place of another one: in how many of upstream's files, and the parameters that it does not take.

    `lost` is None where the parameters of one of them are not told. 0 files: the same name, defined elsewhere.
    """

    name: Name
    files: int
    lost: tuple[str, ...] | None


def replacements(name: Name, old: Target, new: Target) -> list[Replacement]:
    """Return what stands in the place of a name over all releases between two, the most often written one first."""
    found = [Replacement(name, 0, ())]
    for pair in pairwise(steps_between(old.data, new.data)):
        found = [after for before in found for after in _after(before, _steps()[pair])]
    kept = {each.name: each for each in reversed(found) if each.name != name}
    return sorted(kept.values(), key=lambda each: (-each.files, each.name))


def _after(before: Replacement, step: Mapping[Name, list[Replacement]]) -> Iterator[Replacement]:
    if before.name not in step:
        yield before
    for each in step.get(before.name, ()):
        lost = None if each.lost is None or before.lost is None else (*before.lost, *each.lost)
        yield Replacement(each.name, min(each.files, before.files or each.files), lost)


@cache
def _steps() -> Mapping[tuple[str, str], Mapping[Name, list[Replacement]]]:
    """Return the replacements of each release, and those of the way back, in which no parameters are known."""
    data: Mapping[str, Mapping[str, Mapping[str, tuple[int, list[str] | None]]]] = read_json(SOURCE)
    found: dict[tuple[str, str], dict[Name, list[Replacement]]] = {}
    for step, names in data.items():
        old, new = step.split(" ")
        there, back = found.setdefault((old, new), {}), found.setdefault((new, old), {})
        for gone, those in names.items():
            for name, (files, lost) in those.items():
                there.setdefault(_name(gone), []).append(
                    Replacement(_name(name), files, None if lost is None else tuple(lost))
                )
                back.setdefault(_name(name), []).append(Replacement(_name(gone), files, None))
    return found


def _name(text: str) -> Name:
    module, _, name = text.rpartition(".")
    return module, name
