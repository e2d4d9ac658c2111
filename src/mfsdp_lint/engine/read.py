"""Reading of files and addresses: the question says which, and recipes result, under the overrides.

A recipe that asks for a variable of the environment which nobody gives is read once more with each value that may be
meant, until one turns FSDP on that is off without it. Those variants are kept beside the recipe, as a parameter's are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from mfsdp_lint.checkpoints import facts
from mfsdp_lint.core.nearest import did_you_mean
from mfsdp_lint.core.recipe import Origin, Recipe, Span, Unfollowed, Variant
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.core.values import Known
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.addresses import Address, ParsedArguments, ask
from mfsdp_lint.inputs.dependents import MOST_FOLDERS, TooMany, asking_for, exchanging, launchers, loading, users
from mfsdp_lint.inputs.discover import File, FileType, GitIgnored, is_excluded
from mfsdp_lint.inputs.faults import Faults
from mfsdp_lint.inputs.options import AS_ASKED, Options, UsageError
from mfsdp_lint.inputs.sources import Problem, Sources
from mfsdp_lint.megatron.versions import Target, UnknownVersion, by_places
from mfsdp_lint.megatron.vocabulary import SWITCHES
from mfsdp_lint.readers import registry
from mfsdp_lint.readers.overrides import (
    ENVIRONMENT,
    CommandLine,
    SettingOverride,
    misspelt_overrides,
    override,
    parse_command_line,
)
from mfsdp_lint.readers.reader import Reader, Reading, ToRead
from mfsdp_lint.readers.registry import file_types
from mfsdp_lint.readers.relevance import Relevance, speaks_of_recipes

if TYPE_CHECKING:
    from mfsdp_lint.readers.python.knowledge import Knowledge
    from mfsdp_lint.readers.python.state.interpreter import Interpreter

_ON = Known(True)

_MOST_VALUES = 8

Again = Callable[[SettingOverride, Sequence[Recipe]], Iterable[Recipe]]
"""Reads some recipes again, with a value for a variable of the environment."""


def with_switches(recipes: Sequence[Recipe], again: Again) -> list[Recipe]:
    """Return the recipes with their variants under the variables of the environment that turn FSDP on."""
    found = list(recipes)
    for name in dict.fromkeys(name for recipe in recipes for name in asked(recipe)):
        for value in _values(name, recipes):
            # (Where it turns something on in a file, the others of the file do not ask for another value.)
            done = {each.path for each in found for variant in each.exposed if f"${name}" in variant.exposed}
            asking = (at for at, each in enumerate(found) if name in asked(each) and each.path not in done)
            open_to = {_key(found[at]): at for at in asking if not _is_judged(found[at])}
            if not open_to:
                break
            first = found[min(open_to.values())]
            place = Span(first.path, first.line, 1, first.line, 1)
            given = SettingOverride(
                f"{ENVIRONMENT}{name}", Known(value), Origin(place, "environment", value=Known(value))
            )
            for then in again(given, [found[at] for at in open_to.values()]):
                at = open_to.get(_key(then))
                if at is not None:
                    variants = tuple(_turned_on(found[at], then, name, value))
                    found[at] = replace(found[at], exposed=(*found[at].exposed, *variants))
    return found


def asked(recipe: Recipe) -> dict[str, tuple[str, ...]]:
    """Return the variables that may turn FSDP on in a recipe: those that its reader names, and switches."""
    found = dict(recipe.variables)
    for variant in recipe.variants:
        for path in SWITCHES:
            option = "" if variant.value(path) == _ON else variant.settings.taken_from(path)[0]
            names = (each.strip() for each in option.split(","))
            found |= {name[1:]: found.get(name[1:], ()) for name in names if name.startswith("$")}
    return found


def _values(name: str, recipes: Iterable[Recipe]) -> list[str]:
    """Return the texts that may turn something on: the usual ones, and those that recipes compare the variable with."""
    compared = (text for recipe in recipes for text in recipe.variables.get(name, ()) if text)
    return list(dict.fromkeys(("1", "true", *compared)))[:_MOST_VALUES]


def _key(recipe: Recipe) -> tuple[str, str, str]:
    return recipe.path, recipe.qualified_name, recipe.label


def _is_judged(recipe: Recipe) -> bool:
    """Tell whether FSDP is on in a part that is judged anyway."""
    return any(variant.value(path) == _ON for variant in (*recipe.variants, *recipe.exposed) for path in SWITCHES)


def _turned_on(recipe: Recipe, then: Recipe, name: str, value: str) -> Iterator[Variant]:
    for variant in then.variants:
        if any(variant.value(path) == _ON and recipe.setting(path).value != _ON for path in SWITCHES):
            yield replace(variant, when=(f"{name}={value}", *variant.when), exposed=(f"${name}",))


@dataclass(frozen=True, slots=True)
class Question:
    """The inputs that decide which files are read, except the texts.

    `files` are read whole; they are all that there are in the `folders`, and others; `addresses` are single functions,
    which may be in other files, the `named` ones. `beside` are files that another question asks for: where they are
    imported they appear under these paths. `numbered` are single recipes of `files` (`launch.sh[2]`): nothing else in
    these files is looked at. `launchers` are files that nobody asked for: only the runs that they make of the files are
    looked at. `dependents` are files that nobody asked for, and that use the files: they are read whole. With
    `tells_of_users`, what the files break in these and in the launchers is told; `lacks_users` says that not all of
    them are here. `front_end` is the framework whose configurations the YAML files are, where the options name it. With
    `only_runs`, code that starts no run is not looked at: nobody asks for a recipe by itself. Of Python files, only the
    `entries` are run (each a path and a name; None: all). `command_line` overrides settings of every recipe. `unsaved`
    are texts in front of the files. `also` are the other versions of a range, of which `target` is the newest, and
    those that hold in other places; `remarks` are notes about them for the user.
    """

    target: Target
    files: tuple[File, ...] = ()
    addresses: tuple[Address, ...] = ()
    search_path: tuple[str, ...] = ()
    command_line: CommandLine = field(default_factory=CommandLine)
    also: tuple[Target, ...] = ()
    named: tuple[File, ...] = ()
    remarks: tuple[str, ...] = ()
    beside: tuple[File, ...] = ()
    numbered: tuple[str, ...] = ()
    launchers: tuple[File, ...] = ()
    dependents: tuple[File, ...] = ()
    tells_of_users: bool = False
    lacks_users: bool = False
    front_end: str | None = None
    only_runs: bool = False
    entries: frozenset[tuple[str, str]] | None = None
    unsaved: Mapping[str, str] = field(default_factory=dict)
    folders: tuple[str, ...] = ()

    @property
    def texts(self) -> Mapping[str, str]:
        """The texts that count in place of files, by path: those of options and of unsaved files."""
        return {**self.command_line.texts, **self.unsaved}

    @property
    def targets(self) -> tuple[Target, ...]:
        """Every version judged against, the newest first, and behind them those that hold in other places."""
        return (self.target, *self.also)

    @property
    def newest(self) -> list[Target]:
        """The newest version of each place with versions of its own."""
        return [targets[0] for targets in self._by_places.values()]

    def targets_at(self, path: str) -> tuple[Target, ...]:
        """Return the versions that the recipes of a file are judged against: those of the nearest place."""
        return self._by_places[self._places_of(path)]

    def parts(self, sources: Sources) -> Iterator[Question]:
        """Yield the question for each place with versions of its own: its files, beside all others.

        What scripts of other places start belongs to these. They count where they load, or save, what those here do.
        """
        if len(self._by_places) == 1:
            yield self
            return
        launching = {reader.type.name for reader in registry.READERS if reader.type.launches}
        scripts = [file for file in (*self.files, *self.dependents) if file.kind in launching]

        def text_of(file: File) -> str:
            return sources.text_or_none(file.path) or ""

        for places, (target, *also) in self._by_places.items():
            mine = {file.path for file in (*self.files, *self.dependents) if self._places_of(file.path) == places}
            own = [file for file in (*scripts, *self.launchers) if self._places_of(file.path) == places]
            exchanges = exchanging(map(text_of, own))
            others = (file for file in (*scripts, *self.launchers) if file not in own)
            exchanging_with = [file for file in others if exchanges and exchanges(text_of(file))]
            yield replace(
                self.among(mine),
                target=target,
                also=tuple(also),
                addresses=tuple(each for each in self.addresses if self._places_of(each.path) == places),
                launchers=(*(file for file in self.launchers if file in own), *exchanging_with),
                search_path=(*(each for each in self.search_path if each not in self.target.source), *target.source),
            )

    def among(self, paths: Collection[str]) -> Question:
        """Narrow the question to some of its files, and the addresses in these; the other files are beside them."""
        others = (file for file in (*self.files, *self.dependents) if file.path not in paths)
        return replace(
            self,
            files=tuple(file for file in self.files if file.path in paths),
            dependents=tuple(file for file in self.dependents if file.path in paths),
            addresses=tuple(address for address in self.addresses if address.path in paths),
            beside=(*self.beside, *others),
        )

    @property
    def _by_places(self) -> dict[tuple[str, ...], tuple[Target, ...]]:
        return by_places(self.targets)

    def _places_of(self, path: str) -> tuple[str, ...]:
        """Return the places that a file belongs to: those of the nearest one, else of the rest."""
        if len(self._by_places) == 1:
            return self.target.places
        here = os.path.abspath(path)
        above = (
            (len(there), places)
            for places in self._by_places
            for there in map(os.path.abspath, places)
            if here == there or here.startswith(os.path.join(there, ""))
        )
        return max(above, default=(0, () if () in self._by_places else self.target.places))[1]

    def asks_for(self, recipe: Recipe) -> bool:
        """Tell whether a recipe of a file that is read is to be looked at."""
        alone = {each.rpartition("[")[0] for each in self.numbered}
        return recipe.path not in alone or recipe.qualified_name in self.numbered

    @property
    def every_file(self) -> tuple[File, ...]:
        """The files read whole, and those that only an address names."""
        return (*self.files, *self.named)

    @property
    def users(self) -> tuple[File, ...]:
        """The files that are read only because they use those that are asked for."""
        return (*self.dependents, *self.launchers)


@dataclass(frozen=True, slots=True)
class Read:
    """The recipes, what could not be read or is not there, and what else is worth saying.

    `memories` are for a later reading of the same question, by the kind of file. `unfollowed` is code of which there is
    no recipe though there should be, in the files as they were first. `trials` are the readings with a variable of the
    environment given, by its path and value. `is_kept` says that it is of an earlier run (see engine/recall.py).
    """

    recipes: tuple[Recipe, ...]
    problems: tuple[Problem, ...]
    remarks: tuple[str, ...] = ()
    memories: Mapping[str, object] = field(default_factory=dict)
    unfollowed: tuple[Unfollowed, ...] = ()
    trials: Mapping[tuple[str, str], Read] = field(default_factory=dict)
    is_kept: bool = False


def question(options: Options) -> tuple[Question, tuple[Problem, ...]]:
    """Return the question that the options ask, and a problem for each part that is not there. Raises UsageError."""
    from mfsdp_lint.inputs.detect import detect

    changed = parse_command_line(options.overrides, options.environment)
    if options.stdin is None:
        asked = ask(_paths(options), file_types(), options.exclude, gitignore=options.respect_gitignore)
    else:
        asked = _of_stdin(options.paths[0], options.stdin)
    named = dict.fromkeys([*options.paths, *(address.path for address in asked.addresses)])
    importing = {reader.type.name for reader in registry.READERS if reader.type.imports}
    modules = [file.path for file in asked.files if file.kind in importing]
    scripts = [file.path for file in asked.files if file.kind not in importing]
    try:
        detected = detect([path for path in named if disk.exists(path)], options, modules, scripts)
    except UnknownVersion as error:
        asked_by = "" if options.target_from == AS_ASKED else f"{options.target_from}: "
        raise UsageError(f"{asked_by}{error}") from None
    target, *also = detected.targets
    remarks = detected.remarks
    # A commit hook names files that nobody wants.
    if _paths(options) and not (asked.files or asked.addresses or asked.problems):
        remarks = (*remarks, "no files to check under the given paths")
    asking = Question(
        target,
        asked.files,
        asked.addresses,
        (*options.search_path, *target.source),
        changed,
        tuple(also),
        asked.named,
        remarks,
        numbered=asked.numbered,
        front_end=_front_end(options.front_end),
        unsaved=dict([*options.unsaved, *([(options.paths[0], options.stdin)] if options.stdin is not None else [])]),
        folders=tuple(filter(disk.is_folder, options.paths)),
    )
    return asking, asked.problems


def _front_end(name: str | None) -> str | None:
    """Return the name if a front-end has it; None for None. Raises UsageError."""
    if name is None:
        return None
    from mfsdp_lint.megatron.front_ends import every_front_end

    if name not in every_front_end():
        raise UsageError(f"--front-end: there is no {name!r}{did_you_mean(name, every_front_end())}")
    return name


def with_launchers(question: Question) -> Question:
    """Add the launch scripts of the same projects that may start the question's files, or load what they convert."""
    too_large: set[str] = set()
    started = _with_recipes(question.every_file, Relevance(Sources(question.texts), question.search_path))
    found = [File(path, type_.name) for type_ in _launching() for path in launchers(started, type_, too_large)]
    for type_ in _launching():
        scripts = [file.path for file in question.every_file if file.kind == type_.name]
        found += [File(path, type_.name) for path in loading(scripts, type_, too_large)]
    remarks = (
        f"{root}: more than {MOST_FOLDERS} folders; launch scripts are looked for in the first {MOST_FOLDERS} alone"
        for root in sorted(too_large)
    )
    return replace(question, launchers=_unasked(found, question.every_file), remarks=(*question.remarks, *remarks))


def _launching() -> list[FileType]:
    return [reader.type for reader in registry.READERS if reader.type.launches]


def _with_recipes(files: Iterable[File], relevance: Relevance) -> list[str]:
    """Return those of some files that a launch may start, or ask for a recipe."""
    started = {reader.type.name for reader in registry.READERS if not reader.type.launches}
    return [file.path for file in files if file.kind in started and relevance.reaches(file.path, speaks_of_recipes)]


def _unasked(found: Iterable[File], asked: Iterable[File]) -> tuple[File, ...]:
    known = {disk.real(file.path) for file in asked}
    return tuple(dict.fromkeys(file for file in found if disk.real(file.path) not in known))


def with_targets(question: Question, options: Options) -> Question:
    """Add the versions that hold for the users of the question's files, where these are in other places."""
    if not question.users:
        return question
    from mfsdp_lint.inputs.detect import detect_beside

    target, *also = detect_beside(question.targets, [file.path for file in question.users], options)
    return replace(question, target=target, also=tuple(also))


MOST_DEPENDENTS = 40
"""Files that are read because they use those that are asked for."""


def with_dependents(question: Question, options: Options) -> Question:
    """Add the files that use the question's files that are named, as far as the options ask for them.

    What one launch makes of a file, and what a baseline accepts, is a matter of the file alone.
    """
    asks = options.stdin is None if options.dependents is None else options.dependents
    if not asks or options.update_baseline or question.command_line.overrides:
        return question
    folders = tuple(os.path.join(disk.real(path), "") for path in options.paths if disk.is_folder(path))
    asked = {disk.real(file.path): file for file in question.every_file}
    alone = {each.rpartition("[")[0] for each in question.numbered}
    named = [
        path
        for path, file in asked.items()
        if not path.startswith(folders) and file in question.files and file.path not in alone
    ]
    if not named:
        return question
    try:
        found = users(named, [reader.type for reader in registry.READERS], MOST_DEPENDENTS)
    except TooMany:
        remark = "the project is too large to find the files that use those that are checked"
        return replace(question, remarks=(*question.remarks, remark), tells_of_users=True, lacks_users=True)
    relevance = Relevance(Sources(question.texts), question.search_path)
    using = list(islice(_relevant(found, question, options, relevance), MOST_DEPENDENTS + 1))
    dependents = tuple(using[:MOST_DEPENDENTS])
    known = (*question.every_file, *question.launchers, *dependents)
    # Whoever starts a user is farther away than any of these.
    recipes = {path: found[path] for path in _with_recipes(dependents, relevance)}
    starting = _unasked((File(path, each.name) for each in _launching() for path in asking_for(recipes, each)), known)
    room = MOST_DEPENDENTS - len(dependents)
    lacks = bool(using[MOST_DEPENDENTS:] or starting[room:])
    remarks = question.remarks
    if lacks:
        remark = (
            f"more than {MOST_DEPENDENTS} files use those that are named, and only the nearest {MOST_DEPENDENTS} are "
            "checked with them; name folders to check all"
        )
        remarks = (*remarks, remark)
    before = (each for each in question.launchers if each not in dependents)
    asking = replace(
        question,
        dependents=dependents,
        launchers=(*before, *starting[:room]),
        tells_of_users=True,
        lacks_users=lacks,
        remarks=remarks,
    )
    return with_targets(asking, options)


def _relevant(found: Iterable[str], question: Question, options: Options, relevance: Relevance) -> Iterator[File]:
    """Yield the users of files that nobody asked for or leaves out, and that may have to do with a run."""
    asked = {disk.real(file.path) for file in question.every_file}
    ignored, types = GitIgnored(), file_types()
    for path in found:
        type_ = types.of(path)
        if type_ is None or disk.real(path) in asked or is_excluded(path, options.exclude):
            continue
        if options.respect_gitignore and ignored.leaves_out(path):
            continue
        if not type_.imports or relevance.is_parsed(path):
            yield File(path, type_.name)


def _paths(options: Options) -> tuple[str, ...]:
    """Return the paths that are asked for; a commit hook also names files that `exclude` leaves out."""
    if not options.force_exclude:
        return options.paths
    return tuple(each for each in options.paths if not is_excluded(each.partition("::")[0], options.exclude))


def _of_stdin(path: str, text: str) -> ParsedArguments:
    """Return the one file whose text came from stdin. Raises UsageError."""
    kind = file_types().of(path, text)
    if kind is None:
        raise UsageError(f"--stdin-filename: {path}: not a kind of file this tool reads ({file_types()})")
    return ParsedArguments((File(path.replace(os.sep, "/"), kind.name),), (), ())


def read(
    question: Question,
    sources: Sources,
    *,
    tracing: bool = False,
    before: Read | None = None,
    switches: bool = True,
    like: Relevance | None = None,
) -> Read:
    """Read the recipes of all files and addresses, as they are under the overrides.

    With `switches`, also evaluate them under the variables of the environment that turn FSDP on. With `tracing`,
    origins know the calls that led to them, which takes longer. `before` is the reading of the same question for other
    texts: recipes that do not depend on the changed texts are taken over. The files of modules are where a reading
    that is `like` this one found them.
    """
    parts = list(question.parts(sources))
    if len(parts) > 1:
        return _joined([of_part(question, each, read(each, sources, tracing=tracing)) for each in parts])
    recipes: list[Recipe] = []
    problems: list[Problem] = []
    # What is taken over was worth the same remarks.
    remarks = [*question.remarks, *(() if before is None else before.remarks)]
    memories: dict[str, object] = {}
    unfollowed: list[Unfollowed] = []
    faults = Faults()
    relevance = Relevance(sources, question.search_path, like)
    for reader in registry.READERS:
        kind = reader.type.name
        asked = _of_kind(kind, question, sources, relevance, tracing)
        paths = [*asked.paths, *(address.path for address in asked.addresses), *asked.launchers]
        if paths:
            memory = None if before is None else before.memories.get(kind)
            found = faults.over_files(paths, partial(_read_some, reader, asked, memory))
            memories[kind] = found.memory
            recipes += found.recipes
            problems += found.problems
            remarks += found.remarks
            unfollowed += found.unfollowed
    if any(each.kind == "overrides" for each in unfollowed):
        known = _turning_on(recipes)
        unfollowed = [each for each in unfollowed if each.kind != "overrides" or each.path not in known]
    trials: dict[tuple[str, str], Read] = {}

    def again(given: SettingOverride, asking: Sequence[Recipe]) -> Sequence[Recipe]:
        key = given.path, repr(given.value)
        earlier = None if before is None else before.trials.get(key)
        trial = _given(question, given, asking)
        trials[key] = read(trial, sources, tracing=tracing, before=earlier, switches=False, like=relevance)
        return trials[key].recipes

    def under_overrides(paths: Collection[str]) -> tuple[list[Recipe], Sequence[str]]:
        found_at, overrides = facts.finder(), question.command_line.overrides
        here = [recipe for recipe in recipes if recipe.path in paths]
        misspelt = misspelt_overrides(here, overrides)
        overridden = [found_at(override(recipe, overrides)) for recipe in here if question.asks_for(recipe)]
        return with_switches(overridden, again) if switches else overridden, misspelt

    overridden, misspelt = faults.over_files([recipe.path for recipe in recipes], under_overrides)
    first = tuple(unfollowed) if before is None or before.is_kept else before.unfollowed
    told = (*problems, *faults.problems)
    return Read(tuple(overridden), told, (*remarks, *misspelt), memories, first, trials)


def _turning_on(recipes: Iterable[Recipe]) -> set[str]:
    """Return the files that say for some recipe, of whatever kind of file, whether FSDP is on."""
    origins = (variant.origin(switch) for recipe in recipes for variant in recipe.variants for switch in SWITCHES)
    return {span.path for origin in origins if origin is not None for span in origin.spans()}


def of_part(question: Question, part: Question, reading: Read) -> Read:
    """Keep the part of a reading whose recipes are in the place that a part of the question is about."""
    if part.targets == question.targets:
        return reading

    def is_here(each: Recipe | Unfollowed) -> bool:
        return question.targets_at(each.path)[0].places == part.target.places

    return replace(
        reading,
        recipes=tuple(filter(is_here, reading.recipes)),
        unfollowed=tuple(filter(is_here, reading.unfollowed)),
    )


def _joined(readings: Sequence[Read]) -> Read:
    """Join the readings of the parts of a question."""
    return Read(
        tuple(recipe for each in readings for recipe in each.recipes),
        tuple(dict.fromkeys(problem for each in readings for problem in each.problems)),
        tuple(dict.fromkeys(remark for each in readings for remark in each.remarks)),
        unfollowed=tuple(one for each in readings for one in each.unfollowed),
    )


def _read_some(reader: Reader, asked: ToRead, memory: object, paths: Collection[str]) -> Reading:
    """Read the files of one kind that are among these paths."""
    return reader.read(
        replace(
            asked,
            paths=[path for path in asked.paths if path in paths],
            addresses=[address for address in asked.addresses if address.path in paths],
            launchers=[path for path in asked.launchers if path in paths],
        ),
        memory,
    )


def _given(question: Question, given: SettingOverride, asking: Sequence[Recipe]) -> Question:
    """Narrow the question to some recipes, with one more variable in the environment."""
    paths = {each.path for each in asking}
    return replace(
        question.among(paths),
        launchers=tuple(each for each in question.launchers if each.path in paths),
        command_line=replace(question.command_line, overrides=(*question.command_line.overrides, given)),
        entries=frozenset((each.path, each.name.partition("[")[0]) for each in asking),
    )


def _of_kind(kind: str, question: Question, sources: Sources, relevance: Relevance, tracing: bool) -> ToRead:
    """Return the part of the question about files of one kind."""
    mine = {file.path for file in question.every_file if file.kind == kind}
    return ToRead(
        [file.path for file in (*question.files, *question.dependents) if file.kind == kind],
        sources,
        question.target,
        lambda: _knowledge(question.targets),
        relevance,
        [address for address in question.addresses if address.path in mine],
        question.search_path,
        tracing,
        [file.path for file in question.beside if file.kind == kind],
        [file.path for file in (*question.every_file, *question.dependents, *question.beside)],
        [file.path for file in question.launchers if file.kind == kind],
        question.front_end,
        question.only_runs,
        question.command_line.environment,
        question.entries,
    )


def _knowledge(targets: tuple[Target, ...]) -> Knowledge[Interpreter]:
    from mfsdp_lint.snapshots.knowledge import load_knowledge

    return load_knowledge(*targets)
