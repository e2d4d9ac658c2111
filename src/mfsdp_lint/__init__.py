"""Finds and fixes FSDP mistakes in Megatron-Bridge recipes, before the run."""

from mfsdp_lint.core.version import __version__

__all__ = [
    "Checked",
    "NotAConfiguration",
    "Refused",
    "UsageError",
    "Verdict",
    "__version__",
    "check",
    "guard",
    "judge",
]

TYPE_CHECKING = False  # `typing` itself would cost a third of the time that --version takes
if TYPE_CHECKING:
    from mfsdp_lint.engine.cache import Checked, check
    from mfsdp_lint.inputs.options import UsageError
    from mfsdp_lint.rules.judging import NotAConfiguration, Refused, Verdict, guard, judge

_IN = {
    "Checked": "engine.cache",
    "check": "engine.cache",
    "UsageError": "inputs.options",
    "NotAConfiguration": "rules.judging",
    "Refused": "rules.judging",
    "guard": "rules.judging",
    "Verdict": "rules.judging",
    "judge": "rules.judging",
}


def __getattr__(name: str) -> object:
    """Load the library's front door when one of its names is first used."""
    if name not in _IN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_IN[name]}"), name)
