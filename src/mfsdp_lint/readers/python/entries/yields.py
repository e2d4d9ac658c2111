"""Configurations that an entry point's execution paths yield: those that they launch, and the one they return.

Methods of start-up that a program's own classes have in place of upstream's, and the configuration left to judge.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mfsdp_lint.core.front_ends import BRIDGE, FrontEnd
from mfsdp_lint.core.recipe import Recipe, Setting, Settings, Variant
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.megatron.vocabulary import SETTINGS
from mfsdp_lint.readers.python.eval.classes import lookup
from mfsdp_lint.readers.python.eval.configurations import changed_from_outside, configures_run, is_container
from mfsdp_lint.readers.python.eval.unfollowed import is_taken_for_one
from mfsdp_lint.readers.python.export.nemo import tree_of_run
from mfsdp_lint.readers.python.export.origins import Spans
from mfsdp_lint.readers.python.export.settings import ENVIRONMENT, TreeSettings
from mfsdp_lint.readers.python.state.calling import invoke
from mfsdp_lint.readers.python.state.copies import deep_copy
from mfsdp_lint.readers.python.state.forgetting import forget_reachable
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import CannotJoin, Launch, OutOfSteps, Raised
from mfsdp_lint.readers.python.values.code import Call, ClassObject, Frame, Module
from mfsdp_lint.readers.python.values.objects import MISSING, DictObject, Function, Instance, Object, SetObject

if TYPE_CHECKING:
    from mfsdp_lint.readers.framework_configs import Nemo

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
"""The key of what is handed back; a launch has its place, and which of the launches there it is."""


@dataclass(frozen=True, slots=True)
class Yield:
    """A configuration of one path; in a script, `names` are the global names that hold it.

    `configures` says that it certainly is a configuration, `known` that it was made in sight, `partial` that it comes
    from elsewhere. `calls` led to its launch, the innermost first.
    """

    key: Hashable
    container: Object
    variant: Variant
    configures: bool
    partial: bool
    names: frozenset[str] = frozenset()
    calls: tuple[tuple[Module, ast.AST, str], ...] = ()
    known: bool = True
    front_end: FrontEnd = BRIDGE


def path_yields(interp: Interpreter, result: Object, spans: Spans, names: Mapping[str, Object]) -> Iterator[Yield]:
    """Return the yields of the path that was just run; `result` is its return value, if that may be a configuration.

    `names` are the global names of a script.
    """
    path = interp.path
    launches = path.launches.all
    turns: Counter[int] = Counter()
    for each in launches:
        place = id(each.calls[0][1]) if each.calls else 0
        turns[place] += 1
        yield _launched(interp, each, (place, turns[place]), spans, names)
    if result is None and not launches and path.launches.handed is not None:
        # Nobody knows what becomes of it; this is what is known of it here.
        yield _launched(interp, path.launches.handed, RESULT, spans, names)
    elif result is not None and not any(result is each.container for each in launches):
        configures = is_container(interp, result) or may_be_one(interp, result)
        partial = not is_container(interp, result) and not is_taken_for_one(interp, result)
        variant = variant_of(interp, result, spans)
        names_here, front_end = _names_of(result, names), _front_end(interp, result)
        yield Yield(RESULT, result, variant, configures, partial, names_here, front_end=front_end)


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
    return _variant(interp, root, environment, spans, tuple(words for _, words in interp.path.taken))


def _names_of(container: Object, names: Mapping[str, Object]) -> frozenset[str]:
    return frozenset(name for name, value in names.items() if value is container)


def _launched(interp: Interpreter, launch: Launch, key: Hashable, spans: Spans, names: Mapping[str, Object]) -> Yield:
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
    if nemo := _nemo(interp, root):
        written = (settings.get(path) for path in settings if path.startswith(ENVIRONMENT))
        variables = {each.path: each for each in written if each is not None}
        settings = WrittenSettings({**nemo.settings(tree_of_run(spans, root)), **variables})
    return Variant(settings, when)


def _nemo(interp: Interpreter, root: Object) -> Nemo | None:
    """Return the reader of NeMo's runs; None where the configuration is none of NeMo."""
    return interp.knowledge.nemo() if configures_run(root) else None


def _front_end(interp: Interpreter, root: Object) -> FrontEnd:
    nemo = _nemo(interp, root)
    return BRIDGE if nemo is None else nemo.front_end


def without_repeats(found: Sequence[Yield]) -> list[Yield]:
    """Keep one yield for each way: paths that part only behind a launch share it."""
    if found[0].key == RESULT:
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
    return tuple(tuple(map(_told, map(variant.settings.get, SETTINGS))) for variant in recipe.variants)


def _told(setting: Setting | None) -> tuple[str, object] | None:
    # Lists have no hash, and 1 is no True.
    return None if setting is None else (repr(setting.value), setting.origin and setting.origin.point)
