"""Facts of a release of Megatron that are known without its source: all that the evaluator asks about upstream.

`snapshots` answers it; where nothing is known, `NOTHING` does.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from mfsdp_lint.core.recipe import Recipe
    from mfsdp_lint.readers.framework_configs import ProgramReader
    from mfsdp_lint.readers.megatron_lm_arguments import CommandLine
    from mfsdp_lint.readers.python.values.objects import ConfigTree, Frame, Module, Object

Asking = TypeVar("Asking", contravariant=True)
"""The interpreter that asks: it holds its knowledge, which therefore stands below it and does not name it."""


class Knowledge(Generic[Asking]):
    """Facts of the releases that are judged against, for one evaluation; this class knows none.

    Modules are made for the interpreter that asks first, and belong to it. Names of modules are dotted
    ("megatron.bridge.recipes"), names of packages those of distributions ("megatron-core").
    """

    @property
    def targets(self) -> Hashable:
        """The releases that the answers are about: of two evaluations with equal ones, all answers are the same."""
        return None

    @property
    def is_used(self) -> bool:
        """Tell whether an answer needed the facts of the release so far, so that `remarks` may speak of them."""
        return False

    @property
    def depends_on_target(self) -> bool:
        """Tell whether an answer so far is another one for another release with the same facts."""
        return False

    @property
    def is_of_neighbour(self) -> bool:
        """Tell whether the facts are those of another release than the one that is judged, whose own are not known."""
        return False

    def use(self) -> None:
        """Take the facts as needed: an answer that another evaluation got from them is used in this one."""

    def anew(self) -> Knowledge[Asking]:
        """Return the same facts for another evaluation, in which no module has been made or changed yet."""
        return self

    def remarks(self) -> Iterable[str]:
        """Return remarks worth printing about the answers that were given so far."""
        return ()

    def covers(self, name: str) -> bool:
        """Tell whether a module, known or not, belongs to the packages that the facts are about."""
        return False

    def module(self, interp: Asking, name: str) -> Module | None:
        """Return a module or package; None where the release has none of this name, or nothing is known of it."""
        return None

    def member(self, interp: Asking, module_name: str, name: str) -> Object | None:
        """Return a name of a module, which may be a submodule; None where nothing is known of it.

        Raises Raised where working out its value does.
        """
        return None

    def lacks(self, module_name: str, name: str | None = None) -> bool:
        """Tell whether the release surely has no such module, or the module surely no such name."""
        return False

    def version_of(self, package: str) -> Object | None:
        """Return the version of an installed package: a text, or a choice of several; None where it is not known."""
        return None

    def framework(self, name: str) -> ProgramReader | None:
        """Return the reader of the settings of a framework's runs; None where its runs are not read."""
        return None

    def command_line(self) -> CommandLine | None:
        """Return the command line that programs of Megatron-LM have; None where the release is not known."""
        return None

    def composed(self, asking: Asking, path: str, tree: ConfigTree, frame: Frame) -> Sequence[Recipe] | None:
        """Return the recipes of a configuration that the program at a path composes in a frame; None where it is no
        framework's, or where it is not known whether it configures a run.
        """
        return None

    def describes(self, program: str) -> bool:
        """Tell whether it is known what a program of Hydra makes of what it composes, by the program's dotted name."""
        return False


NOTHING: Knowledge[object] = Knowledge()
"""The answers where nothing is known of upstream."""
