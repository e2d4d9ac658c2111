"""One question to a rank: build, wrap, train, save and load the proxy model, by the calls that the launcher makes."""

import contextlib
import datetime
import inspect
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from . import measure
from .build import build

Answer = dict[str, Any]
At = Callable[[str], None]


def import_bridge() -> None:
    """Everything that is imported from Megatron-Bridge, so that no question pays for it."""
    import megatron.bridge.training.checkpointing
    import megatron.bridge.training.config
    import megatron.bridge.training.optim
    import megatron.bridge.training.setup
    import megatron.core.distributed.finalize_model_grads  # noqa: F401

    from . import fallbacks

    fallbacks.mend()


def run(question: Mapping[str, Any], rank: int, store: str, answer: Answer, at: At) -> None:
    """Fills in `answer` as it gets on; `at` is told each stage. Raises whatever upstream raises."""
    import torch

    at("build")
    built = build(question["settings"], question["base"])
    answer |= {"no_field": built.no_field, "left_out": built.left_out}
    config = built.config
    if getattr(config.model, "transformer_impl", "local") == "local":
        config.model.transformer_layer_spec = _local_layers
    elif not core_has_transformer_engine():
        raise ImportError("Transformer Engine is not there, for which this job was written")
    at("startup")
    _validate(config)
    at("start")
    torch.distributed.init_process_group(
        question["backend"],
        init_method=f"file://{store}",
        rank=rank,
        world_size=question["world_size"],
        timeout=datetime.timedelta(seconds=question["timeout"]),
    )
    groups = _open_groups(config)
    at("wrap")
    trainer = _Trainer(config, groups)
    answer["wrapped_as"] = type(trainer.model[0]).__name__
    at("first-step")
    trainer.train(0, 1, answer)
    at("step")
    trainer.train(1, question["steps"] - 1, answer)
    trainer.settle()
    answer |= {"bytes": measure.sizes(trainer.model, trainer.optimizer), "sum": measure.total(trainer.optimizer)}
    if torch.cuda.is_available():
        answer["peak"] = torch.cuda.max_memory_allocated()
    if question.get("save"):
        at("save")
        trainer.save(question["save"], question["steps"])
        answer["saved"] = measure.digest(trainer.model, trainer.optimizer)
    if question.get("load"):
        at("load")
        trainer.load(question["load"])
        answer["loaded"] = measure.digest(trainer.model, trainer.optimizer)
        trainer.resume()
        at("step")
        trainer.train(question["steps"], 1, answer)
    answer["stage"] = "done"


def core_has_transformer_engine() -> bool:
    """Whether megatron-core could import it, for real."""
    from megatron.core.models.gpt import gpt_layer_specs

    return bool(getattr(gpt_layer_specs, "HAVE_TE", False))


def wait_for_all() -> None:
    """Until every rank is done, or one is gone."""
    import torch

    with contextlib.suppress(Exception):
        torch.distributed.barrier()


def _validate(config: Any) -> None:
    from megatron.bridge.training.config import runtime_config_update

    runtime_config_update(config)


def _local_layers(config: Any) -> Any:
    """Layers of megatron-core's own modules: Transformer Engine's need a GPU."""
    from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec

    return _call(
        get_gpt_layer_local_spec,
        num_experts=config.num_moe_experts,
        moe_grouped_gemm=False,
        qk_layernorm=config.qk_layernorm,
        normalization=config.normalization,
    )


def _call(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Calls with those keywords that this version of the function takes."""
    takes = inspect.signature(function).parameters
    return function(*arguments, **{name: value for name, value in keywords.items() if name in takes})


def _open_groups(config: Any) -> Any:
    import torch
    from megatron.core import parallel_state, process_groups_config, tensor_parallel

    model = config.model
    _call(
        parallel_state.initialize_model_parallel,
        tensor_model_parallel_size=model.tensor_model_parallel_size,
        pipeline_model_parallel_size=model.pipeline_model_parallel_size,
        virtual_pipeline_model_parallel_size=model.virtual_pipeline_model_parallel_size,
        context_parallel_size=model.context_parallel_size,
        expert_model_parallel_size=model.expert_model_parallel_size,
        expert_tensor_parallel_size=model.expert_tensor_parallel_size,
        num_distributed_optimizer_instances=config.ddp.num_distributed_optimizer_instances,
        order="tp-cp-ep-pp-dp" if config.dist.use_tp_pp_dp_mapping else "tp-cp-ep-dp-pp",
        create_gloo_process_groups=config.dist.use_gloo_process_groups,
    )
    random.seed(config.rng.seed)
    torch.manual_seed(config.rng.seed)
    _call(
        tensor_parallel.model_parallel_cuda_manual_seed,
        config.rng.seed,
        te_rng_tracker=getattr(config.rng, "te_rng_tracker", False),
        use_cudagraphable_rng=getattr(model, "cuda_graph_impl", "none") != "none",
    )
    # megatron-core 0.14 has no such collection, and nothing there asks for one.
    collection = getattr(process_groups_config, "ProcessGroupCollection", None)
    return collection.use_mpu_process_groups() if collection else None


class _Trainer:
    """The wrapped model with its optimizer, and made-up data."""

    def __init__(self, config: Any, groups: Any) -> None:
        from megatron.bridge.training.optim import setup_optimizer
        from megatron.bridge.training.setup import _update_model_config_funcs
        from megatron.core import parallel_state
        from megatron.core.num_microbatches_calculator import init_num_microbatches_calculator
        from megatron.core.utils import get_model_config

        self.config, self.groups = config, groups
        self.model = _call(
            config.model.provide_distributed_model,
            ddp_config=config.ddp,
            use_megatron_fsdp=config.dist.use_megatron_fsdp,
            use_torch_fsdp2=config.dist.use_torch_fsdp2,
            overlap_param_gather_with_optimizer_step=config.optimizer.overlap_param_gather_with_optimizer_step,
            data_parallel_random_init=config.rng.data_parallel_random_init,
            pg_collection=groups,
        )
        self.optimizer, self.scheduler = _call(
            setup_optimizer,
            config.optimizer,
            config.scheduler,
            self.model,
            use_gloo_process_groups=config.dist.use_gloo_process_groups,
            # With these the optimizer takes no gloo groups; without gloo groups it has to have them.
            pg_collection=None if config.dist.use_gloo_process_groups else groups,
        )
        _call(
            _update_model_config_funcs,
            self.model,
            get_model_config(self.model[0]),
            config.ddp,
            self.optimizer,
            align_grad_reduce=config.dist.align_grad_reduce,
            pg_collection=groups,
        )
        self.replicas = parallel_state.get_data_parallel_world_size()
        self.replica = parallel_state.get_data_parallel_rank()
        batch = config.train.global_batch_size, config.train.micro_batch_size
        init_num_microbatches_calculator(0, None, *batch, self.replicas)
        # Plain DDP gathers new parameters late, by hooks that have to be undone before anybody looks at them.
        self.gathers_late = (
            config.ddp.use_distributed_optimizer
            and config.ddp.overlap_param_gather
            and not config.dist.use_megatron_fsdp
            and not config.dist.use_torch_fsdp2
        )

    def train(self, first: int, count: int, answer: Answer) -> None:
        """Some steps; the loss and the norm of the gradients of each go into `answer`."""
        import torch
        from megatron.core import parallel_state
        from megatron.core.num_microbatches_calculator import get_num_microbatches
        from megatron.core.pipeline_parallel import get_forward_backward_func

        for step in range(first, first + count):
            for chunk in self.model:
                if hasattr(chunk, "zero_grad_buffer"):
                    chunk.zero_grad_buffer()
            self.optimizer.zero_grad()
            losses = get_forward_backward_func()(
                forward_step_func=self._forward,
                data_iterator=self._batches(step),
                model=self.model,
                num_microbatches=get_num_microbatches(),
                seq_length=self.config.model.seq_length,
                micro_batch_size=self.config.train.micro_batch_size,
                forward_only=False,
            )
            _, norm, _ = self.optimizer.step()
            self.scheduler.step(increment=self.config.train.global_batch_size)
            if losses:  # only the last pipeline stage has one
                loss = torch.stack([each["loss"] for each in losses]).mean()
                torch.distributed.all_reduce(loss, group=parallel_state.get_data_parallel_group())
                answer.setdefault("losses", []).append(loss.item() / self.replicas)
            answer.setdefault("norms", []).append(None if norm is None else float(norm))

    def _batches(self, step: int) -> Iterator[Any]:
        import torch

        length, vocabulary = self.config.model.seq_length, self.config.model.vocab_size
        size = self.config.train.micro_batch_size
        generator = torch.Generator().manual_seed(1000 + step)
        tokens = torch.randint(
            0, vocabulary, (self.config.train.global_batch_size, length + 1), generator=generator, device="cpu"
        )
        yield from tokens.view(-1, self.replicas, size, length + 1)[:, self.replica].to(_device())

    def _forward(
        self, batches: Iterator[Any], model: Any, return_schedule_plan: bool = False
    ) -> tuple[Any, Callable[[Any], Any]]:
        import torch

        tokens = next(batches)
        size, length = tokens.shape[0], tokens.shape[1] - 1
        positions = torch.arange(length, device=tokens.device).unsqueeze(0).expand(size, length)
        mask = torch.triu(torch.ones(1, 1, length, length, dtype=torch.bool, device=tokens.device), 1)
        # The schedule that overlaps expert communication asks for a plan, and runs it itself.
        run = model.build_schedule_plan if return_schedule_plan else model
        output = run(tokens[:, :-1], positions, mask, labels=tokens[:, 1:])

        def loss_of(losses: Any) -> Any:
            losses = losses.float()
            mean = losses.mean()
            # The schedule divides what it is given in place.
            reported = {"loss": mean.detach().clone()}
            if self.config.model.calculate_per_token_loss:
                return losses.sum(), torch.tensor(losses.numel(), dtype=torch.int), reported
            return mean, reported

        return output, loss_of

    def settle(self) -> None:
        """Before anybody looks at the parameters."""
        for chunk in self.model if self.gathers_late else ():
            chunk.disable_forward_pre_hook(param_sync=True)

    def resume(self) -> None:
        """After that."""
        for chunk in self.model if self.gathers_late else ():
            chunk.enable_forward_pre_hook()

    def save(self, directory: str, step: int) -> None:
        """Through Bridge's own function."""
        from megatron.bridge.training.checkpointing import save_checkpoint

        measure.fill_moments(self.optimizer)
        self.config.checkpoint.save = directory
        state = self._state(step)
        _call(
            save_checkpoint,
            state,
            self.model,
            self.optimizer,
            self.scheduler,
            0,
            checkpointing_context={},
            pg_collection=self.groups,
        )

    def load(self, directory: str) -> None:
        """Likewise."""
        from megatron.bridge.training.checkpointing import load_checkpoint

        measure.fill_moments(self.optimizer)
        self.config.checkpoint.load = directory
        _call(
            load_checkpoint,
            self._state(0),
            self.model,
            self.optimizer,
            self.scheduler,
            checkpointing_context={},
            skip_load_to_model_and_opt=self.config.dist.use_torch_fsdp2 or self.config.dist.use_megatron_fsdp,
        )

    def _state(self, step: int) -> Any:
        from megatron.bridge.training.state import GlobalState

        state = GlobalState()
        state.cfg = self.config
        state.train_state.step = step
        return state


def _device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"
