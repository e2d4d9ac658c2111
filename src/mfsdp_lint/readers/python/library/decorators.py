"""The built-in decorators, called by name: `property(f)`."""

from __future__ import annotations

from mfsdp_lint.readers.python.state.models import BUILTINS
from mfsdp_lint.readers.python.values.objects import (
    Descriptor,
    Native,
)

for _name in ("property", "staticmethod", "classmethod"):
    BUILTINS[_name] = Native(
        f"builtins.{_name}",
        lambda machine, arguments, keywords, node, frame, kind=_name: Descriptor(
            kind, arguments[0] if arguments else None
        ),
    )
