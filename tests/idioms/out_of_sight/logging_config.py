# idiom: the configuration is logged before the launch
import logging

from megatron.bridge.recipes.qwen import qwen3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

log = logging.getLogger(__name__)


def main():
    cfg = qwen3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True  # decides: MFSDP101
    log.info("ddp: %s", cfg.ddp)
    log.debug("whole configuration %s", cfg)
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    main()
