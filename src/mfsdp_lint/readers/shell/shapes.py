"""The settings that the words of a launch give: overrides of a recipe, flags of Megatron-LM, options of a framework.

- `train.py ++ddp.use_megatron_fsdp=true`: a program that takes overrides of a Megatron-Bridge recipe.
- `pretrain_gpt.py --use-megatron-fsdp`: the flags behind the program, and the defaults of those that are left out.
- `megatron sft --use_megatron_fsdp true`: a framework's own command. Its options are the keys of its configuration,
  with `-` or `_`, each with the words behind it up to the next one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import NamedWrite, Origin, Setting, Span
from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known, Value
from mfsdp_lint.inputs.sources import Unreadable
from mfsdp_lint.megatron.front_ends import Pinned, Profile, flags_of_files, profiles
from mfsdp_lint.megatron.vocabulary import SECTIONS, table
from mfsdp_lint.megatron.vocabulary.tables import Versions
from mfsdp_lint.readers.framework_configs import settings_at
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.megatron_lm_flags import Word, configure_run, default_settings, settings_from_flags
from mfsdp_lint.readers.overrides import (
    Element,
    NoOverride,
    is_misspelt,
    of_bridge,
    read_element,
    settings_in,
    split_override,
)
from mfsdp_lint.readers.shell.script import (
    Text,
    around,
    behind,
    is_argument,
    is_left_out,
    known,
    obstacle_in,
    option,
    plain,
)
from mfsdp_lint.readers.trees import Leaf, Section
from mfsdp_lint.readers.yaml.document import read_value


def has_overrides(arguments: Sequence[Text]) -> bool:
    """Tell whether a program is given overrides of a recipe. (Others have a section `model` or `optimizer` as well.)"""
    known = table()
    return any(known.entry(path) is not None or is_misspelt(path) for path, _, _ in _overrides_in(arguments))


def named_overrides(arguments: Sequence[Text]) -> tuple[NamedWrite, ...]:
    """Return the overrides as writes by name: without a plus they are refused where the recipe lacks the setting."""
    given = ((path, text) for path, text, _ in _overrides_in(arguments))
    return of_bridge(
        NamedWrite(path, Origin(around(text), "assigned"), not plain(text).startswith("+")) for path, text in given
    )


def settings_of_overrides(arguments: Sequence[Text]) -> dict[str, Setting]:
    """Return the settings that the overrides write; of two for one setting the later one counts, which may be among
    unknown words.

    A setting that is taken away is not written into the configuration, so that the recipe's own value stays
    (process_config_with_overrides, megatron/bridge/training/utils/omegaconf_utils.py:151 in 0.3.1).
    """
    found: dict[str, Setting] = {}
    last = max((number for number, text in enumerate(arguments) if may_be_words(text)), default=0)
    uncertain = len(list(_overrides_in(arguments[:last])))
    for order, (path, text, value) in enumerate(_overrides_in(arguments), 1):
        if not value:
            found = {each: found[each] for each in found if not f"{each}.".startswith(f"{path}.")}
            continue
        for place, said in settings_in(path, element_of(value)):
            here = UNKNOWN if order <= uncertain else said
            earlier = found.pop(place, None)
            origin = Origin(
                around(text),
                "assigned",
                around(value),
                order=order,
                earlier=earlier.origin if earlier else None,
                value=here,
                option=option(value),
                obstacle=obstacle_in(arguments[last] if order <= uncertain else value),
            )
            section = place.rpartition(".")[0]
            # A setting in a section shows that there is one.
            found.setdefault(section, Setting(section, NOT_NONE))
            found[place] = Setting(place, here, origin)
    return found


def may_be_words(text: Text) -> bool:
    """Tell whether an unknown word may be several, or none, and is not what whoever starts the script gives it."""
    is_unknown = not plain(text).strip(HOLE) and any(piece.splits for piece in text)
    return is_unknown and not is_left_out(text) and not is_argument(text)


def element_of(text: Text) -> Element:
    """Read the value of an override; Hydra refuses to start a run with what it cannot read."""
    said = known(text)
    if said is None:
        return NOT_NONE if plain(text).strip(HOLE) else UNKNOWN
    try:
        return read_element(said)
    except NoOverride:
        return UNKNOWN


def value_of(text: Text) -> Value:
    """Read the value of a framework's option as in YAML."""
    said = known(text)
    if said is None:
        return NOT_NONE if plain(text).strip(HOLE) else UNKNOWN
    if not said.strip():
        return Known("")
    try:
        return read_value(said.strip())
    except Unreadable:
        return UNKNOWN


def _overrides_in(arguments: Sequence[Text]) -> Iterator[tuple[str, Text, Text]]:
    """Yield the path, the word and the value of each override; the value is empty where the setting is deleted."""
    for text in arguments:
        found = split_override(plain(text))
        if found is None or found.key.partition(".")[0] not in SECTIONS:
            continue
        if found.sign == "~":
            yield found.key, text, ()
        elif "." in found.key:
            yield found.key, text, behind(text, len(found.sign) + len(found.key) + 1)


_WITH_VALUE = lazy_pattern(rf"(--?[A-Za-z_][^\s={HOLE}]*)=")


def flag_words(texts: Sequence[Text], versions: Versions) -> Iterator[Word]:
    """Yield the words of a command line.

    A word of which nothing is known is a value of the flag in front of it, if that takes one or several. Anywhere else
    it may be any flags: an argument of the script may be others than those that are given elsewhere, and a variable
    that nobody has set is nothing.
    """
    waits = False
    before: Text = ()
    for text in texts:
        said = known(text)
        whole = plain(text)
        if said is not None:
            flag = table().flag(said, versions.core)
            waits = flag is not None and not flag.is_switch and flag.nargs in (None, "*", "+")
            yield Word(Known(said), around(text), option=option(text), elsewhere=not _follows(before, text))
            before = text
            continue
        given = _WITH_VALUE.match(whole)
        if given:
            start = len(given[0])
            yield Word(Known(given[1]), around(text))
            yield Word(NOT_NONE, around(behind(text, start)), obstacle=obstacle_in(text))
        elif whole.startswith("-") and HOLE in whole.partition("=")[0]:
            yield Word(NOT_NONE, around(text), may_be_flags=True)  # any flag
        elif whole.strip(HOLE) or not any(piece.splits for piece in text) or waits:
            yield Word(NOT_NONE, around(text), elsewhere=not _follows(before, text), obstacle=obstacle_in(text))
        elif not is_left_out(text):
            yield Word(NOT_NONE, around(text), may_be_flags=True, overrides=not is_argument(text))
        waits = False


_BETWEEN = lazy_pattern(r"(?:[\s\"']|\\\n)*")


def _follows(before: Text, text: Text) -> bool:
    """Tell whether a word is written right behind another one; else it is from a variable."""
    if not before:
        return False
    first, last = text[0], before[-1]
    if first.path != last.path or first.start < last.end:
        return False
    return bool(_BETWEEN.fullmatch(first.lines.text, last.end, first.start))


def has_flags(arguments: Sequence[Text]) -> bool:
    """Tell whether a program is given flags of Megatron-LM that configure a run."""
    names = {plain(text).partition("=")[0] for text in arguments}
    if not names.isdisjoint(flags_of_files()):
        return False
    several = {found[1] for text in arguments if (found := _SEVERAL.match(plain(text)))}
    if several and any(table().flag_versions(name) for name in names if name.startswith("--")):
        names |= several  # beside flags of its own, a word with several is a mistake (see notices.unknown_flags)
    paths = {path for name in names for path in _set_by_flag(name)}
    return configure_run(paths)


_SEVERAL = lazy_pattern(r"(--[A-Za-z][\w-]*)\s")


@cache
def _set_by_flag(name: str) -> tuple[str, ...]:
    """Return the settings that a flag sets in the last version that has it."""
    known = table()
    versions = known.flag_versions(name) if name.startswith("--") else ()
    flag = known.flag(name, versions[-1]) if versions else None
    return tuple(entry.path for entry in known.by_attribute(flag.dest)) if flag else ()


def settings_of_launch_flags(arguments: Sequence[Text], place: Span, versions: Versions) -> dict[str, Setting]:
    """Return the settings of the flags, and the defaults of the flags left out where no unknown flags can follow."""
    given = settings_from_flags(flag_words(arguments, versions), versions)
    if given.open:
        return dict(given.settings)
    return {each.path: each for each in default_settings(versions, Origin(place, "default"))} | dict(given.settings)


_OPTION = lazy_pattern(rf"--(?P<name>[A-Za-z][^\s={HOLE}]*)(?P<equals>=)?", re.DOTALL)
_FILE = lazy_pattern(r".*\.(?:ya?ml|json)", re.DOTALL)


def is_file_of_options(word: Text) -> bool:
    """Tell whether a word of a framework's command names a file that it takes in place of options."""
    return _FILE.fullmatch(plain(word)) is not None


def profile_of(command: str) -> Profile | None:
    """Return the profile of the framework that a command belongs to, None if it belongs to none."""
    return next((each for each in profiles() if command in each.commands), None)


def settings_of_options(
    profile: Profile,
    file: Section | None,
    arguments: Sequence[Text],
    place: Span,
    versions: Versions,
    environment: Mapping[str, Setting],
) -> Mapping[str, Setting]:
    """Return the settings of a framework's launch: of the `file` that it names in place of options, and of its options.

    A file that is not at hand may hold anything.
    """
    given, is_open = options_in(arguments)
    is_open = is_open or (file is None and any(map(is_file_of_options, arguments[:1])))
    entries = given if file is None else {**file.entries, **given}
    section = Section(entries, Origin(place, "assigned"), open=is_open)
    within = Pinned.of(profile.front_end, versions)
    found = dict(environment)
    for each in profile.places:
        found |= settings_at(profile, each, section, within, environment) if not each.at else {}
    return found


def options_in(arguments: Sequence[Text]) -> tuple[dict[str, Leaf], bool]:
    """Return the options, each with the words behind it up to the next one, and whether there may be more."""
    options: dict[str, tuple[Text, list[Text]]] = {}
    is_open = False
    for word in arguments:
        named = _OPTION.match(plain(word))
        if named:
            name = named["name"].replace("-", "_")
            options.pop(name, None)  # of two the last counts
            options[name] = (word, [behind(word, named.end())] if named["equals"] else [])
        elif not plain(word).strip(HOLE) and any(piece.splits for piece in word) and not is_left_out(word):
            is_open = True  # it may be any options
        elif options:
            options[next(reversed(options))][1].append(word)
    return {name: _leaf(word, values) for name, (word, values) in options.items()}, is_open


def _leaf(word: Text, values: Sequence[Text]) -> Leaf:
    """Make the leaf of an option; alone it is a switch that is turned on."""
    value: Value = Known(True)
    if len(values) == 1:
        value = value_of(values[0])
    elif values:
        value = UNKNOWN
    focus = around(values[0]) if values else None
    span = around((*word, *values[-1])) if values and values[-1][-1].path == word[0].path else around(word)
    return Leaf(value, Origin(span, "assigned", focus, value=value, option=option(values[0]) if values else ""))
