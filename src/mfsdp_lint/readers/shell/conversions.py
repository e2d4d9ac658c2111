"""Checkpoints that a script converts for Megatron-FSDP, and what the runs that load them need of that."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from mfsdp_lint.core.recipe import Notice, Recipe, Span
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.core.values import is_known_as
from mfsdp_lint.megatron.versions import VersionRange, parse_range
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.shell.launch_command import ShellLaunch
from mfsdp_lint.readers.shell.run import ScriptRunner
from mfsdp_lint.readers.shell.script import Text, around, behind, known, plain

CONVERTS = "convert-torch-dist-to-fsdp-dtensor"
"""The command of tools/checkpoint/checkpoint_inspector.py."""

_TRACKER = "latest_checkpointed_iteration.txt"
_MAP = "--param-to-param-group-map-json"
_SPLITS = ("--swiglu", "--swiglu-modules")
_ALONE = ("--swiglu", "--rename-mtp-keys", "--oom-traceback", "--enable-msc")
"""Options of the converter that take no value."""

_SOME_VERSIONS = {
    _MAP: parse_range(">=0.16"),
    "--swiglu-modules": parse_range(">=0.18"),
    "--rename-mtp-keys": parse_range(">=0.18"),
    "--distributed-timeout-minutes": parse_range("<0.16"),
}
"""Options that not every version of the converter has."""

_OPENS_THE_MAP: VersionRange = parse_range(">=0.16,<0.18")
"""The versions that open the map whether one is given or not (checkpoint_inspector.py:749 in 0.16.1)."""


@dataclass(frozen=True, slots=True)
class ScriptConversion:
    """A checkpoint that is converted: the word that says so, the options with their places, and the folder that is
    written. `tracked` is whether the script writes the tracker file of some checkpoint.
    """

    path: str
    span: Span
    options: tuple[tuple[str, Span], ...]
    into: str | None
    tracked: bool

    def has(self, *options: str) -> bool:
        """Tell whether the conversion is given an option of these names."""
        return any(name in options for name, _ in self.options)


@dataclass(frozen=True, slots=True)
class ScriptImport:
    """A model of Hugging Face that a script makes a checkpoint of: the folder that is written, and its format."""

    path: str
    line: int
    into: str
    saved: str


IMPORTERS: Mapping[str, str] = {
    "convert_checkpoints.py": "torch_dist",
    "convert_checkpoints_multi_gpu.py": "torch_dist",
    "setup_conversion.py": "torch_dist",
    "run_conversion.py": "torch_dist",
    "convert_checkpoints_fsdp.py": "fsdp_dtensor",
}
"""Bridge's programs with `import`, and the format that each writes: those of `examples/conversion` until 0.5, of
`scripts/conversion` since (`AutoBridge.save_megatron_model` names no format, and `save_megatron_model` of
training/model_load_save.py then takes torch_dist), and of `examples/conversion/mfsdp`, where an option may say another.
"""


@dataclass(frozen=True, slots=True)
class Loading:
    """A run, the folders that it loads from, and whether its script writes the tracker file of some checkpoint."""

    recipe: Recipe
    folders: tuple[str, ...]
    tracked: bool

    def loads(self, conversion: ScriptConversion) -> bool:
        """Tell whether the run surely loads the converted checkpoint: from the folder that is written, or the one
        around it.

        Two scripts mean the same folder where its whole path is known; within one script it may be any text.
        """
        into = conversion.into
        if into is None or (self.recipe.path != conversion.path and not is_anywhere(into)):
            return False
        return any(f"{into}/".startswith(f"{folder}/") for folder in self.folders)

    def is_about(self, conversion: ScriptConversion) -> bool:
        """Tell whether the run reports a conversion's mistakes: it is in the same script, or loads the result."""
        return self.recipe.path == conversion.path or self.loads(conversion)

    @property
    def is_sharded(self) -> bool:
        """Tell whether Megatron-FSDP is on in at least one variant of the run."""
        return any(is_known_as(each.value("ddp.use_megatron_fsdp"), True) for each in self.recipe.variants)

    def surely(self, path: str) -> bool:
        """Tell whether a setting is on wherever Megatron-FSDP is."""
        return self.is_sharded and all(
            is_known_as(each.value(path), True)
            for each in self.recipe.variants
            if is_known_as(each.value("ddp.use_megatron_fsdp"), True)
        )


def conversions(path: str, runner: ScriptRunner) -> Iterator[ScriptConversion]:
    """Yield the checkpoint conversions of a script, as far as they are known."""
    for launch in runner.launches:
        words = launch.started.arguments
        at = next((number for number, word in enumerate(words) if known(word) == CONVERTS), None)
        given = words[at + 1 :] if at is not None else []
        if at is None or any(map(_may_be_options, given)):
            continue
        options = tuple((plain(word).partition("=")[0], around(word)) for word in given if _is_option(word))
        folders = list(_folders(given))
        into = folders[1] if len(folders) == 2 else None
        yield ScriptConversion(path, around(words[at]), options, into, _tracks(runner))


def imports(path: str, runner: ScriptRunner) -> Iterator[tuple[ShellLaunch, ScriptImport]]:
    """Yield the launches of a script that import models of Hugging Face, with the checkpoints that they write."""
    for launch in runner.launches:
        saved = IMPORTERS.get(posixpath.basename(plain(launch.started.program)))
        words = launch.started.arguments
        if saved is None or not any(known(word) == "import" for word in words):
            continue
        into = next(_values(words, "--megatron-path"), ())
        format_given = next(_values(words, "--ckpt-format"), None)
        saved = saved if format_given is None else known(format_given)
        if plain(into) and saved is not None:
            at = next(each for each in (launch.outermost, launch.span) if each is not None)
            yield launch, ScriptImport(path, at.line, posixpath.normpath(_written(into)), saved)


def loadings_of(recipes: Sequence[Recipe], launches: Sequence[ShellLaunch], runner: ScriptRunner) -> Iterator[Loading]:
    """Yield the runs of a script with the folders that they load from."""
    for recipe in recipes:
        here = (launch for launch in launches if launch.span.line == recipe.line)
        folders = tuple(dict.fromkeys(folder for launch in here for folder in _loaded(launch)))
        yield Loading(recipe, folders, _tracks(runner))


def _tracks(runner: ScriptRunner) -> bool:
    return any(_TRACKER in script.text for script in runner.scripts.values())


def _loaded(launch: ShellLaunch) -> Iterator[str]:
    """Yield the folder that a launch of Megatron-LM loads from, if any; of two the last one counts."""
    found = list(_values(launch.started.arguments, "--load"))
    yield from (_written(word) for word in found[-1:] if plain(word))


def _values(words: Sequence[Text], option: str) -> Iterator[Text]:
    """Yield the values of an option: the words behind it, then those behind its `=`."""
    yield from (value for flag, value in pairwise(words) if known(flag) == option)
    yield from (behind(word, len(option) + 1) for word in words if plain(word).startswith(f"{option}="))


def with_notices(loadings: Sequence[Loading], converted: Sequence[ScriptConversion], core: str) -> list[Recipe]:
    """Return the runs' recipes, with notices of options that conversions lack, or that this version does not have."""
    found: dict[int, list[Notice]] = {}
    for conversion in converted:
        about = [number for number, each in enumerate(loadings) if each.is_about(conversion)]
        notices = list(_lacking(conversion, [loadings[number] for number in about], core)) if about else []
        for number in about:
            found.setdefault(number, []).extend(notices)
    recipes = [each.recipe for each in loadings]
    for number, more in ((number, more) for number, more in found.items() if more):
        recipes[number] = replace(recipes[number], notices=(*recipes[number].notices, *more))
    return recipes


def _lacking(conversion: ScriptConversion, about: Sequence[Loading], core: str) -> Iterator[Notice]:
    loading = [each for each in about if each.is_sharded and each.loads(conversion)]
    other = next((each.recipe.path for each in loading if each.recipe.path != conversion.path), None)
    if loading and not conversion.has(*_SPLITS) and all(each.surely("args.swiglu") for each in loading):
        yield Notice("conversion-without-swiglu", conversion.span, {"run": other})
    if loading and not conversion.tracked and not any(each.tracked for each in loading):
        yield Notice("conversion-without-tracker", conversion.span, {"run": other})
    if core in _OPENS_THE_MAP and not conversion.has(_MAP):
        yield Notice("conversion-without-map", conversion.span)
    for name, span in conversion.options:
        if name in _SOME_VERSIONS and core not in _SOME_VERSIONS[name]:
            yield Notice("conversion-option", span, {"option": name, "versions": _SOME_VERSIONS[name].text})


def _may_be_options(word: Text) -> bool:
    """Tell whether a word may hold options of which nothing is known."""
    said = plain(word)
    if said.strip(HOLE):
        return said.startswith("-") and known(word) is None
    return any(piece.splits and not piece.option for piece in word)


def _is_option(word: Text) -> bool:
    return plain(word).startswith("--")


def _folders(words: Sequence[Text]) -> Iterator[str]:
    """Yield the folders that a conversion reads and writes: the words that belong to no option."""
    takes_value = False
    for word in words:
        if _is_option(word):
            takes_value = "=" not in plain(word) and plain(word) not in _ALONE
        elif takes_value:
            takes_value = False
        else:
            yield _written(word)


def _written(text: Text) -> str:
    """Return a folder as text; an unknown part is replaced by its place of origin, which is the same everywhere."""
    parts = (f"<{each.path}:{each.start}>" if HOLE in each.text else each.text for each in text)
    return "".join(parts).rstrip("/")


def is_anywhere(folder: str) -> bool:
    """Tell whether a path is whole and known, so that it means the same in every script."""
    return "<" not in folder and (posixpath.isabs(folder) or "://" in folder)
