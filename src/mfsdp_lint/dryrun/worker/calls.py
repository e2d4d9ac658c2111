"""Calls of functions that do not take the same arguments in every version."""

import inspect
from collections.abc import Callable
from typing import Any


def call(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Call a function with those keywords that this version of it takes."""
    takes = inspect.signature(function).parameters
    return function(*arguments, **{name: value for name, value in keywords.items() if name in takes})
