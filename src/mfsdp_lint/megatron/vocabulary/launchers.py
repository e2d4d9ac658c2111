"""Upstream's launchers: functions that train with the configuration that they are handed.

Of all functions of `megatron.bridge`, in every release: those that take the configuration (a ConfigContainer, or the
GlobalState that holds it) and come to start torch.distributed or to run the model's schedule. Made by
scripts/find_launchers.py from upstream's source.
"""

LAUNCHERS = frozenset(
    {
        "megatron.bridge.training.distill.distill",
        "megatron.bridge.training.eval.evaluate",
        "megatron.bridge.training.eval.evaluate_and_print_results",
        "megatron.bridge.training.finetune.finetune",
        "megatron.bridge.training.initialize.initialize_megatron",
        "megatron.bridge.training.pretrain._pretrain",
        "megatron.bridge.training.pretrain.pretrain",
        "megatron.bridge.training.pretrain_megatron_mimo.pretrain_megatron_mimo",
        "megatron.bridge.training.setup.setup",
        "megatron.bridge.training.train.train",
        "megatron.bridge.training.train_megatron_mimo.train_megatron_mimo",
    }
)
