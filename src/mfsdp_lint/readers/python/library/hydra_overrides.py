"""Overrides in Hydra's grammar as data of the evaluator."""

from __future__ import annotations

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Known
from mfsdp_lint.readers.hydra_overrides import Element, NoOverride, read_element, split_override
from mfsdp_lint.readers.python.values.places import Placed

__all__ = ("NoOverride", "Override", "parse")


@dataclass(frozen=True, slots=True)
class Override:
    """`sign` is "" (change), "+" (add), "++" (add or change) or "~" (take away); `key` has dots."""

    sign: str
    key: str
    value: Placed


def parse(text: str) -> Override:
    """Parse one override. Raises NoOverride."""
    found = split_override(text)
    if found is None:
        raise NoOverride(text)
    return Override(
        found.sign, found.key, Placed(None) if found.written is None else _placed(read_element(found.written))
    )


def _placed(element: Element) -> Placed:
    match element:
        case list():
            return Placed([_placed(each) for each in element])
        case dict():
            return Placed({key: _placed(each) for key, each in element.items()})
        case Known(value):
            return Placed(value)
    return Placed(None, open=True)
