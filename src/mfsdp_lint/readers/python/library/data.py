"""Data that a program loads from files of the tree or from texts: `yaml.safe_load`, `json.load`, `literal_eval`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mfsdp_lint.readers.python.library.data_formats import from_json, from_literal, from_toml, from_yaml
from mfsdp_lint.readers.python.library.data_places import Read, in_place
from mfsdp_lint.readers.python.state.calling import invoke
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import Model, models
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.values.frames import Call, Frame
from mfsdp_lint.readers.python.values.objects import (
    DictObject,
    ListObject,
    Native,
    Object,
    Option,
    Unknown,
    is_symbolic,
)
from mfsdp_lint.readers.python.values.places import NoData, Placed


def to_object(machine: Machine, placed: Placed, option: Option | None, node: Any, frame: Frame) -> Object:
    """Convert loaded data to the evaluator's object; entries of dictionaries keep their places in the data.

    `option` is the option that the text came from, if whoever starts the program may change it.
    """
    if placed.open:
        return machine.unknown("data")
    if isinstance(placed.value, list):
        items = [to_object(machine, item, option, node, frame) for item in placed.value]
        listed = ListObject(items, machine.tick())
        if all(item.origin for item in placed.value):
            listed.loaded_from([(frame.module, item.origin, frame.function) for item in placed.value])
        return listed
    if isinstance(placed.value, dict):
        made = DictObject({}, machine.tick())
        said: Any = placed.origin or node
        made.made = machine.note(said, frame, None, "default", None, None)
        for key, item in placed.value.items():
            value = to_object(machine, item, option, node, frame)
            made.fields[key] = value
            made.writes[key] = machine.note(item.origin or node, frame, None, "assigned", value, None)
        return made
    return placed.value if option is None else Option(machine.tick(), option.text, placed.value)


def loaded(machine: Machine, source: Object, read: Read, node: Any, frame: Frame) -> list[Object] | None:
    """Return the documents of a text or of a file that was opened; None where they are not known.

    Raises Raised where the loader refuses the text.
    """
    stream = source.fields.get("read") if isinstance(source, Unknown) else None
    if isinstance(stream, Native):
        source = invoke(machine, stream, Call([], {}, node, frame))
    text = machine.settle(source)
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    if not isinstance(text, str) or is_symbolic(text):
        return None
    try:
        found = in_place(machine, read, text, node, frame)
    except NoData as error:
        raise Raised("ValueError", str(error)) from None
    option = source if type(source) is Option else None
    machine.charge(len(text))
    return [to_object(machine, each, option, node, frame) for each in found]


def _loader(read: Callable[[str, str], Placed]) -> Model:
    def model(machine: Machine, call: Call) -> Object:
        source = call.arguments[0] if call.arguments else next(iter(call.keywords.values()), None)
        hooked = any("hook" in name or name == "cls" for name in call.keywords)
        found = (
            None if hooked else loaded(machine, source, lambda path, text: [read(path, text)], call.node, call.frame)
        )
        return machine.unknown("data") if found is None else found[0]

    return model


def _yaml(path: str, text: str) -> Placed:
    documents = from_yaml(path, text)
    if len(documents) > 1:
        raise NoData("expected a single document")
    return documents[0] if documents else Placed(None)


models("json.load", "json.loads", "orjson.loads")(_loader(from_json))
models("tomllib.load", "tomllib.loads", "tomli.load", "tomli.loads", "toml.load", "toml.loads")(_loader(from_toml))
models("ast.literal_eval")(_loader(from_literal))
models("yaml.safe_load", "yaml.full_load")(_loader(_yaml))


@models("yaml.load")
def _yaml_load(machine: Machine, call: Call) -> Object:
    """Load YAML with a safe loader; with any other loader, data can be anything."""
    loader = call.arguments[1] if len(call.arguments) > 1 else call.keywords.get("Loader")
    if getattr(loader, "name", "").rpartition(".")[2] not in ("SafeLoader", "CSafeLoader", "FullLoader", "CFullLoader"):
        return machine.unknown("data")
    return _loader(_yaml)(machine, call.passing(call.arguments[:1]))


@models("yaml.safe_load_all")
def _yaml_documents(machine: Machine, call: Call) -> Object:
    return ListObject(loaded(machine, call.arguments[0], from_yaml, call.node, call.frame), machine.tick())
