# idiom: CUDA graphs and the tracker that they need are switched together
from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def recipe(graphs=False):  # recipe
    cfg = llama3_8b_pretrain_config()
    cfg.model.cuda_graph_impl = "local" if graphs else "none"
    cfg.model.use_te_rng_tracker = cfg.rng.te_rng_tracker = graphs
    return cfg
