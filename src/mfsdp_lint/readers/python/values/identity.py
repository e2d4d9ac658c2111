"""Sameness of values, and recognition of objects among them."""

from __future__ import annotations

from mfsdp_lint.readers.python.values.markers import IDENTITY
from mfsdp_lint.readers.python.values.objects import External, Instance, Object, Unknown


def is_object(value: Object) -> bool:
    """Tell whether a value is known to have attributes of its own, which may be written."""
    return isinstance(value, Instance) or (isinstance(value, Unknown) and not IDENTITY.issuperset(value.fields))


def identical(left: Object, right: Object) -> bool:
    """Tell whether two values are the same: the same object, or equal constants of one type."""
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if isinstance(left, (str, int, float, bytes, bool)):
        return bool(left == right)
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(identical, left, right))
    return isinstance(left, (External, frozenset)) and bool(left == right)
