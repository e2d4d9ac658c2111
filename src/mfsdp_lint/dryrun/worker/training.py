"""Answer of a rank to one question: build, wrap, train, save and load the proxy model, by the calls that the launcher
makes, in its order.
"""

import ast
import datetime
import inspect
import os
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from . import measure, proxy_model, start
from .build import apply_variables, build, call, named
from .measure import Observer

Answer = dict[str, Any]
At = Callable[[str], None]

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

    def train(self, first: int, count: int, answer: Answer) -> None:
        """Train some steps; `answer` gets each step's loss and norm of gradients, and the bytes before the last."""
        import torch
        from megatron.core import parallel_state
        from megatron.core.num_microbatches_calculator import get_num_microbatches
        from megatron.core.pipeline_parallel import get_forward_backward_func

        for step in range(first, first + count):
            for chunk in self.model:
                if hasattr(chunk, "zero_grad_buffer"):
                    chunk.zero_grad_buffer()
            self.optimizer.zero_grad()
            length, size = self.config.model.seq_length, self.config.train.micro_batch_size
            shape, vocabulary = (self.config.train.global_batch_size, length + 1), self.config.model.vocab_size
            generator = torch.Generator().manual_seed(1000 + step % _BATCHES)
            tokens = torch.randint(0, vocabulary, shape, generator=generator, device="cpu")
            tokens = tokens.view(-1, self.replicas, size, length + 1)[:, self.replica]
            losses = get_forward_backward_func()(
                forward_step_func=self._forward,
                data_iterator=iter(tokens.to("cuda" if torch.cuda.is_available() else "cpu")),
                model=self.model,
                num_microbatches=get_num_microbatches(),
                seq_length=length,
                micro_batch_size=size,
                forward_only=False,
            )
            # Here, for the optimizer takes the gradients of some wrappers away, and may raise.
            gradients = measure.gradients(self.model)
            answer["bytes"] = {**measure.sizes(self.model, self.optimizer), "gradients": gradients}
            _, norm, _ = self.optimizer.step()
            self.scheduler.step(increment=self.config.train.global_batch_size)
            if losses:  # only the last pipeline stage has one
                loss = torch.stack([each["loss"] for each in losses]).mean()
                torch.distributed.all_reduce(loss, group=parallel_state.get_data_parallel_group())
                answer.setdefault("losses", []).append(loss.item() / self.replicas)
            answer.setdefault("norms", []).append(None if norm is None else float(norm))

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
            reported = {"loss": mean.detach().clone()}  # the schedule divides the other one in place
            if self.config.model.calculate_per_token_loss:
                return losses.sum(), torch.tensor(losses.numel(), dtype=torch.int), reported
            return mean, reported

        return output, loss_of

    def save(self, directory: str, step: int, *, short_lived: bool = False) -> None:
        """Save a model trained for so many steps; `short_lived`: as a checkpoint that the next one replaces."""
        from megatron.bridge.training.checkpointing import save_checkpoint

        measure.fill_moments(self.optimizer)
        self.config.checkpoint.save = directory
        call(
            save_checkpoint,
            *(self._state(step), self.model, self.optimizer, self.scheduler, 0),
            checkpointing_context={},
            pg_collection=self.groups,
            non_persistent_ckpt=short_lived,
        )

    def load(self, directory: str) -> None:
        """Load a checkpoint into a model that was just built, as the launcher does.

        Versions do not agree on whether the state that was read counts as loaded already: the launcher's own call has
        an expression of the configuration for it. Raises ImportError where there is none.
        """
        from megatron.bridge.training import setup
        from megatron.bridge.training.checkpointing import load_checkpoint

        calls = ast.walk(ast.parse(inspect.getsource(setup.setup)))
        given = next((node.value for node in calls if isinstance(node, ast.keyword) and node.arg == _SKIPS), None)
        if given is None:
            raise ImportError(f"the launcher of this version does not say {_SKIPS}")
        skips = bool(eval(compile(ast.Expression(given), _SKIPS, "eval"), {"cfg": self.config}))
        measure.fill_moments(self.optimizer)
        self.config.checkpoint.load = directory
        call(
            load_checkpoint,
            *(self._state(0), self.model, self.optimizer, self.scheduler),
            checkpointing_context={},
            **{_SKIPS: skips},
        )

    def _state(self, step: int) -> Any:
        from megatron.bridge.training.state import GlobalState

        state = GlobalState()
        state.cfg = self.config
        state.train_state.step = step
        return state

    def settle(self) -> None:
        """Gather the parameters before anybody looks at them."""
        for chunk in self.model if self.gathers_late else ():
            chunk.disable_forward_pre_hook(param_sync=True)

    def resume(self) -> None:
        """Enable the forward hooks again after `settle`."""
        for chunk in self.model if self.gathers_late else ():
            chunk.enable_forward_pre_hook()


def import_bridge() -> None:
    """Import everything that is used of Megatron-Bridge, so that no question pays for it."""
    import megatron.bridge.training.checkpointing
    import megatron.bridge.training.config
    import megatron.bridge.training.optim
    import megatron.bridge.training.setup
    import megatron.core.distributed.finalize_model_grads  # noqa: F401

    proxy_model.mend()
    for name in (proxy_model.GPT, proxy_model.LATENT):
        named(name)


def run(question: Mapping[str, Any], rank: int, store: str, answer: Answer, at: At) -> None:
    """Run a question; `answer` is filled in on the way, and `at` is told each stage. Raises upstream's errors.

    The ranks of one machine meet in the file `store`, those of several in the store of torch's launcher.
    """
    import torch
    from megatron.bridge.training.config import runtime_config_update
    from megatron.bridge.training.setup import _update_model_config_funcs
    from megatron.core.utils import get_model_config

    at("build")
    apply_variables(question["settings"], os.environ)
    settings, answer["substituted"] = proxy_model.small(question["settings"])
    built = build(settings, question["base"])
    answer |= {"no_field": built.no_field, "left_out": built.left_out}
    config = built.config
    if getattr(config.model, "transformer_impl", "local") == "local":
        proxy_model.use_local_layers(config.model)
    elif not proxy_model.core_has_transformer_engine():
        raise ImportError("Transformer Engine is not there, for which this job was written")
    observer = Observer(config, settings, question.get("watched", ()))
    at("startup")
    if config.peft is not None:
        proxy_model.prepare_adapters(config, question["load"] if question.get("is_base") else None, at)
    runtime_config_update(config)
    at("start")
    timeout = datetime.timedelta(seconds=question["timeout"])
    meet: dict[str, Any] = {"init_method": f"file://{store}"}
    if start.NODES in os.environ:
        address = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
        agents = torch.distributed.TCPStore(*address, is_master=False, timeout=timeout)
        meet = {"store": torch.distributed.PrefixStore(question["id"], agents)}
    world = {"rank": rank, "world_size": question["world_size"], "timeout": timeout}
    torch.distributed.init_process_group(question["backend"], **meet, **world)
    groups = _open_groups(config)
    at("wrap")
    trainer = Trainer(config, groups)
    answer["wrapped_as"] = type(trainer.model[0]).__name__
    observer.wrapped(trainer.model)
    steps = question["steps"]
    loads = question.get("load") and not (config.peft and question.get("is_base"))
    if loads:  # the saved checkpoint, as the launcher does
        at("load")
        trainer.load(question["load"])
        answer["loaded"] = measure.digest(trainer.model, trainer.optimizer)
        if not config.checkpoint.load_optim or config.checkpoint.finetune:  # the optimizer begins anew
            del answer["loaded"]["optimizer"]
    # The launcher does so last, after a load: the schedule uses the functions that the wrapper offers.
    call(
        _update_model_config_funcs,
        *(trainer.model, get_model_config(trainer.model[0]), config.ddp, trainer.optimizer),
        align_grad_reduce=config.dist.align_grad_reduce,
        pg_collection=groups,
    )
    at("first-step")
    if not loads:
        trainer.train(0, 1, answer)
        at("step")
        trainer.train(1, steps - 2, answer)
        if question.get("save"):
            trainer.settle()
            at("save")
            trainer.save(question["save"], steps - 1)
            if config.checkpoint.non_persistent_save_interval:
                trainer.save(question["save"], steps - 1, short_lived=True)
            answer["saved"] = measure.digest(trainer.model, trainer.optimizer)
            trainer.resume()
            at("step")
    trainer.train(steps - 1, 1, answer)
    trainer.settle()
    answer["bytes"] = {**answer["bytes"], **measure.sizes(trainer.model, trainer.optimizer)}
    answer["sum"] = measure.total(trainer.optimizer)
    if torch.cuda.is_available():
        answer["peak"] = torch.cuda.max_memory_allocated()
    answer["seen"] = observer.report()
    answer["stage"] = "done"


def _open_groups(config: Any) -> Any:
    import torch
    from megatron.core import parallel_state, process_groups_config, tensor_parallel

    model = config.model
    kinds = ("tensor_model", "pipeline_model", "virtual_pipeline_model", "context", "expert_model", "expert_tensor")
    sizes = [f"{kind}_parallel_size" for kind in kinds]
    call(
        parallel_state.initialize_model_parallel,
        **{size: getattr(model, size) for size in sizes},
        num_distributed_optimizer_instances=config.ddp.num_distributed_optimizer_instances,
        order="tp-cp-ep-pp-dp" if config.dist.use_tp_pp_dp_mapping else "tp-cp-ep-dp-pp",
        create_gloo_process_groups=config.dist.use_gloo_process_groups,
    )
    random.seed(config.rng.seed)
    torch.manual_seed(config.rng.seed)
    call(
        tensor_parallel.model_parallel_cuda_manual_seed,
        config.rng.seed,
        te_rng_tracker=getattr(config.rng, "te_rng_tracker", False),
        use_cudagraphable_rng=getattr(model, "cuda_graph_impl", "none") != "none" and torch.cuda.is_available(),
    )
    # megatron-core 0.14 has no such collection, and nothing there asks for one.
    collection = getattr(process_groups_config, "ProcessGroupCollection", None)
    return collection.use_mpu_process_groups() if collection else None
