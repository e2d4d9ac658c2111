"""Cost of a configuration's model state on each rank, from its settings alone: parameters, gradients, main parameters
and optimizer states. `estimate.memory` is the entry point.
"""
