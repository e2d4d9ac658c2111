"""Groups of ranks over which model state is split and sharded, and their sizes.

Facts: megatron-core 0.16.1, core/parallel_state.py:738-743 (sizes) and 787-791 (experts). The groups that shard have
the ranks of context parallelism in them (`with_context_parallel=True`).
"""

from __future__ import annotations

from mfsdp_lint.core.records import dataclass
from mfsdp_lint.memory.facts import Facts, NotKnown


@dataclass(frozen=True, slots=True)
class Layout:
    """The parallel sizes of a run. `expert_tensor` is what an expert's weights are split by."""

    tensor: int
    pipeline: int
    context: int
    expert: int
    expert_tensor: int

    def shards(self, ranks: int) -> int:
        """Count the ranks that have the same part of the dense weights. Raises NotKnown if they divide unevenly."""
        part = self.tensor * self.pipeline
        if ranks % (part * self.context):
            raise NotKnown(f"{ranks} ranks do not divide by TP × PP × CP = {part * self.context}")
        return ranks // part

    def expert_shards(self, ranks: int) -> int:
        """Count the ranks that have the same experts. Raises NotKnown if the ranks do not divide evenly."""
        part = self.expert_tensor * self.expert * self.pipeline
        if ranks % part:
            raise NotKnown(f"{ranks} ranks do not divide by ETP × EP × PP = {part}")
        return ranks // part


def layout_of(facts: Facts) -> Layout:
    """Read the sizes from settings. Raises NotKnown."""
    tensor = facts.size("model.tensor_model_parallel_size")
    return Layout(
        tensor=tensor,
        pipeline=facts.size("model.pipeline_model_parallel_size"),
        context=facts.size("model.context_parallel_size"),
        expert=facts.size("model.expert_model_parallel_size", 1),
        expert_tensor=facts.size("model.expert_tensor_parallel_size", tensor),
    )
