"""Charts of Helm: their templates with their values → the scripts that Kubernetes is given.

Every piece of a script is at its place: in the template, in the file of values, or in `--set` of a script that installs
the chart. A chart below another one (`charts/NAME`) has the values that this has for it, and its `global`. Facts: Helm
3.18 (pkg/chartutil/coalesce.go, dependencies.go, values.go, pkg/strvals/parser.go, pkg/engine/engine.go).
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Recipe, Unfollowed
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.inputs import disk
from mfsdp_lint.inputs.sources import Sources, Unreadable
from mfsdp_lint.megatron.vocabulary.tables import Versions
from mfsdp_lint.readers.embedding_formats.formats import recipes_of, scripts_of_document
from mfsdp_lint.readers.embedding_formats.go_functions import GAP
from mfsdp_lint.readers.embedding_formats.go_templates import Templates
from mfsdp_lint.readers.embedding_formats.held_texts import entries, mappings, said
from mfsdp_lint.readers.embedding_formats.kubernetes import with_images, with_maps
from mfsdp_lint.readers.embedding_formats.template_values import UNKNOWN_ITEM, Item, Scalar, items_of_file, merged
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.programs import Programs
from mfsdp_lint.readers.relevance import Relevance
from mfsdp_lint.readers.shell.script import Piece, Text, between, of_file, plain, sliced, standing_at
from mfsdp_lint.readers.shell.state import Held
from mfsdp_lint.readers.shell_files import may_start
from mfsdp_lint.readers.yaml.document import YamlDocument
from mfsdp_lint.readers.yaml.nodes import MappingNode, Node, ScalarNode, compose_documents

_TEMPLATES = "templates"


@dataclass(frozen=True, slots=True)
class ChartValues:
    """Values that a chart is given beside its own: files of values, and the texts of `--set`; the later ones count."""

    files: Sequence[str] = ()
    settings: Sequence[tuple[Text, bool]] = ()
    """Each text, and whether its values are all texts (`--set-string`)."""


@dataclass(frozen=True, slots=True)
class ChartScripts:
    """The answer of a chart: its scripts, and launches of which not all is known."""

    scripts: Sequence[Held]
    unfollowed: Sequence[Unfollowed]


def read_template(
    path: str,
    text: str,
    chart: str,
    versions: Versions,
    sources: Sources,
    programs: Programs | None,
    unfollowed: list[Unfollowed],
) -> list[Recipe]:
    """Return the runs of a template with its chart's own values; `unfollowed` receives launches that give none."""
    relevance = Relevance(sources) if programs is None else programs.asked.relevance
    of_charts = [_values_of(each) for each in _from_above(chart, sources)]
    texts = (text, *(sources.text_or_none(each) or "" for each in (*of_charts, *_partials(chart))))
    if not any(may_start(path, each, relevance) for each in texts):
        return []
    given = Chart(chart, sources).scripts(path, text, relevance)
    unfollowed += given.unfollowed
    return recipes_of(path, given.scripts, versions, sources, programs, unfollowed)


def scripts_installed(chart: str, installed: ChartValues, sources: Sources, relevance: Relevance) -> ChartScripts:
    """Return the scripts of all templates of a chart as it is installed."""
    scripts: list[Held] = []
    unfollowed: list[Unfollowed] = []
    for folder in (posixpath.dirname(each) for each in _files_below(chart) if posixpath.basename(each) == "Chart.yaml"):
        whole = Chart(folder, sources, installed)
        for path in _files_below(posixpath.join(folder, _TEMPLATES)):
            text = sources.text_or_none(path)
            if text is not None and path.endswith((".yaml", ".yml")):
                given = whole.scripts(path, text, relevance)
                scripts += given.scripts
                unfollowed += given.unfollowed
    return ChartScripts(scripts, unfollowed)


def scripts_of_manifest(
    path: str, text: Text, relevance: Relevance, names: Sequence[str] = (), sources: Sources | None = None
) -> ChartScripts:
    """Return the scripts of a manifest; with names (`deployment/train`) of those objects alone, with `sources` in the
    images that the repository builds.
    """
    try:
        return _Manifest(path, text, sources).scripts(relevance, speaks=False, names=names)
    except Unreadable:
        speaks = may_start(path, plain(text), relevance)
        told = not_followed(path, text[0], "what this manifest is, is not known to be YAML")
        return ChartScripts((), [told] if speaks else [])


def _values_of(chart: str) -> str:
    return posixpath.join(chart, "values.yaml")


def _partials(chart: str) -> list[str]:
    return [each for each in _files_below(posixpath.join(chart, _TEMPLATES)) if each.endswith(".tpl")]


def _from_above(chart: str, sources: Sources) -> list[str]:
    """Return a chart and those that it is a part of, the outermost first."""
    above = posixpath.normpath(posixpath.join(chart, "..", ".."))
    is_below = os.path.basename(os.path.abspath(posixpath.join(chart, ".."))) == "charts"
    is_part = is_below and sources.exists(posixpath.join(above, "Chart.yaml"))
    return [*(_from_above(above, sources) if is_part else ()), chart]


def _files_below(folder: str) -> list[str]:
    below = (posixpath.join(at, name) for at, _, names in disk.walk(folder or ".") for name in names)
    return sorted(posixpath.normpath(each.replace("\\", "/")) for each in below)


class Chart:
    """A chart with its values, and with what it is given where it is installed."""

    def __init__(self, folder: str, sources: Sources, installed: ChartValues | None = None) -> None:
        self.folder = folder
        self.sources = sources
        top, *below = _from_above(folder, sources)
        self.about = items_of_file(posixpath.join(folder, "Chart.yaml"), sources, missing={})
        above = Chart(_from_above(folder, sources)[-2], sources, installed) if below else None
        self.values = self._values(installed or ChartValues()) if above is None else self._values_from(above)
        self.is_installed: bool = above is None or (above.is_installed and above.takes(self))
        self.templates = Templates(file=self._file)
        for path in _files_below(top):  # a template that any of them defines is there in all
            if f"/{_TEMPLATES}/" in f"/{path}":
                self.define(path, sources.text_or_none(path) or "")

    def define(self, path: str, text: str) -> None:
        """Note the templates that a file defines."""
        if "define" in text:
            self.templates.add(_whole(path, text))

    def rendered(self, path: str, text: str) -> Text | None:
        """Return what a template gives; None where its syntax is not followed."""
        return self.templates.rendered(_whole(path, text), self._root(path))

    def _values(self, installed: ChartValues) -> Item:
        values: Item = items_of_file(_values_of(self.folder), self.sources, missing={})
        for path in installed.files:
            more = items_of_file(path, self.sources, missing=UNKNOWN_ITEM)
            both = isinstance(values, Mapping) and isinstance(more, Mapping)
            values = merged(values, more) if both else UNKNOWN_ITEM  # type: ignore[arg-type]  # both are
        for text, as_texts in installed.settings:
            for key, value in _assignments(text, as_texts):
                values = _with(values, key, value)
        return values

    def _values_from(self, above: Chart) -> Item:
        """Return the values of a part of another chart."""
        own = self._values(ChartValues())
        if not isinstance(own, Mapping) or not isinstance(above.values, Mapping):
            return UNKNOWN_ITEM
        given = above.values.get(above.name_of(self), {})
        if not isinstance(given, Mapping):
            return UNKNOWN_ITEM
        common = above.values.get("global", {})
        return merged(merged(own, given), {"global": common} if isinstance(common, Mapping) else {})

    def _dependency(self, part: Chart) -> Mapping[str, Item]:
        """Return the entry for a part of this chart among its dependencies."""
        name = text_of_item(part.about, "name") or posixpath.basename(part.folder)
        listed = self.about.get("dependencies") if isinstance(self.about, Mapping) else None
        found = [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, Sequence) else []
        return next((each for each in found if text_of_item(each, "name") == name), {})

    def name_of(self, part: Chart) -> str:
        """Return the name under which this chart has the values of a part of it."""
        own = text_of_item(part.about, "name") or posixpath.basename(part.folder)
        return text_of_item(self._dependency(part), "alias") or own

    def takes(self, part: Chart) -> bool:
        """Tell whether a part is installed: the first of its conditions that has a value decides."""
        for condition in text_of_item(self._dependency(part), "condition").split(","):
            value: Item = self.values
            for key in condition.strip().split("."):
                value = value.get(key, UNKNOWN_ITEM) if isinstance(value, Mapping) else UNKNOWN_ITEM
            if isinstance(value, Scalar) and isinstance(value.value, bool):
                return value.value
        return True

    def _file(self, name: str) -> Text | None:
        path = posixpath.normpath(posixpath.join(self.folder, name))
        within = not posixpath.normpath(name).startswith(("..", "/"))  # as Helm has it
        text = self.sources.text_or_none(path) if within and self.sources.exists(path) else None
        return None if text is None else of_file(path, text)

    def _root(self, path: str) -> Mapping[str, Item]:
        about = self.about if isinstance(self.about, Mapping) else {}
        named = {f"{name[:1].upper()}{name[1:]}": each for name, each in about.items()}
        release: dict[str, Item] = dict.fromkeys(
            ("Name", "Namespace", "Revision", "IsInstall", "IsUpgrade"), UNKNOWN_ITEM
        )
        return {
            "Values": self.values,
            "Chart": named,
            "Release": {**release, "Service": Scalar("Helm", (_whole(path, "Helm"),))},
            "Capabilities": UNKNOWN_ITEM,
            "Template": UNKNOWN_ITEM,
            "Files": UNKNOWN_ITEM,
        }

    def scripts(self, path: str, text: str, relevance: Relevance) -> ChartScripts:
        """Return the scripts of a template, and the launches of which not all is known."""
        if not self.is_installed:
            return ChartScripts((), ())
        rendered = self.rendered(path, text)
        if rendered is None:
            return ChartScripts((), [not_followed(path, None, "the syntax of this template is not followed")])
        try:
            return _Manifest(path, rendered).scripts(relevance, speaks=may_start(path, text, relevance))
        except Unreadable:
            return ChartScripts((), [not_followed(path, None, "what this template gives is not known to be YAML")])


def text_of_item(item: Item, key: str) -> str:
    """Return the text of an entry; nothing for any other value."""
    value = item.get(key) if isinstance(item, Mapping) else None
    return value.value if isinstance(value, Scalar) and isinstance(value.value, str) else ""


def not_followed(path: str, place: Piece | None, message: str) -> Unfollowed:
    """Describe a launch of a file that is not followed, or not wholly."""
    line = place.span.line if place is not None and place.path == path else 1
    span = None if place is None else place.span
    return Unfollowed(posixpath.basename(path), path, path, line, "launch", "out of sight", message, span)


def _whole(path: str, text: str) -> Piece:
    return Piece(text, path, Lines(text), 0, len(text))


class _Manifest:
    """The text that a template gives, as YAML whose offsets lead back to the pieces."""

    def __init__(self, path: str, rendered: Text, sources: Sources | None = None) -> None:
        self.path = path
        self.sources = sources
        self.rendered = rendered
        self._leave_out(plain(rendered), GAP)

    def _leave_out(self, text: str, gap: str) -> None:
        """Take blanks for all gaps, and keep where they are."""
        self.gaps = [found.start() for found in re.finditer(gap, text)]
        self.text = re.sub(gap, lambda found: " " * len(found[0]), text)
        self.document = YamlDocument(self.path, Lines(self.text))

    def scripts(self, relevance: Relevance, *, speaks: bool, names: Sequence[str] = ()) -> ChartScripts:
        """Return its scripts; with `speaks` the template itself names a launch. Raises Unreadable.

        With `names` (`deployment/train`) only these objects count.
        """
        found: list[Held] = []
        untold: list[Unfollowed] = []
        for root, held in self._held(names):
            gap = self._gap_in(root, held)
            if not may_start(self.path, "\n".join(map(plain, (held.text, *held.files.values()))), relevance):
                continue
            if gap is None:
                found.append(self._placed(held))
            else:
                message = f"this launch depends on `{_shown(gap)}`, which is not followed"
                untold.append(not_followed(self.path, gap, message))
        if speaks and not found and not untold:
            place = self._place(self.gaps[0]) if self.gaps else None
            message = f"what `{_shown(place)}` gives is not known" if place else "with these values it starts nothing"
            untold.append(not_followed(self.path, place, message))
        return ChartScripts(found, untold)

    def _held(self, names: Sequence[str]) -> Iterator[tuple[MappingNode, Held]]:
        try:
            roots = compose_documents(self.path, self.text, again=True)
        except Unreadable:
            # A line of its own that is not known may be any lines.
            self._leave_out(plain(self.rendered), rf"{GAP}|(?m:^[ \t]*{HOLE}[ \t]*$)")
            roots = compose_documents(self.path, self.text, again=True)
        with_maps(self.document, roots)
        if self.sources is not None:
            with_images(self.document, roots, self.sources)
        for root in roots:
            if isinstance(root, MappingNode) and (not names or self._is_one(root, names)):
                for held in scripts_of_document(self.document, root, Sources({})) or ():
                    yield root, held

    def _is_one(self, root: Node, names: Sequence[str]) -> bool:
        whole = entries(self.document, root)
        kind = (said(self.document, whole.get("kind")) or "").lower()
        name = said(self.document, entries(self.document, whole.get("metadata")).get("name"))
        return any(
            each.rpartition("/")[2] == name and kind.startswith(_SHORT.get(each.partition("/")[0], each[:5]))
            for each in names
        )

    def _gap_in(self, root: Node, held: Held) -> Piece | None:
        """Return the first gap in what configures a script: its text, the other words, its environment."""
        at = held.text[0].start
        around = [each for each in mappings(self.document, root) if each.start <= at <= each.end]
        owner = max(around, key=lambda each: each.start, default=None)
        if owner is None:
            return None
        starts = [key.start for key, _ in owner.entries]
        end = owner.end + len(self.text) - owner.end - len(self.text[owner.end :].lstrip())
        column = self.document.lines.position(owner.start)[1]
        for gap in (each for each in self.gaps if owner.start <= each <= end):
            key = max((start for start in starts if start <= gap), default=owner.start)
            name = next(
                (each.text for each, _ in owner.entries if each.start == key and isinstance(each, ScalarNode)), ""
            )
            deeper = self.document.lines.position(gap)[1] > column
            if not deeper or name not in _HARMLESS:
                return self._place(gap)
        return None

    def _place(self, offset: int) -> Piece:
        """Return the piece at an offset."""
        return next(sliced(self.rendered, offset, offset + 1), self.rendered[-1])

    def _placed(self, held: Held) -> Held:
        variables = {
            name: replace(
                each,
                words=None if each.words is None else tuple(self._back(word) for word in each.words),
                written=None if each.written is None else self._back((each.written,))[0],
            )
            for name, each in held.variables.items()
        }
        files = {name: self._back(text) for name, text in held.files.items()}
        return replace(held, text=self._back(held.text), variables=variables, files=files)

    def _back(self, text: Text) -> Text:
        """Return a text of the YAML with its pieces where they are written."""
        return tuple(each for piece in text for each in self._back_piece(piece)) or text[:0]

    def _back_piece(self, piece: Piece) -> Iterator[Piece]:
        if piece.lines is not self.document.lines:  # of another file
            yield piece
            return
        if piece.text and self.text[piece.start : piece.end] == piece.text:
            yield from sliced(self.rendered, piece.start, piece.end)
            return
        inside = [
            each for each in sliced(self.rendered, piece.start, max(piece.end, piece.start + 1)) if each.text.strip()
        ]
        yield standing_at(piece.text, inside[0] if inside else self._place(max(piece.start - 1, 0)))


def _shown(place: Piece) -> str:
    return " ".join(place.lines.text[place.start : place.end].split())


_SHORT = {"sts": "statefulset", "ds": "daemonset", "po": "pod", "rs": "replicaset"}
"""Short names of kinds that are not the beginning of the whole one."""

_HARMLESS = (
    *("image", "imagePullPolicy", "name", "ports"),
    *("livenessProbe", "resources", "securityContext", "volumeMounts"),
)
"""Keys of a container that say nothing of what it starts."""


# -- values --------------------------------------------------------------------------------------------------------


_KEY = lazy_pattern(r"(?P<name>(?:\\.|[^.\[\]=,\\])+)|\[(?P<index>\d+)\]|\.")


def _assignments(text: Text, as_texts: bool) -> Iterator[tuple[list[str | int], Item]]:
    """Yield what `a.b=1,c[0]=x,d={e,f}` sets; a text of which not all keys are known sets nothing that is known."""
    said = plain(text)
    for found in re.finditer(r"(?P<key>(?:\\.|[^=,\\])+)=(?P<value>\{[^}]*\}|(?:\\.|[^,\\])*)(?:,|\Z)", said):
        if HOLE in found["key"]:
            yield [], UNKNOWN_ITEM
            return
        path: list[str | int] = [
            int(each["index"]) if each["index"] else re.sub(r"\\(.)", r"\1", each["name"])
            for each in _KEY.finditer(found["key"])
            if each["index"] or each["name"]
        ]
        start, end = found.span("value")
        if found["value"].startswith("{"):
            inner = [
                (each.start() + start + 1, each.end() + start + 1)
                for each in re.finditer(r"[^,]+", found["value"][1:-1])
            ]
            yield path, [_given(between(text, *each), as_texts) for each in inner]
        else:
            yield path, _given(between(text, start, end) if start < end else (), as_texts)


def _given(text: Text, as_texts: bool) -> Item:
    said = plain(text)
    if HOLE in said:
        return UNKNOWN_ITEM if not said.strip(HOLE) else Scalar(said, text)
    if re.search(r"\\", said):
        said = re.sub(r"\\(.)", r"\1", said)
        text = (replace(text[0], text=said),)
    if as_texts:
        return Scalar(said, text)
    if said in ("true", "false"):
        return Scalar(said == "true", text)
    if said == "null":
        return Scalar(None)
    if re.fullmatch(r"0|-?[1-9]\d*", said):
        return Scalar(int(said), text, exact=True)
    return Scalar(said, text)


def _with(values: Item, path: Sequence[str | int], value: Item) -> Item:
    """Return values with another one at a path."""
    if not path:
        return value
    key, *rest = path
    if isinstance(key, int):
        items = list(values) if isinstance(values, (list, tuple)) else []
        items += [Scalar(None)] * (key + 1 - len(items))
        items[key] = _with(items[key], rest, value)
        return items
    if not isinstance(values, Mapping):
        return UNKNOWN_ITEM if values is UNKNOWN_ITEM else {key: _with({}, rest, value)}
    return {**values, key: _with(values.get(key, {}), rest, value)}
