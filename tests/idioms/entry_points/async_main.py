# idiom: an async function that launches
import asyncio

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


async def main():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    await asyncio.sleep(0)
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    asyncio.run(main())
