"""Running an entry point: all execution paths through it, and the recipes that they yield.

A path yields the configurations that it launches, and the one that it returns. Methods of start-up that a program's own
classes have in place of upstream's leave less of them to judge.
"""

from __future__ import annotations

import ast
import copy
import os
from collections import Counter
from collections.abc import Container, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mfsdp_lint.core.front_ends import BRIDGE, MEGATRON_LM, FrontEnd
from mfsdp_lint.core.recipe import Recipe, Setting, Settings, Variant
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import Plain
from mfsdp_lint.megatron.vocabulary import SETTINGS
from mfsdp_lint.readers.given_words import Given
from mfsdp_lint.readers.python.entries.entries import Entry, default, guard, is_test, open_parameters, takes_more
from mfsdp_lint.readers.python.entries.given_files import chosen_file
from mfsdp_lint.readers.python.entries.keys import GivenAs, Keys, keys_of
from mfsdp_lint.readers.python.entries.testing import case_of, fixture, set_up
from mfsdp_lint.readers.python.eval.branches import one_of
from mfsdp_lint.readers.python.eval.classes import lookup
from mfsdp_lint.readers.python.eval.configurations import (
    changed_from_outside,
    configures_run,
    framework_called,
    is_container,
    is_launcher,
    parts,
)
from mfsdp_lint.readers.python.eval.imports import ensure_ran, file_of, resolve_global, take_variables
from mfsdp_lint.readers.python.eval.iteration import elements
from mfsdp_lint.readers.python.eval.unfollowed import is_taken_for_one
from mfsdp_lint.readers.python.export.arguments import are_arguments, settings_of_arguments
from mfsdp_lint.readers.python.export.nemo import tree_of_call, tree_of_run
from mfsdp_lint.readers.python.export.origins import Spans
from mfsdp_lint.readers.python.export.settings import ENVIRONMENT, TreeSettings
from mfsdp_lint.readers.python.state.calling import Coroutine, GeneratorCall, invoke, run_block
from mfsdp_lint.readers.python.state.copies import deep_copy
from mfsdp_lint.readers.python.state.forgetting import forget_reachable
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import (
    PATIENCE,
    CannotJoin,
    Chosen,
    Dependencies,
    Launch,
    OutOfSteps,
    Raised,
    RefusedCall,
    kept,
)
from mfsdp_lint.readers.python.values.code import Call
from mfsdp_lint.readers.python.values.objects import (
    MISSING,
    Choice,
    ClassObject,
    DictObject,
    Frame,
    Function,
    Instance,
    ListObject,
    Module,
    Object,
    Partial,
    SetObject,
    Unknown,
    is_constant,
)

if TYPE_CHECKING:
    from mfsdp_lint.readers.framework_configs import ProgramReader


UPSTREAM = "megatron."
CONTAINER, SECTION = "validate", "finalize"
"""The methods that start-up calls on a container, and on its sections, before its own checks."""


def started_by_itself(interp: Interpreter, root: Object) -> Object:
    """Return the configuration that upstream's checks see, where the program's own classes take part in start-up.

    The values that such a method writes are unknown: start-up may write them before or after. Where the method does
    not hand on to upstream's, its whole object is unknown, as the checks may not be made.
    """
    root = interp.settle(root)
    if not isinstance(root, Instance) or not is_container(interp, root) or not _own_methods(interp, root):
        return root
    seen = deep_copy(interp, root)
    assert isinstance(seen, Instance)
    for owner, name in _own_methods(interp, seen):
        method = owner.fields.get(name, MISSING)
        method = lookup(interp, owner.cls, name)[0] if method is MISSING else method
        own = _without_upstream(method)
        if own is None:
            forget_reachable(interp, seen if owner is seen else owner)
        else:
            _forget_what_it_writes(interp, own, owner)
    return seen


def _own_methods(interp: Interpreter, container: Instance) -> list[tuple[Instance, str]]:
    """Return the objects of a configuration with a method of start-up that is not upstream's."""
    sections = [each for each in container.fields.values() if isinstance(each, Instance)]
    asked = [(container, CONTAINER), *((each, SECTION) for each in sections)]
    return [(owner, name) for owner, name in asked if _is_own(interp, owner, name)]


def _is_own(interp: Interpreter, owner: Instance, name: str) -> bool:
    if name in owner.fields:
        return True
    found, cls = lookup(interp, owner.cls, name)
    # (Upstream's own source may be at hand, in a tree of its own.)
    said_by = found if isinstance(found, Function) else cls
    return isinstance(said_by, (Function, ClassObject)) and not said_by.module.name.startswith(UPSTREAM)


def _without_upstream(method: Object) -> Function | None:
    """Return a method without its call of upstream's (`super().validate()`); None where it does not surely make it."""
    if not isinstance(method, Function) or not isinstance(method.node, ast.FunctionDef):
        return None
    body = [statement for statement in method.node.body if not _hands_on(statement, method.name)]
    if len(body) == len(method.node.body) or any(isinstance(node, ast.Return) for node in ast.walk(method.node)):
        return None
    node = copy.copy(method.node)
    node.body = body or [ast.copy_location(ast.Pass(), method.node)]
    return Function(node, method.module, method.closure, method.name, method.cls)


def _hands_on(statement: ast.stmt, name: str) -> bool:
    match statement:
        case ast.Expr(ast.Call(ast.Attribute(ast.Call(ast.Name("super")), attribute))):
            return attribute == name
        case ast.Expr(ast.Call(ast.Attribute(_, attribute), [ast.Name("self"), *_])):
            return attribute == name
    return False


def _forget_what_it_writes(interp: Interpreter, method: Function, owner: Instance) -> None:
    path = interp.path
    mark, steps, born = len(path.journal), path.steps, interp.clock
    path.steps, path.trial = 0, path.trial + 1
    try:
        invoke(interp, method, Call([owner], {}, method.node, Frame(method.module)))
    except Raised:
        pass  # such a run does not come to upstream's checks
    except (RecursionError, CannotJoin, OutOfSteps):
        interp.rollback(mark)
        forget_reachable(interp, owner)
        return
    finally:
        path.steps, path.trial = steps, path.trial - 1
    for place in list(interp.changes(mark).values()):
        holder, fields, key, _ = place
        if fields is getattr(holder, "fields", None) and abs(getattr(holder, "born", 0)) <= born:
            if isinstance(holder, SetObject) or key == "items":
                interp.put(holder, key, None)
            elif isinstance(key, str):
                interp.put(holder, key, interp.unknown(key))


RESULT = "result"
"""The key of what is handed back or kept begins with it, the way through what holds it follows; a launch has its place,
and which of the launches there it is."""

Key = tuple[Hashable, ...]

Configurations = list[tuple[Key, Object]]
"""Configurations that a path hands back or keeps, each with the keys, indices and attributes that lead to it."""


@dataclass(frozen=True, slots=True)
class Yield:
    """A configuration of one path; in a script, `names` are the global names that hold it.

    `configures` says that it certainly is a configuration, `known` that it was made in sight, `partial` that it comes
    from elsewhere. `calls` led to its launch, the innermost first.
    """

    key: Key
    container: Object
    variant: Variant
    configures: bool
    partial: bool
    names: frozenset[str] = frozenset()
    calls: tuple[tuple[Module, ast.AST, str], ...] = ()
    known: bool = True
    front_end: FrontEnd = BRIDGE

    @property
    def is_launched(self) -> bool:
        """Tell whether the path launches it itself."""
        return self.key[0] != RESULT


def path_yields(
    interp: Interpreter, held: Configurations, spans: Spans, names: Mapping[str, Object]
) -> Iterator[Yield]:
    """Return the yields of the path that was just run: its launches, and those that it `held` in the end.

    `names` are the global names of a script.
    """
    path = interp.path
    launches = path.launches.all
    turns: Counter[int] = Counter()
    for each in launches:
        place = id(each.calls[0][1]) if each.calls else 0
        turns[place] += 1
        yield _launched(interp, each, (place, turns[place]), spans, names)
    if not held and not launches:
        # Nobody knows what becomes of them; this is what is known of them here.
        for turn, each in enumerate(path.launches.handed):
            yield _launched(interp, each, (RESULT, turn), spans, names)
    launched = {id(each.container) for each in launches}
    for way, value in held:
        if id(value) in launched:
            continue
        configures = is_container(interp, value) or may_be_one(interp, value)
        partial = not is_container(interp, value) and not is_taken_for_one(interp, value)
        variant = variant_of(interp, value, spans)
        names_here, front_end = _names_of(value, names), _front_end(interp, value)
        yield Yield((RESULT, *way), value, variant, configures, partial, names_here, front_end=front_end)


def configurations_in(
    interp: Interpreter,
    value: Object,
    text: str,
    way: Key = (),
    *,
    calls: Frame | None = None,
    seen: set[int] | None = None,
) -> Configurations:
    """Return the configurations that a value is or holds, each once.

    With `calls`, functions in it that need no argument are called, from that frame.
    """
    value = interp.settle(value)
    seen = set() if seen is None else seen
    if calls is not None and _makes_by_itself(value):
        value = _awaited(interp, invoke(interp, value, Call([], {}, calls.node, calls)), calls)
    if isinstance(value, Choice):
        options = [one for one in value.options if _may_be_meant(interp, one, way)]
        value = one_of(interp, options, text, RUN_LIMIT) if options else value.options
    if is_constant(value) or id(value) in seen:
        return []
    seen.add(id(value))
    if is_container(interp, value) or may_be_one(interp, value):
        return [(way, value)]
    found: Configurations = []
    for key, part in parts(value):
        found += configurations_in(interp, part, f"{text}[{key!r}]", (*way, key), calls=calls, seen=seen)
    return found


def _makes_by_itself(value: Object) -> bool:
    """Tell whether a function was made by another one, with all that it needs."""
    if isinstance(value, Partial) and isinstance(value.function, Function) and not is_launcher(value.function):
        return _needs_nothing(value.function, len(value.arguments), value.keywords)
    return isinstance(value, Function) and value.closure is not None and _needs_nothing(value)


def _may_be_meant(interp: Interpreter, value: Object, way: Key) -> bool:
    """Tell whether one of several values is a configuration; an unknown one may be, unless it is a mere part."""
    return is_container(interp, value) or (isinstance(value, Unknown) and not way) or may_be_one(interp, value)


def may_be_one(interp: Interpreter, value: Object) -> bool:
    """Tell whether an unknown value is taken for a configuration."""
    return changed_from_outside(value) or is_taken_for_one(interp, value)


def variant_of(interp: Interpreter, root: Object, spans: Spans) -> Variant:
    """Return the settings of a configuration at the end of a path."""
    environment = interp.path.environment
    if interp.touched_older(0, interp.path.started + 1):
        # Something that modules share was changed: keep it as it is now, before that is undone.
        copies: dict[int, Object] = {}
        root = deep_copy(interp, root, copies)
        copied = deep_copy(interp, environment, copies)
        assert isinstance(copied, DictObject)
        environment = copied
    return _variant(interp, root, environment, spans, interp.path.when)


def _names_of(container: Object, names: Mapping[str, Object]) -> frozenset[str]:
    return frozenset(name for name, value in names.items() if value is container)


def _launched(interp: Interpreter, launch: Launch, key: Key, spans: Spans, names: Mapping[str, Object]) -> Yield:
    with interp.knowing(launch.facts):
        variant = _variant(interp, launch.root, launch.environment, spans, launch.when)
    partial = changed_from_outside(launch.root) and not is_taken_for_one(interp, launch.root)
    known = is_container(interp, launch.root)
    names_here, front_end = _names_of(launch.container, names), _front_end(interp, launch.root)
    return Yield(key, launch.container, variant, True, partial, names_here, launch.calls, known, front_end)


def _variant(
    interp: Interpreter, root: Object, environment: DictObject, spans: Spans, when: tuple[str, ...]
) -> Variant:
    root = started_by_itself(interp, root)
    settings: Settings = TreeSettings(interp, root, environment, spans)
    written = (settings.get(path) for path in settings if path.startswith(ENVIRONMENT))
    if are_arguments(root):
        variables = {each.path: each for each in written if each is not None}
        settings = WrittenSettings({**settings_of_arguments(spans, root), **variables})
    elif reader := _reader(interp, root):
        variables = {each.path: each for each in written if each is not None}
        tree = tree_of_call(spans, root) if framework_called(root) else tree_of_run(spans, root)
        settings = WrittenSettings(reader.settings(tree, variables))
    return Variant(settings, when)


def _reader(interp: Interpreter, root: Object) -> ProgramReader | None:
    """Return the reader of a framework's runs; None where the configuration is none of a framework."""
    framework = framework_called(root) or ("nemo" if configures_run(root) else "")
    return interp.knowledge.framework(framework) if framework else None


def _front_end(interp: Interpreter, root: Object) -> FrontEnd:
    if are_arguments(root):
        return MEGATRON_LM
    reader = _reader(interp, root)
    return BRIDGE if reader is None else reader.front_end


def without_repeats(found: Sequence[Yield]) -> list[Yield]:
    """Keep one yield for each way: paths that part only behind a launch share it."""
    if not found[0].is_launched:
        return list(found)
    return list({each.variant.when: each for each in reversed(found)}.values())[::-1]


def lines(module: Module, launches: Sequence[Yield]) -> list[int | None]:
    """Return the line of each launch, in its own file: that of the outermost call that differs between launches."""
    chains = [
        [
            node.lineno
            for where, node, _ in reversed(each.calls)
            if where.path == module.path and isinstance(node, ast.Call)
        ]
        for each in launches
    ]
    depths = min(map(len, chains), default=0)
    apart = (depth for depth in range(depths) if len({chain[depth] for chain in chains}) > 1)
    depth = next(apart, depths - 1)
    return [chain[depth] if depth >= 0 else None for chain in chains]


def content(recipe: Recipe) -> object:
    """Return the settings of a recipe and where they were written: recipes with the same content are one."""
    return tuple(map(content_of, recipe.variants))


def content_of(variant: Variant) -> object:
    """Return the settings of a variant and where they were written."""
    return tuple(map(_told, map(variant.settings.get, SETTINGS)))


def _told(setting: Setting | None) -> tuple[str, object] | None:
    # Lists have no hash, and 1 is no True.
    return None if setting is None else (repr(setting.value), setting.origin and setting.origin.point)


Ending = Raised | RecursionError | OutOfSteps | CannotJoin | None
"""How an execution path ended; None where it ran through."""

RUN_LIMIT = 16
"""Execution paths through one entry point that are looked at; with more, only what all of them launch is a recipe."""


@dataclass(frozen=True, slots=True)
class Found:
    """A recipe of an entry point. `launched` says that the entry point launches it; of a script, `names` are the global
    names of the configuration. `known` says that this was made in sight.
    """

    recipe: Recipe
    launched: bool = False
    names: frozenset[str] = frozenset()
    known: bool = True


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of evaluating an entry point: its recipes, the ends of its execution paths, and what they depend on.

    `out_of_sight` says that code was called that is not at hand. `composed` are the recipes of a framework's
    configuration that the program composes. `keys` are those by which settings of a variant are chosen from tables.
    """

    entry: Entry
    found: list[Found]
    endings: list[Ending]
    dependencies: Dependencies
    out_of_sight: bool = False
    composed: Sequence[Recipe] = ()
    keys: Sequence[tuple[Variant, GivenAs, Keys]] = ()
    tries_files: bool = False

    @property
    def modules(self) -> dict[Module, None]:
        """The modules whose code ran, the entry point's own first."""
        return dict.fromkeys((self.entry.module, *(each.module for each in self.dependencies.functions)))

    def switches(self, interp: Interpreter) -> list[str]:
        """List the options that turn something on, of the command lines that the files which ran declare."""
        # (A script is a module of its own on each path.)
        paths = dict.fromkeys(each.path for each in self.modules)
        return list(dict.fromkeys(option for path in paths for option in interp.switches.get(path, ())))


def evaluate(
    interp: Interpreter,
    entry: Entry,
    spans: Spans,
    *,
    given: Given | None = None,
    turned_on: str = "",
    needed: bool = False,
    chosen: Chosen = (),
    tries_files: bool = False,
    patience: int = PATIENCE,
) -> Evaluation:
    """Run all execution paths of an entry point: each configuration that it launches or returns is a recipe.

    The program is started with the words and variables that are `given`; an option that is `turned_on` is given as
    well, and those without a default where they are `needed`; options and words that are `chosen` have these values.
    With `tries_files` files of the project are tried for a path that is not known.
    `patience` is how many steps there may be before a configuration is made. The answer is the same whatever was
    evaluated before: of that, only results that do not depend on any of these are used again.
    """
    unfollowed = interp.unfollowed
    endings: list[Ending] = []
    pending: list[tuple[bool, ...]] = [()]
    found: dict[Hashable, list[Yield]] = {}
    idle: list[tuple[Unknown, Variant]] = []
    changed: set[str] = set()
    more: dict[str, None] = {}
    keys: list[tuple[Variant, GivenAs, Keys]] = []
    runs = 0
    complete = True
    interp.composed = None
    with _started(interp, given, turned_on, needed, chosen, patience) as dependencies:
        interp.file_chooser = chosen_file if tries_files else None
        interp.entry = entry.module
        while pending and complete:
            prefix = pending.pop()
            runs += 1
            if runs > RUN_LIMIT:
                endings.append(OutOfSteps())
                complete = False
                break
            interp.begin(prefix)
            configurations: Configurations = []
            unknown: list[Unknown] = []
            names: dict[str, Object] = {}
            ending: Ending = None
            try:
                if entry.kind == "function":
                    _import(interp, entry.module)
                    keywords, unknown = arguments_of(interp, entry)
                    # Whoever calls it has to give `more` keyword arguments than it names.
                    keywords.update({name: interp.unknown(name) for name in more})
                    configurations = call_function(interp, entry, keywords, unknown)
                elif entry.kind == "module":
                    _import(interp, entry.module)
                    configurations = configurations_in(
                        interp, resolve_global(interp, entry.module, entry.name), entry.name
                    )
                else:
                    configurations = run_script(interp, entry, names)
            except RefusedCall as error:
                if not more.keys() >= set(error.lacking) and takes_more(entry):
                    more.update(dict.fromkeys(error.lacking))
                    pending.append(prefix)
                    continue
                ending = kept(error)
            except (Raised, RecursionError) as error:
                ending = kept(error)
            except (OutOfSteps, CannotJoin) as error:
                ending = kept(error)
                complete = False
            endings.append(ending)
            pending += other_sides(interp, prefix)
            here = list(path_yields(interp, configurations, spans, names))
            keys += [(each.variant, *key) for each in here for key in keys_of(interp, each.container, unknown)]
            for each in here:
                found.setdefault(each.key, []).append(each)
            changed.update(value.text for value in unknown if any(value is each.container for each in here))
            if not here:
                idle += [(value, variant_of(interp, value, spans)) for value in unknown]
        interp.finish()
    changed_ones = [variant for value, variant in idle if value.text in changed]
    recipes = list(_recipes(entry, found, changed_ones, complete))
    out_of_sight = interp.unfollowed > unfollowed
    composed = (interp.composed or ()) if len(endings) == 1 else ()
    return Evaluation(entry, recipes, endings, dependencies, out_of_sight, composed, keys, tries_files)


@contextmanager
def _started(
    interp: Interpreter,
    given: Given | None,
    turned_on: str,
    needed: bool,
    chosen: Chosen,
    patience: int,
) -> Iterator[Dependencies]:
    """Start programs in this way for a while, with their dependencies kept apart."""
    outer = interp.dependencies
    interp.dependencies, interp.given, interp.needed, interp.patience = Dependencies(), given, needed, patience
    interp.turned_on, interp.chosen = frozenset(filter(None, (turned_on,))), chosen
    try:
        yield interp.dependencies
    finally:
        interp.dependencies, interp.given, interp.needed, interp.patience = outer, None, False, PATIENCE
        interp.turned_on, interp.chosen, interp.file_chooser = frozenset(), (), None


def other_sides(interp: Interpreter, prefix: tuple[bool, ...]) -> list[tuple[bool, ...]]:
    """Return the paths that leave the current one behind its `prefix`, the first of them last."""
    taken = interp.path.taken
    return [
        (*(outcome for outcome, _ in taken[:position]), not taken[position][0])
        for position in range(len(taken) - 1, len(prefix) - 1, -1)
    ]


def _import(interp: Interpreter, module: Module) -> None:
    """Set the variables that importing a function's module sets: the process that runs the function has imported it."""
    for path in interp.programs.packages(module.path):
        package = interp.finder.load(path) if os.path.abspath(path) in interp.leading else None
        if package is not None:
            take_variables(interp, package)
    ensure_ran(interp, module)
    take_variables(interp, module)


def _recipes(
    entry: Entry, found: Mapping[Hashable, list[Yield]], idle: list[Variant], complete: bool
) -> Iterable[Found]:
    """Return the recipes of an entry point. Unless `complete`, only launches on all paths count."""
    groups = [without_repeats(group) for group in found.values() if any(each.configures for each in group)]
    if not complete:
        groups = [group for group in groups if group[0].is_launched and not group[0].variant.when]
    recipes: dict[object, tuple[Recipe, Yield]] = {}
    for group in groups:
        variants = tuple(each.variant for each in group)
        # A function that is there to change what it is given may leave that as it is on some paths.
        variants += tuple(idle) if not group[0].is_launched or any(each.partial for each in group) else ()
        recipe = Recipe(
            entry.name,
            entry.qualified_name,
            entry.module.path,
            entry.line,
            entry.kind,
            variants,
            any(each.partial for each in group),
            dict(entry.arguments or {}),
            front_end=group[0].front_end,
        )
        recipes.setdefault(content(recipe) if len(groups) > 1 else None, (recipe, group[0]))
    where = lines(entry.module, [first for _, first in recipes.values()])
    for number, ((recipe, first), line) in enumerate(zip(recipes.values(), where, strict=True), 1):
        if len(recipes) > 1:
            mark = f"[{number}]"
            recipe = replace(
                recipe, name=recipe.name + mark, qualified_name=recipe.qualified_name + mark, line=line or recipe.line
            )
        yield Found(recipe, first.is_launched, first.names, first.known)


def call_function(
    interp: Interpreter, entry: Entry, keywords: dict[str, Object], given: list[Unknown]
) -> Configurations:
    """Call an entry point's function; return the configurations that it hands back, changes, or keeps somewhere."""
    function = entry.function
    assert function is not None
    frame = Frame(entry.module, node=function.node)
    receiver = [] if entry.cls is None else [_receiver(interp, entry.cls, function, frame)]
    called = function if entry.wrapper is None else entry.wrapper
    called = entry.partial or called
    made = called.made if isinstance(called, Partial) else None
    call = Call(receiver, keywords, function.node if made is None else made[0], frame)
    mark = len(interp.path.journal)
    result = _awaited(interp, invoke(interp, called, call), frame)
    if found := configurations_in(interp, result, f"{entry.name}()", calls=frame):
        return found
    for value in given:
        if changed_from_outside(value):
            return [((), value)]
    # On other paths the same function may yield a configuration that is known; of this path nothing is.
    result = interp.settle(result)
    if any(result is value for value in given):
        return [((), result)]
    if interp.path.launches.fields:
        return []
    if isinstance(result, Unknown):
        return [((), result)]
    return configurations_in(interp, (*receiver, *given, *_changed_outside(interp, mark)), entry.name)


def _changed_outside(interp: Interpreter, mark: int) -> Iterator[Object]:
    """Yield the values that the current path has put since `mark` into objects that were there before the path."""
    for owner, fields, key, _ in interp.changes(mark).values():
        if owner.born <= interp.path.started and fields is getattr(owner, "fields", None):
            yield tuple(owner.items or ()) if isinstance(owner, ListObject) else fields.get(key)


def _awaited(interp: Interpreter, result: Object, frame: Frame) -> Object:
    """Return the result of a call: an awaited coroutine's, a generator's elements, else the returned value."""
    result = result.result() if isinstance(result, Coroutine) else result
    if isinstance(result, GeneratorCall) and not result.managed:
        found = elements(interp, result, frame)
        return tuple(found) if found else interp.unknown(result.frame.function)
    return result


def _needs_nothing(function: Function, positional: int = 0, named: Container[str] = ()) -> bool:
    """Tell whether these arguments are all that a function needs."""
    parameters = function.node.args
    more = [*[*parameters.posonlyargs, *parameters.args][positional:], *parameters.kwonlyargs]
    return all(each.arg in function.defaults or each.arg in named for each in more)


def _receiver(interp: Interpreter, cls: ClassObject, function: Function, frame: Frame) -> Object:
    """Return the receiver of a method: its class, or an object made without arguments (unknown where that fails)."""
    if any(isinstance(node, ast.Name) and node.id == "classmethod" for node in function.decorators):
        return cls
    constructor, _ = lookup(interp, cls, "__init__")
    keywords: dict[str, Object] = {}
    if isinstance(constructor, Function):
        parameters = constructor.node.args
        names = [*parameters.posonlyargs, *parameters.args][1:] + parameters.kwonlyargs
        keywords = {each.arg: interp.unknown(each.arg) for each in names if each.arg not in constructor.defaults}
    try:
        made = invoke(interp, cls, Call([], keywords, function.node, frame))
    except Raised:
        return interp.unknown("self", not_none=True)
    if is_test(function.name):
        set_up(interp, made, function.node, frame)
    return made


def arguments_of(interp: Interpreter, entry: Entry) -> tuple[dict[str, Object], list[Unknown]]:
    """Return the arguments that an entry is called with, and which of them are not known."""
    assert entry.function is not None
    keywords = {name: to_object(interp, value) for name, value in (entry.arguments or {}).items()}
    unknown: dict[str, Unknown] = {}
    if by_runner := is_test(entry.function.name):
        keywords = {**case_of(interp, entry.function), **keywords}
    for name in open_parameters(entry):
        if name not in keywords and default(entry, name) is MISSING:
            value = fixture(interp, entry.function, name, Frame(entry.module)) if by_runner else MISSING
            if value is MISSING:
                value = unknown[name] = interp.unknown(name)
            keywords[name] = value
    return keywords, list(unknown.values())


def to_object(interp: Interpreter, value: Plain) -> Object:
    """Convert a plain value to the evaluator's object."""
    if isinstance(value, list):
        return ListObject([to_object(interp, item) for item in value], interp.tick())
    if isinstance(value, dict):
        return DictObject({key: to_object(interp, item) for key, item in value.items()}, interp.tick())
    return value


def run_script(interp: Interpreter, entry: Entry, names: dict[str, Object]) -> Configurations:
    """Run a module as a script; return the last configuration among its global `names`."""
    source = entry.module
    main = Module(source.path, source.name, source.tree, source.yields)
    main.ran = True
    main.asked_for, main.upstream = source.asked_for, source.upstream
    main.born = interp.tick()
    main.fields = names
    main.fields["__name__"] = "__main__"
    main.fields["__file__"] = file_of(interp, source)
    main.fields["__doc__"] = ast.get_docstring(source.tree, clean=False)
    frame = Frame(main, born=main.born)
    frame.fields, frame.bindings = main.fields, main.bindings
    try:
        run_block(interp, source.tree.body, frame)
    except Raised as error:
        # (A program that is started with known words is told where argparse refuses them.)
        if error.name != "SystemExit" or (error.text and interp.started_with()):
            raise
    if interp.path.launches.fields or guard(source) is None:
        return []
    found: Configurations = [((), value) for value in main.fields.values() if is_container(interp, value)]
    return found[-1:]
