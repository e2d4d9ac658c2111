"""Look-up of a word: a setting by its path, bare name, alias, old name, flag or environment variable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mfsdp_lint.core import nearest as words
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.megatron.vocabulary.entry import Entry
from mfsdp_lint.megatron.vocabulary.tables import ENVIRONMENT, Table

_MOST = 3


@dataclass(frozen=True, slots=True)
class Found:
    """The settings that a word names, and the flag of Megatron-LM's command line ("" for none) if it is one.

    `removed` says that the word is a name which the settings no longer have.
    """

    entries: tuple[Entry, ...]
    flag: str = ""
    removed: bool = False

    def __bool__(self) -> bool:
        return bool(self.entries or self.flag)


def find(word: str, table: Table) -> Found:
    """Find the settings or the flag that the word names; an empty result is falsy."""
    name = word.strip()
    if name.startswith("-"):
        return _flag(name, table)
    exact = table.entry(name) or table.by_variable(name)
    if exact is not None:
        return Found((exact,))
    if entries := _aliased(name, table) or table.named(name):
        return Found(entries)
    if entries := table.by_removed_name(name.rpartition(".")[2]):
        return Found(entries, removed=True)
    return Found(table.by_attribute(name.removeprefix("args.")))


def _flag(name: str, table: Table) -> Found:
    if versions := table.flag_versions(name):
        flag = table.flag(name, versions[-1])
        entries = table.by_attribute(flag.dest) if flag is not None else ()
        return Found(entries, name)
    if entries := table.by_perf_flag(name):
        return Found(entries)
    return Found(table.by_removed_name(name), removed=True)


def _aliased(name: str, table: Table) -> tuple[Entry, ...]:
    return tuple(entry for entry in table.entries.values() if name in entry.aliases)


def nearest(word: str, table: Table) -> list[str]:
    """Find the names most like a word that names nothing."""
    return words.nearest(word, _names(word, table), _MOST, cutoff=0.7)


def _names(word: str, table: Table) -> Iterator[str]:
    if word.startswith("-"):
        yield from table.every_flag
        yield from _of(entry.perf for entry in table.entries.values())
        return
    for path, entry in table.entries.items():
        yield path.removeprefix(ENVIRONMENT) if path.startswith(ENVIRONMENT) or "." not in word else path
        if "." not in word:
            yield entry.name


def _of(names: Iterable[Iterable[str]]) -> Iterator[str]:
    for some in names:
        yield from some
