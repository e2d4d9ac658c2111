"""Cost of a configuration on each rank, from its settings alone: parameters, gradients, main parameters, optimizer
states, what FSDP gathers, activations. `estimate.memory` is the entry point; `fit` asks whether that fits a GPU.
"""
