"""Interpreters for programs: programs are evaluated together where modules hold the same objects.

Modules are evaluated once for all programs that have them. Importing a file can change the objects of other modules,
as where it replaces a function of a library or enters itself into a registry; or a variable of the process that other
modules ask for. The programs that have such a file are evaluated by an interpreter of their own, which runs it where
they import it. All others know nothing of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs.faults import Faults
from mfsdp_lint.readers.python.eval.imports import import_now
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.variables import ANY_VARIABLE
from mfsdp_lint.readers.python.values.objects import Module


@dataclass(frozen=True, slots=True)
class ImportEffects:
    """Effects of importing the `suspects`: the files that `affected` other modules, each with the changed names, those
    `setting` variables of the process, each with these, those `asking` for variables, likewise, and the files that each
    imports by `computed` names.
    """

    suspects: tuple[str, ...]
    affected: Mapping[str, set[str]]
    setting: Mapping[str, set[str]]
    asking: Mapping[str, set[str]]
    computed: Mapping[str, list[str]]


class Interpreters:
    """The interpreters for the programs of some files, `own` without upstream's. `make` gives one in which nothing was
    imported yet.

    `known` are the effects of importing in a reading of other texts, of which no function was called by an import. They
    are those of these files where that `is_sure`, or the same files may have some.
    """

    def __init__(
        self,
        make: Callable[[], Interpreter],
        own: Sequence[str],
        shared: Interpreter,
        faults: Faults,
        known: ImportEffects | None = None,
        *,
        is_sure: bool = False,
    ) -> None:
        self.shared = shared
        shared.followed = frozenset()

        self._apart: dict[tuple[tuple[str, ...], frozenset[str]], Interpreter] = {}
        self._own: dict[str, Interpreter] = {}
        self._checked = own
        self.effects = known if known is not None and is_sure else self._effects(own, faults, known)
        affected, setting = self.effects.affected, self.effects.setting
        if not affected and not setting:
            return
        # What was tried out there left its traces.
        self.shared = make()
        self.shared.followed = frozenset()
        programs = self.shared.programs
        programs.computed.update(self.effects.computed)
        files = {each: os.path.abspath(each) for path in own for each in programs.reach(path)}
        names = {file: affected.get(file, set()) | setting.get(file, set()) for file in (*affected, *setting)}
        said = _said(affected, {each: self._text(each) for each in files})
        asks = self._asks(files)
        for path in own:
            reach, ran = programs.reach(path), programs.files(path)
            sets = {each for each in reach if files[each] in setting}
            asked = {each for each in sets if any(asks[by] & setting[files[each]] for by in reach if by != each)}
            found = {files[each] for each in reach if files[each] in affected or each in asked}
            changed = frozenset[str]().union(*(names[each] for each in found))
            telling = {each for each in reach if files[each] in found or (said[each] | asks[each]) & changed}
            interp = self.shared
            if found:
                followed = found & {files[each] for each in ran}
                # Programs that run these in the same order find the same.
                order = tuple(each for each in programs.order(path) if each in telling), frozenset(found - followed)
                if order not in self._apart:
                    interp = self._apart[order] = make()
                    interp.programs = programs
                    interp.followed = frozenset(followed)
                    interp.within_functions = frozenset(found - followed)
                    interp.contested = changed
                interp = self._own[path] = self._apart[order]
            starts = telling | sets
            interp.leading |= {files[each] for each in ran if not starts.isdisjoint(programs.files(each))}
            interp.within_functions |= {files[each] for each in sets.difference(ran)}

    def of(self, path: str) -> Interpreter:
        """Return the interpreter that evaluates the program of a file."""
        return self._own.get(path, self.shared)

    @property
    def all(self) -> tuple[Interpreter, ...]:
        """Every interpreter."""
        return (self.shared, *self._apart.values())

    @property
    def users(self) -> dict[str, set[str]]:
        """The files whose programs each file belongs to: once its text is another one, it may change other modules."""
        users: dict[str, set[str]] = {}
        for path in self._checked:
            for each in self.shared.programs.reach(path):
                if each != path:
                    users.setdefault(each, set()).add(path)
        return users

    def begin(self, module: Module) -> None:
        """Import a file, and the packages that it lies in before it, where that may change what other modules hold, or
        variables of the process.
        """
        interp = self.of(module.path)
        if interp.leading:
            interp.begin(())
            for path in (*interp.programs.packages(module.path), module.path):
                found = interp.finder.load(path)
                if found is not None and os.path.abspath(path) in interp.leading:
                    import_now(interp, found)

    def _effects(self, paths: Iterable[str], faults: Faults, known: ImportEffects | None) -> ImportEffects:
        """Find the files whose import changes the objects of other modules, or variables, by importing all that may."""
        interp = self.shared
        suspects = tuple(interp.programs.suspects(paths))
        if known is not None and known.suspects == suspects:
            return known
        pending = list(suspects)
        for path in pending:
            with faults.contained(path):
                module = interp.finder.load(path)
                if module is not None:
                    interp.begin(())
                    import_now(interp, module)
                    interp.pay()
            pending += [each for each in interp.programs.computed.get(path, ()) if each not in pending]
        affected = {path: names for path, names in interp.affected.items() if not self._is_upstream(path)}
        setting = {path: names for path, names in interp.setting.items() if not self._is_upstream(path)}
        return ImportEffects(suspects, affected, setting, interp.asking, interp.programs.computed)

    def _asks(self, files: Mapping[str, str]) -> dict[str, frozenset[str]]:
        """Return the variables that each file asks for when it is imported, of those that a file sets.

        Of a file that was not imported to see what that does, the text of what runs then may name them.
        """
        every = frozenset[str]().union(*self.effects.setting.values())
        if not every:
            return dict.fromkeys(files, every)
        others = files.keys() - self.effects.suspects
        found = _said(self.effects.setting, {each: self.shared.programs.run_text(each) for each in others})
        for each, file in files.items():
            asked: Collection[str] = self.effects.asking.get(file, ())
            asked_for = every if ANY_VARIABLE in asked else every.intersection(asked)
            found[each] = found.get(each, frozenset()) | asked_for
        return found

    def _is_upstream(self, path: str) -> bool:
        module = self.shared.finder.by_path.get(path)
        return module is not None and self.shared.is_upstream(module.name)

    def _text(self, path: str) -> str:
        return self.shared.finder.sources.text_or_none(path) or ""


def _said(named: Mapping[str, set[str]], texts: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Return the words of each text, of those that are named for any file."""
    words = "|".join(sorted(map(re.escape, frozenset[str]().union(*named.values()))))
    says = re.compile(rf"\b(?:{words})\b")
    return {path: frozenset(says.findall(text)) if words else frozenset() for path, text in texts.items()}
