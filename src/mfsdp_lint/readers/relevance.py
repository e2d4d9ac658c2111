"""Python files that may have to do with a training run: those with its words, and those that lead to such a file.

The text decides, before anything is parsed. A file leads to its imports, wherever they are: in the files to be read or
only on the disk. The search finds too many files and overlooks none: a file that cannot have to do with a run is not
parsed, and no answer changes for it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.imports import STDLIB, Import, ModuleSearch, closure, imports_in, imports_of, relative_target
from mfsdp_lint.inputs.sources import Sources, Unreadable

Words = Callable[[str], bool]
"""Tells whether some words are in a text. Plain words are looked for as such, which costs a tenth of an expression."""

_RECIPE = ("megatron", "fsdp", "configcontainer", "recipe")
_TRAINING = (*_RECIPE, "cpu_offload", "ckpt_format", "cuda_device_max", "pretrain", "finetune")
_CONFIG = lazy_pattern(r"_config\b")
_LOADING = ("import_module", "__import__", "spec_from_file_location", "addsitedir", "import sys as")
_SYS = lazy_pattern(
    r"sys\s*\.\s*(?:path\s*(?:\.\s*(?:append|extend|insert)\b|\[|\+=|=[^=])|modules\s*\[(?!\s*(?:__name__|cls|self)\b))"
)
_TAKEN_FROM_SYS = lazy_pattern(r"from\s+sys\s+import\b[^\n]*\b(?:path|modules)\b|=\s*sys\s*\.\s*(?:path|modules)\b")


def speaks_of_training(text: str) -> bool:
    """Tell whether a file says something about a training run itself."""
    text = text.lower()
    return any(word in text for word in _TRAINING) or bool(_CONFIG.search(text))


def speaks_of_recipes(text: str) -> bool:
    """Tell whether a text has a word that is in any recipe, or in a file that it leads to."""
    text = text.lower()
    return any(word in text for word in _RECIPE)


def is_for_evaluation(text: str) -> bool:
    """Tell whether a file speaks of training, or loads modules in a way that only its evaluation can tell."""
    if speaks_of_training(text) or any(word in text for word in _LOADING):
        return True
    return "sys" in text and bool(_SYS.search(text) or _TAKEN_FROM_SYS.search(text))


TRAINING_PROGRAM = r"(?:(?:pre)?train|finetune|run_recipe)\w*\.py"
"""The name of a program that trains, as a part of an expression."""

_STARTING = lazy_pattern(r"subprocess|system|exec|spawn|popen|runpy|__import__|import_module")


def trains_nothing(text: str) -> bool:
    """Tell whether a program surely trains nothing: it has the standard library alone, and starts no other program."""
    if not text.strip() or _STARTING.search(text):
        return False
    return all(not each.level and each.module.partition(".")[0] in STDLIB for each in imports_in(text))


_OWN_OPTION = lazy_pattern(
    r"\b(?:add_argument|[oO]ption)\(\s*[\"']--(?:use[-_](?:megatron|torch|custom)[-_]fsdp2?|[\w-]+[-_]parallel[-_]size"
    r"|ckpt[-_]format|data[-_]parallel[-_]sharding[-_]strategy)[\"']"
)
_OF_MEGATRON = lazy_pattern(
    r"^[ \t]*(?:from|import)[ \t]+[\w.]*megatron(?!\.core\b|_fsdp\b)|\bmegatron\.(?:training|bridge)\b", re.MULTILINE
)


def defines_options(text: str) -> bool:
    """Tell whether a file gives a command line of its own options that are called as those of a run of Megatron-LM."""
    return ("add_argument" in text or "ption" in text) and bool(_OWN_OPTION.search(text))


def takes_from_megatron(text: str) -> bool:
    """Tell whether a file imports of Megatron more than its core, which knows no command line."""
    return "megatron" in text and bool(_OF_MEGATRON.search(text))


_GLOBAL = lazy_pattern(r"^[ \t]+global[ \t]+(\w+(?:[ \t]*,[ \t]*\w+)*)[ \t]*(?:#.*)?$", re.MULTILINE)

_SAYS = (is_for_evaluation, speaks_of_recipes, speaks_of_training)


def changes_relevance(then: str, now: str) -> bool:
    """Tell whether another text of a file may decide which files have to do with a run."""
    if any(says(then) != says(now) for says in (*_SAYS, trains_nothing, defines_options, takes_from_megatron)):
        return True
    # Where a file that says all of it leads to, decides nothing.
    return not says_all(now) and list(imports_in(then)) != list(imports_in(now))


def says_all(text: str) -> bool:
    """Tell whether a file has to do with a run wherever it leads to."""
    return all(says(text) for says in _SAYS)


class Relevance:
    """Search for the files that lead to others; every file is looked at once.

    `imports` are the files that each file may import, `run_by` those of them that importing may run (as the evaluator
    finds them, see state/program_files.py), `programs` the files that each leads to by these, with the keys of their
    texts, `outlines` what the top level of each does, `hooked` whether classes of each run code of others, and
    `defined` the names of the functions in each. `next_step` is for each file that reaches one with such words the
    import that leads there: None for a file that has them itself.
    """

    def __init__(self, sources: Sources, search_path: Sequence[str] = (), like: Relevance | None = None) -> None:
        self.sources = sources
        self.search: ModuleSearch = ModuleSearch(search_path, None if like is None else like.search)
        self.imports: dict[str, tuple[str, ...]] = {}
        self.run_by: dict[object, dict[str, tuple[str, ...]]] = {}
        self.programs: dict[object, dict[str, tuple[tuple[str, ...], frozenset[str]]]] = {}
        self.outlines: dict[object, dict[str, Any]] = {}
        self.hooked: dict[object, dict[str, bool]] = {}
        self.defined: dict[str, frozenset[str]] = {}
        self.next_step: dict[Words, dict[str, str | None]] = {}
        self._nowhere: dict[Words, set[str]] = {}
        self._assigned: dict[str, frozenset[str]] = {}
        self._reached: dict[str, tuple[str, ...]] = {}

    def is_parsed(self, path: str) -> bool:
        """Tell whether a file has to be parsed to know whether it has to do with a run.

        A file that is not known to its end has to be.
        """
        return not self._is_known(path) or self.reaches(path, is_for_evaluation)

    def reaches(self, path: str, says: Words = speaks_of_training) -> bool:
        """Tell whether a file, or one that it leads to, says so in its text."""
        towards, nowhere = self.next_step.setdefault(says, {}), self._nowhere.setdefault(says, set())
        importer: dict[str, str] = {}
        pending = [path]
        while pending:
            here = pending.pop()
            if here in nowhere:
                continue
            if here not in towards and says(self._text(here) or ""):
                towards[here] = None
            if here in towards:
                while here != path:
                    towards.setdefault(importer[here], here)
                    here = importer[here]
                return True
            for imported in self.imported(here):
                if imported not in importer and imported != path:
                    importer[imported] = here
                    pending.append(imported)
        nowhere.update((path, *importer))
        return False

    def imported(self, path: str) -> tuple[str, ...]:
        """Return the files at hand that a file may import."""
        if path not in self.imports:
            text = self._text(path) or ""
            found = (target for each in imports_of(text) for target in self._targets(each, path))
            self.imports[path] = tuple(dict.fromkeys(found))
        return self.imports[path]

    def assigned_within_reach(self, path: str) -> Iterator[tuple[str, frozenset[str]]]:
        """Yield the files that a file leads to by its imports, with the global names that functions in them assign."""
        if path not in self._reached:
            every = sorted(closure((path,), self.imported))
            self._reached[path] = tuple(each for each in every if self._assigned_in(each))
        return ((each, self._assigned_in(each)) for each in self._reached[path])

    def _assigned_in(self, path: str) -> frozenset[str]:
        if path not in self._assigned:
            text = self._text(path) or ""
            lines = _GLOBAL.findall(text) if "global " in text else ()
            self._assigned[path] = frozenset(name.strip() for line in lines for name in line.split(","))
        return self._assigned[path]

    def _is_known(self, path: str) -> bool:
        try:
            self.sources.text(path)
        except Unreadable as error:
            return error.about is not None and not error.cut_off
        return True

    def _text(self, path: str) -> str | None:
        """Return the text of a file, as far as it is readable; None where it cannot be opened."""
        try:
            return self.sources.text(path)
        except Unreadable as error:
            return error.about

    def _targets(self, found: Import, path: str) -> Iterator[str]:
        if found.level:
            base = relative_target(path, found.level, found.module)
            yield from self._files(base)
            for name in found.names:
                yield from self._with_package(base if name == "*" else os.path.join(base, name))
            if not found.names:
                yield from self._with_package(base)
            return
        module = self.search.find(found.module, path) if found.module else None
        if module is not None:
            yield module
        for name in found.names:
            member = module if name == "*" else self.search.find(f"{found.module}.{name}", path)
            yield from _below(member)
        if not found.names:
            yield from _below(module)
        if found.whole and "." in found.module:
            yield from self._outermost(found.module, path, module)

    def _files(self, base: str) -> Iterator[str]:
        """Yield the module at a path without suffix."""
        for candidate in (os.path.join(base, "__init__.py"), f"{base}.py"):
            if self.sources.exists(candidate):
                yield os.path.normpath(candidate)
                return

    def _with_package(self, base: str) -> Iterator[str]:
        for module in self._files(base):
            yield from _below(module)

    def _outermost(self, name: str, path: str, module: str | None) -> Iterator[str]:
        """Yield the modules that can be reached from the outermost package of a module by its attributes."""
        top = self.search.find(name.partition(".")[0], path)
        if top is None and module is not None:  # a folder without an __init__.py
            top = module.removesuffix(f"{os.sep}__init__.py")
            for _ in name.split(".")[1:]:
                top = os.path.dirname(top)
            top = os.path.join(top, "__init__.py")
        yield from _below(top)


def _below(module: str | None) -> Iterator[str]:
    """Yield a module, and for a package all modules below it: each is one of its attributes once it is imported."""
    if module is None:
        return
    yield module
    if os.path.basename(module) != "__init__.py":
        return
    for folder, folders, names in disk.walk(os.path.dirname(module)):
        folders[:] = [each for each in folders if each.isidentifier()]
        yield from (os.path.join(folder, name) for name in names if name.endswith(".py"))
