"""Resolution of start-up: a recipe's settings after the framework's own start-up has changed them.

    written ──► update (environment, mixed precision, communication overlap) ──► validation ──► run ──► wrapped

Upstream's steps are data (startup.yaml). They are taken in upstream's order; each overwrites settings. If it is
unknown whether a step is taken, its setting is one of both values, so that no result says more than the inputs do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Literal, get_args

from mfsdp_lint.core.front_ends import BRIDGE, FrontEnd
from mfsdp_lint.core.recipe import Origin, Recipe, Setting, Settings, Span, Variant
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.settings import Layer
from mfsdp_lint.core.values import NONE, UNKNOWN, Known, NotNone, OneOf, Unknown, Value, join, possible, same
from mfsdp_lint.megatron.conditions.language import Condition
from mfsdp_lint.megatron.startup import OBJECT, Phase, Source, StartupStep, UpstreamLine, rare, startup
from mfsdp_lint.megatron.versions import Target

WORLD_SIZE = "run.world_size"
"""The pseudo-setting that holds the number of ranks."""

_FACTS = ("startup.", "run.")
_PHASES: tuple[Phase, ...] = get_args(Phase)
_SECTIONS = ("mixed_precision", "comm_overlap")


@dataclass(frozen=True, slots=True)
class StartupChange:
    """A setting that start-up changes: what it was before the step named, what it is after it, and upstream's line.

    `when` is the condition for which start-up does so, if there is one; `source` the setting that the value is made
    of, where that is one alone.
    """

    path: str
    before: Value
    after: Value
    step: str
    phase: Phase
    place: UpstreamLine | None
    when: Condition | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class Resolution:
    """A variant as it is written, as start-up validation finds it, as it will run, and as the model is wrapped.

    `changes` are all changes of start-up in their order (a setting may be changed more than once), `wrapping` those
    made later, when the model is wrapped. `after` gives the settings after so many of start-up's steps.
    """

    written: Variant
    validation: Variant
    run: Variant
    wrapped: Variant
    changes: tuple[StartupChange, ...]
    wrapping: tuple[StartupChange, ...]
    after: Callable[[int], Variant]

    def changed(self) -> dict[str, StartupChange]:
        """Return the last change of every setting that start-up leaves with another value than the written one.

        A setting of which nothing is known is not changed, whatever its final value is.
        """
        return self._changed_by(self.changes)

    def changed_by_wrapping(self) -> dict[str, StartupChange]:
        """Return the changes of written settings that start-up leaves as they are, made when the model is wrapped."""
        before = {path for path, change in self.changed().items() if isinstance(change.after, Known)}
        return {path: change for path, change in self._changed_by(self.wrapping).items() if path not in before}

    def _changed_by(self, changes: Sequence[StartupChange]) -> dict[str, StartupChange]:
        last = {change.path: change for change in changes}
        written = {path: self.written.value(path) for path in last}
        return {
            path: change
            for path, change in last.items()
            if written[path] != UNKNOWN and not _equal(written[path], change.after)
        }


def resolve(
    variant: Variant, target: Target, world_size: int | None = None, *, front_end: FrontEnd = BRIDGE
) -> Resolution:
    """Take a variant through start-up. `world_size` is the number of ranks, None if it is not known."""
    return _StartupRun(variant, world_size, startup(target, front_end)).resolution()


def changes_of(variant: Variant, target: Target, phases: Set[Phase]) -> tuple[StartupChange, ...]:
    """Return the changes by these phases of the start-up, for a recipe that runs them itself; in their order."""
    steps = (step for step in startup(target) if step.phase in phases)
    return tuple(_StartupRun(variant, None, steps).changes)


def will_run(recipe: Recipe, target: Target) -> Recipe:
    """Return the recipe with the settings that will run."""
    variants = (resolve(variant, target, front_end=recipe.front_end).run for variant in recipe.variants)
    return replace(recipe, variants=tuple(variants))


def differs(written: Value, run: Value) -> bool:
    """Tell whether the value that will run is known and differs from the written one."""
    return run != UNKNOWN and not _equal(written, run)


class Resolved(Layer):
    """The settings of a variant, with what start-up made of them on top.

    `values` also holds start-up's own facts (`run.data_parallel_size`), which are no settings.
    """

    __slots__ = ("_changes", "_paths", "_values")

    def __init__(self, below: Settings, values: Mapping[str, Value], changes: tuple[StartupChange, ...]) -> None:
        super().__init__(below)
        self._values = values
        self._changes = changes
        self._paths: frozenset[str] | None = None

    def value(self, path: str) -> Value:
        changed = self._values.get(path)
        return self.below.value(path) if changed is None else changed

    def get(self, path: str) -> Setting | None:
        if path not in self.paths:
            return self.below.get(path)
        return Setting(path, self._values[path], _origin(self.below.origin(path), self._changes_of(path), self.below))

    def history(self, path: str) -> list[tuple[str, Origin]]:
        """Return the writes of the recipe, then those of start-up."""
        below = self.below.history(path)
        changed = _origin(None, self._changes_of(path), self.below)
        return below if changed is None else [*below, *((path, each) for each in changed.chain())]

    def _changes_of(self, path: str) -> Iterator[StartupChange]:
        return (change for change in self._changes if change.path == path)

    @property
    def paths(self) -> frozenset[str]:
        """The settings that are changed."""
        if self._paths is None:
            self._paths = frozenset(change.path for change in self._changes)
        return self._paths

    def written(self) -> Iterable[str]:
        return dict.fromkeys((*self.below.written(), *sorted(self.paths)))

    def __iter__(self) -> Iterator[str]:
        yield from self.below
        yield from sorted(path for path in self.paths if path not in self.below)


class _Underway(Layer):
    """The settings as the steps taken so far have left them."""

    __slots__ = ("_rare", "values")

    def __init__(self, below: Settings) -> None:
        super().__init__(below)
        self.values: dict[str, Value] = {}
        self._rare = rare()

    def value(self, path: str) -> Value:
        value = self.values.get(path)
        if value is None:
            value = self.below.value(path)
            if type(value) is Unknown and path in self._rare:
                origin = self.below.origin(path)
                if origin is None or origin.how == "default":  # what somebody wrote may be anything
                    return NONE
        return value

    def get(self, path: str) -> Setting | None:
        return Setting(path, self.values[path]) if path in self.values else self.below.get(path)

    def __iter__(self) -> Iterator[str]:
        yield from self.below
        yield from (path for path in self.values if path not in self.below)


@dataclass(frozen=True, slots=True)
class _Moment:
    """A moment of a start-up: how many values were written until then, and how many of these writes are changes."""

    writes: int
    changes: int


class _StartupRun:
    """A start-up, after these steps."""

    def __init__(self, written: Variant, world_size: int | None, steps: Iterable[StartupStep]) -> None:
        self.written = written
        settings = _Underway(written.settings)
        self.variant = Variant(settings)
        self.value = settings.value
        self.values = settings.values
        if world_size is not None:
            self.values[WORLD_SIZE] = Known(world_size)
        self.sources: dict[str, str] = {}
        """The settings that start-up's own facts are made of."""
        for section in _SECTIONS:
            self.values[f"startup.{section}"] = _kind(written.value(section))
            self.sources[f"startup.{section}"] = section
        self.writes = list(self.values.items())
        self.changes: list[StartupChange] = []
        self.ends: dict[Phase, _Moment] = {}
        self.phase: Phase = "update"
        self.moments = [self.now()]
        for step in steps:
            self.take(step)
            self.moments.append(self.now())

    def now(self) -> _Moment:
        return _Moment(len(self.writes), len(self.changes))

    def take(self, step: StartupStep, maybe: bool = False) -> None:
        """Take a step; with `maybe` it is unknown whether start-up takes it."""
        if step.when is not None:
            truth = step.when.root.truth(self.variant)
            if truth is False:
                return
            maybe = maybe or truth is None
        maybe = maybe or step.uncertain
        if step.phase != self.phase:
            self.begin(step.phase)
        # What is written at once is read at once: a row is looked up by the name that it replaces.
        for path, (after, source) in [(path, self.read(source)) for path, source in step.writes]:
            self.write(step, path, after, maybe, source)
        for path, other in step.copies:
            self.copy(step, path, other, maybe)
        if step.spread is not None:
            self.spread(step, *step.spread, maybe)
        for inner in step.steps:
            self.take(inner, maybe)

    def begin(self, phase: Phase | Literal["after"]) -> None:
        """Keep the results of the phases before."""
        end = _PHASES.index(phase) if phase in _PHASES else len(_PHASES)
        for each in _PHASES[_PHASES.index(self.phase) : end]:
            self.ends[each] = self.now()
        if phase != "after":
            self.phase = phase

    def read(self, source: Source) -> tuple[Value, str]:
        """Return the value that a step writes, and the setting that it is made of, if that is one alone."""
        asked: dict[str, None] = {}

        def value(path: str) -> Value:
            asked[path] = None
            return self.value(path)

        found = source(value)
        return found, next(iter(asked)) if len(asked) == 1 else ""

    def write(self, step: StartupStep, path: str, after: Value, maybe: bool, source: str = "") -> None:
        before = self.value(path)
        source = self.sources.get(source, "" if source.startswith(_FACTS) else source)
        if path.startswith(_FACTS):
            self.sources[path] = source
        if maybe:
            after = join((before, after))
        if before is after or _equal(before, after):
            return
        self.values[path] = after
        self.writes.append((path, after))
        if not path.startswith(_FACTS):
            change = StartupChange(path, before, after, step.name, step.phase, step.place, step.when, source)
            self.changes.append(change)

    def copy(self, step: StartupStep, path: str, source: str, maybe: bool) -> None:
        """Write what another setting is, unless that is None."""
        given = self.value(source)
        if given != NONE:
            may_be_none = type(given) is Unknown or (type(given) is OneOf and None in given.values)
            self.write(step, path, given, maybe or may_be_none, source)

    def spread(self, step: StartupStep, source: str, section: str, maybe: bool) -> None:
        """Give a section what another has and it has not. What nothing is known of has nothing."""
        options = [option for option in possible(self.value(source)) or () if isinstance(option, dict)]
        for name in dict.fromkeys(name for option in options for name in option):
            path = f"{section}.{name}"
            before = self.value(path)
            given = [Known(str(option[name])) for option in options if name in option]
            sure = before == NONE and len(given) == len(options)
            if None in (possible(before) or (None,)):
                self.write(step, path, join(given), maybe or not sure)

    def resolution(self) -> Resolution:
        self.begin("after")
        update, validation, wrap = (self.ends[phase] for phase in ("update", "validation", "wrap"))
        run = self.state(validation)
        return Resolution(
            written=self.written,
            validation=self.state(update),
            run=run,
            wrapped=run if wrap.changes == validation.changes else self.state(wrap),
            changes=tuple(self.changes[: validation.changes]),
            wrapping=tuple(self.changes[validation.changes :]),
            after=lambda steps: self.state(self.moments[steps]),
        )

    def state(self, moment: _Moment) -> Variant:
        """Return the settings as they are at a moment."""
        values, changes = dict(self.writes[: moment.writes]), tuple(self.changes[: moment.changes])
        return Variant(Resolved(self.written.settings, values, changes), self.written.when)


def _kind(section: Value) -> Value:
    """Classify a section: None, a name, or an object."""
    is_named = not isinstance(section, Known) or section.value is None or isinstance(section.value, str)
    return section if is_named and not isinstance(section, NotNone) else Known(OBJECT)


def _origin(written: Origin | None, changes: Iterable[StartupChange], below: Settings) -> Origin | None:
    """Return the origin of a changed value. Where nobody wrote the setting, the one that start-up follows is behind it
    (`--recompute-activations`, `comm_overlap`).
    """
    origin = written
    for change in changes:
        if origin is None or origin.how in ("default", "startup"):
            asked = (change.source,) if change.source else () if change.when is None else change.when.paths()
            followed = below.origin(next(iter(asked))) if len(asked) == 1 else None
            origin = followed if followed is not None and followed.how not in ("default", "startup") else origin
        if (place := change.place) is not None:
            span = Span(place.path, place.line, 1, place.line, 1)
            origin = Origin(
                span, "startup", upstream=place.release, earlier=origin, value=change.after, because=change.step
            )
    return origin


def _equal(left: Value, right: Value) -> bool:
    """Compare known values, so that True is not 1."""
    if isinstance(left, Known) and isinstance(right, Known):
        return same(left.value, right.value)
    if not (isinstance(left, OneOf) and isinstance(right, OneOf)):
        return type(left) is type(right)
    one, other = left.values, right.values
    return len(one) == len(other) and all(any(same(value, option) for option in other) for value in one)
