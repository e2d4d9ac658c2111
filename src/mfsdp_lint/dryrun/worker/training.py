"""Answer of a rank to one question: build, wrap, train, save and load the proxy model, in the order of the launcher."""

import contextlib
import datetime
import os
import random
from collections.abc import Callable, Mapping
from typing import Any

from . import fallbacks, measure, proxy_model
from .answers import apply_variables
from .build import build, call
from .measure import Observer
from .trainer import Answer, Trainer

At = Callable[[str], None]


def import_bridge() -> None:
    """Import everything that is used of Megatron-Bridge, so that no question pays for it."""
    import megatron.bridge.training.checkpointing
    import megatron.bridge.training.config
    import megatron.bridge.training.optim
    import megatron.bridge.training.setup
    import megatron.core.distributed.finalize_model_grads  # noqa: F401

    fallbacks.mend()
    proxy_model.import_models()


def run(question: Mapping[str, Any], rank: int, store: str, answer: Answer, at: At) -> None:
    """Run a question; `answer` is filled in on the way, and `at` is told each stage. Raises whatever
    upstream raises.
    """
    import torch
    from megatron.bridge.training.config import runtime_config_update

    at("build")
    apply_variables(question["settings"], os.environ)
    settings, answer["substituted"] = proxy_model.small(question["settings"])
    built = build(settings, question["base"])
    answer |= {"no_field": built.no_field, "left_out": built.left_out}
    config = built.config
    if getattr(config.model, "transformer_impl", "local") == "local":
        proxy_model.use_local_layers(config.model)
    elif not fallbacks.core_has_transformer_engine():
        raise ImportError("Transformer Engine is not there, for which this job was written")
    observer = Observer(config, settings, question.get("watched", ()))
    at("startup")
    if config.peft is not None:
        proxy_model.prepare_adapters(config, question["load"] if question.get("is_base") else None, at)
    runtime_config_update(config)
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
    trainer = Trainer(config, groups)
    answer["wrapped_as"] = type(trainer.model[0]).__name__
    observer.wrapped(trainer.model)
    steps = question["steps"]
    if question.get("load") and not (config.peft and question.get("is_base")):
        _load_and_go_on(trainer, question["load"], steps, answer, at)
    else:
        _train(trainer, question.get("save"), steps, answer, at)
    trainer.settle()
    answer["bytes"] = {**answer["bytes"], **measure.sizes(trainer.model, trainer.optimizer)}
    answer["sum"] = measure.total(trainer.optimizer)
    if torch.cuda.is_available():
        answer["peak"] = torch.cuda.max_memory_allocated()
    answer["seen"] = observer.report()
    answer["stage"] = "done"


def _train(trainer: Trainer, save: str | None, steps: int, answer: Answer, at: At) -> None:
    """Train some steps, with a save before the last one."""
    trainer.begin()
    at("first-step")
    trainer.train(0, 1, answer)
    at("step")
    trainer.train(1, steps - 2, answer)
    if save:
        trainer.settle()
        at("save")
        trainer.save(save, steps - 1)
        if trainer.config.checkpoint.non_persistent_save_interval:
            trainer.save(save, steps - 1, short_lived=True)
        answer["saved"] = measure.digest(trainer.model, trainer.optimizer)
        trainer.resume()
        at("step")
    trainer.train(steps - 1, 1, answer)


def _load_and_go_on(trainer: Trainer, load: str, steps: int, answer: Answer, at: At) -> None:
    """Load the saved checkpoint, as the launcher does, and train the last step."""
    at("load")
    trainer.load(load)
    kept = measure.digest(trainer.model, trainer.optimizer)
    answer["loaded"] = kept if trainer.loads_optimizer else {"weights": kept["weights"]}
    trainer.begin()
    at("first-step")
    trainer.train(steps - 1, 1, answer)


def wait_for_all() -> None:
    """Wait until every rank is done, or one is gone."""
    import torch

    with contextlib.suppress(Exception):
        torch.distributed.barrier()


def _open_groups(config: Any) -> Any:
    import torch
    from megatron.core import parallel_state, process_groups_config, tensor_parallel

    model = config.model
    call(
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
    call(
        tensor_parallel.model_parallel_cuda_manual_seed,
        config.rng.seed,
        te_rng_tracker=getattr(config.rng, "te_rng_tracker", False),
        use_cudagraphable_rng=getattr(model, "cuda_graph_impl", "none") != "none" and torch.cuda.is_available(),
    )
    # megatron-core 0.14 has no such collection, and nothing there asks for one.
    collection = getattr(process_groups_config, "ProcessGroupCollection", None)
    return collection.use_mpu_process_groups() if collection else None
