"""What decorators that are no code of the program make of a definition."""

from __future__ import annotations

from mfsdp_lint.readers.python.state.models import BUILTINS
from mfsdp_lint.readers.python.values.objects import (
    Descriptor,
    Native,
)

for _name in ("property", "staticmethod", "classmethod"):
    BUILTINS[_name] = Native(
        f"builtins.{_name}",
        lambda machine, arguments, keywords, frame, node, kind=_name: Descriptor(
            kind, arguments[0] if arguments else None
        ),
    )
