"""Results of a run as bytes, for a later run.

They are pickled, because what recipes share is shared again. A pickle can name anything to be called; here it may name
the tool's own types and few of the standard library. Whoever stores one also seals it (engine/cache.py).
"""

from __future__ import annotations

import copyreg
import io
import pickle
from typing import Any

_OWN = "mfsdp_lint."
_types: dict[tuple[str, str], type] = {("builtins", each.__name__): each for each in (set, frozenset)}
"""The types that were named until now."""


class NotKept(BaseException):
    """A question to a result that was kept, of which this is no part. No fault of a file: what contains faults lets it
    pass, and the run is done without what was kept."""


def dumps(value: object, outside: type | None = None) -> bytes:
    """Return a value as bytes. What is of the type `outside` is left out."""
    written = io.BytesIO()
    pickler = pickle.Pickler(written, pickle.HIGHEST_PROTOCOL)
    if outside is not None:
        pickler.dispatch_table = {**copyreg.dispatch_table, outside: lambda _: (_Outside, ())}
    pickler.dump(value)
    return written.getvalue()


def loads(content: bytes, outside: object = None) -> Any:
    """Return the value that `dumps` was given, with `outside` for what was left out.

    Raises whatever damaged bytes make of it, and ValueError for a type of somebody else.
    """
    return _Unpickler(content, outside).load()


class _Outside:
    """The mark of what was left out."""


class _Unpickler(pickle.Unpickler):
    def __init__(self, content: bytes, outside: object) -> None:
        super().__init__(io.BytesIO(content))
        self._outside = outside

    def find_class(self, module: str, name: str) -> Any:
        known = _types.get((module, name))
        if known is None:
            found = super().find_class(module, name) if module.startswith(_OWN) else None
            if not isinstance(found, type) or found.__module__ != module:
                raise ValueError(f"{module}.{name} is no kept type")
            known = _types[module, name] = found
        return (lambda: self._outside) if known is _Outside else known
