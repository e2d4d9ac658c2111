"""Rows of tables by a key that whoever starts the program gives, as in `SIZES[args.size]`; and files that it is given.

A setting is one of several values there, of which no rule could speak; yet whoever writes such a table means every row.
So the entry point is run once more with each of the keys.
"""

from __future__ import annotations

from collections.abc import Mapping

from mfsdp_lint.core.recipe import Variant
from mfsdp_lint.core.records import replace
from mfsdp_lint.core.values import Scalar
from mfsdp_lint.readers.python.entries import running
from mfsdp_lint.readers.python.entries.given_files import files_for
from mfsdp_lint.readers.python.entries.keys import GivenAs, Keys
from mfsdp_lint.readers.python.entries.running import Evaluation, Found, content_of
from mfsdp_lint.readers.python.export.origins import Spans
from mfsdp_lint.readers.python.state.interpreter import Interpreter
from mfsdp_lint.readers.python.state.paths import Chosen, Raised
from mfsdp_lint.readers.python.values.objects import condition

MOST_WAYS = 16
"""Further runs of an entry point. The rows of a table that would take more stay one of several values."""


def with_files(interp: Interpreter, evaluation: Evaluation, spans: Spans) -> Evaluation:
    """Return an entry point's recipes with a variant for each file of the project that it may be given to read, where
    it reads one that whoever starts it names.
    """
    asking = evaluation.dependencies.asks_file if evaluation.found else ()
    if not any(files_for(interp, each) for each in asking):
        return evaluation
    run = running.evaluate(interp, evaluation.entry, spans, tries_files=True)
    return run if _is_told(run) and len(run.found) == len(evaluation.found) else evaluation


def with_rows(
    interp: Interpreter, evaluation: Evaluation, spans: Spans, chosen: Chosen = (), ways: int = MOST_WAYS
) -> Evaluation:
    """Return an entry point's recipes with a variant for each key of the tables that their settings are from, in place
    of the one for any key.

    `chosen` are the options and words that were given for this evaluation.
    """
    for given, keys in {given: keys for _, given, keys in evaluation.keys}.items():
        if len(keys.values) > ways:
            continue
        runs: dict[Scalar, Evaluation] = {}
        for value in keys.values:
            entry, those = evaluation.entry, chosen
            if given.is_argument:
                entry = replace(entry, arguments={**(entry.arguments or {}), str(given.name): value})
            else:
                those = (*chosen, (given.name, value))
            run = running.evaluate(interp, entry, spans, chosen=those, tries_files=evaluation.tries_files)
            runs[value] = with_rows(interp, run, spans, those, ways // len(keys.values))
            evaluation.dependencies.functions |= run.dependencies.functions
        numbers = {len(run.found) for run in runs.values() if run.found}
        if numbers == {len(evaluation.found)} and all(map(_is_told, runs.values())):
            found = [_of_rows(evaluation, number, given, keys, runs) for number in range(len(evaluation.found))]
            return replace(evaluation, found=found)
    return evaluation


def _is_told(evaluation: Evaluation) -> bool:
    """Tell whether all paths were followed to their ends."""
    return all(each is None or isinstance(each, Raised) for each in evaluation.endings)


def _of_rows(
    evaluation: Evaluation, number: int, given: GivenAs, keys: Keys, runs: Mapping[Scalar, Evaluation]
) -> Found:
    """Return a recipe with the variants of the runs with each key; keys that make no difference go together."""
    found = evaluation.found[number]
    of_any = [variant for variant, key, _ in evaluation.keys if key == given]
    variants = [each for each in found.recipe.variants if not any(each is one for one in of_any)]
    alike: dict[object, tuple[Variant, dict[Scalar, None]]] = {}
    for value, run in runs.items():
        for variant in run.found[number].recipe.variants if run.found else ():
            alike.setdefault((variant.when, content_of(variant)), (variant, {}))[1][value] = None
    for variant, values in alike.values():
        words = () if len(values) == len(runs) else (condition(keys.text, tuple(values)),)
        variants.append(replace(variant, when=(*words, *variant.when)))
    return replace(found, recipe=replace(found.recipe, variants=tuple(variants))) if variants else found
