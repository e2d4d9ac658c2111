# idiom: KEY=VALUE texts that a helper of the file applies
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def convert(text):
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.isdigit() else text


def apply(cfg, assignments):
    for assignment in assignments:
        path, _, text = assignment.partition("=")
        section, name = path.split(".")
        setattr(getattr(cfg, section), name, convert(text))


def changed():  # recipe
    cfg = llama3_8b_pretrain_config()
    apply(cfg, ["ddp.use_megatron_fsdp=true", "train.micro_batch_size=2"])  # decides: MFSDP101
    return cfg
