"""Answers about start-up validation: questions on standard input, a line of JSON each, and as many answers.

Importing takes seconds, validating a millisecond; so one process answers every question. Validation is that of
Megatron-Bridge, or `validate_args` of Megatron-LM's command line, from a source tree. What pretrain_gpt.py does before
(0.12.0 to head) is done here as well: `parse_args` with the flags of modelopt, if it can have them, and
GPT2BPETokenizer where no tokenizer is named. Of what comes after, the optimizer's configuration is made, which
refuses some settings; no checkpoint is looked at, not even with
--use-checkpoint-args, and no tokenizer is made. Settings are spelled in the words that the parser takes.
"""

import argparse
import enum
import functools
import inspect
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, field, fields
from typing import Any, NoReturn

from . import stand_ins
from .build import CannotBuild, apply_variables, build, failure, restored_environment
from .measure import SCALARS, Observer, plain_settings

Answer = dict[str, Any]
Parser = argparse.ArgumentParser

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
    """Serve validation. `arguments`: the version of Transformer Engine to pretend where there is none, and for
    Megatron-LM's command line its source tree. Whatever upstream prints goes to standard error.
    """
    transformer_engine, *tree = arguments
    answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)
    with redirect_stdout(sys.stderr):
        print(json.dumps(_prepare(transformer_engine, *tree), default=str), file=answers, flush=True)
        validate = validate_command_line if tree else validate_configuration
        for line in sys.stdin:
            print(json.dumps(_answer(json.loads(line), validate), default=str), file=answers, flush=True)


def _prepare(transformer_engine: str, tree: str = "") -> Answer:
    """Import everything; return the packages with stand-ins and the pretended parts, or why nothing can be asked."""
    try:
        if tree:
            sys.path.insert(0, tree)
            # For the help of its flags a parser reads the source of a dozen classes over again (0.16 to head).
            inspect.getsource = functools.cache(inspect.getsource)  # type: ignore[assignment]  # it only remembers
            stood_in = stand_ins.import_with_stand_ins("megatron.training.arguments").roots
        else:
            stood_in = stand_ins.import_upstream()
            import megatron.bridge.training.config  # noqa: F401
        pretended = stand_ins.pretend(transformer_engine)
    except Exception as error:
        return {"ready": True, "error": failure(error), "stood_in": [], "pretended": []}
    return {"ready": True, "error": None, "stood_in": list(stood_in), "pretended": pretended}


def _answer(question: Mapping[str, Any], validate: Callable[[Mapping[str, Any], Answer], None]) -> Answer:
    """Answer one question: `settings`, and `world_size` for the number of ranks."""
    answer: Answer = {"id": question["id"], "stage": "build", "error": None}
    with restored_environment():
        apply_variables(question["settings"], os.environ)
        os.environ |= {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": str(question["world_size"])}
        try:
            validate(question, answer)
        except CannotBuild as error:
            answer["error"] = {"type": "CannotBuild", "text": str(error), "where": []}
        except ParserRefused as error:
            answer["error"] = {"type": "ArgumentError", "text": str(error), "where": []}
        except SystemExit as error:  # what a few checks do after they have printed why
            answer["error"] = {"type": "SystemExit", "text": str(error.code or ""), "where": []}
        except Exception as error:
            answer["error"] = failure(error)
    return answer


def validate_configuration(question: Mapping[str, Any], answer: Answer) -> None:
    """Validate the settings as Megatron-Bridge's configuration."""
    from megatron.bridge.training.config import runtime_config_update

    built = build(question["settings"])
    answer |= {"stage": "startup", "no_field": built.no_field, "left_out": built.left_out}
    observer = Observer(built.config, question["settings"], ())
    _run(lambda: runtime_config_update(built.config), lambda: plain_settings(built.config), answer)
    answer["seen"] = observer.report()


def validate_command_line(question: Mapping[str, Any], answer: Answer) -> None:
    """Validate the settings as Megatron-LM's arguments: `attributes` are those that each setting may have, in the order
    of the search; `foreign` the flags that only other versions have.
    """
    answer["stage"] = "startup"
    from megatron.training.arguments import parse_args, validate_args

    def provide(parser: Parser) -> Parser:
        """Complete the parser, and put the words that it is about to read into `sys.argv`."""
        with suppress(ImportError):
            from megatron.post_training.arguments import add_modelopt_args

            parser = add_modelopt_args(parser)
        parser.error = _refuse  # type: ignore[method-assign]  # this parser's only
        found = words_of(parser, question["settings"], question["attributes"], question["foreign"])
        answer.update(no_field=found.no_field, left_out=found.left_out)
        sys.argv[1:] = found.words
        return parser

    arguments = parse_args(extra_args_provider=provide)

    def check() -> None:
        validate_args(arguments, {"tokenizer_type": "GPT2BPETokenizer"})
        # (The precision-aware optimizer needs Transformer Engine.)
        if getattr(arguments, "use_precision_aware_optimizer", None) is False:
            _optimizer_config(arguments)

    _run(check, lambda: plain_arguments(vars(arguments)), answer)


def _optimizer_config(arguments: argparse.Namespace) -> None:
    """Make the optimizer's configuration as training does (megatron/training/training.py, 0.12 to head)."""
    from megatron.core.optimizer import OptimizerConfig

    names = [each.name for each in fields(OptimizerConfig)]
    OptimizerConfig(**{name: getattr(arguments, name) for name in names if hasattr(arguments, name)})


def _refuse(message: str) -> NoReturn:
    raise ParserRefused(message)


def _run(check: Callable[[], Any], settings: Callable[[], dict[str, Any]], answer: Answer) -> None:
    """Run a check. `config` in the answer are the settings that it refused, `changed` those that it changed."""
    import torch

    before = answer["config"] = settings()
    try:
        check()
    finally:
        torch.use_deterministic_algorithms(False)  # which validation may switch on for the whole process
    after = {name: value for name, value in settings().items() if name in before and before[name] != value}
    answer |= {"config": {}, "changed": {name: [before[name], value] for name, value in after.items()}}


def words_of(
    parser: Parser, settings: Mapping[str, Any], attributes: Mapping[str, Sequence[str]], foreign: Mapping[str, str]
) -> Words:
    """Return the command line of the settings, and the settings that it cannot express."""
    found = Words()
    given: dict[str, Any] = {}
    for path, names in attributes.items():
        name, value = next((name for name in names if actions_of(parser, name)), ""), settings[path]
        if name in _NEVER_GIVEN:
            found.left_out.append(path)
        elif name in given:
            # One flag that stands for several settings has one value.
            found.left_out += [path] if given[name] != value else []
        else:
            try:
                if name or path not in foreign:
                    found.words += spelled(parser, name, value)
                elif value not in (None, False):
                    found.words += [foreign[path]] if value is True else [foreign[path], str(value)]
                given[name or path] = value
            except NoFlag:
                found.no_field.append(path)
            except NoSpelling:
                found.left_out.append(path)
    for name, (value, rivals) in _NEEDED.items():
        if not {name, *rivals} & given.keys() and actions_of(parser, name):
            found.words += spelled(parser, name, value) if parser.get_default(name) is None else []
    return found


def plain_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are plain values, or lists of them; members of enumerations are their names."""
    found = {}
    for name, value in arguments.items():
        several = value if isinstance(value, (list, tuple)) else (value,)
        items = [item.name if isinstance(item, enum.Enum) else item for item in several]
        if all(isinstance(item, SCALARS) for item in items):
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
            texts = [_text(action, each) for each in (value if isinstance(value, list) else [value])]
            # A text that begins with a dash would be read as the next option.
            given = [text for text in texts if text is not None and not text.startswith("-")]
            fits = len(given) == action.nargs if isinstance(action.nargs, int) else given or action.nargs != "+"
            return [name, *given] if fits and len(given) == len(texts) else None
    return None


def _text(action: argparse.Action, value: Any) -> str | None:
    """Return the text that is converted to the value; None where there is none."""
    if isinstance(value, str):
        known = value not in _DTYPES or value in (action.choices or ())
        return value if known else _DTYPES[value]
    text = str(value).replace(" ", "")
    if not callable(action.type):
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return text if action.type is None and number else None
    # argparse calls bool(), so that only the empty text is false.
    texts = [""] if value is False else [json.dumps(value)] if value is None or isinstance(value, dict) else []
    for each in (*texts, text, *([",".join(map(str, value))] if isinstance(value, list) else [])):
        with suppress(Exception):  # upstream's own conversions raise what they like
            if same(action.type(each), value):
                return each
    return None
