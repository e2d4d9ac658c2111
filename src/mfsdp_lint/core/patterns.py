"""Regular expressions that are compiled when they are first used.

The modules of the tool have over four hundred, and a run over one file needs 35 of them: compiling all took 25 of its
200 ms.
"""

from __future__ import annotations

import re
from typing import AnyStr, cast

_METHODS = ("search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn")
_FACTS = ("flags", "groups", "groupindex")


def lazy_pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a regular expression that behaves like the compiled one, and is compiled at the first use of a method.

    `text` and `flags` are those of `re.compile`. Raises re.error at that first use. The functions of the module `re`
    take only compiled ones: call the methods.
    """
    return cast("re.Pattern[AnyStr]", _LazyPattern(text, flags))


class _LazyPattern:
    """A text to compile. After the first use its instance has the methods of the compiled expression itself."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self.pattern = text
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        if name not in _METHODS and name not in _FACTS:  # asked for by `copy` and the like
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        vars(self).update((method, getattr(compiled, method)) for method in (*_METHODS, *_FACTS))
        return getattr(compiled, name)
