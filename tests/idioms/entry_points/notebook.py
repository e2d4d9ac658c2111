# idiom: a notebook exported as a script
# coding: utf-8

# In[1]:


from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


# In[2]:


config = llama3_8b_pretrain_config()
config


# In[3]:


config.checkpoint.ckpt_format = "fsdp_dtensor"  # decides: MFSDP102
config.train.train_iters = 20
config.ddp


# In[4]:


pretrain(config=config, forward_step_func=forward_step)  # launch
