"""What is planned for settings that should not be set, and for YAML; everything else is in test_apply.py."""

from __future__ import annotations

from mfsdp_lint.core.recipe import Origin, Recipe, Setting, Variant
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import Known, Plain
from mfsdp_lint.fixes.edits import FileText, apply_all
from mfsdp_lint.fixes.judged import FixRequest, Need
from mfsdp_lint.fixes.plan import plan

CONNECTIONS = "env.CUDA_DEVICE_MAX_CONNECTIONS"
WRITE = 'os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "1"'


def origin(path: str, text: str, piece: str, nth: int = 0, earlier: Origin | None = None) -> Origin:
    start = -1
    for _ in range(nth + 1):
        start = text.index(piece, start + 1)
    return Origin(FileText(path, text).lines.span(path, start, start + len(piece)), "assigned", earlier=earlier)


def recipe(path: str, name: str, settings: dict[str, tuple[Plain, Origin | None]]) -> Recipe:
    known = {key: Setting(key, Known(value), where) for key, (value, where) in settings.items()}
    return Recipe(name, name, path, 1, "function", (Variant(WrittenSettings(known)),))


def candidates(files: dict[str, str], recipes: list[Recipe], *needs: Need) -> list[dict[str, str]]:
    request = FixRequest("key", "CODE", "error", "safe", needs)
    (planned,) = plan([request], recipes, files.__getitem__, files.__contains__)
    return [apply_all(files, edits) for edits in planned.candidates]


def test_an_unset_variable_is_taken_out_with_what_it_replaced() -> None:
    text = f"import os\n{WRITE}\nx = 1\n{WRITE}\n"
    first = origin("r.py", text, WRITE)
    one = recipe("r.py", "r", {CONNECTIONS: ("1", origin("r.py", text, WRITE, 1, earlier=first))})
    need = Need(one, one.variants[0], {}, (CONNECTIONS,))
    assert candidates({"r.py": text}, [one], need) == [{"r.py": "import os\nx = 1\n"}]


def test_a_variable_that_somebody_else_needs_stays() -> None:
    text = f"import os\n{WRITE}\n"
    where = origin("r.py", text, WRITE)
    one, two = (recipe("r.py", name, {CONNECTIONS: ("1", where)}) for name in "ab")
    need = Need(one, one.variants[0], {}, (CONNECTIONS,))
    assert candidates({"r.py": text}, [one, two], need) == []


def test_yaml_is_changed_in_place_and_beside_the_anchor() -> None:
    text = "ddp:\n  use_megatron_fsdp: true\n  average_in_collective: true\n"
    where = origin("o.yaml", text, "use_megatron_fsdp: true")
    average = origin("o.yaml", text, "average_in_collective: true")
    settings = {"ddp.use_megatron_fsdp": (True, where), "ddp.average_in_collective": (True, average)}
    one = recipe("o.yaml", "o.yaml", dict(settings))
    wanted: dict[str, Plain] = {"ddp.average_in_collective": False, "checkpoint.ckpt_format": "fsdp_dtensor"}
    need = Need(one, one.variants[0], wanted, (), ("ddp.use_megatron_fsdp",))
    assert candidates({"o.yaml": text}, [one], need)[0] == {
        "o.yaml": "ddp:\n  use_megatron_fsdp: true\n  average_in_collective: false\n"
        "checkpoint:\n  ckpt_format: fsdp_dtensor\n"
    }


def test_nothing_is_planned_where_every_value_is_as_it_should_be() -> None:
    one = recipe("r.py", "r", {"checkpoint.ckpt_format": ("fsdp_dtensor", None)})
    need = Need(one, one.variants[0], {"checkpoint.ckpt_format": "fsdp_dtensor"})
    assert candidates({"r.py": ""}, [one], need) == []
