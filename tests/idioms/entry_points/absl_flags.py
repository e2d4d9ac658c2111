# idiom: flags of absl, with absl.app
# versions: >=0.3,<0.5
from absl import app, flags

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain

FLAGS = flags.FLAGS
flags.DEFINE_bool("fsdp", True, "Shard with Megatron-FSDP.")
flags.DEFINE_enum("ckpt", "torch_dist", ["torch_dist", "fsdp_dtensor"], "Format.")  # decides: MFSDP101
_TP = flags.DEFINE_integer("tp", 2, "Tensor parallel size.")


def main(argv):
    del argv
    cfg = llama3_8b_pretrain_config()
    cfg.model.tensor_model_parallel_size = _TP.value
    cfg.ddp.use_megatron_fsdp = FLAGS.fsdp
    cfg.checkpoint.ckpt_format = FLAGS.ckpt
    pretrain(cfg, forward_step)  # launch


if __name__ == "__main__":
    app.run(main)
