"""What a flag of Megatron-LM's command line makes of the words behind it, as argparse would."""

from __future__ import annotations

import pytest

from mfsdp_lint.core.values import NOT_NONE, UNKNOWN, Known, Value
from mfsdp_lint.megatron.vocabulary.tables import Flag

FORMATS = ("torch", "torch_dist", "fsdp_dtensor")


@pytest.mark.parametrize(
    ("flag", "words", "value"),
    [
        (Flag(("--use-megatron-fsdp",), "use_megatron_fsdp", "store_true"), [], Known(True)),
        (Flag(("--no-fusion",), "fusion", "store_false"), [], Known(False)),
        (Flag(("--use-megatron-fsdp",), "use_megatron_fsdp", "store_true"), ["1"], UNKNOWN),
        (Flag(("--ckpt-format",), "ckpt_format", choices=FORMATS), ["torch"], Known("torch")),
        (Flag(("--ckpt-format",), "ckpt_format", choices=FORMATS), ["zarr"], UNKNOWN),
        (Flag(("--ckpt-format",), "ckpt_format"), [], UNKNOWN),
        (Flag(("--size",), "size", type="int"), ["8"], Known(8)),
        (Flag(("--size",), "size", type="int"), ["8.0"], UNKNOWN),
        (Flag(("--scale",), "scale", type="float"), ["1e-4"], Known(1e-4)),
        (Flag(("--safe",), "safe", type="bool"), ["False"], Known(True)),
        (Flag(("--modules",), "modules", nargs="+"), ["mlp", "moe_act"], Known(["mlp", "moe_act"])),
        (Flag(("--ramp",), "ramp", type="int", nargs=3), ["16", "16", "256"], Known([16, 16, 256])),
        (Flag(("--ramp",), "ramp", type="int", nargs=3), ["16"], UNKNOWN),
        (Flag(("--maybe",), "maybe", nargs="?", const="all"), [], Known("all")),
        (Flag(("--quick",), "speed", "store_const", const=3), [], Known(3)),
        (Flag(("--scope",), "scope", type="parse_scope"), ["full"], NOT_NONE),
        (Flag(("--backend",), "backend", type="Backend", choices=("flash", "auto")), ["flash"], Known("flash")),
        (Flag(("--all",), "all", "append"), ["a"], NOT_NONE),
    ],
)
def test_what_a_flag_makes_of_its_words(flag: Flag, words: list[str], value: Value) -> None:
    assert flag.read(words) == value
