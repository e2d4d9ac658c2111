"""Made by `tools.vocabulary.generate` from what settings.yaml marks with `decides`."""

_TEXT = """\
dist: use_megatron_fsdp use_torch_fsdp2 use_tp_pp_dp_mapping use_gloo_process_groups lazy_init

ddp: use_megatron_fsdp use_custom_fsdp megatron_fsdp_version data_parallel_sharding_strategy
    outer_dp_sharding_strategy num_distributed_optimizer_instances average_in_collective
    use_distributed_optimizer overlap_grad_reduce overlap_param_gather grad_reduce_in_fp32 nccl_ub
    fsdp_double_buffer fsdp_manual_registration disable_symmetric_registration keep_fp8_transpose_cache
    reuse_grad_buf_for_mxfp8_param_ag fp8_param_gather preserve_fp32_weights check_for_nan_in_grad
    suggested_communication_unit_size

checkpoint: ckpt_format save load pretrained_checkpoint async_save finetune load_optim load_rng save_optim
    also_save_hf_checkpoint non_persistent_ckpt_type strict_fsdp_dtensor_load use_persistent_ckpt_worker

model: tensor_model_parallel_size pipeline_model_parallel_size virtual_pipeline_model_parallel_size
    context_parallel_size expert_model_parallel_size expert_tensor_parallel_size sequence_parallel
    cpu_offloading cpu_offloading_num_layers cpu_offloading_activations cpu_offloading_weights
    fine_grained_activation_offloading offload_modules recompute_granularity recompute_modules cuda_graph_impl
    cuda_graph_scope cuda_graph_modules enable_cuda_graph external_cuda_graph gradient_accumulation_fusion
    init_model_with_meta_device calculate_per_token_loss overlap_moe_expert_parallel_comm num_moe_experts fp8
    fp16 bf16 share_embeddings_and_output_weights use_te_rng_tracker

optimizer: optimizer use_distributed_optimizer use_precision_aware_optimizer main_grads_dtype
    optimizer_cpu_offload clip_grad overlap_param_gather_with_optimizer_step reuse_grad_buf_for_mxfp8_param_ag

train: check_weight_hash_across_dp_replicas_interval

rng: te_rng_tracker data_parallel_random_init

mixed_precision: grad_reduce_in_fp32 fp8 fp8_recipe fp8_param_gather reuse_grad_buf_for_mxfp8_param_ag

comm_overlap: overlap_grad_reduce overlap_param_gather tp_comm_overlap overlap_moe_expert_parallel_comm"""
_PARTS = (part.partition(":") for part in _TEXT.split("\n\n"))
BY_SECTION: dict[str, tuple[str, ...]] = {section: tuple(names.split()) for section, _, names in _PARTS}
