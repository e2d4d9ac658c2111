# idiom: the launch runs in a thread
from threading import Thread

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def main():
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    thread = Thread(target=pretrain, args=(cfg, forward_step))
    thread.start()  # launch
    thread.join()


if __name__ == "__main__":
    main()
