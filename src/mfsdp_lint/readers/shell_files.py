"""Shell scripts (`readers/shell`), and files that hold some (`readers/embedding_formats`): the runs that they start.

Nothing is executed.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Recipe, Unfollowed
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs.discover import FileType
from mfsdp_lint.inputs.faults import Faults
from mfsdp_lint.inputs.projects import above
from mfsdp_lint.inputs.sources import Problem, Sources, Unreadable
from mfsdp_lint.inputs.suppression import CommentPlace, comment_places
from mfsdp_lint.process import without_collection
from mfsdp_lint.readers.command_lines import FOLDER_KEYS
from mfsdp_lint.readers.experiments import experiments_in
from mfsdp_lint.readers.launch_memory import LaunchMemory, ShellRead
from mfsdp_lint.readers.programs import Programs
from mfsdp_lint.readers.reader import Reading, ToRead, read_each
from mfsdp_lint.readers.relevance import Relevance, speaks_of_recipes
from mfsdp_lint.readers.shell.patterns_of_files import matching

if TYPE_CHECKING:
    from mfsdp_lint.readers.shell.conversions import Loading, ScriptConversion, ScriptImport
    from mfsdp_lint.readers.shell.state import Held, HeldCommand


class ShellFiles:
    """Each script is followed by itself, with the scripts that it names."""

    type = FileType(
        "shell",
        "a shell script",
        suffixes=(".sh", ".bash", ".zsh", ".ksh", ".sbatch", ".slurm"),
        launches=True,
        first_line=lazy_pattern(r"#!\s*\S*/(?:env\s+(?:-\S+\s+)*)?(?:ba|da|k|z)?sh\b"),
    )

    def read(self, asked: ToRead, before: object) -> Reading:
        """Read the recipes of every script that has some. Results that changed texts cannot reach are taken over."""
        reading = _ScriptReading(asked, LaunchMemory.after(before, asked))
        with without_collection():
            recipes = [recipe for path in asked.paths for recipe in reading.recipes(path)]
            unfollowed = tuple(reading.unfollowed)
            recipes += reading.launches()
            reading.programs.let_go()
        problems = [*reading.problems, *reading.faults.problems]
        return Reading(reading.told_of_others(recipes), problems, memory=reading.memory, unfollowed=unfollowed)

    def comments(self, text: str) -> Iterable[CommentPlace]:
        """Yield every comment."""
        from mfsdp_lint.readers.shell.script import shell_comments

        return shell_comments(text)


_TEMPLATE = lazy_pattern(r"^[ \t]*(?:\{%|%\{)|(?<![/#|,:;!])@[A-Z][A-Z0-9_]*@", re.MULTILINE)
"""A statement of Jinja or Terraform, or a placeholder of configure: what the script will be is not known everywhere."""

_RELEVANT = lazy_pattern(
    r"megatron|fsdp|--(?:tensor|pipeline)-model-parallel-size|--micro-batch-size|\bddp\."
    r"|torchrun|torch\.distributed|\bpretrain_\w+\.py|--recipe\b|--model_recipe_name\b|\bscripts/performance/",
    re.IGNORECASE,
)
_GIVES_A_FILE = lazy_pattern(r"(?<=[\s=\"'])[\w./{}$-]*\$\{?\w[\w./{}$-]*\.ya?ml\b")
"""A file of settings whose name is put together when the script runs: it may be one of a framework."""
_ON_A_CLUSTER = lazy_pattern(
    r"\bhelm\b.*\b(?:install|upgrade|template)\b|\bkubectl\b.*(?:\bset\s+env\b|\s(?:-f|--filename))"
)
_STARTS = lazy_pattern(
    r"\.py\b|[\s\"']-m[\s\"']|\b(?:source|bash|sh)\s|^[ \t]*\.\s|\bmegatron\s"
    r"|--use-(?:megatron-fsdp|torch-fsdp2|custom-fsdp)\b",
    re.MULTILINE,
)


def may_start(path: str, text: str, relevance: Relevance, followed: set[str] | None = None) -> bool:
    """Tell whether a text that is, or holds, a script at a path may start a training run. Parsers are loaded for no
    other.

    It says so itself, or it names a script that may, a Python program that leads to a recipe, or an experiment of a
    framework. `followed` are the scripts on the way here.
    """
    if _speaks(text):
        return True
    sources, followed = relevance.sources, set() if followed is None else followed
    for program in _programs(path, text, sources):
        if program.endswith(".py"):
            # A launcher in Python may have the words of a run from elsewhere.
            said = sources.text_or_none(program) or ""
            if relevance.reaches(program, speaks_of_recipes) or _speaks(said) or names_rank_launcher(said):
                return True
        elif program not in followed:
            followed.add(program)
            if may_start(program, sources.text_or_none(program) or "", relevance, followed):
                return True
    return _starts_framework(text) or any(True for _ in experiments_in(path, text, sources))


_AS_MODULE = r"(?<=[\s\"']-m)(?P<module>[\s\"',]{1,99}[\w.]+)"
"""A program that is started as a module, on a command line or in a list of words, with what stands in front of it."""
_MODULE = lazy_pattern(_AS_MODULE)


def _starts_framework(text: str) -> bool:
    """Tell whether a text names a program of a framework as a module."""
    if not (modules := {found["module"].strip("\"', \t\r\n") for found in _MODULE.finditer(text)}):
        return False
    from mfsdp_lint.megatron.front_ends import profiles

    return any(not modules.isdisjoint(profile.programs) for profile in profiles())


def _speaks(text: str) -> bool:
    if _ON_A_CLUSTER.search(text):
        return True
    return bool(_STARTS.search(text)) and any(each.search(text) for each in (_RELEVANT, _GIVES_A_FILE))


_RANK_LAUNCHER = lazy_pattern(r"[\"'](?:torchrun|torch\.distributed\.(?:run|launch))[\"' ]")


def names_rank_launcher(text: str) -> bool:
    """Tell whether the text of a Python file has the name of a launcher of ranks as a word of a command."""
    return bool(_RANK_LAUNCHER.search(text))


_BUILD = lazy_pattern(r"^[ \t]*build[ \t]*:", re.MULTILINE)


def starts_as_built(text: str) -> bool:
    """Tell whether a text has the words of a run for an image that is built here, whose Dockerfile says what starts."""
    return bool(_BUILD.search(text) and _RELEVANT.search(text))


# A name is looked for at the beginning of a run of such characters alone: from each of them, that takes quadratic time.
_PROGRAM = lazy_pattern(
    r"(?<![\w./-])(?:(?P<file>[\w./-]*\w\.(?:py|sh|bash|sbatch|slurm|tmpl|tpl|template|j2|jinja2?)\b)"
    r"|[\w.-]*/(?P<inner>[\w./-]*\w)(?![\w/.*=]))"
    rf"|{_AS_MODULE}"
)
_SCRIPTS = lazy_pattern(r"(?<![\w./*-])[\w./?-]*\*[\w./*?-]*\.(?:sh|bash|sbatch|slurm)\b")
"""A pattern of names of scripts (`jobs/*.sh`)."""
_IS_TEMPLATE = lazy_pattern(r"\.(?:j2|jinja2?|tmpl|tpl|template)\b")
_LOADED = lazy_pattern(r"(?<![\w-])([\w-]*templates?(?:/[\w-]+)*)(?![\w.(-])")
"""A folder of templates."""
_LONGEST_PATH = 4096
"""Characters that Linux allows."""

_CHANGES = lazy_pattern(
    rf"(?:\bcd\s+|^[ \t-]*{FOLDER_KEYS}:[ \t]+)[\"']?([\w./-]+)",
    re.IGNORECASE | re.MULTILINE,
)


def _programs(path: str, text: str, sources: Sources) -> Iterator[str]:
    """Yield the programs beside or above a file that its text names; the start of a name may be a variable."""
    inside = dict.fromkeys(("", *_CHANGES.findall(text)))
    if _IS_TEMPLATE.search(text):
        # It is named by its place in the folder that a loader is given, or that a role has for it.
        inside |= dict.fromkeys(("templates", "../templates", *_LOADED.findall(text)))
    folders = [posixpath.join(folder, inner) for inner in inside for folder in above(path)]
    written = ((each.lastgroup, str(each[each.lastgroup or 0])) for each in _PROGRAM.finditer(text))
    for kind, found in dict.fromkeys(written):
        if len(found) > _LONGEST_PATH:
            continue
        module = found.strip(" \t\r\n\"',").replace(".", "/")
        names = [f"{module}.py", f"{module}/__main__.py"]
        if kind != "module":
            parts = found.lstrip("/").split("/")
            names = [found, *("/".join(parts[start:]) for start in range(len(parts)))]
        places = (posixpath.normpath(posixpath.join(folder, each)) for each in names for folder in folders)
        program = next((place for place in dict.fromkeys(places) if sources.exists(place)), None)
        if program is not None:
            yield program
    for pattern in dict.fromkeys(each.lstrip("/") for each in _SCRIPTS.findall(text)):
        found_there = (
            posixpath.normpath(posixpath.join(folder, each)) for folder in folders for each in matching(folder, pattern)
        )
        yield from (each for each in dict.fromkeys(found_there) if each != posixpath.normpath(path))


class _ScriptReading:
    """Scripts that are read one after the other; `problems` are those of the files that were asked for."""

    def __init__(self, asked: ToRead, memory: LaunchMemory) -> None:
        self.asked = asked
        self.memory = memory
        self.problems: list[Problem] = []
        self.unfollowed: list[Unfollowed] = []
        self.faults = Faults()
        self.programs = Programs(asked, memory.ran)
        self.loadings: dict[str, Loading] = {}
        self.converted: dict[str, list[ScriptConversion]] = {}
        self.imported: dict[str, list[ScriptImport]] = {}
        self.touched: set[str] = set()

    def recipes(self, path: str) -> list[Recipe]:
        """Return the recipes of a script."""
        with self.faults.contained(path):
            try:
                text = self.asked.sources.text(path)
            except Unreadable as error:
                if error.is_told(_speaks):
                    self.problems.append(error.problem)
                return []
            if may_start(path, text, self.asked.relevance):
                found = self.memory.follow(path, partial(self._followed, path, text))
                self.problems += found.problems
                self.unfollowed += found.unfollowed
                self.loadings |= {each.recipe.qualified_name: each for each in found.loadings}
                self.touched |= found.touched
                self.imported[path] = found.imported
                if found.converted:
                    self.converted[path] = found.converted
                return found.recipes
        return []

    def _followed(self, path: str, text: str) -> ShellRead:
        from mfsdp_lint.readers.shell.direnv import variables_of_direnv
        from mfsdp_lint.readers.shell.read import read_shell

        asked, variables = self.asked, variables_of_direnv(path, self.asked.sources)
        if _TEMPLATE.search(text):
            from mfsdp_lint.readers.embedding_formats.held_texts import template_of_script
            from mfsdp_lint.readers.shell.script import of_file
            from mfsdp_lint.readers.shell.state import Held

            held = Held(template_of_script(of_file(path, text)))
            return read_shell(path, held, asked.target, asked.sources, self.programs, variables)
        found = read_shell(path, text, asked.target, asked.sources, self.programs, variables)
        if not found.recipes and (started := list(self._with_files(path, text, found.queried.get("$1", ())))):
            given = read_shell(path, started, asked.target, asked.sources, self.programs, variables)
            return given if given.recipes else found
        return found

    def _with_files(self, path: str, text: str, keys: Collection[str]) -> Iterator[Held]:
        """Yield a script with each file as its first argument that has all the keys which it looks for there."""
        from mfsdp_lint.readers.python.entries.given_files import files_with
        from mfsdp_lint.readers.shell.script import Piece, of_file
        from mfsdp_lint.readers.shell.state import Held

        whole = of_file(path, text)
        for file in map(os.path.relpath, files_with(keys, path, self.asked.sources) if keys else ()):
            word = Piece(file, path, whole[0].lines, 0, 0, option="$1")
            yield Held(whole, when=(f"$1 is {file}",), arguments=((word,),))

    def launches(self) -> list[Recipe]:
        """Return launches by scripts that were not asked for.

        They start files that were asked for, or load checkpoints that scripts among these convert.
        """
        told = list(self.problems)
        known = {os.path.abspath(path) for path in self.asked.every}
        converted = [each for every in self.converted.values() for each in every]
        found: list[Recipe] = []
        for path in self.asked.launchers:
            for recipe in self.recipes(path):
                starts = not known.isdisjoint(os.path.abspath(piece[0]) for piece in recipe.pieces)
                if starts or any(map(self.loadings[recipe.qualified_name].loads, converted)):
                    found.append(recipe)
        # Problems of a script are reported where the script is asked for.
        self.problems[:] = told
        return found

    def told_of_others(self, recipes: Sequence[Recipe]) -> list[Recipe]:
        """Add to recipes the notices of the conversions that other scripts make for them, and of the checkpoints that
        others save.
        """
        told = list(recipes)
        for path, converted in self.converted.items():
            from mfsdp_lint.readers.shell.conversions import with_notices

            others = [number for number, recipe in enumerate(told) if recipe.path != path]
            loadings = [replace(self.loadings[told[number].qualified_name], recipe=told[number]) for number in others]
            for number, recipe in zip(others, with_notices(loadings, converted, self.asked.target.core), strict=True):
                told[number] = recipe
        imported = [each for every in self.imported.values() for each in every]
        if len(self.loadings) > 1 or imported:
            from mfsdp_lint.readers.shell.stages import with_other_formats

            every = list(self.loadings.values())
            converted = [each for every in self.converted.values() for each in every]
            loadings = [replace(self.loadings[each.qualified_name], recipe=each) for each in told]
            told = list(with_other_formats(loadings, every, converted, imported, self.touched))
        return told


_RUNS = lazy_pattern(r"^[ \t]*(?:CMD|ENTRYPOINT)\b", re.MULTILINE | re.IGNORECASE)
_COMMENT = lazy_pattern(r"(?m:^)[ \t]*(?://[ \t]*)?(?P<text>#.*)")


class HolderFiles:
    """A kind of file that holds scripts, beside YAML. Each file is read by itself, with the scripts that it names.

    `starts` is in every file that may start something; `scripts_of` is the function of `embedding_formats` that yields
    the scripts in it, as `module.name`: the module is loaded for no other file. A file with `includes` has a part of
    its scripts, or of their words, in other files.
    """

    def __init__(
        self, type: FileType, starts: re.Pattern[str], scripts_of: str, includes: re.Pattern[str] | None = None
    ) -> None:
        self.type = type
        self._starts = starts
        self._scripts_of = scripts_of
        self._includes = includes

    def read(self, asked: ToRead, before: object) -> Reading:
        """Read the recipes of every file that has some."""
        unfollowed: list[Unfollowed] = []
        programs = Programs(asked)

        def read(path: str, text: str) -> list[Recipe]:
            is_whole = self._includes is None or not self._includes.search(text)
            if is_whole and (not self._starts.search(text) or not may_start(path, text, asked.relevance)):
                return []
            from mfsdp_lint.readers.embedding_formats.any_job import unfollowed_shell
            from mfsdp_lint.readers.embedding_formats.formats import recipes_of

            if (told := unfollowed_shell(path, text)) is not None:
                unfollowed.append(told)
            module, name = self._scripts_of.split(".")
            scripts_of: ScriptsOf = getattr(import_module(f"mfsdp_lint.readers.embedding_formats.{module}"), name)
            held = list(scripts_of(path, text, asked.sources))
            return recipes_of(path, held, asked.target, asked.sources, programs, unfollowed)

        found = read_each(asked, read, lambda path, text: may_start(path, text, asked.relevance))
        programs.let_go()
        return replace(found, unfollowed=tuple(unfollowed))

    def comments(self, text: str) -> Iterable[CommentPlace]:
        """Yield every comment, which has a line of its own."""
        return comment_places(text, ((found.start("text"), found["text"]) for found in _COMMENT.finditer(text)))


ScriptsOf = Callable[[str, str, Sources], "Iterable[Held | HeldCommand]"]
"""The scripts of a file: its path, its text, and the other files."""


HOLDERS = (
    HolderFiles(
        FileType(
            "docker", "a Dockerfile", suffixes=(".dockerfile", ".Dockerfile"), names=("Dockerfile", "Containerfile")
        ),
        _RUNS,
        "docker.dockerfile_scripts",
    ),
    HolderFiles(
        FileType("make", "a Makefile", suffixes=(".mk",), names=("Makefile", "makefile", "GNUmakefile")),
        lazy_pattern(r"^\t|:[^=\n]*;", re.MULTILINE),
        "recipes_of_make.makefile_scripts",
        includes=lazy_pattern(r"^[ \t]*[-s]?include\s", re.MULTILINE),
    ),
    HolderFiles(
        FileType("just", "a justfile", suffixes=(".just",), names=("justfile", "Justfile")),
        lazy_pattern(r"^[ \t]+\S", re.MULTILINE),
        "recipes_of_make.justfile_scripts",
    ),
    HolderFiles(
        FileType(
            "vscode",
            "a file of Visual Studio Code",
            names=("launch.json", "tasks.json"),
            content=lazy_pattern(r'"(?:configurations|tasks)"\s*:'),
        ),
        lazy_pattern(r'"(?:program|module|command)"\s*:'),
        "vscode.vscode_scripts",
    ),
    HolderFiles(
        FileType("systemd", "a unit of systemd", suffixes=(".service",)),
        lazy_pattern(r"^\s*ExecStart", re.MULTILINE),
        "systemd.unit_scripts",
    ),
    HolderFiles(
        FileType(
            "supervisor",
            "a configuration of supervisord",
            content=lazy_pattern(r"^\[program:", re.MULTILINE),
            unnamed=True,
        ),
        lazy_pattern(r"^command[ \t]*=", re.MULTILINE),
        "supervisor.program_commands",
    ),
    HolderFiles(
        FileType("snakemake", "a workflow of Snakemake", suffixes=(".smk",), names=("Snakefile",)),
        lazy_pattern(r"^\s+(?:shell|run):", re.MULTILINE),
        "snakemake.snakefile_scripts",
    ),
    HolderFiles(
        FileType(
            "job",
            "a file with a command line",
            suffixes=(".json", ".toml"),
            content=lazy_pattern(
                r"\b(?:torchrun|python[\d.]*|accelerate|deepspeed)\b.{0,2000}?(?:fsdp|megatron|model.parallel|\bddp\.)"
                r"|fsdp.{0,2000}?\b(?:torchrun|accelerate|deepspeed)\b"
                r"|\b(?:bash|sh|sbatch)[\s\"',]{1,9}[\w./-]+\.(?:sh|bash|sbatch|slurm)\b",
                re.DOTALL | re.IGNORECASE,
            ),
            unnamed=True,
        ),
        lazy_pattern(r"\.(?:py|sh)\b|-m\b"),
        "formats.any_scripts",
    ),
)
