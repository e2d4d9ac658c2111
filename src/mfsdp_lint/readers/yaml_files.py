"""YAML files: frameworks' configurations, override files of Megatron-Bridge, flags of Megatron-LM (`readers/yaml`)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Recipe, Unfollowed
from mfsdp_lint.core.records import replace
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.discover import KUSTOMIZATIONS, FileType
from mfsdp_lint.inputs.projects import beside
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.inputs.suppression import CommentPlace
from mfsdp_lint.readers.programs import Programs
from mfsdp_lint.readers.reader import Reading, ToRead, read_each
from mfsdp_lint.readers.relevance import speaks_of_recipes
from mfsdp_lint.readers.shell_files import may_start, starts_as_built

if TYPE_CHECKING:
    from mfsdp_lint.readers.framework_configs import Evaluated


def _evaluated(asked: ToRead, path: str, text: str) -> Evaluated:
    """Evaluate the program that a YAML file asks for; the evaluator is loaded for no other file."""
    from mfsdp_lint.readers.python.read import read_python

    sources = asked.sources.with_texts({path: text})
    return read_python([path], sources, asked.knowledge(), asked.search_path, environment=asked.environment)


_HOLDS = lazy_pattern(
    r"\b(?:torchrun|python[\d.]*|accelerate|deepspeed|srun|mpirun|sbatch|bash|sh)\b|\.(?:py|sh)\b|\bprogram:"
)
_VALUES = lazy_pattern(r"[\w.-]*values[\w.-]*\.ya?ml")
"""The names of files with a chart's values: its templates are read with them."""


def _chart_of(path: str, sources: Sources) -> str | None:
    """Return the folder of the chart that a template belongs to; None for any other file."""
    folder = posixpath.dirname(path)
    while posixpath.basename(folder) not in ("", ".", ".."):
        above = posixpath.dirname(folder)
        named = (posixpath.join(above, each) for each in ("Chart.yaml", "values.yaml"))
        if posixpath.basename(folder) == "templates" and any(map(sources.exists, named)):
            return above
        folder = above
    return None


_HAS_FILES = lazy_pattern(r"\bconfigMap\b[\"']?[ \t]*:")


def _start_beside(path: str, asked: ToRead) -> bool:
    """Tell whether a file beside a manifest has a ConfigMap with a script that may start a run."""
    folder = posixpath.dirname(path)
    beside_it = (posixpath.join(folder, name) for name in disk.Listing(folder).matching("*.y*ml"))
    texts = ((each, asked.sources.text_or_none(each) or "") for each in beside_it if each != posixpath.normpath(path))
    return any("ConfigMap" in text and may_start(each, text, asked.relevance) for each, text in texts)


def _of_scripts(
    path: str, text: str, asked: ToRead, programs: Programs, unfollowed: list[Unfollowed]
) -> list[Recipe] | None:
    """Return the runs that scripts in a file start; None where it is no file that holds scripts.

    A file without the words of a run is not parsed for it.
    """
    if (chart := _chart_of(path, asked.sources)) is not None:
        from mfsdp_lint.readers.embedding_formats.helm import read_template

        return read_template(path, text, chart, asked.target, asked.sources, programs, unfollowed)
    if _VALUES.fullmatch(posixpath.basename(path)) and asked.sources.exists(beside(path, "Chart.yaml")):
        return []
    if posixpath.basename(path) in KUSTOMIZATIONS:
        from mfsdp_lint.readers.embedding_formats.kustomize import read_kustomization

        return read_kustomization(path, asked.target, asked.sources, programs, unfollowed)
    if not (
        (_HOLDS.search(text) and may_start(path, text, asked.relevance))
        or starts_as_built(text)
        or (_HAS_FILES.search(text) and (speaks_of_recipes(text) or _start_beside(path, asked)))
    ):
        return None
    from mfsdp_lint.readers.embedding_formats.formats import read_yaml_holder

    if any(asked.sources.exists(beside(path, name)) for name in KUSTOMIZATIONS):
        from mfsdp_lint.readers.embedding_formats.kustomize import is_part

        if is_part(path, asked.sources):
            return []
    return read_yaml_holder(path, text, asked.target, asked.sources, programs, unfollowed)


class YamlFiles:
    """Each file is read as whoever is started with it would, with the files that it names."""

    type = FileType("yaml", "a YAML file", suffixes=(".yaml", ".yml"), names=("Kustomization",))

    def read(self, asked: ToRead, before: object) -> Reading:
        """Read the recipes of every file that has some."""
        from mfsdp_lint.readers.yaml.document import Files
        from mfsdp_lint.readers.yaml.read import may_be_one, overlooked, read_yaml

        files = Files(asked.sources, lambda path, text: _evaluated(asked, path, text), asked.environment)

        unfollowed: list[Unfollowed] = []
        untold: dict[str, str] = {}
        # Many files start the same programs.
        programs = Programs(asked)

        def recipes_of(path: str, text: str) -> list[Recipe]:
            # A job may be called as a section of a configuration is.
            found = _of_scripts(path, text, asked, programs, unfollowed)
            if found is not None:
                return found
            if not (recipes := read_yaml(path, text, asked.target, files, asked.front_end)):
                untold[path] = text
            return recipes

        reading = read_each(asked, recipes_of, lambda _, text: may_be_one(text))
        programs.let_go()
        missed = (overlooked(path, text) for path, text in untold.items())
        return replace(reading, unfollowed=(*unfollowed, *filter(None, missed)))

    def comments(self, text: str) -> Iterable[CommentPlace]:
        """Yield every comment."""
        from mfsdp_lint.readers.yaml.nodes import yaml_comments

        return yaml_comments(text)
