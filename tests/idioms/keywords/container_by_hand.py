# idiom: a ConfigContainer written out by hand
from megatron.bridge.models.gpt_provider import GPTModelProvider
from megatron.bridge.training.config import (
    CheckpointConfig,
    ConfigContainer,
    DistributedDataParallelConfig,
    GPTDatasetConfig,
    LoggerConfig,
    OptimizerConfig,
    SchedulerConfig,
    TokenizerConfig,
    TrainingConfig,
)


def recipe():  # recipe
    return ConfigContainer(
        model=GPTModelProvider(num_layers=4, hidden_size=256, num_attention_heads=4, seq_length=512, bf16=True),
        train=TrainingConfig(train_iters=10, global_batch_size=8, micro_batch_size=1),
        optimizer=OptimizerConfig(optimizer="adam", lr=1e-4, use_distributed_optimizer=True, bf16=True),
        scheduler=SchedulerConfig(lr_decay_style="cosine", lr_decay_iters=10, lr_warmup_iters=1),
        ddp=DistributedDataParallelConfig(
            use_distributed_optimizer=True,
            use_megatron_fsdp=True,  # decides: MFSDP101
        ),
        dataset=GPTDatasetConfig(
            random_seed=1,
            sequence_length=512,
            reset_position_ids=False,
            reset_attention_mask=False,
            eod_mask_loss=False,
        ),
        logger=LoggerConfig(log_interval=1),
        tokenizer=TokenizerConfig(tokenizer_type="NullTokenizer", vocab_size=1000),
        checkpoint=CheckpointConfig(save="/ckpt", ckpt_format="torch_dist"),  # decides: MFSDP101
    )
