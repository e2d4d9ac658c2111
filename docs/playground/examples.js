// What the page begins with, by what it shows.
export const EXAMPLES = {
  "Python: the checkpoint's format": {
    file: "recipe.py",
    text: `from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def llama3_8b_fsdp():
    cfg = llama3_8b_pretrain_config()
    cfg.dist.use_megatron_fsdp = True
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    cfg.ddp.average_in_collective = False
    return cfg
`,
  },
  "YAML: a file of overrides": {
    file: "overrides.yaml",
    text: `dist:
  use_megatron_fsdp: true
ddp:
  use_megatron_fsdp: true
  data_parallel_sharding_strategy: optim_grads_params
  average_in_collective: true
checkpoint:
  ckpt_format: torch_dist
  save: /results/checkpoints
`,
  },
  "Shell: a launch of pretrain_gpt.py": {
    file: "launch.sh",
    text: `#!/bin/bash
export CUDA_DEVICE_MAX_CONNECTIONS=1

FSDP_ARGS=(
  --use-megatron-fsdp
  --data-parallel-sharding-strategy optim_grads_params
  --no-gradient-accumulation-fusion
  --use-distributed-optimizer
  --ckpt-format torch_dist
)

torchrun --nproc-per-node 8 pretrain_gpt.py \\
  "\${FSDP_ARGS[@]}" \\
  --tensor-model-parallel-size 1 \\
  --save /results/checkpoints
`,
  },
};
