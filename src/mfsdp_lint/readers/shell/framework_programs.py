"""The runs of a framework's own program that is not at hand.

Of a program of Hydra: its words, over the file that they name. Whatever the framework's files hold beside what its
profile knows of them is unknown.

    python -m verl.trainer.main_ppo --config-path=$PWD/config --config-name=grpo model_engine=megatron …

Of a program that takes a file in the place of its flags: the file, and that the flags are dropped.

    torchrun pretrain_gpt.py --yaml-cfg conf/gpt.yaml --use-megatron-fsdp …

Of one that takes a file, and changes of it: the file, which tells whose program it is, with the changes.

    uv run examples/run_grpo.py --config grpo.yaml policy.megatron_cfg.tensor_model_parallel_size=2
    automodel finetune.yaml --distributed.ep_size 4
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Origin, Recipe, Setting, Span
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.settings import With
from mfsdp_lint.core.values import UNKNOWN, Known, is_known_as
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.front_ends import Profile, StartedWith, described_by, profiles
from mfsdp_lint.megatron.vocabulary import SWITCHES
from mfsdp_lint.megatron.vocabulary.tables import Versions
from mfsdp_lint.readers.framework_configs import in_environment, recipes_of
from mfsdp_lint.readers.hydra_defaults import AT_ROOT, Options
from mfsdp_lint.readers.megatron_lm_flags import settings_from_flags, settings_of_flag
from mfsdp_lint.readers.overrides import settings_in, split_override
from mfsdp_lint.readers.shell.launch_command import ShellLaunch, path_of
from mfsdp_lint.readers.shell.script import Text, around, behind, known, located, option, plain
from mfsdp_lint.readers.shell.shapes import element_of, flag_words, is_file_of_options, may_be_words, options_in
from mfsdp_lint.readers.trees import Leaf, Section, merge, under
from mfsdp_lint.readers.yaml.compose import COMPOSE, compose_started
from mfsdp_lint.readers.yaml.document import Files


def runs_of_framework(
    launch: ShellLaunch, path: str, sources: Sources, environment: Sequence[Setting], versions: Versions
) -> list[Recipe]:
    """Return the recipes of a launch of a program that a profile knows; none where it configures nothing of Megatron.

    `environment` is what the launch sets.
    """
    name = known(launch.started.program) or ""
    name = name if launch.started.is_module else name.removesuffix(".py").replace("/", ".")
    profile = described_by(name)
    if profile is None:
        every = (each for profile in profiles() for each in _runs_of_file(profile, launch, path, sources, versions))
        return in_environment(list(every) or _runs_with_file(launch, path, sources, environment, versions), environment)
    words = _words(launch.started.arguments, profile)
    file = _file(words, profile.programs[name], path, launch, sources)
    files = Files(sources, environment=environment)
    place = Origin(launch.span, "assigned")
    root = files.tree(file) if file is not None else _composes(words.name or profile.programs[name], place)
    if root is None:
        return []
    whole = compose_started(file or path, root, files, profile.ships, words.choices, words.values)
    return in_environment(recipes_of(profile, path, whole, versions), environment)


def file_of_options(launch: ShellLaunch, path: str, sources: Sources) -> Section | None:
    """Return the file that a framework's command is given in place of options, where it is at hand."""
    first = next(iter(launch.started.arguments), ())
    named = located(first) if is_file_of_options(first) else None
    file = None if named is None else path_of(named, path, sources, launch.folder, launch.container)
    return None if file is None else Files(sources).tree(file)


def _runs_of_file(
    profile: Profile, launch: ShellLaunch, path: str, sources: Sources, versions: Versions
) -> Iterator[Recipe]:
    """Yield the recipes of the file that a flag names in the place of all others; a switch of FSDP among these is off,
    unless the file turns it on.
    """
    words = launch.started.arguments
    names = [plain(word).partition("=")[0] for word in words]
    for flag, evidence in profile.instead.items():
        named = located(_value(words, names.index(flag), flag)) if flag in names else None
        file = path_of(named, path, sources, launch.folder, launch.container)
        root = Files(sources).tree(file) if file is not None else None
        given = settings_from_flags(flag_words(words, versions), versions).settings
        named_by = [given[each] for each in settings_of_flag(flag, versions.core) if each in given]
        on = [given[each] for each in SWITCHES if each in given and is_known_as(given[each].value, True)]
        for recipe in recipes_of(profile, path, root, versions) if root is not None else ():
            own = recipe.variants[0]
            off = (each for each in on if own.origin(each.path) is None or is_known_as(own.value(each.path), False))
            dropped = [_dropped(each, flag, evidence, profile) for each in off]
            yield replace(recipe, variants=(replace(own, settings=With(own.settings, *named_by, *dropped)),))


def _runs_with_file(
    launch: ShellLaunch, path: str, sources: Sources, environment: Sequence[Setting], versions: Versions
) -> list[Recipe]:
    """Return the recipes of the file that the words name, as the other words change it: whose it is, the file tells."""
    words = launch.started.arguments
    files = Files(sources, environment=environment)
    for profile in profiles():
        if profile.started_with is None or (file := _named_file(profile.started_with, words)) is None:
            continue
        there = path_of(file, path, sources, launch.folder, launch.container)
        root = files.tree(there) if there is not None else None
        if there is None or root is None:
            continue
        over = _options(words) if profile.started_with.words == "options" else _words(words, profile).values
        whole = COMPOSE[profile.compose](there, root, files, profile.ships, over)
        if any(whole.get(*key) for key in profile.known_by):
            return recipes_of(profile, path, whole, versions)
    return []


def _options(words: Sequence[Text]) -> Section:
    found = Section()
    for key, leaf in options_in(words)[0].items():
        if key.count(".") <= _DEEPEST:
            found = merge(found, under(key, leaf, leaf.origin))
    return found


def _named_file(started: StartedWith, words: Sequence[Text]) -> str | None:
    """Return the file that words name in one of the ways of a framework, the last of its options first."""
    names = [plain(word).partition("=")[0] for word in words]
    for number in range(len(names) - 1, -1, -1):
        if names[number] in started.file and names[number]:
            return located(_value(words, number, names[number]))
    first = next(filter(is_file_of_options, words), None) if "" in started.file else None
    return None if first is None else located(first)


def _dropped(setting: Setting, flag: str, evidence: str, profile: Profile) -> Setting:
    """Return a switch that is off although a flag turns it on: another one makes the program ignore it."""
    path, _, line = evidence.rpartition(":")
    made = Origin(
        Span(path, int(line), 1, int(line), 1),
        "startup",
        upstream=profile.source,
        earlier=setting.origin and replace(setting.origin, value=setting.value),
        value=Known(False),
        because=flag,
    )
    return Setting(setting.path, Known(False), made)


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a program of Hydra: the file that is composed and its folder, choices of groups, values."""

    name: str
    folder: Text
    choices: dict[str, Options]
    values: Section


_DEEPEST = 50
"""Dots of a key; more are no setting, and nobody's configuration."""

_FLAG = lazy_pattern(r"(?P<flag>--config-name|-cn|--config-path|-cp|--config-dir|-cd)=?")


def _words(arguments: Sequence[Text], profile: Profile) -> _Words:
    last = max((number for number, text in enumerate(arguments) if may_be_words(text)), default=0)
    name = ""
    folder: Text = ()
    choices: dict[str, Options] = {}
    values = Section()
    for number, text in enumerate(arguments):
        flag = _FLAG.match(plain(text))
        if flag is not None:
            said = _value(arguments, number, flag["flag"])
            if flag["flag"] in ("--config-name", "-cn"):
                name = plain(said).removesuffix(".yaml")
            else:
                folder = said
            continue
        found = split_override(plain(text))
        if found is None or found.key.count(".") > _DEEPEST:
            continue
        choice = found.written or ""
        if "/" in found.key or not profile.ships.keys().isdisjoint(
            (named := f"{found.key}/{choice}", f"{named}@{AT_ROOT}")
        ):
            choices[found.key] = (choice,)
            continue
        value = behind(text, len(found.sign) + len(found.key) + 1) if found.sign != "~" else ()
        for key, leaf in _leaves(found.key, text, value, is_known=number >= last):
            values = merge(values, under(key, leaf, leaf.origin))
    return _Words(name, folder, choices, values)


def _value(arguments: Sequence[Text], number: int, flag: str) -> Text:
    """Return what a flag is given: the text behind its `=`, or the next word."""
    if plain(arguments[number]) != flag:
        return behind(arguments[number], len(flag) + 1)
    return arguments[number + 1] if arguments[number + 1 :] else ()


def _leaves(key: str, text: Text, value: Text, *, is_known: bool) -> Iterator[tuple[str, Leaf]]:
    """Yield the entries that an override writes; unknown behind it may be another one, and one that is taken away may
    have another value.
    """
    for at, said in settings_in(key, element_of(value) if value else UNKNOWN):
        here = said if is_known else UNKNOWN
        focus = around(value) if value else None
        yield at, Leaf(here, Origin(around(text), "assigned", focus, value=here, option=option(value)))


def _file(words: _Words, name: str, path: str, launch: ShellLaunch, sources: Sources) -> str | None:
    """Return the file of the tree that the words name; a folder that the program finds beside itself is not at hand."""
    folder = located(words.folder)
    if not folder or not (any(piece.stands for piece in words.folder) or posixpath.isabs(folder)):
        return None
    return path_of(posixpath.join(folder, f"{words.name or name}.yaml"), path, sources, launch.folder, launch.container)


def _composes(name: str, place: Origin) -> Section:
    """Return a file that begins with another one."""
    item = Leaf(Known(name), place, name)
    return Section({"defaults": Leaf(Known([name]), place, items=(item,))}, place)
