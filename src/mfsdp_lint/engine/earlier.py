"""Mistakes at an earlier revision: the tree as it was is judged by the same rules, in a process of its own.

That process is in another folder, so that every relative path keeps its meaning; it shares no state with this one.
Where only the named files are to be as they were, for those who use them, that is judged in this process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import takewhile
from tempfile import TemporaryDirectory

from mfsdp_lint import terminal
from mfsdp_lint.core import kept
from mfsdp_lint.core.finding import SEVERITIES, Finding, Note, Severity
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.engine.judge import Judgement, Linter
from mfsdp_lint.engine.read import question, with_dependents, with_launchers, with_targets
from mfsdp_lint.inputs.history import before_change, revision, write_tree
from mfsdp_lint.inputs.options import Options, UsageError
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.rules.about_files import file_finding
from mfsdp_lint.rules.check import Violation
from mfsdp_lint.rules.findings import FindingGroup

_CHILD = "import sys; sys.path[:] = {path!r}; from {module} import main; main()"

Mistake = tuple[str, str, str, str]
"""A rule, the file and the name of a recipe that breaks it, and the setting at fault (of one about text: the text)."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """The mistakes at the earlier revision. Paths are relative to the root of the repository.

    `broken` are the mistakes of recipes, `others` the fingerprints of findings about files; `contents` are, by file,
    the fingerprints that identify findings without the name of their file.
    """

    broken: tuple[tuple[Mistake, Severity], ...]
    others: tuple[str, ...]
    contents: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Since:
    """The earlier mistakes, to compare with."""

    root: str
    earlier: Earlier

    def caused(self, finding: Finding, violations: tuple[Violation, ...]) -> bool:
        """Tell whether the change since then caused the finding: some recipe makes a new mistake, or makes it worse."""
        before = dict(self.earlier.broken)
        gone = {mark for path, mark in self.earlier.contents if not os.path.lexists(os.path.join(self.root, path))}
        if finding.content_fingerprint in gone:  # its file has another name now
            return False
        if not violations:
            return finding.fingerprint not in self.earlier.others
        return any(_is_worse(each, before.get(_mistake(each, self.root))) for each in violations)


def since(text: str, options: Options, targets: Sequence[Target]) -> Since:
    """Find the mistakes at the revision that a text names, judged by the versions used then. Raises UsageError."""
    said = at_revision(text, options, targets, __name__)
    return Since(said.root, kept.loads(said.answer))


@dataclass(frozen=True, slots=True)
class EarlierAnswer:
    """The answer of a process that judged the tree as it was.

    `root` is the folder of the repository, `tree` the folder that the process saw.
    """

    root: str
    tree: str
    answer: bytes


def at_revision(text: str, options: Options, targets: Sequence[Target], module: str) -> EarlierAnswer:
    """Return the answer of a module's `main` to these options in the tree of a revision. Raises UsageError.

    The process reads the options and the folder from its standard input, as `asked_of_child` does.
    """
    there = revision(text, os.getcwd())
    with TemporaryDirectory(prefix="mfsdp-lint-") as temporary:
        tree = os.path.realpath(temporary)
        known = write_tree(there, tree)
        folder = os.path.normpath(os.path.join(tree, os.path.relpath(os.path.realpath(os.getcwd()), there.root)))
        os.makedirs(folder, exist_ok=True)
        asked = _as_it_was(_at_todays_versions(options, targets, known), there.root, tree)
        return EarlierAnswer(there.root, tree, _answer(kept.dumps((asked, tree)), folder, module))


def asked_of_child() -> tuple[Options, str]:
    """Read the options of this process, and the folder of the tree."""
    options, tree = kept.loads(sys.stdin.buffer.read())
    return options, tree


def main() -> None:
    """Run the process: options in, mistakes out."""
    options, tree = asked_of_child()
    from mfsdp_lint.engine.run import prepare

    asked = with_dependents(with_targets(with_launchers(question(options)[0]), options), options)
    judge, _, _ = prepare(options, asked)
    terminal.data(kept.dumps(_seen(judge, tree)))


def with_brought(judgement: Judgement, judge: Linter) -> tuple[Judgement, bool]:
    """Return a judgement with the mistakes that the change of the named files brings in files that use them.

    Returned with it: whether nothing but files that were looked at decides it.

    Where a text of the named ones gives the value at fault, that is told there anyway. A constant that only decides a
    condition, a key, a method or a class leads nobody there: what was no mistake before the change, and is one now, is
    told where it is. A recipe may have another name by the change, and its mistake another cause. Raises NotKept.
    """
    now = judgement.sources
    before = before_change(file.path for file in judge.question.every_file)
    lines = {path: _first_change(text, now.as_it_is_or_none(path) or "") for path, text in before.texts.items()}
    changed = {path: line for path, line in lines.items() if line is not None}
    if not changed:
        return judgement, before.by_files_alone
    then = judge(now.with_texts({path: before.texts[path] for path in changed}), judgement)
    known = [each for cause in (*then.causes, *then.of_users) for each in cause.violations]
    recipes = set(map(_mistaken, known))
    places = {(each.rule.code, each.primary.span) for each in known}
    said = [Note(Span(path, line, 1, line, 1), _BROUGHT) for path, line in changed.items()][:_MOST_NOTES]
    brought = [
        _brought(cause, said)
        for cause in judgement.of_users
        if any(
            _mistaken(each) not in recipes and (each.rule.code, each.primary.span) not in places
            for each in cause.violations
        )
    ]
    told = replace(judgement, causes=(*judgement.causes, *brought), of_users=())
    return told, before.by_files_alone


_BROUGHT = "the change of this file brings it about"
_MOST_NOTES = 3
"""Changes of files that a finding names; which of them made it is not known."""


def _first_change(then: str, now: str) -> int | None:
    """Return the first line that is another one now; None where only line ends are."""
    old, new = then.splitlines(), now.splitlines()
    if old == new:
        return None
    same = takewhile(lambda lines: lines[0] == lines[1], zip(old, new, strict=False))
    return min(sum(1 for _ in same) + 1, max(len(new), 1))


def _mistaken(violation: Violation) -> tuple[str, str, str]:
    """Return the rule and the recipe that breaks it, whatever the cause is."""
    return violation.rule.code, violation.recipe.path, violation.recipe.label


def _brought(cause: FindingGroup, notes: Sequence[Note]) -> FindingGroup:
    violations = tuple(replace(each, decided_in=each.primary.span.path) for each in cause.violations)
    return replace(
        cause, finding=replace(cause.finding, related=(*notes, *cause.finding.related)), violations=violations
    )


def _seen(judge: Linter, tree: str) -> Earlier:
    judgement: Judgement = judge(Sources(judge.question.texts))
    causes = [cause for cause in judgement.causes if cause.finding.suppressed is None]
    worst: dict[Mistake, Severity] = {}
    for cause in causes:
        for each in cause.violations:
            key = _mistake(each, tree)
            worst[key] = min(worst.get(key, "info"), each.severity, key=SEVERITIES.index)
    about_files = [file_finding(problem) for problem in judgement.problems if problem.kind != "usage"]
    others = [*about_files, *(each for each in judgement.raising if each.suppressed is None)]
    every = [*others, *(cause.finding for cause in causes)]
    return Earlier(
        tuple(worst.items()),
        tuple(each.fingerprint for each in others),
        tuple((_in(each.span.path, tree), each.content_fingerprint) for each in every),
    )


def _answer(question: bytes, folder: str, module: str) -> bytes:
    program = _CHILD.format(path=[os.path.abspath(each) for each in sys.path if each], module=module)
    # Isolated: what is checked must not be imported in place of what the tool needs.
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], cwd=folder, input=question, capture_output=True, check=False
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UsageError(f"--since: the revision cannot be judged: {said[-1] if said else done.returncode}")
    return done.stdout


def _as_it_was(options: Options, root: str, tree: str) -> Options:
    """Return the options for the tree; paths outside of the repository stay as they are."""

    def there(path: str) -> str:
        absolute = os.path.realpath(path)
        inside = os.path.join(tree, os.path.relpath(absolute, root))
        if absolute != root and not absolute.startswith(root + os.sep):
            return absolute
        return inside if os.path.lexists(inside) else absolute

    return replace(
        options,
        since=None,
        baseline=None,
        per_file_ignores=(),
        paths=tuple(_moved(path, root, tree) for path in options.paths),
        search_path=tuple(map(there, options.search_path)),
        extend_rules=tuple(map(os.path.realpath, options.extend_rules)),
    )


def _moved(path: str, root: str, tree: str) -> str:
    """Return the path in the tree for an absolute path of the repository."""
    if not os.path.isabs(path):
        return path
    inside = os.path.relpath(os.path.realpath(path), root)
    return path if inside.startswith(os.pardir) else os.path.join(tree, inside)


def _at_todays_versions(options: Options, targets: Sequence[Target], known: frozenset[str]) -> Options:
    """Return the options with the versions of today, where no file of the revision could name others.

    A virtual environment, for example, names them and is in no revision.
    """
    target = targets[0]
    source = map(os.path.abspath, target.source)
    options = replace(options, search_path=(*options.search_path, *source), installed_source=False)
    if options.target_bridge or options.target_core or any(each.places != target.places for each in targets):
        return options
    whys = target.reason.replace(";", ",").split(",")
    files = {os.path.normpath(why.strip().rpartition(" ")[2].partition(":")[0]) for why in whys}
    if target.assumed or target.core_alone or files & known:
        return options
    return replace(
        options,
        target_bridge=target.bridge,
        target_core=target.core,
        target_te=options.target_te or target.te,
        target_torch=options.target_torch or target.torch,
    )


def _mistake(violation: Violation, root: str) -> Mistake:
    recipe = violation.recipe
    what = violation.primary.setting
    if violation.passage is not None:
        what = violation.case.message.of(violation.seen)
    name = "" if recipe.label == recipe.path else recipe.label
    return (violation.rule.code, _in(recipe.path, root), name, what)


def _in(path: str, root: str) -> str:
    return os.path.relpath(os.path.realpath(path), root)


def _is_worse(violation: Violation, before: Severity | None) -> bool:
    return before is None or SEVERITIES.index(violation.severity) < SEVERITIES.index(before)
