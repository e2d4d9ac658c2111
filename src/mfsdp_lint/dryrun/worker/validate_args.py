"""Answers what Megatron-LM's `validate_args` says of a command line. Megatron-LM is that of a source tree.

What pretrain_gpt.py does before (0.12.0 to head) is done here as well: `parse_args` with the flags of modelopt, if it
can have them, and GPT2BPETokenizer where no tokenizer is named. Nothing comes after: no checkpoint is looked at, not
even with --use-checkpoint-args, and no tokenizer is made. Settings are spelled in the words that the parser takes.
"""

import argparse
import enum
import functools
import inspect
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from . import stand_ins
from .answers import Answer, changes, environment, failure, serve
from .stand_ins import pretend

Parser = argparse.ArgumentParser

ARGUMENTS = "megatron.training.arguments"

_DEFAULTS = {"tokenizer_type": "GPT2BPETokenizer"}

_NEEDED: dict[str, tuple[Any, tuple[str, ...]]] = {
    "num_layers": (32, ("encoder_num_layers", "decoder_num_layers", "hybrid_layer_pattern")),
    "hidden_size": (4096, ()),
    "num_attention_heads": (32, ()),
    "seq_length": (4096, ("encoder_seq_length",)),
    "max_position_embeddings": (1 << 20, ()),
    "micro_batch_size": (1, ()),
    "save_interval": (1000, ()),
}
"""Attributes that validation needs, where a recipe leaves them out or nobody knows them: a value, and the attributes
that say the same in another way."""

_NEVER_GIVEN = frozenset({"yaml_cfg"})
"""The file that it names would take the place of the whole command line."""


class ParserRefused(Exception):
    """The parser does not take the command line."""


@dataclass
class Words:
    """A command line; the settings that its parser has no flag for; those whose value it cannot be given."""

    words: list[str] = field(default_factory=list)
    no_field: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def main(arguments: Sequence[str]) -> None:
    """Serve validation. `arguments`: the version of Transformer Engine to pretend where there is none, and the source
    tree.
    """
    transformer_engine, tree = arguments
    sys.path.insert(0, tree)
    serve(lambda: _prepare(transformer_engine), validate)


def _prepare(transformer_engine: str) -> Answer:
    # For the help of its flags a parser reads the source of a dozen classes over again (0.16 to head).
    inspect.getsource = functools.cache(inspect.getsource)  # type: ignore[assignment]  # the same function, with a memory
    try:
        stood_in = stand_ins.import_with_stand_ins(ARGUMENTS)
        pretended = pretend(transformer_engine)
    except Exception as error:
        return {"error": failure(error), "stood_in": [], "pretended": []}
    return {"error": None, "stood_in": list(stood_in), "pretended": pretended}


def validate(question: Mapping[str, Any]) -> Answer:
    """Answer one question: `settings` with the `attributes` that each may have, in the order of the search; `foreign`,
    the flags that only other versions have; and `world_size` for the number of ranks.
    """
    import torch
    from megatron.training.arguments import validate_args

    answer: Answer = {"id": question["id"], "stage": "startup", "error": None}
    settings = question["settings"]
    with environment(settings, question["world_size"]):
        try:
            arguments = _parsed(settings, question["attributes"], question["foreign"], answer)
            before = answer["config"] = plain(vars(arguments))
            try:
                validate_args(arguments, dict(_DEFAULTS))
            finally:
                torch.use_deterministic_algorithms(False)  # which validation may switch on for the whole process
            answer["config"] = {}
            answer["changed"] = changes(before, plain(vars(arguments)))
        except ParserRefused as error:
            answer["error"] = {"type": "ArgumentError", "text": str(error), "where": []}
        except SystemExit as error:  # what a few checks do after they have printed why
            answer["error"] = {"type": "SystemExit", "text": str(error.code or ""), "where": []}
        except Exception as error:
            answer["error"] = failure(error)
    return answer


def _parsed(
    settings: Mapping[str, Any], attributes: Mapping[str, Sequence[str]], foreign: Mapping[str, str], answer: Answer
) -> argparse.Namespace:
    """Parse the settings with upstream's parser. Raises Refused."""
    from megatron.training.arguments import parse_args

    def provide(parser: Parser) -> Parser:
        """Complete the parser, and put the words that it is about to read into `sys.argv`."""
        parser = _with_modelopt(parser)
        parser.error = _refuse  # type: ignore[method-assign]  # this parser's only
        found = words_of(parser, settings, attributes, foreign)
        answer.update(no_field=found.no_field, left_out=found.left_out)
        sys.argv[1:] = found.words
        return parser

    arguments: argparse.Namespace = parse_args(extra_args_provider=provide)
    return arguments


def _refuse(message: str) -> NoReturn:
    raise ParserRefused(message)


def _with_modelopt(parser: Parser) -> Parser:
    try:
        from megatron.post_training.arguments import add_modelopt_args
    except ImportError:
        return parser
    added: Parser = add_modelopt_args(parser)
    return added


def words_of(
    parser: Parser, settings: Mapping[str, Any], attributes: Mapping[str, Sequence[str]], foreign: Mapping[str, str]
) -> Words:
    """Return the command line of the settings, and the settings that it cannot express."""
    found = Words()
    given: dict[str, Any] = {}
    for path, names in attributes.items():
        name = next((name for name in names if actions_of(parser, name)), "")
        if name in _NEVER_GIVEN:
            found.left_out.append(path)
        elif name in given:
            # One flag that stands for several settings has one value.
            found.left_out += [path] if given[name] != settings[path] else []
        else:
            try:
                found.words += _flag(parser, name, settings[path], foreign.get(path))
                given[name or path] = settings[path]
            except NoFlag:
                found.no_field.append(path)
            except NoSpelling:
                found.left_out.append(path)
    for name, (value, rivals) in _NEEDED.items():
        if not {name, *rivals} & given.keys() and actions_of(parser, name):
            found.words += spelled(parser, name, value) if parser.get_default(name) is None else []
    return found


def _flag(parser: Parser, name: str, value: Any, foreign: str | None) -> list[str]:
    """Spell one flag. Raises NoFlag and NoSpelling."""
    if name or foreign is None:
        return spelled(parser, name, value)
    if value in (None, False):
        return []
    return [foreign] if value is True else [foreign, str(value)]


_SCALARS = (bool, int, float, str, type(None))


def plain(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are plain values, or lists of them; members of enumerations are their names."""
    found = {}
    for name, value in arguments.items():
        several = value if isinstance(value, (list, tuple)) else (value,)
        items = [item.name if isinstance(item, enum.Enum) else item for item in several]
        if all(isinstance(item, _SCALARS) for item in items):
            found[name] = items if isinstance(value, (list, tuple)) else items[0]
    return found


_DTYPES = {"torch.float32": "fp32", "torch.float16": "fp16", "torch.bfloat16": "bf16", "torch.uint8": "fp8"}
"""Names of data types in Megatron-LM's flags (megatron/training/arguments.py, `dtype_map` in validate_args, 0.12 to
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
