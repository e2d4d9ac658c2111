"""What the execution paths of an entry point yield: the configurations that they launch, and the one they hand back."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence

from mfsdp_lint.core.front_ends import BRIDGE, FrontEnd
from mfsdp_lint.core.recipe import Recipe, Setting, Settings, Variant
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.readers.python.eval.configurations import changed_from_outside, is_container
from mfsdp_lint.readers.python.eval.launching import is_taken_for_one
from mfsdp_lint.readers.python.eval.nemo import configures_run
from mfsdp_lint.readers.python.export.nemo import tree_of_run
from mfsdp_lint.readers.python.export.origins import Spans
from mfsdp_lint.readers.python.export.settings import ENVIRONMENT, TreeSettings
from mfsdp_lint.readers.python.state.copies import deep_copy
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.paths import Launch
from mfsdp_lint.readers.python.values.modules import Module
from mfsdp_lint.readers.python.values.objects import DictObject, Object
from mfsdp_lint.vocabulary import SETTINGS

RESULT = "result"
"""The key of what is handed back; a launch has its place, and which of the launches there it is."""


@dataclass(frozen=True, slots=True)
class Yield:
    """One configuration of one path; of a script, by which global `names` it goes.

    `configures` says that it is one for sure, `known` that it was made in sight, `partial` that it comes from
    elsewhere. `calls` led to its launch, the innermost first.
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


def path_yields(machine: Machine, result: Object, spans: Spans, names: Mapping[str, Object]) -> Iterator[Yield]:
    """What the path that has just been run yields; `result` is what it hands back, if that may be a configuration.

    `names` are the global names of a script.
    """
    path = machine.path
    launches = path.launches.all
    turns: Counter[int] = Counter()
    for each in launches:
        place = id(each.calls[0][1]) if each.calls else 0
        turns[place] += 1
        yield _launched(machine, each, (place, turns[place]), spans, names)
    if result is None and not launches and path.launches.handed is not None:
        # Nobody knows what becomes of it; this is what is known of it here.
        yield _launched(machine, path.launches.handed, RESULT, spans, names)
    elif result is not None and not any(result is each.container for each in launches):
        configures = is_container(machine, result) or may_be_one(machine, result)
        partial = not is_container(machine, result) and not is_taken_for_one(machine, result)
        variant = variant_of(machine, result, spans)
        names_here, front_end = _names_of(result, names), _front_end(machine, result)
        yield Yield(RESULT, result, variant, configures, partial, names_here, front_end=front_end)


def may_be_one(machine: Machine, value: Object) -> bool:
    """Whether an unknown value is taken for a configuration."""
    return changed_from_outside(value) or is_taken_for_one(machine, value)


def variant_of(machine: Machine, root: Object, spans: Spans) -> Variant:
    """The settings of a configuration at the end of a path."""
    environment = machine.path.environment
    if machine.touched_older(0, machine.path.started + 1):
        # Something that modules share was changed: keep it as it is now, before that is undone.
        copies: dict[int, Object] = {}
        root = deep_copy(machine, root, copies)
        copied = deep_copy(machine, environment, copies)
        assert isinstance(copied, DictObject)
        environment = copied
    return _variant(machine, root, environment, spans, tuple(words for _, words in machine.path.taken))


def _names_of(container: Object, names: Mapping[str, Object]) -> frozenset[str]:
    return frozenset(name for name, value in names.items() if value is container)


def _launched(machine: Machine, launch: Launch, key: Hashable, spans: Spans, names: Mapping[str, Object]) -> Yield:
    with machine.knowing(launch.facts):
        variant = _variant(machine, launch.root, launch.environment, spans, launch.when)
    partial = changed_from_outside(launch.root) and not is_taken_for_one(machine, launch.root)
    known = is_container(machine, launch.root)
    names_here, front_end = _names_of(launch.container, names), _front_end(machine, launch.root)
    return Yield(key, launch.container, variant, True, partial, names_here, launch.calls, known, front_end)


def _variant(machine: Machine, root: Object, environment: DictObject, spans: Spans, when: tuple[str, ...]) -> Variant:
    settings: Settings = TreeSettings(machine, root, environment, spans)
    if _is_nemo(machine, root):
        written = (settings.get(path) for path in settings if path.startswith(ENVIRONMENT))
        variables = {each.path: each for each in written if each is not None}
        settings = WrittenSettings({**machine.nemo().settings(tree_of_run(spans, root)), **variables})
    return Variant(settings, when)


def _is_nemo(machine: Machine, root: Object) -> bool:
    return machine.nemo is not None and configures_run(root)


def _front_end(machine: Machine, root: Object) -> FrontEnd:
    found: FrontEnd = machine.nemo().front_end if _is_nemo(machine, root) else BRIDGE
    return found


def without_repeats(found: Sequence[Yield]) -> list[Yield]:
    """One for each way: paths that part behind a launch have it in common."""
    if found[0].key == RESULT:
        return list(found)
    return list({each.variant.when: each for each in reversed(found)}.values())[::-1]


def lines(module: Module, launches: Sequence[Yield]) -> list[int | None]:
    """The line of each launch, in its own file: of the outermost call that tells them apart."""
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
    """What the settings of a recipe are and where they were written: two with the same are one."""
    return tuple(tuple(map(_told, map(variant.settings.get, SETTINGS))) for variant in recipe.variants)


def _told(setting: Setting | None) -> tuple[str, object] | None:
    # Lists have no hash, and 1 is no True.
    return None if setting is None else (repr(setting.value), setting.origin and setting.origin.point)
