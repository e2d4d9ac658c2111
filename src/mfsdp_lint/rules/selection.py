"""Which rules count: `--select` and `--ignore` by code or prefix."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mfsdp_lint.inputs.options import UsageError


def selected(codes: Collection[str], select: Sequence[str], ignore: Sequence[str]) -> frozenset[str]:
    """Those of `codes` that count. Where both sides match, the longer prefix decides, and between equals `ignore`.

    An empty `select` means all. Raises UsageError for a prefix that no code begins with.
    """
    _known(codes, select, "select")
    _known(codes, ignore, "ignore")
    return frozenset(code for code in codes if _longest(code, select or [""]) > _longest(code, ignore))


def _longest(code: str, prefixes: Sequence[str]) -> int:
    """The length of the longest prefix that matches, -1 where none does."""
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=-1)


def _known(codes: Collection[str], prefixes: Sequence[str], option: str) -> None:
    for prefix in prefixes:
        if not any(code.startswith(prefix) for code in codes):
            raise UsageError(f"{option}: there is no rule {prefix!r}{_nearest(prefix, codes)}")


def _nearest(prefix: str, codes: Collection[str]) -> str:
    """The code that looks most like it, and of equals the one that begins most like it, for the message."""
    from difflib import SequenceMatcher
    from itertools import takewhile

    asked = prefix.upper()

    def likeness(code: str) -> tuple[float, int]:
        alike = takewhile(lambda pair: pair[0] == pair[1], zip(asked, code, strict=False))
        return SequenceMatcher(None, asked, code).ratio(), len(list(alike))

    nearest = max(sorted(codes), key=likeness, default=None)
    return f"; the nearest is {nearest}" if nearest else ""
