"""Frameworks on top of Megatron: how each writes a configuration, and what it makes of it. A data file each.

A notation is the key and the word for a value, of which a YAML file may have several (`namings`).

The form of a front-end's data file.

name: primus                       what people call it
source: AMD-AGI/Primus fd1eeabb    where its facts were read
released_with: core                next two, `skips`, `spared`, `reverts` and `core` as in core.FrontEnd
takes_flags: true
runs: megatron-lm
mention: '(?m)^modules:'           a pattern of the texts that may be its files; all others are not even parsed
                                   (without one it has no YAML files)
flags: [--mm-model]                flags that only its own command line has
commands: [megatron sft]           commands that start it; their options are the keys of its files
instead:                           flags that name its file in the place of all other flags, each with the line that
  --yaml-cfg: a.py:105             makes it so
started_with:                      how its programs are given one of its files:
  file: [--config, '']             the options that name it ('': it is the first word that names a YAML file)
  words: overrides                 what the other words are: overrides in Hydra's grammar, or `options` (`--a.b value`)
programs: {verl.trainer.main: ppo} its programs of Hydra, each with the file that it composes where nobody names one
ships:                             files that it brings along and a user's project does not have, each with the entries
  engine/megatron: {…}             that every release of it has there; all others of the file are not known. (Of
  model_engine/megatron@_global_:  Hydra's files, with the package of a head.) `models/{a, b}.yaml` are several files
  modules/trainer.yaml:            with the same entries; `lacks` are keys that a file surely does not have. Where files
    lacks: [seed]                  name others by their paths (`inheritance`), a name is the end of a path, and `*` in
                                   it stands for any part of a folder's or a file's name. A mapping is all that the
                                   file has at a key
refuses:                           its own checks
  - rule: MFSDP350                 the rule that this is a case of (none: MFSDP706, which needs a `message`)
    when: model.context_parallel_size > 1 and own.strict   names first what is to be changed
    raises: no such context        the text of the error
    stage: wrap                    the check is made when the model is wrapped (none: before it is built)
    evidence: primus/check.py:86
compose: primus                    how its files are put together (readers/yaml/compose.py)
recipes:
  - at: modules.*trainer*          where the settings of a run are; `*` stands for any part of a name
    where: {framework: [megatron]} what has to stand there
    functions: [swift.megatron.F]  functions (or classes) of Python, each by the package that has it: the arguments of a
                                   call are what stands there
    named: attributes              by the names of Megatron-LM's parsed arguments (or by its `flags`), or:
    calls:                         the section has arguments of a function; what it writes lies over what that gives
      function: flavor             the key that names it
      module: recipe               the key that names its module, in the first of the packages `within` that has it
      within: [megatron.bridge.recipes]
    settings:                      key → setting; `*` is any one name. Of two keys for one setting the later line counts
      ddp.*: ddp.*
      zero: {to: ddp.data_parallel_sharding_strategy, values: [[1, optim]]}  with `others: true`, any other is a value
      ignored: null                nobody reads it, though a later line would take it
    made:                          what the framework itself sets, in this order
      - set: {env.CUDA_DEVICE_MAX_CONNECTIONS: "8"}
        when: ddp.use_megatron_fsdp    `own.KEY` is what stands at a key of its own
        evidence: primus/backends/megatron/patches/env_patches.py:55
      - default: {…}               the same only where nobody wrote the setting
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Literal, get_args

from mfsdp_lint.core.front_ends import FRONT_ENDS, FrontEnd, Refusal, UnknownFrontEnd
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.core.store import Folder, store
from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known, Plain, Value, same
from mfsdp_lint.megatron.conditions.language import Condition, ConditionError, parse
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.megatron.vocabulary.tables import Versions

Named = Literal["attributes", "flags", "settings"]


REFUSED = "MFSDP706"
"""The rule about what a framework refuses and no other rule is about."""

OWN = "own."
"""Prefix of the framework's own keys, which are no settings, in the conditions of a profile."""

_NEVER = r"(?!)"
"""A pattern that no text has."""


class ProfileError(ValueError):
    """A data file of a front-end that is not right."""


@dataclass(frozen=True, slots=True)
class KeyTarget:
    """A setting that a key sets, and the meanings of the framework's words for its values (none: words are values).

    With `keeps_others`, a word without a meaning is a value as well; else it is not known what it means.
    """

    setting: str
    values: tuple[tuple[Plain, Plain], ...] = ()
    keeps_others: bool = False

    def value(self, written: Value) -> Value:
        """Return the setting's value for a value of the framework."""
        if not self.values or not isinstance(written, Known):
            return written
        meant = (Known(meant) for word, meant in self.values if same(word, written.value))
        return next(meant, written if self.keeps_others else UNKNOWN)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of `settings`: a key, and the settings that it sets."""

    key: tuple[str, ...]
    targets: tuple[KeyTarget, ...]

    def sets(self, key: Sequence[str]) -> tuple[KeyTarget, ...] | None:
        """Return the targets that a key sets; None where the line is about other keys."""
        if len(key) != len(self.key):
            return None
        rest = []
        for word, pattern in zip(key, self.key, strict=True):
            if pattern == "*":
                rest.append(word)
            elif pattern != word:
                return None
        name = rest[-1] if rest else ""
        return tuple(replace(each, setting=each.setting.replace("*", name)) for each in self.targets)


@dataclass(frozen=True, slots=True)
class FrameworkSettings:
    """Settings that the framework itself makes, where `when` holds; with `default` only those that nobody wrote.

    `evidence` is the framework's line that does it. One that is `meant` surprises nobody who wrote another value.
    """

    settings: tuple[tuple[str, Value], ...]
    when: Condition | None
    default: bool
    meant: bool
    evidence: str


@dataclass(frozen=True, slots=True)
class Calls:
    """Keys that name a function whose arguments a section holds, and its module in one of these packages."""

    function: str
    module: str
    within: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SettingsPlace:
    """A place in the framework's files that holds the settings of a run, and their names there.

    `under` is the key in it below which a single file writes settings, when the files are put together.
    """

    at: tuple[str, ...]
    under: tuple[str, ...]
    where: tuple[tuple[tuple[str, ...], tuple[Plain, ...]], ...]
    named: Named
    lines: tuple[Line, ...]
    made: tuple[FrameworkSettings, ...]
    calls: Calls | None = None
    functions: tuple[str, ...] = ()

    def is_at(self, key: Sequence[str]) -> bool:
        """Tell whether this key leads to it."""
        return len(key) == len(self.at) and all(map(fnmatchcase, key, self.at))

    def sets(self, key: Sequence[str]) -> list[tuple[int, KeyTarget]]:
        """Return the targets that a key below it sets, each with the number of its line.

        Of several matching lines the first counts.
        """
        for number, line in enumerate(self.lines):
            if (found := line.sets(key)) is not None:
                return [(number, target) for target in found]
        return []

    def keys(self, setting: str) -> Iterator[tuple[tuple[str, ...], KeyTarget]]:
        """Yield the keys that set this setting, each with its target."""
        for line in self.lines:
            for target in line.targets:
                head, star, tail = target.setting.partition("*")
                name = setting[len(head) :]
                if target.setting == setting and "*" not in line.key:
                    yield line.key, target
                elif star and not tail and setting.startswith(head) and "." not in name:
                    yield tuple(name if word == "*" else word for word in line.key), target


@dataclass(frozen=True, slots=True)
class StartedWith:
    """How a framework's programs are given one of its files, and changes of what it says.

    `file` are the options that name it; where "" is among them, it is the first word that names a YAML file. `words`
    says in which form the other words change it.
    """

    file: tuple[str, ...]
    words: Literal["overrides", "options"]


@dataclass(frozen=True, slots=True)
class Profile:
    """A framework on top of another front-end: how its files are recognised and read.

    `mention` finds texts that may be its files, `known_by` are the keys of which they have one. `flags` are those of
    its own command line, which distinguish a launch of it from one of the front-end that it runs; `commands` are its
    own commands, each a program, some with a first word. `instead` are flags that name its file. `programs` are its
    programs of Hydra, with the file that each composes by itself; `started_with` is about all others. `compose` names
    how files are put together, `ships` are known entries, by dotted keys, of files that it brings along. `reasons` say
    of rules why it is spared them, or reverts their fix.
    """

    front_end: FrontEnd
    source: str
    mention: re.Pattern[str]
    known_by: tuple[tuple[str, ...], ...]
    compose: str
    places: tuple[SettingsPlace, ...]
    reasons: tuple[tuple[str, str], ...] = ()
    flags: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    instead: Mapping[str, str] = field(default_factory=dict)
    programs: Mapping[str, str] = field(default_factory=dict)
    started_with: StartedWith | None = None
    ships: Mapping[str, Mapping[str, Plain]] = field(default_factory=dict)

    @property
    def own_keys(self) -> frozenset[str]:
        """The framework's own keys that its checks ask for, each as `own.KEY`."""
        return _own_keys(self.front_end)


@cache
def _own_keys(front_end: FrontEnd) -> frozenset[str]:
    paths = (path for each in front_end.refuses if each.when for path in parse(each.when, {}).paths())
    return frozenset(path for path in paths if path.startswith(OWN))


def read_profile(data: Mapping[str, Any]) -> Profile:
    """Read a profile from its data file. Raises ProfileError."""
    fields = dict(data)
    reasons = [item for key in ("spared", "reverts") for item in (fields.get(key) or {}).items()]
    try:
        profile = Profile(
            FrontEnd(
                fields.pop("name"),
                fields.pop("released_with"),
                takes_flags=fields.pop("takes_flags", False),
                runs=fields.pop("runs", ""),
                skips=frozenset(fields.pop("skips", ())),
                spared=frozenset(fields.pop("spared", ())),
                refuses=tuple(map(_refusal, fields.pop("refuses", ()))),
                reverts=frozenset(fields.pop("reverts", ())),
                core=fields.pop("core", ""),
            ),
            fields.pop("source"),
            re.compile(fields.pop("mention", _NEVER)),
            tuple(tuple(key.split(".")) for key in fields.pop("known_by", ())),
            fields.pop("compose", "alone"),
            tuple(_place(each) for each in fields.pop("recipes", ())),
            tuple(reasons),
            tuple(fields.pop("flags", ())),
            tuple(fields.pop("commands", ())),
            dict(fields.pop("instead", {})),
            dict(fields.pop("programs", {})),
            _started_with(fields.pop("started_with", None)),
            {name: dict(entries) for names, entries in fields.pop("ships", {}).items() for name in _each_name(names)},
        )
    except (KeyError, TypeError, AttributeError, re.error, ConditionError) as error:
        raise ProfileError(f"{data.get('name')}: {error}") from None
    fields.pop("pins", None)
    if fields:
        raise ProfileError(f"{profile.front_end}: unknown field {next(iter(fields))!r}")
    return profile


def _started_with(data: Mapping[str, Any] | None) -> StartedWith | None:
    if data is None:
        return None
    if data["words"] not in ("overrides", "options"):
        raise ProfileError(f"programs are not changed by {data['words']!r}")
    return StartedWith(tuple(data["file"]), data["words"])


def _each_name(names: str) -> Iterator[str]:
    """Yield the names that `models/{a, b}.yaml` means; a name without braces is one."""
    start, brace, rest = names.strip().partition("{")
    inside, _, end = rest.partition("}")
    yield from (f"{start}{each.strip()}{end}" for each in inside.split(",")) if brace else (names,)


def _place(data: Mapping[str, Any]) -> SettingsPlace:
    named, calls = data.get("named", "settings"), data.get("calls")
    if named not in get_args(Named):
        raise ProfileError(f"settings are not named by {named!r}")
    return SettingsPlace(
        at=tuple(part for part in data["at"].split(".") if part),
        under=tuple(part for part in data.get("under", "").split(".") if part),
        where=tuple((tuple(key.split(".")), tuple(_list(value))) for key, value in data.get("where", {}).items()),
        named=named,
        lines=tuple(
            Line(tuple(key.split(".")), tuple(_targets(meant))) for key, meant in data.get("settings", {}).items()
        ),
        made=tuple(_made(each) for each in data.get("made", ())),
        calls=Calls(calls["function"], calls["module"], tuple(calls["within"])) if calls is not None else None,
        functions=tuple(data.get("functions", ())),
    )


def _refusal(data: Mapping[str, Any]) -> Refusal:
    rule = data.get("rule", REFUSED)
    if when := data.get("when", ""):
        parse(when, {})
    message = data["message"] if rule == REFUSED else data.get("message", "")
    return Refusal(rule, when, message, data["raises"], data["evidence"], data.get("stage", "startup"))


def _targets(meant: Any) -> Iterator[KeyTarget]:
    for each in _list([] if meant is None else meant):
        if isinstance(each, dict):
            pairs = each["values"].items() if isinstance(each["values"], dict) else map(tuple, each["values"])
            values = tuple(pairs)
            yield from (KeyTarget(setting, values, each.get("others", False)) for setting in _list(each["to"]))
        else:
            yield KeyTarget(each)


def _made(data: Mapping[str, Any]) -> FrameworkSettings:
    default = "default" in data
    settings = data["default" if default else "set"]
    when = data.get("when")
    return FrameworkSettings(
        tuple((path, _value(value)) for path, value in settings.items()),
        None if when is None else parse(when, {}),
        default,
        data.get("meant", False),
        data["evidence"],
    )


def _value(value: Any) -> Value:
    return UNKNOWN if value == {"unknown": True} else NOT_NONE if value == {"set": True} else Known(value)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def raw_profiles() -> Sequence[Mapping[str, Any]]:
    """Return the profiles as plain data."""
    return list(Folder(store(), "front-ends").values())


@cache
def profiles() -> tuple[Profile, ...]:
    """Return every front-end that is a framework on top of another. Raises ProfileError."""
    return tuple(read_profile(data) for data in raw_profiles())


@cache
def commands() -> frozenset[str]:
    """Return the commands that start a framework: a program with its first word."""
    return frozenset(command for raw in raw_profiles() for command in raw.get("commands", ()))


@cache
def flags_of_files() -> frozenset[str]:
    """Return the flags that name a framework's file, with which the others are not looked at."""
    return frozenset(flag for raw in raw_profiles() for flag in raw.get("instead", ()))


def described_by(program: str) -> Profile | None:
    """Return the profile that describes a program of Hydra, by its dotted name; None for any other program."""
    return next((each for each in profiles() if program in each.programs), None)


@cache
def pins() -> Mapping[str, Mapping[str, str]]:
    """Return the commits between releases that frameworks are tied to: the releases around each, by component."""
    return {commit: versions for raw in raw_profiles() for commit, versions in raw.get("pins", {}).items()}


def every_front_end() -> Mapping[str, FrontEnd]:
    """Return every front-end by its name."""
    return {**FRONT_ENDS, **{profile.front_end.name: profile.front_end for profile in profiles()}}


def front_end(name: str) -> FrontEnd:
    """Return the front-end of a name. Raises UnknownFrontEnd."""
    found = every_front_end().get(name)
    if found is None:
        raise UnknownFrontEnd(f"{name!r} is no front-end; known are {', '.join(every_front_end())}")
    return found


@dataclass(frozen=True, slots=True)
class Pinned:
    """The versions that a front-end runs with."""

    bridge: str
    core: str

    @classmethod
    def of(cls, front_end: FrontEnd, versions: Versions) -> Pinned:
        """Return the versions that the front-end is judged against, except for the core that it is tied to."""
        return cls(versions.bridge, front_end.core or versions.core)


class Unwritable(ValueError):
    """A value that a notation has no word for."""


@dataclass(frozen=True, slots=True)
class NotationKey:
    """The key of a setting in one notation. `inverted`: it means the opposite. `values`: words, and what each means."""

    words: tuple[str, ...]
    inverted: bool = False
    values: tuple[tuple[Plain, Plain], ...] = ()

    def word(self, value: Plain) -> Plain:
        """Return the word behind the key where the setting has this value. Raises Unwritable."""
        if self.inverted and isinstance(value, bool):
            return not value
        found = [word for word, meant in self.values if same(meant, value)] if self.values else [value]
        if self.inverted or not found:
            raise Unwritable(value)
        return found[0]


Naming = Callable[[str], Iterator[NotationKey]]
"""A notation: a setting → its keys."""


def by_path(setting: str) -> Iterator[NotationKey]:
    """Yield the key in Megatron-Bridge's notation: a section, and a field in it."""
    yield NotationKey(tuple(setting.split(".")))


def by_attribute(setting: str) -> Iterator[NotationKey]:
    """Yield the names of Megatron-LM's parsed arguments, some of which mean the opposite."""
    entry = table().entry(setting)
    for name in entry.attributes if entry else ():
        yield NotationKey((name,), entry is not None and entry.inverted)


def by_line(place: SettingsPlace) -> Naming:
    """Return the notation with the keys that a profile has for a setting."""

    return lambda setting: (NotationKey(words, values=target.values) for words, target in place.keys(setting))


def places_of(text: str, keys: Iterable[tuple[str, ...]]) -> list[tuple[tuple[str, ...], Naming]]:
    """Return the places where a framework's file with these keys may write settings, each with its notation.

    Empty, where the file is no framework's.
    """
    return [
        ((*key, *place.under), by_attribute if place.named == "attributes" else by_line(place))
        for profile in profiles()
        if profile.mention.search(text)
        for key in keys
        for place in profile.places
        if place.at and place.is_at(key)
    ]


@cache
def namings() -> tuple[Naming, ...]:
    """Return every notation, that of Megatron-Bridge first."""
    places = [place for profile in profiles() for place in profile.places]
    return by_path, by_attribute, *(by_line(place) for place in places if place.lines)


def at_the_end_of(words: tuple[str, ...], setting: str) -> Iterator[tuple[Naming, NotationKey]]:
    """Yield the notations in which the last of some words are this setting's key, each with that key."""
    for naming in namings():
        for key in naming(setting):
            if words[-len(key.words) :] == key.words:
                yield naming, key
