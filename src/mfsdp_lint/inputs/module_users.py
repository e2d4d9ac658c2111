"""Python files that use a module: by the names that reach it, or because importing it changes something elsewhere.

They are found in their texts and by the index of them, and more are found than there are: a module may be imported from
any root. Who uses a name that another module hands on is found by the name.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.inputs.index import WHOLE, Dotted, FileFacts, module_name, text_of
from mfsdp_lint.inputs.names_reached import Piece, names_reached
from mfsdp_lint.inputs.sources import NOTEBOOK

Names = frozenset[str] | None
"""Names of a module; None where it may be any of them."""


class Modules:
    """Python files by path, with the facts about them: above all what they import."""

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self._files = files
        self._naming: dict[str, list[str]] = {}
        for path, known in files.items():
            for end in known.ends.split():
                self._naming.setdefault(end, []).append(path)
        self._imported: dict[str, dict[Dotted, set[str]]] = {}

    def importing(self, path: str) -> Iterator[tuple[str, set[str]]]:
        """Yield the files that may import a file, each with names that it takes from it."""
        module = module_name(path)
        for user in self._naming.get(module[-1], ()):
            for name, taken in self._imports_of(user).items():
                if module[-len(name) :] == name:
                    yield user, taken

    def _imports_of(self, path: str) -> dict[Dotted, set[str]]:
        if path not in self._imported:
            self._imported[path] = self._files[path].imported()
        return self._imported[path]

    def users(self, paths: Iterable[str], enough: int) -> dict[str, tuple[int, Names]]:
        """Return the files that use one of these, with the number of steps between and the names that reach these."""
        reached: dict[str, Names] = dict.fromkeys(paths)
        acting = {path for path in reached if self._acts(path)}
        found: dict[str, int] = {}
        layer, steps = list(reached), 1
        while layer and len(found) <= enough:
            following: dict[str, None] = {}
            for here in layer:
                if here in acting:
                    new = [path for path in self._importing_anyhow(here) if path not in acting]
                    acting.update(new)
                    reached |= dict.fromkeys(new)
                else:
                    new = [path for path, names in self._meaning(here, reached[here]) if _grows(reached, path, names)]
                new = [path for path in new if steps == 1 or not path.endswith(NOTEBOOK)]
                found |= {path: steps for path in new if path not in found}
                following |= dict.fromkeys(new)
            layer, steps = list(following), steps + 1
        return {path: (far, reached[path]) for path, far in found.items()}

    def _importing_anyhow(self, here: str) -> Iterator[str]:
        """Yield all who import a module, also because they import another one of the package that it is."""
        yield from (user for user, _ in self.importing(here))
        folder, name = os.path.split(here)
        if name == "__init__.py":
            yield from (path for path in self._files if path.startswith(folder + os.sep) and path != here)

    def _meaning(self, here: str, names: Names) -> Iterator[tuple[str, Names]]:
        """Yield the files that mean one of these names of a module, with the names by which they hand them on."""
        for user, taken in self.importing(here):
            if names is None or "*" in taken or self._files[user].has_any(names):
                yield user, self._handed_on(user, taken, here, names)

    def _acts(self, path: str) -> bool:
        """Tell whether importing a module may change something of another one, or of the environment: then all who
        import it have to do with it, and who imports these.
        """
        pieces = None if path.endswith(NOTEBOOK) or path not in self._files else self._files[path].pieces
        imported = frozenset[str]().union(*(piece.binds for piece in pieces or () if piece.imports))
        own = frozenset[str]().union(*(piece.binds for piece in pieces or ())) - imported

        def changes_others(piece: Piece) -> bool:
            touched = piece.runs | piece.hands
            return (
                not _ENVIRONMENT.isdisjoint(touched)
                or not own.isdisjoint(piece.runs)
                or any(self._origins(path, name) for name in touched)
                or any(
                    self._files[file].has_any(_OF_DERIVING)
                    for base in piece.bases
                    for file in self._origins(path, base)
                )
            )

        return any(map(changes_others, pieces or ()))

    def _origins(self, path: str, name: str) -> list[str]:
        """Return the files of the project that a module may have a name from, or that it knows by it."""
        wanted = {name, *(old for old, new in _RENAMED.findall(text_of(path)) if new == name)}
        return [
            file
            for module, taken in self._imports_of(path).items()
            if not wanted.isdisjoint(taken) or (WHOLE in taken and not wanted.isdisjoint((module[0], module[-1])))
            for file in self._called.get(module[-1], ())
            if file != path and module_name(file)[-len(module) :] == module
        ]

    @cached_property
    def _called(self) -> dict[str, list[str]]:
        """The modules by the last part of their names."""
        found: dict[str, list[str]] = {}
        for path in self._files:
            found.setdefault(module_name(path)[-1], []).append(path)
        return found

    def _exported(self, path: str) -> Names:
        """Return the names that `import *` may take of those that a module defines; None where nobody can tell."""
        pieces = self._files[path].pieces if path in self._files else None
        if pieces is None:
            return None
        defining = [piece for piece in pieces if not piece.imports]
        listed = frozenset(word for piece in defining if "__all__" in piece.words for word in piece.words)
        bound = frozenset[str]().union(*(piece.binds for piece in defining)) - {"__all__"}
        return frozenset(name for name in bound if not name.startswith("_") or name in listed)

    def _handed_on(self, user: str, taken: set[str], module: str, names: Names) -> Names:
        """Return the names by which the users of a file reach the names of a module that it imports."""
        handed = frozenset(taken - {"*", WHOLE} if names is None else taken & names)
        if "*" in taken:
            if (exported := self._exported(module) if names is None else names) is None:
                return None
            handed |= exported
        if WHOLE in taken:
            handed |= {module_name(module)[-1]}
        if not self._files[user].hands_on:
            pieces = None if user.endswith(NOTEBOOK) else self._files[user].pieces
            reaching = None if pieces is None else names_reached(pieces, handed)
            # What `*` binds no statement of the file says.
            return reaching | handed if reaching is not None and "*" in taken else reaching
        return handed | {new for old, new in _RENAMED.findall(text_of(user)) if old in handed}


def _grows(reached: dict[str, Names], path: str, names: Names) -> bool:
    """Add names to those by which a file is reached; tell whether these are more."""
    before = reached.get(path, frozenset())
    if before is None or (names is not None and path in reached and names <= before):
        return False
    reached[path] = None if names is None else names | before
    return True


_ENVIRONMENT = frozenset({"os", "environ", "putenv", "setenv"})
_OF_DERIVING = frozenset({"__init_subclass__", "metaclass"})
_RENAMED = lazy_pattern(r"\b(\w+)\s+as\s+(\w+)")
