"""The columns of the audit's table: a few words for several settings.

A value that is not known is `?`, one of several `a|b`; what is off or not set is an en dash; `a→b` is written and will
run. `*` marks what the program's own command line may change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import cache
from itertools import product
from math import prod

from mfsdp_lint.core.recipe import Recipe, Variant
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.core.values import NONE, UNKNOWN, Known, NotNone, OneOf, Plain, Value, possible, spell
from mfsdp_lint.megatron.vocabulary import SETTINGS

OFF = "–"
NOT_KNOWN = "?"
CHANGEABLE = "*"
RUNS = "→"

Alternatives = tuple[str, ...]
"""The possible texts of a cell; one where it is known."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table, and the settings that it is read from."""

    title: str
    settings: tuple[str, ...]
    cell: Callable[[Variant], Alternatives]

    def of(self, recipe: Recipe) -> str:
        """Return the cell of a recipe: the values of its variants, each once, unknown ones last."""
        found = dict.fromkeys(text for variant in recipe.variants for text in self.cell(variant))
        text = "|".join(sorted(found, key=lambda text: text == NOT_KNOWN))
        origins = (variant.origin(path) for variant in recipe.variants for path in self.settings)
        # An option of the program's own command line may change the cell.
        changeable = text != NOT_KNOWN and any(origin is not None and origin.option for origin in origins)
        return text + CHANGEABLE if changeable else text

    def both(self, recipe: Recipe, run: Recipe) -> str:
        """Return the cell of a recipe, with that after start-up if it is known to be another: `yes→no`."""
        written, changed = self.of(recipe), self.of(run)
        return written if changed in (written, NOT_KNOWN, written.rstrip(CHANGEABLE)) else f"{written}{RUNS}{changed}"


def spelled(value: Value) -> Alternatives:
    """Spell a value in a cell: text without quotes, None as a dash."""
    if isinstance(value, NotNone):
        return ("set",)

    def text(option: Plain) -> str:
        match option:
            case None:
                return OFF
            case str():
                return option or '""'
            case bool():
                return "yes" if option else "no"
            case _:
                return spell(option)

    options = possible(value)
    return (NOT_KNOWN,) if options is None else tuple(map(text, options))


def plain_column(path: str, title: str = "") -> Column:
    """Make a column for one setting, as it is."""
    return Column(title or path, (path,), lambda variant: spelled(variant.value(path)))


_MOST_COMBINATIONS = 2


def _joined(parts: Sequence[Alternatives]) -> Alternatives:
    """Join cells side by side: `8/4/1/1`; if there are many combinations, `(4|8)/(1|2)/1/1`."""
    if prod(map(len, parts)) <= _MOST_COMBINATIONS:
        return tuple("/".join(each) for each in product(*parts))
    return ("/".join(f"({'|'.join(part)})" if len(part) > 1 else part[0] for part in parts),)


# -- switches ------------------------------------------------------------------------------------------------------


def _on(value: Value) -> bool | None:
    """Return Python's truth of a value, None if it depends."""
    options = possible(value)
    if options is None:
        return None
    truths = {bool(option) for option in options}
    return truths.pop() if len(truths) == 1 else None


_FSDP = {
    (True, True): ("both",),
    (True, False): ("megatron-fsdp",),
    (False, True): ("torch-fsdp2",),
    (False, False): (OFF,),
    (True, None): ("megatron-fsdp", "both"),
    (None, True): ("torch-fsdp2", "both"),
}
"""The cell for the switches of Megatron-FSDP and of torch's."""


def _fsdp(variant: Variant) -> Alternatives:
    # Bridge takes either switch of Megatron-FSDP for both.
    either = [_on(variant.value(path)) for path in ("dist.use_megatron_fsdp", "ddp.use_megatron_fsdp")]
    megatron = True if True in either else None if None in either else False
    return _FSDP.get((megatron, _on(variant.value("dist.use_torch_fsdp2"))), (NOT_KNOWN,))


def _is_set(value: Value) -> Alternatives:
    options = possible(value)
    if isinstance(value, NotNone):
        return ("yes",)
    if options is None:
        return (NOT_KNOWN,)
    return tuple(dict.fromkeys("no" if option is None else "yes" for option in options))


_STRATEGY = "ddp.data_parallel_sharding_strategy"
_SAVE_LOAD = ("checkpoint.save", "checkpoint.load")

_SIZES = (
    "model.tensor_model_parallel_size",
    "model.pipeline_model_parallel_size",
    "model.context_parallel_size",
    "model.expert_model_parallel_size",
)

_OFFLOADS = (
    ("model.cpu_offloading", "cpu"),
    ("model.fine_grained_activation_offloading", "act"),
    ("optimizer.optimizer_cpu_offload", "optim"),
)


def _offload(variant: Variant) -> Alternatives:
    if "model.cpu_offloading" not in variant.settings:
        return (NOT_KNOWN,)
    # A release without one of the settings has nothing to switch on.
    states = {name: _on(variant.value(path)) for path, name in _OFFLOADS if path in variant.settings}
    return ("+".join(name if on else f"{name}?" for name, on in states.items() if on is not False) or OFF,)


# -- precision ------------------------------------------------------------------------------------------------------

_BASES = ("fp32", "fp16", "bf16")


def _precision(variant: Variant) -> Alternatives:
    """Return a registered recipe's name without common affixes, else the recipe object's own: `fp8 delayed`."""
    recipe = variant.value("mixed_precision")
    if isinstance(recipe, (Known, OneOf)) and None not in (possible(recipe) or ()):
        return tuple(text.removesuffix("_mixed").removeprefix("bf16_with_") for text in spelled(recipe))
    # Without a recipe, the model's own switches count.
    section = "model" if recipe == NONE else "mixed_precision"
    bases = [_on(variant.value(f"{section}.{name}")) for name in _BASES]
    if True not in bases and None in bases[1:]:
        return (NOT_KNOWN,)
    base = _BASES[bases.index(True)] if True in bases else _BASES[0]
    narrow = []
    for name in ("fp8", "fp4"):  # a release may lack the setting
        path = f"{section}.{name}"
        on = _on(variant.value(path)) if path in variant.settings else False
        how = variant.value(f"{path}_recipe")
        if on is not False:
            narrow.append(f"{name}?" if on is None else f"{name} {how.value}" if isinstance(how, Known) else name)
    # Tensors that are not in eight or four bits are in bf16, unless the settings have another type.
    return ("+".join(narrow if narrow and base == "bf16" and "?" not in narrow[0] else [base, *narrow]),)


COLUMNS = (
    Column("FSDP", ("dist.use_megatron_fsdp", "ddp.use_megatron_fsdp", "dist.use_torch_fsdp2"), _fsdp),
    Column(
        "strategy",
        (_STRATEGY,),
        # It has no meaning without FSDP, and a default that would mislead.
        lambda variant: (OFF,) if _fsdp(variant) == (OFF,) else spelled(variant.value(_STRATEGY)),
    ),
    plain_column("checkpoint.ckpt_format", "format"),
    Column("save/load", _SAVE_LOAD, lambda variant: _joined([_is_set(variant.value(path)) for path in _SAVE_LOAD])),
    Column("TP/PP/CP/EP", _SIZES, lambda variant: _joined([spelled(variant.value(path)) for path in _SIZES])),
    Column("offload", tuple(path for path, _ in _OFFLOADS), _offload),
    plain_column("model.recompute_granularity", "recompute"),
    Column("precision", ("mixed_precision", "model.bf16", "model.fp16", "model.fp8"), _precision),
)
"""The columns that the table shows when nobody chooses."""


def chosen(recipe: Recipe, globs: Sequence[str]) -> list[str]:
    """List the settings of a recipe that a glob matches (all, if there are no globs), by section, then by name."""
    there = recipe.paths()
    # A field that is forwarded to a part (from 0.7 on `model.X` is `model.transformer.X`) goes by both names.
    named = set(there)
    there += [path for path in SETTINGS if path not in named and recipe.setting(path).value != UNKNOWN]
    if not globs:
        return sorted(there)
    wanted = tuple(globs)
    paths = [path for path in there if matches(path, wanted)]
    # A setting that a glob names in full is asked for, known or not.
    paths += [glob for glob in globs if "." in glob and not set("*?[") & set(glob)]
    return sorted(dict.fromkeys(paths))


@cache
def matches(path: str, globs: tuple[str, ...]) -> bool:
    """Tell whether a glob matches a path; a section's name matches all settings in it."""
    return any(fnmatchcase(path, glob) or path.startswith(glob + ".") for glob in globs)
