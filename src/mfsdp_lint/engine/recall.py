"""The memory of a run on disk, so that a later run of the same question evaluates only what has changed since.

It holds what proofs of fixes take over from the reading before them (readers/python/entries/incremental.py,
readers/launch_memory.py), with every look at the disk that was taken for it, and the texts that were read. A later run
takes it over where the question is the same, perhaps about other files, and all these looks show the same, but for
files with other text and files that are gone: nobody looked for those that are new. Of settings only the answers are
kept that somebody asked for. Where somebody asks for more (NotKept), the run is done without its memory: it may save
work and never changes an answer.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from itertools import chain

from mfsdp_lint.core import kept
from mfsdp_lint.core.front_ends import FrontEnd
from mfsdp_lint.core.kept import NotKept
from mfsdp_lint.core.recipe import Recipe, Settings
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.core.settings import Answering, KeptSettings, Layer
from mfsdp_lint.engine.judge import Judgement, Linter, ReadingKey, reading_of
from mfsdp_lint.engine.read import Question, Read
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.sources import NOTEBOOK, SIZE_LIMIT, Sources
from mfsdp_lint.megatron.conditions import Site
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.readers.launch_memory import LaunchMemory
from mfsdp_lint.readers.python_files import PythonMemory
from mfsdp_lint.readers.relevance import changes_relevance, says_all
from mfsdp_lint.rules.check import RuleMatches, blamed_settings
from mfsdp_lint.rules.index import Undecided

_OF_TEXTS = str(SIZE_LIMIT + 1)
"""The detail of a look that reads a text for Sources."""

_MODULES = (".py", NOTEBOOK)


@dataclass(frozen=True, slots=True)
class _Results:
    """The readings of a judgement, and for each recipe the codes of the rules that `fired`, and what is undecided.

    `idle` are the gates behind which no rule asks anything.
    """

    readings: Mapping[ReadingKey, Read]
    fired: Mapping[Target, tuple[frozenset[str], ...]]
    undecided: Mapping[Target, tuple[tuple[Undecided, ...], ...]]
    idle: Mapping[Target, Mapping[FrontEnd, tuple[int, ...]]]


@dataclass(frozen=True, slots=True)
class _Part:
    """A question, the codes of the rules that judged the answer, and the results."""

    question: Question
    codes: tuple[str, ...]
    results: bytes


@dataclass(frozen=True, slots=True)
class _Stored:
    """The content of a file: parts of a run, the looks that led to their results, and the texts of files.

    `unsaved` are the texts in front of files, by their keys. `names` are the attributes of which it mattered whether
    texts read them.
    """

    parts: tuple[_Part, ...]
    looks: tuple[disk.Watched, ...]
    texts: Mapping[str, bytes]
    unsaved: Mapping[str, str]
    names: frozenset[str]


@dataclass(slots=True)
class Recall:
    """The memory of a run, which `load` and `save` keep somewhere. With `other_rules`, the rules may be others the next
    time.

    `sources` are those of the earlier run, where it was in this process: what they know of upstream's files alone is
    taken over where all files on disk are what they were. After a judgement they are those of this run.
    """

    load: Callable[[], bytes | None]
    save: Callable[[bytes], None]
    other_rules: bool = False
    sources: Sources | None = None
    _judged: list[tuple[Linter, Judgement]] = field(default_factory=list)
    _record: disk.Record = field(default_factory=disk.Record)
    _earlier: _Earlier | None = None

    def judge(self, judge: Linter, sources: Sources) -> Judgement:
        """Judge these sources, which are the same for all of the run, with what is remembered.

        Raises NotKept, perhaps only once the result is used.
        """
        with disk.recorded(as_part=True) as record:
            if not self._judged:
                self._earlier = _earlier(self.load(), sources, self.sources)
                self.sources = sources = sources if self._earlier is None else self._earlier.now
            earlier = None if self._earlier is None else self._earlier.judgement(judge, sources)
            try:
                judgement = judge(sources, earlier)
            except NotKept:  # of this question alone
                judgement = judge(sources, None)
            _foresee(judge, judgement)
        self._record.add(record)
        self._judged.append((judge, judgement))
        return judgement

    def keep(self) -> None:
        """Save the judgements, with the answers that were given until now."""
        parts: list[_Part] = []
        asked, first = self._judged[0]
        remarks = {remark for each in first.readings.values() for remark in each.remarks}
        # The others are asked for findings alone.
        if not (self._record.complete and remarks <= set(asked.question.remarks)):
            return
        for judge, judgement in self._judged:
            if _is_for_later(judgement) and all(each.question != judge.question for each in parts):
                parts.append(self._part(judge, judgement))
        texts = {}
        on_disk = first.sources.as_saved()
        read = (look.path for _, look in self._record.looks.values() if _reads_text(look))
        for path in dict.fromkeys((*(self._earlier.read if self._earlier else ()), *read)):
            text = None if self._earlier is None else self._earlier.texts.get(path)
            if text is None and (said := on_disk.as_it_is_or_none(path)) is not None:
                text = zlib.compress(said.encode(errors="surrogatepass"), 1)
            if text is not None:
                texts[path] = text
        with suppress(OSError, ValueError, TypeError, RecursionError):
            names = frozenset(first.sources.read_names)
            self.save(kept.dumps(_Stored(tuple(parts), self._record.watched(), texts, first.sources.unsaved, names)))

    def _part(self, judge: Linter, judgement: Judgement) -> _Part:
        fired, undecided = {}, {}
        for target, found in () if self.other_rules else judgement.hits.items():
            keys = [id(each) for each in judgement.recipes_for(target)]
            fired[target] = tuple(frozenset(hit.rule.code for hit in found.of[key]) for key in keys)
            undecided[target] = tuple(found.undecided[key] for key in keys)
        idle = {target: judgement.hits[target].idle for target in fired}
        results = kept.dumps(_Results(judgement.readings, fired, undecided, idle), outside=Sources)
        return _Part(judge.question, _codes(judge), results)


def _foresee(judge: Linter, judgement: Judgement) -> None:
    """Have new recipes tell what a finding would ask that another text brings about the next time."""
    blamed: dict[Site, frozenset[str]] = {}
    for target in judgement.hits:
        for recipe in judgement.recipes_for(target):
            site = Site(target, recipe.front_end)
            for settings in _settings(recipe):
                if isinstance(settings, Answering):
                    if site not in blamed:
                        blamed[site] = blamed_settings(judge.rules, site)
                    with suppress(Exception):  # a fault is told once somebody asks
                        settings.tell_places(blamed[site])


def _codes(judge: Linter) -> tuple[str, ...]:
    return tuple(rule.code for rule in judge.rules)


@dataclass(frozen=True, slots=True)
class _Earlier:
    """An earlier run whose looks show the same, but for `touched` files: their texts were those of `then`.

    Some of these are `gone`. `texts` are those of the other files. `now` are the texts of this run. `read` are the
    files whose texts on disk were read, and are the same.
    """

    parts: tuple[_Part, ...]
    now: Sources
    then: Sources
    touched: frozenset[str]
    gone: frozenset[str]
    texts: Mapping[str, bytes]
    read: tuple[str, ...]

    def judgement(self, judge: Linter, sources: Sources) -> Judgement | None:
        """Return the judgement that answered the same question."""
        part = next(
            (each for each in self.parts if _but_for_files(each.question) == _but_for_files(judge.question)), None
        )
        if part is None:
            return None
        results: _Results = kept.loads(part.results, outside=self.then)
        hits = {}
        if part.codes == _codes(judge):
            alike = self._are_told_alike(part.question, judge)
            hits = {target: _hits(judge, target, results, sources, self.touched, alike) for target in results.fired}
        readings = {key: _taken_over(each) for key, each in results.readings.items()}
        return Judgement(self.then, recipes=(), causes=(), problems=(), readings=readings, hits=hits)

    def _are_told_alike(self, then: Question, judge: Linter) -> bool:
        """Tell whether findings can point into the same files, but for those that are new or gone."""
        others = judge.told_otherwise(then)
        key = self.then.key
        known = {*map(key, self.texts), *(self.touched - self.gone), *self.then.unsaved}
        return others is not None and known.isdisjoint(map(key, others))


def _but_for_files(question: Question) -> Question:
    """Leave out the files of a question, their unsaved texts and the remarks about them: each file is an answer of its
    own.
    """
    return replace(
        question,
        files=(),
        folders=(),
        launchers=(),
        dependents=(),
        remarks=(),
        tells_of_users=False,
        lacks_users=False,
        unsaved={},
    )


def _earlier(content: bytes | None, sources: Sources, live: Sources | None) -> _Earlier | None:
    """Return the earlier run, where it holds but for changed texts; `live` are its sources, where they are at hand."""
    if content is None:
        return None
    try:
        stored: _Stored = kept.loads(content)
        compared = list(map(disk.compared, stored.looks))
    except Exception:  # which bytes of another shape may raise
        return None
    changed, missed = {}, set[str]()
    if live is not None and not any(others for _, others in compared):
        sources = live.as_saved(map(sources.key, stored.texts)).with_texts(sources.unsaved)
    for look in (look for _, others in compared for look in others):
        if _reads_text(look) and look.path in stored.texts:
            changed[look.path] = _text(stored.texts[look.path])
        elif look.how in ("mode", "holds"):
            missed.add(sources.key(os.path.join(look.path, look.detail) if look.how == "holds" else look.path))
        else:
            return None
    texts = {path: text for path, text in stored.texts.items() if path not in changed}
    read = tuple(texts)
    unsaved = {**stored.unsaved, **sources.unsaved}
    saved = {sources.key(path): path for path in stored.texts} if unsaved else {}
    for key in unsaved:
        if (key in stored.unsaved) != (key in sources.unsaved) and not disk.exists(key):
            return None  # who looked for it found it, or did not
        path, then = saved.get(key, key), stored.unsaved.get(key)
        if then is None and path in stored.texts:
            then = _text(stored.texts[path])
        changed.pop(path, None)
        if then is not None and then != sources.as_it_is_or_none(path):
            changed[path] = then
            texts.pop(path, None)
    gone = {path for path in changed if sources.as_it_is_or_none(path) is None}
    keys = frozenset(map(sources.key, gone))
    if not missed <= keys or _were_needed(gone, chain(map(_text, texts.values()), sources.unsaved.values())):
        return None
    if any(_changes_relevance(path, text, sources, stored.names) for path, text in changed.items() if path not in gone):
        return None
    sources.read_names |= stored.names
    disk.take_over(same for same, _ in compared)
    touched = frozenset(map(sources.key, changed))
    return _Earlier(stored.parts, sources, sources.with_texts(changed), touched, keys, texts, read)


def _text(stored: bytes) -> str:
    return zlib.decompress(stored).decode(errors="surrogatepass")


def _were_needed(gone: Iterable[str], texts: Iterable[str]) -> bool:
    """Tell whether another file may have had to do with a run, or have had its name, because of files that are gone."""
    modules = [os.path.splitext(os.path.abspath(path))[0].split(os.sep) for path in gone if path.endswith(_MODULES)]
    names = {re.escape(name) for parts in modules for name in parts if name}
    if not names or "__init__" in names:
        return bool(names)
    named = re.compile(rf"\b(?:{'|'.join(sorted(names))})\b")
    return any(named.search(text) and not says_all(text) for text in texts)


def _taken_over(reading: Read) -> Read:
    """Mark a reading as one of an earlier run; what proofs will compare is not taken over from it.

    All of its remarks are those of its question (see `Recall.keep`).
    """
    for memory in reading.memories.values():
        if isinstance(memory, PythonMemory | LaunchMemory):
            memory.forget(_is_compared)
    trials = {key: _taken_over(each) for key, each in reading.trials.items()}
    return replace(reading, remarks=(), trials=trials, is_kept=True)


def _is_compared(recipe: Recipe) -> bool:
    """Tell whether somebody compared a recipe in the earlier run, or asked for its callers."""
    if getattr(recipe.callers, "compared", False):
        return True
    return any(isinstance(each, KeptSettings) and each.compared for each in _settings(recipe))


def _settings(recipe: Recipe) -> Iterator[Settings]:
    """Yield the settings of a recipe's variants, without what lies over them."""
    for variant in (*recipe.variants, *recipe.exposed):
        settings = variant.settings
        while isinstance(settings, Layer):
            settings = settings.below
        yield settings


def _reads_text(look: disk.Look) -> bool:
    return look.how == "read" and look.detail == _OF_TEXTS


def _is_for_later(judgement: Judgement) -> bool:
    """Tell whether a later run may take a judgement over: it is without faults, and tells all its problems again."""
    memories = [memory for each in judgement.readings.values() for memory in each.memories.values()]
    is_faulty = any(each.kind == "internal" for each in judgement.problems)
    return not is_faulty and all(each.is_complete for each in memories if isinstance(each, PythonMemory))


def _changes_relevance(path: str, then: str, sources: Sources, names: AbstractSet[str]) -> bool:
    """Tell whether another text of a file may decide which other files have to do with a run, or which of the names
    are read.
    """
    now = sources.as_it_is_or_none(path) or ""
    if not path.endswith(_MODULES):
        return False
    if changes_relevance(then, now):
        return True
    if not names:
        return False
    from mfsdp_lint.readers.python.export.settings import reads

    lines = set(then.splitlines()), set(now.splitlines())
    gone, new = ("\n".join(one - other) for one, other in (lines, lines[::-1]))
    return any(reads(gone, name) != reads(new, name) and reads(then, name) != reads(now, name) for name in names)


def _hits(
    judge: Linter, target: Target, results: _Results, sources: Sources, touched: AbstractSet[str], alike: bool
) -> RuleMatches:
    """Return what is known of the recipes; of those that are written in touched files, rules about text are open.

    Nothing is known of what fires where findings are not told `alike`.
    """
    recipes = results.readings[reading_of(target)].recipes
    about_text = {rule.code for rule in judge.rules if rule.judges == "text"}
    fired: dict[int, frozenset[str]] = {}
    open_: dict[int, tuple[Undecided, ...]] = {}
    known = zip(recipes, results.fired[target], results.undecided[target], strict=True) if alike else ()
    for recipe, codes, undecided in known:
        places = (recipe.path, *(path for path, _, _ in recipe.pieces), *(each.span.path for each in recipe.notices))
        is_touched = not touched.isdisjoint(map(sources.key, places))
        open_[id(recipe)], fired[id(recipe)] = undecided, codes | about_text if is_touched else codes
    return RuleMatches(recipes, target, judge.rules, judge.is_told_of, {}, open_, fired, results.idle[target])
