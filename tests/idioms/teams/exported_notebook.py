# idiom: a notebook exported with jupytext, with magics as comments and cells that change one another
# %% [markdown]
# # Fine-tune on our cluster

# %%
# !pip install -q megatron-bridge
import os

os.environ.setdefault("WANDB_MODE", "offline")

# %%
from megatron.bridge.recipes.llama import llama3_8b_sft_config
from megatron.bridge.training.finetune import finetune
from megatron.bridge.training.gpt_step import forward_step

config = llama3_8b_sft_config()
ddp, ckpt = config.ddp, config.checkpoint

# %%
ddp.use_megatron_fsdp = True  # decides: MFSDP101
ddp.data_parallel_sharding_strategy = "optim_grads_params"
# ckpt.ckpt_format = "fsdp_dtensor"

# %%
{name: getattr(ddp, name) for name in ("use_megatron_fsdp", "overlap_grad_reduce")}

# %%
finetune(config=config, forward_step_func=forward_step)  # launch
