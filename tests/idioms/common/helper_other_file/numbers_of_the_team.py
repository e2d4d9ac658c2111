STRATEGY = "optim_grads_params"
