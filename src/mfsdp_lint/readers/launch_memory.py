"""Launches that a reading of changed texts takes over from the reading before it, script by script.

Following a script reads texts, and runs functions of the programs that it starts. Its result holds for as long as none
of these has changed. Programs share the modules that they import: a file that one of them read belongs to all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from mfsdp_lint.core.recipe import Recipe, Unfollowed
from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.inputs.sources import NOTEBOOK, Problem, Sources
from mfsdp_lint.readers.relevance import is_for_evaluation, speaks_of_recipes, speaks_of_training

if TYPE_CHECKING:
    from mfsdp_lint.readers.python.state.paths import OutOfSteps, Raised
    from mfsdp_lint.readers.reader import ToRead
    from mfsdp_lint.readers.shell.conversions import Loading, ScriptConversion, ScriptImport


@dataclass(frozen=True, slots=True)
class ShellRead:
    """The recipes of a script, and what is worth saying of it. `loadings` are its recipes with what they load, and
    `converted` the checkpoints that it converts. `imported` are the models of Hugging Face that it makes
    checkpoints of, and `touched` the paths that it hands to programs that are no runs. `queried` are the files that its
    caller has to name, by the argument, with the keys that it looks for."""

    recipes: list[Recipe]
    problems: list[Problem]
    unfollowed: list[Unfollowed] = field(default_factory=list)
    loadings: list[Loading] = field(default_factory=list)
    converted: list[ScriptConversion] = field(default_factory=list)
    imported: list[ScriptImport] = field(default_factory=list)
    touched: frozenset[str] = frozenset()
    queried: Mapping[str, Collection[str]] = field(default_factory=dict)


Function = tuple[str, int, str]
"""A function of a program: the real path of its file, its line and its name."""


@dataclass(slots=True)
class Ran:
    """Record of the programs that were followed: the functions that ran for one script, and the files that were read.

    `aside` are the functions that ran for what programs share. With `of_target`, they may run otherwise for another
    release with the same facts.
    """

    functions: set[Function] = field(default_factory=set)
    aside: set[Function] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    of_target: bool = False


@dataclass(frozen=True, slots=True)
class Started:
    """A started script's recipes, and the code that runs: its functions, and the script itself.

    `ending` is how it surely ends where there are no recipes, or that it takes more steps than are followed.
    """

    recipes: tuple[Recipe, ...]
    ran: frozenset[Function] = frozenset()
    ending: Raised | OutOfSteps | None = None


NOTHING = Started(())


@dataclass(frozen=True, slots=True)
class _Followed:
    result: ShellRead
    texts: frozenset[str]
    functions: frozenset[Function]


@dataclass(slots=True)
class LaunchMemory:
    """The scripts that one reading followed, with what each result depends on; `is_kept` in an earlier run.

    `asked` are the files that were asked for: they are treated, and spelled, otherwise than what is only imported.
    """

    sources: Sources
    asked: frozenset[str] = frozenset()
    followed: dict[str, _Followed] = field(default_factory=dict)
    ran: Ran = field(default_factory=Ran)
    is_kept: bool = False

    def __reduce__(self) -> tuple[object, ...]:
        return LaunchMemory, (self.sources, self.asked, self.followed, self.ran, True)

    @classmethod
    def after(cls, before: object, asked: ToRead) -> LaunchMemory:
        """Begin another reading; results of the reading `before`, if it is one, stay where they still hold."""
        sources = asked.sources
        memory = cls(sources, frozenset(asked.every))
        changed = sources.changed_since(before.sources) if isinstance(before, LaunchMemory) else None
        if isinstance(before, LaunchMemory) and changed is not None:
            # What they share was read by the programs that are not followed again, too.
            memory.ran = Ran(set(), set(before.ran.aside), set(before.ran.texts))
            changes = [_Change(path, before.sources, sources, by_people=before.is_kept) for path in changed]
            changes += [_Change(sources.key(path), sources, sources) for path in before.asked ^ memory.asked]
            for path, each in before.followed.items():
                if not any(change.reaches(each, before.ran) for change in changes):
                    memory.followed[path] = each
        return memory

    def forget(self, says: Callable[[Recipe], bool]) -> None:
        """Forget the scripts of which the recipe of a run is such a one."""
        self.followed = {path: each for path, each in self.followed.items() if not any(map(says, each.result.recipes))}

    def follow(self, path: str, script: Callable[[], ShellRead]) -> ShellRead:
        """Return the result of following a script: the known one, or a new one that is remembered."""
        known = self.followed.get(path)
        if known is None:
            self.ran.functions.clear()
            texts = {self.sources.key(path)}
            with self.sources.recording(texts):
                result = script()
            known = self.followed[path] = _Followed(result, frozenset(texts), frozenset(self.ran.functions))
        return known.result


class _Change:
    """A file with other text, or treated otherwise; `functions` are those that it touches where it changes nothing but
    settings in them.

    What people change decides nowhere else which programs are followed (see engine/recall.py).
    """

    def __init__(self, path: str, before: Sources, now: Sources, *, by_people: bool = True) -> None:
        self.path = path
        self.functions: frozenset[Function] | None = None
        self.is_anywhere = path.endswith((".py", NOTEBOOK)) and not by_people
        old, new = before.text_or_none(path), now.text_or_none(path)
        if path.endswith(".py") and old is not None and new is not None and before is not now:
            from mfsdp_lint.readers.python.entries.incremental import changes_words, touched

            # Where a text speaks of other things, other files may be parsed.
            if all(says(old) == says(new) for says in (is_for_evaluation, speaks_of_recipes, speaks_of_training)):
                self.functions = touched(path, old, new)
            if by_people and self.functions is not None and changes_words(old, new):
                self.functions = None

    def reaches(self, followed: _Followed, ran: Ran) -> bool:
        """Tell whether the result of following a script may be another one."""
        if self.functions is not None:
            return not self.functions.isdisjoint(followed.functions | ran.aside)
        # Which programs are followed at all depends on the imports of many files.
        return self.is_anywhere or self.path in followed.texts or (bool(followed.functions) and self.path in ran.texts)
