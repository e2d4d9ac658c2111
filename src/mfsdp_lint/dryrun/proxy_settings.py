"""Settings of the small model, and the settings of a recipe that reach it, on a CPU and on a GPU."""

from __future__ import annotations

from mfsdp_lint.dryrun.outcome import PlainSettings

BASE: PlainSettings = {
    "model.num_layers": 2,
    "model.hidden_size": 32,
    "model.ffn_hidden_size": 64,
    "model.num_attention_heads": 4,
    "model.vocab_size": 128,
    "model.seq_length": 16,
    "model.attention_dropout": 0.0,  # its draws are not those of a GPU
    "model.hidden_dropout": 0.0,
    "model.share_embeddings_and_output_weights": False,
    "model.position_embedding_type": "rope",
    "model.transformer_impl": "local",
    "model.persist_layer_norm": False,
    "model.bias_activation_fusion": False,
    "model.masked_softmax_fusion": False,
    "model.bias_dropout_fusion": False,
    "model.apply_rope_fusion": False,
    "model.gradient_accumulation_fusion": False,
    "model.cross_entropy_loss_fusion": False,
    "train.train_iters": 10,
    "train.global_batch_size": 4,
    "train.micro_batch_size": 1,
    "optimizer.lr": 1e-2,
    "optimizer.min_lr": 1e-3,
    "optimizer.clip_grad": 1.0,
    "optimizer.use_precision_aware_optimizer": False,
    "optimizer.use_distributed_optimizer": True,
    "scheduler.lr_decay_iters": 10,
    "scheduler.lr_warmup_iters": 0,
    "scheduler.lr_warmup_init": 0.0,
    "scheduler.lr_decay_style": "constant",
    "scheduler.start_weight_decay": 0.01,
    "scheduler.end_weight_decay": 0.01,
    "scheduler.weight_decay_incr_style": "constant",
    # As in the recipes that Megatron-Bridge comes with, and not as in its classes.
    "ddp.use_distributed_optimizer": True,
    "ddp.overlap_grad_reduce": True,
    "ddp.overlap_param_gather": True,
    "ddp.check_for_nan_in_grad": True,
    # Read only with FSDP; as the guide has it.
    "ddp.data_parallel_sharding_strategy": "optim_grads_params",
    "dist.distributed_backend": "gloo",
    "dist.use_gloo_process_groups": True,
    "checkpoint.ckpt_format": "torch_dist",
    "tokenizer.tokenizer_type": "NullTokenizer",
    "rng.seed": 1234,
}
"""The proxy model and how it is trained on a CPU, where a recipe does not say."""

ON_A_GPU: PlainSettings = {
    # The kernels for 8 bits want multiples of 16, 32 or 128.
    "model.hidden_size": 256,
    "model.ffn_hidden_size": 512,
    "model.seq_length": 128,
    "dist.distributed_backend": "nccl",
}
"""The settings of BASE that a GPU has otherwise."""

SECTIONS = frozenset({"ddp", "dist", "checkpoint", "mixed_precision", "comm_overlap", "peft"})
"""Sections that are kept, apart from the settings below."""

KEPT = frozenset(
    {
        *("mixed_precision", "comm_overlap", "peft"),
        *("model.__class__", "model.multi_latent_attention", "model.experimental_attention_variant", "model.bf16"),
        *("model.fp16", "model.params_dtype", "model.pipeline_dtype", "model.calculate_per_token_loss"),
        *("model.init_model_with_meta_device", "model.gated_linear_unit", "model.activation_func"),
        *("model.normalization", "model.qk_layernorm", "model.add_bias_linear", "model.add_qkv_bias"),
        *("model.share_embeddings_and_output_weights", "model.recompute_granularity", "model.recompute_method"),
        "model.recompute_modules",
        *("optimizer.optimizer", "optimizer.use_distributed_optimizer", "optimizer.bf16", "optimizer.fp16"),
        *("optimizer.clip_grad", "optimizer.loss_scale", "optimizer.overlap_param_gather"),
        "optimizer.overlap_param_gather_with_optimizer_step",
        "rng.data_parallel_random_init",
    }
)
"""Settings of the other sections that are kept: the model's sizes, the data and the schedule are not."""

KEPT_ON_A_GPU = frozenset(
    {
        *("model.cpu_offloading", "model.cpu_offloading_activations", "model.cpu_offloading_weights"),
        *("model.cpu_offloading_double_buffering", "model.fine_grained_activation_offloading"),
        *("model.offload_modules", "model.cuda_graph_impl", "model.cuda_graph_scope"),
        *("model.cuda_graph_warmup_steps", "model.enable_cuda_graph", "model.external_cuda_graph"),
        *("model.use_te_rng_tracker", "model.fp8", "model.fp8_recipe", "model.fp4", "model.fp4_recipe"),
        *("model.overlap_moe_expert_parallel_comm", "model.delay_wgrad_compute"),
        *("optimizer.optimizer_cpu_offload", "optimizer.optimizer_offload_fraction"),
        *("optimizer.overlap_cpu_optimizer_d2h_h2d", "optimizer.use_precision_aware_optimizer"),
        *("optimizer.main_grads_dtype", "optimizer.main_params_dtype", "optimizer.exp_avg_dtype"),
        "optimizer.exp_avg_sq_dtype",
        "rng.te_rng_tracker",
        *("env.CUDA_DEVICE_MAX_CONNECTIONS", "env.NCCL_ALGO", "env.NCCL_COLLNET_ENABLE", "env.NCCL_NVLS_ENABLE"),
        *("env.NVTE_CPU_OFFLOAD_V1", "env.PYTORCH_ALLOC_CONF", "env.PYTORCH_CUDA_ALLOC_CONF"),
        "env.TORCH_NCCL_USE_TENSOR_REGISTER_ALLOCATOR_HOOK",
    }
)
"""Those that a GPU keeps as well. Of the environment, Megatron, torch and NCCL look at these variables."""

LEFT_OUT = frozenset(
    {
        *("checkpoint.save", "checkpoint.load", "checkpoint.pretrained_checkpoint"),
        *("checkpoint.non_persistent_local_ckpt_dir", "checkpoint.non_persistent_global_ckpt_dir"),
        *("dist.distributed_backend", "dist.local_rank", "dist.distributed_timeout_minutes"),
    }
)
"""Settings of a launch: each launch has its own."""

NEVER: PlainSettings = {
    "dist.use_decentralized_pg": False,
    "dist.use_sharp": False,
    "dist.lazy_init": False,
    "dist.external_gpu_device_mapping": False,
    "dist.nccl_communicator_config_path": None,
    "dist.high_priority_stream_groups": None,
    "dist.sharp_enabled_group": None,
    "comm_overlap.tp_comm_overlap": False,  # there is no tensor parallelism left
    "comm_overlap.tp_comm_overlap_cfg": None,
    "checkpoint.async_save": False,
    "checkpoint.non_persistent_ckpt_type": None,
    "checkpoint.non_persistent_save_interval": None,
}
"""Settings of a cluster, or of the launcher's own loop."""

WITHOUT_A_GPU: PlainSettings = {
    "ddp.nccl_ub": False,
    "ddp.fp8_param_gather": False,
    "ddp.reuse_grad_buf_for_mxfp8_param_ag": False,
    "ddp.delay_wgrad_compute": False,
    "ddp.fsdp_double_buffer": False,
    "ddp.fsdp_manual_registration": False,
    "ddp.keep_fp8_transpose_cache": False,
    "mixed_precision.fp8": None,
    "mixed_precision.fp4": None,
    "mixed_precision.fp8_param": False,
    "mixed_precision.fp8_param_gather": False,
    "mixed_precision.reuse_grad_buf_for_mxfp8_param_ag": False,
    "comm_overlap.overlap_moe_expert_parallel_comm": False,
    "comm_overlap.delay_wgrad_compute": False,
    "comm_overlap.defer_embedding_wgrad_compute": False,  # which takes a fused kernel
}
"""Settings for abilities that only a GPU has, with their replacements."""

GPU_ONLY_MODEL: PlainSettings = {
    "model.cpu_offloading": False,
    "model.fine_grained_activation_offloading": False,
    "model.cuda_graph_impl": "none",
    "model.enable_cuda_graph": False,
    "model.external_cuda_graph": False,
    "model.fp8": None,
    "model.fp4": None,
    "model.mtp_num_layers": None,
    "model.overlap_moe_expert_parallel_comm": False,
    "optimizer.optimizer_cpu_offload": False,
    "optimizer.use_precision_aware_optimizer": False,
}
"""Likewise of the sections that are not kept: nothing is done instead, but it is worth saying."""

OF_TRANSFORMER_ENGINE = (
    "model.cpu_offloading",
    "model.fine_grained_activation_offloading",
    "optimizer.use_precision_aware_optimizer",
)
"""Those of these that need Transformer Engine."""

PLAIN: PlainSettings = {
    "dist.use_megatron_fsdp": False,
    "dist.use_torch_fsdp2": False,
    "dist.use_tp_pp_dp_mapping": False,
    "ddp.use_megatron_fsdp": False,
    "ddp.data_parallel_sharding_strategy": "no_shard",
    "ddp.num_distributed_optimizer_instances": 1,
    "ddp.use_distributed_optimizer": False,
    "ddp.overlap_param_gather": False,
    "ddp.overlap_grad_reduce": False,
    "optimizer.use_distributed_optimizer": False,
    "optimizer.overlap_param_gather": False,
    "optimizer.overlap_param_gather_with_optimizer_step": False,
    "model.init_model_with_meta_device": False,
    "checkpoint.ckpt_format": "torch_dist",
    "comm_overlap": None,
}
"""Settings of a run with plain DDP, with which every other run has to agree."""

DISTRIBUTED: PlainSettings = {"ddp.use_distributed_optimizer": True, "optimizer.use_distributed_optimizer": True}
"""For weights that plain DDP's own optimizer cannot step."""

SHORT = ("torch.bfloat16", "torch.float16")
"""Types of 16 bits."""

IN_32_BITS: PlainSettings = {
    "mixed_precision": None,
    "model.bf16": False,
    "model.fp16": False,
    "model.params_dtype": "torch.float32",
    "model.pipeline_dtype": "torch.float32",
    "optimizer.bf16": False,
    "optimizer.fp16": False,
}
"""Settings that make all of it compute in 32 bits."""
