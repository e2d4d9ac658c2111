"""The shipped vocabulary: every entry is complete, and reviewed and generated facts fit together."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mfsdp_lint import checkout
from mfsdp_lint.core.front_ends import MEGATRON_LM
from mfsdp_lint.core.values import NONE, UNKNOWN, Known, Value
from mfsdp_lint.megatron.vocabulary import NAMES, SETTINGS, default, table
from mfsdp_lint.megatron.vocabulary.tables import SettingEntry, Table, VocabularyError, opposite, raw_data, read_entry
from tools.vocabulary.generate import DECIDING_FILE, deciding

ENTRIES = table().entries


class At:
    """The versions that are asked for."""

    def __init__(self, bridge: str = "0.3.1", core: str = "0.16.1") -> None:
        self.bridge = bridge
        self.core = core


def test_an_entry_says_in_one_sentence_what_it_is() -> None:
    for path, entry in ENTRIES.items():
        assert entry.meaning.endswith("."), path
        assert entry.meaning[0].isupper(), path
        assert not entry.choices or entry.type in ("str", "int"), path


def test_an_entry_is_a_setting_of_some_version() -> None:
    known = table()

    def is_there(entry: SettingEntry) -> bool:
        in_bridge = any(known.default(entry.path, At(bridge, "")) is not None for bridge in known.bridge_versions)
        return in_bridge or any(known.setting_flags(entry, core) for core in known.core_versions)

    # Environment variables are not declared anywhere, and there are more kinds of datasets than the first one.
    missing = [
        path for path, entry in ENTRIES.items() if entry.section not in ("env", "dataset") and not is_there(entry)
    ]
    assert missing == []


def test_a_flag_accepts_no_more_than_the_choices() -> None:
    for core in table().core_versions:
        for path, entry in ENTRIES.items():
            for flag in table().setting_flags(entry, core) if entry.choices else ():
                assert {*(flag.choices or ())} - {None} <= {*entry.choices}, (core, path)


def test_a_default_has_the_type_that_the_entry_says() -> None:
    kinds = {"bool": bool, "int": int, "float": (int, float), "str": str, "dtype": str, "list": list, "object": object}
    for bridge in table().bridge_versions:
        for path, entry in ENTRIES.items():
            value = default(path, At(bridge, ""))
            if isinstance(value, Known) and value != NONE:
                assert isinstance(value.value, kinds[entry.type]), (bridge, path)  # type: ignore[arg-type]
                assert not entry.choices or value.value in entry.choices, (bridge, path)


def test_what_is_there_at_once_is_what_the_table_marks() -> None:
    assert table().deciding == SETTINGS
    assert {path.partition(".")[2] for path in SETTINGS} < NAMES
    assert DECIDING_FILE.read_text(encoding="utf-8") == deciding(checkout.settings())


def test_the_table_is_read_only_when_it_is_asked_for() -> None:
    program = "import sys, mfsdp_lint.megatron.vocabulary; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "mfsdp_lint.megatron.vocabulary.deciding" in loaded
    assert not loaded & {"yaml", "json", "mfsdp_lint.megatron.vocabulary.tables", "mfsdp_lint.core.values"}


def test_compiled_it_is_what_is_edited() -> None:
    assert dict(raw_data()) == checkout.vocabulary()
    assert Table(checkout.vocabulary()).entries == table().entries


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ({"type": "bool"}, "no meaning"),
        ({"type": "boolean", "meaning": "A."}, "is not a type"),
        ({"type": "bool", "meaning": "A.", "choice": []}, "no such key"),
    ],
)
def test_an_entry_that_is_not_right_is_refused(data: dict[str, object], complaint: str) -> None:
    with pytest.raises(VocabularyError, match=complaint):
        read_entry("ddp.x", data)


# Facts that were looked up by hand in the source of these versions.
@pytest.mark.parametrize(
    ("path", "bridge", "value"),
    [
        ("checkpoint.ckpt_format", "0.2.0", Known("torch_dist")),
        ("ddp.data_parallel_sharding_strategy", "head", Known("no_shard")),
        ("ddp.megatron_fsdp_version", "0.6.0", None),
        ("ddp.megatron_fsdp_version", "head", Known(1)),
        ("checkpoint.also_save_hf_checkpoint", "0.5.1", None),
        ("checkpoint.also_save_hf_checkpoint", "0.6.0", Known(False)),
        ("dist.lazy_init", "0.3.1", Known(False)),
        ("dist.lazy_mpu_init", "0.3.1", None),
        ("ddp.megatron_fsdp_main_params_dtype", "0.4.2", Known("torch.float32")),
        ("optimizer.main_grads_dtype", "0.3.1", Known("torch.float32")),
        ("comm_overlap.tp_comm_overlap", "0.3.1", UNKNOWN),  # must be given
        ("model.gradient_accumulation_fusion", "0.3.1", UNKNOWN),  # depends on what is installed
        ("model.share_embeddings_and_output_weights", "0.3.1", Known(True)),
        ("env.CUDA_DEVICE_MAX_CONNECTIONS", "0.3.1", UNKNOWN),
        ("ddp.no_such_setting", "0.3.1", None),
    ],
)
def test_defaults_of_bridge(path: str, bridge: str, value: Value | None) -> None:
    assert default(path, At(bridge)) == value


@pytest.mark.parametrize(
    ("path", "core", "value"),
    [
        ("checkpoint.ckpt_format", "0.12.0", Known("torch_dist")),
        ("ddp.data_parallel_sharding_strategy", "0.17.1", Known("no_shard")),
        ("ddp.data_parallel_sharding_strategy", "0.18.0", Known("optim_grads_params")),
        ("model.gradient_accumulation_fusion", "0.16.1", Known(True)),
        ("model.share_embeddings_and_output_weights", "0.16.1", Known(True)),  # --untie-… is off
        ("checkpoint.load_optim", "0.16.1", Known(True)),  # --no-load-optim is not given
        ("checkpoint.strict_fsdp_dtensor_load", "0.16.1", Known(True)),
        ("checkpoint.strict_fsdp_dtensor_load", "0.13.0", None),
        ("dist.use_gloo_process_groups", "0.12.0", Known(True)),
        ("dist.use_gloo_process_groups", "head", Known(True)),
        ("dist.use_megatron_fsdp", "0.13.0", None),
        ("ddp.use_custom_fsdp", "0.13.1", Known(False)),
        ("ddp.fsdp_all_gather_in_start_param_sync", "0.17.0", Known(True)),  # no flag, so what the class declares
        ("model.params_dtype", "0.16.1", UNKNOWN),  # follows from --bf16 and --fp16
        ("model.bf16", "0.16.1", Known(False)),
        ("mixed_precision.fp8", "0.16.1", None),
    ],
)
def test_defaults_of_the_command_line(path: str, core: str, value: Value | None) -> None:
    assert default(path, At(core=core), MEGATRON_LM) == value


@pytest.mark.parametrize(
    ("flag", "core", "dest", "switches"),
    [
        ("--no-gradient-accumulation-fusion", "0.12.0", "gradient_accumulation_fusion", False),
        ("--no-gradient-accumulation-fusion", "head", "gradient_accumulation_fusion", False),
        ("--no-strict-fsdp-dtensor-load", "0.16.0", "strict_fsdp_dtensor_load", False),  # made from a dataclass
        ("--disable-strict-fsdp-dtensor-load", "0.16.0", "strict_fsdp_dtensor_load", False),
        ("--disable-gloo-process-groups", "0.16.0", "enable_gloo_process_groups", False),
        ("--disable-gloo-process-groups", "head", "use_gloo_process_groups", False),
        ("--use-nccl-ub", "0.13.0", "nccl_ub", True),
        ("--no-load-optim", "0.19.0", "no_load_optim", True),
        ("--te-rng-tracker", "0.16.1", "te_rng_tracker", True),
    ],
)
def test_the_polarity_of_flags(flag: str, core: str, dest: str, switches: bool) -> None:
    found = table().flag(flag, core)
    assert found is not None
    assert (found.dest, found.read()) == (dest, Known(switches))


def test_flags_come_and_go() -> None:
    assert table().flag_versions("--use-custom-fsdp") == ("0.12.0", "0.12.1", "0.12.2", "0.12.3", "0.13.0", "0.13.1")
    assert table().flag_versions("--megatron-fsdp-version") == ("head",)
    assert table().flag("--use-megatron-fsdp", "0.11.0") is None
    assert table().flag_versions("--no-such-flag") == ()


def test_a_removed_name_was_there_until_then() -> None:
    for entry in ENTRIES.values():
        for removed in entry.removed:
            component, line = removed.until.split()
            if component == "core":
                there = table().flag_versions("--" + removed.name.replace("_", "-"))
            else:
                path = f"{entry.section}.{removed.name}"
                there = tuple(each for each in table().bridge_versions if default(path, At(each, "")) is not None)
            assert there[-1].startswith(f"{line}."), removed


def test_one_flag_may_be_several_settings() -> None:
    both = [entry.path for entry in table().by_attribute("use_distributed_optimizer")]
    assert both == ["ddp.use_distributed_optimizer", "optimizer.use_distributed_optimizer"]


@pytest.mark.parametrize(
    ("attribute", "value"),
    [(Known(True), Known(False)), (Known(False), Known(True)), (NONE, Known(True)), (UNKNOWN, UNKNOWN)],
)
def test_an_attribute_that_means_the_opposite(attribute: Value, value: Value) -> None:
    assert opposite(attribute) == value
