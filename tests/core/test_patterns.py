"""Regular expressions that are compiled late behave as compiled ones do."""

import copy
import re

import pytest

from mfsdp_lint.core.patterns import lazy_pattern


def test_it_matches_as_the_compiled_one_does() -> None:
    lazy = lazy_pattern(r"^(?P<name>\w+)=", re.MULTILINE)
    compiled = re.compile(r"^(?P<name>\w+)=", re.MULTILINE)
    text = "a=1\nbc=2\n"
    assert lazy.findall(text) == compiled.findall(text) == ["a", "bc"]
    assert lazy.sub(r"<\1>", text) == compiled.sub(r"<\1>", text)
    assert (lazy.pattern, lazy.flags, lazy.groups, lazy.groupindex) == (
        compiled.pattern,
        compiled.flags,
        compiled.groups,
        compiled.groupindex,
    )


def test_bytes_are_matched_too() -> None:
    assert lazy_pattern(rb"\d+").search(b"at 12")[0] == b"12"  # type: ignore[index]


def test_it_is_compiled_when_it_is_first_used(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    real = re.compile

    def noted(text: str, flags: int) -> re.Pattern[str]:
        compiled.append(text)
        return real(text, flags)

    monkeypatch.setattr(re, "compile", noted)
    lazy = lazy_pattern("late")
    assert compiled == []
    assert lazy.search("later")
    assert not lazy.fullmatch("later")
    assert compiled == ["late"]


def test_a_mistake_in_it_is_told_at_the_first_use() -> None:
    lazy = lazy_pattern("(")
    with pytest.raises(re.error):
        lazy.search("")


def test_it_can_be_copied_unused() -> None:
    assert copy.copy(lazy_pattern("a+")).fullmatch("aaa")
