"""Finds and fixes FSDP mistakes in Megatron-Bridge recipes, before the run."""

__version__ = "0.1.0"

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
    from mfsdp_lint.engine.check import Checked, check
    from mfsdp_lint.inputs.options import UsageError
    from mfsdp_lint.judging.configuration import NotAConfiguration
    from mfsdp_lint.judging.guard import Refused, guard
    from mfsdp_lint.judging.verdict import Verdict, judge

_IN = {
    "Checked": "engine.check",
    "check": "engine.check",
    "UsageError": "inputs.options",
    "NotAConfiguration": "judging.configuration",
    "Refused": "judging.guard",
    "guard": "judging.guard",
    "Verdict": "judging.verdict",
    "judge": "judging.verdict",
}


def __getattr__(name: str) -> object:
    """The library's front door is loaded when somebody knocks."""
    if name not in _IN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_IN[name]}"), name)
