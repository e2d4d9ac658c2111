"""The eight ways in which people write settings, and a user's project for each.

A shape writes a pitfall into a small project on top of an upstream recipe. What varies from one person to the next
(a table of paths or a nested one, a helper that returns or one that changes its argument) is drawn from a seeded
generator, and so is whether the files of others are passed to the linter.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.injected.pitfalls import ENVIRONMENT, Pitfall
from benchmarks.injected.recipes import UpstreamRecipe
from mfsdp_lint.core.values import Plain, spell
from mfsdp_lint.megatron.vocabulary import SWITCHES

Item = tuple[str, Plain]


@dataclass(frozen=True, slots=True)
class Project:
    """The files of a user by path, those that the linter is asked to fix, and how others call its recipes.

    `calls` are expressions after `import user`, one for each value of what a caller may decide. `alone` are scripts,
    which nobody calls.
    """

    files: Mapping[str, str]
    passed: tuple[str, ...]
    calls: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()


Shape = Callable[[UpstreamRecipe, Pitfall, random.Random], Project]


def assignment(recipe: UpstreamRecipe, pitfall: Pitfall, chance: random.Random) -> Project:
    """Write `cfg.checkpoint.ckpt_format = "torch_dist"`."""
    return _one_recipe(recipe, [], _assigned(pitfall.settings.items(), chance))


def alias(recipe: UpstreamRecipe, pitfall: Pitfall, chance: random.Random) -> Project:
    """Write `checkpoint = cfg.checkpoint`, and an assignment to that; or another name for the whole configuration."""
    items = list(pitfall.settings.items())
    if chance.random() < 0.3:
        return _one_recipe(recipe, [], ["config = cfg", *_assigned(items, chance, "config")])
    whole = [item for item in items if "." not in item[0] or _outside(item[0])]
    inside = [item for item in items if item not in whole]
    lines = _assigned(whole, chance)
    lines += [f"{section}_of_mine = cfg.{section}" for section in _nested(inside)]
    for path, value in inside:
        section, _, name = path.partition(".")
        lines.append(_commented(f"{section}_of_mine.{name} = {spell(value)}", chance))
    return _one_recipe(recipe, [], lines)


def keyword(recipe: UpstreamRecipe, pitfall: Pitfall, chance: random.Random) -> Project:
    """Write `replace(cfg.checkpoint, ckpt_format="torch_dist")`, or keywords of a helper with other callers."""
    items = [item for item in pitfall.settings.items() if "." in item[0] and not _outside(item[0])]
    first = _assigned((item for item in pitfall.settings.items() if item not in items), chance)
    match chance.randrange(3):
        case 0:
            lines = list(first)
            for section, values in _nested(items).items():
                inside = ", ".join(f"{name}={spell(value)}" for name, value in values.items())
                lines.append(_commented(f"cfg.{section} = replace(cfg.{section}, {inside})", chance))
            return _one_recipe(recipe, ["from dataclasses import replace"], lines)
        case 1:
            helper = [
                "def tuned(cfg, **settings):",
                "    for name, value in settings.items():",
                '        section, _, field = name.partition("__")',
                "        setattr(getattr(cfg, section), field, value)",
                "    return cfg",
            ]
            call = _call("tuned", {path.replace(".", "__"): value for path, value in items}, chance)
            return _one_recipe(recipe, [], [*first, *call], helper)
    names = {path: path.replace(".", "_") for path, _ in items}
    given = ", ".join(f"{name}=None" for name in names.values())
    helper = [f"def tuned(cfg, {given}):"]
    for path, name in names.items():
        helper += [f"    if {name} is not None:", f"        cfg.{path} = {name}"]
    helper.append("    return cfg")
    call = _call("tuned", {names[path]: value for path, value in items if value is not None}, chance)
    # What is said by None means "leave it" to such a helper.
    direct = _assigned((item for item in items if item[1] is None), chance)
    good = _recipe("good_config", recipe, ["cfg = tuned(cfg)"])
    return _project(
        _head(recipe),
        [helper, _recipe("user_config", recipe, [*first, *direct, *call]), good],
        ("user_config()", "good_config()"),
    )


def table(recipe: UpstreamRecipe, pitfall: Pitfall, chance: random.Random) -> Project:
    """Write a dictionary, nested or of whole paths, or a list of pairs, and the loop that applies it."""
    items = [item for item in pitfall.settings.items() if not _outside(item[0])]
    first = _assigned((item for item in pitfall.settings.items() if _outside(item[0])), chance)
    kind = chance.randrange(3)
    if kind == 0 and all("." in path for path, _ in items):
        lines = ["TABLE = {"]
        for section, values in _nested(items).items():
            lines.append(f"    {spell(section)}: {{")
            lines += [_commented(f"        {spell(name)}: {spell(value)},", chance) for name, value in values.items()]
            lines.append("    },")
        lines.append("}")
        loop = [
            "for section, values in TABLE.items():",
            "    for name, value in values.items():",
            "        setattr(getattr(cfg, section), name, value)",
        ]
    else:
        pairs = kind == 1
        lines = ["TABLE = [" if pairs else "TABLE = {"]
        for path, value in items:
            entry = f"({spell(path)}, {spell(value)})," if pairs else f"{spell(path)}: {spell(value)},"
            lines.append(_commented(f"    {entry}", chance))
        lines.append("]" if pairs else "}")
        loop = [
            f"for path, value in {'TABLE' if pairs else 'TABLE.items()'}:",
            '    *sections, name = path.split(".")',
            "    holder = getattr(cfg, sections[0]) if sections else cfg",
            "    setattr(holder, name, value)",
        ]
    return _one_recipe(recipe, [], [*first, *loop], lines)


def class_attribute(recipe: UpstreamRecipe, pitfall: Pitfall, chance: random.Random) -> Project:
    """Write attributes of a class, or fields of a dataclass, that a recipe takes its values from."""
    items = [item for item in pitfall.settings.items() if not _outside(item[0])]
    lines = _assigned((item for item in pitfall.settings.items() if _outside(item[0])), chance)
    fields = chance.random() < 0.5
    body = ["@dataclass", "class Mine:"] if fields else ["class Mine:"]
    for path, value in items:
        name = path.replace(".", "_")
        simple = isinstance(value, (bool, int, float, str))
        noted = f": {type(value).__name__}" if simple else ": object"
        if isinstance(value, (list, dict)) or not fields:
            noted = ""
        body.append(_commented(f"    {name}{noted} = {spell(value)}", chance))
    if fields:
        lines.append("mine = Mine()")
    holder = "mine" if fields else "Mine"
    lines += [f"cfg.{path} = {holder}.{path.replace('.', '_')}" for path, _ in items]
    return _one_recipe(recipe, ["from dataclasses import dataclass"] if fields else [], lines, body)


def shared_helper(recipe: UpstreamRecipe, pitfall: Pitfall, chance: random.Random) -> Project:
    """Write a helper whose values are wrong for one recipe, right for another, perhaps in a file not passed."""
    inside = [item for item in pitfall.settings.items() if item[0] in pitfall.wrong]
    outside = [item for item in pitfall.settings.items() if item[0] not in pitfall.wrong]
    if chance.random() < 0.5:
        helper = [
            "def common():",
            f"    cfg = {recipe.name}()",
            *_indented(_assigned(inside, chance)),
            "    return cfg",
        ]
        start = "cfg = common()"
    else:
        helper = ["def common(cfg):", *_indented(_assigned(inside, chance))]
        start = f"cfg = {recipe.name}()\n    common(cfg)"
    bad = ["def user_config():", f"    {start}", *_indented(_assigned(outside, chance)), "    return cfg"]
    good = ["def good_config():", f"    {start}", "    return cfg"]
    head = _head(recipe)
    if chance.random() < 0.5:
        return _project(head, [helper, bad, good], ("user_config()", "good_config()"))
    files = {
        "common.py": _joined(head, [helper]),
        "user.py": _joined([*head, "from common import common"], [bad]),
        "good.py": _joined([*head, "from common import common"], [good]),
    }
    passed = tuple(files) if chance.random() < 0.5 else ("common.py", "user.py")
    return Project(files, passed, ("user.user_config()", "good.good_config()"))


def exposed_switch(recipe: UpstreamRecipe, pitfall: Pitfall, chance: random.Random) -> Project:
    """Write a parameter that turns on the feature that conflicts with the rest; one side of it is fine."""
    turning = [path for path, value in pitfall.settings.items() if value is True and path not in pitfall.wrong]
    name, on, off = chance.choice([("fsdp", "True", "False"), ("wrapper", '"fsdp"', '"ddp"')])
    test = name if on == "True" else f"{name} == {on}"
    # What a caller turns on is judged where it is FSDP; what else a parameter does, as it is by default.
    start = chance.choice([on, off]) if set(turning) & set(SWITCHES) else on
    lines: list[str] = []
    inside = chance.random() < 0.5
    for path, value in pitfall.settings.items():
        if path in turning and not inside:
            lines.append(_commented(f"cfg.{path} = {test}", chance))
        elif path not in turning:
            lines += _assigned([(path, value)], chance)
    if not turning:
        lines = [f"if {test}:", *_indented(lines)]
    elif inside:
        lines += [f"if {test}:", *_indented(_assigned(((path, True) for path in turning), chance))]
    body = _recipe("user_config", recipe, lines, f"{name}={start}")
    return _project(_head(recipe), [body], tuple(f"user_config({name}={value})" for value in (on, off)))


def yaml_override(recipe: UpstreamRecipe, pitfall: Pitfall, chance: random.Random) -> Project:
    """Write a file of overrides that the script beside it reads."""
    items = [item for item in pitfall.settings.items() if "." in item[0] and not _outside(item[0])]
    first = _assigned((item for item in pitfall.settings.items() if item not in items), chance)
    text = "# Overrides of this run.\n"
    for section, values in _nested(items).items():
        text += f"{section}:\n"
        text += "".join(_commented(f"  {name}: {_yaml(value)}", chance) + "\n" for name, value in values.items())
    lines = [
        *first,
        "for section, values in yaml.safe_load(OVERRIDES.read_text()).items():",
        "    for name, value in values.items():",
        "        setattr(getattr(cfg, section), name, value)",
        "pretrain(cfg, forward_step)",
    ]
    head = [
        "from pathlib import Path",
        "",
        "import yaml",
        *_head(recipe),
        "from megatron.bridge.training.gpt_step import forward_step",
        "from megatron.bridge.training.pretrain import pretrain",
    ]
    constant = ['OVERRIDES = Path(__file__).parent / "overrides.yaml"']
    main = ["def main():", f"    cfg = {recipe.name}()", *_indented(lines)]
    guard = ['if __name__ == "__main__":', "    main()"]
    files = {"train.py": _joined(head, [constant, main, guard]), "overrides.yaml": text}
    return Project(files, tuple(files), (), ("train.py",))


SHAPES: Mapping[str, Shape] = {
    "assignment": assignment,
    "alias": alias,
    "keyword": keyword,
    "table": table,
    "class attribute": class_attribute,
    "shared helper": shared_helper,
    "exposed switch": exposed_switch,
    "YAML override": yaml_override,
}


def _outside(path: str) -> bool:
    return path.startswith(ENVIRONMENT)


def _head(recipe: UpstreamRecipe) -> list[str]:
    return ["import os", "", f"from {recipe.module} import {recipe.name}"]


def _one_recipe(
    recipe: UpstreamRecipe, imports: Sequence[str], lines: Sequence[str], before: Sequence[str] = ()
) -> Project:
    blocks = [before] if before else []
    return _project([*imports, *_head(recipe)], [*blocks, _recipe("user_config", recipe, lines)], ("user_config()",))


def _project(head: Sequence[str], blocks: Sequence[Sequence[str]], calls: Sequence[str]) -> Project:
    return Project({"user.py": _joined(head, blocks)}, ("user.py",), tuple(f"user.{call}" for call in calls))


def _recipe(name: str, recipe: UpstreamRecipe, lines: Sequence[str], parameters: str = "") -> list[str]:
    return [f"def {name}({parameters}):", f"    cfg = {recipe.name}()", *_indented(lines), "    return cfg"]


def _joined(head: Sequence[str], blocks: Iterable[Sequence[str]]) -> str:
    return "\n\n\n".join("\n".join(block) for block in (head, *blocks)) + "\n"


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _assigned(items: Iterable[Item], chance: random.Random, holder: str = "cfg") -> list[str]:
    lines = []
    for path, value in items:
        name = f'os.environ["{path.removeprefix(ENVIRONMENT)}"]' if _outside(path) else f"{holder}.{path}"
        lines.append(_commented(f"{name} = {spell(value)}", chance))
    return lines


def _call(name: str, keywords: Mapping[str, Plain], chance: random.Random) -> list[str]:
    """Write `cfg = name(cfg, …)` on one line or on many."""
    given = [f"{key}={spell(value)}" for key, value in keywords.items()]
    if chance.random() < 0.5:
        return [f"cfg = {name}(cfg, {', '.join(given)})"]
    return [f"cfg = {name}(", "    cfg,", *(_commented(f"    {each},", chance) for each in given), ")"]


def _nested(items: Iterable[Item]) -> dict[str, dict[str, Plain]]:
    nested: dict[str, dict[str, Plain]] = {}
    for path, value in items:
        section, _, name = path.partition(".")
        nested.setdefault(section, {})[name] = value
    return nested


def _commented(line: str, chance: random.Random) -> str:
    """Add a comment, which has to stay, to some lines."""
    return f"{line}  # note {chance.randrange(1000)}" if chance.random() < 0.4 else line


def _yaml(value: Plain) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str() if value.isdigit():
            return f'"{value}"'
        case _:
            return str(value)
