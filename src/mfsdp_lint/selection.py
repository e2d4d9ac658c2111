"""Which rules count: `--select` and `--ignore` by code or prefix."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mfsdp_lint.options import UsageError


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
    from difflib import get_close_matches

    nearest = get_close_matches(prefix.upper(), sorted(codes), n=1, cutoff=0)
    return f"; the nearest is {nearest[0]}" if nearest else ""
