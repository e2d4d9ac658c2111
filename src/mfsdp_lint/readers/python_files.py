"""Python files, read by the evaluator (`readers/python`); and notebooks, whose code cells are one Python file.

A comment may silence findings. At the end of the first or last line of a statement it covers the whole statement; alone
on a line, also the statement on the next line; at a `def` or `class`, on a decorator or directly above them, the whole
definition.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from mfsdp_lint.core.lines import Lines, split_lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Recipe, Unfollowed
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.inputs.discover import FileType
from mfsdp_lint.inputs.faults import Faults
from mfsdp_lint.inputs.imports import parsed
from mfsdp_lint.inputs.sources import NOTEBOOK, Problem
from mfsdp_lint.inputs.suppression import CommentPlace, lines_below
from mfsdp_lint.readers.launch_memory import LaunchMemory, ShellRead
from mfsdp_lint.readers.programs import Programs
from mfsdp_lint.readers.reader import Reading, ToRead
from mfsdp_lint.readers.relevance import TRAINING_PROGRAM
from mfsdp_lint.readers.shell_files import may_start, names_rank_launcher

if TYPE_CHECKING:
    from mfsdp_lint.readers.python.entries.incremental import Before


_IN_A_TEXT = r"[\"']\\?\s{0,200}(?:\S{0,200}/|[^\"'\n]{0,500}(?:&&|;|\w=\S{0,200}) *)?%s[\"' ]"
_NAMED_IN_TEXTS = ("torchrun", "accelerate", "deepspeed", "srun")
_AS_TEXTS = frozenset((*_NAMED_IN_TEXTS, "python"))
_STARTS = {
    **{each: rf"\b{each}\b" for each in ("subprocess", "runpy")},
    **{f"os.{each}": rf"\bos\.{each}\b" for each in ("system", "popen")},
    **{f"os.{each}": rf"\bos\.{each}\w+\b" for each in ("exec", "spawn")},
    "torch.distributed.": r"\b(?:from|import) torch\.distributed\.(?:run|launch)\b",
    "Operator": r"\b(?:Bash|Docker|KubernetesPod)Operator\b",
    **{f"{each}(": rf"\b{each}\(" for each in ("Script", "PyTorch", "Role")},
    **{each: rf"\b{re.escape(each)}\b" for each in ("task.bash", "sys.executable")},
    **{each: _IN_A_TEXT % each for each in _NAMED_IN_TEXTS},
    "python": _IN_A_TEXT % "python3?",
}
"""Calls that start a program, and texts that are, or begin with, the name of a launcher: each as a word, which is found
fast, and as the pattern that it has to be part of.
"""


_SCRIPT = lazy_pattern(r"\.(?:sh|bash|sbatch|slurm)[\"']")


@lru_cache(maxsize=64)
def may_start_programs(text: str) -> bool:
    """Tell whether the text of a Python file may start another program that starts some, or write a script that does.

    A program that is asked something by its name and options alone (`nvidia-smi --query-gpu=…`) starts none.
    """
    if ".write" in text and _SCRIPT.search(text):
        return True
    found = [word for word, pattern in _STARTS.items() if word in text and re.search(pattern, text)]
    if found and _AS_TEXTS.issuperset(found):
        told = _without_explanations(text)
        return any(re.search(_STARTS[word], told) for word in found)
    return bool(found) and not (found == ["subprocess"] and _only_asks(text))


_EXPLANATIONS = frozenset({"help", "description", "epilog", "usage", "short_help"})
"""Arguments that hold texts for people."""


def _without_explanations(text: str) -> str:
    """Return the text of a Python file with blanks for docstrings, and for what command lines tell of themselves."""
    tree, lines = parsed(text), Lines(text)
    for node in () if tree is None else ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str()) as told):
                pass
            case ast.keyword(arg=name, value=told) if name in _EXPLANATIONS:
                pass
            case ast.Assign(targets=[ast.Attribute(attr=name)], value=told) if name in _EXPLANATIONS:
                pass
            case _:
                continue
        start, end = lines.range(lines.of_node("", told))
        text = text[:start] + " " * (end - start) + text[end:]
    return text


_STARTERS = ("run", "call", "check_call", "check_output", "Popen", "getoutput", "getstatusoutput")
_READ_BY_PROGRAMS = frozenset({"input", "stdin", "shell", "executable", "env", None})
"""Arguments of `subprocess` by which a program is given a script, or is another one; None is `**`."""


def _only_asks(text: str) -> bool:
    """Tell whether all that a file hands to `subprocess` are lists of a program's name and options."""
    tree = parsed(text)
    nodes = () if tree is None else tuple(ast.walk(tree))
    uses = {id(each) for each in nodes if isinstance(each, ast.Name) and each.id == "subprocess"}
    if not uses or any(map(_is_under_another_name, nodes)):
        return False
    for node in nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=module), args=[ast.List(elts=[ast.Constant(value=name), *words])]):
                is_asked = _is_name(name) and all(map(_is_option, words))
                if is_asked and _READ_BY_PROGRAMS.isdisjoint(each.arg for each in node.keywords):
                    uses.discard(id(module))
            case ast.Attribute(value=module, attr=name) if name not in _STARTERS:  # PIPE, TimeoutExpired
                uses.discard(id(module))
    return not uses


def _is_under_another_name(node: ast.AST) -> bool:
    match node:
        case ast.ImportFrom(module="subprocess") | ast.alias(name="subprocess", asname=str()):
            return True
    return False


def _is_name(word: object) -> bool:
    """Tell whether a word names a program that is no file of the project and starts no ranks."""
    return isinstance(word, str) and "/" not in word and not names_rank_launcher(word)


def _is_option(word: ast.expr) -> bool:
    match word:
        case ast.JoinedStr(values=[ast.Constant(value=text), *_]) | ast.Constant(value=text):
            return isinstance(text, str) and text.startswith("-")
    return False


_AS_A_MODULE = lazy_pattern(r"\bm *= *True\b")
"""The argument for which `Script` of nemo-run writes `-m`."""
_BETWEEN_FOLDERS = lazy_pattern(r"[\"'] */ *[\"']")
_BETWEEN_WORDS = lazy_pattern(r"[\"',()\[\]]+")


def _runs(asked: ToRead, memory: LaunchMemory) -> Reading | None:
    """Read the runs that scripts among the files start; None where no file is such a script.

    Files without the words of a launch are not parsed for it.
    """
    recipes: list[Recipe] = []
    problems: list[Problem] = []
    unfollowed: list[Unfollowed] = []
    faults = Faults()
    paths: list[str] = []
    programs = Programs(asked, memory.ran)
    for path in asked.paths:
        with faults.contained(path):
            if not _may_start(path, asked):
                continue
            paths.append(path)
            found = memory.follow(path, partial(_followed, path, programs))
            recipes += found.recipes
            problems += found.problems
            unfollowed += found.unfollowed
    programs.let_go()
    told = [*problems, *faults.problems]
    return Reading(recipes, told, unfollowed=unfollowed) if paths or told else None


def _followed(path: str, programs: Programs) -> ShellRead:
    from mfsdp_lint.readers.embedding_formats.python import commands, overlooked
    from mfsdp_lint.readers.shell.direnv import variables_of_direnv
    from mfsdp_lint.readers.shell.read import read_shell

    asked = programs.asked
    refused: list[Unfollowed] = []
    started = commands(path, programs, refused=refused)
    variables = variables_of_direnv(path, asked.sources) if started else None
    read = read_shell(path, started, asked.target, asked.sources, programs, variables)
    unfollowed = [*read.unfollowed, *refused]
    if not (read.recipes or read.converted or unfollowed) and not path.endswith(NOTEBOOK):
        missed = overlooked(path, asked.sources.text_or_none(path) or "", started)
        unfollowed += [missed] if missed else []
    return replace(read, unfollowed=unfollowed)


_WORDS_OF_A_RUN = lazy_pattern(
    rf"[\"'\s]--use-(?:megatron-fsdp|torch-fsdp2|custom-fsdp)[\"'\s]|[\"'][^\"'\s]*\b{TRAINING_PROGRAM}[\"']"
)


def _has_words_of_a_run(text: str) -> bool:
    """Tell whether a file has words of a command line for others; one that defines options only speaks of them."""
    return "add_argument" not in text and bool(_WORDS_OF_A_RUN.search(text))


def _may_start(path: str, asked: ToRead) -> bool:
    """Tell whether a file may start a run: its texts are looked at as the words of a script, or it leads to a file that
    has such words.
    """
    text = asked.sources.text_or_none(path) or ""
    if not may_start_programs(text):
        return False
    if names_rank_launcher(text):
        return True  # its program, and the flags, may be named in a file that it reads
    text = _AS_A_MODULE.sub(" -m ", text)
    words = _BETWEEN_WORDS.sub(" ", _BETWEEN_FOLDERS.sub("/", text))
    return may_start(path, words, asked.relevance) or asked.relevance.reaches(path, _has_words_of_a_run)


@dataclass(frozen=True, slots=True)
class PythonMemory:
    """Results that the reading of other texts may take over: of recipes, and of launches by scripts."""

    recipes: Before | None = None
    launches: LaunchMemory | None = None

    @property
    def is_complete(self) -> bool:
        """Tell whether a reading that takes this over meets all problems again."""
        return self.recipes is None or self.recipes.complete

    def forget(self, says: Callable[[Recipe], bool]) -> None:
        """Forget the files and scripts of which a recipe is such a one."""
        if self.recipes is not None:
            self.recipes.forget(says)
        if self.launches is not None:
            self.launches.forget(says)


class PythonFiles:
    """All files are read in one evaluation: they import each other."""

    type = FileType(
        "python",
        "a Python file",
        suffixes=(".py",),
        first_line=lazy_pattern(r"#!\s*\S*/(?:env\s+(?:-\S+\s+)*)?(?:python|pypy)[\d.]*\b"),
        functions=True,
        imports=True,
    )

    def read(self, asked: ToRead, before: object) -> Reading:
        """Read the recipes of the files and addresses, and the runs that they start.

        Results that changed texts cannot reach are taken over.
        """
        memory = before if isinstance(before, PythonMemory) else PythonMemory()
        launches = LaunchMemory.after(memory.launches, asked)
        found, again = Reading(()), None
        if not asked.only_runs and (asked.addresses or any(map(asked.relevance.is_parsed, asked.paths))):
            from mfsdp_lint.readers.python.read import read_python

            knowledge = asked.knowledge()
            read = read_python(
                asked.paths,
                asked.sources,
                knowledge,
                asked.search_path,
                addresses=asked.addresses,
                beside=asked.beside,
                tracing=asked.tracing,
                before=memory.recipes,
                relevance=asked.relevance,
                environment=asked.environment,
                only=asked.entries,
            )
            problems = (*(error.problem for error in read.unreadable), *read.missing, *read.faults)
            found = Reading(read.recipes, problems, tuple(knowledge.remarks()), unfollowed=read.unfollowed)
            again = read.again
        runs = _runs(asked, launches)
        found = replace(found, memory=PythonMemory(again, launches))
        if runs is None:
            return found
        return replace(
            found,
            recipes=[*found.recipes, *runs.recipes],
            problems=[*found.problems, *runs.problems],
            unfollowed=[*found.unfollowed, *runs.unfollowed],
        )

    def comments(self, text: str) -> Iterable[CommentPlace]:
        """Yield every comment."""
        return python_comments(text)


class NotebookFiles(PythonFiles):
    """They are read as Python is, and have no editor."""

    type = FileType("notebook", "a notebook", suffixes=(NOTEBOOK,), functions=True, imports=True)


@dataclass(frozen=True, slots=True)
class _Statement:
    """A logical line: its physical lines, its indentation in levels, and its first word ("def" for "async def")."""

    first: int
    last: int
    level: int
    word: str


@dataclass(frozen=True, slots=True)
class _CommentToken:
    """A comment of a Python file: whether it is alone on its line, and whether brackets are open around it."""

    line: int
    column: int
    text: str
    alone: bool
    inside: bool


def python_comments(text: str) -> list[CommentPlace]:
    """Return every comment, as far as the text can be tokenized."""
    statements, tokens = _logical_lines(text)
    ends = _covered_until(statements)
    starts = [statement.first for statement in statements]
    below = lines_below(token.line for token in tokens if token.alone)
    places = []
    for token in tokens:
        target = below.get(token.line, token.line)
        covers = (token.line, target)
        index = bisect_right(starts, target) - 1
        if index >= 0 and not (token.alone and token.inside):
            statement = statements[index]
            if target in (statement.first, statement.last):
                covers = (min(token.line, statement.first), ends[index])
        places.append(CommentPlace(token.text, token.line, token.column, covers))
    return places


def _covered_until(statements: Sequence[_Statement]) -> list[int]:
    """Return the last line that a comment on each statement covers.

    For a definition and its decorators, it is the definition's last line.
    """
    ends = [statement.last for statement in statements]
    unfinished: list[int] = []
    for index, statement in enumerate(statements):
        while unfinished and statement.level <= statements[unfinished[-1]].level:
            ends[unfinished.pop()] = statements[index - 1].last
        if statement.word in ("def", "class"):
            unfinished.append(index)
    for index in unfinished:
        ends[index] = statements[-1].last
    for index in reversed(range(len(statements) - 1)):
        if statements[index].word == "@":
            ends[index] = ends[index + 1]
    return ends


def _logical_lines(text: str) -> tuple[list[_Statement], list[_CommentToken]]:
    """Return the statements and the comments of a Python file, as far as it can be tokenized."""
    import tokenize  # only files with a suppression comment need it

    skipped = {tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}
    lines = split_lines(text)
    statements: list[_Statement] = []
    comments: list[_CommentToken] = []
    level = first = 0
    word = ""
    try:
        remaining = iter(lines)
        for token in tokenize.generate_tokens(lambda: next(remaining, "")):
            line, offset = token.start
            if token.type == tokenize.INDENT:
                level += 1
            elif token.type == tokenize.DEDENT:
                level -= 1
            elif token.type == tokenize.COMMENT:
                alone = not lines[line - 1][:offset].strip()
                comments.append(_CommentToken(line, offset + 1, token.string, alone, inside=first > 0))
            elif token.type == tokenize.NEWLINE:
                if first:
                    statements.append(_Statement(first, line, level, word))
                first = 0
            elif token.type not in skipped:
                if not first:
                    first, word = line, token.string
                elif word == "async":
                    word = token.string
    except (tokenize.TokenError, SyntaxError):
        pass
    return statements, comments
