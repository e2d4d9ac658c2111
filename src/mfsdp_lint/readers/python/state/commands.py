"""Commands: other programs that a program starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.readers.python.state.texts import Text
from mfsdp_lint.readers.python.values.objects import DictObject, Object


class Said(NamedTuple):
    """A text that a program gives another one, and the expression that says it, where that is seen.

    `several`: nothing is known of it, and it may be any number of them.
    """

    value: Object
    text: Text | None
    several: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Command:
    """A program as it is started: by its words, or by a `script` that a shell is given.

    `environment` is the whole of what the evaluated program has set by then, or hands on. `folder` is what it is
    started in, None where that is the folder of the evaluated program. `calls` led there, the innermost first.
    `when` is what was decided until then, in words.
    """

    words: Sequence[Said]
    script: Said | None
    environment: DictObject
    folder: Object
    calls: tuple[tuple[Any, Any, str], ...]
    when: tuple[str, ...]
