train = dict(global_batch_size=256)
checkpoint = dict(ckpt_format="torch_dist", save="/ckpt/base")
