"""Estimates of `audit --memory` for a small model, beside what a rank really holds of it (docs/memory.md has the
table).

    python benchmarks/memory.py --python .venv-dryrun/bin/python

PYTHON has torch, megatron-core and megatron-bridge. The ranks are those of the dry run: two processes without a GPU,
four for hybrid sharding, that wrap the model with the real megatron-core and train it four steps. Tables go to
standard output.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from mfsdp_lint.core.recipe import Recipe, Variant  # noqa: E402
from mfsdp_lint.core.settings import WrittenSettings  # noqa: E402
from mfsdp_lint.core.values import Known  # noqa: E402
from mfsdp_lint.dryrun.containment import contained  # noqa: E402
from mfsdp_lint.dryrun.inventory import CPU  # noqa: E402
from mfsdp_lint.dryrun.outcome import PlainSettings, RunOutcome  # noqa: E402
from mfsdp_lint.dryrun.proxy import BASE  # noqa: E402
from mfsdp_lint.dryrun.ranks import (  # noqa: E402
    AGENT,
    ALONE,
    Answers,
    By,
    RunRequest,
    Tell,
    job,
    launched,
    limit,
    read,
)
from mfsdp_lint.megatron.versions import resolve_target  # noqa: E402
from mfsdp_lint.memory.estimate import Footprint, memory  # noqa: E402
from mfsdp_lint.memory.facts import DDP, DISTRIBUTED, MEGATRON, TORCH, Wrapping, wrappings  # noqa: E402

TOLERANCE = 0.05
RANKS, RANKS_OF_HYBRID = 2, 4

MODEL: PlainSettings = {
    "model.__class__": "megatron.bridge.models.gpt_provider.GPTModelProvider",
    "model.transformer_layer_spec": "<function megatron.bridge.models.gpt_provider.default_layer_spec>",
    "model.num_layers": 4,
    "model.hidden_size": 128,
    "model.ffn_hidden_size": 512,
    "model.num_attention_heads": 8,
    "model.num_query_groups": 4,
    "model.vocab_size": 2048,
    "model.gated_linear_unit": True,
    "model.normalization": "RMSNorm",
    "model.add_bias_linear": False,
    "model.bf16": True,
    "model.params_dtype": "torch.bfloat16",
    "model.pipeline_dtype": "torch.bfloat16",
    "optimizer.bf16": True,
    "optimizer.params_dtype": "torch.bfloat16",
    "ddp.grad_reduce_in_fp32": True,
    "optimizer.weight_decay": 0.0,
    "scheduler.start_weight_decay": 0.0,
    "scheduler.end_weight_decay": 0.0,
}
"""A dense model in bf16, large enough that what pads its buffers does not matter."""

FP32: PlainSettings = dict.fromkeys(
    ("model.params_dtype", "model.pipeline_dtype", "optimizer.params_dtype"), "torch.float32"
)

EXPERTS: PlainSettings = {
    **MODEL,
    "model.num_moe_experts": 4,
    "model.moe_ffn_hidden_size": 256,
    "model.moe_router_topk": 2,
    "model.expert_model_parallel_size": 2,
    "model.moe_token_dispatcher_type": "alltoall",
}

SOME = (Wrapping(DDP), Wrapping(DISTRIBUTED), Wrapping(MEGATRON, "optim_grads_params"))

CASES = (
    ("A dense model", MODEL, wrappings(2)),
    ("A model with experts, EP 2", EXPERTS, wrappings(2)),
    ("A dense model, TP 2", {**MODEL, "model.tensor_model_parallel_size": 2}, SOME[:2]),
    ("A dense model, PP 2", {**MODEL, "model.pipeline_model_parallel_size": 2}, SOME[:2]),
    ("A dense model, gradients in bf16", {**MODEL, "ddp.grad_reduce_in_fp32": False}, SOME),
    ("A dense model in fp32", {**MODEL, **dict.fromkeys(("model.bf16", "optimizer.bf16"), False), **FP32}, SOME),
)
"""Models, and the ways in which each is wrapped."""

ASSUMED: PlainSettings = {
    "mixed_precision": None,
    "comm_overlap": None,
    "peft": None,
    "model.tensor_model_parallel_size": 1,
    "model.pipeline_model_parallel_size": 1,
    "model.context_parallel_size": 1,
    "model.expert_model_parallel_size": 1,
    "model.expert_tensor_parallel_size": None,
    "model.pipeline_model_parallel_layout": None,
    "model.virtual_pipeline_model_parallel_size": None,
    "model.num_layers_in_first_pipeline_stage": None,
    "model.num_layers_in_last_pipeline_stage": None,
    "model.account_for_embedding_in_pipeline_split": False,
    "model.account_for_loss_in_pipeline_split": False,
    "model.kv_channels": None,
    "model.num_moe_experts": None,
    "model.multi_latent_attention": False,
    "model.should_pad_vocab": False,
    "model.add_qkv_bias": False,
    "model.qk_layernorm": False,
    "model.moe_shared_expert_intermediate_size": None,
    "model.fp16": False,
    "optimizer.optimizer": "adam",
    "optimizer.fp16": False,
    "optimizer.optimizer_cpu_offload": False,
    "ddp.preserve_fp32_weights": True,
    "ddp.fp8_param_gather": False,
}
"""The defaults of megatron-bridge 0.3.1 that the estimate asks for."""


@dataclass(frozen=True)
class Row:
    """A part of the model state of one way of wrapping, in bytes on the fullest rank."""

    wrapping: Wrapping
    ranks: int
    part: str
    estimated: int | None
    measured: int | None
    why: str = ""

    @property
    def off(self) -> float | None:
        if self.estimated is None or self.measured is None:
            return None
        return (self.estimated - self.measured) / max(self.measured, 1)


def estimate(settings: PlainSettings, wrapping: Wrapping, ranks: int) -> Footprint:
    """Return the tool's estimate for settings with this wrapping."""
    known = {**ASSUMED, **BASE, **settings, **wrapping.settings()}
    variant = Variant(WrittenSettings.of({path: Known(value) for path, value in known.items()}))
    recipe = Recipe("proxy", "proxy", "proxy", 1, "configuration", (variant,))
    found = memory(recipe, resolve_target(bridge="0.3.1"), ranks)
    if found.own is None:
        raise SystemExit(f"{wrapping.label}: {found.why or 'none of the ways is its own'}")
    return found.own


def rows(settings: PlainSettings, wrapping: Wrapping, ranks: int, outcome: RunOutcome) -> Iterator[Row]:
    """Yield the estimates beside the bytes on the fullest rank."""
    failure = outcome.failure
    why = failure.message.splitlines()[0][:100] if failure and failure.message else ""
    names = {
        "parameters": "weights",
        "gradients": "gradients",
        "main parameters": "main",
        "optimizer states": "moments",
    }
    for part, amount in estimate(settings, wrapping, ranks).amounts:
        held = [rank.bytes[names[part]] for rank in outcome.ranks if rank.bytes]
        # A step that fails has no states; what was there before it counts.
        measured = max(held) if held and (failure is None or part != "optimizer states") else None
        yield Row(wrapping, ranks, part, amount.bytes, measured, why or amount.why)


def compare(python: str, settings: PlainSettings, tried: Sequence[Wrapping], timeout: float = 120) -> list[Row]:
    """Wrap the model in these ways, with the ranks that each takes."""
    found: list[Row] = []
    fsdp2 = [each for each in tried if each.kind == TORCH]
    hybrid = [each for each in tried if each.instances > 1]
    rest = [each for each in tried if each not in (*fsdp2, *hybrid)]
    for these, ranks in ((rest, RANKS), (fsdp2, RANKS), (hybrid, RANKS_OF_HYBRID)):
        if not these:
            continue
        by = _with_fsdp2(python, timeout) if these is fsdp2 else launched(python, timeout=timeout)
        questions = [
            RunRequest(each.key.replace(":", "-"), _trained(settings, each, ranks), BASE, ranks) for each in these
        ]
        outcomes, _ = by(questions, lambda text: print(f"  {text}", file=sys.stderr))
        for each, question in zip(these, questions, strict=True):
            found += rows(settings, each, ranks, outcomes[question.name])
    return found


def _with_fsdp2(python: str, timeout: float) -> By:
    """Make launches in which torch FSDP2 can be wrapped (see memory_fsdp2.py)."""

    def by(questions: Sequence[RunRequest], tell: Tell) -> Answers:
        ranks = questions[0].ranks
        with contained(python) as launch:
            document = job(questions, timeout, CPU, str(launch.directory / "tmp"))
            (launch.directory / "job.json").write_text(json.dumps(document), encoding="utf-8")
            answers = launch.directory / "answers"
            line = [
                *("--local-addr", "127.0.0.1", "--nproc-per-node", str(ranks)),
                *(str(ROOT / "benchmarks" / "memory_fsdp2.py"), str(launch.directory / "job.json"), str(answers)),
            ]
            process = launch.start(
                launch.command("torch.distributed.run", *ALONE, *AGENT, *line), output="launcher.log"
            )
            try:
                process.wait(limit(questions, timeout, CPU))
            finally:
                process.kill()
            return read(answers, [question.name for question in questions], ranks)

    return by


def _trained(settings: PlainSettings, wrapping: Wrapping, ranks: int) -> PlainSettings:
    """Return the settings for the ranks: with the batch that they need, and the formats that go with the wrapping."""
    fsdp = {"checkpoint.ckpt_format": "fsdp_dtensor"} if wrapping.kind == "megatron_fsdp" else {}
    late = {} if wrapping.kind in ("megatron_fsdp", "distributed_optimizer") else {"ddp.overlap_param_gather": False}
    batch = {"train.global_batch_size": 2 * ranks}
    return {**settings, **wrapping.settings(), **fsdp, **late, **batch}


def table(found: Sequence[Row]) -> str:
    """Write Markdown: a way of wrapping a line, `estimated / measured` a cell; failed and unknown parts below."""
    parts = list(dict.fromkeys(row.part for row in found))
    lines = [f"| wrapped as | ranks | {' | '.join(parts)} | off by |", f"|---|---:|{'---:|' * len(parts)}---:|"]
    notes: dict[str, list[str]] = {}
    for (wrapping, ranks), group in groupby(found, key=lambda row: (row.wrapping, row.ranks)):
        rows = list(group)
        off = max((abs(row.off) for row in rows if row.off is not None), default=None)
        cells = [f"{_spelled(row.estimated)} / {_spelled(row.measured)}" for row in rows]
        shown = "" if off is None else f"{off:.2%}"
        lines.append(f"| {wrapping.label} | {ranks} | {' | '.join(cells)} | {shown} |")
        for why in dict.fromkeys(row.why for row in rows if row.why):
            notes.setdefault(why, []).append(wrapping.label)
    return "\n".join([*lines, "", *(f"- {'; '.join(labels)}: {why}" for why, labels in notes.items())])


def _spelled(size: int | None) -> str:
    return "?" if size is None else f"{size:,}"


def main() -> int:
    """Print both tables. Return exit code 1 if an estimate is off by more than the tolerance."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=".venv-dryrun/bin/python")
    arguments = parser.parse_args()
    found = []
    for name, settings, tried in CASES:
        these = compare(str(Path(arguments.python).absolute()), settings, tried)
        print(f"{name}\n\n{table(these)}\n")
        found += these
    return int(any(row.off is not None and abs(row.off) > TOLERANCE for row in found))


if __name__ == "__main__":
    sys.exit(main())
