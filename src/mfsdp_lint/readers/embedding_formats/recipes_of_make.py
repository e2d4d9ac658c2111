"""Makefiles and justfiles: the lines of their recipes as scripts, with the variables that the file has filled in.

Facts: the GNU make manual (4.4; sections 3.7, 5 and 6) and the just manual (1.36). A line is a shell of its own; in
one shell are the lines of a Makefile with `.ONESHELL`, and those of a recipe of just that begins with `#!`. What a
command line of `make` or `just` gives instead is not known: the file's own values are what runs without any.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.inputs.projects import above
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.embedding_formats.held_texts import dotenv_variables
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.shell.patterns_of_files import IN_PATTERN, matching
from mfsdp_lint.readers.shell.script import Piece, Text, filled, holed, is_left_out, plain, standing_at
from mfsdp_lint.readers.shell.state import Held, Variable

_DEEPEST = 16
"""Variables within variables, and files that include files; and targets that need targets."""

_MOST_FILLS = 1_000
_LONGEST = 200_000
"""Variables that are filled into a text, and its characters then."""

_OTHERS = "%"
"""A name among the variables of a Makefile which says that it may have others: a file that it includes is not known."""

_NAMES = ("Makefile", "makefile", "GNUmakefile")

_MOST_WAYS = 8
"""Ways to a target that are kept apart."""

_MOST_TARGETS = 32
"""Targets of a pattern that are looked at one by one."""

INCLUDES = lazy_pattern(r"^[ \t]*[-s]?include\s", re.MULTILINE)
"""A line of a Makefile that includes other files, whose rules and variables are its own then."""

_LINE = lazy_pattern(r"(?P<line>(?:\\\n|[^\n])*)(?:\n|\Z)")
_ASSIGNED = lazy_pattern(
    r"\s*(?:override\s+|(?P<private>private\s+))*(?P<export>export\s+)?(?P<name>[\w.-]+)\s*"
    r"(?P<how>:{0,3}=|\?=|\+=|!=)[ \t]*(?P<value>(?:\\\n|[^\n])*)"
)
_RULE = lazy_pattern(r"(?P<targets>[^\s:#=][^:#=\n]*):(?!=|:=)(?P<rest>(?:\\\n|[^\n])*)")
_EXPORTS = lazy_pattern(r"\s*(?P<how>un)?export(?P<names>(?:\s+[\w.-]+)*)\s*\Z")
_CONDITION = lazy_pattern(r"\s*(?P<how>ifeq|ifneq|ifdef|ifndef)\b\s*(?P<rest>.*)", re.DOTALL)
_TWO = lazy_pattern(r"\((?P<one>[^,]*),(?P<other>.*)\)\s*\Z|[\"'](?P<a>[^\"']*)[\"']\s*[\"'](?P<b>[^\"']*)[\"']\s*\Z")
_INNER = r"(?:[^()]|\((?:[^()]|\([^()]*\))*\))*"
_REFERENCE = lazy_pattern(rf"\$(?:\$|\((?P<round>{_INNER})\)|\{{(?P<curly>[^{{}}]*)\}}|(?P<one>[^\s(){{}}$]))")
_COMMENT = lazy_pattern(r"(?<!\\)#.*")
_WILDCARD = lazy_pattern(rf"\$\(wildcard\s+({_INNER})\)")
_COMMA = lazy_pattern(rf"\({_INNER}\)|\{{[^{{}}]*\}}|(?P<comma>,)")
_PREFIX = lazy_pattern(r"[@+\s-]*")
_BY_STEM = lazy_pattern(r"\$[({](?P<head>[\w.-]*)\$\*(?P<tail>[\w.-]*)[)}]")


@dataclass(slots=True)
class _Makefile:
    """Variables of a Makefile (None: not known), those that are exported, and the rules in their order."""

    path: str
    variables: dict[str, Text | None] = field(default_factory=dict)
    exported: set[str] = field(default_factory=set)
    all_exported: bool = False
    one_shell: bool = False
    rules: list[_Rule] = field(default_factory=list)
    included: set[str] = field(default_factory=set)
    phony: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Rule:
    """The lines of a recipe, and the variables of its target, which its prerequisites have as well: with `added`, what
    the target adds to a value from elsewhere, and without those that are `private`.
    """

    target: str
    lines: list[Text] = field(default_factory=list)
    own: dict[str, Text | None] = field(default_factory=dict)
    added: dict[str, Text] = field(default_factory=dict)
    exported: set[str] = field(default_factory=set)
    private: set[str] = field(default_factory=set)
    prerequisites: set[str] = field(default_factory=set)


def makefile_scripts(path: str, text: str, sources: Sources) -> Iterator[Held]:
    """Yield the scripts of all recipes, in the order of the file; of a part of a Makefile (`*.mk`), its own ones with
    the variables of the Makefile that includes it.
    """
    made = _including(path, sources)
    is_part = made is not None
    if made is None:
        made = _Makefile(path)
        if path.endswith(".mk"):
            made.variables[_OTHERS] = None  # whoever includes it, or is asked for it, is not seen
        _read(made, path, text, sources, _DEEPEST)
    for rule in made.rules:
        seen: set[object] = set()
        is_asked_for = rule.lines and (not is_part or rule.lines[0][0].path == path)
        targets = _targets_of(made, rule) if is_asked_for else ()
        for automatic, own, exports in ((each, *way) for of, each in targets for way in _ways_to(made, of, _DEEPEST)):
            known = made.variables | own
            exported = known.keys() - {_OTHERS} if made.all_exported else made.exported | exports
            variables = {name: _variable(name, known, automatic) for name in sorted(exported)}
            lines = [_expanded(line, known, automatic) for line in rule.lines]
            for script in [_joined(lines)] if made.one_shell else lines:
                said = plain(script), *((name, plain(each.text or ())) for name, each in variables.items())
                if script and said not in seen:
                    seen.add(said)
                    yield Held(script, variables)


def _including(path: str, sources: Sources) -> _Makefile | None:
    """Return the Makefile beside or above a part of one that includes it."""
    for folder in above(path) if path.endswith(".mk") else ():
        for name in _NAMES:
            outer = posixpath.normpath(posixpath.join(folder, name))
            text = sources.text_or_none(outer) if sources.exists(outer) else None
            if text is not None and INCLUDES.search(text):
                made = _Makefile(outer)
                _read(made, outer, text, sources, _DEEPEST)
                if posixpath.normpath(path) in made.included:
                    return made
    return None


def _targets_of(made: _Makefile, rule: _Rule) -> Iterator[tuple[_Rule, Mapping[str, str]]]:
    """Yield a rule with its automatic variables; that of a pattern for each of its targets that the file names, with
    what is said of this one, else for each variable that its lines take by the stem (sections 6.12, 10.5.3).
    """
    head, is_pattern, tail = rule.target.partition("%")
    if not is_pattern:
        yield rule, {"@": rule.target}
        return
    own = {each.target: each for each in made.rules}
    named = {name for each in made.rules for name in (each.target, *each.prerequisites)} - made.phony
    named -= {each.target for each in made.rules if each.lines}
    fits = re.compile(rf"{re.escape(head)}([^%$|]+){re.escape(tail)}")
    stems = {each[1] for each in map(fits.fullmatch, named) if each}
    for reference in () if stems else _BY_STEM.finditer("\n".join(map(plain, rule.lines))):
        row = re.compile(rf"{re.escape(reference['head'])}(.+){re.escape(reference['tail'])}")
        stems |= {each[1] for each in map(row.fullmatch, made.variables) if each}
    if not 0 < len(stems) <= _MOST_TARGETS:
        yield rule, {}
        return
    for stem in sorted(stems):
        target = head + stem + tail
        of = own.get(target, _Rule(target))
        exported, added = rule.exported | of.exported, rule.added | of.added
        yield replace(of, own=_over(rule.own, of), added=added, exported=exported), {"@": target, "*": stem}


def _over(outer: Mapping[str, Text | None], rule: _Rule) -> dict[str, Text | None]:
    """Return the variables of a target that has `outer` ones from elsewhere."""
    added = {
        name: before and (*before, *_mark(before, " "), *rule.added[name])
        for name, before in outer.items()
        if name in rule.added
    }
    return {**outer, **rule.own, **added}


def _ways_to(made: _Makefile, rule: _Rule, depth: int) -> Iterator[tuple[dict[str, Text | None], set[str]]]:
    """Yield the variables of a target, and those of them that are exported, each way that `make` leads to it: by
    itself, and for every target that it is a prerequisite of, with the variables of that one (section 6.11).
    """
    yield rule.own, rule.exported
    for user in made.rules if depth else ():
        if rule.target in user.prerequisites and user is not rule:
            for outer, exported in islice(_ways_to(made, user, depth - 1), _MOST_WAYS):
                outer = {name: each for name, each in outer.items() if name not in user.private}
                yield _over(outer, rule), exported | rule.exported


def _read(made: _Makefile, path: str, text: str, sources: Sources, depth: int) -> None:
    lines = Lines(text)
    rules: list[_Rule] = []
    open_: list[bool | None] = []  # of each condition around, whether it holds
    end_of_define = -1
    for found in _LINE.finditer(text):
        line = found["line"]
        if found.start() < end_of_define:
            continue
        if line.startswith("\t") and rules:
            start = found.start() + len(_PREFIX.match(line)[0])  # type: ignore[index]  # it matches anything
            if all(each is True for each in open_) and start < found.end("line"):
                for rule in rules:
                    rule.lines.append((_piece(text[start : found.end("line")], path, lines, start),))
            continue
        said = _COMMENT.sub("", line)
        word = said.split(None, 1)[0] if said.split() else ""
        if word == "endif":
            open_[-1:] = []
        elif word == "else":
            rest = said.split(None, 1)[1:]
            before = open_.pop() if open_ else None
            after = _CONDITION.match(rest[0]) if rest else None
            open_.append(
                None if before is None else not before and (_holds(made, after) if after is not None else True)
            )
        elif condition := _CONDITION.match(said):
            open_.append(_holds(made, condition))
        elif False in open_:
            continue
        elif word == "define":
            close = re.compile(r"^endef\b.*$", re.MULTILINE).search(text, found.end())
            name = said.split()[1] if len(said.split()) > 1 else ""
            end_of_define = close.end() if close else len(text)
            body = text[found.end() : close.start() if close else len(text)].rstrip("\n")
            made.variables[name] = (_piece(body, path, lines, found.end()),) if None not in open_ else None
        elif (assigned := _ASSIGNED.fullmatch(said)) and (":" not in assigned["name"]):
            rules = []
            _assign(made, made.variables, assigned, found.start(), path, lines, known=None not in open_)
            if assigned["export"]:
                made.exported.add(assigned["name"])
        elif exports := _EXPORTS.fullmatch(said):
            names = exports["names"].split()
            if exports["how"]:
                made.exported.difference_update(names)
            else:
                made.exported.update(names)
                made.all_exported = made.all_exported or not names
        elif word in ("include", "-include", "sinclude") and depth:
            names = said.partition(word)[2]
            for inner in _included(made, path, names, sources, optional=word != "include" or "$(wildcard" in names):
                inside = None if inner in made.included else sources.text_or_none(inner)
                made.included.add(inner)
                if inside is not None:
                    _read(made, inner, inside, sources, depth - 1)
        elif named := _RULE.match(said):
            own = _ASSIGNED.fullmatch(named["rest"])
            targets = named["targets"].split()
            made.one_shell = made.one_shell or ".ONESHELL" in targets
            made.phony.update(named["rest"].split() if ".PHONY" in targets else ())
            rules = [_rule(made, target, new=own is None) for target in targets if not target.startswith(".")]
            for each in rules if own is None else ():
                each.prerequisites.update(named["rest"].partition(";")[0].split())
            if own is None and ";" in named["rest"] and all(each is True for each in open_):
                start = found.start() + named.start("rest") + named["rest"].index(";") + 1
                for each in rules:
                    each.lines.append((_piece(text[start : found.start() + named.end("rest")], path, lines, start),))
            if own is not None:
                for each in rules:
                    start = found.start() + named.start("rest")
                    _assign(made, each.own, own, start, path, lines, known=None not in open_)
                    each.private |= {own["name"]} if own["private"] else set()
                    if own["how"] == "+=":
                        start += own.start("value")
                        so_far = each.added.get(own["name"], ())
                        value = _piece(own["value"].rstrip(), path, lines, start)
                        each.added[own["name"]] = (*so_far, *_mark(so_far, " "), value)
                    each.exported |= {own["name"]} if own["export"] else set()


def _included(made: _Makefile, path: str, names: str, sources: Sources, *, optional: bool) -> Iterator[str]:
    """Yield the files that a line of a Makefile includes: names, and patterns, as seen from where `make` runs.

    A folder that is not known (`$(dir $(lastword $(MAKEFILE_LIST)))`) may be that of the file, or one above it.
    """
    said = _WILDCARD.sub(r"\1", names)
    for name in plain(_expanded((_piece(said, path, Lines(said), 0),), made.variables, {})).split():
        _, hole, inner = name.rpartition(HOLE)
        pattern = inner.lstrip("/") if hole else name
        folders = [*above(path), *above(made.path)] if hole else [posixpath.dirname(made.path), posixpath.dirname(path)]
        if posixpath.isabs(pattern):
            folders, pattern = ["/"], pattern.lstrip("/")
        found: list[str] = []
        for folder in folders if pattern else ():
            names_there = matching(folder, pattern) if IN_PATTERN.search(pattern) else [pattern]
            found = found or [
                file for each in names_there if sources.exists(file := posixpath.normpath(posixpath.join(folder, each)))
            ]
        yield from found
        if not found and (hole or not optional):
            made.variables[_OTHERS] = None


def _rule(made: _Makefile, target: str, *, new: bool) -> _Rule:
    """Return the rule of a target: the one that has its variables, or that gets its recipe."""
    found = next((each for each in made.rules if each.target == target), None)
    if found is None or (new and found.lines):
        found = _Rule(target)
        made.rules.append(found)
    return found


def _assign(
    made: _Makefile,
    where: dict[str, Text | None],
    assigned: re.Match[str],
    offset: int,
    path: str,
    lines: Lines,
    *,
    known: bool,
) -> None:
    name, how = assigned["name"], assigned["how"]
    start = offset + assigned.start("value")
    value: Text | None = (_piece(assigned["value"].rstrip(), path, lines, start),)
    old = where.get(name, made.variables.get(name))
    if not known or how == "!=":
        value = None
    elif how == "?=":
        if name in where or name in made.variables:
            return
        value = tuple(replace(piece, option=f"${name}") for piece in value or ())
    elif how == "+=" and (name in where or name in made.variables):
        value = None if old is None or value is None else (*old, *_mark(old, " "), *value)
    elif how.startswith(":") and value is not None:
        value = _expanded(value, made.variables | where, {})
    where[name] = value


def _holds(made: _Makefile, condition: re.Match[str]) -> bool | None:
    """Decide a condition; None where it is not known."""
    how, rest = condition["how"], condition["rest"].strip()
    if how in ("ifdef", "ifndef"):
        defined = bool(plain(made.variables[rest] or ())) if made.variables.get(rest) is not None else None
        return defined if how == "ifdef" or defined is None else not defined
    two = _TWO.match(rest)
    if two is None:
        return None
    sides = (two["one"], two["other"]) if two["one"] is not None else (two["a"], two["b"])
    lines = Lines(rest)
    texts = [plain(_expanded((_piece(each.strip(), made.path, lines, 0),), made.variables, {})) for each in sides]
    if any(HOLE in each for each in texts):
        return None
    return (texts[0] == texts[1]) is (how == "ifeq")


def _expanded(text: Text, known: Mapping[str, Text | None], automatic: Mapping[str, str]) -> Text:
    """Fill in the variables, and the `automatic` ones of a rule; what is not known is a HOLE, and a continued line goes
    on behind a blank.
    """
    fills = 0

    def expanded(text: Text, depth: int, known: Mapping[str, Text | None] = known) -> Text:
        return filled(text, _REFERENCE, lambda reference, piece: fill(reference, piece, depth, known))

    def fill(reference: re.Match[str], piece: Piece, depth: int, known: Mapping[str, Text | None]) -> Sequence[Piece]:
        nonlocal fills
        fills += 1
        place = piece.cut(*reference.span())
        if reference[0] == "$$":
            return (replace(place, text="$"),)
        name = next(each for each in (reference["round"], reference["curly"], reference["one"]) if each is not None)
        if name in automatic:
            return (standing_at(automatic[name], place),)
        if depth and fills < _MOST_FILLS:
            if name.startswith("strip "):
                inner = expanded((place.cut(len("$(strip "), len(place.text) - 1),), depth - 1, known)
                return [replace(each, text=each.text.replace("\n", " ")) for each in inner]
            if name.startswith(("if ", "or ")):
                return chosen(list(_arguments(place.cut(len("$(if "), len(place.text) - 1))), name[:2], depth, known)
            if name.startswith("call "):
                called, *given = _arguments(place.cut(len("$(call "), len(place.text) - 1))
                name = plain(expanded((called,), depth - 1, known)).strip()
                arguments = {str(number): expanded((each,), depth - 1, known) for number, each in enumerate(given, 1)}
                known = {**known, **dict.fromkeys(map(str, range(len(given) + 1, 10)), ()), **arguments}
            if "$" in name and " " not in name:
                name = plain(expanded((place.cut(len("$("), len(place.text) - 1),), depth - 1, known))
            if (value := known.get(name)) is not None:
                return expanded(value, depth - 1, known)
        unset = name.isidentifier() and name not in known and _OTHERS not in known
        return (replace(place, text=HOLE, option=f"${name}" if unset else ""),)

    def chosen(given: list[Piece], how: str, depth: int, known: Mapping[str, Text | None]) -> Sequence[Piece]:
        """Return what `$(if condition,one,other)` or `$(or one,other,…)` gives (section 8.4)."""
        for number, each in enumerate(given):
            said = expanded((_stripped(each),), depth - 1, known)
            said = () if HOLE in plain(said) and is_left_out(said) else said
            if HOLE in plain(said):
                return (replace(each, text=HOLE),)
            if how == "if" and number == 0:
                place = 1 if plain(said) else 2
                return expanded((_stripped(given[place]),), depth - 1, known) if place < len(given) else ()
            if plain(said):
                return said
        return ()

    found = expanded(text, _DEEPEST)
    fits = len(found) <= _MOST_FILLS and sum(len(piece.text) for piece in found) <= _LONGEST
    return found if fits else (replace(text[0], text=HOLE),)


def _arguments(text: Piece) -> Iterator[Piece]:
    """Yield what a function of make is given: the texts between commas."""
    start = 0
    for each in _COMMA.finditer(text.text):
        if each["comma"]:
            yield text.cut(start, each.start())
            start = each.end()
    yield text.cut(start, len(text.text))


def _stripped(text: Piece) -> Piece:
    said = text.text
    return text.cut(len(said) - len(said.lstrip()), len(said.rstrip())) if said.strip() else text.cut(0, 0)


def _variable(name: str, known: Mapping[str, Text | None], automatic: Mapping[str, str]) -> Variable:
    value = known.get(name)
    if value is None:
        return Variable(None, exported=True)
    text = _expanded(value, known, automatic) or value
    return Variable((text,) if HOLE not in plain(text) else None, exported=True, written=text[0] if text else None)


def _piece(text: str, path: str, lines: Lines, start: int) -> Piece:
    return Piece(text, path, lines, start, start + len(text))


def _mark(text: Sequence[Piece], said: str) -> Text:
    return tuple(replace(piece, text=said, start=piece.end) for piece in text[-1:])


def _joined(lines: Sequence[Text]) -> Text:
    return tuple(piece for line in lines if line for piece in (*line, *_mark(line, "\n")))


# -- just ----------------------------------------------------------------------------------------------------------

_JUST_VARIABLE = lazy_pattern(r"(?P<export>export\s+)?(?P<name>[A-Za-z_][\w-]*)\s*:=\s*(?P<value>[^\n]*)")
_JUST_RECIPE = lazy_pattern(r"@?(?P<name>[A-Za-z_][\w-]*)(?P<parameters>(?:\s+[^:\n]*)?):(?!=)(?P<dependencies>[^\n]*)")
_DEPENDENCY = lazy_pattern(r"\(\s*(?P<name>[A-Za-z_][\w-]*)(?P<arguments>(?:[^()\"']|\"[^\"]*\"|'[^']*')*)\)")
_ATOM = r"(?:\"[^\"]*\"|'[^']*'|[A-Za-z_][\w-]*(?:\([^()]*\))?)"
_ARGUMENT = lazy_pattern(rf"{_ATOM}(?:\s*[+/]\s*{_ATOM})*")
_PARAMETER = lazy_pattern(r"(?P<mark>[*+$]*)(?P<name>[A-Za-z_][\w-]*)(?:=(?P<default>\"[^\"]*\"|'[^']*'|\S+))?")
_FILLED_IN = lazy_pattern(r"\{\{\{\{|\{\{(?P<said>(?:[^{}]|\{(?!\{))*)\}\}")
_DOTENV = lazy_pattern(
    r"^set\s+dotenv-(?P<what>load|filename|path)\b(?:\s*:=\s*[\"']?(?P<said>[^\s\"'#]+))?", re.MULTILINE
)
_PART = lazy_pattern(
    r"\s*(?:\"(?P<double>[^\"\\]*)\"|'(?P<single>[^']*)'"
    r"|(?:env_var_or_default|env)\(\s*[\"'](?P<variable>\w+)[\"']\s*,\s*[\"'](?P<default>[^\"']*)[\"']\s*\)"
    r"|(?P<name>[A-Za-z_][\w-]*))\s*(?P<more>[+/]|\Z)"
)


def justfile_scripts(path: str, text: str, sources: Sources) -> Iterator[Held]:
    """Yield the scripts of all recipes of a justfile, in the order of the file."""
    lines = Lines(text)
    dotenv = _dotenv(path, text, sources)
    known: dict[str, Text | None] = {f"${name}": each.text for name, each in dotenv.items()}
    exported: set[str] = set()
    for found in _LINE.finditer(text):
        if variable := _JUST_VARIABLE.fullmatch(found["line"]):
            start = found.start() + variable.start("value")
            known[variable["name"]] = _value(_piece(variable["value"].strip(), path, lines, start), known)
            exported |= {variable["name"]} if variable["export"] else set()
    if re.search(r"^set export\b(?!\s*:=\s*false)", text, re.MULTILINE):
        exported |= {name for name in known if not name.startswith("$")}
    recipes = list(_just_recipes(path, text, lines))
    for recipe in recipes:
        for own in _parameters_of(recipe, recipes, known, path, lines):
            here = known | own
            named = sorted(exported | {each["name"] for each in recipe.parameters if "$" in each["mark"]})
            variables = {**dotenv, **{name: _variable(name, here, {}) for name in named if name.isidentifier()}}
            filled = [_filled_in(line, here) for line in recipe.body]
            whole = bool(filled) and plain(filled[0]).startswith("#!")
            for script in [_joined(filled)] if whole else filled:
                if script:
                    yield Held(script, variables)


@dataclass(frozen=True, slots=True)
class _JustRecipe:
    """A recipe: its parameters, which begin at `offset` in the file, the text with its dependencies, and its lines."""

    name: str
    parameters: Sequence[re.Match[str]]
    offset: int
    dependencies: Piece
    body: list[Text]


def _just_recipes(path: str, text: str, lines: Lines) -> Iterator[_JustRecipe]:
    current = _JustRecipe("", (), 0, _piece("", path, lines, 0), [])
    for found in _LINE.finditer(text):
        line = found["line"]
        if line[:1] in (" ", "\t"):
            start = found.start() + len(_PREFIX.match(line)[0])  # type: ignore[index]  # it matches anything
            current.body.append((_piece(text[start : found.end("line")], path, lines, start),))
        elif line.strip():
            yield current
            recipe = _JUST_RECIPE.fullmatch(line)
            if recipe is None:
                current = _JustRecipe("", (), 0, _piece("", path, lines, 0), [])
                continue
            behind = found.start() + recipe.start("dependencies")
            current = _JustRecipe(
                recipe["name"],
                tuple(_PARAMETER.finditer(recipe["parameters"])),
                found.start() + recipe.start("parameters"),
                _piece(recipe["dependencies"], path, lines, behind),
                [],
            )
    yield current


def _parameters_of(
    recipe: _JustRecipe, recipes: Sequence[_JustRecipe], known: Mapping[str, Text | None], path: str, lines: Lines
) -> Iterator[dict[str, Text | None]]:
    """Yield the values of a recipe's parameters: their defaults, or what each recipe that depends on it gives it, where
    it cannot run without.
    """
    own = {each["name"]: _default(each, known, path, lines, recipe.offset) for each in recipe.parameters}
    calls = [
        (other, found)
        for other in recipes
        for found in _DEPENDENCY.finditer(other.dependencies.text)
        if found["name"] == recipe.name and other is not recipe
    ]
    if None not in own.values() or not calls:
        yield own
        return
    for other, call in calls:
        theirs = {each["name"]: _default(each, known, path, lines, other.offset) for each in other.parameters}
        start = call.start("arguments")
        pieces = (
            other.dependencies.cut(*(start + each for each in found.span()))
            for found in _ARGUMENT.finditer(call["arguments"])
        )
        given = [_value(each, {**known, **theirs}) for each in pieces]
        yield own | dict(zip(own, given, strict=False))


def _dotenv(path: str, text: str, sources: Sources) -> dict[str, Variable]:
    """Return the variables of the file that a justfile has loaded ("Dotenv settings"): in its folder, or above it."""
    asked = {found["what"]: found["said"] or "true" for found in _DOTENV.finditer(text)}
    if asked.get("load", "true") != "true" or not asked:
        return {}
    name = asked.get("path") or asked.get("filename", ".env")
    folders = [posixpath.dirname(path)] if "path" in asked else above(path)
    found = next(filter(sources.exists, (posixpath.normpath(posixpath.join(each, name)) for each in folders)), "")
    said = sources.text_or_none(found) if found else None
    return {} if said is None else dotenv_variables(found, said)


def _default(
    parameter: re.Match[str], known: Mapping[str, Text | None], path: str, lines: Lines, offset: int
) -> Text | None:
    """Return the default of a recipe's parameter, which whoever starts it may replace."""
    if parameter["default"] is None and "*" in parameter["mark"]:
        # Nobody is known to give any.
        return (replace(_piece("", path, lines, offset + parameter.start("name")), option="$1"),)
    if parameter["default"] is None:
        return None
    piece = _piece(parameter["default"], path, lines, offset + parameter.start("default"))
    value = _value(piece, known)
    return value and tuple(replace(each, option=f"${parameter['name']}") for each in value)


def _value(piece: Piece, known: Mapping[str, Text | None]) -> Text | None:
    """Return the value of an expression: texts, variables, and defaults of the environment, put together by `+`. What
    is known of a variable of the environment stands at its name with `$`.
    """
    found: list[Piece] = []
    at = 0
    while at < len(piece.text):
        part = _PART.match(piece.text, at)
        if part is None:
            return None
        kind = next(name for name in ("double", "single", "default", "name") if part[name] is not None)
        names = {"name": part["name"], "default": f"${part['variable']}"}
        inner = known.get(names[kind]) if kind in names else None
        if inner is not None:
            found += inner
        elif kind == "name":
            return None
        else:
            option = f"${part['variable']}" if kind == "default" else ""
            found.append(replace(piece.cut(*part.span(kind)), option=option))
        if part["more"] == "/":
            found.append(replace(piece.cut(*part.span("more")), text="/"))
        at = part.end()
    return tuple(found)


def _filled_in(text: Text, known: Mapping[str, Text | None]) -> Text:
    def fill(hole: re.Match[str], piece: Piece) -> Text:
        if hole["said"] is None:
            return (replace(piece.cut(*hole.span()), text="{{"),)
        value = _value(piece.cut(*hole.span("said")), known)
        return holed(hole, piece) if value is None else value

    return filled(text, _FILLED_IN, fill)
