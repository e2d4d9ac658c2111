# idiom: a ConfigContainer without a model
from megatron.bridge.training.config import ConfigContainer, LoggerConfig, TokenizerConfig


def recipe():  # recipe
    return ConfigContainer(  # decides: TypeError
        logger=LoggerConfig(log_interval=1),
        tokenizer=TokenizerConfig(tokenizer_type="NullTokenizer", vocab_size=1000),
    )
