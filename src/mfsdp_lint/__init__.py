"""Finds and fixes FSDP mistakes in Megatron-Bridge recipes, before the run."""

__version__ = "0.1.0"

__all__ = ["NotAConfiguration", "Verdict", "__version__", "judge"]

TYPE_CHECKING = False  # `typing` itself would cost a third of the time that --version takes
if TYPE_CHECKING:
    from mfsdp_lint.judging.configuration import NotAConfiguration
    from mfsdp_lint.judging.verdict import Verdict, judge


def __getattr__(name: str) -> object:
    """The library's front door is loaded when somebody knocks."""
    if name == "NotAConfiguration":
        from mfsdp_lint.judging.configuration import NotAConfiguration

        return NotAConfiguration
    if name in ("Verdict", "judge"):
        from mfsdp_lint.judging import verdict as verdicts

        return getattr(verdicts, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
