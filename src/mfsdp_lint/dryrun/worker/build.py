"""Settings as JSON has them (dotted paths and plain values), made real: a `ConfigContainer`, and the environment's
variables; and errors as JSON has them.

Every section is made with what it cannot do without, and then given the settings one by one, as recipes do; upstream's
validation runs each section's own checks over again. The recipe's own code is not executed: classes and functions
that settings name are looked up in Megatron and torch alone.
"""

import dataclasses
import enum
import importlib
import inspect
import os
import pkgutil
import traceback
import typing
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import Any

Settings = Mapping[str, Any]

CONFIG = "megatron.bridge.training.config"

_TRUSTED = ("megatron", "torch")
"""Packages whose classes and functions a setting may name."""

_CLASSES = {
    "model": "megatron.bridge.models.gpt_provider.GPTModelProvider",
    "dataset": f"{CONFIG}.MockGPTDatasetConfig",
    "mixed_precision": "megatron.bridge.training.mixed_precision.MixedPrecisionConfig",
    "comm_overlap": "megatron.bridge.training.comm_overlap.CommOverlapConfig",
    "peft": "megatron.bridge.peft.lora.LoRA",
}
"""The class of a section where nothing says it and its declaration leaves a choice."""

_MOCK_DATA = {"random_seed": 1, "reset_attention_mask": False, "reset_position_ids": False, "eod_mask_loss": False}

_NEEDED: dict[str, tuple[dict[str, Any], ...]] = {
    # Bridge 0.2 knows the first by its other name alone.
    "MockGPTDatasetConfig": ({"seq_length": 4096, **_MOCK_DATA}, {"sequence_length": 4096, **_MOCK_DATA}),
    "FinetuningDatasetConfig": ({"seq_length": 4096},),
    "CommOverlapConfig": ({"tp_comm_overlap": False},),
}
"""Arguments that a class cannot be made without, by its name; where versions differ, one after the other is tried."""

_BASE: Settings = {
    "model.num_layers": 32,
    "model.hidden_size": 4096,
    "model.num_attention_heads": 32,
    "model.vocab_size": 32000,
    "model.seq_length": 4096,
    "train.train_iters": 100,
    "train.global_batch_size": 512,
    "train.micro_batch_size": 1,
    "optimizer.lr": 1e-4,
    "tokenizer.tokenizer_type": "NullTokenizer",
}
"""Settings that a configuration needs, where a recipe leaves them out or nobody knows them."""


@dataclasses.dataclass
class Built:
    """A configuration; the settings that its classes have no field for; those that could not be given."""

    config: Any
    no_field: list[str]
    left_out: list[str]


class CannotBuild(Exception):
    """A section that could not be made. It says nothing about the settings."""


def build(settings: Settings, base: Settings = _BASE) -> Built:
    """Build the configuration that settings describe; everything else is as the classes have it. Raises CannotBuild."""
    settings = dict(settings)
    # Model and data agree on the sequence length where only one of them sets it.
    said = (settings.get(path) for path in ("model.seq_length", "dataset.sequence_length", "dataset.seq_length"))
    length = next((length for length in said if length), base["model.seq_length"])
    settings.setdefault("model.seq_length", length)
    if "dataset.seq_length" not in settings:
        settings.setdefault("dataset.sequence_length", length)
    sections: dict[str, dict[str, Any]] = {}
    deep = []
    for path, value in {**base, **settings}.items():
        section, _, name = path.partition(".")
        if "." in name:
            deep.append(path)
        elif name:
            sections.setdefault(section, {})[name] = value
    module = importlib.import_module(CONFIG)
    hints = typing.get_type_hints(module.ConfigContainer)
    built = Built(None, [], [path for path in deep if not path.startswith("env.")])
    parts = {}
    for field in dataclasses.fields(module.ConfigContainer):
        whole = settings.get(field.name, ...)
        if whole is None or isinstance(whole, str):
            parts[field.name] = whole
        elif field.name in sections or field.default is field.default_factory is dataclasses.MISSING:
            # What may be None, and of which only some fields are known, is there if it was said to be.
            if whole is ... and field.default is None and not any(p.startswith(field.name + ".") for p in settings):
                continue
            parts[field.name] = _section(field.name, hints[field.name], sections.get(field.name, {}), built)
    try:
        built.config = module.ConfigContainer(**parts)
    except Exception as error:
        raise CannotBuild(f"{type(error).__name__}: {error}") from None
    return built


def _section(name: str, hint: Any, values: Mapping[str, Any], built: Built) -> Any:
    chosen = named(values.get("__class__"))
    if values.get("__class__") and not isinstance(chosen, type):
        built.left_out.append(f"{name}.__class__")
        chosen = None
    section: Any = None
    if chosen is not None:
        try:
            section = _made(name, chosen)
        except CannotBuild:  # its arguments are not known
            built.left_out.append(f"{name}.__class__")
    if section is None:
        # A declaration may be optional.
        kinds = (kind for kind in (hint, *typing.get_args(hint)) if isinstance(kind, type) and kind is not type(None))
        usual = named(_CLASSES.get(name)) or next(kinds, None)
        if not isinstance(usual, type):
            raise CannotBuild(f"{name}: {hint} is no class")
        section = _made(name, usual)
    kind = type(section)
    try:
        hints = typing.get_type_hints(kind)
    except Exception:  # an annotation that names what is not installed
        hints = {}
    names = {field.name for field in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else set()
    if "sequence_length" in values and "seq_length" in names:
        values = {"seq_length": values["sequence_length"], **values}  # which Bridge 0.6 copies to the other
    for field, value in values.items():
        path = f"{name}.{field}"
        if field == "__class__":
            continue
        if field not in names and not hasattr(section, field):
            built.no_field.append(path)
            continue
        try:
            setattr(section, field, decode(value, hints.get(field), getattr(section, field, None)))
        except (LookupError, ValueError, AttributeError):
            built.left_out.append(path)
    return section


def _made(name: str, kind: type) -> Any:
    """Make a section with its defaults. Raises CannotBuild."""
    why = ""
    for arguments in _NEEDED.get(kind.__name__, ({},)):
        try:
            return kind(**arguments)
        except Exception as error:
            why = why or f"{name}: {kind.__name__}: {type(error).__name__}: {error}"
    raise CannotBuild(why)


def decode(value: Any, hint: Any, present: Any) -> Any:
    """Decode a plain value: dtypes, enumeration members and functions by name. Raises ValueError or LookupError."""
    if isinstance(value, list):
        kind = _enumeration(hint, None)
        return [kind.__members__.get(item, item) if kind and isinstance(item, str) else item for item in value]
    if not isinstance(value, str):
        return value
    if value.startswith("<function ") and value.endswith(">"):
        found = named(value[len("<function ") : -1])
        if not callable(found):
            raise ValueError(value)
        return found
    if value.startswith("torch."):
        import torch

        dtype = getattr(torch, value.partition(".")[2], None)
        return dtype if isinstance(dtype, torch.dtype) else value
    # Upstream turns the texts that it takes into members itself; what is no name is left to it.
    kind = _enumeration(hint, present)
    return kind.__members__.get(value, value) if kind else value


def _enumeration(hint: Any, present: Any) -> type[enum.Enum] | None:
    if isinstance(present, enum.Enum):
        return type(present)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return hint
    return next((found for inner in typing.get_args(hint) if (found := _enumeration(inner, None))), None)


def named(name: Any) -> Any:
    """Import the object of a dotted name of Megatron or torch; return None for any other name."""
    if not isinstance(name, str) or name.partition(".")[0] not in _TRUSTED:
        return None
    try:
        return pkgutil.resolve_name(name)
    except (ImportError, AttributeError, ValueError):
        return None


def call(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Call a function with those keywords that this version of it takes."""
    takes = inspect.signature(function).parameters
    return function(*arguments, **{name: value for name, value in keywords.items() if name in takes})


def apply_variables(settings: Mapping[str, Any], environment: MutableMapping[str, str]) -> None:
    """Set and unset (None) the variables of the settings in an environment."""
    for path, value in settings.items():
        name = path.removeprefix("env.")
        if name != path and value is None:
            environment.pop(name, None)
        elif name != path:
            environment[name] = str(value)


@contextmanager
def restored_environment() -> Iterator[dict[str, str]]:
    """Give the environment as it is before a block; after the block, it is so again."""
    before = dict(os.environ)
    try:
        yield before
    finally:
        os.environ.clear()
        os.environ.update(before)


def failure(error: BaseException) -> dict[str, Any]:
    """Describe an error: its type, its text, and the places on its way, the last one last.

    An assertion without a text is known by its source line, which replaces the text.
    """
    frames = traceback.extract_tb(error.__traceback__)
    text = str(error).strip()
    if not text and frames and isinstance(error, AssertionError):
        text = (frames[-1].line or "").strip()
    return {
        "type": type(error).__name__,
        "text": text[:4000],
        # Below the folder that packages are installed in, if it is there.
        "where": [
            f"{each.filename.rpartition(f'site-packages{os.sep}')[2]}:{each.lineno} {each.name}" for each in frames[-6:]
        ],
    }
