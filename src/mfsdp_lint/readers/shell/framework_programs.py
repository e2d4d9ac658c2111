"""The runs of a framework's own program of Hydra that is not at hand: its words, over the file that they name.

    python -m verl.trainer.main_ppo --config-path=$PWD/config --config-name=grpo model_engine=megatron …

Whatever the framework's files hold beside what its profile knows of them is unknown.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Origin, Recipe, Setting
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import UNKNOWN, Known
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.front_ends import Profile, profiles
from mfsdp_lint.megatron.vocabulary.tables import Versions
from mfsdp_lint.readers.framework_configs import in_environment, recipes_of
from mfsdp_lint.readers.hydra_defaults import AT_ROOT, Options
from mfsdp_lint.readers.overrides import settings_in, split_override
from mfsdp_lint.readers.shell.launch_command import ShellLaunch, path_of
from mfsdp_lint.readers.shell.script import Text, around, behind, known, located, option, plain
from mfsdp_lint.readers.shell.shapes import element_of, may_be_words
from mfsdp_lint.readers.trees import Leaf, Section, merge, under
from mfsdp_lint.readers.yaml.compose import compose_started
from mfsdp_lint.readers.yaml.document import Files


def runs_of_framework(
    launch: ShellLaunch, path: str, sources: Sources, environment: Sequence[Setting], versions: Versions
) -> list[Recipe]:
    """Return the recipes of a launch of a program that a profile knows; none where it configures nothing of Megatron.

    `environment` is what the launch sets.
    """
    name = known(launch.started.program) or ""
    name = name if launch.started.is_module else name.removesuffix(".py").replace("/", ".")
    profile = next((each for each in profiles() if name in each.programs), None)
    if profile is None:
        return []
    words = _words(launch.started.arguments, profile)
    file = _file(words, profile.programs[name], path, launch, sources)
    files = Files(sources, environment=environment)
    place = Origin(launch.span, "assigned")
    root = files.tree(file) if file is not None else _composes(words.name or profile.programs[name], place)
    if root is None:
        return []
    whole = compose_started(file or path, root, files, profile.ships, words.choices, words.values)
    return in_environment(recipes_of(profile, path, whole, versions), environment)


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a program of Hydra: the file that is composed and its folder, choices of groups, values."""

    name: str
    folder: Text
    choices: dict[str, Options]
    values: Section


_DEEPEST = 50
"""Dots of a key; more are no setting, and nobody's configuration."""

_FLAG = lazy_pattern(r"(?P<flag>--config-name|-cn|--config-path|-cp|--config-dir|-cd)(?P<equals>=)?")


def _words(arguments: Sequence[Text], profile: Profile) -> _Words:
    last = max((number for number, text in enumerate(arguments) if may_be_words(text)), default=0)
    name = ""
    folder: Text = ()
    choices: dict[str, Options] = {}
    values = Section()
    for number, text in enumerate(arguments):
        flag = _FLAG.match(plain(text))
        if flag is not None:
            said = (
                behind(text, flag.end()) if flag["equals"] else arguments[number + 1] if arguments[number + 1 :] else ()
            )
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
