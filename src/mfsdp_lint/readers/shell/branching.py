"""Conditions and loops: which ways lead through them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache, partial

from tree_sitter import Node

from mfsdp_lint.core.patterns import lazy_pattern
from mfsdp_lint.core.records import dataclass, replace
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.regular_expressions import matched
from mfsdp_lint.readers.shell.assignments import calculate, names_assigned
from mfsdp_lint.readers.shell.expand import Expander
from mfsdp_lint.readers.shell.patterns_of_files import IN_PATTERN, is_pattern
from mfsdp_lint.readers.shell.script import Script, Text, known, option, placed, plain, shown
from mfsdp_lint.readers.shell.state import Ended, Runner, State, Variable, fewer_states
from mfsdp_lint.readers.shell.text_programs import posix_pattern


@dataclass(frozen=True, slots=True)
class Truth:
    """Result of a condition: None where it is not known.

    `option` is the variable of the environment that decides it by its default. `means` is the fact that holds if it is
    true: the value of a variable. `unfilled` are variables that decide it as the script leaves them empty.
    """

    holds: bool | None
    option: str = ""
    means: tuple[str, Text] | None = None
    unfilled: tuple[str, ...] = ()

    @property
    def requires(self) -> tuple[str, ...]:
        """Return what somebody has to give for another result, each with its `$`."""
        return tuple(dict.fromkeys((self.option, *self.unfilled) if self.option else self.unfilled))


NOT_KNOWN = Truth(None)

_NUMBERS = {
    "-eq": lambda a, b: a == b,
    "-ne": lambda a, b: a != b,
    "-lt": lambda a, b: a < b,
    "-le": lambda a, b: a <= b,
    "-gt": lambda a, b: a > b,
    "-ge": lambda a, b: a >= b,
}
_DEEPEST = 40


def truth(expander: Expander, node: Node, depth: int = 0) -> Truth:
    """Evaluate the inside of a test."""
    script = expander.script
    if depth > _DEEPEST:
        return NOT_KNOWN
    match node.type:
        case "test_command" | "parenthesized_expression":
            inner = [child for child in node.named_children if child.type != "comment"]
            if script.source(node).startswith("(("):
                return _arithmetic(expander, script.source(node)[2:-2])
            return truth(expander, inner[0], depth + 1) if len(inner) == 1 else NOT_KNOWN
        case "compound_statement":
            return _arithmetic(expander, script.source(node)[2:-2])
        case "unary_expression":
            return _unary(expander, node, depth)
        case "binary_expression":
            return _binary(expander, node, depth)
        case "string" | "raw_string" | "word" | "simple_expansion" | "expansion" | "concatenation" | "number":
            return _is_filled(expander, node)
        case _:
            return NOT_KNOWN


def truth_of_words(words: list[Text]) -> Truth:
    """Evaluate the words of `test`, which are expanded before it sees them."""
    texts = [known(word) for word in words]
    if len(words) == 2 and texts[0] in ("-n", "-z"):
        found = _is_text(words[1])
        return found if texts[0] == "-n" else _not(found)
    if len(words) == 3 and texts[1] in ("=", "==", "!="):
        found = _equal(words[0], words[2], pattern=False)
        return _not(found) if texts[1] == "!=" else found
    if len(words) == 3 and texts[1] in _NUMBERS:
        return _numbers(texts[1], words[0], words[2])
    return NOT_KNOWN


def _arithmetic(expander: Expander, source: str) -> Truth:
    number, said = expander.number(source)
    return NOT_KNOWN if number is None else Truth(number != 0, said)


def _is_text(text: Text) -> Truth:
    found = known(text)
    if found is None:
        # Something around a hole is something, whatever the hole is.
        return Truth(True) if any(piece.text.strip("\uf8ff") for piece in text) else NOT_KNOWN
    return Truth(bool(found), option(text))


_NAMED = lazy_pattern(r'"?\$(?:\{(?P<braced>[A-Za-z_]\w*)(?::?-|:?\+\w+)?\}|(?P<name>[A-Za-z_]\w*))"?')


def _is_filled(expander: Expander, node: Node) -> Truth:
    """Tell whether the text of a node is something; a variable that the script leaves empty is named."""
    found = _is_text(expander.text(node))
    named = _NAMED.fullmatch(expander.script.source(node))
    if found.holds is False and not found.option and named is not None:
        return replace(found, unfilled=(f"${named['braced'] or named['name']}",))
    return found


def _not(found: Truth) -> Truth:
    return Truth(None if found.holds is None else not found.holds, found.option, unfilled=found.unfilled)


def _unary(expander: Expander, node: Node, depth: int) -> Truth:
    operator = expander.script.source(node.children[0])
    operand = node.children[-1]
    if operator == "!":
        return _not(truth(expander, operand, depth + 1))
    if operator in ("-n", "-z"):
        found = _is_filled(expander, operand)
        return found if operator == "-n" else _not(found)
    if operator == "-v":
        variable = expander.state.variables.get(expander.script.source(operand))
        return NOT_KNOWN if variable is None or variable.words is None else Truth(not variable.unset)
    return NOT_KNOWN


def _binary(expander: Expander, node: Node, depth: int) -> Truth:
    script, left, right = expander.script, node.children[0], node.children[-1]
    operator = script.source(node.children[1])
    if operator in ("&&", "-a", "||", "-o"):
        first, second = (truth(expander, each, depth + 1) for each in (left, right))
        return _both(first, second) if operator in ("&&", "-a") else _not(_both(_not(first), _not(second)))
    if operator in _NUMBERS:
        return _numbers(operator, expander.text(left), expander.text(right))
    if operator == "=~":
        return _matches(expander, left, right)
    if operator in ("=", "==", "!="):
        found = _equal(expander.text(left), expander.text(right), pattern=_is_in_double_brackets(script, node))
        found = replace(found, unfilled=_is_filled(expander, left).unfilled)
        if operator == "!=":
            return _not(found)
        name = re.fullmatch(r'"?\$\{?(\w+)\}?"?', script.source(left))
        meant = expander.text(right)
        if name and (said := known(meant)) is not None and not re.search(r"[*?\[]", said):
            return replace(found, means=(name[1], meant))
        return found
    return NOT_KNOWN


def _is_in_double_brackets(script: Script, node: Node) -> bool:
    """Tell whether the right side of `==` is a pattern."""
    while node.parent is not None and node.type != "test_command":
        node = node.parent
    return script.source(node).startswith("[[")


def _matches(expander: Expander, left: Node, right: Node) -> Truth:
    """Evaluate `TEXT =~ REGEX`, which notes what the groups have matched."""
    text, said = expander.text(left), known(expander.text(right))
    pattern = None if said is None or known(text) is None else posix_pattern(said)
    answer = None if pattern is None else expander.runner.in_time(lambda: [matched(pattern, "search", plain(text))])
    if answer is None:
        expander.state.lose(["BASH_REMATCH"])
        return NOT_KNOWN
    found = answer[0]
    groups = () if found is None else (found[0], *(each or "" for each in found.groups()))
    made = [
        placed(each, [text], partial(expander.script.made, left)) or (expander.script.made(left, ""),)
        for each in groups
    ]
    expander.state.set("BASH_REMATCH", Variable(tuple(made), array=True))
    return Truth(found is not None, option(text))


def _both(first: Truth, second: Truth) -> Truth:
    said = first.option or second.option
    others = () if second.option in ("", said) else (second.option,)
    unfilled = (*first.unfilled, *others, *second.unfilled)
    if first.holds is False:
        return Truth(False, first.option, unfilled=unfilled)
    if second.holds is False:
        return Truth(False, second.option, unfilled=unfilled)
    if first.holds and second.holds:
        return Truth(True, said, unfilled=unfilled)
    return Truth(None, means=first.means or second.means)


def _numbers(operator: str, left: Text, right: Text) -> Truth:
    texts = [known(left), known(right)]
    if any(text is None or not re.fullmatch(r"\s*-?\d{1,18}\s*", text) for text in texts):
        return NOT_KNOWN
    first, second = (int(text) for text in texts if text is not None)
    return Truth(_NUMBERS[operator](first, second), option(left) or option(right))


def _equal(left: Text, right: Text, *, pattern: bool) -> Truth:
    first, second = known(left), known(right)
    if first is None or second is None:
        return NOT_KNOWN
    said = option(left) or option(right)
    return Truth(fnmatchcase(first, second) if pattern else first == second, said)


_MOST_TURNS = 16
_MOST_PLAIN_TURNS = 256
"""Turns of a loop over known words, or lines, in each of which one way leads on."""

_ABOUT_ARGUMENTS = lazy_pattern(r"\$(?:#|\{#\}|\{?1\b)|\bgetopts\b")
"""A condition that asks for arguments, of which a script that is just started has none."""


_SIMPLE = ("command", "variable_assignment", "variable_assignments", "declaration_command")
_INDEXED = lazy_pattern(r"\$\{([A-Za-z_]\w*)\[\$?\{?([A-Za-z_]\w*)\}?\]\}")


def each_task(script: Script, node: Node, state: State) -> list[State]:
    """Return a way for each number of a statement's variable that only a scheduler sets: the tasks that the script asks
    for, or the elements of the array that it takes one of (`${FORMATS[$SLURM_ARRAY_TASK_ID]}`).
    """
    tasks, is_simple = _tasks(script.text), node.type in _SIMPLE
    if node.type == "function_definition" or not (tasks or is_simple):
        return [state]
    source = script.source(node)
    turns = [(name, values) for name, values in tasks if re.search(rf"\b{name}\b", source)]
    for name, index in _INDEXED.findall(source) if is_simple else ():
        elements, variable = state.elements(name), state.variables.get(name)
        if (variable is None or variable.keys is None) and elements is not None:
            turns.append((index, range(len(elements))))
    for name, values in turns:
        if name in state.variables or state.lost or not 1 < len(values) <= _MOST_TURNS:
            continue
        ways = [state, *(state.fork() for _ in values[1:])]
        for number, way in zip(values, ways, strict=True):
            way.set(name, Variable(((script.made(node, str(number)),),), exported=None))
            way.when += (f"{name}={number}",)
        return ways
    return [state]


_ARRAYS = (
    (lazy_pattern(r"^#SBATCH\s+(?:--array[= ]|-a\s*)(?P<tasks>[\d,:-]+)", re.MULTILINE), "SLURM_ARRAY_TASK_ID"),
    (lazy_pattern(r"^#PBS\s+-J\s*(?P<tasks>[\d:-]+)", re.MULTILINE), "PBS_ARRAY_INDEX"),
    (lazy_pattern(r"^#\$\s+-t\s*(?P<tasks>[\d:-]+)", re.MULTILINE), "SGE_TASK_ID"),
    (lazy_pattern(r"^#BSUB\s+-J\s*\S+?\[(?P<tasks>[\d,:-]+)", re.MULTILINE), "LSB_JOBINDEX"),
)
"""Lines by which a script asks a scheduler for several tasks, and the variable with the number of each: sbatch(1),
qsub(1B) of PBS Professional, qsub(1) of Grid Engine, bsub(1)."""


_HANDED = lazy_pattern(
    r"^#(?:SBATCH\s+--export[= ]|PBS\s+-v\s*|BSUB\s+-env\s*|\$\s+-v\s*)(?P<said>\S.*)$", re.MULTILINE
)
"""Lines by which a script asks a scheduler for variables: the manuals as above."""

_EXPORTED_BY_SLURM = lazy_pattern(r"^#SBATCH\s+--export[= ](?P<said>(?!ALL\s*$)[\w,=.:/+-]+)", re.MULTILINE)
"""With this line sbatch sets SLURM_EXPORT_ENV, which `srun` takes for its own `--export` (sbatch(1), srun(1))."""

_ASSIGNED = lazy_pattern(r"(?P<name>[A-Za-z_]\w*)=(?P<value>[^,\"'\s]*)(?=[,\"']|\s|$)")


_SIZE = lazy_pattern(
    r"^#SBATCH[ \t]+(?:--(?P<name>nodes|ntasks|ntasks-per-node|gpus-per-node|cpus-per-task)(?:=|[ \t]+)"
    r"|-(?P<short>[Nnc])[ \t]*)(?P<said>\d{1,6})[ \t]*(?:#|$)",
    re.MULTILINE,
)
_NAMES_OF_SIZES = {
    "nodes": ("SLURM_NNODES", "SLURM_JOB_NUM_NODES"),
    "ntasks": ("SLURM_NTASKS", "SLURM_NPROCS"),
    "ntasks-per-node": ("SLURM_NTASKS_PER_NODE",),
    "gpus-per-node": ("SLURM_GPUS_PER_NODE",),
    "cpus-per-task": ("SLURM_CPUS_PER_TASK",),
}
_SHORT = {"N": "nodes", "n": "ntasks", "c": "cpus-per-task"}
"""sbatch(1), "OUTPUT ENVIRONMENT VARIABLES"."""


def handed_by_scheduler(script: Script) -> dict[str, Variable]:
    """Return the variables that a script's own lines ask its scheduler for; those of the caller are as they are.

    The sizes of the job are defaults: whoever submits the script may ask for others.
    """
    found = {}
    for line in _SIZE.finditer(script.text):
        for name in _NAMES_OF_SIZES[line["name"] or _SHORT[line["short"]]]:
            size = tuple(replace(piece, option=f"${name}") for piece in script.cut(*line.span("said")))
            found[name] = Variable((size,), exported=None)
    if asked := _EXPORTED_BY_SLURM.search(script.text):
        found["SLURM_EXPORT_ENV"] = Variable((script.cut(*asked.span("said")),), exported=True)
    for line in _HANDED.finditer(script.text):
        for each in _ASSIGNED.finditer(script.text, *line.span("said")):
            value = script.cut(*each.span("value"))
            written = script.cut(*each.span())
            if value:
                found[each["name"]] = Variable((value,), exported=True, written=written[0])
    return found


@lru_cache(maxsize=64)
def _tasks(text: str) -> Sequence[tuple[str, Sequence[int]]]:
    """Return the variables that number the tasks of a script, with the numbers that they have."""
    found: list[tuple[str, Sequence[int]]] = []
    for pattern, name in _ARRAYS:
        numbers: list[int] = []
        said = pattern.search(text)
        for part in said["tasks"].split(",") if said else ():
            task = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?(?::([1-9]\d{0,5}))?", part)
            first, last, step = task.groups() if task else (None, None, None)
            numbers += range(int(first), int(last or first) + 1, int(step or 1))[: _MOST_TURNS + 1] if first else ()
        found += [(name, numbers)] if numbers else []
    return found


def decided(runner: Runner, script: Script, node: Node, state: State) -> list[Ended]:
    """Return the ways behind a test: one where its result is known, both where it is not."""
    found = truth(Expander(runner, script, state), node)
    return either(runner, shown(script, node), found, state, switches=_switches(script, node))


def either(runner: Runner, said: str, found: Truth, state: State, *, switches: bool = False) -> list[Ended]:
    if found.holds is None:
        if said in state.decided:
            return [Ended(state, state.decided[said])]
        return [_side(runner, said, side, found, state.fork()) for side in (True, False)]
    if found.requires and said not in state.decided and state.output is None:
        ways = [Ended(state, found.holds, _provided(state.fork(), said, found))]
    else:
        ways = [Ended(state, found.holds)]
    if switches and found.option and said not in state.decided and not state.given:
        other = _given(state.fork(), said, found)
        ways.append(Ended(other, not found.holds))
    elif found.option and said in state.decided:
        return [Ended(state, state.decided[said])]
    return ways


def _provided(state: State, said: str, found: Truth) -> State:
    """Return the way of somebody who gives the script what it asks for: the condition is then the other way round."""
    missing = found.requires
    state.requires = tuple(dict.fromkeys((*state.requires, *missing)))
    for name, variable in list(state.variables.items()):
        text = variable.text
        asked = option(text or ()) if option(text or ()) in missing else f"${name}" if f"${name}" in missing else ""
        if text and asked:
            value: Text = (replace(text[0], text=HOLE, option=asked, stands=""),)
            state.set(name, replace(variable, words=(value,), array=False))
    if found.means is not None and not found.holds:
        name, value = found.means
        state.set(name, Variable((value,), exported=None))
    state.decided[said] = not found.holds
    return state


def past_guard(
    runner: Runner, way: Ended, follow: Callable[[bool | None, State], list[Ended]], status: bool | None
) -> list[Ended]:
    """Follow one side of a condition. Where that does nothing but end the script, because nobody has given it what it
    asks for, it is a guard: scripts are read as started properly, so that the other side counts.
    """
    launched = len(runner.launches)
    ended = follow(status, way.state)
    ends = bool(ended) and all(each.state.leaving == ("exit",) for each in ended)
    if way.otherwise is None or not ends or len(runner.launches) > launched:
        return ended
    return follow(not status, way.otherwise)


def _side(runner: Runner, said: str, side: bool, found: Truth, state: State) -> Ended:
    if side and found.means is not None:
        name, text = found.means
        old = state.variables.get(name)
        state.set(name, Variable((text,), exported=old.exported if old else None))
    state.decided[said] = side
    state.when += (said if side else f"not {said}",)
    return Ended(state, side)


def if_statement(runner: Runner, script: Script, children: list[Node], state: State) -> list[Ended]:
    """Follow `if` and each `elif`: the condition, `then`, and the other branches."""
    then = next((number for number, child in enumerate(children) if child.type == "then"), len(children))
    condition = [child for child in children[1:then] if child.is_named and child.type != "comment"]
    rest = children[then + 1 :]
    other = next((n for n, child in enumerate(rest) if child.type in ("elif_clause", "else_clause")), len(rest))

    def follow(status: bool | None, state: State) -> list[Ended]:
        if status:
            return runner.sequence(script, rest[:other], state)
        if other == len(rest):
            return [Ended(state, True)]
        if rest[other].type == "else_clause":
            return runner.sequence(script, rest[other].children[1:], state)
        return if_statement(runner, script, [*rest[other].children, *rest[other + 1 :]], state)

    name = defaulted(script, condition, rest, state) if other == len(rest) else ""
    if name:
        return with_default(name, follow(True, state))
    ended: list[Ended] = []
    for way in _condition(runner, script, condition, state):
        ended += [way] if way.state.leaving else past_guard(runner, way, follow, way.status)
    return runner.fewer(ended)


_IS_EMPTY = lazy_pattern(
    r"""(?:\[\[?|test)\s+(?:(?:-z|!\s*-n)\s+"?\$\{?(?P<name>[A-Za-z_]\w*)(?::?-|:?\+\w+)?\}?"?"""
    r"""|!\s*-v\s+(?P<tested>[A-Za-z_]\w*)|"?\$\{?(?P<compared>[A-Za-z_]\w*)(?::?-)?\}?"?\s+==?\s+(?:""|''))(?:\s+\]\]?)?"""
)


def defaulted(script: Script, condition: Sequence[Node], body: Sequence[Node], state: State) -> str:
    """Return the variable that nobody sets and that is given a default (`if [ -z "$X" ]; then X=1; fi`); "" for any
    other condition. It is read like `${X:=1}`.
    """
    found = _IS_EMPTY.fullmatch(script.source(condition[0]).strip(" ;")) if len(condition) == 1 else None
    name = found[found.lastgroup or ""] if found else ""
    is_outside = name not in state.variables and not state.lost
    return name if is_outside and any(_gives(script, each, name) for each in body) else ""


def _gives(script: Script, node: Node, name: str) -> bool:
    """Tell whether a statement gives a variable a value."""
    if node.type == "variable_assignment":
        return script.source(node.children[0]) == name
    if node.type == "command":
        words = [script.source(child) for child in node.named_children]
        return words[0] in ("read", "mapfile", "readarray", "printf") and name in words
    return any(_gives(script, child, name) for child in node.named_children)


def with_default(name: str, ended: list[Ended]) -> list[Ended]:
    """Mark the value of a variable as its default on these ways."""
    for way in ended:
        variable = way.state.variables.get(name)
        if variable is not None and variable.words is not None:
            words = (tuple(replace(p, option=p.option or f"${name}") for p in word) for word in variable.words)
            way.state.variables[name] = replace(variable, words=tuple(words))
    return ended


def _condition(runner: Runner, script: Script, nodes: list[Node], state: State) -> Iterator[Ended]:
    """Yield the ways into both sides of a condition: whether a program succeeds is not known."""
    said = " ".join(shown(script, node) for node in nodes)
    for way in runner.sequence(script, nodes, state):
        if way.status is not None or way.state.leaving:
            yield way
        else:
            yield from either(runner, said, Truth(None), way.state)


def case_statement(runner: Runner, script: Script, node: Node, state: State) -> list[Ended]:
    word = next(child for child in node.children[1:] if child.is_named)
    expander = Expander(runner, script, state)
    subject = expander.text(word)
    said = shown(script, word)
    is_default = bool(option(subject)) and state.output is None
    provided = _provided(state.fork(), said, Truth(True, option(subject))) if is_default else None
    others = _other_choices(script, node, subject, state) if is_default and not state.given else []

    def follow(status: bool | None, state: State) -> list[Ended]:
        return _case_items(runner, script, node, known(subject) if status else None, state)

    ended = past_guard(runner, Ended(state, True, provided), follow, True)
    for choice, other in others:
        ended += _case_items(runner, script, node, choice, other)
    return runner.fewer(ended)


_MOST_CHOICES = 8
"""Other items of a `case` that are followed beside the one of the default."""

_NAME = lazy_pattern(r'"?\$(?:\{(?P<braced>\w+)(?::?-[^{}]*)?\}|(?P<name>\w+))"?')
_PLAIN = lazy_pattern(r"\w[\w.+-]*")


def _other_choices(script: Script, node: Node, subject: Text, state: State) -> list[tuple[str, State]]:
    """Return the ways of somebody who names another item of a `case` than the default, in a script about FSDP."""
    named = _NAME.fullmatch(shown(script, next(child for child in node.children[1:] if child.is_named)))
    if named is None or not _speaks_of_fsdp(script.text):
        return []
    name = named["braced"] or named["name"]
    found: list[tuple[str, State]] = []
    for item in (child for child in node.named_children if child.type == "case_item"):
        values = item.children_by_field_name("value")
        patterns = [script.source(each).strip("\"'") for each in values]
        at = next((number for number, pattern in enumerate(patterns) if _PLAIN.fullmatch(pattern)), None)
        if at is None or any(fnmatchcase(plain(subject), pattern) for pattern in patterns):
            continue
        other = state.fork()
        _give(other, option(subject), f"{name}={patterns[at]}", [name])
        other.set(name, Variable(((script.made(values[at], patterns[at]),),), exported=None))
        found.append((patterns[at], other))
    return found if len(found) <= _MOST_CHOICES else []


@lru_cache(maxsize=64)
def _speaks_of_fsdp(text: str) -> bool:
    return "fsdp" in text.lower()


def _case_items(runner: Runner, script: Script, node: Node, text: str | None, state: State) -> list[Ended]:
    """Follow the items that a text may match; None for a text that is not known."""
    word = next(child for child in node.children[1:] if child.is_named)
    expander = Expander(runner, script, state)
    said = shown(script, word)
    name = re.fullmatch(r'"?\$\{?(\w+)\}?"?', said)
    ended: list[Ended] = []
    falling: list[State] = []
    open_side: State | None = state
    for item in (child for child in node.named_children if child.type == "case_item"):
        patterns = [expander.text(each) for each in item.children_by_field_name("value")]
        texts = [known(pattern) for pattern in patterns]
        matches = [None if text is None or each is None else fnmatchcase(text, each) for each in texts]
        ways = falling
        if open_side is not None and not (matches and all(each is False for each in matches)):
            surely = True in matches or "*" in texts
            side = open_side if surely else open_side.fork()
            if not surely or text is None:
                side.when += (f"{said} is {' or '.join(each or '…' for each in texts)}",)
            if name and text is None and len(patterns) == 1 and re.fullmatch(r"[\w.+-]+", texts[0] or ""):
                side.set(name[1], Variable((patterns[0],), exported=None))
            ways = [*falling, side]
            open_side = None if surely else open_side
        body = [child for child in item.named_children if child not in item.children_by_field_name("value")]
        goes_on = any(child.type == ";&" for child in item.children)
        after = [each for way in ways for each in runner.sequence(script, body, way)]
        falling = [each.state for each in after if goes_on and not each.state.leaving]
        ended += [each for each in after if not goes_on or each.state.leaving]
    ended += [Ended(each, True) for each in (*falling, *((open_side,) if open_side is not None else ()))]
    return runner.fewer(ended)


def for_statement(runner: Runner, script: Script, node: Node, state: State) -> list[Ended]:
    name = script.source(node.named_children[0])
    body = node.named_children[-1]
    values = Expander(runner, script, state).words(node.named_children[1:-1])
    is_open = any(HOLE in piece.text and piece.splits for value in values for piece in value) or any(
        # Files that are not here: nobody knows how many.
        is_pattern(script, each) and IN_PATTERN.search("".join(map(plain, values)))
        for each in node.named_children[1:-1]
    )
    if not is_open and node.type == "for_statement" and len(values) <= _MOST_PLAIN_TURNS:
        followed = runner.attempt(lambda: _turns(runner, script, body, name, values, state.fork()))
        if followed is not None:
            return followed
    return _some_turns(runner, script, body, [*names_assigned(script, body), name], state)


def _turns(
    runner: Runner, script: Script, body: Node, name: str, values: Sequence[Text], state: State
) -> list[Ended] | None:
    """Follow a loop whose variable is known in each turn; None for one of many turns that launch something, or have
    several ways.
    """
    ways = [Ended(state, True)]
    launched = len(runner.launches)
    outside = state.when
    for value in values:
        after: list[Ended] = []
        for way in ways:
            if way.state.leaving:
                after.append(way)
                continue
            way.state.set(name, _turn(way.state.variables.get(name), value))
            way.state.when = (*outside, f"{name}={plain(value)}") if len(values) > 1 else way.state.when
            ended = runner.sequence(script, body.children, way.state)
            for each in ended:
                each.state.arrive("continue")
            after += ended
        ways = runner.fewer(after)
        if len(values) > _MOST_TURNS and (len(ways) > 1 or len(runner.launches) > launched):
            return None
    for way in ways:
        way.state.when = tuple(each for each in way.state.when if not values or not each.startswith(f"{name}="))
        way.state.arrive("break")
    return ways


def while_statement(runner: Runner, script: Script, node: Node, state: State) -> list[Ended]:
    """Follow a loop: turn by turn where its condition is known each time (`while read` with a known text)."""
    body = node.named_children[-1]
    condition = script.text[script.bounds(node)[0] : script.bounds(body)[0]]
    if state.arguments is None and _ABOUT_ARGUMENTS.search(condition):
        return [Ended(state, True)]
    if (followed := runner.attempt(lambda: _each_turn(runner, script, node, state))) is not None:
        return followed
    if node.type == "while_statement":
        # `until torchrun …`, `while ! torchrun …`: the condition may be the command that the loop is about.
        tried = state.fork()
        tried.lose(names_assigned(script, body))
        runner.sequence(script, _before(node, body), tried)
    return _some_turns(runner, script, body, names_assigned(script, node), state)


def _before(node: Node, body: Node) -> list[Node]:
    return [each for each in node.children if each.end_byte <= body.start_byte]


def _each_turn(runner: Runner, script: Script, node: Node, state: State) -> list[Ended] | None:
    """Follow a loop of which every turn is known; None for any other."""
    body = node.named_children[-1]
    head = script.text[script.bounds(node)[0] : script.bounds(body)[0]]
    counts = node.type == "c_style_for_statement"
    parts = head.partition("((")[2].rpartition("))")[0].split(";")
    if counts and len(parts) != 3:
        return None
    wants = not head.startswith("until")
    here = state.fork()

    def holds(state: State) -> Iterator[Ended]:
        if counts:
            number = Expander(runner, script, state).number(parts[1])[0]
            yield Ended(state, None if number is None else number != 0)
        else:
            yield from runner.sequence(script, _before(node, body), state)

    if counts:
        calculate(Expander(runner, script, here), node, parts[0])
    turns, launched = 0, len(runner.launches)
    for _ in range(_MOST_PLAIN_TURNS):
        given = dict(here.descriptors)
        tested = list(holds(here))
        if len(tested) != 1 or tested[0].status is None or tested[0].state.leaving:
            return None
        here = tested[0].state
        if tested[0].status is not wants:
            return [Ended(here, True)]
        ended = runner.sequence(script, body.children, here)
        for each in ended:
            each.state.arrive("continue")
        ends = fewer_states([each.state for each in ended], 1)
        if len(ends) != 1:
            return None
        here = ends[0]
        turns += here.descriptors == given  # a text that is read has an end
        if turns > _MOST_TURNS and len(runner.launches) > launched:
            return None
        if here.leaving:
            here.arrive("break")
            return [Ended(here, True)]
        if counts:
            calculate(Expander(runner, script, here), node, parts[2])
    return None


def _some_turns(runner: Runner, script: Script, body: Node, names: Sequence[str], state: State) -> list[Ended]:
    """Follow a loop whose number of turns is not known."""
    state.lose(names)
    state.descriptors = {}
    ways = runner.sequence(script, body.children, state)
    for way in ways:
        way.state.lose(names)
        way.state.output = None if way.state.output is None else [None]
        way.state.arrive("continue")
        way.state.arrive("break")
    return runner.fewer(ways)


_FLAG = lazy_pattern(r"(?<![\w-])--[a-z]")


def _switches(script: Script, node: Node) -> bool:
    """Tell whether the statement around a test mentions FSDP, or decides a flag in a script about FSDP: then the side
    of a user who sets an option counts.
    """
    above: Node | None = node
    while above is not None and above.type not in ("if_statement", "list", "while_statement", "program"):
        above = above.parent
    if above is None or above.type not in ("if_statement", "list") or not _speaks_of_fsdp(script.text):
        return False
    said = script.source(above)
    return "fsdp" in said.lower() or _FLAG.search(said) is not None


def _given(state: State, said: str, found: Truth) -> State:
    """Return the other way: somebody sets the variable whose default decides, so that the result is the other."""
    _give(state, found.option, said if not found.holds else f"not {said}", re.findall(r"\$\{?([A-Za-z_]\w*)", said))
    if found.means is not None and not found.holds:
        name, text = found.means
        state.set(name, Variable((text,), exported=None))
    state.decided[said] = not found.holds
    return state


def _give(state: State, name: str, when: str, asked: Sequence[str]) -> None:
    """Note that somebody sets a variable whose default decides: what depends on that is not known any more."""
    state.given = (name,)
    state.when += (when,)
    depends = [n for n, each in state.variables.items() if any(option(word) == name for word in each.words or ())]
    state.lose([*depends, *asked])


def _turn(old: Variable | None, value: Text) -> Variable:
    """Return a loop's variable in one turn: it stays exported if it was; of an array the first element is set."""
    if old is None or old.unset or old.words is None:
        return Variable((value,))
    return Variable((value, *(old.words[1:] if old.array else ())), array=old.array, exported=old.exported)
