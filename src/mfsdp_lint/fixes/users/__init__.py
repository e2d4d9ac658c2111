"""Other users of an edited text, in whatever language: a fix is held back where one may not stay as it is.

The proof compares every recipe that is read. What it cannot see is asked here, before an edit is tried: code that is
no recipe and takes the same constant, default, function, variable or file. Every mention of its name is part of a
recipe that the proof compares, or cannot reach the edited text, or holds the edit back; then a plan that edits the
recipe or the launcher at fault itself is tried.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

from mfsdp_lint.core.finding import HELD_BACK, Edit
from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Recipe, Span
from mfsdp_lint.core.records import replace
from mfsdp_lint.fixes.judged import FixRequest, Judged, Search, anchors_of
from mfsdp_lint.fixes.plan import Plan, Texts
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.discover import is_under, way_behind
from mfsdp_lint.inputs.mentions import LINK
from mfsdp_lint.inputs.projects import holds_repository, repository_above, shown
from mfsdp_lint.readers.registry import is_python, kind_of

_WORD = lazy_pattern(r"[A-Za-z_][\w-]{4,}")
_LINES = (
    r"(?:[\"']?(?::\d|\{\d|\[[^\]\n]*\blines=)"
    r"|[^\n]*(?:\n[ \t]*:[\w-]+:[^\n]*)*?\n[ \t]*:(?:lines|emphasize-lines|(?:start|end)-[\w-]+):)"
)
"""The text behind the name of a file of which a page shows some lines: in Sphinx, AsciiDoc and MkDocs."""


def with_other_users(plans: Sequence[Plan], before: Judged, texts: Texts, search: Search) -> list[Plan]:
    """Let the plans know who else may use a text that they change.

    Raises what `search` does, and so does each `user_of`.
    """
    users = EditUsers(before, texts, search)
    return [_with_users(each, partial(users.of, each.request)) for each in plans]


def _with_users(plan: Plan, user_of: Callable[[Sequence[Edit]], str]) -> Plan:
    user = user_of(plan.candidates[0]) if plan.candidates else ""
    return replace(plan, user_of=user_of, held_back=f"{HELD_BACK}{user}" if user else "")


def _other_repository(path: str, request: FixRequest) -> str:
    """Return the repository of a file where it is not that of the recipes at fault; "" else."""
    own, *others = (
        repository_above(os.path.dirname(disk.real(each)))
        for each in (path, *dict.fromkeys(need.recipe.path for need in request.needs))
    )
    return own if holds_repository(own) and any(each != own for each in others) else ""


def _readers(request: FixRequest) -> Collection[str]:
    """Return the files of the recipes at fault: the programs among them read the others."""
    recipes = (need.recipe for need in request.needs)
    return dict.fromkeys(piece for each in recipes for piece in (each.path, *(one[0] for one in each.pieces)))


class EditUsers:
    """The users of edited texts in a project, as far as the comparison of recipes does not show them.

    A user is told as "plain.ipynb uses ckpt".
    """

    def __init__(self, before: Judged, texts: Texts, search: Search) -> None:
        self.recipes = before.recipes
        self.is_read = frozenset((*before.files, *before.users)).__contains__
        self.texts = texts
        self.search = search
        self._known: dict[tuple[Edit, frozenset[tuple[str, str]], frozenset[str]], str] = {}
        self._writes: dict[str, list[tuple[Recipe, tuple[Span, ...]]]] = {}
        self._links: dict[str, str] = {}
        self._makers: dict[tuple[str, frozenset[str]], str] = {}

    def of(self, request: FixRequest, edits: Sequence[Edit]) -> str:
        """Return a user of a text that these edits change; "" where there is none but recipes that are compared."""
        settings = frozenset(path for need in request.needs for path in need.named)
        at_fault = frozenset((need.recipe.path, need.recipe.name) for need in request.needs)
        for edit in edits:
            key = edit, at_fault, settings
            if key not in self._known:
                self._known[key] = self._of(request, edit, settings)
            if self._known[key]:
                return self._known[key]
        return ""

    def _link_to(self, path: str) -> str:
        """Return a link by which others may use a file, as "k.py is a link to c.py"; "" where there is none."""
        if path not in self._links:
            file, spelled = disk.real(path), os.path.abspath(path)
            links = (each for each, text in self.search(path, ()).items() if text.startswith(LINK))
            leading = (each for each in links if way_behind(each, file) is not None)
            others = (each for each in leading if not is_under(spelled, os.path.abspath(each)))
            self._links[path] = next((f"{each} is a link to {shown(disk.real(each))}" for each in others), "")
        return self._links[path]

    def _of(self, request: FixRequest, edit: Edit, settings: Collection[str]) -> str:
        if link := self._link_to(edit.span.path):
            return link
        if other := _other_repository(edit.span.path, request):
            return f"{edit.span.path} belongs to another repository ({shown(other)})"
        from mfsdp_lint.fixes.users.pins import pin_of

        if found := (
            self._excerpt(edit)
            or pin_of(self, request, edit, settings)
            or self._rewriter(request, edit)
            or self._searcher(edit, settings)
            or self._digester(request, edit)
            or self._maker(request, edit)
        ):
            return found
        match kind_of(edit.span.path):
            case "python":
                from mfsdp_lint.fixes.users.python import user_of
            case "shell":
                from mfsdp_lint.fixes.users.shell import user_of
            case "yaml":
                from mfsdp_lint.fixes.users.yaml import user_of
            case _:
                return ""
        return user_of(self, request, edit, settings)

    def _excerpt(self, edit: Edit) -> str:
        """Return a page that shows lines of the file by their numbers or words, where an edit moves lines."""
        path, name = edit.span.path, os.path.basename(edit.span.path)
        if edit.text.count("\n") == edit.span.end_line - edit.span.line:
            return ""
        shown_lines = re.compile(rf"(?:include|--8<--|<<<)[^\n]*?(?<![\w-]){re.escape(name)}{_LINES}")
        pages = self.search(path, {name}, quoting=True).items()
        return next((f"{other} shows lines of {name}" for other, said in pages if shown_lines.search(said)), "")

    def _maker(self, request: FixRequest, edit: Edit) -> str:
        """Return a program that makes the file: it makes it again as it was."""
        from mfsdp_lint.fixes.users.makers import maker_of

        path, training = edit.span.path, frozenset(_readers(request))
        if (path, training) not in self._makers:
            self._makers[path, training] = maker_of(self.search(path, ()), path, training)
        return self._makers[path, training]

    def _rewriter(self, request: FixRequest, edit: Edit) -> str:
        """Return who makes another recipe out of the text of the file, or of one that turns the feature on there."""
        from mfsdp_lint.fixes.users.derived import rewriter_of

        words = {each for need in request.needs for each in (*need.anchors, *need.named)}
        for path in dict.fromkeys((edit.span.path, *(each.path for each in anchors_of(request)))):
            naming = self.search(path, {os.path.basename(path)})
            if found := rewriter_of(naming, path, words, reads=is_python(path)):
                return found
        return ""

    def _searcher(self, edit: Edit, settings: Collection[str]) -> str:
        """Return who looks in the files that it is given for a word that an edit changes, or for the setting's name.

        Programs in Python are imported, and hardly ever searched.
        """
        if is_python(edit.span.path):
            return ""
        from mfsdp_lint.fixes.users.derived import searcher_of

        path, names = edit.span.path, [each.rpartition(".")[2] for each in settings]
        changed = (Lines(self.texts(path)).cut(edit.span), edit.text)
        words = [max(_WORD.findall(each), key=len, default="") for each in changed]
        for word in filter(None, dict.fromkeys((*words, *names, *(each.replace("_", "-") for each in names)))):
            if found := searcher_of(self.search(path, {word}), word):
                return found
            for other in self.search(path, {word}, quoting=True):
                listed = os.path.basename(other)
                if other.endswith(".txt") and (found := searcher_of(self.search(other, {listed}), listed)):
                    return found
        return ""

    def _digester(self, request: FixRequest, edit: Edit) -> str:
        """Return who makes a digest of the file: of data, also programs that read it, or that may be given it."""
        from mfsdp_lint.fixes.users.derived import SUMS, digester_of, trains_with_what_it_is_given

        path = edit.span.path
        texts = {path: self.texts(path), **self.search(path, {os.path.basename(path)})}
        if is_python(path):
            return digester_of(texts, path, ()) or self._digester_of_sources(path)
        for word in SUMS:
            texts.update(self.search(path, {word}))
        programs = [each for each in _readers(request) if each != path and is_python(each)]
        if kind_of(path) == "yaml":
            training = self.search(path, {"megatron"}).items()
            programs += [each for each, text in training if is_python(each) and trains_with_what_it_is_given(text)]
        return digester_of({**texts, **{each: self.texts(each) for each in programs}}, path, programs)

    def _digester_of_sources(self, path: str) -> str:
        """Return who makes a digest of the source of modules, where a program that uses it names this one."""
        from mfsdp_lint.fixes.users.derived import DIGESTS

        module = os.path.splitext(os.path.basename(path))[0]
        for other, text in self.search(path, {"getsource"}).items():
            stem = os.path.splitext(os.path.basename(other))[0]
            if is_python(other) and DIGESTS.search(text) and (module in text or self.search(path, {stem, module})):
                return f"{other} makes a digest of the source of modules"
        return ""

    def writes(self, settings: Collection[str]) -> Iterator[tuple[Recipe, tuple[Span, ...]]]:
        """Yield every recipe that was read with the places that write one of these settings or hand its value on."""
        for path in settings:
            if path not in self._writes:
                self._writes[path] = [
                    (recipe, (origin.point, *origin.spans(), *(call.span for call in origin.calls)))
                    for recipe in self.recipes
                    for variant in (*recipe.variants, *recipe.exposed)
                    if (origin := variant.origin(path)) is not None
                ]
            yield from self._writes[path]
