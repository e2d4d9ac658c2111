"""The wrapped proxy model with its optimizer: trained, saved and loaded by the calls that the launcher makes."""

import ast
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from . import measure
from .build import call

Answer = dict[str, Any]

_SKIPS = "skip_load_to_model_and_opt"

_BATCHES = 3
"""How many there are, after which they come again: of one that was trained on before, the loss tells old weights from
new ones."""


class Trainer:
    """The wrapped model with its optimizer, and made-up data."""

    def __init__(self, config: Any, groups: Any) -> None:
        from megatron.bridge.training.optim import setup_optimizer
        from megatron.core import parallel_state
        from megatron.core.num_microbatches_calculator import init_num_microbatches_calculator

        self.config, self.groups = config, groups
        self.model = call(
            config.model.provide_distributed_model,
            ddp_config=config.ddp,
            use_megatron_fsdp=config.dist.use_megatron_fsdp,
            use_torch_fsdp2=config.dist.use_torch_fsdp2,
            overlap_param_gather_with_optimizer_step=config.optimizer.overlap_param_gather_with_optimizer_step,
            data_parallel_random_init=config.rng.data_parallel_random_init,
            pg_collection=groups,
        )
        self.optimizer, self.scheduler = call(
            setup_optimizer,
            config.optimizer,
            config.scheduler,
            self.model,
            use_gloo_process_groups=config.dist.use_gloo_process_groups,
            # With these the optimizer takes no gloo groups; without gloo groups it has to have them.
            pg_collection=None if config.dist.use_gloo_process_groups else groups,
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

    def begin(self) -> None:
        """Make the schedule use the functions that the wrapper offers: the launcher does so last, after a load."""
        from megatron.bridge.training.setup import _update_model_config_funcs
        from megatron.core.utils import get_model_config

        call(
            _update_model_config_funcs,
            self.model,
            get_model_config(self.model[0]),
            self.config.ddp,
            self.optimizer,
            align_grad_reduce=self.config.dist.align_grad_reduce,
            pg_collection=self.groups,
        )

    def train(self, first: int, count: int, answer: Answer) -> None:
        """Train some steps; loss and norm of the gradients of each go into `answer`, and the bytes held before the
        last.
        """
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
            # Here, for the optimizer takes the gradients of some wrappers away, and may raise.
            held = {**measure.sizes(self.model, self.optimizer), "gradients": measure.gradients(self.model)}
            answer["bytes"] = held
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
        generator = torch.Generator().manual_seed(1000 + step % _BATCHES)
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

    def save(self, directory: str, step: int, *, short_lived: bool = False) -> None:
        """Save a model trained for so many steps; `short_lived`: as a checkpoint that is thrown away when the next one
        is there.
        """
        from megatron.bridge.training.checkpointing import save_checkpoint

        measure.fill_moments(self.optimizer)
        self.config.checkpoint.save = directory
        call(
            save_checkpoint,
            self._state(step),
            self.model,
            self.optimizer,
            self.scheduler,
            0,
            checkpointing_context={},
            pg_collection=self.groups,
            non_persistent_ckpt=short_lived,
        )

    def load(self, directory: str) -> None:
        """Load a checkpoint into a model that was just built, as the launcher does."""
        from megatron.bridge.training.checkpointing import load_checkpoint

        measure.fill_moments(self.optimizer)
        self.config.checkpoint.load = directory
        call(
            load_checkpoint,
            self._state(0),
            self.model,
            self.optimizer,
            self.scheduler,
            checkpointing_context={},
            **{_SKIPS: _skips(self.config)},
        )

    def _state(self, step: int) -> Any:
        from megatron.bridge.training.state import GlobalState

        state = GlobalState()
        state.cfg = self.config
        state.train_state.step = step
        return state

    @property
    def loads_optimizer(self) -> bool:
        """Tell whether a load gives the optimizer its state back."""
        return bool(self.config.checkpoint.load_optim and not self.config.checkpoint.finetune)

    def settle(self) -> None:
        """Gather the parameters before anybody looks at them."""
        for chunk in self.model if self.gathers_late else ():
            chunk.disable_forward_pre_hook(param_sync=True)

    def resume(self) -> None:
        """Enable the forward hooks again after `settle`."""
        for chunk in self.model if self.gathers_late else ():
            chunk.enable_forward_pre_hook()


def _skips(config: Any) -> bool:
    """Tell whether the launcher counts the state that it has read as loaded already, as it says: versions do not agree
    on it.

    It is an expression of the configuration in the launcher's own call. Raises ImportError where there is none.
    """
    from megatron.bridge.training import setup

    for node in ast.walk(ast.parse(inspect.getsource(setup.setup))):
        if isinstance(node, ast.keyword) and node.arg == _SKIPS:
            return bool(eval(compile(ast.Expression(node.value), _SKIPS, "eval"), {"cfg": config}))
    raise ImportError(f"the launcher of this version does not say {_SKIPS}")


def _device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"
