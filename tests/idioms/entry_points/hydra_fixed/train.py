# idiom: a hydra application that takes only the name of the run from its YAML file
import hydra
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


@hydra.main(version_base=None, config_path="conf", config_name="train")
def main(options):
    cfg = llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    cfg.logger.wandb_exp_name = options.name
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
