# idiom: an attribute of the user's own on the configuration, which his code reads
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def build():
    cfg = llama3_8b_pretrain_config()
    cfg._team_note = "first"
    cfg.ddp._shard_hint = 3
    return cfg


def main():
    cfg = build()
    print(cfg._team_note, cfg.ddp._shard_hint)
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
