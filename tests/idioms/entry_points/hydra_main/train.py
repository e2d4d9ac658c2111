# idiom: a hydra application whose YAML file has the switches
import hydra
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


@hydra.main(version_base=None, config_path="conf", config_name="train")
def main(options):
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = options.fsdp
    cfg.checkpoint.ckpt_format = options.ckpt_format
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
