"""Environment variables that settings speak of."""

from collections.abc import Mapping, MutableMapping
from typing import Any

_PREFIX = "env."


def apply(settings: Mapping[str, Any], environment: MutableMapping[str, str]) -> None:
    """Set and unset (None) the variables of the settings in an environment."""
    for path, value in settings.items():
        if not path.startswith(_PREFIX):
            continue
        name = path[len(_PREFIX) :]
        if value is None:
            environment.pop(name, None)
        else:
            environment[name] = str(value)
