"""Protocol for editing files of one kind, and the editors; a kind without one has no fixes.

Editors are imported when something is edited, and not before.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import Enum

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.recipe import Origin, Source, Span
from mfsdp_lint.core.records import dataclass, field
from mfsdp_lint.core.values import Plain
from mfsdp_lint.readers.registry import kind_of


class Absent(Enum):
    """The value of what should not be set."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT

Assignments = Sequence[tuple[str, Plain | Absent]]
"""Setting paths and the values that they should have; `env.NAME` is a variable of the process, and `env_vars.NAME` one
that the recipe asks start-up to set."""

Old = Mapping[str, Plain]
"""The values of settings without an edit, as far as they are known."""


@dataclass(frozen=True, slots=True)
class Switch:
    """The statement by which callers turn something on, and whether an edit is for those who do, or for the others."""

    origin: Origin = field(compare=False)
    on: bool = True
    where: Span = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "where", self.origin.point)


class Editable:
    """A text that its editor can read.

    Every method gives the edits for one way to change settings, None where it is not certain of what it would change;
    then another way is tried, or no fix is offered. Whether an edit does what it should is not decided here: every one
    is proved by reading the changed text.
    """

    def replace_value(self, origin: Origin, path: str, value: Plain, old: Old) -> list[Edit] | None:
        """Write another value in the place where `origin` says that the setting's value stands."""
        return None

    def replace_source(
        self, source: Source, path: str, value: Plain, old: Old, uses: Collection[Span]
    ) -> list[Edit] | None:
        """Write another value in a text that hands the value on; `uses` are the places that take it from there."""
        return None

    def add_arguments(self, origin: Origin, new: Assignments) -> list[Edit] | None:
        """Give the call that `origin` spans, which took the declared default, arguments of its own."""
        return None

    def assign_after(self, anchor: Origin, setting: str, new: Assignments) -> list[Edit] | None:
        """Assign settings next to `anchor`, which sets `setting`, in the same configuration."""
        return None

    def assign_for_command(self, command: Origin, new: Assignments) -> list[Edit] | None:
        """Assign variables for the one command that `command` begins, and for nothing that runs before or after it."""
        return None

    def replace_value_where(self, origin: Origin, path: str, value: Plain, switch: Switch) -> list[Edit] | None:
        """Write another value only for the callers of one side of a switch; others keep the old value."""
        return None

    def assign_after_where(
        self, anchor: Origin, setting: str, switch: Switch, new: Assignments, old: Old
    ) -> list[Edit] | None:
        """Assign settings next to `anchor` only for the callers of one side of a switch; for others nothing changes."""
        return None

    def assign_at_end(self, scope: Origin, new: Assignments) -> list[Edit] | None:
        """Assign settings at the end of the recipe that `scope` begins, or of the function that it stands in."""
        return None

    def rename(self, origin: Origin, path: str, meant: str) -> list[Edit] | None:
        """Write the name of the setting `meant` in the write of `path`, which is none."""
        return None

    def delete_write(self, origin: Origin, path: str) -> list[Edit] | None:
        """Take out what `origin` says set the setting."""
        return None

    def delete_write_where(self, origin: Origin, path: str, switch: Switch) -> list[Edit] | None:
        """Take out a write only for the callers of one side of a switch."""
        return None


EDITORS = ("python", "yaml", "shell")
"""The kinds of files that have an editor."""


def open_for_edit(path: str, text: str) -> Editable | None:
    """Open a file for editing; None if it cannot be read, or its kind has no editor."""
    match kind_of(path):
        case "python":
            from mfsdp_lint.fixes.python import open_python

            return open_python(path, text)
        case "yaml":
            from mfsdp_lint.fixes.yaml import open_yaml

            return open_yaml(path, text)
        case "shell":
            from mfsdp_lint.fixes.shell import open_shell

            return open_shell(path, text)
    return None
