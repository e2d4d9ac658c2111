# idiom: an SFT launcher with offloading and pipeline from one parallel table by model size
from megatron.bridge.recipes.llama import llama3_8b_sft_config
from megatron.bridge.training.finetune import finetune
from megatron.bridge.training.gpt_step import forward_step

#           tp pp offload
TABLE = {
    1: (1, 1, True),
    8: (2, 2, True),  # decides: MFSDP401
    70: (8, 4, False),
}


def main(size: int = 8) -> None:
    tp, pp, offload = TABLE[size]
    cfg = llama3_8b_sft_config()
    model = cfg.model
    model.tensor_model_parallel_size = tp
    model.pipeline_model_parallel_size = pp
    model.sequence_parallel = tp > 1
    if offload:
        model.cpu_offloading, model.cpu_offloading_num_layers = True, 2  # decides: MFSDP401
    finetune(config=cfg, forward_step_func=forward_step)  # launch


if __name__ == "__main__":
    main()
