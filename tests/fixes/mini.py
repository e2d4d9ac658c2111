"""A very small reader and judge, enough to prove fixes on: functions that assign literals to settings of `cfg`.

    def common(): cfg = Config(checkpoint=Checkpoint(save="x")); return cfg
    def one_config(): cfg = common(); cfg.ddp.use_megatron_fsdp = True; helper(cfg); return cfg

Functions whose names end in `_config` are recipes; `if name:` forks. A checkpoint constructor has a default format.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from mfsdp_lint.core.finding import Severity
from mfsdp_lint.core.recipe import How, Origin, Recipe, Setting, Span, Variant
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import Known, Plain
from mfsdp_lint.fixes.judged import Broken, FixRequest, Judged, Need
from mfsdp_lint.fixes.statements import PythonFile, parse

Settings = dict[str, Setting]
FSDP, FORMAT, AVERAGE = "ddp.use_megatron_fsdp", "checkpoint.ckpt_format", "ddp.average_in_collective"


@dataclass(frozen=True)
class Rule:
    """Broken where `when` all hold (what nobody sets counts as None) and `wrong` has not the value `right`."""

    code: str
    when: Mapping[str, Plain]
    wrong: str
    right: Plain
    severity: Severity = "error"
    fixable: bool = True
    also: Mapping[str, Plain] = field(default_factory=dict)


FORMAT_RULE = Rule("FORMAT", {FSDP: True}, FORMAT, "fsdp_dtensor")
AVERAGE_RULE = Rule("AVERAGE", {FSDP: True}, AVERAGE, False, "warning")


@dataclass
class Project:
    """Files by path, and the rules that they are judged by. `calls` counts the evaluations."""

    files: Mapping[str, str]
    rules: tuple[Rule, ...] = (FORMAT_RULE,)
    calls: int = 0

    def text(self, path: str) -> str:
        return self.files[path]

    def is_linted(self, path: str) -> bool:
        return path in self.files and not path.startswith("upstream/")

    def evaluate(self, overlay: Mapping[str, str]) -> Judged:
        self.calls += 1
        texts = {**self.files, **overlay}
        read = {path: parse(path, text) for path, text in texts.items()}
        files = [file for file in read.values() if file]
        recipes = list(_Reader(files).recipes())
        broken = [
            (rule, recipe, variant)
            for rule in self.rules
            for recipe, variant in _all(recipes)
            if _is_broken(rule, variant)
        ]
        return Judged(
            recipes,
            [Broken(rule.code, rule.severity, recipe, variant) for rule, recipe, variant in broken],
            [request for rule in self.rules if rule.fixable for request in self._requests(rule, recipes, broken)],
            [path for path, file in read.items() if file is None],
        )

    def _requests(
        self, rule: Rule, recipes: list[Recipe], broken: list[tuple[Rule, Recipe, Variant]]
    ) -> Iterator[FixRequest]:
        bad = [(recipe, variant) for other, recipe, variant in broken if other is rule]
        groups: dict[Span, list[Need]] = defaultdict(list)
        for recipe, variant in bad:
            origin, anchor = variant.origin(rule.wrong), variant.origin(next(iter(rule.when)))
            fine = [other for _, other in _all(recipes) if not any(other is each for _, each in bad)]
            shared = any(_point(other.origin(rule.wrong)) == _point(origin) for other in fine)
            point = (anchor or origin) if origin is None or shared or not self.is_linted(origin.span.path) else origin
            need = Need(recipe, variant, {rule.wrong: rule.right, **rule.also}, (), tuple(rule.when))
            groups[point.point if point else Span(recipe.path, recipe.line, 1, recipe.line, 1)].append(need)
        for span, needs in sorted(groups.items()):
            yield FixRequest(f"{rule.code} {span}", rule.code, rule.severity, "safe", tuple(needs))


def _all(recipes: list[Recipe]) -> Iterator[tuple[Recipe, Variant]]:
    return ((recipe, variant) for recipe in recipes for variant in recipe.variants)


def _point(origin: Origin | None) -> Span | None:
    return origin.point if origin else None


def _is_broken(rule: Rule, variant: Variant) -> bool:
    def value(path: str) -> Plain:
        known = variant.value(path)
        return known.value if isinstance(known, Known) else None

    return all(value(path) == wanted for path, wanted in rule.when.items()) and value(rule.wrong) != rule.right


class _Reader:
    def __init__(self, files: list[PythonFile]) -> None:
        self.functions = {
            node.name: (file, node) for file in files for node in file.tree.body if isinstance(node, ast.FunctionDef)
        }
        self.writes = 0

    def recipes(self) -> Iterator[Recipe]:
        for name, (file, node) in self.functions.items():
            if name.endswith("_config"):
                variants = tuple(
                    Variant(WrittenSettings(settings), when) for settings, when in self.run(file, node.body, [({}, ())])
                )
                yield Recipe(name, name, file.document.path, node.lineno, "function", variants)

    def run(
        self, file: PythonFile, body: list[ast.stmt], ways: list[tuple[Settings, tuple[str, ...]]]
    ) -> list[tuple[Settings, tuple[str, ...]]]:
        for statement in body:
            if isinstance(statement, ast.If):
                test = file.source(statement.test)
                on = [({**settings}, (*when, test)) for settings, when in ways]
                off = [(settings, (*when, f"not {test}")) for settings, when in ways]
                ways = self.run(file, statement.body, on) + self.run(file, statement.orelse, off)
            else:
                ways = [each for settings, when in ways for each in self.step(file, statement, settings, when)]
        return ways

    def step(
        self, file: PythonFile, statement: ast.stmt, settings: Settings, when: tuple[str, ...]
    ) -> list[tuple[Settings, tuple[str, ...]]]:
        match statement:
            case ast.Assign(value=ast.Call(func=ast.Name("Config"), keywords=sections)):
                for section in sections:
                    call = section.value
                    assert isinstance(call, ast.Call)
                    if section.arg == "checkpoint":
                        self.write(file, settings, FORMAT, "torch_dist", call, None, "default")
                    for argument in call.keywords:
                        value = ast.literal_eval(argument.value)
                        path = f"{section.arg}.{argument.arg}"
                        self.write(file, settings, path, value, call, argument.value, "argument")
            case ast.Assign(value=ast.Call(func=ast.Name(name))) | ast.Expr(value=ast.Call(func=ast.Name(name))):
                other, function = self.functions[name]
                return [(more, (*when, *extra)) for more, extra in self.run(other, function.body, [({**settings}, ())])]
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Attribute(attr=section_name), attr=leaf)], value=expression
            ):
                path = f"{section_name}.{leaf}"
                self.write(file, settings, path, ast.literal_eval(expression), statement, expression, "assigned")
        return [(settings, when)]

    def write(
        self, file: PythonFile, settings: Settings, path: str, value: Plain,
        whole: ast.expr | ast.stmt, focus: ast.expr | None, how: How,
    ) -> None:  # fmt: skip
        def span(node: ast.expr | ast.stmt) -> Span:
            return file.document.lines.span(file.document.path, *file.range(node))

        self.writes += 1
        earlier = settings[path].origin if path in settings else None
        origin = Origin(span(whole), how, span(focus) if focus else None, order=self.writes, earlier=earlier)
        settings[path] = Setting(path, Known(value), origin)
