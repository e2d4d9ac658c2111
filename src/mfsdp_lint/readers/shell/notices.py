"""Notices about the text of a script and about its launches, for rules about text.

- Commands of several lines that end too early: a backslash with something behind it, or none.
- Options that look as if they were given, and are in a comment; and comments that are given.
- Variables of the environment that are set too late, or under another name than the one that is read.
- Flags of a launch of Megatron-LM that it does not have, and those that are given twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import pairwise, zip_longest

from tree_sitter import Node

from mfsdp_lint.core.front_ends import MEGATRON_LM
from mfsdp_lint.core.nearest import nearest
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.recipe import Notice, Recipe, Setting, Span
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import UNKNOWN, Known, Plain
from mfsdp_lint.megatron.versions import Target
from mfsdp_lint.megatron.vocabulary import table
from mfsdp_lint.megatron.vocabulary.tables import ENVIRONMENT, Versions
from mfsdp_lint.readers.megatron_lm_flags import settings_of_flag
from mfsdp_lint.readers.relevance import Relevance, Words
from mfsdp_lint.readers.shell.launch_command import ShellLaunch, path_of
from mfsdp_lint.readers.shell.run import ScriptRunner
from mfsdp_lint.readers.shell.script import (
    WRAPPING,
    Script,
    Text,
    around,
    begins_with_option,
    between,
    known,
    located,
    plain,
    whole_statement,
)


def noticed(
    path: str,
    runner: ScriptRunner,
    whole: Script | None,
    launches: Sequence[ShellLaunch],
    recipes: Sequence[Recipe],
    versions: Versions,
    relevance: Relevance,
) -> list[Notice]:
    """Return the notices of a reading, each once, in the order of the text. `launches` are those that start a run, and
    `whole` is the script that all of it begins with, where there is one.
    """
    found: list[Notice] = []
    for script in runner.scripts.values():
        found += broken_continuations(script, versions.core)
        found += lost_continuations(script, versions.core)
        found += commented_elements(script, versions.core)
        found += misspelt_variables(script)
    if whole is not None:
        found += late_variables(whole, path, launches)
    found += late_variables_of_jobs(launches)
    for recipe in recipes:
        if not recipe.front_end.is_a(str(MEGATRON_LM)):
            continue
        if whole is not None:
            for variant in (*recipe.variants, *recipe.exposed):
                settings = (variant.settings.get(each) for each in variant.settings)
                found += duplicate_flags([each for each in settings if each], whole, path)
        for launch in (each for each in launches if _is_of(each, recipe)):
            found += comments_within_quotes(launch.started.arguments)
            if recipe.front_end == MEGATRON_LM:  # others declare flags of their own
                arguments, declared = launch.started.arguments, cache(partial(_declared, runner, launch, relevance))
                if not _are_anothers(arguments, versions.core, declared):
                    found += unknown_flags(arguments, versions, declared)
                    found += refused_values(arguments, versions.core, declared)
    first: dict[object, Notice] = {}
    for each in found:
        first.setdefault((each.kind, each.span), each)
    return sorted(first.values(), key=lambda each: each.span)


def _is_of(launch: ShellLaunch, recipe: Recipe) -> bool:
    """Tell whether a recipe is of a launch: of its command, or of the one of the recipe's file that leads to it."""
    places = (launch.span, launch.outermost)
    return any(each is not None and (each.path, each.line) == (recipe.path, recipe.line) for each in places)


def _declared(runner: ScriptRunner, launch: ShellLaunch, relevance: Relevance) -> Declared:
    """Return the texts that may declare flags: the program, the files that it leads to, and the tree's own command line
    where it has one.
    """

    def path(place: str | None) -> str | None:
        return path_of(place, runner.path, runner.sources, launch.folder) if place else None

    def text_of(place: str | None) -> str | None:
        return runner.sources.text_or_none(found) if (found := path(place)) else None

    whole, place = text_of("megatron/training/arguments.py") or "", path(located(launch.started.program))
    program = runner.sources.text_or_none(place) if place else None
    if place is None or program is None or launch.started.is_module:
        return Declared(whole)
    providers = [text_of(each) for each in _providers(program)]
    is_all = bool(_MEGATRON_PARSES.search(program)) and not _MAY_TAKE_ANY.search(program) and None not in providers
    return Declared("".join((program, whole, *filter(None, providers))), is_all, partial(relevance.reaches, place))


def _providers(program: str) -> Iterator[str]:
    """Yield the files from which a program imports the functions that declare its own flags; "" where a file is not
    known.

    A function of the program itself declares them in its own text.
    """
    for name in _PROVIDER.findall(program):
        if name != "None" and not re.search(rf"^def {name}\b", program, re.MULTILINE):
            module = re.search(rf"^ *from ([\w.]+) import (?:\([^)]*|[^\n]*)\b{name}\b", program, re.MULTILINE)
            yield f"{module[1].replace('.', '/')}.py" if module else ""


_PROVIDER = lazy_pattern(r"\bextra_args_provider\s*=\s*(\w+)")
_MEGATRON_PARSES = lazy_pattern(r"\bmegatron\.training\b")
"""The import of a program whose command line Megatron-LM parses; any other may have a parser of its own anywhere."""
_MAY_TAKE_ANY = lazy_pattern(r"\b(?:ignore_unknown_args|parse_known_args)\b")


_OVERRIDE = lazy_pattern(r"[+~]{0,2}[A-Za-z_]\w*(?:[./@]\w+)+=")
"""An argument that Hydra reads, which the shell would take for the name of a program."""
_BROKEN = lazy_pattern(rf"(?<!\\)\\(?P<behind>[ \t]+(?P<comment>#.*)?)\n(?=[ \t]*(?:[-$\"']|{_OVERRIDE.pattern}))")
_NOT_READ = frozenset(("comment", "raw_string", "ansi_c_string", "heredoc_body", "heredoc_content"))


def broken_continuations(script: Script, core: str) -> Iterator[Notice]:
    """Yield blanks or comments behind a backslash: it escapes only the blank, and the line ends there."""
    for found in _BROKEN.finditer(script.text):
        if not _is_read(script.node_at(found.start(), found.start() + 1)):
            continue
        span = around(script.cut(*found.span("behind")))
        lost = _settings_in(_CONTINUED.match(script.text, found.end()), core)
        yield Notice("broken-continuation", span, {"comment": found["comment"]}, lost)


_CONTINUED = lazy_pattern(r"(?:[^\n]*\\[ \t]*\n)*[^\n]*")
"""A line, and those that it goes on with."""
_GIVES = lazy_pattern(rf"(?<![\w-])(?:(?P<flag>--[A-Za-z][\w-]*)|(?P<override>{_OVERRIDE.pattern}))")


def _settings_in(lost: re.Match[str] | None, core: str) -> tuple[str, ...]:
    """Return the settings that flags and overrides in a text would give, if a command had it."""
    found: dict[str, None] = {}
    for each in _GIVES.finditer(lost[0] if lost else ""):
        override = each["override"]
        found |= dict.fromkeys([override.strip("+~=")] if override else settings_of_flag(each["flag"], core))
    return tuple(found)


def lost_continuations(script: Script, core: str) -> Iterator[Notice]:
    """Yield lines of options, or of overrides, that no command in front of them takes."""
    lines = script.text.split("\n")
    for node in script.nodes():
        if node.type != "command" or _before(node) is None:
            continue
        if not (begins_with_option(script, node) or _OVERRIDE.match(script.source(node.children[0]))):
            continue
        row = node.start_point.row - 1
        while row and lines[row].lstrip().startswith("#"):
            row -= 1
        above, comment = lines[row], lines[node.start_point.row - 1].strip()
        if _BROKEN.search(f"{above}\n-"):
            continue  # that is what is wrong
        name = script.source(node.children[0])
        ended_by = comment if comment.startswith("#") and above.endswith("\\") else None
        lost = _settings_in(_CONTINUED.match(script.text, script.bounds(node)[0]), core)
        yield Notice("lost-continuation", script.span(node), {"option": name, "comment": ended_by}, lost)


def _before(node: Node) -> Node | None:
    """Find the statement above that options could belong to; return None where that is the same mistake."""
    node = whole_statement(node)
    before = node.prev_named_sibling
    while before is not None and before.type == "comment":
        before = before.prev_named_sibling
    if before is None or before.end_point.row >= node.start_point.row:
        return None
    first = before
    while first.type in WRAPPING:
        first = first.children[0]
    is_option = first.type == "command" and (first.children[0].text or b"").startswith(b"-")
    return None if is_option else before


def _is_read(node: Node | None) -> bool:
    """Tell whether a text is code of the script: not a comment, and not taken literally."""
    while node is not None:
        if node.type in _NOT_READ:
            return False
        node = node.parent
    return True


_COMMENTED_FLAG = lazy_pattern(r"#.*?(--[a-z][\w-]+)")


def commented_elements(script: Script, core: str) -> Iterator[Notice]:
    """Yield flags in a comment behind elements of an array, on their line: at a glance such a flag is an element."""
    for array in script.nodes():
        for before, node in pairwise(array.named_children if array.type == "array" else ()):
            found = _COMMENTED_FLAG.match(script.source(node)) if node.type == "comment" else None
            if found and before.end_point.row == node.start_point.row and table().flag_versions(found[1]):
                lost = _settings_in(_CONTINUED.match(script.source(node)), core)
                yield Notice("commented-element", script.span(node), {"flag": found[1]}, lost)


def comments_within_quotes(arguments: Sequence[Text]) -> Iterator[Notice]:
    """Find `#` in a text that becomes options: the program gets it, and the words behind it."""
    for word in arguments:
        if (known(word) or "").startswith("#") and any(piece.splits for piece in word):
            yield Notice("comment-within-quotes", around(word), {"word": known(word)})
            return


_LIKELY_VARIABLE = 0.85
"""How much alike two names are of which one is a slip: CUDA_MAX_CONNECTIONS and CUDA_DEVICE_MAX_CONNECTIONS."""


@cache
def _read_variables() -> tuple[str, ...]:
    """Return the environment variables that something reads."""
    entries = table().entries.items()
    return tuple(
        path.removeprefix(ENVIRONMENT) for path, entry in entries if entry.section == "env" and not entry.unread
    )


def misspelt_variables(script: Script) -> Iterator[Notice]:
    """Yield `unset` of a variable that nobody sets, and whose name is nearly one that is read."""
    assigned = {script.source(node.children[0]) for node in script.nodes() if node.type == "variable_assignment"}
    for node in script.nodes():
        if node.type == "unset_command":
            for child in node.named_children:
                name = script.source(child)
                meant = next(iter(nearest(name, _read_variables(), cutoff=_LIKELY_VARIABLE)), None)
                if meant and name != meant and name not in assigned:
                    yield Notice("misspelt-variable", script.span(child), {"name": name, "meant": meant})


def late_variables_of_jobs(launches: Sequence[ShellLaunch]) -> Iterator[Notice]:
    """Yield variables that are exported for a cluster's job after `ray start`, when the export has no effect on it."""
    for launch in launches:
        for name, span in launch.late:
            if name in _read_variables():
                yield Notice("late-variable", span, {"name": name, "process": "ray start"})


def late_variables(script: Script, path: str, launches: Sequence[ShellLaunch]) -> Iterator[Notice]:
    """Yield variables that are exported behind the last launch, so that no launch has them."""
    spans = [launch.span for launch in launches if launch.span.path == path]
    if not spans:
        return
    last = max((span.end_line, span.end_column) for span in spans)
    known = {name for launch in launches for name in launch.environment}
    for name, node in _exports(script):
        span = script.span(node)
        if name in _read_variables() and name not in known and (span.line, span.column) >= last:
            yield Notice("late-variable", span, {"name": name, "process": None})


def _exports(script: Script) -> Iterator[tuple[str, Node]]:
    """Yield the variables that a script exports with a value, each with the assignment."""
    for node in script.nodes():
        if node.type == "declaration_command" and script.source(node.children[0]) == "export":
            for child in node.named_children:
                if child.type == "variable_assignment":
                    yield script.source(child.children[0]), child


_FLAG = lazy_pattern(r"(--[A-Za-z][\w-]*)(?:=.*)?", re.DOTALL)
_IN_ONE = lazy_pattern(r"(--[A-Za-z][\w-]*)\s+\S.*", re.DOTALL)
"""A flag with its value in one word: argparse takes such a word for none of its flags."""
_LIKELY_FLAG = 0.93
"""A slip of one letter; a program's own flags are often called much like those of Megatron-LM."""

_ONE_TEXT = ("array", "string", "command", "heredoc_body", "raw_string")


@dataclass(frozen=True, slots=True)
class Declared:
    """The texts that declare flags: what stands in them is known. `all`: there are no others. `leads_to` asks the files
    that the program imports: a framework may add flags, and choices, to the parser from anywhere."""

    text: str
    all: bool = False
    leads_to: Callable[[Words], bool] = lambda _: False

    def names(self, *words: str) -> bool:
        """Tell whether one of the texts has all these words, in quotes."""
        says = _naming(words)
        return says(self.text) or self.leads_to(says)


@cache
def _naming(words: tuple[str, ...]) -> Words:
    return lambda text: all(f'"{each}"' in text or f"'{each}'" in text for each in words)


def unknown_flags(arguments: Sequence[Text], versions: Versions, declared: Callable[[], Declared]) -> Iterator[Notice]:
    """Yield flags that a version does not have, but that another version has, or that resemble one of its own; and
    words with a flag and its value in one, of which it has none either.

    Where nobody says which version it is, a flag of later ones says that it is one of them.
    """
    core = versions.core
    flags, every = table().flags(core), table().core_versions
    later = (
        every[every.index(core) + 1 :] if isinstance(versions, Target) and versions.assumed and core in every else ()
    )
    last = None
    for word in arguments if flags else ():
        said = known(word) or ""
        name = _FLAG.fullmatch(said)
        last = table().flag(name[1], core) if name else last
        # (A flag that takes any number of values takes such a word as well.)
        if (one := _IN_ONE.fullmatch(said)) and one[1] in flags and not (last and last.nargs in ("*", "+")):
            facts: dict[str, Plain] = dict.fromkeys(("nearest", "elsewhere"))
            facts |= {"flag": one[1], "value": said, "alike": 0, "sure": True}
            yield Notice("no-such-flag", around(word), facts, settings_of_flag(one[1], core))
        if not name or name[1] in flags or declared().names(name[1]):
            continue
        elsewhere, alike = table().flag_versions(name[1]), _alike(name[1], core)
        if (elsewhere and elsewhere[0] in later) or not (elsewhere or alike):
            continue
        facts = {
            "flag": name[1],
            "value": None,
            "nearest": next(iter(alike), None),
            "alike": len(alike),
            "elsewhere": f"{elsewhere[0]} to {elsewhere[-1]}" if elsewhere else None,
            "sure": declared().all,
        }
        sets = tuple(path for each in (name[1], *alike[:1]) for path in settings_of_flag(each, core))
        place = around([piece for piece in between(word, 0, len(name[1])) if piece.text])
        yield Notice("no-such-flag", place, facts, sets)


def _are_anothers(arguments: Sequence[Text], core: str, declared: Callable[[], Declared]) -> bool:
    """Tell whether a flag is like none of Megatron-LM's: such a program may take any others, and any values, as well,
    unless all that it declares are known.
    """
    names = {found[1] for word in arguments if (found := _FLAG.fullmatch(known(word) or ""))}
    strange = (each for each in names if not table().flag_versions(each) and not _alike(each, core))
    return any(not declared().all and not declared().names(each) for each in strange)


def refused_values(arguments: Sequence[Text], core: str, declared: Callable[[], Declared]) -> Iterator[Notice]:
    """Yield values that are none of those that a flag may have.

    What a tree's own command line names may be one of its own.
    """
    flag = None
    for word in arguments:
        found = _FLAG.fullmatch(known(word) or "")
        value: Text | None = word
        if found:
            flag = table().flag(found[1], core)
            value = between(word, len(found[1]) + 1, len(plain(word))) if "=" in plain(word) else None
        said = None if value is None else known(value)
        if flag is None or not flag.choices or said is None or value is None or flag.read([said]) != UNKNOWN:
            continue
        if flag.action != "store" or declared().names(said, flag.names[0]):
            continue
        choices = [str(each) for each in flag.choices]
        facts: dict[str, Plain] = {
            "flag": flag.names[0],
            "value": said,
            "choices": ", ".join(choices),
            "nearest": next(iter(nearest(said, choices)), None),
            "sure": bool(declared().text),
        }
        yield Notice("no-such-value", around(value), facts, settings_of_flag(flag.names[0], core))


@cache
def _alike(name: str, core: str) -> tuple[str, ...]:
    """Return the flags that may have been meant, the likeliest first."""
    flags = table().flags(core)
    spelled = f"--{name[2:].replace('_', '-')}"
    if spelled in flags:
        return (spelled,)
    close = nearest(name, flags, 2, cutoff=_LIKELY_FLAG)
    return tuple(each for each in close if abs(len(each) - len(name)) <= 1 or _differ_in_an_end(each, spelled))


_SHORTEST_WORD = 4


def _differ_in_an_end(one: str, other: str) -> bool:
    """Tell whether two flags differ in one word alone, which begins the other's (`shard`, `sharding`)."""
    pairs = [
        sorted(pair, key=len)
        for pair in zip_longest(one.split("-"), other.split("-"), fillvalue="")
        if pair[0] != pair[1]
    ]
    return [len(short) >= _SHORTEST_WORD and long.startswith(short) for short, long in pairs] == [True]


def duplicate_flags(settings: Iterable[Setting], script: Script, path: str) -> Iterator[Notice]:
    """Yield flags that one text gives two values; `script` is that of the file `path`.

    Of two texts the later one is there to change the earlier one.
    """
    for setting in settings:
        later = setting.origin
        earlier = later.earlier if later else None
        if later is None or earlier is None or earlier.value == later.value:
            continue
        if not isinstance(earlier.value, Known) or not isinstance(later.value, Known):
            continue
        if earlier.span.path == later.span.path == path and _in_one_text(script, earlier.span, later.span):
            line = earlier.span.line if earlier.span.line != later.span.line else None
            said = {"value": later.value.value, "earlier": earlier.value.value, "line": line}
            yield Notice("duplicate-flag", later.span, said)


def _in_one_text(script: Script, first: Span, second: Span) -> bool:
    """Tell whether the smallest node around both spans is one text: a string, an array, a command."""
    lines = script.pieces[0].lines
    start, end = lines.offset(first.line, first.column), lines.offset(second.end_line, second.end_column)
    node = script.node_at(script.offset_of(start), script.offset_of(end))
    while node is not None and node.type in ("word", "concatenation", "string_content", "command_name"):
        node = node.parent
    return node is not None and node.type in _ONE_TEXT
