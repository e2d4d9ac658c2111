"""Hydra's programs: `@hydra.main`, and `initialize` with `compose`. Results composed of files of the tree are known.

A program of Hydra is judged as started without any override, unless its command line is known.
"""

from __future__ import annotations

import math
import os
from contextlib import suppress
from itertools import product
from typing import Any

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Origin, Span
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.values import UNKNOWN, Known
from mfsdp_lint.inputs import disk
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.hydra_defaults import Composer, ConfigFile, Default, NotComposed, Options, Part, package_of
from mfsdp_lint.readers.overrides import NoOverride, values_of_sweep
from mfsdp_lint.readers.python.eval.definitions import MODELLED
from mfsdp_lint.readers.python.eval.path_objects import folder_of, located, normal, text_of, text_of_path
from mfsdp_lint.readers.python.library.command_line import NotFollowed, Spec, take
from mfsdp_lint.readers.python.library.config_trees import all_lacked, make_tree, meant, merge
from mfsdp_lint.readers.python.library.data import from_omegaconf, to_object
from mfsdp_lint.readers.python.library.omegaconf import OverrideWord, override, overrides_in
from mfsdp_lint.readers.python.library.text_places import NoData, Placed
from mfsdp_lint.readers.python.state.calling import invoke, models
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import RefusedCall
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    ConfigTree,
    DictObject,
    Function,
    Module,
    Native,
    Object,
    Option,
    Partial,
)
from mfsdp_lint.readers.trees import Leaf, Section, Tree

_GROUP = lazy_pattern(r"(?P<sign>~|\+\+|\+)?(?P<group>[\w/.-]+)(?:@(?P<package>[\w.]+))?(?:=(?P<option>.*))?\Z")
_SUFFIX = ".yaml"
_OPTIONS = lazy_pattern(r"\[(?P<several>[\w/., -]*)\]\Z|(?P<one>[\w/.-]+)\Z")


@models("hydra.main")
def _main(interp: Interpreter, call: Call) -> Object:
    path, name = call.argument(0, "config_path", MISSING), call.argument(1, "config_name")

    def decorate(interp: Interpreter, decorated: Call) -> Object:
        function = decorated.arguments[0]
        if isinstance(function, (Function, Partial)):
            return _program(function, path, name, call.frame.module)
        return function

    return Native(f"{MODELLED}command", decorate)


def _program(function: Object, path: Object, name: Object, module: Module) -> Object:
    def start(interp: Interpreter, call: Call) -> Object:
        if call.arguments and call.arguments[0] is not None:
            return invoke(interp, function, call.passing(call.arguments[:1]))
        unknown = interp.unknown("what hydra composes", not_none=True)
        try:
            found = _started(interp, path, name)
            folder = _folder(interp, found.path, module)
            swept = _swept_by_file(interp, folder, found.name, module) if found.swept else []
            sweep = _runs_of_sweep([*swept, *found.overrides]) if found.swept else [found.overrides]
        except NotFollowed:
            return None if _is_described(interp, module) else invoke(interp, function, call.passing([unknown]))
        runs = [(found.name, overrides) for overrides in sweep]
        if interp.started_with() is None:
            runs += [(other, []) for other in _built_on(interp, folder, found.name, module)]
        made: Object = None
        for config, overrides in runs:
            tree = _tree(interp, folder, config, overrides, module, call, started=True, swept=found.swept)
            if isinstance(tree, ConfigTree) and interp.given is not None:
                # A framework's program is not followed: its profile says what it makes of the configuration.
                composed = interp.knowledge.composed(interp, module.path, tree, call.frame)
                if composed is not None and len(runs) == 1:
                    interp.composed = composed
                    return None
                if _is_described(interp, module):
                    return None
                tree = tree if composed is None else unknown
            result = invoke(interp, function, call.passing([tree]))
            made = result if config == found.name else made
        return made

    return Native("a program", start)


def _is_described(interp: Interpreter, module: Module) -> bool:
    """Tell whether a profile says what a program that a launch starts makes of its words: then it is not followed."""
    return interp.given is not None and interp.knowledge.describes(module.name)


_FLAGS = (
    Spec(("--config-name", "-cn"), "name"),
    Spec(("--config-path", "-cp"), "path"),
    Spec(("--config-dir", "-cd"), "more"),
    Spec(("--multirun", "-m"), "several", 0),
    Spec((), "overrides", "*"),
)
"""Those of Hydra's own flags (hydra-core 1.3.2, hydra/_internal/utils.py) that change what is composed."""


@dataclass(frozen=True, slots=True)
class _ComposedAtStart:
    """The folder and the file that a program composes, and the overrides that it is started with; those of a sweep are
    of several runs.
    """

    path: Object
    name: Object
    overrides: list[OverrideWord]
    swept: bool = False


def _started(interp: Interpreter, path: Object, name: Object) -> _ComposedAtStart:
    """Apply the command line to the arguments of `@hydra.main`. Raises NotFollowed."""
    words = interp.started_with()
    if words is None:
        return _ComposedAtStart(path, name, [])
    found = take(_FLAGS, words)
    given = {use.spec.destination: use.words for use in found.uses}
    if "more" in given or any(word.text.startswith("-") for word in found.rest):
        raise NotFollowed
    overrides = [word for use in found.uses if use.spec.destination == "overrides" for word in use.words]
    if any(HOLE in word.text.partition("=")[0] for word in (*overrides, *found.rest)):
        raise NotFollowed
    said = [OverrideWord(word.known, word, word.origin) for word in (*overrides, *found.rest)]
    path, name = (given[key][0].known if key in given else each for key, each in (("path", path), ("name", name)))
    swept = "several" in given or any(each.text == "hydra.mode=MULTIRUN" for each in said)
    return _ComposedAtStart(path, name, said, swept)


_MOST_RUNS = 16
"""Runs of one sweep, or with files that are built on one, that are followed."""


def _built_on(interp: Interpreter, folder: str | None, name: Object, module: Module) -> list[str]:
    """Return the files beside the one that a program composes which are built on it, directly or through others, and
    on which none is: whoever starts the program names one of them (`--config-name`).
    """
    if folder is None or not isinstance(name, str):
        return []
    files, own = _Files(interp, folder, module, "MULTIRUN"), name.removesuffix(_SUFFIX)
    beside = (interp.finder.entries(place).matching(f"*{_SUFFIX}") for place in located(interp, folder, module))
    stems = dict.fromkeys(each.removesuffix(_SUFFIX) for names in beside for each in names)
    texts = {stem: _text_beside(interp, f"{folder}/{stem}{_SUFFIX}", module) for stem in stems if stem != own}
    if not any("defaults" in text and own in text for text in texts.values()):
        return []
    parts: dict[str, set[str]] = {}
    for stem in (stem for stem, text in texts.items() if "defaults" in text):
        loaded: list[str] = []

        def load(path: str, loaded: list[str] = loaded) -> ConfigFile[dict[Any, Placed]] | None:
            loaded.append(path.removesuffix(_SUFFIX))
            return files.load(path)

        with suppress(NotComposed, NoData):
            Composer(load).composed(stem)
            parts[stem] = {*loaded} - {stem}
    used = set[str]().union(*parts.values())
    return [stem for stem, of in parts.items() if own in of and stem not in used][:_MOST_RUNS]


def _text_beside(interp: Interpreter, path: str, module: Module) -> str:
    try:
        return (text_of(interp, path, module) or ("", ""))[1]
    except FileNotFoundError:
        return ""


def _swept_by_file(interp: Interpreter, folder: str | None, name: Object, module: Module) -> list[OverrideWord]:
    """Return the overrides that the composed file itself has for Hydra's own sweeper (`hydra.sweeper.params`), which
    stand in front of those of the command line (`sweep` of basic_sweeper.py). Raises NotFollowed for another sweeper.
    """
    if folder is None or not isinstance(name, str):
        return []
    try:
        file = _Files(interp, folder, module, "hydra/sweeper").load(name)
    except (NotComposed, NoData):
        raise NotFollowed from None
    params = Placed({} if file is None else file.entries)
    for key in ("hydra", "sweeper", "params"):
        params = params.value.get(key, Placed({})) if isinstance(params.value, dict) else Placed({})
    entries = params.value if isinstance(params.value, dict) else {}
    if params.open or any(each.open or isinstance(each.value, (dict, list)) for each in entries.values()):
        raise NotFollowed
    return [OverrideWord(f"{key}={each.value}", None, each.origin) for key, each in entries.items()]


def _runs_of_sweep(overrides: list[OverrideWord]) -> list[list[OverrideWord]]:
    """Return the overrides of each run that Hydra's own sweeper starts: all combinations of their values, in order
    (`split_arguments` of hydra/_internal/core_plugins/basic_sweeper.py, 1.3.2). Raises NotFollowed.
    """
    choices: dict[str, list[OverrideWord]] = {}
    for said in overrides:
        if said.key.startswith(("hydra/sweeper", "hydra.sweeper")):
            raise NotFollowed
        name, equals, written = said.text.partition("=") if isinstance(said.text, str) else ("", "", "")
        try:
            values = values_of_sweep(written) if equals else []
        except NoOverride:
            raise NotFollowed from None
        # Of two for one key the later counts.
        choices[said.key] = [replace(said, text=f"{name}={each}") for each in values] if len(values) > 1 else [said]
    if math.prod(map(len, choices.values())) > _MOST_RUNS:
        raise NotFollowed
    return [list(each) for each in product(*choices.values())]


def _folder(interp: Interpreter, path: Object, module: Module) -> str | None:
    """Return the folder of the tree that a path beside a module means; None where that is not known."""
    text = text_of_path(interp.settle(path))
    if text is None or "://" in text:
        return None
    if folder_of(interp, text) is None:
        if os.path.isabs(text):
            return None
        text = f"{interp.finder.symbol(os.path.dirname(module.path))}/{text}"
    return normal(interp, text)


@models("hydra.initialize", "hydra.experimental.initialize")
def _initialize(interp: Interpreter, call: Call) -> Object:
    return _initialized(interp, _folder(interp, call.argument(0, "config_path"), call.frame.module))


@models("hydra.initialize_config_dir", "hydra.experimental.initialize_config_dir")
def _initialize_folder(interp: Interpreter, call: Call) -> Object:
    text = text_of_path(interp.settle(call.argument(0, "config_dir")))
    inside = text is not None and folder_of(interp, text) is not None
    return _initialized(interp, _folder(interp, text, call.frame.module) if inside else None)


models("hydra.initialize_config_module", "hydra.experimental.initialize_config_module")(
    lambda interp, call: _initialized(interp, None)
)


def _initialized(interp: Interpreter, folder: str | None) -> Object:
    interp.put(_state(interp), "folder", folder)
    return interp.unknown("hydra", not_none=True)


def _state(interp: Interpreter) -> DictObject:
    found: DictObject = interp.memo.setdefault("hydra", DictObject({}, 0))
    return found


@models("hydra.compose", "hydra.experimental.compose")
def _compose(interp: Interpreter, call: Call) -> Object:
    given = call.argument(1, "overrides")
    said = [] if given is None else overrides_in(interp, given)
    folder = _state(interp).fields.get("folder")
    # (What depends on a folder that was set before is remembered for no other call.)
    interp.put(_state(interp), "folder", folder)
    if said is None:
        return interp.unknown("config", not_none=True)
    return _tree(interp, folder, call.argument(0, "config_name"), said, call.frame.module, call)


def _tree(
    interp: Interpreter,
    folder: Any,
    name: Object,
    overrides: list[OverrideWord],
    module: Module,
    call: Call,
    *,
    started: bool = False,
    swept: bool = False,
) -> Object:
    """Compose the tree of a file of a folder, with `overrides`; unknown where a file is not at hand.

    Where the program is `started` with it, whoever starts it may change every value. That it is `swept`, and how, is
    known where no file says so.
    """
    name = interp.settle(name)
    if not isinstance(folder, str) or not isinstance(name, str):
        return interp.unknown("what hydra composes", not_none=True)
    avoided = ("sweeper" if swept else "MULTIRUN") if started else None
    files = _Files(interp, folder, module, avoided, name if swept else None)
    try:
        chosen, added, values = _sorted_out(files, overrides)
        parts = Composer(files.load, chosen, added).composed(name)
    except (NotComposed, NoData) as error:
        return interp.unknown(f"what hydra composes: {error}", not_none=True)
    tree = make_tree(interp)
    for part in parts:
        data = to_object(interp, _under(part), None, call)
        merge(interp, tree, data, call)
    interp.drop(tree, "hydra")
    override(interp, tree, values, call)
    if lacked := [path for path, _ in all_lacked(tree)]:
        raise _refused(tree, lacked, values)
    if started:
        _as_options(interp, tree, "")
    return tree


def _refused(tree: ConfigTree, lacked: list[str], overrides: list[OverrideWord]) -> RefusedCall:
    """Return Hydra's refusal of the first override of a name that the tree does not have: it says the whole key."""
    of_names = ((path, said) for said in overrides for path in lacked if f"{said.key}.".startswith(f"{path}."))
    path, said = next(of_names, (lacked[0], None))
    return RefusedCall(
        f"Could not override '{said.key if said else path}'",
        nearest=meant(tree, path),
        name="ConfigCompositionException",
        place=said.place if said else None,
    )


def _under(part: Part[dict[Any, Placed]]) -> Placed:
    placed = Placed(part.entries)
    for word in reversed(list(filter(None, part.package.split(".")))):
        placed = Placed({word: placed})
    return placed


def _as_options(interp: Interpreter, tree: ConfigTree, above: str) -> None:
    for key, value in list(tree.fields.items()):
        if isinstance(key, str) and isinstance(value, ConfigTree):
            _as_options(interp, value, f"{above}{key}.")
        elif isinstance(key, str) and isinstance(value, (bool, int, float, str, type(None))):
            tree.fields[key] = Option(interp.tick(), f"{above}{key}=", value)


class _Files:
    """The files of a folder of configurations. One with the word `avoided` is not composed, unless it is `known`."""

    def __init__(
        self, interp: Interpreter, folder: str, module: Module, avoided: str | None, known: str | None = None
    ) -> None:
        self.interp = interp
        self.folder = folder
        self.module = module
        self.avoided = avoided
        self.known = known

    def load(self, path: str) -> ConfigFile[dict[Any, Placed]] | None:
        """Load one file. Raises NotComposed where its text is not known, NoData where it is no YAML."""
        name = path if path.endswith((_SUFFIX, ".yml")) else f"{path}{_SUFFIX}"
        try:
            found = text_of(self.interp, f"{self.folder}/{name}", self.module)
        except FileNotFoundError:
            return None
        if found is None:
            raise NotComposed(f"{name} is not at hand")
        if self.avoided and self.avoided in found[1] and path != self.known:
            raise NotComposed(f"{name} says what is swept")
        documents = from_omegaconf(*found)
        entries = documents[0].value if documents else None
        if documents and (documents[0].open or not isinstance(entries, (dict, type(None)))):
            raise NotComposed(f"{name} is no mapping")
        own = dict(entries or {})
        defaults = own.pop("defaults", None)
        return ConfigFile(own, None if defaults is None else _tree_of(defaults), package_of(found[1]))

    def is_group(self, path: str) -> bool:
        """Tell whether a folder of options has this path."""
        places = located(self.interp, f"{self.folder}/{path}", self.module)
        return any(
            os.path.basename(place) in self.interp.finder.entries(os.path.dirname(place)) and disk.is_folder(place)
            for place in places
        )


def _tree_of(placed: Placed) -> Tree:
    """Convert data to a tree without places, as far as a defaults list needs it."""
    if isinstance(placed.value, dict):
        return Section({str(key): _tree_of(each) for key, each in placed.value.items()})
    items = tuple(map(_tree_of, placed.value)) if isinstance(placed.value, list) else None
    value = UNKNOWN if placed.open or items is not None else Known(placed.value)
    return Leaf(value, Origin(Span("", 1, 1, 1, 1), "default"), items=items)


def _sorted_out(
    files: _Files, overrides: list[OverrideWord]
) -> tuple[dict[str, Options], list[Default], list[OverrideWord]]:
    """Sort overrides into the options that they choose, those that they add, and the values that they change."""
    chosen: dict[str, Options] = {}
    added: list[Default] = []
    values = []
    for said in overrides:
        text = said.text if isinstance(said.text, str) else said.key
        found = _GROUP.match(text)
        if found is None or not files.is_group(found["group"]):
            if "/" in said.key or "@" in said.key:
                raise NotComposed(f"{said.key} is not at hand")
            if not said.key.lstrip("+~").startswith("hydra."):
                values.append(said)
            continue
        if text is not said.text:
            raise NotComposed(f"{text} is not known")
        choice = _option(text, found["option"])
        key = found["group"] + (f"@{found['package']}" if found["package"] else "")
        if found["sign"] == "+":
            added.append(Default(found["group"], choice, found["package"]))
        elif found["sign"] in (None, "~"):
            chosen[key] = () if found["sign"] else choice
        else:
            raise NotComposed(f"{text} is refused")
    return chosen, added, values


def _option(text: str, option: str | None) -> Options:
    if option is None:
        return ()
    if option == "null":
        raise NotComposed(f"{text} is refused")
    found = _OPTIONS.match(str(option).strip())
    if found is None:
        raise NotComposed(f"{text} is not followed")
    words = (found["one"] or found["several"]).split(",")
    return tuple(each.strip() for each in words if each.strip())
