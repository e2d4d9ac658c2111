"""Megatron-LM's parsed arguments by their own names: what words give them, their defaults, and the settings that they
become."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from mfsdp_lint.core.recipe import Origin, Setting, Span
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.values import NONE, NOT_NONE, UNKNOWN, Known, Value
from mfsdp_lint.megatron.versions import column_of
from mfsdp_lint.megatron.vocabulary import SETTINGS, table
from mfsdp_lint.megatron.vocabulary.tables import ARGUMENTS, Flag, Versions, opposite
from mfsdp_lint.readers.given_words import HOLE, GivenWord
from mfsdp_lint.readers.megatron_lm_flags import Word, configure_run, default_settings, settings_from_flags

ARGS_DEFAULTS = "args_defaults"
"""The step of start-up that fills in a program's defaults (validate_args), where it leaves some out."""

_LINES = {
    "0.12.0": 383, "0.12.3": 393, "0.13.0": 450, "0.14.0": 420, "0.15.0": 486, "0.16.0": 456, "0.17.0": 524,
    "0.18.0": 654, "0.19.0": 638, "head": 638,
}  # fmt: skip
"""Its line in megatron/training/arguments.py, from each release on."""


@dataclass(frozen=True, slots=True)
class GivenArguments:
    """Arguments that words give, each with the place of its words; `open`: the words may give more."""

    values: Mapping[str, tuple[Value, Origin | None]]
    open: bool


@dataclass(frozen=True, slots=True)
class CommandLine:
    """Megatron-LM's command line at a release."""

    versions: Versions

    @property
    def _flags(self) -> Mapping[str, Flag]:
        return table().attributes(self.versions.core)

    def given(self, words: Iterable[GivenWord | None], place: Span | None) -> GivenArguments:
        """Return the arguments that words give; a word that is not known stands at the `place`."""
        found = settings_from_flags(self._words(words, place), self.versions)
        values: dict[str, tuple[Value, Origin | None]] = {}
        for path, setting in found.settings.items():
            entry = table().entry(path)
            names = (path.removeprefix(f"{ARGUMENTS}."),) if entry is None else entry.attributes
            value = opposite(setting.value) if entry is not None and entry.inverted else setting.value
            values |= {name: (value, setting.origin) for name in names if entry is None or name in self._flags}
        return GivenArguments(values, found.open)

    def _words(self, words: Iterable[GivenWord | None], place: Span | None) -> Iterator[Word]:
        """Yield words as the readers of launches have them: an unknown one is a value where a flag waits for one."""
        waits = False
        before: Word | None = None
        for each in words:
            if each is None:
                if place is not None:
                    yield Word(NOT_NONE, place, may_be_flags=not waits, elsewhere=True)
            elif each.known is not None:
                flag = table().flag(each.text, self.versions.core)
                waits = flag is not None and not flag.is_switch and flag.nargs in (None, "*", "+")
                span = each.origin.span
                near = before is not None and before.span.path == span.path
                apart = before is None or not near or span.line - before.span.end_line not in (0, 1)
                before = Word(Known(each.text), span, option=each.origin.option, elsewhere=apart)
                yield before
                continue
            elif each.text.startswith("-") and HOLE not in each.text.partition("=")[0]:
                yield Word(Known(each.text.partition("=")[0]), each.origin.span)
                yield Word(NOT_NONE, each.origin.span, obstacle=each.origin.obstacle)
            elif waits or (each.text.strip(HOLE) and not each.text.startswith("-")):
                yield Word(NOT_NONE, each.origin.span, obstacle=each.origin.obstacle)
            elif not each.nothing:
                yield Word(NOT_NONE, each.origin.span, may_be_flags=True)
            waits = False

    def default(self, name: str) -> Value:
        """Return the parser's default of an argument; what it does not declare is as if it were None."""
        return self._flags[name].default if name in self._flags else NONE

    def defaults(self) -> Mapping[str, Value]:
        """Return the parser's defaults of all arguments that are settings."""
        return {name: flag.default for name, flag in self._flags.items() if self.is_setting(name)}

    def is_setting(self, name: str) -> bool:
        """Tell whether an argument is a setting of the vocabulary."""
        return bool(table().by_attribute(name))

    def gives(self, name: str) -> Value:
        """Return the only value that flags can give an argument; unknown where they can give several."""
        flag = self._flags.get(name)
        return flag.read() if flag is not None and flag.is_switch else UNKNOWN

    def decide(self, own: Iterable[str], others: Iterable[str]) -> bool:
        """Tell whether a program's own arguments decide something about a run, together with `others` that words give.

        Words alone are read as those of any other launch.
        """
        paths, every = self._paths(own), self._paths(others)
        return not paths.isdisjoint(SETTINGS) and configure_run(paths | every)

    def _paths(self, names: Iterable[str]) -> set[str]:
        return {entry.path for name in names for entry in table().by_attribute(name)}

    def settings_by_default(self, place: Origin) -> dict[str, Setting]:
        """Return the settings of a command line without flags, which stands at a place."""
        return {each.path: each for each in default_settings(self.versions, place)}

    def settings(self, name: str, value: Value, told: Origin | None) -> dict[str, Setting]:
        """Return the settings that an argument becomes."""
        entries = table().by_attribute(name)
        if not entries:
            return {f"{ARGUMENTS}.{name}": Setting(f"{ARGUMENTS}.{name}", value, told)}
        return {each.path: Setting(each.path, opposite(value) if each.inverted else value, told) for each in entries}

    def ignored(
        self, name: str, value: Value, told: Origin, settings: Mapping[str, Setting]
    ) -> Iterator[tuple[str, Setting]]:
        """Yield the settings of a default that start-up leaves out: they keep their values, and know the default."""
        declared = self.settings(name, self.default(name), None)
        line = list(_LINES.values())[column_of(tuple(_LINES), self.versions.core) or 0]
        for path, given in self.settings(name, value, told).items():
            step = Origin(
                Span("megatron/training/arguments.py", line, 1, line, 1),
                "startup",
                function="validate_args",
                upstream=f"megatron-lm {self.versions.core}",
                earlier=replace(told, value=given.value),
                value=declared[path].value,
                because=ARGS_DEFAULTS,
            )
            yield path, Setting(path, settings[path].value if path in settings else UNKNOWN, step)
