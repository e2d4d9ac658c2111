"""Upstream's error texts: as a run will print them, and as a person pastes them.

In a rule file, `{checkpoint.ckpt_format}` stands for the value of a setting as upstream prints it, and `{*}` for any
text that a configuration does not tell (a path, a list). Other braces are upstream's own.
"""

from __future__ import annotations

import re

from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Known

_HOLE = re.compile(r"\{(\*|\w+(?:\.\w+)+)\}")


@dataclass(frozen=True, slots=True)
class ErrorText:
    """The text of an error, with holes."""

    template: str

    def of(self, variant: Variant) -> str:
        """Fill in one variant's values; if a value is not known, return the longest piece that is."""
        pieces = [""]
        for index, piece in enumerate(_HOLE.split(self.template)):
            if index % 2 == 0:
                pieces[-1] += piece
            elif piece != "*" and isinstance(value := variant.value(piece), Known):
                pieces[-1] += str(value.value)
            else:
                pieces.append("")
        return max((piece.strip() for piece in pieces), key=len)

    def fixed(self) -> str:
        """Return the longest piece that is the same for every configuration."""
        return max((piece.strip() for piece in _HOLE.split(self.template)[::2]), key=len)

    def pieces(self) -> tuple[str, ...]:
        """Return the pieces that are the same for every configuration, in their order."""
        return tuple(piece for piece in _HOLE.split(self.template)[::2] if piece.strip())
