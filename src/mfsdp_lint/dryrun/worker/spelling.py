"""The words of a command line that give an attribute of the parsed arguments a value, as a parser takes them."""

import argparse
import enum
import json
from collections.abc import Iterator
from typing import Any

Parser = argparse.ArgumentParser

_DTYPES = {"torch.float32": "fp32", "torch.float16": "fp16", "torch.bfloat16": "bf16", "torch.uint8": "fp8"}
"""What Megatron-LM's flags call data types (megatron/training/arguments.py, `dtype_map` in validate_args, 0.12 to
head)."""


class NoFlag(LookupError):
    """The parser has no such attribute."""


class NoSpelling(ValueError):
    """No words give the attribute that value."""


def spelled(parser: Parser, attribute: str, value: Any) -> list[str]:
    """Return the words that set an attribute; none where its value is the default anyway. A text that its flag does
    not take is spelled all the same.

    Raises NoFlag and NoSpelling.
    """
    actions = actions_of(parser, attribute)
    if not actions:
        raise NoFlag(attribute)
    if same(parser.get_default(attribute), value):
        return []
    words = next((words for action in actions if (words := _words(action, value)) is not None), None)
    if words is None:
        raise NoSpelling(attribute)
    return words


def actions_of(parser: Parser, attribute: str) -> list[argparse.Action]:
    """Return the options of a parser that set an attribute."""
    return [action for action in parser._actions if action.dest == attribute and action.option_strings]


def same(real: Any, value: Any) -> bool:
    """Tell whether a real value equals a plain one: members of enumerations and dtypes are known by name."""
    if isinstance(real, (list, tuple)) and isinstance(value, list):
        return len(real) == len(value) and all(map(same, real, value))
    if isinstance(real, enum.Enum):
        return value in (real.name, real.value)
    if isinstance(real, bool) or isinstance(value, bool):
        return real is value
    return bool(real == value) or (isinstance(value, str) and value.startswith("torch.") and str(real) == value)


def _words(action: argparse.Action, value: Any) -> list[str] | None:
    """Return the words with one of the options; None where it cannot have that value."""
    name = next((name for name in action.option_strings if name.startswith("--")), action.option_strings[0])
    match action:
        case argparse.BooleanOptionalAction() if isinstance(value, bool):
            return [next(each for each in action.option_strings if each.startswith("--no-") is not value)]
        case argparse._StoreConstAction():
            return [name] if same(action.const, value) else None
        case argparse._StoreAction() if action.nargs in (None, argparse.OPTIONAL):
            text = _text(action, value)
            return None if text is None else [f"{name}={text}"]
        case argparse._StoreAction():
            return _several(action, name, value if isinstance(value, list) else [value])
        case _:
            return None


def _several(action: argparse.Action, name: str, values: list[Any]) -> list[str] | None:
    texts = [text for value in values if (text := _text(action, value)) is not None]
    # What begins with a dash would be read as the next option.
    if len(texts) < len(values) or any(text.startswith("-") for text in texts):
        return None
    if (isinstance(action.nargs, int) and len(texts) != action.nargs) or (action.nargs == "+" and not texts):
        return None
    return [name, *texts]


def _text(action: argparse.Action, value: Any) -> str | None:
    """Return the text that is converted to the value; None where there is none."""
    if isinstance(value, str):
        known = value not in _DTYPES or value in (action.choices or ())
        return value if known else _DTYPES[value]
    return next((text for text in _texts(value) if _is_read_as(action, text, value)), None)


def _texts(value: Any) -> Iterator[str]:
    if value is False:
        yield ""  # argparse calls bool(), so that only the empty text is false
    if value is None or isinstance(value, dict):
        yield json.dumps(value)
    yield str(value).replace(" ", "")
    if isinstance(value, list):
        yield ",".join(map(str, value))


def _is_read_as(action: argparse.Action, text: str, value: Any) -> bool:
    if action.type is None:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if not callable(action.type):
        return False
    try:
        return same(action.type(text), value)
    except Exception:  # upstream's own conversions raise what they like
        return False
