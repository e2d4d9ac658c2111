"""Commands that start what files describe, on a cluster: `helm install`, `kubectl apply` and `kubectl set env`; and
`ray job submit` with its job's environment in a file.

A file, or a chart, that starts a run as it is, is read by itself. What a script makes of it is followed here: values
that it gives a chart, variables that it sets in a deployment, a manifest that it writes or fills in.
"""

from __future__ import annotations

import math
import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import replace
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.relevance import Relevance
from mfsdp_lint.readers.shell.launch_command import files_meant, path_of
from mfsdp_lint.readers.shell.script import Text, behind, known, located, of_file, plain, standing_at
from mfsdp_lint.readers.shell.state import State, Variable

if TYPE_CHECKING:
    from mfsdp_lint.readers.embedding_formats.helm import ChartScripts
    from mfsdp_lint.readers.shell.run import ScriptRunner

_INSTALLS = ("install", "upgrade", "template")
_FILE_OPTIONS = ("-f", "--values", "--filename")
_VALUE_OPTIONS = ("--set", "--set-string")


def follow_cluster_command(runner: ScriptRunner, words: Sequence[Text], state: State, body: Text | None) -> None:
    """Follow a command of helm or kubectl; `body` is the text that it is given to read."""
    verbs = [known(word) for word in words[1:]]
    if known(words[0]) == "helm":
        if not {*_INSTALLS}.isdisjoint(verbs):
            _helm(runner, words, state)
    elif "set" in verbs and "env" in verbs:
        _set_environment(runner, words, state)
    elif not {"apply", "create", "replace"}.isdisjoint(verbs):
        _apply(runner, words, state, body)


def _values_of(words: Sequence[Text], names: Sequence[str]) -> Iterator[tuple[str, Text]]:
    """Yield the values of options, each with its name."""
    for number, word in enumerate(words):
        said = plain(word)
        if said in names and number + 1 < len(words):
            yield said, words[number + 1]
        name, equals, _ = said.partition("=")
        if equals and name in names:
            yield name, behind(word, len(name) + 1)


def with_runtime_environment(words: list[Text], read: Callable[[Text], Text | None]) -> list[Text]:
    """Return `ray job submit` with the variables of the file that `--runtime-env` names, as `--runtime-env-json`."""
    from mfsdp_lint.readers.embedding_formats.ray import variables_in

    names = [value for _, value in _values_of(words, ("--runtime-env", "--runtime_env"))]
    text = read(names[-1]) if names else None
    given: Text = ()
    for name, variable in variables_in(text).items() if text else ():
        if value := variable.text:
            comma = ", " if given else ""
            given += (standing_at(f'{comma}"{name}": "', value[0]), *value, standing_at('"', value[-1]))
    if not given:
        return words
    option, opening, closing = (standing_at(each, given[0]) for each in ("--runtime-env-json", '{"env_vars": {', "}}"))
    return [*words[:3], (option,), (opening, *given, closing), *words[3:]]


def _path(runner: ScriptRunner, state: State, word: Text) -> str | None:
    """Return the path of the file that a word names; None where there is none in the tree."""
    return path_of(located(word), runner.path, runner.sources, state.folder)


def _helm(runner: ScriptRunner, words: Sequence[Text], state: State) -> None:
    """Follow a chart of the tree that is given values; without any it is what it is by itself."""
    from mfsdp_lint.readers.embedding_formats.helm import ChartValues, scripts_installed

    files = [_paths(runner, state, each) for _, each in _values_of(words, _FILE_OPTIONS)]
    settings = [(each, name == "--set-string") for name, each in _values_of(words, _VALUE_OPTIONS)]
    said = (f"{located(word) or ''}/Chart.yaml" for word in words[2:] if located(word))
    found = (path_of(each, runner.path, runner.sources, state.folder) for each in said)
    chart = next((posixpath.dirname(each) for each in found if each is not None), None)
    if chart is None or not (files or settings):
        return
    is_followed = math.prod(map(len, files)) <= _MOST_INSTALLED
    for ways in product(*files) if is_followed else [[""] * len(files)]:
        installed = ChartValues(ways, settings)
        given = scripts_installed(chart, installed, runner.sources, Relevance(runner.sources))
        chosen = (f"{_FILE_OPTIONS[0]} {each}" for each, others in zip(ways, files, strict=True) if len(others) > 1)
        _follow(runner, given, (*state.when, *chosen))


_MOST_INSTALLED = 16
"""Choices of files of values that a chart is installed with, one after the other."""


def _paths(runner: ScriptRunner, state: State, word: Text) -> list[str]:
    """Return the paths of the files that a word may mean; "" where that is none in the tree."""
    path = _path(runner, state, word)
    if path is None and HOLE in plain(word):
        return files_meant(word, runner.path, state.folder) or [""]
    return [path or ""]


def _follow(runner: ScriptRunner, given: ChartScripts, when: tuple[str, ...]) -> None:
    runner.unfollowed += (each for each in given.unfollowed if each not in runner.unfollowed)
    for held in given.scripts:
        runner.run(replace(held, when=when))


def _apply(runner: ScriptRunner, words: Sequence[Text], state: State, body: Text | None) -> None:
    """Follow a manifest that the script has written, and keep the others: it may set variables in them."""
    named = [name for _, name in _values_of(words, _FILE_OPTIONS)]
    if body is not None and plain(words[-1]) in _FILE_OPTIONS:  # the grammar drops the dash in `-f - <<EOF`
        named.append(())
    for name in named:
        if plain(name) in ("", "-"):
            written = body
        elif (file := state.written_as(name)) is not None:
            written = state.files[file]
        else:
            path = _path(runner, state, name)
            state.applied = (*state.applied, path) if path is not None else state.applied
            continue
        if written:
            _follow(runner, _scripts(runner, written), state.when)


def _scripts(runner: ScriptRunner, manifest: Text, names: Sequence[str] = ()) -> ChartScripts:
    """Return the scripts of a manifest, of the objects with these names alone (`deployment/train`; all of them)."""
    from mfsdp_lint.readers.embedding_formats.helm import scripts_of_manifest

    return scripts_of_manifest(runner.path, manifest, Relevance(runner.sources), names)


_SETS = lazy_pattern(r"(?P<name>[A-Za-z_]\w*)=")


def _set_environment(runner: ScriptRunner, words: Sequence[Text], state: State) -> None:
    """Follow `kubectl set env deployment/train A=b C-`: the object's containers start again with these variables."""
    variables: dict[str, Variable] = {}
    for word in words[1:]:
        if found := _SETS.match(plain(word)):
            value = behind(word, found.end())
            is_known = HOLE not in plain(value)
            variables[found["name"]] = Variable((value,) if is_known else None, exported=True, written=value[0])
        elif re.fullmatch(r"[A-Za-z_]\w*-", plain(word)):
            variables[plain(word)[:-1]] = Variable(None, unset=True, written=word[0])
    files = [_path(runner, state, each) for _, each in _values_of(words, _FILE_OPTIONS)]
    names = [plain(word).lower() for word in words[1:] if re.fullmatch(r"[\w.]+/[\w.-]+", plain(word))]
    for path in dict.fromkeys((*state.applied, *files)):
        text = None if path is None else runner.sources.text_or_none(path)
        if path is not None and text is not None and variables:
            for held in _scripts(runner, of_file(path, text), () if path in files else names or ("?",)).scripts:
                own = {**held.variables, **variables}
                runner.run(replace(held, variables=own, when=state.when))
