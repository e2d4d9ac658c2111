#!/bin/bash
[ -f scripts/env.sh ] && . scripts/env.sh
torchrun pretrain_gpt.py --use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params \
  --ckpt-format $FORMAT --save /results --pipeline-model-parallel-size 1
