# idiom: an async builder that is awaited
import asyncio

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


async def build():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    return cfg


async def train():
    cfg = await build()
    pretrain(cfg, forward_step)  # launch


asyncio.run(train())
