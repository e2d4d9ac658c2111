"""Follows a script statement by statement, on every way through it, and collects what it launches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import dropwhile

from tree_sitter import Node

from mfsdp_lint.core.lines import Lines
from mfsdp_lint.core.recipe import Setting, Span, Unfollowed
from mfsdp_lint.core.records import replace
from mfsdp_lint.core.values import Known
from mfsdp_lint.inputs.sources import Sources
from mfsdp_lint.readers.given_words import HOLE
from mfsdp_lint.readers.shell.branching import (
    case_statement,
    decided,
    each_element,
    either,
    for_statement,
    if_statement,
    past_guard,
    truth_of_words,
    while_statement,
)
from mfsdp_lint.readers.shell.builtins import (
    BUILTINS,
    assign,
    declare,
    filled_in,
    heredoc,
    names_assigned,
    read_lines,
    unset,
    written_to,
)
from mfsdp_lint.readers.shell.expand import Expander
from mfsdp_lint.readers.shell.launch_command import (
    InnerScript,
    ShellLaunch,
    exported_late,
    started_by,
    starts_ray_cluster,
    submits_ray_job,
    text_of_file,
)
from mfsdp_lint.readers.shell.script import (
    Piece,
    Script,
    Text,
    around,
    filter_of_text,
    joined_output,
    known,
    output_of,
    plain,
    shown,
    words_cut_off,
)
from mfsdp_lint.readers.shell.script import words as words_of
from mfsdp_lint.readers.shell.state import (
    FEW_WAYS,
    LOST,
    MOST_WAYS,
    Ended,
    Held,
    HeldCommand,
    State,
    Variable,
    fewer_ways,
)

_MOST_STEPS = 10_000
_MANY_STEPS = 2_000
"""Behind so many steps, fewer ways are kept apart."""
_MOST_LAUNCHES = 64
"""Ways to one command that are kept apart."""

_DEEPEST = 60

_CLUSTER = ("helm", "kubectl")
_READS = (*_CLUSTER, "bash", "sh", "zsh", "sbatch", "envsubst", "xargs", "mapfile", "readarray")
"""Programs whose input is followed: scripts, manifests, words, lines, and what variables are filled into."""

_TAKES_ALL = ("-r", "--no-run-if-empty", "-t", "--verbose")
"""Options of xargs with which it starts one command with all words."""

_NAMES = re.compile(r"\$\{?(\w+)")

_SIMPLE = ("command", "variable_assignment", "variable_assignments", "declaration_command")


class TooMuch(Exception):
    """More steps than a script is given."""


class Runner:
    """A reading of one script. `launches` are the commands that it starts, `scripts` the texts that were followed,
    `unfollowed` what it starts on a cluster without its being known what that is.
    `lost` is the first place whose syntax could not be followed; `stopped` is true if nothing behind such a place
    could. `deep` are the statements that are nested too deeply, and `followed` the others: a statement that calls
    itself is in both.
    """

    def __init__(self, path: str, sources: Sources, environment: Sequence[Setting] = ()) -> None:
        self.path = path
        self.sources = sources
        self.environment = {each.path.partition(".")[2]: _from_outside(each) for each in environment}
        self.expansions = 0
        self.launches: list[ShellLaunch] = []
        self.unfollowed: list[Unfollowed] = []
        self.lost: Span | None = None
        self.stopped = False
        self.deep: list[Span] = []
        self.followed: set[Span] = set()
        self.kept: dict[Span, set[object]] = {}
        self.steps = 0
        self.depth = 0
        self.at: tuple[Script, Node] | None = None
        self.place: Span | None = None
        self.scripts: dict[tuple[Span, str], Script] = {}

    def run(self, text: str | Held) -> None:
        """Follow the script. Raises TooMuch."""
        script = Script.of_file(self.path, text) if isinstance(text, str) else Script(text.text)
        state = self.beginning(None if isinstance(text, str) else text)
        own = (replace(script.made(script.root, HOLE), stands=self.path),)
        state.variables |= {"0": Variable((own,)), "BASH_SOURCE": Variable((own,), array=True)}
        self.script(script, state)

    def command(self, held: HeldCommand) -> None:
        """Follow a command that no script starts. Raises TooMuch."""
        self.at, self.place = None, held.place
        self.start(list(held.words), self.beginning(held), held.body)

    def beginning(self, held: Held | HeldCommand | None) -> State:
        """Return the state at the beginning of a script, or of one that another file holds: that file overrides the
        caller's environment.
        """
        if held is None:
            return State(variables=dict(self.environment))
        files: dict[str, Text | None] = dict(held.files)
        variables = {**self.environment, **held.variables}
        return State(variables=variables, folder=held.folder, when=held.when, files=files)

    def expander(self, script: Script, state: State) -> Expander:
        """Return what expands words of a script on a way through it."""
        return Expander(self, script, state)

    def script(self, script: Script, state: State) -> list[Ended]:
        """Follow a whole script."""
        self.scripts.setdefault((script.span(script.root), script.text), script)
        self._unclosed(script)
        return self.sequence(script, script.root.children, state)

    def sequence(self, script: Script, nodes: Sequence[Node], state: State) -> list[Ended]:
        """Follow one statement after the other, on every way."""
        ways = [Ended(state, True)]
        for node in nodes:
            if not node.is_named or node.type == "comment":
                continue
            after: list[Ended] = []
            for way in ways:
                after += [way] if way.state.leaving else self.statement(script, node, way.state)
            # Comparing ways costs more than most statements: only where there are more than before.
            ways = after if len(after) == len(ways) <= FEW_WAYS else self.fewer(after)
        return self.fewer(ways)

    def fewer(self, ways: list[Ended]) -> list[Ended]:
        """Merge ways, so that fewer are kept apart; only few are, once many steps were taken."""
        return fewer_ways(ways, MOST_WAYS if self.steps < _MANY_STEPS else FEW_WAYS)

    def statement(self, script: Script, node: Node, state: State) -> list[Ended]:
        """Return the ways that lead on behind a statement."""
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise TooMuch
        if self.depth >= _DEEPEST:
            self.deep.append(script.span(node))
            state.lose_all()
            return [Ended(state)]
        self.followed.add(script.span(node))
        self.depth += 1
        try:
            ways = each_element(script, node, state) if node.type in _SIMPLE else [state]
            return [ended for way in ways for ended in self._statement(script, node, way)]
        finally:
            self.depth -= 1

    def _statement(self, script: Script, node: Node, state: State) -> list[Ended]:
        match node.type:
            case "command":
                return self._command(script, node, state)
            case "variable_assignment":
                assign(self.expander(script, state), node)
            case "variable_assignments":
                for child in node.named_children:
                    assign(self.expander(script, state), child)
            case "declaration_command":
                declare(self.expander(script, state), node)
            case "unset_command":
                unset(script, node, state)
            case "redirected_statement":
                return self._redirected(script, node, state)
            case "pipeline":
                return self._pipeline(script, node, state)
            case "list":
                return self._list(script, node, state)
            case "negated_command":
                ended = self.statement(script, node.children[-1], state)
                return [replace(each, status=None if each.status is None else not each.status) for each in ended]
            case "test_command":
                return decided(self, script, node, state)
            case "compound_statement" if script.source(node).startswith("(("):
                return decided(self, script, node, state)
            case "compound_statement" | "do_group":
                return self.sequence(script, node.children, state)
            case "subshell":
                self.sequence(script, node.children, state.fork())
            case "if_statement":
                return if_statement(self, script, list(node.children), state)
            case "case_statement":
                return case_statement(self, script, node, state)
            case "for_statement":
                return for_statement(self, script, node, state)
            case "while_statement" | "c_style_for_statement" | "until_statement":
                return while_statement(self, script, node, state)
            case "function_definition":
                name = next((script.source(child) for child in node.named_children if child.type == "word"), "")
                state.functions[name] = (script, node.named_children[-1])
            case "ERROR" if node.end_byte > node.start_byte:
                self._not_followed(script, node, state)
            case _:
                state.lose(names_assigned(script, node))
        return [Ended(state, True)]

    def _not_followed(self, script: Script, node: Node, state: State) -> None:
        """Skip what the grammar does not know. If it leaves a quote open, the following text may be anything."""
        self.lost = self.lost or script.span(node)
        source = script.source(node)
        state.lose(re.findall(r"(\w+)\+?=", source))
        if source.count('"') % 2 or source.count("'") % 2:
            state.leaving = "exit"
            self.stopped = True

    def _unclosed(self, script: Script) -> None:
        """Record a quote that is never closed: it takes everything up to the end of the file, and bash refuses it. A
        heredoc ends with a line that has nothing else, which the grammar does not ask for.
        """
        for node in script.nodes() if "<<" in script.text else ():
            start, end = script.bounds(node) if node.type == "heredoc_end" else (0, 0)
            if end and {script.text[end : end + 1], script.text[:start].rstrip("\t")[-1:]} - {"", "\n"}:
                self.lost = self.lost or script.span(node)
                self.stopped = True
        node = script.root
        while node.children and node.has_error:
            node = next(
                (child for child in reversed(node.children) if child.has_error or child.is_missing), node.children[-1]
            )
        if node.is_missing and node.type in ('"', "'", "`") and node.parent is not None:
            self.lost = self.lost or script.span(node.parent)
            self.stopped = True

    # Commands

    def _command(self, script: Script, node: Node, state: State) -> list[Ended]:
        nodes = [child for child in node.children if child.is_named and not child.type.endswith("redirect")]
        before = state.fork() if nodes and nodes[0].type == "variable_assignment" else state
        prefix = [child for child in nodes if child.type == "variable_assignment"]
        for child in prefix:
            # An assignment in front of a command holds for that alone.
            assign(self.expander(script, before), child, exported=True)
        expander = self.expander(script, state)
        words = expander.words([child for child in nodes if child.type != "variable_assignment"])
        following = node.next_sibling
        if following is not None and following.type == "ERROR":
            words.append((expander.hole(node),))
        if not words:
            return [Ended(state)]
        self.at = script, node
        ended = self.invoke(script, node, words, before)
        names = [script.source(child.children[0]) for child in prefix]
        for way in ended:
            way.state.take_back(names, state)
        return ended

    def invoke(self, script: Script, node: Node, words: list[Text], state: State) -> list[Ended]:
        """Follow a command with its words expanded: a function, a builtin, or a program."""
        name = known(words[0])
        if name is None and len(words) == 1 and not plain(words[0]).strip(HOLE):
            return [Ended(state)]
        if name in state.functions:
            return self.call(state.functions[name], words[1:], state)
        if name in ("[", "test"):
            return either(self, shown(script, node), truth_of_words([w for w in words[1:] if known(w) != "]"]), state)
        builtin = BUILTINS.get(name or "")
        if builtin is not None:
            return [Ended(each.state, each.status) for each in builtin(self, script, node, words, state)]
        if state.output is not None:
            state.output.append(None)
        return self.start(words, state)

    def call(self, function: tuple[Script, Node], arguments: list[Text], state: State) -> list[Ended]:
        """Call a function of the script."""
        above, hidden = state.arguments, state.hidden
        state.arguments, state.hidden = arguments, {}
        ended = self.statement(*function, state)
        for each in ended:
            each.state.arguments = above
            each.state.unhide(None if hidden is None else dict(hidden))
            each.state.arrive("return")
        return ended

    def start(self, words: list[Text], state: State, body: Text | None = None) -> list[Ended]:
        """Start a program: it is followed if it is a shell with a script, else kept if it launches something."""
        found = started_by(words, body)
        seen = state
        if starts_ray_cluster(words):
            state.cluster = state.environment()
        elif submits_ray_job(words):
            seen = state.fork()
            seen.variables = dict(state.cluster or {})
        if known(words[0]) in _CLUSTER:
            from mfsdp_lint.readers.shell.cluster import follow_cluster_command

            follow_cluster_command(self, words, state, body)
        if isinstance(found, InnerScript):
            self._inner(found, seen)
        elif found is not None and (place := self.at[0].span(self.at[1]) if self.at else self.place) is not None:
            environment = {} if found.fresh else seen.environment()
            for name, text in found.environment.items():
                environment[name] = Variable(None, unset=True) if text is None else Variable((text,), exported=True)
            behind = () if self.at is None else tuple(words_cut_off(*self.at))
            late = () if seen is state else exported_late(state, environment)
            self._launched(
                ShellLaunch(
                    found, place, environment, state.when, state.given, state.folder, behind, late, state.requires
                )
            )
        return [Ended(state)]

    def _launched(self, launch: ShellLaunch) -> None:
        """Keep a launch, of those that are alike one for each way to it. Raises TooMuch."""
        said = tuple(map(plain, launch.started.arguments))
        set_to = tuple((name, each.unset, plain(each.text or ())) for name, each in launch.environment.items())
        ways = self.kept.setdefault(launch.span, set())
        if len(ways) > _MOST_LAUNCHES:
            raise TooMuch
        if (key := (launch.when, launch.given, said, set_to)) not in ways:
            ways.add(key)
            self.launches.append(launch)

    def _inner(self, inner: InnerScript, state: State) -> None:
        """Follow a script that another shell is given: it sees the exported variables."""
        text = inner.text
        if text is None and inner.file is not None:
            text = self.file(inner.file, state)
        if text is None:
            return
        child = state.fork()
        child.variables = {name: each for name, each in child.variables.items() if each.exported is not False}
        if inner.fresh:
            child.variables = {}
        for name, value in inner.environment.items():
            child.set(name, Variable((value,), exported=True) if value is not None else Variable(None, unset=True))
        child.functions, child.arguments, child.output = {}, inner.arguments, None
        self.text(text, child)

    def text(self, text: Text, state: State) -> list[Ended]:
        """Follow a script that is a text of this one."""
        if not text:
            return [Ended(state)]
        if self.depth >= _DEEPEST:
            if plain(text) not in (each.text for each in self.scripts.values()):
                self.deep.append(around(text))
            return [Ended(state)]
        self.depth += 5  # each reads its text once more
        try:
            return self.script(Script(text), state)
        finally:
            self.depth -= 5

    def file(self, name: Text, state: State) -> Text | None:
        """Return the text of a script file: one that this script has written, or one of the tree."""
        return text_of_file(name, self.path, self.sources, state)

    def substitute(self, script: Script, node: Node, state: State) -> Text | None:
        """Return the output of `$(…)`; None where it is not known."""
        reads = [child for child in node.named_children if child.type == "file_redirect"]
        if len(reads) == len(node.named_children) == 1 and script.source(reads[0]).startswith("<"):  # `$(<FILE)`
            text = self.file(self.expander(script, state).text(reads[0].named_children[-1]), state)
            return None if text is None else output_of([text])
        inside = state.fork()
        inside.output = []
        self.depth += 1
        try:
            ended = self.sequence(script, node.children, inside) if self.depth < _DEEPEST else []
        finally:
            self.depth -= 1
        # Started without the options that a person may give, it prints what it prints by default.
        plainly = [each for each in ended if each.state.given == state.given]
        return joined_output(plainly[0].state.output) if len(plainly) == 1 else None

    # Redirections, pipelines, lists

    def _redirected(self, script: Script, node: Node, state: State) -> list[Ended]:
        body = node.children[0]
        expander = self.expander(script, state)
        text = heredoc(expander, node)
        if text is not None and (piped := _piped_from(script, node)) is not None:
            return self.fed(script, piped, state, text)
        target = written_to(expander, node)
        if text is None and (body.type == "while_statement" or _name(script, body) in _READS):
            read = self._read(script, node, state)
            if read is not None:
                return self.fed(script, body, state, read, target)
        if text is None:
            if target is not None and body.type in ("command", "compound_statement"):
                return self._written(script, body, target, state)
            return self.statement(script, body, state)
        if body.type == "while_statement":
            return while_statement(self, script, body, state, text)
        if body.type != "command":
            return self.statement(script, body, state)
        words = expander.words([each for each in body.children if each.type != "variable_assignment"])
        name = known(words[0]) if words else None
        self.at = script, body
        if name == "cat" and target is not None:
            state.files[target] = text
        elif name == "cat" and state.output is not None:
            state.output.append(text)
        elif name == "read":
            return self.statement(script, body, state)
        elif words:
            return self.start(words, state, text)
        return [Ended(state, True)]

    def _read(self, script: Script, node: Node, state: State) -> Text | None:
        """Return the text of `< FILE`, `< <(…)` or `<<< WORD`; None where there is none, or it is not known."""
        expander = self.expander(script, state)
        for child in node.named_children:
            source = child.named_children[-1] if child.named_children else None
            if source is not None and child.type == "herestring_redirect":
                return expander.text(source)
            if source is not None and child.type == "file_redirect" and any(m.type == "<" for m in child.children):
                if source.type == "process_substitution":
                    return self.substitute(script, source, state)
                return self.file(expander.text(source), state)
        return None

    def fed(
        self, script: Script, node: Node, state: State, text: Text | None, target: str | None = None
    ) -> list[Ended]:
        """Follow a command, or a loop, that is given a text to read; `target` is the file that it writes."""
        if node.type == "while_statement":
            return while_statement(self, script, node, state, text)
        words = self.expander(script, state).words([each for each in node.children if each.is_named])
        self.at = script, node
        if text is None or not words:
            return self.statement(script, node, state)
        if known(words[0]) == "envsubst":
            filled = filled_in(text, state, [name for word in words[1:] for name in _NAMES.findall(plain(word))])
            if target is not None:
                state.files[target] = filled
            elif state.output is not None:
                state.output.append(filled)
            return [Ended(state, True)]
        if known(words[0]) in ("mapfile", "readarray"):
            read_lines(words, text, state)
            return [Ended(state, True)]
        if known(words[0]) == "xargs":
            rest = list(dropwhile(lambda word: known(word) in _TAKES_ALL, words[1:]))
            if not rest or plain(rest[0]).startswith("-") or re.search(r"['\"\\\\]", plain(text)):
                return [Ended(state)]
            return self.invoke(script, node, [*rest, *words_of([piece.splitting() for piece in text])], state)
        return self.start(words, state, text)

    def _written(self, script: Script, body: Node, target: str, state: State) -> list[Ended]:
        """Follow a command whose output goes into a file: the output of `echo` is known."""
        inside = state.fork()
        inside.output = []
        ended = self.statement(script, body, inside)
        outputs = ended[0].state.output if len(ended) == 1 else None
        if not outputs or None in outputs:
            above = state.output
            for each in ended:
                each.state.output = above
                each.state.files.pop(target, None)
            return ended
        state.files[target] = tuple(piece for text in outputs if text is not None for piece in text)
        return [Ended(state, True)]

    def _pipeline(self, script: Script, node: Node, state: State) -> list[Ended]:
        """Follow a pipeline: each part is a shell of its own.

        The output of the last one is not known, unless all but the first only put other blanks between words.
        """
        first, *others = node.named_children
        reads = len(others) == 1 and (_name(script, others[0]) in _READS or others[0].type == "while_statement")
        filters = [filter_of_text(script.source(child)) for child in others]
        printed: Text | None = None
        for child in node.named_children:
            part = state.fork()
            filtered = state.output is not None and None not in filters
            part.output = [] if child is first and (filtered or reads) else None
            if reads and child is not first and printed is not None:
                part.output = None if state.output is None else []
                ended = self.fed(script, child, part, printed)
            else:
                ended = self.statement(script, child, part)
            if part.output is not None and len(ended) == 1:
                printed = joined_output(ended[0].state.output)
        for change in filters if printed is not None else ():
            printed = None if change is None or printed is None else change(printed)
        if state.output is not None:
            state.output.append(printed)
        return [Ended(state)]

    def _list(self, script: Script, node: Node, state: State) -> list[Ended]:
        """Follow `a && b`, `a || b`: a program is taken to succeed."""
        first, second = node.named_children[0], node.named_children[-1]
        wants = any(child.type == "&&" for child in node.children)
        ended: list[Ended] = []

        def follow(succeeded: bool | None, state: State) -> list[Ended]:
            return self.statement(script, second, state) if succeeded is wants else [Ended(state, succeeded)]

        for way in self.statement(script, first, state):
            succeeded = way.status is not False
            if way.state.leaving or succeeded is not wants:
                ended.append(way)
            else:
                ended += past_guard(self, way, follow, succeeded)
        return ended


def _name(script: Script, node: Node) -> str:
    """Return the name of the program that a command starts; "" for any other statement."""
    named = node.child_by_field_name("name") if node.type == "command" else None
    return "" if named is None else script.source(named)


def _piped_from(script: Script, node: Node) -> Node | None:
    """Return the command that `cat <<EOF | COMMAND` gives the text to."""
    redirect = next((child for child in node.named_children if child.type == "heredoc_redirect"), None)
    pipeline = (
        next((child for child in redirect.named_children if child.type == "pipeline"), None) if redirect else None
    )
    inner = pipeline.named_children if pipeline is not None else []
    return (
        inner[0]
        if len(inner) == 1 and _name(script, inner[0]) in _READS and _name(script, node.children[0]) == "cat"
        else None
    )


def _from_outside(setting: Setting) -> Variable:
    """Make a variable that the caller gives the script; its text is placed where the setting is written."""
    said, place = setting.value, setting.origin.point if setting.origin else None
    if not isinstance(said, Known) or place is None:
        return LOST
    if said.value is None:
        return Variable((), unset=True)
    # (The place is on a line of its own, in a text that has nothing else on the lines before it.)
    lines = Lines("\n" * (place.line - 1) + " " * place.end_column)
    start = place.line - 1 + place.column - 1
    piece = Piece(str(said.value), place.path, lines, start, start + place.end_column - place.column)
    return Variable(((piece,),), exported=True)
