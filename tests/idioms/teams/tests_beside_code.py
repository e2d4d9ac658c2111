# idiom: unittest and fixtures around a builder that is right
import unittest

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config


def sharded(cfg=None, /, *, strategy="optim_grads_params"):  # recipe
    cfg = cfg or llama3_8b_pretrain_config()
    cfg.ddp.use_megatron_fsdp = True
    cfg.ddp.data_parallel_sharding_strategy = strategy
    cfg.checkpoint.ckpt_format = "fsdp_dtensor"
    return cfg


class ShardedTest(unittest.TestCase):
    def setUp(self):
        self.cfg = sharded()

    def test_format(self):
        self.assertEqual(self.cfg.checkpoint.ckpt_format, "fsdp_dtensor")

    def test_rejects(self):
        with self.assertRaises(AttributeError):
            sharded(object())
