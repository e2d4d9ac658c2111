"""Interpreters for programs: programs are evaluated together where modules hold the same objects.

Modules are evaluated once for all programs that have them. Importing a file can change the objects of other modules,
as where it replaces a function of a library or enters itself into a registry. The programs that have such a file are
evaluated by an interpreter of their own, which runs it where they import it. All others know nothing of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs.faults import Faults
from mfsdp_lint.readers.python.eval.imports import import_now
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.values.code import Module


@dataclass(frozen=True, slots=True)
class ImportEffects:
    """Effects of importing the `suspects`: the files that `affected` other modules, each with the changed names, and
    the files that each imports by `computed` names.
    """

    suspects: tuple[str, ...]
    affected: Mapping[str, set[str]]
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
        affected = self.effects.affected
        if not affected:
            return
        # What was tried out there left its traces.
        self.shared = make()
        self.shared.followed = frozenset()
        programs = self.shared.programs
        programs.computed.update(self.effects.computed)
        words = frozenset[str]().union(*affected.values())
        changing = {path: os.path.abspath(path) in affected for each in own for path in programs.reach(each)}
        says = re.compile(rf"\b(?:{'|'.join(sorted(map(re.escape, words)))})\b") if words else None
        telling = {path for path, changes in changing.items() if changes or (says and says.search(self._text(path)))}
        for path in own:
            found = {os.path.abspath(each) for each in programs.reach(path) if changing[each]}
            if found:
                files = programs.files(path)
                followed = found & set(map(os.path.abspath, files))
                # Programs that run these in the same order find the same.
                order = tuple(each for each in programs.order(path) if each in telling), frozenset(found - followed)
                interp = self._apart.get(order)
                if interp is None:
                    interp = self._apart[order] = make()
                    interp.followed = frozenset(followed)
                    interp.within_functions = frozenset(found - followed)
                    interp.contested = frozenset[str]().union(*(affected[each] for each in found))
                interp.leading |= {
                    os.path.abspath(each) for each in files if not telling.isdisjoint(programs.files(each))
                }
                self._own[path] = interp

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
        """Import a file, and the packages that it lies in before it, where that may change what other modules hold."""
        interp = self.of(module.path)
        if interp is not self.shared:
            for path in (*interp.programs.packages(module.path), module.path):
                found = interp.finder.load(path)
                if found is not None and os.path.abspath(path) in interp.leading:
                    import_now(interp, found)

    def _effects(self, paths: Iterable[str], faults: Faults, known: ImportEffects | None) -> ImportEffects:
        """Find the files whose import changes the objects of other modules, by importing all that may do so."""
        interp = self.shared
        suspects = tuple(interp.programs.suspects(paths))
        if known is not None and known.suspects == suspects:
            return known
        pending = list(suspects)
        for path in pending:
            with faults.contained(path):
                module = interp.finder.load(path)
                if module is not None:
                    import_now(interp, module)
                    interp.pay()
            pending += [each for each in interp.programs.computed.get(path, ()) if each not in pending]
        affected = {path: names for path, names in interp.affected.items() if not self._is_upstream(path)}
        return ImportEffects(suspects, affected, interp.programs.computed)

    def _is_upstream(self, path: str) -> bool:
        module = self.shared.finder.by_path.get(path)
        return module is not None and self.shared.is_upstream(module.name)

    def _text(self, path: str) -> str:
        return self.shared.finder.sources.text_or_none(path) or ""
