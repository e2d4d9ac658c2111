"""Edits of YAML files: replace a scalar, add an entry or a section, take an entry out.

Places are those of the reader's nodes; nothing but the touched tokens changes. Like its Python twin, every function
gives None where it is not certain. A script that the file holds is edited as scripts are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

import yaml

from mfsdp_lint.core.finding import Edit
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Origin, Source, Span
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import Plain
from mfsdp_lint.fixes.editor import ABSENT, Assignments, Editable, Old
from mfsdp_lint.fixes.edits import Change, FileText, Items, append_items, remove_item
from mfsdp_lint.fixes.shell import ShellEdits, open_shell
from mfsdp_lint.inputs.sources import Sources, Unreadable
from mfsdp_lint.megatron.front_ends import Naming, Unwritable, at_the_end_of, by_path, places_of
from mfsdp_lint.readers.embedding_formats.formats import script_alone, yaml_scripts
from mfsdp_lint.readers.shell.script import Piece, Text
from mfsdp_lint.readers.yaml.nodes import AliasNode, MappingNode, Node, ScalarNode, SequenceNode, compose_documents
from mfsdp_lint.readers.yaml.read import MODEL_ARGS


def spell(value: Plain, old: str = "") -> str:
    """Write a plain value in YAML, in the style of the scalar that it replaces."""
    match value:
        case bool():
            word = str(value)
            return word if old in ("True", "False") else word.upper() if old in ("TRUE", "FALSE") else word.lower()
        case None:
            return "null"
        case str():
            if old[:1] in ("'", '"'):
                return quoted(value, old[0])
            return value if bare(value) else quoted(value, '"')
        case int() | float():
            return repr(value)
    return yaml.safe_dump(value, default_flow_style=True, width=10**6).strip()


def quoted(value: str, quote: str) -> str:
    """Write a string in these quotes."""
    if quote == "'" and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    return yaml.safe_dump(value, default_style='"', width=10**6, allow_unicode=True).strip()


def bare(value: str) -> bool:
    """Tell whether a string needs no quotes, in flow mappings as well."""
    if not re.fullmatch(r"[A-Za-z0-9_./][A-Za-z0-9_./ -]*", value) or value != value.strip():
        return False
    return bool(yaml.safe_load(value) == value)


Tree = dict[str, "str | Tree"]
"""New entries by key: the spelled value, or those of a new section."""

_TAGGED = lazy_pattern(r"(?<!\S)!\S*\s+(?:&\S+\s+)*\Z")
"""A tag in front of a value."""


@dataclass(frozen=True, slots=True)
class MappingEntry:
    """A `key: value` of a mapping. `words` is the dotted way from the document's root to it."""

    key: ScalarNode
    value: Node
    parent: MappingNode
    index: int
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class YamlFile(Editable):
    """A YAML file's text and its documents, with the edits of it (see `Editable`)."""

    document: FileText
    roots: tuple[Node, ...]
    scripts: tuple[Text, ...] = ()

    def _in_script(self, place: Span, edit: Callable[[ShellEdits], list[Edit] | None]) -> list[Edit] | None:
        """Return the edits of the script that is written at a place; None where there is none, or one leaves it.

        A line can be added to, or taken out of, a script alone that is written line by line.
        """
        start, end = (
            self.document.line_start(self.document.range(place)[0]),
            self.document.line_end(self.document.range(place)[0]),
        )
        for script in self.scripts:
            pieces = [piece for piece in script if piece.path == self.document.path and piece.end > piece.start]
            if not any(piece.start < end and start < piece.end for piece in pieces):
                continue
            opened = open_shell(self.document.path, script_alone(self.document.path, self.document.text, script))
            edits = None if opened is None else edit(opened)
            if edits is None:
                continue
            by_lines = all(piece.text.endswith("\n") for piece in pieces[:-1]) and len(pieces) > 1
            if by_lines or all(self._within_a_line(each, pieces) for each in edits):
                return edits
        return None

    def _within_a_line(self, edit: Edit, pieces: Sequence[Piece]) -> bool:
        first, last = self.document.range(edit.span)
        return "\n" not in edit.text and any(piece.start <= first and last <= piece.end for piece in pieces)

    def entries(self, root: Node) -> list[MappingEntry]:
        """Return every entry of a document with a plain key, the outer ones first."""
        return list(_entries(root, ()))

    def around(self, origin: Origin | None) -> tuple[MappingNode, MappingEntry | None] | None:
        """Find the document and the innermost entry around an origin; the only document if there is no origin."""
        if origin is None:
            (root, *others) = self.roots or (None,)
            return (root, None) if isinstance(root, MappingNode) and not others else None
        offset = self.document.range(origin.point)[0]
        root = next((root for root in reversed(self.roots) if root.start <= offset), None)
        if not isinstance(root, MappingNode):
            return None
        inside = [each for each in self.entries(root) if each.key.start <= offset < each.value.end]
        return root, inside[-1] if inside else None

    def colon(self, entry: MappingEntry) -> int:
        """Find the colon behind an entry's key."""
        return self.document.text.find(":", entry.key.end)

    def replace_value(self, origin: Origin, path: str, value: Plain, old: Old) -> list[Edit] | None:
        """Write another value in the place where `origin` says that the setting's value stands."""
        entry = _entry(self, origin, path)
        text = self.document.text
        if entry is None:
            return self._in_script(origin.span, lambda script: script.replace_value(origin, path, value, old))
        try:
            value = next((key.word(value) for _, key in at_the_end_of(entry.words, path)), value)
        except Unwritable:
            return None
        node = entry.value
        start, end = node.start, node.end
        if isinstance(node, AliasNode):
            return [self.document.edit(start, end, spell(value))]
        if not isinstance(node, ScalarNode) or node.style in ("|", ">") or _TAGGED.search(text[entry.key.end : start]):
            return None
        if start == end:
            return [self.document.edit(start, end, " " + spell(value))]
        return [self.document.edit(start, end, spell(value, old=text[start:end]))]

    def replace_source(
        self, source: Source, path: str, value: Plain, old: Old, uses: Collection[Span]
    ) -> list[Edit] | None:
        """Write another value in the place of a source."""
        origin = Origin(source.span, "assigned")
        if _entry(self, origin, path) is None:
            return self._in_script(source.span, lambda script: script.replace_source(source, path, value, old, uses))
        return self.replace_value(origin, path, value, old)

    def assign_after(self, anchor: Origin, setting: str, new: Assignments) -> list[Edit] | None:
        """Assign in the same document, beside the other settings of their sections."""
        within = self._in_script(anchor.span, lambda script: script.assign_after(anchor, setting, new))
        return self._assign(anchor, setting, new) if within is None else within

    def assign_at_end(self, scope: Origin, new: Assignments) -> list[Edit] | None:
        """Assign in the only document."""
        within = self._in_script(scope.span, lambda script: script.assign_at_end(scope, new))
        return self._assign(None, None, new) if within is None else within

    def assign_for_command(self, command: Origin, new: Assignments) -> list[Edit] | None:
        """Put `env` with the variables in front of the program of a command in a script."""
        return self._in_script(command.span, lambda script: script.assign_for_command(command, new))

    def _assign(self, origin: Origin | None, setting: str | None, new: Assignments) -> list[Edit] | None:
        """Add settings to the document that `origin` (of `setting`) lies in, beside those of their section.

        A section that is not there is added at the end; in a document with dotted keys, the settings with dotted keys.
        """
        found = self.around(origin)
        if found is None:
            return None
        root, anchor = found
        keys = [key.text for key, _ in root.entries if isinstance(key, ScalarNode)]
        if any(map(MODEL_ARGS.fullmatch, keys)):
            return None  # a new flag is not written as a path and a value
        found_above = _above(self, root, anchor, setting)
        if found_above is None or any(path.startswith("env.") for path, _ in new):
            return None
        above, naming = found_above
        grouped: dict[int, tuple[int, MappingNode | MappingEntry, Tree]] = {}
        for path, value in new:
            key = None if value is ABSENT else next(naming(path), None)
            if key is None or value is ABSENT:
                return None
            words = (*above, *key.words)
            if any(each.words == words for each in self.entries(root)):
                return None
            depth, section = _section(self, root, words)
            if section is None:
                return None
            rest = words[depth:]
            if section is root and any("." in key for key in keys):
                rest = (".".join(rest),)
            *_, tree = grouped.setdefault(id(section), (depth, section, {}))
            for word in rest[:-1]:
                branch = tree.setdefault(word, {})
                if isinstance(branch, str):
                    return None
                tree = branch
            try:
                tree[rest[-1]] = spell(key.word(value))
            except Unwritable:
                return None
        changes: list[Change] = []
        # Sections may end at the same place: what belongs to an inner one stands before what follows it.
        for _, section, tree in sorted(grouped.values(), key=lambda each: -each[0]):
            more = _append(self, section, tree)
            if more is None:
                return None
            changes += more
        return [self.document.edit(*change) for change in changes]

    def rename(self, origin: Origin, path: str, meant: str) -> list[Edit] | None:
        """Write the one word in which `meant` differs from `path` in the key that has it."""
        offset = self.document.range(origin.point)[0]
        old, new = path.split("."), meant.split(".")
        wrong = next((place for place, (one, two) in enumerate(zip(old, new, strict=True)) if one != two), None)
        for entry in (each for root in self.roots for each in self.entries(root)):
            words = entry.words
            own = entry.key.text.count(".") + 1
            if wrong is None or not len(words) - own <= wrong < len(words) or words != tuple(old[: len(words)]):
                continue
            start, end = entry.key.start, entry.key.end
            if not start <= offset < entry.value.end:
                continue
            found = list(re.finditer(rf"\b{re.escape(old[wrong])}\b", self.document.text[start:end]))
            if len(found) == 1:
                return [self.document.edit(start + found[0].start(), start + found[0].end(), new[wrong])]
        return None

    def delete_write(self, origin: Origin, path: str) -> list[Edit] | None:
        """Take out the entry that `origin` says set the setting; a section that is left empty becomes `{}`."""
        entry = _entry(self, origin, path)
        if entry is None:
            within = self._in_script(origin.span, lambda script: script.delete_write(origin, path))
            return self._variable_out(origin, path) if within is None else within
        document, parent = self.document, entry.parent
        if parent.flow:
            return [document.edit(*change) for change in remove_item(document, _flow(parent), entry.index)]
        start, end = entry.key.start, entry.value.end
        line_start, line_end = document.line_start(start), document.line_end(end)
        rest = document.text[end:line_end].strip()
        if document.text[line_start:start].strip() or (rest and not rest.startswith("#")):
            return None
        if len(parent.entries) > 1:
            return [document.edit(line_start, document.next_line(end), "")]
        owner = next((each for root in self.roots for each in self.entries(root) if each.value is parent), None)
        if owner is None:
            return None
        colon = self.colon(owner)
        return [document.edit(colon + 1, colon + 1, " {}"), document.edit(line_start, document.next_line(end), "")]

    def _variable_out(self, origin: Origin, path: str) -> list[Edit] | None:
        """Take a variable out of the list of a container's: an item in block style that is not the only one."""
        place, name = self.document.range(origin.point)[0], path.removeprefix("env.")
        for items in (each.items for root in self.roots for each in _lists(root) if not each.flow):
            for item in items:
                if not isinstance(item, MappingNode) or item.flow or not item.start <= place < item.end:
                    continue
                keys = {key.text: value for key, value in item.entries if isinstance(key, ScalarNode)}
                named, start = keys.get("name"), self.document.line_start(item.start)
                dash = self.document.text[start : item.start].strip()
                if isinstance(named, ScalarNode) and named.text == name and dash == "-" and len(items) > 1:
                    return [self.document.edit(start, self.document.next_line(item.entries[-1][1].end), "")]
        return None


def _lists(node: Node) -> Iterator[SequenceNode]:
    below: Iterable[Node] = ()
    match node:
        case SequenceNode(items=items):
            yield node
            below = items
        case MappingNode(entries=entries):
            below = (value for _, value in entries)
    for each in below:
        yield from _lists(each)


def open_yaml(path: str, text: str) -> YamlFile | None:
    """Open a YAML file for editing; None if it does not parse."""
    try:
        scripts, _ = yaml_scripts(path, text, Sources({path: text}))
        return YamlFile(
            FileText(path, text), tuple(compose_documents(path, text)), tuple(each.text for each in scripts)
        )
    except Unreadable:
        return None


def _entries(node: Node, words: tuple[str, ...]) -> Iterator[MappingEntry]:
    if isinstance(node, MappingNode):
        for index, (key, value) in enumerate(node.entries):
            if isinstance(key, ScalarNode):
                here = (*words, *key.text.split("."))
                yield MappingEntry(key, value, node, index, here)
                yield from _entries(value, here)


def _entry(file: YamlFile, origin: Origin, path: str) -> MappingEntry | None:
    """Find the entry that an origin points into, if it is the setting's own; `--ckpt-format` is `ckpt_format`'s."""
    found = file.around(origin)
    entry = found[1] if found else None
    if entry is None:
        return None
    key = entry.words[-1]
    name = key[2:].replace("-", "_") if key.startswith("--") else key
    if name == path.rpartition(".")[2] or any(at_the_end_of(entry.words, path)):
        return entry
    return None


def _above(
    file: YamlFile, root: MappingNode, anchor: MappingEntry | None, setting: str | None
) -> tuple[tuple[str, ...], Naming] | None:
    """Return the keys above the configuration in the document, () if it is the document, and its notation."""
    if anchor is None or setting is None:
        words = list(dict.fromkeys(each.words for each in file.entries(root)))
        found = places_of(file.document.text, words) or [((), by_path)]
        return found[0] if len(found) == 1 else None
    ways = at_the_end_of(anchor.words, setting)
    return next(((anchor.words[: -len(key.words)], naming) for naming, key in ways), None)


def _section(
    file: YamlFile, root: MappingNode, words: tuple[str, ...]
) -> tuple[int, MappingNode | MappingEntry | None]:
    """Find the innermost mapping that has a place for a setting, and count the words that lead there.

    A section without a value, or with another one's by an alias, gives its entry; one that is no mapping gives None.
    """
    for depth in range(len(words) - 1, 0, -1):
        for entry in reversed(file.entries(root)):
            if entry.words != words[:depth]:
                continue
            if isinstance(entry.value, MappingNode):
                return depth, entry.value
            empty = entry.value.start == entry.value.end
            shared = isinstance(entry.value, AliasNode) and isinstance(entry.value.target, MappingNode)
            return depth, entry if (empty or shared) and not entry.parent.flow else None
    return 0, root


def _append(file: YamlFile, section: MappingNode | MappingEntry, tree: Tree) -> list[Change] | None:
    """Add entries to a mapping in its own style, or to a section that has none yet."""
    document = file.document
    shared: AliasNode | None = None
    if isinstance(section, MappingEntry):
        first, end, step = section.key.start, file.colon(section) + 1, "  "
        shared = section.value if isinstance(section.value, AliasNode) else None
    elif section.flow:
        quote = getattr(section.entries[0][0], "style", "") if section.entries else ""
        return append_items(document, _flow(section), _flow_lines(tree, quote))
    elif not isinstance(section.entries[-1][0], ScalarNode):
        return None
    else:
        first, end, step = section.entries[0][0].start, section.end, ""
    line_start, line_end = document.line_start(first), document.line_end(end)
    indentation = document.text[line_start:first]
    if indentation.strip():
        return None
    newline = document.newline(line_start)
    if shared is not None:
        merged = f"{indentation}{step}<<: {document.text[shared.start : shared.end]}"
        lines = [merged, *_block_lines(tree, indentation + step)]
        return [(end, shared.end, "".join(newline + line for line in lines))]
    return [
        (line_end, line_end, "".join(newline + line for line in _block_lines({key: value}, indentation + step)))
        for key, value in tree.items()
    ]


def _block_lines(tree: Tree, indentation: str) -> list[str]:
    lines: list[str] = []
    for key, value in tree.items():
        if isinstance(value, str):
            lines.append(f"{indentation}{key}: {value}")
        else:
            lines += [f"{indentation}{key}:", *_block_lines(value, indentation + "  ")]
    return lines


def _flow_lines(tree: Tree, quote: str) -> list[str]:
    """Write the entries for a flow mapping, with quoted keys if the mapping's own are (as in JSON)."""
    lines: list[str] = []
    for key, value in tree.items():
        if quote and isinstance(value, str) and bare(value):
            value = quoted(value, quote)
        text = value if isinstance(value, str) else "{" + ", ".join(_flow_lines(value, quote)) + "}"
        lines.append(f"{quote}{key}{quote}: {text}")
    return lines


def _flow(node: MappingNode) -> Items:
    return Items(node.start, node.end - 1, [(key.start, value.end) for key, value in node.entries])
