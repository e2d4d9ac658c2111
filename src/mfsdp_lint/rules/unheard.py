"""Settings that a run seems to give and does not: by a name that is not theirs (of another release, of another section,
misspelt), or on a line that its command does not take.

That has a finding of its own. Another finding that rests on the value which the setting has without it only follows
from that: a remedy for it would go against what is written.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache

from mfsdp_lint.core.nearest import nearest
from mfsdp_lint.core.recipe import Recipe, Span, Variant
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import UNKNOWN, Known, Plain, Value, is_known_as
from mfsdp_lint.megatron.conditions import Site
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.readers.megatron_lm_flags import settings_of_flag
from mfsdp_lint.rules.writes import no_fields

_ALIKE = 0.8
_OF_FLAGS = "args."
_SAY_LITTLE = frozenset(("use", "enable", "no", "disable", "with"))


_LOST = ("broken-continuation", "lost-continuation", "commented-element")


@dataclass(frozen=True, slots=True)
class Unheard:
    """A text that gives no setting, the settings that it may mean, and the value that they would have by it. `name` is
    the name in it that is none of a setting ("" where it is lost as a whole).
    """

    name: str
    meant: frozenset[str]
    span: Span
    value: Value

    def meant_for(self, settings: Collection[str], written: Variant, wanted: Mapping[str, Plain]) -> str:
        """Return one of some settings that is meant with another value than is there and is wanted; "" for none."""
        value = self.value
        for path in sorted(self.meant.intersection(settings)):
            there = isinstance(value, Known) and is_known_as(written.value(path), value.value)
            if not there and not (path in wanted and is_known_as(value, wanted[path])):
                return path
        return ""


def unheard(recipe: Recipe, written: Variant, site: Site) -> tuple[Unheard, ...]:
    """Return the texts that seem to give settings in a variant: lost lines, and names that no setting has at a site,
    but that one has or had elsewhere, or nearly has.
    """
    lost = (Unheard("", frozenset(each.sets), each.span, UNKNOWN) for each in recipe.notices if each.kind in _LOST)
    return tuple(each for each in (*_names(written, site), *lost) if each.meant)


def _names(written: Variant, site: Site) -> Iterator[Unheard]:
    known, takes_flags, core = table(), site.front_end.takes_flags, site.target.core
    for each in (*written.settings.undeclared(), *no_fields(written.settings, site.target)):
        section, _, name = each.path.rpartition(".")
        fields = {f"{section}.{field}" for field in _alike(name, each.fields)}
        yield Unheard(each.written, _named(name) | fields, each.origin.span, written.value(each.written))
    for path in written.settings.written() if takes_flags else ():
        name, origin = path.removeprefix(_OF_FLAGS), written.origin(path)
        is_flag = name in known.attributes(core) and not known.by_attribute(name)
        if name != path and not is_flag and origin is not None:
            yield Unheard(path, _named(name) | _of_flags_like(name, core), origin.span, written.value(path))
    # A field that nothing reads any more may still be there.
    for path, meant in () if takes_flags else _removed_fields():
        origin = written.origin(path)
        if origin is not None and origin.how != "default":
            yield Unheard(path, frozenset((meant,)), origin.span, written.value(path))


@cache
def _removed_fields() -> Sequence[tuple[str, str]]:
    """Return the paths of fields that were removed, each with the setting that has taken its place."""
    entries = table().entries.values()
    return [(f"{entry.section}.{removed.name}", entry.path) for entry in entries for removed in entry.removed]


def _named(name: str) -> frozenset[str]:
    """Return the settings that have a name in some section, or had it, or whose flag has it."""
    known = table()
    entries = (*known.named(name), *known.by_removed_name(name), *known.by_attribute(name))
    return frozenset(entry.path for entry in entries)


@lru_cache(maxsize=512)
def _of_flags_like(name: str, core: str) -> frozenset[str]:
    """Return the settings of the flags that are like a name."""
    alike = _alike(f"--{name.replace('_', '-')}", table().flags(core))
    return frozenset(path for each in alike for path in settings_of_flag(each, core))


def _alike(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return the names that are like another, or have all of its words that say something."""
    said = _words(name)
    return (*nearest(name, names, 2, _ALIKE), *(each for each in names if said and said <= _words(each)))


@lru_cache(maxsize=4096)
def _words(name: str) -> frozenset[str]:
    return frozenset(re.split(r"[-_]+", name.strip("-"))) - _SAY_LITTLE
